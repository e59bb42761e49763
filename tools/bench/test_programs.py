# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what runs in the VM, here, with stand-ins for its kernel: python3 -m unittest discover -s tools/bench"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "selftests/progs"
sys.path.insert(0, str(HERE))

from benchlib import plan  # noqa: E402

# What a kernel with $SWAP_PAGES of swap tells agedswap; it writes its limit to a file that is gone with it.
AGED = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static int swap_area(struct sysinfo *info)
{
	*info = (struct sysinfo) { .totalswap = atol(getenv("SWAP_PAGES")), .mem_unit = 4096 };
	return 0;
}

static FILE *file_of_kernel(const char *path)
{
	FILE *file = tmpfile();

	if (!strcmp(path, "/proc/self/cgroup"))
		fputs("0::/bench\\n", file);
	rewind(file);
	return file;
}

#define sysinfo(info)	swap_area(info)
#define fopen(path, mode)	file_of_kernel(path)
#define madvise(...)	0
#define sleep(seconds)	0
#include "agedswap.c"
"""
# Runs a program as guest.sh does; what it looks at, and when, goes to the log.
READER = """
set -eu
cd "$1"
program=it cgroup=. tmp=. root=. plan=/dev/null
PATH={loads}:$PATH
uptime_now() {{ echo time >>log; }}
root_reads() {{ :; }}
snapshot() {{ echo "snapshot $1" >>log; }}
mswap_counters() {{
	sleep 0.5
	echo "counters $1" >>log
}}
{function}
run_program 1 ./program
"""
# Of a shell whose children had 44 major faults, as proc(5) has it.
STAT = "9 (sh) S 8 9 9 0 -1 4194304 111 222 33 44 5 6 7 8 20 0 1 0 99 2682880 256 18446744073709551615\n"
# A program that takes as long as the reader does, where that one has a second for the counters, and before it works.
WORKS = """
logged() {
	tries=400
	until grep -qs "$1" log; do
		: $((tries -= 1))
		[ $tries -gt 0 ] || exit 1
		command sleep 0.05
	done
}
sleep() {
	[ "$1" != 1 ] || logged counters
}
begin
echo began >>log
logged 'snapshot begin'
echo works >>log
echo end
"""
# Programs whose memory is spoiled on the way: NAME, and what comes before, between and after that.
SPOILED = """
#define main	main_of_it
#include "{name}.c"
#undef main

int main(void)
{{
	struct tally tally = {{ 0 }};

	{begin}
	{spoil}
	{end}
	printf("%lu bad of %lu\\n", tally.bad, tally.verified);
	return 0;
}}
"""
NETSIM = ("struct net net = { .nr_nodes = 5000, .nr_packets = 3000, .random = 7 }; struct event old[256];"
          "make(&net);"
          "for (int i = 0; i < 3000; i++) { if (i == 1500) memcpy(old, net.queue, sizeof(old)); hop(&net, &tally); }",
          "for (int i = 0; i < 1000; i++) hop(&net, &tally); check(&net, 4000, &tally);")
SOR = ("size_t n = 100; static double grid[10000]; fill(grid, n); relax(grid, n, 0);",
       "relax(grid, n, 1); check(grid, n, level() + 1, &tally);")
LU = ("struct matrix m = { .n = 1000 }; m.cells = calloc(DIAGS * m.n, sizeof(*m.cells)); fill(&m);",
      "eliminate(&m); check(&m, &tally);")
FFT = ("struct transform t = { .rows = 64, .columns = 64 }; t.cells = get(4096); t.column = get(TOGETHER * 64);"
       "t.root = get(64); fill(&t); make_roots(&t, -1); transform_columns(&t, false); transform_rows(&t);"
       "make_roots(&t, 1); transform_rows(&t); transform_columns(&t, true);",
       "check(&t, &tally);")
# Prints the spread of the numbers that it is given.
SPREAD = """
#define main	main_of_readcost
#include "readcost.c"
#undef main

int main(int argc, char **argv)
{
	for (rounds = 0; (int)rounds < argc - 1; rounds++)
		devices[0].ns[rounds] = atof(argv[rounds + 1]);
	print_spread("ns", devices[0].ns, 1);
	return 0;
}
"""


class Compiled(unittest.TestCase):
    @classmethod
    def compile(cls, text):
        """The path of what TEXT makes."""
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        path = pathlib.Path(holder.name) / "program"
        subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", f"-I{HERE / 'progs'}", f"-I{SHARED}", "-o", path,
                        "-x", "c", "-", "-lm"], input=text, text=True, check=True)
        return path


class Aged(Compiled):
    @classmethod
    def setUpClass(cls):
        cls.agedswap = cls.compile(AGED)

    def run_on(self, area, *words, **more):
        return subprocess.run([self.agedswap, *words], env={"SWAP_PAGES": str(area), "PATH": "/usr/bin:/bin"} | more,
                              capture_output=True, text=True, check=False)

    def test_the_load_does_not_follow_the_area(self):
        for area in (2000, 1966):  # stock swap's on a device of 2000 pages, and mswap's
            for times in ((), ("-n", "6")):
                done = self.run_on(area, *times, "95", "2000", "48", "echo", "it runs")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout,
                                 "ready\nbegin aged pages=1900\nit runs\nend\nverified 32 pages, 0 bad\n")

    def test_options_of_the_command_are_its_own(self):
        self.assertIn("\nit -n 6\nend\n", self.run_on(2000, "80", "2000", "48", "echo", "it", "-n", "6").stdout)

    def test_an_area_that_is_too_small(self):
        done = self.run_on(1939, "50", "2000", "48", "true")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (2, "", "swap has 1939 pages, fewer than 1940\n"))

    def test_memory_elsewhere_that_leaves_none(self):
        for elsewhere, status in ((48 << 20, 2), ((48 << 20) - 4096, 0)):
            done = self.run_on(2000, "95", "2000", "48", "true", BENCH_OWN=str(elsewhere))
            self.assertEqual(done.returncode, status)
        self.assertEqual(self.run_on(2000, "95", "2000", "48", "true", BENCH_OWN=str(76 << 20)).stderr,
                         "79691776 bytes for it elsewhere leave nothing of 48 MiB\n")

    def test_it_holds_what_the_plan_expects(self):
        for program, full in (("aged50", 50), ("aged80", 80), ("aged95", 95), ("worn80", 80)):
            words = plan.PROGRAMS[program].commands[0].replace(" -n 6", "").split()
            self.assertEqual(words[:4], ["agedswap", str(full), str(plan.DEVICE_PAGES), "48"])
            self.assertEqual(plan.PROGRAMS[program].filler, plan.aged_filler(full))
            done = self.run_on(2049, str(full), "2050", "48", "true")
            self.assertIn(f"begin aged pages={plan.aged_filler(full, 2050)}\n", done.stdout)


class Spoiled(Compiled):
    """What our own programs find when their memory does not come back as it was."""

    def check(self, name, begin, end, *spoils):
        for spoil in ("", *spoils):
            program = self.compile(SPOILED.format(name=name, begin=begin, spoil=spoil, end=end))
            said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
            (self.assertRegex if spoil else self.assertNotRegex)(said, "^[1-9]", spoil)

    def test_netsim(self):
        self.check("netsim", *NETSIM, "net.packets[7]->at ^= 1;", "net.packets[7]->hops ^= 1;",
                   "net.packets[7]->data[9] ^= 1;", "net.nodes[7]->links[3] ^= 1;", "net.nodes[7]->state[5] ^= 1;",
                   "net.queue[2000].packet ^= 1;", "net.queue[2000].time ^= 1;",
                   "memcpy(net.queue, old, sizeof(old));")

    def test_sor(self):
        self.check("sor", *SOR, "grid[5050] += 1e-6;", "memset(grid, 0, 4096);")

    def test_lu(self):
        self.check("lu", *LU, "m.cells[4321] ^= 1;", "memset(m.cells + 5000, 0, 4096);")

    def test_fft(self):
        self.check("fft", *FFT, "t.cells[4000].im += 2e-5;", "memset(t.cells + 256, 0, 4096);")


class Stripes(Compiled):
    @classmethod
    def setUpClass(cls):
        cls.stripes = cls.compile('#include "stripes.c"\n')
        # Takes its time and no memory.
        slow = ('#include <unistd.h>\n#include <sys/prctl.h>\n#include "page.h"\n'
                '#define page_fill(...) usleep(1000)\n{}#include "stripes.c"\n')
        cls.slow = cls.compile(slow.format(""))
        cls.slow_start = cls.compile(slow.format("#define prctl(...) (usleep(500000), prctl(__VA_ARGS__))\n"))

    def test_one_that_fails_ends_all(self):
        """Nobody else would come to where the others wait; what is left of them would keep what they write to."""
        self.kill_one(self.slow)

    def test_one_that_fails_before_the_others_began(self):
        self.kill_one(self.slow_start)

    def kill_one(self, program):
        process = subprocess.Popen([program, "-p", "3", "-s", "3000"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while len(children.read_text().split()) < 3:
            time.sleep(0.01)
        os.kill(int(children.read_text().split()[1]), signal.SIGKILL)
        try:
            self.assertEqual(process.communicate(timeout=30)[1], "a process failed\n")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        self.assertEqual(process.returncode, 2)

    def test_processes_that_do_well(self):
        done = subprocess.run([self.stripes, "-p", "3", "-s", "6"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"^phase=write .*\nphase=read .* bad=0\nverified 768 pages, 0 bad\n$")


class Reader(unittest.TestCase):
    """What guest.sh does when a program speaks."""

    def log(self, program):
        function = re.search(r"^run_program\(\) \{\n.*?^\}\n", (HERE / "guest.sh").read_text(), re.M | re.S)[0]
        with tempfile.TemporaryDirectory() as holder:
            out = pathlib.Path(holder)
            (out / "program").write_text(f"#!/bin/sh\n. load-lib.sh\n{program}")
            (out / "program").chmod(0o755)
            (out / "stat").write_text(STAT)
            function = function.replace("/proc/self/stat", "stat")
            subprocess.run(["sh", "-c", READER.format(loads=HERE / "loads", function=function), "sh", holder],
                           check=True)
            self.assertEqual(((out / "status.1").read_text(), (out / "faults.1").read_text()), ("0\n", "44\n"))
            return (out / "log").read_text().splitlines()

    def test_counters_of_mswap_are_read_outside_the_timed_part(self):
        log = self.log(WORKS)
        self.assertLess(log.index("counters mswap.begin"), log.index("began"))
        log.remove("began")
        self.assertEqual(log, ["counters mswap.begin", "time", "snapshot begin", "works", "time", "snapshot end",
                               "counters mswap"])

    def test_all_programs_that_begin_are_ready_before(self):
        for path in (HERE / "loads").glob("run-*"):
            self.assertNotIn("echo begin", path.read_text(), path.name)


class Spread(Compiled):
    def test_median(self):
        program = self.compile(SPREAD)
        for numbers, median, low, high in (("7", 7, 7, 7), ("4 1", 2.5, 1, 4), ("9 1 3", 3, 1, 9),
                                           ("8 2 5 4", 4.5, 2, 8)):
            said = subprocess.run([program, *numbers.split()], capture_output=True, text=True, check=True).stdout
            self.assertEqual(said, f" ns={median:.1f} ns_low={low:.1f} ns_high={high:.1f}")


if __name__ == "__main__":
    unittest.main()
