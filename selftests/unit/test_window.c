// SPDX-License-Identifier: GPL-2.0-only
/* Read windows against a slot-by-slot oracle, and the tuner's promises. */
#include "unit.h"
#include "window.h"

#define ROUNDS 2000000
#define PROBE_EVERY 48
#define PROBE_PAGES 12

static bool bit(u64 word, u32 i)
{
	return word >> i & 1;
}

/* Is every slot of first..last live, and does each continue the one before? */
static bool one_run(u64 live, u64 cont, u32 first, u32 last)
{
	u32 i;

	for (i = first; i <= last; i++)
		if (!bit(live, i) || (i > first && !bit(cont, i)))
			return false;
	return true;
}

static u32 oracle_up(u64 live, u64 cont, u32 last)
{
	u32 n = 0;

	while (last + n + 1 < 64 && bit(live, last + n + 1) &&
	       bit(cont, last + n + 1))
		n++;
	return n;
}

static u32 oracle_down(u64 live, u64 cont, u32 first)
{
	u32 n = 0;

	while (first > n && bit(cont, first - n) && bit(live, first - n - 1))
		n++;
	return n;
}

/* Words with runs of all lengths: bits are dropped rarely, often, or never. */
static u64 random_word(void)
{
	u64 word = ~0ull;
	u32 drops = unit_below(4) ? unit_below(6) : unit_below(64);

	while (drops--)
		word &= ~(1ull << unit_below(64));
	return word;
}

static void check_around(u64 live, u64 cont, u32 at, u32 want, u32 size)
{
	struct window w = window_around(live, cont, at, want, size);
	u32 up = oracle_up(live, cont, at + want - 1);
	u32 down = oracle_down(live, cont, at);
	u32 room = size > want ? size - want : 0;
	u32 got_up, got_down;

	CHECK(w.first <= at);
	CHECK(w.first + w.n >= at + want);
	CHECK(w.first + w.n <= 64);
	got_down = at - w.first;
	got_up = w.first + w.n - at - want;
	CHECK(got_up <= up);
	CHECK(got_down <= down);
	/* As large as run and size allow. */
	CHECK_EQ(got_up + got_down, room < up + down ? room : up + down);
	/* A quarter at most is spent behind while there is something ahead. */
	if (got_down > room / 4)
		CHECK_EQ(got_up, up);
	if (want == 1 && bit(live, at))
		CHECK(one_run(live, cont, w.first, w.first + w.n - 1));
}

static void test_around_random(void)
{
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		u64 live = random_word(), cont = random_word();
		u32 at = unit_below(64);
		u32 want = 1 + unit_below(64 - at);

		check_around(live, cont, at, want, 1 + unit_below(64));
	}
}

static void test_around_edges(void)
{
	struct window w;

	w = window_around(~0ull, ~0ull, 0, 1, 64);
	CHECK_EQ(w.first, 0);
	CHECK_EQ(w.n, 64);
	w = window_around(~0ull, ~0ull, 63, 1, 64);
	CHECK_EQ(w.first, 0);
	CHECK_EQ(w.n, 64);
	w = window_around(~0ull, ~0ull, 32, 1, 9);
	CHECK_EQ(w.first, 30);
	CHECK_EQ(w.n, 9);
	w = window_around(~0ull, ~0ull, 10, 4, 1);
	CHECK_EQ(w.first, 10);
	CHECK_EQ(w.n, 4);
	w = window_around(1ull << 5, 0, 5, 1, 64);
	CHECK_EQ(w.first, 5);
	CHECK_EQ(w.n, 1);
	w = window_around(~0ull, 0, 5, 1, 64);
	CHECK_EQ(w.n, 1);
}

static void test_ahead_random(void)
{
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		u64 live = random_word(), cont = random_word();
		u32 at = unit_below(64), size = unit_below(65);
		struct window w = window_ahead(live, cont, at, size);
		u32 most = 0;

		if (bit(live, at) && bit(cont, at))
			most = 1 + oracle_up(live, cont, at);
		CHECK_EQ(w.first, at);
		CHECK_EQ(w.n, most < size ? most : size);
	}
}

/* The slots from @end on, or below @first, are lost: not live, and each continues the one before it. */
static void test_lost_random(void)
{
	u32 i, at, end, first, slot;
	u64 live, cont;

	for (i = 0; i < ROUNDS; i++) {
		at = unit_below(64);
		live = random_word() & random_word();
		cont = random_word() | random_word() | random_word();
		if (unit_below(2)) {
			live &= unit_below(2) ? ~0ull >> at : ~0ull << at;
			cont |= unit_below(2) ? ~0ull << (63 - at) : ~0ull >> (63 - at);
		}
		end = 1 + unit_below(64);
		for (slot = end; slot < 64 && !bit(live, slot) && bit(cont, slot);)
			slot++;
		CHECK_EQ(window_end(live, cont, end), slot == 64 ? 64 : end);
		first = unit_below(64);
		for (slot = first; slot && !bit(live, slot - 1) && bit(cont, slot);)
			slot--;
		CHECK_EQ(window_begin(live, cont, first), slot ? first : 0);
	}
}

static void test_onward_random(void)
{
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		u64 live = random_word(), cont = random_word();
		u32 at = unit_below(64), want = 1 + unit_below(64 - at), ahead = unit_below(65), more;
		bool down = unit_below(2);
		struct window w = window_onward(live, cont, at, want, ahead, down);

		more = down ? oracle_down(live, cont, at) : oracle_up(live, cont, at + want - 1);
		more = more < ahead ? more : ahead;
		CHECK_EQ(w.first, down ? at - more : at);
		CHECK_EQ(w.n, want + more);
	}
}

/* Members one after the other, nearest first, as long as there is room. */
static u64 oracle_group(u64 group, u32 at, u32 want, u32 size, u32 gap)
{
	u32 room = size > want ? size - want : 0, behind = room / 4, i, before = 0, empty;
	u32 ahead = room - behind;
	u64 got = 0;

	/* Out of reach is as good as not there. */
	for (i = at + want, empty = 0; i < 64; i++) {
		empty = bit(group, i) ? (empty > gap ? 64 : 0) : empty + 1;
		if (empty >= 64)
			group &= ~(1ull << i);
	}
	for (i = at, empty = 0; i-- > 0;) {
		empty = bit(group, i) ? (empty > gap ? 64 : 0) : empty + 1;
		if (empty >= 64)
			group &= ~(1ull << i);
	}

	for (i = at; i-- > 0;)
		before += bit(group, i);
	if (before < behind)
		ahead = room - before;
	for (i = at + want; i < 64 && ahead; i++)
		if (bit(group, i)) {
			got |= 1ull << i;
			ahead--;
			room--;
		}
	for (i = at; i-- > 0 && room;)
		if (bit(group, i)) {
			got |= 1ull << i;
			room--;
		}
	for (i = at; i < at + want; i++)
		got |= 1ull << i;
	return got;
}

static void test_group_random(void)
{
	u32 i;

	for (i = 0; i < ROUNDS / 4; i++) {
		u64 group = unit_below(2) ? ~random_word() : random_word();
		u32 at = unit_below(64), want = unit_below(65 - at);
		u32 size = unit_below(65), gap = unit_below(65);

		CHECK_EQ(window_group(group, at, want, size, gap),
			 oracle_group(group, at, want, size, gap));
	}
}

/* From slot to slot as long as each continues the one before, if one of them is not live. */
static u64 oracle_stretch(u64 live, u64 cont, u32 at, u32 want)
{
	u32 first = at, last = at + want - 1, i;
	u64 got = 0;

	while (first > 0 && bit(cont, first))
		first--;
	while (last < 63 && bit(cont, last + 1))
		last++;
	for (i = first; i <= last; i++)
		got |= live & 1ull << i;
	for (i = first; i <= last; i++)
		if (!bit(live, i))
			return got;
	return 0;
}

static void test_stretch_random(void)
{
	u32 i;

	CHECK_EQ(window_stretch(~1ull, ~0ull, 63, 1), ~1ull);
	CHECK_EQ(window_stretch(~0ull, ~0ull, 0, 64), 0);
	for (i = 0; i < ROUNDS / 4; i++) {
		u64 live = random_word(), cont = random_word();
		u32 at = unit_below(64), want = 1 + unit_below(64 - at);

		CHECK_EQ(window_stretch(live, cont, at, want),
			 oracle_stretch(live, cont, at, want));
	}
}

static void learn(struct window_tuner *t, u32 used, u32 wasted, u32 times)
{
	while (times--)
		window_tuner_learn(t, used, wasted);
}

static void test_tuner_grows_and_shrinks(void)
{
	struct window_tuner t;

	window_tuner_init(&t, PROBE_EVERY, PROBE_PAGES);
	CHECK_EQ(window_tuner_size(&t, 64), WINDOW_FIRST_SIZE);
	CHECK_EQ(window_tuner_size(&t, 4), 4);
	learn(&t, 1, 0, 64 * WINDOW_LEARN_PAGES);
	CHECK_EQ(window_tuner_size(&t, 64), 64);
	CHECK_EQ(window_tuner_size(&t, 16), 16);
	learn(&t, 1, 1, 64 * WINDOW_LEARN_PAGES);
	CHECK_EQ(window_tuner_size(&t, 64), 64);
	learn(&t, 0, 1, 64 * WINDOW_LEARN_PAGES);
	CHECK_EQ(t.size, 1);
}

/* Doubled from two thirds used on, halved below one third, after WINDOW_LEARN_PAGES pages. */
static void test_tuner_thresholds(void)
{
	static const u32 fates[][3] = {
		/* used, wasted, size after them */
		{ 22, 11, 16 }, { 21, 12, 8 }, { 11, 22, 8 }, { 10, 23, 4 },
		{ 31, 0, 8 }, { 32, 0, 16 }, { 0, 31, 8 }, { 0, 32, 4 },
	};
	struct window_tuner t;
	u32 i;

	for (i = 0; i < UNIT_COUNT(fates); i++) {
		window_tuner_init(&t, PROBE_EVERY, PROBE_PAGES);
		window_tuner_learn(&t, fates[i][0], fates[i][1]);
		CHECK_EQ(window_tuner_size(&t, 64), fates[i][2]);
	}
	/* What one decision was made of does not count in the next. */
	window_tuner_init(&t, PROBE_EVERY, PROBE_PAGES);
	window_tuner_learn(&t, 0, WINDOW_LEARN_PAGES);
	window_tuner_learn(&t, WINDOW_LEARN_PAGES, 0);
	CHECK_EQ(window_tuner_size(&t, 64), 8);
	window_tuner_learn(&t, 0, WINDOW_LEARN_PAGES);
	CHECK_EQ(window_tuner_size(&t, 64), 4);
}

/* From no prefetch at all there is a way back. */
static void test_tuner_probes(void)
{
	struct window_tuner t;
	u32 i, probes = 0, size;

	memset(&t, 0x55, sizeof(t));
	window_tuner_init(&t, PROBE_EVERY, PROBE_PAGES);
	learn(&t, 0, 1, 64 * WINDOW_LEARN_PAGES);
	for (i = 0; i < 10 * PROBE_EVERY; i++) {
		size = window_tuner_size(&t, 64);
		CHECK_EQ(size, i % PROBE_EVERY == PROBE_EVERY - 1 ? WINDOW_PROBE_SIZE : 1);
		probes += size > 1;
	}
	CHECK_EQ(probes, 10);
	for (i = 0; i < PROBE_EVERY; i++)
		CHECK(window_tuner_size(&t, 2) <= 2);
	learn(&t, 1, 0, 2 * PROBE_PAGES);
	CHECK_EQ(window_tuner_size(&t, 64), 2);
}

/* Fewer pages than elsewhere decide there, and what is wasted makes nobody try again at once. */
static void test_tuner_opens(void)
{
	static const u32 fates[][3] = {
		/* used, wasted, size after them */
		{ 11, 0, 1 }, { 12, 0, 2 }, { 8, 4, 2 }, { 7, 5, 1 }, { 8, 3, 1 }, { 0, 12, 1 },
	};
	struct window_tuner t;
	u32 i;

	for (i = 0; i < UNIT_COUNT(fates); i++) {
		window_tuner_init(&t, PROBE_EVERY, PROBE_PAGES);
		learn(&t, 0, 1, 64 * WINDOW_LEARN_PAGES);
		window_tuner_learn(&t, 0, PROBE_PAGES);
		window_tuner_learn(&t, fates[i][0], fates[i][1]);
		CHECK_EQ(t.size, fates[i][2]);
	}
}

static u32 misses_to_probe(struct window_tuner *t)
{
	u32 n = 1;

	while (window_tuner_size(t, 64) == 1)
		n++;
	return n;
}

/* What was tried with success is tried again soon. */
static void test_tuner_tries_again(void)
{
	struct window_tuner t;

	window_tuner_init(&t, PROBE_EVERY, PROBE_PAGES);
	learn(&t, 0, 1, 64 * WINDOW_LEARN_PAGES);
	window_tuner_learn(&t, 0, PROBE_PAGES);
	CHECK_EQ(misses_to_probe(&t), PROBE_EVERY);
	window_tuner_learn(&t, 1, 0);
	CHECK_EQ(misses_to_probe(&t), PROBE_EVERY / WINDOW_PROBE_SOON);
	window_tuner_learn(&t, 1, 1);
	CHECK_EQ(misses_to_probe(&t), PROBE_EVERY);
	window_tuner_learn(&t, 1, 0);
	CHECK_EQ(misses_to_probe(&t), PROBE_EVERY);
	/* Who has come nearer to the next try than that stays there. */
	window_tuner_learn(&t, 0, PROBE_PAGES);
	while (t.misses < PROBE_EVERY - 1)
		CHECK_EQ(window_tuner_size(&t, 64), 1);
	window_tuner_learn(&t, 1, 0);
	CHECK_EQ(misses_to_probe(&t), 1);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_around_edges),
		UNIT_CASE(test_around_random),
		UNIT_CASE(test_ahead_random),
		UNIT_CASE(test_lost_random),
		UNIT_CASE(test_onward_random),
		UNIT_CASE(test_group_random),
		UNIT_CASE(test_stretch_random),
		UNIT_CASE(test_tuner_grows_and_shrinks),
		UNIT_CASE(test_tuner_thresholds),
		UNIT_CASE(test_tuner_probes),
		UNIT_CASE(test_tuner_opens),
		UNIT_CASE(test_tuner_tries_again),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
