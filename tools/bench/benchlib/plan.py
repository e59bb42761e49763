# SPDX-License-Identifier: GPL-2.0-only
"""What is measured: devices, programs, sides, and the order of the steps."""

import dataclasses

STRIDE = "pagestride"


@dataclasses.dataclass(frozen=True)
class Device:
    kind: str
    title: str
    lab_disk: str = ""  # option of `lab run` that makes it; empty: the guest makes it
    ramdisks: int = 1  # memory-backed devices in the VM, the floor included
    floor: bool = False  # also measure stock swap on a ramdisk in the same boot


DEVICES = {
    device.kind: device
    for device in (
        Device("brd", "ramdisk (brd)"),
        Device("null_blk-7us", "null_blk, 7 µs"),
        Device("null_blk-100us", "null_blk, 100 µs", ramdisks=2, floor=True),
        Device("nvme", "QEMU NVMe", lab_disk="--nvme", floor=True),
        Device("virtio", "virtio-blk", lab_disk="--virtio", ramdisks=0),
    )
}
FLOOR = "brd"


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    title: str
    commands: tuple
    guess: int = 60  # seconds a step takes on a slow machine, until one was seen

    @property
    def phased(self):
        """Its write phase and its read-back are told apart."""
        return len(self.commands) == 1 and STRIDE in self.commands[0]


def _stride(pages):
    return f"{STRIDE} -c {pages} -s 512"


PROGRAMS = {
    program.name: program
    for program in (
        Program("c1", "1 page touched, 1 skipped", (_stride(1),)),
        Program("c4", "4 pages touched, 4 skipped", (_stride(4),)),
        Program("c16", "16 pages touched, 16 skipped", (_stride(16),)),
        Program("c32", "32 pages touched, 32 skipped", (_stride(32),)),
        Program("random", "random single pages of 384 MiB", (f"{STRIDE} -c 1 -k 0 -s 384 --random-singles",)),
        Program("three", "c = 1, 4 and 16 at once", tuple(f"{_stride(c)} -o {c}" for c in (1, 4, 16)), 150),
    )
}


@dataclasses.dataclass(frozen=True)
class Step:
    number: int
    round: int
    device: str  # kind the step swaps to
    side: str  # stock, mswap, frontswap or floor
    page_cluster: int
    program: str

    @property
    def variant(self):
        return f"{self.side}-{self.page_cluster}"


def variants(sides, stock_clusters, mswap_clusters):
    """(side, page_cluster) pairs; mswap comes between the stock ones, so that drift hits both."""
    stock = [("stock", n) for n in stock_clusters] if "stock" in sides else []
    ours = [(side, n) for side in ("mswap", "frontswap") if side in sides for n in mswap_clusters]
    return stock[:1] + ours + stock[1:]


def steps(device, programs, rounds, pairs, floor_program="c1", floor=True):
    """All steps of one boot; each round starts with another variant."""
    out = []
    for number in range(rounds):
        for program in programs:
            turn = number % max(len(pairs), 1)
            todo = [(device.kind, *pair) for pair in pairs[turn:] + pairs[:turn]]
            if floor and device.floor and program == floor_program:
                todo.append((FLOOR, "floor", 3))
            for kind, side, page_cluster in todo:
                out.append(Step(len(out) + 1, number + 1, kind, side, page_cluster, program))
    return out


def guest_plan(kinds, size_mib, limit_mib, programs, todo, knobs=(), count=None):
    """The text that guest.sh carries out; PROGRAMS maps names to lists of commands; bios of COUNT are counted."""
    lines = [f"device {kind}" for kind in kinds]
    lines += [f"size {size_mib}", f"limit {limit_mib << 20}", *([f"count {count}"] if count else [])]
    lines += [f"knob {name} {value}" for name, value in knobs]
    lines += [f"program {name} {command}" for name, commands in programs.items() for command in commands]
    lines += [
        f"step {step.number} {step.device} {'stock' if step.side == 'floor' else step.side}"
        f" {step.page_cluster} {step.program}"
        for step in todo
    ]
    return "\n".join(lines) + "\n"
