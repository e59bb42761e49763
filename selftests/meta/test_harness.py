# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what the harness does with files, without a machine."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CHECKOUT / "selftests"), str(CHECKOUT / "tools/lab")]

from harness import lint, meta, objects, unit, vm  # noqa: E402
from lablib import cache, tree  # noqa: E402


class Harness(unittest.TestCase):
    """With a cache and a checkout of its own."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.dir = pathlib.Path(made.name)
        self.patch(cache, "CACHE", self.dir / "cache")
        self.patch(lint, "CHECKOUT", self.dir / "checkout")
        (self.dir / "checkout/modules").mkdir(parents=True)
        cache.CACHE.mkdir()

    def patch(self, where, name, value):
        patcher = mock.patch.object(where, name, value)
        patcher.start()
        self.addCleanup(patcher.stop)

    def write(self, name, text):
        path = self.dir / "checkout" / name
        path.write_text(text)
        return path


class Lint(Harness):
    def looks(self, check, *args, meanwhile=lambda: None):
        """The commands by which CHECK looks at files: while they are changed, then twice at what they were before."""
        looks = []

        def run(command, *_args, **_how):
            if "--version" not in command and "build" not in command:
                looks.append([str(word) for word in command])
                if len(looks) == 1:
                    meanwhile()
            return 0, ""

        self.patch(lint.commands, "run", run)
        for _ in range(3):
            for name in ("a.sh", "lib.sh", "modules/a.c", "modules/b.c"):
                self.write(name, "")
            (lint.CHECKOUT / "a.sh").chmod(0o755)
            (lint.CHECKOUT / "modules/new.c").unlink(missing_ok=True)
            check(*args)
        return looks

    def builds(self, meanwhile=lambda: None):
        """How many looks the build for a kernel takes."""
        self.patch(tree, "made", lambda _machine: ("tree",))
        return len(self.looks(lint.warnings, "6.12", meanwhile=meanwhile))

    def test_what_stays_has_passed(self):
        self.assertEqual(len(self.looks(lint.shellcheck)), 1)
        self.assertEqual(self.builds(), 1)

    def test_what_has_changed_has_not(self):
        looks = self.looks(lint.shellcheck, meanwhile=lambda: self.write("a.sh", "changed"))
        self.assertEqual([look[-1] for look in looks[1:]], [str(lint.CHECKOUT / "a.sh")])

    def test_nor_has_what_sources_it(self):
        looks = self.looks(lint.shellcheck, meanwhile=lambda: self.write("lib.sh", "changed"))
        self.assertEqual(looks, looks[:1] * 2)

    def test_nor_what_was_built_with_it(self):
        self.assertEqual(self.builds(lambda: self.write("modules/new.c", "new")), 2)

    def test_nor_what_was_built_without_it(self):
        self.assertEqual(self.builds(lambda: (lint.CHECKOUT / "modules/a.c").unlink()), 2)

    def test_layout(self):
        licence = "# SPDX-License-Identifier: GPL-2.0-only\n"
        self.write("good.sh", licence)
        self.write("trace.xz", "\0")
        lint.layout()
        self.write("none.sh", "")
        self.write("built", licence + "\0")
        self.write("long.sh", licence * (lint.LONGEST_FILE + 1))
        with self.assertRaises(lint.Complaints) as found:
            lint.layout()
        self.assertEqual([line.partition(":")[0] for line in str(found.exception).split("\n")],
                         ["built", "long.sh", "none.sh"])

    def test_links(self):
        self.write("a.md", "# What is `it`?\n# Again\n# Again\n```\n# no heading\n```\n")
        self.write("b.md", "[1](a.md#what-is-it) [2](a.md#again-1) [3](#here) [4](https://example.org/#x)\n## Here\n")
        lint.links()
        self.write("c.md", "[1](a.md#no-heading) [2](d.md) [3](#there) [4](a.md)\n")
        with self.assertRaises(lint.Complaints) as found:
            lint.links()
        self.assertEqual(str(found.exception).split("\n"), [
            "c.md: a.md#no-heading: no such heading", "c.md: d.md: no such file", "c.md: #there: no such heading"])

    def test_figures_that_no_page_has(self):
        (lint.CHECKOUT / "docs/figures").mkdir(parents=True)
        self.write("docs/a.md", "[1](figures/told.json)\n")
        self.write("docs/figures/told.json", "")
        lint.links()
        self.write("docs/figures/lost.json", "")
        with self.assertRaises(lint.Complaints) as found:
            lint.links()
        self.assertEqual(str(found.exception), "docs/figures/lost.json: no page links to it")

    def test_newest_ruff(self):
        for version in ("0.14.5", "0.14.10"):
            (cache.CACHE / f"venv-ruff-{version}/bin").mkdir(parents=True)
            (cache.CACHE / f"venv-ruff-{version}/bin/ruff").touch()
        self.assertEqual(self.looks(lint.ruff)[0][0], str(cache.CACHE / "venv-ruff-0.14.10/bin/ruff"))

    def arm64_of(self, output):
        """What the check for arm64 says where the lab ends with OUTPUT."""
        with mock.patch.object(lint.commands, "run", return_value=(1, output)):
            lint.arm64()

    def test_mirror_without_arm64(self):
        with self.assertRaises(lint.Missing) as found:
            self.arm64_of("x\nE: Failed to fetch http://mirror/binary-arm64/Packages  404\nlab: failed\n")
        self.assertIn("http://mirror/binary-arm64/Packages  404", str(found.exception))

    def test_lab_that_fails_for_arm64(self):
        with self.assertRaises(lint.Complaints):
            self.arm64_of("lab: mmdebstrap failed with status 25\n")


class Modules(Harness):
    """Those of this directory, by a lab that is ended while it copies them."""

    def build(self, code, text):
        def copied(command, **_how):
            out = pathlib.Path(command[command.index("--out") + 1])
            out.mkdir(parents=True, exist_ok=True)
            (out / "muster_planted.ko").write_text(text)
            return subprocess.CompletedProcess(command, code, "")

        self.patch(tree, "build", lambda _machine: None)
        self.patch(tree, "made", lambda _machine: ("tree",))
        self.patch(subprocess, "run", copied)
        return meta._modules()

    def test_half_a_module_is_none(self):
        with self.assertRaises(cache.LabError):
            self.build(143, "ha")
        for _ in range(2):
            out = self.build(0, "half")
            self.assertEqual((out / "muster_planted.ko").read_text(), "half")
        self.assertEqual(os.listdir(out.parent), [out.name])


class Unit(Harness):
    """What takes long is ended for what it takes of a CPU, not for how long it has to wait for one."""

    def check(self, command):
        (self.dir / "Makefile").write_text(f"check:\n\t{command}\n")
        self.patch(unit, "CPU_SECONDS", 1)
        return unit.make(self.dir, "out", "check")

    def test_a_loop(self):
        status, output = self.check("while :; do :; done")
        self.assertTrue(status and "CPU time limit exceeded" in output, output)

    def seeds_of(self, name, bad=None):
        """Of the runs of the test NAME, '' where it is told none, and what came of them; the seed BAD fails."""
        seeds = []

        def make(_where, _out, *words):
            if "check" in words:
                seeds.append("".join(word for word in words if word.startswith("UNIT_SEED=")))
                return int(seeds[-1] == bad), ""
            return 0, ""

        self.patch(unit, "make", make)
        self.patch(unit.random, "randrange", lambda _first, _end: 5)
        return seeds, unit.run_test(name)

    def test_a_drawn_seed_is_told(self):
        self.assertEqual(self.seeds_of("test_table"), (["", "UNIT_SEED=5"], (0, "# again with UNIT_SEED=5\n")))
        self.assertEqual(self.seeds_of("test_table", "UNIT_SEED=5")[1], (1, "# again with UNIT_SEED=5\n"))
        self.assertEqual(self.seeds_of("test_table", "")[0], [""])

    def test_none_is_drawn_where_it_takes_long_or_one_is_told(self):
        self.assertLessEqual(unit.FIXED_SEED, set(unit.tests()))
        for name in unit.FIXED_SEED:
            self.assertEqual(self.seeds_of(name)[0], [""])
        with mock.patch.dict(os.environ, UNIT_SEED="7"):
            self.assertEqual(self.seeds_of("test_table")[0], [""])

    def test_one_that_waits(self):
        self.assertEqual(self.check("sleep 3; echo good"), (0, "good\n"))


class Objects(Harness):
    """Of sources that are there; what else is beside them stays."""

    def setUp(self):
        super().setUp()
        self.patch(cache, "CHECKOUT", lint.CHECKOUT)
        self.write("modules/a.c", "1")
        self.write("VERSION", "1")
        self.out = self.dir / "out"
        (self.out / "fuzz/fuzz_a.corpus").mkdir(parents=True)
        (self.out / "fuzz/fuzz_a.corpus/1").touch()

    def left(self, meanwhile=lambda: None):
        """Whether the objects of an earlier build are there as the next one begins."""
        with objects.made_of(("modules", "VERSION"), self.out, "sources", ("*.o", "a.*", "fuzz/fuzz_*")):
            there = [(self.out / name).exists() for name in ("a.o", "fuzz/fuzz_a")]
            for name in ("a.o", "fuzz/fuzz_a"):
                (self.out / name).touch()
            meanwhile()
        self.assertTrue((self.out / "fuzz/fuzz_a.corpus/1").exists())
        self.assertEqual(there[0], there[1])
        return there[0]

    def test_stay_when_nothing_changes(self):
        self.assertFalse(self.left())
        self.write("modules/a.mod.c", "the kernel's build's")
        self.assertTrue(self.left())

    def test_go_whatever_changes(self):
        self.left()
        for change in (lambda: os.utime(self.write("modules/a.c", "2"), (1, 1)),
                       lambda: self.write("modules/a.h", ""),
                       (lint.CHECKOUT / "modules/a.h").unlink,
                       lambda: self.write("VERSION", "2")):
            change()
            self.assertFalse(self.left())
            self.assertTrue(self.left())

    def test_go_when_a_file_was_another_meanwhile(self):
        self.left(lambda: self.write("modules/a.c", "2"))
        self.write("modules/a.c", "1")
        self.assertFalse(self.left())

    def test_go_after_a_build_that_was_ended(self):
        def ended():
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.left(ended)
        self.assertFalse(self.left())

    def test_places_are_there(self):
        for place in {*sum(unit.SOURCES.values(), ()), *sum(vm.TOOLS.values(), ())}:
            self.assertTrue((CHECKOUT / place).exists(), place)


class Makefiles(unittest.TestCase):
    """Of programs, with other files than theirs and a compiler that only notes what it is to make."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.dir = pathlib.Path(made.name)
        self.write("cc", f"#!/bin/sh\nwhile [ $1 != -o ]; do shift; done\n: >$2\necho ${{2##*/}} >>{self.dir}/log\n")
        (self.dir / "cc").chmod(0o755)
        self.write("VERSION", "1")

    def write(self, name, text=""):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def make(self, where):
        """What the compiler makes; all is old after that."""
        (self.dir / "log").write_text("")
        subprocess.run(["make", "-s", "-C", self.dir / where, f"OUT={self.dir}/out", f"CC={self.dir}/cc",
                        f"CLANG={self.dir}/cc"], check=True, stdout=subprocess.DEVNULL)
        for path in self.dir.rglob("*"):
            os.utime(path, (1, 1))
        return (self.dir / "log").read_text().split()

    def check(self, programs, where, goes, *files):
        self.write(f"{where}/Makefile", (CHECKOUT / where / "Makefile").read_text())
        for name in (goes, *files):
            self.write(name, "#include <linux/x.h>\n")
        self.assertLessEqual(set(programs), set(self.make(where)))
        self.assertEqual(self.make(where), [])
        (self.dir / goes).unlink()
        self.assertEqual(self.make(where), programs)

    def test_musterctl(self):
        self.check(["musterctl"], "tools/musterctl", "tools/musterctl/a.c", "tools/musterctl/b.c")

    def test_sim(self):
        for goes in ("modules/w2r/algo/a.c", "tools/sim/w2r/a.c"):
            self.check(["w2r-sim"], "tools/sim/w2r", goes, "tools/sim/w2r/b.c", "modules/algo/pure.h")

    def test_unit(self):
        where = "selftests/unit"
        for goes in ("modules/mswap/algo/a.c", "tools/sim/w2r/a.c"):
            self.check(["test_a", "fuzz_a"], where, goes, "modules/algo/pure.h", "modules/mswap/algo/b.c",
                       "tools/sim/w2r/b.c", "tools/musterctl/figure.c", f"{where}/test_a.c", f"{where}/fuzz_a.c")

    def fuzz(self):
        """The status of the fuzzer a, which is there, and what it was told to run."""
        (self.dir / "log").write_text("")
        done = subprocess.run(["make", "-s", "-C", self.dir / "selftests/unit", f"OUT={self.dir}/out",
                               f"CLANG={self.dir}/cc", "fuzz"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode, (self.dir / "log").read_text().split()

    def test_what_crashed_a_fuzzer_is_tried_first(self):
        self.test_unit()
        fuzzer, crash = self.dir / "out/fuzz/fuzz_a", self.dir / "out/fuzz/fuzz_a.crashes/crash-1"
        fuzzer.write_text('#!/bin/sh\nfor last; do :; done\necho ${last##*/} >>../../log\n'
                          '[ "${last##*/}" != crash-1 ] || exit 1\n'
                          '[ ! -e ../../bad ] || { echo >"${1#-artifact_prefix=}crash-1"; exit 1; }\n')
        fuzzer.chmod(0o755)
        self.assertEqual(self.fuzz(), (0, ["fuzz_a.corpus"]))
        self.write("bad")
        self.assertEqual(self.fuzz(), (2, ["fuzz_a.corpus"]))
        (self.dir / "bad").unlink()
        self.assertEqual(self.fuzz(), (2, ["crash-1"]))
        fuzzer.write_text(fuzzer.read_text().replace("exit 1", ":"))
        self.assertEqual(self.fuzz(), (0, ["crash-1", "fuzz_a.corpus"]))
        self.assertTrue(crash.exists())

    def test_interleave(self):
        where = "selftests/interleave"
        for goes in ("modules/mswap/algo/a.c", f"{where}/mswap_a.c", f"{where}/kernel/a.c"):
            self.check(["mswap"], where, goes, "modules/mswap/a.c", "modules/mswap/algo/b.c", f"{where}/kernel/b.c",
                       *(f"{where}/{name}.c" for name in ("mswap_main", "oracle", "run", "user_io")))


if __name__ == "__main__":
    unittest.main()
