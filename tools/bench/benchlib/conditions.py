# SPDX-License-Identifier: GPL-2.0-only
"""What a report says of the conditions under which it was measured, and what measures it again."""

import re

from . import options

CHOSEN = re.compile(r"\[(\S+)\]")  # of the words that a file of the kernel offers
KNOBS = ("policy", "cluster_pages", "batch_usecs", "readahead", "readahead_pages", "waiting_pages")
# What the numbers begin with that programs draw, by the first word of what is run.
SEEDS = {
    "pagestride": "pagestride 0x2545f4914f6cdd1d (and twice its -o)",
    "agedswap": "agedswap 88172645463325252",
    "netsim": "netsim 88172645463325252",
    "run-memcached": "zipfload 88172645463325252",
    "run-redis": "zipfload 88172645463325252",
    "run-pgbench": "pgbench --random-seed=1",
    "run-stress": "stress-ng --no-rand-seed",
    "run-compile": "the sources 1 to 8",
    "readcost": "readcost 0x9e3779b97f4a7c15 (times the round)",
    "mkfs": "ext4's hash of names d7c670ee-3d31-4c27-94ff-8f0c21dce92a",
}
CONTENTS = ("pagestride", "agedswap", "sor", "lu", "netsim", "stripes", "fft", "amr", "run-memcached", "run-redis")


def of_step(path):
    """The settings that PATH, which gives the path of each of a step's files, has."""
    if not path("settings").exists():
        return {}
    found = {}
    for line in path("settings").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        chosen = CHOSEN.search(value)
        found[name] = chosen[1] if chosen else value
    return {"settings": found}


def settings(step):
    """All that is known of how a step was set."""
    own = step.get("mswap", {})
    return step.get("settings", {}) | {f"mswap/{name}": own[name] for name in KNOBS if name in own}


def _text(found):
    return " ".join(f"{name}={value}" for name, value in found.items())


def _settings_lines(by_side):
    """BY_SIDE maps sides to their settings; what all share is said once."""
    known = {side: found for side, found in by_side.items() if found}
    first = next(iter(known.values()), {})
    shared = {name: value for name, value in first.items() if all(each.get(name) == value for each in known.values())}
    lines = [f"- all sides: `{_text(shared)}`"] if shared else []
    for side, found in known.items():
        own = {name: value for name, value in found.items() if name not in shared}
        lines += [f"- {side}: `{_text(own)}`"] if own else []
    return [*lines, ""] if lines else []


def _versions_line(about):
    versions = {"QEMU": about.get("emulator")} | about.get("versions", {})
    return f"Versions: {', '.join(f'{name} {version}' for name, version in versions.items() if version)}."


def seeds_line(programs):
    """Of PROGRAMS, the first words of what is run."""
    found = [SEEDS[name] for name in programs if name in SEEDS]
    line = f"Seeds: {'; '.join(dict.fromkeys(found)) or 'none'}."
    if any(name in CONTENTS for name in programs):
        line += " What pages hold follows from the number of their step, in the `*.plan` beside this."
    return line


def _again_lines(tool, about, rows, row_note):
    known = about["options"]
    chosen = {"PROGRAMS"}.union(*rows.values())
    rest = {name: text for name, text in known.items() if name not in chosen}
    lines = [f"All of this again, on commit {about['commit']}: `{options.command(tool, known)}`", "",
             f"A row of it: `{options.command(tool, rest)}` with the words of its device and its side, and {row_note}",
             ""]
    lines += [f"- {title}: `{' '.join(options.words_of(words))}`" for title, words in rows.items()]
    return [*lines, ""]


def section(tool, about, by_device, programs, rows, row_note):
    """
    What stands at the end of a report of TOOL. BY_DEVICE maps titles of devices to {side: settings}; PROGRAMS are
    names of what was run; ROWS maps titles of devices and sides to the variables that choose just them, ROW_NOTE says
    which programs to choose.
    """
    if "options" not in about:
        return []
    lines = ["## How it was measured", "", _versions_line(about), "", seeds_line(programs), ""]
    for device, by_side in by_device.items():
        found = _settings_lines(by_side)
        lines += [f"Settings, {device}, as the kernel shows them:", "", *found] if found else []
    return lines + _again_lines(tool, about, rows, row_note)
