// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: the slot tree against a byte map. Input: two bytes of area size,
 * then operations of 5 bytes: which, slot (2), length (2).
 */
#include "slot_oracle.h"

#define NR_MAX 9000u

static u8 used[NR_MAX];
static u64 arena[NR_MAX / 32 + 16];

static void expect(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static void alloc(struct slot_tree *t, struct slot_oracle *o, u32 want, u32 hint)
{
	u32 from = hint < o->nr ? hint : 0;
	u32 start = slot_tree_alloc(t, want, hint), first = SLOT_NONE;

	if (want && want <= SLOT_RUN_MAX) {
		first = oracle_find(o, from, o->nr, want);
		if (first == SLOT_NONE)
			first = oracle_find(o, 0, from, want);
	}
	expect(start == first);
	if (start != SLOT_NONE)
		oracle_set(o, start, want, 1);
}

static void alloc_upto(struct slot_tree *t, struct slot_oracle *o, u32 want, u32 hint, bool apart)
{
	u32 got, longest = want <= SLOT_RUN_MAX ? oracle_longest(o) : 0;
	u32 start = slot_tree_alloc_upto(t, want, hint, apart, &got);

	expect((start == SLOT_NONE) == (got == 0));
	expect(!got == !pure_min(want, longest));
	if (start == SLOT_NONE)
		return;
	if (longest < SLOT_RUN_LONG)
		expect(start == oracle_shred(o, hint, apart));
	else
		expect(got == pure_min(want, longest));
	expect(start < o->nr && oracle_run(o, start, got) == got);
	oracle_set(o, start, got, 1);
}

static void give_back(struct slot_tree *t, struct slot_oracle *o, u32 start, u32 n)
{
	bool good = oracle_all_used(o, start, n);

	expect(slot_tree_free(t, start, n) == good);
	if (good)
		oracle_set(o, start, n, 0);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct slot_oracle o = { .used = used, .scraps = SLOT_NONE };
	struct slot_tree t;

	if (size < 2)
		return 0;
	o.nr = 1 + (data[0] | (u32)data[1] << 8) % NR_MAX;
	o.nr_free = o.nr;
	memset(used, 0, o.nr);
	expect(slot_tree_bytes(o.nr) <= sizeof(arena));
	slot_tree_init(&t, arena, o.nr);
	for (data += 2, size -= 2; size >= 5; data += 5, size -= 5) {
		u32 slot = data[1] | (u32)data[2] << 8;
		u32 n = data[3] | (u32)data[4] << 8;

		switch (data[0] & 3) {
		case 0:
			alloc(&t, &o, n % (SLOT_RUN_MAX + 2), slot);
			break;
		case 1:
			alloc_upto(&t, &o, n % (SLOT_RUN_MAX + 2), slot, data[0] & 4);
			break;
		case 2:
			give_back(&t, &o, slot, n);
			break;
		default:
			expect(slot_tree_is_used(&t, slot) == (slot >= o.nr || used[slot]));
		}
		expect(slot_tree_nr_free(&t) == o.nr_free);
		expect(slot_tree_longest(&t) == oracle_longest(&o));
	}
	return 0;
}
