# SPDX-License-Identifier: GPL-2.0-only
"""One page about several runs of bench-swap and bench-w2r."""

import dataclasses

from . import judge, plan, progress, report, results, w2r, w2r_judge, w2r_report


@dataclasses.dataclass(frozen=True)
class Judged:
    """A target as a row of the page."""

    device: str
    program: str
    text: str
    limit: str
    word: str
    verdict: object
    kind: str = ""  # of the device
    metric: str = ""
    rival: str = ""

    def figure(self):
        return report.spread_text(self.verdict.spread, 3)

    def cells(self):
        return [self.device, self.program, self.text, self.limit, self.figure(), self.word]


@dataclasses.dataclass(frozen=True)
class Part:
    """A run of bench-swap."""

    name: str  # the folder of its results
    title: str
    command: str  # reruns it
    data: dict | None  # its results.json, if there is one
    status: int | None = 0  # that its tool ended with, if it did
    seconds: int = 0  # that it took

    memory = ("cgroup", "limit_mib")
    ours = "mswap"

    def judged(self):
        for device, verdict in report.all_verdicts(self.data):
            target = verdict.target
            yield Judged(plan.DEVICES[device].title, target.program, target.text,
                         f"{'≥' if target.at_least else '≤'} {target.limit}", verdict.text, verdict, device,
                         target.metric, target.rival)

    def charge_text(self):
        return report.charge_text(self.data["about"])

    def wrong(self):
        return sum(map(results.failed, self.data["steps"]))

    def measured(self):
        """How many steps."""
        return results.ended(self.data["steps"])

    def lines(self):
        return _measured(self)

    def times(self):
        """(device, program, {side: its seconds over ours}, which of them is ours)"""
        for boot in self.data["boots"]:
            for program, table in report.tables(self.data, boot["device"]).items():
                ours = table.best("mswap", "total_s")
                if ours:
                    ratios = {report.variant_text(variant): table.ratio_of(variant, ours, "total_s")
                              for variant in table.variants() if variant[0] != "floor"}
                    yield plan.DEVICES[boot["device"]].title, program, ratios, report.variant_text(ours)


class CachePart(Part):
    """A run of bench-w2r."""

    memory = ("caches", "cache_mib")
    ours = "w2r"

    def judged(self):
        for where, verdict in w2r_report.all_verdicts(self.data):
            program, colon, text = verdict.text.partition(": ")
            yield Judged(where, program if colon else "", text if colon else verdict.text, f"≤ {verdict.limit:.3f}",
                         verdict.word, verdict)

    def charge_text(self):
        return ""

    def wrong(self):
        return sum(bool(w2r.complaint(found)) for found in self.data["results"])

    def measured(self):
        return len(self.data["costs"]) + w2r.ended(self.data["results"])

    def times(self):
        for device, table in w2r_report.tables(self.data).items():
            for program in (*table.programs(), w2r_judge.TOTAL):
                ratios = {side: table.ratio(side, self.ours, program) for side in table.sides()}
                yield w2r.title(device), program, ratios, self.ours


def _quickest(part):
    """For each program of a device: all sides, the quickest first, as multiples of ours."""
    rows = []
    for device, program, ratios, ours in part.times():
        known = {side: ratio for side, ratio in ratios.items() if ratio}
        cells = [f"{side} {ratio.median:.2f}" + (" (no difference)" if ratio.around_one and side != ours else "")
                 for side, ratio in sorted(known.items(), key=lambda item: item[1].median)]
        if cells:
            rows.append([device, program, "; ".join(cells)])
    return rows


def _planned(part):
    """How many steps."""
    return sum(part.data.get("planned", {}).values())


def lacks_steps(part):
    """Were some that were planned not measured?"""
    return part.measured() < _planned(part)


def _ending(part):
    """What went wrong with the whole of it, as a list of words; steps that failed are told elsewhere."""
    found = []
    if part.status != 0:
        found.append("did not end" if part.status is None else f"ended with status {part.status}")
    if not part.data:
        return [*found, "no results"]
    planned = _planned(part)
    if planned and (part.status != 0 or lacks_steps(part)):
        found.append(f"{part.measured()} of {planned} steps measured")
    found += [f"the kernel of {boot} complained: `{lines[0]}`" for boot, lines in part.data.get("trouble", {}).items()]
    return found


def _part(part):
    lines = [f"## {part.title}", ""]
    if _ending(part):
        lines += [f"**Not as it should be: {'; '.join(_ending(part))}.**", ""]
    return lines + (part.lines() if part.data else [f"Again: `{part.command}`", ""])


def _measured(part):
    about = part.data["about"]
    what, mib = part.memory
    took = f", which took {progress.duration(part.seconds)}" if part.seconds else ""
    lines = [f"{about['rounds']} rounds on kernel {about['kernel']}, commit {about['commit']}, {what} of "
             f"{about[mib]} MiB{part.charge_text()}; all figures and plots: [{part.name}]({part.name}/report.md). "
             f"Again: `{part.command}`{took}", *report.one_round_lines(about), ""]
    rows = [judged.cells() for judged in part.judged()]
    if rows:
        lines += [*report.table_lines(["device", "program", "target", "limit", "figure", "verdict"], rows), ""]
    rows = _quickest(part)
    if rows:
        lines += [f"Seconds as multiples of {part.ours}'s:", "",
                  *report.table_lines(["device", "program", "side"], rows), ""]
    return lines


def _commits_lines(parts):
    commits = sorted({part.data["about"]["commit"] for part in parts})
    return [f"Measured at different commits, as each part says: {', '.join(commits)}.", ""] if len(commits) > 1 else []


def judged(parts):
    """[(part's name, Judged)] of all PARTS that have results."""
    return [(part.name, each) for part in parts if part.data for each in part.judged()]


def _ledger(parts, missing):
    """What was measured, how it ended, and how long it took."""
    rows = []
    for part in parts:
        about = part.data["about"] if part.data else {}
        rows.append([f"[{part.name}]({part.name}/report.md)" if part.data else part.name, part.title,
                     about.get("kernel", "–"), str(about.get("rounds", "–")), progress.duration(part.seconds),
                     "; ".join(_ending(part)) or "whole"])
    rows += [[name, "", "–", "–", "–", "not measured"] for name in missing]
    return report.table_lines(["part", "", "kernel", "rounds", "took", "ended"], rows)


def markdown(date, parts, missing=(), goals=()):
    """
    The page about PARTS; MISSING are the names of those that were not measured yet. GOALS are the lines that it begins
    with.
    """
    with_data = [part for part in parts if part.data]
    wrong = [part.title for part in parts if _ending(part)]
    verdicts = judge.tally(each.verdict.outcome for _, each in judged(parts))
    lines = [f"# Benchmarks of {date}", "", *goals, "## Parts", "",
             f"Verdicts: {verdicts}. Steps that failed or read bad pages: {sum(part.wrong() for part in with_data)}. "
             f"Parts that failed or are not whole: {'; '.join(wrong) or 'none'}. Not measured: "
             f"{', '.join(missing) or 'none'}.", "",
             *_commits_lines(with_data), *_ledger(parts, missing), "", *report.HOW_TO_READ, ""]
    for part in parts:
        lines += _part(part)
    return "\n".join(lines)
