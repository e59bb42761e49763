# SPDX-License-Identifier: GPL-2.0-only
"""
The Debian tree that the test machine boots, and muster's DKMS install on top of it.

A finished tree or layer never changes: a tree is named by its recipe, a layer (what
`make install` adds to the tree) by the sources that went into it, so a VM that runs
is not hurt by a later build.
"""

import pathlib
import shutil

from . import cache, chroot

SUITE = "trixie"
PACKAGES = (
    "dkms", "linux-image-amd64", "linux-headers-amd64", "kmod", "mount", "udev", "dmsetup",
    "stress-ng", "procps", "fio", "e2fsprogs", "xfsprogs", "util-linux", "nvme-cli", "strace",
    "busybox-static", "make", "psmisc", "python3-minimal",
)
RECIPE_VERSION = "2"
TREES_KEPT = 2
LAYERS_KEPT = 6

SOURCES = ("VERSION", "dkms.conf", "Kbuild", "Makefile", "modules")
SOURCE_SUFFIXES = {".c", ".h", ".sh", ".S"}


def tree_dir():
    key = cache.digest(SUITE, RECIPE_VERSION, *sorted(PACKAGES))
    return cache.CACHE / "trees" / f"{SUITE}-{key}"


def image(root):
    """The file system image of ROOT that VMs boot."""
    return root.parent / "tree.erofs"


def kernel_release(root):
    """The release of the newest kernel in ROOT."""
    found = sorted(path.name for path in (root / "usr/lib/modules").iterdir())
    if not found:
        raise cache.LabError(f"{root} has no kernel")
    return found[-1]


def _mmdebstrap(final):
    temporary = final.with_name(final.name + ".new")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    root = temporary / "root"
    command = ["mmdebstrap", "--variant=apt", "--include=" + ",".join(PACKAGES),
               SUITE, str(root)]
    with cache.step(f"making a Debian {SUITE} tree (once, about a minute)"):
        cache.logged(command, temporary / "log", "mmdebstrap")
        cache.logged(["mkfs.erofs", "-x-1", str(image(root)), str(root)],
                     temporary / "log.erofs", "mkfs.erofs")
    shutil.rmtree(final, ignore_errors=True)
    temporary.rename(final)


def _drop_old_trees(keep):
    """A VM that runs one has its image open, so that it goes on."""
    trees = sorted((path for path in keep.parent.iterdir() if path != keep),
                   key=lambda path: path.stat().st_mtime, reverse=True)
    for path in trees[TREES_KEPT - 1:]:
        shutil.rmtree(path, ignore_errors=True)


def build(refresh=False):
    """Makes the tree if it is missing; returns its root."""
    final = tree_dir()
    with cache.lock("tree"):
        if refresh or not final.exists():
            _mmdebstrap(final)
            _drop_old_trees(final)
    return final / "root"


def _source_files():
    for name in SOURCES:
        path = cache.CHECKOUT / name
        if path.is_dir():
            yield from (each for each in sorted(path.rglob("*"))
                        if (each.suffix in SOURCE_SUFFIXES or each.name in ("Kbuild", "Makefile"))
                        and not each.name.endswith(".mod.c"))
        else:
            yield path


def source_digest():
    """Names the checkout's module sources and the tree they are built in."""
    made = (tree_dir() / "log").stat().st_mtime_ns
    parts = [tree_dir().name, str(made)]
    files = list(_source_files())
    if not any(path.suffix == ".c" for path in files):
        raise cache.LabError("modules/ holds no sources to install (use --no-sync for a "
                             "plain machine)")
    for path in files:
        parts += [str(path.relative_to(cache.CHECKOUT)), path.read_bytes()]
    return cache.digest(*parts)


def _install(root, final):
    temporary = pathlib.Path(f"{final}.new")
    shutil.rmtree(temporary, ignore_errors=True)
    for name in ("upper", "work", "merged"):
        (temporary / name).mkdir(parents=True)
    command = chroot.wrapped(
        root, temporary / "upper", temporary / "work", temporary / "merged",
        ["make", "-C", "/muster", "install", f"KVER={kernel_release(root)}"])
    with cache.step("installing muster by DKMS"):
        cache.logged(command, temporary / "log", "make install")
    temporary.rename(final)


def _prune(layers, keep):
    """Drops old layers, unless a VM still holds one."""
    old = sorted((path for path in layers.iterdir() if path != keep),
                 key=lambda path: path.stat().st_mtime, reverse=True)
    for path in old[LAYERS_KEPT - 1:]:
        handle = cache.try_lock(f"layer-{path.name}")
        if handle:
            shutil.rmtree(path, ignore_errors=True)
            handle.close()


def sync():
    """Installs the checkout by DKMS if that was not done yet; returns the layer's name."""
    root = build()
    with cache.lock("sync"):
        name = source_digest()
        final = cache.CACHE / "layers" / name
        if not final.exists():
            _install(root, final)
            _prune(final.parent, final)
        else:
            final.touch()
    return name


def layer_files(name):
    return cache.CACHE / "layers" / name / "upper"
