#!/usr/bin/env python3
"""Records what free programs print, and the screens that tmux makes of it.

    scripts/record_screens.py [PROGRAM…]

Writes signaltty-pty/tests/recorded/PROGRAM/STEP, the bytes of a step, and STEP.screen: a
line with tmux's cursor and whether the alternate screen is shown, then what tmux shows,
with its styles. A test replays the bytes and must come to the same screen. The files that
the programs show are made here; top and htop see a process namespace of their own, which
needs root. Recorded anew only where a program or a step is added.
"""

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

INTO = Path(__file__).resolve().parent.parent / "signaltty-pty" / "tests" / "recorded"
COLS, ROWS = 80, 24
# A program that printed nothing for so long waits for a key.
QUIET = 0.6
# No step takes longer.
LONGEST = 10.0

POEM = """\
The harbour at noon

Nine gulls on the mole, and a tenth that will not sit.
The ferry is late; the clock agrees with nobody.
\tA rope goes slack, goes tight, goes slack.
Überfahrt nach Norden: 渡し船, naïve café, Ω.

""" + "".join(f"verse {n:>3}: the tide table says {n * 37 % 60:02} minutes past\n" for n in range(1, 120))

CODE = """\
#include <stdio.h>

/* Says how many gulls there are. */
int main(void)
{
    const char *name = "gulls";
    for (int i = 0; i < 9; i++) {
        printf("%d %s\\n", i, name);
    }
    return 0;
}
"""

COLOURED = "".join(
    f"\x1b[1;3{n % 8}mship {n:>2}\x1b[0m \x1b[38;5;{n * 7 % 256}mleaves\x1b[0m "
    f"\x1b[48;2;{n * 9 % 256};40;90mquay {n % 5}\x1b[0m \x1b[4;3mon time\x1b[0m\n"
    for n in range(1, 60))

UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc"]

# Program -> (argv, [(step, keys)]); the first step has no keys.
PROGRAMS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], [
        ("1-prompt", ""),
        ("2-a-line-that-wraps", "echo one two three four five six seven eight nine ten eleven twelve thirteen"),
        ("3-edited-at-its-start", "\x01: \x05 fourteen"),
        ("4-run", "\r"),
        ("5-completed", "cat po\t"),
        ("6-searched-backwards", "\x15\x12thir"),
        ("7-found-and-cleared", "\x07\x0cls\r"),
    ]),
    "vim": (["vim", "--clean", "-n", "-i", "NONE", "+set ruler number", "gulls.c"], [
        ("1-opened", ""),
        ("2-inserted", "jjoint gulls = 9; // neun, 九\x1b"),
        ("3-searched", "/printf\r"),
        ("4-split", ":split poem.txt\r"),
        ("5-scrolled", "\x06\x06"),
        ("6-left", ":qa!\r"),
    ]),
    "less": (["less", "-R", "ships.txt"], [
        ("1-opened", ""),
        ("2-a-page-on", " "),
        ("3-searched", "/quay 3\r"),
        ("4-at-the-end", "G"),
        ("5-left", "q"),
    ]),
    "git-log": (["git", "log", "--graph", "--all", "--stat", "--color=always"], [
        ("1-opened", ""),
        ("2-a-page-on", " "),
        ("3-left", "q"),
    ]),
    "top": (UNSHARE + ["top", "-d", "60"], [
        ("1-opened", ""),
        ("2-sorted-and-coloured", "zxM"),
        ("3-help", "?"),
        ("4-left", "qq"),
    ]),
    "htop": (UNSHARE + ["htop", "-d", "600"], [
        ("1-opened", ""),
        ("2-tree-and-filter", "t\\hto\r"),
        ("3-setup", "\x1b[12~"),
        ("4-left", "\x1bq"),
    ]),
}


def place(root):
    """The files that the programs show."""
    work = root / "work"
    work.mkdir()
    (work / "poem.txt").write_text(POEM)
    (work / "gulls.c").write_text(CODE)
    (work / "ships.txt").write_text(COLOURED)
    env = environment(root)
    def git(*args, at=0):
        when = {"GIT_AUTHOR_DATE": f"2026-01-0{at + 1}T12:00:00Z", "GIT_COMMITTER_DATE": f"2026-01-0{at + 1}T12:00:00Z"}
        subprocess.run(["git", *args], cwd=work, env={**env, **when}, check=True, capture_output=True)
    git("init", "-q", "-b", "main")
    git("add", "poem.txt")
    git("commit", "-q", "-m", "Write of the harbour")
    git("checkout", "-q", "-b", "gulls", at=1)
    git("add", "gulls.c", at=1)
    git("commit", "-q", "-m", "Count the gulls\n\nThere are nine; the tenth does not sit.", at=1)
    git("checkout", "-q", "main", at=2)
    git("add", "ships.txt", at=2)
    git("commit", "-q", "-m", "Note when ships leave", at=2)
    git("merge", "-q", "--no-ff", "-m", "Merge the gulls", "gulls", at=3)
    return work


def environment(root):
    return {
        "PATH": os.environ["PATH"], "HOME": str(root), "TERM": "xterm-256color", "LANG": "C.UTF-8",
        "PS1": r"\[\e[1;32m\]harbour\[\e[0m\]$ ", "INPUTRC": "/dev/null", "LESS": "", "LESSHISTFILE": "-",
        "PAGER": "less", "GIT_PAGER": "less -R", "GIT_CONFIG_NOSYSTEM": "1", "HISTFILE": "/dev/null",
        "GIT_AUTHOR_NAME": "A. Sailor", "GIT_AUTHOR_EMAIL": "sailor@example.org",
        "GIT_COMMITTER_NAME": "A. Sailor", "GIT_COMMITTER_EMAIL": "sailor@example.org",
    }


def read(master):
    """What is printed until the program is quiet."""
    printed, until = b"", time.monotonic() + LONGEST
    while time.monotonic() < until:
        ready, _, _ = select.select([master], [], [], QUIET)
        if not ready:
            break
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        printed += chunk
    return printed


def record(name, argv, steps):
    with tempfile.TemporaryDirectory() as root:
        work = place(Path(root))
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(work)
            os.execvpe(argv[0], argv, environment(Path(root)))
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
        into = INTO / name
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir(parents=True)
        so_far = b""
        for step, keys in steps:
            for key in keys.encode() if name in ("top", "htop") and "\x1b" not in keys else [None]:
                os.write(master, keys.encode() if key is None else bytes([key]))
                if key is not None:
                    time.sleep(0.05)
            printed = read(master)
            if root.encode() in printed:
                sys.exit(f"{name} {step}: it shows where it was recorded")
            so_far += printed
            (into / step).write_bytes(printed)
            (into / f"{step}.screen").write_bytes(screen(so_far))
            print(f"{name} {step}: {len(printed)} bytes")
        os.close(master)
        os.waitpid(pid, 0)


def screen(printed):
    """What tmux makes of the bytes."""
    with tempfile.TemporaryDirectory() as root:
        stream = Path(root) / "stream"
        stream.write_bytes(printed)
        tmux = ["tmux", "-f", "/dev/null", "-S", f"{root}/socket"]
        def run(*args):
            return subprocess.run([*tmux, *args], check=True, capture_output=True).stdout
        # The terminal's own echo and newlines must not change the bytes.
        shell = f"stty raw -echo; cat '{stream}'; touch '{root}/done'; exec sleep 60"
        run("new-session", "-d", "-x", str(COLS), "-y", str(ROWS), "-s", "r", "sh", "-c", shell)
        try:
            run("set-option", "-g", "status", "off")
            run("resize-window", "-t", "r", "-x", str(COLS), "-y", str(ROWS))
            until = time.monotonic() + LONGEST
            while not (Path(root) / "done").exists() and time.monotonic() < until:
                time.sleep(0.02)
            time.sleep(0.2)
            where = run("display-message", "-p", "-t", "r", "#{cursor_x} #{cursor_y} #{alternate_on}")
            shown = run("capture-pane", "-p", "-e", "-t", "r")
        finally:
            subprocess.run([*tmux, "kill-server"], capture_output=True)
        return where + shown


def main():
    for name in sys.argv[1:] or PROGRAMS:
        argv, steps = PROGRAMS[name]
        record(name, argv, steps)


if __name__ == "__main__":
    main()
