# SPDX-License-Identifier: GPL-2.0-only
"""What runs in user space: tests and fuzzers of the pure algorithms, modules on a simulated kernel, tests of tools."""

import os
import random
import re
import sys
import threading

from lablib import cache

from . import commands, objects

UNIT = cache.CHECKOUT / "selftests/unit"
INTERLEAVE = cache.CHECKOUT / "selftests/interleave"
FUZZ_SECONDS = 5
# Of a CPU: each takes a minute of one at most here. How long that lasts depends on what VMs leave of it.
CPU_SECONDS = 3600
LIMIT_SECONDS = 6 * 3600
# What was compiled once, in whichever clone, is not compiled again.
COMPILERS = ["env", f"PATH=/usr/lib/ccache:{os.environ['PATH']}", f"CCACHE_DIR={cache.CACHE / 'ccache'}",
             "CCACHE_NOHASHDIR=1", "CCACHE_MAXSIZE=500M"]
# One build at a time: all tests share the objects.
BUILDING = threading.Lock()
# Tests that take long, or say how much comes of what is drawn: they have one seed. The others have a drawn one besides.
FIXED_SEED = {"test_chance", "test_cluster", "test_pace", "test_planner", "test_rooms", "test_rooms_scan",
              "test_sim_mixes", "test_sim_readers", "test_sim_scans", "test_sim_w2r", "test_slot_aged",
              "test_slot_tree", "test_stream"}
# Directory with a Makefile -> what else of the checkout is built there.
SOURCES = {UNIT: ("modules", "selftests/unit", "selftests/progs", "tools/sim", "tools/musterctl", "VERSION"),
           INTERLEAVE: ("modules", "selftests/interleave")}
# What is built in out_dir(): not the fuzzers' corpora, nor what made one crash.
BUILT = {UNIT: ("unit/*", "fuzz/*.[ao]", "fuzz/fuzz_*"), INTERLEAVE: ("interleave/**/*",)}


def out_dir():
    """Objects of one checkout, so that two checkouts do not mix theirs."""
    return cache.CACHE / "unit" / cache.digest(str(cache.CHECKOUT))


def tests():
    return sorted(path.stem for path in UNIT.glob("test_*.c"))


def fuzzers():
    return sorted(path.stem for path in UNIT.glob("fuzz_*.c"))


def interleavings():
    return sorted(f"interleave_{path.stem.removesuffix('_main')}" for path in INTERLEAVE.glob("*_main.c"))


def make(where, out, *words):
    """(status, output) of make in the directory WHERE."""
    limit = ["prlimit", f"--cpu={CPU_SECONDS}:{CPU_SECONDS + 60}"]
    return commands.run([*COMPILERS, *limit, "make", "-s", "-C", where, f"OUT={out}", *words], LIMIT_SECONDS)


def _build(where, out, target):
    with BUILDING, cache.lock(f"unit-{out_dir().name}"):
        with objects.made_of(SOURCES[where], out_dir(), f"sources-{where.name}", BUILT[where]):
            return make(where, out, "-j2", target)


def _run(where, out, target, *words):
    status, output = _build(where, out, "build")
    return (status, output) if status else make(where, out, target, *words)


def run_test(name):
    status, output = _run(UNIT, out_dir(), "check", f"TESTS={name}")
    if status or name in FIXED_SEED or "UNIT_SEED" in os.environ:
        return status, output
    seed = f"UNIT_SEED={random.randrange(1, 1 << 32)}"
    status, more = make(UNIT, out_dir(), "check", f"TESTS={name}", seed)
    return status, f"{output}# again with {seed}\n{more}"


def run_fuzzer(name):
    return _run(UNIT, out_dir(), "fuzz", f"FUZZERS={name}", f"SECONDS_EACH={FUZZ_SECONDS}")


def run_interleaving(name):
    return _run(INTERLEAVE, out_dir() / "interleave", "check", f"TESTS={name.removeprefix('interleave_')}")


def run_bench_verdicts():
    """What decides about the verdicts of bench-swap."""
    return discover("tools/bench")


def run_musterctl():
    """The tool, on trees of files in place of sysfs."""
    status, output = _build(UNIT, out_dir(), "musterctl")
    return (status, output) if status else discover("selftests/musterctl", f"MUSTERCTL={out_dir()}/unit/musterctl")


# Tests of tools in Python, by name.
TOOLS = {"bench_verdicts": run_bench_verdicts, "musterctl": run_musterctl}


def discover(tests, *variables):
    """(status, output) of the TESTS in Python, with VARIABLE=VALUE. Before Python 3.12 no test is no failure."""
    status, output = commands.run(["env", *variables, sys.executable, "-B", "-m", "unittest", "discover", "-s", tests],
                                  LIMIT_SECONDS, cwd=cache.CHECKOUT)
    return status or int(not re.search(r"^Ran [1-9]\d* test", output, re.MULTILINE)), output
