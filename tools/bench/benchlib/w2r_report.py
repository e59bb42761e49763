# SPDX-License-Identifier: GPL-2.0-only
"""The report on dm-w2r: markdown, and tables for a terminal."""

from . import conditions, judge, resume, terminal, w2r, w2r_judge
from .report import ending_lines, header, one_round_lines, row, spread_text

COUNTS = (
    ("user ms", "user_ms"),
    ("sys ms", "sys_ms"),
    ("I/O some ms", "io_some_ms"),
    ("I/O full ms", "io_full_ms"),
    ("major faults", "major_faults"),
    ("device reads", "dev_reads"),
    ("KiB read", "dev_read_kib"),
    ("device writes", "dev_writes"),
    ("KiB written", "dev_write_kib"),
    ("hits weighing", "hits_weighing"),
    ("hits waiting", "hits_waiting"),
    ("misses", "misses"),
    ("prefetched", "prefetched"),
    ("used", "prefetch_used"),
    ("wasted", "prefetch_wasted"),
)
OF_DM_CACHE = {"hits_weighing": "read_hits", "misses": "read_misses"}
HOW_TO_READ = """\
Figures are medians (lowest–highest) over the rounds, without what failed or gave a wrong result; ratios are taken
round by round. Each program begins with a cold page cache; the caches are empty at the start of a round and stay from
program to program. Device I/Os are what the device itself counted while a program ran, and until what it had begun to
read had come. CPU time, what some or all tasks waited for I/O (PSI) and major faults are those of the whole machine
while the program ran. Of dm-cache, hits and misses are its own read hits and misses.
"Least" is the ratio that a device without latency would reach; a target below it is out of reach.
""".splitlines()


def tables(data):
    """{device: Table} in the order they were run."""
    found = {}
    for result in data["results"]:
        if result["device"] != w2r.FLOOR:
            found.setdefault(result["device"], []).append(result)
    return {device: w2r_judge.Table(results) for device, results in found.items()}


def floor(data):
    """The Table of a device that takes no time; it may be empty."""
    return w2r_judge.Table([result for result in data["results"] if result["device"] == w2r.FLOOR])


def all_verdicts(data):
    """[(where, Verdict)]"""
    found = [("costs", verdict) for verdict in w2r_judge.cost_verdicts(data["costs"])]
    for device, table in tables(data).items():
        found += [(w2r.DEVICES[device], verdict) for verdict in w2r_judge.verdicts(table, floor(data))]
    return found


def _verdicts(data):
    lines = header(["device", "target", "at most", "ratio", "least", "verdict"])
    for where, verdict in all_verdicts(data):
        least = "–" if verdict.least is None else f"{verdict.least:.3f}"
        lines.append(row([where, verdict.text, f"{verdict.limit:.3f}", spread_text(verdict.spread, 3), least,
                          verdict.word]))
    return lines


def _costs(data):
    lines = header(["read of 4 KiB", "device", "ns", "ratio"])
    for kind, found in data["costs"].items():
        for each in found:
            lines.append(row([kind, each["device"], f"{each['ns']} ({each['ns_low']}–{each['ns_high']})",
                              f"{each['ratio']} ({each['ratio_low']}–{each['ratio_high']})"]))
    return lines


def _seconds(table, least):
    programs = [*table.programs(), w2r_judge.TOTAL]
    lines = header(["seconds", "no latency", *table.sides()])
    for program in programs:
        spreads = [least.spread(w2r.PLAIN, program, "seconds"),
                   *(table.spread(side, program, "seconds") for side in table.sides())]
        lines.append(row([program, *(spread_text(each, 2) for each in spreads)]))
    return lines


def _counts(table, program):
    lines = header([program, *(title for title, _ in COUNTS)])
    for side in table.sides():
        own = OF_DM_CACHE if side.startswith("dm-cache") else {}
        cells = [spread_text(table.spread(side, program, own.get(name, name)), 0) for _, name in COUNTS]
        lines.append(row([side, *cells]))
    return lines


def _conditions(data):
    found = {}  # by device, then by side
    for result in data["results"]:
        by_side = found.setdefault(w2r.title(result["device"]), {})
        by_side.setdefault(result["side"], {}).update(conditions.settings(result))
    rows = {w2r.title(device): {"DEVICES": device} for device in tables(data)}
    rows |= {side: {"SIDES": side} for side in dict.fromkeys(result["side"] for result in data["results"])}
    words = ["mkfs", *(["readcost"] if data["costs"] else [])]
    return conditions.section("bench-w2r", data["about"], found, words, rows, "all programs up to its own in "
                              "`PROGRAMS`; a ratio needs both its sides in `SIDES`; of what costs, any row:")


def _boots_lines(data):
    """That the figures may be of more than one boot."""
    if not data.get("resumed"):
        return []
    return [f"Measured in {data['resumed'] + 1} runs, each round of a device in one"
            f"{resume.early_text(data, 'costs')}{resume.early_text(data, 'boot')}.", ""]


def markdown(data):
    about = data["about"]
    judged = [verdict.outcome for _, verdict in all_verdicts(data)]
    bad = sum(bool(w2r.complaint(found)) for found in data["results"])
    lines = [
        f"# bench-w2r, {about['date']}", "",
        f"Commit {about['commit']}, kernel {about['kernel']}, {about['rounds']} rounds, caches of "
        f"{about['cache_mib']} MiB; {about['tree']}; {about['clock']}.", *one_round_lines(about), "",
        f"Targets: {judge.tally(judged)}. Programs that failed or gave a wrong result: {bad}.", "",
    ]
    for boot, measured in (("costs", len(data["costs"])), ("boot", w2r.ended(data["results"]))):
        lines += ending_lines(data, boot, measured)
    lines += _boots_lines(data)
    lines += [*HOW_TO_READ, ""]
    if judged:
        lines += [*_verdicts(data), ""]
    if data["costs"]:
        lines += [*_costs(data), ""]
    for device, table in tables(data).items():
        lines += [f"## {w2r.DEVICES[device]}", "", *_seconds(table, floor(data)), ""]
        for program in [w2r_judge.TOTAL, *table.programs()]:
            lines += [*_counts(table, program), ""]
    return "\n".join(lines + _conditions(data))


def terminal_table(table, figures=(("seconds", "seconds", 1), ("device reads", "dev_reads", 0))):
    """Rows of programs, columns of sides: medians of each of FIGURES (title, name, digits) in turn."""
    rows = [["", *table.sides()]]
    for title, name, digits in figures:
        rows.append([title, *([""] * len(table.sides()))])
        for program in [*table.programs(), w2r_judge.TOTAL]:
            spreads = [table.spread(side, program, name) for side in table.sides()]
            rows.append([f"  {program}", *(terminal.number(each and each.median, digits) for each in spreads)])
    return terminal.table(rows)
