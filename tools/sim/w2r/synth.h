/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Synthetic traces of reads, the same for the same seed everywhere:
 *
 * random     single blocks anywhere in 1 GiB: there is nothing to foresee, and hardly anything to keep.
 * zipf       single blocks of 256 MiB, the i-th most wanted one asked for in proportion to 1 / i.
 * streams    eight readers at a time, each through a file of 64 to 1024 blocks in pieces of 1 to 8 blocks; which
 *            of 512 files it is goes by Zipf.
 * patterns   64 paths of 96 jumps through 1 GiB, one after the other in random order, so that what comes back
 *            always comes back in the same order but is never sequential.
 * mixed      2,000 operations of each of these in turn.
 */
#ifndef SIM_W2R_SYNTH_H
#define SIM_W2R_SYNTH_H

#include "trace_file.h"

/* Adds @nr operations of the kind named; false: there is no such kind. */
bool synth_add(struct trace *t, const char *kind, u64 seed, size_t nr);

#endif
