# SPDX-License-Identifier: GPL-2.0-only
"""What all of the benchmarks are to reach, a line each, whatever part of them found it."""

import dataclasses

from . import judge, overall, plan, report

NOT_RUN = "not run"
ANY = ()  # of devices, or of programs


@dataclasses.dataclass(frozen=True)
class Goal:
    """The verdicts on the first of NAMES (metrics or texts) that was judged, against RIVAL and with this LIMIT."""

    what: str
    target: str
    names: tuple
    rival: str
    limit: float | None  # None: each program has its own
    programs: tuple = ANY
    devices: tuple = ANY

    def chosen(self, judged):
        """Those of JUDGED, (part, Judged), that are about it."""
        for name in self.names:
            found = [pair for pair in judged if name in (pair[1].metric, pair[1].text) and self._is_about(pair[1])]
            if found:
                return found
        return []

    def _is_about(self, each):
        return (each.rival == self.rival and self.limit in (None, each.verdict.limit)
                and (self.programs == ANY or each.program in self.programs)
                and (self.devices == ANY or each.kind in self.devices))


AGED = ("aged50", "aged80", "aged95")
GOALS = (
    Goal("swap-in of scattered pages: device reads for a page", "≤ 0.10 × stock", ("reads_per_page",), judge.STOCK,
         0.10, ("c1",)),
    Goal("several programs at once: page-out requests", "≤ 0.35 × stock", ("dev_writes",), judge.STOCK, 0.35,
         ("three",)),
    Goal("the same, one object a write beside it", "≤ 0.31 × policy=object", ("dev_writes",), "mswap-object", 0.31),
    Goal("the papers' programs at once, 100 µs and 5 ms: time", "≤ 0.70 × best peer", ("total_s",), judge.PEER, 0.70,
         ("papers",)),
    Goal("in order and at random, 7 µs: reads", "≤ 0.5 × stock", ("read_s",), judge.STOCK, 0.5,
         devices=("null_blk-7us",)),
    Goal("the same: writes", "≤ 1.0 × stock", ("write_s",), judge.STOCK, 1.0, devices=("null_blk-7us",)),
    Goal("memcached at 1.5 × memory: p99", "≤ 0.6 × best peer", ("p99_us",), judge.PEER, 0.6),
    Goal("the same: answers a second", "≥ 1.3 × best peer", ("rate",), judge.PEER, 1.3),
    Goal("50, 80, 95 % in use: pages a write", "≥ 1.5 × stock", ("pages_per_write",), judge.STOCK, 1.5, AGED),
    Goal("the same: device reads for a page", "≤ 0.15 × stock", ("reads_per_page",), judge.STOCK, 0.15, AGED),
    Goal("any load, any device: time", "≤ 1.05 × best peer", (overall.WORST.text,), judge.PEER, 1.05),
    Goal("CPU in the kernel for a page swapped", "≤ 1.0 × stock", ("kernel_per_page", "sys_s"), judge.STOCK, 1.0),
    Goal("1 to 8 processes that swap: time", "≤ 1.0 × stock", ("total_s",), judge.STOCK, 1.0,
         tuple(f"scale{number}" for number in plan.SCALES)),
    Goal("memory of mswap, beside what knobs say", "≤ 4.5 bytes a slot", (overall.MEMORY.metric,), judge.STOCK, 4.5),
    Goal("dm-w2r, each of the paper's programs: time", "≤ the paper's × plain", ("w2r against plain",), "", None),
    Goal("the same with the paper's pair", "≤ the paper's × plain", ("sa-w2r against plain",), "", None),
    Goal("dm-w2r, all of them: time", "≤ 0.90 × dm-cache", ("w2r against dm-cache",), "", 0.90),
    Goal("dm-w2r: a hit", "≤ 1.3 × dm-linear on a ramdisk", ("a hit against dm-linear on a ramdisk",), "", 1.30),
    Goal("dm-w2r: a miss", "≤ 1.05 × plain", ("a miss against the plain device of 100 µs",), "", 1.05),
)


@dataclasses.dataclass(frozen=True)
class Line:
    """What became of a goal."""

    goal: Goal
    found: list  # of (part, Judged)

    @property
    def worst(self):
        """(part, Judged), or nothing."""
        found = overall.worst([(pair, pair[1].verdict) for pair in self.found])
        return found and found[0]

    @property
    def outcome(self):
        return self.worst[1].verdict.outcome if self.found else NOT_RUN

    def cells(self):
        if not self.found:
            return [self.goal.what, self.goal.target, "–", NOT_RUN]
        part, judged = self.worst
        where = ", ".join(word for word in (judged.device, judged.program) if word)
        measured = f"{judged.figure()}: {where} ([{part}]({part}/report.md))"
        reached = sum(each.verdict.outcome == judge.REACHED for _, each in self.found)
        many = len(self.found) > 1
        return [self.goal.what, self.goal.target, f"{measured}, the worst of {len(self.found)}" if many else measured,
                f"{self.outcome} ({reached} of {len(self.found)} reached)" if many and reached < len(self.found)
                else self.outcome]

    def drawn(self):
        """What its plot needs."""
        found = {"what": self.goal.what, "target": self.goal.target, "outcome": self.outcome}
        verdict = self.worst[1].verdict if self.found else None
        if not verdict or not verdict.spread:
            return found
        spread, limit = verdict.spread, verdict.limit
        low, median, high = (limit / value if verdict.at_least else value / limit
                             for value in (spread.low, spread.median, spread.high))
        return found | {"low": min(low, high), "median": median, "high": max(low, high)}


def lines(judged):
    """A Line for each goal, of JUDGED, [(part's name, Judged)]."""
    return [Line(goal, goal.chosen(judged)) for goal in GOALS]


def section(found):
    """What the Lines FOUND say, of the page that they begin."""
    plot = ["![measured over target](targets.svg)", ""] if any(line.found for line in found) else []
    counts = judge.tally(line.outcome for line in found if line.found)
    return ["## Targets", "", f"{counts}, {sum(not line.found for line in found)} not run. Of several that a line is "
            "about, the worst; ratios are taken round by round, medians (lowest–highest).", "",
            *report.table_lines(["what", "target", "measured", ""], [line.cells() for line in found]), "", *plot]
