# SPDX-License-Identifier: GPL-2.0-only
"""Commands of this machine, each for a limited time and no longer than the run."""

import contextlib
import os
import signal
import subprocess
import time

from lablib import children

from . import interrupt

END_SECONDS = 60


class Ended(Exception):
    """A command was ended before it was done; the text says why, `output` is what it had printed."""

    def __init__(self, why, output):
        super().__init__(why)
        self.output = output


def _end(process):
    """Ends PROCESS and what it started; returns what was printed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            return process.communicate(timeout=END_SECONDS)[0]
        except subprocess.TimeoutExpired:
            pass
    return "it could not be ended"


def run(command, seconds, cwd=None, stop=interrupt.stop):
    """(status, output) of COMMAND; raises Ended when it takes longer than SECONDS, or STOP is set."""
    # A group of its own, so that what it started ends with it; not a session: the scheduler may give each of these the
    # same share of the CPUs, whatever its priority.
    process = subprocess.Popen([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               process_group=0, preexec_fn=children.end_with_parent)
    end = time.monotonic() + seconds
    while time.monotonic() < end and not stop.is_set():
        try:
            output, _ = process.communicate(timeout=1)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            pass
    raise Ended("interrupted" if stop.is_set() else f"time-out after {seconds} s", _end(process))
