#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Draws what w2r-sim printed: plot.py OUT.svg TITLE=FILE...

One row for each FILE: on the left the miss ratio against the size of the cache, on the right the share of the
prefetched blocks that were asked for, where they are more than a hundredth of all. Runs under Debian's own python3,
which has python3-matplotlib.
"""

import pathlib
import sys

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot  # noqa: E402

COLOURS = {
    "lru": "#9aa7b5",
    "lru-obl": "#46566a",
    "sa-w2r": "#66a182",
    "none": "#edae49",
    "default": "#d1495b",
}
LICENCE = "<!-- SPDX-License-Identifier: GPL-2.0-only -->"
# Text as text, and the same file for the same figures.
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "w2r-sim", "path.simplify": False}


def read(path):
    """{scheme: [row, ...]}, a row being {column: text}."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].startswith("scheme "):
        sys.exit(f"plot.py: {path}: not what w2r-sim prints")
    columns = lines[0].split()
    found = {}
    for number, line in enumerate(lines[1:], 2):
        words = line.split()
        if len(words) != len(columns):
            sys.exit(f"plot.py: {path}:{number}: {len(words)} columns, wanted {len(columns)}")
        found.setdefault(words[0], []).append(dict(zip(columns, words, strict=True)))
    return found


def size_text(kib, _position):
    return f"{kib / 1024:g} M" if kib >= 1024 else f"{kib:g} K"


def counts(row, column):
    """A share of hardly anything says nothing."""
    return column != "accuracy" or int(row["prefetched"]) * 100 > int(row["blocks"])


def draw(axes, schemes, column, title):
    for scheme, rows in schemes.items():
        points = [(int(row["size_kib"]), float(row[column])) for row in rows if counts(row, column)]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=scheme, color=COLOURS.get(scheme))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(size_text)
    axes.set_ylim(0, 1.02)
    axes.set_title(title, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def with_licence(path):
    """The licence behind the XML declaration, and fewer lines."""
    head, _, rest = path.read_text(encoding="utf-8").partition("\n")
    path.write_text(f"{head}\n{LICENCE}\n{' '.join(rest.split())}\n", encoding="utf-8")


def main():
    if len(sys.argv) < 3 or not all("=" in word for word in sys.argv[2:]):
        sys.exit(__doc__.strip())
    matplotlib.rcParams.update(SETTINGS)
    out = pathlib.Path(sys.argv[1])
    files = [word.rpartition("=") for word in sys.argv[2:]]
    figure, rows = pyplot.subplots(len(files), 2, figsize=(9, 2.6 * len(files)), layout="constrained", squeeze=False)
    for (left, right), (title, _, path) in zip(rows, files, strict=True):
        schemes = read(path)
        draw(left, schemes, "miss_ratio", f"{title}: miss ratio")
        draw(right, schemes, "accuracy", f"{title}: share of prefetches used")
    rows[0][0].legend(fontsize=8)
    figure.savefig(out, metadata={"Date": None, "Creator": None})
    with_licence(out)


if __name__ == "__main__":
    main()
