# SPDX-License-Identifier: GPL-2.0-only
"""
Trees of files for musterctl to read, and runs of it.

A tree is a text, trees/NAME.tree. "[FOLDER]" says where the files of the lines below are. "NAME VALUE" is a line of the
file NAME, "NAME" an empty one, "NAME/" a folder. "#" begins a remark.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ["MUSTERCTL"]
SECONDS = 60


def grow(root, text):
    """Makes below ROOT what TEXT says; a file that is there is made anew."""
    folder, made = root, set()
    for line in text.splitlines():
        if match := re.fullmatch(r"\[(.*)\]", line):
            folder = root / match[1]
            folder.mkdir(parents=True, exist_ok=True)
        elif line.endswith("/"):
            (folder / line[:-1]).mkdir()
        elif line and not line.startswith("#"):
            name, _, value = line.partition(" ")
            with open(folder / name, "a" if folder / name in made else "w", encoding="utf-8") as file:
                print(value, file=file)
            made.add(folder / name)


def run(root, *words, env=None, **more):
    """musterctl with WORDS, on the files below ROOT."""
    return subprocess.run(["musterctl", "--sysroot", root, *words], text=True, timeout=SECONDS,
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ | (env or {"LC_ALL": "C"}),
                          **{"stdout": subprocess.PIPE, "executable": PROGRAM, **more})


def start(root, *words):
    """The same, not waited for; its standard output is a pipe."""
    return subprocess.Popen(["musterctl", "--sysroot", root, *words], executable=PROGRAM, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Case(unittest.TestCase):
    """A test that has a tree, in `self.root`."""

    maxDiff = None

    def make_root(self, tree):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="musterctl-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.root.chmod(0o755)
        grow(self.root, (HERE / f"trees/{tree}.tree").read_text(encoding="utf-8"))
