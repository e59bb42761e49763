# SPDX-License-Identifier: GPL-2.0-only
"""
The kernel as QEMU is to boot it.

One that is packed by xz, as those up to Debian 12 are, takes 10 s to unpack itself in an emulated machine: QEMU gets
it unpacked, if it has the entry for that (CONFIG_PVH). Where it is in the file: Documentation/arch/x86/boot.rst.
"""

import lzma
import os
import struct

SETUP_SECTS = 0x1f1
PAYLOAD = 0x248  # offset and length, two words
XZ = b"\xfd7zXZ\0"


def _payload(image):
    """The packed kernel in IMAGE, a bzImage."""
    offset, length = struct.unpack_from("<II", image, PAYLOAD)
    return image[(1 + (image[SETUP_SECTS] or 4)) * 512 + offset:][:length]


def path(root, release):
    """The file of kernel RELEASE in ROOT; an unpacked one is beside ROOT, and made when it is missing."""
    packed = root / f"boot/vmlinuz-{release}"
    unpacked = root.parent / f"vmlinux-{release}"
    if unpacked.exists():
        return unpacked
    payload = _payload(packed.read_bytes())
    config = root / f"boot/config-{release}"
    if not payload.startswith(XZ) or "\nCONFIG_PVH=y\n" not in config.read_text():
        return packed
    # Two may do it at once.
    new = unpacked.with_name(f"{unpacked.name}.{os.getpid()}")
    new.write_bytes(lzma.LZMADecompressor().decompress(payload))
    new.rename(unpacked)
    return unpacked
