# SPDX-License-Identifier: GPL-2.0-only
"""The soak test: selftests/soak/mix.sh for as long as one likes."""

import dataclasses

from . import vm

# To make all, and for the last programs to end.
EXTRA_SECONDS = 240


def _remarks(log):
    """What the test said of itself, without the steps."""
    output = log.partition("--- kernel log")[0]
    return [line for line in output.splitlines() if line.startswith("# ") and not line.startswith("# [")]


def job(minutes, seed, kernel, reporter, logs):
    """A job that runs it on KERNEL; SEED repeats what is done in which order."""
    test = vm.read_test(vm.SELFTESTS / "soak/mix.sh", "soak/mix")
    test = dataclasses.replace(test, kernel=kernel, seconds=60 * minutes + EXTRA_SECONDS * vm.slower(kernel))

    def run():
        reporter.say(f"seed {seed}")
        vm.Boots([test], reporter, logs / "soak", vm.build_programs(),
                 f"MUSTER_SOAK_SECONDS={60 * minutes} MUSTER_SOAK_SEED={seed}").run()
        for line in _remarks(reporter.results[-1].log):
            reporter.say(line.removeprefix("# "))

    return run
