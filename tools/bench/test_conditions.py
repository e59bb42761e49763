# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what reports say of the conditions: python3 -m unittest discover -s tools/bench"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import re
import shlex
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from benchlib import conditions, options, plan, report, w2r, w2r_report  # noqa: E402

PROGS = (HERE / "progs", HERE / "loads", HERE.parents[1] / "selftests/progs")
WHERE = {"run-memcached": "zipfload.c", "run-redis": "zipfload.c", "mkfs": "w2r.sh"}  # else: by the name
ABOUT = {"date": "d", "commit": "c0ffee", "kernel": "k", "rounds": 1, "limit_mib": 192, "cache_mib": 32, "knobs": "",
         "tree": "t", "clock": "time is", "emulator": "10.0.3", "versions": {"memcached": "1.6.38"},
         "options": {"DEVICES": "nvme brd", "PROGRAMS": "c1 memcached", "SIDES": "stock mswap", "ROUNDS": "1",
                     "STOCK_PAGE_CLUSTERS": "0 3", "KNOBS": ""}}


def step(side, settings=None, knobs=None):
    return {"boot": "nvme", "device": "nvme", "program": "c1", "round": 1, "side": side, "page_cluster": 3,
            "seconds": {"total": 1.0}, "bad": 0, "statuses": [0], "programs": [{"verified": 1, "bad": 0}],
            "counts": dict.fromkeys(("pswpin", "pswpout", "dev_writes", "dev_reads", "dev_pages_read",
                                     "dev_pages_written"), 1),
            "settings": settings or {}, **({"mswap": knobs} if knobs else {})}


def parsed(tool, environment):
    """The options of TOOL."""
    loader = importlib.machinery.SourceFileLoader(tool.replace("-", "_"), str(HERE / tool))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    with mock.patch.dict(os.environ, environment), mock.patch.object(sys, "argv", [tool]):
        return vars(module.parse_args())


class Again(unittest.TestCase):
    def test_a_command_gives_the_same_options(self):
        for tool, told in (("bench-swap", {"KNOBS": "cluster_pages=64 readahead=off", "DEVICES": "brd", "CHARGE": "1"}),
                           ("bench-w2r", {"SIDES": "plain w2r:policy=lru,lookahead=9", "COST_ROUNDS": "0"})):
            found = parsed(tool, told)
            make, name, *words = shlex.split(options.command(tool, found["variables"]))
            self.assertEqual((make, name), ("make", tool))
            self.assertEqual(parsed(tool, dict(word.split("=", 1) for word in words)), found)

    def test_a_word_that_an_option_does_not_know_is_refused(self):
        for tool, told in (("bench-swap", {"HUGEPAGES": "some"}), ("bench-swap", {"CLOCK": "wall"}),
                           ("bench-swap", {"SIDES": "stock nobody"}), ("bench-w2r", {"CLOCK": "wall"})):
            said = io.StringIO()
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(said):
                parsed(tool, told)
            self.assertIn(f": {list(told.values())[0].split()[-1]} (known: ", said.getvalue())

    def test_a_kernel_that_the_lab_has_not(self):
        for tool in ("bench-swap", "bench-w2r"):
            with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
                parsed(tool, {"KERNEL": "9.9"})
            self.assertIn("no machine for kernel '9.9'", said.getvalue())

    def test_a_row_is_one_side(self):
        for side in ("floor", *plan.SIDES):
            clusters = {"STOCK_PAGE_CLUSTERS": "0 3 5", "MSWAP_PAGE_CLUSTERS": "1 2"}
            for variant in plan.variants([side], [0, 5], [1, 2]) if side != "floor" else [("mswap", 3)]:
                words = clusters | plan.row_variables(side, variant[1])
                numbers = [options.numbers(words[name]) for name in clusters]
                self.assertEqual(plan.variants(words["SIDES"].split(), *numbers), [variant])

    def test_a_cache_begins_with_the_programs_before(self):
        variables = {"DEVICES": "null_blk-5ms delay-4ms", "SIDES": "plain w2r", "PROGRAMS": "cp sort grep",
                     "COST_ROUNDS": "20"}
        found = {"device": "delay-4ms", "side": "w2r", "program": "sort"}
        self.assertEqual(w2r.again(variables, found), 'make bench-w2r DEVICES="delay-4ms" SIDES="w2r" '
                         'PROGRAMS="cp sort" COST_ROUNDS="0"')
        self.assertIn('DEVICES="null_blk-5ms delay-4ms"', w2r.again(variables, found | {"device": w2r.FLOOR}))


class Seeds(unittest.TestCase):
    def test_they_are_those_of_the_programs(self):
        for name, text in conditions.SEEDS.items():
            file = WHERE.get(name, f"{name}.c")
            paths = [path for folder in (HERE, *PROGS) for path in folder.glob(file)] or [HERE / "loads" / name]
            for number in re.findall(r"--\S+|[0-9a-fx-]{16,}", text):
                self.assertIn(number, paths[0].read_text(encoding="utf-8"))

    def test_every_random_source_is_known(self):
        known = {WHERE.get(name, f"{name}.c") for name in conditions.SEEDS}
        for path in (*(HERE / "progs").glob("*.c"), PROGS[2] / "pagestride.c"):
            if re.search(r"\brandom_next\(|\bzipf_next\(", path.read_text(encoding="utf-8")):
                self.assertIn(path.name, known)

    def test_of_the_programs_that_ran(self):
        line = conditions.seeds_line("agedswap 50 pagestride -c 1 run-pgbench".split())
        self.assertEqual(line.count("88172645463325252"), 1)
        self.assertIn("pagestride 0x", line)
        self.assertIn("number of their step", line)
        self.assertEqual(conditions.seeds_line(["run-numpy"]), "Seeds: none.")


class Settings(unittest.TestCase):
    def test_the_word_that_the_kernel_has_chosen(self):
        with tempfile.TemporaryDirectory() as holder:
            out = pathlib.Path(holder)
            self.assertEqual(conditions.of_step(lambda name: out / name), {})
            (out / "settings").write_text("zram0/comp_algorithm:lzo-rle [lz4] zstd\nvm/swappiness:60\n"
                                          "dmsetup/table:0 9 w2r 7:0 32\nqueue/scheduler:\n")
            self.assertEqual(conditions.of_step(lambda name: out / name), {"settings": {
                "zram0/comp_algorithm": "lz4", "vm/swappiness": "60", "dmsetup/table": "0 9 w2r 7:0 32",
                "queue/scheduler": ""}})

    def test_a_report_says_all_of_them(self):
        shared = {"vm/swappiness": "60", "queue/scheduler": "none"}
        knobs = {"policy": "moc", "cluster_pages": 128, "batch_usecs": 3000, "readahead": "auto",
                 "readahead_pages": 64, "waiting_pages": 2048, "pages_out": 7}
        data = {"about": ABOUT, "boots": [{"device": "nvme", "text": "about"}],
                "steps": [step("stock", shared | {"swap/vma_ra_enabled": "true"}), step("mswap", shared, knobs),
                          step("zswap-lz4", shared | {"parameters/compressor": "lz4"})]}
        text = report.markdown(data)
        for line in ("Versions: QEMU 10.0.3, memcached 1.6.38.",
                     "Seeds: pagestride 0x2545f4914f6cdd1d (and twice its -o). What pages hold",
                     "- all sides: `vm/swappiness=60 queue/scheduler=none`",
                     "- stock, page-cluster 3: `swap/vma_ra_enabled=true`",
                     "- mswap, page-cluster 3: `mswap/policy=moc mswap/cluster_pages=128 mswap/batch_usecs=3000 "
                     "mswap/readahead=auto mswap/readahead_pages=64 mswap/waiting_pages=2048`",
                     "- zswap (lz4) over the device, page-cluster 3: `parameters/compressor=lz4`",
                     'All of this again, on commit c0ffee: `make bench-swap DEVICES="nvme brd" PROGRAMS="c1 memcached" '
                     'SIDES="stock mswap" ROUNDS="1" STOCK_PAGE_CLUSTERS="0 3"`',
                     'A row of it: `make bench-swap ROUNDS="1"` with',
                     '- QEMU NVMe: `DEVICES="nvme"`',
                     '- stock, page-cluster 3: `SIDES="stock" STOCK_PAGE_CLUSTERS="3"`',
                     '- zswap (lz4) over the device, page-cluster 3: `SIDES="zswap-lz4"`'):
            self.assertIn(line, text)

    def test_so_does_that_of_caches(self):
        result = {"device": "null_blk-5ms", "side": "w2r", "round": 1, "program": "cp", "seconds": 1.0,
                  "counts": {"dev_reads": 1, "dev_writes": 1, "root_reads": 0}, "state": {}, "status": 0, "output": "",
                  "right": True, "settings": {"w2r/policy": "arc"}}
        text = w2r_report.markdown({"about": ABOUT, "costs": {}, "results": [result]})
        self.assertIn("Settings, null_blk, 5 ms, one I/O at a time, as the kernel shows them:\n\n"
                      "- all sides: `w2r/policy=arc`", text)
        self.assertIn('- w2r: `SIDES="w2r"`', text)
        self.assertIn("Seeds: ext4's hash of names", text)


if __name__ == "__main__":
    unittest.main()
