// SPDX-License-Identifier: GPL-2.0-only
#define DM_MSG_PREFIX "w2r"

#include <linux/kernel.h>
#include <linux/string.h>

#include "compat/dm.h"
#include "control.h"
#include "write.h"

void w2r_snapshot(struct w2r *c, struct w2r_snapshot *s)
{
	const struct rooms *r = &c->rooms;

	spin_lock_irq(&c->lock);
	memcpy(s->stats, c->stats, sizeof(s->stats));
	s->used = r->used - c->used_base;
	s->wasted = r->wasted - c->wasted_base;
	s->lookups = r->index.lookups;
	s->found = r->index.found;
	s->searches = r->index.searches;
	s->weighing = r->held[ROOM_WEIGHING];
	s->waiting = r->held[ROOM_WAITING];
	s->waiting_target = r->waiting_target;
	s->limit = r->limit;
	s->resident = c->resident;
	s->latency = c->toggle.latency;
	s->cost = c->toggle.cost;
	s->acting = planner_acting(c->planner);
	s->lookahead_on = c->lookahead_on;
	spin_unlock_irq(&c->lock);
}

void w2r_clear_stats(struct w2r *c)
{
	spin_lock_irq(&c->lock);
	memset(c->stats, 0, sizeof(c->stats));
	c->used_base = c->rooms.used;
	c->wasted_base = c->rooms.wasted;
	c->rooms.index.lookups = 0;
	c->rooms.index.found = 0;
	c->rooms.index.searches = 0;
	spin_unlock_irq(&c->lock);
}

void w2r_plan_anew(struct w2r *c)
{
	lockdep_assert_held(&c->lock);
	planner_init(c->planner, c->table.planner);
	rooms_set_moves(&c->rooms, table_split_step(&c->table, c->nr_entries),
			table_bounded(&c->table));
}

static void emit_info(struct w2r *c, char *result, unsigned int maxlen)
{
	char planners[TABLE_PLANNERS_TEXT];
	struct w2r_snapshot s;
	unsigned int sz = 0;

	w2r_snapshot(c, &s);
	DMEMIT("weighing %u waiting %u waiting_target %u limit %u ",
	       s.weighing, s.waiting, s.waiting_target, s.limit);
	DMEMIT("read_blocks %llu hits_weighing %llu hits_waiting %llu ",
	       s.stats[W2R_READ_BLOCKS], s.stats[W2R_HITS_WEIGHING],
	       s.stats[W2R_HITS_WAITING]);
	DMEMIT("misses %llu bypassed %llu written_blocks %llu ",
	       s.stats[W2R_MISSES], s.stats[W2R_BYPASSED],
	       s.stats[W2R_WRITTEN_BLOCKS]);
	DMEMIT("prefetched %llu prefetch_used %llu prefetch_wasted %llu ",
	       s.stats[W2R_PREFETCHED], s.used, s.wasted);
	DMEMIT("lookups %llu found %llu searches %llu lookahead %s planner %s",
	       s.lookups, s.found, s.searches, s.lookahead_on ? "on" : "off",
	       table_planners(s.acting, planners));
}

static struct table table_of(struct w2r *c)
{
	struct table t;

	spin_lock_irq(&c->lock);
	t = c->table;
	spin_unlock_irq(&c->lock);
	return t;
}

/* From @sz on; returns where it ends. */
static unsigned int emit_options(const struct table *t, char before, char between,
				 char *result, unsigned int maxlen, unsigned int sz)
{
	int o;

	for (o = 0; o < TABLE_OPTIONS; o++) {
		DMEMIT("%c%s%c", before, table_name(o), between);
		if (table_word(t, o))
			DMEMIT("%s", table_word(t, o));
		else
			DMEMIT("%u", table_number(t, o));
	}
	return sz;
}

/* What is measured when a table is loaded. */
static void emit_ima(struct w2r *c, char *result, unsigned int maxlen)
{
	struct table t = table_of(c);
	unsigned int sz = 0;

	DMEMIT_TARGET_NAME_VERSION(c->ti->type);
	DMEMIT(",origin_device_name=%s,cache_mib=%u", c->dev->name, t.cache_mib);
	sz = emit_options(&t, ',', '=', result, maxlen, sz);
	DMEMIT(";");
}

static void emit_table(struct w2r *c, char *result, unsigned int maxlen)
{
	struct table t = table_of(c);
	unsigned int sz = 0;

	DMEMIT("%s %u %u", c->dev->name, t.cache_mib, 2 * TABLE_OPTIONS);
	emit_options(&t, ' ', ' ', result, maxlen, sz);
}

void w2r_status(struct dm_target *ti, status_type_t type,
		unsigned int flags, char *result, unsigned int maxlen)
{
	if (type == STATUSTYPE_INFO)
		emit_info(ti->private, result, maxlen);
	else if (type == STATUSTYPE_TABLE)
		emit_table(ti->private, result, maxlen);
	else
		emit_ima(ti->private, result, maxlen);
}

/* "A-B", sectors of the target, both included. Changes @text. */
static int parse_range(struct w2r *c, char *text, u64 *first, u64 *last)
{
	char *second = strchr(text, '-');

	if (second)
		*second++ = '\0';
	if (!second || kstrtou64(text, 10, first) ||
	    kstrtou64(second, 10, last) || *first > *last ||
	    *last >= c->ti->len) {
		DMERR_LIMIT("%s: invalidate refused: it wants A-B, sectors from 0 to %llu",
			    dm_table_device_name(c->ti->table),
			    (unsigned long long)c->ti->len - 1);
		return -EINVAL;
	}
	return 0;
}

int w2r_message(struct dm_target *ti, unsigned int argc, char **argv,
		char *result, unsigned int maxlen)
{
	struct w2r *c = ti->private;
	u64 first, last;

	if (argc == 1 && !strcasecmp(argv[0], "clear_stats")) {
		w2r_clear_stats(c);
		return 0;
	}
	if (argc == 2 && !strcasecmp(argv[0], "invalidate")) {
		if (parse_range(c, argv[1], &first, &last))
			return -EINVAL;
		w2r_settle(c);
		first >>= c->block_shift;
		w2r_invalidate(c, first, (last >> c->block_shift) - first + 1,
			       true);
		return 0;
	}
	DMERR_LIMIT("%s: message refused: it is clear_stats or invalidate A-B",
		    dm_table_device_name(ti->table));
	return -EINVAL;
}
