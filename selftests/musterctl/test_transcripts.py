# SPDX-License-Identifier: GPL-2.0-only
"""
Runs what transcripts/*.txt say and compares.

Lines without an indent are remarks, but for "tree NAME", which names the tree for the commands below. "  $ musterctl
WORDS" is a command; then come its standard output, its standard error as "  ! TEXT", and its status, if that is not 0,
as "  [STATUS]".
"""

import re
import shlex
import unittest

import sysroot

INDENT = "  "


def outcome(done):
    """What a command did, as a transcript tells it."""
    lines = done.stdout.splitlines()
    lines += [f"! {line}" for line in done.stderr.splitlines()]
    return lines + ([f"[{done.returncode}]"] if done.returncode else [])


def commands(text):
    """(tree, command, lines that it gives) of each command."""
    tree, command, lines = None, None, []
    for line in [*text.splitlines(), ""]:
        if line.startswith(INDENT) and not line.startswith(f"{INDENT}$ "):
            lines.append(line[len(INDENT):])
            continue
        if command:
            yield tree, command, lines
        command, lines = line.removeprefix(f"{INDENT}$ ") if line.startswith(INDENT) else None, []
        if match := re.fullmatch(r"tree (\w+)", line):
            tree = match[1]


class Transcripts(sysroot.Case):
    def replay(self, path):
        replayed = 0
        for tree, command, lines in commands(path.read_text(encoding="utf-8")):
            with self.subTest(path.stem, command=command):
                self.make_root(tree)
                words = shlex.split(command)
                self.assertEqual(words[0], "musterctl")
                self.assertEqual("\n".join(lines), "\n".join(outcome(sysroot.run(self.root, *words[1:]))))
                replayed += 1
        self.assertGreater(replayed, 0)


def add(path):
    setattr(Transcripts, f"test_{path.stem}", lambda self: self.replay(path))


for each in sorted((sysroot.HERE / "transcripts").glob("*.txt")):
    add(each)

if __name__ == "__main__":
    unittest.main()
