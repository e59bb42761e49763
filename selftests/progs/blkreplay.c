// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a device, past the page cache and one after the other, where a trace says so:
 *
 *	blkreplay DEVICE <TRACE
 *
 * TRACE is csv as w2r-sim prints it (time,op,offset,size); only reads are done. Prints their number.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "page.h"

#define MOST	(1u << 20)	/* bytes of one read */

int main(int argc, char **argv)
{
	unsigned long long offset, size, reads = 0;
	char line[128], op;
	void *buffer;
	int fd;

	if (argc != 2)
		die("usage: blkreplay DEVICE <TRACE");
	fd = open(argv[1], O_RDONLY | O_DIRECT);
	if (fd < 0)
		die("%s: %m", argv[1]);
	if (posix_memalign(&buffer, 4096, MOST))
		die("no memory");
	if (!fgets(line, sizeof(line), stdin))
		die("the trace is empty");
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%*[0-9.],%c,%llu,%llu", &op, &offset, &size) != 3 || size > MOST)
			die("not a line of a trace: %s", line);
		if (op != 'R')
			continue;
		if (pread(fd, buffer, size, (off_t)offset) != (ssize_t)size)
			die("read of %llu at %llu: %m", size, offset);
		reads++;
	}
	printf("reads=%llu\n", reads);
	return 0;
}
