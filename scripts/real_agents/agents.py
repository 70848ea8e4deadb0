"""How each agent is set up, started and spoiled."""

import json
import sqlite3
import time

from lab import until

KEY = "no-key-for-a-stub-on-loopback"

# A conversation that nobody has.
OTHER = "0198c0de-0000-7000-8000-000000000000"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Agent:
    quit = "/exit"
    by_hand = None
    remedy = None
    # Whether a second one shows the conversation before its first turn.
    shows_itself = True
    # How it begins another conversation, and the keys that break off a turn.
    new, breaks_off = "/new", ["Escape"]
    # Whether it shows a question for a permission, whether `signaltty answer`
    # answers it, and else what the screen says and what is pressed.
    shows_questions = takes_answers = False
    question, yes = "", ["Enter"]
    # What a resume in another directory comes to, and the option that sends it
    # to another one at its launch.
    elsewhere, sent = "damaged", None

    def argv(self):
        return [self.name]

    def place(self, lab, id):
        """What is put back after it was spoiled."""
        return self.record(lab, id)

    def asks_for_permission(self, lab):
        """Has it ask before it runs a command."""

    def hooks_file(self, lab):
        """What `integration install` writes to."""

    def trusts_hook(self, lab):
        """Sets a hook of ours up as its person may, trusted; how it is started."""

    def goes_back(self, lab, story, id):
        """How it opens an earlier conversation while it runs."""
        return []

    def pick(self, lab, pane, id, sign, command="/resume"):
        """Takes the conversation before this one from a list."""
        lab.type(pane, command)
        lab.shows(pane, sign)
        # The frame of the list is drawn before what is in it.
        time.sleep(1)
        lab.st("pane", "keys", pane, "Down")
        time.sleep(0.5)
        lab.st("pane", "keys", pane, "Enter")
        until("the list to be closed", lambda: sign not in lab.text(pane), 20)

    def fork(self, lab, story):
        lab.type(story.pane, "/fork")
        until("the fork", lambda: lab.node(story.pane)["agent_session_id"] != story.id, 20)

    def forks(self, lab, story):
        """How it forks its conversation while it runs."""
        return []

    def spoil(self, lab, id):
        """Ways to spoil the record: what, how, and the codes that are right."""
        record = self.record(lab, id)
        lines = record.read_bytes().splitlines(keepends=True)
        at = len(lines) // 2
        half = b"".join(lines[:at])
        holed = half + b'{"broken\n' + b"".join(lines[at + 1 :])
        other = b"".join(lines).replace(id.encode(), OTHER.encode())
        return [
            ("the record cut to its half", lambda: record.write_bytes(half), {"damaged"}),
            ("a broken line in the middle", lambda: record.write_bytes(holed), {"damaged"}),
            ("another conversation in the record", lambda: record.write_bytes(other),
             {"damaged", "rewritten"}),
            ("only metadata left", lambda: record.write_bytes(self.metadata(lines)),
             {"gone", "damaged"}),
            ("an empty record", lambda: record.write_bytes(b""), {"gone", "damaged"}),
            ("an unknown id", record.unlink, {"gone"}),
        ]


class Claude(Agent):
    resume, elsewhere = ["--resume"], "verified"
    name, prompt, by_hand = "claude", "❯", ["claude"]
    new, shows_questions, takes_answers = "/clear", True, True

    def env(self, lab):
        return {
            "ANTHROPIC_BASE_URL": lab.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CONFIG_DIR": str(lab.dir / "claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        }

    def prepare(self, lab, trusted=True):
        write(lab.dir / "claude/.claude.json", json.dumps({
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(place): {"hasTrustDialogAccepted": trusted}
                         for place in (lab.project, lab.elsewhere)},
        }))

    def dialogs(self, lab):
        def distrust():
            path = lab.dir / "claude/.claude.json"
            config = json.loads(path.read_text())
            config["projects"][str(lab.project)]["hasTrustDialogAccepted"] = False
            path.write_text(json.dumps(config))

        yield "an untrusted directory", distrust, lambda: self.prepare(lab)

    def asks_for_permission(self, lab):
        rules = {"defaultMode": "default", "ask": ["Bash"]}
        write(lab.dir / "claude/settings.json", json.dumps({"permissions": rules}))

    def hooks_file(self, lab):
        return lab.dir / "claude/settings.json"

    def goes_back(self, lab, story, id):
        def resume():
            lab.type(story.pane, f"/resume {id}")
            until("it to be open", lambda: lab.node(story.pane)["agent_session_id"] == id, 20)

        yield "/resume", resume

    def forks(self, lab, story):
        yield "/branch", lambda: lab.type(story.pane, "/branch")

    def record(self, lab, id):
        return next((lab.dir / "claude/projects").glob(f"*/{id}.jsonl"))

    def metadata(self, lines):
        return b"".join(line for line in lines if b'"uuid"' not in line)


class Codex(Agent):
    resume, sent = ["resume", "--no-daemon"], "-C"
    name, prompt, quit = "codex", "›", "/quit"
    by_hand = ["codex", "--no-daemon"]
    remedy = "codex --no-daemon"
    question = "Yes, proceed"

    def env(self, lab):
        return {"CODEX_HOME": str(lab.dir / "codex"), "STUB_KEY": KEY}

    def prepare(self, lab):
        write(lab.dir / "codex/config.toml", "\n".join([
            'model = "stub-model"', 'model_provider = "stub"',
            'approval_policy = "on-request"', 'sandbox_mode = "workspace-write"',
            "check_for_update_on_startup = false",
            "[analytics]", "enabled = false",
            "[model_providers.stub]", 'name = "stub"', f'base_url = "{lab.url}/v1"',
            'wire_api = "responses"', 'env_key = "STUB_KEY"',
            *(f"[projects.{json.dumps(str(place))}]\ntrust_level = \"trusted\""
              for place in (lab.project, lab.elsewhere)), "",
        ]))

    def dialogs(self, lab):
        hooks = lab.dir / "codex/hooks.json"
        hook = {"hooks": [{"type": "command", "command": "true"}]}
        yield ("a dialog that reviews hooks",
               lambda: write(hooks, json.dumps({"hooks": {"Stop": [hook]}})), hooks.unlink)
        config = lab.dir / "codex/config.toml"
        marked = config.read_text().replace('"trusted"', '"untrusted"')
        yield ("a directory marked as untrusted",
               lambda: config.write_text(marked), lambda: self.prepare(lab))

    def trusts_hook(self, lab):
        hook = {"type": "command", "command": f"'{lab.signaltty}' hook codex", "timeout": 60}
        write(lab.dir / "codex/hooks.json",
              json.dumps({"hooks": {"PermissionRequest": [{"hooks": [hook]}]}}))
        return [self.name, "--dangerously-bypass-hook-trust"]

    def goes_back(self, lab, story, id):
        yield "/resume", lambda: self.pick(lab, story.pane, id, "enter resume")

    def forks(self, lab, story):
        yield "/fork", lambda: self.fork(lab, story)

    def record(self, lab, id):
        return next((lab.dir / "codex/sessions").rglob(f"rollout-*{id}.jsonl"))

    def metadata(self, lines):
        return lines[0]


class OpenCode(Agent):
    resume = ["--session"]
    name, prompt = "opencode", "Ask anything"
    remedy = "pane split"
    shows_itself = False
    breaks_off = ["Escape", "Escape"]
    shows_questions, question = True, "Permission required"

    def env(self, lab):
        xdg = {f"XDG_{n}_HOME": str(lab.dir / "xdg" / n.lower())
               for n in ("DATA", "CONFIG", "STATE", "CACHE")}
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
        return {**xdg, **{f"OPENCODE_DISABLE_{name}": "1" for name in off}}

    def asks_for_permission(self, lab):
        path = lab.dir / "xdg/config/opencode/opencode.json"
        config = json.loads(path.read_text())
        path.write_text(json.dumps({**config, "permission": {"bash": "ask"}}))

    def prepare(self, lab):
        model = {"name": "Stub", "limit": {"context": 128000, "output": 4096}}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "Stub",
                    "options": {"baseURL": f"{lab.url}/v1", "apiKey": KEY},
                    "models": {"stub-model": model}}
        write(lab.dir / "xdg/config/opencode/opencode.json", json.dumps({
            "model": "stub/stub-model", "small_model": "stub/stub-model",
            "autoupdate": False, "share": "disabled", "provider": {"stub": provider},
        }))

    def dialogs(self, lab):
        return []

    def forks(self, lab, story):
        def fork():
            lab.type(story.pane, "/fork")
            lab.shows(story.pane, "Fork session")
            time.sleep(1)
            lab.st("pane", "keys", story.pane, "Enter")
            until("the list to be closed",
                  lambda: "Fork session" not in lab.text(story.pane), 20)

        yield "/fork", fork

    def hooks_file(self, lab):
        return lab.dir / "xdg/config/opencode/plugin/signaltty.js"

    def goes_back(self, lab, story, id):
        yield "/sessions", lambda: self.pick(lab, story.pane, id, "Sessions", "/sessions")

    def record(self, lab, id):
        return lab.dir / "xdg/data/opencode/opencode.db"

    def place(self, lab, id):
        # With what the database has beside it.
        return lab.dir / "xdg/data/opencode"

    def spoil(self, lab, id):
        def sql(statement):
            def run():
                with sqlite3.connect(self.record(lab, id)) as base:
                    base.execute(statement, (id,))
            return run

        record = self.record(lab, id)
        first = "(SELECT id FROM message WHERE session_id = ? ORDER BY time_created LIMIT 1)"
        return [
            ("the first message deleted", sql(f"DELETE FROM message WHERE id = {first}"),
             {"damaged"}),
            ("all messages deleted, the row kept", sql("DELETE FROM message WHERE session_id = ?"),
             {"gone", "damaged"}),
            ("a message that nobody can read",
             sql("UPDATE message SET data = '{' WHERE session_id = ?"), {"damaged"}),
            ("the row points to another directory",
             sql("UPDATE session SET directory = '/' WHERE id = ?"), {"damaged"}),
            ("an unknown id", sql("DELETE FROM session WHERE id = ?"), {"gone"}),
            ("a database of garbage", lambda: record.write_bytes(b"garbage" * 1000),
             {"damaged", "unreadable"}),
            ("no database", record.unlink, {"gone"}),
        ]


# Its chat history does not name the conversation, and losing it is a row below.
GROK_HAS_NO = ("another conversation in the record", "an unknown id")


class Grok(Agent):
    resume, sent = ["-r"], "--cwd"
    name, prompt, by_hand, quit = "grok", "❯", ["grok"], "/quit"
    question, yes, breaks_off = "Yes, proceed", ["3"], ["C-c"]

    def env(self, lab):
        return {"GROK_HOME": str(lab.dir / "grok"), "XAI_API_KEY": KEY, "STUB_KEY": KEY,
                "GROK_DISABLE_AUTOUPDATER": "1", "GROK_TELEMETRY_ENABLED": "0"}

    def prepare(self, lab):
        write(lab.dir / "grok/config.toml", "\n".join([
            "[models]", 'default = "stub"', "[model.stub]", 'model = "stub-model"',
            f'base_url = "{lab.url}/v1"', 'env_key = "STUB_KEY"', 'name = "Stub"',
            "context_window = 100000", "[cli]", "auto_update = false", "",
        ]))

    def dialogs(self, lab):
        return []

    def goes_back(self, lab, story, id):
        yield "/resume", lambda: self.pick(lab, story.pane, id, "Grok f")

    def forks(self, lab, story):
        yield "/fork", lambda: self.fork(lab, story)

    def record(self, lab, id):
        return next((lab.dir / "grok/sessions").glob(f"*/{id}")) / "chat_history.jsonl"

    def metadata(self, lines):
        return lines[0]

    def place(self, lab, id):
        return self.record(lab, id).parent

    def spoil(self, lab, id):
        summary = self.record(lab, id).parent / "summary.json"
        info = json.loads(summary.read_text())

        def altered(**change):
            return lambda: summary.write_text(json.dumps({**info, "info": {**info["info"], **change}}))

        rows = [row for row in super().spoil(lab, id) if row[0] not in GROK_HAS_NO]
        return [*rows,
                ("a summary of another conversation", altered(id=OTHER), {"damaged"}),
                ("a summary of another directory", altered(cwd="/"), {"damaged"}),
                ("an empty summary", lambda: summary.write_text(""), {"damaged"}),
                ("no summary, as where Grok opens a fork", summary.unlink, {"gone", "damaged"}),
                ("no history, as where Grok makes one up", self.record(lab, id).unlink,
                 {"gone", "damaged"})]


ALL = {agent.name: agent for agent in (Claude(), Codex(), OpenCode(), Grok())}
