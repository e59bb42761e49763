// SPDX-License-Identifier: GPL-2.0-only
#include "block.h"
#include "wait.h"

void sim_about_to_sleep(const char *what)
{
	sim_might_sleep(what);
	if (!current->plug)
		return;
	current->unplugging = true;
	sim_flush_plug(current->plug, true);
	current->unplugging = false;
}

void sim_wait_init(wait_queue_head_t *head, const char *name)
{
	INIT_LIST_HEAD(&head->waiters);
	head->name = name;
}

static void time_is_up(struct sim_event *event)
{
	struct sim_wait *w = container_of(event, struct sim_wait, timeout);

	w->woken = true;
	sim_wake(w->task);
}

void sim_wait_begin(struct sim_wait *w, long timeout)
{
	*w = (struct sim_wait) { .task = current, .timeout.fire = time_is_up };
	INIT_LIST_HEAD(&w->list);
	if (timeout >= 0)
		w->until = sim_now() + timeout * NSEC_PER_JIFFY;
}

void sim_wait_prepare(wait_queue_head_t *head, struct sim_wait *w)
{
	w->woken = false;
	if (list_empty(&w->list))
		list_add_tail(&w->list, &head->waiters);
	sim_point(SIM_LOCK);
}

bool sim_wait_is_over(const struct sim_wait *w)
{
	return w->until && sim_now() >= w->until;
}

void sim_wait_sleep(wait_queue_head_t *head, struct sim_wait *w)
{
	const char *name = head->name;

	sim_about_to_sleep(name);
	if (w->woken)
		return;
	if (w->until)
		sim_event_at(&w->timeout, w->until);
	while (!w->woken)
		sim_block(name);
	sim_event_cancel(&w->timeout);
}

long sim_wait_finish(struct sim_wait *w, bool done)
{
	u64 now = sim_now();

	if (!list_empty(&w->list))
		list_del_init(&w->list);
	if (w->until > now)
		return 1 + (w->until - now) / NSEC_PER_JIFFY;
	return done;
}

/* All see the same here, barrier or not. */
bool waitqueue_active(const wait_queue_head_t *head)
{
	sim_point(SIM_LOOK);
	return !list_empty(&head->waiters);
}

void sim_wake_all(wait_queue_head_t *head)
{
	struct sim_wait *w, *next;

	list_for_each_entry_safe(w, next, &head->waiters, list) {
		list_del_init(&w->list);
		w->woken = true;
		sim_wake(w->task);
	}
}

void wake_up(wait_queue_head_t *head)
{
	sim_point(SIM_LOCK);
	sim_wake_all(head);
}

void complete(struct completion *c)
{
	sim_point(SIM_LOCK);
	c->done = true;
	sim_wake_all(&c->wait);
}

void wait_for_completion(struct completion *c)
{
	wait_event(c->wait, c->done);
}
