# SPDX-License-Identifier: GPL-2.0-only
"""Files of results."""

import os


def replace(path, text):
    """PATH holds all of TEXT, or what it held before if this is interrupted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
