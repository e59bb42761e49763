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

    def build(self, out):
        """What `make musterctl` says when it builds in OUT, which it leaves nothing outside of."""
        before = set(self.clone.rglob("*"))
        done = subprocess.run(["make", "-s", "musterctl", f"OUT={out}"], cwd=self.clone, text=True, check=True,
                              env=os.environ | {"HOME": str(self.home), "CFLAGS": "-O0"}, stdout=subprocess.PIPE)
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


if __name__ == "__main__":
    unittest.main()
