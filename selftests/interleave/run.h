/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs a test for many seeds, and says how to repeat the one that failed. */
#ifndef INTERLEAVE_RUN_H
#define INTERLEAVE_RUN_H

#include "sim.h"

/* What the seeds of a check must have brought about, or it looked at nothing. */
struct run_event {
	const char *name;
	u64 least;
};

struct run_test {
	const char *name;
	u32 seeds;		/* of one check */
	void (*run)(void);	/* for the seed that sim_begin() was given */
	const struct run_event *events;
	u32 nr_events;
};

/*
 * Without options the seeds 1 to @test->seeds, and the first one again, which must run
 * as before. --seeds N: so many; --seed N: this one; --today N: so many others, by the
 * time; --seconds N: such for so long. The exit status; a failure does not return.
 */
int run_main(int argc, char **argv, const struct run_test *test);
/* Event @number of the test's has come to pass @n times. */
void run_count(u32 number, u64 n);
/* Something that the log of a failure is to tell of what went before. */
void run_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
