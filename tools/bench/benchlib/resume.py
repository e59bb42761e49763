# SPDX-License-Identifier: GPL-2.0-only
"""
Goes on with a run of bench-swap that was stopped. Sides are compared round by round, so all of a program's round is of
one boot: what was measured of a round that is not whole is measured again.
"""

import collections
import json

MAY_GROW = "ROUNDS"


def load(out):
    """The results in OUT."""
    return json.loads((out / "results.json").read_text(encoding="utf-8"))


def differing(old, new):
    """Names of options by which the results of OLD cannot be added to by NEW; more rounds can."""
    names = [name for name in {**old, **new} if name != MAY_GROW and old.get(name) != new.get(name)]
    return names + ([MAY_GROW] if int(old[MAY_GROW]) > int(new[MAY_GROW]) else [])


def both(old, new):
    """What a report says of results where first OLD held, a word or several, and now NEW."""
    return ", ".join(dict.fromkeys(word for word in (*old.split(", "), new) if word))


def _key(step):
    return step["device"], step["side"], step["page_cluster"]


def _whole_rounds(found, steps):
    """The (round, program) of which the results FOUND have all that STEPS have."""
    planned, measured = collections.defaultdict(set), collections.defaultdict(set)
    for step in steps:
        planned[step.round, step.program].add((step.device, step.side, step.page_cluster))
    for step in found:
        if step["statuses"]:
            measured[step["round"], step["program"]].add(_key(step))
    return {each for each, keys in planned.items() if measured[each] == keys}


def go_on(data, boots):
    """
    BOOTS are [(device, its steps)]. Takes out of DATA the results of rounds that are not whole, and how boots ended
    that could not be measured to their end; returns BOOTS with the steps that are missing.
    """
    kept, missing = [], []
    for kind, steps in boots:
        found = [step for step in data["steps"] if step["boot"] == kind]
        whole = _whole_rounds(found, steps)
        kept += [step for step in found if (step["round"], step["program"]) in whole]
        todo = [step for step in steps if (step.round, step.program) not in whole]
        missing += [(kind, todo)] if todo else []
    for kind, reason in data["lost"].items():
        data.setdefault("ended_early", {}).setdefault(kind, []).append(reason)
    data |= {"steps": kept, "lost": {}, "resumed": data.get("resumed", 0) + 1}
    return missing
