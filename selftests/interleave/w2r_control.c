// SPDX-License-Identifier: GPL-2.0-only
/* What befalls a target in use: knobs, little memory, suspends, other tables; and its disk. */
#include "control.h"
#include "sysfs.h"
#include "readahead.h"
#include "w2r.h"

/* The target's files are left out. */
void w2r_sysfs_add(struct w2r *c)
{
}

void w2r_sysfs_remove(struct w2r *c)
{
}

bool w2r_sysfs_resume(struct w2r *c)
{
	return true;
}

void w2r_sysfs_suspend(struct w2r *c)
{
}

/* --- weather --- */

static void spoil_sectors(void)
{
	u32 n = sim_size(16);

	while (n--)
		rig.disk.bad[sim_below(rig.sectors)] |=
			sim_once_in(2) ? DISK_BAD_READ : DISK_BAD_WRITE;
}

static void change_weather(void)
{
	struct sim_disk *disk = &rig.disk;

	disk->slow = sim_size(3000);
	if (rig.faults & FAULT_MEMORY)
		sim.refused = sim_of_1024();
	if (rig.faults & FAULT_READS)
		disk->fails_reads = sim_of_1024();
	if (rig.faults & FAULT_WRITES)
		disk->fails_writes = sim_of_1024();
	if (rig.faults & FAULT_SECTORS && sim_once_in(4))
		spoil_sectors();
	if (rig.faults & FAULT_GONE)
		disk->gone = sim_once_in(3);
}

void control_heal(void)
{
	sim.refused = 0;
	sim.refused_waiting = 0;
	disk_heal(&rig.disk);
}

/* --- tables --- */

static const char *word(const char *const *words, u32 n)
{
	return words[sim_below(n)];
}

#define WORD(...) ({							\
	static const char *const words_[] = { __VA_ARGS__ };		\
									\
	word(words_, ARRAY_SIZE(words_)); })

static void load(void)
{
	const char *words[17] = {
		RIG_DISK_PATH, "1", "14",
		"readahead", WORD("auto", "auto", "on", "off"),
		"lookahead", WORD("1", "8", "64", "512", "1024"),
		"policy", WORD("lru", "s3fifo", "arc"),
		"planner", WORD("obl", "stream", "pattern", "region", "near", "auto", "auto"),
		"rooms", WORD("two", "two", "two", "one"),
		"index", WORD("mtf", "plain"),
		"block_kib", WORD("4", "4", "4", "8", "16", "64"),
	};
	u32 each = sim_once_in(16), n;

	for (n = 1;; n++) {
		/* Each piece of memory may be the one that there is not. */
		sim.refused_next = each ? n : 0;
		if (!sim_dm_load(&rig.md, rig.begin, rig.base + rig.sectors, ARRAY_SIZE(words),
				 (char **)words))
			break;
		sim.refused_waiting /= 2;
		run_count(EVENT_REFUSED, 1);
	}
	sim.refused_next = 0;
}

/* Refused early and late: a word, what the disk has not, what the machine has not. */
static void load_wrong(void)
{
	static const struct {
		char *mib, *kib;
		u32 more;
	} wrong[] = { { "1", "5", 0 }, { "1", "4", 200 }, { "1048576", "4", 0 } };
	u32 i = sim_below(ARRAY_SIZE(wrong));
	char *words[5] = { RIG_DISK_PATH, wrong[i].mib, "2", "block_kib", wrong[i].kib };

	SIM_CHECK(sim_dm_load(&rig.md, rig.begin, rig.base + rig.sectors + wrong[i].more,
			      ARRAY_SIZE(words), words));
}

/* What a table says holds at once; where no read takes any time, none is ahead of another. */
static void check_lookahead(void)
{
	struct w2r *c = rig_target();

	mutex_lock(&c->ra_lock);
	if (c->table.readahead != READAHEAD_AUTO)
		SIM_CHECK(c->lookahead_on == (c->table.readahead == READAHEAD_ON));
	else if (rig.disk.bdev.synchronous)
		SIM_CHECK(!c->lookahead_on);
	else
		SIM_CHECK(c->lookahead_on == c->toggle.on);
	SIM_CHECK(rig.md.bdi.ra_pages == (c->lookahead_on ? rig.ra_pages : 0));
	mutex_unlock(&c->ra_lock);
}

void control_resume(void)
{
	if (rig.md.loaded) {
		rig.before = rig.disk.counts;
		rig.cleared = false;
		rig.ra_pages = VM_READAHEAD_PAGES;
	}
	sim_dm_resume(&rig.md);
	check_lookahead();
	rig.shut = false;
	wake_up(&rig.gate);
}

void control_start(void)
{
	disk_make(&rig.disk, rig.base, rig.sectors + sim_below(100));
	sim_name_device(RIG_DISK_PATH, &rig.disk.bdev);
	while (sim_dm_make(&rig.md))
		;
	load();
	control_resume();
}

void control_suspend(void)
{
	rig.shut = true;
	wait_event(rig.gate, !rig.inside);
	sim_dm_suspend(&rig.md);
	rig.suspends++;
	run_count(EVENT_SUSPENDS, 1);
}

void control_end(void)
{
	sim_dm_unload(&rig.md);
	sim_dm_free(&rig.md);
	disk_free(&rig.disk);
}

/* --- knobs --- */

/* The entries that there are, as if memory had been short. */
static void shorten(struct w2r *c)
{
	u32 limit = ROOMS_ENTRIES_MIN + sim_below(sim_size(c->nr_entries));

	spin_lock_irq(&c->lock);
	rooms_set_limit(&c->rooms, min(limit, c->nr_entries));
	c->shrunk_at = jiffies;
	spin_unlock_irq(&c->lock);
}

void control_set(struct w2r *c, enum table_option option, const char *value)
{
	spin_lock_irq(&c->lock);
	SIM_CHECK(!table_set(&c->table, option, value));
	if (option == TABLE_PLANNER)
		w2r_plan_anew(c);
	spin_unlock_irq(&c->lock);
	if (option == TABLE_READAHEAD)
		w2r_readahead_update(c, false);
}

static void change_readahead(struct w2r *c)
{
	control_set(c, TABLE_READAHEAD, WORD("auto", "on", "off"));
}

static void change_knob(struct w2r *c)
{
	if (sim_once_in(3))
		change_readahead(c);
	else if (sim_once_in(2))
		control_set(c, TABLE_LOOKAHEAD, WORD("1", "16", "256", "1024"));
	else
		control_set(c, TABLE_PLANNER, WORD("obl", "stream", "pattern", "region", "near", "auto"));
}

/* What somebody writes to read_ahead_kb stays. */
static void set_read_ahead(void)
{
	rig.ra_pages = 1 + sim_below(1000);
	rig.md.bdi.ra_pages = rig.ra_pages;
}

static void set_read_ahead_often(void *unused)
{
	u32 n = 1 + sim_below(20);

	while (n--) {
		set_read_ahead();
		sim_point(SIM_LOOK);
	}
	rig.controlled = false;
	wake_up(&rig.gate);
}

/* Off means none, and none of the device's either, but what somebody wants in spite of it. */
static void check_switching(struct w2r *c)
{
	const unsigned long *ra = &rig.md.bdi.ra_pages;
	u64 prefetched;

	control_set(c, TABLE_READAHEAD, "off");
	SIM_CHECK(!*ra);
	prefetched = c->stats[W2R_PREFETCHED];
	read_all();
	SIM_CHECK(c->stats[W2R_PREFETCHED] == prefetched);
	set_read_ahead();
	sim_sleep(TICKS);
	SIM_CHECK(*ra == rig.ra_pages);
	control_set(c, TABLE_READAHEAD, "off");
	SIM_CHECK(!*ra);
	control_set(c, TABLE_READAHEAD, "on");
	SIM_CHECK(*ra == rig.ra_pages);
	/* Who wants none gets none. */
	if (sim_once_in(2))
		rig.md.bdi.ra_pages = rig.ra_pages = 0;
	control_suspend();
	check_at_rest();
	control_resume();
}

/* It is written to while the target switches it off and on. */
void control_read_ahead(void)
{
	struct w2r *c = rig_target();

	control_resume();
	check_switching(c);
	rig.controlled = true;
	sim_spawn("who writes read_ahead_kb", set_read_ahead_often, NULL);
	while (rig.controlled)
		change_readahead(c);
	control_suspend();
}

/*
 * As if the disk took so long for a read: where it is slow, workers send what is read ahead, and where it is not fast
 * near names some of it.
 */
static void change_pace(struct w2r *c)
{
	static const u32 paces[] = { 1000, 2 * NEAR_LATENCY, 2 * SLOW_LATENCY, 2 * SLOW_LATENCY };

	spin_lock_irq(&c->lock);
	c->toggle.latency = paces[sim_below(ARRAY_SIZE(paces))];
	spin_unlock_irq(&c->lock);
}

static void ask(void)
{
	static const enum status_type types[] = {
		STATUSTYPE_INFO, STATUSTYPE_TABLE, STATUSTYPE_IMA,
	};
	struct dm_target *ti = rig.md.ti;
	char text[2048], clear[] = "clear_stats", *words[] = { clear };

	ti->type->status(ti, types[sim_below(ARRAY_SIZE(types))], 0, text, sizeof(text));
	if (sim_once_in(4)) {
		SIM_CHECK(!ti->type->message(ti, 1, words, text, sizeof(text)));
		rig.cleared = true;
	}
}

static void suspend_in_vain(void)
{
	rig.suspends++;
	sim_dm_suspend_in_vain(&rig.md);
	SIM_CHECK(!rig_target()->suspended);
}

static void write_before_load(void)
{
	u32 sector = sim_below(rig.sectors);

	io_outside_before_load(sector, 1 + sim_below(rig.sectors - sector));
}

static void suspend_and_resume(void)
{
	bool other = sim_once_in(3), early = sim_once_in(2);
	bool written = other && !early && rig.outside && sim_once_in(2);

	if (sim_once_in(4))
		suspend_in_vain();
	/* The table that it has is in use meanwhile. */
	if (other && early)
		load();
	control_suspend();
	check_at_rest();
	if (written)
		write_before_load();
	if (other && !early)
		load();
	/* What the old one has then is not what the disk has. */
	if (!written && sim_once_in(4))
		sim_dm_clear(&rig.md);
	if (rig.md.loaded)
		count_events();
	control_resume();
}

void control_work(void *unused)
{
	while (rig.tasks) {
		sim_sleep((u64)sim.tick * sim_size(rig.restless ? 1000 : 10000));
		switch (sim_below(rig.restless ? 20 : 11)) {
		case 0: case 1:
			change_weather();
			break;
		case 2:
			sim_shrink(sim_size(100), sim_below(SIM_ASKERS));
			break;
		case 3:
			shorten(rig_target());
			break;
		case 4:
			change_knob(rig_target());
			break;
		case 5:
			change_pace(rig_target());
			break;
		case 6:
			ask();
			break;
		case 7:
			/* The target looks at what happened every second. */
			sim_sleep(sim_size(10) * 1000000000ull);
			break;
		case 8:
			set_read_ahead();
			break;
		case 9:
			load_wrong();
			break;
		default:
			suspend_and_resume();
		}
	}
	rig.controlled = false;
	wake_up(&rig.gate);
}
