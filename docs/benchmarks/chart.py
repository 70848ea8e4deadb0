#!/usr/bin/env python3
"""Draws docs/benchmarks/chart.svg from recorded results.

    docs/benchmarks/chart.py [RESULTS.jsonl]     default: results.jsonl beside this script

Each line of the results is one measurement: its metric, what was measured, the peer, the
round and the value. A bar is the median over the rounds of the ratio to the bare terminal
(`raw`) of the same round.
"""

import collections
import json
import statistics
import sys
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
PANELS = [
    ("Throughput with a client attached, log lines", "throughput", "attached.ascii.MBps", True),
    ("Throughput with a client attached, styled text", "throughput", "attached.agent.MBps", True),
    ("Time from a key to its echo, idle (p50)", "echo", "idle.p50_ms", False),
    ("Time from a key to its echo, beside a flood (p50)", "echo", "flood.p50_ms", False),
]
WIDTH, LABEL, BAR, GAP = 760, 110, 16, 6


def ratios(path):
    """(metric, what) -> peer -> median ratio to raw."""
    values = collections.defaultdict(dict)
    for record in map(json.loads, path.read_text().splitlines()):
        if not isinstance(record["value"], int | float):
            continue  # versions and errors
        key = record["metric"], record["what"], record["peer"]
        values[key][record["round"]] = record["value"]
    found = collections.defaultdict(dict)
    for (metric, what, peer), rounds in values.items():
        raw = values.get((metric, what, "raw"), {})
        each = [value / raw[turn] for turn, value in rounds.items() if raw.get(turn)]
        if each:
            found[metric, what][peer] = statistics.median(each)
    return found


def draw(found):
    parts, top = [], 8
    for title, metric, what, more in PANELS:
        peers = {peer: value for peer, value in found[metric, what].items() if peer != "raw"}
        if not peers:
            continue
        best = sorted(peers.items(), key=lambda item: item[1], reverse=more)
        longest = max(peers.values())
        hint = "longer is better" if more else "shorter is better"
        parts.append(f'<text class="t" x="8" y="{top + 14}">{escape(title)}</text>'
                     f'<text class="h" x="{WIDTH - 8}" y="{top + 14}" text-anchor="end">'
                     f"× a bare terminal, {hint}</text>")
        top += 24
        for peer, value in best:
            length = max(1, round((WIDTH - LABEL - 90) * value / longest))
            kind = "own" if peer.startswith("signaltty") else "bar"
            parts.append(f'<text class="l" x="{LABEL - 8}" y="{top + 12}" text-anchor="end">'
                         f'{escape(peer)}</text><rect class="{kind}" x="{LABEL}" y="{top}" '
                         f'width="{length}" height="{BAR}" rx="2"/>'
                         f'<text class="l" x="{LABEL + length + 6}" y="{top + 12}">{value:.2f}</text>')
            top += BAR + GAP
        top += 14
    style = ("text{font:12px system-ui,sans-serif;fill:#57606a}.t{font-weight:600}.h{font-size:11px}"
             ".bar{fill:#9aa4af}.own{fill:#1f883d}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" '
            f'height="{top}" role="img"><title>signaltty beside other session servers</title>'
            f"<style>{style}</style>" + "".join(parts) + "</svg>\n")


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "results.jsonl"
    (HERE / "chart.svg").write_text(draw(ratios(path)))


if __name__ == "__main__":
    main()
