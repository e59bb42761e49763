# SPDX-License-Identifier: GPL-2.0-only
"""Runs steps of dm-w2r's benchmark in one boot and hands on what each program found."""

from . import estimate, guest, w2r

PREPARE_GUESS = 60  # seconds
PROGRAM_GUESS = 12
STEP_TIMEOUT = 900
COST_TIMEOUT = 600


class Boot:
    """
    One boot: ON_RESULT gets each program's result, ON_COSTS what hits and misses cost; the guest's events of boot and
    tree are merged in .about, and .versions are those of programs.
    """

    def __init__(self, todo, programs, line, on_result, on_costs=None):
        self.todo = todo
        self.by_number = {str(step.number): step for step in todo}
        self.programs = programs
        self.line = line
        self.on_result = on_result
        self.on_costs = on_costs
        self.estimate = estimate.Estimate(
            ((step.device, step.side, name) for step in todo for name in programs),
            (lambda key: key, lambda key: key[2]), lambda key: PROGRAM_GUESS)
        self.prepared = False
        self.about = {}
        self.versions = {}
        self.step_results = {}  # by program
        self.under_way = None  # a step
        self.programs_left = []  # of it
        line.left = self.seconds_left

    def seconds_left(self):
        return self.estimate.seconds() + (0 if self.prepared else PREPARE_GUESS)

    def run(self, out, *, size_mib, cache_mib, tree=w2r.TREE, unit=w2r.UNIT, text_bytes=w2r.TEXT_BYTES, cost_rounds=0,
            kernel="6.12", icount=False, tools=()):
        text = w2r.guest_plan(self.todo, self.programs, size_mib, cache_mib, tree=tree, unit=unit,
                              text_bytes=text_bytes, cost_rounds=cost_rounds)
        devices = len({step.device for step in self.todo})
        self.line.set("making the test machine")
        cost_timeout = COST_TIMEOUT if cost_rounds else 0
        try:
            guest.run(text, out, mem=f"{3072 + size_mib * (2 + devices)}M", kernel=kernel, line=self.line,
                      script="w2r.sh", icount=icount, tools=tools,
                      timeout=600 + STEP_TIMEOUT * len(self.todo) + cost_timeout,
                      limit=lambda event: STEP_TIMEOUT + cost_timeout,
                      on_event=lambda event: self._on_event(event, out))
        except guest.GuestError as error:
            if self.programs_left:
                self.on_result(w2r.cut_short(self.under_way, self.programs_left[0], guest.in_short(error)))
            raise

    def _on_event(self, event, out):
        what = event["event"]
        if what == "boot":
            self.about |= event | {"emulator": guest.emulator_version()}
            self.line.set("booted, making the file system")
        elif what == "version":
            self.versions[event["name"]] = event["version"]
        elif what == "tree":
            self.about |= event
            self.prepared = True
            self.line.set("measuring what a hit and a miss cost" if self.on_costs else "making the devices")
        elif what == "cost":
            self.on_costs({kind: w2r.cost_result(out / f"cost.{kind}") for kind in ("hit", "miss")})
        elif what == "start":
            step = self.under_way = self.by_number[event["step"]]
            self.programs_left = list(self.programs)
            self.estimate.begin()
            self.line.set(f"{self.todo.index(step) + 1}/{len(self.todo)} {w2r.title(step.device)}: {step.side}")
        elif what == "program":
            found = w2r.program_result(out, self.by_number[event["step"]], event)
            self.programs_left.remove(event["program"])
            self.estimate.ended((found["device"], found["side"], found["program"]))
            self.step_results[found["program"]] = found
            self.on_result(found)
        elif what == "end":
            self._check_written(out, event["step"])

    def _check_written(self, out, number):
        """A cache that lost what was written makes the program that wrote it one that failed."""
        program = w2r.writer(self.programs)
        found = self.step_results[program]
        if not w2r.read_back_right(out, number, program):
            found["right"] = False
            self.line.say(f"FAILED: what {program} wrote on {found['side']} is read back as something else")


def result_line(found):
    """One line that says what a program found."""
    counts = found["counts"]
    text = f"{found['device']} {found['round']}: {found['side']:8} {found['program']:8} {found['seconds']:6.2f} s; " \
           f"reads {counts['dev_reads']}, writes {counts['dev_writes']}"
    if "misses" in counts:
        text += (f"; hits {counts['hits_weighing']} + {counts['hits_waiting']}, misses {counts['misses']}, "
                 f"prefetched {counts['prefetched']}, wasted {counts['prefetch_wasted']}")
    elif "read_hits" in counts:
        text += f"; hits {counts['read_hits']}, misses {counts['read_misses']}"
    why = w2r.complaint(found)
    return text + (f"; FAILED: {why}" if why else "")

