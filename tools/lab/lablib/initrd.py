# SPDX-License-Identifier: GPL-2.0-only
"""The initrd: busybox, the few modules that reach the root file system, and stage1."""

import lzma
import pathlib
import stat

from . import cache, tree

STAGE1 = pathlib.Path(__file__).resolve().parents[1] / "stage1"
MODULES = ("9pnet_virtio", "9p", "overlay")


class _Cpio:
    """Writes the 'newc' archive that the kernel unpacks."""

    def __init__(self):
        self.parts = []
        self.inode = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.inode += 1
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields)
        self._padded(head + name.encode() + b"\0")
        self._padded(data)

    def _padded(self, data):
        self.parts.append(data + b"\0" * (-len(data) % 4))

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def _module_order(modules_dir):
    """Paths of MODULES and all they need, each after what it depends on."""
    needs = {}
    for line in (modules_dir / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        needs[path] = rest.split()
    by_name = {pathlib.Path(path).name.split(".")[0].replace("-", "_"): path for path in needs}
    order = []

    def visit(path):
        for other in needs[path]:
            visit(other)
        if path not in order:
            order.append(path)

    for name in MODULES:
        visit(by_name[name])
    return order


def _make(root):
    modules_dir = root / "usr/lib/modules" / tree.kernel_release(root)
    archive = _Cpio()
    for name in ("bin", "dev", "proc", "sys", "mod", "base", "layer", "top", "new"):
        archive.add(name, stat.S_IFDIR | 0o755)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    archive.add("bin/busybox", stat.S_IFREG | 0o755, (root / "usr/bin/busybox").read_bytes())
    archive.add("init", stat.S_IFREG | 0o755, STAGE1.read_bytes())
    for number, path in enumerate(_module_order(modules_dir)):
        data = (modules_dir / path).read_bytes()
        if path.endswith(".xz"):
            data = lzma.decompress(data)
        archive.add(f"mod/{number:02}.ko", stat.S_IFREG | 0o644, data)
    return archive.bytes()


def path(root):
    """The initrd for ROOT, made when it is missing."""
    key = cache.digest(STAGE1.read_bytes(), str(MODULES))
    final = root.parent / f"initrd-{key}"
    with cache.lock("initrd"):
        if not final.exists():
            temporary = final.with_suffix(".new")
            temporary.write_bytes(_make(root))
            temporary.rename(final)
    return final
