# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what the lab does with its cache, without a machine."""

import argparse
import fcntl
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

LAB = pathlib.Path(__file__).resolve().parents[2] / "tools/lab"
sys.path.insert(0, str(LAB))

from lablib import cache, chroot, own_kernel, tree, vm  # noqa: E402
from lablib.machines import DEFAULT, MACHINES  # noqa: E402

HIDDEN = ("unshare", "--mount", "--propagation", "private")


class Lab(unittest.TestCase):
    """With a cache of its own."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.dir = pathlib.Path(made.name)
        self.cache = self.dir / "cache"

    def python(self, code):
        """A process that runs CODE with the lab's modules where nothing that it mounts is the host's."""
        lines = "import pathlib, signal, sys\nfrom lablib import cache, machines, own_kernel, packages, tree\n" + code
        process = subprocess.Popen([*HIDDEN, sys.executable, "-B", "-c", lines], text=True, cwd=self.dir,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   env=os.environ | {"PYTHONPATH": str(LAB), "MUSTER_CACHE": str(self.cache)})
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


class OwnKernel(Lab):
    def say(self, text):
        """What is said of a kernel whose source mmdebstrap does not get, with TEXT."""
        (self.dir / "mmdebstrap").write_text(f"#!/bin/sh\necho \"{text}\"\nexit 25\n")
        (self.dir / "mmdebstrap").chmod(0o755)
        status = self.dir / "var/lib/dpkg/status"
        status.parent.mkdir(parents=True)
        status.write_text("Package: linux-image-6.12.1-amd64\nVersion: 6.12.1-1\n\n")
        return self.output("import os\nos.environ['PATH'] = f'.:{os.environ[\"PATH\"]}'\n"
                           "try:\n    own_kernel.build(machines.MACHINES['debug'], pathlib.Path(), [])\n"
                           "except cache.LabError as error:\n    print(error)")

    def test_source_that_is_gone(self):
        said = self.say("E: Version '6.12.1-1' for 'linux-source-6.12' was not found")
        self.assertIn("Debian has linux-source-6.12=6.12.1-1, which goes with the kernel in the tree, no more: "
                      "`lab build --refresh` ", said)

    def test_another_failure(self):
        said = self.say("E: no space left")
        self.assertIn("mmdebstrap failed with status 25", said)
        self.assertNotIn("--refresh", said)


class Place(Lab):
    """A cache that is told by a relative path is the same for what is started elsewhere."""

    def test_of_the_lab(self):
        self.cache = "cache"
        code = "from lablib import cache; print(cache.CACHE)"
        said = self.output(f"import subprocess\nsubprocess.run([sys.executable, '-B', '-c', {code!r}], cwd='/')")
        self.assertEqual(said, f"{self.dir}/cache\n")

    def test_of_make(self):
        command = ["make", "-f", LAB.parents[1] / "Makefile", "--eval=show: ; @echo $(OUT)", "show"]
        said = subprocess.check_output(command, text=True, cwd=self.dir, env=os.environ | {"MUSTER_CACHE": "cache"})
        self.assertEqual(said, f"{self.dir}/cache\n")


class Make(Lab):
    """The Makefile of a clone, in a directory with nothing of one."""

    def make(self, *words):
        return subprocess.check_output(["make", "-f", LAB.parents[1] / "Makefile", *words], text=True, cwd=self.dir)

    def test_some_tests_of_a_layer(self):
        for layer in ("lint", "unit", "dkms", "vm"):
            self.assertRegex(self.make("-n", f"check-{layer}", "TESTS=a b"), f"selftests/run +--only {layer} a b\n$")

    def test_clean_takes_what_python_has_compiled(self):
        """It is root's, who runs the tests, in a clone that may be somebody else's."""
        (self.dir / "tools/lab/__pycache__").mkdir(parents=True)
        (self.dir / "tools/lab/__pycache__/lab.pyc").touch()
        self.make("clean", "KDIR=/none")
        self.assertFalse((self.dir / "tools/lab/__pycache__").exists())
        self.assertTrue((self.dir / "tools/lab").exists())


class Layers(Lab):
    """Of a checkout with one file, in a tree that holds nothing."""

    def setUp(self):
        super().setUp()
        self.sources = self.dir / "modules"
        for name in ("modules/mswap", "tools"):
            (self.dir / name).mkdir(parents=True)
        for name in ("COPYING", "VERSION", "dkms.conf", "Kbuild", "Makefile", "modules/main.c", "tools/trial-build"):
            (self.dir / name).touch()
        shutil.copy(LAB.parent / "copy-sources", self.dir / "tools")
        for name, value in (("CACHE", self.dir / "cache"), ("CHECKOUT", self.dir)):
            self.patch(cache, name, value)
        self.make_tree(tree.tree_dir(DEFAULT))

    def patch(self, where, name, value):
        patcher = mock.patch.object(where, name, value)
        patcher.start()
        self.addCleanup(patcher.stop)

    def make_tree(self, path):
        (path / "root/lib/modules/6.12").mkdir(parents=True)
        (path / "log").touch()

    def install_by(self, script):
        """Has SCRIPT for `make install`, which has the upper directory in $1."""
        self.patch(chroot, "wrapped", lambda _lower, upper, *_: [
            "sh", "-ec", f"echo >>{self.dir}/tries; {script}", "install", str(upper)])

    def tries(self):
        return len((self.dir / "tries").read_text())

    def refresh(self, *_args, **_how):
        """What somebody else may do meanwhile."""
        fetched = mock.patch.object(cache, "fetched", lambda _command, _log, root: self.make_tree(root.parent))
        with fetched, mock.patch.object(cache, "logged"):
            tree.build(refresh=True)

    def check_in_use(self, function, *args):
        with self.assertRaisesRegex(cache.LabError, rf"in use, by process .*\b{os.getpid()} \(.*python.*\): "):
            function(*args)
        self.refresh()

    def test_no_refresh_beside_a_layer(self):
        def run():
            with tree.installed():
                self.refresh()

        self.install_by("")
        self.check_in_use(run)

    def test_no_refresh_beside_a_chroot(self):
        self.patch(chroot, "run", self.refresh)
        loader = importlib.machinery.SourceFileLoader("lab", str(LAB / "lab"))
        lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", loader))
        loader.exec_module(lab)
        args = argparse.Namespace(programs=None, kernel=DEFAULT, sync=False, cross=None, cmd="", out=None)
        self.check_in_use(lab.run_inside, args)

    def test_no_refresh_beside_a_vm(self):
        self.patch(vm, "accelerator", lambda: "tcg")
        job = mock.Mock(boot=self.refresh, booted_seconds=lambda: 0.0, emulator_failed=False)
        self.patch(vm, "Job", lambda *_: job)
        self.check_in_use(vm.run, argparse.Namespace(kernel=DEFAULT, out=None, no_sync=True, hibernates=False), "")

    def boots_of_one_that_hangs(self, append):
        """(how often, how often its console was kept)"""
        self.patch(vm, "accelerator", lambda: "tcg")
        job = mock.Mock(emulator_failed=True, share=self.dir / "none")
        job.boot.return_value = vm.TIMED_OUT
        self.patch(vm, "Job", lambda *_: job)
        args = argparse.Namespace(kernel=DEFAULT, out=None, no_sync=True, timeout=1, append=append, hibernates=False)
        self.assertEqual(vm.run(args, ["true"]), vm.TIMED_OUT)
        return job.boot.call_count, job.keep_console.call_count

    def test_vm_that_does_not_boot_boots_twice(self):
        self.assertEqual(self.boots_of_one_that_hangs("x=1"), (2, 1))

    def test_nor_where_muster_is_loaded_as_it_boots(self):
        self.assertEqual(self.boots_of_one_that_hangs("x=1 modules_load=mswap"), (1, 0))

    def returns(self, booted, statuses, hibernates=True):
        """(status, how often it was booted to return) of a VM that goes off first, and then ends with STATUSES."""
        self.patch(vm, "accelerator", lambda: "tcg")
        job = mock.Mock(emulator_failed=False, share=self.dir / "none", booted_seconds=lambda: booted)
        job.boot.return_value = vm.DIED
        job.boot_again.side_effect = statuses
        self.patch(vm, "Job", lambda *_: job)
        status = vm.run(argparse.Namespace(kernel=DEFAULT, out=None, no_sync=True, hibernates=hibernates), ["true"])
        return status, job.boot_again.call_count

    def test_one_that_hibernates_is_booted_until_its_command_ends(self):
        self.assertEqual(self.returns(1.0, [7]), (7, 1))
        self.assertEqual(self.returns(1.0, [vm.DIED, 7]), (7, 2))

    def test_but_no_more_than_twice(self):
        self.assertEqual(self.returns(1.0, [vm.DIED, vm.DIED]), (vm.DIED, 2))

    def test_nor_if_it_never_booted_or_does_not_hibernate(self):
        self.assertEqual(self.returns(None, []), (vm.DIED, 0))
        self.assertEqual(self.returns(1.0, [], hibernates=False), (vm.DIED, 0))

    def test_old_trees_go_unless_they_are_used(self):
        now = tree.tree_dir(DEFAULT)
        old = [now.with_name(f"old{number}") for number in range(3)]
        for age, path in enumerate(old, 1):
            self.make_tree(path)
            os.utime(path, (0, -age))
        handle = cache.try_lock_dir(old[2], shared=True)
        self.refresh()
        os.close(handle)
        self.assertEqual({now, old[0], old[2]}, set(now.parent.iterdir()))

    def test_layer_is_of_what_it_is_named_after(self):
        self.install_by(f"cp {self.sources}/main.c $1; [ -s {self.sources}/main.c ] || echo 1 >{self.sources}/main.c")
        with tree.installed() as layer:
            self.assertEqual((layer / "upper/main.c").read_text(), "1\n")
            self.assertEqual(layer.name, tree.source_digest(DEFAULT))
            self.assertEqual(os.listdir(layer.parent), [layer.name])
        with tree.installed():
            self.assertEqual(self.tries(), 2)

    def test_sources_that_never_stay(self):
        self.install_by(f"echo >>{self.sources}/main.c")
        with self.assertRaisesRegex(cache.LabError, "the sources changed each of 3 times"), tree.installed():
            pass
        self.assertEqual(self.tries(), 3)

    def test_own_kernel_is_in_its_tree_or_in_its_archive(self):
        debug = MACHINES["debug"]
        root = tree.tree_dir(DEFAULT) / "root"
        (root / "var/lib/dpkg").mkdir(parents=True)
        (root / "var/lib/dpkg/status").write_text("Package: linux-image-6\nVersion: 6.12.1-1\n\n")
        self.assertFalse(tree.built(debug))
        archive = own_kernel.archive("debug", root)
        archive.parent.mkdir(parents=True)
        archive.touch()
        self.assertTrue(tree.built(debug))
        archive.unlink()
        self.make_tree(tree.tree_dir(debug))
        self.patch(own_kernel, "build", self.fail)
        self.assertTrue(tree.built(debug))
        self.assertEqual(tree.build(debug), tree.tree_dir(debug) / "root")
        self.patch(own_kernel, "_recipe", lambda _name: ["another"])
        self.assertFalse(tree.built(debug))

    def test_trial_build_is_of_the_sources(self):
        before = tree.source_digest(DEFAULT)
        (self.dir / "tools/trial-build").write_text("1")
        self.assertNotEqual(before, tree.source_digest(DEFAULT))


if __name__ == "__main__":
    unittest.main()
