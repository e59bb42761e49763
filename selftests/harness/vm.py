# SPDX-License-Identifier: GPL-2.0-only
"""Runs selftests in VMs, grouped by what they need of the machine."""

import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from lablib import cache, children, machines

from . import interrupt, ktap, objects
from .report import FAIL, Result

CHECKOUT = cache.CHECKOUT
LAB = CHECKOUT / "tools/lab/lab"
SELFTESTS = CHECKOUT / "selftests"
NOT_TESTS = {"dkms", "harness", "lib", "meta", "progs", "soak", "unit"}
NEED = re.compile(r"^#\s*(mem|cpus|nvme|virtio|udev|append|stays|hibernates):\s*(\S.*?)\s*$")
KERNELS = re.compile(r"^#\s*kernels:\s*(\S.*?)\s*$")
ASKED_FOR = re.compile(r"^#\s*asked-for:\s*(\S.*?)\s*$")
RACES = re.compile(r"^#\s*races:\s*(\S.*?)\s*$")
# What the lab takes as an option without a value.
FLAGS = ("udev", "one-thread", "hibernates")
# What the other tests of a boot do not notice.
UNNOTICED = ("append", "nvme")
# Where a test runs that does not say.
KERNELS_UNSAID = (machines.DEFAULT.kernel, "newest")
SHORT_FORM = re.compile(r"^#\s*short-form:\s*yes\s*$")
TIMEOUT = re.compile(r"^#\s*timeout:\s*(\d+)\s*$")
EXPECT = re.compile(r"^#\s*expect-dmesg:\s*(\S.*?)\s*$")
BOOT_SECONDS = 120
# What guest-run does 50 times, a tenth of a second apart, when a test does not end takes it 11 s beside another VM.
GRACE_SECONDS = 90
SPLIT_SECONDS = 60
# A group is at most one part in so many of all tests: a larger one would keep the other worker waiting in the end.
GROUPS = 6
GUESSED_SECONDS = 20
CONSOLE_LINES = 80
# What is enough for the few tests on the debug kernel: to look for leaks there takes as long as there is memory.
LITTLE = (("mem", "1G"),)
# What is built beside selftests/progs, and of which parts of the checkout.
TOOLS = {"w2r-sim": ("modules/algo", "modules/w2r/algo", "tools/sim/w2r"), "musterctl": ("tools/musterctl", "VERSION")}


@dataclasses.dataclass(frozen=True)
class Test:
    """One selftest as its header describes it."""

    name: str
    path: pathlib.Path
    seconds: int
    needs: tuple
    expected: tuple
    kernels: tuple = KERNELS_UNSAID
    asked_for: tuple = ()  # those of them on which it is run only for whoever asks for it
    races: tuple = ()  # those of them on which it needs CPUs that run at the same time
    short: bool = False  # is part of the short form of what runs on the debug kernel
    kernel: str = ""  # the one that it is to run on, of the lab's

    @property
    def id(self):
        return self.name.replace("/", ".")

    @property
    def label(self):
        return f"{self.name}@{self.kernel}" if self.kernel else self.name


def default_timeout():
    return int((SELFTESTS / "settings").read_text().strip().partition("=")[2])


def read_kernels(text):
    """Some of the lab's kernels, 'all' for those that muster supports; as a tuple."""
    chosen = tuple(kernel for word in text.split()
                   for kernel in (machines.SUPPORTED if word == "all" else (word,)))
    for each in chosen:
        if each not in machines.MACHINES:
            raise cache.LabError(f"no machine for kernel {each!r} (there is {', '.join(machines.MACHINES)})")
    return chosen


def read_test(path, name):
    seconds, needs, expected = default_timeout(), {}, []
    kernels, asked_for, races, short = KERNELS_UNSAID, (), (), False
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        if match := TIMEOUT.match(line):
            seconds = int(match[1])
        elif match := KERNELS.match(line):
            kernels = read_kernels(match[1])
        elif match := ASKED_FOR.match(line):
            asked_for = read_kernels(match[1])
        elif match := RACES.match(line):
            races = read_kernels(match[1])
        elif match := NEED.match(line):
            needs[match[1]] = match[2]
        elif match := EXPECT.match(line):
            expected.append(match[1])
        elif SHORT_FORM.match(line):
            short = True
    return Test(name, path, seconds, tuple(sorted(needs.items())), tuple(expected), kernels, asked_for, races, short)


def find():
    """Every executable selftests/DIR/NAME.sh, by name."""
    return [read_test(path, f"{path.parent.name}/{path.stem}")
            for path in sorted(SELFTESTS.glob("*/*.sh"))
            if path.parent.name not in NOT_TESTS and path.stat().st_mode & 0o100]


def for_kernels(tests, kernels):
    """Each of TESTS once for each of KERNELS that it runs on, with what it needs there: more time on slow ones."""
    return [dataclasses.replace(test, kernel=kernel, seconds=test.seconds * slower(kernel),
                                needs=test.needs + ((("one-thread", "yes"),) if _in_turn(test, kernel) else ()))
            for test in tests for kernel in kernels if _runs_on(test, kernel)]


def unasked(tests):
    """Those of TESTS, which have their kernels, that run for whoever asks for nothing."""
    return [test for test in tests if test.kernel not in test.asked_for]


def _like(kernel):
    """The one of those that muster supports whose tests run on KERNEL."""
    machine = machines.MACHINES[kernel]
    return machine.like if machine.extra else kernel


def _in_turn(test, kernel):
    """Whether the CPUs are emulated in one thread: on kernels that are to find races they never are."""
    return machines.MACHINES[kernel].has_release and _like(kernel) not in test.races


def short_form(tests, kernel):
    """The few of TESTS that run on KERNEL even where not all do."""
    return with_little(for_kernels([test for test in tests if test.short], (kernel,)))


def with_little(tests):
    """TESTS in a machine with little memory."""
    return [dataclasses.replace(test, needs=test.needs + LITTLE) for test in tests]


def _runs_on(test, kernel):
    return kernel in test.kernels or _like(kernel) in test.kernels


def slower(kernel):
    return machines.MACHINES[kernel].slower if kernel else 1


def _durations_file():
    return cache.CACHE / "check" / "durations.json"


def _read_durations():
    try:
        return json.loads(_durations_file().read_text())
    except (OSError, ValueError):
        return {}


def save_durations(results):
    _durations_file().parent.mkdir(parents=True, exist_ok=True)
    with cache.lock("check"):
        known = _read_durations() | {each.name: each.seconds for each in results}
        _durations_file().write_text(json.dumps(known))


@functools.cache
def _durations():
    return _read_durations()


def seconds_of(name):
    """How long the test took the last time that it passed."""
    return _durations().get(name, GUESSED_SECONDS)


def cost(tests):
    return sum(seconds_of(test.label) for test in tests)


def group(tests):
    """Lists of tests that share a boot; one that would keep the other worker waiting is cut in two."""
    most = cost(tests) / GROUPS
    groups = {}
    for test in tests:
        groups.setdefault((test.kernel, test.needs), []).append(test)
    boots = []
    for (kernel, _), members in groups.items():
        if cost(members) <= max(most, SPLIT_SECONDS * slower(kernel)) or len(members) < 2:
            boots.append(members)
            continue
        halves = ([], [])
        for test in sorted(members, key=lambda test: seconds_of(test.label), reverse=True):
            min(halves, key=cost).append(test)
        boots += [sorted(half, key=lambda test: test.name) for half in halves]
    return _joined(boots)


def _joined(boots):
    """
    BOOTS, of which those that need more than others, but nothing that these would notice, are the begin of one of
    these: a boot takes as long as a test. One that has to be booted again for the others is so without it.
    """
    joined = []
    for boot in sorted(boots, key=lambda boot: boot[0].needs != _noticed(boot[0])):
        first = boot[0]
        other = next((each for each in joined if first.needs != _noticed(first)
                      and (each[0].kernel, each[0].needs) == (first.kernel, _noticed(first))), None)
        if other:
            other[:0] = boot
        else:
            joined.append(boot)
    return joined


def hibernates(test):
    return ("hibernates", "yes") in test.needs


def _noticed(test):
    return tuple(need for need in test.needs if need[0] not in UNNOTICED)


class Boots:
    """Runs one group of tests, in one boot or, when the machine gets unfit, in more."""

    lab = LAB
    grace = GRACE_SECONDS

    def __init__(self, tests, reporter, logs, programs, environment=""):
        self.waiting = list(tests)
        self.booted = ()  # those that the present boot is for
        self.reporter = reporter
        self.logs = logs
        self.programs = programs
        self.slower = slower(tests[0].kernel)
        self.environment = f"MUSTER_SLOWER={self.slower} {environment}"
        self.boots = 0

    def run(self):
        while self.waiting and not interrupt.stop.is_set():
            self.boots += 1
            self.booted = tuple(self.waiting)
            out = self.logs / f"boot{self.boots}"
            self._prepare(out)
            names = ", ".join(test.label for test in self.waiting)
            self.reporter.say(f"booting for {names}")
            self._boot(out)

    def _prepare(self, out):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        copy_programs(self.programs, out / "bin")
        lines = [f"{test.id} {test.seconds} /muster/{test.path.relative_to(CHECKOUT)}\n"
                 for test in self.waiting]
        (out / "list").write_text("".join(lines))

    def _command(self, out):
        words = [str(self.lab), "run", "--out", str(out), "--console", str(out / "console"),
                 "--timeout",
                 str(self.slower * BOOT_SECONDS
                     + sum(each.seconds + self.slower * GRACE_SECONDS for each in self.waiting))]
        if self.waiting[0].kernel:
            words += ["--kernel", self.waiting[0].kernel]
        environment = self.environment
        for key, value in self.waiting[0].needs:
            if key == "stays":
                environment += f" MUSTER_STAYS='{value}'"
                continue
            words += [f"--{key}"] if key in FLAGS else [f"--{key}", value]
        return [*words, "--", f"{environment} /muster/selftests/harness/guest-run /out"]

    def _boot(self, out):
        with open(out / "lab.log", "wb") as log:
            process = subprocess.Popen(self._command(out), stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=subprocess.STDOUT, preexec_fn=children.end_with_parent)
            try:
                late = self._watch(process, out)
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.wait()
        self._collect(out)
        if not interrupt.stop.is_set():
            self._judge_boot(out, process.returncode, late)

    def _judge_boot(self, out, code, late):
        """What no test's own files tell: trouble between two tests, and a VM that did not end as it should."""
        self._judge_first(out)
        self._judge_others(out)
        dmesg = read(out / "dmesg")
        started = bool(self.waiting) and (out / self.waiting[0].id / "started").exists()
        ended = [test for test in self.booted if test not in self.waiting]
        why = self._death(code, late, ended, started) or ("" if dmesg else "the VM left no kernel log")
        last = ended[-1] if why and ended and not started else None
        # A VM that was ended from here leaves only its console.
        found = self._gaps(dmesg or read(out / "console"))
        if last:
            also, _ = found.pop(last.id, ("", ""))
            self._fail_gap(last, f"{why}; {also}" if also else why, f"--- console\n{tail(out / 'console')}")
        elif why:
            self._blame(out, why, started)
        for name, (why, lines) in found.items():
            self._fail_gap(next((test for test in self.booted if test.id == name), None), why, lines)

    def _death(self, code, late, ended, started):
        """Why the VM, of which the lab said CODE, did not end as one whose tests are done; or nothing."""
        if late:
            return "the VM hung"
        if code == 124:
            return "the VM ran out of time"
        if code == 125:
            return "the VM died" if ended or started or hibernates(self.booted[0]) else "the VM did not start"
        if code not in (0, 3):
            return f"the lab ended with status {code}"
        # 3 is of one that is not fit for those that wait.
        if self.waiting and (code == 0 or not ended):
            return f"the lab ended with status {code} before the end"
        return ""

    def _judge_first(self, out):
        """What there is of a boot that did not come up to the tests, so that the lab has booted once more."""
        console = out / "console.1"
        if not console.exists():
            return
        self.reporter.say(f"booted twice for {', '.join(test.label for test in self.booted)}: see {console}")
        trouble = ktap.kernel_trouble(read(console), ktap.EXPECTED_OF_LOST_BOOT)
        if trouble:
            self._fail_gap(None, f"booted twice; kernel log of the first time: {trouble[0].strip()}", read(console))

    def _judge_others(self, out):
        """What the kernels say that write and read the image of a machine is in no log of the one that returned."""
        test = self.booted[0]
        if not hibernates(test):
            return
        trouble = ktap.kernel_trouble(read(out / "console"), (*ktap.EXPECTED_AT_BOOT, *test.expected))
        if trouble:
            self._fail_gap(self.booted[-1], f"console: {trouble[0].strip()}", tail(out / "console"))

    def _gaps(self, log):
        """{id of the test before, or None: (why, lines)} of the trouble in the kernel log when no test runs."""
        found = {}
        for name, lines in ktap.gaps(log):
            test = next((test for test in self.booted if test.id == name), None)
            trouble = ktap.kernel_trouble(lines, test.expected if test else ktap.EXPECTED_AT_BOOT)
            if trouble:
                found[name] = f"kernel log: {trouble[0].strip()}", lines
        return found

    def _fail_gap(self, test, why, log):
        label = f"{test.label}, after its end" if test else f"{self.booted[0].label}, before its begin"
        self.reporter.add(Result(label, FAIL, 0.0, why, log, in_vm=True))

    def _watch(self, process, out):
        """Reports tests as they end; returns whether one had to be ended from outside."""
        seen = {}  # not the time of the file: a new machine's clock may be set meanwhile
        # The files of a machine that hibernates come at its end, one by one.
        while process.poll() is None and not interrupt.stop.is_set():
            if not hibernates(self.booted[0]):
                self._collect(out)
            running = next((test for test in self.waiting
                            if (out / test.id / "started").exists()), None)
            if running:
                age = time.monotonic() - seen.setdefault(running.id, time.monotonic())
                if age > running.seconds + self.slower * self.grace:
                    return True
            time.sleep(0.2)
        return False

    def _collect(self, out):
        for test in list(self.waiting):
            if (out / test.id / "status").exists():
                self.waiting.remove(test)
                self.reporter.add(judge_files(test, out / test.id))

    def _blame(self, out, why, started):
        """The VM ended without a verdict: says so of the test that ran, or of all that were to."""
        where = out / self.waiting[0].id
        log = tail(out / "lab.log")
        if started:
            log = (f"--- output\n{read(where / 'out')}\n--- console\n"
                   f"{tail(out / 'console')}\n--- lab\n{log}")
        for test in self.waiting[:1] if started else self.waiting:
            self.reporter.add(Result(test.label, FAIL, 0.0, why, log, in_vm=True))
            log = ""
        self.waiting = self.waiting[1:] if started else []


def read(path):
    return path.read_text(errors="replace") if path.exists() else ""


def tail(path):
    return "\n".join(read(path).splitlines()[-CONSOLE_LINES:])


def judge_files(test, where):
    """The verdict on a test that ended, from the files that guest-run left."""
    status, millis = read(where / "status").split()
    left = read(where / "left").strip()
    output, dmesg = read(where / "out"), read(where / "dmesg")
    if status in ("hung", "124", "137"):
        ended = "hangs: still there %d s after its start" if status == "hung" else "time-out after %d s"
        outcome, why, skipped = FAIL, f"{ended % test.seconds}, {ktap.progress(output)}", ()
    else:
        outcome, why, skipped = ktap.judge(output, int(status), dmesg, test.expected)
    if not dmesg:
        reason = "the kernel log does not go back to its begin: it is too small"
        outcome, why = FAIL, f"{why}; {reason}" if outcome == FAIL else reason
    if left:
        reason = "left behind: " + "; ".join(left.splitlines())
        outcome, why = FAIL, f"{why}; {reason}" if outcome == FAIL else reason
    log = f"--- output\n{output}\n--- kernel log\n{dmesg}"
    return Result(test.label, outcome, int(millis) / 1000, why, log, skipped, in_vm=True)


def build_programs():
    """Builds selftests/progs; returns the directory they are in."""
    out = cache.CACHE / "progs" / cache.digest(str(CHECKOUT))
    kinds = {"progs": (("selftests/progs",), [path.stem for path in (SELFTESTS / "progs").glob("*.c")]),
             **{name: (places, (name,)) for name, places in TOOLS.items()}}
    known = {f"sources-{kind}" for kind in kinds} | {name for _, names in kinds.values() for name in names}
    with cache.lock(f"progs-{out.name}"), contextlib.ExitStack() as stack:
        for path in out.glob("*"):
            if path.name not in known:
                path.unlink()
        for kind, (places, names) in kinds.items():
            stack.enter_context(objects.made_of(places, out, f"sources-{kind}", names))
        done = subprocess.run(["make", "-s", "-j2", "-C", str(SELFTESTS / "progs"), f"OUT={out}"],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise cache.LabError(f"selftests/progs does not build:\n{done.stdout}")
    return out


def copy_programs(programs, where):
    """Copies what build_programs() made, while nobody builds it anew."""
    with cache.lock(f"progs-{programs.name}", shared=True):
        shutil.copytree(programs, where)


def for_here():
    """The selftests for the kernel that runs, but none that turns it off; one not of the lab's is like the newest."""
    release = os.uname().release
    kernel = next((name for name in machines.SUPPORTED if release.startswith(f"{name}.")), "newest")
    return [test for test in find() if kernel in test.kernels and not hibernates(test)]


def run_here(tests, reporter, logs):
    """Runs selftests on this machine, which must have the devices that they need."""
    out = logs / "here"
    out.mkdir()
    copy_programs(build_programs(), out / "bin")
    loaded = [path.parent.name for path in pathlib.Path("/sys/module").glob("*/initstate")]
    for number, test in enumerate(tests):
        (out / "list").write_text(f"{test.id} {test.seconds} {test.path}\n")
        stays = " ".join([dict(test.needs).get("stays", ""), *loaded])
        environment = os.environ | {"MUSTER_USED": "yes", "MUSTER_STAYS": stays}
        done = subprocess.run([str(SELFTESTS / "harness/guest-run"), str(out)], env=environment)
        reporter.add(judge_files(test, out / test.id))
        if done.returncode and tests[number + 1:]:
            raise cache.LabError(f"the machine is not fit for {len(tests) - number - 1} more tests")
