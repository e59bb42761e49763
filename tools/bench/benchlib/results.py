# SPDX-License-Identifier: GPL-2.0-only
"""What one step found, from the files that guest.sh left."""

import collections
import re

from . import conditions, guest, instructions, plan, resume

SECTORS_PER_PAGE = 8
PAGE_BYTES = 4096
BLOCKSTAT = {"dev_reads": 0, "dev_reads_merged": 1, "dev_read_sectors": 2,
             "dev_writes": 4, "dev_writes_merged": 5, "dev_write_sectors": 6}
COUNTED_BIOS = ("dev_reads", "dev_read_sectors", "dev_writes", "dev_write_sectors")
MSWAP_COUNTERS = (
    "pages_out", "pages_out_copied", "pages_in", "pages_in_waiting", "pages_in_copied", "pages_in_zero", "dev_writes",
    "dev_pages_written", "dev_reads", "dev_pages_read", "dev_pages_passed", "batches", "prefetched", "prefetch_used",
    "prefetch_wasted", "slot_frees", "discards", "stores_refused", "deferred",
)
# Not by how much they grew: what went wrong while a server was filled spoils its answers too.
MSWAP_ERRORS = ("read_errors", "write_errors", "nospace")
PAGES_A_REFUSAL = 1000  # what frontswap refuses goes to a ramdisk: no more than one page in so many
SWAPPED = ("pswpin", "pswpout", "zswpin", "zswpout")  # the latter two by zswap alone, which has them in memory
MS_A_TICK = 10  # of /proc/stat
CPUSTAT = {"user": (0, 1), "sys": (2, 5, 6)}  # user, nice; system, irq, softirq
BIO = re.compile(r"^bio .*rwbs: *([A-Z]+) .*hitcount: *(\d+) .*nr_sector: *(\d+)$")
VERIFIED = re.compile(r"^verified (\d+) (?:pages|objects), (\d+) bad$")


def cpu_ms(values):
    """Of the VALUES of the machine's line in /proc/stat, the time in the kernel and not."""
    return {name: sum(int(values[column]) for column in columns) * MS_A_TICK for name, columns in CPUSTAT.items()}


def _seconds(path):
    """CPU time of the machine, in the kernel and not, and the time in which all of the cgroup waited for memory."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, *values = line.split()
        if name == "cpustat":
            found |= {name: spent / 1000 for name, spent in cpu_ms(values).items()}
        elif name == "memstall":
            found["stall"] = int(values[0]) / 1e6
    return found


def _snapshot(path):
    """Counters of one moment: pages swapped, major faults, I/Os and pages of the device."""
    found = dict.fromkeys(COUNTED_BIOS, 0)
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        bio = BIO.match(line)
        if words[0] in SWAPPED:
            found[words[0]] = int(words[1])
        elif words[0] == "memfaults":
            found["major_faults"] = int(words[1])
        elif words[0] == "blockstat":
            found |= {name: int(words[1 + column]) for name, column in BLOCKSTAT.items()}
        elif bio and bio[1][0] in "RW":
            what = "read" if bio[1][0] == "R" else "write"
            found[f"dev_{what}s"] += int(bio[2])
            found[f"dev_{what}_sectors"] += int(bio[3])
    found["dev_pages_read"] = found.pop("dev_read_sectors") / SECTORS_PER_PAGE
    found["dev_pages_written"] = found.pop("dev_write_sectors") / SECTORS_PER_PAGE
    return found


def _between(before, after, digits=None):
    return {name: round(after[name] - before[name], digits) if digits else after[name] - before[name]
            for name in before}


def pages_swapped(counts):
    """In and out, also those that zswap keeps in memory."""
    return sum(counts.get(name, 0) for name in SWAPPED)


def kernel_per_page(step):
    """Instructions that the kernel executed for each page swapped; None when they were not counted."""
    pages = pages_swapped(step["counts"])
    return step["kernel_instructions"] / pages if pages and "kernel_instructions" in step else None


def _unknown_if_not_counted(counts):
    """A device that keeps no statistics (brd) shows no I/O although pages moved: that is unknown, not 0."""
    if counts["pswpin"] + counts["pswpout"] and not counts["dev_reads"] + counts["dev_writes"]:
        counts |= {name: None for name in counts if name.startswith("dev_")}
    return counts


def program_output(text):
    """Phases, figures and verdict of one program."""
    found = {"seconds": {}, "figures": {}, "verified": 0, "bad": 0, "filler": 0}
    for line in text.splitlines():
        match = VERIFIED.match(line)
        if match:
            found["verified"] += int(match[1])
            found["bad"] += int(match[2])
        elif line.startswith("figures "):
            found["figures"] |= {name: float(value) for name, value in guest.fields(line).items() if value}
        elif line.startswith("begin aged "):
            found["filler"] = int(guest.fields(line)["pages"])
        elif line.startswith("phase="):
            phase = guest.fields(line)
            seconds = found["seconds"]
            seconds[phase["phase"]] = seconds.get(phase["phase"], 0.0) + float(phase["secs"])
    return found


def _mswap_files(path):
    """Files of /sys/block/mswapN; cluster_hist as {pages: writes}."""
    files, hist = {}, collections.Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == "cluster_hist":
            pages, writes = value.split()
            hist[int(pages)] = int(writes)
        else:
            files[name] = int(value) if value.isdigit() else value
    return files, hist


def _mswap_between(before, after):
    """Knobs as they are, counters by what was added to them meanwhile."""
    (begin, begin_hist), (files, hist) = _mswap_files(before), _mswap_files(after)
    files |= {name: files[name] - begin[name] for name in MSWAP_COUNTERS if name in begin}
    return files, hist - begin_hist


def step_result(out, step, event, phased):
    """The result of STEP as a dict that goes to the JSON file as it is."""
    def path(name):
        return out / f"{step.number}.{name}"

    outputs = sorted(out.glob(f"{step.number}.out.*"))
    texts = [each.read_text(encoding="utf-8", errors="replace") for each in outputs]
    faults = [int(each.read_text()) for each in sorted(out.glob(f"{step.number}.faults.*"))]
    programs = [program_output(text) | {"major_faults": count} for text, count in zip(texts, faults, strict=True)]
    begin, end = _snapshot(path("begin")), _snapshot(path("end"))
    result = {
        "device": step.device,
        "program": step.program,
        "round": step.round,
        "side": step.side,
        "page_cluster": step.page_cluster,
        "root_reads": int(event.get("root_reads", 0)),
        "scheduler": event.get("scheduler", ""),
        "seconds": {"total": round(float(event["end"]) - float(event["begin"]), 3)},
        "counts": _unknown_if_not_counted(_between(begin, end)),
        "verified": sum(program["verified"] for program in programs),
        "bad": sum(program["bad"] for program in programs),
        "statuses": [int(each.read_text()) for each in sorted(out.glob(f"{step.number}.status.*"))],
        "figures": {name: value for program in programs for name, value in program["figures"].items()},
        "programs": programs,
        "output": texts,
    }
    result["seconds"] |= _between(_seconds(path("begin")), _seconds(path("end")), 3)
    if phased and path("middle").exists():
        result["seconds"] |= programs[0]["seconds"]
        middle = _snapshot(path("middle"))
        result["read_counts"] = _unknown_if_not_counted(_between(middle, end))
    result |= instructions.of_step(path) | conditions.of_step(path)
    if path("mswap").exists():
        result["mswap"], hist = _mswap_between(path("mswap.begin"), path("mswap"))
        if step.side == "frontswap":  # the kernel counts only what goes to the area
            result["counts"]["pswpout"] += result["mswap"]["pages_out"]
            result["counts"]["pswpin"] += result["mswap"]["pages_in"]
            result.pop("read_counts", None)
        result["cluster_hist"] = {str(pages): writes for pages, writes in sorted(hist.items())}
    return result


def cut_short(step):
    """The result of STEP when its boot ended before it did."""
    return {
        "device": step.device, "program": step.program, "round": step.round, "side": step.side,
        "page_cluster": step.page_cluster, "seconds": {}, "counts": {}, "verified": 0, "bad": 0, "statuses": [],
        "figures": {}, "programs": [], "output": [],
    }


def go_on(data, boots):
    """
    BOOTS are [(device, its steps)]. Takes the results out of DATA that are of rounds of a program that it has not
    whole; returns BOOTS with the steps that are missing.
    """
    kept, missing = [], []
    for kind, steps in boots:
        found = [step for step in data["steps"] if step["boot"] == kind]
        whole = resume.whole_groups(
            (((step.round, step.program), (step.device, step.side, step.page_cluster)) for step in steps),
            (((step["round"], step["program"]), (step["device"], step["side"], step["page_cluster"]))
             for step in found if step["statuses"]))
        kept += [step for step in found if (step["round"], step["program"]) in whole]
        todo = [step for step in steps if (step.round, step.program) not in whole]
        missing += [(kind, todo)] if todo else []
    data["steps"] = kept
    resume.begin(data)
    return missing


def ended(steps):
    """How many of the results STEPS are of steps that came to their end."""
    return sum(bool(step["statuses"]) for step in steps)


def _complaint_of_programs(step):
    known = plan.PROGRAMS.get(step["program"])
    wanted = len(known.commands) if known else 1
    filler = sum(program.get("filler", 0) for program in step["programs"])
    if any(step["statuses"]):
        return f"ended with status {' '.join(map(str, step['statuses']))}"
    if len(step["statuses"]) != wanted:
        return f"{len(step['statuses'])} of {wanted} programs ended"
    if step["bad"]:
        return f"{step['bad']} bad"
    if not all(program["verified"] for program in step["programs"]):
        return "a program verified nothing"
    if known and filler != known.filler:
        return f"swap held {filler} pages beside, not {known.filler}"
    return ""


def _complaint_of_mswap(counts):
    errors = [f"{counts[name]} {name}" for name in MSWAP_ERRORS if counts.get(name)]
    if errors:
        return f"mswap: {', '.join(errors)}"
    refused = counts.get("stores_refused", 0)
    if refused * PAGES_A_REFUSAL > counts.get("pages_out", 0):
        return f"mswap: {refused} stores_refused, of {counts['pages_out']} pages_out"
    return ""


def _complaint_of_swap(step):
    counts, side, device = step["counts"], plan.SIDES.get(step["side"]), plan.DEVICES.get(step["device"])
    for way in ("in", "out"):
        if not counts[f"pswp{way}"] + counts.get(f"zswp{way}", 0):
            return f"swapped nothing {way}"
    found = _complaint_of_mswap(step.get("mswap", {}))
    if found:
        return found
    if side and side.scheduler and step.get("scheduler") != side.scheduler:
        return f"the device's I/O scheduler was {step.get('scheduler') or 'unknown'}, not {side.scheduler}"
    if side and side.writes_in_background and device and device.keeps_statistics and not counts["dev_writes"]:
        return "nothing was written to the device"
    return ""


def complaint(step):
    """Why the result STEP does not count, or nothing."""
    if step.get("root_reads"):
        return f"{step['root_reads']} reads of the machine's own disk are in its time"
    return _complaint_of_programs(step) or _complaint_of_swap(step)


def failed(step):
    """Whether the result STEP does not count."""
    return bool(complaint(step))


def bytes_per_slot(step):
    """
    Memory that mswap has by its own files, beside the waiting room that its knob says, for each of its slots; None
    where it has not.
    """
    own = step.get("mswap", {})
    if not own.get("slots_total"):
        return None
    beside = max(own["waiting_bytes"] - own["waiting_pages"] * PAGE_BYTES, 0)
    return (own["footprint_bytes"] + beside) / own["slots_total"]


def per_io(counts, what, each):
    """WHAT for each of EACH (pages an I/O), or None when either is unknown."""
    return counts[what] / counts[each] if counts.get(each) and counts[what] is not None else None
