# SPDX-License-Identifier: GPL-2.0-only
"""Judges a selftest by its output, its exit status and the kernel log."""

import re

from .report import FAIL, PASS, SKIP

EXIT_SKIP = 4
PLAN = re.compile(r"^1\.\.(\d+)(?:\s*# SKIP\s*(.*))?$")
CASE = re.compile(r"^(ok|not ok) (\d+)\b(?:[ -]*)(.*?)(?:\s*# SKIP\s*(.*))?$")
KERNEL_TROUBLE = re.compile("|".join((
    r"WARNING: ", r"\bBUG\b", r"\bOops\b", r"kernel BUG at", r"Call Trace:", r"\bKASAN\b",
    r"\bUBSAN\b", r"\bKFENCE\b", r"general protection fault", r"invalid opcode",
    r"Unable to handle kernel", r"unable to handle page fault", r"Kernel panic",
    r"blocked\b.* for more than \d+ seconds", r"possible (circular|recursive) locking",
    r"inconsistent lock state", r"suspicious RCU usage", r"held lock freed",
    r"detected (expedited )?stalls", r"self-detected stall", r"kthread starved", r"soft lockup", r"hard LOCKUP",
    r"\bstuck\b", r"sleeping function called", r"scheduling while atomic", r"list_(add|del) corruption",
    r"refcount_t: ", r"page allocation failure", r"SLUB: Unable to allocate", r"Bad page", r"bad (pgd|p4d|pud|pmd)\b",
    r"kmemleak: ", r"debugfs: .* already (present|exists)", r"cannot create duplicate filename",
    r"memory corruption", r"non-static key", r"locking correctness validator",
    r"use-after-free", r"double free", r"Objects remaining in", r"stack guard page", r"I/O error",
    r"\w error, dev \S+, sector", r"\brw=-?\d+, (sector|want)=.*\blimit=[1-9]", r"over max (size|segments) limit",
    r"request botched", r"Trying to write to read-only block-device", r"caused an alignment inconsistency",
    r"(Read|Write)-error on swap-device", r"Bad swap (file|offset) entry", r"Unused swap",
    r"EXT4-fs error", r"Delayed block allocation failed", r"Aborting journal", r"JBD2: (Error|Detected IO errors)",
    r"XFS .*([Cc]orruption|CRC error|Internal error|Shutting down filesystem|has been shut down)",
    r"writeback error on inode", r"invoked oom-killer: ", r"kobject_add_internal failed for", r"VFS: Busy inodes after",
    r"Huh VM_FAULT_OOM leaked", r"potential data loss", r"possible deadlock in", r"\bI/O (tag )?\d+ .*\btimeout\b",
    r"\bsegfault at\b", r"\btraps: .* trap ", r"huh, entered softirq", r"device-mapper: integrity: .*Checksum failed",
    # What muster's modules say of themselves.
    r"\b(read|write) of \d+ slots at slot \d+ of the backing device failed", r"do not take writes and were retired",
    r"no physical slot is left", r"reads no longer pass over slots", r"a page of it cannot be read back",
    r"w2r: .*: no files in sysfs", r"only \d+ of \d+ devices were made",
    r"I/O of \d+ sectors at sector \d+ (has no backing device|is not of whole|ends behind)",
)))
OOM_KILL = re.compile(r"invoked oom-killer: ")
# CPU, taint, machine: what an OOM kill says before its stack.
OOM_HEAD_LINES = 5
EXPECTED_AT_BOOT = ("kmemleak: Kernel memory leak detector initialized",)
# An emulator that loses the timer of a CPU leaves what waits there, and whoever waits for that.
EXPECTED_OF_LOST_BOOT = (*EXPECTED_AT_BOOT, r"detected (expedited )?stalls", r"kthread starved",
                         r"blocked\b.* for more than \d+ seconds", r"Call Trace:")
WINDOW = re.compile(r"^.*\bselftest (\S+) (begins|ends)\b.*$", re.MULTILINE)


def _unforeseen(dmesg, allowed):
    """Lines that no regex of ALLOWED matches; with an OOM kill that one does match goes the head of its stack."""
    head = 0
    for line in dmesg.splitlines():
        head -= 1
        if any(each.search(line) for each in allowed):
            head = OOM_HEAD_LINES + 1 if OOM_KILL.search(line) else head
        elif head > 0 and line.endswith("Call Trace:"):
            head = 0
        else:
            yield line


def kernel_trouble(dmesg, expected):
    """Lines of the kernel log that tell of a defect and are not EXPECTED (a list of regexes)."""
    allowed = [re.compile(each) for each in expected]
    return [line for line in _unforeseen(dmesg, allowed) if KERNEL_TROUBLE.search(line)]


def gaps(dmesg):
    """(id of the test before or None, lines) of each part of the kernel log in which no test runs."""
    last, start = None, 0
    for mark in WINDOW.finditer(dmesg):
        if mark[2] == "begins":
            if start is not None:
                yield last, dmesg[start:mark.start()]
            start = None
        else:
            last, start = mark[1], mark.end()
    if start is not None:
        yield last, dmesg[start:]


def parse(text):
    """(plan or None, reason of a whole skip, [(number, good, name, skip reason)], bailed out)."""
    plan, why, cases, bail = None, None, [], None
    for line in text.splitlines():
        if match := PLAN.match(line):
            plan, why = int(match[1]), match[2]
        elif match := CASE.match(line):
            cases.append((int(match[2]), match[1] == "ok", match[3], match[4]))
        elif line.startswith("Bail out!"):
            bail = line
    return plan, why, cases, bail


def progress(text):
    """How far a test came that did not end: a few words, as a log may be shown in part."""
    _, _, cases, _ = parse(text)
    if not cases:
        return "before its first result"
    number, good, name, _ = cases[-1]
    return f"after {number} {name}" + ("" if good else ", which is bad")


def judge_output(text, status):
    """(outcome, why, skipped cases) by output and exit status alone."""
    plan, skip_why, cases, bail = parse(text)
    bad = [f"{number} {name}" for number, good, name, _ in cases if not good]
    if bail:
        return FAIL, bail, ()
    if bad:
        return FAIL, f"{len(bad)} of {len(cases)} bad: " + "; ".join(bad), ()
    if (status == EXIT_SKIP and not skip_why) or any(why == "" for *_, why in cases):
        return FAIL, "skipped without a reason", ()
    if status == EXIT_SKIP:
        return SKIP, skip_why, ()
    if plan is None:
        return FAIL, f"no plan in its output, status {status}", ()
    if plan == 0:
        return FAIL, f"planned no result, status {status}", ()
    if [number for number, *_ in cases] != list(range(1, plan + 1)):
        return FAIL, f"planned {plan} results, gave {len(cases)}", ()
    if status:
        return FAIL, f"all results good, but status {status}", ()
    return PASS, "", tuple(f"{name}: {why}" for _, _, name, why in cases if why)


def judge(text, status, dmesg, expected):
    """(outcome, why, skipped cases) of one test that ran to its end."""
    outcome, why, skipped = judge_output(text, status)
    trouble = kernel_trouble(dmesg, expected)
    if trouble:
        reason = f"kernel log: {trouble[0].strip()}"
        return FAIL, f"{why}; {reason}" if outcome == FAIL else reason, ()
    return outcome, why, skipped
