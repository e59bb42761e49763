// SPDX-License-Identifier: GPL-2.0-only
/* How full writes are: of large folios, small pages beside them, plugs that do not fit together; and large devices. */
#include "mswap_scenes.h"
#include "slot_bio.h"

#define HALF_WRITE	(MSWAP_CLUSTER_PAGES_DEFAULT / 2)

/* One plug, whose bios are of @n pages each, one after the other. */
static void evict_bios(u32 slot, const u32 *n, u32 nr)
{
	struct blk_plug plug;
	struct io_group g;
	u32 i;

	io_group_begin(&g);
	blk_start_plug(&plug);
	for (i = 0; i < nr; slot += n[i++])
		io_swap_out(&g, slot, n[i], 0);
	blk_finish_plug(&plug);
	io_group_end(&g);
}

/* Those of several plugs go together, as small pages do. */
void folios_share_a_write(void)
{
	u32 n = 17 + sim_below(HALF_WRITE - 16), i;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	for (i = 0; i < 2; i++)
		evict_bios(i * n, &n, 1);
	check_at_rest();
	if (scene_stat(MSWAP_DEV_WRITES) != 1)
		sim_fail("two folios of %u pages went in %llu writes", n,
			 scene_stat(MSWAP_DEV_WRITES));
}

/* What is by itself as large as a write leaves the small pages of its plug to those of another. */
void small_wait_beside_large(void)
{
	const u32 n[] = { 8, MSWAP_CLUSTER_PAGES_DEFAULT, 1 }, few = 8;
	u32 slot = 0, i;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	evict_bios(slot, n, ARRAY_SIZE(n));
	for (i = 0; i < ARRAY_SIZE(n); i++)
		slot += n[i];
	evict_bios(slot, &few, 1);
	check_at_rest();
	if (scene_stat(MSWAP_DEV_WRITES) != 2)
		sim_fail("a large folio and small pages of two plugs went in %llu writes",
			 scene_stat(MSWAP_DEV_WRITES));
}

#define ODD_WRITE	30

/* What waits takes as much of a plug as makes it full. */
void plugs_fill_a_write(void)
{
	const u32 n = 8;
	u32 i;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	rig.engine->knobs.cluster_pages = ODD_WRITE;
	for (i = 0; i < 4; i++)
		evict_bios(i * n, &n, 1);
	check_at_rest();
	if (mswap_hist_sum(rig.engine->stats, ODD_WRITE) != 1)
		sim_fail("four plugs of %u pages went in %llu writes, and none of %u", n,
			 scene_stat(MSWAP_DEV_WRITES), ODD_WRITE);
}

/* Sectors do not fit in 32 bits from 2 TiB on, bytes from 4 GiB on. */
void sectors_of_large_devices(void)
{
	static const u32 slots[] = {
		0, 1u << 20, (1u << 29) - BACKING_FIRST_EDGE, 1u << 29, 1u << 31, BACKING_SLOTS_MAX - 1,
	};
	struct bio bio = { };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		backing_aim(&bio, slots[i]);
		SIM_CHECK(bio.bi_iter.bi_sector == (slots[i] + 1280ull) * PAGE_SECTORS);
		bio.bi_iter.bi_sector = (u64)slots[i] * PAGE_SECTORS;
		SIM_CHECK(slot_bio_virt(bio.bi_iter) == slots[i]);
	}
}
