# SPDX-License-Identifier: GPL-2.0-only
"""A table of what ran in VMs: cases, failures, pages verified, and the figures that tests print."""

import argparse
import collections
import datetime
import pathlib
import re

from . import ktap
from .report import PASS, SKIP

BEGIN, END = "<!-- table of runs -->\n", "<!-- end of the table -->\n"
VERIFIED = re.compile(r"^# verified (\d+) pages", re.MULTILINE)
HEAD = ("test", "cases", "failures", "pages verified", "time", "day", "figures")
Row = collections.namedtuple("Row", "test cases failures pages seconds day figures")
FIGURE = re.compile(r"^# figure: (.*)$", re.MULTILINE)
# What came when no test ran is named after one.
GAP = re.compile(r", (after its end|before its begin)$")


def _row(result):
    output = result.log.partition("--- kernel log")[0]
    _, _, cases, _ = ktap.parse(output)
    bad = sum(not good for _, good, _, _ in cases)
    if result.outcome == SKIP:
        failures = f"skipped: {result.why}"
    elif result.outcome == PASS:
        failures = "0"
    else:
        failures = f"{max(bad, 1)}"
    verified = sum(map(int, VERIFIED.findall(output)))
    cells = (result.name, str(len(cases)), failures, f"{verified:,}" if verified else "", f"{result.seconds:.0f} s",
             datetime.date.today().isoformat(), "; ".join(FIGURE.findall(output)))
    return Row(*(cell.replace("|", "/") for cell in cells))


def _rows(results):
    """{test: Row} of RESULTS; what came beside a test is one failure more of it."""
    rows = {each.name: _row(each) for each in results if not GAP.search(each.name)}
    for name in (GAP.sub("", each.name) for each in results if GAP.search(each.name)):
        if row := rows.get(name):
            failures = int(row.failures) if row.failures.isdigit() else 0
            rows[name] = row._replace(failures=str(failures + 1))
    return rows


def _lines(rows):
    pages = sum(int(row.pages.replace(",", "") or 0) for row in rows)
    total = Row("all", sum(int(row.cases) for row in rows),
                sum(int(row.failures) for row in rows if row.failures.isdigit()), f"{pages:,}", "", "", "")
    yield f"| {' | '.join(HEAD)} |"
    yield f"|{'---|' * len(HEAD)}"
    for row in (*rows, total):
        yield f"| {' | '.join(map(str, row))} |"


def _parts(path):
    """What the file at PATH has before its table, {test: Row} in it, and what comes after it."""
    before, _, rest = path.read_text().partition(BEGIN)
    lines, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{path} has no marks for a table")
    rows = [Row(*(cell.strip() for cell in line[1:-1].split("|"))) for line in lines.splitlines()[2:]]
    return before, {row.test: row for row in rows if row.test != "all"}, after


def marked(text):
    """For argparse: a file that has a table, or marks for one."""
    path = pathlib.Path(text)
    try:
        _parts(path)
    except (OSError, TypeError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def update(path, results):
    """Puts the RESULTS of tests that ran in VMs in the table of the file at PATH; other tests' rows stay."""
    before, rows, after = _parts(path)
    rows |= _rows([each for each in results if each.in_vm])
    lines = "\n".join(_lines([rows[name] for name in sorted(rows)]))
    path.write_text(f"{before}{BEGIN}{lines}\n{END}{after}")
