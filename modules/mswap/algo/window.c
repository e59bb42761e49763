// SPDX-License-Identifier: GPL-2.0-only
#include "window.h"

/* How many slots after @last belong to its run. */
static u32 window_reach_up(u64 live, u64 cont, u32 last)
{
	if (last + 1 >= WINDOW_MAX)
		return 0;
	return pure_ctz64(~((live & cont) >> (last + 1)));
}

/* How many slots before @first belong to its run. */
static u32 window_reach_down(u64 live, u64 cont, u32 first)
{
	u64 joined = cont & live << 1;

	/* The first slot of all has none before it: some bit ends the row. */
	return 63 - pure_fls64(~(joined << (63 - first)));
}

struct window window_around(u64 live, u64 cont, u32 at, u32 want, u32 size)
{
	u32 up = window_reach_up(live, cont, at + want - 1);
	u32 down = window_reach_down(live, cont, at);
	u32 room = size > want ? size - want : 0;
	struct window w;

	up = pure_min(up, pure_max(room - room / 4,
				   room - pure_min(room, down)));
	down = pure_min(down, room - up);
	w.first = at - down;
	w.n = down + want + up;
	return w;
}

struct window window_ahead(u64 live, u64 cont, u32 at, u32 size)
{
	struct window w = { .first = at, .n = 0 };

	if (size && (live & cont) >> at & 1)
		w.n = pure_min(size, 1 + window_reach_up(live, cont, at));
	return w;
}

struct window window_onward(u64 live, u64 cont, u32 at, u32 want, u32 ahead,
			    bool down)
{
	u32 reach = down ? window_reach_down(live, cont, at) :
			   window_reach_up(live, cont, at + want - 1);
	u32 more = pure_min(ahead, reach);
	struct window w = { .first = down ? at - more : at, .n = want + more };

	return w;
}

u32 window_end(u64 live, u64 cont, u32 end)
{
	u64 lost;

	if (end >= WINDOW_MAX)
		return end;
	lost = ~0ull << end;
	return (live | ~cont) & lost ? end : WINDOW_MAX;
}

u32 window_begin(u64 live, u64 cont, u32 first)
{
	u64 lost = (1ull << first) - 1;

	return live & lost || ~cont & lost << 1 ? first : 0;
}

/* The lowest @n set bits of @word, which has as many. */
static u64 lowest_bits(u64 word, u32 n)
{
	u64 rest = word;

	while (n--)
		rest &= rest - 1;
	return word & ~rest;
}

static u64 highest_bits(u64 word, u32 n)
{
	u64 some = 0;

	while (n--)
		some |= 1ull << pure_fls64(word & ~some);
	return some;
}

/* The bits of @word from @from on, up to the first that more than @gap zeros lie before. */
static u64 reach_up(u64 word, u32 from, u32 gap)
{
	u64 some = 0;
	u32 next = from, i;

	if (from >= WINDOW_MAX)
		return 0;
	for (word &= ~0ull << from; word; word &= word - 1) {
		i = pure_ctz64(word);
		if (i - next > gap)
			break;
		some |= 1ull << i;
		next = i + 1;
	}
	return some;
}

/* The same downwards, from @to - 1 on. */
static u64 reach_down(u64 word, u32 to, u32 gap)
{
	u64 some = 0;
	u32 last = to, i;

	if (!to)
		return 0;
	for (word &= ~0ull >> (WINDOW_MAX - to); word; word &= ~(1ull << i)) {
		i = pure_fls64(word);
		if (last - i - 1 > gap)
			break;
		some |= 1ull << i;
		last = i;
	}
	return some;
}

u64 window_stretch(u64 live, u64 cont, u32 at, u32 want)
{
	u32 behind = at + want, up = 0, down;
	u64 all;

	if (behind < WINDOW_MAX)
		up = pure_ctz64(~(cont >> behind));
	down = 63 - pure_fls64(~((cont & ~1ull) << (63 - at)));
	all = (~0ull >> (WINDOW_MAX - down - want - up)) << (at - down);
	return all & ~live ? live & all : 0;
}

u64 window_group(u64 group, u32 at, u32 want, u32 size, u32 gap)
{
	u64 wanted = want ? (~0ull >> (WINDOW_MAX - want)) << at : 0;
	u64 after = reach_up(group, at + want, gap);
	u64 before = reach_down(group, at, gap);
	u32 up = pure_popcount64(after), down = pure_popcount64(before);
	u32 room = size > want ? size - want : 0;

	up = pure_min(up, pure_max(room - room / 4,
				   room - pure_min(room, down)));
	down = pure_min(down, room - up);
	return wanted | lowest_bits(after, up) | highest_bits(before, down);
}

void window_tuner_init(struct window_tuner *t, u32 probe_every,
		       u32 probe_pages)
{
	t->probe_every = probe_every;
	t->probe_pages = probe_pages;
	t->size = WINDOW_FIRST_SIZE;
	t->used = 0;
	t->wasted = 0;
	t->misses = 0;
}

void window_tuner_learn(struct window_tuner *t, u32 used, u32 wasted)
{
	bool probing = t->size == 1;
	u32 all;

	t->used += used;
	t->wasted += wasted;
	all = t->used + t->wasted;
	if (probing && used && !t->wasted)
		t->misses = pure_max(t->misses, t->probe_every -
				     t->probe_every / WINDOW_PROBE_SOON);
	if (all < (probing ? t->probe_pages : WINDOW_LEARN_PAGES))
		return;
	if (t->used * 3 >= all * 2)
		WRITE_ONCE(t->size, pure_min(t->size * 2, WINDOW_MAX));
	else if (t->used * 3 < all)
		WRITE_ONCE(t->size, pure_max(t->size / 2, 1));
	t->used = 0;
	t->wasted = 0;
}

u32 window_tuner_size(struct window_tuner *t, u32 max)
{
	if (t->size > 1)
		return pure_min(t->size, max);
	if (++t->misses < t->probe_every)
		return 1;
	t->misses = 0;
	return pure_min(WINDOW_PROBE_SIZE, max);
}
