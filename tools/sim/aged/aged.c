// SPDX-License-Identifier: GPL-2.0-only
/* aged: slots a write and a read, by how much is in use and how often a tenth of that was given back and taken again. */
#include <stdio.h>

#include "aged.h"

int main(void)
{
	static const u32 times[] = { 1, 2, 6, 12 };
	struct aged_found found;

	for (u32 full = 50; full <= 95; full += 5) {
		printf("%u %%", full);
		for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
			if (!aged_run(&found, full, times[i])) {
				perror("aged");
				return 1;
			}
			printf("   %2u times: %.2f, %5.2f", times[i], found.write, found.read);
		}
		printf("\n");
	}
	return 0;
}
