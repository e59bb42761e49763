// SPDX-License-Identifier: GPL-2.0-only
/* What musterctl shows for what files said: sizes, rates, shares, and what cannot be told. */
#include <string.h>

#include "figure.h"
#include "unit.h"

static const struct column count = { .kind = COUNT };
static const struct column size = { .kind = COUNT, .unit = 1 };
static const struct column level = { .kind = LEVEL };
static const struct column ratio = { .kind = RATIO };
static const struct column share = { .kind = SHARE };
static const struct column fill = { .kind = FILL };

static const struct view total = { 0 };
static const struct view total_bytes = { .bytes = true };
static const struct view two_seconds = { .seconds = 2 };
static const struct view two_seconds_bytes = { .seconds = 2, .bytes = true };

static struct cell cell(uint64_t sum, uint64_t over)
{
	return (struct cell){ .known = true, .sum = sum, .over = over, .scale = 1 };
}

/* "-" where there is nothing to show. */
static const char *shown(const struct column *c, struct cell now, const struct cell *before, const struct view *v)
{
	static char text[FIGURE_MAX];

	return figure(text, c, &now, before, v) ? text : "-";
}

#define CHECK_SHOWN(wanted, ...) do {					\
	const char *shown_ = shown(__VA_ARGS__);			\
									\
	if (strcmp(shown_, wanted)) {					\
		printf("# shown: %s, wanted: %s\n", shown_, wanted);	\
		unit_fail(__FILE__, __LINE__, #__VA_ARGS__);		\
	}								\
} while (0)

static void test_sizes(void)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = {
		{ 0, "0B" }, { 1, "1B" }, { 1023, "1023B" }, { 1024, "1K" }, { 1025, "1K" }, { 1100, "1.1K" },
		{ 1536, "1.5K" }, { 10240, "10K" }, { 1023 * 1024, "1023K" }, { 1048524, "1023.9K" },
		{ 1048525, "1M" }, { 1048575, "1M" }, { 1048576, "1M" }, { 1ull << 30, "1G" }, { 1ull << 40, "1T" },
		{ 1ull << 50, "1P" }, { 1ull << 60, "1E" }, { UINT64_MAX, "16E" },
	};

	for (size_t i = 0; i < UNIT_COUNT(sizes); i++)
		CHECK_SHOWN(sizes[i].text, &size, cell(sizes[i].bytes, 0), NULL, &total);
	CHECK_SHOWN("1048575", &size, cell(1048575, 0), NULL, &total_bytes);
	CHECK_SHOWN("18446744073709551615", &count, cell(UINT64_MAX, 0), NULL, &total);
}

static void test_scale(void)
{
	struct cell pages = { .known = true, .sum = 3, .scale = 4096 };

	CHECK_SHOWN("12K", &size, pages, NULL, &total);
	CHECK_SHOWN("12288", &size, pages, NULL, &total_bytes);
	pages.sum = UINT64_MAX / 4096;
	CHECK_SHOWN("16E", &size, pages, NULL, &total);
	pages.sum++;
	CHECK_SHOWN("-", &size, pages, NULL, &total);
}

static void test_rates(void)
{
	struct cell before = cell(1000, 0), more = cell(1000, 0);

	CHECK_SHOWN("0.0", &count, cell(1000, 0), &before, &two_seconds);
	CHECK_SHOWN("0.5", &count, cell(1001, 0), &before, &two_seconds);
	CHECK_SHOWN("512B", &size, cell(2024, 0), &before, &two_seconds);
	more.scale = 4096;
	more.sum = 1003;
	CHECK_SHOWN("6K", &size, more, &before, &two_seconds);
	CHECK_SHOWN("6144", &size, more, &before, &two_seconds_bytes);
	CHECK_SHOWN("2000", &count, cell(2000, 0), &before, &total);
	CHECK_SHOWN("2000", &level, cell(2000, 0), &before, &two_seconds);
}

/* The longest that there is, so that no text is cut. */
static void test_longest(void)
{
	struct cell most = { .known = true, .sum = UINT64_MAX, .scale = UINT64_MAX };
	static const struct view short_time = { .seconds = 0.1, .bytes = true };
	static const struct view short_sizes = { .seconds = 0.1 };

	CHECK_SHOWN("3402823669209384634633746074317682114560", &size, most, NULL, &short_time);
	CHECK_SHOWN("2951479051793528258560E", &size, most, NULL, &short_sizes);
}

static void test_ratios(void)
{
	struct cell before = cell(100, 10);

	CHECK_SHOWN("10.0", &ratio, cell(100, 10), NULL, &total);
	CHECK_SHOWN("0.3", &ratio, cell(1, 3), NULL, &total);
	CHECK_SHOWN("-", &ratio, cell(100, 0), NULL, &total);
	CHECK_SHOWN("30.0", &ratio, cell(160, 12), &before, &two_seconds);
	CHECK_SHOWN("-", &ratio, cell(160, 10), &before, &two_seconds);
	CHECK_SHOWN("18446744073709551616.0", &ratio, cell(UINT64_MAX, 1), NULL, &total);
}

static void test_shares(void)
{
	struct cell before = cell(90, 100);

	CHECK_SHOWN("90.0", &share, cell(90, 100), NULL, &total);
	CHECK_SHOWN("0.0", &share, cell(0, 100), NULL, &total);
	CHECK_SHOWN("-", &share, cell(0, 0), NULL, &total);
	CHECK_SHOWN("25.0", &share, cell(91, 104), &before, &two_seconds);
	CHECK_SHOWN("-", &share, cell(90, 100), &before, &two_seconds);
	/* Counted between the readings of the two. */
	CHECK_SHOWN("100.0", &share, cell(101, 100), NULL, &total);
	CHECK_SHOWN("87.5", &fill, cell(91, 104), &before, &two_seconds);
}

/* A device that was made ready anew counts from 0 again, and so does one that has come. */
static void test_new_counts(void)
{
	struct cell before = cell(1000, 100), small = cell(10, 1000);

	CHECK_SHOWN("3.0", &count, cell(6, 0), &before, &two_seconds);
	CHECK_SHOWN("3.0", &count, cell(6, 0), NULL, &two_seconds);
	CHECK_SHOWN("6.0", &ratio, cell(60, 10), &before, &two_seconds);
	CHECK_SHOWN("6.0", &ratio, cell(60, 10), &small, &two_seconds);
}

static void test_unknown(void)
{
	struct cell unknown = { 0 };

	CHECK_SHOWN("-", &count, unknown, NULL, &total);
	CHECK_SHOWN("-", &level, unknown, NULL, &total);
	/* What it has grown by cannot be told. */
	CHECK_SHOWN("-", &count, cell(5, 0), &unknown, &two_seconds);
	CHECK_SHOWN("-", &ratio, cell(5, 1), &unknown, &two_seconds);
	CHECK_SHOWN("5", &level, cell(5, 0), &unknown, &two_seconds);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_sizes), UNIT_CASE(test_scale), UNIT_CASE(test_rates), UNIT_CASE(test_longest),
		UNIT_CASE(test_ratios), UNIT_CASE(test_shares), UNIT_CASE(test_new_counts),
		UNIT_CASE(test_unknown),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
