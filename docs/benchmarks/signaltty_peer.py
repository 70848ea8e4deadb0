"""signaltty as a peer of a benchmark that runs terminal session servers side by side.

The harness gives each peer a directory, an environment and the command of a pane; see docs/benchmarks.md. The binary
is `signaltty` from $BENCH_SIGNALTTY or PATH: the same file is client and server (`signaltty __server`).
"""

import json
import os
import subprocess

import term
from peers import Peer, SCROLLBACK

# The history that a server keeps of a pane without being told otherwise.
assert SCROLLBACK == 10_000


class Signaltty(Peer):
    name = binary = "signaltty"

    def configure(self):
        self.socket = self.file("run/s.sock")
        self.base = ["--socket", self.socket, "--state-dir", self.file("state"), "--no-start"]
        self.env |= {"SIGNALTTY_LOGIND": "0", "PWD": self.dir}
        self.main = None

    def serve(self):
        self.server = self.daemon("__server", "--socket", self.socket, "--state-dir", self.file("state"))
        term.wait_for(lambda: os.path.exists(self.socket), 10, "the socket", step=0.0005)

    def start(self, argv):
        self.serve()
        self.main = self.call(*self.base, "new", "--name", "bench", "--", *argv).strip()

    def spawn(self, argv):
        self.call(*self.base, "pane", "spawn", self.main, "--", *argv)

    def spawn_batch(self, argvs):
        lines = "".join(json.dumps({"pane": self.main, "argv": list(argv)}) + "\n" for argv in argvs)
        done = subprocess.run([self.path(), *self.base, "pane", "spawn", "--batch"], env=self.env, cwd=self.dir,
                              input=lines, capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise RuntimeError(f"batch: {done.stderr[-300:]}")

    def attach_argv(self):
        return [self.path(), *self.base, "attach", self.main]

    def server_pids(self):
        """Clients are the same binary: the server is the process that was started as one."""
        return [self.server.pid]

    def ask_to_stop(self):
        self.call(*self.base, "shutdown", "--force", check=False)
        self.server.wait(30)

    def save(self):
        """A server saves as it stops."""
        self.ask_to_stop()

    def restart(self, idle):
        """All panes come back as tombstones, with what they showed; then each runs `idle`."""
        self.serve()
        tree = json.loads(self.call(*self.base, "ls", "--json"))
        panes = [pane["id"] for workspace in tree["workspaces"] for tab in workspace["tabs"] for pane in tab["panes"]]
        lines = "".join(json.dumps({"pane": pane, "argv": list(idle)}) + "\n" for pane in panes)
        subprocess.run([self.path(), *self.base, "pane", "spawn", "--batch"], env=self.env, cwd=self.dir, input=lines,
                       capture_output=True, text=True, timeout=60, check=True)
