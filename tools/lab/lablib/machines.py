# SPDX-License-Identifier: GPL-2.0-only
"""The test machines, one for each kernel that muster supports."""

import argparse
import dataclasses


@dataclasses.dataclass(frozen=True)
class Machine:
    """A Debian release with the kernel, the compiler and the DKMS that it comes with."""

    kernel: str              # what users call it
    suite: str
    backports: bool = False  # its kernel is the newest of the suite's backports
    ended: bool = False      # the suite gets no new release files, so that those it has look stale

    @property
    def slug(self):
        return self.suite + ("-backports" if self.backports else "")

    def __str__(self):
        return f"Debian {self.slug} ({self.kernel})"


MACHINES = {each.kernel: each for each in (
    Machine("5.10", "bullseye", ended=True),
    Machine("6.1", "bookworm"),
    Machine("6.12", "trixie"),
    Machine("newest", "trixie", backports=True),
)}
DEFAULT = MACHINES["6.12"]


def named(kernel):
    """The machine for KERNEL; for argparse."""
    if kernel not in MACHINES:
        raise argparse.ArgumentTypeError(
            f"no machine for kernel {kernel!r} (there is {', '.join(MACHINES)})")
    return MACHINES[kernel]
