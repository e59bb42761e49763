# SPDX-License-Identifier: GPL-2.0-only
"""How long what is still to be done will take, by this machine's clock, whatever time is in the VM."""

import time


class Estimate:
    """
    KEYS has one for each thing to do, the same one more than once if need be. ALIKE are functions of a key: things of
    which one of them gives the same take about as long, by the first that knows any; GUESS(key) is for when none does.
    """

    def __init__(self, keys, alike, guess, clock=time.monotonic):
        self.todo = list(keys)
        self.alike = alike
        self.guess = guess
        self.clock = clock
        self.took = {}  # seconds of each, by what keys have in common
        self.began = clock()

    def begin(self):
        """The next thing begins now, and not at the end of the last one."""
        self.began = self.clock()

    def ended(self, key):
        now = self.clock()
        self.todo.remove(key)
        for alike in self.alike:
            self.took.setdefault((alike, alike(key)), []).append(now - self.began)
        self.began = now

    def drop(self, unwanted):
        """Those of which UNWANTED(key) is true will not be done."""
        self.todo = [key for key in self.todo if not unwanted(key)]

    def _of(self, key):
        for alike in self.alike:
            known = self.took.get((alike, alike(key)))
            if known:
                return sum(known) / len(known)
        return self.guess(key)

    def seconds(self):
        return sum(self._of(key) for key in self.todo)
