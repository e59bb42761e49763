# SPDX-License-Identifier: GPL-2.0-only
"""The initrd: busybox, the few modules that reach the root file system, stage1, the layer."""

import lzma
import os
import pathlib
import stat
import subprocess

from . import cache

STAGE1 = pathlib.Path(__file__).resolve().parents[1] / "stage1"
# Built into the kernels of tools/debug-kernel.
MODULES = ("erofs", "overlay", "virtio_scsi", "sd_mod", "9pnet_virtio", "9p")
# Built into some of the kernels.
MODULES_IF_THERE = ("crc32c_generic", "virtio_pci", "virtio_console", "virtio_rng")


class Cpio:
    """Writes the 'newc' archive that the kernel unpacks."""

    def __init__(self):
        self.parts = []
        self.inode = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.inode += 1
        encoded = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        self._padded(b"070701" + b"".join(b"%08x" % field for field in fields) + encoded)
        self._padded(data)

    def add_tree(self, top, prefix):
        """Adds what is under TOP as PREFIX/..."""
        self.add(prefix, stat.S_IFDIR | 0o755)
        for path in sorted(top.rglob("*")):
            mode = path.lstat().st_mode
            name = f"{prefix}/{path.relative_to(top)}"
            if stat.S_ISDIR(mode):
                self.add(name, mode)
            elif stat.S_ISREG(mode):
                self.add(name, mode, path.read_bytes())
            elif stat.S_ISLNK(mode):
                self.add(name, mode, os.readlink(path).encode())
            else:
                raise cache.LabError(f"the install removed or made a special file: {name}")

    def _padded(self, data):
        self.parts.append(data + b"\0" * (-len(data) % 4))

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def _name_of(path):
    return pathlib.Path(path).name.split(".")[0].replace("-", "_")


def _module_order(modules_dir, more):
    """Paths of MODULES, MORE and all they need, each after what it depends on."""
    needs = {}
    for line in (modules_dir / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        needs[path] = rest.split()
    by_name = {_name_of(path): path for path in needs}
    built_in = {_name_of(line) for line in (modules_dir / "modules.builtin").read_text().splitlines()}
    order = []

    def visit(path):
        for other in needs[path]:
            visit(other)
        if path not in order:
            order.append(path)

    for name in (*(name for name in MODULES_IF_THERE if name in by_name),
                 *(name for name in (*MODULES, *more) if name not in built_in)):
        visit(by_name[name])
    return order


def base(root, release, more):
    """The initrd for the tree at ROOT without a layer, with modules MORE, as bytes."""
    modules_dir = root / "lib/modules" / release
    archive = Cpio()
    for name in ("bin", "dev", "proc", "sys", "mod", "base", "top", "new"):
        archive.add(name, stat.S_IFDIR | 0o755)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    archive.add("bin/busybox", stat.S_IFREG | 0o755, (root / "bin/busybox").read_bytes())
    archive.add("init", stat.S_IFREG | 0o755, STAGE1.read_bytes())
    for number, path in enumerate(_module_order(modules_dir, more)):
        data = (modules_dir / path).read_bytes()
        if path.endswith(".xz"):
            data = lzma.decompress(data)
        elif path.endswith(".zst"):
            data = subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
        archive.add(f"mod/{number:02}.ko", stat.S_IFREG | 0o644, data)
    return archive.bytes()


def write(path, root, release, layer, more):
    """Writes the initrd for one VM; LAYER is a directory or None, MORE are modules that it is to load besides."""
    with open(path, "wb") as handle:
        handle.write(base(root, release, more))
        if layer:
            archive = Cpio()
            archive.add_tree(layer, "layer")
            handle.write(archive.bytes())
