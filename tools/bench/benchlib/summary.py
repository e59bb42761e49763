# SPDX-License-Identifier: GPL-2.0-only
"""One page about several runs of bench-swap."""

import dataclasses

from . import plan, report


@dataclasses.dataclass(frozen=True)
class Part:
    name: str  # the folder of its results
    title: str
    command: str  # reruns it
    data: dict  # its results.json

    def verdicts(self):
        """(device, Verdict) of all its devices."""
        for boot in self.data["boots"]:
            for verdict in report.verdicts_of(boot["device"], report.tables(self.data, boot["device"])):
                yield boot["device"], verdict

    def wrong(self):
        return sum(bool(step["bad"] or any(step["statuses"])) for step in self.data["steps"])


def _quickest(part):
    """For each program of a device: all sides, the quickest first, as multiples of mswap."""
    rows = []
    for boot in part.data["boots"]:
        for program, table in report.tables(part.data, boot["device"]).items():
            ours = table.best("mswap", "total_s")
            if not ours:
                continue
            times = {variant: table.spread(variant, "total_s").median for variant in table.variants()
                     if variant[0] != "floor"}
            cells = [f"{report.variant_text(variant)} {seconds / times[ours]:.2f}"
                     for variant, seconds in sorted(times.items(), key=lambda item: item[1])]
            rows.append([plan.DEVICES[boot["device"]].title, program, "; ".join(cells)])
    return rows


def _part(part):
    about = part.data["about"]
    lines = [f"## {part.title}", "",
             f"{about['rounds']} rounds on kernel {about['kernel']}, commit {about['commit']}, cgroup of "
             f"{about['limit_mib']} MiB; all figures and plots: [{part.name}]({part.name}/report.md). Again: "
             f"`{part.command}`", ""]
    rows = [[plan.DEVICES[device].title, verdict.target.program, verdict.target.text,
             f"{'≥' if verdict.target.at_least else '≤'} {verdict.target.limit}",
             report.spread_text(verdict.spread, 3), verdict.text] for device, verdict in part.verdicts()]
    if rows:
        lines += [*report.table_lines(["device", "program", "target", "limit", "figure", "verdict"], rows), ""]
    rows = _quickest(part)
    if rows:
        lines += ["Seconds as multiples of mswap's:", "", *report.table_lines(["device", "program", "swap"], rows), ""]
    return lines


def markdown(date, parts):
    verdicts = [verdict for part in parts for _, verdict in part.verdicts()]
    reached = sum(verdict.reached for verdict in verdicts)
    lines = [f"# Benchmarks of {date}", "",
             f"Targets: {reached} of {len(verdicts)} reached. Steps that failed or read bad pages: "
             f"{sum(part.wrong() for part in parts)}.", "",
             *report.HOW_TO_READ, ""]
    for part in parts:
        lines += _part(part)
    return "\n".join(lines)
