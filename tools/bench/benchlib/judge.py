# SPDX-License-Identifier: GPL-2.0-only
"""Medians, ratios pair by pair, and whether the targets are reached."""

import collections
import dataclasses
import statistics

from . import plan, results


@dataclasses.dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float
    rounds: int = dataclasses.field(default=0, compare=False)  # that it is of

    @classmethod
    def of(cls, values):
        return cls(statistics.median(values), min(values), max(values), len(values))

    @property
    def around_one(self):
        """As a spread of ratios: no difference can be told."""
        return self.low <= 1 <= self.high


REACHED, MISSED, NO_DIFFERENCE = "reached", "missed", "no difference"


def outcome(spread, limit, at_least=False, of_ratios=True):
    """
    Whether the median of SPREAD keeps to LIMIT. Ratios that lie on both sides of 1 and of LIMIT as well tell neither a
    difference nor anything of the target.
    """
    best, worst = (spread.high, spread.low) if at_least else (spread.low, spread.high)

    def keeps(value):
        return value >= limit if at_least else value <= limit

    if of_ratios and spread.around_one and keeps(best) and not keeps(worst):
        return NO_DIFFERENCE
    return REACHED if keeps(spread.median) else MISSED


def outcome_text(spread, limit, at_least=False, of_ratios=True):
    """The outcome, and what of SPREAD its median does not say."""
    found = outcome(spread, limit, at_least, of_ratios)
    straddled = spread.low < limit <= spread.high if at_least else spread.low <= limit < spread.high
    if found == NO_DIFFERENCE:
        return found
    if found == REACHED:
        return f"{found} (not in each round)" if straddled else found
    if of_ratios and spread.around_one:
        return f"{found} (no difference: the spread is around 1)"
    return f"{found} (some rounds reach it)" if straddled else found


def tally(outcomes):
    """How many of each, as words."""
    found = collections.Counter(outcomes)
    return ", ".join(f"{found[each]} {each}" for each in (REACHED, MISSED, NO_DIFFERENCE))


FAULTS_OF = "major_faults_of_"  # and the number of a program, from 1


def _faults_of(programs, number):
    return programs[number - 1].get("major_faults") if number <= len(programs) else None


def metric(result, name):
    """One figure of a step; None when the step does not have it."""
    if name.endswith("_s"):
        return result["seconds"].get(name[:-2])
    if name.startswith(FAULTS_OF):
        return _faults_of(result["programs"], int(name[len(FAULTS_OF):]))
    counts = result["counts"]
    if name == "kernel_per_page":
        return results.kernel_per_page(result)
    if name == "bytes_per_slot":
        return results.bytes_per_slot(result)
    if name == "pages_per_write":
        return results.per_io(counts, "dev_pages_written", "dev_writes")
    if name == "pages_per_read":
        return results.per_io(result.get("read_counts", counts), "dev_pages_read", "dev_reads")
    if name == "reads_per_page":
        return results.per_io(result.get("read_counts", counts), "dev_reads", "pswpin")
    return counts.get(name, result.get("figures", {}).get(name, result.get(name)))


STOCK = "stock"  # as a rival: any side of it
PEER = "peer"  # whatever keeps the data on the device and is not ours


def _is_of(variant, side):
    known = plan.SIDES.get(variant[0])
    if side == STOCK:
        return bool(known and known.is_stock)
    return variant[0] == side or (side == PEER and bool(known and known.is_peer))


def missed_since(failed):
    """The verdict on a side of which so many steps FAILED."""
    return f"missed ({failed} {'step' if failed == 1 else 'steps'} failed)"


def fewer_text(spread, rounds):
    """Whether SPREAD is of fewer than ROUNDS, as where a rival failed."""
    return f" ({spread.rounds} of {rounds} rounds)" if spread.rounds < rounds else ""


class Table:
    """All steps of one program on one device."""

    def __init__(self, steps):
        self.steps = steps

    def failures(self, side):
        """How many steps of SIDE failed."""
        return sum(results.failed(step) for step in self.steps if step["side"] == side)

    def may_have(self, side, name):
        """Whether SIDE (or any PEER) was measured and has NAME, or would have if it had not failed."""
        return any(results.failed(step) or metric(step, name) is not None
                   for step in self.steps if _is_of((step["side"],), side))

    def rounds(self):
        """In how many there is a step, good or not."""
        return len({step["round"] for step in self.steps})

    def variants(self):
        return list(dict.fromkeys((step["side"], step["page_cluster"]) for step in self.steps))

    def by_round(self, variant, name):
        """{round: figure} of a variant, without the rounds in which it failed."""
        found = {
            step["round"]: metric(step, name)
            for step in self.steps
            if (step["side"], step["page_cluster"]) == variant and (name == "bad" or not results.failed(step))
        }
        return {number: value for number, value in found.items() if value is not None}

    def counted(self, variant):
        """The steps of a variant that did not fail."""
        return [step for step in self.steps
                if (step["side"], step["page_cluster"]) == variant and not results.failed(step)]

    def spread(self, variant, name):
        values = list(self.by_round(variant, name).values())
        return Spread.of(values) if values else None

    def best(self, side, name):
        """The variant of SIDE (or of any PEER) with the lowest median of NAME."""
        known = [
            (self.spread(variant, name).median, variant)
            for variant in self.variants()
            if _is_of(variant, side) and self.spread(variant, name)
        ]
        return min(known)[1] if known else None

    def rival(self, name, side=STOCK):
        """
        The stock variant that counts: for seconds and latencies the one that is quickest in them, for anything
        else the one that is quickest as a whole.
        """
        return self.best(side, name if name.endswith(("_s", "_us", "_seconds")) else "total_s")

    def ratio(self, name, side=STOCK, ours="mswap"):
        """The side OURS over its rival, round by round; None when a figure is missing."""
        ours, theirs = self.best(ours, "total_s"), self.rival(name, side)
        return self.ratio_of(ours, theirs, name) if ours and theirs else None

    def ratio_of(self, ours, theirs, name):
        """One variant over another, round by round."""
        mine, other = self.by_round(ours, name), self.by_round(theirs, name)
        pairs = [mine[each] / other[each] for each in mine if other.get(each)]
        return Spread.of(pairs) if pairs else None


@dataclasses.dataclass(frozen=True)
class Target:
    text: str
    program: str
    metric: str
    limit: float
    # ratio: to the best of the rival, at most; least-ratio: at least; floor: to stock on the ramdisk, at most;
    # least: the figure itself, at least; most: the figure itself, at most
    kind: str = "ratio"
    aim: float = 0.0
    ours: str = "mswap"
    rival: str = STOCK

    @property
    def of_ratios(self):
        return self.kind not in ("least", "most")

    @property
    def at_least(self):
        return self.kind in ("least", "least-ratio")

    def words(self):
        """What outcome() wants beside the spread."""
        return self.limit, self.at_least, self.of_ratios


SLOW_DEVICES = ("nvme", "null_blk-100us", "null_blk-400us")
STRIDES = ("c1", "c4", "c16", "c32")


def _slow_device_targets():
    return [
        Target("read-back", "c1", "read_s", 0.27),
        Target("read-back against stock on a ramdisk", "c1", "read_s", 1.12, "floor", 1.05),
        Target("pages per device read", "c1", "pages_per_read", 18, "least"),
        Target("read-back", "c16", "read_s", 0.60),
        Target("device writes", "three", "dev_writes", 0.35),
        Target("device reads", "three", "dev_reads", 0.35),
        Target("total time", "three", "total_s", 0.75),
    ]


def targets(device):
    found = _slow_device_targets() if device in SLOW_DEVICES else []
    for program in (*STRIDES, "random", "three"):
        found.append(Target("pages swapped out", program, "pswpout", 1.05))
    phase_limit = 1.03 if device == "brd" else 1.05
    for program in (*STRIDES, "random", "three", "sor", "lu", "netsim"):
        found.append(Target("CPU time in the kernel", program, "sys_s", 1.0))
        found.append(Target("instructions in the kernel for a page", program, "kernel_per_page", 1.0))
    for program in STRIDES:
        found.append(Target("write phase", program, "write_s", phase_limit))
        if device == "brd":
            found.append(Target("read-back", program, "read_s", 1.03))
    if device == "brd":
        found.append(Target("total time", "three", "total_s", 1.03))
    found.append(Target("write phase", "random", "write_s", 1.03))
    found.append(Target("read-back", "random", "read_s", 1.03))
    found.append(Target("total time", "random", "total_s", 1.03))
    return found + _synthetic_targets(device) + _papers_targets(device) + _real_targets() + _frontswap_targets()


def _synthetic_targets(device):
    limits = (("read-back", "read_s", 0.5), ("write phase", "write_s", 1.0)) if device == "null_blk-7us" else ()
    return [Target(text, program, name, limit) for program in ("seq", "rand") for text, name, limit in limits]


def _papers_targets(device):
    """Against the best of the peers that keep the data on the device."""
    found = [Target("device writes against one object a write", "three", "dev_writes", 0.31, rival="mswap-object")]
    if device in ("null_blk-100us", "null_blk-400us", "null_blk-5ms"):
        found.append(Target("total time against the best peer", "papers", "total_s", 0.70, rival=PEER))
    found.append(Target("device reads for a page", "c1", "reads_per_page", 0.10))
    for program in ("aged50", "aged80", "aged95"):
        found.append(Target("pages per device write", program, "pages_per_write", 1.5, "least-ratio"))
        found.append(Target("device reads for a page", program, "reads_per_page", 0.15))
    return found + [
        Target("total time against the best peer", program, "total_s", 1.05, rival=PEER)
        for program in ("sor", "lu", "netsim")
    ]


def _real_targets():
    found = [
        Target("99 of 100 answers within, against the best peer", "memcached", "p99_us", 0.6, rival=PEER),
        Target("answers a second against the best peer", "memcached", "rate", 1.3, "least-ratio", rival=PEER),
    ]
    for number in plan.SCALES:
        found.append(Target("total time", f"scale{number}", "total_s", 1.0))
    for program in ("fft", "amr", *plan.REAL_PROGRAMS):
        found.append(Target("total time against the best peer", program, "total_s", 1.05, rival=PEER))
    return found


def _frontswap_targets():
    against_block = [
        Target("frontswap: total against the block device", program, "total_s", 0.95, ours="frontswap", rival="mswap")
        for program in (*STRIDES, "random", "three")
    ]
    return [
        Target("frontswap: read-back", "c1", "read_s", 0.30, ours="frontswap"),
        Target("frontswap: total time", "three", "total_s", 0.75, ours="frontswap"),
        *against_block,
    ]


@dataclasses.dataclass(frozen=True)
class Verdict:
    target: Target
    spread: Spread | None
    failed: int = 0  # steps of the side that it is about
    rounds: int = 0  # in which its program was run

    @property
    def limit(self):
        return self.target.limit

    @property
    def at_least(self):
        return self.target.at_least

    @property
    def outcome(self):
        return MISSED if self.failed else outcome(self.spread, *self.target.words())

    @property
    def reached(self):
        return self.outcome == REACHED

    @property
    def text(self):
        if self.failed:
            return missed_since(self.failed)
        aim = ", aim too" if self.reached and self.spread.median <= self.target.aim else ""
        return outcome_text(self.spread, *self.target.words()) + aim + fewer_text(self.spread, self.rounds)


def verdict(target, table):
    """None when there is nothing to judge by."""
    if not target.of_ratios:
        rival, ours = target.ours, table.best(target.ours, "total_s")
        spread = table.spread(ours, target.metric) if ours else None
    else:
        rival = "floor" if target.kind == "floor" else target.rival
        spread = table.ratio(target.metric, rival, target.ours)
    failed = table.failures(target.ours)
    if failed:
        return Verdict(target, spread, failed) if table.may_have(rival, target.metric) else None
    return Verdict(target, spread, rounds=table.rounds()) if spread else None


def verdicts(device, tables):
    """
    Verdicts on the targets of DEVICE for which there are figures, or would be if all had gone well; TABLES maps
    programs to Tables.
    """
    found = [verdict(target, tables[target.program]) for target in targets(device) if target.program in tables]
    return [each for each in found if each]
