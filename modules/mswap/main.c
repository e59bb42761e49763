// SPDX-License-Identifier: GPL-2.0-only
/* Module life and the class that adds and removes devices. */
#define pr_fmt(fmt) "mswap: " fmt

#include <linux/device.h>
#include <linux/idr.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/suspend.h>

#include "compat/class.h"
#include "device.h"

static unsigned int num_devices;
static int mswap_major;
static DEFINE_IDR(mswap_idr);
static DEFINE_MUTEX(mswap_idr_lock);

static int mswap_add(void)
{
	struct mswap_device *dev;
	int id;

	lockdep_assert_held(&mswap_idr_lock);
	id = idr_alloc(&mswap_idr, NULL, 0, MSWAP_DEVICES_MAX, GFP_KERNEL);
	if (id < 0) {
		pr_err_ratelimited("hot_add refused: no device number is to be had (error %d)\n",
				   id);
		return id;
	}
	dev = mswap_device_create(id, mswap_major);
	if (IS_ERR(dev)) {
		idr_remove(&mswap_idr, id);
		pr_err_ratelimited("hot_add: cannot make device %d (error %ld)\n",
				   id, PTR_ERR(dev));
		return PTR_ERR(dev);
	}
	idr_replace(&mswap_idr, dev, id);
	return id;
}

static int mswap_remove(int id)
{
	struct mswap_device *dev;
	int err;

	lockdep_assert_held(&mswap_idr_lock);
	dev = idr_find(&mswap_idr, id);
	if (!dev) {
		pr_err_ratelimited("hot_remove refused: there is no device %d\n",
				   id);
		return -ENODEV;
	}
	err = mswap_device_destroy(dev);
	if (!err)
		idr_remove(&mswap_idr, id);
	return err;
}

struct mswap_device *mswap_device_lend(int id)
{
	struct mswap_device *dev;
	int err = -ENODEV;

	mutex_lock(&mswap_idr_lock);
	dev = id < 0 ? NULL : idr_find(&mswap_idr, id);
	if (dev)
		err = mswap_device_claim_ready(dev);
	mutex_unlock(&mswap_idr_lock);
	return err ? ERR_PTR(err) : dev;
}

static ssize_t add_show(char *buf)
{
	int id;

	mutex_lock(&mswap_idr_lock);
	id = mswap_add();
	mutex_unlock(&mswap_idr_lock);
	return id < 0 ? id : sysfs_emit(buf, "%d\n", id);
}
COMPAT_CLASS_SHOW(hot_add_show, add_show)

static ssize_t remove_store(const char *buf, size_t count)
{
	unsigned int id;
	int err;

	if (!mswap_is_value(buf, count) || kstrtouint(buf, 10, &id) ||
	    id > INT_MAX) {
		pr_err_ratelimited("hot_remove refused: not a device number\n");
		return -EINVAL;
	}
	mutex_lock(&mswap_idr_lock);
	err = mswap_remove(id);
	mutex_unlock(&mswap_idr_lock);
	return err ? err : count;
}
COMPAT_CLASS_STORE(hot_remove_store, remove_store)

/* Reading makes a device, so only root may read. */
static struct class_attribute class_attr_hot_add =
	__ATTR(hot_add, 0400, hot_add_show, NULL);
static CLASS_ATTR_WO(hot_remove);

static struct attribute *mswap_class_attrs[] = {
	&class_attr_hot_add.attr,
	&class_attr_hot_remove.attr,
	NULL,
};
ATTRIBUTE_GROUPS(mswap_class);

static struct class mswap_class = {
	.name = "mswap-control",
	.class_groups = mswap_class_groups,
};

/* An image may know of what lay where ours has been written since. */
static int mswap_restore(void)
{
	struct mswap_device *dev;
	int id, err = 0;

	mutex_lock(&mswap_idr_lock);
	idr_for_each_entry(&mswap_idr, dev, id) {
		if (!mswap_device_is_ready(dev))
			continue;
		pr_err_ratelimited("%s: return from hibernation refused: this device has been set up since\n",
				   dev->name);
		err = -EBUSY;
	}
	mutex_unlock(&mswap_idr_lock);
	return err;
}

static int mswap_pm_notify(struct notifier_block *nb, unsigned long event,
			   void *unused)
{
	switch (event) {
	case PM_HIBERNATION_PREPARE:
		mswap_devices_shut(true);
		break;
	case PM_POST_HIBERNATION:
		mswap_devices_shut(false);
		break;
	case PM_RESTORE_PREPARE:
		return notifier_from_errno(mswap_restore());
	}
	return NOTIFY_DONE;
}

static struct notifier_block mswap_pm_notifier = {
	.notifier_call = mswap_pm_notify,
};

/* Nothing is open: an open device holds the module. */
static void mswap_remove_all(void)
{
	struct mswap_device *dev;
	int id;

	mutex_lock(&mswap_idr_lock);
	idr_for_each_entry(&mswap_idr, dev, id)
		WARN_ON_ONCE(mswap_remove(id));
	mutex_unlock(&mswap_idr_lock);
	idr_destroy(&mswap_idr);
}

/*
 * Those that were made stay: somebody may have opened one already, and a module
 * that fails to load goes even so.
 */
static void mswap_add_initial(void)
{
	unsigned int i;
	int id = 0;

	mutex_lock(&mswap_idr_lock);
	for (i = 0; i < num_devices && id >= 0; i++)
		id = mswap_add();
	mutex_unlock(&mswap_idr_lock);
	if (id < 0)
		pr_err("only %u of %u devices were made (error %d)\n", i - 1,
		       num_devices, id);
}

static int __init mswap_init(void)
{
	int err;

	if (num_devices > MSWAP_DEVICES_MAX) {
		pr_err("num_devices %u is more than %u\n", num_devices,
		       MSWAP_DEVICES_MAX);
		return -EINVAL;
	}
	err = pagein_module_init();
	if (err)
		return err;
	mswap_major = register_blkdev(0, "mswap");
	if (mswap_major < 0) {
		err = mswap_major;
		goto err_pagein;
	}
	err = register_pm_notifier(&mswap_pm_notifier);
	if (err)
		goto err_blkdev;
	err = class_register(&mswap_class);
	if (err)
		goto err_notifier;
	mswap_add_initial();
	return 0;

err_notifier:
	unregister_pm_notifier(&mswap_pm_notifier);
err_blkdev:
	unregister_blkdev(mswap_major, "mswap");
err_pagein:
	pagein_module_exit();
	return err;
}

/*
 * A task that has ended the last I/O, or plug, may have been preempted on its way
 * out of our text.
 */
static void __exit mswap_exit(void)
{
	class_unregister(&mswap_class);
	mswap_remove_all();
	unregister_pm_notifier(&mswap_pm_notifier);
	unregister_blkdev(mswap_major, "mswap");
	synchronize_rcu_tasks();
	pagein_module_exit();
}

module_init(mswap_init);
module_exit(mswap_exit);

module_param(num_devices, uint, 0444);
MODULE_PARM_DESC(num_devices, "Devices made at load (0-64, default 0)");
MODULE_DESCRIPTION("Swap device that writes many objects in one I/O and reads a run back in one");
MODULE_AUTHOR("The Muster developers");
MODULE_LICENSE("GPL");
