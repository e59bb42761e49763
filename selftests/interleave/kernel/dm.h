/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device-mapper: one mapped device whose table has one target. Bios are cut, cloned and
 * mapped as dm does it since Linux 5.18: the rest of one that was cut is sent anew.
 */
#ifndef INTERLEAVE_DM_H
#define INTERLEAVE_DM_H

#include <strings.h>

#include "block.h"
#include "work.h"

/* --- what targets see --- */

struct dm_target;
struct dm_dev;
struct mapped_device;

struct dm_dev {
	struct block_device *bdev;
	char name[16];
};

struct dm_table {
	struct mapped_device *md;
};

enum status_type {
	STATUSTYPE_INFO,
	STATUSTYPE_TABLE,
	STATUSTYPE_IMA,
};

#define status_type_t	enum status_type

typedef int (*iterate_devices_callout_fn)(struct dm_target *ti, struct dm_dev *dev,
					  sector_t start, sector_t len, void *data);

struct queue_limits;

struct target_type {
	const char *name;
	void *module;
	u32 version[3];
	int (*ctr)(struct dm_target *ti, unsigned int argc, char **argv);
	void (*dtr)(struct dm_target *ti);
	int (*map)(struct dm_target *ti, struct bio *bio);
	int (*end_io)(struct dm_target *ti, struct bio *bio, blk_status_t *error);
	void (*presuspend)(struct dm_target *ti);
	void (*presuspend_undo)(struct dm_target *ti);
	void (*postsuspend)(struct dm_target *ti);
	void (*resume)(struct dm_target *ti);
	void (*status)(struct dm_target *ti, status_type_t type, unsigned int flags,
		       char *result, unsigned int maxlen);
	int (*message)(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		       unsigned int maxlen);
	int (*iterate_devices)(struct dm_target *ti, iterate_devices_callout_fn fn, void *data);
	void (*io_hints)(struct dm_target *ti, struct queue_limits *limits);
};

struct dm_target {
	struct dm_table *table;
	const struct target_type *type;
	sector_t begin;
	sector_t len;
	void *private;
	char *error;
	u32 per_io_data_size;
	u32 num_flush_bios;
	u32 num_discard_bios;
	u32 num_secure_erase_bios;
	u32 num_write_zeroes_bios;
	u32 max_io_len;
};

#define DM_MAPIO_SUBMITTED	0
#define DM_MAPIO_REMAPPED	1
#define DM_ENDIO_DONE		0

#define DMERR(...)		((void)0)
#define DMERR_LIMIT(...)	((void)0)
#define DMEMIT(...) \
	(sz += sz >= maxlen ? 0 : snprintf(result + sz, maxlen - sz, __VA_ARGS__))

int dm_register_target(struct target_type *type);
void dm_unregister_target(struct target_type *type);
int dm_get_device(struct dm_target *ti, const char *path, fmode_t mode, struct dm_dev **dev);
void dm_put_device(struct dm_target *ti, struct dm_dev *dev);
#define dm_table_get_mode(table)	((void)(table), 0)
#define dm_table_get_md(table)		((table)->md)
#define dm_table_device_name(table)	((void)(table), "dm-0")
#define disk_devt(disk)			((void)(disk), (dev_t)0)
#define dm_target_offset(ti, sector)	((sector) - (ti)->begin)
struct gendisk *dm_disk(struct mapped_device *md);
int dm_set_target_max_io_len(struct dm_target *ti, sector_t len);

void *dm_per_bio_data(struct bio *bio, size_t bytes);
struct bio *dm_bio_from_per_bio_data(void *data, size_t bytes);
/* In ->map of a read or write: only the first @n sectors of @bio are taken. */
void dm_accept_partial_bio(struct bio *bio, u32 n);

int kstrtou64(const char *text, unsigned int base, u64 *value);

struct kobject {
	void *parent;
};

struct kobj_type {
	void *release;
};

static inline void kobject_init(struct kobject *kobj, const struct kobj_type *type)
{
}

/* --- the device, for the tests --- */

#define VM_READAHEAD_PAGES	32

struct mapped_device {
	struct block_device bdev;
	struct gendisk disk;
	struct backing_dev_info bdi;
	struct dm_table table;
	struct dm_target *ti;		/* of the table that I/O goes by; */
	struct dm_target *loaded;	/* of the one that takes its place at the next resume */
	struct dm_target targets[2];
	bool blocked;			/* what comes waits for resume */
	u32 submitters;
	u32 ios;			/* under way */
	u64 failed_reads;		/* since the table was loaded */
	wait_queue_head_t wait;
	struct bio_list deferred;
	struct work_struct work;	/* sends these */
	struct workqueue_struct *wq;
	u32 most;			/* sectors that a bio may have; else it is cut */
};

/* -ENOMEM. The device is suspended, and has no table. */
int sim_dm_make(struct mapped_device *md);
void sim_dm_free(struct mapped_device *md);
/*
 * A table of one target from sector @begin on, for the next resume: the error of its ->ctr.
 * The device may be in use by the table that it has.
 */
int sim_dm_load(struct mapped_device *md, u64 begin, u64 len, unsigned int argc, char **argv);
/* It is not wanted any more. */
void sim_dm_clear(struct mapped_device *md);
/* Takes both tables away. The device is suspended. */
void sim_dm_unload(struct mapped_device *md);
/* From one to the other nothing is under way. */
void sim_dm_suspend(struct mapped_device *md);
/* A signal comes before nothing is under way any more: all goes on. */
void sim_dm_suspend_in_vain(struct mapped_device *md);
/* With another table the block layer sets the read-ahead anew; the old one goes last. */
void sim_dm_resume(struct mapped_device *md);

#endif
