# SPDX-License-Identifier: GPL-2.0-only
"""Runs another of these programs at the same time."""

import pathlib
import shutil
import subprocess
import sys
import time

from lablib import children

POLL_SECONDS = 0.3


class Beside:
    """
    PROGRAM begins at once; what it prints is shown by end(). What it is doing meanwhile is part of LINE. Its files are
    in SCRATCH. Leaving the context ends it, with its VM.
    """

    def __init__(self, program, scratch, line):
        self.name = pathlib.Path(program).name
        self.line = line
        self.printed, self.said = (scratch / f"{self.name}.{kind}" for kind in ("out", "err"))
        with open(self.printed, "wb") as printed, open(self.said, "wb") as said:
            self.process = subprocess.Popen([program], stdin=subprocess.DEVNULL, stdout=printed, stderr=said,
                                            preexec_fn=children.end_with_parent)
        line.beside = self.doing

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.line.beside = None
        self.process.terminate()
        self.process.wait()

    def doing(self):
        """The last line of its progress, without the time since its begin."""
        lines = self.said.read_text(errors="replace").splitlines()
        return f"{self.name}: {lines[-1].partition(' · ')[2] or lines[-1]}" if lines else self.name

    def end(self):
        """Waits for it and shows what it printed, or why it failed; returns its status."""
        self.line.beside = None
        while self.process.poll() is None:
            if self.doing() != self.line.text:
                self.line.set(self.doing(), timed=False)
            self.line.refresh()
            time.sleep(POLL_SECONDS)
        self.line.done()
        with open(self.printed, encoding="utf-8") as printed:
            shutil.copyfileobj(printed, sys.stdout)
        if self.process.returncode:
            why = [text for text in self.said.read_text(errors="replace").splitlines() if " · " not in text]
            print("\n".join(why), file=sys.stderr, flush=True)
        return self.process.returncode
