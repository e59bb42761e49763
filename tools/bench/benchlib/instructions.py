# SPDX-License-Identifier: GPL-2.0-only
"""Instructions of the kernel, by function, from what the emulator's plugin counted (plugin/instructions.c)."""

import bisect
import collections

USER = 0  # the address under which all of user space is counted
TRIFLE = 1e-4  # of all; functions that take less are not named


class _Symbols:
    """Functions by address: lines of /proc/kallsyms."""

    def __init__(self, lines):
        found = []
        for line in lines:
            address, _, name, *module = line.split()
            found.append((int(address, 16), " ".join((name, *module))))
        found.sort(key=lambda each: each[0])
        self.addresses = [address for address, _ in found]
        self.names = [name for _, name in found]

    def name(self, address):
        at = bisect.bisect_right(self.addresses, address) - 1
        return self.names[at] if at >= 0 else hex(address)


def _counts(lines):
    found = collections.Counter()
    for line in lines:
        address, count = line.split()
        found[int(address, 16)] += int(count)
    return found


def between(begin, end, symbols):
    """
    What was executed between two moments, of which BEGIN and END are the lines that the plugin wrote: those of user
    space, and {function: instructions} of the kernel, by the lines of kallsyms in SYMBOLS.
    """
    before, after, known = _counts(begin), _counts(end), _Symbols(symbols)
    functions = collections.Counter()
    user = after.pop(USER, 0) - before.get(USER, 0)
    for address, count in after.items():
        functions[known.name(address)] += count - before.get(address, 0)
    return user, +functions


def of_step(path):
    """What PATH, which gives the path of each of a step's files, has of them; nothing when none were counted."""
    names = ("begin.instructions", "end.instructions", "symbols")
    if not all(path(name).exists() for name in names):
        return {}
    user, functions = between(*(path(name).read_text(encoding="ascii").splitlines() for name in names))
    kernel = sum(functions.values())
    return {"user_instructions": user, "kernel_instructions": kernel,
            "functions": {name: count for name, count in functions.most_common() if count >= kernel * TRIFLE}}
