// SPDX-License-Identifier: GPL-2.0-only
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "run.h"

/* Of a CPU: no seed takes as long, unless something goes round in circles. Others may keep it from running for longer. */
#define SEED_SECONDS	60
#define NOTES		24
#define NOTE_BYTES	160
#define EVENTS_MAX	64

static const struct run_test *running;
static char notes[NOTES][NOTE_BYTES];
static u32 nr_notes;
static u64 events[EVENTS_MAX];
static bool log_is_on;

/* Stacks that are switched by hand hide what they point to from the leak detector. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:quarantine_size_mb=32:max_malloc_fill_size=0";
}

/* Its runtime is another one, and knows nothing of the other's death callback. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

void sim_log(const char *format, ...)
{
	va_list args;

	if (!log_is_on)
		return;
	va_start(args, format);
	printf("# [%llu] %s: ", sim_now(), current->name);
	vprintf(format, args);
	va_end(args);
}

void run_note(const char *format, ...)
{
	char *note = notes[nr_notes++ % NOTES];
	va_list args;
	int len;

	len = snprintf(note, NOTE_BYTES, "[%llu] ", sim_now());
	va_start(args, format);
	vsnprintf(note + len, NOTE_BYTES - len, format, args);
	va_end(args);
	sim_log("%s\n", strchr(note, ' ') + 1);
}

/* Also called when the address sanitizer ends the program. */
static void say_how_to_repeat(void)
{
	u32 i = nr_notes > NOTES ? nr_notes - NOTES : 0;

	for (; i < nr_notes; i++)
		printf("# %s\n", notes[i % NOTES]);
	printf("not ok 1 - %s # seed %llu\n", running->name, sim.seed);
	printf("# to repeat: make interleave TESTS=%s SEED=%llu\n", running->name, sim.seed);
	fflush(stdout);
}

void sim_fail_at(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("# %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	sim_show_tasks();
	say_how_to_repeat();
	__sanitizer_print_stack_trace();
	_exit(1);
}

/* By the sanitizer of undefined behaviour. */
static void aborted(int signal)
{
	say_how_to_repeat();
	_exit(1);
}

static void time_is_up(int signal)
{
	sim_fail("%d s of a CPU are over", SEED_SECONDS);
}

void run_count(u32 number, u64 n)
{
	SIM_CHECK(number < running->nr_events && running->nr_events <= EVENTS_MAX);
	events[number] += n;
}

/* What came of it all: two runs that differ anywhere have drawn other lots by its end. */
static u64 run_seed(u64 seed)
{
	static const struct itimerval limit = { .it_value.tv_sec = SEED_SECONDS };
	u64 digest;

	setitimer(ITIMER_PROF, &limit, NULL);
	nr_notes = 0;
	sim_begin(seed);
	running->run();
	sim_check_leaks();
	sim_end();
	digest = sim_random() ^ sim_now() ^ sim.switches << 40;
	sim_log("digest %#llx\n", digest);
	return digest;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static u64 seed_of_now(void)
{
	return (u64)time(NULL) << 20;
}

static u32 run_for(double seconds)
{
	double end = seconds_now() + seconds;
	u64 seed = seed_of_now();
	u32 n = 0;

	do {
		run_seed(seed + n++);
	} while (seconds_now() < end);
	return n;
}

static u32 run_seeds(u64 first, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		run_seed(first + i);
	return n;
}

static u32 run_todays(u32 n)
{
	u64 first = seed_of_now();

	printf("# seeds %llu to %llu\n", first, first + n - 1);
	fflush(stdout);
	return run_seeds(first, n);
}

static void check_events(void)
{
	const struct run_event *event;
	bool enough = true;
	u32 i;

	for (i = 0; i < running->nr_events; i++) {
		event = &running->events[i];
		printf("# %s: %llu%s\n", event->name, events[i],
		       events[i] < event->least ? ", which is too few" : "");
		enough &= events[i] >= event->least;
	}
	if (enough)
		return;
	printf("not ok 1 - %s # its seeds do not bring about what they are to\n", running->name);
	exit(1);
}

static u32 run_check(void)
{
	u64 digest = run_seed(1);

	run_seeds(2, running->seeds - 1);
	if (run_seed(1) != digest)
		sim_fail("a seed does not always run the same");
	check_events();
	return running->seeds;
}

static u32 run_as_told(int argc, char **argv)
{
	u64 n = argc == 3 ? strtoull(argv[2], NULL, 0) : 0;

	if (argc == 1)
		return run_check();
	if (!n)
		return 0;
	if (!strcmp(argv[1], "--seeds"))
		return run_seeds(1, n);
	if (!strcmp(argv[1], "--seed"))
		return run_seeds(n, 1);
	if (!strcmp(argv[1], "--today"))
		return run_todays(n);
	if (!strcmp(argv[1], "--seconds"))
		return run_for(n);
	return 0;
}

int run_main(int argc, char **argv, const struct run_test *test)
{
	u32 n;

	running = test;
	log_is_on = getenv("INTERLEAVE_LOG");
	signal(SIGPROF, time_is_up);
	signal(SIGABRT, aborted);
	__sanitizer_set_death_callback(say_how_to_repeat);
	printf("KTAP version 1\n1..1\n");
	fflush(stdout);
	n = run_as_told(argc, argv);
	if (!n) {
		fprintf(stderr, "usage: %s [--seeds N | --seed N | --today N | --seconds N]\n", argv[0]);
		return 2;
	}
	printf("ok 1 - %s # %u seeds\n", test->name, n);
	return 0;
}
