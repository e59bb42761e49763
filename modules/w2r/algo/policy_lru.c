// SPDX-License-Identifier: GPL-2.0-only
#include "policy.h"

static size_t lru_size(u32 capacity)
{
	(void)capacity;
	return 0;
}

static void lru_init(struct weighing *w, void *mem, u32 capacity)
{
	(void)mem;
	(void)capacity;
	elist_init(&w->lists[0]);
}

static u8 lru_admit(struct weighing *w, u64 block)
{
	(void)w;
	(void)block;
	return 0;
}

static void lru_insert(struct weighing *w, u32 e)
{
	elist_add_head(w->arena, &w->lists[0], e);
}

static void lru_remove(struct weighing *w, u32 e)
{
	elist_del(w->arena, &w->lists[0], e);
}

static void lru_hit(struct weighing *w, u32 e)
{
	lru_remove(w, e);
	lru_insert(w, e);
}

static u32 lru_victim(struct weighing *w, u8 mark)
{
	u32 e = elist_last_unpinned(w->arena, &w->lists[0]);

	(void)mark;
	if (e != ENTRY_NONE)
		lru_remove(w, e);
	return e;
}

const struct policy policy_lru = {
	.name = "lru",
	.size = lru_size,
	.init = lru_init,
	.admit = lru_admit,
	.insert = lru_insert,
	.hit = lru_hit,
	.victim = lru_victim,
	.remove = lru_remove,
};

const struct policy *policy_of(enum policy_kind kind)
{
	static const struct policy *const policies[POLICY_KINDS] = {
		[POLICY_LRU] = &policy_lru,
		[POLICY_S3FIFO] = &policy_s3fifo,
		[POLICY_ARC] = &policy_arc,
	};

	return policies[kind];
}
