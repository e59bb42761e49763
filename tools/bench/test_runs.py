# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what becomes of runs that do not go well: python3 -m unittest discover -s tools/bench"""

import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from benchlib import beside, files, guest, plan, progress, report, summary, w2r_report  # noqa: E402
from standins import ABOUT, InDirectory, WithTools, load  # noqa: E402

OOPS = "[    9.1] BUG: unable to handle page fault for address: 0\n"
# Stands for bench-swap: takes a second to keep what it found, and says so.
TOOL = """\
#!{python}
import json, os, pathlib, sys, time
sys.path.insert(0, {here!r})
from benchlib import guest
out = pathlib.Path(os.environ["RESULTS"])
out.mkdir(parents=True)
guest.interrupted_by_sigterm()
try:
    (out / "begun").touch()
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(1)
    data = {{"about": {{"rounds": 1, "kernel": "k", "commit": "c", "limit_mib": 192}}, "planned": {{"nvme": 7}},
            "boots": [], "steps": []}}
    (out / "results.json").write_text(json.dumps(data))
    sys.exit(130)
"""
BENCH = """\
import importlib.machinery, importlib.util, pathlib, sys
sys.path.insert(0, {here!r})
from benchlib import guest
guest.BENCH = guest.CHECKOUT = pathlib.Path({root!r})
guest.need_root = lambda: None
loader = importlib.machinery.SourceFileLoader("bench", {bench!r})
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
sys.modules["bench"] = bench
loader.exec_module(bench)
sys.exit(bench.main())
"""
# Stands for demo-w2r: ends when it is told to.
OTHER = """\
#!/bin/sh
echo a table
echo '1 s · booted, making the devices · about 7 min left' >&2
[ ! -e {begun}.long ] || exec sleep 600
until [ -e {begun} ]; do sleep 0.05; done
echo 'other: no such kernel' >&2
exit 3
"""
# Stands for the lab: says what a VM would in the files it is told, then waits to be interrupted.
LAB = """\
#!{python}
import sys, time
word = lambda option: sys.argv[sys.argv.index(option) + 1]
open(word("--console"), "w").write({console!r})
with open(word("--out") + "/events", "w") as events:
    events.write({events!r})
try:
    time.sleep({seconds})
except KeyboardInterrupt:
    sys.exit(130)
"""


def executable(path, text):
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def wait_for(condition):
    end = time.monotonic() + 120
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


class Interrupting(InDirectory):
    def begun(self):
        """bench, while its first part is being measured, in a group of processes of its own."""
        executable(self.out / "bench-swap", TOOL.format(python=sys.executable, here=str(HERE)))
        text = BENCH.format(here=str(HERE), root=str(self.out), bench=str(HERE / "bench"))
        process = subprocess.Popen([sys.executable, "-B", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=os.environ | {"QUICK": "1"}, start_new_session=True)
        self.addCleanup(self.end, process)
        wait_for(lambda: list(self.out.glob("bench/results/*/together/begun")))
        return process

    @staticmethod
    def end(process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def check(self, process):
        said, complaints = process.communicate(timeout=120)
        self.assertEqual((process.returncode, complaints), (130, ""))
        page, = self.out.glob("bench/results/*/report.md")
        self.assertIn(f"report: {page}", said)
        self.assertIn("ended with status 130; 0 of 7 steps measured", page.read_text(encoding="utf-8"))

    def test_sigterm_reaches_the_part(self):
        process = self.begun()
        process.send_signal(signal.SIGTERM)
        self.check(process)

    def test_a_terminal_interrupts_both(self):
        process = self.begun()
        os.killpg(process.pid, signal.SIGINT)
        self.check(process)

    def test_a_part_does_not_outlive_bench(self):
        process = self.begun()
        process.kill()
        wait_for(lambda: list(self.out.glob("bench/results/*/together/results.json")))
        self.assertTrue(list(self.out.glob("bench/results/*/together/results.json")))

    def test_results_are_whole_or_the_old_ones(self):
        path = self.out / "new" / "results.json"
        files.replace(path, "old")
        with mock.patch("os.replace", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            files.replace(path, "new")
        self.assertEqual(path.read_text(), "old")
        files.replace(path, "new")
        self.assertEqual([(each.name, each.read_text()) for each in path.parent.iterdir()], [("results.json", "new")])


class RunningBeside(InDirectory):
    def setUp(self):
        super().setUp()
        executable(self.out / "other", OTHER.format(begun=self.out / "go"))
        self.stream = io.StringIO()
        self.line = progress.Line(self.stream)

    def test_what_it_does_and_prints_and_why_it_fails(self):
        said, complaints = io.StringIO(), io.StringIO()
        with beside.Beside(self.out / "other", self.out, self.line) as other:
            wait_for(lambda: "booted" in other.doing())
            self.line.set("1/8 stress-ng")
            (self.out / "go").touch()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaints):
                status = other.end()
        self.assertRegex(self.stream.getvalue(),
                         r"\b\d+ s · 1/8 stress-ng · other: booted, making the devices · about 7 min left\n")
        self.assertEqual((status, said.getvalue(), complaints.getvalue()), (3, "a table\n", "other: no such kernel\n"))

    def test_only_its_own_times_are_shown_when_it_is_waited_for(self):
        self.line.tty = True
        go = threading.Timer(2, (self.out / "go").touch)
        with beside.Beside(self.out / "other", self.out, self.line) as other:
            wait_for(lambda: "booted" in other.doing())
            go.start()
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                other.end()
        self.assertRegex(self.stream.getvalue(), r"[1-9]\d* s · other: booted, making the devices · about 7 min left\r")
        self.assertNotIn("left (", self.stream.getvalue())

    def test_it_does_not_outlive_who_began_it(self):
        (self.out / "go.long").touch()
        with self.assertRaises(guest.GuestError), beside.Beside(self.out / "other", self.out, self.line) as other:
            wait_for(lambda: "booted" in other.doing())
            raise guest.GuestError("no VM")
        self.assertEqual(other.process.returncode, -signal.SIGTERM)
        self.assertIsNone(self.line.beside)


class Starting(unittest.TestCase):
    def test_who_is_not_root_is_told(self):
        for tool in ("bench", "bench-swap", "bench-w2r", "demo", "demo-w2r"):
            with (mock.patch("os.geteuid", return_value=1000), mock.patch.object(sys, "argv", [tool]),
                  self.assertRaisesRegex(SystemExit, f"^{tool}: must run as root")):
                load(tool).main()

    def test_a_lab_that_cannot_go_on_is_told(self):
        for tool in ("demo", "demo-w2r"):
            module = load(tool)
            with (mock.patch.object(module.Demo, "run", side_effect=module.cache.LabError("no network")),
                  mock.patch.object(module.guest, "need_root"), mock.patch.object(sys, "argv", [tool]),
                  mock.patch.object(module.guest, "interrupted_by_sigterm"),
                  self.assertRaisesRegex(SystemExit, f"^{tool}: no network$")):
                module.main()


class Booting(InDirectory):
    def run_guest(self, events, seconds, limit):
        lab = self.out / "lab"
        executable(lab, LAB.format(python=sys.executable, console=OOPS, events=events, seconds=seconds))
        line = mock.Mock(text="")
        with (mock.patch.object(guest, "LAB", str(lab)), mock.patch.object(guest, "_add_programs"),
              mock.patch.object(guest, "POLL_SECONDS", 0.05)):
            return guest.run("", self.out / "scratch", limit=limit, line=line)

    def test_a_silent_guest_is_ended(self):
        asked = []
        begin = time.monotonic()
        with self.assertRaisesRegex(guest.GuestError, "^silent for 1 s after: start 3$"):
            self.run_guest("event=boot\nevent=start step=3\n", 60, lambda event: asked.append(event["event"]) or 1)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(asked[-1], "start")

    def test_a_guest_that_has_not_begun_may_wait(self):
        with self.assertRaisesRegex(guest.GuestError, "ended with status 0"):
            self.run_guest("", 2, lambda event: 1)

    def test_the_kernel_log_of_a_vm_that_was_ended(self):
        with self.assertRaises(guest.GuestError):
            self.run_guest("event=boot\n", 60, lambda event: 0.5)
        self.assertEqual(guest.keep_logs(self.out / "scratch", self.out / "kept", "nvme"), [OOPS.strip()])
        self.assertEqual((self.out / "kept/nvme.dmesg").read_text(), OOPS)

    def test_the_kernel_log_is_read(self):
        scratch = self.out / "scratch"
        scratch.mkdir()
        self.assertEqual(guest.keep_logs(scratch, self.out, "nvme"), [])
        (scratch / guest.CONSOLE).write_text(OOPS)
        (scratch / "dmesg").write_text("[    1.0] Linux version 6.12\n[    2.0] mswap0: disksize set\n")
        self.assertEqual(guest.keep_logs(scratch, self.out, "nvme"), [])

    def test_slow_devices_may_take_longer(self):
        step = plan.Step(1, 1, "brd", "mswap", 3, "papers")
        brd, slow = plan.DEVICES["brd"], plan.DEVICES["null_blk-5ms"]
        self.assertEqual(plan.step_limit(brd), plan.STEP_LIMIT)
        self.assertGreater(plan.step_limit(brd, step), plan.STEP_LIMIT)
        self.assertGreater(plan.step_limit(slow, step), plan.step_limit(brd, step))


class Drawing(InDirectory):
    def draw(self, text):
        """Whether a program of plots could, and what is said."""
        (self.out / "plots.py").write_text(text)
        with (mock.patch.object(guest, "BENCH", self.out), mock.patch.object(guest, "SYSTEM_PYTHON", sys.executable),
              contextlib.redirect_stderr(io.StringIO()) as said):
            return guest.draw("plots.py", self.out), said.getvalue()

    def test_plots_that_cannot_be_drawn(self):
        says = f"no plots, {sys.executable} says:"
        self.assertEqual(self.draw(""), (True, ""))
        self.assertEqual(self.draw("import no_such"),
                         (False, f"{says} ModuleNotFoundError: No module named 'no_such'\n"))
        self.assertEqual(self.draw("import os; os.kill(os.getpid(), 9)"),
                         (False, f"{says} nothing, and ends with status -9\n"))


class LosingDevices(WithTools):
    def run_swap(self, boots):
        return self.run_tool(boots, DEVICES="brd nvme", PROGRAMS="c1", SIDES="stock mswap")

    def test_a_device_that_is_lost(self):
        status, data, _ = self.run_swap([guest.GuestError("no VM\n  | why"), mock.DEFAULT])
        self.assertEqual((status, data["lost"]), (1, {"brd": "no VM"}))
        self.assertIn("## ramdisk (brd)\n\n**Not as it should be: 0 of 4 steps measured, then: no VM.**", self.page())
        self.assertIn("Boots that failed or are not whole: ramdisk (brd); QEMU NVMe.", self.page())

    def test_a_step_that_ends_its_boot_fails(self):
        def boot(text, out, on_event, **how):
            if "\ndevice nvme" in f"\n{text}":
                on_event(guest.fields("event=boot kernel=k cpus=2 memory_kib=9"))
                on_event(guest.fields("event=start step=2"))
                raise guest.GuestError("silent")

        status, data, _ = self.run_swap(boot)
        step, = data["steps"]
        self.assertEqual((status, step["boot"], step["side"], step["program"]), (1, "nvme", "mswap", "c1"))
        self.assertIn("0 of 5 steps measured, then: silent", self.page())
        self.assertIn("- round 1, c1 on mswap, page-cluster 3: 0 of 1 programs ended", self.page())

    def test_versions_that_the_guest_tells(self):
        def boot(text, out, on_event, **how):
            on_event(guest.fields("event=boot kernel=k cpus=2 memory_kib=9"))
            on_event(guest.fields("event=version name=memcached version=1.6.38"))

        for tool, device in (("bench-swap", "brd"), ("bench-w2r", "null_blk-5ms")):
            _, data, _ = self.run_tool(boot, tool, DEVICES=device)
            self.assertIn("Versions: QEMU 10.0, memcached 1.6.38.", self.page())
            self.assertEqual(data["about"]["options"]["DEVICES"], device)

    def test_what_is_named_twice_is_measured_once(self):
        status, data, _ = self.run_tool([mock.DEFAULT], DEVICES="brd brd", PROGRAMS="c1,c1", SIDES="stock stock",
                                        STOCK_PAGE_CLUSTERS="3 03")
        self.assertEqual((status, data["planned"]), (0, {"brd": 1}))

    def test_a_side_that_a_device_cannot_have(self):
        told = {"PROGRAMS": "c4", "SIDES": "stock stock-deadline", "STOCK_PAGE_CLUSTERS": "3"}
        status, data, said = self.run_tool([mock.DEFAULT] * 2, DEVICES="brd nvme", **told)
        self.assertEqual((status, data["planned"]), (0, {"brd": 1, "nvme": 2}))
        why = "no request queue, so not measured: stock, mq-deadline"
        self.assertIn(f"brd: {why}\n", said)
        self.assertIn(f"## ramdisk (brd)\n\nHas {why}.\n", self.page())
        self.assertEqual(self.page().count(why), 1)
        with self.assertRaises(SystemExit):
            self.run_tool([], DEVICES="brd", PROGRAMS="c4", SIDES="stock-deadline")

    def test_an_interrupt(self):
        status, data, said = self.run_swap([KeyboardInterrupt])
        self.assertEqual((status, data["lost"]), (130, {"brd": "interrupted"}))
        self.assertIn("## QEMU NVMe\n\n**Not as it should be: 0 of 5 steps measured.**", self.page())
        self.assertNotIn("report:", said)

    def test_a_kernel_that_complains(self):
        def boot(text, out, **how):
            (out / "dmesg").write_text(OOPS if "nvme" in text else "")

        status, data, said = self.run_swap(boot)
        self.assertEqual((status, data["lost"], data["trouble"]), (1, {}, {"nvme": [OOPS.strip()]}))
        self.assertIn(f"nvme: the kernel complained: {OOPS}", said)

    def test_boots_of_dm_w2r(self):
        def boot(text, out, **how):
            (out / "dmesg").write_text(OOPS)
            if "cost " not in text:
                raise guest.GuestError("no VM")

        status, data, said = self.run_tool(boot, "bench-w2r", DEVICES="null_blk-5ms", PROGRAMS="cp grep",
                                           SIDES="plain w2r")
        self.assertEqual((status, data["lost"]), (1, {"boot": "no VM"}))
        self.assertEqual((data["planned"], list(data["trouble"])), ({"costs": 2, "boot": 6}, ["costs", "boot"]))
        self.assertIn("**Not as it should be: 0 of 6 steps measured, then: no VM; its kernel complained", self.page())


    def test_steps_of_dm_w2r_are_measured_without_costs(self):
        def boot(text, out, on_event, **how):
            if "\ncost " in text:
                raise guest.GuestError("no null_blk\n  | tail")
            on_event(guest.fields("event=boot kernel=k"))

        status, data, said = self.run_tool(boot, "bench-w2r", DEVICES="null_blk-5ms", PROGRAMS="cp", SIDES="plain")
        self.assertEqual((status, data["lost"], data["about"]["kernel"]), (1, {"costs": "no null_blk"}, "k"))
        self.assertIn("bench-w2r: no null_blk\n  | tail\n", said)
        self.assertIn("**Not as it should be: 0 of 2 steps measured, then: no null_blk.**", self.page())


class Telling(unittest.TestCase):
    def swap_data(self, **more):
        return {"about": ABOUT, "boots": [{"device": "nvme", "text": "about"}], "steps": []} | more

    def test_report_of_a_kernel_that_complained(self):
        text = report.markdown(self.swap_data(trouble={"nvme": ["BUG: x", "Call Trace:"]}))
        self.assertIn("its kernel complained, 2 lines, the first of them `BUG: x`", text)
        cached = {"about": ABOUT, "costs": {}, "results": [], "trouble": {"boot": ["BUG: x"]}}
        self.assertIn("its kernel complained, 1 lines, the first of them `BUG: x`", w2r_report.markdown(cached))

    def test_page_about_parts_that_failed(self):
        parts = [
            summary.Part("good", "one", "make one", self.swap_data(planned={"nvme": 0})),
            summary.Part("half", "two", "make two", self.swap_data(planned={"nvme": 5, "brd": 4}), 1),
            summary.Part("none", "three", "make three", None, 2),
            summary.CachePart("caches", "four", "make four", {
                "about": ABOUT, "costs": {}, "results": [], "planned": {"costs": 2, "boot": 6},
                "trouble": {"boot": ["BUG: x"]}}, 1),
        ]
        text = summary.markdown("d", parts)
        self.assertIn("Parts that failed or are not whole: two; three; four.", text)
        self.assertIn("## two\n\n**Not as it should be: ended with status 1; 0 of 9 steps measured.**", text)
        self.assertIn("## three\n\n**Not as it should be: ended with status 2; no results.**\n\nAgain: `make three`",
                      text)
        self.assertIn("0 of 8 steps measured; the kernel of boot complained: `BUG: x`", text)
        self.assertIn("## one\n\n1 rounds on kernel", text)


if __name__ == "__main__":
    unittest.main()
