// SPDX-License-Identifier: GPL-2.0-only
#include "index.h"

u32 index_heads(u32 entries)
{
	return entries < 4 ? 2 : 1u << pure_fls64(entries);
}

size_t index_bytes(u32 entries)
{
	return index_heads(entries) * sizeof(u32);
}

void index_init(struct index *x, struct arena *a, u32 *heads, u32 nr,
		bool move_to_front)
{
	u32 i, n;

	x->arena = a;
	x->heads = heads;
	x->shift = 64 - pure_fls64(nr);
	x->move_to_front = move_to_front;
	x->lookups = 0;
	x->found = 0;
	x->searches = 0;
	for (i = 0; i < nr; i += n) {
		n = pure_min(nr - i, ARENA_STEP);
		memset(&heads[i], 0xff, n * sizeof(*heads));
		pure_relax();
	}
}

static u32 *chain_of(const struct index *x, u64 block)
{
	return &x->heads[index_hash(block, x->shift)];
}

u32 index_peek(const struct index *x, u64 block)
{
	u32 e = *chain_of(x, block);

	while (e != ENTRY_NONE && x->arena->entries[e].block != block)
		e = x->arena->entries[e].chain;
	return e;
}

u32 index_find(struct index *x, u64 block)
{
	struct entry *entries = x->arena->entries;
	u32 *head = chain_of(x, block);
	u32 before = ENTRY_NONE;
	u32 e, searches = 0;

	x->lookups++;
	for (e = *head; e != ENTRY_NONE; e = entries[e].chain) {
		searches++;
		if (entries[e].block == block)
			break;
		before = e;
	}
	if (e == ENTRY_NONE)
		return e;
	x->found++;
	x->searches += searches;
	if (x->move_to_front && before != ENTRY_NONE) {
		entries[before].chain = entries[e].chain;
		entries[e].chain = *head;
		*head = e;
	}
	return e;
}

void index_add(struct index *x, u32 e)
{
	struct entry *entries = x->arena->entries;
	u32 *link = chain_of(x, entries[e].block);

	if (!x->move_to_front)
		while (*link != ENTRY_NONE)
			link = &entries[*link].chain;
	entries[e].chain = *link;
	*link = e;
}

void index_del(struct index *x, u32 e)
{
	struct entry *entries = x->arena->entries;
	u32 *link = chain_of(x, entries[e].block);

	while (*link != e)
		link = &entries[*link].chain;
	*link = entries[e].chain;
}
