"""What a loss of power may leave of a traced run, as trees of files.

Each change of names and each write is taken from one trace, in the order in
which the calls ended; a write to the tracing command's standard output is an
acknowledgement. After every one of them the power may go. What is there then:

    kill     everything so far: only the process ended
    ordered  names in order up to any change, content that was not synced
             missing or cut, as journaling file systems leave
    strict   only what was synced is sure: any one change of names may be
             missing alone, or all of them, and content missing, cut or zeros
"""
import os
import re

CALLS = ("open,openat,creat,write,pwrite64,writev,ftruncate,rename,renameat,renameat2,"
         "link,linkat,unlink,unlinkat,mkdir,mkdirat,fsync,fdatasync,syncfs")
COMMAND = ["strace", "-f", "-y", "-qq", "-s", "16777216", "-xx", "-e", f"trace={CALLS}"]
PATH = re.compile(r"<((?:\\x[0-9a-f]{2})+|[^<>]*)>")
STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')


def unhex(text):
    return bytes.fromhex(text.replace("\\x", "")) if "\\x" in text else text.encode()


def calls(trace):
    """Thread, name, arguments and result of each call, in the order of ends,
    with the number of the line on which it began."""
    begun = {}
    with open(trace, errors="replace") as file:
        for number, line in enumerate(file):
            thread, _, rest = line.rstrip("\n").partition(" ")
            rest = rest.strip()
            start = number
            if rest.endswith("<unfinished ...>"):
                begun[thread] = (number, rest[:-len("<unfinished ...>")])
                continue
            if rest.startswith("<... "):
                if thread not in begun:
                    continue
                start, first = begun.pop(thread)
                rest = first + rest.partition(" resumed>")[2]
            name, parenthesis, rest = rest.partition("(")
            arguments, equals, result = rest.rpartition(" = ")
            if parenthesis and equals and not result.startswith(("-1", "?")):
                yield start, number, thread, name, arguments.rstrip().removesuffix(")"), result


def descriptor(text):
    """The number and the path of the descriptor that arguments begin with."""
    number = re.match(r"\s*(\d+|AT_FDCWD)", text)
    path = PATH.search(text.split(",")[0])
    return (number.group(1) if number else None), os.fsdecode(unhex(path.group(1))) if path else None


class Trace:
    """The operations below `state`: (kind, …) with paths relative to it."""

    def __init__(self, trace, state):
        self.state, self.operations = os.path.realpath(state), []
        self.root = None
        for start, end, thread, name, arguments, result in calls(trace):
            self.root = self.root or thread
            self.call(start, end, thread, name, arguments, result)

    def inside(self, path):
        return path is not None and (path + "/").startswith(self.state + "/")

    def relative(self, path):
        return os.path.relpath(path, self.state)

    def paths(self, name, arguments):
        """The paths of a call that takes names, with their directories."""
        found, where = [], None
        for part in arguments.split(", "):
            string = STRING.search(part)
            if string and '"' in part:
                path = os.fsdecode(unhex(string.group(1)))
                found.append(os.path.normpath(os.path.join(where or "/", path)))
            elif "<" in part:
                where = descriptor(part)[1]
        return found

    def call(self, start, end, thread, name, arguments, result):
        add = self.operations.append
        if name in ("write", "pwrite64", "writev"):
            number, path = descriptor(arguments)
            if name == "writev" and (self.inside(path)):
                raise SystemExit(f"a call that is not modelled: {name}({arguments[:100]}")
            if name == "write" and number == "1" and thread == self.root:
                add(("ack", unhex(STRING.search(arguments).group(1))))
            elif self.inside(path) and not path.endswith("(deleted)"):
                data = unhex(STRING.search(arguments).group(1))[:int(result.split()[0])]
                offset = int(arguments.rsplit(",", 1)[1]) if name == "pwrite64" else None
                add(("write", self.relative(path), data, offset))
        elif name in ("open", "openat", "creat"):
            path = descriptor(result)[1]
            if self.inside(path) and ("O_CREAT" in arguments or "O_TRUNC" in arguments):
                add(("open", self.relative(path), "O_TRUNC" in arguments))
        elif name == "ftruncate":
            path = descriptor(arguments)[1]
            if self.inside(path):
                add(("cut", self.relative(path), int(arguments.rsplit(",", 1)[1])))
        elif name in ("fsync", "fdatasync", "syncfs"):
            path = descriptor(arguments)[1]
            if name == "syncfs":
                raise SystemExit("syncfs is called, which flushes what others wrote")
            if self.inside(path):
                add(("sync", self.relative(path), start))
        else:
            paths = self.paths(name, arguments)
            if not any(self.inside(path) for path in paths):
                return
            kind = next(k for k in ("rename", "unlink", "link", "mkdir") if name.startswith(k))
            add((kind, *map(self.relative, paths)))


class Tree:
    """Names and content, each as it is and as far as it is durable."""

    def __init__(self):
        self.names, self.files, self.dirs = {}, {}, {"."}
        self.pending = []            # changes of names: (directory, kind, arguments)
        self.durable = {}            # inode: content that was synced
        self.base, self.base_dirs = {}, {"."}
        self.next = 0

    def apply(self, operation):
        kind = operation[0]
        if kind == "open":
            path = operation[1]
            if path not in self.names:
                self.files[self.next], self.durable[self.next] = b"", b""
                self.change("add", path, self.next)
                self.next += 1
            elif operation[2]:
                self.files[self.names[path]] = b""
        elif kind == "write":
            _, path, data, offset = operation
            inode = self.names.get(path)
            if inode is None:
                return
            old = self.files[inode]
            self.files[inode] = old + data if offset is None else (
                old[:offset] + data + old[offset + len(data):])
        elif kind == "cut":
            inode = self.names[operation[1]]
            self.files[inode] = self.files[inode][:operation[2]].ljust(operation[2], b"\0")
        elif kind == "sync":
            path = operation[1]
            if path in self.names:
                self.durable[self.names[path]] = self.files[self.names[path]]
            elif path in self.dirs:
                here = [c for c in self.pending if os.path.dirname(c[1]) in (path, path.strip("."))]
                self.settle(here)
        elif kind == "mkdir":
            self.change("mkdir", operation[1])
        elif kind == "rename":
            self.change("rename", operation[1], operation[2], self.names.get(operation[1]))
        elif kind == "link":
            self.change("add", operation[2], self.names.get(operation[1]))
        elif kind == "unlink":
            self.change("remove", operation[1])

    def change(self, *change):
        self.pending.append(change)
        perform(change, self.names, self.dirs)

    def settle(self, changes):
        for change in changes:
            perform(change, self.base, self.base_dirs)
        self.pending = [change for change in self.pending if change not in changes]

    def left(self, model):
        """The trees that may be found: pairs of directories and of files."""
        if model == "kill":
            yield self.dirs, {path: self.files[i] for path, i in self.names.items()}
            return
        if model == "ordered":
            chosen = [self.pending[:n] for n in range(len(self.pending) + 1)]
        else:
            each = range(len(self.pending))
            chosen = [[], self.pending] + [[self.pending[n]] for n in each] + [
                self.pending[:n] + self.pending[n + 1:] for n in each]
        fates = ("lost", "kept", "half") if model == "ordered" else ("lost", "kept", "half", "zeros")
        for changes in chosen:
            names, dirs = dict(self.base), set(self.base_dirs)
            for change in changes:
                perform(change, names, dirs)
            for fate in fates:
                files = {p: self.content(i, fate) for p, i in names.items()
                         if (os.path.dirname(p) or ".") in dirs}
                yield dirs, files

    def content(self, inode, fate):
        live, durable = self.files[inode], self.durable[inode]
        if live == durable or fate == "kept":
            return live
        if fate == "lost":
            return durable
        kept = durable if live.startswith(durable) else b""
        rest = live[len(kept):]
        return kept + (rest[:len(rest) // 2] if fate == "half" else bytes(len(rest)))


def perform(change, names, dirs):
    kind = change[0]
    if kind == "mkdir":
        dirs.add(change[1])
    elif kind == "add":
        names[change[1]] = change[2]
    elif kind == "remove":
        names.pop(change[1], None)
    elif kind == "rename" and change[3] is not None:
        names.pop(change[1], None)
        names[change[2]] = change[3]


def states(trace, model):
    """Each different tree with what was acknowledged before it."""
    tree, acked, seen = Tree(), b"", set()
    for number, operation in enumerate(trace.operations):
        if operation[0] == "ack":
            acked += operation[1]
        else:
            tree.apply(operation)
        for dirs, files in tree.left(model):
            key = hash((acked, frozenset(dirs), frozenset(files.items())))
            if key not in seen:
                seen.add(key)
                yield number, acked, dirs, files


def write(where, dirs, files):
    for name in sorted(dirs):
        os.makedirs(os.path.join(where, name), mode=0o700, exist_ok=True)
    for name, content in files.items():
        path = os.path.join(where, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
