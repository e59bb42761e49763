// SPDX-License-Identifier: GPL-2.0-only
#include "memory.h"
#include "work.h"

#define WORKERS_MAX	4

/* A work that has begun is known by its place only: it may have gone. */
struct worker {
	const struct work_struct *runs;
	u64 order;
};

struct workqueue_struct {
	struct list_head works;
	struct worker *workers[WORKERS_MAX];
	u32 nr_workers;
	wait_queue_head_t done;		/* a work, or a worker */
};

static u64 orders;

void sim_init_work(struct work_struct *work, void (*fn)(struct work_struct *work))
{
	*work = (struct work_struct) { .fn = fn };
}

static bool is_run(const struct workqueue_struct *wq, const struct work_struct *work, u64 upto)
{
	u32 i;

	for (i = 0; i < WORKERS_MAX; i++)
		if (wq->workers[i] && wq->workers[i]->runs == work &&
		    wq->workers[i]->order <= upto)
			return true;
	return false;
}

static struct work_struct *next_work(const struct workqueue_struct *wq)
{
	struct work_struct *work;

	list_for_each_entry(work, &wq->works, list)
		if (!is_run(wq, work, U64_MAX))
			return work;
	return NULL;
}

static void run_work(struct worker *me, struct work_struct *work)
{
	void (*fn)(struct work_struct *work) = work->fn;

	me->runs = work;
	me->order = work->order;
	list_del(&work->list);
	work->queued = false;
	work->pending = false;
	sim_point(SIM_LOCK);
	fn(work);
	lock_check_sleep("a work, which has ended,");
	SIM_CHECK(!current->plug);
	me->runs = NULL;
}

static struct worker **free_place(struct workqueue_struct *wq)
{
	u32 i;

	for (i = 0; wq->workers[i]; i++)
		;
	return &wq->workers[i];
}

static void work_as_worker(void *arg)
{
	struct workqueue_struct *wq = arg;
	struct worker me = { .runs = NULL }, **place = free_place(wq);
	struct work_struct *work;

	*place = &me;
	current->flags |= PF_WQ_WORKER | PF_KTHREAD;
	while ((work = next_work(wq))) {
		run_work(&me, work);
		wake_up(&wq->done);
	}
	*place = NULL;
	wq->nr_workers--;
	/* Who waits for the last one takes the queue away. */
	sim_wake_all(&wq->done);
}

static void insert(struct workqueue_struct *wq, struct work_struct *work)
{
	work->wq = wq;
	work->order = ++orders;
	work->queued = true;
	list_add_tail(&work->list, &wq->works);
	if (wq->nr_workers < sim.workers) {
		wq->nr_workers++;
		sim_spawn("a worker", work_as_worker, wq);
	}
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	sim_point(SIM_LOCK);
	if (work->pending || work->cancelling)
		return false;
	work->pending = true;
	insert(wq, work);
	return true;
}

static bool is_over(const struct work_struct *work, u64 order)
{
	return !(work->queued && work->order <= order) &&
	       !is_run(work->wq, work, order);
}

void flush_work(struct work_struct *work)
{
	u64 order = work->order;

	might_sleep();
	if (work->wq)
		wait_event(work->wq->done, is_over(work, order));
}

bool sim_work_is_idle(const struct work_struct *work)
{
	return !work->pending && !(work->wq && is_run(work->wq, work, U64_MAX));
}

/* --- delayed ones --- */

static void delay_over(struct sim_event *event)
{
	struct delayed_work *dwork = container_of(event, struct delayed_work, timer);

	insert(dwork->work.wq, &dwork->work);
}

void sim_init_delayed_work(struct delayed_work *dwork, void (*fn)(struct work_struct *work))
{
	sim_init_work(&dwork->work, fn);
	dwork->timer = (struct sim_event) { .fire = delay_over };
}

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
			unsigned long delay)
{
	struct work_struct *work = &dwork->work;

	sim_point(SIM_LOCK);
	if (work->pending || work->cancelling)
		return false;
	work->pending = true;
	work->wq = wq;
	sim_event_at(&dwork->timer, sim_now() + delay * NSEC_PER_JIFFY);
	return true;
}

bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	struct work_struct *work = &dwork->work;
	bool was = work->pending;

	might_sleep();
	work->cancelling++;
	sim_event_cancel(&dwork->timer);
	if (work->queued)
		list_del(&work->list);
	work->queued = false;
	work->pending = false;
	if (work->wq)
		wait_event(work->wq->done, !is_run(work->wq, work, U64_MAX));
	work->cancelling--;
	return was;
}

/* --- queues --- */

struct workqueue_struct *alloc_workqueue(const char *format, unsigned int flags, int most, ...)
{
	struct workqueue_struct *wq = kzalloc(sizeof(*wq), GFP_KERNEL);

	SIM_CHECK(flags & WQ_MEM_RECLAIM && !most && sim.workers <= WORKERS_MAX);
	if (!wq)
		return NULL;
	INIT_LIST_HEAD(&wq->works);
	init_waitqueue_head(&wq->done);
	return wq;
}

void destroy_workqueue(struct workqueue_struct *wq)
{
	might_sleep();
	wait_event(wq->done, list_empty(&wq->works) && !wq->nr_workers);
	kfree(wq);
}

/* --- timers --- */

#define RUNNING_MAX	8

/* Known by their places only, since they may be gone when their functions have ended. */
static const struct hrtimer *running[RUNNING_MAX];
static const char timer_wait[] = "a timer's function";

static const struct hrtimer **place_of(const struct hrtimer *timer)
{
	u32 i;

	for (i = 0; i < RUNNING_MAX; i++)
		if (running[i] == timer)
			return &running[i];
	return NULL;
}

static void run_timer(void *arg)
{
	struct hrtimer *timer = arg;

	SIM_CHECK(timer->function(timer) == HRTIMER_NORESTART);
	*place_of(timer) = NULL;
	sim_wake_those(timer_wait);
}

static void timer_due(struct sim_event *event)
{
	struct hrtimer *timer = container_of(event, struct hrtimer, event);

	if (place_of(timer)) {
		sim_event_at(event, sim_now() + 1000);
		return;
	}
	*place_of(NULL) = timer;
	sim_spawn_irq("a timer", run_timer, timer);
}

void hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *timer),
		   int clock, int mode)
{
	timer->function = function;
	timer->event = (struct sim_event) { .fire = timer_due };
}

void hrtimer_start(struct hrtimer *timer, ktime_t after, int mode)
{
	sim_point(SIM_LOCK);
	sim_event_cancel(&timer->event);
	sim_event_at(&timer->event, sim_now() + after);
}

void hrtimer_cancel(struct hrtimer *timer)
{
	might_sleep();
	for (;;) {
		sim_event_cancel(&timer->event);
		if (!place_of(timer))
			return;
		sim_block(timer_wait);
	}
}
