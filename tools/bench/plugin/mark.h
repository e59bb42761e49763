/* SPDX-License-Identifier: GPL-2.0-only */
/* The instruction by which a guest says: write down what was counted. A nopl, with "MUST" for an offset. */
#ifndef MARK_H
#define MARK_H

#define MARK		{ 0x0f, 0x1f, 0x80, 0x4d, 0x55, 0x53, 0x54 }
#define MARK_ASM	".byte 0x0f, 0x1f, 0x80, 0x4d, 0x55, 0x53, 0x54"

#endif
