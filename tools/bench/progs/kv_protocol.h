/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a client of memcached (its text protocol) or of Redis (RESP 2) says and hears. All lengths are in bytes;
 * HEAD_MAX holds any head, with its NUL.
 */
#ifndef BENCH_KV_PROTOCOL_H
#define BENCH_KV_PROTOCOL_H

#include "page.h"

#define HEAD_MAX	96
#define KEY		"k%08u"	/* 9 bytes, which RESP tells in advance */

enum kv_reply {
	KV_PART,	/* more is to come */
	KV_STORED,
	KV_HIT,
	KV_MISS,
	KV_OTHER,	/* an error, or the value of something else */
};

struct kv_protocol {
	const char *name;
	void (*get)(char *to, uint32_t key);
	void (*set_head)(char *to, uint32_t key, size_t bytes);	/* the value and CRLF follow */
	void (*hit_head)(char *to, uint32_t key, size_t bytes);
	const char *hit_tail;
	const char *miss;
	const char *stored;
};

static inline void memcached_get(char *to, uint32_t key)
{
	snprintf(to, HEAD_MAX, "get " KEY "\r\n", key);
}

static inline void memcached_set_head(char *to, uint32_t key, size_t bytes)
{
	snprintf(to, HEAD_MAX, "set " KEY " 0 0 %zu\r\n", key, bytes);
}

static inline void memcached_hit_head(char *to, uint32_t key, size_t bytes)
{
	snprintf(to, HEAD_MAX, "VALUE " KEY " 0 %zu\r\n", key, bytes);
}

static inline void resp_get(char *to, uint32_t key)
{
	snprintf(to, HEAD_MAX, "*2\r\n$3\r\nGET\r\n$9\r\n" KEY "\r\n", key);
}

static inline void resp_set_head(char *to, uint32_t key, size_t bytes)
{
	snprintf(to, HEAD_MAX, "*3\r\n$3\r\nSET\r\n$9\r\n" KEY "\r\n$%zu\r\n", key, bytes);
}

static inline void resp_hit_head(char *to, uint32_t key, size_t bytes)
{
	(void)key;
	snprintf(to, HEAD_MAX, "$%zu\r\n", bytes);
}

static const struct kv_protocol kv_protocols[] = {
	{ "memcached", memcached_get, memcached_set_head, memcached_hit_head, "\r\nEND\r\n", "END\r\n", "STORED\r\n" },
	{ "redis", resp_get, resp_set_head, resp_hit_head, "\r\n", "$-1\r\n", "+OK\r\n" },
};

static inline const struct kv_protocol *kv_protocol_named(const char *name)
{
	for (size_t i = 0; i < sizeof(kv_protocols) / sizeof(*kv_protocols); i++)
		if (!strcmp(kv_protocols[i].name, name))
			return &kv_protocols[i];
	die("no protocol '%s': memcached, redis", name);
}

/* Is what came, @len bytes at @from, @want so far? */
static inline bool kv_begins(const char *from, size_t len, const char *want, size_t want_len)
{
	return !memcmp(from, want, len < want_len ? len : want_len);
}

static inline enum kv_reply kv_set_reply(const struct kv_protocol *p, const char *from, size_t len)
{
	size_t want = strlen(p->stored);

	if (!kv_begins(from, len, p->stored, want) || len > want)
		return KV_OTHER;
	return len < want ? KV_PART : KV_STORED;
}

/* The answer to a get of @key; a hit's @bytes are at *@value. */
static inline enum kv_reply kv_get_reply(const struct kv_protocol *p, uint32_t key, size_t bytes,
					 const char *from, size_t len, const char **value)
{
	size_t miss = strlen(p->miss), tail = strlen(p->hit_tail), head, all;
	char want[HEAD_MAX];

	if (kv_begins(from, len, p->miss, miss) && len <= miss)
		return len < miss ? KV_PART : KV_MISS;
	p->hit_head(want, key, bytes);
	head = strlen(want);
	all = head + bytes + tail;
	if (!kv_begins(from, len, want, head) || len > all)
		return KV_OTHER;
	if (len < all)
		return KV_PART;
	*value = from + head;
	return memcmp(from + head + bytes, p->hit_tail, tail) ? KV_OTHER : KV_HIT;
}

#endif
