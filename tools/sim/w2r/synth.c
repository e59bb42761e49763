// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "synth.h"

#define BLOCK		8u		/* sectors */
#define STEP_NS		1000000u
#define RANGE		(1u << 18)	/* blocks, 1 GiB */
#define ITEMS		(1u << 16)
#define FILES		512u
#define FILE_LEAST	64u
#define FILE_MOST	1024u
#define READERS		8u
#define PIECE_MOST	8u
#define PATHS		64u
#define JUMPS		96u
#define TURN		2000u

enum kind { RANDOM, ZIPF, STREAMS, PATTERNS, MIXED, KINDS };

struct zipf {
	u64 upto[ITEMS];		/* weights of the first ones, added up */
	u32 order[ITEMS];		/* item by rank */
	u32 nr;
};

struct reader {
	u32 at, left;			/* blocks */
};

struct synth {
	u64 random;
	struct zipf items, files;
	struct reader readers[READERS];
	u32 paths[PATHS][JUMPS];
	u32 path, jump;
};

static u64 next(struct synth *s)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return s->random * 0x2545f4914f6cdd1dull;
}

static u32 below(struct synth *s, u32 n)
{
	return (u32)(((next(s) >> 32) * n) >> 32);
}

static void zipf_init(struct synth *s, struct zipf *z, u32 nr)
{
	u32 i, k, other;
	u64 sum = 0;

	z->nr = nr;
	for (i = 0; i < nr; i++) {
		sum += ((u64)1 << 40) / (i + 1);
		z->upto[i] = sum;
		z->order[i] = i;
	}
	for (i = nr - 1; i; i--) {
		k = below(s, i + 1);
		other = z->order[i];
		z->order[i] = z->order[k];
		z->order[k] = other;
	}
}

static u32 zipf_draw(struct synth *s, const struct zipf *z)
{
	u64 at = next(s) % z->upto[z->nr - 1];
	u32 low = 0, high = z->nr - 1, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (z->upto[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return z->order[low];
}

static struct synth *synth_new(u64 seed)
{
	struct synth *s = calloc(1, sizeof(*s));
	u32 i, k;

	if (!s)
		return NULL;
	s->random = (seed + 1) * 0x9e3779b97f4a7c15ull;
	if (!s->random)
		s->random = 1;
	zipf_init(s, &s->items, ITEMS);
	zipf_init(s, &s->files, FILES);
	for (i = 0; i < PATHS; i++)
		for (k = 0; k < JUMPS; k++)
			s->paths[i][k] = below(s, RANGE);
	s->jump = JUMPS;
	return s;
}

/* Files lie one after the other, each with room for the longest. */
static void stream(struct synth *s, struct trace_op *op)
{
	struct reader *r = &s->readers[below(s, READERS)];
	u32 file, n;

	if (!r->left) {
		file = zipf_draw(s, &s->files);
		r->at = file * FILE_MOST;
		r->left = FILE_LEAST + (file * 2654435761u >> 8) % (FILE_MOST - FILE_LEAST);
	}
	n = pure_min(r->left, 1 + below(s, PIECE_MOST));
	op->sector = (u64)r->at * BLOCK;
	op->sectors = n * BLOCK;
	r->at += n;
	r->left -= n;
}

static u32 follow(struct synth *s)
{
	if (s->jump == JUMPS) {
		s->path = below(s, PATHS);
		s->jump = 0;
	}
	return s->paths[s->path][s->jump++];
}

static void make(struct synth *s, enum kind which, struct trace_op *op)
{
	op->sectors = BLOCK;
	if (which == STREAMS)
		stream(s, op);
	else if (which == PATTERNS)
		op->sector = (u64)follow(s) * BLOCK;
	else if (which == ZIPF)
		op->sector = (u64)zipf_draw(s, &s->items) * BLOCK;
	else
		op->sector = (u64)below(s, RANGE) * BLOCK;
}

bool synth_add(struct trace *t, const char *kind, u64 seed, size_t nr)
{
	static const char *const names[KINDS] = { "random", "zipf", "streams", "patterns", "mixed" };
	struct trace_op op = { .ns = t->nr ? t->ns + STEP_NS : 0, .what = TRACE_READ };
	struct synth *s;
	u32 which;
	size_t i;

	for (which = 0; which < KINDS; which++)
		if (!strcmp(kind, names[which]))
			break;
	if (which == KINDS)
		return false;
	s = synth_new(seed);
	if (!s)
		abort();
	for (i = 0; i < nr; i++) {
		make(s, which == MIXED ? (enum kind)(i / TURN % MIXED) : (enum kind)which, &op);
		trace_add(t, &op);
		op.ns += STEP_NS;
	}
	free(s);
	return true;
}
