# SPDX-License-Identifier: GPL-2.0-only
"""Medians, ratios round by round, and whether the targets of dm-w2r are reached."""

import dataclasses

from . import judge, w2r
from .judge import Spread, fewer_text, missed_since

TOTAL = "all"
HIT_LIMIT = 1.30
MISS_LIMIT = 1.05
RIVAL_LIMIT = 0.90


def figure(found, name):
    """
    SECONDS or a counter of a result, of those in microseconds also as NAME_ms; None when it has none.
    """
    counts = found["counts"]
    if name == "seconds":
        return found["seconds"]
    in_us = counts.get(name.removesuffix("_ms") + "_us")
    return counts.get(name) if in_us is None else in_us / 1000


class Table:
    """All results of one device."""

    def __init__(self, results):
        self.results = results

    def sides(self):
        return list(dict.fromkeys(found["side"] for found in self.results))

    def rounds(self):
        """In how many there is a result, good or not."""
        return len({found["round"] for found in self.results})

    def programs(self):
        return list(dict.fromkeys(found["program"] for found in self.results))

    def failures(self, side, program):
        """How many results of SIDE are wrong, of TOTAL those of all programs."""
        return sum(bool(w2r.complaint(found)) for found in self.results
                   if found["side"] == side and program in (TOTAL, found["program"]))

    def by_round(self, side, program, name):
        """
        {round: figure}; of TOTAL, the sum over the programs in the rounds that have all of them. What went wrong is
        left out.
        """
        rounds = {}
        for found in self.results:
            value = figure(found, name)
            if found["side"] != side or w2r.complaint(found):
                continue
            if program in (TOTAL, found["program"]) and value is not None:
                rounds.setdefault(found["round"], []).append(value)
        wanted = len(self.programs()) if program == TOTAL else 1
        return {number: sum(values) for number, values in rounds.items() if len(values) == wanted}

    def spread(self, side, program, name):
        values = list(self.by_round(side, program, name).values())
        return Spread.of(values) if values else None

    def ratio(self, ours, theirs, program, name="seconds"):
        """One side over the other, round by round; None when a figure is missing."""
        mine, other = self.by_round(ours, program, name), self.by_round(theirs, program, name)
        pairs = [mine[each] / other[each] for each in mine if other.get(each)]
        return Spread.of(pairs) if pairs else None


@dataclasses.dataclass(frozen=True)
class Verdict:
    text: str
    limit: float
    spread: Spread | None
    least: float | None = None  # the ratio of a device that takes no time, where it is known
    failed: int = 0  # results of the side that it is about
    rounds: int = 0  # in which its device was measured
    at_least = False

    @property
    def outcome(self):
        return judge.MISSED if self.failed else judge.outcome(self.spread, self.limit)

    @property
    def reached(self):
        return self.outcome == judge.REACHED

    @property
    def word(self):
        if self.failed:
            return missed_since(self.failed)
        return self._word() + fewer_text(self.spread, self.rounds)

    def _word(self):
        if self.spread.low > self.limit and self.least is not None and self.least > self.limit:
            return "out of reach"
        return judge.outcome_text(self.spread, self.limit)


def _least(table, floor, side, program):
    """What of SIDE's time would be left on a device that takes none, as FLOOR, a Table, has it."""
    least, seconds = floor.spread(w2r.PLAIN, program, "seconds"), table.spread(side, program, "seconds")
    return least.median / seconds.median if least and seconds else None


def verdicts(table, floor):
    """The paper's gain, or better, on each program; and the total against other caches."""
    found = []
    for ours in ("sa-w2r", "w2r"):
        wanted = [(program, w2r.PLAIN, round(w2r.PROGRAMS[program].paper, 3)) for program in table.programs()]
        wanted += [(TOTAL, rival, RIVAL_LIMIT) for rival in w2r.RIVALS]
        for program, rival, limit in wanted:
            spread, failed = table.ratio(ours, rival, program), table.failures(ours, program)
            if spread or (failed and rival in table.sides()):
                found.append(Verdict(f"{program}: {ours} against {rival}", limit, spread,
                                     _least(table, floor, rival, program), failed, table.rounds()))
    return found


def cost_verdicts(costs):
    """COSTS maps "hit" and "miss" to the lines of readcost: the rival first, dm-w2r last."""
    found = []
    for kind, limit, text in (("hit", HIT_LIMIT, "a hit against dm-linear on a ramdisk"),
                              ("miss", MISS_LIMIT, "a miss against the plain device of 100 µs")):
        if costs.get(kind):
            ours = costs[kind][-1]
            spread = Spread(*(float(ours[name]) for name in ("ratio", "ratio_low", "ratio_high")))
            found.append(Verdict(text, limit, spread))
    return found
