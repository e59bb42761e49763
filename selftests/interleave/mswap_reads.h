/* SPDX-License-Identifier: GPL-2.0-only */
/* What the checks of steady readers share. */
#ifndef INTERLEAVE_MSWAP_READS_H
#define INTERLEAVE_MSWAP_READS_H

#include "mswap_scenes.h"

#define READERS_MAX	8
/* Each goes through so many granules, one after the other. */
#define GRANULES	5
#define READER_PAGES	(GRANULES * GRANULE_SLOTS)

/* So many does the swap core's read-ahead ask for. */
#define ASKED_PAGES	8

struct readers {
	u32 n;
	u32 apart;				/* granules */
	u32 virt[READERS_MAX][READER_PAGES];	/* which virtual slots lie there */
};

/* A program's pages go out, so many at a time. */
struct eviction {
	u64 owner;
	u32 batch;
	u32 (*next)(u32 virt);			/* the slot of the page after that; NULL: the next one */
	u64 (*page_of)(u32 virt);
};

struct reads_counts {
	u64 reads;
	u64 pages;
	u64 wasted;
};

/* A device for @n readers, to be freed, whose pages are to begin @apart granules from each other. */
struct readers *reads_start(u32 n, u32 apart, u32 waiting_pages);
/* Writes their pages, where they are to go through them, and notes which lie where. */
void reads_write(struct readers *rd);
/* The same slots one granule at a time. */
void reads_write_granules(u32 from, u32 to);
/* From the page that goes to @virt on, up to that of the slot @to. */
void reads_evict(u32 virt, u32 to, const struct eviction *e);
/* How often does such a page not go on with the run of the one before, in the next slot? */
u32 reads_breaks(u32 virt, u32 to, const struct eviction *e);
struct reads_counts reads_now(void);
/* Returns how many I/Os it took. */
u64 reads_one(u32 virt);
/* Reads the pages of a part as fast as they can be asked for: MADV_WILLNEED. */
void reads_burst(u32 first, u32 n);
const char *reads_way(bool down);
/* How large first windows are, of a run and with strangers. */
void reads_set_windows(u32 run, u32 strangers);

/* Each a check of its own: mswap_reads_beside.c, ... */
void reads_beside_random(void);
void reads_after_random(void);
void reads_parted(void);
void reads_held(void);
/* ... mswap_reads_late.c, */
void reads_late(void);
void reads_begun(void);
void reads_across(void);
void reads_by_bios(void);
void reads_beyond(void);
void reads_copied(void);
void reads_in_pairs(void);
/* ... and mswap_reads_down.c. */
void reads_mirrored(void);
void reads_on_credit(void);
void reads_unpaid(void);
void reads_cut_by_granules(void);
void reads_cut_by_runs(void);
void reads_over_borders(void);
void reads_scattered(void);
void reads_turned(void);
void reads_blocks(void);
void reads_eights(void);

#endif
