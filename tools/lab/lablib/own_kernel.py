# SPDX-License-Identifier: GPL-2.0-only
"""Kernels built from Debian's source with the configurations in tools/debug-kernel."""

import re
import threading

from . import cache, chroot, slots

RECIPES = cache.CHECKOUT / "tools/debug-kernel"
BUILD_PACKAGES = ("gcc", "make", "flex", "bison", "bc", "kmod", "libc6-dev", "libelf-dev", "xz-utils")
PROGRESS_SECONDS = 60
KEPT = 2


def _recipe(name):
    """What a kernel follows from, without the remarks."""
    for each in ("build", "machine.config", f"{name}.config"):
        for line in (RECIPES / each).read_text().splitlines():
            if line and (not line.startswith("#") or line.endswith(" is not set")):
                yield line


def package_version(root):
    """(package name, version) of the kernel source for the kernel installed in ROOT."""
    status = (root / "var/lib/dpkg/status").read_text()
    for entry in status.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in entry.splitlines() if ": " in line)
        name = fields.get("Package", "")
        if name.startswith("linux-image-") and name[len("linux-image-")].isdigit():
            version = fields["Version"]
            return "linux-source-" + ".".join(version.split(".")[:2]), version
    raise cache.LabError(f"{root} has no kernel package")


def _directory(name, version):
    return cache.CACHE / "kernels" / name / cache.digest(version, *BUILD_PACKAGES, *_recipe(name))


def archive(name, root):
    """Where the kernel NAME is, or will be, that goes with the Debian kernel in ROOT."""
    return _directory(name, package_version(root)[1]) / "kernel.tar"


def key(name, root):
    return archive(name, root).parent.name


def _report_progress(log, done):
    while not done.wait(PROGRESS_SECONDS):
        if log.exists():
            lines = log.read_text(errors="replace").splitlines()
            cache.say(f"  {sum(line.lstrip().startswith('CC ') for line in lines)} files compiled")


def _compile(name, root, directory):
    log = directory / "log.build"
    done = threading.Event()
    watcher = threading.Thread(target=_report_progress, args=(log, done))
    watcher.start()
    try:
        code = chroot.run([root], [f"/muster/tools/debug-kernel/build {name} >/out/{log.name} 2>&1"],
                          out=directory)
    finally:
        done.set()
        watcher.join()
    if code:
        raise cache.LabError(f"the kernel {name} does not build:\n"
                             + "\n".join(log.read_text(errors="replace").splitlines()[-60:]))


def _fetch(source, machine, options, directory):
    log = directory / "log"
    command = ["mmdebstrap", "--variant=apt", f"--include={','.join(BUILD_PACKAGES)},{source}", *options,
               machine.suite, str(directory / "root")]
    try:
        cache.fetched(command, log, directory / "root")
    except cache.LabError as error:
        if not re.search(rb"^E: Version '.*' for 'linux-source-.*' was not found", log.read_bytes(), re.M):
            raise
        raise cache.LabError(f"Debian has {source}, which goes with the kernel in the tree, no more: "
                             "`lab build --refresh` makes the tree anew, with a newer one") from error


def build(machine, debian_root, options):
    """Builds the kernel of MACHINE if it is missing, with OPTIONS for mmdebstrap; returns its tar archive."""
    name = machine.kernel
    package, version = package_version(debian_root)
    final = _directory(name, version)
    result = archive(name, debian_root)
    with cache.lock(f"kernel-{name}"):
        if result.exists():
            return result
        with cache.making(final) as made:
            with cache.step(f"fetching a compiler and {package} {version}"):
                _fetch(f"{package}={version}", machine, options, made)
            with slots.slot(), cache.step(f"building the kernel {name} (once, 10 to 20 minutes)"):
                _compile(name, made / "root", made)
            cache.remove(made / "root")
        for old in sorted(final.parent.iterdir(), key=lambda path: -path.stat().st_mtime)[KEPT:]:
            cache.remove(old)
    return result
