// SPDX-License-Identifier: GPL-2.0-only
/* Control files; docs/sysfs.md is their manual. */
#define pr_fmt(fmt) "mswap: " fmt

#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "device.h"

static struct mswap_device *to_mswap(struct device *d)
{
	return dev_to_disk(d)->private_data;
}

static int refuse(struct mswap_device *dev, const char *file, const char *why)
{
	pr_err_ratelimited("%s: %s refused: %s\n", dev->name, file, why);
	return -EINVAL;
}

/*
 * Who reads takes no lock: who writes holds it as long as the device takes that he opens, or
 * that has I/O under way.
 */

/* --- life cycle --- */

static ssize_t backing_dev_show(struct device *d, struct device_attribute *attr,
				char *buf)
{
	struct engine *e = &to_mswap(d)->engine;
	ssize_t len;

	rcu_read_lock();
	len = sysfs_emit(buf, "%s\n", engine_is_ready(e) ? e->backing.path : "none");
	rcu_read_unlock();
	return len;
}

static ssize_t backing_dev_store(struct device *d,
				 struct device_attribute *attr,
				 const char *buf, size_t count)
{
	struct mswap_device *dev = to_mswap(d);
	char *path;
	int err;

	path = kstrndup(buf, count, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	if (!mswap_is_value(buf, count))
		*path = '\0';
	mutex_lock(&dev->lock);
	if (*strim(path))
		err = mswap_device_start(dev, strim(path));
	else
		err = refuse(dev, "backing_dev", "no path given");
	mutex_unlock(&dev->lock);
	kfree(path);
	return err ? err : count;
}

/* A number of bytes with an optional suffix; overflow is an error here. */
static int parse_bytes(const char *buf, u64 *bytes)
{
	static const char suffixes[] = "KMGT";
	char text[24];
	const char *s;
	u32 shift = 0;
	size_t len;
	char *t;

	if (strscpy(text, buf, sizeof(text)) < 0)
		return -EINVAL;
	t = strim(text);
	len = strlen(t);
	s = len ? strchr(suffixes, toupper(t[len - 1])) : NULL;
	if (s && *s) {
		shift = 10 * (s - suffixes + 1);
		t[len - 1] = '\0';
	}
	if (!isdigit(*t) || kstrtou64(t, 10, bytes) || *bytes > U64_MAX >> shift)
		return -EINVAL;
	*bytes <<= shift;
	return 0;
}

static ssize_t disksize_show(struct device *d, struct device_attribute *attr,
			     char *buf)
{
	struct mswap_device *dev = to_mswap(d);
	struct engine *e = &dev->engine;
	u64 bytes;

	rcu_read_lock();
	bytes = engine_is_ready(e) ? (u64)READ_ONCE(e->map.nr_virt) << PAGE_SHIFT :
				     READ_ONCE(dev->disksize);
	rcu_read_unlock();
	return sysfs_emit(buf, "%llu\n", bytes);
}

static ssize_t disksize_store(struct device *d, struct device_attribute *attr,
			      const char *buf, size_t count)
{
	struct mswap_device *dev = to_mswap(d);
	u64 bytes;
	int err;

	if (!mswap_is_value(buf, count) || parse_bytes(buf, &bytes))
		return refuse(dev, "disksize", "not a number of bytes");
	mutex_lock(&dev->lock);
	err = mswap_device_set_size(dev, bytes);
	mutex_unlock(&dev->lock);
	return err ? err : count;
}

static ssize_t reset_store(struct device *d, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	struct mswap_device *dev = to_mswap(d);
	unsigned int one;
	int err;

	if (!mswap_is_value(buf, count) || kstrtouint(buf, 10, &one) || one != 1)
		return refuse(dev, "reset", "write 1");
	mutex_lock(&dev->lock);
	err = mswap_device_reset(dev);
	mutex_unlock(&dev->lock);
	return err ? err : count;
}

static ssize_t initstate_show(struct device *d, struct device_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(to_mswap(d)->engine.started));
}

static DEVICE_ATTR_RW(backing_dev);
static DEVICE_ATTR_RW(disksize);
static DEVICE_ATTR_WO(reset);
static DEVICE_ATTR_RO(initstate);

/* --- knobs --- */

static const char *const policy_names[] = {
	[CLUSTER_MOC] = "moc",
	[CLUSTER_OBJECT] = "object",
	[CLUSTER_PAGE] = "page",
};

static const char *const readahead_names[] = {
	[MSWAP_READAHEAD_AUTO] = "auto",
	[MSWAP_READAHEAD_ON] = "on",
	[MSWAP_READAHEAD_OFF] = "off",
};

/* A knob is a number min..max, or one of names[0..max]. */
struct knob {
	struct device_attribute attr;
	size_t offset;
	u32 min;
	u32 max;
	const char *const *names;
	int (*set)(struct engine *e, u32 value);
};

static struct knob *to_knob(struct device_attribute *attr)
{
	return container_of(attr, struct knob, attr);
}

static u32 *knob_value(struct mswap_device *dev, const struct knob *k)
{
	return (void *)&dev->engine.knobs + k->offset;
}

static ssize_t knob_show(struct device *d, struct device_attribute *attr,
			 char *buf)
{
	struct knob *k = to_knob(attr);
	u32 value = READ_ONCE(*knob_value(to_mswap(d), k));

	if (k->names)
		return sysfs_emit(buf, "%s\n", k->names[value]);
	return sysfs_emit(buf, "%u\n", value);
}

static int knob_parse(const struct knob *k, const char *buf, u32 *value)
{
	int i;

	if (k->names) {
		i = __sysfs_match_string(k->names, k->max + 1, buf);
		if (i < 0)
			return -EINVAL;
		*value = i;
		return 0;
	}
	if (kstrtou32(buf, 10, value) || *value < k->min || *value > k->max)
		return -EINVAL;
	return 0;
}

static void knob_refuse(struct mswap_device *dev, const struct knob *k)
{
	if (k->names)
		pr_err_ratelimited("%s: %s refused: it is %s, %s or %s\n",
				   dev->name, k->attr.attr.name, k->names[0],
				   k->names[1], k->names[2]);
	else
		pr_err_ratelimited("%s: %s refused: it is a number from %u to %u\n",
				   dev->name, k->attr.attr.name, k->min,
				   k->max);
}

static ssize_t knob_store(struct device *d, struct device_attribute *attr,
			  const char *buf, size_t count)
{
	struct mswap_device *dev = to_mswap(d);
	struct knob *k = to_knob(attr);
	int err = 0;
	u32 value;

	if (!mswap_is_value(buf, count) || knob_parse(k, buf, &value)) {
		knob_refuse(dev, k);
		return -EINVAL;
	}
	mutex_lock(&dev->lock);
	if (k->set)
		err = k->set(&dev->engine, value);
	else
		WRITE_ONCE(*knob_value(dev, k), value);
	mutex_unlock(&dev->lock);
	if (err)
		pr_err_ratelimited("%s: %s stays: no memory for %u (error %d)\n",
				   dev->name, k->attr.attr.name, value, err);
	return err ? err : count;
}

#define KNOB(_name, _min, _max, _names, _set)				\
static struct knob knob_##_name = {					\
	.attr = __ATTR(_name, 0644, knob_show, knob_store),		\
	.offset = offsetof(struct mswap_knobs, _name),			\
	.min = _min,							\
	.max = _max,							\
	.names = _names,						\
	.set = _set,							\
}

KNOB(policy, 0, ARRAY_SIZE(policy_names) - 1, policy_names, NULL);
KNOB(readahead, 0, ARRAY_SIZE(readahead_names) - 1, readahead_names, NULL);
KNOB(cluster_pages, 1, CLUSTER_PAGES_MAX, NULL, NULL);
KNOB(batch_usecs, 0, MSWAP_BATCH_USECS_MAX, NULL, NULL);
KNOB(readahead_pages, 1, MSWAP_READAHEAD_PAGES_MAX, NULL, NULL);
KNOB(waiting_pages, MSWAP_WAITING_PAGES_MIN, MSWAP_WAITING_PAGES_MAX, NULL,
	engine_set_waiting_pages);

/* --- counters --- */

struct counter {
	struct device_attribute attr;
	enum mswap_stat what;
};

static ssize_t counter_show(struct device *d, struct device_attribute *attr,
			    char *buf)
{
	struct counter *c = container_of(attr, struct counter, attr);

	return sysfs_emit(buf, "%llu\n",
			  mswap_stat_sum(to_mswap(d)->engine.stats, c->what));
}

#define COUNTER(_name, _what)						\
static struct counter counter_##_name = {				\
	.attr = __ATTR(_name, 0444, counter_show, NULL),		\
	.what = _what,							\
}

COUNTER(pages_out, MSWAP_PAGES_OUT);
COUNTER(pages_out_copied, MSWAP_PAGES_OUT_COPIED);
COUNTER(pages_in, MSWAP_PAGES_IN);
COUNTER(pages_in_waiting, MSWAP_PAGES_IN_WAITING);
COUNTER(pages_in_copied, MSWAP_PAGES_IN_COPIED);
COUNTER(pages_in_zero, MSWAP_PAGES_IN_ZERO);
COUNTER(dev_writes, MSWAP_DEV_WRITES);
COUNTER(dev_pages_written, MSWAP_DEV_PAGES_WRITTEN);
COUNTER(dev_reads, MSWAP_DEV_READS);
COUNTER(dev_pages_read, MSWAP_DEV_PAGES_READ);
COUNTER(dev_pages_passed, MSWAP_DEV_PAGES_PASSED);
COUNTER(batches, MSWAP_BATCHES);
COUNTER(prefetched, MSWAP_PREFETCHED);
COUNTER(prefetch_used, MSWAP_PREFETCH_USED);
COUNTER(prefetch_wasted, MSWAP_PREFETCH_WASTED);
COUNTER(slot_frees, MSWAP_SLOT_FREES);
COUNTER(discards, MSWAP_DISCARDS);
COUNTER(write_errors, MSWAP_WRITE_ERRORS);
COUNTER(write_retries, MSWAP_WRITE_RETRIES);
COUNTER(read_errors, MSWAP_READ_ERRORS);
COUNTER(nospace, MSWAP_NOSPACE);
COUNTER(stores_refused, MSWAP_STORES_REFUSED);
COUNTER(deferred, MSWAP_DEFERRED);

static ssize_t cluster_hist_show(struct device *d,
				 struct device_attribute *attr, char *buf)
{
	struct mswap_stats __percpu *stats = to_mswap(d)->engine.stats;
	ssize_t len = 0;
	u32 pages;
	u64 n;

	for (pages = 1; pages <= CLUSTER_PAGES_MAX; pages++) {
		n = mswap_hist_sum(stats, pages);
		if (n)
			len += sysfs_emit_at(buf, len, "%u %llu\n", pages, n);
	}
	return len;
}
static DEVICE_ATTR_RO(cluster_hist);

/* --- gauges: what a ready device is made of; 0 while it is not ready --- */

struct gauge {
	struct device_attribute attr;
	u64 (*read)(struct engine *e);
};

static ssize_t gauge_show(struct device *d, struct device_attribute *attr,
			  char *buf)
{
	struct gauge *g = container_of(attr, struct gauge, attr);
	struct engine *e = &to_mswap(d)->engine;
	u64 value = 0;

	rcu_read_lock();
	if (engine_is_ready(e))
		value = g->read(e);
	rcu_read_unlock();
	return sysfs_emit(buf, "%llu\n", value);
}

#define GAUGE(_name, _value)						\
static u64 read_##_name(struct engine *e)				\
{									\
	return _value;							\
}									\
static struct gauge gauge_##_name = {					\
	.attr = __ATTR(_name, 0444, gauge_show, NULL),			\
	.read = read_##_name,						\
}

GAUGE(window, pagein_window(&e->pagein));
GAUGE(slots_total, e->space.nr_slots);
GAUGE(slots_used, space_nr_used(&e->space));
GAUGE(slots_reserved, e->space.nr_slots - READ_ONCE(e->map.nr_virt));
GAUGE(slots_retired, atomic_read(&e->space.retired));
GAUGE(footprint_bytes, engine_footprint(e));
GAUGE(copies_held, store_nr_held(&e->store));
GAUGE(waiting_bytes, (u64)pagein_waiting_frames(&e->pagein) << PAGE_SHIFT);

static struct attribute *mswap_attrs[] = {
	&dev_attr_backing_dev.attr,
	&dev_attr_disksize.attr,
	&dev_attr_reset.attr,
	&dev_attr_initstate.attr,
	&knob_policy.attr.attr,
	&knob_readahead.attr.attr,
	&knob_cluster_pages.attr.attr,
	&knob_batch_usecs.attr.attr,
	&knob_readahead_pages.attr.attr,
	&knob_waiting_pages.attr.attr,
	&counter_pages_out.attr.attr,
	&counter_pages_out_copied.attr.attr,
	&counter_pages_in.attr.attr,
	&counter_pages_in_waiting.attr.attr,
	&counter_pages_in_copied.attr.attr,
	&counter_pages_in_zero.attr.attr,
	&counter_dev_writes.attr.attr,
	&counter_dev_pages_written.attr.attr,
	&counter_dev_reads.attr.attr,
	&counter_dev_pages_read.attr.attr,
	&counter_dev_pages_passed.attr.attr,
	&counter_batches.attr.attr,
	&counter_prefetched.attr.attr,
	&counter_prefetch_used.attr.attr,
	&counter_prefetch_wasted.attr.attr,
	&counter_slot_frees.attr.attr,
	&counter_discards.attr.attr,
	&counter_write_errors.attr.attr,
	&counter_write_retries.attr.attr,
	&counter_read_errors.attr.attr,
	&counter_nospace.attr.attr,
	&counter_stores_refused.attr.attr,
	&counter_deferred.attr.attr,
	&dev_attr_cluster_hist.attr,
	&gauge_window.attr.attr,
	&gauge_slots_total.attr.attr,
	&gauge_slots_used.attr.attr,
	&gauge_slots_reserved.attr.attr,
	&gauge_slots_retired.attr.attr,
	&gauge_footprint_bytes.attr.attr,
	&gauge_copies_held.attr.attr,
	&gauge_waiting_bytes.attr.attr,
	NULL,
};

static const struct attribute_group mswap_attr_group = {
	.attrs = mswap_attrs,
};

const struct attribute_group *mswap_attr_groups[] = {
	&mswap_attr_group,
	NULL,
};
