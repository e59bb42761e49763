// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "slot_map.h"

int slot_map_init(struct slot_map *m, u32 nr_virt, u32 nr_phys)
{
	size_t granules = DIV_ROUND_UP((size_t)nr_phys, GRANULE_SLOTS);

	m->nr_virt = nr_virt;
	m->nr_phys = nr_phys;
	/* All three words for each granule would be more than 4.5 bytes a slot. */
	m->nr_groups = granule_nr_groups(granules);
	/* kvcalloc() refuses more than 2 GiB, which is 2 TiB of slots. */
	m->map = vzalloc(array_size(nr_virt, sizeof(*m->map)));
	m->live = kvcalloc(granules, sizeof(*m->live), GFP_KERNEL);
	m->cont = kvcalloc(granules, sizeof(*m->cont), GFP_KERNEL);
	m->group = kvcalloc(m->nr_groups, sizeof(*m->group), GFP_KERNEL);
	if (m->map && m->live && m->cont && m->group)
		return 0;
	slot_map_exit(m);
	return -ENOMEM;
}

int slot_map_resize(struct slot_map *m, u32 nr_virt)
{
	u32 *map = vzalloc(array_size(nr_virt, sizeof(*map)));

	if (!map)
		return -ENOMEM;
	vfree(m->map);
	m->map = map;
	WRITE_ONCE(m->nr_virt, nr_virt);
	return 0;
}

void slot_map_exit(struct slot_map *m)
{
	kvfree(m->group);
	kvfree(m->cont);
	kvfree(m->live);
	vfree(m->map);
	memset(m, 0, sizeof(*m));
}

size_t slot_map_bytes(const struct slot_map *m)
{
	size_t granules = DIV_ROUND_UP((size_t)m->nr_phys, GRANULE_SLOTS);

	return READ_ONCE(m->nr_virt) * sizeof(*m->map) +
	       m->nr_groups * sizeof(*m->group) +
	       granules * (sizeof(*m->live) + sizeof(*m->cont));
}
