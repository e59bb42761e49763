# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the table of look-ups: python3 -m unittest discover -s tools/bench"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from benchlib import lookup, summary  # noqa: E402

TABLE = """\
nodes index wanted    all       ms
few   plain   1.00   1.02      2.0
few   mtf     1.00   1.02      2.2
many  plain   {}   4.50      4.0
many  mtf     1.06   3.50      3.0
"""


def data(*wanted):
    rows = [row for seed, each in enumerate(wanted, 1) for row in lookup.rows(TABLE.format(each), seed)]
    return {"about": {"date": "d", "commit": "c", "rounds": len(wanted)}, "rows": rows}


class Telling(unittest.TestCase):
    def test_medians_and_ratios_seed_by_seed(self):
        text = lookup.markdown(data("4.24", "5.30", "10.60"))
        self.assertIn("| many | plain | 5.30 (4.24–10.60) | 4.50 | 4.000 |\n", text)
        self.assertIn("| many | mtf / plain | 0.200 (0.100–0.250) | 0.778 | 0.750 |\n", text)
        self.assertIn("| few | mtf / plain | 1.000 | 1.000 | 1.100 |\n", text)

    def test_page_about_parts(self):
        text = summary.markdown("d", [lookup.LookupPart("lookups", "searches", "make again", data("4.24"))])
        self.assertIn("## searches\n\n1 seeds, on the machine itself, commit c. Again: `make again`\n\nOne round: ",
                      text)
        self.assertIn("| many | mtf / plain | 0.250 |", text)


class Measuring(unittest.TestCase):
    def test_table_of_the_index(self):
        with tempfile.TemporaryDirectory() as holder:
            out = pathlib.Path(holder)
            said = subprocess.run([sys.executable, "-B", HERE / "bench-lookup", "--rounds", "2", "--results", out],
                                  capture_output=True, text=True, check=True).stdout
            found = json.loads((out / "results.json").read_text(encoding="utf-8"))
            self.assertIn("| many | mtf |", (out / "report.md").read_text(encoding="utf-8"))
        self.assertIn("\nmany   mtf ", said)
        self.assertEqual({(row["seed"], row["nodes"], row["index"]) for row in found["rows"]},
                         {(seed, nodes, index) for seed in (1, 2) for nodes in ("few", "own", "many")
                          for index in ("plain", "mtf")})
        searches = {row["index"]: row["wanted"] for row in found["rows"] if row["nodes"] == "many"}
        self.assertLess(searches["mtf"], searches["plain"] / 2)


if __name__ == "__main__":
    unittest.main()
