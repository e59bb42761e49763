# SPDX-License-Identifier: GPL-2.0-only
"""
What it takes to build for kernels of the default machine's suite that are not in its tree: their newest headers, and
for another machine a compiler that runs here. Debian's packages, unpacked for a chroot over the machine's tree, which
has the libraries of that compiler.
"""

import dataclasses

from . import cache, tree
from .machines import DEFAULT

GCC = "14"
GNU = "aarch64-linux-gnu"
RECIPE_VERSION = "2"


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One that is built for."""

    flavour: str        # behind the names of its packages
    common: str         # behind that of the headers that it shares with others
    arch: str           # Debian's name of the machine
    compiler: str = ""  # packages of one that makes code for it

    @property
    def fetch(self):
        """A hook. They depend on a kernel, or a C library, which nothing here reads: so these only, one by one."""
        return f"""
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
headers=$(apt-cache depends linux-headers-{self.flavour}:{self.arch} |
	sed -n "s/.*Depends: \\(linux-headers-[0-9].*\\)-{self.flavour}.*/\\1/p")
mkdir "$1/debs" && cd "$1/debs" &&
	apt-get download "$headers-{self.flavour}:{self.arch}" "$headers-{self.common}" \
		"linux-kbuild-${{headers#linux-headers-}}" {self.compiler} || exit
for each in *.deb; do
	dpkg-deb --extract "$each" .. || exit
done
cd .. && rm -r debs
"""

    @property
    def headers(self):
        """Where they are in the chroot; they say which compiler it takes."""
        return f"/usr/src/linux-headers-*-{self.flavour}"

    @property
    def _final(self):
        return cache.CACHE / f"cross-{self.flavour}-{cache.digest(DEFAULT.suite, RECIPE_VERSION, self.fetch)}"

    def build(self):
        """Fetches it if that was not done yet; returns the directory to lay over the tree."""
        final = self._final
        foreign = "" if self.arch == "amd64" else f",{self.arch}"
        with cache.lock(final.name):
            if not final.exists():
                temporary = final.with_name(final.name + ".new")
                cache.remove(temporary)
                temporary.mkdir(parents=True)
                with cache.step(f"fetching Debian's headers for {self.flavour}, and their compiler (once, up to two "
                                "minutes)"):
                    cache.fetched(["mmdebstrap", "--variant=extract", f"--architectures=amd64{foreign}",
                                   f"--extract-hook={self.fetch}", *tree.options(DEFAULT), DEFAULT.suite,
                                   str(temporary / "root")], temporary / "log", temporary / "root")
                temporary.rename(final)
        return final / "root"

    def made(self):
        """What names it as it is now."""
        return self._final.name, str((self._final / "log").stat().st_mtime_ns)


KERNELS = {each.flavour: each for each in (
    Kernel("arm64", "common", "arm64", f"gcc-{GCC}-{GNU} cpp-{GCC}-{GNU} binutils-{GNU}"),
    # Where a spinlock sleeps.
    Kernel("rt-amd64", "common-rt", "amd64"),
)}
