// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps a CPU of the host from halting: spins when nobody else wants to run. For what has its threads wake each other
 * all the time, where it takes long to wake a CPU that halts, as in a virtual machine.
 */
#include <sched.h>

int main(void)
{
	const struct sched_param none = { 0 };

	if (sched_setscheduler(0, SCHED_IDLE, &none))
		return 1;
	for (;;)
		__builtin_ia32_pause();
}
