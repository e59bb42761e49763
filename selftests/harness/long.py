# SPDX-License-Identifier: GPL-2.0-only
"""Tests that run for as many minutes as one likes."""

import dataclasses

from lablib import machines

from . import vm

# To make all, and for the last programs to end.
EXTRA_SECONDS = 240


@dataclasses.dataclass(frozen=True)
class Long:
    """A selftest that goes on for the seconds in an environment variable, `times` times."""

    name: str
    seconds: str
    seed: str = ""  # the variable that takes one, and so repeats what is done in which order
    times: int = 1
    stretches: bool = False  # on a slow kernel it may go on until it has done enough
    kernel: str = machines.DEFAULT.kernel


KINDS = {
    "soak": (Long("soak/mix", "MUSTER_SOAK_SECONDS", "MUSTER_SOAK_SEED", stretches=True),),
    "load-held": (Long("mswap/load-held", "MUSTER_LOAD_SECONDS", times=2),),
    "fuzz-vm": (Long("mswap/fuzz-files", "MUSTER_FUZZ_SECONDS", "MUSTER_FUZZ_SEED", times=2, kernel="debug"),
                Long("w2r/fuzz-table", "MUSTER_FUZZ_SECONDS", "MUSTER_FUZZ_SEED", kernel="debug")),
}


def _remarks(log):
    """What the test said of itself, without the steps."""
    output = log.partition("--- kernel log")[0]
    return [line for line in output.splitlines() if line.startswith("# ") and not line.startswith("# [")]


def job(long, minutes, seed, kernel, reporter, logs):
    """A job that runs LONG, on KERNEL if there is one named."""
    kernel = kernel or long.kernel
    test = vm.read_test(vm.SELFTESTS / f"{long.name}.sh", long.name)
    slower = vm.slower(kernel)
    seconds = 60 * minutes * long.times * (slower if long.stretches else 1)
    test = dataclasses.replace(test, kernel=kernel, seconds=seconds + EXTRA_SECONDS * slower)
    environment = f"{long.seconds}={60 * minutes}" + (f" {long.seed}={seed}" if long.seed else "")

    def run():
        if long.seed:
            reporter.say(f"{test.label}: seed {seed}")
        vm.Boots([test], reporter, logs / test.id, vm.build_programs(), environment).run()
        # None where the run was interrupted.
        for result in [each for each in reporter.results if each.name == test.label]:
            for line in _remarks(result.log):
                reporter.say(line.removeprefix("# "))

    return run
