# SPDX-License-Identifier: GPL-2.0-only
"""Options of the benchmarks, each of which can be given as a variable of the same name too."""

import argparse
import os

from lablib import machines


def words(text):
    """Each once: what is measured twice in a round would be the second only."""
    return list(dict.fromkeys(text.replace(",", " ").split()))


def spaced_words(text):
    """The same, of words that may have commas."""
    return list(dict.fromkeys(text.split()))


def numbers(text):
    return list(dict.fromkeys(int(word) for word in words(text)))


def kernel(text):
    """One of the lab's, by its name: that it has no such one should not come out when all else is made."""
    return machines.named(text).kernel


def _text(value):
    """VALUE of an option as it is given in a variable."""
    if isinstance(value, (list, tuple)):
        return " ".join("=".join(each) if isinstance(each, tuple) else str(each) for each in value)
    return str(value)


def words_of(variables):
    """VARIABLES as words of a command; those that say nothing are left out."""
    return [f'{name}="{text}"' for name, text in variables.items() if text]


def command(tool, variables):
    """The command that runs TOOL with these VARIABLES."""
    return " ".join(["make", tool, *words_of(variables)])


class Parser(argparse.ArgumentParser):
    def __init__(self, **words):
        super().__init__(**words)
        self.names = []

    def variables(self, args, without=("RESULTS", "RESUME")):
        """{SOME_NAME: text} of all options as they are in ARGS, which is what runs the same again."""
        return {name: _text(getattr(args, name.lower())) for name in self.names if name not in without}

    def option(self, name, kind, default, text):
        """--some-name or $SOME_NAME."""
        self.names.append(name)
        value = os.environ.get(name) or default
        flag = "--" + name.lower().replace("_", "-")
        self.add_argument(flag, type=kind, default=value, metavar="…", help=f"{text} (default: {default or 'none'})")

    def check_word(self, what, word, known):
        if word not in known:
            self.error(f"unknown {what}: {word} (known: {' '.join(known)})")

    def check_known(self, args, name, known):
        for word in getattr(args, name):
            self.check_word(name[:-1], word, known)
