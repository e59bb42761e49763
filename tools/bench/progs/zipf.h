/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that are drawn as often as Zipf's law says: of n, the one of rank r (from 1) with a weight of
 * 1 / r^exponent. By the table of the sums of the weights, so that any exponent from 0 on will do; ranks are dealt
 * to numbers at random, so that those drawn often are not neighbours.
 */
#ifndef BENCH_ZIPF_H
#define BENCH_ZIPF_H

#include <math.h>

#include "page.h"

struct zipf {
	double *sum;		/* of the weights up to and with a rank */
	uint32_t *number;	/* of a rank */
	size_t n;
};

static inline void zipf_make(struct zipf *z, size_t n, double exponent, uint64_t *random)
{
	double sum = 0;

	z->n = n;
	z->sum = malloc(n * sizeof(*z->sum));
	z->number = malloc(n * sizeof(*z->number));
	if (!z->sum || !z->number)
		die("no memory for %zu numbers", n);
	for (size_t i = 0; i < n; i++) {
		size_t other = random_next(random) % (i + 1);

		sum += pow(i + 1, -exponent);
		z->sum[i] = sum;
		z->number[i] = z->number[other];
		z->number[other] = i;
	}
}

static inline uint32_t zipf_next(const struct zipf *z, uint64_t *random)
{
	double at = (random_next(random) >> 11) * 0x1p-53 * z->sum[z->n - 1];
	size_t low = 0, high = z->n - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (z->sum[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return z->number[low];
}

#endif
