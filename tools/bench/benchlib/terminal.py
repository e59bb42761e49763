# SPDX-License-Identifier: GPL-2.0-only
"""Tables and bars of plain text."""

EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share, width):
    """SHARE (0 to 1) of WIDTH columns, in eighths of a column."""
    eighths = round(share * width * 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def number(value, digits):
    """A figure with thousands apart; – when unknown."""
    return "–" if value is None else f"{value:,.{digits}f}".replace(",", " ")


def table(rows):
    """Lines of ROWS (lists of cells): the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def histogram(counts, tops, width):
    """
    Lines that draw COUNTS ({size: how often}), gathered in rows that end at each of TOPS; every row says
    its share of the whole.
    """
    total = sum(counts.values()) or 1  # of nothing all shares are 0
    lines, low = [], 1
    for top in tops:
        often = sum(count for size, count in counts.items() if low <= size <= top)
        label = str(top) if low == top else f"{low}–{top}"
        lines.append(f"{label:>7} {bar(often / total, width):{width}} {often / total:6.1%} {often:7}")
        low = top + 1
    return lines
