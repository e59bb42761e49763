/* SPDX-License-Identifier: GPL-2.0-only */
/* A few steps of one who has the device for himself, and what each must bring about. */
#ifndef INTERLEAVE_MSWAP_SCENES_H
#define INTERLEAVE_MSWAP_SCENES_H

#include "mswap.h"

#define SCENE_SLOTS	2560
#define SCENE_PHYS	4096
#define A_SECOND	1000000000ull

extern void (*const scenes_failed[])(void);
extern const u32 nr_scenes_failed;

u64 scene_stat(enum mswap_stat what);
/* Where @slot lies on the disk. */
u32 scene_phys(u32 slot);
/* From now on a physical slot has a bad sector, for @flag. */
void scene_spoil(u32 phys, u8 flag);
/* These wait; the first for the write itself, ... */
void scene_write(u32 slot, u32 n);
void scene_read(u32 slot);
/* ... and this one, as who evicts does, until copies are held: they wait for company. */
void scene_swap_out(u32 slot, u32 n);

/* Nobody gets any slot, ... */
void scene_take_all(struct space *s);
/* ... or none of the engine's but for @n from @first on. */
void scene_leave_slots(u32 first, u32 n);

/* Each a scene: mswap_scenes_large.c. */
void folios_share_a_write(void);
void small_wait_beside_large(void);
void plugs_fill_a_write(void);
void sectors_of_large_devices(void);

/* mswap_scenes_wait.c */
void bios_wait_for_less(void);
void copies_go_when_no_more_come(void);
void copies_go_in_the_end(void);
void copies_are_left_of_a_plug(void);
void bios_without_plug_go(void);
void who_waits_is_not_copied(void);
void who_leads_is_waited_for(void);

/* mswap_scenes_passed.c */
void passed_slot_is_not_joined(void);
void retried_read_is_of_all_that_is_wanted(void);
void frames_run_out_as_a_room_shrinks(void);
void joins_are_bounded(void);
void copied_page_is_not_joined(void);
void frames_are_shared(void);

/* mswap_scenes_short.c */
void room_stays_as_it_was(void);
void writes_need_no_memory(void);
void large_bio_needs_no_memory(void);
void copies_have_one_taker(void);
void stores_leave_a_reserve(void);

#endif
