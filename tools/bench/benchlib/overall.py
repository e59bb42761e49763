# SPDX-License-Identifier: GPL-2.0-only
"""Targets that all programs and devices of a run are to keep to, of which the worst is named."""

import dataclasses
import math

from . import judge

WORST = judge.Target("worst of all: total time against the best peer", "", "total_s", 1.05, rival=judge.PEER)
MEMORY = judge.Target("bytes a slot that mswap takes, beside what knobs say", "", "bytes_per_slot", 4.5, "most")


BADNESS = (judge.REACHED, judge.NO_DIFFERENCE, judge.MISSED)


def worst(found):
    """The pair of FOUND, (where, Verdict), that is worst: by what it says, then by how far it is from its limit."""
    def badness(pair):
        judged = pair[1]
        rank = BADNESS.index(judged.outcome)
        if not judged.spread:
            return rank, math.inf
        share = judged.spread.median / judged.limit
        return rank, 1 / share if judged.at_least else share

    return max(found, key=badness, default=None)


def _of_all(target, tables, judged_by):
    """TARGET where TABLES, {device: {program: Table}}, keep to it least; a list of no more than one."""
    found = [(device, judged_by(dataclasses.replace(target, program=program), table))
             for device, by_program in tables.items() for program, table in by_program.items()]
    bad = worst([pair for pair in found if pair[1]])
    return [bad] if bad else []


def _memory(target, table):
    """That a program failed says nothing of the memory."""
    ours = table.best("mswap", "total_s")
    spread = table.spread(ours, target.metric) if ours else None
    return judge.Verdict(target, spread, rounds=spread.rounds) if spread else None


def verdicts(tables):
    """[(device, Verdict)] on all of TABLES together."""
    return [*_of_all(WORST, tables, judge.verdict), *_of_all(MEMORY, tables, _memory)]
