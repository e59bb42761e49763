# SPDX-License-Identifier: GPL-2.0-only
"""Tests of runs that go on where they were stopped: python3 -m unittest discover -s tools/bench"""

import contextlib
import io
import json
import os
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from benchlib import files, guest, options, plan  # noqa: E402
from standins import ABOUT, InDirectory, WithTools, load  # noqa: E402

SIDES = {"SIDES": "stock mswap", "STOCK_PAGE_CLUSTERS": "3"}


class GoingOn(WithTools):
    """bench-swap, with VMs that measure all steps that they are told, up to one that ends the boot."""

    def setUp(self):
        super().setUp()
        self.measured = []  # in the last run: (device, side, program)
        self.until = None  # a step like these, and what ends the boot there

    def step_result(self, out, step, event, phased):
        return {"device": step.device, "program": step.program, "round": step.round, "side": step.side,
                "page_cluster": step.page_cluster, "seconds": {"total": 1.0}, "verified": 9, "bad": self.bad,
                "counts": dict.fromkeys(("pswpout", "pswpin", "dev_writes", "dev_reads", "dev_pages_read",
                                         "dev_pages_written"), 9),
                "statuses": [0] * len(plan.PROGRAMS[step.program].commands), "figures": {}, "output": [],
                "programs": [{"verified": 9, "bad": 0, "filler": 0, "major_faults": 0}]}

    def boot(self, text, out, on_event, **how):
        (out / "console.log").write_text(self.kernel)
        on_event({"event": "boot", "kernel": self.kernel, "cpus": "2", "memory_kib": "9"})
        for line in text.splitlines():
            if not line.startswith("step "):
                continue
            _, number, device, side, _, program = line.split()
            on_event({"event": "start", "step": number})
            if self.until and self.until[:3] == (device, side, program):
                if self.until[3] <= 1:
                    raise self.until[4]
                self.until = (*self.until[:3], self.until[3] - 1, self.until[4])
            self.measured.append((device, side, program))
            on_event({"event": "end", "step": number})

    def bench_swap(self, until=None, commit="c", kernel="k", bad=0, **variables):
        """UNTIL is (device, side, program, how often that begins, what happens then)."""
        self.measured, self.until, self.kernel, self.bad = [], until, kernel, bad
        known = {"DEVICES": "brd", "PROGRAMS": "c1 c4", "ROUNDS": "2"} | SIDES
        with (mock.patch("benchlib.results.step_result", self.step_result),
              mock.patch("benchlib.guest.commit", return_value=commit)):
            return self.run_tool(self.boot, **known | variables)

    def go_on(self, **how):
        return self.bench_swap(RESULTS="", RESUME=str(self.out / "out"), **how)

    def rounds(self, data):
        return [(step["round"], step["program"], step["side"]) for step in data["steps"]]

    def test_a_round_of_a_program_is_of_one_boot(self):
        status, data, _ = self.bench_swap(("brd", "stock", "c4", 2, KeyboardInterrupt))
        self.assertEqual((status, len(self.measured)), (130, 7))
        self.assertEqual(data["lost"], {"brd": "interrupted"})
        status, data, said = self.go_on()
        self.assertEqual((status, self.measured), (0, [("brd", "mswap", "c4"), ("brd", "stock", "c4")]))
        self.assertTrue(said.startswith("2 steps in 1 boots"), said)
        self.assertEqual(sorted(self.rounds(data)), sorted((number, program, side) for number in (1, 2)
                                                           for program in ("c1", "c4") for side in ("stock", "mswap")))
        self.assertEqual((data["lost"], data["planned"]), ({}, {"brd": 8}))
        self.assertIn("Measured in 2 boots, each round of a program in one; ended early: interrupted.", self.page())
        self.assertNotIn("Not as it should be", self.page())

    def test_nothing_is_left_to_do(self):
        self.bench_swap()
        self.assertEqual(self.go_on()[0], 0)
        self.assertEqual(self.measured, [])
        self.assertNotIn("Measured in", self.page())

    def test_more_rounds(self):
        self.bench_swap(ROUNDS="1")
        status, data, _ = self.go_on(ROUNDS="2")
        self.assertEqual((status, len(self.measured), {step["round"] for step in data["steps"]}), (0, 4, {1, 2}))
        self.assertEqual((data["about"]["rounds"], data["about"]["options"]["ROUNDS"]), (2, "2"))
        self.assertIn("2 rounds", self.page())

    def test_a_device_that_was_not_reached(self):
        self.bench_swap(("brd", "stock", "c1", 1, KeyboardInterrupt), DEVICES="brd virtio")
        status, data, _ = self.go_on(DEVICES="brd virtio")
        self.assertEqual((status, len(data["steps"]), len(self.measured)), (0, 16, 16))

    def test_what_was_lost_is_told(self):
        self.bench_swap(("brd", "mswap", "c4", 1, guest.GuestError("silent\n | tail")))
        status, data, _ = self.go_on()
        self.assertEqual((status, len(data["steps"])), (0, 8))
        self.assertIn("ended early: silent.", self.page())

    def test_a_bad_page_stays(self):
        self.bench_swap(("brd", "stock", "c4", 1, KeyboardInterrupt), bad=1)
        status, data, _ = self.go_on()
        self.assertEqual((status, [step["bad"] for step in data["steps"]].count(1)), (1, 2))

    def test_other_commits_and_kernels_are_told(self):
        self.bench_swap(ROUNDS="1")
        _, data, _ = self.go_on(commit="d", kernel="l")
        self.assertIn("Commit c, d, kernel k, l, 2 rounds", self.page())
        _, data, _ = self.go_on(commit="d", kernel="l", ROUNDS="3")
        self.assertEqual((data["about"]["commit"], data["about"]["kernel"]), ("c, d", "k, l"))

    def test_logs_of_each_boot_are_kept(self):
        self.bench_swap(ROUNDS="1")
        self.go_on(kernel="l")
        self.assertEqual([(self.out / "out" / name).read_text() for name in ("brd.console.log", "brd.2.console.log")],
                         ["k", "l"])

    def test_complaints_of_each_boot_are_kept(self):
        def complain(out, *_):
            return [f"BUG: {self.kernel}"]

        with mock.patch("benchlib.guest.keep_logs", complain):
            self.bench_swap(ROUNDS="1")
            status, data, _ = self.go_on(kernel="l")
        self.assertEqual((status, data["trouble"]), (1, {"brd": ["BUG: k", "BUG: l"]}))

    def test_what_was_measured_otherwise_is_refused(self):
        self.bench_swap()
        for other in ({"PROGRAMS": "c1"}, {"ROUNDS": "1"}, {"CHARGE": "1"}):
            with self.assertRaises(SystemExit):
                self.go_on(**other)
        for other in ({"RESULTS": str(self.out / "other")}, {"RESUME": str(self.out)}):
            with self.assertRaises(SystemExit):
                self.bench_swap(**{"RESULTS": "", "RESUME": str(self.out / "out")} | other)
        self.assertEqual(self.measured, [])


class GoingOnWithCaches(WithTools):
    """bench-w2r, with VMs that measure all programs of all steps that they are told, up to one that ends the boot."""

    def program_result(self, out, step, event):
        return {"device": step.device, "side": step.side, "round": step.round, "program": event["program"],
                "seconds": 1.0, "counts": dict.fromkeys(("root_reads", "dev_reads", "dev_writes"), 0), "state": {},
                "status": 0, "output": "", "right": True}

    def boot(self, text, out, on_event, **how):
        on_event({"event": "boot", "kernel": self.kernel, "cpus": "2", "memory_kib": "9"})
        on_event({"event": "tree", "files": "9", "kib": "99"})
        words = [line.split() for line in text.splitlines()]
        if any(line[0] == "cost" for line in words):
            self.measured.append("costs")
            on_event({"event": "cost"})
            return
        programs = [line[1] for line in words if line[0] == "program"]
        for _, number, device, side in (line for line in words if line[0] == "step"):
            on_event({"event": "start", "step": number})
            for name in programs:
                if (device, side, name) == self.until:
                    self.until = None
                    raise KeyboardInterrupt
                self.measured.append((device, side, name))
                on_event({"event": "program", "step": number, "program": name})
            on_event({"event": "end", "step": number})

    def bench_w2r(self, until=None, kernel="k", **variables):
        self.measured, self.until, self.kernel = [], until, kernel
        known = {"DEVICES": "null_blk-100us null_blk-5ms", "PROGRAMS": "cp grep", "SIDES": "plain w2r", "ROUNDS": "2"}
        with (mock.patch("benchlib.w2r.program_result", self.program_result),
              mock.patch("benchlib.w2r.cost_result", return_value=[]),
              mock.patch("benchlib.w2r.read_back_right", return_value=True),
              mock.patch("benchlib.guest.commit", return_value="c")):
            return self.run_tool(self.boot, "bench-w2r", **known | variables)

    def go_on(self, **how):
        return self.bench_w2r(RESULTS="", RESUME=str(self.out / "out"), **how)

    def test_a_round_of_a_device_is_of_one_boot(self):
        status, data, _ = self.bench_w2r(("null_blk-5ms", "w2r", "grep"))
        self.assertEqual((status, self.measured[0], len(self.measured)), (130, "costs", 1 + 4 + 8 + 3))
        status, data, said = self.go_on(kernel="l")
        self.assertEqual((status, len(self.measured)), (0, 8))
        self.assertEqual({each[0] for each in self.measured}, {"null_blk-5ms"})
        self.assertEqual(len({(each["device"], each["round"], each["side"], each["program"])
                              for each in data["results"]}), 20)
        self.assertEqual((len(data["results"]), data["planned"], data["lost"]), (20, {"costs": 2, "boot": 20}, {}))
        self.assertIn("Measured in 2 runs, each round of a device in one; ended early: interrupted.", self.page())
        self.assertIn("kernel k, l, 2 rounds", self.page())
        self.assertNotIn("Not as it should be", self.page())

    def test_what_is_whole_is_not_measured(self):
        self.bench_w2r()
        self.assertEqual((self.go_on()[0], self.measured), (0, []))
        status, data, _ = self.go_on(ROUNDS="3")
        self.assertEqual((status, len(self.measured), data["about"]["rounds"]), (0, 2 + 8, 3))

    def test_a_program_that_was_cut_short_is_measured(self):
        self.bench_w2r()
        path = self.out / "out/results.json"
        data = json.loads(path.read_text())
        data["results"][-1] |= {"cut_short": "silent"}
        files.replace(path, json.dumps(data))
        self.go_on()
        self.assertEqual(len(self.measured), 4)

    def test_what_was_measured_otherwise_is_refused(self):
        self.bench_w2r()
        with self.assertRaises(SystemExit):
            self.go_on(CACHE_MIB="16")
        self.assertEqual(self.measured, [])


class Resuming(InDirectory):
    """bench with what STATUSES says, by part, in place of its tools."""

    def setUp(self):
        super().setUp()
        self.statuses = {}
        self.ran = []
        self.commit = "c"
        self.planned = 0
        self.gone_on = []

    def run_part(self, part, out, go_on):
        self.ran.append(part.name)
        self.gone_on += [part.name] if go_on else []
        status = self.statuses.get(part.name, 0)
        about = ABOUT | {"commit": self.commit}
        kind = "results" if part.tool == "bench-w2r" else "boots"
        files.replace(out / "results.json", json.dumps({"about": about, "boots": [], "steps": [], "costs": {},
                                                        "planned": {"nvme": self.planned}, "rows": [], kind: []}))
        return status

    def bench(self, **variables):
        """Its exit status, the names of the parts that ran, and its page."""
        module = load("bench")
        self.ran, self.gone_on = [], []
        with (mock.patch.dict(os.environ, variables), mock.patch.object(sys, "argv", ["bench"]),
              mock.patch.object(module, "run", self.run_part), mock.patch.object(module.guest, "need_root"),
              mock.patch.object(module.guest, "CHECKOUT", self.out),
              mock.patch.object(module.guest, "interrupted_by_sigterm"),
              contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())):
            status = module.main()
        page, = self.out.glob("bench/results/*/report.md")
        return status, self.ran, page.read_text(encoding="utf-8")

    def results(self):
        return str(next(self.out.glob("bench/results/*")))

    def test_what_ended_well_is_kept(self):
        self.statuses = {"scattered": 1, "caches": 130}
        status, ran, page = self.bench(QUICK="1")
        self.assertEqual((status, ran), (130, ["together", "scattered", "caches"]))
        self.assertIn("Not measured: none.", page)
        self.statuses, self.commit = {}, "d"
        status, ran, page = self.bench(QUICK="1", RESUME=self.results())
        self.assertEqual((status, ran), (0, ["scattered", "caches"]))
        self.assertIn("Measured at different commits, as each part says: c, d.", page)
        self.assertEqual(self.bench(QUICK="1", RESUME=self.results())[:2], (0, []))

    def test_a_part_goes_on_where_steps_are_missing(self):
        self.statuses, self.planned = {"together": 1, "scattered": 130, "caches": 130}, 9
        self.bench(QUICK="1")
        self.assertEqual(self.gone_on, [])
        self.statuses = {}
        self.bench(QUICK="1", RESUME=self.results())
        self.assertEqual((self.ran, self.gone_on), (["together", "scattered", "caches"], ["together", "scattered"]))

    def test_a_part_whose_steps_are_all_there_begins_anew(self):
        self.statuses = {"together": 1}
        self.bench(QUICK="1", PARTS="together")
        self.bench(QUICK="1", PARTS="together", RESUME=self.results())
        self.assertEqual((self.ran, self.gone_on), (["together"], []))

    def test_a_part_measured_otherwise_begins_anew(self):
        self.statuses, self.planned = {"together": 130}, 9
        self.bench(QUICK="1", PARTS="together")
        self.bench(QUICK="1", PARTS="together", RESUME=self.results(), KERNEL="5.10")
        self.assertEqual((self.ran, self.gone_on), (["together"], []))

    def test_a_part_that_was_killed_goes_on(self):
        self.planned = 9
        self.bench(QUICK="1", PARTS="together")
        ledger = pathlib.Path(self.results()) / "parts.json"
        known = json.loads(ledger.read_text())
        known["together"] |= {"status": None, "seconds": 7}
        files.replace(ledger, json.dumps(known))
        _, ran, page = self.bench(QUICK="1", PARTS="scattered", RESUME=self.results())
        self.assertIn("**Not as it should be: did not end; 0 of 9 steps measured.**", page)
        self.bench(QUICK="1", PARTS="together", RESUME=self.results())
        self.assertEqual(self.gone_on, ["together"])
        self.assertGreaterEqual(json.loads(ledger.read_text())["together"]["seconds"], 7)

    def test_parts_by_name(self):
        status, ran, page = self.bench(QUICK="1", PARTS="scattered")
        self.assertEqual((status, ran), (0, ["scattered"]))
        self.assertIn("Not measured: together, caches.", page)
        self.assertEqual(self.bench(QUICK="1", PARTS="caches scattered", RESUME=self.results())[1], ["caches"])
        self.assertIn("commit c", page)

    def test_what_was_measured_otherwise_is_measured_again(self):
        self.bench(QUICK="1", PARTS="scattered")
        ledger = pathlib.Path(self.results()) / "parts.json"
        ledger.write_text(ledger.read_text().replace("ROUNDS=", "ROUNDS=1"))
        self.assertEqual(self.bench(QUICK="1", PARTS="scattered", RESUME=self.results())[1], ["scattered"])

    def test_what_was_taken_away_is_measured_again(self):
        self.bench(QUICK="1")
        (pathlib.Path(self.results()) / "scattered/results.json").unlink()
        self.assertEqual(self.bench(QUICK="1", RESUME=self.results())[1], ["scattered"])

    def commands(self):
        ledger = json.loads((pathlib.Path(self.results()) / "parts.json").read_text())
        return {name: ended["command"] for name, ended in ledger.items()}

    def test_what_the_environment_says_is_in_the_command(self):
        told = {"KERNEL": "5.10", "KNOBS": "a=1 b=2", "CACHE_MIB": "64", "CHARGE": "", "ROUNDS": "9"}
        _, _, page = self.bench(QUICK="1", PARTS="scattered caches", **told)
        commands = self.commands()
        self.assertEqual(commands["scattered"], 'make bench-swap ROUNDS="1" DEVICES="null_blk-100us" PROGRAMS="c1" '
                         'SIDES="stock stock-slots mswap zswap-lz4" STOCK_PAGE_CLUSTERS="3" KNOBS="a=1 b=2" '
                         'KERNEL="5.10"')
        self.assertTrue(commands["caches"].endswith(' COST_ROUNDS="0" CACHE_MIB="64" KERNEL="5.10"'))
        self.assertIn(f"Again: `{commands['scattered']}`", page)

        again = {"QUICK": "1", "PARTS": "scattered caches", "RESUME": self.results()}
        self.assertEqual(self.bench(**again, **told)[1], [])
        self.assertEqual(self.bench(**again, **told | {"CACHE_MIB": "32"})[1], ["caches"])
        self.assertEqual(self.bench(**again)[1], ["scattered", "caches"])

    def test_the_page_says_how_a_part_was_measured(self):
        self.bench(QUICK="1", PARTS="scattered", KERNEL="5.10")
        command = self.commands()["scattered"]
        _, ran, page = self.bench(QUICK="1", PARTS="caches", RESUME=self.results())
        self.assertEqual(ran, ["caches"])
        self.assertIn(f"Again: `{command}`", page)

    def test_all_options_of_the_tools_are_known(self):
        module = load("bench")
        for tool, known in module.OPTIONS.items():
            with (mock.patch.object(sys, "argv", [tool]),
                  mock.patch.object(options.Parser, "option", autospec=True,
                                    side_effect=options.Parser.option) as option):
                load(tool).parse_args()
            resuming = ["RESUME"] if tool in module.RESUMING else []
            self.assertEqual({call.args[1] for call in option.call_args_list}, {*known, "RESULTS", *resuming})

    def test_a_boot_is_a_part(self):
        self.assertEqual(self.bench(PARTS="aged-nvme scale")[1], ["aged-nvme", "scale"])

    def test_lookups_are_a_part(self):
        self.assertEqual(self.bench(PARTS="lookups")[1], ["lookups"])
        self.assertEqual(self.commands(), {"lookups": 'make bench-lookup ROUNDS="5"'})

    def test_each_device_is_in_a_part_with_peers(self):
        module = load("bench")
        told = [part.options for part in module.FULL if part.tool == "bench-swap"]
        peers = {kind for each in told if "zswap-lz4" in each.get("SIDES", "") for kind in each["DEVICES"].split()}
        self.assertEqual(set(plan.DEVICES) - peers, {"brd", "null_blk-400us"})
        for each in told:
            if "zswap-lz4" in each.get("SIDES", ""):
                self.assertIn("stock-deadline", each["SIDES"].split())

    def test_all_that_a_part_names_is_known(self):
        module = load("bench")
        known = {"DEVICES": plan.DEVICES, "PROGRAMS": plan.PROGRAMS, "SIDES": plan.SIDES}
        for part in module.FULL + module.QUICK:
            self.assertLessEqual(set(part.options), set(module.OPTIONS[part.tool]), part.name)
            for name, words in known.items() if part.tool == "bench-swap" else ():
                self.assertLessEqual(set(part.options.get(name, "").split()), set(words), part.name)

    def test_nonsense(self):
        for variables in ({"PARTS": "aged"}, {"RESUME": str(self.out)}, {"RESUME": "/nowhere"}):
            with self.assertRaises(SystemExit):
                self.bench(**variables)
        self.assertEqual(self.ran, [])


if __name__ == "__main__":
    unittest.main()
