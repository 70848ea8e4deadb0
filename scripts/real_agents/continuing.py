"""The turn that a killed server left: it goes on once, or when it is asked to.

What counts is what the model got: the request that ends with the carry-on
prompt, how many of them, and what stood before it.
"""

import json
import time

from lab import require, until

PROMPT = "Continue where you left off."


def is_prompt(text):
    return text.strip() in (PROMPT, f"<user_query>\n{PROMPT}\n</user_query>")


class Continuing:
    def __init__(self, story):
        self.story, self.lab = story, story.lab

    def switch(self, word):
        workspace = self.lab.pane(self.story.pane)["workspace_id"]
        self.lab.st("workspace", "set", workspace, f"auto-resume={word}", f"auto-continue={word}")

    def prompted(self):
        """The turns in which the model was told to go on. Grok asks the model
        for recaps and guesses besides, which quote the prompt."""
        return [r for r in self.lab.requests() if r["users"] and is_prompt(r["users"][-1])]

    def cut(self, text):
        """A turn whose server is killed while the model answers."""
        lab, story = self.lab, self.story
        story.say(story.pane, text)
        until("work", lambda: lab.pane(story.pane)["lifecycle"] == "working", 20)
        until("the save", lambda: json.loads(lab.st("status", "--json"))["saved"])
        self.before = len(self.prompted())
        lab.kill_server()

    def went_on(self):
        """Exactly one request, with everything that was said before it."""
        lab, story = self.lab, self.story

        def over():
            if lab.node(story.pane).get("last_failure"):
                return True
            node = lab.node(story.pane)
            return len(self.prompted()) > self.before and not node["marked"]

        try:
            until("the turn to go on", over, 90)
        finally:
            node = lab.node(story.pane)
        require(not node.get("last_failure"), f"{node.get('last_failure')}")
        lab.saved(story.pane)
        sent = self.prompted()[self.before:]
        require(len(sent) == 1, f"the model was told to go on {len(sent)} times")
        story.said.append(PROMPT)
        mine = [one for one in sent[0]["said"] if one in story.said]
        require(mine == story.said, f"the model saw {mine}, the person said {story.said}")
        node = lab.node(story.pane)
        found = (node.get("verdict"), node.get("agent_session_id"), node.get("marked"))
        require(found == ("verified", story.id, False), f"{found}, {node}")
        require(not node["interrupted"], "the turn still counts as interrupted")
        return f"once, after {len(mine) - 1} texts"

    def by_itself(self):
        self.switch("on")
        self.cut("a SLOW one that goes on by itself")
        return self.went_on()

    def and_not_again(self):
        """The turn that went on is over: another start sends nothing."""
        lab, story = self.lab, self.story
        before = len(lab.requests())
        lab.kill_server()
        until("the pane", lambda: lab.pane(story.pane)["state"] == "live", 60)
        time.sleep(3)
        require(len(lab.requests()) == before, "something was asked")
        return "resumed, nothing was asked"

    def by_hand(self):
        lab, story = self.lab, self.story
        self.switch("off")
        self.cut("a SLOW one for a person")
        before = len(lab.requests())
        info = lab.pane(story.pane)
        require(info["state"] == "resumable", f"the pane is {info['state']}")
        require(info["agent"]["interrupted"], "the interrupted turn is not noted")
        time.sleep(3)
        require(len(lab.requests()) == before, "something was asked without anybody's word")
        lab.st("continue", story.pane)
        return self.went_on()


def all_of(story, case):
    agent, turn = story.agent, Continuing(story)
    if not case(agent, "it talks, and its conversation is saved", story.talk):
        return
    case(agent, "killed in a turn, both switches on", turn.by_itself)
    case(agent, "killed after it, both switches on", turn.and_not_again)
    case(agent, "killed in a turn, switches off", turn.by_hand)
