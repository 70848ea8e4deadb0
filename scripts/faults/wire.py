"""A server of this project and a client of its socket, for the fault tools."""
import ctypes
import json
import os
import signal
import socket
import subprocess
import tempfile
import time

PATIENCE = 20.0


class Gone(Exception):
    """The server or a connection ended."""


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self.buffer = b""
        self.asked = 0

    def line(self, patience=PATIENCE):
        self.socket.settimeout(patience)
        while b"\n" not in self.buffer:
            try:
                part = self.socket.recv(65536)
            except TimeoutError:
                return None
            except OSError as error:
                raise Gone(str(error)) from error
            if not part:
                raise Gone("the connection ended")
            self.buffer += part
        line, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(line)

    def send(self, method, **params):
        self.asked += 1
        request = {"v": "signaltty/1", "id": str(self.asked), "method": method, "params": params}
        try:
            self.socket.sendall(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise Gone(str(error)) from error

    def ask(self, method, **params):
        """The result, or the error as it came."""
        self.send(method, **params)
        reply = self.line()
        if reply is None:
            raise Gone(f"no answer to {method}")
        return reply.get("result", {"error": reply.get("error")})


class Server:
    """A server on a state directory. Dies with this process."""

    def __init__(self, program, state, debounce_ms=100, wrapper=()):
        self.dir = tempfile.mkdtemp(prefix="st-f.")
        self.socket_path = os.path.join(self.dir, "s")
        config = os.path.join(self.dir, "config.toml")
        with open(config, "w") as file:
            file.write(f"[save]\ndebounce_ms = {debounce_ms}\n")
        # By a link, not by an option: a server that is told where its state is
        # keeps the files of its launches there, too, which are no state.
        os.symlink(os.path.abspath(state), os.path.join(self.dir, "signaltty"))
        self.log_path = os.path.join(self.dir, "log")
        home = os.path.join(self.dir, "home")
        os.mkdir(home)
        env = {"PATH": os.environ["PATH"], "HOME": home, "SHELL": "/bin/sh",
               "SIGNALTTY_LOGIND": "0", "LANG": "C.UTF-8",
               "XDG_RUNTIME_DIR": self.dir, "XDG_STATE_HOME": self.dir}
        libc = ctypes.CDLL(None)
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [*wrapper, program, "__server", "--socket", self.socket_path, "--config", config],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=env,
                preexec_fn=lambda: libc.prctl(1, signal.SIGKILL))

    def ready(self):
        """A client once the server answers; None where it ended before."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if self.process.poll() is not None:
                return None
            try:
                client = Client(self.socket_path)
                # One that will not start accepts until it knows.
                if "error" not in client.ask("server.status"):
                    return client
                time.sleep(0.005)
            except (OSError, Gone):
                time.sleep(0.005)
        raise Gone("the server neither answers nor ends")

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()[-2000:]

    def end(self, how=signal.SIGKILL, patience=10.0):
        """Ends it; gives its exit status."""
        try:
            if self.process.poll() is None:
                self.process.send_signal(how)
            status = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        return status

    def remove(self):
        subprocess.run(["rm", "-rf", self.dir], check=False)
