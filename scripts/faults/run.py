#!/usr/bin/env python3
"""Puts a real server through the faults of a disk, and checks what is left.

    run.py PROGRAM [--seconds N] [--steps N] [--only NAME] [--jobs N] [--keep DIR]

    power    every tree that a loss of power may leave, in three models
    kill     SIGKILL at a call that changes a file
    error    ENOSPC (once, and from there on), EIO or EINTR at such a call
    damage   each file of a state cut, flipped, zeroed, swapped, or not a file

Needs strace and the right to trace. `--seconds` bounds the whole run: each part
then takes a sample, of a seed that is printed. Exit 0: all held. 1: something
did not. 2: nothing could be tested, which is no success.
"""
import argparse
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import powercut

HERE = os.path.dirname(os.path.abspath(__file__))
CHANGES = ("openat,write,pwrite64,renameat,renameat2,linkat,unlinkat,mkdirat,ftruncate,"
           "fsync,fdatasync,flock")
LINE = re.compile(r"^(\d+)\s+(\w+)\((.*)$")


class Bench:
    """Runs stories and checks in directories of their own."""

    def __init__(self, args):
        self.args, self.root = args, tempfile.mkdtemp(prefix="faults.")
        self.failures, self.checked = [], 0

    def place(self):
        where = tempfile.mkdtemp(dir=self.root)
        os.mkdir(os.path.join(where, "state"), 0o700)
        return where

    def story(self, where, wrapper=(), timeout=60):
        env = dict(os.environ, STATE_DIR=os.path.join(where, "state"))
        with open(os.path.join(where, "acked"), "wb") as out, \
                open(os.path.join(where, "errors"), "wb") as errors:
            process = subprocess.Popen(
                [*wrapper, sys.executable, os.path.join(HERE, "story.py"), self.args.program,
                 str(self.args.steps)], stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=env)
            try:
                return process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return None

    def check(self, where, what, damaged=False, failed=False):
        env = dict(os.environ, STATE_DIR=os.path.join(where, "state"),
                   ACKED_FILE=os.path.join(where, "acked"), DISK_FAILED=str(int(failed)))
        try:
            done = subprocess.run(
                [sys.executable, os.path.join(HERE, "check.py"), self.args.program,
                 *(["damaged"] if damaged else [])],
                stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=60)
            said = None if done.returncode == 0 else (done.stdout + done.stderr).decode()
        except subprocess.TimeoutExpired:
            said = "the check did not end"
        self.checked += 1
        if said is not None:
            self.failures.append(what)
            print(f"FAILED {what}: {said.strip()[-600:]}", flush=True)
            if self.args.keep:
                shutil.copytree(where, os.path.join(self.args.keep, str(len(self.failures))),
                                symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(where, ignore_errors=True)

    def can_fail(self):
        """Whether the check notices what is not there: without that, that it
        finds nothing means nothing."""
        for lie in ("state title-99 1", "pub 999999"):
            where = self.place()
            if self.story(where) != 0:
                return False
            with open(os.path.join(where, "acked"), "a") as file:
                file.write(lie + "\n")
            env = dict(os.environ, STATE_DIR=os.path.join(where, "state"),
                       ACKED_FILE=os.path.join(where, "acked"))
            done = subprocess.run([sys.executable, os.path.join(HERE, "check.py"),
                                   self.args.program], capture_output=True, env=env)
            if done.returncode != 1:
                return False
        return True

    def over(self, cases, until, pool):
        """Runs cases until the time is up; says how many of them there were."""
        running, count = set(), 0
        for case in cases:
            if time.monotonic() > until:
                break
            running.add(pool.submit(case))
            count += 1
            while len(running) >= 2 * self.args.jobs:
                done, running = concurrent.futures.wait(
                    running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    future.result()
        for future in running:
            future.result()
        return count


def sample(cases, rnd, bounded):
    cases = list(cases)
    if bounded:
        rnd.shuffle(cases)
    return cases


def power(bench, rnd, bounded):
    where = bench.place()
    trace = os.path.join(where, "trace")
    status = bench.story(where, [*powercut.COMMAND, "-o", trace], timeout=180)
    if status != 0:
        raise SystemExit(f"the traced story ended with {status}")
    shutil.copy(os.path.join(where, "acked"), os.path.join(bench.root, "whole"))
    found = powercut.Trace(trace, os.path.join(where, "state"))
    syncs = sum(1 for operation in found.operations if operation[0] == "sync")
    if syncs < 5 or not any(operation[0] == "ack" for operation in found.operations):
        raise SystemExit(f"the trace shows only {syncs} syncs; something is wrong with it")
    seen = set()
    for model in ("kill", "ordered", "strict"):
        for state in powercut.states(found, model):
            key = hash((state[1], frozenset(state[2]), frozenset(state[3].items())))
            if key not in seen:
                seen.add(key)
                yield lambda m=model, s=state: power_case(bench, m, *s)


def power_case(bench, model, number, acked, dirs, files):
    where = bench.place()
    powercut.write(os.path.join(where, "state"), dirs, files)
    with open(os.path.join(where, "acked"), "wb") as file:
        file.write(acked)
    bench.check(where, f"power {model} after operation {number}")


def sites(bench):
    """Each call that changes something in the state, and which of its thread's
    calls of that name it is."""
    where = bench.place()
    trace, state = os.path.join(where, "trace"), os.path.join(where, "state")
    status = bench.story(where, ["strace", "-f", "-y", "-qq", "-s", "200", "-e",
                                 f"trace={CHANGES}", "-o", trace], timeout=180)
    if status != 0:
        raise SystemExit(f"the traced story ended with {status}")
    count, found = {}, {}
    with open(trace, errors="replace") as file:
        for line in file:
            call = LINE.match(line)
            if call:
                thread, name, rest = call.groups()
                count[thread, name] = count.get((thread, name), 0) + 1
                if state in rest and not (name == "openat" and "O_CREAT" not in rest):
                    found.setdefault((name, count[thread, name]))
    shutil.rmtree(where, ignore_errors=True)
    return list(found)


def injected(bench, name, number, action, plus):
    where = bench.place()
    trace = os.path.join(where, "trace")
    status = bench.story(where, [
        "strace", "-f", "-qq", "-s", "0", "-o", trace, "-e", f"trace={name}",
        "-e", f"inject={name}:{action}:when={number}{plus}"])
    with open(trace, errors="replace") as file:
        hit = "(INJECTED)" in file.read() or status in (-9, 137)
    if not hit:
        shutil.rmtree(where, ignore_errors=True)
        return
    failed = action.startswith("error=") and action != "error=EINTR"
    bench.check(where, f"{action}{plus} at {name} {number}", failed=failed)


def kills(bench, rnd, bounded):
    for name, number in sample(sites(bench), rnd, bounded):
        yield lambda n=name, m=number: injected(bench, n, m, "signal=KILL", "")


def errors(bench, rnd, bounded):
    actions = (("error=ENOSPC", ""), ("error=ENOSPC", "+"), ("error=EIO", ""), ("error=EINTR", ""))
    cases = [(*site, *action) for site in sites(bench) for action in actions
             if not (site[0] == "flock" and action[1])]
    for name, number, action, plus in sample(cases, rnd, bounded):
        yield lambda n=name, m=number, a=action, p=plus: injected(bench, n, m, a, p)


def damages(data, rnd):
    """Ways in which the content of a file may be wrong."""
    for at in sorted(rnd.sample(range(len(data)), min(40, len(data)))):
        yield f"cut at {at}", data[:at]
        flipped = bytearray(data)
        flipped[at] ^= 1 << rnd.randrange(8)
        yield f"flipped at {at}", bytes(flipped)
    for at in range(0, len(data), 512):
        yield f"zeros from {at}", data[:at] + bytes(min(512, len(data) - at)) + data[at + 512:]
    for word, more in (("zeros", bytes(100)), ("half of itself", data[:len(data) // 2])):
        yield f"{word} appended", data + more
    lines = data.splitlines(keepends=True)
    for at in range(len(lines) - 1):
        yield f"line {at} swapped", b"".join(
            lines[:at] + [lines[at + 1], lines[at]] + lines[at + 2:])
        yield f"line {at} doubled", b"".join(lines[:at + 1] + lines[at:])
        yield f"line {at} gone", b"".join(lines[:at] + lines[at + 1:])


def damage(bench, rnd, bounded):
    good = bench.place()
    if bench.story(good) != 0:
        raise SystemExit("the story did not end well")
    state, cases = os.path.join(good, "state"), []
    for where, _, names in os.walk(state):
        for name in names:
            path = os.path.relpath(os.path.join(where, name), state)
            with open(os.path.join(state, path), "rb") as file:
                data = file.read()
            cases += [(path, word, new) for word, new in damages(data, rnd)]
            cases += [(path, kind, None) for kind in ("missing", "directory", "fifo", "link")]
    for path, word, new in sample(cases, rnd, bounded):
        yield lambda p=path, w=word, n=new: damage_case(bench, good, p, w, n)


def damage_case(bench, good, path, word, new):
    where = bench.place()
    shutil.rmtree(os.path.join(where, "state"))
    shutil.copytree(os.path.join(good, "state"), os.path.join(where, "state"))
    shutil.copy(os.path.join(good, "acked"), where)
    victim = os.path.join(where, "state", path)
    os.unlink(victim)
    if new is not None:
        with open(victim, "wb") as file:
            file.write(new)
        os.chmod(victim, 0o600)
    elif word == "directory":
        os.mkdir(victim)
    elif word == "fifo":
        os.mkfifo(victim, 0o600)
    elif word == "link":
        os.symlink("/dev/zero", victim)
    bench.check(where, f"{path} {word}", damaged=True)


PARTS = {"power": power, "kill": kills, "error": errors, "damage": damage}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep")
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    able = shutil.which("strace") and subprocess.run(
        ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=close:error=EIO:when=9999",
         "true"], capture_output=True, check=False).returncode == 0
    if not able:
        print("NOT TESTED: strace is missing, or may not trace here", flush=True)
        return 2
    bench = Bench(args)
    seed = args.seed or int(time.time())
    wanted = [args.only] if args.only else list(PARTS)
    began, ran = time.monotonic(), {}
    if not bench.can_fail():
        print("NOT TESTED: a story did not end well, or the check finds nothing", flush=True)
        return 2
    try:
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for at, name in enumerate(wanted):
                rnd = random.Random(seed)
                until = began + args.seconds * (at + 1) / len(wanted) if args.seconds else 1e18
                cases = sample(PARTS[name](bench, rnd, bool(args.seconds)), rnd, bool(args.seconds))
                before = bench.checked
                bench.over(cases, until, pool)
                ran[name] = bench.checked - before
                print(f"{name}: {ran[name]} of {len(cases)} cases checked", flush=True)
    finally:
        shutil.rmtree(bench.root, ignore_errors=True)
    print(f"{bench.checked} checked, {len(bench.failures)} failed, seed {seed}, "
          f"{time.monotonic() - began:.0f} s", flush=True)
    if bench.failures:
        return 1
    return 0 if all(count > 0 for count in ran.values()) else 2


if __name__ == "__main__":
    sys.exit(main())
