# SPDX-License-Identifier: GPL-2.0-only
"""Runs the tests of packaging, selftests/dkms, in a throw-away copy of a lab machine's tree."""

import time

from . import commands, ktap, lint, vm
from .report import FAIL, Result


def find():
    """Every executable selftests/dkms/NAME.sh, by name."""
    return [vm.read_test(path, f"dkms/{path.stem}")
            for path in sorted((vm.SELFTESTS / "dkms").glob("*.sh")) if path.stat().st_mode & 0o100]


def job(test, reporter, logs):
    """What runs TEST and reports."""
    def work():
        start = time.monotonic()
        outcome, why, log, skipped = _run(test)
        (logs / f"{test.id}@{test.kernel}").write_text(log)
        reporter.add(Result(test.label, outcome, time.monotonic() - start, why, log, skipped))
    return work


def _run(test):
    try:
        # Not in the test's time, which may be as short as it takes to make a tree.
        status, log = commands.run([vm.LAB, "build", "--kernel", test.kernel], lint.LAB_SECONDS)
        if status:
            return FAIL, f"the machine could not be made: status {status}", log, ()
        status, log = commands.run([vm.LAB, "chroot", "--kernel", test.kernel, "--",
                                    f"/muster/{test.path.relative_to(vm.CHECKOUT)}"], test.seconds)
    except commands.Ended as ended:
        return FAIL, str(ended), ended.output, ()
    outcome, why, skipped = ktap.judge_output(log, status)
    return outcome, why, log, skipped
