// SPDX-License-Identifier: GPL-2.0-only
/* Brings the loopback interface up, where there is no ip(8). */
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "page.h"

int main(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request))
		die("cannot bring the loopback interface up: %m");
	return 0;
}
