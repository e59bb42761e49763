# SPDX-License-Identifier: GPL-2.0-only
"""
The Debian tree that a test machine boots, and muster's DKMS install on top of it.

A finished tree or layer never changes: a tree is named by its recipe, a layer (what
`make install` adds to the tree) by the sources that went into it, so a VM that runs
is not hurt by a later build.
"""

import contextlib
import os
import pathlib
import subprocess
import tempfile

from . import cache, chroot, debs, own_kernel
from .machines import DEFAULT

KERNEL_PACKAGES = ("linux-image-amd64", "linux-headers-amd64")
# Without firmware.
UBUNTU_KERNEL_PACKAGES = ("linux-image-virtual", "linux-headers-generic")
# What that leaves out of its modules has a package of its own up to 6.17. Of 26.04's own tools dd goes through the page
# cache where its memory does not suit direct I/O, and cat takes megabytes: tests count on GNU's.
UBUNTU_HOOK = """--customize-hook=name=linux-modules-extra-$(ls "$1/lib/modules")
	export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
	if apt-cache show "$name" >/dev/null 2>&1; then
		apt-get install --yes --download-only --no-install-recommends "$name" &&
			chroot "$1" sh -c 'dpkg --install /var/cache/apt/archives/*.deb' && apt-get clean || exit
	fi
	for name in dd cat; do
		[ ! -e "$1/usr/bin/gnu$name" ] || ln -sf "gnu$name" "$1/usr/bin/$name" || exit
	done"""
# What linux-headers-amd64 brings along.
OWN_KERNEL_PACKAGES = ("gcc", "libelf1t64")
PACKAGES = (
    "dkms", "kmod", "mount", "udev", "dmsetup", "stress-ng", "procps", "fio", "e2fsprogs",
    "xfsprogs", "util-linux", "nvme-cli", "strace", "busybox-static", "make", "psmisc",
    "python3-minimal", "sparse",
)
# A second kernel (the same version, built for clouds), kept as packages, so that an upgrade can be tried.
UPGRADE_DIR = "var/lib/lab-upgrade"
RECIPE_VERSION = "4"
TREES_KEPT = 2
LAYERS_KEPT = 4

# How `make install` gets the sources into the tree, and what comes with them: not musterctl, for which a tree lacks
# libsmartcols-dev, as its Makefile finds.
COPY_SOURCES = "tools/copy-sources"
INSTALLERS = ("Makefile", "tools/dkms-setup", "tools/trial-build", COPY_SOURCES, "tools/boot/*",
              "tools/musterctl/Makefile")
INSTALL_TRIES = 3


def _kernel_packages(machine):
    if machine.ubuntu:
        return list(UBUNTU_KERNEL_PACKAGES)
    return [name.replace("-amd64", f"-{machine.flavour}-amd64") if machine.flavour else name
            for name in KERNEL_PACKAGES]


def tree_dir(machine):
    kernel = _kernel_packages(machine)
    if machine.own:
        kernel = (own_kernel.key(machine.kernel, build()), *OWN_KERNEL_PACKAGES)
    if machine.ubuntu:
        kernel.append(UBUNTU_HOOK)
    key = cache.digest(machine.slug, RECIPE_VERSION, *kernel, *PACKAGES)
    return cache.CACHE / "trees" / machine.slug / key


def image(root):
    """The file system image of ROOT that VMs boot."""
    return root.parent / "tree.erofs"


def kernel_release(root):
    """The release of the newest kernel in ROOT."""
    found = sorted(path.name for path in (root / "lib/modules").iterdir())
    if not found:
        raise cache.LabError(f"{root} has no kernel")
    return found[-1]


def _packages(machine, names):
    """NAMES as apt wants them, to come from the backports where the machine's kernel does."""
    return [f"{name}/{machine.slug}" if machine.backports else name for name in names]


def _fetch_upgrade(machine):
    """A hook that keeps the packages of the second kernel in the tree."""
    names = " ".join(_packages(machine, ("linux-image-$flavour", "linux-headers-$flavour")))
    return ('--customize-hook=release=$(ls "$1/lib/modules") && '
            'flavour=${release%-amd64}-cloud-amd64 && '
            'APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get install --yes --download-only '
            f'--no-install-recommends {names} && mkdir -p "$1/{UPGRADE_DIR}" && '
            f'mv "$1"/var/cache/apt/archives/*cloud*.deb "$1/{UPGRADE_DIR}"')


def _hooks(machine):
    """What is done to a tree with the kernel of its release."""
    if machine.ubuntu:
        return [UBUNTU_HOOK]
    return [] if machine.flavour else [_fetch_upgrade(machine)]


def _mmdebstrap(machine, final):
    if machine.own:
        include = OWN_KERNEL_PACKAGES
        hooks = [f"--customize-hook=tar-in {own_kernel.build(machine, build(), debs.options(machine))} /"]
    else:
        include = _packages(machine, _kernel_packages(machine))
        hooks = _hooks(machine)
    options = debs.options(machine)
    with cache.making(final) as made, cache.step(f"making a tree of {machine} (once, about a minute)"):
        root = made / "root"
        cache.fetched(["mmdebstrap", "--variant=apt", "--include=" + ",".join((*include, *PACKAGES)), *options,
                       *hooks, machine.suite, str(root)], made / "log", root)
        cache.logged(["mkfs.erofs", "-x-1", str(image(root)), str(root)], made / "log.erofs", "mkfs.erofs")


def _drop_old_trees(keep):
    """Unless somebody uses one."""
    trees = sorted((path for path in keep.parent.iterdir() if path != keep),
                   key=lambda path: path.stat().st_mtime, reverse=True)
    cache.drop_unlocked(trees[TREES_KEPT - 1:])


def _refuse_while_used(machine, final):
    handle = cache.try_lock_dir(final)
    if handle is not None:
        os.close(handle)
    elif final.exists():
        raise cache.LabError(f"the tree of {machine} is in use, by process {', '.join(cache.holders(final))}: "
                             "make it anew when that has ended")


@contextlib.contextmanager
def _made_tree(machine, refresh=False):
    """The tree, which is made if it is missing; nobody begins to use it while the body runs."""
    final = tree_dir(machine)
    with cache.lock(f"tree-{machine.slug}"):
        if refresh:
            _refuse_while_used(machine, final)
        if refresh or not final.exists():
            _mmdebstrap(machine, final)
            _drop_old_trees(final)
        yield final


def build(machine=DEFAULT, refresh=False):
    """Makes the tree if it is missing; returns its root."""
    with _made_tree(machine, refresh) as final:
        return final / "root"


@contextlib.contextmanager
def used(machine=DEFAULT):
    """The root of the tree, which is made if it is missing; it stays while the body runs."""
    with _made_tree(machine) as final:
        handle = cache.try_lock_dir(final, shared=True)
    try:
        yield final / "root"
    finally:
        os.close(handle)


def built(machine):
    """Is the machine's kernel to be had without building one? A finished tree, named by its recipe, has it."""
    if not machine.own:
        return True
    debian = tree_dir(DEFAULT)
    return debian.exists() and (tree_dir(machine).exists()
                                or own_kernel.archive(machine.kernel, debian / "root").exists())


def made(machine):
    """What names the tree as it is now: by its recipe, and by when it was made, as packages get newer."""
    return tree_dir(machine).name, str((tree_dir(machine) / "log").stat().st_mtime_ns)


def source_digest(machine):
    """Names the checkout's module sources and the tree they are built in."""
    parts = [*made(machine)]
    for pattern in INSTALLERS:
        parts += [path.read_bytes() for path in sorted(cache.CHECKOUT.glob(pattern))]
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([cache.CHECKOUT / COPY_SOURCES, scratch], check=True)
        files = sorted(path for path in pathlib.Path(scratch).rglob("*") if path.is_file())
        for path in files:
            parts += [str(path.relative_to(scratch)), path.read_bytes()]
    if not any(path.suffix == ".c" for path in files):
        raise cache.LabError("modules/ holds no sources to install (use --no-sync for a "
                             "plain machine)")
    return cache.digest(*parts)


def _install(machine, root, temporary):
    cache.remove(temporary)
    for name in ("upper", "work", "merged"):
        (temporary / name).mkdir(parents=True)
    command = chroot.wrapped(
        [root], temporary / "upper", temporary / "work", temporary / "merged",
        ["make", "-C", "/muster", "install", f"KVER={kernel_release(root)}"])
    with cache.step(f"installing muster by DKMS on {machine}"):
        cache.logged(command, temporary / "log", "make install")


def _prune(layers, keep):
    """Drops old layers, unless a VM still holds one."""
    old = sorted((path for path in layers.iterdir() if path != keep),
                 key=lambda path: path.stat().st_mtime, reverse=True)
    cache.drop_unlocked(old[LAYERS_KEPT - 1:])


def _layer(machine, root):
    """The layer of the checkout as it is, made if it is missing. `make install` reads the checkout for some time."""
    for _ in range(INSTALL_TRIES):
        final = cache.CACHE / "layers" / machine.slug / source_digest(machine)
        if final.exists():
            final.touch()
            return final
        temporary = pathlib.Path(f"{final}.new")
        _install(machine, root, temporary)
        if source_digest(machine) == final.name:
            temporary.rename(final)
            _prune(final.parent, final)
            return final
        cache.remove(temporary)
        cache.say("the sources have changed meanwhile")
    raise cache.LabError(f"the sources changed each of {INSTALL_TRIES} times that they were installed")


@contextlib.contextmanager
def installed(machine=DEFAULT):
    """Installs the checkout by DKMS if that was not done yet; gives the layer, which stays while the body runs."""
    with used(machine) as root:
        with cache.lock(f"sync-{machine.slug}"):
            final = _layer(machine, root)
            handle = cache.try_lock_dir(final, shared=True)
        try:
            yield final
        finally:
            os.close(handle)


def layer_files(layer):
    """What a layer adds to its tree."""
    return layer / "upper"
