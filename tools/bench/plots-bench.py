#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Draws targets.svg, what became of all targets, from targets.json, which bench has written: plots-bench.py DIR.

Runs under Debian's own python3, as plots.py does.
"""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot, ticker  # noqa: E402

TICKS = (0.1, 0.2, 0.5, 1, 2)
COLOURS = {"reached": "#66a182", "missed": "#d1495b", "no difference": "#9aa7b5"}


def draw(targets, axes):
    for place, each in enumerate(targets):
        if "median" not in each:
            axes.text(1, place, f"  {each['outcome']}", va="center", fontsize=8, color="#6d7f92")
            continue
        axes.plot([each["low"], each["high"]], [place, place], color=COLOURS[each["outcome"]], linewidth=2)
        axes.plot(each["median"], place, "o", color=COLOURS[each["outcome"]])
    for outcome, colour in COLOURS.items():
        axes.plot([], [], "o", color=colour, label=outcome)
    axes.axvline(1, color="#46566a", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks(TICKS, map(str, TICKS))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set_xlabel("measured over the target (where that is a least, the target over it); reached up to 1")
    axes.set_yticks(range(len(targets)), [f"{each['what']}\n{each['target']}" for each in targets], fontsize=7)
    axes.set_ylim(len(targets) - 0.5, -0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=7)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    out = pathlib.Path(sys.argv[1])
    targets = json.loads((out / "targets.json").read_text(encoding="utf-8"))
    figure, axes = pyplot.subplots(figsize=(9, 0.4 * len(targets) + 1), layout="constrained")
    draw(targets, axes)
    figure.savefig(out / "targets.svg")


if __name__ == "__main__":
    main()
