# SPDX-License-Identifier: GPL-2.0-only
"""
What it takes to build for the kernel of the default machine's suite on arm64: its newest headers, and a compiler that
runs here. Debian's packages, unpacked for a chroot over the machine's tree, which has the libraries of that compiler.
"""

from . import cache, tree
from .machines import DEFAULT

ARCH = "arm64"
GCC = "14"
GNU = "aarch64-linux-gnu"
RECIPE_VERSION = "1"
# They depend on a kernel and a C library of the other machine, which nothing here reads: so these only, one by one.
FETCH = f"""
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
headers=$(apt-cache depends linux-headers-{ARCH}:{ARCH} |
	sed -n "s/.*Depends: \\(linux-headers-[0-9].*\\)-{ARCH}.*/\\1/p")
mkdir "$1/debs" && cd "$1/debs" &&
	apt-get download "$headers-{ARCH}:{ARCH}" "$headers-common" "linux-kbuild-${{headers#linux-headers-}}" \
		gcc-{GCC}-{GNU} cpp-{GCC}-{GNU} binutils-{GNU} || exit
for each in *.deb; do
	dpkg-deb --extract "$each" .. || exit
done
cd .. && rm -r debs
"""


def _final():
    return cache.CACHE / f"cross-{cache.digest(DEFAULT.suite, RECIPE_VERSION, FETCH)}"


def build():
    """Fetches it if that was not done yet; returns the directory to lay over the tree."""
    final = _final()
    with cache.lock(final.name):
        if not final.exists():
            temporary = final.with_name(final.name + ".new")
            cache.remove(temporary)
            temporary.mkdir(parents=True)
            with cache.step(f"fetching Debian's compiler and headers for {ARCH} (once, about two minutes)"):
                cache.fetched(["mmdebstrap", "--variant=extract", f"--architectures=amd64,{ARCH}",
                               f"--extract-hook={FETCH}", *tree.options(DEFAULT), DEFAULT.suite,
                               str(temporary / "root")], temporary / "log", temporary / "root")
            temporary.rename(final)
    return final / "root"


def made():
    """What names it as it is now."""
    return _final().name, str((_final() / "log").stat().st_mtime_ns)
