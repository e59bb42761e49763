# SPDX-License-Identifier: GPL-2.0-only
"""Runs a plan in the lab and follows what the guest says."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from harness import ktap
from lablib import children, packages

from . import progress

BENCH = pathlib.Path(__file__).resolve().parents[1]
CHECKOUT = BENCH.parents[1]
LAB = os.environ.get("LAB") or str(CHECKOUT / "tools/lab/lab")
SYSTEM_PYTHON = "/usr/bin/python3"
GUEST_PATH = "/out/bin:/usr/sbin:/usr/bin:/sbin:/bin"
POLL_SECONDS = 0.3
EMULATOR_THREADS = 2  # where time counts instructions
STOP_SECONDS = 15
CONSOLE = "kernel.console"  # what the kernel says of it, also when its log is lost with the VM
# What a guest's script includes.
PARTS = {"guest.sh": ("sides.sh", "remote.sh", "versions.sh"), "w2r.sh": ("w2r-sides.sh", "versions.sh")}


class GuestError(Exception):
    """The guest could not carry out the plan; the text says why."""


def need_root():
    """Ends this program, and says why, when somebody else than root runs it."""
    if os.geteuid() != 0:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: must run as root (it boots VMs of a chroot)")


def in_short(error):
    """What ended a boot, in a line."""
    return "interrupted" if isinstance(error, KeyboardInterrupt) else (str(error) or repr(error)).splitlines()[0]


def fields(line):
    """'a=1 b=2' as a dict."""
    return dict(word.partition("=")[::2] for word in line.split())


class _Events:
    """New whole lines of a file that another machine appends to."""

    def __init__(self, path):
        self.path = path
        self.offset = 0

    def __iter__(self):
        if not self.path.exists():
            return
        with open(self.path, encoding="utf-8") as handle:
            handle.seek(self.offset)
            text = handle.read()
        whole = text[: text.rfind("\n") + 1]
        self.offset += len(whole.encode())
        for line in whole.splitlines():
            yield fields(line)


def _make(folder, out):
    command = ["make", "-s", "-C", str(CHECKOUT / folder), f"OUT={out}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _add_programs(out, tools):
    (out / "bin").mkdir(exist_ok=True)
    for path in tools:
        shutil.copy(path, out / "bin")
    for folder in ("selftests/progs", "tools/bench/progs"):
        _make(folder, out / "bin")
    for path in (BENCH / "loads").iterdir():
        shutil.copy(path, out / "bin")


def _plugin_words(out):
    """Has the emulator count instructions: instmark in the guest makes it write OUT/instructions.NUMBER."""
    _make("tools/bench/plugin", out)
    plugin, counts = (str(out / name).replace(",", ",,") for name in ("instructions.so", "instructions"))
    return ["--plugin", f"{plugin},out={counts}"]


def _lab_command(kernel, disks, mem, timeout, stock_only, icount, count, out, script):
    command = [LAB, "run", "--kernel", kernel, "--mem", mem, "--timeout", str(timeout), "--out", str(out)]
    command += ["--console", str(out / CONSOLE)]
    command += ["--no-sync"] if stock_only else []
    command += ["--icount"] if icount else []
    command += _plugin_words(out) if count else []
    command += [word for option, size in disks for word in (option, size)]
    return [*command, "--", "env", f"PATH={GUEST_PATH}", "sh", f"/out/{script}", "/out"]


def _keep_awake(spinning, program, cpus):
    """
    Until SPINNING, an ExitStack, is left, so many CPUs of the host spin in PROGRAM, instead of halting, when they have
    nothing to do. Where time counts instructions, two of the emulator's threads wake each other at each I/O; on a
    virtual host this saves up to a fifth of the time.
    """
    for _ in range(min(cpus, os.cpu_count())):
        process = spinning.enter_context(subprocess.Popen([program], preexec_fn=children.end_with_parent))
        spinning.callback(process.kill)


def run(plan, out, *, kernel="6.12", disks=(), mem="3G", timeout=3600, limit=None, stock_only=False, icount=False,
        count=False, on_event=None, line=None, script="guest.sh", tools=()):
    """
    Boots a VM, has SCRIPT carry out PLAN (text) in it, and leaves what that wrote in OUT. ON_EVENT gets each
    event (a dict) as it comes; LIMIT gives the seconds that may pass until the next one; LINE is the progress line,
    refreshed meanwhile. TOOLS are files that SCRIPT finds among its programs. With COUNT, which needs ICOUNT, the
    emulator counts instructions. Returns all events.
    """
    line = line or progress.Line()
    awake = EMULATOR_THREADS if icount else 0
    out.mkdir(parents=True, exist_ok=True)
    (out / "plan").write_text(plan, encoding="utf-8")
    # Copies: an edit of the checkout must not reach a shell that is half way through.
    for each in (script, *PARTS.get(script, ())):
        shutil.copy(BENCH / each, out)
    _add_programs(out, tools)
    events, seen, patience = _Events(out / "events"), [], _Patience(limit)

    def follow():
        lab = _lab_says(out / "console.log") if not seen else ""
        if lab and lab != line.text:
            line.set(lab)
        for event in events:
            seen.append(event)
            patience.heard(event)
            if on_event:
                on_event(event)
        line.refresh()

    with open(out / "console.log", "wb") as log, contextlib.ExitStack() as spinning:
        process = subprocess.Popen(
            _lab_command(kernel, disks, mem, timeout, stock_only, icount, count, out, script),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=children.end_with_parent,
        )
        try:
            while process.poll() is None:
                follow()
                if seen and awake:  # before its first event it may be waiting for other VMs
                    _keep_awake(spinning, out / "bin/awake", awake)
                    awake = 0
                time.sleep(POLL_SECONDS)
                patience.check(out)
            follow()
        finally:
            _stop(process)
    shutil.rmtree(out / "bin", ignore_errors=True)
    if process.returncode or not seen or seen[-1].get("event") != "done":
        raise GuestError(_why(process.returncode, seen, out))
    return seen


class _Patience:
    """
    How long the guest may say nothing: LIMIT gives the seconds by its last event. Before its first it may be waiting
    for other VMs. Counted in polls, as a terminal may stop all of this for a while.
    """

    def __init__(self, limit):
        self.limit = limit
        self.last = None
        self.polls = 0

    def heard(self, event):
        self.last, self.polls = event, 0

    def check(self, out):
        self.polls += 1
        if not self.limit or not self.last:
            return
        seconds = self.limit(self.last)
        if self.polls * POLL_SECONDS > seconds:
            last = " ".join(self.last[name] for name in ("event", "step") if name in self.last)
            raise GuestError(_with_tail(f"silent for {progress.duration(seconds)} after: {last}", out))


def _stop(process):
    """Ends the lab, which ends its VM when it is interrupted."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _lab_says(log):
    """What the lab is doing before the VM speaks: it may have to make the machine first."""
    said = [text for text in log.read_text(errors="replace").splitlines() if text.startswith("lab: ")]
    return said[-1][len("lab: "):] if said else ""


def _why(code, seen, out):
    errors = [event["text"].replace("_", " ") for event in seen if event.get("event") == "error"]
    return _with_tail("; ".join(errors) or f"`lab run` ended with status {code}", out)


def _with_tail(reason, out):
    tail = (out / "console.log").read_text(errors="replace").splitlines()[-15:]
    return "\n".join([reason, *(f"  | {text}" for text in tail)])


def interrupted_by_sigterm():
    """
    Lets SIGTERM end this process as Ctrl-C does: with its VM. A second one soon after changes nothing: who started this
    passes on what the terminal has sent to both.
    """
    last = -STOP_SECONDS

    def interrupt(*_):
        nonlocal last
        before, last = last, time.monotonic()
        if last - before >= STOP_SECONDS:
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)


def emulator_version():
    """Of the QEMU that the lab boots machines with."""
    words, environment = packages.emulator()
    said = subprocess.run([*words, "--version"], env=os.environ | environment, capture_output=True, text=True,
                          check=False).stdout
    return said.partition("version ")[2].partition("\n")[0] or "unknown"


def commit():
    """The commit of the checkout."""
    # Whoever cloned it, it is root who measures it.
    found = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(CHECKOUT), "describe", "--always", "--dirty"],
                           capture_output=True, text=True, check=False).stdout.strip()
    return found or "unknown"


def keep_logs(scratch_dir, out, prefix):
    """
    Keeps what is worth it of a boot, as OUT/PREFIX.NAME. Returns the lines of its kernel log that tell of a defect.
    """
    out.mkdir(parents=True, exist_ok=True)
    log = scratch_dir / "dmesg"
    if not log.exists() and (scratch_dir / CONSOLE).exists():
        shutil.copy(scratch_dir / CONSOLE, log)
    for name in ("dmesg", "console.log", "plan", "events"):
        if (scratch_dir / name).exists():
            shutil.copy(scratch_dir / name, out / f"{prefix}.{name}")
    return ktap.kernel_trouble(log.read_text(errors="replace"), ktap.EXPECTED_AT_BOOT) if log.exists() else []


def draw(program, out):
    """Has PROGRAM draw the plots of OUT; returns whether it could."""
    done = subprocess.run([SYSTEM_PYTHON, str(BENCH / program), str(out)], check=False, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"nothing, and ends with status {done.returncode}"]
        print(f"no plots, {SYSTEM_PYTHON} says: {said[-1]}", file=sys.stderr)
    return done.returncode == 0
