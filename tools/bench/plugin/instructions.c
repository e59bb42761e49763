// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU's emulator: counts the guest's instructions, by the translated block they are in. When the guest
 * executes the instruction of mark.h it writes "ADDRESS COUNT" lines, hexadecimal and decimal, from the start of the
 * machine on, to a file; address 0 stands for all of user space. The argument out=NAME has the files called NAME.1,
 * NAME.2 and so on.
 *
 * For machines whose CPUs are emulated in turn by one thread, as with -icount: nothing here is locked. A block that ends
 * early, at a page fault, counts as a whole.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "mark.h"

#define BLOCKS		(1u << 20)	/* a power of two */
#define USER		0

int qemu_plugin_version = PLUGIN_API;

struct block {
	uint64_t address;
	uint64_t instructions;	/* 0: free */
	uint64_t executed;
};

static struct block blocks[BLOCKS];
static uint32_t nr_blocks;
static const char *out;

/* A block that was translated anew may be of another length. */
static struct block *find(uint64_t address, uint64_t instructions)
{
	uint64_t mixed = (address + instructions) * 0x9e3779b97f4a7c15ull;
	uint32_t at = mixed >> 44;

	while (blocks[at].instructions &&
	       (blocks[at].address != address || blocks[at].instructions != instructions))
		at = (at + 1) % BLOCKS;
	return &blocks[at];
}

static struct block *find_or_add(uint64_t address, uint64_t instructions)
{
	struct block *b = find(address, instructions);

	if (b->instructions)
		return b;
	if (nr_blocks == BLOCKS - 1) {
		fputs("instructions: more blocks than there is room for\n", stderr);
		exit(1);
	}
	nr_blocks++;
	b->address = address;
	b->instructions = instructions;
	return b;
}

static void count(unsigned int cpu, void *data)
{
	struct block *b = data;

	(void)cpu;
	b->executed++;
}

static void write_counts(FILE *file)
{
	uint32_t i;

	for (i = 0; i < BLOCKS; i++)
		if (blocks[i].executed)
			fprintf(file, "%llx %llu\n", (unsigned long long)blocks[i].address,
				(unsigned long long)(blocks[i].executed * blocks[i].instructions));
}

static void marked(unsigned int cpu, void *data)
{
	static unsigned int marks;
	char name[4096];
	FILE *file;

	(void)cpu;
	(void)data;
	snprintf(name, sizeof(name), "%s.%u", out, ++marks);
	file = fopen(name, "w");
	if (file)
		write_counts(file);
	if (!file || fclose(file))
		fprintf(stderr, "instructions: cannot write %s\n", name);
}

static bool is_mark(const struct qemu_plugin_insn *insn)
{
	static const uint8_t mark[] = MARK;
	uint8_t bytes[sizeof(mark)];

	return qemu_plugin_insn_size(insn) == sizeof(mark) &&
	       qemu_plugin_insn_data(insn, bytes, sizeof(bytes)) == sizeof(mark) &&
	       !memcmp(bytes, mark, sizeof(mark));
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	bool kernel = address >> 63;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, count, 0, find_or_add(kernel ? address : USER, n));
	for (i = 0; !kernel && i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (is_mark(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, 0, NULL);
	}
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fputs("instructions: wants out=FILE\n", stderr);
		return 1;
	}
	out = strdup(argv[0] + 4);
	if (!out)
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
