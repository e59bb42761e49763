// SPDX-License-Identifier: GPL-2.0-only
/* Prints the seconds since boot: /proc/uptime counts hundredths, which is more than some programs differ by. */
#include "page.h"

int main(void)
{
	printf("%.6f\n", seconds_now());
	return 0;
}
