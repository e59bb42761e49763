// SPDX-License-Identifier: GPL-2.0-only
/* Has the plugin of the emulator write down how many instructions were executed until now; without it, does nothing. */
#include "../plugin/mark.h"

int main(void)
{
	__asm__ volatile(MARK_ASM);
	return 0;
}
