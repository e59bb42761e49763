// SPDX-License-Identifier: GPL-2.0-only
#define DM_MSG_PREFIX "w2r"

#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/wait.h>

#include "control.h"
#include "readahead.h"
#include "sysfs.h"

/*
 * The directory of one place of a disk. It stays when a table takes the place of
 * another: kernfs has locks under which others allocate memory, and who suspends
 * or resumes a device must not wait for those who wait for its I/O.
 */
struct w2r_files {
	struct kobject kobj;
	struct completion gone;
	struct list_head list;		/* of all_files */
	struct gendisk *disk;
	sector_t begin;
	unsigned int tables;		/* that have such a target; files_mutex */
	spinlock_t lock;
	struct w2r *live;		/* whose values they are, or NULL; lock */
	unsigned int users;		/* reading or writing these; lock */
	wait_queue_head_t idle;
};

static DEFINE_MUTEX(files_mutex);
static LIST_HEAD(all_files);		/* files_mutex */

struct w2r_attribute {
	struct attribute attr;
	ssize_t (*show)(struct w2r *c, struct w2r_attribute *a, char *buf);
	ssize_t (*store)(struct w2r *c, struct w2r_attribute *a,
			 const char *buf, size_t count);
};

/* --- options of the table; some may be changed --- */

struct option_file {
	struct w2r_attribute attr;
	enum table_option option;
};

static ssize_t option_show(struct w2r *c, struct w2r_attribute *a, char *buf)
{
	struct option_file *f = container_of(a, struct option_file, attr);
	const char *word;
	u32 number;

	spin_lock_irq(&c->lock);
	word = table_word(&c->table, f->option);
	number = table_number(&c->table, f->option);
	spin_unlock_irq(&c->lock);
	if (word)
		return sysfs_emit(buf, "%s\n", word);
	return sysfs_emit(buf, "%u\n", number);
}

static ssize_t option_store(struct w2r *c, struct w2r_attribute *a,
			    const char *buf, size_t count)
{
	struct option_file *f = container_of(a, struct option_file, attr);
	const char *wrong = NULL;
	char text[16];

	/* A word may come with the byte that ends it, but with none behind. */
	if (strnlen(buf, count) + 1 < count || strscpy(text, buf, sizeof(text)) < 0)
		text[0] = '\0';
	spin_lock_irq(&c->lock);
	wrong = table_set(&c->table, f->option, strim(text));
	if (!wrong && f->option == TABLE_PLANNER)
		w2r_plan_anew(c);
	spin_unlock_irq(&c->lock);
	if (wrong) {
		DMERR_LIMIT("%s: refused: %s",
			    dm_table_device_name(c->ti->table), wrong);
		return -EINVAL;
	}
	if (f->option == TABLE_READAHEAD)
		w2r_readahead_update(c, false);
	return count;
}

#define OPTION(_name, _mode, _store, _option)				\
static struct option_file option_##_name = {				\
	.attr = __ATTR(_name, _mode, option_show, _store),		\
	.option = _option,						\
}

OPTION(readahead, 0644, option_store, TABLE_READAHEAD);
OPTION(lookahead, 0644, option_store, TABLE_LOOKAHEAD);
OPTION(planner, 0644, option_store, TABLE_PLANNER);
OPTION(policy, 0444, NULL, TABLE_POLICY);
OPTION(rooms, 0444, NULL, TABLE_ROOMS);
OPTION(index, 0444, NULL, TABLE_INDEX);
OPTION(block_kib, 0444, NULL, TABLE_BLOCK_KIB);

/* --- counters and gauges --- */

#define VALUE(_name, _value)						\
static ssize_t _name##_show(struct w2r *c, struct w2r_attribute *a,	\
			    char *buf)					\
{									\
	struct w2r_snapshot s;						\
									\
	w2r_snapshot(c, &s);						\
	return sysfs_emit(buf, "%llu\n", (u64)(_value));		\
}									\
static struct w2r_attribute value_##_name = __ATTR_RO(_name)

VALUE(read_blocks, s.stats[W2R_READ_BLOCKS]);
VALUE(hits_weighing, s.stats[W2R_HITS_WEIGHING]);
VALUE(hits_waiting, s.stats[W2R_HITS_WAITING]);
VALUE(misses, s.stats[W2R_MISSES]);
VALUE(bypassed, s.stats[W2R_BYPASSED]);
VALUE(waited, s.stats[W2R_WAITED]);
VALUE(written_blocks, s.stats[W2R_WRITTEN_BLOCKS]);
VALUE(prefetched, s.stats[W2R_PREFETCHED]);
VALUE(prefetch_used, s.used);
VALUE(prefetch_wasted, s.wasted);
VALUE(origin_reads, s.stats[W2R_ORIGIN_READS]);
VALUE(origin_prefetches, s.stats[W2R_ORIGIN_PREFETCHES]);
VALUE(read_errors, s.stats[W2R_READ_ERRORS]);
VALUE(write_errors, s.stats[W2R_WRITE_ERRORS]);
VALUE(reclaimed, s.stats[W2R_RECLAIMED]);
VALUE(lookups, s.lookups);
VALUE(lookups_found, s.found);
VALUE(searches, s.searches);
VALUE(weighing_blocks, s.weighing);
VALUE(waiting_blocks, s.waiting);
VALUE(waiting_target, s.waiting_target);
VALUE(capacity_blocks, s.limit);
VALUE(cache_bytes, (u64)s.resident * c->block_sectors << SECTOR_SHIFT);
VALUE(footprint_bytes, rooms_size(&(struct rooms_config){
		.entries = c->nr_entries, .policy = c->table.policy }) +
	      sizeof(*c) + sizeof(*c->planner) +
	      W2R_WRITER_SETS * sizeof(*c->writers) +
	      (u64)c->nr_entries * sizeof(*c->slots));
VALUE(latency_ns, s.latency);
VALUE(prefetch_cost_ns, s.cost);
VALUE(lookahead_active, s.lookahead_on);

static ssize_t planner_active_show(struct w2r *c, struct w2r_attribute *a,
				   char *buf)
{
	char planners[TABLE_PLANNERS_TEXT];
	struct w2r_snapshot s;

	w2r_snapshot(c, &s);
	return sysfs_emit(buf, "%s\n", table_planners(s.acting, planners));
}
static struct w2r_attribute value_planner_active = __ATTR_RO(planner_active);

static struct attribute *w2r_attrs[] = {
	&option_readahead.attr.attr,
	&option_lookahead.attr.attr,
	&option_planner.attr.attr,
	&option_policy.attr.attr,
	&option_rooms.attr.attr,
	&option_index.attr.attr,
	&option_block_kib.attr.attr,
	&value_read_blocks.attr,
	&value_hits_weighing.attr,
	&value_hits_waiting.attr,
	&value_misses.attr,
	&value_bypassed.attr,
	&value_waited.attr,
	&value_written_blocks.attr,
	&value_prefetched.attr,
	&value_prefetch_used.attr,
	&value_prefetch_wasted.attr,
	&value_origin_reads.attr,
	&value_origin_prefetches.attr,
	&value_read_errors.attr,
	&value_write_errors.attr,
	&value_reclaimed.attr,
	&value_lookups.attr,
	&value_lookups_found.attr,
	&value_searches.attr,
	&value_weighing_blocks.attr,
	&value_waiting_blocks.attr,
	&value_waiting_target.attr,
	&value_capacity_blocks.attr,
	&value_cache_bytes.attr,
	&value_footprint_bytes.attr,
	&value_latency_ns.attr,
	&value_prefetch_cost_ns.attr,
	&value_lookahead_active.attr,
	&value_planner_active.attr,
	NULL,
};
ATTRIBUTE_GROUPS(w2r);

/* --- the directory --- */

static struct w2r_files *to_files(struct kobject *kobj)
{
	return container_of(kobj, struct w2r_files, kobj);
}

static struct w2r_attribute *to_attribute(struct attribute *attr)
{
	return container_of(attr, struct w2r_attribute, attr);
}

static struct w2r *live_get(struct w2r_files *f)
{
	struct w2r *c;

	spin_lock_irq(&f->lock);
	c = f->live;
	if (c)
		f->users++;
	spin_unlock_irq(&f->lock);
	return c;
}

static void live_put(struct w2r_files *f)
{
	spin_lock_irq(&f->lock);
	if (!--f->users)
		wake_up(&f->idle);
	spin_unlock_irq(&f->lock);
}

static ssize_t files_show(struct kobject *kobj, struct attribute *attr,
			  char *buf)
{
	struct w2r_attribute *a = to_attribute(attr);
	struct w2r_files *f = to_files(kobj);
	struct w2r *c = live_get(f);
	ssize_t len;

	if (!c)
		return -ENODEV;
	len = a->show(c, a, buf);
	live_put(f);
	return len;
}

static ssize_t files_store(struct kobject *kobj, struct attribute *attr,
			   const char *buf, size_t count)
{
	struct w2r_attribute *a = to_attribute(attr);
	struct w2r_files *f = to_files(kobj);
	struct w2r *c;
	ssize_t len;

	if (!a->store)
		return -EIO;
	c = live_get(f);
	if (!c)
		return -ENODEV;
	len = a->store(c, a, buf, count);
	live_put(f);
	return len;
}

static const struct sysfs_ops files_ops = {
	.show = files_show,
	.store = files_store,
};

static void files_release(struct kobject *kobj)
{
	complete(&to_files(kobj)->gone);
}

static const struct kobj_type files_ktype = {
	.sysfs_ops = &files_ops,
	.release = files_release,
	.default_groups = w2r_groups,
};

static void files_remove(struct w2r_files *f)
{
	kobject_put(&f->kobj);
	wait_for_completion(&f->gone);
	kfree(f);
}

static struct w2r_files *files_new(struct gendisk *disk, sector_t begin)
{
	struct kobject *parent = &disk_to_dev(disk)->kobj;
	struct w2r_files *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int err;

	if (!f)
		return NULL;
	f->disk = disk;
	f->begin = begin;
	init_completion(&f->gone);
	spin_lock_init(&f->lock);
	init_waitqueue_head(&f->idle);
	compat_kobject_init(&f->kobj, &files_ktype);
	/* A table may have several targets of ours. */
	if (begin)
		err = kobject_add(&f->kobj, parent, "w2r-%llu", (u64)begin);
	else
		err = kobject_add(&f->kobj, parent, "w2r");
	if (err) {
		files_remove(f);
		return NULL;
	}
	list_add(&f->list, &all_files);
	return f;
}

static struct w2r_files *files_find(struct gendisk *disk, sector_t begin)
{
	struct w2r_files *f;

	lockdep_assert_held(&files_mutex);
	list_for_each_entry(f, &all_files, list)
		if (f->disk == disk && f->begin == begin)
			return f;
	return NULL;
}

static struct gendisk *disk_of(const struct w2r *c)
{
	return dm_disk(dm_table_get_md(c->ti->table));
}

/*
 * A resume may wait for the mutex. Who has it does not reclaim what waits for I/O:
 * that might be for a device whose resume comes after.
 */
static void files_join(struct w2r *c)
{
	struct w2r_files *f;
	unsigned int noio;

	mutex_lock(&files_mutex);
	noio = memalloc_noio_save();
	f = files_find(disk_of(c), c->ti->begin);
	if (!f)
		f = files_new(disk_of(c), c->ti->begin);
	if (f)
		f->tables++;
	memalloc_noio_restore(noio);
	mutex_unlock(&files_mutex);
	c->files = f;
}

void w2r_sysfs_add(struct w2r *c)
{
	/* Since Linux 5.15 device-mapper adds a disk after its first table. */
	if (device_is_registered(disk_to_dev(disk_of(c))))
		files_join(c);
}

void w2r_sysfs_remove(struct w2r *c)
{
	struct w2r_files *f = c->files;

	if (!f)
		return;
	mutex_lock(&files_mutex);
	if (!--f->tables) {
		list_del(&f->list);
		files_remove(f);
	}
	mutex_unlock(&files_mutex);
}

bool w2r_sysfs_resume(struct w2r *c)
{
	if (!c->files)
		files_join(c);
	if (!c->files)
		return false;
	spin_lock_irq(&c->files->lock);
	c->files->live = c;
	spin_unlock_irq(&c->files->lock);
	return true;
}

void w2r_sysfs_suspend(struct w2r *c)
{
	struct w2r_files *f = c->files;

	if (!f)
		return;
	spin_lock_irq(&f->lock);
	f->live = NULL;
	wait_event_lock_irq(f->idle, !f->users, f->lock);
	spin_unlock_irq(&f->lock);
}
