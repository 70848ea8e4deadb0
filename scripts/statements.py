#!/usr/bin/env python3
"""Lists which tests show which statement.

    scripts/statements.py            every statement with its tests
    scripts/statements.py --check    prints only what is wrong; exit 1 if anything is

A test shows a statement by its name: s0_15_…, s1_28_…, c041_…, t3_r17_…; a script may
name it the same way in a comment. The statements stand in docs/statements.txt; one without a test
needs a reason there, and a test may not carry a number that is not there.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "statements.txt"
LINE = re.compile(r"^((?:S[01]-\d+)|(?:C\d{3})|(?:T3-[RPC]\d+))\s+(.*?)(?:\s+-- (.*))?$")
# In Rust a test is a function; in the other files any mention counts.
FUNCTION = re.compile(r"\bfn\s+(\w+)\s*\(")
NUMBER = re.compile(r"(?<![A-Za-z0-9])(?:s([01])_(\d+)|c(\d{3}))(?=_)")
SCENARIO = re.compile(r"(?<![A-Za-z0-9])t3_([rpc])(\d+)(?=_)")


def statements():
    """Number -> (text, reason or None), in the order of the list."""
    found = {}
    for at, line in enumerate(LIST.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = LINE.match(line)
        if not match:
            sys.exit(f"{LIST.relative_to(ROOT)}:{at}: not a statement: {line!r}")
        number, text, reason = match.groups()
        if number in found:
            sys.exit(f"{LIST.relative_to(ROOT)}:{at}: {number} stands there twice")
        found[number] = (text, reason)
    return found


def numbers(name):
    """The statements that a name carries: `c013_s0_2_…` has two."""
    for match in NUMBER.finditer(name.replace("_c", "_ c").replace("_s", "_ s")):
        kind, of_kind, case = match.groups()
        yield f"C{case}" if case else f"S{kind}-{int(of_kind)}"
    for match in SCENARIO.finditer(name):
        yield f"T3-{match[1].upper()}{int(match[2])}"


def tests():
    """Number -> the places that show it."""
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
         "*.rs", "*.sh", "*.py"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    found = {}
    for file in filter(None, files):
        path = ROOT / file
        if path.resolve() == Path(__file__).resolve() or not path.is_file():
            continue
        text = path.read_text(errors="replace")
        names = FUNCTION.findall(text) if file.endswith(".rs") else re.findall(r"\w+", text)
        for name in dict.fromkeys(names):
            for number in numbers(name):
                found.setdefault(number, []).append(f"{file}: {name}")
    return found


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    check = bool(sys.argv[1:])
    known, shown, wrong = statements(), tests(), []
    for number, (text, reason) in known.items():
        places = shown.get(number, [])
        if not places and not reason:
            wrong.append(f"{number} has no test and no reason: {text}")
        if not check:
            print(f"{number}  {text}")
            for place in places or [f"no test: {reason}" if reason else "NO TEST"]:
                print(f"    {place}")
    for number in sorted(set(shown) - set(known)):
        wrong.append(f"{number} is not in {LIST.relative_to(ROOT)}: {shown[number][0]}")
    for line in wrong:
        print(line, file=sys.stderr)
    if check and not wrong:
        print(f"{len(known)} statements, each with a test or a reason")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
