// SPDX-License-Identifier: GPL-2.0-only
/*
 * aged: slots a write and a read, by how much is in use and how often a tenth of that was given back and taken again;
 * for one writer, and for two at once, in a shard of 1 GiB; at 80 % for one writer in shards of other sizes.
 */
#include <stdio.h>

#include "aged.h"

static bool print_line(u32 nr, u32 full, bool both)
{
	static const u32 times[] = { 1, 2, 6, 12 };
	struct aged_found found;

	printf("%5u MiB, %u %%", nr >> 8, full);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (!aged_run(&found, nr, full, times[i], both))
			return false;
		printf("   %2u times: %.2f, %5.2f", times[i], found.write, found.read);
	}
	printf("\n");
	return true;
}

static bool print_table(bool both)
{
	printf("%s\n", both ? "two writers" : "one writer");
	for (u32 full = 50; full <= 95; full += 5)
		if (!print_line(AGED_SLOTS, full, both))
			return false;
	return true;
}

static bool print_sizes(void)
{
	printf("shards of other sizes\n");
	for (u32 mib = 64; mib <= 16384; mib *= 4)
		if (!print_line(mib << 8, 80, false))
			return false;
	return true;
}

int main(void)
{
	if (print_table(false) && print_table(true) && print_sizes())
		return 0;
	perror("aged");
	return 1;
}
