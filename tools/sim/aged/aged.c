// SPDX-License-Identifier: GPL-2.0-only
/*
 * aged: slots a write and a read, by how much is in use and how often a tenth of that was given back and taken again;
 * for one writer, and for two at once.
 */
#include <stdio.h>

#include "aged.h"

static bool print_line(u32 full, bool both)
{
	static const u32 times[] = { 1, 2, 6, 12 };
	struct aged_found found;

	printf("%u %%", full);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (!aged_run(&found, full, times[i], both))
			return false;
		printf("   %2u times: %.2f, %5.2f", times[i], found.write, found.read);
	}
	printf("\n");
	return true;
}

int main(void)
{
	for (int both = 0; both < 2; both++) {
		printf("%s\n", both ? "two writers" : "one writer");
		for (u32 full = 50; full <= 95; full += 5)
			if (!print_line(full, both)) {
				perror("aged");
				return 1;
			}
	}
	return 0;
}
