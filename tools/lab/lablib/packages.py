# SPDX-License-Identifier: GPL-2.0-only
"""Files out of single Debian packages, unpacked but not installed."""

from . import cache, tree
from .debs import unpack

# Debian 12's QEMU 7.2 lets an emulated CPU run a break point that another CPU has just
# patched away, and the guest kernel oopses ("int3"). This one does not, on any host.
EMULATOR = ("qemu-system-x86", "seabios")


def checkpatch():
    """The checkpatch.pl of the tree's kernel version."""
    version = ".".join(tree.kernel_release(tree.build()).split(".")[:2])
    package = f"linux-source-{version}"

    def keep_scripts(directory):
        cache.logged(["tar", "-C", str(directory), "--strip-components=1", "--wildcards", "-xf",
                      str(directory / f"root/usr/src/{package}.tar.xz"),
                      "*/scripts/checkpatch.pl", "*/scripts/spelling.txt",
                      "*/scripts/const_structs.checkpatch"], directory / "log", "tar")
        cache.remove(directory / "root")

    return unpack("checkpatch", (package,), keep_scripts) / "scripts/checkpatch.pl"


def blktrace():
    """Files of Debian's blktrace: its two programs and the libraries that the tree lacks."""
    usr = unpack("blktrace", ("blktrace",)) / "root/usr"
    return [usr / "sbin/blktrace", usr / "bin/blkparse", *(usr / "lib/x86_64-linux-gnu").glob("libaio.so.1*")]


def bcache_tools():
    """Debian's program that makes bcache's devices."""
    return [unpack("bcache-tools", ("bcache-tools",)) / "root/usr/sbin/make-bcache"]


def emulator():
    """(first words of a QEMU command line, what it needs in the environment)."""
    usr = unpack("qemu", EMULATOR) / "root/usr"
    libraries = usr / "lib/x86_64-linux-gnu"
    words = [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries),
             str(usr / "bin/qemu-system-x86_64"),
             "-L", str(usr / "share/qemu"), "-L", str(usr / "share/seabios")]
    return words, {"QEMU_MODULE_DIR": str(libraries / "qemu")}
