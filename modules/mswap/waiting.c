// SPDX-License-Identifier: GPL-2.0-only
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "algo/slot_tree.h"
#include "waiting.h"

#define WAITING_TRIM	64	/* frames looked at in one go, under a spinlock */

static struct hlist_head *waiting_bucket(struct waiting_room *r, u32 slot)
{
	return &r->hash[hash_32(slot, r->hash_bits)];
}

static void waiting_free_frame(struct waiting_frame *f)
{
	__free_page(f->page);
	kfree(f);
}

static struct waiting_frame *waiting_alloc_frame(void)
{
	struct waiting_frame *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return NULL;
	f->page = alloc_page(GFP_KERNEL);
	if (!f->page) {
		kfree(f);
		return NULL;
	}
	return f;
}

void waiting_init(struct waiting_room *r)
{
	r->hash = NULL;
	r->hash_bits = 0;
	INIT_LIST_HEAD(&r->ready);
	INIT_LIST_HEAD(&r->free);
	init_llist_head(&r->returned);
	r->nr_ready = 0;
	r->nr_passed = 0;
	r->nr_free = 0;
	r->nr_frames = 0;
	r->target = 0;
}

/* Returns how many fewer than @most there were. */
static u32 waiting_collect_returned(struct waiting_room *r, u32 most)
{
	struct llist_node *node;

	for (; most; most--) {
		node = llist_del_first(&r->returned);
		if (!node)
			break;
		waiting_put(r, llist_entry(node, struct waiting_frame, returned));
	}
	return most;
}

static void waiting_give_up_oldest(struct waiting_room *r,
				   struct waiting_fate *wasted)
{
	struct waiting_frame *f;

	f = list_first_entry(&r->ready, struct waiting_frame, list);
	waiting_note(wasted, f);
	waiting_take(r, f);
	waiting_put(r, f);
}

static struct waiting_frame *waiting_take_free(struct waiting_room *r)
{
	struct waiting_frame *f;

	f = list_first_entry(&r->free, struct waiting_frame, list);
	list_del(&f->list);
	r->nr_free--;
	return f;
}

/*
 * Frees at most @most frames; true if there are more. Those that are taken follow
 * when they come back.
 */
static bool waiting_trim(struct waiting_room *r, u32 most)
{
	struct waiting_fate unneeded = { 0 };

	most = waiting_collect_returned(r, most);
	while (r->nr_frames > r->target) {
		if (!most--)
			return true;
		if (list_empty(&r->free) && !r->nr_ready)
			return false;
		if (list_empty(&r->free)) {
			waiting_give_up_oldest(r, &unneeded);
			continue;
		}
		waiting_put(r, waiting_take_free(r));
	}
	return false;
}

void waiting_exit(struct waiting_room *r)
{
	r->target = 0;
	while (waiting_trim(r, WAITING_TRIM))
		cond_resched();
	WARN_ON_ONCE(r->nr_frames);
	kvfree(r->hash);
	r->hash = NULL;
}

/* Whoever plans a read looks for dozens of slots under the lock: chains stay short. */
static int waiting_widen(struct waiting_room *r, spinlock_t *lock, u32 nr_frames)
{
	u32 bits = order_base_2(nr_frames) + 1;
	struct hlist_head *hash, *old = r->hash;
	struct waiting_frame *f;

	if (old && bits <= r->hash_bits)
		return 0;
	hash = kvcalloc(1 << bits, sizeof(*hash), GFP_KERNEL);
	if (!hash)
		return -ENOMEM;
	spin_lock_irq(lock);
	r->hash = hash;
	r->hash_bits = bits;
	list_for_each_entry(f, &r->ready, list)
		hlist_add_head(&f->hash, waiting_bucket(r, f->slot));
	spin_unlock_irq(lock);
	kvfree(old);
	return 0;
}

/*
 * From the count on, what comes back from reads stays: after a shrink some of it
 * was still to go.
 */
static int waiting_grow(struct waiting_room *r, spinlock_t *lock, u32 nr_frames)
{
	struct waiting_frame *f, *next;
	LIST_HEAD(fresh);
	u32 have, n = 0;

	spin_lock_irq(lock);
	r->target = max(r->target, nr_frames);
	have = r->nr_frames;
	spin_unlock_irq(lock);
	for (; have + n < nr_frames; n++) {
		f = waiting_alloc_frame();
		if (!f)
			goto err_fresh;
		list_add(&f->list, &fresh);
	}
	spin_lock_irq(lock);
	list_splice(&fresh, &r->free);
	r->nr_free += n;
	WRITE_ONCE(r->nr_frames, r->nr_frames + n);
	spin_unlock_irq(lock);
	return 0;

err_fresh:
	list_for_each_entry_safe(f, next, &fresh, list)
		waiting_free_frame(f);
	return -ENOMEM;
}

int waiting_resize(struct waiting_room *r, spinlock_t *lock, u32 nr_frames)
{
	u32 had = r->target;
	int err;

	err = waiting_widen(r, lock, nr_frames);
	if (!err)
		err = waiting_grow(r, lock, nr_frames);
	spin_lock_irq(lock);
	r->target = err ? had : nr_frames;
	while (waiting_trim(r, WAITING_TRIM)) {
		spin_unlock_irq(lock);
		cond_resched();
		spin_lock_irq(lock);
	}
	spin_unlock_irq(lock);
	return err;
}

struct waiting_frame *waiting_find(struct waiting_room *r, u32 slot)
{
	struct waiting_frame *f;

	if (!r->nr_ready)
		return NULL;
	hlist_for_each_entry(f, waiting_bucket(r, slot), hash)
		if (f->slot == slot)
			return f;
	return NULL;
}

void waiting_take(struct waiting_room *r, struct waiting_frame *f)
{
	hlist_del(&f->hash);
	list_del(&f->list);
	r->nr_ready--;
	r->nr_passed -= f->passed;
}

void waiting_pass(struct waiting_room *r, struct waiting_frame *f)
{
	r->nr_passed += !f->passed;
	f->passed = true;
}

void waiting_add(struct waiting_room *r, struct waiting_frame *f)
{
	hlist_add_head(&f->hash, waiting_bucket(r, f->slot));
	list_add_tail(&f->list, &r->ready);
	r->nr_ready++;
}

void waiting_begun(struct waiting_room *r, struct waiting_frame *f)
{
	struct waiting_frame *x = f;

	list_for_each_entry_continue(x, &r->ready, list) {
		if (x->onward.slot != f->onward.slot)
			break;
		x->onward.slot = SLOT_NONE;
	}
	x = f;
	list_for_each_entry_continue_reverse(x, &r->ready, list) {
		if (x->onward.slot != f->onward.slot)
			break;
		x->onward.slot = SLOT_NONE;
	}
}

u32 waiting_nr_free(struct waiting_room *r)
{
	waiting_collect_returned(r, WAITING_TRIM);
	return r->nr_free;
}

struct waiting_frame *waiting_get(struct waiting_room *r,
				  struct waiting_fate *wasted)
{
	u32 most = WAITING_TRIM;

	if (list_empty(&r->free))
		waiting_collect_returned(r, WAITING_TRIM);
	/* As long as there are more frames than wanted, one given up is gone. */
	while (list_empty(&r->free) && r->nr_ready && most--)
		waiting_give_up_oldest(r, wasted);
	if (list_empty(&r->free))
		return NULL;
	return waiting_take_free(r);
}

void waiting_put(struct waiting_room *r, struct waiting_frame *f)
{
	if (r->nr_frames > r->target) {
		WRITE_ONCE(r->nr_frames, r->nr_frames - 1);
		waiting_free_frame(f);
		return;
	}
	list_add(&f->list, &r->free);
	r->nr_free++;
}
