# SPDX-License-Identifier: GPL-2.0-only
"""Where the kernel's instructions go on mswap and on stock swap, in markdown."""

import collections

from . import plan, report, results

LEAST = 1.0  # instructions a page; functions that differ by less are not shown
MOST = 40  # functions that are shown


def _per_page(steps):
    """{function: instructions a page} of all STEPS together."""
    found = collections.Counter()
    for step in steps:
        found.update(step["functions"])
    pages = sum(results.pages_swapped(step["counts"]) for step in steps)
    return {name: count / pages for name, count in found.items()}


def _rows(mine, others):
    names = {*mine, *others}
    rows = [(name, others.get(name, 0), mine.get(name, 0)) for name in names]
    rows = [each for each in rows if abs(each[2] - each[1]) >= LEAST]
    rows.sort(key=lambda each: (-abs(each[2] - each[1]), each[0]))
    return [[f"`{name}`", f"{other:.0f}", f"{own:.0f}", f"{own - other:+.0f}"] for name, other, own in rows[:MOST]]


def _section(title, table):
    """mswap beside the stock swap that is quickest."""
    ours, rival = table.best("mswap", "total_s"), table.rival("total_s")
    if not ours or not rival:
        return []
    mine, others = ([step for step in table.counted(variant) if "functions" in step] for variant in (ours, rival))
    if not mine or not others:
        return []
    rows = _rows(_per_page(mine), _per_page(others))
    return [f"## {title}", "", *report.table_lines(["function", "stock", "mswap", "difference"], rows), ""]


def markdown(data):
    """Where mswap's instructions differ from stock swap's; nothing when none were counted."""
    lines = []
    for device in dict.fromkeys(boot["device"] for boot in data["boots"]):
        for program, table in report.tables(data, device).items():
            lines += _section(f"{plan.DEVICES[device].title}: {plan.PROGRAMS[program].title}", table)
    if not lines:
        return ""
    return "\n".join(["# Instructions in the kernel", "",
                      f"For a page swapped in or out, by function; the {MOST} that differ most.", "", *lines])
