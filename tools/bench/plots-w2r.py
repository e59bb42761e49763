#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Draws the SVG plots of a run of bench-w2r: plots-w2r.py DIR, where DIR holds results.json.

Runs under Debian's own python3, as plots.py does.
"""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from benchlib import w2r, w2r_report  # noqa: E402

COLOURS = {"plain": "#46566a", "lru": "#9aa7b5", "sa-w2r": "#edae49", "w2r": "#d1495b", "dm-cache": "#66a182",
           "bcache": "#8d5b9f"}
METRICS = (("seconds", "seconds, over the plain device's"), ("dev_reads", "device reads, over the plain device's"))


def spreads(table, side, name):
    """(place, spread) of the programs for which there is a ratio to the plain device."""
    found = [(place, table.ratio(side, w2r.PLAIN, program, name)) for place, program in enumerate(table.programs())]
    return [(place, spread) for place, spread in found if spread]


def bars(axes, table, name, title):
    sides = [side for side in table.sides() if side != w2r.PLAIN]
    width = 0.8 / max(len(sides), 1)
    for number, side in enumerate(sides):
        found = spreads(table, side, name)
        if not found:
            continue
        heights = [spread.median for _, spread in found]
        error = [
            [spread.median - spread.low for _, spread in found],
            [spread.high - spread.median for _, spread in found],
        ]
        axes.bar([place + (number - (len(sides) - 1) / 2) * width for place, _ in found], heights, width, yerr=error,
                 capsize=2, color=COLOURS.get(side), label=side)
    axes.axhline(1, color=COLOURS["plain"], linewidth=0.8)
    axes.set_xticks(range(len(table.programs())), table.programs())
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def device_plot(table, device, out):
    figure, rows = pyplot.subplots(len(METRICS), 1, figsize=(9, 3 * len(METRICS)), layout="constrained")
    for axes, (name, title) in zip(rows, METRICS, strict=True):
        bars(axes, table, name, title)
    # The paper's own figures, to compare by eye.
    paper = [w2r.PROGRAMS[program].paper for program in table.programs()]
    rows[0].plot(range(len(paper)), paper, "k_", markersize=24, label="SA-W²R in the paper")
    rows[0].legend(fontsize=7)
    figure.suptitle(w2r.DEVICES[device])
    figure.savefig(out / f"{device}.svg")
    pyplot.close(figure)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    out = pathlib.Path(sys.argv[1])
    data = json.loads((out / "results.json").read_text(encoding="utf-8"))
    for device, table in w2r_report.tables(data).items():
        device_plot(table, device, out)


if __name__ == "__main__":
    main()
