# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the harness itself: misbehaving tests and VMs must be noticed."""

import io
import os
import pathlib
import re
import shutil
import subprocess
import sys

from lablib import cache, machines, tree

from . import ktap, meta_run, unit, vm
from .report import FAIL, PASS, SKIP, Reporter

META = cache.CHECKOUT / "selftests/meta"
# Case -> what the harness must say of it: outcome, words in the reason, words in the log.
WANTED = {
    "a_pass": (PASS, "", ""),
    "b_fail": (FAIL, "1 of 2 bad: 2 false is true", "not ok 2 false is true"),
    "b_words": (FAIL, "9 of 13 bad: 1 a word; 2 a limit; 3 nothing; 4 a word in a sum; 5 half a sum; 6 a fraction; "
                      "7 a sign; 8 two operators; 9 a sign in a bracket", ""),
    "c_skip": (SKIP, "no such hardware", ""),
    "d_skip_silent": (FAIL, "skipped without a reason", ""),
    "e_silent": (FAIL, "no plan in its output", ""),
    "f_liar": (FAIL, "all results good, but status 1", "all is well"),
    "g_short": (FAIL, "planned 3 results, gave 1", ""),
    "h_loud": (FAIL, "the kernel log does not go back to its begin", ""),
    "h_warn": (FAIL, "kernel log: ", "muster_meta was asked to warn"),
    "i_warn_expected": (PASS, "", ""),
    "j_timeout": (FAIL, "time-out after 10 s, after 1 true is true", ""),
    "k_leftover": (FAIL, "left behind: swap areas changed: /dev/sd...; mounts changed: ...; "
                         "device-mapper device left; ...overcommit_kbytes 100000000; cgroup controller io; "
                         "trace buffer of 8...; module muster_meta; ...; module scsi_debug", ""),
    "k_leftover, after its end": (FAIL, "kernel log: ", "WARNING: late"),
    "l_after": (PASS, "", ""),
    "l_hangs": (FAIL, "hangs: still there 10 s after its start, after 1 true is true", "sysrq: Show Blocked State"),
    "m_panic": (FAIL, "the VM died", "Kernel panic"),
    "n_dies_late": (PASS, "", ""),
    "n_dies_late, after its end": (FAIL, "the VM died; kernel log: ", "Kernel panic"),
}
# Kernel -> mistake -> what it calls that. The first that ends lockdep is its own; leaks are looked for at the end.
PLANTED = {
    "debug": {
        "lock": "possible circular locking",
        "atomic": "scheduling while atomic",
        "bounds": "UBSAN",
        "freed": "KASAN: slab-use-after-free",
        "leak": "kmemleak: 1 new suspected memory leak",
    },
    "kcsan": {"race": "KCSAN: data-race in "},
}
# What the lab and guest-run leave of a boot, without a VM: what comes after it is what happens in the boot.
FAKE_LAB = """#!/bin/sh
out=$3
echo "[    0.500000] kmemleak: Kernel memory leak detector initialized" >"$out/console"
boot=${out##*boot}
begins() {
	mkdir "$out/$1"
	: >"$out/$1/started"
	echo "[    1.000000] selftest $1 begins, run 1" >>"$out/console"
}
passes() {
	begins "$1"
	printf '1..1\\nok 1 good\\n' >"$out/$1/out"
	echo "[    1.500000] selftest $1 ends" | tee -a "$out/console" >"$out/$1/dmesg"
	# At once, as guest-run: whoever looks may come in between.
	echo "0 10" >"$out/$1/status.new"
	mv "$out/$1/status.new" "$out/$1/status"
}
warns_as_expected() {
	echo "[    2.000000] WARNING: foreseen" >>"$out/console"
}
warns() {
	echo "[    2.000000] WARNING: lost" >>"$out/console"
}
boots_twice() {
	echo "[    0.900000] $1" >"$out/console.1"
}
ends() {
	cp "$out/console" "$out/dmesg"
	exit "$1"
}
"""
# What happens in boots for tests a and b -> what must be said of it: name, outcome, words in the reason.
ENDS = {
    "passes t.a; passes t.b; ends 0":
        {"t/a": (PASS, ""), "t/b": (PASS, "")},
    "passes t.a; warns_as_expected; passes t.b; warns_as_expected; ends 0":
        {"t/a": (PASS, ""), "t/b": (PASS, "")},
    "[ $boot = 2 ] || { passes t.a; ends 0; }; passes t.b; ends 0":
        {"t/a": (PASS, ""), "t/b": (PASS, ""),
         "t/a, after its end": (FAIL, "the lab ended with status 0 before the end")},
    "passes t.a; passes t.b; ends 124":
        {"t/a": (PASS, ""), "t/b": (PASS, ""), "t/b, after its end": (FAIL, "the VM ran out of time")},
    "passes t.a; passes t.b; warns; exit 1":
        {"t/a": (PASS, ""), "t/b": (PASS, ""),
         "t/b, after its end": (FAIL, "the lab ended with status 1; kernel log: [    2.000000] WARNING: lost")},
    "passes t.a; passes t.b; exit 0":
        {"t/a": (PASS, ""), "t/b": (PASS, ""), "t/b, after its end": (FAIL, "the VM left no kernel log")},
    "passes t.a; passes t.b; : >$out/dmesg; exit 3":
        {"t/a": (PASS, ""), "t/b": (PASS, ""), "t/b, after its end": (FAIL, "the VM left no kernel log")},
    "passes t.a; warns; begins t.b; ends 125":
        {"t/a": (PASS, ""), "t/a, after its end": (FAIL, "kernel log: [    2.000000] WARNING: lost"),
         "t/b": (FAIL, "the VM died")},
    "[ $boot = 2 ] || { passes t.a; ends 125; }; passes t.b; ends 0":
        {"t/a": (PASS, ""), "t/a, after its end": (FAIL, "the VM died"), "t/b": (PASS, "")},
    "[ $boot = 2 ] || { passes t.a; ends 3; }; warns; passes t.b; ends 0":
        {"t/a": (PASS, ""), "t/b, before its begin": (FAIL, "kernel log: "), "t/b": (PASS, "")},
    "ends 3":
        {"t/a": (FAIL, "the lab ended with status 3 before the end"),
         "t/b": (FAIL, "the lab ended with status 3 before the end")},
    "[ $boot = 2 ] || { begins t.a; ends 3; }; passes t.b; ends 0":
        {"t/a": (FAIL, "the lab ended with status 3 before the end"), "t/b": (PASS, "")},
    "begins t.a; ends 124":
        {"t/a": (FAIL, "the VM ran out of time"), "t/b": (FAIL, "the VM ran out of time")},
}
# What an OOM kill that is expected says before its stack, and what else may have a stack beside it: lines, trouble.
OOM_KILL = ["x invoked oom-killer: gfp_mask=0xcc0", "CPU: 0 UID: 0 PID: 1 Comm: x", "Tainted: [O]=OOT_MODULE",
            "Hardware name: QEMU", "Call Trace:"]
OOM_KILLS = (
    (OOM_KILL, []),
    ([*OOM_KILL[:2], *OOM_KILL[3:]], []),
    ([*OOM_KILL, " <TASK>", "Call Trace:"], ["Call Trace:"]),
    ([*OOM_KILL[:-1], " a", " b", "Call Trace:"], ["Call Trace:"]),
    ([*OOM_KILL[1:]], ["Call Trace:"]),
    ([OOM_KILL[0], "WARNING: x", *OOM_KILL[1:]], ["WARNING: x"]),
)


def _modules(kernel=machines.DEFAULT.kernel):
    """Builds the modules in kmod for KERNEL; returns the directory that they are in."""
    kmod = META / "kmod"
    sources = [path.read_bytes() for path in sorted(kmod.iterdir()) if path.suffix != ".ko"]
    machine = machines.MACHINES[kernel]
    tree.build(machine)
    out = cache.CACHE / "meta" / cache.digest(*sources, *tree.made(machine))
    with cache.lock(f"meta-{out.name}"):
        if not (out / "muster_planted.ko").exists():
            new = out.with_name(f"{out.name}.new")
            cache.remove(new)
            done = subprocess.run(
                [str(vm.LAB), "chroot", "--kernel", kernel, "--out", str(new), "--",
                 "cp -r /muster/selftests/meta/kmod /root/ && "
                 "make -C /lib/modules/*/build M=/root/kmod modules && "
                 "cp /root/kmod/*.ko /out"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                raise cache.LabError(f"selftests/meta/kmod does not build:\n{done.stdout}")
            cache.remove(out)
            new.rename(out)
    return out


def cases(logs):
    """Runs the misbehaving tests as the harness does, and compares what it says of them."""
    logs.mkdir(parents=True)
    tests = [vm.read_test(path, f"meta/{path.stem}") for path in sorted(META.glob("cases/*.sh"))]
    printed = io.StringIO()
    inner = Reporter(printed)
    vm.Boots(tests, inner, logs, _modules(), "MUSTER_MODULES=muster_meta").run()
    status = inner.finish()
    text = printed.getvalue()
    bad = [complaint for name, wanted in WANTED.items()
           for complaint in _compare(name, wanted, inner.results)]
    if len(inner.results) != len(WANTED):
        bad.append(f"{len(inner.results)} results, wanted {len(WANTED)}")
    outcomes = [outcome for outcome, *_ in WANTED.values()]
    closing = (f"{outcomes.count(PASS)} passed, {outcomes.count(FAIL)} failed, "
               f"{outcomes.count(SKIP) + 1} skipped")
    if text.splitlines()[-1] != closing:
        bad.append(f"closing line is not '{closing}'")
    if status != 1:
        bad.append(f"exit status {status} with failed tests")
    if "# skipped in meta/a_pass: a case: to see it counted" not in text:
        bad.append("the skipped case of a_pass is not shown")
    return (1, "\n".join([*bad, "--- what it printed", text])) if bad else (0, "")


def _compare(name, wanted, results):
    outcome, why, log = wanted
    got = next((result for result in results if result.name == f"meta/{name}"), None)
    if got is None:
        yield f"{name}: no result"
    elif got.outcome != outcome or not _in_order(why, got.why) or log not in got.log:
        yield f"{name}: {got.outcome} '{got.why}', wanted {outcome} '{why}', log with '{log}'"


def _in_order(wanted, text):
    """Is WANTED part of TEXT, where any words may be for each "..."?"""
    return re.search(".*".join(re.escape(part) for part in wanted.split("...")), text)


def kernel_log(_logs):
    """Every kind of trouble that the kernel reports is found, and ordinary lines are not."""
    trouble = """
WARNING: CPU: 0 PID: 1 at mm/slub.c:1 x+0x1/0x2
BUG: kernel NULL pointer dereference, address: 0000000000000008
Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI
INFO: task kswapd0:50 blocked for more than 120 seconds.
INFO: task kswapd0:50 blocked in I/O wait for more than 120 seconds.
Call Trace:
BUG: KASAN: slab-use-after-free in x+0x1/0x2
UBSAN: array-index-out-of-bounds in x.c:1:2
WARNING: possible circular locking dependency detected
WARNING: possible recursive locking detected
WARNING: inconsistent lock state
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-.... } 5 jiffies s: 1 root: 0x2/.
rcu: rcu_preempt kthread starved for 5250 jiffies! g1 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=1
watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [x:1]
BUG: sleeping function called from invalid context at x.c:1
general protection fault, probably for non-canonical address 0xdead: 0000 [#1]
invalid opcode: 0000 [#1] SMP NOPTI
refcount_t: saturated; leaking memory.
INFO: trying to register non-static key.
turning off the locking correctness validator.
watchdog: Watchdog detected hard LOCKUP on cpu 1
swap_info_get: Unused swap offset entry 00000008
list_add corruption. prev->next should be next
kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
BUG: Bad page state in process x pfn:1
mm/pgtable-generic.c:51: bad pmd 00000000deadbeef(8000000000000067)
SLUB: Unable to allocate memory on CPU 0 (of node 0) on node -1, gfp=0xcc0(GFP_KERNEL)
debugfs: Directory 'mswap0' with parent 'block' already present!
debugfs: 'mswap0' already exists in 'block'
sysfs: cannot create duplicate filename '/devices/virtual/block/mswap0'
Read-error on swap-device (254:0:8)
Buffer I/O error on dev mswap0, logical block 0, async page read
critical medium error, dev muster0, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2
critical target error, dev muster0, sector 8 op 0x3:(DISCARD) flags 0x0 phys_seg 1 prio class 2
critical space allocation error, dev muster0, sector 8 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 2
critical nexus error, dev muster0, sector 8 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 2
protection error, dev sda, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2
invalid error, dev sda, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2
timeout error, dev sda, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2
blk_update_request: kernel resource error, dev sda, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2
device offline error, dev sda, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2
nvme0n1: rw=0, sector=552616, nr_sectors = 128 limit=1048576
nvme0n1: rw=0, want=552616, limit=1048576
blk_cloned_rq_check_limits: over max size limit. (256 > 128)
blk_cloned_rq_check_limits: over max segments limit. (256 > 128)
request botched: dev sda: type=0, flags=0
Trying to write to read-only block-device dm-0
device-mapper: table: 254:0: adding target device sda caused an alignment inconsistency: physical_block_size=4096
pagestride invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
get_swap_device: Bad swap offset entry 3ffffffffffff
EXT4-fs error (device mswap0): ext4_lookup:1858: inode #2: comm ls: deleted inode referenced: 12
EXT4-fs (mswap0): Delayed block allocation failed for inode 12 at logical offset 0 with max blocks 1 with error 5
Aborting journal on device mswap0-8.
JBD2: Error -5 detected when updating journal superblock for mswap0-8.
JBD2: Detected IO errors while flushing file data on mswap0-8
XFS (mswap0): Metadata corruption detected at xfs_agf_verify+0x1/0x2 [xfs], xfs_agf block 0x1
XFS (mswap0): Metadata CRC error detected at xfs_agf_read_verify+0x1/0x2 [xfs], xfs_agf block 0x1
XFS (mswap0): Log I/O Error Detected.  Shutting down filesystem.
XFS (mswap0): Filesystem has been shut down due to log error (0x2).
XFS (mswap0): writeback error on inode 132, offset 0, sector 96
mswap0: writeback error on inode 132, offset 0, sector 96
kworker/0:1: page allocation failure: order:0, mode:0xc20
kobject: kobject_add_internal failed for w2r (error: -12 parent: dm-0)
VFS: Busy inodes after unmount of mswap0 (ext4)
Huh VM_FAULT_OOM leaked out to the #PF handler. Retrying PF
EXT4-fs (mswap0): failed to convert unwritten extents to written extents -- potential data loss!  (inode 12, error -5)
x: possible deadlock in y
nvme nvme0: I/O tag 8 (1008) opcode 0x2 (I/O Cmd) QID 2 timeout, completion polled
nvme nvme0: I/O 8 QID 2 timeout, aborting
buscheck[741]: segfault at 8 ip 0000000000401234 sp 00007ffc00000000 error 4 in buscheck[401000+1000]
traps: buscheck[741] trap divide error ip:401234 sp:7ffc00000000 error:0 in buscheck[401000+1000]
huh, entered softirq 4 BLOCK 00000000deadbeef with preempt_count 00000100, exited with 00000101?
device-mapper: integrity: dm-0: Checksum failed at sector 0x7ff8
mswap: only 1 of 2 devices were made (error -12)
mswap: mswap0: I/O of 8 sectors at sector 0 has no backing device to go to
mswap: mswap0: I/O of 1 sectors at sector 0 is not of whole 4 KiB slots
mswap: mswap0: I/O of 8 sectors at sector 1048576 ends behind the last slot
mswap: mswap0: read of 1 slots at slot 8 of the backing device failed (error -5)
mswap: mswap0: write of 64 slots at slot 960 of the backing device failed (error -5)
mswap: mswap0: 24 of 64 slots at slot 960 do not take writes and were retired
mswap: mswap0: no physical slot is left for 36 pages (100 slots retired after write errors)
mswap: mswap0: reads no longer pass over slots, since one that did has failed
mswap-frontswap: process 741 (buscheck) is killed: a page of it cannot be read back
device-mapper: w2r: 254:0: no files in sysfs
Kernel panic - not syncing: x
""".strip().splitlines()
    quiet = """
mswap0: backing device /dev/ram0, 65536 slots
mswap: loading out-of-tree module taints kernel.
Adding 65532k swap on /dev/mswap0.  Priority:-2 extents:1 across:65532k SS
brd: module loaded
null_blk: disk nullb0 created
XFS (mswap0): Ending clean mount
mswap: mswap0: reset refused: the device is in use (swap, mount, frontswap, or a program)
read_op_failed: 82 callbacks suppressed
dm_w2r: module verification failed: signature and/or required key missing - tainting kernel
buscheck: attempt to access beyond end of device
nvme0n1: rw=0, sector=552616, nr_sectors = 128 limit=0
nvme0n1: rw=0, want=552616, limit=0
SLUB: HWalign=64, Order=0-3, MinObjects=0, CPUs=2, Nodes=1
hrtimer: interrupt took 104857600 ns
clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is too large:
clocksource: Long readout interval, skipping watchdog check: cs_nsec: 3000000000 wd_nsec: 3000000000
workqueue: w2r_submit_work [dm_w2r] hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND
perf: interrupt took too long (2501 > 2500), lowering kernel.perf_event_max_sample_rate to 79750
sched: RT throttling activated
""".strip().splitlines()
    bad = [f"not found: {line}" for line in trouble if not ktap.kernel_trouble(line, [])]
    bad += [f"found in vain: {line}" for line in quiet if ktap.kernel_trouble(line, [])]
    for number, (lines, wanted) in enumerate(OOM_KILLS, 1):
        got = ktap.kernel_trouble("\n".join(lines), ["invoked oom-killer"])
        if got != wanted:
            bad.append(f"of OOM kill {number}: {got}")
    return (1, "\n".join(bad)) if bad else (0, "")


def _boots_with(lab, logs, seconds=5, grace=vm.GRACE_SECONDS, printed=None, needs=()):
    """
    {name: (outcome, why)} of the results of tests a and b, with what LAB makes of their boots, and what they NEED of
    these; PRINTED gets more.
    """
    logs.mkdir(parents=True)
    (logs / "bin").mkdir()
    (logs / "lab").write_text(lab)
    (logs / "lab").chmod(0o755)
    tests = [vm.Test(name, META / "planted.sh", seconds, needs, ("WARNING: foreseen",)) for name in ("t/a", "t/b")]
    inner = Reporter(printed or io.StringIO())
    boots = vm.Boots(tests, inner, logs, logs / "bin")
    boots.lab = logs / "lab"
    boots.grace = grace
    boots.run()
    return {result.name: (result.outcome, result.why) for result in inner.results}


def ends(logs):
    """However a boot ends, what came between its tests or after the last one is not lost."""
    bad = []
    for number, (what, wanted) in enumerate(ENDS.items(), 1):
        got = _boots_with(FAKE_LAB + what + "\n", logs / str(number))
        right = got.keys() == wanted.keys() and all(
            got[name][0] == outcome and why in got[name][1] for name, (outcome, why) in wanted.items())
        if not right:
            bad.append(f"{what}:\n  said {got},\n  wanted {wanted}")
    return (1, "\n".join(bad)) if bad else (0, "")


def booted_twice(logs):
    """That the lab had to boot twice is told; trouble of the first time is a failure, that of a lost CPU is none."""
    bad = []
    for number, (line, trouble) in enumerate((("x", ""), ("rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", ""),
                                              ("WARNING: early", "WARNING: early"))):
        printed = io.StringIO()
        what = f"boots_twice '{line}'; passes t.a; passes t.b; ends 0\n"
        got = _boots_with(FAKE_LAB + what, logs / str(number), printed=printed)
        outcome, why = got.pop("t/a, before its begin", ("", ""))
        right = (outcome == FAIL and trouble in why) if trouble else not outcome
        if not right or got != {"t/a": (PASS, ""), "t/b": (PASS, "")}:
            bad.append(f"{line}: said {got}, before them {outcome} '{why}'")
        if "booted twice for t/a, t/b: see " not in printed.getvalue():
            bad.append(f"{line}: said not that it booted twice:\n{printed.getvalue()}")
    return (1, "\n".join(bad)) if bad else (0, "")


def hibernates(logs):
    """A machine that hibernates and does not return, or whose other kernels report trouble, is a failure."""
    bad = []
    passed = {"t/a": (PASS, ""), "t/b": (PASS, "")}
    warned = {"t/b, after its end": (FAIL, "console: [    2.000000] WARNING: lost")}
    logged = 'passes t.a; passes t.b; cp "$out/console" "$out/dmesg"; '
    for number, (what, wanted) in enumerate(((logged + "exit 0", passed),
                                             (logged + "warns_as_expected; exit 0", passed),
                                             (logged + "warns; exit 0", passed | warned),
                                             ("exit 125", {name: (FAIL, "the VM died") for name in passed}))):
        got = _boots_with(FAKE_LAB + what + "\n", logs / str(number), needs=(("hibernates", "yes"),))
        if got != wanted:
            bad.append(f"{what}:\n  said {got},\n  wanted {wanted}")
    return (1, "\n".join(bad)) if bad else (0, "")


def hung_vm(logs):
    """A VM in which a test goes on after guest-run should have ended it is ended; the tests after it have another."""
    what = "[ $boot = 2 ] || { begins t.a; exec sleep 100; }; passes t.b; ends 0"
    got = _boots_with(FAKE_LAB + what + "\n", logs, 2, 2)
    return (0, "") if got == {"t/a": (FAIL, "the VM hung"), "t/b": (PASS, "")} else (1, f"said {got}")


def frozen_vm(logs):
    """A VM whose CPUs all stand still is ended by the lab, which says so and shows the console."""
    shutil.copytree(_modules(), logs)
    # Until it is ended each thread that emulates CPUs keeps one of the host busy.
    done = subprocess.run([str(vm.LAB), "run", "--no-sync", "--one-thread", "--timeout", "10", "--out", str(logs),
                           "--", "insmod /out/muster_meta.ko how=freeze"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    said = "the VM was ended after 10 s; the end of its console:" in done.stdout
    return (0, "") if done.returncode == 124 and said else (
        1, f"status {done.returncode}, wanted 124\n{done.stdout}")


def kernels(_logs):
    """A test runs on the kernels that its header names, on some only when asked; an unknown one is an error."""
    bad = []
    tests = [vm.Test(name, META, 5, (), (), *(vm.read_kernels(text) for text in (text, asked_for, races)))
             for name, text, asked_for, races in (("a", "all", "5.10", ""), ("b", "5.10 newest", "", "all"),
                                                  ("c", "5.10 6.12", "", "6.12"))]
    chosen = vm.for_kernels(tests, ("5.10", "6.1", "6.12", "debug"))
    runs = [test.label + "".join(f" {key}" for key, _ in test.needs) for test in chosen]
    if runs != ["a@5.10 one-thread", "a@6.1 one-thread", "a@6.12 one-thread", "a@debug", "b@5.10",
                "c@5.10 one-thread", "c@6.12", "c@debug"]:
        bad.append(f"runs {runs}")
    if [test.label for test in vm.unasked(chosen)] != ["a@6.1", "a@6.12", "a@debug", "b@5.10", "c@5.10", "c@6.12",
                                                       "c@debug"]:
        bad.append(f"unasked runs {vm.unasked(chosen)}")
    try:
        vm.read_kernels("5.11")
        bad.append("took kernel 5.11")
    except cache.LabError:
        pass
    return (1, "\n".join(bad)) if bad else (0, "")


def groups(_logs):
    """Tests of the same needs share a boot; what they do not notice one boot of them has, for those that need it."""
    needs = {"a": (), "b": (), "c": (("nvme", "1G"),), "d": (("nvme", "2G"),), "e": (("mem", "1G"),),
             "f": (("append", "x"), ("mem", "1G")), "g": (("append", "x"), ("mem", "2G"))}
    boots = vm.group([vm.Test(name, META, 5, each, (), kernel="6.12") for name, each in needs.items()])
    got = sorted("".join(test.name for test in boot) for boot in boots)
    return (0, "") if got == ["cab", "d", "fe", "g"] else (1, f"groups {got}")


def broken_machine(logs):
    """A machine that cannot be made fails the tests that want it; they are not skipped."""
    logs.mkdir(parents=True)
    fake = logs / "mmdebstrap"
    fake.write_text("#!/bin/sh\necho no mirror >&2\nexit 1\n")
    fake.chmod(0o755)
    programs = vm.build_programs()
    vm.copy_programs(programs, logs / "cache" / programs.relative_to(cache.CACHE))
    environment = os.environ | {"PATH": f"{logs}:{os.environ['PATH']}", "MUSTER_CACHE": str(logs / "cache")}
    done = subprocess.run([str(vm.SELFTESTS / "run"), "--kernels", "6.1", "mswap/lifecycle", "dkms/life"],
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    wanted = ("mswap/lifecycle@6.1: the VM did not start", "dkms/life@6.1: ", "no mirror")
    said = done.stdout.rstrip().endswith("\n0 passed, 2 failed, 0 skipped")
    good = done.returncode == 1 and said and all(each in done.stdout for each in wanted)
    return (0, "") if good else (1, f"status {done.returncode}, wanted 1\n{done.stdout}")


def lost_network(logs):
    """Where packages cannot be fetched the lab tries again, anew and not for ever; what else fails has failed."""
    logs.mkdir(parents=True)
    bad = []
    for number, (said, lost, tried) in enumerate((("E: Failed to fetch x", 2, 3), ("E: Failed to fetch x", 9, 4),
                                                  ("E: no such package", 1, 1))):
        root, tries = logs / f"root{number}", logs / f"tries{number}"
        script = f"mkdir {root} && echo >>{tries}; [ $(wc -l <{tries}) -gt {lost} ] || {{ echo {said}; exit 1; }}"
        code = ("from lablib import cache\n"
                f"cache.fetched(['sh', '-c', {script!r}], {str(logs / 'log')!r}, {str(root)!r}, (0, 0, 0))")
        done = subprocess.run([sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=os.environ | {"PYTHONPATH": str(vm.LAB.parent)})
        got = len(tries.read_text()), done.returncode == 0
        if got != (tried, tried > lost):
            bad.append(f"'{said}', {lost} times: {got}\n{done.stdout}")
    return (1, "\n".join(bad)) if bad else (0, "")


def late_vm(logs):
    """A VM that does not boot in time is booted once more; then it has failed. Both consoles are shown and kept."""
    logs.mkdir(parents=True)
    done = subprocess.run([str(vm.LAB), "run", "--no-sync", "--console", str(logs / "console"), "true"],
                          env=os.environ | {"MUSTER_BOOT_SECONDS": "0"}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    late = done.stdout.count("the VM did not boot; the end of its console:")
    kept = (logs / "console").exists() and (logs / "console.1").exists()
    good = done.returncode == 124 and late == 2 and kept and "booting once more" in done.stdout
    return (0, "") if good else (1, f"status {done.returncode}, wanted 124\n{done.stdout}")


def missing_kernel(logs):
    """Tests on a kernel that would have to be built first are skipped, and say so; a run of nothing else fails."""
    done = subprocess.run([str(vm.SELFTESTS / "run"), "meta/planted"], text=True,
                          env=os.environ | {"MUSTER_CACHE": str(logs)}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = "ok 1 - meta/planted # SKIP kernel debug is not in the cache" in done.stdout
    closed = done.stdout.rstrip().endswith("\n# no test ran\n0 passed, 0 failed, 1 skipped")
    good = done.returncode == 1 and said and closed
    return (0, "") if good else (1, f"status {done.returncode}, wanted 1\n{done.stdout}")


def _holder(logs):
    """A process that waits in a scratch directory of the lab's, and that directory."""
    code = ("import time\nfrom lablib import cache\n"
            "with cache.scratch('meta') as path:\n    print(path, flush=True)\n    time.sleep(60)")
    process = subprocess.Popen([sys.executable, "-c", code], text=True, stdout=subprocess.PIPE,
                               env=os.environ | {"MUSTER_CACHE": str(logs), "PYTHONPATH": str(vm.LAB.parent)})
    return process, pathlib.Path(process.stdout.readline().rstrip())


def killed_lab(logs):
    """What a killed lab left in the cache goes when the next one starts; what another uses stays."""
    killed, running = _holder(logs), _holder(logs)
    killed[0].kill()
    killed[0].wait()
    left = killed[1].is_dir()
    new = _holder(logs)
    try:
        good = left and not killed[1].exists() and running[1].is_dir() and new[1].is_dir()
    finally:
        for process, _ in (running, new):
            process.kill()
            process.wait()
    return (0, "") if good else (1, f"of {killed[1]}, {running[1]} and {new[1]} not the first was removed")


def no_unit_tests(logs):
    """Where there are no tests of the tools, that is no success."""
    logs.mkdir(parents=True)
    status, output = unit.discover(logs)
    return (0, "") if status else (1, f"succeeded:\n{output}")


def parts(_logs):
    """What the lab and the harness do with files; takes no machine."""
    return unit.discover("selftests/meta")


def soak_step(_logs):
    """What ends the soak test in one of its steps is told."""
    code = f"""
. {vm.SELFTESTS}/lib/ktap.sh
WORK=$(mktemp -d)
on_exit rm -r "$WORK"
. {vm.SELFTESTS}/soak/steps.sh
STEPS=(bails)
step_bails() {{ must cat /nothing-here; }}
steps_until $((SECONDS + 5)) 1"""
    done = subprocess.run(["bash", "-c", code], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    good = done.returncode == 1 and "\nBail out! preparation failed: cat /nothing-here\n" in done.stdout
    return (0, "") if good else (1, f"status {done.returncode}:\n{done.stdout}")


def _planted(kernel, logs):
    """Mistakes of a module that spoil no result: KERNEL finds each, and the test that made it fails."""
    logs.mkdir(parents=True)
    tests = vm.with_little(vm.for_kernels(
        [vm.read_test(META / f"planted/{how}.sh", f"meta/{how}") for how in PLANTED[kernel]], (kernel,)))
    printed = io.StringIO()
    inner = Reporter(printed)
    vm.Boots(tests, inner, logs, _modules(kernel), "MUSTER_LOCKDEP_ENDS=1").run()
    found = {result.name.partition("@")[0]: result for result in inner.results}
    bad = []
    for how, words in PLANTED[kernel].items():
        result = found.get(f"meta/{how}")
        if not result or result.outcome != FAIL or not result.why.startswith("kernel log: ") or words not in result.log:
            bad.append(f"{how}: '{words}' was not found, or did not fail the test")
    return (1, "\n".join([*bad, "--- what it printed", printed.getvalue()])) if bad else (0, "")


def planted(logs):
    return _planted("debug", logs)


def planted_race(logs):
    return _planted("kcsan", logs)


TESTS = {"cases": cases, "ends": ends, "planted": planted, "planted_race": planted_race, "kernel_log": kernel_log,
         "booted_twice": booted_twice, "hibernates": hibernates, "hung_vm": hung_vm, "frozen_vm": frozen_vm,
         "late_vm": late_vm, "kernels": kernels, "groups": groups, "broken_machine": broken_machine,
         "lost_network": lost_network,
         "missing_kernel": missing_kernel, "killed_lab": killed_lab, "no_unit_tests": no_unit_tests, "parts": parts,
         "soak_step": soak_step, **meta_run.TESTS}
# What a test boots, where that is not the default.
KERNELS = {"planted": "debug", "planted_race": "kcsan"}
