# SPDX-License-Identifier: GPL-2.0-only
"""Programs that end with who started them, whatever ends that."""

import ctypes
import signal
import sys

PR_SET_PDEATHSIG = 1
# Loaded here: in a child of a program with threads that could wait for a lock for ever.
_LIBC = ctypes.CDLL(None)


def end_with_parent(number=signal.SIGTERM):
    """For preexec_fn: has the kernel send this process a signal when its parent, the thread that started it, ends."""
    _LIBC.prctl(PR_SET_PDEATHSIG, number)


def exit_when_told():
    """
    SIGTERM and SIGHUP end this program as an exit does, with what it started. One that is ignored, as by nohup, stays
    so; and a second one does not disturb the end.
    """
    told = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]

    def end(number, _frame):
        for each in told:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in told:
        signal.signal(number, end)
