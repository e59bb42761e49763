// SPDX-License-Identifier: GPL-2.0-only
/*
 * Successive over-relaxation of Laplace's equation on a square grid of doubles: red points, then black ones.
 *
 * The grid starts as x^2 - y^2, which solves the five-point equations exactly, in doubles too, above a level that is
 * another one in each run. Each sweep raises the solution by 1, its boundary too, so that no page stays as it was, and
 * each point's number at the end is known.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "page.h"

#define OMEGA	1.5
#define LEVELS	(1 << 24)

static double solution(size_t x, size_t y)
{
	return (double)x * (double)x - (double)y * (double)y;
}

static double level(void)
{
	return page_run() % LEVELS;
}

static void fill(double *grid, size_t n)
{
	const double base = level();

	for (size_t y = 0; y < n; y++)
		for (size_t x = 0; x < n; x++)
			grid[y * n + x] = solution(x, y) + base;
}

/* The neighbours of the red points are still to be raised, those of the black ones have been. */
static void relax(double *grid, size_t n, size_t colour)
{
	const double rise = colour ? 1.0 - OMEGA : 1.0;

	for (size_t y = 0; y < n; y++) {
		double *row = &grid[y * n];
		size_t x = (y + colour) % 2;

		for (; x < n; x += 2) {
			if (x == 0 || x == n - 1 || y == 0 || y == n - 1)
				row[x] += 1.0;
			else
				row[x] += rise + OMEGA * (0.25 * (row[x - 1] + row[x + 1] + row[x - n] + row[x + n]) - row[x]);
		}
	}
}

static void check(const double *grid, size_t n, double raised, struct tally *tally)
{
	size_t points = PAGE_SIZE / sizeof(*grid);

	for (size_t first = 0; first < n * n; first += points) {
		bool bad = false;

		for (size_t i = first; i < first + points && i < n * n; i++)
			bad |= grid[i] != solution(i % n, i / n) + raised;
		tally->verified++;
		tally->bad += bad;
	}
}

int main(int argc, char **argv)
{
	size_t n = 5632, sweeps = 2;
	struct tally tally = { 0 };
	double *grid, begin;
	int opt;

	while ((opt = getopt(argc, argv, "n:s:")) != -1) {
		if (opt == 'n')
			n = number_arg(optarg, 3, 1UL << 16);
		else if (opt == 's')
			sweeps = number_arg(optarg, 1, 1000);
		else
			die("usage: sor [-n POINTS] [-s SWEEPS]   (a side of the grid; 5632, 2)");
	}
	grid = mmap(NULL, n * n * sizeof(*grid), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (grid == MAP_FAILED)
		die("no memory for %zu x %zu points", n, n);
	begin = seconds_now();
	fill(grid, n);
	for (size_t sweep = 0; sweep < 2 * sweeps; sweep++)
		relax(grid, n, sweep % 2);
	check(grid, n, level() + (double)sweeps, &tally);
	printf("program=sor secs=%.3f\n", seconds_now() - begin);
	return tally_report(&tally);
}
