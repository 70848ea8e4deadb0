"""A scratch home, a stub of the model, and servers of signaltty in it."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time


class Failed(Exception):
    """A case did not go as it must."""


def require(holds, what):
    if not holds:
        raise Failed(what)


def until(what, condition, seconds=60):
    """Waits until a condition holds; gives its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"waited {seconds} s in vain for {what}")
        time.sleep(0.1)


class Lab:
    """Everything of one agent; gone with it."""

    def __init__(self, here, npm, signaltty, agent):
        self.agent, self.signaltty = agent, signaltty
        self.npm = pathlib.Path(npm)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="real-agents-"))
        self.project = self.dir / "project"
        self.elsewhere = self.dir / "elsewhere"
        self.project.mkdir()
        self.elsewhere.mkdir()
        self.log, port = self.dir / "requests", self.dir / "port"
        self.log.touch()
        stub = [sys.executable, f"{here}/scripts/stub_model.py"]
        self.stub = subprocess.Popen([*stub, "--port-file", str(port), "--log", str(self.log)])
        until("the stub", port.exists)
        self.url = f"http://127.0.0.1:{port.read_text()}"
        self.states = set()
        # What a server starts by itself gets the login shell's environment.
        path = self.env()["PATH"]
        (self.dir / ".profile").write_text(f"export PATH='{path}'\n")
        agent.prepare(self)

    def close(self):
        for state in self.states:
            self.st("--no-start", "shutdown", "--force", state=state, check=False)
        self.stub.terminate()
        self.stub.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def env(self, path=True):
        """Nothing of the caller's environment reaches an agent."""
        places = [str(self.npm / "node_modules/.bin")] if path else []
        node = pathlib.Path(shutil.which("node") or "/usr/bin/node").parent
        if path and str(node) not in ("/usr/bin", "/bin"):
            places.append(str(node))
        return {
            "PATH": ":".join([*places, "/usr/local/bin", "/usr/bin", "/bin"]),
            "HOME": str(self.dir),
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PS1": "ready> ",
            **self.agent.env(self),
        }

    def st(self, *words, state="state", path=True, check=True):
        """Runs signaltty; its standard output, or with `check=False` all."""
        self.states.add(state)
        env = {**self.env(path), "SIGNALTTY_STATE_DIR": str(self.dir / state)}
        done = subprocess.run(
            [self.signaltty, *words], env=env, cwd=self.project, capture_output=True, text=True
        )
        if not check:
            return done
        require(done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def spawn(self, argv, state="state", cwd=None):
        where = ["--cwd", str(cwd or self.project)]
        made = self.st("new", *where, "--json", "--", *argv, state=state)
        return json.loads(made)["pane_id"]

    def pane(self, pane, state="state"):
        return json.loads(self.st("pane", "info", pane, "--json", state=state))

    def node(self, pane, state="state"):
        return self.pane(pane, state).get("agent") or {}

    def text(self, pane, state="state"):
        return self.st("pane", "read", pane, state=state)

    def shows(self, pane, what, state="state", seconds=60):
        try:
            until(f"{what!r} on the screen", lambda: what in self.text(pane, state), seconds)
        except Failed as failed:
            screen = [line for line in self.text(pane, state).splitlines() if line.strip()]
            raise Failed(f"{failed}; it shows: {' / '.join(screen[-8:])}") from None

    def type(self, pane, text, state="state"):
        # A person's Enter comes after the text was drawn; what was typed before
        # an agent took input is lost, and typed again.
        for _ in range(6):
            self.st("pane", "send", pane, text, state=state)
            try:
                self.shows(pane, text[:40], state, seconds=10)
                break
            except Failed:
                continue
        time.sleep(0.3)
        self.st("pane", "keys", pane, "Enter", state=state)

    def requests(self):
        # The last one may still be being written.
        whole = self.log.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def saw(self, text):
        """What the model was told in the request that ends with this text."""
        found = [r for r in self.requests() if r["said"] and r["said"][-1] == text]
        return found[-1] if found else None

    def say(self, pane, text, state="state"):
        """One turn; what the person had said by then, as the model saw it."""
        # OpenCode draws a prompt, and another one once it has the conversation:
        # what was typed into the first is gone.
        for patience in (25, 25, 60):
            self.type(pane, text, state)
            try:
                return until(f"the request with {text!r}", lambda: self.saw(text), patience)["said"]
            except Failed as failed:
                last = failed
        raise last

    def saved(self, pane):
        """Waits until the turn is over and its anchor on the disk."""
        def is_saved():
            done = self.pane(pane)["lifecycle"] in ("idle", "done")
            return done and json.loads(self.st("status", "--json"))["saved"]

        for _ in range(5):
            until("the end of the turn and its save", is_saved)
            time.sleep(0.2)

    def conversation(self, pane, seconds=30):
        def anchored():
            snapshot = json.loads((self.dir / "state/snapshot.json").read_text())
            mine = next((p for p in snapshot["panes"] if p["id"] == pane), {})
            talk = (mine.get("agent") or {}).get("conversation") or {}
            return talk.get("anchor") and talk["id"]

        return until("the saved conversation", anchored, seconds)

    def kill_server(self, state="state"):
        pid = json.loads(self.st("--no-start", "status", "--json", state=state))["pid"]
        os.kill(pid, signal.SIGKILL)
        until("its end", lambda: not pathlib.Path(f"/proc/{pid}").exists())

    def resume(self, pane, *options, path=True):
        done = self.st("resume", pane, "--json", *options, path=path, check=False)
        line = (done.stdout.strip() or done.stderr.strip() or "{}").splitlines()[-1]
        try:
            return done.returncode, json.loads(line)
        except ValueError:
            return done.returncode, {"error": {"message": line}}
