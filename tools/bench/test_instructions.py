# SPDX-License-Identifier: GPL-2.0-only
"""Tests of how instructions are told by function: python3 -m unittest discover -s tools/bench"""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from benchlib import instructions, instructions_report, judge, results  # noqa: E402
from test_benchlib import step  # noqa: E402

SYMBOLS = ["ffffffff81000000 T first", "ffffffffc0000100 t ours\t[mswap]", "ffffffff81000040 t second"]


def counted(side, number, functions, **counts):
    result = step(side, 3, number, counts=counts)
    return result | {"kernel_instructions": sum(functions.values()), "functions": functions}


def data_of(steps):
    return {"boots": [{"device": "nvme"}], "steps": steps}


class Counting(unittest.TestCase):
    def test_blocks_are_told_by_function(self):
        begin = ["0 100", "ffffffff81000000 5"]
        end = ["0 150", "ffffffff81000000 7", "ffffffff81000010 20", "ffffffff81000044 3", "ffffffffc0000180 1"]
        user, functions = instructions.between(begin, end, SYMBOLS)
        self.assertEqual(user, 50)
        self.assertEqual(functions, {"first": 22, "second": 3, "ours [mswap]": 1})

    def test_a_block_of_two_lengths_is_added_up(self):
        _, functions = instructions.between([], ["ffffffff81000000 5", "ffffffff81000000 6"], SYMBOLS)
        self.assertEqual(functions, {"first": 11})

    def test_what_lies_before_all_symbols_keeps_its_address(self):
        _, functions = instructions.between([], ["ffffffff80000000 5"], SYMBOLS)
        self.assertEqual(functions, {"0xffffffff80000000": 5})

    def test_trifles_count_but_are_not_named(self):
        texts = {"begin.instructions": "0 1\n", "symbols": "\n".join(SYMBOLS),
                 "end.instructions": "0 3\nffffffff81000000 99999\nffffffff81000040 1\n"}
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            self.assertEqual(instructions.of_step(lambda name: out / f"1.{name}"), {})
            for name, text in texts.items():
                (out / f"1.{name}").write_text(text)
            found = instructions.of_step(lambda name: out / f"1.{name}")
        self.assertEqual(found, {"user_instructions": 2, "kernel_instructions": 100000, "functions": {"first": 99999}})


class Reporting(unittest.TestCase):
    def test_a_page_is_one_swapped_in_or_out(self):
        self.assertEqual(results.kernel_per_page(counted("stock", 1, {"first": 800}, pswpin=150, pswpout=50)), 4)
        self.assertIsNone(results.kernel_per_page(step("stock", 3, 1)))
        self.assertIsNone(results.kernel_per_page(counted("stock", 1, {"first": 8}, pswpin=0, pswpout=0)))

    def test_the_ratio_is_of_instructions_a_page(self):
        table = judge.Table([counted("stock", 1, {"first": 400}), counted("mswap", 1, {"first": 400}, pswpin=300)])
        self.assertAlmostEqual(table.ratio("kernel_per_page").median, 0.5)

    def test_functions_that_differ_are_shown_the_most_first(self):
        found = instructions_report.markdown(data_of([
            counted("stock", 1, {"first": 2000, "second": 600, "third": 100}),
            counted("mswap", 1, {"first": 1800, "ours [mswap]": 1000, "third": 200}),
        ]))
        rows = [line for line in found.splitlines() if "`" in line]
        self.assertEqual(rows, ["| `ours [mswap]` | 0 | 5 | +5 |", "| `second` | 3 | 0 | -3 |",
                                "| `first` | 10 | 9 | -1 |"])

    def test_without_counts_there_is_no_report(self):
        self.assertEqual(instructions_report.markdown(data_of([step("stock", 3, 1), step("mswap", 3, 1)])), "")


if __name__ == "__main__":
    unittest.main()
