# SPDX-License-Identifier: GPL-2.0-only
"""Runs the tests of packaging, selftests/dkms, in a throw-away copy of a lab machine's tree."""

import subprocess
import time

from . import interrupt, ktap, vm
from .report import FAIL, Result

END_SECONDS = 60


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


def _end(process):
    """Ends PROCESS; returns what it printed."""
    process.terminate()
    try:
        return process.communicate(timeout=END_SECONDS)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return "it could not be ended"


def _run(test):
    command = [str(vm.LAB), "chroot", "--kernel", test.kernel, "--",
               f"/muster/{test.path.relative_to(vm.CHECKOUT)}"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
    end = time.monotonic() + test.seconds
    log = None
    while log is None and time.monotonic() < end and not interrupt.stop.is_set():
        try:
            log, _ = process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            pass
    if log is None:
        return FAIL, "interrupted" if interrupt.stop.is_set() else f"time-out after {test.seconds} s", _end(process), ()
    outcome, why, skipped = ktap.judge_output(log, process.returncode)
    return outcome, why, log, skipped
