# SPDX-License-Identifier: GPL-2.0-only
"""User-space tests and fuzzers of the pure algorithms, which selftests/unit/Makefile builds, and of the tools."""

import subprocess
import sys
import threading

from lablib import cache

UNIT = cache.CHECKOUT / "selftests/unit"
FUZZ_SECONDS = 20
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
    done = subprocess.run(["make", "-s", "-C", str(UNIT), f"OUT={out_dir()}", *words], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")
    return done.returncode, done.stdout


def _run(target, *words):
    with BUILDING, cache.lock(f"unit-{out_dir().name}"):
        status, output = make("-j2", "build")
    return (status, output) if status else make(target, *words)


def run_test(name):
    return _run("check", f"TESTS={name}")


def run_fuzzer(name):
    return _run("fuzz", f"FUZZERS={name}", f"SECONDS_EACH={FUZZ_SECONDS}")


def run_bench_verdicts():
    """What decides about the verdicts of bench-swap: (status, output)."""
    done = subprocess.run([sys.executable, "-B", "-m", "unittest", "discover", "-s", "tools/bench"], text=True,
                          cwd=cache.CHECKOUT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")
    return done.returncode, done.stdout
