# SPDX-License-Identifier: GPL-2.0-only
"""The columns of musterctl, the files that the manuals tell of, and what is said of the columns go together."""

import re
import unittest

import sysroot

DOCS = sysroot.HERE.parents[1] / "docs"
# What is written to, or holds more than one value.
NO_COLUMN = {"reset", "cluster_hist"}
ROW = re.compile(r"^\|((?: `[^`]+`,?)+) \|", re.MULTILINE)


def names(text):
    """What the first cells of TEXT's tables name."""
    return {name for cell in ROW.findall(text) for name in re.findall(r"`([^`]+)`", cell)}


def section(page, begin, end):
    text = (DOCS / page).read_text(encoding="utf-8")
    return text.partition(begin)[2].partition(end)[0]


def as_columns(files):
    return {name.upper().replace("_", "-") for name in files - NO_COLUMN}


class Docs(sysroot.Case):
    def columns(self, table):
        self.make_root("empty")
        text = sysroot.run(self.root, table, "--help").stdout.partition(f"Columns of {table}:\n")[2]
        listed = re.findall(r"^  (\S+) +\S.*$", text, re.MULTILINE)
        self.assertEqual(len(listed), len(set(listed)))
        self.assertLessEqual(set(re.search(r"^Without --output: (\S+)$", text, re.MULTILINE)[1].split(",")),
                             set(listed))
        return set(listed)

    def check(self, table, own, files):
        self.assertGreater(len(files), 30)
        self.assertFalse(own & files, "told of twice")
        self.assertEqual(self.columns(table), own | files)

    def test_mswap(self):
        own = names(section("musterctl.md", "## Columns of mswap\n", "## Columns of w2r\n"))
        self.check("mswap", own, as_columns(names(section("sysfs.md", "life cycle\n", "## Module parameter"))))

    def test_w2r(self):
        own = names(section("musterctl.md", "## Columns of w2r\n", "\0"))
        self.check("w2r", own, as_columns(names(section("w2r.md", "## Files\n", "Tracepoints, in"))))

    def test_options(self):
        told = names(section("musterctl.md", "| option |", "## Columns of mswap"))
        self.make_root("empty")
        usage = sysroot.run(self.root, "--help").stdout.partition("Columns of")[0]
        listed = set(re.findall(r"^ +(-\w), ", usage, re.MULTILINE)) | set(re.findall(r" (--\S.*?)  ", usage))
        self.assertEqual(told, listed)

    def test_examples(self):
        """What the manual shows is what those trees would give, but for their errors."""
        text = section("musterctl.md", "# musterctl", "It reads what")
        for tree, words in (("mswap", ("mswap0",)), ("w2r", ("w2r", "fast"))):
            self.make_root(tree)
            for line in sysroot.run(self.root, *words).stdout.splitlines():
                self.assertIn(re.sub(r"[37]$", "0", line), text)


if __name__ == "__main__":
    unittest.main()
