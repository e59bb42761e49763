# SPDX-License-Identifier: GPL-2.0-only
"""User-space tests and fuzzers of the pure algorithms, which selftests/unit/Makefile builds, and of the tools."""

import re
import sys
import threading

from lablib import cache

from . import commands

UNIT = cache.CHECKOUT / "selftests/unit"
FUZZ_SECONDS = 5
# Each takes a minute at most here.
LIMIT_SECONDS = 900
# One build at a time: all tests share the objects.
BUILDING = threading.Lock()


def out_dir():
    """Objects of one checkout, so that two checkouts do not mix theirs."""
    return cache.CACHE / "unit" / cache.digest(str(cache.CHECKOUT))


def tests():
    return sorted(path.stem for path in UNIT.glob("test_*.c"))


def fuzzers():
    return sorted(path.stem for path in UNIT.glob("fuzz_*.c"))


def make(*words):
    """(status, output) of make in selftests/unit."""
    return commands.run(["make", "-s", "-C", UNIT, f"OUT={out_dir()}", *words], LIMIT_SECONDS)


def _run(target, *words):
    with BUILDING, cache.lock(f"unit-{out_dir().name}"):
        status, output = make("-j2", "build")
    return (status, output) if status else make(target, *words)


def run_test(name):
    return _run("check", f"TESTS={name}")


def run_fuzzer(name):
    return _run("fuzz", f"FUZZERS={name}", f"SECONDS_EACH={FUZZ_SECONDS}")


def run_bench_verdicts(tests="tools/bench"):
    """What decides about the verdicts of bench-swap: (status, output). Before Python 3.12 no test is no failure."""
    status, output = commands.run([sys.executable, "-B", "-m", "unittest", "discover", "-s", tests], LIMIT_SECONDS,
                                  cwd=cache.CHECKOUT)
    return status or int(not re.search(r"^Ran [1-9]\d* test", output, re.MULTILINE)), output
