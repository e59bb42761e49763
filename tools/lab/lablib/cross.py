# SPDX-License-Identifier: GPL-2.0-only
"""
What it takes to build for kernels that no tree has: their newest headers, and for another machine a compiler that runs
here. Debian's or Ubuntu's packages, unpacked for a chroot over the default machine's tree, which has the libraries of
that compiler, and another one.
"""

import dataclasses

from . import cache, debs
from .machines import DEFAULT, MACHINES, Machine

GCC = "14"
GNU = "aarch64-linux-gnu"
RECIPE_VERSION = "3"


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One that is built for."""

    flavour: str        # behind the names of its packages
    others: str         # what else of headers: names behind $headers and the version in it, for the shell
    arch: str           # Debian's name of the machine
    compiler: str = ""  # packages of one that makes code for it
    words: str = ""     # for make: those of Debian's say which compiler of the tree they take
    machine: Machine = DEFAULT  # whose suite has it

    @property
    def fetch(self):
        """A hook. They depend on a kernel, or a C library, which nothing here reads: so these only, one by one."""
        return f"""
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
headers=$(apt-cache depends linux-headers-{self.flavour}:{self.arch} |
	sed -n "s/.*Depends: \\(linux-headers-[0-9].*\\)-{self.flavour}.*/\\1/p")
mkdir "$1/debs" && cd "$1/debs" &&
	apt-get download "$headers-{self.flavour}:{self.arch}" {self.others} {self.compiler} || exit
for each in *.deb; do
	dpkg-deb --extract "$each" .. || exit
done
cd .. && rm -r debs
"""

    @property
    def headers(self):
        """Where they are in the chroot."""
        return f"/usr/src/linux-headers-*-{self.flavour}"

    @property
    def _final(self):
        suite = self.machine.suite
        return cache.CACHE / f"cross-{self.flavour}-{cache.digest(suite, RECIPE_VERSION, self.fetch)}"

    def build(self):
        """Fetches it if that was not done yet; returns the directory to lay over the tree."""
        final = self._final
        foreign = "" if self.arch == "amd64" else f",{self.arch}"
        with cache.lock(final.name):
            if not final.exists():
                with (cache.making(final) as made, cache.step(f"fetching the headers of {self.machine} for "
                                                              f"{self.flavour} (once, up to two minutes)")):
                    cache.fetched(["mmdebstrap", "--variant=extract", f"--architectures=amd64{foreign}",
                                   f"--extract-hook={self.fetch}", *debs.options(self.machine), self.machine.suite,
                                   str(made / "root")], made / "log", made / "root")
        return final / "root"

    def made(self):
        """What names it as it is now."""
        return self._final.name, str((self._final / "log").stat().st_mtime_ns)


def _debian(common):
    return f'"$headers-{common}" "linux-kbuild-${{headers#linux-headers-}}"'


def _ubuntu(kernel):
    return Kernel("generic", '"$headers"', "amd64", words=f"CC=gcc-{GCC}", machine=MACHINES[kernel])


KERNELS = {
    "arm64": Kernel("arm64", _debian("common"), "arm64", f"gcc-{GCC}-{GNU} cpp-{GCC}-{GNU} binutils-{GNU}"),
    # Where a spinlock sleeps.
    "rt-amd64": Kernel("rt-amd64", _debian("common-rt"), "amd64"),
    "5.15": _ubuntu("5.15"),
    "6.8": _ubuntu("6.8"),
}
