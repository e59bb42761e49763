// SPDX-License-Identifier: GPL-2.0-only
/*
 * What dm-w2r promises, on the recorded traces of eight programs and on synthetic ones: demand misses of the paper's
 * pair against its rivals, what the default gains, how much of what it prefetches is used. And that the simulator
 * that says so counts right: against slow models, and in sums.
 */
#include "sim_run.h"
#include "synth.h"
#include "w2r_oracle.h"

enum { LRU, LRU_OBL, SA_W2R, NONE, DEFAULT, SCHEMES };

static const char *const schemes[SCHEMES] = { "lru", "lru-obl", "sa-w2r", "none", "default" };
static const char *const settings[] = { "ra128", "ra0" };
static const char *const programs[] = {
	"compile", "cp", "tar-c", "tar-x", "gzip", "gunzip", "sort", "grep",
};

static void run_all(const struct trace *t, u32 kib, u32 late, struct replay_counts counts[SCHEMES])
{
	int i;

	for (i = 0; i < SCHEMES; i++)
		counts[i] = run_late(t, schemes[i], kib, late);
}

static void load(struct trace *t, const char *setting, const char *program)
{
	char path[512], error[TRACE_ERROR];
	bool good;

	snprintf(path, sizeof(path), "%s/%s-%s.csv.xz", SIM_TRACES, setting, program);
	good = trace_load(t, path, FORMAT_BY_NAME, 4096, error);
	if (!good)
		printf("# %s\n", error);
	CHECK(good);
}

static void load_all(struct trace *t, const char *setting)
{
	size_t i;

	for (i = 0; i < UNIT_COUNT(programs); i++)
		load(t, setting, programs[i]);
}

/* --- the simulator itself --- */

static bool close_to(u64 got, u64 wanted, u64 off)
{
	return 1000 * got <= (1000 + off) * wanted && 1000 * got >= (1000 - off) * wanted;
}

/*
 * The model has a missed block in the weighing room before it prefetches; in the module it is on its way then and in
 * no list. LRU does the same in either order, the others may choose another victim now and then: @off thousandths.
 */
static void model_check(const char *kind, enum policy_kind policy, const char *name, u32 entries, u64 off)
{
	struct rooms_config c = { .entries = entries, .step = 1, .policy = policy, .move_to_front = true,
				  .bounded = policy != POLICY_LRU };
	static struct oracle o;
	struct trace t = { 0 };
	u64 rooms[3] = { 0 };
	struct replay_counts counts;
	size_t i;

	CHECK(synth_add(&t, kind, unit_seed, 30000));
	oracle_init(&o, &c);
	for (i = 0; i < t.nr; i++) {
		u64 block = t.ops[i].sector / 8;

		rooms[oracle_reference(&o, block)]++;
		if (block + 1 < t.sectors / 8)
			oracle_prefetch(&o, block + 1);
	}
	counts = run(&t, name, 4 * entries);
	CHECK(close_to(counts.misses, rooms[ROOM_DISK], off));
	CHECK(close_to(counts.hits_waiting, rooms[ROOM_WAITING], 5 * off));
	CHECK(close_to(counts.hits_weighing, rooms[ROOM_WEIGHING], off));
	trace_free(&t);
}

static void test_models(void)
{
	static const char *const kinds[] = { "random", "zipf", "patterns" };
	size_t i;

	for (i = 0; i < UNIT_COUNT(kinds); i++) {
		model_check(kinds[i], POLICY_LRU, "sa-w2r", 100, 0);
		model_check(kinds[i], POLICY_LRU, "sa-w2r", 400, 0);
		model_check(kinds[i], POLICY_ARC, "sa-w2r,policy=arc", 400, 10);
		model_check(kinds[i], POLICY_S3FIFO, "sa-w2r,policy=s3fifo", 400, 10);
	}
}

static void test_parts(void)
{
	struct trace t = { 0 };
	struct trace_op op = { .sectors = 8 };
	struct replay_counts c;

	/* Block 1; part of it; a part of block 0 and all of 1 and 2: what is missed is fetched as a whole. */
	op.sector = 8;
	trace_add(&t, &op);
	op.sector = 9;
	op.sectors = 2;
	trace_add(&t, &op);
	op.sector = 4;
	op.sectors = 20;
	trace_add(&t, &op);
	trace_add(&t, &op);
	c = run(&t, "lru", 64);
	CHECK_EQ(c.read_blocks, 8);
	CHECK_EQ(c.misses, 3);
	CHECK_EQ(c.hits_weighing, 5);
	/* Written, as a whole or in part, it stays; it goes when it is discarded. */
	op = (struct trace_op){ .sector = 12, .sectors = 12, .what = TRACE_WRITE };
	trace_add(&t, &op);
	op = (struct trace_op){ .sector = 8, .sectors = 16, .what = TRACE_READ };
	trace_add(&t, &op);
	c = run(&t, "lru", 64);
	CHECK_EQ(c.misses, 3);
	CHECK_EQ(c.hits_weighing, 7);
	op = (struct trace_op){ .sector = 0, .sectors = 1 << 20, .what = TRACE_DISCARD };
	trace_add(&t, &op);
	op = (struct trace_op){ .sector = 8, .sectors = 16, .what = TRACE_READ };
	trace_add(&t, &op);
	c = run(&t, "lru", 64);
	CHECK_EQ(c.misses, 5);
	CHECK_EQ(c.written_blocks, 2 + (1 << 17));
	trace_free(&t);
}

static void scheme_refused(const char *text, const char *wanted)
{
	struct table t;
	const char *why = scheme_parse(&t, text);

	if (!why || strcmp(why, wanted))
		printf("# '%s': %s\n", text, why ? why : "taken");
	CHECK(why && !strcmp(why, wanted));
}

static void test_schemes(void)
{
	struct table t;

	CHECK(!scheme_parse(&t, "lru-obl"));
	CHECK(t.one_room && t.policy == POLICY_LRU && t.lookahead == 1);
	CHECK(!scheme_parse(&t, "default,policy=s3fifo,lookahead=16,block_kib=8"));
	CHECK(!t.one_room && t.policy == POLICY_S3FIFO && t.lookahead == 16);
	CHECK_EQ(t.block_kib, 8);
	CHECK_EQ(t.readahead, READAHEAD_ON);
	scheme_refused("", "a scheme must be default, none, sa-w2r, lru-obl or lru, and options after it");
	scheme_refused("lru,", "an option must be OPTION=VALUE");
	scheme_refused("lru,x=1", "an option must be one of the table's");
	scheme_refused("lru,rooms=three", "rooms must be two or one");
	scheme_refused("lru,policy=x", "policy must be lru, s3fifo or arc");
}

/* --- what the module promises --- */

static void check_order(const char *setting, const char *program, u32 kib)
{
	struct replay_counts c[SCHEMES];
	struct trace t = { 0 };

	if (program)
		load(&t, setting, program);
	else
		load_all(&t, setting);
	run_all(&t, kib, 0, c);
	if (c[SA_W2R].misses > c[LRU_OBL].misses || c[LRU_OBL].misses > c[LRU].misses)
		printf("# %s-%s in %u KiB: misses of lru %llu, lru-obl %llu, sa-w2r %llu\n", setting,
		       program ? program : "all", kib, (unsigned long long)c[LRU].misses,
		       (unsigned long long)c[LRU_OBL].misses, (unsigned long long)c[SA_W2R].misses);
	CHECK(c[SA_W2R].misses <= c[LRU_OBL].misses);
	CHECK(c[LRU_OBL].misses < c[LRU].misses);
	trace_free(&t);
}

static void test_paper_order(void)
{
	size_t s, p;
	u32 mib;

	for (s = 0; s < UNIT_COUNT(settings); s++) {
		for (p = 0; p < UNIT_COUNT(programs); p++)
			for (mib = 2; mib <= 32; mib *= 4)
				check_order(settings[s], programs[p], mib << 10);
		for (mib = 2; mib <= 128; mib *= 2)
			check_order(settings[s], NULL, mib << 10);
	}
}

static const char *const modern[] = { "none,policy=arc", "none,policy=s3fifo" };

/* Adds to @shares what each modern policy misses of LRU's misses, in thousandths. */
static void add_shares(const struct trace *t, u32 kib, u64 shares[])
{
	struct replay_counts lru = run(t, "none,policy=lru", kib);
	size_t i;

	for (i = 0; i < UNIT_COUNT(modern); i++)
		shares[i] += 1000 * run(t, modern[i], kib).misses / lru.misses;
}

/* Without looking ahead; at a size in which just all of LRU's reads fit another policy may be the worse one. */
static void test_policies(void)
{
	u64 shares[UNIT_COUNT(modern)] = { 0 }, zipf[UNIT_COUNT(modern)] = { 0 };
	struct trace t = { 0 };
	size_t s, i, n = 0;
	u32 mib;

	for (s = 0; s < UNIT_COUNT(settings); s++) {
		struct trace all = { 0 };

		load_all(&all, settings[s]);
		for (mib = 2; mib <= 128; mib *= 2, n++)
			add_shares(&all, mib << 10, shares);
		trace_free(&all);
	}
	CHECK(synth_add(&t, "zipf", unit_seed, 100000));
	add_shares(&t, 16 << 10, zipf);
	trace_free(&t);
	for (i = 0; i < UNIT_COUNT(modern); i++) {
		printf("# %s against lru: %llu thousandths of its misses, 2 to 128 MiB; by Zipf's law %llu\n", modern[i],
		       (unsigned long long)(shares[i] / n), (unsigned long long)zipf[i]);
		CHECK(shares[i] / n < 990);
		CHECK(zipf[i] < 950);
	}
}

/* Each program by itself, with a cold cache. */
static void test_default_gains(void)
{
	long gain, gains = 0;
	u64 prefetched = 0, used = 0;
	size_t s, p;

	for (s = 0; s < UNIT_COUNT(settings); s++)
		for (p = 0; p < UNIT_COUNT(programs); p++) {
			struct replay_counts obl, own;
			struct trace t = { 0 };

			load(&t, settings[s], programs[p]);
			obl = run(&t, "lru-obl", 8192);
			own = run(&t, "default", 8192);
			trace_free(&t);
			gain = 1000 - (long)(1000 * own.misses / obl.misses);
			gains += gain;
			CHECK(gain > -50);
			CHECK(2 * own.used >= own.prefetched);
			prefetched += own.prefetched;
			used += own.used;
		}
	gains /= (long)(UNIT_COUNT(settings) * UNIT_COUNT(programs));
	printf("# default against lru-obl, 8 MiB, mean of the programs: %ld thousandths fewer misses\n", gains);
	CHECK(gains >= 150);
	CHECK(10 * used >= 6 * prefetched);
}

static void default_at_sizes(u32 late)
{
	struct replay_counts c[SCHEMES];
	u64 share, shares = 0, n = 0;
	size_t s;
	u32 mib;

	for (s = 0; s < UNIT_COUNT(settings); s++) {
		struct trace t = { 0 };

		load_all(&t, settings[s]);
		for (mib = 2; mib <= 128; mib *= 2) {
			run_all(&t, mib << 10, late, c);
			share = 1000 * c[DEFAULT].misses / c[LRU_OBL].misses;
			CHECK(share < 1000);
			CHECK(10 * c[DEFAULT].used >= 6 * c[DEFAULT].prefetched);
			shares += share;
			n++;
		}
		trace_free(&t);
	}
	printf("# default against lru-obl, 2 to 128 MiB, delay %u: %llu thousandths of its misses\n", late,
	       (unsigned long long)(shares / n));
	CHECK(shares / n <= 850);
}

/* Also when what is prefetched takes a while: then LRU-OBL's hits are mostly waits. */
static void test_default_sizes(void)
{
	default_at_sizes(0);
	default_at_sizes(8);
}

/*
 * On a disk of 5 ms an I/O what is near a missed block comes along: fewer missed reads, for all programs together at
 * most as many I/Os, and still little in vain. Where a prefetch joins the missed read the device sees one I/O less.
 */
static void test_disk(void)
{
	u64 reads[2] = { 0 }, ios[2] = { 0 }, prefetched = 0, used = 0;
	struct replay_counts own[2];
	size_t s, p, i;
	u32 mib;

	for (mib = 8; mib <= 32; mib *= 2)
		for (s = 0; s < UNIT_COUNT(settings); s++)
			for (p = 0; p < UNIT_COUNT(programs); p++) {
				struct trace t = { 0 };

				load(&t, settings[s], programs[p]);
				own[0] = run(&t, "default", mib << 10);
				own[1] = run(&t, "default,readahead=auto", mib << 10);
				trace_free(&t);
				CHECK(100 * own[1].misses <= 102 * own[0].misses);
				for (i = 0; i < 2; i++) {
					reads[i] += own[i].origin_reads;
					ios[i] += own[i].origin_reads + own[i].origin_prefetches;
				}
				prefetched += own[1].prefetched;
				used += own[1].used;
			}
	printf("# a disk, 8 to 32 MiB: %llu missed reads instead of %llu, %llu I/Os instead of %llu\n",
	       (unsigned long long)reads[1], (unsigned long long)reads[0], (unsigned long long)ios[1],
	       (unsigned long long)ios[0]);
	CHECK(10 * reads[1] <= 8 * reads[0]);
	CHECK(10 * ios[1] <= 9 * ios[0]);
	CHECK(10 * used >= 6 * prefetched);
}

static void test_delay(void)
{
	struct replay_counts obl, own;
	struct trace t = { 0 };

	load_all(&t, "ra0");
	obl = run_late(&t, "lru-obl", 16384, 8);
	own = run_late(&t, "default", 16384, 8);
	CHECK(obl.waited > obl.hits_waiting / 2);
	CHECK(2 * (own.misses + own.waited) < obl.misses + obl.waited);
	trace_free(&t);
}

static void test_random(void)
{
	static const char *const ahead[] = { "default", "default,readahead=auto" };
	struct replay_counts none, own;
	u64 seed;
	size_t i;
	u32 mib;

	for (seed = unit_seed; seed < unit_seed + 3; seed++) {
		struct trace t = { 0 };

		CHECK(synth_add(&t, "random", seed, 50000));
		for (mib = 1; mib <= 64; mib *= 4) {
			none = run(&t, "none", mib << 10);
			for (i = 0; i < UNIT_COUNT(ahead); i++) {
				own = run(&t, ahead[i], mib << 10);
				CHECK(100 * own.misses <= 102 * none.misses);
				CHECK(own.prefetched < own.read_blocks / 50);
			}
		}
		trace_free(&t);
	}
}

/* Where the next block is never asked for, two rooms lose less by looking at it than one. */
static void test_no_sequence(void)
{
	static const char *const kinds[] = { "zipf", "patterns" };
	struct replay_counts c[SCHEMES];
	size_t i;

	for (i = 0; i < UNIT_COUNT(kinds); i++) {
		struct trace t = { 0 };

		CHECK(synth_add(&t, kinds[i], unit_seed, 50000));
		run_all(&t, 8192, 0, c);
		CHECK(c[SA_W2R].misses <= c[LRU_OBL].misses);
		CHECK(100 * c[DEFAULT].misses <= 102 * c[NONE].misses);
		CHECK(100 * c[DEFAULT].misses <= 85 * c[LRU_OBL].misses);
		trace_free(&t);
	}
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_models),
		UNIT_CASE(test_parts),
		UNIT_CASE(test_schemes),
		UNIT_CASE(test_paper_order),
		UNIT_CASE(test_policies),
		UNIT_CASE(test_default_gains),
		UNIT_CASE(test_default_sizes),
		UNIT_CASE(test_disk),
		UNIT_CASE(test_delay),
		UNIT_CASE(test_random),
		UNIT_CASE(test_no_sequence),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
