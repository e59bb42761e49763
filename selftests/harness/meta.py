# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the harness itself: misbehaving tests and VMs must be noticed."""

import dataclasses
import io
import os
import pathlib
import shutil
import subprocess
import sys

from lablib import cache, machines, tree

from . import ktap, vm
from .report import FAIL, PASS, SKIP, Reporter

META = cache.CHECKOUT / "selftests/meta"
# Case -> what the harness must say of it: outcome, words in the reason, words in the log.
WANTED = {
    "a_pass": (PASS, "", ""),
    "b_fail": (FAIL, "1 of 2 bad: 2 false is true", "not ok 2 false is true"),
    "c_skip": (SKIP, "no such hardware", ""),
    "d_skip_silent": (FAIL, "skipped without a reason", ""),
    "e_silent": (FAIL, "no plan in its output", ""),
    "f_liar": (FAIL, "all results good, but status 1", "all is well"),
    "g_short": (FAIL, "planned 3 results, gave 1", ""),
    "h_loud": (FAIL, "the kernel log does not go back to its begin", ""),
    "h_warn": (FAIL, "kernel log: ", "muster_meta was asked to warn"),
    "i_warn_expected": (PASS, "", ""),
    "j_timeout": (FAIL, "time-out after 2 s, after 1 true is true", ""),
    "k_leftover": (FAIL, "left behind: ", ""),
    "k_leftover, after its end": (FAIL, "kernel log: ", "WARNING: late"),
    "l_after": (PASS, "", ""),
    "m_panic": (FAIL, "the VM died", "Kernel panic"),
}
# Kernel -> mistake -> what it calls that. The first that ends lockdep is its own; leaks are looked for at the end.
PLANTED = {
    "debug": {
        "atomic": "scheduling while atomic",
        "bounds": "UBSAN",
        "lock": "possible circular locking",
        "freed": "KASAN: slab-use-after-free",
        "leak": "kmemleak: 1 new suspected memory leak",
    },
    "kcsan": {"race": "KCSAN: data-race in "},
}


def _modules(kernel=machines.DEFAULT.kernel):
    """Builds the modules in kmod for KERNEL; returns the directory that they are in."""
    kmod = META / "kmod"
    sources = [path.read_bytes() for path in sorted(kmod.iterdir()) if path.suffix != ".ko"]
    machine = machines.MACHINES[kernel]
    tree.build(machine)
    out = cache.CACHE / "meta" / cache.digest(*sources, *tree.made(machine))
    with cache.lock(f"meta-{out.name}"):
        if not (out / "muster_planted.ko").exists():
            done = subprocess.run(
                [str(vm.LAB), "chroot", "--kernel", kernel, "--out", str(out), "--",
                 "cp -r /muster/selftests/meta/kmod /root/ && "
                 "make -C /lib/modules/*/build M=/root/kmod modules && "
                 "cp /root/kmod/*.ko /out"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                raise cache.LabError(f"selftests/meta/kmod does not build:\n{done.stdout}")
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
    elif got.outcome != outcome or why not in got.why or log not in got.log:
        yield f"{name}: {got.outcome} '{got.why}', wanted {outcome} '{why}', log with '{log}'"


def kernel_log(_logs):
    """Every kind of trouble that the kernel reports is found, and ordinary lines are not."""
    trouble = """
WARNING: CPU: 0 PID: 1 at mm/slub.c:1 x+0x1/0x2
BUG: kernel NULL pointer dereference, address: 0000000000000008
Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI
INFO: task kswapd0:50 blocked for more than 120 seconds.
Call Trace:
BUG: KASAN: slab-use-after-free in x+0x1/0x2
UBSAN: array-index-out-of-bounds in x.c:1:2
WARNING: possible circular locking dependency detected
WARNING: possible recursive locking detected
WARNING: inconsistent lock state
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [x:1]
BUG: sleeping function called from invalid context at x.c:1
general protection fault, probably for non-canonical address 0xdead: 0000 [#1]
list_add corruption. prev->next should be next
kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
BUG: Bad page state in process x pfn:1
Read-error on swap-device (254:0:8)
Buffer I/O error on dev mswap0, logical block 0, async page read
get_swap_device: Bad swap offset entry 3ffffffffffff
EXT4-fs error (device mswap0): ext4_lookup:1858: inode #2: comm ls: deleted inode referenced: 12
kworker/0:1: page allocation failure: order:0, mode:0xc20
Kernel panic - not syncing: x
""".strip().splitlines()
    quiet = """
mswap0: backing device /dev/ram0, 65536 slots
mswap: loading out-of-tree module taints kernel.
Adding 65532k swap on /dev/mswap0.  Priority:-2 extents:1 across:65532k SS
brd: module loaded
null_blk: disk nullb0 created
""".strip().splitlines()
    bad = [f"not found: {line}" for line in trouble if not ktap.kernel_trouble(line, [])]
    bad += [f"found in vain: {line}" for line in quiet if ktap.kernel_trouble(line, [])]
    return (1, "\n".join(bad)) if bad else (0, "")


def frozen_vm(logs):
    """A VM whose CPUs all stand still is ended by the lab, which says so and shows the console."""
    shutil.copytree(_modules(), logs)
    done = subprocess.run([str(vm.LAB), "run", "--no-sync", "--timeout", "25", "--out", str(logs),
                           "--", "insmod /out/muster_meta.ko how=freeze"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    said = "the VM was ended after 25 s; the end of its console:" in done.stdout
    return (0, "") if done.returncode == 124 and said else (
        1, f"status {done.returncode}, wanted 124\n{done.stdout}")


def kernels(_logs):
    """A test runs on the kernels that its header names, in one thread where it says so; an unknown one is an error."""
    bad = []
    tests = [dataclasses.replace(vm.find()[0], name=name, needs=(), kernels=vm.read_kernels(text), one_thread=("6.12",))
             for name, text in (("a", "all"), ("b", "5.10 newest"))]
    chosen = vm.for_kernels(tests, ("5.10", "6.12"))
    runs = [test.label + "".join(f" {key}" for key, _ in test.needs) for test in chosen]
    if runs != ["a@5.10", "a@6.12 one-thread", "b@5.10"]:
        bad.append(f"runs {runs}")
    try:
        vm.read_kernels("5.11")
        bad.append("took kernel 5.11")
    except cache.LabError:
        pass
    return (1, "\n".join(bad)) if bad else (0, "")


def broken_machine(logs):
    """A machine that cannot be made fails the tests that want it; they are not skipped."""
    logs.mkdir(parents=True)
    fake = logs / "mmdebstrap"
    fake.write_text("#!/bin/sh\necho no mirror >&2\nexit 1\n")
    fake.chmod(0o755)
    environment = os.environ | {"PATH": f"{logs}:{os.environ['PATH']}", "MUSTER_CACHE": str(logs / "cache")}
    done = subprocess.run([str(vm.SELFTESTS / "run"), "--kernels", "6.1", "mswap/lifecycle", "dkms/life"],
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    wanted = ("mswap/lifecycle@6.1: the VM did not start", "dkms/life@6.1: ", "no mirror")
    said = done.stdout.rstrip().endswith("\n0 passed, 2 failed, 0 skipped")
    good = done.returncode == 1 and said and all(each in done.stdout for each in wanted)
    return (0, "") if good else (1, f"status {done.returncode}, wanted 1\n{done.stdout}")


def late_vm(logs):
    """A VM that does not boot in time is booted once more; then it has failed, and its console is shown."""
    done = subprocess.run([str(vm.LAB), "run", "--no-sync", "true"],
                          env=os.environ | {"MUSTER_BOOT_SECONDS": "1"}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    late = done.stdout.count("the VM did not boot; the end of its console:")
    good = done.returncode == 124 and late == 2 and "booting once more" in done.stdout
    return (0, "") if good else (1, f"status {done.returncode}, wanted 124\n{done.stdout}")


def missing_kernel(logs):
    """Tests on a kernel that would have to be built first are skipped, and say so."""
    done = subprocess.run([str(vm.SELFTESTS / "run"), "meta/planted"], text=True,
                          env=os.environ | {"MUSTER_CACHE": str(logs)}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = "ok 1 - meta/planted # SKIP kernel debug is not in the cache" in done.stdout
    good = done.returncode == 0 and said and done.stdout.rstrip().endswith("\n0 passed, 0 failed, 1 skipped")
    return (0, "") if good else (1, f"status {done.returncode}, wanted 0\n{done.stdout}")


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


def _planted(kernel, logs):
    """Mistakes of a module that spoil no result: KERNEL finds each, and the test that made it fails."""
    logs.mkdir(parents=True)
    tests = vm.for_kernels([vm.read_test(META / f"planted/{how}.sh", f"meta/{how}") for how in PLANTED[kernel]],
                           (kernel,))
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


TESTS = {"cases": cases, "planted": planted, "planted_race": planted_race, "kernel_log": kernel_log,
         "frozen_vm": frozen_vm, "late_vm": late_vm, "kernels": kernels, "broken_machine": broken_machine,
         "missing_kernel": missing_kernel, "killed_lab": killed_lab}
# What a test boots, where that is not the default.
KERNELS = {"planted": "debug", "planted_race": "kcsan"}
