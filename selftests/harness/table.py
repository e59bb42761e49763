# SPDX-License-Identifier: GPL-2.0-only
"""A table of what ran in VMs: cases, failures, pages verified, and the figures that tests print."""

import re

from . import ktap
from .report import PASS, SKIP

BEGIN, END = "<!-- table of the last run -->\n", "<!-- end of the table -->\n"
VERIFIED = re.compile(r"^# verified (\d+) pages", re.MULTILINE)
FIGURE = re.compile(r"^# figure: (.*)$", re.MULTILINE)


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
    figures = "; ".join(FIGURE.findall(output)).replace("|", "/")
    return (result.name, len(cases), failures, f"{verified:,}" if verified else "", f"{result.seconds:.0f} s", figures)


def markdown(results):
    """Lines of the table, for the RESULTS of tests that ran in VMs."""
    rows = [_row(each) for each in sorted(results, key=lambda each: each.name) if "--- kernel log" in each.log]
    pages = sum(int(row[3].replace(",", "") or 0) for row in rows)
    total = ("all", sum(row[1] for row in rows), sum(int(row[2]) for row in rows if row[2].isdigit()), f"{pages:,}",
             "", "")
    yield "| test | cases | failures | pages verified | time | figures |"
    yield "|---|---|---|---|---|---|"
    for row in (*rows, total):
        yield "| " + " | ".join(map(str, row)) + " |"


def update(path, results):
    """Puts the table where the file at PATH has the marks for it."""
    before, _, rest = path.read_text().partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{path} has no marks for a table")
    path.write_text(before + BEGIN + "\n".join(markdown(results)) + "\n" + END + after)
