# SPDX-License-Identifier: GPL-2.0-only
"""
Programs of Debian's that benchmarks run: sets of packages, unpacked but not installed, each with all that it needs.

No tree has them, so that none of them makes it larger, starts by itself or differs from kernel to kernel. A set is a
directory to change root to, and an archive of it for a VM to unpack in memory.
"""

import shutil

from . import cache, packages

SETS = {
    "memcached": ("memcached",),
    "redis": ("redis-server", "redis-tools"),
    "postgresql": ("postgresql-17",),
    "gcc": ("gcc", "libc6-dev"),
    "numpy": ("python3-numpy",),
    "stress-ng": ("stress-ng",),
}
COMMON = ("base-files", "busybox-static")
# What none of them reads, or only for what none of them is asked to do.
LEFT_OUT = (
    "usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/i18n", "usr/share/info", "usr/share/perl*",
    "usr/lib/*/gconv", "usr/lib/*/perl*", "usr/lib/*/libLLVM*", "usr/lib/*/libgallium*", "usr/lib/gcc/*/*/lib*san*",
    "var/lib/apt", "var/cache", "var/lib/dpkg",
)
USERS = ("root:x:0:0::/root:/bin/sh", "nobody:x:65534:65534::/tmp:/bin/sh")
GROUPS = ("root:x:0:", "nogroup:x:65534:")
RECIPE_VERSION = "1"


def _finish(directory):
    root = directory / "root"
    for pattern in LEFT_OUT:
        for path in root.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    for name in ("proc", "sys", "dev", "tmp", "root"):
        (root / name).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    if not (root / "bin/sh").exists():
        (root / "bin/sh").symlink_to("busybox")
    (root / "etc/passwd").write_text("\n".join(USERS) + "\n", encoding="ascii")
    (root / "etc/group").write_text("\n".join(GROUPS) + "\n", encoding="ascii")
    cache.logged(["tar", "-C", str(root), "-cf", str(directory / "root.tar"), "."], directory / "log.tar", "tar")


def build(name):
    """Unpacks the set if that was not done yet; returns the directory that holds root/ and root.tar."""
    return packages.unpack(f"programs/{name}", (*SETS[name], *COMMON), _finish, (RECIPE_VERSION, *LEFT_OUT))
