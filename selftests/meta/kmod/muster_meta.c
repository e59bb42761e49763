// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misbehaves on request, so that the tests of the harness have something real to notice:
 *	how=warn	a WARN when loaded
 *	how=busy	stays loaded: it takes a reference on itself
 *	how=hang	loading it takes longer than anybody waits, and no signal ends it
 *	how=freeze	stops every CPU for good
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/stop_machine.h>
#include <linux/string.h>

static char *how = "";
module_param(how, charp, 0444);
MODULE_PARM_DESC(how, "warn, busy, hang or freeze");

static int freeze(void *unused)
{
	for (;;)
		cpu_relax();
	return 0;
}

static int __init muster_meta_init(void)
{
	if (!strcmp(how, "warn"))
		WARN(1, "muster_meta was asked to warn\n");
	else if (!strcmp(how, "busy"))
		__module_get(THIS_MODULE);
	else if (!strcmp(how, "hang"))
		ssleep(3600);
	else if (!strcmp(how, "freeze"))
		return stop_machine(freeze, NULL, cpu_online_mask);
	return 0;
}

static void __exit muster_meta_exit(void)
{
}

module_init(muster_meta_init);
module_exit(muster_meta_exit);
MODULE_DESCRIPTION("Misbehaves on request, for the tests of muster's test harness");
MODULE_LICENSE("GPL");
