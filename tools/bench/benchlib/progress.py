# SPDX-License-Identifier: GPL-2.0-only
"""One line that says what is being done, at any time."""

import shutil
import sys
import time

REPEAT_SECONDS = 30  # without a terminal, an unchanged line is repeated so often


def duration(seconds):
    seconds = int(seconds)
    if seconds >= 3600:
        return f"{seconds // 3600} h {seconds % 3600 // 60:02} min"
    return f"{seconds // 60} min {seconds % 60:02} s" if seconds >= 60 else f"{seconds} s"


class Line:
    """On a terminal the line is redrawn in place; elsewhere each change is a line of its own."""

    def __init__(self, stream=sys.stderr):
        self.stream = stream
        self.tty = stream.isatty()
        self.start = time.monotonic()
        self.text = ""
        self.since = self.start  # or None: the text says so itself
        self.shown = 0.0
        self.left = None  # function that estimates the seconds left
        self.beside = None  # function that says what else is being done

    def elapsed(self):
        return time.monotonic() - self.start

    def set(self, text, timed=True):
        """TEXT is being done from now on; for how long is said behind it, unless it is not TIMED."""
        self.text = text
        self.since = time.monotonic() if timed else None
        self.shown = 0.0
        self.refresh()

    def refresh(self):
        now = time.monotonic()
        if not self.text or (not self.tty and self.shown and now - self.shown < REPEAT_SECONDS):
            return
        parts = [duration(self.elapsed()), self.text]
        if self.since is not None and now - self.since >= 1:
            parts[1] += f" ({duration(now - self.since)})"
        if self.left:
            parts.append(f"about {duration(self.left())} left")
        if self.beside:
            parts.append(self.beside())
        text = " · ".join(parts)
        self.shown = now
        if self.tty:
            text = text[: shutil.get_terminal_size().columns - 1]
            self.stream.write(f"\r\x1b[K{text}")
        else:
            self.stream.write(text + "\n")
        self.stream.flush()

    def say(self, text):
        """Prints a line that stays, above the progress line."""
        if self.tty:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
        print(text, flush=True)
        if self.tty:
            self.refresh()

    def done(self):
        if self.tty:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
        self.text = ""
