// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fast Fourier transform of complex numbers, and its inverse, which must give the numbers that it began with.
 * These are integers: what comes back is less than TOLERANCE from them, or it is bad. The first number of the
 * transform must be the sum of all.
 *
 * As programs do whose data are larger than memory, it takes the numbers as a matrix (Bailey's four-step method):
 * transforms all columns, some neighbouring ones at a time, which are copied together; turns each number by a power
 * of the root of unity; transforms all rows. The result is transposed, and stays so: the inverse takes the
 * same steps backwards.
 */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "page.h"

#define TOGETHER	64	/* columns */
#define TOLERANCE	1e-5	/* 2^22 numbers come back within 1.4e-7, and four times as many within twice that */
#define LARGEST		(1 << 20)	/* in what it begins with */

struct number {
	double re, im;
};

struct transform {
	size_t rows, columns;	/* powers of 2; at least as many columns as rows */
	struct number *cells;
	struct number *column;	/* TOGETHER of them */
	struct number *root;	/* powers of the root of unity of order columns */
	double sign;		/* of the angle of that root: -1, and 1 for the inverse */
};

static struct number multiply(struct number a, struct number b)
{
	return (struct number){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

/* A root of unity of order @of, to the power @to. */
static struct number root(const struct transform *t, double to, double of)
{
	double angle = t->sign * 2 * M_PI * to / of;

	return (struct number){ cos(angle), sin(angle) };
}

static struct number input(size_t i)
{
	uint64_t random = mix64((i + 1) ^ page_run());

	return (struct number){ random % LARGEST, (random >> 32) % LARGEST };
}

static void swap_reversed(struct number *data, size_t n)
{
	for (size_t i = 1, j = 0; i < n; i++) {
		size_t bit = n >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			struct number number = data[i];

			data[i] = data[j];
			data[j] = number;
		}
	}
}

/* Of @n numbers side by side. */
static void transform_row(const struct transform *t, struct number *data, size_t n)
{
	swap_reversed(data, n);
	for (size_t half = 1; half < n; half *= 2) {
		size_t step = t->columns / 2 / half;

		for (struct number *a = data; a < data + n; a += 2 * half) {
			struct number *b = a + half;

			for (size_t i = 0; i < half; i++) {
				struct number turned = multiply(b[i], t->root[i * step]);

				b[i] = (struct number){ a[i].re - turned.re, a[i].im - turned.im };
				a[i] = (struct number){ a[i].re + turned.re, a[i].im + turned.im };
			}
		}
	}
}

static void transform_rows(const struct transform *t)
{
	for (size_t row = 0; row < t->rows; row++)
		transform_row(t, &t->cells[row * t->columns], t->columns);
}

static void copy_columns(const struct transform *t, size_t first, bool back)
{
	for (size_t row = 0; row < t->rows; row++)
		for (size_t i = 0; i < TOGETHER; i++) {
			struct number *cell = &t->cells[row * t->columns + first + i];
			struct number *copy = &t->column[i * t->rows + row];

			*(back ? cell : copy) = *(back ? copy : cell);
		}
}

/* Turns the numbers of a column as much as their places ask for, and multiplies them by @factor. */
static void turn(const struct transform *t, struct number *data, size_t column, double factor)
{
	struct number by = { factor, 0 }, step = root(t, column, (double)t->rows * t->columns);

	for (size_t i = 0; i < t->rows; i++) {
		data[i] = multiply(data[i], by);
		by = multiply(by, step);
	}
}

static void transform_columns(const struct transform *t, bool back)
{
	for (size_t first = 0; first < t->columns; first += TOGETHER) {
		copy_columns(t, first, false);
		for (size_t i = 0; i < TOGETHER; i++) {
			struct number *data = &t->column[i * t->rows];

			if (back)
				turn(t, data, first + i, 1.0 / t->rows / t->columns);
			transform_row(t, data, t->rows);
			if (!back)
				turn(t, data, first + i, 1);
		}
		copy_columns(t, first, true);
	}
}

static void make_roots(struct transform *t, double sign)
{
	t->sign = sign;
	for (size_t i = 0; i < t->columns; i++)
		t->root[i] = root(t, i, t->columns);
}

static struct number fill(const struct transform *t)
{
	struct number sum = { 0 };

	for (size_t i = 0; i < t->rows * t->columns; i++) {
		t->cells[i] = input(i);
		sum.re += t->cells[i].re;
		sum.im += t->cells[i].im;
	}
	return sum;
}

static bool near(struct number a, struct number b, double tolerance)
{
	return fabs(a.re - b.re) < tolerance && fabs(a.im - b.im) < tolerance;
}

static void check(const struct transform *t, struct tally *tally)
{
	size_t numbers = PAGE_SIZE / sizeof(*t->cells);

	for (size_t first = 0; first < t->rows * t->columns; first += numbers) {
		bool bad = false;

		for (size_t i = first; i < first + numbers; i++)
			bad |= !near(t->cells[i], input(i), TOLERANCE);
		tally->verified++;
		tally->bad += bad;
	}
}

static struct number *get(size_t numbers)
{
	struct number *mem = mmap(NULL, numbers * sizeof(*mem), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

	if (mem == MAP_FAILED)
		die("no memory for %zu numbers", numbers);
	return mem;
}

int main(int argc, char **argv)
{
	struct tally tally = { 0 };
	struct transform t;
	unsigned long bits = 22;
	struct number sum;
	double begin;
	int opt;

	while ((opt = getopt(argc, argv, "b:")) != -1) {
		if (opt != 'b')
			die("usage: fft [-b BITS]   (of the number of numbers, 2^BITS; 22)");
		bits = number_arg(optarg, 12, 31);
	}
	t.rows = 1UL << (bits / 2);
	t.columns = 1UL << (bits - bits / 2);
	t.cells = get(t.rows * t.columns);
	t.column = get(TOGETHER * t.rows);
	t.root = get(t.columns);
	begin = seconds_now();
	sum = fill(&t);
	make_roots(&t, -1);
	transform_columns(&t, false);
	transform_rows(&t);
	tally.verified++;
	tally.bad += !near(t.cells[0], sum, TOLERANCE * t.rows * t.columns);
	make_roots(&t, 1);
	transform_rows(&t);
	transform_columns(&t, true);
	check(&t, &tally);
	printf("program=fft secs=%.3f\n", seconds_now() - begin);
	return tally_report(&tally);
}
