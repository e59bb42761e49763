/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What device-mapper targets need of the kernel that differs between kernels:
 * shrinkers, what reclaim counts, what is measured, kobjects, a disk's read-ahead,
 * whether it wants stable pages, and bios that others wait for.
 */
#ifndef MUSTER_COMPAT_DM_H
#define MUSTER_COMPAT_DM_H

#include <linux/backing-dev.h>
#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/kobject.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/swap.h>

/*
 * Something that gives memory back when the kernel is short of it: @count says
 * how many objects could be freed, @scan frees up to so many and says how many;
 * both get @ctx, in any context that reclaims memory.
 */
struct compat_shrinker {
#ifdef COMPAT_HAVE_SHRINKER_ALLOC
	struct shrinker *shrinker;
#else
	struct shrinker shrinker;
#endif
	unsigned long (*count)(void *ctx);
	unsigned long (*scan)(void *ctx, unsigned long nr);
	void *ctx;
};

static inline struct compat_shrinker *
compat_shrinker_of(struct shrinker *shrinker)
{
#ifdef COMPAT_HAVE_SHRINKER_ALLOC
	return shrinker->private_data;
#else
	return container_of(shrinker, struct compat_shrinker, shrinker);
#endif
}

static inline unsigned long
compat_shrinker_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct compat_shrinker *s = compat_shrinker_of(shrinker);

	return s->count(s->ctx);
}

static inline unsigned long
compat_shrinker_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct compat_shrinker *s = compat_shrinker_of(shrinker);
	unsigned long freed = s->scan(s->ctx, sc->nr_to_scan);

	return freed ? freed : SHRINK_STOP;
}

/* @s has its functions and ctx set. Process context, may sleep. -ENOMEM. */
#ifdef COMPAT_HAVE_SHRINKER_ALLOC
static inline int compat_shrinker_register(struct compat_shrinker *s,
					   const char *name)
{
	s->shrinker = shrinker_alloc(0, "%s", name);
	if (!s->shrinker)
		return -ENOMEM;
	s->shrinker->count_objects = compat_shrinker_count;
	s->shrinker->scan_objects = compat_shrinker_scan;
	s->shrinker->private_data = s;
	shrinker_register(s->shrinker);
	return 0;
}

static inline void compat_shrinker_unregister(struct compat_shrinker *s)
{
	shrinker_free(s->shrinker);
}
#else
static inline int compat_shrinker_register(struct compat_shrinker *s,
					   const char *name)
{
	s->shrinker.count_objects = compat_shrinker_count;
	s->shrinker.scan_objects = compat_shrinker_scan;
	s->shrinker.seeks = DEFAULT_SEEKS;
#ifdef COMPAT_HAVE_SHRINKER_NAMED
	return register_shrinker(&s->shrinker, "%s", name);
#else
	return register_shrinker(&s->shrinker);
#endif
}

static inline void compat_shrinker_unregister(struct compat_shrinker *s)
{
	unregister_shrinker(&s->shrinker);
}
#endif

/* So many pages were freed; tells the reclaim that runs in this task, if one does. */
#ifndef COMPAT_HAVE_ACCOUNT_RECLAIMED
static inline void mm_account_reclaimed_pages(unsigned long pages)
{
	if (current->reclaim_state)
		current->reclaim_state->reclaimed_slab += pages;
}
#endif

/* Begins what is measured of a target; older kernels never ask for that. */
#ifndef DMEMIT_TARGET_NAME_VERSION
#define DMEMIT_TARGET_NAME_VERSION(type)				\
	DMEMIT("target_name=%s", (type)->name)
#endif

/* Old kernels want a type that is not const, and leave it as it is. */
static inline void compat_kobject_init(struct kobject *kobj,
				       const struct kobj_type *type)
{
	kobject_init(kobj, (struct kobj_type *)type);
}

/*
 * For a target's ->io_hints: its pages are to be stable if those of @bdev are. Where
 * that is a feature, dm takes over the feature alone, which a disk with checksums does
 * not have; before, it asks each device.
 */
static inline void compat_dm_stable_writes(struct queue_limits *limits,
					   struct block_device *bdev)
{
#ifdef COMPAT_HAVE_BLK_FEATURES
	if (bdev_stable_writes(bdev))
		limits->features |= BLK_FEAT_STABLE_WRITES;
#endif
}

/*
 * For a target's ->map: sends a bio of its own that bios of others wait for. Up to 5.18
 * dm takes a bio to split by after ->map, from a pool of two, while what was sent in
 * there waits for it to return; those two may be held by who waits for @bio, and there
 * may be no memory. So it goes at once there, as the first bio of a task does.
 */
static inline void compat_dm_submit(struct bio *bio)
{
#ifdef COMPAT_HAVE_DISK_OPENERS
	submit_bio_noacct(bio);
#else
	struct bio_list *list = current->bio_list;

	current->bio_list = NULL;
	submit_bio_noacct(bio);
	current->bio_list = list;
#endif
}

/* Where the read-ahead of @disk's page cache is kept, in pages. */
static inline unsigned long *compat_disk_ra_pages(struct gendisk *disk)
{
#ifdef COMPAT_HAVE_DISK_BDI
	return &disk->bdi->ra_pages;
#else
	return &disk->queue->backing_dev_info->ra_pages;
#endif
}

#endif
