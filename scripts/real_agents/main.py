"""The cases. Started by scripts/real-agents.sh."""

import json
import pathlib
import shutil
import subprocess
import sys
import time

import continuing
import following
from agents import ALL
from lab import Failed, Lab, require, until

passed = failed = 0


def case(agent, what, test):
    """One line; gives what the test gave, or nothing if it failed."""
    global passed, failed
    begun = time.monotonic()
    try:
        value = test()
        passed += 1
        word, detail = "ok", value if isinstance(value, str) else ""
    except (Failed, OSError, KeyError, StopIteration, ValueError) as error:
        value, failed = None, failed + 1
        word, detail = "FAILED", f"{type(error).__name__}: {error}"
    took = time.monotonic() - begun
    print(f"{word:6} {agent.name:8} {what:44} {took:5.1f} s  {detail}", flush=True)
    return value


class Story:
    def __init__(self, lab):
        self.lab, self.agent, self.said = lab, lab.agent, []
        self.panes = {}

    def say(self, pane, text):
        self.said.append(text)
        seen = self.lab.say(pane, text)
        mine = [one for one in seen if one in self.said]
        require(mine == self.said, f"the model saw {mine}, the person said {self.said}")

    def verified(self, pane, id):
        code, answer = self.lab.resume(pane)
        require(code == 0, f"exit code {code}: {answer}")
        node = self.lab.node(pane)
        found = (node.get("verdict"), node.get("agent_session_id"))
        require(found == ("verified", id), f"{found}, {node.get('evidence')}")
        return f"{len(node['evidence'])} lines of evidence"

    def refused(self, pane, codes, path=True):
        """Nothing starts, and the person is told what to do."""
        code, answer = self.lab.resume(pane, path=path)
        if code == 0:
            # Nothing may run while the next case spoils the record.
            self.lab.kill_server()
        error = answer.get("error") or {}
        reason = (error.get("details") or {}).get("reason")
        require(code == 5 and reason in codes, f"exit code {code}, {answer}")
        info = self.lab.pane(pane)
        require(info["state"] == "resumable" and not info["pid"], f"the pane is {info['state']}")
        return f"{reason}: {error['message'][:110]}"

    # Talking, kills and resumes.

    def talk(self):
        lab, stages = self.lab, []
        self.pane = lab.spawn(self.agent.argv())
        lab.shows(self.pane, self.agent.prompt)
        self.say(self.pane, "my word is pineapple")
        self.say(self.pane, "my number is 4711")
        lab.saved(self.pane)
        stages.append(lab.pane(self.pane)["lifecycle"])
        self.id = lab.conversation(self.pane)
        require(lab.node(self.pane)["agent_session_id"] == self.id, "ls shows another id")
        return f"{self.id}, {stages[-1]} after it"

    def between_turns(self):
        self.lab.kill_server()
        state = self.lab.pane(self.pane)["state"]
        require(state == "resumable", f"the pane is {state}")
        evidence = self.verified(self.pane, self.id)
        before = len(self.lab.requests())
        self.say(self.pane, "and between turns")
        require(len(self.lab.requests()) > before, "nothing was asked")
        self.lab.saved(self.pane)
        return evidence

    def mid_turn(self):
        self.say(self.pane, "a SLOW one")
        until("work", lambda: self.lab.pane(self.pane)["lifecycle"] == "working", 20)
        # Structure is saved within two seconds.
        until("the save", lambda: json.loads(self.lab.st("status", "--json"))["saved"])
        self.lab.kill_server()
        info = self.lab.pane(self.pane)
        require(info["state"] == "resumable", f"the pane is {info['state']}")
        require(info["agent"]["interrupted"], "the interrupted turn is not noted")
        evidence = self.verified(self.pane, self.id)
        self.say(self.pane, "and after a turn was cut")
        self.lab.saved(self.pane)
        return f"was {info['lifecycle']}, {evidence}"

    # What goes wrong.

    def opened(self, pane, state="state"):
        """Waits until another one has the conversation open."""
        if not self.agent.shows_itself:
            return self.lab.shows(pane, "and after a turn was cut", state)
        # Some draw it before they say so.
        until("it to show the conversation",
              lambda: self.lab.node(pane, state).get("agent_session_id") == self.id)

    def second_writer(self):
        """Another server, as another terminal, has it open."""
        lab, other = self.lab, "other"
        words = json.loads(lab.st("pane", "info", self.pane, "--json"))["argv"]
        pane = lab.spawn([words[0], *self.agent.resume, self.id], state=other)
        self.opened(pane, other)
        try:
            return self.refused(self.pane, {"busy"})
        finally:
            pid = lab.pane(pane, state=other)["pid"]
            lab.st("pane", "close", pane, state=other)
            until("its end", lambda: not pathlib.Path(f"/proc/{pid}").exists(), 20)

    def second_pane(self):
        """It is open in another pane of the same server (D-13)."""
        lab = self.lab
        words = json.loads(lab.st("pane", "info", self.pane, "--json"))["argv"]
        pane = lab.spawn([words[0], *self.agent.resume, self.id])
        self.opened(pane)
        try:
            if not self.agent.shows_itself:
                return self.refused(self.pane, {"busy"})
            answer = self.refused(self.pane, {"duplicate"})
            require(pane in answer, f"it does not name {pane}: {answer}")
            return answer
        finally:
            lab.st("pane", "close", pane)

    def elsewhere(self):
        """Resumed in another directory on a person's word."""
        lab = self.lab
        code, answer = lab.resume(self.pane, "--cwd", str(lab.elsewhere))
        error = answer.get("error") or {}
        found = (error.get("details") or {}).get("reason") or answer.get("verdict")
        require(found == self.agent.elsewhere, f"{found}, exit code {code}: {answer}")
        cwd = lab.pane(self.pane)["cwd"]
        lab.kill_server()
        return f"{found}, the pane is in {cwd}"

    def sent_elsewhere(self, by_hand):
        """Its own option for another directory than the pane's (D-23)."""
        lab, option, self.said = self.lab, self.agent.sent, []
        if by_hand:
            self.pane = lab.spawn(["bash", "--norc", "--noprofile", "-i"])
            lab.shows(self.pane, "ready>")
            lab.type(self.pane, " ".join([*self.agent.by_hand, option, "../elsewhere"]))
        else:
            self.pane = lab.spawn([*self.agent.argv(), option, "../elsewhere"])
        lab.shows(self.pane, self.agent.prompt)
        self.say(self.pane, f"sent elsewhere, by hand: {by_hand}")
        lab.saved(self.pane)
        id = lab.conversation(self.pane)
        lab.kill_server()
        evidence = self.verified(self.pane, id)
        self.say(self.pane, f"back elsewhere, by hand: {by_hand}")
        cwd = pathlib.Path(f"/proc/{lab.pane(self.pane)['pid']}/cwd").resolve()
        require(cwd == lab.elsewhere.resolve(), f"it is in {cwd}")
        lab.kill_server()
        return evidence

    def spoiled(self, spoil, codes):
        place = self.agent.place(self.lab, self.id)
        kept = self.lab.dir / "kept"
        copy = shutil.copytree if place.is_dir() else shutil.copy2
        copy(place, kept)
        try:
            spoil()
            return self.refused(self.pane, codes)
        finally:
            if place.is_dir():
                shutil.rmtree(place)
            shutil.move(kept, place)

    def missing_directory(self):
        aside = self.lab.dir / "aside"
        # Servers and clients work elsewhere, so it can go.
        self.lab.project.rename(aside)
        self.lab.project, project = self.lab.dir, self.lab.project
        try:
            return self.refused(self.pane, {"cwd_missing"})
        finally:
            aside.rename(project)
            self.lab.project = project

    def dialog(self, begin, end):
        """Alive, and nothing opened: left to its person, and not proven."""
        begin()
        try:
            code, answer = self.lab.resume(self.pane)
            node = self.lab.node(self.pane)
            require(node.get("verdict") != "verified", "it says verified")
            require(node["last_failure"], f"exit code {code}, {answer}: no reason is shown")
            screen = [line.strip() for line in self.lab.text(self.pane).splitlines()]
            shown = " / ".join([line for line in screen if line][-6:])
            return f"{node['verdict']}, it shows: {shown[:150]}"
        finally:
            self.lab.kill_server()
            end()

    # Typed into a shell.

    def by_hand(self):
        lab = self.lab
        self.said = []
        self.pane = lab.spawn(["bash", "--norc", "--noprofile", "-i"])
        lab.shows(self.pane, "ready>")
        lab.type(self.pane, " ".join(self.agent.by_hand))
        lab.shows(self.pane, self.agent.prompt)
        self.said.append("typed by hand")
        lab.type(self.pane, "typed by hand")
        begun = time.monotonic()

        def seen():
            node = lab.node(self.pane)
            return node.get("kind") == self.agent.name and node.get("agent_session_id")

        self.id = until("kind and id", seen, 15)
        took = time.monotonic() - begun
        require(took <= 3, f"{took:.1f} s")
        require(lab.conversation(self.pane) == self.id, "another id was saved")
        lab.kill_server()
        evidence = self.verified(self.pane, self.id)
        self.say(self.pane, "after the shell")
        return f"seen after {took:.1f} s, then {evidence}"

    def quit_by_hand(self):
        """The shell is back, and nothing of the agent resumes by itself."""
        lab = self.lab
        pane = lab.spawn(["bash", "--norc", "--noprofile", "-i"])
        lab.shows(pane, "ready>")
        lab.type(pane, f"{' '.join(self.agent.by_hand)}; echo back-$((1+1))")
        lab.shows(pane, self.agent.prompt)
        lab.type(pane, "one word")
        until("the id", lambda: lab.node(pane).get("agent_session_id"), 15)
        lab.conversation(pane)
        lab.saved(pane)
        lab.type(pane, self.agent.quit)
        lab.shows(pane, "back-2")
        until("the shell", lambda: lab.node(pane).get("place") == "left", 15)
        until("the save", lambda: json.loads(lab.st("status", "--json"))["saved"])
        lab.kill_server()
        state = lab.pane(pane)["state"]
        require(state == "restored", f"the pane is {state}")
        return f"the pane is {state}"

    def unfollowable(self):
        lab = self.lab
        pane = lab.spawn(["bash", "--norc", "--noprofile", "-i"])
        lab.shows(pane, "ready>")
        lab.type(pane, self.agent.name)
        node = until("the agent", lambda: lab.node(pane), 30)
        lab.shows(pane, self.agent.prompt)
        lab.type(pane, "said to nobody's")
        until("the request", lambda: lab.saw("said to nobody's"))
        time.sleep(3)
        node = lab.node(pane)
        lab.st("pane", "close", pane)
        require(not node["agent_session_id"], f"it got {node['agent_session_id']}")
        require(self.agent.remedy in (node.get("integration") or ""), f"{node}")
        return node["integration"][:110]


def end_daemon(lab):
    """A plain Codex leaves a server of its own behind."""
    for file in pathlib.Path(lab.dir, "codex/app-server-daemon").glob("*.pid"):
        try:
            pid = json.loads(file.read_text())["pid"]
            subprocess.run(["kill", str(pid)], check=False)
        except (ValueError, KeyError, TypeError):
            pass


def all_of(lab):
    agent, story = lab.agent, Story(lab)
    version = [str(lab.npm / "node_modules/.bin" / agent.name), "--version"]
    version = subprocess.run(version, env=lab.env(), capture_output=True, text=True).stdout
    print(f"== {agent.name} {version.strip().splitlines()[-1] if version else '?'}", flush=True)
    if not case(agent, "it talks, and its conversation is saved", story.talk):
        return
    case(agent, "killed between turns: verified, history there", story.between_turns)
    case(agent, "killed in a turn: verified, history there", story.mid_turn)
    lab.kill_server()
    case(agent, "a second writer", story.second_writer)
    case(agent, "open in another pane", story.second_pane)
    lab.kill_server()
    for what, spoil, codes in agent.spoil(lab, story.id):
        case(agent, what, lambda s=spoil, c=codes: story.spoiled(s, c))
    case(agent, "the directory is gone", story.missing_directory)
    case(agent, "the program is gone",
         lambda: story.refused(story.pane, {"binary_missing"}, path=False))
    for what, begin, end in agent.dialogs(lab):
        case(agent, what, lambda b=begin, e=end: story.dialog(b, e))
    case(agent, "all that undone: verified", lambda: story.verified(story.pane, story.id))
    lab.kill_server()
    case(agent, "in another directory", story.elsewhere)
    if agent.sent:
        for where, by_hand in (("a pane", False), ("a shell", True)):
            case(agent, f"with {agent.sent} DIR in {where}",
                 lambda b=by_hand: story.sent_elsewhere(b))
    if agent.by_hand:
        case(agent, "typed into a shell, killed, verified", story.by_hand)
        case(agent, "typed into a shell, then ended", story.quit_by_hand)
    if agent.remedy:
        case(agent, "typed into a shell, not attributable", story.unfollowable)


# What `real-agents.sh` takes before the agents' names; each is given a lab.
VERBS = {
    "resume": all_of,
    "continue": lambda lab: continuing.all_of(Story(lab), case),
    "follow": lambda lab: following.all_of(Story(lab), case),
}


def main():
    here, npm, signaltty, *names = sys.argv[1:]
    verb = names.pop(0) if names[0] not in ALL else "resume"
    if verb not in VERBS:
        sys.exit(f"there is no {verb}: expected {', '.join(VERBS)}")
    for name in names:
        lab = Lab(here, npm, signaltty, ALL[name])
        try:
            VERBS[verb](lab)
        finally:
            end_daemon(lab)
            lab.close()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
