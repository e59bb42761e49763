// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes SIZE to FILE, the disksize of DEVICE. Another process, which runs as soon as it can, is told of the new size
 * by the kernel, as udev is, and opens DEVICE then. Prints "opened", or why it could not be.
 *
 *	openresized DEVICE FILE SIZE
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/socket.h>

#include "procs.h"

#define KERNEL_EVENTS	1	/* the group that the kernel tells */
#define SECONDS		20

static int listen_to_kernel(void)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_EVENTS };
	struct timeval most = { .tv_sec = SECONDS };
	int s = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	if (s < 0 || bind(s, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most)))
		die("the kernel's events cannot be had: %m");
	return s;
}

/* Where both are on one CPU it comes first whenever it is woken and the other looks up. */
static void open_when_told(int events, int ready, const char *device)
{
	struct sched_param first = { .sched_priority = 1 };
	char event[8192];
	ssize_t n;

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		die("it cannot come first: %m");
	if (write(ready, "", 1) != 1)
		die("write failed: %m");
	do {
		n = recv(events, event, sizeof(event), 0);
		if (n < 0)
			die("nothing was told: %m");
	} while (!memmem(event, (size_t)n, "RESIZE=1", sizeof("RESIZE=1")));
	puts(open(device, O_RDONLY | O_CLOEXEC) < 0 ? strerror(errno) : "opened");
	fflush(stdout);
}

static void stay_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity failed: %m");
}

static void write_size(const char *file, const char *size)
{
	size_t n = strlen(size);
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, size, n) != (ssize_t)n)
		die("%s did not take %s: %m", file, size);
}

int main(int argc, char **argv)
{
	int ready[2], events;
	char byte;
	pid_t child;

	if (argc != 4)
		die("usage: %s DEVICE FILE SIZE", argv[0]);
	stay_on_one_cpu();
	events = listen_to_kernel();
	if (pipe(ready))
		die("pipe failed: %m");
	child = fork();
	if (child < 0)
		die("fork failed: %m");
	if (!child) {
		open_when_told(events, ready[1], argv[1]);
		_exit(0);
	}
	if (read(ready[0], &byte, 1) != 1)
		die("read failed: %m");
	write_size(argv[2], argv[3]);
	child_wait(child);
	return 0;
}
