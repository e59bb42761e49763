/* SPDX-License-Identifier: GPL-2.0-only */
/* Device-mapper's calls (linux/dm-ioctl.h), made without dmsetup, so that nothing but the kernel says no. */
#ifndef SELFTESTS_DM_H
#define SELFTESTS_DM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "page.h"

#define DM_CONTROL	"/dev/mapper/control"
#define DM_TEXT_MAX	(2 * 65536UL)

/* One call: what it is about, and what goes with it. */
struct dm_call {
	struct dm_ioctl io;
	char data[DM_TEXT_MAX + 4096];
};

static inline void dm_prepare(struct dm_call *call, const char *name, uint32_t flags)
{
	memset(&call->io, 0, sizeof(call->io));
	call->io.version[0] = DM_VERSION_MAJOR;
	call->io.data_size = sizeof(call->io);
	call->io.data_start = offsetof(struct dm_call, data);
	call->io.flags = flags;
	snprintf(call->io.name, sizeof(call->io.name), "%s", name);
}

/* A table of one target with these words, @len bytes of them. */
static inline void dm_put_target(struct dm_call *call, uint64_t start, uint64_t sectors, const char *type,
				 const char *words, size_t len)
{
	struct dm_target_spec *spec = (void *)call->data;
	char *text = (char *)(spec + 1);

	if (len > DM_TEXT_MAX)
		die("a table of %zu bytes", len);
	memset(spec, 0, sizeof(*spec));
	spec->sector_start = start;
	spec->length = sectors;
	snprintf(spec->target_type, sizeof(spec->target_type), "%s", type);
	memcpy(text, words, len);
	text[len] = '\0';
	spec->next = (uint32_t)((sizeof(*spec) + len + 8) & ~7UL);
	call->io.data_size = (uint32_t)sizeof(call->io) + spec->next;
	call->io.target_count = 1;
}

/* A message to the target at @sector. */
static inline void dm_put_message(struct dm_call *call, uint64_t sector, const char *text, size_t len)
{
	struct dm_target_msg *message = (void *)call->data;

	if (len > DM_TEXT_MAX)
		die("a message of %zu bytes", len);
	message->sector = sector;
	memcpy(message->message, text, len);
	message->message[len] = '\0';
	call->io.data_size = (uint32_t)(sizeof(call->io) + sizeof(*message) + len + 1);
}

#endif
