# SPDX-License-Identifier: GPL-2.0-only
"""What is printed while tests run, and the count at the end."""

import dataclasses
import sys
import threading
import time

PASS, FAIL, SKIP = "pass", "fail", "skip"


@dataclasses.dataclass
class Result:
    """The outcome of one test; `log` is shown when it failed."""

    name: str
    outcome: str
    seconds: float = 0.0
    why: str = ""
    log: str = ""
    skipped_cases: tuple = ()
    in_vm: bool = False  # a selftest that ran in a VM, or was to


class Reporter:
    """Prints results as they come, from any thread."""

    def __init__(self, stream=sys.stdout):
        self.stream = stream
        self.lock = threading.Lock()
        self.start = time.monotonic()
        self.results = []

    def _print(self, text):
        print(text, file=self.stream, flush=True)

    def say(self, text):
        with self.lock:
            self._print(f"# [{time.monotonic() - self.start:4.0f} s] {text}")

    def add(self, result):
        with self.lock:
            self.results.append(result)
            number = len(self.results)
            took = f"{result.seconds:.1f}s"
            if result.outcome == PASS:
                self._print(f"ok {number} - {result.name} # {took}")
            elif result.outcome == SKIP:
                self._print(f"ok {number} - {result.name} # SKIP {result.why}")
            else:
                self._print(f"not ok {number} - {result.name} # {took}: {result.why}")
                for line in result.log.splitlines():
                    self._print(f"  | {line}")
            for case in result.skipped_cases:
                self._print(f"  # skipped in {result.name}: {case}")

    def count(self, outcome):
        return sum(result.outcome == outcome for result in self.results)

    def finish(self):
        """Prints the closing line; returns the exit status."""
        for result in self.results:
            if result.outcome == FAIL:
                self._print(f"# failed: {result.name}: {result.why}")
        passed, failed = self.count(PASS), self.count(FAIL)
        if not passed + failed:
            self._print("# no test ran")
        skipped = self.count(SKIP) + sum(len(each.skipped_cases) for each in self.results)
        self._print(f"{passed} passed, {failed} failed, {skipped} skipped")
        return 1 if failed or not passed else 0
