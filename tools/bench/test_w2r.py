# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what decides about dm-w2r's verdicts: python3 -m unittest discover -s tools/bench"""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from benchlib import guest, summary, w2r, w2r_judge, w2r_report, w2r_run  # noqa: E402


def result(side, program, number, seconds, **counts):
    return {"device": "null_blk-5ms", "side": side, "round": number, "program": program, "seconds": seconds,
            "counts": {"dev_reads": 10, "dev_writes": 1, "root_reads": 0} | counts, "state": {}, "status": 0,
            "output": "", "right": True}


NO_FLOOR = w2r_judge.Table([])


class Judging(unittest.TestCase):
    def test_ratios_are_taken_round_by_round(self):
        table = w2r_judge.Table([
            result("plain", "cp", 1, 10.0), result("w2r", "cp", 1, 5.0),
            result("plain", "cp", 2, 20.0), result("w2r", "cp", 2, 18.0),
            result("plain", "cp", 3, 30.0), result("w2r", "cp", 3, 24.0),
        ])
        self.assertEqual(table.ratio("w2r", "plain", "cp"), w2r_judge.Spread(0.8, 0.5, 0.9))

    def test_total_needs_all_programs_of_a_round(self):
        table = w2r_judge.Table([
            result("plain", "cp", 1, 1.0), result("plain", "sort", 1, 2.0), result("plain", "cp", 2, 1.0),
        ])
        self.assertEqual(table.by_round("plain", w2r_judge.TOTAL, "seconds"), {1: 3.0})

    def test_what_went_wrong_does_not_count(self):
        for wrong in ({"status": 1}, {"right": False}):
            table = w2r_judge.Table([result("plain", "cp", 1, 10.0), result("w2r", "cp", 1, 1.0) | wrong])
            self.assertIsNone(table.ratio("w2r", "plain", "cp"))

    def test_a_side_that_went_wrong_misses_its_targets(self):
        for wrong, word in ((2, "missed (2 steps failed)"), (1, "missed (1 step failed)")):
            found = []
            for number in (1, 2):
                found += [result("plain", "cp", number, 10.0), result("plain", "sort", number, 10.0),
                          result("w2r", "cp", number, 1.0) | {"right": number > wrong},
                          result("w2r", "sort", number, 1.0), result("bcache", "cp", number, 10.0)]
            verdicts = {each.text: each for each in w2r_judge.verdicts(w2r_judge.Table(found), NO_FLOOR)}
            self.assertEqual({text: each.word for text, each in verdicts.items()}, {
                "cp: w2r against plain": word,
                "sort: w2r against plain": "reached",
                "all: w2r against bcache": word,
            })
            self.assertFalse(verdicts["cp: w2r against plain"].reached)

    def test_verdicts(self):
        table = w2r_judge.Table([
            result("plain", "cp", 1, 10.0), result("sa-w2r", "cp", 1, 8.1), result("w2r", "cp", 1, 8.3),
            result("dm-cache", "cp", 1, 10.0),
        ])
        found = {verdict.text: verdict.word for verdict in w2r_judge.verdicts(table, NO_FLOOR)}
        self.assertEqual(found, {
            "cp: sa-w2r against plain": "reached",
            "all: sa-w2r against dm-cache": "reached",
            "cp: w2r against plain": "missed",
            "all: w2r against dm-cache": "reached",
        })

    def test_what_nobody_could_reach(self):
        table = w2r_judge.Table([result("plain", "cp", 1, 10.0), result("w2r", "cp", 1, 9.5)])
        for floor, word in ((9.0, "out of reach"), (8.0, "missed")):
            verdict, = w2r_judge.verdicts(table, w2r_judge.Table([result("plain", "cp", 1, floor)]))
            self.assertEqual((verdict.least, verdict.word), (floor / 10.0, word))

    def test_missed_by_the_median_only(self):
        verdict = w2r_judge.Verdict("x", 1.05, w2r_judge.Spread(1.06, 1.01, 1.2))
        self.assertIn("some rounds", verdict.word)

    def test_a_spread_that_hides_the_difference(self):
        for spread in (w2r_judge.Spread(1.04, 0.98, 1.06), w2r_judge.Spread(1.06, 1.0, 1.2)):
            verdict = w2r_judge.Verdict("x", 1.05, spread)
            self.assertEqual((verdict.outcome, verdict.reached, verdict.word),
                             ("no difference", False, "no difference"))
        unreachable = w2r_judge.Verdict("x", 0.94, w2r_judge.Spread(0.96, 0.95, 1.01), least=0.95)
        self.assertEqual((unreachable.outcome, unreachable.word), ("missed", "out of reach"))

    def test_reached_by_the_median_only(self):
        found = []
        for number, ours in ((1, 7.0), (2, 8.0), (3, 9.0)):
            found += [result("plain", "cp", number, 10.0), result("w2r", "cp", number, ours)]
        verdict, = w2r_judge.verdicts(w2r_judge.Table(found), NO_FLOOR)
        self.assertEqual((verdict.reached, verdict.word), (True, "reached (not in each round)"))
        found[0]["right"] = found[2]["right"] = False
        verdict, = w2r_judge.verdicts(w2r_judge.Table(found), NO_FLOOR)
        self.assertEqual(verdict.word, "missed (1 of 3 rounds)")

    def test_costs(self):
        line = guest.fields("device=/dev/x ns=5 ns_low=4 ns_high=6 ratio=1.310 ratio_low=1.200 ratio_high=1.400")
        found = w2r_judge.cost_verdicts({"hit": [line, line], "miss": []})
        self.assertEqual([(each.limit, each.reached) for each in found], [(1.30, False)])


class Steps(unittest.TestCase):
    def test_rounds_begin_with_another_side(self):
        todo = w2r.steps(["null_blk-5ms"], ["plain", "w2r", "dm-cache"], 2)
        self.assertEqual([step.side for step in todo], ["plain", "w2r", "dm-cache", "w2r", "dm-cache", "plain"])
        text = w2r.guest_plan(todo, ["cp"], 64, 8)
        self.assertIn("step 6 null_blk-5ms plain\n", text)
        self.assertEqual(text.count("side dm-cache dm-cache 128\n"), 1)

    def test_the_floor_comes_first(self):
        todo = w2r.steps(["null_blk-5ms"], ["plain"], 2, floor=True)
        self.assertEqual([(step.number, step.device) for step in todo],
                         [(1, "brd"), (2, "brd"), (3, "null_blk-5ms"), (4, "null_blk-5ms")])

    def test_sides_of_ones_own(self):
        self.assertEqual(w2r.side_words("w2r:policy=lru,lookahead=9"), "w2r policy lru lookahead 9")
        self.assertIsNone(w2r.side_words("w3r"))

    def test_every_program_is_checked(self):
        for program in w2r.PROGRAMS.values():
            self.assertRegex(program.command, r"\bout\b")
            self.assertRegex(program.check, r"\bout\b")


class Ending(unittest.TestCase):
    def test_a_program_that_ends_its_boot_is_wrong(self):
        todo, found = w2r.steps(["null_blk-5ms"], ["plain", "w2r"], 1), []

        def run(text, out, on_event, **how):
            for line in ("event=start step=1", "event=program step=1 program=cp", "event=program step=1 program=sort",
                         "event=end step=1", "event=start step=2", "event=program step=2 program=cp"):
                on_event(guest.fields(line))
            raise guest.GuestError("silent\n  | tail")

        boot = w2r_run.Boot(todo, ["cp", "sort"], mock.Mock(), found.append)
        with (mock.patch.object(guest, "run", run), self.assertRaises(guest.GuestError),
              mock.patch.object(w2r, "read_back_right", return_value=True),
              mock.patch.object(w2r, "program_result",
                                lambda out, step, event: result(step.side, event["program"], 1, 1.0))):
            boot.run(pathlib.Path("/nowhere"), size_mib=1, cache_mib=1)
        self.assertEqual([each["program"] for each in found if not w2r.complaint(each)], ["cp", "sort", "cp"])
        self.assertEqual((found[-1]["side"], w2r.complaint(found[-1])), ("w2r", "its boot ended: silent"))
        self.assertIn("FAILED: its boot ended", w2r_run.result_line(found[-1]))
        self.assertEqual(w2r.ended(found), 3)
        verdicts = {each.text: each.word for each in w2r_judge.verdicts(w2r_judge.Table(found), NO_FLOOR)}
        self.assertEqual(verdicts["sort: w2r against plain"], "missed (1 step failed)")


class Reading(unittest.TestCase):
    def test_what_a_program_found(self):
        with tempfile.TemporaryDirectory() as holder:
            out = pathlib.Path(holder)
            files = {
                "1.cp.begin": "blockstat 5 0 80 0 2 0 16 0\nroot_reads:7\nmisses:3\nplanner_active:none\n"
                              "cpu  10 1 20 900 50 2 3 0 0 0\nio_some_us:1000\nio_full_us:500\nmajor_faults:4\n",
                "1.cp.end": "cpu  15 2 27 990 90 3 4 0 0 0\nio_some_us:4500\nio_full_us:500\nmajor_faults:6\n"
                            "blockstat 9 0 112 0 2 0 16 0\nroot_reads:8\nmisses:8\nplanner_active:stream\n",
                "1.cp.status": "0\n", "1.cp.output": "", "1.cp.sum": "abc  -\n", "expected.cp": "abd  -\n",
            }
            for name, text in files.items():
                (out / name).write_text(text, encoding="utf-8")
            step = w2r.Step(1, 1, "null_blk-5ms", "w2r")
            found = w2r.program_result(out, step, guest.fields("program=cp begin=1.5 end=3.0"))
        self.assertEqual(found["counts"],
                         {"root_reads": 1, "user_ms": 60, "sys_ms": 90, "io_some_us": 3500, "io_full_us": 0,
                          "major_faults": 2, "dev_reads": 4, "dev_read_kib": 16, "dev_writes": 0, "dev_write_kib": 0,
                          "misses": 5})
        self.assertEqual(w2r_judge.figure(found, "io_some_ms"), 3.5)
        self.assertEqual((found["seconds"], found["state"]), (1.5, {"planner_active": "stream"}))
        self.assertIn("1 reads of the machine's own disk", w2r.complaint(found))
        found["counts"]["root_reads"] = 0
        self.assertIn("something else", w2r.complaint(found))

    def test_what_was_written_is_read_back(self):
        line = mock.Mock()
        boot = w2r_run.Boot(w2r.steps(["null_blk-5ms"], ["w2r"], 1), ["sort", "tar-x"], line, None)
        with tempfile.TemporaryDirectory() as holder:
            out = pathlib.Path(holder)
            (out / "expected.tar-x").write_text("abc  -\n", encoding="utf-8")
            for text, right in (("abc  -\n", True), ("abd  -\n", False)):
                boot.step_results = {"tar-x": {"right": True, "side": "w2r"}}
                (out / "1.written").write_text(text, encoding="utf-8")
                boot._on_event({"event": "end", "step": "1"}, out)
                self.assertEqual(boot.step_results["tar-x"]["right"], right)
        line.say.assert_called_once()


class Reporting(unittest.TestCase):
    def test_report_names_every_figure(self):
        data = {
            "about": {"date": "d", "commit": "c", "kernel": "k", "rounds": 1, "cache_mib": 32, "tree": "t",
                      "clock": "time is"},
            "costs": {}, "results": [
                result("plain", "cp", 1, 10.0), result("w2r", "cp", 1, 7.5, misses=9),
                result("dm-cache", "cp", 1, 9.0, read_hits=77, dev_write_kib=8, sys_ms=120, io_full_us=2400),
            ],
        }
        text = w2r_report.markdown(data)
        self.assertIn("cp: w2r against plain | 0.820 | 0.750 | – | reached |", text)
        self.assertIn("| cp | user ms | sys ms | I/O some ms | I/O full ms | major faults | device reads |", text)
        self.assertIn("| dm-cache | – | 120 | – | 2 | – | 10 | – | 1 | 8 | 77 |", text)
        self.assertIn("One round: what differs by chance", text)
        measured = w2r_report.tables(data)["null_blk-5ms"]
        self.assertEqual([line.split() for line in w2r_report.terminal_table(measured)][:3],
                         [["plain", "w2r", "dm-cache"], ["seconds"], ["cp", "10.0", "7.5", "9.0"]])
        self.assertEqual([line.split() for line in w2r_report.terminal_table(measured, [("not found", "misses", 0)])],
                         [["plain", "w2r", "dm-cache"], ["not", "found"], ["cp", "–", "9", "–"],
                          ["all", "–", "9", "–"]])

    def test_page_about_caches(self):
        data = {
            "about": {"commit": "c", "kernel": "k", "rounds": 1, "cache_mib": 32},
            "costs": {"hit": [{"ratio": "1", "ratio_low": "1", "ratio_high": "1"}] * 2},
            "results": [result("plain", "cp", 1, 10.0), result("w2r", "cp", 1, 5.0),
                        result("bcache", "cp", 1, 9.0) | {"right": False}],
        }
        text = summary.markdown("d", [summary.CachePart("caches", "t", "make again", data)])
        self.assertIn("Verdicts: 2 reached, 0 missed, 0 no difference. Steps that failed or read bad pages: 1.", text)
        self.assertIn("caches of 32 MiB", text)
        self.assertIn("| costs |  | a hit against dm-linear on a ramdisk | ≤ 1.300 | 1.000 | reached |", text)
        self.assertIn("| cp | w2r against plain | ≤ 0.820 | 0.500 | reached |", text)
        self.assertIn("| all | w2r 1.00; plain 2.00 |", text)


if __name__ == "__main__":
    unittest.main()
