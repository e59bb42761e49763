# SPDX-License-Identifier: GPL-2.0-only
"""The test machines: one for each of Debian's kernels that muster supports, and others, for who asks for them."""

import argparse
import dataclasses


@dataclasses.dataclass(frozen=True)
class Machine:
    """A release of Debian's, or Ubuntu's, with the kernel, the compiler and the DKMS that it comes with."""

    kernel: str              # what users call it
    suite: str
    backports: bool = False  # its kernel is the newest of the suite's backports
    ubuntu: bool = False
    like: str = "6.12"       # of one that is only for who asks for it: the tests of this one run on it
    ended: bool = False      # the suite gets no new release files, so that those it has look stale
    flavour: str = ""        # its kernel is this one of those that the suite has of a version
    own: bool = False        # its kernel is the suite's, configured as tools/debug-kernel/KERNEL.config says
    slower: int = 1          # all takes about so many times as long in it
    extra_mib: int = 0       # what its kernel needs of memory beyond what is asked for
    words: str = ""          # of its kernel command line

    @property
    def slug(self):
        if self.own:
            return f"{self.suite}-{self.kernel}"
        if self.flavour:
            return f"{self.suite}-{self.flavour}"
        return self.suite + ("-backports" if self.backports else "")

    @property
    def has_release(self):
        """Is its kernel the one that its release boots of itself?"""
        return not self.own and not self.flavour

    @property
    def extra(self):
        """Is it only for whoever asks for it?"""
        return self.ubuntu or not self.has_release

    def __str__(self):
        return f"{'Ubuntu' if self.ubuntu else 'Debian'} {self.slug} ({self.kernel})"


MACHINES = {each.kernel: each for each in (
    Machine("5.10", "bullseye", ended=True),
    Machine("6.1", "bookworm"),
    Machine("6.12", "trixie"),
    Machine("newest", "trixie", backports=True),
    Machine("6.12-rt", "trixie", flavour="rt"),
    Machine("5.15", "jammy", ubuntu=True, like="5.10"),
    Machine("6.8", "noble", ubuntu=True, like="6.1"),
    Machine("7.0", "resolute", ubuntu=True, like="newest"),
    Machine("debug", "trixie", own=True, slower=5, extra_mib=2048,
            words="kasan_multi_shot page_poison=1 workqueue.watchdog_thresh=150 "
                  "rcupdate.rcu_cpu_stall_timeout=150"),
    Machine("kcsan", "trixie", own=True, slower=5,
            words="kcsan.early_enable=1 kcsan.skip_watch=97 kcsan.udelay_task=300 kcsan.udelay_interrupt=100"),
)}
DEFAULT = MACHINES["6.12"]
SUPPORTED = tuple(kernel for kernel, machine in MACHINES.items() if not machine.extra)


def named(kernel):
    """The machine for KERNEL; for argparse."""
    if kernel not in MACHINES:
        raise argparse.ArgumentTypeError(
            f"no machine for kernel {kernel!r} (there is {', '.join(MACHINES)})")
    return MACHINES[kernel]
