#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Draws the SVG plots of a run of bench-swap: plots.py DIR, where DIR holds results.json.

Runs under Debian's own python3, which has python3-matplotlib; nothing else here needs more than the
standard library.
"""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from benchlib import plan, report  # noqa: E402

COLOURS = {
    "stock": ("#9aa7b5", "#6d7f92", "#46566a"),
    "stock-slots": ("#c2b8a3", "#978a70", "#6b6049"),
    "stock-deadline": ("#b5a9c2", "#837297", "#58466b"),
    "mswap": ("#d1495b",),
    "mswap-slots": ("#e8756a", "#b3392f"),
    "linear": ("#c8c8c8",),
    "frontswap": ("#edae49",),
    "floor": ("#66a182",),
    "mswap-object": ("#e58a94",),
    "mswap-page": ("#f1c0c5",),
    "mswap-w2r": ("#8f2d56",),
    "zswap-lz4": ("#30638e",),
    "zswap-zstd": ("#7fa7c9",),
    "zramwb-lz4": ("#5f4b8b",),
    "zramwb-zstd": ("#a594c9",),
    "zram-lz4": ("#b08968",),
    "zram-zstd": ("#ddb892",),
}
METRICS = (
    ("write_s", "write phase (s)"),
    ("read_s", "read-back (s)"),
    ("total_s", "all (s)"),
    ("dev_writes", "device writes"),
    ("dev_reads", "device reads"),
)


def colours(variants):
    used, found = {}, {}
    for variant in variants:
        shades = COLOURS[variant[0]]
        number = used.get(variant[0], 0)
        found[variant] = shades[number % len(shades)]
        used[variant[0]] = number + 1
    return found


def bars(axes, tables, variants, name, title):
    shade = colours(variants)
    width = 0.8 / len(variants)
    for number, variant in enumerate(variants):
        points = [
            (place + (number - (len(variants) - 1) / 2) * width, table.spread(variant, name))
            for place, table in enumerate(tables.values())
        ]
        points = [(place, spread) for place, spread in points if spread]
        if not points:
            continue
        heights = [spread.median for _, spread in points]
        error = [
            [spread.median - spread.low for _, spread in points],
            [spread.high - spread.median for _, spread in points],
        ]
        axes.bar([place for place, _ in points], heights, width, yerr=error, capsize=2,
                 color=shade[variant], label=report.variant_text(variant))
    axes.set_xlim(-0.5, len(tables) - 0.5)
    axes.set_xticks(range(len(tables)), tables)
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def device_plot(data, kind, out):
    tables = report.tables(data, kind)
    variants = list(dict.fromkeys(variant for table in tables.values() for variant in table.variants()))
    figure, rows = pyplot.subplots(len(METRICS), 1, figsize=(9, 2.4 * len(METRICS)), layout="constrained")
    for axes, (name, title) in zip(rows, METRICS, strict=True):
        bars(axes, tables, variants, name, title)
    figure.suptitle(f"{plan.DEVICES[kind].title}: what was swapped to")
    rows[2].legend(fontsize=7)
    figure.savefig(out / f"{kind}.svg")
    pyplot.close(figure)


def histogram_plot(data, out):
    """Pages per write of each kind of mswap, all rounds of each program added up."""
    sums = report.histograms(data)
    if not sums:
        return
    figure, rows = pyplot.subplots(len(sums), 1, figsize=(8, 1.8 * len(sums)), layout="constrained", squeeze=False)
    for axes, ((boot, program, side), row) in zip(rows[:, 0], sums.items(), strict=True):
        axes.bar(list(row), list(row.values()), color=COLOURS[side][0])
        axes.set_title(f"{plan.DEVICES[boot].title}, {program}, {plan.SIDES[side].title}: writes by their pages",
                       fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(out / "pages-per-write.svg")
    pyplot.close(figure)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    out = pathlib.Path(sys.argv[1])
    data = json.loads((out / "results.json").read_text(encoding="utf-8"))
    for kind in dict.fromkeys(step["boot"] for step in data["steps"]):
        device_plot(data, kind, out)
    histogram_plot(data, out)


if __name__ == "__main__":
    main()
