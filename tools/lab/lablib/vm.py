# SPDX-License-Identifier: GPL-2.0-only
"""Boots the tree in QEMU and runs one command in it."""

import contextlib
import functools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from . import cache, children, chroot, initrd, kernel_image, packages, slots, tree
from .machines import DEFAULT

TAIL_LINES = 60
# A machine takes 5 to 40 s to boot here.
BOOT_SECONDS = float(os.environ.get("MUSTER_BOOT_SECONDS", "120"))
POLL_SECONDS = 0.3
STAGE2 = pathlib.Path(__file__).resolve().parents[1] / "stage2"
TIMED_OUT, DIED = 124, 125
# One that hibernated goes on where it was before it has a root file system.
IMAGE_MODULES = ("virtio_blk",)
RETURNS_MOST = 2
ACCEL = {
    "kvm": ["-accel", "kvm", "-cpu", "host"],
    "tcg": ["-accel", "tcg,thread=multi", "-cpu", "Nehalem"],
}
IN_TURN = ["-accel", "tcg,thread=single", "-cpu", "Nehalem"]
# Each instruction takes 1 ns of the VM's time, whichever CPU runs it. Where none has anything to do, time goes to the
# next timer at once: to sleep, or to wait for the host, is as long as that.
COUNTING = [*IN_TURN, "-icount", "shift=0,sleep=off", "-rtc", "clock=vm"]
KERNEL_WORDS = ("console=ttyS0 loglevel=5 panic=-1 reboot=t mitigations=off nokaslr "
                "random.trust_cpu=on log_buf_len=4M")
# X86_FEATURE_REP_GOOD: without it the kernel clears and copies pages by moves, not by the string instructions that any
# real CPU does faster and the emulator many times slower.
EMULATED_WORDS = "clearcpuid=112"


class Job:
    """One VM: its options, its command and the directory it talks to the host through."""

    def __init__(self, args, root, layer, directory):
        self.args = args
        self.root = root
        self.layer = layer
        self.dir = pathlib.Path(directory)
        self.console = (args.console or self.dir / "console").resolve()
        self.share = self.dir / "share"
        self.share.mkdir()
        self.console.write_bytes(b"")
        self.hibernated = False
        shutil.copy(STAGE2, self.share / "stage2")

    def _shares(self):
        shares = [("job", self.share, False), ("muster", cache.CHECKOUT, True)]
        if self.args.out:
            shares.append(("out", self.args.out.resolve(), False))
        words = []
        for tag, path, read_only in shares:
            words += ["-virtfs", f"local,path={str(path).replace(',', ',,')},mount_tag={tag},"
                      f"security_model=none,multidevs=remap{',readonly=on' if read_only else ''}"]
        return words

    def _disks(self):
        words = ["-device", "virtio-scsi-pci", "-device", "scsi-hd,drive=tree",
                 "-drive", "if=none,id=tree,format=raw,readonly=on,"
                 f"file={tree.image(self.root)}"]
        args = self.args
        for size, name, device in ((args.mem if args.hibernates else None, "image", "virtio-blk-pci"),
                                   (args.nvme, "nvme", "nvme,serial=muster"),
                                   (args.virtio, "virtio", "virtio-blk-pci")):
            if size is None:
                continue
            image = self.dir / f"{name}.img"
            with open(image, "ab" if self.hibernated else "wb") as handle:
                handle.truncate(size)
            words += ["-drive", f"if=none,id={name},format=raw,cache=unsafe,discard=unmap,"
                      f"file={image}", "-device", f"{device},drive={name}"]
        return words

    def _environment(self, cmd):
        """Words of the kernel command line that stage1 and stage2 get as variables."""
        args = self.args
        words = {"lab_out": "1" if args.out else "",
                 "lab_udev": "1" if args.udev else "", "lab_shell": "" if cmd else "1",
                 "lab_copies": "1" if args.hibernates else "", "lab_resume": "1" if self.hibernated else ""}
        modules, devices = [], []
        if args.nvme is not None:
            modules.append("nvme")
            devices.append("nvme0n1")
        if args.hibernates:
            devices.append("vda")
        if args.virtio is not None:
            modules.append("virtio_blk")
            devices.append("vdb" if args.hibernates else "vda")
        variables = {"lab_modules": " ".join(modules), "lab_devices": " ".join(devices)}
        if cmd and args.timeout > 30:
            variables["lab_stuck_after"] = str(int(args.timeout) - 12)
        if not cmd:
            size = shutil.get_terminal_size()
            words["lab_rows"], words["lab_cols"] = str(size.lines), str(size.columns)
            words["lab_term"] = os.environ.get("TERM", "dumb")
        words |= variables
        return " ".join(f'{key}="{value}"' for key, value in words.items() if value)

    def _accelerator(self, accel):
        if self.args.icount:
            return [*COUNTING, *(["-plugin", self.args.plugin] if self.args.plugin else [])]
        return IN_TURN if accel == "tcg" and self.args.one_thread else ACCEL[accel]

    def _kernel_words(self, accel, cmd):
        """Where time counts instructions a page is of as few as on a CPU: by string instructions."""
        words = [KERNEL_WORDS, self.args.kernel.words, self._environment(cmd), self.args.append]
        if accel == "tcg" and not self.args.icount:
            words.append(EMULATED_WORDS)
        return " ".join(words)

    def command(self, accel, cmd):
        release = tree.kernel_release(self.root)
        initrd.write(self.dir / "initrd", self.root, release, self.layer and tree.layer_files(self.layer),
                     IMAGE_MODULES if self.args.hibernates else ())
        words = ["-machine", "q35", *self._accelerator(accel),
                 "-m", f"{(self.args.mem >> 20) + self.args.kernel.extra_mib}M",
                 "-smp", str(self.args.cpus),
                 "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                 "-kernel", str(kernel_image.path(self.root, release)),
                 "-initrd", str(self.dir / "initrd"),
                 "-append", self._kernel_words(accel, cmd),
                 "-serial", f"file:{self.console}",
                 "-device", "virtio-serial-pci", "-device", "virtio-rng-pci",
                 "-chardev", "stdio,id=io,signal=off"]
        words += (["-device", "virtserialport,chardev=io,name=output"] if cmd
                  else ["-device", "virtconsole,chardev=io"])
        return words + self._shares() + self._disks()

    def _wait(self, process, timeout):
        """Until the VM ends, or there is no point in waiting: subprocess.TimeoutExpired. TIMEOUT is for its command."""
        end = time.monotonic() + BOOT_SECONDS * self.args.kernel.slower
        while timeout is not None and self.booted_seconds() is None:
            try:
                process.wait(POLL_SECONDS)
                return
            except subprocess.TimeoutExpired:
                if time.monotonic() > end:
                    raise
        process.wait(timeout)

    def boot(self, accel, cmd):
        """Runs the VM to its end; returns CMD's status, or TIMED_OUT or DIED."""
        for name in ("status", "dmesg", *(() if self.hibernated else ("booted",))):
            (self.share / name).unlink(missing_ok=True)
        if cmd:
            (self.share / "cmd").write_text(chroot.command_line(cmd) + "\n")
        emulator, environment = packages.emulator()
        process = subprocess.Popen([*emulator, *self.command(accel, cmd)], env=os.environ | environment,
                                   preexec_fn=functools.partial(children.end_with_parent, signal.SIGKILL),
                                   stdin=subprocess.PIPE if cmd else None)
        timed_out = False
        try:
            self._wait(process, self.args.timeout if cmd else None)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                process.kill()
                process.wait()
        self.emulator_failed = self.booted_seconds() is None and (
            timed_out or process.returncode == -signal.SIGABRT)
        status = self.share / "status"
        if status.exists():
            return int(status.read_text())
        return TIMED_OUT if timed_out else DIED

    def boot_again(self, accel, cmd):
        """Returns to what hibernated, with the same disks; its console goes on. As boot()."""
        before = self.console.read_bytes()
        self.hibernated = True
        status = self.boot(accel, cmd)
        self.console.write_bytes(before + self.console.read_bytes())
        return status

    def booted_seconds(self):
        """Uptime when the command began, or None when it never did."""
        path = self.share / "booted"
        return float(path.read_text()) if path.exists() else None

    def save_logs(self):
        """Keeps console and kernel log where the caller asked for them, or shows warnings."""
        dmesg = self.share / "dmesg"
        if self.args.out:
            shutil.copy(dmesg if dmesg.exists() else self.console, self.args.out / "dmesg")
        elif dmesg.exists():
            for line in self.console.read_text(errors="replace").splitlines():
                print(f"  | {line}", file=sys.stderr)

    def keep_console(self):
        """As console.1: the next boot writes to the same file."""
        shutil.copy(self.console, self.console.with_name(f"{self.console.name}.1"))

    def show_tail(self, why):
        lines = self.console.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        cache.say(f"{why}; the end of its console:")
        for line in lines:
            print(f"  | {line}", file=sys.stderr)


def _probe_args():
    class Args:  # the least that a Job needs
        kernel, mem, cpus, timeout = DEFAULT, 512 << 20, 1, 60
        nvme = virtio = out = console = None
        icount = udev = one_thread = hibernates = False
        append, verb = "", "probe"
    return Args


def accelerator():
    """'kvm' when a VM boots with it, else 'tcg'; tried once a boot of the host."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    boot_id = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    answer = cache.CACHE / "accelerator"
    with cache.lock("accelerator"):
        if answer.exists() and answer.read_text().split()[1:] == [boot_id]:
            return answer.read_text().split()[0]
        with cache.step("trying KVM"), tree.used() as root, cache.scratch("kvm") as scratch:
            works = Job(_probe_args(), root, None, scratch).boot("kvm", ["true"]) == 0
        kind = "kvm" if works else "tcg"
        cache.say("KVM works" if works else "KVM does not work here: emulating (slower)")
        answer.write_text(f"{kind} {boot_id}\n")
    return kind


def run(args, cmd):
    """`lab run` and, without CMD, `lab shell`."""
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        root = stack.enter_context(tree.used(args.kernel))
        accel = accelerator()
        layer = None if args.no_sync else stack.enter_context(tree.installed(args.kernel))
        stack.enter_context(slots.slot())
        scratch = stack.enter_context(cache.scratch("vm"))
        job = Job(args, root, layer, scratch)
        if not cmd:
            cache.say("booting; leave the shell with 'exit'")
        start = time.monotonic()
        status = job.boot(accel, cmd)
        # While a busy host boots a VM, QEMU's TCG seldom fails an assertion of its own (iotlb_to_section), or
        # loses the timer of a CPU, which then sleeps for ever. Where muster is loaded so early, it may be what hangs.
        if job.emulator_failed and "modules_load" not in args.append:
            job.show_tail("the VM did not boot")
            job.keep_console()
            cache.say("booting once more")
            status = job.boot(accel, cmd)
        for _ in range(RETURNS_MOST if args.hibernates and job.booted_seconds() is not None else 0):
            if status != DIED:
                break
            cache.say("the VM has gone off: booting it again")
            status = job.boot_again(accel, cmd)
        seconds = time.monotonic() - start
        if status == TIMED_OUT and not (job.share / "status").exists():
            job.show_tail("the VM did not boot" if job.emulator_failed else
                          f"the VM was ended after {args.timeout:.0f} s")
        elif status == DIED and not (job.share / "status").exists():
            job.show_tail("the VM died")
        else:
            cache.say(f"VM: {seconds:.1f} s, of them {job.booted_seconds():.1f} s to boot")
        job.save_logs()
    return status
