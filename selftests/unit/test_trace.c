// SPDX-License-Identifier: GPL-2.0-only
/* The simulator's parsers: what good lines and records say, which bad ones are refused and with which words. */
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "synth.h"
#include "trace_file.h"

static struct blkparse state;

static void check_why(const char *what, const char *said, const char *wanted)
{
	if (!said || strcmp(said, wanted))
		printf("# '%s': %s\n", what, said ? said : "taken");
	CHECK(said && !strcmp(said, wanted));
}

static void check_op(const struct trace_op *op, u64 ns, enum trace_what what, u64 sector, u64 sectors)
{
	CHECK_EQ(op->ns, ns);
	CHECK_EQ(op->what, what);
	CHECK_EQ(op->sector, sector);
	CHECK_EQ(op->sectors, sectors);
}

/* --- csv --- */

static void csv_is(const char *line, u64 ns, enum trace_what what, u64 sector, u64 sectors)
{
	struct trace_op op;
	const char *why;

	CHECK_EQ(parse_csv(line, false, &op, &why), PARSED_OP);
	check_op(&op, ns, what, sector, sectors);
}

static void csv_refused(const char *line, const char *wanted)
{
	const char *why = NULL;
	struct trace_op op;

	CHECK_EQ(parse_csv(line, false, &op, &why), PARSED_BAD);
	check_why(line, why, wanted);
}

static void test_csv(void)
{
	struct trace_op op;
	const char *why;

	csv_is("0,R,0,512", 0, TRACE_READ, 0, 1);
	csv_is("1.5,W,4096,8192", 1500000000, TRACE_WRITE, 8, 16);
	csv_is("12.000000001,D,1048576,1024", 12000000001ull, TRACE_DISCARD, 2048, 2);
	csv_is("0.1,R,4611686018427387392,512", 100000000, TRACE_READ, 9007199254740991ull, 1);
	CHECK_EQ(parse_csv("time,op,offset,size", true, &op, &why), PARSED_NOTHING);
}

static void test_csv_refusals(void)
{
	static const char time[] = "time must be seconds with at most nine decimals";
	static const char op[] = "op must be R, W or D";
	static const char offset[] = "offset must be bytes, a multiple of 512, at most 2^62";
	static const char size[] = "size must be bytes, a multiple of 512, from 512 to 2^62";

	csv_refused("", time);
	csv_refused("time,op,offset,size", time);
	csv_refused(" 0,R,0,512", time);
	csv_refused("-1,R,0,512", time);
	csv_refused("1.,R,0,512", time);
	csv_refused("1.0123456789,R,0,512", time);
	csv_refused("99999999999,R,0,512", time);
	csv_refused("1e3,R,0,512", "no comma after the time");
	csv_refused("1,,0,512", op);
	csv_refused("1,r,0,512", op);
	csv_refused("1,", op);
	csv_refused("1,RW,0,512", "no comma after op");
	csv_refused("1,R,100,512", offset);
	csv_refused("1,R,0x200,512", "no comma after offset");
	csv_refused("1,R,,512", offset);
	csv_refused("1,R,18446744073709551616,512", offset);
	csv_refused("1,R,0", "no comma after offset");
	csv_refused("1,R,0,", size);
	csv_refused("1,R,0,0", size);
	csv_refused("1,R,0,513", size);
	csv_refused("1,R,0,512,", "something follows the size");
	csv_refused("1,R,0,512 ", "something follows the size");
	csv_refused("1,R,4611686018427387904,512", "the I/O goes past 2^62 bytes");
}

/* --- blkparse --- */

static enum parsed blk(const char *line, struct trace_op *op, const char **why)
{
	return parse_blkparse(&state, line, op, why);
}

static void blk_is(const char *line, u64 ns, enum trace_what what, u64 sector, u64 sectors)
{
	struct trace_op op;
	const char *why = NULL;
	enum parsed parsed = blk(line, &op, &why);

	if (parsed == PARSED_BAD)
		printf("# '%s': %s\n", line, why);
	CHECK_EQ(parsed, PARSED_OP);
	check_op(&op, ns, what, sector, sectors);
}

static void blk_skipped(const char *line)
{
	struct trace_op op;
	const char *why = NULL;
	enum parsed parsed = blk(line, &op, &why);

	if (parsed == PARSED_BAD)
		printf("# '%s': %s\n", line, why);
	CHECK_EQ(parsed, PARSED_NOTHING);
}

static void blk_refused(const char *line, const char *wanted)
{
	const char *why = NULL;
	struct trace_op op;

	CHECK_EQ(blk(line, &op, &why), PARSED_BAD);
	check_why(line, why, wanted);
}

static void test_blkparse(void)
{
	memset(&state, 0, sizeof(state));
	blk_is("252,0    1        1     0.000000000   697  Q   R 223490 + 8 [kjournald]", 0, TRACE_READ, 223490, 8);
	blk_is("252,0    0       17     2.000036038  4162  Q  RA 8 + 256 [a b]", 2000036038, TRACE_READ, 8, 256);
	blk_is("252,0    0       18     2.5  4162  Q FWFSM 16 + 8 [x]", 2500000000, TRACE_WRITE, 16, 8);
	blk_is("252,0    0       19     3.000000000  0  Q   D 0 + 1024 [fstrim]", 3000000000, TRACE_DISCARD, 0, 1024);
	blk_skipped("252,0    0       20     3.000000000  0  Q FWS [jbd2]");
	blk_skipped("252,0    0       21     3.000000000  0  Q   N 0 + 0 [x]");
	blk_skipped("252,0    1        2     0.000001829   697  G   W 223490 + 8 [kjournald]");
	blk_skipped("252,0    1        3     0.000003900   697  A   R 1 + 8 <- (252,1) 0");
	blk_skipped("252,0    1        4     0.000003900   697  P   N [kjournald]");
	blk_skipped("252,0    1        5     0.000003900   697  UT  N [kjournald] 1");
	blk_skipped("252,0    1        6     0.000003900     0  C   R 223490 + 8 [0]");
	blk_skipped("252,0    1        7     0.000003900     0  m   N cfq workload slice:300");
	blk_skipped("");
	blk_skipped("Trace started at Sat Nov 21 06:11:39 2026");
	memset(&state, 0, sizeof(state));
	blk_skipped("CPU0 (252,0):");
	blk_skipped(" Reads Queued:           9,       36KiB\t Writes Queued:           0,        0KiB");
}

static void test_blkparse_refusals(void)
{
	static const char device[] = "it does not begin with a device (major,minor)";
	static const char queued[] = "Q must be followed by: operation sector + sectors [process]";

	memset(&state, 0, sizeof(state));
	blk_refused("hello", device);
	blk_refused("252:0 1 1 0.0 697 Q R 8 + 8 [x]", device);
	blk_refused("252,0", device);
	blk_refused("252,0 x", "no CPU after the device");
	blk_refused("252,0 1 x", "no sequence number after the CPU");
	blk_refused("252,0 1 1 x", "no time after the sequence number");
	blk_refused("252,0 1 1 0.0000000001 697", "no time after the sequence number");
	blk_refused("252,0 1 1 0.0 x", "no process after the time");
	blk_refused("252,0 1 1 0.0 697 ", "no known action after the process");
	blk_refused("252,0 1 1 0.0 697 ? R 8 + 8 [x]", "no known action after the process");
	blk_refused("252,0 1 1 0.0 697 Q", "no known operation after the action");
	blk_refused("252,0 1 1 0.0 697 Q X 8 + 8 [x]", "no known operation after the action");
	blk_refused("252,0 1 1 0.0 697 Q R 8 8 [x]", queued);
	blk_refused("252,0 1 1 0.0 697 Q R 8 + 8", queued);
	blk_refused("252,0 1 1 0.0 697 Q R -8 + 8 [x]", queued);
	blk_refused("252,0 1 1 0.0 697 Q R 9007199254740992 + 8 [x]", "the I/O goes past 2^62 bytes");
	blk_refused("252,16 1 1 0.0 697 Q R 8 + 8 [x]", "another device than that of the lines before");
}

/* --- oracle --- */

static void put(u8 *at, u64 value, u32 bytes)
{
	while (bytes--) {
		*at++ = (u8)value;
		value >>= 8;
	}
}

static enum parsed oracle(u32 time, u64 object, u32 size, u64 next, u32 unit, struct trace_op *op, const char **why)
{
	u8 record[ORACLE_RECORD];

	put(record, time, 4);
	put(record + 4, object, 8);
	put(record + 12, size, 4);
	put(record + 16, next, 8);
	return parse_oracle(record, unit, op, why);
}

static void test_oracle(void)
{
	struct trace_op op;
	const char *why;

	CHECK_EQ(oracle(7, 10, 4096, 12, 4096, &op, &why), PARSED_OP);
	check_op(&op, 7000000000, TRACE_READ, 80, 8);
	CHECK_EQ(oracle(0xffffffff, 10, 1, (u64)-1, 512, &op, &why), PARSED_OP);
	check_op(&op, 0xffffffff * 1000000000ull, TRACE_READ, 10, 1);
	CHECK_EQ(oracle(0, 1, 512, INT64_MAX, 100, &op, &why), PARSED_OP);
	check_op(&op, 0, TRACE_READ, 0, 2);
}

static void test_oracle_refusals(void)
{
	struct trace_op op;
	const char *why;

	CHECK_EQ(oracle(0, 1, 0, 1, 4096, &op, &why), PARSED_BAD);
	check_why("size 0", why, "an object must have at least a byte");
	CHECK_EQ(oracle(0, (u64)1 << 50, 4096, 1, 4096, &op, &why), PARSED_BAD);
	check_why("object 2^50", why, "the object goes past 2^62 bytes");
	CHECK_EQ(oracle(0, (u64)-1, 4096, 1, 1, &op, &why), PARSED_BAD);
	check_why("object 2^64", why, "the object goes past 2^62 bytes");
	CHECK_EQ(oracle(0, 1, 4096, (u64)-2, 4096, &op, &why), PARSED_BAD);
	check_why("next -2", why, "the next request must be its number, or -1");
}

/* --- files --- */

static char path[64];

static void write_file(const char *suffix, const void *data, size_t n)
{
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/test-trace.%ld%s", (long)getpid(), suffix);
	f = fopen(path, "w");
	CHECK(f);
	CHECK_EQ(fwrite(data, 1, n, f), n);
	CHECK(!fclose(f));
}

/* What trace_load() says of the file, after its path. */
static const char *load(struct trace *t, const char *suffix, const void *data, size_t n)
{
	static char error[TRACE_ERROR];
	bool good;

	write_file(suffix, data, n);
	good = trace_load(t, path, FORMAT_BY_NAME, 4096, error);
	unlink(path);
	if (good)
		return NULL;
	CHECK(!strncmp(error, path, strlen(path)));
	return error + strlen(path);
}

#define LOAD(t, suffix, text) load(t, suffix, text, sizeof(text) - 1)

static void test_files(void)
{
	struct trace t = { 0 };
	u8 records[2 * ORACLE_RECORD] = { 0 };

	CHECK(!LOAD(&t, ".csv", "time,op,offset,size\n1,R,0,4096\n2,W,8192,4096\n"));
	CHECK(!LOAD(&t, ".blkparse", "8,0 0 1 0.5 1 Q R 100 + 8 [x]\nCPU0 (8,0):\n Reads\n"));
	records[12] = 1;
	records[ORACLE_RECORD + 4] = 3;
	records[ORACLE_RECORD + 12] = 1;
	CHECK(!load(&t, ".bin", records, sizeof(records)));
	CHECK_EQ(t.nr, 5);
	CHECK_EQ(t.ops[2].ns, 3500000000);
	CHECK_EQ(t.ops[3].ns, 4500000000);
	CHECK_EQ(t.ops[4].sector, 24);
	CHECK_EQ(t.sectors, 108);
	CHECK_EQ(trace_footprint(&t, 3), 4);
	trace_free(&t);
}

static void test_file_refusals(void)
{
	struct trace t = { 0 };
	u8 record[ORACLE_RECORD + 1] = { 0 };
	char error[TRACE_ERROR];

	check_why("second line", LOAD(&t, ".csv", "1,R,0,4096\n1,R,0,4095\n"),
		  ":2: size must be bytes, a multiple of 512, from 512 to 2^62");
	check_why("a header too late", LOAD(&t, ".csv", "1,R,0,4096\ntime,op,offset,size\n"),
		  ":2: time must be seconds with at most nine decimals");
	check_why("no end", LOAD(&t, ".csv", "1,R,0,4096"), ":1: the line has no end");
	check_why("zero", LOAD(&t, ".csv", "1,R,0,4096\n1,\0R\n"), ":2: the line is too long or has a zero byte");
	check_why("blkparse", LOAD(&t, ".blkparse", "x\n"), ":1: it does not begin with a device (major,minor)");
	record[12] = 1;
	check_why("25 bytes", load(&t, ".bin", record, sizeof(record)),
		  ":2: the record is not whole: there are 24 bytes to each");
	check_why("xz", LOAD(&t, ".csv.xz", "1,R,0,4096\n"), ": xz could not unpack it");
	check_why("name", LOAD(&t, ".trace", "1,R,0,4096\n"),
		  ": its format cannot be told from its name: say csv, blkparse or oracle");
	CHECK(!trace_load(&t, "/nonexistent.csv", FORMAT_BY_NAME, 4096, error));
	check_why("no file", error, "/nonexistent.csv: No such file or directory");
	trace_free(&t);
}

/* --- made ones --- */

static void test_synth(void)
{
	static const char *const kinds[] = { "random", "zipf", "streams", "patterns", "mixed" };
	struct trace a = { 0 }, b = { 0 };
	size_t i, differ = 0;
	u32 kind;

	for (kind = 0; kind < UNIT_COUNT(kinds); kind++) {
		CHECK(synth_add(&a, kinds[kind], 1, 20000));
		CHECK(synth_add(&b, kinds[kind], 1, 20000));
	}
	CHECK_EQ(a.nr, 100000);
	CHECK(!memcmp(a.ops, b.ops, a.nr * sizeof(*a.ops)));
	trace_free(&b);
	for (kind = 0; kind < UNIT_COUNT(kinds); kind++)
		CHECK(synth_add(&b, kinds[kind], 2, 20000));
	for (i = 0; i < a.nr; i++)
		differ += a.ops[i].sector != b.ops[i].sector;
	CHECK(differ > 90000);
	CHECK(!synth_add(&a, "other", 1, 1));
	trace_free(&a);
	trace_free(&b);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_csv),
		UNIT_CASE(test_csv_refusals),
		UNIT_CASE(test_blkparse),
		UNIT_CASE(test_blkparse_refusals),
		UNIT_CASE(test_oracle),
		UNIT_CASE(test_oracle_refusals),
		UNIT_CASE(test_files),
		UNIT_CASE(test_file_refusals),
		UNIT_CASE(test_synth),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
