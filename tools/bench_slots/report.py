# SPDX-License-Identifier: GPL-2.0-only
"""Table, plot and verdicts from what bench_slots measured.

usage: report.py SLOTS.json PLOT.svg; exit status 1 if a target is missed.
"""

import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

OURS = "slot_tree"
LINEAR = "bytemap"
# The patterns for which the ratio is a target; the others show limits.
USUAL = ("random", "aged")

ABOUT = """\
Times of one alloc in ns. median: of every request alone, interpolated within the
clock's step of {step:.1f} ns; p99, worst: the least of the repetitions of each request,
so that what the machine does meanwhile is left out, and then the quantile over the
requests; group: median over groups of 16 requests of the mean, which shows what rare
slow requests cost; free: the same for the matching frees. {overhead:.1f} ns, the mean of an empty
measurement, is subtracted. found: share of the requests that found a fit.
random: used slots anywhere; aged: filled in order, then churned by the structure
itself until stationary; jump: random, but every hint anywhere, not where the last
alloc ended; far: all free slots as far from the hint as can be.
tree8 has no runs: its 8 and 32 slots are not adjacent and are not compared."""


class Points:
    def __init__(self, points):
        self.by_key = {}
        for p in points:
            key = (p["pattern"], p["occupancy"], p["slots"])
            self.by_key.setdefault(key, {})[p["peer"]] = p

    def ours(self, **wanted):
        """Our points, as far as they match the given fields."""
        for peers in self.by_key.values():
            p = peers[OURS]
            if all(p[field] == value for field, value in wanted.items()):
                yield p

    def ratios(self, field, patterns):
        """(ratio to the best peer, our time, its time, its name, key), free space >= 1 %."""
        for key, peers in self.by_key.items():
            pattern, occupancy, slots = key
            if pattern not in patterns or occupancy > 99:
                continue
            others = [p for name, p in peers.items()
                      if name != OURS and (slots == 1 or p["adjacent"])]
            best = min(others, key=lambda p: p[field])
            ours = peers[OURS][field]
            yield ours / max(best[field], 0.1), ours, best[field], best["peer"], key


def print_table(points):
    last = None
    head = (f"{'slots':>5} {'structure':10} {'median':>12} {'p99':>12} {'worst':>12}"
            f" {'group':>12} {'free':>8} {'found':>6}")
    for (pattern, occupancy, slots), peers in points.by_key.items():
        if (pattern, occupancy) != last:
            print(f"\n{pattern}, {occupancy:g} % used\n{head}")
            last = (pattern, occupancy)
        for name, p in peers.items():
            print(f"{slots:5} {name:10} {p['median_ns']:12.1f} {p['p99_ns']:12.0f}"
                  f" {p['worst_ns']:12.0f} {p['group_ns']:12.1f} {p['free_group_ns']:8.1f}"
                  f" {100 * p['found'] / p['requests']:5.0f}%")


def verdicts(points):
    """(reached, text) for each target."""
    full = list(points.ours(slots=1, occupancy=99.9))
    worst = max(p["worst_ns"] for p in full)
    yield worst <= 2000, f"one slot at 99.9 %: worst {worst:.0f} ns, target 2000"
    median = max(p["median_ns"] for p in full)
    yield median <= 60, f"one slot at 99.9 %: median {median:.0f} ns, target 60"
    aged = next(points.ours(slots=32, occupancy=90.0, pattern="aged"))
    yield aged["worst_ns"] <= 5000, (
        f"32 slots at 90 % aged, found or refused: worst {aged['worst_ns']:.0f} ns, target 5000")

    ours = max(p["worst_ns"] for p in points.ours(slots=1))
    linear = max(peers[LINEAR]["worst_ns"] for key, peers in points.by_key.items()
                 if key[2] == 1)
    yield linear >= 1000 * ours, (
        f"one slot, worst anywhere: {ours:.0f} ns, linear scan {linear:.0f} ns,"
        f" {linear / ours:.0f} times; target 1000")

    ratios = sorted(points.ratios("median_ns", USUAL), reverse=True)
    missed = [r for r in ratios if r[0] > 1.25]
    yield not missed, (
        f"median against the best other, free space >= 1 %, random and aged:"
        f" {len(ratios) - len(missed)} of {len(ratios)} points within 1.25;"
        f" worst {show_ratio(ratios[0])}")


def show_ratio(ratio):
    value, ours, best, name, (pattern, occupancy, slots) = ratio
    return (f"{value:.2f} ({ours:.1f} ns, {name} {best:.1f} ns:"
            f" {slots} slots, {occupancy:g} % {pattern})")


def print_verdicts(points):
    print()
    reached_all = True
    for reached, text in verdicts(points):
        print(f"{'reached' if reached else 'MISSED '}  {text}")
        reached_all = reached_all and reached
    for ratio in sorted(points.ratios("median_ns", USUAL), reverse=True):
        if ratio[0] > 1.25:
            print(f"         missed at: {show_ratio(ratio)}")
    print("no target: largest ratio by groups, random and aged: "
          + show_ratio(max(points.ratios("group_ns", USUAL))))
    print("no target: largest ratio of medians with jumping hints: "
          + show_ratio(max(points.ratios("median_ns", ("jump",)))))
    return reached_all


def plot(points, path):
    patterns = list(dict.fromkeys(key[0] for key in points.by_key))
    sizes = sorted({key[2] for key in points.by_key})
    figure, axes = plt.subplots(len(sizes), len(patterns), sharex=True, sharey=True,
                                figsize=(3.4 * len(patterns), 2.8 * len(sizes)))
    for row, slots in enumerate(sizes):
        for column, pattern in enumerate(patterns):
            plot_one(axes[row][column], points, pattern, slots)
    axes[0][0].legend(fontsize="x-small")
    figure.suptitle("alloc: median (line) and worst (dotted), ns, against occupancy, %")
    figure.tight_layout()
    figure.savefig(path)


def plot_one(axis, points, pattern, slots):
    keys = [k for k in points.by_key if k[0] == pattern and k[2] == slots]
    ticks = [f"{k[1]:g}" for k in keys]
    for index, name in enumerate(points.by_key[keys[0]]):
        style = {"color": f"C{index}", "linewidth": 2.5 if name == OURS else 1}
        series = [points.by_key[k][name] for k in keys]
        axis.plot(ticks, [max(p["median_ns"], 1) for p in series], label=name, **style)
        axis.plot(ticks, [max(p["worst_ns"], 1) for p in series], linestyle=":", **style)
    axis.set_yscale("log")
    axis.set_title(f"{pattern}, {slots} slot{'s' if slots > 1 else ''}", fontsize="small")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as source:
        data = json.load(source)
    points = Points(data["points"])
    print_table(points)
    print("\nbits a slot: " + ", ".join(f"{k} {v:.2f}" for k, v in data["bits_per_slot"].items()))
    print(ABOUT.format(step=data["clock_step_ns"], overhead=data["clock_overhead_ns"]))
    plot(points, sys.argv[2])
    return 0 if print_verdicts(points) else 1


if __name__ == "__main__":
    sys.exit(main())
