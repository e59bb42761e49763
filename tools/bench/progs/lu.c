// SPDX-License-Identifier: GPL-2.0-only
/*
 * LU factorisation of a band matrix, in place, in the integers modulo the prime 2^31 - 1. The matrix is kept
 * by diagonals, so a step of the elimination moves along all of them at once.
 *
 * It is the product of two factors that follow from a hash, another one in each run, with ones on their diagonals, so
 * that no pivot is 0: both are known and every number of the result can be checked.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "page.h"

#define PRIME	2147483647u
#define BAND	6	/* diagonals on either side */
#define DIAGS	(2 * BAND + 1)

static uint32_t salt;	/* of the hash */

struct matrix {
	uint32_t *cells;	/* diagonal d's i-th is of row i, column i + d - BAND */
	long n;
};

static uint32_t *cell(const struct matrix *m, long row, long column)
{
	return &m->cells[(column - row + BAND) * m->n + row];
}

static bool inside(const struct matrix *m, long row, long column)
{
	return column >= 0 && column < m->n && labs(column - row) <= BAND;
}

static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint64_t product = (uint64_t)a * b;

	product = (product & PRIME) + (product >> 31);
	return product >= PRIME ? product - PRIME : product;
}

/* Of both factors: below the diagonal the lower one's, else the upper one's. */
static uint32_t factor(long row, long column)
{
	if (row == column)
		return 1;
	return ((uint64_t)row * 0x9e3779b1u + (uint64_t)(column - row + BAND) * 0x85ebca6bu + salt) % PRIME;
}

static uint32_t product(long row, long column)
{
	long last = row < column ? row : column;
	long first = (row > column ? row : column) - BAND;
	uint64_t sum = 0;

	for (long k = first < 0 ? 0 : first; k <= last; k++)
		sum += multiply(k == row ? 1 : factor(row, k), factor(k, column));
	return sum % PRIME;
}

static void fill(const struct matrix *m)
{
	for (long row = 0; row < m->n; row++)
		for (long column = row - BAND; column <= row + BAND; column++)
			if (inside(m, row, column))
				*cell(m, row, column) = product(row, column);
}

static void subtract(uint32_t *from, uint32_t what)
{
	*from = *from >= what ? *from - what : *from + PRIME - what;
}

/* The pivots are 1, so each number below one is its own quotient. */
static void eliminate(const struct matrix *m)
{
	for (long k = 0; k < m->n; k++) {
		long last = k + BAND < m->n ? k + BAND : m->n - 1;

		for (long row = k + 1; row <= last; row++) {
			uint32_t quotient = *cell(m, row, k);

			for (long column = k + 1; column <= last; column++)
				subtract(cell(m, row, column), multiply(quotient, *cell(m, k, column)));
		}
	}
}

static void check(const struct matrix *m, struct tally *tally)
{
	long numbers = PAGE_SIZE / sizeof(*m->cells);

	for (long first = 0; first < DIAGS * m->n; first += numbers) {
		bool bad = false;

		for (long i = first; i < first + numbers && i < DIAGS * m->n; i++) {
			long row = i % m->n, column = row + i / m->n - BAND;

			bad |= inside(m, row, column) && m->cells[i] != factor(row, column);
		}
		tally->verified++;
		tally->bad += bad;
	}
}

int main(int argc, char **argv)
{
	struct matrix m = { .n = 4500000 };
	struct tally tally = { 0 };
	double begin;
	int opt;

	while ((opt = getopt(argc, argv, "n:")) != -1) {
		if (opt != 'n')
			die("usage: lu [-n ROWS]   (4500000)");
		m.n = number_arg(optarg, DIAGS, 1UL << 28);
	}
	m.cells = mmap(NULL, DIAGS * m.n * sizeof(*m.cells), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m.cells == MAP_FAILED)
		die("no memory for %ld rows", m.n);
	salt = page_run();
	begin = seconds_now();
	fill(&m);
	eliminate(&m);
	check(&m, &tally);
	printf("program=lu secs=%.3f\n", seconds_now() - begin);
	return tally_report(&tally);
}
