# SPDX-License-Identifier: GPL-2.0-only
"""What is measured of dm-w2r: devices, sides, programs, the order of the steps, and what a step found."""

import dataclasses

from . import conditions, guest, options, results, resume

DEVICES = {
    "null_blk-100us": "null_blk, 100 µs",
    "null_blk-400us": "null_blk, 400 µs",
    "null_blk-5ms": "null_blk, 5 ms, one I/O at a time",
    "null_blk-20ms": "null_blk, 20 ms, one I/O at a time",
    "delay-4ms": "dm-delay of 4 ms on a ramdisk",
}
FLOOR = "brd"  # the same without a device that takes its time: what there is to gain
SIDES = {
    "plain": ("plain", "the device itself"),
    "plain-1m": ("plain 2048", "the device itself with a read-ahead of 1 MiB"),
    "lru": ("w2r-keep-ra policy lru readahead off", "a cache below the page cache: LRU, nothing prefetched"),
    "lru-obl": ("w2r policy lru planner obl lookahead 1 rooms one readahead on",
                "the next block prefetched into the same LRU list: the paper's rival"),
    "sa-w2r": ("w2r policy lru planner obl lookahead 1 readahead on", "the paper's pair"),
    "w2r": ("w2r", "dm-w2r as it comes"),
    "dm-cache": ("dm-cache 128", "dm-cache with policy smq, write-through, blocks of 64 KiB on a ramdisk"),
    "dm-cache-32k": ("dm-cache 64", "the same with blocks of 32 KiB"),
    "dm-cache-256k": ("dm-cache 512", "the same with blocks of 256 KiB"),
    "bcache": ("bcache 0", "bcache, write-through, on a ramdisk"),
    "bcache-4m": ("bcache 4194304", "the same, sequential readers pass by after 4 MiB, its default"),
}
PLAIN = "plain"
RIVALS = ("dm-cache", "dm-cache-32k", "dm-cache-256k", "bcache", "bcache-4m")
GCC_FLAGS = (
    "-std=gnu11 -O1 -w -fno-PIE -mno-sse -fshort-wchar -nostdinc -D__KERNEL__ -Isrc/asm -Isrc/generated/asm"
    " -Isrc/include -Isrc/generated -Isrc/asm/uapi -Isrc/generated/asm/uapi -Isrc/include/uapi"
    " -Isrc/generated/generated/uapi -include linux/compiler-version.h -include linux/kconfig.h"
    " -include linux/compiler_types.h"
)
GCC = "$(ls /usr/bin/x86_64-linux-gnu-gcc-[0-9]* | tail -n 1)"
SUM_TREE = "--sort=name --owner=0 --group=0 --mtime=@0 --mode=700 -cf - src"


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    command: str
    check: str
    paper: float  # run time of SA-W²R over that of Linux, in the paper

    def lines(self):
        return [f"program {self.name} {self.command}", f"check {self.name} {self.check}"]


PROGRAMS = {
    program.name: program
    for program in (
        Program("compile", f"gcc={GCC} && $gcc {GCC_FLAGS} -E unit.c -o out/unit.i && $gcc -O1 -w -fno-PIE -mno-sse"
                " -fshort-wchar -c out/unit.i -o out/unit.o", "cat out/unit.i out/unit.o", 230 / 244),
        Program("cp", "mkdir out/src && cp -r src/include out/src", f"tar -C out {SUM_TREE}", 48.7 / 59.4),
        Program("tar-c", "tar -cf out/src.tar src/include",
                "mkdir out/x && tar -C out/x -xf out/src.tar && "
                f"tar -C out/x {SUM_TREE}", 55.3 / 61.0),
        Program("tar-x", "tar -C out -xf base.tar", f"tar -C out {SUM_TREE}", 36.3 / 41.7),
        Program("gzip", "gzip -1 -n -c text >out/text.gz", "cat out/text.gz", 56.1 / 72.9),
        Program("gunzip", "gzip -d -c base.tar.gz >out/base.tar", "cat out/base.tar", 17.2 / 21.5),
        Program("sort", "sort text >out/sorted", "cat out/sorted", 42.6 / 47.3),
        Program("grep", "grep -r -n struct src/include >out/lines", "sort out/lines", 37.0 / 46.9),
    )
}
WRITERS = ("tar-x", "cp")  # of many files, the quickest first
OWN_WORDS = "w2r:"  # a side of its own: w2r:OPTION=VALUE,OPTION=VALUE
TREE = ("linux", "uapi", "asm-generic", "vdso")
TEXT_BYTES = 12_000_000
UNIT = ("fs", "mm", "blkdev", "bio", "device-mapper", "kobject", "workqueue", "sched", "highmem", "swap", "pagemap")


def title(device):
    return DEVICES.get(device, "a ramdisk, which takes no time")


def side_words(side):
    """What w2r-sides.sh makes SIDE of; None: there is no such side."""
    if side in SIDES:
        return SIDES[side][0]
    if not side.startswith(OWN_WORDS):
        return None
    return "w2r " + side[len(OWN_WORDS):].replace("=", " ").replace(",", " ")


@dataclasses.dataclass(frozen=True)
class Step:
    number: int
    round: int
    device: str
    side: str


def steps(devices, sides, rounds, floor=False):
    """Device by device; each round begins with another side. First, if wanted, the floor."""
    out = [Step(number + 1, number + 1, FLOOR, PLAIN) for number in range(rounds if floor else 0)]
    for device in devices:
        for number in range(rounds):
            turn = number % len(sides)
            for side in sides[turn:] + sides[:turn]:
                out.append(Step(len(out) + 1, number + 1, device, side))
    return out


def writer(programs):
    """The one of PROGRAMS that a step runs once more at its end, to read back what it wrote."""
    return next((name for name in WRITERS if name in programs), programs[0])


def guest_plan(todo, programs, size_mib, cache_mib, *, tree=TREE, unit=UNIT, text_bytes=TEXT_BYTES,
               cost_rounds=0):
    """The text that w2r.sh carries out."""
    devices = dict.fromkeys(step.device for step in todo)
    sides = dict.fromkeys(step.side for step in todo)
    lines = [f"device {device}" for device in devices]
    lines += [f"size {size_mib}", f"cache {cache_mib}", f"text {text_bytes}"]
    lines += [f"tree {' '.join(tree)}", f"unit {' '.join(unit)}"]
    lines += [f"side {side} {side_words(side)}" for side in sides]
    lines += [line for name in programs for line in PROGRAMS[name].lines()]
    lines += [f"written {writer(programs)}"] if programs else []
    lines += [f"cost {cost_rounds}"] if cost_rounds else []
    lines += [f"step {step.number} {step.device} {step.side}" for step in todo]
    return "\n".join(lines) + "\n"


def _snapshot(path):
    """The device's I/Os, what the machine has spent, and the cache's counters as they are called there."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if line.startswith("cpu "):
            found |= {f"{name}_ms": spent for name, spent in results.cpu_ms(words[1:]).items()}
        elif line.startswith("blockstat "):
            found |= {"dev_reads": int(words[1]), "dev_read_kib": int(words[3]) // 2,
                      "dev_writes": int(words[5]), "dev_write_kib": int(words[7]) // 2}
        else:
            name, _, value = line.partition(":")
            found[name] = int(value) if value.lstrip("-").isdigit() else value
    return found


CUMULATIVE = ("root_reads", "user_ms", "sys_ms", "io_some_us", "io_full_us", "major_faults", "dev_reads",
              "dev_read_kib", "dev_writes", "dev_write_kib", "read_blocks", "hits_weighing", "hits_waiting", "misses",
              "bypassed", "prefetched", "prefetch_used", "prefetch_wasted", "origin_reads", "origin_prefetches",
              "read_hits", "read_misses", "promotions")


def program_result(out, step, event):
    """What one program of STEP found, as a dict that goes to the JSON file as it is."""
    name = event["program"]

    def text(suffix):
        return (out / f"{step.number}.{name}.{suffix}").read_text(encoding="utf-8", errors="replace")

    begin, end = (_snapshot(out / f"{step.number}.{name}.{when}") for when in ("begin", "end"))
    expected = (out / f"expected.{name}").read_text(encoding="utf-8")
    return {
        "device": step.device,
        "side": step.side,
        "round": step.round,
        "program": name,
        "seconds": round(float(event["end"]) - float(event["begin"]), 3),
        "counts": {key: end[key] - begin[key] for key in CUMULATIVE if key in end},
        "state": {key: value for key, value in end.items() if key not in CUMULATIVE},
        "status": int(text("status")),
        "output": text("output"),
        "right": text("sum") == expected,
    } | conditions.of_step(lambda name: out / f"{step.number}.{name}")


def again(variables, found):
    """
    The command that measures the result FOUND of a run with these VARIABLES again: what a cache holds, it holds from
    the programs before.
    """
    programs = variables["PROGRAMS"].split()
    chosen = {"SIDES": found["side"], "COST_ROUNDS": "0",
              "PROGRAMS": " ".join(programs[:programs.index(found["program"]) + 1])}
    if found["device"] in DEVICES:  # or the floor, which comes with any
        chosen["DEVICES"] = found["device"]
    return options.command("bench-w2r", variables | chosen)


def read_back_right(out, number, program):
    """Whether what PROGRAM wrote in step NUMBER was read back as it is in memory."""
    read_back, expected = (path.read_text(encoding="utf-8") for path in
                           (out / f"{number}.written", out / f"expected.{program}"))
    return read_back == expected


def cut_short(step, program, why):
    """The result of a program of STEP when its boot ended before it did."""
    return {
        "device": step.device, "side": step.side, "round": step.round, "program": program, "seconds": 0.0,
        "counts": dict.fromkeys(("root_reads", "dev_reads", "dev_writes"), 0), "state": {}, "status": 0, "output": "",
        "right": False, "cut_short": why,
    }


def go_on(data, planned, programs):
    """
    Takes the results out of DATA that are of rounds of a device that it has not whole; returns the steps of PLANNED
    that are missing.
    """
    whole = resume.whole_groups(
        (((step.device, step.round), (step.side, name)) for step in planned for name in programs),
        (((each["device"], each["round"]), (each["side"], each["program"])) for each in data["results"]
         if "cut_short" not in each))
    data["results"] = [each for each in data["results"] if (each["device"], each["round"]) in whole]
    resume.begin(data)
    return [step for step in planned if (step.device, step.round) not in whole]


def ended(found):
    """How many of the results FOUND are of programs that came to their end."""
    return sum("cut_short" not in each for each in found)


def cost_result(path):
    """The lines of readcost: one dict a device."""
    return [guest.fields(line) for line in path.read_text(encoding="utf-8").splitlines()]


def complaint(found):
    """Why this result does not count, or nothing."""
    if "cut_short" in found:
        return f"its boot ended: {found['cut_short']}"
    if found["status"]:
        return f"ended with status {found['status']}: {found['output'].strip()[-300:]}"
    if found["counts"]["root_reads"]:
        return f"{found['counts']['root_reads']} reads of the machine's own disk are in its time"
    return "" if found["right"] else "made something else than in memory"
