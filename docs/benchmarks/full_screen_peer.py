"""The full-screen client of signaltty as a peer of a benchmark, beside `signaltty_peer.py`.

`signaltty-full-screen` has each further pane in a tab of its own, hidden as the harness wants it;
`signaltty-neighbour` has it beside the first, on the same screen.
"""

import os

from signaltty_peer import Signaltty


class FullScreen(Signaltty):
    name = "signaltty-full-screen"

    @classmethod
    def path(cls):
        return os.environ.get("BENCH_SIGNALTTY") or super().path()

    def attach_argv(self):
        return [self.path(), *self.base]


class Neighbour(FullScreen):
    name = "signaltty-neighbour"

    def spawn(self, argv):
        self.call(*self.base, "pane", "split", self.main, "--right", "--", *argv)
        # A split takes the focus, and what is typed would go there.
        self.call(*self.base, "pane", "focus", self.main, check=False)
