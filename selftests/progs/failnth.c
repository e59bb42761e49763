// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes one system call over and over, while the kernel fails the first memory allocation of it, then the
 * second, and so on, until a call makes fewer. A call that succeeds all the same is undone before the next.
 *
 *	failnth write FILE VALUE UNDO_FILE UNDO_VALUE
 *	failnth read FILE UNDO_FILE	undone by writing what was read
 *	failnth load FILE.ko		undone by unloading
 *
 * With -i before the rest, "invalid argument" is as good as "no memory": the driver core says so when it has none
 * for a device's name.
 *
 * Says how often the call was made with one failed allocation, how many of these calls failed (and with what)
 * and how many succeeded; ends with status 1 when one failed with something else than "no memory":
 *	sites=93 failed=90 succeeded=3 other=0
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "page.h"

#define SITES_MAX	20000

struct call {
	const char *kind;
	const char *file;
	const char *value;
	const char *undo_file;
	const char *undo_value;
	char read[64];
};

static int fail_nth;
static bool invalid_too;

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		die("cannot open %s: %m", path);
	return fd;
}

static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(fail_nth, text, len, 0) != len)
		die("cannot set fail-nth: %m");
}

/* Whether the allocation that was to fail was made; nothing fails any more. */
static bool disarm(void)
{
	char text[16] = "";

	if (pread(fail_nth, text, sizeof(text) - 1, 0) <= 0)
		die("cannot read fail-nth: %m");
	arm(0);
	return !strtoul(text, NULL, 10);
}

/* 0 or an errno. Nothing but the call in question is made while allocations fail. */
static int make(struct call *call, int fd)
{
	ssize_t done;

	if (!strcmp(call->kind, "write")) {
		done = pwrite(fd, call->value, strlen(call->value), 0);
	} else if (!strcmp(call->kind, "read")) {
		memset(call->read, 0, sizeof(call->read));
		done = pread(fd, call->read, sizeof(call->read) - 1, 0);
	} else {
		done = syscall(SYS_finit_module, fd, "", 0);
	}
	return done < 0 ? errno : 0;
}

static void undo(const struct call *call, char *module)
{
	const char *value = call->undo_value ? call->undo_value : call->read;
	int fd;

	if (module) {
		if (syscall(SYS_delete_module, module, O_NONBLOCK))
			die("cannot unload %s: %m", module);
		return;
	}
	fd = open_or_die(call->undo_file, O_WRONLY);
	if (write(fd, value, strlen(value)) < 0)
		die("cannot write '%s' to %s: %m", value, call->undo_file);
	close(fd);
}

static char *module_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = strdup(slash ? slash + 1 : path);

	name[strcspn(name, ".")] = '\0';
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return name;
}

static struct call parse(int argc, char **argv)
{
	struct call call = { .kind = argc > 1 ? argv[1] : "" };

	if (!strcmp(call.kind, "write") && argc == 6)
		call.value = argv[3], call.undo_file = argv[4], call.undo_value = argv[5];
	else if (!strcmp(call.kind, "read") && argc == 4)
		call.undo_file = argv[3];
	else if (strcmp(call.kind, "load") || argc != 3)
		die("usage: failnth write FILE VALUE UNDO_FILE UNDO_VALUE | read FILE UNDO_FILE | load FILE.ko");
	call.file = argv[2];
	return call;
}

int main(int argc, char **argv)
{
	struct call call;
	char *module;
	unsigned int n, failed = 0, succeeded = 0, other = 0;
	bool hit = true;

	invalid_too = argc > 1 && !strcmp(argv[1], "-i");
	call = parse(argc - invalid_too, argv + invalid_too);
	module = strcmp(call.kind, "load") ? NULL : module_name(call.file);
	fail_nth = open_or_die("/proc/thread-self/fail-nth", O_RDWR);
	for (n = 1; hit; n++) {
		int fd = open_or_die(call.file, strcmp(call.kind, "write") ? O_RDONLY : O_WRONLY);
		int error;

		if (n > SITES_MAX)
			die("more than %u allocations", SITES_MAX);
		arm(n);
		error = make(&call, fd);
		hit = disarm();
		close(fd);
		if (!error)
			undo(&call, module);
		else if (!hit)
			die("fails with no allocation failed: %s", strerror(error));
		failed += error != 0;
		succeeded += hit && !error;
		if (error && error != ENOMEM && !(invalid_too && error == EINVAL) && other++ < 8)
			fprintf(stderr, "with allocation %u failed: %s\n", n, strerror(error));
	}
	printf("sites=%u failed=%u succeeded=%u other=%u\n", n - 2, failed, succeeded, other);
	free(module);
	return other ? EXIT_BAD : 0;
}
