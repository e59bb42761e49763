# SPDX-License-Identifier: GPL-2.0-only
"""What bench_lookup finds: searches in chains of few, of its own number and of many nodes, plain and move-to-front."""

from . import judge, progress, report, summary, terminal

COLUMNS = (
    ("searches, wanted file", "wanted", 2),
    ("searches, any file", "all", 2),
    ("ms a thread", "ms", 3),
)
PLAIN, FRONT = "plain", "mtf"


def rows(text, seed):
    """The lines of its table, made with SEED."""
    names, *lines = (line.split() for line in text.splitlines())
    found = [dict(zip(names, words, strict=True)) for words in lines]
    return [row | {"seed": seed} | {name: float(row[name]) for _, name, _ in COLUMNS} for row in found]


def _values(data, nodes, index, name):
    return {row["seed"]: row[name] for row in data["rows"] if (row["nodes"], row["index"]) == (nodes, index)}


def _ratio(data, nodes, name):
    """With move-to-front over without, seed by seed."""
    plain, front = (_values(data, nodes, index, name) for index in (PLAIN, FRONT))
    return judge.Spread.of([front[seed] / plain[seed] for seed in plain])


def _cells(data):
    head = ["nodes", "index", *(title for title, _, _ in COLUMNS)]
    found = [head]
    for nodes in dict.fromkeys(row["nodes"] for row in data["rows"]):
        for index in (PLAIN, FRONT):
            spreads = [(judge.Spread.of(list(_values(data, nodes, index, name).values())), digits)
                       for _, name, digits in COLUMNS]
            found.append([nodes, index, *(report.spread_text(*each) for each in spreads)])
        found.append([nodes, f"{FRONT} / {PLAIN}",
                      *(report.spread_text(_ratio(data, nodes, name), 3) for _, name, _ in COLUMNS)])
    return found


def terminal_table(data):
    return terminal.table(_cells(data))


def table_lines(data):
    head, *found = _cells(data)
    return report.table_lines(head, found)


def markdown(data):
    about = data["about"]
    return "\n".join([f"# bench-lookup, {about['date']}", "", f"Commit {about['commit']}, {about['rounds']} seeds.",
                      *report.one_round_lines(about), "", *table_lines(data), ""])


class LookupPart(summary.Part):
    """A run of bench-lookup."""

    def judged(self):
        return ()

    def wrong(self):
        return 0

    def measured(self):
        return self.data["about"]["rounds"]

    def lines(self):
        about = self.data["about"]
        took = f", which took {progress.duration(self.seconds)}" if self.seconds else ""
        return [f"{about['rounds']} seeds, on the machine itself, commit {about['commit']}. Again: `{self.command}`"
                f"{took}", *report.one_round_lines(about), "", *table_lines(self.data), ""]
