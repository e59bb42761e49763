# SPDX-License-Identifier: GPL-2.0-only
"""
Archives of what programs start in a VM: Debian's programs, as the lab unpacks them, and what a script of loads/,
prepare-NAME, makes with them on the host, where that is quick.
"""

import contextlib
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from . import guest

PREPARED_BY = {"sources": "gcc", "pgdata": "postgresql"}  # prepared archive: the set of programs that makes it


def _lab(*words):
    done = subprocess.run([guest.LAB, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise guest.GuestError(f"`lab {' '.join(words[:3])}` ended with status {done.returncode}")
    return done.stdout.strip()


def _prepare(name):
    programs = PREPARED_BY[name]
    script = guest.BENCH / f"loads/prepare-{name}"
    made_by = pathlib.Path(_lab("programs", programs))
    key = hashlib.sha256(script.read_bytes() + made_by.name.encode()).hexdigest()[:12]
    final = made_by.with_name(f"prepared-{name}-{key}")
    if not final.exists():
        with tempfile.TemporaryDirectory(dir=final.parent) as scratch:
            out = pathlib.Path(scratch) / "out"
            _lab("chroot", "--programs", programs, "--out", str(out), "--", "/bin/sh",
                 f"/muster/{script.relative_to(guest.CHECKOUT)}")
            with contextlib.suppress(OSError):  # another was quicker
                out.rename(final)
    return final / "root.tar"


def path(name):
    """The archive NAME, made if need be."""
    return _prepare(name) if name in PREPARED_BY else pathlib.Path(_lab("programs", name)) / "root.tar"


def put(names, out):
    """Puts the archives into the directory OUT, by links where that is possible."""
    for name in names:
        source, target = path(name), out / f"{name}.tar"
        try:
            os.link(source, target)
        except OSError:
            shutil.copy(source, target)
