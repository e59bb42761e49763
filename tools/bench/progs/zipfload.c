// SPDX-License-Identifier: GPL-2.0-only
/*
 * A load for memcached or Redis: zipfload [options] PROTOCOL SOCKET load|run
 *
 * "load" sets each key once. "run" gets and sets keys drawn by Zipf's law, over some connections, each of which asks
 * its next question when it has its answer (a closed loop). It begins where "load" ended, so it knows which value
 * each key has: all bytes of it follow from the key and from how often it was set. No key is asked for while it is
 * being set. A value that is another, or is gone, is bad: the server is to be told to keep what it gets.
 *
 * Prints, at the end of "run":
 *	figures ops=60000 rate=12345.6 p50_us=70.1 p99_us=300.2 p999_us=900.3 hits=57000 misses=0
 *	verified 57000 objects, 0 bad
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kv_protocol.h"
#include "zipf.h"

#define OWNER		0x6b76
#define MAX_BYTES	(1UL << 20)
#define MAX_CONNECTIONS	64
#define PIPELINED	32	/* sets on the way while loading */

struct connection {
	int fd;
	bool busy, set;
	uint32_t key;
	double since;
	char *reply;
	size_t len;
};

struct load {
	const struct kv_protocol *protocol;
	const char *socket;
	size_t keys, bytes, operations, set_percent, nr_connections;
	double exponent;
	uint64_t random;
	struct zipf zipf;
	uint32_t *generation;
	float *latency;		/* seconds */
	char *request;
	size_t begun, ended, misses;
	struct connection connection[MAX_CONNECTIONS];
	struct tally tally;
};

static void *get_memory(size_t n, size_t size)
{
	void *mem = calloc(n, size);

	if (!mem)
		die("no memory");
	return mem;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		die("the name of the socket is too long: %s", path);
	memcpy(address.sun_path, path, strlen(path));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("%s: %s", path, strerror(errno));
	return fd;
}

static void send_all(int fd, const char *from, size_t len)
{
	while (len) {
		ssize_t sent = write(fd, from, len);

		if (sent <= 0)
			die("write: %s", strerror(errno));
		from += sent;
		len -= sent;
	}
}

static size_t receive(int fd, char *to, size_t max)
{
	ssize_t len = read(fd, to, max);

	if (len <= 0)
		die("the server went away: %s", len ? strerror(errno) : "end of file");
	return len;
}

/* The first line of a reply that cannot be. */
__attribute__((noreturn))
static void refuse(const char *reply, size_t len)
{
	const char *end = memchr(reply, '\r', len);

	die("the server says: %.*s", (int)(end ? end - reply : 0), reply);
}

/* Room for a request or a reply, and for the begin of what comes after it. */
static size_t room(const struct load *l)
{
	return HEAD_MAX + l->bytes + HEAD_MAX;
}

static void send_set(struct load *l, int fd, uint32_t key)
{
	size_t head;

	l->protocol->set_head(l->request, key, l->bytes);
	head = strlen(l->request);
	seed_fill(l->request + head, l->bytes, page_seed(OWNER, key, l->generation[key]));
	memcpy(l->request + head + l->bytes, "\r\n", 2);
	send_all(fd, l->request, head + l->bytes + 2);
}

static void must_be_stored(const struct load *l, const char *reply, size_t len)
{
	size_t each = strlen(l->protocol->stored);

	for (size_t i = 0; i < len; i++)
		if (reply[i] != l->protocol->stored[i % each])
			refuse(reply, len);
}

static void load_all(struct load *l)
{
	int fd = connect_to(l->socket);
	size_t each = strlen(l->protocol->stored);
	char reply[PIPELINED * 16];

	for (size_t key = 0; key < l->keys; key += PIPELINED) {
		size_t n = l->keys - key < PIPELINED ? l->keys - key : PIPELINED, len = 0;

		for (size_t i = 0; i < n; i++)
			send_set(l, fd, key + i);
		while (len < n * each) {
			len += receive(fd, reply + len, sizeof(reply) - len);
			must_be_stored(l, reply, len);
		}
	}
	close(fd);
	printf("loaded keys=%zu bytes=%zu\n", l->keys, l->keys * l->bytes);
}

/* Nobody may ask for a key that is being set, and nobody may set one that is asked for. */
static bool collides(const struct load *l, uint32_t key, bool set)
{
	for (size_t i = 0; i < l->nr_connections; i++) {
		const struct connection *c = &l->connection[i];

		if (c->busy && c->key == key && (set || c->set))
			return true;
	}
	return false;
}

static void ask(struct load *l, struct connection *c)
{
	if (l->begun == l->operations)
		return;
	l->begun++;
	do {
		c->set = random_next(&l->random) % 100 < l->set_percent;
		c->key = zipf_next(&l->zipf, &l->random);
	} while (collides(l, c->key, c->set));
	c->busy = true;
	c->len = 0;
	c->since = seconds_now();
	if (c->set) {
		l->generation[c->key]++;
		send_set(l, c->fd, c->key);
	} else {
		l->protocol->get(l->request, c->key);
		send_all(c->fd, l->request, strlen(l->request));
	}
}

static void check(struct load *l, const struct connection *c, const char *value)
{
	char *copy = l->request;	/* aligned, as the value need not be */

	l->tally.verified++;
	memcpy(copy, value, l->bytes);
	if (seed_match(copy, l->bytes, page_seed(OWNER, c->key, l->generation[c->key])))
		return;
	if (l->tally.bad++ < 8)
		fprintf(stderr, "bad value: key %u, set %u times after loading\n", c->key, l->generation[c->key]);
}

static void hear(struct load *l, struct connection *c)
{
	const char *value = NULL;
	enum kv_reply reply;

	if (!c->busy)
		die("the server says what it was not asked for");
	c->len += receive(c->fd, c->reply + c->len, room(l) - c->len);
	reply = c->set ? kv_set_reply(l->protocol, c->reply, c->len) :
		kv_get_reply(l->protocol, c->key, l->bytes, c->reply, c->len, &value);
	if (reply == KV_PART)
		return;
	if (reply == KV_OTHER)
		refuse(c->reply, c->len);
	l->latency[l->ended++] = seconds_now() - c->since;
	c->busy = false;
	if (reply == KV_HIT)
		check(l, c, value);
	l->misses += reply == KV_MISS;
	ask(l, c);
}

static int slower(const void *a, const void *b)
{
	float one = *(const float *)a, other = *(const float *)b;

	return (one > other) - (one < other);
}

/* The latency, in us, that all but one in @of operations keep to. */
static double all_but_one_in(const struct load *l, size_t of)
{
	return l->latency[l->operations - 1 - l->operations / of] * 1e6;
}

static int report(struct load *l, double seconds)
{
	qsort(l->latency, l->operations, sizeof(*l->latency), slower);
	printf("figures ops=%zu rate=%.1f p50_us=%.1f p99_us=%.1f p999_us=%.1f hits=%lu misses=%zu\n",
	       l->operations, l->operations / seconds, all_but_one_in(l, 2), all_but_one_in(l, 100),
	       all_but_one_in(l, 1000), l->tally.verified, l->misses);
	l->tally.verified += l->misses;
	l->tally.bad += l->misses;
	printf("verified %lu objects, %lu bad\n", l->tally.verified, l->tally.bad);
	return l->tally.bad ? EXIT_BAD : 0;
}

static int run(struct load *l)
{
	struct epoll_event events[MAX_CONNECTIONS];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	double begin;

	zipf_make(&l->zipf, l->keys, l->exponent, &l->random);
	l->latency = get_memory(l->operations, sizeof(*l->latency));
	for (size_t i = 0; i < l->nr_connections; i++) {
		struct connection *c = &l->connection[i];
		struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };

		c->fd = connect_to(l->socket);
		c->reply = get_memory(1, room(l));
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event))
			die("epoll_ctl: %s", strerror(errno));
	}
	begin = seconds_now();
	for (size_t i = 0; i < l->nr_connections; i++)
		ask(l, &l->connection[i]);
	while (l->ended < l->operations) {
		int n = epoll_wait(epoll, events, MAX_CONNECTIONS, -1);

		for (int i = 0; i < n; i++)
			hear(l, events[i].data.ptr);
	}
	return report(l, seconds_now() - begin);
}

static const char usage[] =
	"usage: zipfload [options] memcached|redis SOCKET load|run\n"
	"  -n KEYS         (100000)\n"
	"  -b BYTES        of a value, a multiple of 8 (1000)\n"
	"  -e EXPONENT     of Zipf's law (0.99)\n"
	"  -o OPERATIONS   (100000)\n"
	"  -s PERCENT      of them that set (5)\n"
	"  -c CONNECTIONS  (8)\n";

static double exponent_arg(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= 10))
		die("'%s' is no exponent between 0 and 10", text);
	return value;
}

static void parse_options(int argc, char **argv, struct load *l)
{
	int opt;

	while ((opt = getopt(argc, argv, "n:b:e:o:s:c:")) != -1) {
		switch (opt) {
		case 'n':
			l->keys = number_arg(optarg, 2 * MAX_CONNECTIONS, 99999999);
			break;
		case 'b':
			l->bytes = number_arg(optarg, 8, MAX_BYTES) & ~7UL;
			break;
		case 'e':
			l->exponent = exponent_arg(optarg);
			break;
		case 'o':
			l->operations = number_arg(optarg, 1, 1UL << 32);
			break;
		case 's':
			l->set_percent = number_arg(optarg, 0, 100);
			break;
		case 'c':
			l->nr_connections = number_arg(optarg, 1, MAX_CONNECTIONS);
			break;
		default:
			die("%s", usage);
		}
	}
}

int main(int argc, char **argv)
{
	struct load l = {
		.keys = 100000, .bytes = 1000, .exponent = 0.99, .operations = 100000, .set_percent = 5,
		.nr_connections = 8, .random = 88172645463325252ull,
	};

	parse_options(argc, argv, &l);
	if (argc - optind != 3)
		die("%s", usage);
	l.protocol = kv_protocol_named(argv[optind]);
	l.socket = argv[optind + 1];
	l.generation = get_memory(l.keys, sizeof(*l.generation));
	l.request = get_memory(1, room(&l));
	if (!strcmp(argv[optind + 2], "run"))
		return run(&l);
	if (strcmp(argv[optind + 2], "load"))
		die("%s", usage);
	load_all(&l);
	return 0;
}
