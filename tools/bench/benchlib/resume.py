# SPDX-License-Identifier: GPL-2.0-only
"""
Goes on with a run that was stopped. Sides are compared round by round, so all of a round is of one boot: what was
measured of one that is not whole is measured again.
"""

import collections
import json

HELP = "results of an earlier run of the same: what is missing there is measured, also more ROUNDS"
RESULTS = "results.json"
MAY_GROW = "ROUNDS"


def load(out):
    """The results in OUT."""
    return json.loads((out / RESULTS).read_text(encoding="utf-8"))


def place(args, usual):
    """Where the results go: to those that are resumed, to where ARGS say, or to the USUAL place."""
    return next((path for path in (args.resume, args.results) if path.name), usual)


def differing(old, new):
    """Names of options by which the results of OLD cannot be added to by NEW; more rounds can."""
    names = [name for name in {**old, **new} if name != MAY_GROW and old.get(name) != new.get(name)]
    return names + ([MAY_GROW] if int(old[MAY_GROW]) > int(new[MAY_GROW]) else [])


def check(parser, args):
    """Ends this program, and says why, when ARGS say to go on with what they cannot."""
    if not args.resume.name:
        return
    if args.results.name:
        parser.error("results go where those are that are resumed")
    if not (args.resume / RESULTS).exists():
        parser.error(f"nothing to resume in {args.resume}: no {RESULTS}")
    names = differing(load(args.resume)["about"]["options"], args.variables)
    if names:
        parser.error(f"what is in {args.resume} was measured with other {' '.join(names)}")


def both(old, new):
    """What a report says of results where first OLD held, a word or several, and now NEW."""
    return ", ".join(dict.fromkeys(word for word in (*old.split(", "), new) if word))


def whole_groups(planned, measured):
    """PLANNED and MEASURED are (group, one of it): the groups of which MEASURED has all that PLANNED has."""
    wanted, there = collections.defaultdict(set), collections.defaultdict(set)
    for pairs, groups in ((planned, wanted), (measured, there)):
        for group, each in pairs:
            groups[group].add(each)
    return {group for group, members in wanted.items() if there[group] == members}


def begin(data):
    """Another run adds to DATA: how boots ended that could not be measured to their end is of the past now."""
    for name, reason in data["lost"].items():
        data.setdefault("ended_early", {}).setdefault(name, []).append(reason)
    data |= {"lost": {}, "resumed": data.get("resumed", 0) + 1}


def log_name(data, name):
    """Of a boot called NAME: the logs of earlier ones are kept."""
    earlier = data.get("resumed", 0)
    return f"{name}.{earlier + 1}" if earlier else name


def early_text(data, name):
    early = data.get("ended_early", {}).get(name)
    return f"; ended early: {', '.join(early)}" if early else ""
