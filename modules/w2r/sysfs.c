// SPDX-License-Identifier: GPL-2.0-only
#define DM_MSG_PREFIX "w2r"

#include <linux/kernel.h>
#include <linux/sysfs.h>

#include "control.h"
#include "readahead.h"
#include "sysfs.h"

static struct w2r *to_w2r(struct kobject *kobj)
{
	return container_of(kobj, struct w2r, kobj);
}

/* --- options of the table; some may be changed --- */

struct option_file {
	struct kobj_attribute attr;
	enum table_option option;
};

static ssize_t option_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	struct option_file *f = container_of(attr, struct option_file, attr);
	struct w2r *c = to_w2r(kobj);
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

static ssize_t option_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	struct option_file *f = container_of(attr, struct option_file, attr);
	struct w2r *c = to_w2r(kobj);
	const char *wrong = NULL;
	char text[16];

	if (strscpy(text, buf, sizeof(text)) < 0)
		text[0] = '\0';
	spin_lock_irq(&c->lock);
	wrong = table_set(&c->table, f->option, strim(text));
	if (!wrong && f->option == TABLE_PLANNER)
		planner_init(c->planner, c->table.planner);
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
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	struct w2r *c = to_w2r(kobj);					\
	struct w2r_snapshot s;						\
									\
	w2r_snapshot(c, &s);						\
	return sysfs_emit(buf, "%llu\n", (u64)(_value));		\
}									\
static struct kobj_attribute value_##_name = __ATTR_RO(_name)

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
	      (u64)c->nr_entries * sizeof(*c->slots));
VALUE(latency_ns, s.latency);
VALUE(prefetch_cost_ns, s.cost);
VALUE(lookahead_active, s.lookahead_on);

static ssize_t planner_active_show(struct kobject *kobj,
				   struct kobj_attribute *attr, char *buf)
{
	char planners[TABLE_PLANNERS_TEXT];
	struct w2r_snapshot s;

	w2r_snapshot(to_w2r(kobj), &s);
	return sysfs_emit(buf, "%s\n", table_planners(s.acting, planners));
}
static struct kobj_attribute value_planner_active = __ATTR_RO(planner_active);

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

static void w2r_kobj_release(struct kobject *kobj)
{
	complete(&to_w2r(kobj)->kobj_gone);
}

static const struct kobj_type w2r_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = w2r_kobj_release,
	.default_groups = w2r_groups,
};

int w2r_sysfs_add(struct w2r *c)
{
	struct gendisk *disk = dm_disk(dm_table_get_md(c->ti->table));
	struct kobject *parent = &disk_to_dev(disk)->kobj;
	int err;

	init_completion(&c->kobj_gone);
	memset(&c->kobj, 0, sizeof(c->kobj));
	compat_kobject_init(&c->kobj, &w2r_ktype);
	/* A table may have several targets of ours. */
	if (c->ti->begin)
		err = kobject_add(&c->kobj, parent, "w2r-%llu",
				  (u64)c->ti->begin);
	else
		err = kobject_add(&c->kobj, parent, "w2r");
	c->kobj_there = true;
	if (err)
		w2r_sysfs_remove(c);
	return err;
}

void w2r_sysfs_remove(struct w2r *c)
{
	if (!c->kobj_there)
		return;
	c->kobj_there = false;
	kobject_put(&c->kobj);
	wait_for_completion(&c->kobj_gone);
}
