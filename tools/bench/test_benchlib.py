# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what decides about verdicts: python3 -m unittest discover -s tools/bench"""

import ast
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from benchlib import guest, judge, overall, plan, report, results, summary, terminal  # noqa: E402


def step(side, cluster, number, program="c1", seconds=(1.0, 2.0), counts=None):
    write, read = seconds
    programs = len(plan.PROGRAMS[program].commands)
    return {
        "boot": "nvme", "device": "nvme", "program": program, "round": number, "side": side, "page_cluster": cluster,
        "seconds": {"total": write + read, "write": write, "read": read},
        "counts": {"pswpout": 100, "pswpin": 100, "dev_writes": 10, "dev_reads": 50, "dev_pages_read": 100,
                   "dev_pages_written": 100} | (counts or {}),
        "bad": 0, "statuses": [0] * programs,
        "programs": [{"verified": 9, "bad": 0, "filler": plan.PROGRAMS[program].filler} for _ in range(programs)],
    }


class Judging(unittest.TestCase):
    def test_best_stock_is_taken_phase_by_phase(self):
        table = judge.Table([
            step("stock", 0, 1, seconds=(1.0, 9.0)),
            step("stock", 5, 1, seconds=(2.0, 4.0)),
            step("mswap", 0, 1, seconds=(1.5, 1.0)),
        ])
        self.assertEqual(table.rival("write_s"), ("stock", 0))
        self.assertEqual(table.rival("read_s"), ("stock", 5))
        self.assertEqual(table.rival("dev_writes"), ("stock", 5))
        self.assertAlmostEqual(table.ratio("read_s").median, 0.25)
        self.assertAlmostEqual(table.ratio("write_s").median, 1.5)

    def test_stock_is_the_better_of_its_ways_of_reading_ahead(self):
        table = judge.Table([
            step("stock", 3, 1, seconds=(1.0, 9.0)),
            step("stock-slots", 3, 1, seconds=(2.0, 4.0), counts={"dev_reads": 5}),
            step("mswap", 3, 1, seconds=(1.0, 2.0)),
        ])
        self.assertEqual(table.rival("read_s"), ("stock-slots", 3))
        self.assertAlmostEqual(table.ratio("read_s").median, 0.5)
        self.assertAlmostEqual(table.ratio("dev_reads").median, 10)
        self.assertEqual(table.rival("write_s"), ("stock", 3))

    def test_stock_is_the_better_of_its_schedulers(self):
        table = judge.Table([
            step("stock", 3, 1, seconds=(1.0, 9.0)),
            step("stock-deadline", 3, 1, seconds=(0.8, 10.0)) | {"scheduler": "mq-deadline"},
            step("mswap", 3, 1, seconds=(1.0, 2.0)),
        ])
        self.assertEqual(table.rival("write_s"), ("stock-deadline", 3))
        self.assertAlmostEqual(table.ratio("write_s").median, 1.25)
        self.assertEqual(table.rival("read_s", judge.PEER), ("stock", 3))

    def test_reached_but_not_in_each_round(self):
        steps = [each for number, ours in ((1, 1.01), (2, 1.04), (3, 1.1))
                 for each in (step("stock", 0, number, seconds=(1.0, 1.0)),
                              step("mswap", 0, number, seconds=(ours, 0.1)))]
        found = {each.target.text: each for each in judge.verdicts("virtio", {"c1": judge.Table(steps)})}
        self.assertEqual(found["write phase"].text, "reached (not in each round)")

    def test_a_verdict_on_fewer_rounds_says_so(self):
        steps = [each for number in (1, 2, 3)
                 for each in (step("stock", 0, number, seconds=(1.0, 1.0)) | {"bad": int(number > 1)},
                              step("mswap", 0, number, seconds=(0.9, 2.0)))]
        found = {each.target.text: each for each in judge.verdicts("brd", {"c1": judge.Table(steps)})}
        self.assertEqual(found["write phase"].text, "reached (1 of 3 rounds)")
        self.assertEqual(found["read-back"].text, "missed (1 of 3 rounds)")

    def test_ratios_are_taken_round_by_round(self):
        table = judge.Table([
            step("stock", 0, 1, seconds=(1.0, 10.0)), step("mswap", 0, 1, seconds=(1.0, 5.0)),
            step("stock", 0, 2, seconds=(1.0, 20.0)), step("mswap", 0, 2, seconds=(1.0, 24.0)),
            step("stock", 0, 3, seconds=(1.0, 30.0)), step("mswap", 0, 3, seconds=(1.0, 27.0)),
        ])
        spread = table.ratio("read_s")
        self.assertAlmostEqual(spread.low, 0.5)
        self.assertAlmostEqual(spread.median, 0.9)
        self.assertAlmostEqual(spread.high, 1.2)
        self.assertTrue(spread.around_one)

    def test_verdicts(self):
        steps = [
            step("stock", 0, 1, seconds=(1.0, 10.0)),
            step("mswap", 0, 1, seconds=(1.2, 2.6), counts={"dev_reads": 5}),
            step("floor", 3, 1, seconds=(1.0, 2.5)),
        ]
        found = {each.target.text: each for each in judge.verdicts("nvme", {"c1": judge.Table(steps)})}
        self.assertEqual(found["read-back"].text, "reached")
        self.assertEqual(found["read-back against stock on a ramdisk"].text, "reached, aim too")
        self.assertEqual(found["pages per device read"].text, "reached")
        self.assertEqual(found["write phase"].text, "missed")
        self.assertEqual(found["pages swapped out"].text, "reached")

    def test_all_of_memory_and_half_as_much_again(self):
        for name in ("seq", "rand"):
            table = judge.Table([step("stock", 3, 1, name, (1.0, 9.0)), step("stock-slots", 3, 1, name, (2.0, 4.0)),
                                 step("mswap", 3, 1, name, (1.1, 2.0))])
            found = {each.target.text: each for each in judge.verdicts("null_blk-7us", {name: table})}
            self.assertEqual({text: each.text for text, each in found.items()},
                             {"read-back": "reached", "write phase": "missed"})
            self.assertEqual(judge.verdicts("null_blk-100us", {name: table}), [])

    def test_a_spread_that_hides_the_difference(self):
        for low, median, high, limit, word in (
            (0.96, 1.04, 1.1, 1.05, "no difference"),
            (0.96, 1.06, 1.1, 1.05, "no difference"),
            (0.9, 0.96, 1.01, 0.94, "no difference"),
            (0.96, 1.02, 1.04, 1.05, "reached"),
            (0.96, 0.99, 1.0, 1.0, "reached"),
            (1.01, 1.04, 1.1, 1.05, "reached (not in each round)"),
            (1.01, 1.06, 1.1, 1.05, "missed (some rounds reach it)"),
            (0.96, 1.0, 1.01, 0.7, "missed (no difference: the spread is around 1)"),
            (1.06, 1.07, 1.1, 1.05, "missed"),
        ):
            self.assertEqual(judge.outcome_text(judge.Spread(median, low, high), limit), word)
            turned = judge.Spread(1 / median, 1 / high, 1 / low)
            self.assertEqual(judge.outcome_text(turned, 1 / limit, at_least=True), word)
        self.assertEqual(judge.outcome_text(judge.Spread(1.0, 0.5, 2.0), 1.5, of_ratios=False),
                         "reached (not in each round)")

    def test_verdicts_are_counted(self):
        self.assertEqual(judge.tally(["reached", "no difference", "reached"]), "2 reached, 0 missed, 1 no difference")

    def test_neither_reached_nor_missed(self):
        steps = [each for number, ours in ((1, 0.9), (2, 1.2), (3, 1.1))
                 for each in (step("stock", 0, number, seconds=(1.0, 1.0)),
                              step("mswap", 0, number, seconds=(ours, 0.1)))]
        found = {each.target.text: each for each in judge.verdicts("virtio", {"c1": judge.Table(steps)})}
        self.assertEqual((found["write phase"].outcome, found["write phase"].text), ("no difference",) * 2)

    def test_a_peer_keeps_its_data_on_the_device(self):
        table = judge.Table([
            step("stock", 0, 1, "papers", seconds=(1.0, 9.0)),
            step("zswap-lz4", 3, 1, "papers", seconds=(1.0, 7.0)),
            step("zram-lz4", 0, 1, "papers", seconds=(1.0, 1.0)),
            step("mswap-object", 0, 1, "papers", seconds=(1.0, 2.0)),
            step("mswap", 0, 1, "papers", seconds=(1.0, 3.0)),
        ])
        self.assertEqual(table.best(judge.PEER, "total_s"), ("zswap-lz4", 3))
        found = {each.target.text: each for each in judge.verdicts("null_blk-100us", {"papers": table})}
        self.assertAlmostEqual(found["total time against the best peer"].spread.median, 0.5)

    def test_ratios_that_must_be_large(self):
        few, many = {"dev_writes": 100}, {"dev_writes": 50}
        for ours, reached in ((many, True), (few, False)):
            table = judge.Table([step("stock", 0, 1, "aged80", counts=few), step("mswap", 0, 1, "aged80", counts=ours)])
            found = {each.target.text: each for each in judge.verdicts("nvme", {"aged80": table})}
            self.assertEqual(found["pages per device write"].reached, reached)

    def test_latency_and_rate_against_the_best_peer(self):
        found = []
        for side, seconds, p99, rate in (("stock", 9.0, 500.0, 100.0), ("zswap-lz4", 8.0, 900.0, 120.0),
                                         ("mswap", 6.0, 250.0, 150.0)):
            found.append(step(side, 3, 1, "memcached", (0.0, seconds)) | {"figures": {"p99_us": p99, "rate": rate}})
        table = judge.Table(found)
        self.assertEqual(table.rival("p99_us", judge.PEER), ("stock", 3))
        verdicts = {each.target.metric: each for each in judge.verdicts("nvme", {"memcached": table})}
        self.assertAlmostEqual(verdicts["p99_us"].spread.median, 0.5)
        self.assertAlmostEqual(verdicts["rate"].spread.median, 1.25)
        self.assertEqual((verdicts["p99_us"].reached, verdicts["rate"].reached), (True, False))

    def test_what_failed_does_not_count(self):
        for wrong in ({"statuses": [137]}, {"bad": 1}):
            found = [step("stock", 0, 1, seconds=(1.0, 10.0)), step("mswap", 0, 1, seconds=(1.0, 2.0)) | wrong]
            self.assertIsNone(judge.Table(found).ratio("read_s"))
            found.append(step("mswap", 0, 2, seconds=(1.0, 30.0)))
            found.append(step("stock", 0, 2, seconds=(1.0, 10.0)))
            self.assertEqual(judge.Table(found).ratio("read_s"), judge.Spread(3.0, 3.0, 3.0))

    def test_a_side_of_which_steps_failed_misses_its_targets(self):
        for failing, word in ((3, "missed (3 steps failed)"), (1, "missed (1 step failed)")):
            found = []
            for number in (1, 2, 3):
                found.append(step("stock", 0, number, seconds=(1.0, 10.0)))
                found.append(step("mswap", 0, number, seconds=(1.0, 2.0)) | {"bad": int(number <= failing)})
            verdicts = judge.verdicts("nvme", {"c1": judge.Table(found)})
            self.assertEqual({each.target.text for each in verdicts},
                             {"read-back", "write phase", "pages per device read", "pages swapped out",
                              "device reads for a page"})
            self.assertEqual({(each.reached, each.text) for each in verdicts}, {(False, word)})

    def test_a_side_that_ended_its_boot_misses_its_targets(self):
        found = [step("stock", 3, 1, "papers", (1.0, 9.0)), step("mswap", 3, 1, "papers", (1.0, 1.0)),
                 step("stock", 3, 2, "papers", (1.0, 9.0)),
                 results.cut_short(plan.Step(4, 2, "null_blk-100us", "mswap", 3, "papers"))]
        verdict, = judge.verdicts("null_blk-100us", {"papers": judge.Table(found)})
        self.assertEqual(verdict.text, "missed (1 step failed)")

    def test_what_was_not_compared_is_not_missed(self):
        found = [step("stock", 0, 1, "three"), step("mswap", 0, 1, "three") | {"bad": 1}]
        texts = {each.target.text for each in judge.verdicts("brd", {"three": judge.Table(found)})}
        self.assertEqual(texts, {"pages swapped out", "total time"})

    def test_a_rival_that_failed_misses_nothing(self):
        found = [step("stock", 0, 1) | {"bad": 1}, step("stock", 3, 1), step("mswap", 0, 1)]
        self.assertFalse(any(each.failed for each in judge.verdicts("nvme", {"c1": judge.Table(found)})))

    def test_report_of_failed_steps(self):
        data = {
            "about": {"date": "d", "commit": "c", "kernel": "k", "rounds": 1, "limit_mib": 192, "knobs": ""},
            "boots": [{"device": "nvme", "text": "about"}],
            "steps": [step("stock", 0, 1, seconds=(1.0, 10.0)), step("mswap", 0, 1) | {"bad": 1}],
        }
        self.assertIn("| c1 | read-back | ≤ 0.27 × | – | missed (1 step failed) |", report.markdown(data))

    def test_scattered_pages_are_read_by_many(self):
        for reads, reached in ((5, True), (6, False)):
            table = judge.Table([step("stock", 3, 1), step("mswap", 3, 1, counts={"dev_reads": reads})])
            found = {each.target.text: each for each in judge.verdicts("nvme", {"c1": table})}
            self.assertEqual(found["device reads for a page"].reached, reached)

    def test_unknown_figures_give_no_verdict(self):
        steps = [step("stock", 0, 1, "three", counts={"dev_reads": None, "dev_writes": None}),
                 step("mswap", 0, 1, "three")]
        texts = {each.target.text for each in judge.verdicts("nvme", {"three": judge.Table(steps)})}
        self.assertEqual(texts, {"pages swapped out", "total time"})

    def test_report_names_every_figure(self):
        data = {
            "about": {"date": "d", "commit": "c", "kernel": "k", "rounds": 1, "limit_mib": 192, "knobs": ""},
            "boots": [{"device": "nvme", "text": "about"}],
            "steps": [step("stock", 0, 1, seconds=(1.0, 10.0)), step("mswap", 0, 1, seconds=(1.0, 2.0))],
        }
        text = report.markdown(data)
        self.assertIn("| c1 | read-back | ≤ 0.27 × | 0.200 | reached |", text)
        self.assertIn("| stock, page-cluster 0 | 1.00 | 10.00 |", text)
        self.assertNotIn("p99", text)
        data["steps"][0]["figures"] = {"p99_us": 321.4}
        self.assertRegex(report.markdown(data), r"\| bad \| p99 µs \|\n.*\n\| stock, .* 0 \| 321 \|\n")

    def test_report_of_the_faults_of_each_program(self):
        data = {
            "about": {"date": "d", "commit": "c", "kernel": "k", "rounds": 1, "limit_mib": 192, "knobs": ""},
            "boots": [{"device": "nvme", "text": "about"}],
            "steps": [step("stock", 0, 1, "three")],
        }
        self.assertNotIn("of 1", report.markdown(data).partition("## QEMU")[2])
        for program, faults in zip(data["steps"][0]["programs"], (31, 41, 59), strict=True):
            program["major_faults"] = faults
        text = report.markdown(data)
        self.assertRegex(text, r"\| bad \| major faults of 1 \| of 2 \| of 3 \|\n.*\n.*\| 31 \| 41 \| 59 \|\n")

    def test_histograms_are_of_one_side_and_of_good_steps(self):
        steps = [step("mswap", 3, 1) | {"cluster_hist": {"1": 2, "16": 5}},
                 step("mswap", 3, 2) | {"cluster_hist": {"16": 1}},
                 step("mswap", 3, 3) | {"cluster_hist": {"16": 90}, "statuses": [1]},
                 step("mswap-object", 3, 1) | {"cluster_hist": {"4": 7}},
                 step("stock", 3, 1)]
        self.assertEqual(report.histograms({"steps": steps}), {("nvme", "c1", "mswap"): {1: 2, 16: 6},
                                                               ("nvme", "c1", "mswap-object"): {4: 7}})

    def test_page_about_parts(self):
        data = {
            "about": {"commit": "c", "kernel": "k", "rounds": 1, "limit_mib": 192},
            "boots": [{"device": "nvme", "text": "about"}],
            "steps": [step("stock", 0, 1, seconds=(1.0, 10.0)), step("mswap", 0, 1, seconds=(1.0, 2.0)),
                      step("zswap-lz4", 3, 1, seconds=(1.0, 2.0)) | {"bad": 1}],
        }
        text = summary.markdown("d", [summary.Part("devices", "t", "make again", data)])
        self.assertIn("Steps that failed or read bad pages: 1.", text)
        self.assertIn("cgroup of 192 MiB, and what mswap takes beside it; all figures and plots: [devices]"
                      "(devices/report.md). Again: `make again`\n\nOne round: ", text)
        self.assertIn("| QEMU NVMe | c1 | read-back | ≤ 0.27 | 0.200 | reached |", text)
        self.assertIn("mswap, page-cluster 0 1.00; stock, page-cluster 0 3.67 |", text)

    def test_sides_between_which_no_difference_is_seen(self):
        steps = [step(side, 3, number, seconds=(0.0, seconds)) for number in (1, 2) for side, seconds in
                 (("mswap", 10.0), ("stock", 10.0 + number), ("zswap-lz4", 9.0 + number),
                  ("linear", 12.0 - 3 * number))]
        data = {"about": {"commit": "c", "kernel": "k", "rounds": 2, "limit_mib": 192},
                "boots": [{"device": "nvme", "text": "about"}], "steps": steps}
        self.assertIn("dm-linear over the device, page-cluster 3 0.75; mswap, page-cluster 3 1.00; "
                      "zswap (lz4) over the device, page-cluster 3 1.05 (no difference); stock, page-cluster 3 1.15 |",
                      summary.markdown("d", [summary.Part("p", "t", "make", data)]))


class Overall(unittest.TestCase):
    @staticmethod
    def tables(**ours):
        """One of each program, where a peer takes 10 s."""
        return {program: judge.Table([step("stock", 3, 1, program, (1.0, 19.0)),
                                      step("zswap-lz4", 3, 1, program, (1.0, 9.0)),
                                      step("mswap", 3, 1, program, (1.0, seconds - 1))])
                for program, seconds in ours.items()}

    def judged(self, tables):
        return [(device, each.target.program, each.text) for device, each in overall.verdicts(tables)]

    def test_the_worst_of_all_is_named(self):
        tables = {"nvme": self.tables(c1=8, sor=10.5), "brd": self.tables(c1=10.4, lu=10.3)}
        self.assertEqual(self.judged(tables), [("nvme", "sor", "reached")])
        self.assertEqual(self.judged(tables | {"virtio": self.tables(amr=10.6)}), [("virtio", "amr", "missed")])

    def test_what_is_missed_is_worse_than_what_cannot_be_told(self):
        noisy = [each for number, seconds in ((1, 9.0), (2, 12.0), (3, 14.0))
                 for each in (step("stock", 3, number, "lu", (0.0, 10.0)),
                              step("mswap", 3, number, "lu", (0.0, seconds)))]
        tables = {"nvme": self.tables(c1=10.6), "brd": {"lu": judge.Table(noisy)}}
        self.assertEqual(self.judged(tables), [("nvme", "c1", "missed")])

    def test_what_failed_is_worst(self):
        tables = {"nvme": self.tables(c1=20), "brd": self.tables(lu=8)}
        tables["brd"]["lu"].steps[2]["bad"] = 1
        self.assertEqual(self.judged(tables), [("brd", "lu", "missed (1 step failed)")])

    def test_nothing_to_compare_with(self):
        self.assertEqual(overall.verdicts({"nvme": {"c1": judge.Table([step("mswap", 3, 1)])}}), [])

    def test_memory_a_slot(self):
        known = {"footprint_bytes": 440, "slots_total": 100, "waiting_pages": 64, "waiting_bytes": 64 * 4096}
        for more, word in (({}, "reached"), ({"waiting_bytes": 64 * 4096 + 11}, "missed"),
                           ({"footprint_bytes": 451}, "missed")):
            tables = {"nvme": {"c1": judge.Table([step("mswap", 3, 1) | {"mswap": known | more}])},
                      "brd": {"c1": judge.Table([step("mswap", 3, 1) | {"mswap": known | {"footprint_bytes": 1}}])}}
            self.assertEqual(self.judged(tables), [("nvme", "c1", word)])

    def test_a_report_begins_with_them(self):
        own = {"footprint_bytes": 440, "slots_total": 100, "waiting_pages": 64, "waiting_bytes": 64 * 4096}
        data = {
            "about": {"date": "d", "commit": "c", "kernel": "k", "rounds": 1, "limit_mib": 192, "knobs": ""},
            "boots": [{"device": "nvme", "text": "about"}],
            "steps": [step("stock", 3, 1, seconds=(1.0, 9.0)),
                      step("mswap", 3, 1, seconds=(1.0, 11.0)) | {"mswap": own}],
        }
        text = report.markdown(data)
        for line in ("worst of all: total time against the best peer | ≤ 1.05 × | 1.200 | missed",
                     "bytes a slot that mswap takes, beside what knobs say | ≤ 4.5 | 4.4 | reached"):
            self.assertIn(f"| QEMU NVMe | c1 | {line} |\n", text[:text.index("## QEMU NVMe")])
        judged = list(summary.Part("p", "t", "make", data).judged())
        self.assertEqual([each.limit for each in judged[-2:]], ["≤ 1.05", "≤ 4.5"])


class Steps(unittest.TestCase):
    def test_sides_alternate_and_rounds_start_elsewhere(self):
        pairs = plan.variants(["stock", "mswap"], [0, 3], [0])
        self.assertEqual(pairs, [("stock", 0), ("mswap", 0), ("stock", 3)])
        steps = plan.steps(plan.DEVICES["nvme"], ["c1", "c4"], 2, pairs)
        order = [(each.program, each.variant) for each in steps if each.round == 2]
        self.assertEqual(order, [("c1", "mswap-0"), ("c1", "stock-3"), ("c1", "stock-0"), ("c1", "floor-3"),
                                 ("c4", "mswap-0"), ("c4", "stock-3"), ("c4", "stock-0")])
        self.assertEqual([each.number for each in steps], list(range(1, 15)))

    def test_each_way_of_reading_ahead_with_each_page_cluster(self):
        pairs = plan.variants(["stock", "stock-slots", "mswap"], [0, 5], [3])
        self.assertEqual(pairs, [("stock", 0), ("mswap", 3), ("stock", 5), ("stock-slots", 0), ("stock-slots", 5)])

    def test_a_scheduler_needs_a_queue(self):
        pairs = plan.variants(["stock", "stock-deadline", "mswap"], [0, 5], [3])
        self.assertEqual(pairs, [("stock", 0), ("mswap", 3), ("stock", 5),
                                 ("stock-deadline", 0), ("stock-deadline", 5)])
        for kind, sides in (("brd", {"stock", "mswap"}), ("nvme", {"stock", "stock-deadline", "mswap"})):
            steps = plan.steps(plan.DEVICES[kind], ["c4"], 1, pairs)
            self.assertEqual({each.side for each in steps}, sides)
        self.assertEqual(plan.left_out(plan.DEVICES["brd"], ["stock", "stock-deadline"]), ["stock-deadline"])

    def test_peers_have_their_own_page_cluster(self):
        pairs = plan.variants(["zram-lz4", "stock", "zswap-zstd", "mswap-page"], [0, 5], [2])
        self.assertEqual(pairs, [("stock", 0), ("mswap-page", 2), ("zswap-zstd", 3), ("zram-lz4", 0), ("stock", 5)])

    def test_frontswap_comes_after_mswap(self):
        pairs = plan.variants(["stock", "mswap", "frontswap"], [0], [0])
        self.assertEqual(pairs, [("stock", 0), ("mswap", 0), ("frontswap", 0)])
        steps = plan.steps(plan.DEVICES["nvme"], ["c1"], 1, pairs)
        text = plan.guest_plan(["nvme", "brd"], 64, 24, [], steps)
        self.assertIn("step 3 nvme frontswap 0 c1\nstep 4 brd stock 3 c1\n", text)


    def test_all_of_memory_and_half_as_much_again(self):
        for name in ("seq", "rand"):
            program = plan.PROGRAMS[name]
            words = program.commands[0].split()
            self.assertTrue(program.phased)
            self.assertEqual(words[:5], ["pagestride", "-c", "1", "-k", "0"])
            self.assertEqual(int(words[words.index("-s") + 1]), program.memory_mib * 3 // 2)

    def test_what_a_program_needs_is_in_the_plan(self):
        one = plan.Program("p", "title", ("run-p 1", "run-p 2"), memory_mib=64, outside=True, archives=("a", "b"))
        text = plan.guest_plan(["brd"], 64, 24, [one], [])
        self.assertTrue(text.endswith("limit 25165824\nhugepages never\nprogram p run-p 1\nprogram p run-p 2\n"
                                      "memory p 67108864\noutside p\nroot p a.tar\nroot p b.tar\n"))


class Reading(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name)

    def write(self, name, text):
        (self.out / name).write_text(text, encoding="utf-8")

    def result(self, stats, side="mswap"):
        for name, stat in zip(("begin", "middle", "end"), stats, strict=True):
            self.write(f"1.{name}", stat)
        self.write("1.out.1", "phase=write round=0 secs=1.5 pages=9\nphase=read round=1 secs=2.5 pages=9 bad=3\n"
                              "verified 9 pages, 3 bad\n")
        self.write("1.status.1", "1\n")
        self.write("1.faults.1", "7\n")
        one = plan.Step(1, 1, "nvme", side, 0, "c1")
        self.write("1.mswap.begin", "pages_out:3\npages_in:1\nwindow:7\ncluster_hist:1 4\ncluster_hist:2 3\n")
        self.write("1.mswap", "pages_out:12\npages_in:5\nwindow:6\npolicy:moc\ncluster_hist:1 8\ncluster_hist:2 3\n"
                              "cluster_hist:32 2\n")
        return results.step_result(self.out, one, guest.fields("event=end step=1 begin=10.5 end=15.0"), True)

    def test_deltas_of_counters(self):
        found = self.result([
            "pswpin 5\npswpout 7\nblockstat 10 0 80 0 20 0 800 0\n",
            "pswpin 6\npswpout 17\nblockstat 11 0 88 0 22 0 880 0\n",
            "pswpin 25\npswpout 27\nblockstat 15 0 240 0 24 0 960 0\n",
        ])
        self.assertEqual(found["counts"]["pswpout"], 20)
        self.assertEqual(found["counts"]["dev_pages_written"], 20)
        self.assertEqual(found["read_counts"]["dev_reads"], 4)
        self.assertAlmostEqual(judge.metric(found, "pages_per_read"), 4.75)
        self.assertAlmostEqual(judge.metric(found, "reads_per_page"), 4 / 19)
        self.assertIsNone(results.per_io({"dev_reads": None, "pswpin": 5}, "dev_reads", "pswpin"))
        self.assertIsNone(results.per_io({"dev_reads": 5, "pswpin": 0}, "dev_reads", "pswpin"))
        self.assertEqual(found["seconds"], {"total": 4.5, "write": 1.5, "read": 2.5})
        self.assertEqual((found["bad"], found["statuses"]), (3, [1]))
        self.assertEqual(found["cluster_hist"], {"1": 4, "32": 2})
        self.assertEqual(found["mswap"], {"pages_out": 9, "pages_in": 4, "window": 6, "policy": "moc"})

    def test_time_in_the_kernel_and_stalls(self):
        end = "pswpin 5\npswpout 7\nblockstat 1 0 8 0 1 0 8 0\n"
        found = self.result([end + "cpustat 10 0 100 9 9 50 50 0 0 0\nmemstall 0\n", end,
                             end + "cpustat 90 0 300 9 9 60 90 0 0 0\nmemstall 1250000\n"])
        self.assertEqual((found["seconds"]["sys"], found["seconds"]["user"]), (2.5, 0.8))
        self.assertEqual(judge.metric(found, "stall_s"), 1.25)

    def test_what_was_merged_and_major_faults(self):
        text = "pswpin 5\npswpout 7\nblockstat 1 {} 8 0 1 {} 8 0\nmemfaults {}\n"
        found = self.result([text.format(1, 2, 3), text.format(4, 6, 8), text.format(9, 12, 33)])
        for name, whole, reading in (("dev_reads_merged", 8, 5), ("dev_writes_merged", 10, 6),
                                     ("major_faults", 30, 25)):
            self.assertEqual((judge.metric(found, name), found["read_counts"][name]), (whole, reading), name)
        self.assertEqual(judge.metric(found, "major_faults_of_1"), 7)
        self.assertIsNone(judge.metric(found, "major_faults_of_2"))
        found = self.result([text.format(0, 0, 1).replace(" 1", " 0")] * 2
                            + ["pswpin 9\npswpout 9\nblockstat 0 0 8 0 0 0 8 0\nmemfaults 4\n"])
        self.assertIsNone(judge.metric(found, "dev_reads_merged"))
        self.assertEqual(judge.metric(found, "major_faults"), 4)

    def test_figures(self):
        self.write("1.faults.2", "8\n")
        self.write("1.out.2", "begin\nfigures rate=12.5 p99_us=3 lost=\nfigures more=1\nverified 7 objects, 2 bad\n")
        found = self.result(["pswpin 5\npswpout 7\nblockstat 1 0 8 0 1 0 8 0\n"] * 3)
        self.assertEqual(found["figures"], {"rate": 12.5, "p99_us": 3.0, "more": 1.0})
        self.assertEqual((judge.metric(found, "p99_us"), found["bad"]), (3.0, 5))

    def test_what_frontswap_took_counts_as_swapped(self):
        found = self.result(["pswpin 5\npswpout 7\nblockstat 1 0 8 0 1 0 8 0\n"] * 3, side="frontswap")
        self.assertEqual((found["counts"]["pswpout"], found["counts"]["pswpin"]), (9, 4))
        self.assertNotIn("read_counts", found)

    def test_what_zswap_took_is_counted_apart(self):
        text = "pswpin 0\npswpout 0\nzswpin {}\nzswpout {}\nblockstat 1 0 8 0 1 0 8 0\n"
        found = self.result([text.format(1, 2), text.format(1, 8), text.format(5, 9)], side="zswap-lz4")
        self.assertEqual((found["counts"]["zswpin"], found["counts"]["zswpout"]), (4, 7))

    def test_device_without_statistics_is_unknown(self):
        found = self.result(["pswpin 5\npswpout 7\nblockstat 0 0 0 0 0 0 0 0\n"] * 2
                            + ["pswpin 9\npswpout 9\nblockstat 0 0 0 0 0 0 0 0\n"])
        self.assertIsNone(found["counts"]["dev_writes"])
        self.assertIsNone(judge.metric(found, "pages_per_write"))

    def test_counted_bios(self):
        bio = "bio    1048576, rwbs: {}      }} hitcount: {}  nr_sector: {}\n"
        found = self.result(["pswpin 0\npswpout 0\n"] * 2
                            + ["pswpin 3\npswpout 9\n" + bio.format("RS", 3, 24) + bio.format("W", 2, 72)])
        self.assertEqual((found["counts"]["dev_reads"], found["counts"]["dev_pages_written"]), (3, 9))


class Failing(unittest.TestCase):
    def test_a_step_that_went_well(self):
        for program in plan.PROGRAMS:
            self.assertEqual(results.complaint(step("mswap", 3, 1, program)), "")

    def test_programs_that_did_not_do_their_work(self):
        idle = {"verified": 0, "bad": 0}
        for program, wrong, why in (
            ("c1", {"statuses": []}, "0 of 1 programs ended"),
            ("three", {"statuses": [0, 0]}, "2 of 3 programs ended"),
            ("three", {"statuses": [0, 137, 0]}, "ended with status 0 137 0"),
            ("c1", {"bad": 2}, "2 bad"),
            ("c1", {"root_reads": 3}, "3 reads of the machine's own disk are in its time"),
            ("c1", {"programs": [idle]}, "a program verified nothing"),
            ("papers", {"programs": [{"verified": 9, "bad": 0}, idle, idle]}, "a program verified nothing"),
        ):
            self.assertEqual(results.complaint(step("stock", 3, 1, program) | wrong), why)

    def test_all_sides_have_the_same_pages_beside(self):
        for side, pages, why in (("stock", 497990, ""), ("mswap", 497990, ""),
                                 ("mswap", 489725, "swap held 489725 pages beside, not 497990")):
            output = f"begin aged pages={pages}\nverified 9 pages, 0 bad\n"
            found = step(side, 3, 1, "aged95") | {"programs": [results.program_output(output)]}
            self.assertEqual(results.complaint(found), why)

    def test_nothing_was_swapped(self):
        for name, way in (("pswpin", "in"), ("pswpout", "out")):
            found = step("stock", 3, 1, counts={name: 0})
            self.assertEqual(results.complaint(found), f"swapped nothing {way}")
            found["counts"][f"zswp{way}"] = 5
            self.assertEqual(results.complaint(found), "")

    def test_a_device_that_did_not_have_the_scheduler(self):
        for found, why in (({"scheduler": "mq-deadline"}, ""),
                           ({"scheduler": "none"}, "the device's I/O scheduler was none, not mq-deadline"),
                           ({}, "the device's I/O scheduler was unknown, not mq-deadline")):
            self.assertEqual(results.complaint(step("stock-deadline", 3, 1) | found), why)
            self.assertEqual(results.complaint(step("stock", 3, 1) | found), "")

    def test_errors_that_mswap_counted(self):
        for name in ("read_errors", "write_errors", "nospace"):
            found = step("mswap", 3, 1) | {"mswap": {"read_errors": 0, "write_errors": 0, "nospace": 0} | {name: 4}}
            self.assertEqual(results.complaint(found), f"mswap: 4 {name}")

    def test_what_frontswap_refused(self):
        for refused, why in ((2, ""), (3, "mswap: 3 stores_refused, of 2999 pages_out")):
            found = step("frontswap", 0, 1) | {"mswap": {"pages_out": 2999, "stores_refused": refused}}
            self.assertEqual(results.complaint(found), why)

    def test_zram_that_never_wrote_to_the_device(self):
        for writes in (0, None):
            found = step("zramwb-lz4", 0, 1, counts={"dev_writes": writes})
            self.assertEqual(results.complaint(found), "nothing was written to the device")
            self.assertEqual(results.complaint(found | {"side": "zram-lz4"}), "")
        self.assertEqual(results.complaint(found | {"device": "brd"}), "")


class Drawing(unittest.TestCase):
    def test_all_sides_have_colours(self):
        text = (pathlib.Path(__file__).resolve().parent / "plots.py").read_text(encoding="utf-8")
        colours = ast.literal_eval(re.search(r"^COLOURS = (\{.*?^\})$", text, re.M | re.S)[1])
        self.assertEqual(set(colours), {*plan.SIDES, "floor"})

    def test_histogram_covers_everything_once(self):
        lines = terminal.histogram({1: 1, 2: 1, 5: 1, 32: 5}, (1, 4, 31, 32), 8)
        self.assertEqual([int(line.split()[-1]) for line in lines], [1, 1, 1, 5])
        self.assertIn("█████ ", lines[3])

    def test_histogram_of_nothing(self):
        self.assertEqual([line.split() for line in terminal.histogram({}, (1, 2), 8)],
                         [["1", "0.0%", "0"], ["2", "0.0%", "0"]])

    def test_table_lines_up(self):
        self.assertEqual(terminal.table([["a", "10"], ["bcd", "2"]]), ["a    10", "bcd   2"])


if __name__ == "__main__":
    unittest.main()
