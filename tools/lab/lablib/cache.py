# SPDX-License-Identifier: GPL-2.0-only
"""Where the lab keeps what it builds, locks around it, and progress lines."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
CACHE = pathlib.Path(os.environ.get("MUSTER_CACHE") or "/var/cache/muster").resolve()
# For what is started in another directory.
os.environ["MUSTER_CACHE"] = str(CACHE)

# Between tries to fetch packages, in seconds.
FETCH_PAUSES = (10, 30, 60)
# Before a command: nothing outside sees its mounts, and what it starts ends with it, whatever ends it or its parent.
PRIVATE = ("setpriv", "--pdeathsig", "KILL",
           "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child")


class LabError(Exception):
    """The lab itself cannot go on; the text says why."""


def say(text):
    print(f"lab: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def step(text):
    """Says what is being done, and how long it took."""
    say(f"{text} ...")
    start = time.monotonic()
    yield
    say(f"{text}: done in {time.monotonic() - start:.0f} s")


@contextlib.contextmanager
def lock(name, shared=False):
    """Holds CACHE/locks/NAME; other invocations of the lab wait for it."""
    path = CACHE / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


def try_lock(name):
    """An open file that holds the lock, or None when another holds it."""
    path = CACHE / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = open(path, "w", encoding="ascii")  # noqa: SIM115 - the caller closes it
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        return None
    return handle


def try_lock_dir(path, shared=False):
    """A handle that keeps the directory PATH locked until it is closed; None when another has it locked or removed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def holders(path):
    """Who has PATH locked: numbers and commands of processes."""
    inode = os.stat(path).st_ino
    for line in pathlib.Path("/proc/locks").read_text().splitlines():
        # Its number, FLOCK, ADVISORY, READ, PID, MAJOR:MINOR:INODE, from, to; of one that waits "->" comes second.
        _, kind, _, _, pid, place, *_ = line.split()
        if kind == "FLOCK" and place.endswith(f":{inode}"):
            with contextlib.suppress(FileNotFoundError):
                command = pathlib.Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
                yield f"{pid} ({' '.join(command.split(chr(0))).strip()})"


def _mounts_below(path):
    """Where something is mounted on PATH or below it."""
    top = os.path.realpath(path)
    for line in pathlib.Path("/proc/self/mountinfo").read_bytes().splitlines():
        # A space is \040 there.
        place = re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), line.split()[4])
        if os.fsdecode(place + b"/").startswith(top + "/"):
            yield os.fsdecode(place)


def remove(path):
    """Removes the directory PATH if it is there, but never what is mounted below it: that may be the host's."""
    mounted = next(_mounts_below(path), None)
    if mounted:
        raise LabError(f"{path} cannot be removed, as something is mounted on {mounted}: umount that first")
    shutil.rmtree(path, ignore_errors=True)


def drop_unlocked(paths):
    """Removes those of the directories PATHS that nobody has locked."""
    for path in paths:
        handle = try_lock_dir(path)
        if handle is not None:
            remove(path)
            os.close(handle)


@contextlib.contextmanager
def scratch(kind):
    """A directory for as long as the body runs; what killed processes left of the same KIND goes."""
    parent = CACHE / "scratch"
    parent.mkdir(parents=True, exist_ok=True)
    with lock("scratch"):
        drop_unlocked(parent.glob(f"{kind}-*"))
        made = pathlib.Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=parent))
        handle = try_lock_dir(made)
    try:
        yield made
    finally:
        remove(made)
        os.close(handle)


@contextlib.contextmanager
def making(final):
    """A directory to fill, which takes the place of FINAL when the body has; what was left half made goes."""
    temporary = final.with_name(final.name + ".new")
    remove(temporary)
    temporary.mkdir(parents=True)
    yield temporary
    remove(final)
    temporary.rename(final)


def digest(*parts):
    """A short name for the content of PARTS (bytes or text)."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()[:12]


def logged(command, log, what):
    """Runs COMMAND with its output in the file LOG; shows the log when it fails."""
    with open(log, "wb") as handle:
        code = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=handle,
                               stderr=subprocess.STDOUT)
    if code:
        sys.stderr.write(pathlib.Path(log).read_text(errors="replace"))
        raise LabError(f"{what} failed with status {code}; its output is above")


def fetched(command, log, root, pauses=FETCH_PAUSES):
    """
    As logged, with a COMMAND of mmdebstrap's that makes ROOT; again some times where packages could not be fetched. A
    single apt tries for seconds, and never again an address that has refused it.
    """
    # It mounts the host's /dev/shm below ROOT.
    command = [*PRIVATE, "--mount-proc", *command]
    for pause in pauses:
        try:
            return logged(command, log, "mmdebstrap")
        except LabError:
            if b"Failed to fetch" not in pathlib.Path(log).read_bytes():
                raise
        say(f"packages could not be fetched; once more in {pause} s")
        time.sleep(pause)
        remove(root)
    return logged(command, log, "mmdebstrap")
