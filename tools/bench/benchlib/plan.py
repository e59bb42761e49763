# SPDX-License-Identifier: GPL-2.0-only
"""What is measured: devices, programs, sides, and the order of the steps."""

import dataclasses

STRIDE = "pagestride"
PHASED = (STRIDE, "stripes")
# Never half full, but where a program sees to that: from there on the kernel frees a slot when its page is read, and
# chance decides what is written twice.
DEVICE_MIB = 2048
DEVICE_PAGES = DEVICE_MIB << 8
HUGEPAGES = ("never", "madvise", "always")


@dataclasses.dataclass(frozen=True)
class Device:
    kind: str
    title: str
    lab_disk: str = ""  # option of `lab run` that makes it; empty: the guest makes it
    ramdisks: int = 1  # memory-backed devices in the VM, the floor included
    floor: bool = False  # also measure stock swap on a ramdisk in the same boot
    keeps_statistics: bool = True  # of its I/Os
    has_queue: bool = True  # of requests, and so an I/O scheduler
    slowness: int = 1  # how much longer than on others a step may take

    def counts_instructions(self, clock):
        """Whether CLOCK makes the VM's time that of its instructions: emulated disks have none there."""
        return clock == "instructions" or (clock == "auto" and not self.lab_disk)


DEVICES = {
    device.kind: device
    for device in (
        Device("brd", "ramdisk (brd)", keeps_statistics=False, has_queue=False),
        Device("null_blk-7us", "null_blk, 7 µs"),
        Device("null_blk-100us", "null_blk, 100 µs", ramdisks=2, floor=True),
        Device("null_blk-400us", "null_blk, 400 µs", ramdisks=2, floor=True),
        Device("null_blk-5ms", "null_blk, 5 ms, one at a time", slowness=4),
        Device("nvme", "QEMU NVMe", lab_disk="--nvme", floor=True),
        Device("nvme-tcp", "NVMe over TCP, null_blk of 100 µs behind it"),
        Device("virtio", "virtio-blk", lab_disk="--virtio", ramdisks=0),
    )
}
STEP_LIMIT = 900
DEFAULT_DEVICES = ("brd", "null_blk-7us", "null_blk-100us", "nvme", "virtio")
FLOOR = "brd"


@dataclasses.dataclass(frozen=True)
class Side:
    """A way to swap to a device; sides.sh makes it."""

    name: str
    title: str
    on_device: bool = True  # what does not fit in memory is on the device
    page_cluster: int | None = None  # vm.page-cluster; None: an option says
    scheduler: str = ""  # of I/Os, that the device has meanwhile; none: the kernel's choice

    @property
    def is_ours(self):
        return self.name.startswith("mswap") or self.name == "frontswap"

    @property
    def is_stock(self):
        """Stock swap on nothing but the device, however it reads ahead and whatever orders its I/Os."""
        return self.name.startswith("stock")

    @property
    def is_peer(self):
        return self.on_device and not self.is_ours

    @property
    def writes_in_background(self):
        """Whether it swaps at all says nothing of what reaches the device."""
        return self.name.startswith("zramwb")


SIDES = {
    side.name: side
    for side in (
        Side("stock", "stock"),
        Side("stock-slots", "stock, read-ahead by slots"),
        Side("stock-deadline", "stock, mq-deadline", scheduler="mq-deadline"),
        Side("linear", "dm-linear over the device", page_cluster=3),
        Side("mswap", "mswap"),
        Side("mswap-slots", "mswap, read-ahead by slots"),
        Side("frontswap", "mswap-frontswap", page_cluster=0),
        Side("mswap-object", "mswap, a write an object"),
        Side("mswap-page", "mswap, a write a page"),
        Side("mswap-w2r", "mswap on dm-w2r"),
        Side("zswap-lz4", "zswap (lz4) over the device", page_cluster=3),
        Side("zswap-zstd", "zswap (zstd) over the device", page_cluster=3),
        Side("zramwb-lz4", "zram (lz4) that writes to the device", page_cluster=0),
        Side("zramwb-zstd", "zram (zstd) that writes to the device", page_cluster=0),
        Side("zram-lz4", "zram (lz4), nothing on the device", on_device=False, page_cluster=0),
        Side("zram-zstd", "zram (zstd), nothing on the device", on_device=False, page_cluster=0),
    )
}
DEFAULT_SIDES = ("stock", "stock-slots", "mswap")


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    title: str
    commands: tuple
    guess: int = 60  # seconds a step takes on a slow machine, until one was seen
    memory_mib: int = 0  # of the cgroup; 0: an option says
    outside: bool = False  # runs outside the cgroup, and itself puts into it what shall be
    archives: tuple = ()  # what is unpacked for it
    filler: int = 0  # pages that swap holds beside its own, and that it says

    @property
    def phased(self):
        """Its write phase and its read-back are told apart."""
        return len(self.commands) == 1 and any(name in self.commands[0] for name in PHASED)


SCALES = (1, 2, 4, 8)
REAL_PROGRAMS = ("memcached", "redis", "pgbench", "compile", "stress-vm", "stress-bigheap", "numpy")


def aged_filler(full, pages=DEVICE_PAGES):
    """How many pages agedswap holds."""
    return pages // 100 * full


def _stride(pages):
    return f"{STRIDE} -c {pages} -s 512"


def _all_pages(mib):
    return f"{STRIDE} -c 1 -k 0 -s {mib}"


DEFAULT_PROGRAMS = ("c1", "c4", "c16", "c32", "random", "three")
PROGRAMS = {
    program.name: program
    for program in (
        Program("c1", "1 page touched, 1 skipped", (_stride(1),)),
        Program("c4", "4 pages touched, 4 skipped", (_stride(4),)),
        Program("c16", "16 pages touched, 16 skipped", (_stride(16),)),
        Program("c32", "32 pages touched, 32 skipped", (_stride(32),)),
        Program("random", "random single pages of 384 MiB", (f"{_all_pages(384)} --random-singles",)),
        Program("seq", "1.5 times the memory written in order, and read back", (_all_pages(288),), memory_mib=192),
        Program("rand", "the same at random", (f"{_all_pages(288)} --random-singles",), memory_mib=192),
        Program("three", "c = 1, 4 and 16 at once", tuple(f"{_stride(c)} -o {c}" for c in (1, 4, 16)), 150),
        Program("beside", "c = 1 beside a program that reads at random what it wrote in order",
                (_stride(1), f"{_all_pages(192)} --random-reads -o 2"), 100),
        Program("marks", "all of 256 MiB read in order eight times, one page in ten written anew each time",
                (f"{_all_pages(256)} --rounds 8 --write-on-readback=10",), 150),
        Program("skips", "256 MiB written in order; one page in three, by chance, read in order, eight times",
                (f"{_all_pages(256)} --rounds 8 --one-in 3",), 100),
        Program("descent", "256 MiB written in order; read and rewritten from the last page to the first, four times",
                (f"{_all_pages(256)} --rounds 4 --descending --write-on-readback",), 100),
        Program("willneed", "256 MiB written in order and read four times, each 2 MiB after MADV_WILLNEED for them",
                (f"{_all_pages(256)} --rounds 4 --willneed 512",), 100),
        Program("sor", "successive over-relaxation of a grid of 254 MB", ("sor",)),
        Program("lu", "LU factorisation of a band matrix of 234 MB", ("lu",)),
        Program("netsim", "events of a network of 250 MB of small objects", ("netsim",), 100),
        *(
            Program(f"aged{full}", f"c = 1 while {full} % of the device is in use and fragmented",
                    (f"agedswap {full} {DEVICE_PAGES} 48 {STRIDE} -c 1 -s 192",), 100,
                    filler=aged_filler(full))
            for full in (50, 80, 95)
        ),
        Program("worn80", "the same at 80 %, of which a tenth has been given back and filled again six times",
                (f"agedswap -n 6 80 {DEVICE_PAGES} 48 {STRIDE} -c 1 -s 192",), 250, filler=aged_filler(80)),
        *(
            Program(f"scale{n}", f"c = 1 over 512 MiB, dealt to {n} processes", (f"stripes -p {n} -s 512",))
            for n in SCALES
        ),
        Program("fft", "a Fourier transform of 64 MiB of numbers and its inverse", ("fft",), 100, memory_mib=40),
        Program("amr", "diffusion on an adaptive mesh of 145 MB of blocks", ("amr",), memory_mib=96),
        Program("memcached", "memcached with 192 MiB of values", ("run-memcached 182000 1104 60000",), 100,
                memory_mib=128, outside=True, archives=("memcached",)),
        Program("redis", "Redis with 154 MiB of values, and a snapshot", ("run-redis 39000 4096 20000",), 100,
                memory_mib=128, outside=True, archives=("redis",)),
        Program("pgbench", "PostgreSQL with 176 MiB of shared buffers", ("run-pgbench 176 4 5000",), 100,
                memory_mib=96, outside=True, archives=("postgresql", "pgdata")),
        Program("compile", "eight sources, compiled four at a time", ("run-compile",), 100,
                memory_mib=64, outside=True, archives=("gcc", "sources")),
        Program("stress-vm", "stress-ng, two stressors of memory of 96 MiB each",
                tuple(f"run-stress vm --vm-bytes 96M --vm-method {method} --vm-ops {ops}"
                      for method, ops in (("swap", 8), ("incdec", 6))),
                memory_mib=128, outside=True, archives=("stress-ng",)),
        Program("stress-bigheap", "stress-ng, a heap that grows to 192 MiB, twice",
                ("run-stress bigheap --bigheap-bytes 192M --bigheap-ops 6000",),
                memory_mib=128, outside=True, archives=("stress-ng",)),
        Program("numpy", "numpy on a matrix of 162 MB", ("run-numpy 4501",),
                memory_mib=96, outside=True, archives=("numpy",)),
        Program("papers", "sor, lu and netsim at once", ("sor", "lu", "netsim"), 200),
    )
}


@dataclasses.dataclass(frozen=True)
class Step:
    number: int
    round: int
    device: str  # kind the step swaps to
    side: str  # one of SIDES, or floor
    page_cluster: int
    program: str

    @property
    def variant(self):
        return f"{self.side}-{self.page_cluster}"


def row_variables(side, page_cluster):
    """The variables of bench-swap that choose just this of its sides; the floor comes with mswap."""
    if side == "floor":
        return {"SIDES": "mswap", "MSWAP_PAGE_CLUSTERS": str(page_cluster)}
    known = SIDES[side]
    name = "STOCK_PAGE_CLUSTERS" if known.is_stock else "MSWAP_PAGE_CLUSTERS"
    return {"SIDES": side} | ({name: str(page_cluster)} if known.page_cluster is None else {})


def variants(sides, stock_clusters, mswap_clusters):
    """(side, page_cluster) pairs; the others come between the stock ones, so that drift hits all."""
    def pairs(names):
        for name in names:
            side = SIDES[name]
            default = stock_clusters if side.is_stock else mswap_clusters
            yield from ((name, n) for n in (default if side.page_cluster is None else (side.page_cluster,)))

    asked_for = [name for name in SIDES if name in sides]
    stock = list(pairs(name for name in asked_for if SIDES[name].is_stock))
    others = list(pairs(name for name in asked_for if not SIDES[name].is_stock))
    return stock[:1] + others + stock[1:]


def left_out(device, sides):
    """Those of SIDES that cannot be had on DEVICE."""
    return [name for name in sides if SIDES[name].scheduler and not device.has_queue]


def steps(device, programs, rounds, pairs, floor_program="c1", floor=True):
    """All steps of one boot; each round starts with another variant."""
    out = []
    pairs = [pair for pair in pairs if not left_out(device, pair[:1])]
    for number in range(rounds):
        for program in programs:
            turn = number % max(len(pairs), 1)
            todo = [(device.kind, *pair) for pair in pairs[turn:] + pairs[:turn]]
            if floor and device.floor and program == floor_program:
                todo.append((FLOOR, "floor", 3))
            for kind, side, page_cluster in todo:
                out.append(Step(len(out) + 1, number + 1, kind, side, page_cluster, program))
    return out


def step_limit(device, step=None):
    """Seconds of the host after which a STEP on DEVICE, or what comes before the first, is taken for hung."""
    guess = PROGRAMS[step.program].guess if step else 0
    return max(STEP_LIMIT, 10 * guess) * device.slowness


def _program_lines(program):
    lines = [f"program {program.name} {command}" for command in program.commands]
    lines += [f"memory {program.name} {program.memory_mib << 20}"] if program.memory_mib else []
    lines += [f"outside {program.name}"] if program.outside else []
    return lines + [f"root {program.name} {archive}.tar" for archive in program.archives]


def guest_plan(kinds, size_mib, limit_mib, programs, todo, knobs=(), count=None, charge=False,
               instructions=False, hugepages=HUGEPAGES[0]):
    """The text that guest.sh carries out; bios of COUNT are counted."""
    lines = [f"device {kind}" for kind in kinds]
    lines += [f"size {size_mib}", f"limit {limit_mib << 20}", *([f"count {count}"] if count else [])]
    lines += [f"knob {name} {value}" for name, value in knobs]
    lines += [f"hugepages {hugepages}"]
    lines += ["charge 1"] if charge else []
    lines += ["instructions 1"] if instructions else []
    lines += [line for program in programs for line in _program_lines(program)]
    lines += [
        f"step {step.number} {step.device} {'stock' if step.side == 'floor' else step.side}"
        f" {step.page_cluster} {step.program}"
        for step in todo
    ]
    return "\n".join(lines) + "\n"
