# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the lines that the page of bench begins with: python3 -m unittest discover -s tools/bench"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from benchlib import goals, guest, judge, overall, plan, summary, w2r, w2r_judge  # noqa: E402


def verdict(metric, limit, ratios, program="c1", kind="ratio", rival=judge.STOCK):
    target = judge.Target("text", program, metric, limit, kind, rival=rival)
    return judge.Verdict(target, judge.Spread.of(ratios), rounds=len(ratios))


def pair(found, device="nvme", part="devices", text="text"):
    target = found.target
    return part, summary.Judged(plan.DEVICES[device].title, target.program, text, "≤", found.text, found, device,
                                target.metric, target.rival)


def line(judged, what):
    found, = (each for each in goals.lines(judged) if each.goal.what == what)
    return found


SCATTERED = "swap-in of scattered pages: device reads for a page"


class Choosing(unittest.TestCase):
    def test_nothing_was_run(self):
        found = goals.lines([])
        self.assertEqual({each.outcome for each in found}, {goals.NOT_RUN})
        self.assertEqual(found[0].cells(), [SCATTERED, "≤ 0.10 × stock", "–", "not run"])
        self.assertIn(f"0 reached, 0 missed, 0 no difference, {len(found)} not run.", "\n".join(goals.section(found)))
        self.assertNotIn("targets.svg", "\n".join(goals.section(found)))

    def test_the_worst_is_named(self):
        judged = [pair(verdict("reads_per_page", 0.10, [0.02])),
                  pair(verdict("reads_per_page", 0.10, [0.2, 0.25, 0.3]), "virtio", "more"),
                  pair(verdict("reads_per_page", 0.15, [0.9], "aged50")),
                  pair(verdict("reads_per_page", 0.10, [0.01]), "brd")]
        self.assertEqual(line(judged, SCATTERED).cells(), [
            SCATTERED, "≤ 0.10 × stock",
            "0.250 (0.200–0.300): virtio-blk, c1 ([more](more/report.md)), the worst of 3", "missed (2 of 3 reached)"])

    def test_one_alone(self):
        cells = line([pair(verdict("reads_per_page", 0.10, [0.02]))], SCATTERED).cells()
        self.assertEqual(cells[2:], ["0.020: QEMU NVMe, c1 ([devices](devices/report.md))", "reached"])

    def test_instructions_count_before_what_is_sampled(self):
        what = "CPU in the kernel for a page swapped"
        sampled = pair(verdict("sys_s", 1.0, [0.9, 1.1]))
        self.assertEqual(line([sampled], what).outcome, "no difference")
        self.assertEqual(line([sampled, pair(verdict("kernel_per_page", 1.0, [0.9]))], what).outcome, "reached")

    def test_devices_and_rivals_are_told_apart(self):
        judged = [pair(verdict("read_s", 0.5, [0.4], "random"), "null_blk-7us"),
                  pair(verdict("read_s", 0.5, [0.6], "random"), "nvme"),
                  pair(verdict("dev_writes", 0.31, [0.5], "three", rival="mswap-object")),
                  pair(verdict("total_s", 0.7, [0.5], "papers")),
                  pair(verdict("dev_writes", 0.35, [0.3], "three"))]
        self.assertEqual([(each.goal.target, each.outcome) for each in goals.lines(judged) if each.found],
                         [("≤ 0.35 × stock", "reached"), ("≤ 0.31 × policy=object", "missed"),
                          ("≤ 0.5 × stock", "reached")])

    def test_the_worst_of_all_is_that_of_each_part(self):
        found = verdict("total_s", 1.05, [1.2], "random", rival=judge.PEER)
        judged = [pair(found), pair(found, text=overall.WORST.text)]
        self.assertEqual(len(line(judged, "any load, any device: time").found), 1)

    def test_a_step_that_failed(self):
        failed = judge.Verdict(judge.Target("text", "c1", "reads_per_page", 0.10), None, failed=1)
        found = line([pair(failed), pair(verdict("reads_per_page", 0.10, [0.5]))], SCATTERED)
        self.assertEqual(found.cells()[2], "–: QEMU NVMe, c1 ([devices](devices/report.md)), the worst of 2")
        self.assertEqual(set(found.drawn()), {"what", "target", "outcome"})

    def test_every_target_is_judged_somewhere(self):
        """Each goal is about a target that the judges have."""
        known = [pair(judge.Verdict(target, judge.Spread(1, 1, 1)), device, text=target.text)
                 for device in plan.DEVICES for target in (*judge.targets(device), overall.WORST, overall.MEMORY)]
        result = {"device": "null_blk-5ms", "round": 1, "program": "cp", "seconds": 1.0, "status": 0, "right": True,
                  "counts": {"root_reads": 0}}
        table = w2r_judge.Table([result | {"side": side} for side in w2r.SIDES])
        cost = {"ratio": "1", "ratio_low": "1", "ratio_high": "1"}
        data = {"costs": {"hit": [cost], "miss": [cost]}, "results": table.results}
        known += [("caches", each) for each in summary.CachePart("caches", "t", "make", data).judged()]
        self.assertEqual([each.goal.what for each in goals.lines(known) if not each.found], [])


class Drawing(unittest.TestCase):
    def test_figures_over_their_targets(self):
        found = line([pair(verdict("reads_per_page", 0.10, [0.02, 0.05, 0.2]))], SCATTERED).drawn()
        self.assertEqual([round(found[name], 3) for name in ("low", "median", "high")], [0.2, 0.5, 2.0])
        found = line([pair(verdict("rate", 1.3, [0.65, 1.3, 5.2], "memcached", "least-ratio", judge.PEER))],
                     "the same: answers a second").drawn()
        self.assertEqual([found[name] for name in ("low", "median", "high")], [0.25, 1.0, 2.0])

    def test_the_plot(self):
        if subprocess.run([guest.SYSTEM_PYTHON, "-c", "import matplotlib"], capture_output=True).returncode:
            self.skipTest("no matplotlib")
        judged = [pair(verdict("reads_per_page", 0.10, [0.02, 0.05])), pair(verdict("sys_s", 1.0, [0.9, 1.1]))]
        with tempfile.TemporaryDirectory() as holder:
            out = pathlib.Path(holder)
            (out / "targets.json").write_text(json.dumps([each.drawn() for each in goals.lines(judged)]))
            self.assertTrue(guest.draw("plots-bench.py", out))
            self.assertIn("<svg", (out / "targets.svg").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
