// SPDX-License-Identifier: GPL-2.0-only
#include "clock.h"

#define SAMPLES 20000

static double ns_per_stamp;
static double step_ns;
static double overhead_ns;

void clock_calibrate(void)
{
	uint64_t from = clock_monotonic_ns(), first = clock_stamp(), now, sum = 0;
	uint64_t step = UINT64_MAX, typical = 0, last = 0, i;

	do {
		now = clock_monotonic_ns();
	} while (now - from < 50000000);
	ns_per_stamp = (double)(now - from) / (clock_stamp() - first);

	/* Pairs with more and more between them, so that all small differences occur. */
	for (i = 0; i < SAMPLES; i++) {
		uint64_t a = clock_stamp(), d;
		volatile uint32_t work;

		for (work = 0; work < i % 64; work++)
			;
		d = clock_stamp() - a;
		if (d > last && d - last < step)
			step = d - last;
		last = d;
	}
	/* Interrupted samples would spoil the mean. */
	for (i = 0; i < SAMPLES; i++) {
		uint64_t a = clock_stamp(), d = clock_stamp() - a;

		if (d > 20 * step)
			continue;
		sum += d;
		typical++;
	}
	step_ns = step * ns_per_stamp;
	overhead_ns = typical ? sum * ns_per_stamp / typical : 0;
}

double clock_ns(uint64_t stamps)
{
	return stamps * ns_per_stamp;
}

double clock_step_ns(void)
{
	return step_ns;
}

double clock_overhead_ns(void)
{
	return overhead_ns;
}
