// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diffusion on a mesh that adapts itself: the plane is a square of quadtrees, whose leaves are blocks of SIDE x SIDE
 * cells, each a small object on the heap. A ring moves across the plane, and the mesh is fine on it and ever
 * coarser away from it, so blocks are split, merged and freed at every step, and neighbours lie anywhere.
 *
 * Cells hold integers. What flows out of one flows into another, a cell that is split leaves its remainder to its
 * first quarter: the sum of all must stay what it was, to the last bit. Each block also carries words that follow
 * from its number, checked at every visit.
 */
#include <math.h>
#include <unistd.h>

#include "page.h"

#define SIDE		16
#define HALF		(SIDE / 2)
#define BASE		16	/* trees on a side of the plane */
#define LEVELS		5	/* of splits */
#define FINEST		(BASE << LEVELS)	/* blocks on a side, if all were split */
#define MARKS		4
#define AMOUNT		1000000000	/* in a cell of a block that is not split, at first, at most */

struct block {
	uint64_t number;
	uint64_t marks[MARKS];
	uint64_t cell[SIDE][SIDE];
};

/* Has either a block or four children: by y, then by x. */
struct node {
	struct node *child[4];
	struct block *block;
	uint32_t level, x, y;	/* in units of its own size */
};

struct mesh {
	struct node tree[BASE][BASE];
	uint64_t blocks;	/* ever made */
	double ring_x, ring_y, radius, width;	/* in finest blocks */
	struct tally tally;
};

struct direction {
	int x, y;
};

static const struct direction east = { 1, 0 }, north = { 0, 1 }, west = { -1, 0 }, south = { 0, -1 };

static void *get(size_t bytes)
{
	void *mem = calloc(1, bytes);

	if (!mem)
		die("no memory");
	return mem;
}

static uint64_t mark_seed(const struct block *b)
{
	return mix64(b->number ^ page_run());
}

static struct block *new_block(struct mesh *m)
{
	struct block *b = get(sizeof(*b));

	b->number = m->blocks++;
	seed_fill(b->marks, sizeof(b->marks), mark_seed(b));
	return b;
}

static void visit(struct mesh *m, const struct block *b)
{
	m->tally.verified++;
	m->tally.bad += !seed_match(b->marks, sizeof(b->marks), mark_seed(b));
}

/* --- the mesh follows the ring */

static uint32_t wanted_level(const struct mesh *m, const struct node *n)
{
	double size = 1u << (LEVELS - n->level);
	double x = (n->x + 0.5) * size - m->ring_x, y = (n->y + 0.5) * size - m->ring_y;
	double away = (fabs(sqrt(x * x + y * y) - m->radius) - size / 2) / m->width;

	return away < 1 ? LEVELS : away >= LEVELS ? 0 : LEVELS - (uint32_t)away;
}

static void split(struct mesh *m, struct node *n)
{
	struct block *from = n->block;

	visit(m, from);
	for (int i = 0; i < 4; i++) {
		struct node *child = get(sizeof(*child));

		child->level = n->level + 1;
		child->x = 2 * n->x + i % 2;
		child->y = 2 * n->y + i / 2;
		child->block = new_block(m);
		n->child[i] = child;
		for (int y = 0; y < SIDE; y++)
			for (int x = 0; x < SIDE; x++) {
				uint64_t whole = from->cell[i / 2 * HALF + y / 2][i % 2 * HALF + x / 2];

				child->block->cell[y][x] = whole / 4 + (x % 2 || y % 2 ? 0 : whole % 4);
			}
	}
	n->block = NULL;
	free(from);
}

static void merge(struct mesh *m, struct node *n)
{
	n->block = new_block(m);
	for (int i = 0; i < 4; i++) {
		struct node *child = n->child[i];

		visit(m, child->block);
		for (int y = 0; y < SIDE; y++)
			for (int x = 0; x < SIDE; x++)
				n->block->cell[i / 2 * HALF + y / 2][i % 2 * HALF + x / 2] +=
					child->block->cell[y][x];
		free(child->block);
		free(child);
		n->child[i] = NULL;
	}
}

static void adapt(struct mesh *m, struct node *n)
{
	bool leaves = true;

	if (n->block && wanted_level(m, n) > n->level)
		split(m, n);
	if (n->block)
		return;
	for (int i = 0; i < 4; i++) {
		adapt(m, n->child[i]);
		leaves = leaves && n->child[i]->block;
	}
	if (leaves && wanted_level(m, n) <= n->level)
		merge(m, n);
}

/* --- diffusion */

/* An eighth of the difference, as the smaller cell sees it, flows from @a to @b, which is 4^@coarser as large. */
static void flow(uint64_t *a, uint64_t *b, uint32_t coarser)
{
	uint64_t other = *b >> (2 * coarser);
	int64_t amount = *a > other ? (int64_t)((*a - other) / 8) : -(int64_t)((other - *a) / 8);

	*a -= amount;
	*b += amount;
}

static void flow_inside(struct block *b)
{
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			if (x + 1 < SIDE)
				flow(&b->cell[y][x], &b->cell[y][x + 1], 0);
			if (y + 1 < SIDE)
				flow(&b->cell[y][x], &b->cell[y + 1][x], 0);
		}
}

/* The leaf at or above a place of @level, or NULL when there are finer ones or the plane ends. */
static struct node *leaf_at(struct mesh *m, uint32_t level, int64_t x, int64_t y)
{
	struct node *n;

	if (x < 0 || y < 0 || x >= BASE << level || y >= BASE << level)
		return NULL;
	n = &m->tree[y >> level][x >> level];
	while (!n->block && n->level < level) {
		uint32_t shift = level - n->level - 1;

		n = n->child[(y >> shift) % 2 * 2 + (x >> shift) % 2];
	}
	return n->block ? n : NULL;
}

static void flow_across(struct mesh *m, struct node *n, struct direction d, bool equal_too)
{
	struct node *other = leaf_at(m, n->level, (int64_t)n->x + d.x, (int64_t)n->y + d.y);
	uint32_t coarser;

	if (!other || (other->level == n->level && !equal_too))
		return;
	visit(m, other->block);
	coarser = n->level - other->level;
	for (int i = 0; i < SIDE; i++) {
		int x = d.x ? (d.x > 0 ? SIDE - 1 : 0) : i, y = d.y ? (d.y > 0 ? SIDE - 1 : 0) : i;
		/* The cell beyond, in cells of this level, from the edge of the other block. */
		int64_t far_x = ((int64_t)n->x * SIDE + x + d.x) - ((int64_t)other->x * SIDE << coarser);
		int64_t far_y = ((int64_t)n->y * SIDE + y + d.y) - ((int64_t)other->y * SIDE << coarser);

		flow(&n->block->cell[y][x], &other->block->cell[far_y >> coarser][far_x >> coarser], coarser);
	}
}

static void diffuse(struct mesh *m, struct node *n)
{
	if (!n->block) {
		for (int i = 0; i < 4; i++)
			diffuse(m, n->child[i]);
		return;
	}
	visit(m, n->block);
	flow_inside(n->block);
	flow_across(m, n, east, true);
	flow_across(m, n, north, true);
	flow_across(m, n, west, false);
	flow_across(m, n, south, false);
}

static uint64_t sum(struct mesh *m, const struct node *n, size_t *leaves)
{
	uint64_t found = 0;

	if (!n->block) {
		for (int i = 0; i < 4; i++)
			found += sum(m, n->child[i], leaves);
		return found;
	}
	visit(m, n->block);
	++*leaves;
	for (int i = 0; i < SIDE * SIDE; i++)
		found += n->block->cell[i / SIDE][i % SIDE];
	return found;
}

/* --- all of it */

static uint64_t make(struct mesh *m)
{
	uint64_t all = 0;

	for (int tree = 0; tree < BASE * BASE; tree++) {
		struct node *n = &m->tree[tree / BASE][tree % BASE];

		n->x = tree % BASE;
		n->y = tree / BASE;
		n->block = new_block(m);
		for (int i = 0; i < SIDE * SIDE; i++) {
			uint64_t amount = mix64((tree * SIDE * SIDE + i) ^ page_run()) % AMOUNT;

			n->block->cell[i / SIDE][i % SIDE] = amount;
			all += amount;
		}
	}
	return all;
}

static void step(struct mesh *m)
{
	for (int tree = 0; tree < BASE * BASE; tree++)
		adapt(m, &m->tree[tree / BASE][tree % BASE]);
	for (int tree = 0; tree < BASE * BASE; tree++)
		diffuse(m, &m->tree[tree / BASE][tree % BASE]);
	m->ring_x += FINEST / 32.0;
}

static void check(struct mesh *m, uint64_t all)
{
	uint64_t found = 0;
	size_t leaves = 0;

	for (int tree = 0; tree < BASE * BASE; tree++)
		found += sum(m, &m->tree[tree / BASE][tree % BASE], &leaves);
	m->tally.verified++;
	m->tally.bad += found != all;
	printf("blocks=%zu made=%lu\n", leaves, m->blocks);
}

int main(int argc, char **argv)
{
	static struct mesh m = { .ring_x = FINEST * 0.3, .ring_y = FINEST * 0.5, .radius = FINEST * 0.25,
				 .width = FINEST * 0.06 };
	unsigned long steps = 4;
	double begin;
	uint64_t all;
	int opt;

	while ((opt = getopt(argc, argv, "s:")) != -1) {
		if (opt != 's')
			die("usage: amr [-s STEPS]   (4)");
		steps = number_arg(optarg, 1, 1000);
	}
	begin = seconds_now();
	all = make(&m);
	for (unsigned long i = 0; i < steps; i++)
		step(&m);
	check(&m, all);
	printf("program=amr secs=%.3f\n", seconds_now() - begin);
	printf("verified %lu objects, %lu bad\n", m.tally.verified, m.tally.bad);
	return m.tally.bad ? EXIT_BAD : 0;
}
