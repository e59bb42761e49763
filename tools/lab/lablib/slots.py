# SPDX-License-Identifier: GPL-2.0-only
"""The machine's places for what takes a whole CPU for long: a VM, the build of a kernel."""

import contextlib
import time

from . import cache

SLOTS = 2


def _free_slot():
    for number in range(SLOTS):
        handle = cache.try_lock(f"slot{number}")
        if handle:
            return handle
    return None


@contextlib.contextmanager
def slot():
    """One of the machine's places; who came first gets the next free one."""
    queue = cache.try_lock("slot-queue")
    if queue:
        queue.close()
    handle = queue and _free_slot()
    if not handle:
        cache.say(f"{SLOTS} VMs (or builds of a kernel) are running; waiting for one to end")
        with cache.lock("slot-queue"):
            while not (handle := _free_slot()):
                time.sleep(0.3)
    with handle:
        yield
