# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what the lab does with its cache, without a machine."""

import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LAB = pathlib.Path(__file__).resolve().parents[2] / "tools/lab"
sys.path.insert(0, str(LAB))


class Lab(unittest.TestCase):
    """With a cache of its own."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.dir = pathlib.Path(made.name)

    def python(self, code):
        """A process that runs CODE with the lab's modules where nothing that it mounts is the host's."""
        lines = "import pathlib, signal, sys\nfrom lablib import cache, machines, own_kernel, packages, tree\n" + code
        process = subprocess.Popen(["unshare", "--mount", "--propagation", "private", sys.executable, "-B", "-c", lines],
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.dir,
                                   env=os.environ | {"PYTHONPATH": str(LAB), "MUSTER_CACHE": str(self.dir / "cache")})
        self.addCleanup(process.stdout.close)
        return process

    def output(self, code):
        return self.python(code).communicate()[0]


class Interrupted(Lab):
    """mmdebstrap's own process is killed while one that it has started goes on."""

    def interrupt(self, number):
        """Where the mounts are that are left; fails when something goes on."""
        for name in ("host", "root/shm"):
            (self.dir / name).mkdir(parents=True)
        held = self.dir / "held"
        held.touch()
        script = (f"mount --bind {self.dir}/host {self.dir}/root/shm && cat /proc/self/mountinfo >{self.dir}/inside;"
                  f"flock {held} sh -c ': >{self.dir}/begun; sleep 20' & wait")
        process = self.python("signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
                              "try:\n"
                              f"    cache.fetched(['sh', '-c', {script!r}], 'log', 'root')\n"
                              "finally:\n"
                              "    print(pathlib.Path('/proc/self/mountinfo').read_text())")
        while not (self.dir / "begun").exists() and process.poll() is None:
            time.sleep(0.05)
        self.assertIn("/root/shm ", (self.dir / "inside").read_text())
        process.send_signal(number)
        output, _ = process.communicate()
        self.assertTrue(self.is_free(held), "what mmdebstrap has started goes on")
        return output

    def is_free(self, path):
        with open(path, encoding="ascii") as handle:
            for _ in range(50):
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
                except BlockingIOError:
                    time.sleep(0.1)
        return False

    def test_leaves_nothing(self):
        self.assertNotIn("/root/shm ", self.interrupt(signal.SIGTERM))

    def test_leaves_nothing_of_a_killed_lab(self):
        self.interrupt(signal.SIGKILL)


class Mounts(Lab):
    """What is mounted below a directory that the lab left half made is not the lab's to remove."""

    def check(self, directory, action):
        place = self.dir / "cache" / directory / "root/dev/a shm"
        place.mkdir(parents=True)
        said = self.output(f"import subprocess\nplace = pathlib.Path({str(place)!r})\n"
                           "subprocess.run(['mount', '-t', 'tmpfs', 'x', place], check=True)\n"
                           "(place / 'file').touch()\n"
                           f"try:\n    {action}\nexcept cache.LabError as error:\n    print(error)\n"
                           "print('kept' if (place / 'file').exists() else 'removed')")
        self.assertIn(f"mounted on {place}: ", said)
        self.assertTrue(said.endswith("\nkept\n"), said)

    def name(self, code):
        return self.output(f"print(({code}).relative_to(cache.CACHE))").rstrip()

    def test_of_a_tree(self):
        self.check(self.name("tree.tree_dir(machines.DEFAULT)") + ".new", "tree.build()")

    def test_of_packages(self):
        self.check(self.name("cache.CACHE / ('x-' + cache.digest(machines.DEFAULT.suite, 'y'))") + ".new",
                   "packages.unpack('x', ('y',))")

    def test_of_what_a_killed_one_left(self):
        self.check("scratch/vm-x", "cache.scratch('vm').__enter__()")


if __name__ == "__main__":
    unittest.main()
