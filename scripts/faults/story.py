#!/usr/bin/env python3
"""Changes a server's state and says what its clients were told.

    story.py PROGRAM [STEPS]      with STATE_DIR in the environment

A line on standard output for each fact that a client may rely on:

    journal ID          cursors are of this journal
    pub SEQ             an event with this number was published
    gap                 an event without a number was published
    state TITLE PANES   the server says that this state is on the disk
    last TITLE PANES    that, and it has ended

Nothing else decides what a check demands afterwards.
"""
import os
import signal
import sys
import time

from wire import Gone, Server


def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def events(stream, wanted):
    """Says what was published, until so many events came or none come."""
    while wanted > 0:
        event = stream.line(5.0)
        if event is None:
            return
        if event.get("event") == "events.missed" or event.get("seq") is None:
            say("gap")
        else:
            say("pub", event["seq"])
        wanted -= 1


def wait_saved(client):
    until = time.monotonic() + 3.0
    while time.monotonic() < until:
        if client.ask("server.status").get("saved") is True:
            return True
        time.sleep(0.01)
    return False


def story(program, state, steps):
    server = Server(program, state)
    try:
        client = server.ready()
        if client is None:
            sys.stderr.write(server.log())
            return 6 if server.process.returncode == 6 else 1
        stream = server.ready()
        told = stream.ask("events.subscribe")
        if told.get("journal_id"):
            say("journal", told["journal_id"])
        panes, count = [], 0
        for step in range(steps):
            if step % 3 == 0:
                made = client.ask("workspace.new", cwd="/", name=f"w{step}", argv=[
                    "/bin/sh", "-c", f"echo output of step {step}; exec sleep 1000"])
                panes.append(made["pane_id"])
                events(stream, 3)
            if step % 7 == 5 and len(panes) > 1:
                client.ask("pane.close", pane=panes.pop(0))
                events(stream, 3)
            client.ask("pane.rename", pane=panes[-1], title=f"title-{step}")
            events(stream, 1)
            if wait_saved(client):
                count = client.ask("server.status")["counts"]["panes"]
                say("state", f"title-{step}", count)
        reply = client.ask("server.shutdown", force=True)
        status = server.end(signal.SIGTERM)
        if "error" not in reply and status == 0:
            say("last", f"title-{steps - 1}", count)
        return status if status >= 0 else 128 - status
    except Gone as error:
        sys.stderr.write(f"{error}; the server said:\n{server.log()}")
        # As a shell says it, so that whoever killed it sees that it did.
        return 137 if server.end(0, 3.0) == -9 else 1
    finally:
        server.end()
        server.remove()


if __name__ == "__main__":
    sys.exit(story(sys.argv[1], os.environ["STATE_DIR"], int((sys.argv[2:] or [8])[0])))
