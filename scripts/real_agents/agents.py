"""How each agent is set up, started and spoiled."""

import json
import sqlite3

KEY = "no-key-for-a-stub-on-loopback"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Agent:
    quit = "/exit"
    by_hand = None
    remedy = None
    has_writer_lock = True

    def argv(self):
        return [self.name]

    def place(self, lab, id):
        """What is put back after it was spoiled."""
        return self.record(lab, id)

    def spoil(self, lab, id):
        """Ways to spoil the record: what, how, and the codes that are right."""
        record = self.record(lab, id)
        lines = record.read_bytes().splitlines(keepends=True)
        half = b"".join(lines[: len(lines) // 2])
        return [
            ("the record cut to its half", lambda: record.write_bytes(half), {"damaged"}),
            ("only metadata left", lambda: record.write_bytes(self.metadata(lines)),
             {"gone", "damaged"}),
            ("an empty record", lambda: record.write_bytes(b""), {"gone", "damaged"}),
            ("an unknown id", record.unlink, {"gone"}),
        ]


class Claude(Agent):
    name, prompt, by_hand = "claude", "❯", ["claude"]

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
            "projects": {str(lab.project): {"hasTrustDialogAccepted": trusted}},
        }))

    def dialogs(self, lab):
        def distrust():
            path = lab.dir / "claude/.claude.json"
            config = json.loads(path.read_text())
            config["projects"][str(lab.project)]["hasTrustDialogAccepted"] = False
            path.write_text(json.dumps(config))

        yield "an untrusted directory", distrust, lambda: self.prepare(lab)

    def record(self, lab, id):
        return next((lab.dir / "claude/projects").glob(f"*/{id}.jsonl"))

    def metadata(self, lines):
        return b"".join(line for line in lines if b'"uuid"' not in line)


class Codex(Agent):
    name, prompt, quit = "codex", "›", "/quit"
    by_hand = ["codex", "--no-daemon"]
    remedy = "codex --no-daemon"

    def env(self, lab):
        return {"CODEX_HOME": str(lab.dir / "codex"), "STUB_KEY": KEY}

    def prepare(self, lab, trusted=True):
        write(lab.dir / "codex/config.toml", "\n".join([
            'model = "stub-model"', 'model_provider = "stub"',
            'approval_policy = "on-request"', 'sandbox_mode = "workspace-write"',
            "check_for_update_on_startup = false",
            "[analytics]", "enabled = false",
            "[model_providers.stub]", 'name = "stub"', f'base_url = "{lab.url}/v1"',
            'wire_api = "responses"', 'env_key = "STUB_KEY"',
            f"[projects.{json.dumps(str(lab.project))}]",
            f'trust_level = "{"trusted" if trusted else "untrusted"}"', "",
        ]))

    def dialogs(self, lab):
        hooks = lab.dir / "codex/hooks.json"
        hook = {"hooks": [{"type": "command", "command": "true"}]}
        yield ("a dialog that reviews hooks",
               lambda: write(hooks, json.dumps({"hooks": {"Stop": [hook]}})), hooks.unlink)

    def record(self, lab, id):
        return next((lab.dir / "codex/sessions").rglob(f"rollout-*{id}.jsonl"))

    def metadata(self, lines):
        return lines[0]


class OpenCode(Agent):
    name, prompt = "opencode", "Ask anything"
    remedy = "pane split"
    has_writer_lock = False

    def env(self, lab):
        xdg = {f"XDG_{n}_HOME": str(lab.dir / "xdg" / n.lower())
               for n in ("DATA", "CONFIG", "STATE", "CACHE")}
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
        return {**xdg, **{f"OPENCODE_DISABLE_{name}": "1" for name in off}}

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
            ("an unknown id", sql("DELETE FROM session WHERE id = ?"), {"gone"}),
            ("a database of garbage", lambda: record.write_bytes(b"garbage" * 1000),
             {"damaged", "unreadable"}),
            ("no database", record.unlink, {"gone"}),
        ]


class Grok(Agent):
    name, prompt, by_hand, quit = "grok", "❯", ["grok"], "/quit"

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

    def record(self, lab, id):
        return next((lab.dir / "grok/sessions").glob(f"*/{id}")) / "chat_history.jsonl"

    def metadata(self, lines):
        return lines[0]

    def place(self, lab, id):
        return self.record(lab, id).parent

    def spoil(self, lab, id):
        summary = self.record(lab, id).parent / "summary.json"
        return [*super().spoil(lab, id)[:3],
                ("no summary, as where Grok opens a fork", summary.unlink, {"gone", "damaged"}),
                ("no history, as where Grok makes one up", self.record(lab, id).unlink,
                 {"gone", "damaged"})]


ALL = {agent.name: agent for agent in (Claude(), Codex(), OpenCode(), Grok())}
