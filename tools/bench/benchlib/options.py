# SPDX-License-Identifier: GPL-2.0-only
"""Options of the benchmarks, each of which can be given as a variable of the same name too."""

import argparse
import os


def words(text):
    """Each once: what is measured twice in a round would be the second only."""
    return list(dict.fromkeys(text.replace(",", " ").split()))


def numbers(text):
    return list(dict.fromkeys(int(word) for word in words(text)))


class Parser(argparse.ArgumentParser):
    def option(self, name, kind, default, text):
        """--some-name or $SOME_NAME."""
        value = os.environ.get(name) or default
        flag = "--" + name.lower().replace("_", "-")
        self.add_argument(flag, type=kind, default=value, metavar="…", help=f"{text} (default: {default or 'none'})")

    def check_known(self, args, name, known):
        for word in getattr(args, name):
            if word not in known:
                self.error(f"unknown {name[:-1]}: {word} (known: {' '.join(known)})")
