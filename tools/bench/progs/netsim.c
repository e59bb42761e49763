// SPDX-License-Identifier: GPL-2.0-only
/*
 * A discrete-event simulation of packets that wander through a network: nodes and packets are small objects
 * scattered over a heap larger than memory, and the next event is the earliest in a binary heap.
 *
 * Each packet carries words that follow from its number and the run, checked at every hop and at the end, and counts
 * its hops, as each node counts its visits: at the end both sums must be the number of events. A node's links follow from
 * its number, what the packets leave with the nodes must add up, and so must the places of the packets and the times of
 * the queue, in which each packet must be once.
 */
#include <unistd.h>

#include "page.h"

#define LINKS		8
#define NODE_WORDS	24
#define PACKET_WORDS	96

struct node {
	uint64_t visits;
	uint32_t links[LINKS];
	uint64_t state[NODE_WORDS];
};

struct packet {
	uint64_t number;
	uint64_t hops;
	uint32_t at;
	uint64_t data[PACKET_WORDS];
};

struct event {
	uint64_t time;
	uint32_t packet;
};

struct net {
	struct node **nodes;
	struct packet **packets;
	struct event *queue;	/* a binary heap, the earliest first */
	size_t nr_nodes;
	size_t nr_packets;
	uint64_t random;
	uint64_t left;		/* with the nodes, by all hops */
	uint64_t at;		/* the sum of where the packets are */
	uint64_t time;		/* the sum of the times of the queue */
};

static void *get(size_t n, size_t bytes)
{
	void *mem = calloc(n, bytes);

	if (!mem)
		die("no memory");
	return mem;
}

/* Restores the order below @i after its time grew. */
static void sink(struct event *queue, size_t n, size_t i)
{
	struct event moved = queue[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < n && queue[child + 1].time < queue[child].time)
			child++;
		if (child >= n || queue[child].time >= moved.time)
			break;
		queue[i] = queue[child];
		i = child;
	}
	queue[i] = moved;
}

static uint64_t packet_seed(size_t i)
{
	return mix64(i ^ page_run());
}

static uint32_t link_of(const struct net *net, size_t i, size_t link)
{
	return mix64((i * LINKS + link + 1) ^ ~page_run()) % net->nr_nodes;
}

static void make_node(struct net *net, size_t i)
{
	struct node *node = get(1, sizeof(*node));

	for (size_t link = 0; link < LINKS; link++)
		node->links[link] = link_of(net, i, link);
	net->nodes[i] = node;
}

static void make_packet(struct net *net, size_t i)
{
	struct packet *packet = get(1, sizeof(*packet));

	packet->number = i;
	packet->at = random_next(&net->random) % net->nr_nodes;
	seed_fill(packet->data, sizeof(packet->data), packet_seed(i));
	net->packets[i] = packet;
	net->queue[i] = (struct event){ .time = i, .packet = i };
	net->at += packet->at;
	net->time += i;
}

/* The first to move are not those that were made first. */
static void shuffle(struct net *net)
{
	for (size_t i = net->nr_packets - 1; i; i--) {
		size_t other = random_next(&net->random) % (i + 1);
		uint32_t packet = net->queue[i].packet;

		net->queue[i].packet = net->queue[other].packet;
		net->queue[other].packet = packet;
	}
}

/* Nodes and packets take turns on the heap. */
static void make(struct net *net)
{
	net->nodes = get(net->nr_nodes, sizeof(*net->nodes));
	net->packets = get(net->nr_packets, sizeof(*net->packets));
	net->queue = get(net->nr_packets, sizeof(*net->queue));
	for (size_t i = 0; i < net->nr_nodes || i < net->nr_packets; i++) {
		if (i < net->nr_nodes)
			make_node(net, i);
		if (i < net->nr_packets)
			make_packet(net, i);
	}
	shuffle(net);
}

static void hop(struct net *net, struct tally *tally)
{
	struct event *next = &net->queue[0];
	struct packet *packet = net->packets[next->packet];
	struct node *node = net->nodes[packet->at];
	uint64_t later = 1;

	tally->verified++;
	tally->bad += packet->number != next->packet ||
		      !seed_match(packet->data, sizeof(packet->data), packet_seed(next->packet));
	packet->hops++;
	node->visits++;
	node->state[node->visits % NODE_WORDS] += packet->data[0];
	net->left += packet->data[0];
	net->at -= packet->at;
	packet->at = node->links[random_next(&net->random) % LINKS];
	net->at += packet->at;
	later += random_next(&net->random) % net->nr_packets;
	next->time += later;
	net->time += later;
	sink(net->queue, net->nr_packets, 0);
}

static uint64_t check_packets(const struct net *net, struct tally *tally)
{
	uint64_t hops = 0, at = 0;

	for (size_t i = 0; i < net->nr_packets; i++) {
		const struct packet *packet = net->packets[i];

		hops += packet->hops;
		at += packet->at;
		tally->bad += packet->number != i || !seed_match(packet->data, sizeof(packet->data), packet_seed(i));
	}
	tally->verified += net->nr_packets;
	tally->bad += at != net->at;
	return hops;
}

static uint64_t check_nodes(const struct net *net, struct tally *tally)
{
	uint64_t visits = 0, left = 0;

	for (size_t i = 0; i < net->nr_nodes; i++) {
		const struct node *node = net->nodes[i];
		bool bad = false;

		visits += node->visits;
		for (size_t word = 0; word < NODE_WORDS; word++)
			left += node->state[word];
		for (size_t link = 0; link < LINKS; link++)
			bad |= node->links[link] != link_of(net, i, link);
		tally->bad += bad;
	}
	tally->verified += net->nr_nodes;
	tally->bad += left != net->left;
	return visits;
}

static void check_queue(const struct net *net, struct tally *tally)
{
	uint64_t time = 0, packets = 0;

	for (size_t i = 0; i < net->nr_packets; i++) {
		time += net->queue[i].time;
		packets += mix64(net->queue[i].packet) - mix64(i);
	}
	tally->bad += time != net->time || packets;
}

static void check(const struct net *net, uint64_t events, struct tally *tally)
{
	tally->bad += check_packets(net, tally) != events;
	tally->bad += check_nodes(net, tally) != events;
	check_queue(net, tally);
}

int main(int argc, char **argv)
{
	struct net net = { .nr_nodes = 250000, .nr_packets = 250000, .random = 88172645463325252ull };
	struct tally tally = { 0 };
	uint64_t events = 100000;
	double begin;
	int opt;

	while ((opt = getopt(argc, argv, "n:p:e:")) != -1) {
		if (opt == 'n')
			net.nr_nodes = number_arg(optarg, 1, 1UL << 28);
		else if (opt == 'p')
			net.nr_packets = number_arg(optarg, 1, 1UL << 28);
		else if (opt == 'e')
			events = number_arg(optarg, 1, 1UL << 40);
		else
			die("usage: netsim [-n NODES] [-p PACKETS] [-e EVENTS]   (250000, 250000, 100000)");
	}
	begin = seconds_now();
	make(&net);
	for (uint64_t i = 0; i < events; i++)
		hop(&net, &tally);
	check(&net, events, &tally);
	printf("program=netsim secs=%.3f\n", seconds_now() - begin);
	printf("verified %lu objects, %lu bad\n", tally.verified, tally.bad);
	return tally.bad ? EXIT_BAD : 0;
}
