# SPDX-License-Identifier: GPL-2.0-only
"""musterctl while what it reads changes, and where it reads and writes."""

import contextlib
import errno
import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import termios
import time
import unittest

import sysroot

# mswap0 of trees/mswap.tree some time later: 1000 pages out in 10 writes, 500 pages in, 450 of them hits. mswap1 was
# made ready, and mswap10 made ready anew, so that it counts from 0 again.
LATER = """
[sys/block/mswap0]
pages_out 2346678
dev_writes 34577
pages_in 1235076
pages_in_waiting 1100450
slots_used 2096256
[sys/block/mswap1]
pages_out 300
dev_writes 3
[sys/block/mswap10]
pages_out 200
dev_writes 4
"""
COLUMNS = "POLICY,NAME,OUT,PAGES-IN,PG/WRITE,HIT%,USED,USED%"
AMOUNT = {"mswap0": 1000, "mswap1": 300, "mswap10": 200}
RATIOS = {"mswap0": ["100.0", "90.0", "8586264576", "50.0"],
          "mswap1": ["100.0", "-", "0", "-"],
          "mswap10": ["50.0", "-", "-", "-"]}
PAGE = 4096


class Gate:
    """A file that cannot be read before the test lets it be: it is a pipe."""

    def __init__(self, path):
        self.path = path
        path.unlink()
        os.mkfifo(path)

    @contextlib.contextmanager
    def held(self):
        """While the body runs somebody waits for the file, who then finds that it says "open"."""
        with open(self.path, "w", encoding="ascii", opener=self.opener) as end:
            yield
            end.write("open\n")

    @staticmethod
    def opener(path, flags):
        """Opens it when somebody waits for it, which a program that has ended never does."""
        last = time.monotonic() + sysroot.SECONDS
        while True:
            try:
                return os.open(path, flags | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO or time.monotonic() > last:
                    raise
            time.sleep(0.01)


class Intervals(sysroot.Case):
    """Each look at the devices waits at `self.gate` when it has found them, but has read nothing."""

    @contextlib.contextmanager
    def running(self, *words):
        """It ends well after the body, and says no more."""
        self.make_root("mswap")
        self.gate = Gate(self.root / "sys/block/mswap0/policy")
        with sysroot.start(self.root, "-r", "-n", *words) as process:
            try:
                yield process
                self.assertEqual(process.communicate(timeout=sysroot.SECONDS), ("", ""))
                self.assertEqual(process.returncode, 0)
            finally:
                process.kill()

    def report(self, process, count):
        """The next COUNT lines: by the second word the others behind it."""
        lines = [process.stdout.readline().split() for _ in range(count)]
        return {line[1]: line[2:] for line in lines}

    def test_figures_of_the_interval(self):
        begin = time.monotonic()
        with self.running("-b", "-i", "0.2", "-c", "2", "-o", COLUMNS) as process:
            with self.gate.held():
                pass
            self.assertEqual(self.report(process, 3)["mswap0"],
                             ["9607897088", "1234576", "67.9", "95.6", "3327365120", "19.4"])
            with self.gate.held():
                sysroot.grow(self.root, LATER)
            rows = self.report(process, 3)
            longest = time.monotonic() - begin
        self.assertEqual({name: row[2:] for name, row in rows.items()}, RATIOS)
        for name, pages in AMOUNT.items():
            self.assertTrue(pages * PAGE / longest - 1 <= float(rows[name][0]) <= pages * PAGE / 0.2, rows)
        self.assertTrue(500 / longest - 0.1 <= float(rows["mswap0"][1]) <= 500 / 0.2, rows)

    def test_a_device_that_is_waited_for(self):
        """The interval of those behind it begins and ends later, too."""
        with self.running("-b", "-i", "0.1", "-c", "2", "-o", "POLICY,NAME,OUT") as process:
            with self.gate.held():
                time.sleep(0.2)
                begin = time.monotonic()
            self.report(process, 3)
            with self.gate.held():
                time.sleep(0.5)
                sysroot.grow(self.root, LATER)
            rows = self.report(process, 3)
            longest = time.monotonic() - begin
        for name in ("mswap1", "mswap10"):
            size = AMOUNT[name] * PAGE
            self.assertTrue(size / longest - 1 <= float(rows[name][0]) <= size / 0.6, rows)

    def test_a_device_goes_and_comes(self):
        """One that has come counts from 0 when the interval began."""
        begin = time.monotonic()
        with self.running("-i", "0.1", "-c", "4", "-o", "POLICY,NAME,PAGES-OUT", "mswap10", "mswap0") as process:
            there, elsewhere = self.root / "sys/block/mswap10", self.root / "elsewhere"
            with self.gate.held():
                pass
            self.assertEqual(self.report(process, 2), {"mswap0": ["2345678"], "mswap10": ["1000"]})
            with self.gate.held():
                there.rename(elsewhere)
            self.assertEqual(list(self.report(process, 1)), ["mswap0"])
            with self.gate.held():
                elsewhere.rename(there)
            self.assertEqual(list(self.report(process, 1)), ["mswap0"])
            with self.gate.held():
                pass
            rows = self.report(process, 2)
            longest = time.monotonic() - begin
        self.assertEqual(rows["mswap0"], ["0.0"])
        self.assertTrue(1000 / longest - 0.1 <= float(rows["mswap10"][0]) <= 1000 / 0.1, rows)

    def test_targets_of_one_table(self):
        """Each is compared with itself."""
        self.make_root("w2r")
        sysroot.grow(self.root, "[sys/block/dm-10/w2r-2048]\nread_blocks 20")
        done = sysroot.run(self.root, "w2r", "-n", "-r", "-i", "0.1", "-c", "2", "-o", "START,READ-BLOCKS", "dm-10")
        self.assertEqual(done.stdout.splitlines(), ["0 16", "2048 20", "0 0.0", "2048 0.0"])

    def test_all_go(self):
        with self.running("-i", "0.1", "-c", "4", "-o", "POLICY,NAME") as process:
            with self.gate.held():
                pass
            self.report(process, 3)
            with self.gate.held():
                (self.root / "sys").rename(self.root / "elsewhere")

    def test_headings_and_a_blank_line_between(self):
        self.make_root("mswap")
        done = sysroot.run(self.root, "-i", "0.1", "-c", "2", "-o", "NAME", "mswap0")
        self.assertEqual((done.stdout, done.stderr), ("NAME\nmswap0\n\nNAME\nmswap0\n", ""))

    def test_json_is_one_document_a_time(self):
        self.make_root("mswap")
        text = sysroot.run(self.root, "-J", "-i", "0.1", "-c", "3", "-o", "NAME,PAGES-OUT").stdout
        counts = []
        while text:
            document, end = json.JSONDecoder().raw_decode(text)
            counts.append(document["mswap"][0]["pages-out"])
            text = text[end:].lstrip()
        self.assertEqual(counts, [2345678, 0.0, 0.0])

    def test_without_a_count_it_goes_on(self):
        self.make_root("mswap")
        with sysroot.start(self.root, "-i", "0.1", "-n", "-o", "NAME", "mswap0") as process:
            lines = [process.stdout.readline() for _ in range(5)]
            self.assertIsNone(process.poll())
            process.terminate()
            process.communicate()
        self.assertEqual(lines, ["mswap0\n"] * 5)

    def test_one_report_of_a_count(self):
        self.make_root("mswap")
        done = sysroot.run(self.root, "-i", "3600", "-c", "1", "-n", "-o", "NAME", "mswap0")
        self.assertEqual((done.stdout, done.returncode), ("mswap0\n", 0))


class Going(sysroot.Case):
    def go_meanwhile(self, tree, path, *words):
        """What is said when the device, a folder of sys/block, goes while its file PATH is read."""
        self.make_root(tree)
        gate = Gate(self.root / "sys/block" / path)
        with sysroot.start(self.root, "-n", "-r", *words) as process:
            with gate.held():
                (self.root / "sys/block" / path.split("/")[0]).rename(self.root / "elsewhere")
            out, said = process.communicate(timeout=sysroot.SECONDS)
        self.assertEqual((said, process.returncode), ("", 0))
        return out

    def test_a_device_goes_while_it_is_read(self):
        self.assertEqual(self.go_meanwhile("mswap", "mswap1/disksize", "-o", "NAME,DISKSIZE,POLICY"),
                         "mswap0 15.7G moc\nmswap10 1G -\n")

    def test_a_target_goes_while_it_is_found(self):
        self.assertEqual(self.go_meanwhile("w2r", "dm-0/dm/name", "w2r", "-o", "NAME,POLICY").splitlines()[0],
                         "still -")


class Surroundings(sysroot.Case):
    def test_no_device_in_json(self):
        self.make_root("empty")
        for table in ("mswap", "w2r"):
            done = sysroot.run(self.root, "-J", table)
            self.assertEqual((json.loads(done.stdout), done.stderr, done.returncode), ({table: []}, "", 0))

    def test_no_sysfs(self):
        self.make_root("empty")
        for root in (self.root / "none", "/" + "x" * 5000):
            done = sysroot.run(root, "-J")
            self.assertEqual((json.loads(done.stdout), done.stderr, done.returncode), ({"mswap": []}, "", 0))

    def test_ordinary_user(self):
        """The program may be where only root comes."""
        self.make_root("mswap")
        program = shutil.copy(sysroot.PROGRAM, self.root)
        (self.root / "sys/block/mswap0/window").chmod(0)
        done = sysroot.run(self.root, "-n", "-o", "NAME,DISKSIZE,WINDOW", "mswap0", executable=program, user=65534,
                           group=65534, extra_groups=[])
        self.assertEqual((done.stdout.split(), done.stderr, done.returncode), (["mswap0", "15.7G", "-"], "", 0))

    def locale_of(self, country):
        """What the environment of somebody there has."""
        subprocess.run(["localedef", "-i", country, "-f", "UTF-8", self.root / f"{country}.UTF-8"],
                       capture_output=True, check=True)
        return {"LOCPATH": str(self.root), "LC_ALL": f"{country}.UTF-8"}

    def test_numbers_are_the_same_everywhere(self):
        """Also where a comma is what others write as a point."""
        self.make_root("mswap")
        german = self.locale_of("de_DE")
        self.assertEqual(subprocess.run(["printf", "%.1f", "1"], env=os.environ | german, capture_output=True,
                                        check=True).stdout, b"1,0")
        for env in ({"LC_ALL": "C"}, german):
            done = sysroot.run(self.root, "-J", "mswap0", env=env)
            self.assertEqual(json.loads(done.stdout)["mswap"][0]["pg/write"], 67.9)

    def test_columns_are_the_same_everywhere(self):
        """Also where a small I has no dot. The sanitizers compare by themselves, so not by what they watch."""
        self.make_root("mswap")
        subprocess.run(["make", "-s", "-C", sysroot.HERE.parents[1] / "tools/musterctl", f"OUT={self.root}"],
                       check=True)
        for env in ({"LC_ALL": "C"}, self.locale_of("tr_TR")):
            done = sysroot.run(self.root, "-n", "-o", "disksize,In", "mswap0", env=env,
                               executable=self.root / "musterctl")
            self.assertEqual((done.stdout.split(), done.stderr), (["15.7G", "4.7G"], ""))

    def test_letters(self):
        """Names are shown as they are where the terminal has such letters."""
        self.make_root("mswap")
        sysroot.grow(self.root, "[sys/block/mswap1]\nbacking_dev /dev/grün")
        for locale, name in ("C", r"/dev/gr\xc3\xbcn"), ("C.UTF-8", "/dev/grün"):
            done = sysroot.run(self.root, "-n", "-o", "BACKING-DEV", "mswap1", env={"LC_ALL": locale},
                               encoding="utf-8")
            self.assertEqual(done.stdout, f"{name}\n")

    def test_names_that_are_not_utf8(self):
        self.make_root("mswap")
        names = [b"/dev/\xff\xe9", "/dev/ü€😀".encode(), b"\xc0\xafx\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82",
                 b"\xe0\x80\xaf"]
        texts = [r"/dev/\xff\xe9", "/dev/ü€😀", r"\xc0\xafx\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82", r"\xe0\x80\xaf"]
        for name, text in zip(names, texts, strict=True):
            (self.root / "sys/block/mswap0/backing_dev").write_bytes(name + b"\n")
            done = sysroot.run(self.root, "-J", "-o", "BACKING-DEV", "mswap0", encoding="utf-8")
            self.assertEqual(json.loads(done.stdout)["mswap"][0]["backing-dev"], text)

    def test_full_disk(self):
        self.make_root("mswap")
        for words in ((), ("--help",), ("--version",)):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = sysroot.run(self.root, *words, stdout=full)
            self.assertEqual((done.stderr, done.returncode),
                             ("musterctl: cannot write: No space left on device\n", 1))

    def test_terminal(self):
        """What is cut is the name of the device below."""
        self.make_root("odd")
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 24, 70, 0, 0))
        sysroot.run(self.root, "-o", "NAME,BACKING-DEV,USED", "mswap1", stdout=its)
        os.close(its)
        lines = os.read(ours, 1 << 16).decode().splitlines()
        os.close(ours)
        self.assertEqual([len(line) for line in lines], [70, 70])
        self.assertRegex(lines[1], r"^mswap1 /dev/disk/by-id/nvme-A_DISK\w+ +-$")

    def test_version(self):
        self.make_root("empty")
        version = (sysroot.HERE.parents[1] / "VERSION").read_text(encoding="ascii")
        for word in ("-V", "--version"):
            self.assertEqual(sysroot.run(self.root, word).stdout, f"musterctl {version}")


if __name__ == "__main__":
    unittest.main()
