# SPDX-License-Identifier: GPL-2.0-only
"""Runs commands in a tree without changing it, by an overlay in a private mount namespace."""

import os
import shlex
import subprocess

from . import cache

OVERLAY_OPTIONS = "index=off,metacopy=off,redirect_dir=off,xino=off"


def _script(lower, upper, work, merged, out, command):
    """Shell text that mounts the overlay and enters it; runs under unshare."""
    quote = shlex.quote
    lines = [
        "set -e",
        f"mount -t overlay muster -o lowerdir={quote(lower)},upperdir={quote(str(upper))},"
        f"workdir={quote(str(work))},{OVERLAY_OPTIONS} {quote(str(merged))}",
        f"cd {quote(str(merged))}",
        "mount -t proc proc proc",
        "mount -t sysfs -o ro sysfs sys",
        "mount --rbind /dev dev",
        "mkdir -p muster out",
        f"mount --bind {quote(str(cache.CHECKOUT))} muster",
        "mount -o remount,bind,ro muster",
    ]
    if out:
        lines.append(f"mount --bind {quote(str(out))} out")
    lines.append(
        "exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "
        "chroot . " + command)
    return "\n".join(lines)


def command_line(cmd):
    """CMD as one shell word list: a single word is a line for bash."""
    return shlex.join(["/bin/bash", "-c", cmd[0]]) if len(cmd) == 1 else shlex.join(cmd)


def wrapped(lower, upper, work, merged, cmd, out=None):
    """The argument list that runs CMD in LOWER (trees, the topmost first), with every change kept in UPPER."""
    script = _script(":".join(map(str, lower)), upper, work, merged, out, command_line(cmd))
    return [*cache.PRIVATE, "bash", "-c", script]


def run(lower, cmd, out=None):
    """Runs CMD in a throw-away copy of LOWER, with the checkout read-only at /muster."""
    with cache.scratch("chroot") as scratch:
        dirs = [os.path.join(scratch, name) for name in ("upper", "work", "merged")]
        for path in dirs:
            os.mkdir(path)
        if out:
            out.mkdir(parents=True, exist_ok=True)
            out = out.resolve()
        return subprocess.call(wrapped(lower, *dirs, cmd, out=out))
