# SPDX-License-Identifier: GPL-2.0-only
"""The report in markdown, from the same dict that goes to results.json."""

import collections

from . import conditions, judge, overall, plan, results, resume

COLUMNS = (
    ("write s", "write_s", 2),
    ("read s", "read_s", 2),
    ("total s", "total_s", 2),
    ("sys s", "sys_s", 2),
    ("user s", "user_s", 2),
    ("stall s", "stall_s", 2),
    ("pswpout", "pswpout", 0),
    ("pswpin", "pswpin", 0),
    ("major faults", "major_faults", 0),
    ("dev writes", "dev_writes", 0),
    ("merged", "dev_writes_merged", 0),
    ("pages/write", "pages_per_write", 1),
    ("dev reads", "dev_reads", 0),
    ("merged", "dev_reads_merged", 0),
    ("pages/read", "pages_per_read", 1),
    ("reads/page in", "reads_per_page", 3),
    ("bad", "bad", 0),
)
FIGURES = (  # which only some programs have, or runs
    ("kernel instr/page", "kernel_per_page", 0),
    ("a second", "rate", 0),
    ("p50 µs", "p50_us", 0),
    ("p99 µs", "p99_us", 0),
    ("p999 µs", "p999_us", 0),
    ("snapshot s", "snapshot_seconds", 2),
)
HOW_TO_READ = """\
Figures are medians (lowest–highest) over the rounds. A ratio is mswap over the stock swap that counts, taken round by
round: of all that were measured, with whatever `vm.page-cluster`, way of reading ahead and I/O scheduler, for seconds
and µs the one that is quickest in them, for all else the one that is quickest as a whole. What failed or read bad pages
counts nowhere.
The device's I/Os are what its own statistics say; – means it keeps none. "Merged" are I/Os that the block layer made
part of others, which alone count. "pages/read" counts all that was read, "reads/page in" what was swapped in.
"Major faults" are those of the cgroup's programs for which the kernel read a page. One that it had read ahead makes a
minor fault, one that mswap, zswap or zram has in memory a major one. "Of 1" and so on are those of each program, from
its start to its end.
"sys" and "user" are the CPU time of the whole machine in the kernel and outside it, "stall" the time in which all of
the programs waited for memory (PSI). With INSTRUCTIONS=1, "kernel instr/page" are the kernel's instructions for a page
swapped in or out; by function they are in instructions.md.
""".splitlines()
RATIOS = ("write_s", "read_s", "total_s", "sys_s", "user_s", "kernel_per_page", "stall_s", "pswpout", "major_faults",
          "dev_writes", "dev_reads", "rate", "p50_us", "p99_us", "p999_us", "snapshot_seconds")


def tables(data, device):
    """{program: Table} of one device, in the order they were run."""
    steps = {}
    for step in _steps_of(data, device):
        steps.setdefault(step["program"], []).append(step)
    return {program: judge.Table(found) for program, found in steps.items()}


def ending(data, boot, measured):
    """What was not as it should be with all of BOOT, of which so many steps were MEASURED: a list of words."""
    planned = data.get("planned", {}).get(boot, measured)
    lost, trouble = (data.get(name, {}).get(boot) for name in ("lost", "trouble"))
    found = []
    if lost or measured < planned:
        found.append(f"{measured} of {planned} steps measured" + (f", then: {lost}" if lost else ""))
    if trouble:
        found.append(f"its kernel complained, {len(trouble)} lines, the first of them `{trouble[0].strip()}`")
    return found


def ending_lines(data, boot, measured):
    words = ending(data, boot, measured)
    return [f"**Not as it should be: {'; '.join(words)}.**", ""] if words else []


def histograms(data):
    """{(boot, program, side): {pages: writes}} of those sides that count them, their good steps added up."""
    found = {}
    for step in data["steps"]:
        if step.get("cluster_hist") and not results.failed(step):
            row = found.setdefault((step["boot"], step["program"], step["side"]), collections.Counter())
            row.update({int(pages): writes for pages, writes in step["cluster_hist"].items()})
    return found


def spread_text(spread, digits):
    if spread is None:
        return "–"
    middle = f"{spread.median:.{digits}f}"
    if spread.low == spread.high:
        return middle
    return f"{middle} ({spread.low:.{digits}f}–{spread.high:.{digits}f})"


def variant_text(variant):
    side, page_cluster = variant
    name = "stock on ramdisk" if side == "floor" else plan.SIDES[side].title if side in plan.SIDES else side
    return f"{name}, page-cluster {page_cluster}"


def left_out_text(sides):
    """Why SIDES are missing."""
    return f"no request queue, so not measured: {', '.join(plan.SIDES[side].title for side in sides)}"


def charge_text(about):
    """Whose memory mswap's own is, in the middle of a sentence."""
    return ", less what mswap takes" if about.get("charge") else ", and what mswap takes beside it"


def one_round_lines(about):
    return ["", "One round: what differs by chance cannot be told from what differs."] if about["rounds"] == 1 else []


def row(cells):
    return "| " + " | ".join(cells) + " |"


def header(cells):
    return [row(cells), row(["---"] * len(cells))]


def table_lines(head, rows):
    return [*header(head), *map(row, rows)]


def _faults_of_each(table):
    """Columns for them where several programs ran."""
    programs = max(len(step["programs"]) for step in table.steps)
    numbers = range(1, programs + 1) if programs > 1 else ()
    return tuple((f"of {number}" if number > 1 else "major faults of 1", f"{judge.FAULTS_OF}{number}", 0)
                 for number in numbers)


def _figures(table):
    columns = COLUMNS + tuple(each for each in FIGURES + _faults_of_each(table)
                              if any(table.spread(variant, each[1]) for variant in table.variants()))
    lines = header(["swap", *(title for title, _, _ in columns)])
    for variant in table.variants():
        cells = [spread_text(table.spread(variant, name), digits) for _, name, digits in columns]
        lines.append(row([variant_text(variant), *cells]))
    return lines


def _ratios(table):
    lines = []
    for name in RATIOS:
        spread = table.ratio(name)
        if spread:
            rival = variant_text(table.rival(name))
            note = " — no difference" if spread.around_one else ""
            lines.append(f"- {name}: {spread_text(spread, 3)} × {rival}{note}")
    return lines + _ratios_to_others(table)


def _ratios_to_others(table):
    """mswap over every other side but stock, in seconds."""
    lines = []
    for side in dict.fromkeys(side for side, _ in table.variants()):
        spread = None if side in ("stock", "mswap", "floor") else table.ratio("total_s", side)
        if spread:
            note = " — no difference" if spread.around_one else ""
            lines.append(f"- total_s: {spread_text(spread, 3)} × {plan.SIDES[side].title}{note}")
    return lines


def _verdict_cells(verdict):
    target = verdict.target
    sign, unit, digits = "≥" if target.at_least else "≤", *((" ×", 3) if target.of_ratios else ("", 1))
    return [target.program, target.text, f"{sign} {target.limit}{unit}", spread_text(verdict.spread, digits),
            verdict.text]


def _verdicts(device, found):
    return table_lines(["program", "target", "limit", "figure", "verdict"],
                       [_verdict_cells(each) for each in verdicts_of(device, found)])


def verdicts_of(device, found):
    return judge.verdicts(device, found)


def overall_verdicts(data):
    """[(device, Verdict)] on what all of them are to keep to."""
    return overall.verdicts({boot["device"]: tables(data, boot["device"]) for boot in data["boots"]})


def all_verdicts(data):
    """[(device, Verdict)], those on all of them last."""
    found = [(boot["device"], verdict) for boot in data["boots"]
             for verdict in verdicts_of(boot["device"], tables(data, boot["device"]))]
    return found + overall_verdicts(data)


def _overall(data):
    rows = [[plan.DEVICES[device].title, *_verdict_cells(verdict)] for device, verdict in overall_verdicts(data)]
    return [*table_lines(["worst on", "program", "target", "limit", "figure", "verdict"], rows), ""] if rows else []


def _steps_of(data, kind):
    return [step for step in data["steps"] if step["boot"] == kind]


def _failed_steps(data, kind):
    lines = [f"- round {step['round']}, {step['program']} on {variant_text((step['side'], step['page_cluster']))}: "
             f"{results.complaint(step)}" for step in _steps_of(data, kind) if results.failed(step)]
    return ["Steps that failed:", "", *lines, ""] if lines else []


def _boots_lines(data, boot):
    """That the figures are of more than one boot."""
    count = sum(event.get("event") == "boot" for event in boot.get("events", ()))
    if count < 2:
        return []
    return [f"Measured in {count} boots, each round of a program in one{resume.early_text(data, boot['device'])}.", ""]


def _device_section(data, kind):
    found = tables(data, kind)
    device = plan.DEVICES[kind]
    lines = [f"## {device.title}", ""]
    for boot in data["boots"]:
        if boot["device"] == kind:
            lines += [boot["text"], "", *_boots_lines(data, boot)]
    left_out = data.get("left_out", {}).get(kind)
    lines += [f"Has {left_out_text(left_out)}.", ""] if left_out else []
    lines += ending_lines(data, kind, results.ended(_steps_of(data, kind)))
    lines += _failed_steps(data, kind)
    judged = verdicts_of(kind, found)
    if judged:
        lines += [*_verdicts(kind, found), ""]
    for program, table in found.items():
        lines += [f"### {program}: {plan.PROGRAMS[program].title}", "", *_figures(table), ""]
        ratios = _ratios(table)
        if ratios:
            lines += [*ratios, ""]
    return lines


def _conditions(data, kinds):
    found = {}  # by device, then by side
    for step in data["steps"]:
        by_side = found.setdefault(plan.DEVICES[step["boot"]].title, {})
        by_side.setdefault(variant_text((step["side"], step["page_cluster"])), {}).update(conditions.settings(step))
    words = [word for name in dict.fromkeys(step["program"] for step in data["steps"])
             for command in plan.PROGRAMS[name].commands for word in command.split()]
    rows = {plan.DEVICES[kind].title: {"DEVICES": kind} for kind in kinds}
    for variant in dict.fromkeys((step["side"], step["page_cluster"]) for step in data["steps"]):
        rows[variant_text(variant)] = plan.row_variables(*variant)
    return conditions.section("bench-swap", data["about"], found, words, rows,
                              "its program in `PROGRAMS`; a ratio needs both its sides in `SIDES`:")


def markdown(data):
    """The whole report."""
    about = data["about"]
    judged = judge.tally(verdict.outcome for _, verdict in all_verdicts(data))
    bad = sum(step["bad"] for step in data["steps"])
    failed = sum(map(results.failed, data["steps"]))
    lines = [f"# bench-swap, {about['date']}", ""]
    lines += [
        f"Commit {about['commit']}, kernel {about['kernel']}, {about['rounds']} rounds, "
        f"cgroup of {about['limit_mib']} MiB{charge_text(about)}; "
        f"huge pages: {about.get('hugepages', plan.HUGEPAGES[0])}; knobs changed: {about['knobs'] or 'none'}."
    ]
    lines += one_round_lines(about)
    lines += [
        "",
        f"Targets: {judged}. Bad pages: {bad}. Steps that failed or read bad pages: {failed}.",
        "",
    ]
    kinds = list(dict.fromkeys((*data.get("planned", {}), *(boot["device"] for boot in data["boots"]))))
    wrong = [plan.DEVICES[kind].title for kind in kinds if ending(data, kind, results.ended(_steps_of(data, kind)))]
    lines += [f"Boots that failed or are not whole: {'; '.join(wrong)}.", ""] if wrong else []
    lines += [*HOW_TO_READ, "", *_overall(data)]
    for kind in kinds:
        lines += _device_section(data, kind)
    return "\n".join(lines + _conditions(data, kinds))
