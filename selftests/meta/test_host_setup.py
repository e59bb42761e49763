# SPDX-License-Identifier: GPL-2.0-only
"""tools/host-setup on a machine that lacks a package, with an apt-get that only tells of itself."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "tools/host-setup"
# The directory that is empty is one that a package of host-setup's has a file in.
LACKING = ("unshare", "--mount", "--propagation", "private", "sh", "-c",
           'mount -t tmpfs none /usr/share/keyrings && exec "$@"', "sh")
PACKAGE = "debian-archive-keyring"
ANOTHER = ("setpriv", "--reuid", "65534", "--clear-groups")


class HostSetup(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.dir = pathlib.Path(made.name)
        self.dir.chmod(0o755)
        # The clone may be where only root comes.
        self.setup = shutil.copy(SETUP, self.dir)
        os.chmod(self.setup, 0o755)

    def run_setup(self, apt, *words, **more):
        """What it does where apt-get does what the shell's line APT says."""
        (self.dir / "apt-get").write_text(f'#!/bin/sh\necho "$*" >>{self.dir}/asked\n{apt}\n', encoding="ascii")
        (self.dir / "apt-get").chmod(0o755)
        # As a plain `su` leaves it, without sbin.
        environment = os.environ | {"PATH": f"{self.dir}:/usr/bin:/bin", "MUSTER_CACHE": str(self.dir / "cache")}
        return subprocess.run([*more.get("lacking", LACKING), *more.get("user", ()), self.setup, *words],
                              env=environment, text=True, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def asked(self):
        return (self.dir / "asked").read_text(encoding="ascii")

    def test_dpkg_finds_its_programs(self):
        done = self.run_setup("command -v ldconfig start-stop-daemon")
        self.assertEqual((done.stdout, done.returncode), (f"host-setup: installing {PACKAGE} ...\n", 0))
        self.assertRegex(self.asked(), rf" update .*\n.* install -y .*{PACKAGE}\n$")

    def test_what_apt_says_of_a_failure(self):
        done = self.run_setup("echo no such package; false")
        self.assertIn("no such package\n", done.stdout)
        self.assertNotEqual(done.returncode, 0)

    def test_another_user(self):
        done = self.run_setup("", user=ANOTHER)
        self.assertEqual((done.stdout, done.returncode),
                         (f"host-setup: must run as root to install: {PACKAGE}\n", 1))
        self.assertFalse((self.dir / "asked").exists())

    def test_another_users_cache(self):
        for made in "cache", "cache/locks":
            (self.dir / made).mkdir(mode=0o755)
            done = self.run_setup("", "lint", lacking=(), user=ANOTHER)
            self.assertIn(f"host-setup: cannot write to {self.dir}/cache: run it as root", done.stdout)
            self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
