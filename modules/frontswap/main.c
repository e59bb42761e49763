// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frontswap frontend: pages that are evicted to any swap area go to the
 * engine of one mswap device first; what it refuses goes to the area.
 */
#define pr_fmt(fmt) "mswap-frontswap: " fmt

#include <linux/bitops.h>
#include <linux/blkdev.h>
#include <linux/frontswap.h>
#include <linux/fs.h>
#include <linux/huge_mm.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pagemap.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include "area.h"
#include "compat/bdev.h"
#include "lend.h"

#define DEVICE_NONE	(-1)

/* Read by those who store and load, written by who attaches and detaches. */
DEFINE_STATIC_PERCPU_RWSEM(attach_sem);
static struct engine *engine;	/* protected by attach_sem */
static int device = DEVICE_NONE; /* protected by attach_sem */
/*
 * While the module is being loaded, the number is only kept: nobody would give a
 * device back if loading failed. Both are protected by the parameters' lock.
 */
static int device_asked = DEVICE_NONE;
static bool loaded;
/* The areas that the log has said it of that they are synchronous. */
static DECLARE_BITMAP(told_synchronous, MAX_SWAPFILES);

/* An area comes into being with its first page. */
static void fswap_init(unsigned int type)
{
	clear_bit(type, told_synchronous);
}

/*
 * What lies on a synchronous device, as a ramdisk is one, the swap core reads past
 * the swap cache. Then two threads may load one page, and the later one may be so
 * late that it maps what the other has changed and stored at the same offset since.
 */
static bool fswap_is_synchronous(struct page *page)
{
	struct inode *inode = page_file_mapping(page)->host;
	struct block_device *bdev = S_ISBLK(inode->i_mode) ? I_BDEV(inode) :
							     inode->i_sb->s_bdev;

	return bdev && compat_bdev_synchronous(bdev);
}

static bool fswap_takes_area(unsigned int type, struct page *page)
{
	if (!fswap_is_synchronous(page))
		return true;
	if (!test_and_set_bit(type, told_synchronous))
		pr_warn("swap area %u keeps its pages: its device is synchronous, as a ramdisk is\n",
			type);
	return false;
}

/*
 * Frontswap keeps one bit for a huge page: it could not be loaded in parts. The
 * loss of a page that is not anonymous could not be told to all who share it.
 */
static bool fswap_takes(unsigned int type, struct page *page)
{
	return PageAnon(page) && !PageTransHuge(page) &&
	       fswap_takes_area(type, page);
}

static int fswap_store_page(unsigned int type, pgoff_t offset,
			    struct page *page)
{
	u32 slot;
	int err;

	if (!fswap_takes(type, page))
		return -EINVAL;
	slot = area_add(type, offset);
	if (slot == AREA_NONE)
		return -ENOSPC;
	err = mswap_lent_store(engine, slot, page);
	if (err) {
		mswap_lent_free(engine, slot);
		area_remove(type, offset);
	}
	return err;
}

static int fswap_store(unsigned int type, pgoff_t offset, struct page *page)
{
	int err = -ENODEV;

	percpu_down_read(&attach_sem);
	if (engine) {
		err = fswap_store_page(type, offset, page);
		if (err)
			mswap_lent_refused(engine);
	}
	percpu_up_read(&attach_sem);
	return err;
}

struct lost_page {
	struct work_struct work;
	struct page *page;
};

static void fswap_lost_work(struct work_struct *work)
{
	struct lost_page *l = container_of(work, struct lost_page, work);

	lock_page(l->page);
	if (PageSwapCache(l->page))
		ClearPageUptodate(l->page);
	unlock_page(l->page);
	put_page(l->page);
	kfree(l);
}

/*
 * After the load the kernel takes the page for up to date, and unlocks it. It is to
 * be as after a read that failed, since not all who find it in the swap cache look
 * at the mark of a bad one, and who moves it, as compaction does, leaves that behind.
 * Until then it is held, so that it is not moved.
 */
static void fswap_outdate(struct page *page)
{
	struct lost_page *l;

	if (!PageSwapCache(page))
		return;
	l = kmalloc(sizeof(*l), GFP_NOWAIT | __GFP_NOWARN);
	if (!l)
		return;
	INIT_WORK(&l->work, fswap_lost_work);
	get_page(page);
	l->page = page;
	schedule_work(&l->work);
}

/* SIGKILL does nothing to init: it is told as it would be behind a block device. */
static void fswap_end(struct task_struct *t)
{
	if (!is_global_init(t))
		send_sig(SIGKILL, t, 1);
	else if (t == current)
		force_sig(SIGBUS);
	else
		send_sig(SIGBUS, t, 1);
}

/*
 * Of a process whose memory is somebody else's too, as a child of vfork() has its
 * parent's, the other would go on with what it must not see.
 */
static void fswap_end_sharers(const struct mm_struct *mm)
{
	struct task_struct *p, *t;

	rcu_read_lock();
	for_each_process_thread(p, t)
		if (READ_ONCE(t->mm) == mm && !(t->flags & PF_KTHREAD))
			fswap_end(t);
	rcu_read_unlock();
}

/*
 * The page cannot be read. To fail the load would make the kernel read the
 * ordinary area, which holds something else, and after a load that succeeds it
 * maps the page. So whoever asks must not get to see it, and who shares it finds
 * it poisoned.
 */
static void fswap_lose(struct page *page)
{
	clear_highpage(page);
	SetPageHWPoison(page);
	fswap_outdate(page);
	if (!current->mm)
		return;
	/* A kernel thread may have borrowed somebody's memory, as vhost does. */
	if (current->flags & PF_KTHREAD)
		pr_err_ratelimited("whose memory %s uses is killed: a page of it cannot be read back\n",
				   current->comm);
	else
		pr_err_ratelimited("process %d (%s) is %s: a page of it cannot be read back\n",
				   task_pid_nr(current), current->comm,
				   is_global_init(current) ? "sent SIGBUS" :
							     "killed");
	fswap_end_sharers(current->mm);
}

static int fswap_load(unsigned int type, pgoff_t offset, struct page *page)
{
	int err = -ENOENT;
	u32 slot;

	percpu_down_read(&attach_sem);
	slot = engine ? area_find(type, offset) : AREA_NONE;
	if (slot != AREA_NONE) {
		err = 0;
		if (mswap_lent_load(engine, slot, page))
			fswap_lose(page);
	}
	percpu_up_read(&attach_sem);
	return err;
}

/* May be under a spinlock. The engine stays while anything is stored. */
static void fswap_invalidate_page(unsigned int type, pgoff_t offset)
{
	u32 slot = area_find(type, offset);

	if (slot == AREA_NONE)
		return;
	/* In this order: the slot may have a new owner once it is given back. */
	mswap_lent_free(engine, slot);
	area_remove(type, offset);
}

static void fswap_invalidate_area(unsigned int type)
{
	pgoff_t offset = 0;
	u32 slot;

	while ((slot = area_next(type, &offset)) != AREA_NONE) {
		mswap_lent_free(engine, slot);
		area_remove(type, offset++);
	}
}

static struct frontswap_ops fswap_ops = {
	.init = fswap_init,
	.store = fswap_store,
	.load = fswap_load,
	.invalidate_page = fswap_invalidate_page,
	.invalidate_area = fswap_invalidate_area,
};

static bool fswap_stores(void)
{
	u32 n = areas_nr_stored();

	if (n)
		pr_err_ratelimited("device stays mswap%d: it holds %u pages; swapoff gives them back\n",
				   device, n);
	return n;
}

/*
 * Puts @e (or none), with @ids, in the place of those that were. Whoever waits for
 * attach_sem makes all others wait, and a load holds it until the device answers:
 * that pages are stored is found out before, too.
 */
static int fswap_exchange(struct engine **e, unsigned long **ids, int id)
{
	int err = 0;

	if (fswap_stores())
		return -EBUSY;
	percpu_down_write(&attach_sem);
	if (fswap_stores()) {
		err = -EBUSY;
	} else {
		*ids = areas_reset(*ids, *e ? mswap_lent_slots(*e) : 0);
		swap(engine, *e);
		device = id;
	}
	percpu_up_write(&attach_sem);
	return err;
}

/*
 * Whoever allocates may be made to reclaim, and then stores: it would wait for
 * attach_sem. So all that allocates, or waits for one who does, is done without.
 */
static int fswap_change(int id)
{
	struct engine *e = NULL;
	unsigned long *ids = NULL;
	int err;

	if (id != DEVICE_NONE) {
		e = mswap_lend(id);
		if (IS_ERR(e)) {
			pr_err_ratelimited("device refused: mswap%d does not exist, is not ready, or is in use (error %ld)\n",
					   id, PTR_ERR(e));
			return PTR_ERR(e);
		}
		ids = areas_alloc(mswap_lent_slots(e));
	}
	err = e && !ids ? -ENOMEM : fswap_exchange(&e, &ids, id);
	kvfree(ids);
	if (e)
		mswap_give_back(e);
	return err;
}

/* The caller holds the lock of the module's parameters. */
static int fswap_set_device(const char *text, const struct kernel_param *kp)
{
	int id;

	if (kstrtoint(text, 10, &id) || id < DEVICE_NONE) {
		pr_err_ratelimited("device refused: it is the number of an mswap device, or %d for none\n",
				   DEVICE_NONE);
		return -EINVAL;
	}
	if (!loaded) {
		device_asked = id;
		return 0;
	}
	return id == device ? 0 : fswap_change(id);
}

static const struct kernel_param_ops fswap_device_ops = {
	.set = fswap_set_device,
	.get = param_get_int,
};

/*
 * A module is not asked whether it may be unloaded, so it cannot say why not.
 * But rmmod names those who hold it, which are the links in this directory.
 */
static void __init fswap_name_holder(void)
{
	int err = sysfs_create_link(THIS_MODULE->holders_dir,
				    &THIS_MODULE->mkobj.kobj,
				    "frontswap_keeps_its_backends");

	if (err)
		pr_warn("rmmod will not say who holds this module (error %d)\n",
			err);
}

static int __init fswap_attach_first(void)
{
	int err = 0;

	kernel_param_lock(THIS_MODULE);
	if (device_asked != DEVICE_NONE)
		err = fswap_change(device_asked);
	loaded = !err;
	kernel_param_unlock(THIS_MODULE);
	return err;
}

static int __init fswap_module_init(void)
{
	int err = fswap_attach_first();

	if (err)
		return err;
	frontswap_register_ops(&fswap_ops);
	/* Frontswap has no way to take a backend back. */
	__module_get(THIS_MODULE);
	fswap_name_holder();
	pr_info("registered with frontswap, which keeps its backends: this module stays until the machine is restarted\n");
	return 0;
}

module_init(fswap_module_init);

module_param_cb(device, &fswap_device_ops, &device, 0644);
MODULE_PARM_DESC(device, "Number of the mswap device that takes the pages; -1 (default) none");
MODULE_DESCRIPTION("Frontswap backend that writes pages clustered to an mswap device (cannot be unloaded)");
MODULE_AUTHOR("The Muster developers");
MODULE_LICENSE("GPL");
