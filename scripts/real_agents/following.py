"""What an agent does and which conversation it has open, while it runs.

The words of `ls` are compared with what the stub of the model and the screen
show: working, waiting for a permission, done, idle; and an id that changes
while the process lives.
"""

import time

from lab import require, until


class Following:
    def __init__(self, story):
        self.story, self.lab, self.agent = story, story.lab, story.agent

    def becomes(self, *wanted, seconds=20):
        pane = self.story.pane
        try:
            until(f"{wanted}", lambda: self.lab.pane(pane)["lifecycle"] in wanted, seconds)
        except Exception as error:
            was = self.lab.pane(pane)
            raise type(error)(f"{error}: {was['lifecycle']}, {was['attention']}") from None
        return self.lab.pane(pane)["lifecycle"]

    def interrupted(self):
        """Working while the model answers, and not any more once it is stopped;
        its person has nothing to read."""
        lab, story = self.lab, self.story
        lab.st("pane", "focus", story.pane)
        story.say(story.pane, "a SLOW one to break off")
        self.becomes("working")
        for key in self.agent.breaks_off:
            # Two at once are another key.
            lab.st("pane", "keys", story.pane, key)
            time.sleep(0.5)
        word = self.becomes("idle", "done")
        info = lab.pane(story.pane)
        require(info["pid"], "the process is gone")
        require(info["attention"] == "none", f"attention is {info['attention']}")
        return f"working, then {word}"

    def asked_by_hook(self):
        """Where its person trusted a hook of ours that waits for an answer."""
        lab, story = self.lab, self.story
        story.pane = lab.spawn(self.agent.trusts_hook(lab))
        lab.shows(story.pane, self.agent.prompt)
        story.said = []
        story.say(story.pane, "one with a hook")
        lab.saved(story.pane)
        return self.asked(True, True)

    def asked(self, shows=None, answers=None):
        """A command that needs a permission: blocked until it is given."""
        shows = self.agent.shows_questions if shows is None else shows
        answers = self.agent.takes_answers if answers is None else answers
        lab, story = self.lab, self.story
        file = lab.project / f"file-{len(lab.requests())}"
        file.touch()
        story.say(story.pane, f"RUN rm -rf {file}")
        if not shows:
            lab.shows(story.pane, self.agent.question)
            self.becomes("working")
            lab.st("pane", "keys", story.pane, *self.agent.yes)
            seen = "working, not blocked, as documented"
        else:
            self.becomes("blocked")
            attention = lab.pane(story.pane)["attention"]
            require(attention == "permission_required", f"attention is {attention}")
            seen = "blocked, permission_required"
            if answers:
                question = until("the question", lambda: lab.pane(story.pane).get("decision_id"))
                lab.st("answer", story.pane, "allow", "--question", question)
            else:
                lab.shows(story.pane, self.agent.question)
                lab.st("pane", "keys", story.pane, *self.agent.yes)
        until("the command to run", lambda: not file.exists(), 30)
        return f"{seen}; then {self.becomes('done', 'idle')}"

    def another(self, what, begin, texts=()):
        """The id changes while the process lives: it is followed, saved at once,
        and is what comes back."""
        lab, story = self.lab, self.story
        old, pid = story.id, lab.pane(story.pane)["pid"]
        story.said = list(texts)
        begin()
        # With the slash it is a command to some.
        what = what.lstrip("/")
        story.say(story.pane, f"said after {what}")
        lab.saved(story.pane)
        found = until("the new id", lambda: self.changed(old), 30)
        require(lab.pane(story.pane)["pid"] == pid, "it is another process")
        saved = until("it to be saved", lambda: lab.conversation(story.pane) == found and found, 10)
        lab.kill_server()
        story.id = saved
        evidence = story.verified(story.pane, saved)
        story.say(story.pane, f"and after the kill that came after {what}")
        lab.saved(story.pane)
        return f"{old[-6:]} -> {saved[-6:]}, {evidence}"

    def installed(self):
        """Typed into a shell, with the hooks that `integration install` put into
        its person's files; and these are as before after an uninstall."""
        lab, story, agent = self.lab, self.story, self.agent
        file = agent.hooks_file(lab)
        before = file.read_bytes() if file.exists() else None
        lab.st("integration", "install", agent.name)
        require(file.exists() and file.read_bytes() != before, f"{file} is as before")
        story.pane = lab.spawn(["bash", "--norc", "--noprofile", "-i"])
        lab.shows(story.pane, "ready>")
        lab.type(story.pane, agent.name)
        lab.shows(story.pane, agent.prompt)
        story.said = []
        story.say(story.pane, "typed with hooks of its own")
        until("the id", lambda: lab.node(story.pane).get("agent_session_id"), 20)
        self.becomes("done", "idle")
        asked = self.asked()
        lab.st("integration", "uninstall", agent.name)
        after = file.read_bytes() if file.exists() else None
        require(after == before, f"{file} is not as it was")
        lab.saved(story.pane)
        story.id = lab.conversation(story.pane)
        lab.kill_server()
        return f"{asked}; {story.verified(story.pane, story.id)}"

    def changed(self, old):
        id = self.lab.node(self.story.pane).get("agent_session_id")
        return id if id and id != old else None


def all_of(story, case):
    agent, lab, follow = story.agent, story.lab, Following(story)
    agent.asks_for_permission(lab)
    if not case(agent, "it talks: done after a turn", story.talk):
        return
    case(agent, f"working, and broken off by {' '.join(agent.breaks_off)}", follow.interrupted)
    case(agent, "a permission", follow.asked)
    first, texts = story.id, list(story.said)
    case(agent, f"another conversation by {agent.new}",
         lambda: follow.another(agent.new, lambda: lab.type(story.pane, agent.new)))
    for what, begin in agent.goes_back(lab, story, first):
        case(agent, f"back to the first one by {what}",
             lambda w=what, b=begin: follow.another(w, b, texts))
    for what, begin in agent.forks(lab, story):
        texts = list(story.said)
        case(agent, f"a fork by {what}", lambda w=what, b=begin: follow.another(w, b, texts))
    if agent.hooks_file(lab):
        case(agent, "in a shell, with installed hooks", follow.installed)
    if agent.trusts_hook(lab):
        case(agent, "a permission, by a hook that is trusted", follow.asked_by_hook)
