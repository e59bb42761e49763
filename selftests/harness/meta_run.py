# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the harness itself: how a run ends, and what it leaves."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

from . import commands, table, vm
from .report import FAIL, PASS, SKIP, Result

WAIT_SECONDS = 60
# Where a program of its own finds what is tested.
PATHS = f"{vm.SELFTESTS}:{vm.LAB.parent}"


def _fake_make(logs):
    """Has `make` never end; returns the environment of a run that takes it. Its process id is in the file begun."""
    logs.mkdir(parents=True)
    fake = logs / "make"
    fake.write_text(f"#!/bin/sh\necho $$ >{logs}/new\nmv {logs}/new {logs}/begun\nexec sleep 100\n")
    fake.chmod(0o755)
    return os.environ | {"PATH": f"{logs}:{os.environ['PATH']}", "MUSTER_CACHE": str(logs / "cache")}


def _wait_for(done):
    """Whether DONE, a function, said so in time."""
    end = time.monotonic() + WAIT_SECONDS
    while not done() and time.monotonic() < end:
        time.sleep(0.1)
    return done()


def _heeds_hangup():
    """For preexec_fn: whatever runs this may have been told by nohup to ignore it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextlib.contextmanager
def _begun(command, logs, environment):
    """COMMAND, and the id of the process that it has started and told of in the file begun."""
    process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=_heeds_hangup)
    _wait_for(lambda: (logs / "begun").exists() or process.poll() is not None)
    pid = int((logs / "begun").read_text()) if (logs / "begun").exists() else 0
    try:
        yield process, pid
    finally:
        # Nobody has the id 0: it stands for all of the harness's group.
        for each in filter(None, (process.pid, pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        process.wait()


def _run_of_unit(logs, *before):
    return _begun([*before, str(vm.SELFTESTS / "run"), "unit/test_table"], logs, _fake_make(logs))


def _runs(pid):
    """Whether process PID does; one that ended but was not waited for has no command line."""
    command = pathlib.Path(f"/proc/{pid}/cmdline")
    try:
        return bool(command.read_text())
    except (FileNotFoundError, ProcessLookupError):
        return False


def time_limit(_logs):
    """A command that takes too long fails, with what it printed, and nothing that it started goes on."""
    try:
        commands.run(["sh", "-c", "sleep 600 & echo $!; wait"], 10)
        return 1, "it was not ended"
    except commands.Ended as ended:
        if str(ended) != "time-out after 10 s":
            return 1, f"said '{ended}'"
        return (1, "what it started goes on") if _runs(int(ended.output)) else (0, "")


def _interrupted(logs, number):
    with _run_of_unit(logs) as (process, pid):
        start = time.monotonic()
        process.send_signal(number)
        output, _ = process.communicate()
        seconds = time.monotonic() - start
        good = process.returncode == 1 and seconds < WAIT_SECONDS and not _runs(pid)
    if good and "# failed: unit/test_table: interrupted" in output:
        return ""
    return f"signal {number}: ended after {seconds:.0f} s with status {process.returncode}:\n{output}"


def interrupted_unit(logs):
    """A run that is ended from outside, or loses its terminal, does not wait for a unit test that never ends."""
    bad = [why for number in (signal.SIGTERM, signal.SIGHUP) if (why := _interrupted(logs / str(int(number)), number))]
    return (1, "\n".join(bad)) if bad else (0, "")


def without_terminal(logs):
    """A run that is to go on when its terminal goes does so."""
    with _run_of_unit(logs, "nohup") as (process, pid):
        process.send_signal(signal.SIGHUP)
        time.sleep(3)
        return (0, "") if process.poll() is None and _runs(pid) else (1, f"ended with status {process.returncode}")


def killed_run(logs):
    """What a run has started, a command or the lab, does not outlive it when it is killed."""
    bad = []
    lab = logs / "lab"
    lab.mkdir(parents=True)
    boot = (f"import pathlib\nfrom harness import meta\nmeta._boots_with(meta.FAKE_LAB + 'begins t.a; "
            f"echo $$ >{lab}/new; mv {lab}/new {lab}/begun; exec sleep 100', pathlib.Path('{lab}/boots'))")
    for what, run in (("a command", _run_of_unit(logs / "unit")),
                      ("the lab", _begun([sys.executable, "-c", boot], lab, os.environ | {"PYTHONPATH": PATHS}))):
        with run as (process, pid):
            if not pid:
                bad.append(f"{what} did not start: {process.communicate()[0]}")
                continue
            process.kill()
            process.wait()
            if not _wait_for(lambda pid=pid: not _runs(pid)):
                bad.append(f"{what} goes on")
    return (1, "\n".join(bad)) if bad else (0, "")


def interrupted_long(logs):
    """A soak that is interrupted before it has a result is no failure of the harness."""
    code = ("import pathlib, sys\nfrom harness import interrupt, long, report, vm\n"
            "interrupt.stop.set()\nvm.build_programs = lambda: None\n"
            "for kind in long.KINDS.values():\n"
            "    long.job(kind[0], 1, 1, '', report.Reporter(), pathlib.Path(sys.argv[1]))()")
    done = subprocess.run([sys.executable, "-c", code, str(logs)], text=True, env=os.environ | {"PYTHONPATH": PATHS},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def unread(logs):
    """A run that nobody reads any more, as of `| head`, ends, and complains to nobody."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([str(vm.SELFTESTS / "run"), "lint/executables", "lint/includes"], text=True, stdout=write,
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=os.environ | {"MUSTER_CACHE": str(logs)})
    os.close(write)
    return (0, "") if done.returncode == 1 and not done.stderr else (1, f"status {done.returncode}:\n{done.stderr}")


def full_disk(logs):
    """A run that cannot keep what the next ones want to know says so, and its last line is what it always is."""
    # As root, one can write to any file but this.
    (logs / "check/durations.json").mkdir(parents=True)
    done = subprocess.run([str(vm.SELFTESTS / "run"), "lint/executables"], text=True, stdin=subprocess.DEVNULL,
                          env=os.environ | {"MUSTER_CACHE": str(logs)}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    good = "could not save how long tests take: " in done.stdout and done.stdout.endswith(
        "\n1 passed, 0 failed, 0 skipped\n")
    return (0, "") if good and not done.returncode else (1, f"status {done.returncode}:\n{done.stdout}")


def table_rows(logs):
    """A table has a row for each test, whatever came beside it, and whatever words a test uses."""
    logs.mkdir(parents=True)
    path = logs / "table.md"
    path.write_text(f"before\n{table.BEGIN}{table.END}after\n")
    table.update(path, [Result("t/a", PASS, 1.0, "", "1..1\nok 1 x\n# figure: a|b\n", in_vm=True),
                        Result("t/a, after its end", FAIL, in_vm=True),
                        Result("t/b, before its begin", FAIL, in_vm=True),
                        Result("t/b", FAIL, 2.0, "", "1..1\nnot ok 1 x\n", in_vm=True),
                        Result("t/c", SKIP, 3.0, "no a|b here", in_vm=True), Result("unit/x", PASS, 4.0)])
    table.update(path, [])
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in path.read_text().splitlines() if "|" in line]
    got = [[row[0], row[1], row[2], row[-1]] for row in rows[2:]]
    wanted = [["t/a", "1", "1", "a/b"], ["t/b", "1", "2", ""], ["t/c", "0", "skipped: no a/b here", ""],
              ["all", "2", "3", ""]]
    return (0, "") if got == wanted else (1, f"rows {got}")


TESTS = {"time_limit": time_limit, "interrupted_unit": interrupted_unit, "without_terminal": without_terminal,
         "killed_run": killed_run, "interrupted_long": interrupted_long, "unread": unread,
         "full_disk": full_disk, "table_rows": table_rows}
