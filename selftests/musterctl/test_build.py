# SPDX-License-Identifier: GPL-2.0-only
"""`make musterctl`, in a copy of what it takes."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import sysroot

CHECKOUT = sysroot.HERE.parents[1]


class Build(unittest.TestCase):
    def setUp(self):
        self.clone = pathlib.Path(tempfile.mkdtemp(prefix="musterctl-"))
        self.addCleanup(shutil.rmtree, self.clone)
        for name in ("Makefile", "VERSION"):
            shutil.copy(CHECKOUT / name, self.clone)
        shutil.copytree(CHECKOUT / "tools/musterctl", self.clone / "tools/musterctl")
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="musterctl-"))
        self.addCleanup(shutil.rmtree, self.home)

    def build(self, out, **flags):
        """What `make musterctl` says when it builds in OUT, which it leaves nothing outside of; FLAGS as packagers."""
        before = set(self.clone.rglob("*"))
        env = os.environ | {"HOME": str(self.home), "CFLAGS": "-O0"} | flags
        done = subprocess.run(["make", "-s", "musterctl", f"OUT={out}"], cwd=self.clone, text=True, check=True,
                              env=env, stdout=subprocess.PIPE)
        made = set(self.clone.rglob("*")) - before
        self.assertLessEqual({path.relative_to(self.clone).parts[0] for path in made}, {out})
        return pathlib.Path(done.stdout.removesuffix("\n"))

    def test_a_relative_directory(self):
        """It is one of where make was called."""
        program = self.build("build")
        self.assertEqual(program, self.clone.resolve() / "build/musterctl/musterctl")
        self.assertTrue(program.is_file())

    def test_a_directory_of_the_user(self):
        """As a shell gives it that leaves ~ as it is."""
        program = self.build("~/build")
        self.assertEqual(program, self.home / "build/musterctl/musterctl")
        self.assertTrue(program.is_file())

    def test_no_single_directory(self):
        """make takes a path with a blank for two; with none it would build in /."""
        for out in ("a b", ""):
            done = subprocess.run(["make", "-s", "musterctl", f"OUT={out}"], cwd=self.clone, text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 2)
            self.assertIn("OUT=, or MUSTER_CACHE, is the path of one directory, without blanks", done.stdout)
        self.assertEqual({path.name for path in self.clone.iterdir()}, {"Makefile", "VERSION", "tools"})

    def test_flags_of_a_packager(self):
        """For the preprocessor, the linker, and what is linked behind all else."""
        (self.home / "told.h").write_text('__attribute__((used)) static const char told[] = "told by CPPFLAGS";\n',
                                          encoding="ascii")
        program = self.build("build", CPPFLAGS=f"-include {self.home}/told.h", LDFLAGS=f"-Wl,-Map={self.home}/map",
                             LDLIBS="-Wl,--defsym=told_by_ldlibs=1")
        self.assertTrue(b"told by CPPFLAGS" in program.read_bytes())
        self.assertTrue("told_by_ldlibs" in (self.home / "map").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
