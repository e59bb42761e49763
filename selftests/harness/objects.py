# SPDX-License-Identifier: GPL-2.0-only
"""
What is built here goes by the age of files, as make does: a checkout in place of another one, or a file that is put
back, may be older than what was built of the other. So a digest of the sources is kept beside what was built.
"""

import contextlib

from lablib import cache

SUFFIXES = (".c", ".h")
NAMES = ("Makefile", "VERSION")


def _is_source(path):
    # .mod.c is the kernel's build's, in the clone.
    return path.is_file() and (path.name in NAMES or path.suffix in SUFFIXES) and not path.name.endswith(".mod.c")


def _digest(places):
    parts = []
    for place in places:
        top = cache.CHECKOUT / place
        for path in [top] if top.is_file() else sorted(filter(_is_source, top.rglob("*"))):
            parts += [str(path.relative_to(cache.CHECKOUT)), path.read_bytes()]
    return cache.digest(*parts)


@contextlib.contextmanager
def made_of(places, out, stamp, built):
    """
    The body builds in the directory OUT, of the sources in PLACES of the checkout; OUT/STAMP tells of which. Files that
    match the patterns BUILT go first if they are of others. When sources change meanwhile, or the body raises, nobody
    knows of which they are.
    """
    now = _digest(places)
    stamp = out / stamp
    if not stamp.exists() or stamp.read_text() != now:
        for path in {path for pattern in built for path in out.glob(pattern) if path.is_file()}:
            path.unlink()
    stamp.unlink(missing_ok=True)
    yield
    if _digest(places) == now:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(now)
