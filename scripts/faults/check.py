#!/usr/bin/env python3
"""Starts a server on what is left of a state and compares it with what clients
of the one before were told.

    check.py PROGRAM [damaged]    with STATE_DIR and ACKED_FILE in the environment

Without `damaged`, as after a kill or a loss of power: the server starts, what
was acknowledged is there, and nothing is called damaged. With it, as after a
file was changed by somebody else: what differs is said, and what is said to be
whole is whole. Exit 0 if that holds.
"""
import os
import subprocess
import sys

from wire import Gone, Server


def acknowledged(path):
    journal, seqs, states, last, gap = None, [], [], None, False
    with open(path, errors="replace") as file:
        for line in file.read().split("\n")[:-1]:
            words = line.split()
            if words[:1] == ["journal"]:
                journal = words[1]
            elif words[:1] == ["pub"]:
                seqs.append(int(words[1]))
            elif words[:1] in (["state"], ["last"]):
                states.append((int(words[1].partition("-")[2]), int(words[2])))
                last = states[-1] if words[0] == "last" else last
            gap |= words[:1] == ["gap"] and bool(seqs)
    return journal, seqs, states, last, gap


def step(tree):
    """The newest step that a tree shows, and how many panes it has."""
    panes = [pane for workspace in tree["workspaces"] for tab in workspace["tabs"]
             for pane in tab["panes"]]
    titles = [pane["title"].partition("-") for pane in panes]
    steps = [int(number) for word, _, number in titles if word == "title"]
    return max(steps, default=-1), len(panes), panes


def replayed(server, journal, seqs):
    """What a replay of everything after the first acknowledged event comes to."""
    stream = server.ready()
    if stream is None:
        raise Gone("the server ended")
    answer = stream.ask("events.subscribe", **{"from": {"journal_id": journal, "seq": seqs[0]}})
    got = []
    for _ in range(answer.get("replayed", 0)):
        event = stream.line()
        if event is None:
            raise Gone("the replay stopped")
        got.append(event["seq"])
    return answer.get("replay"), got


def check(program, state, acked, damaged):
    journal, seqs, states, last, gap = acknowledged(acked)
    looked = subprocess.run([program, "__server", "--state-dir", state, "doctor", "--json"],
                            capture_output=True, timeout=20)
    if looked.returncode not in (0, 1, 6) or (not damaged and looked.returncode == 6):
        return f"doctor ended with {looked.returncode}: {looked.stdout} {looked.stderr}"
    before = os.path.lexists(os.path.join(state, "snapshot.json"))
    server = Server(program, state)
    try:
        client = server.ready()
        if client is None:
            refused = server.process.returncode == 6
            return None if damaged and refused else f"it did not start: {server.log()}"
        status = client.ask("server.status")
        tree = client.ask("session.list")
        newest, count, panes = step(tree)
        if any(pane["state"] == "live" for pane in panes):
            return "something is live after a restart"
        for pane in panes:
            read = client.ask("pane.read", pane=pane["id"])
            text = read["text"] if read.get("source") == "saved" else ""
            if any(line and not line.startswith("output of step ") for line in text.split("\n")):
                return f"output that nobody printed: {text!r}"
        load, whole = status["load"], not status["problems"]
        if load not in ("loaded", "missing") and whole:
            return f"{load}, and nothing is said about it"
        if not damaged and load not in ("loaded", "missing"):
            return f"the state is {load}: {status['problems']}"
        if not damaged and states:
            if load == "missing":
                return f"a state was acknowledged and there is none (a file: {before})"
            if newest < states[-1][0]:
                return f"step {states[-1][0]} was acknowledged, step {newest} is there"
        if load == "loaded" and whole and last and (newest, count) != last:
            return f"{last} ended well, {(newest, count)} is there and called whole"
        if seqs and journal:
            answer, got = replayed(server, journal, seqs)
            if answer == "complete" and not set(seqs[1:]) <= set(got):
                return f"complete, but without {sorted(set(seqs[1:]) - set(got))}"
            if gap and answer == "complete":
                return "complete, although an event without a number was published"
            full = os.environ.get("PHASE") == "full"  # no room, so no journal
            # What a disk refused to keep was published without a number, perhaps
            # after the story had read its last event; saying so is right.
            refused = os.environ.get("DISK_FAILED") == "1" and answer == "history_lost"
            if not damaged and not gap and not full and not refused and answer != "complete":
                return f"the replay is {answer}"
            if full:
                return None
            stream = server.ready()
            stream.ask("events.subscribe")
            client.ask("workspace.new", cwd="/", argv=["/bin/true"], name="next")
            event = stream.line()
            if event is None or event.get("seq") is None:
                return f"the journal does not go on: {client.ask('server.status')['journal']}"
            if event["seq"] <= max(seqs):
                return f"number {event['seq']} is used again; {max(seqs)} was published"
    except Gone as error:
        return f"{error}; the server said:\n{server.log()}"
    finally:
        server.end()
        server.remove()
    left = [os.path.join(where, name) for where, _, names in os.walk(state) for name in names
            if name.startswith(".tmp-") and f".tmp-{server.process.pid}-" not in name]
    # The server itself was killed just now, so only older ones count.
    return f"left behind: {left}" if left and not damaged else None


if __name__ == "__main__":
    problem = check(sys.argv[1], os.environ["STATE_DIR"], os.environ["ACKED_FILE"],
                    "damaged" in sys.argv[2:])
    if problem:
        print(problem)
    sys.exit(1 if problem else 0)
