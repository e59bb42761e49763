// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes one system call over and over, while the kernel fails the first memory allocation of it, then the
 * second, and so on, until a call makes fewer. A call that succeeds all the same is undone before the next.
 *
 *	failnth write FILE VALUE UNDO_FILE UNDO_VALUE
 *	failnth read FILE UNDO_FILE	undone by writing what was read
 *	failnth load FILE.ko		undone by unloading
 *	failnth table NAME TABLE	loads it in a device of device-mapper; undone by clearing it
 *	failnth resume NAME TABLE	what makes it live, loaded before; not undone, the next one takes its place
 *
 * With -i before the rest, "invalid argument" is as good as "no memory": the driver core says so when it has none
 * for a device's name.
 *
 * Says how often the call was made with one failed allocation, how many of these calls failed (and with what)
 * and how many succeeded; ends with status 1 when one failed with something else than "no memory":
 *	sites=93 failed=90 succeeded=3 other=0
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "dm.h"

#define SITES_MAX	20000

struct call {
	const char *kind;
	const char *file;
	int flags;		/* to open it with */
	const char *name;	/* of the module, or of the device */
	const char *value;
	const char *undo_file;
	const char *undo_value;
	char read[64];
};

static struct dm_call dm_call;

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

static bool is(const struct call *call, const char *kind)
{
	return !strcmp(call->kind, kind);
}

static void put_table(const char *name, const char *table)
{
	unsigned long long start, sectors;
	char type[DM_MAX_TYPE_NAME];
	int words;

	if (sscanf(table, "%llu %llu %15s %n", &start, &sectors, type, &words) != 3)
		die("not a table: %s", table);
	dm_prepare(&dm_call, name, 0);
	dm_put_target(&dm_call, start, sectors, type, table + words, strlen(table + words));
}

/* What must be there when the call is made. */
static void prepare(const struct call *call, int fd)
{
	if (is(call, "table") || is(call, "resume"))
		put_table(call->name, call->value);
	if (!is(call, "resume"))
		return;
	if (ioctl(fd, DM_TABLE_LOAD, &dm_call))
		die("cannot load '%s' in %s: %m", call->value, call->name);
	dm_prepare(&dm_call, call->name, 0);
}

/* 0 or an errno. Nothing but the call in question is made while allocations fail. */
static int make(struct call *call, int fd)
{
	ssize_t done;

	if (is(call, "write")) {
		done = pwrite(fd, call->value, strlen(call->value), 0);
	} else if (is(call, "read")) {
		memset(call->read, 0, sizeof(call->read));
		done = pread(fd, call->read, sizeof(call->read) - 1, 0);
	} else if (is(call, "table")) {
		done = ioctl(fd, DM_TABLE_LOAD, &dm_call);
	} else if (is(call, "resume")) {
		done = ioctl(fd, DM_DEV_SUSPEND, &dm_call);
	} else {
		done = syscall(SYS_finit_module, fd, "", 0);
	}
	return done < 0 ? errno : 0;
}

static void undo(const struct call *call, int fd)
{
	const char *value = call->undo_value ? call->undo_value : call->read;
	int undo_fd;

	if (is(call, "load")) {
		if (syscall(SYS_delete_module, call->name, O_NONBLOCK))
			die("cannot unload %s: %m", call->name);
	} else if (is(call, "table")) {
		dm_prepare(&dm_call, call->name, 0);
		if (ioctl(fd, DM_TABLE_CLEAR, &dm_call))
			die("cannot clear the table of %s: %m", call->name);
	} else if (call->undo_file) {
		undo_fd = open_or_die(call->undo_file, O_WRONLY);
		if (write(undo_fd, value, strlen(value)) < 0)
			die("cannot write '%s' to %s: %m", value, call->undo_file);
		close(undo_fd);
	}
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
	struct call call = { .kind = argc > 1 ? argv[1] : "", .file = argc > 2 ? argv[2] : "", .flags = O_RDONLY };

	if (is(&call, "write") && argc == 6)
		call.flags = O_WRONLY, call.value = argv[3], call.undo_file = argv[4], call.undo_value = argv[5];
	else if (is(&call, "read") && argc == 4)
		call.undo_file = argv[3];
	else if (is(&call, "load") && argc == 3)
		call.name = module_name(call.file);
	else if ((is(&call, "table") || is(&call, "resume")) && argc == 4)
		call.name = argv[2], call.value = argv[3], call.file = DM_CONTROL;
	else
		die("usage: failnth write FILE VALUE UNDO_FILE UNDO_VALUE | read FILE UNDO_FILE | load FILE.ko |\n"
		    "       failnth table NAME TABLE | resume NAME TABLE");
	return call;
}

int main(int argc, char **argv)
{
	struct call call;
	unsigned int n, failed = 0, succeeded = 0, other = 0;
	bool hit = true;

	invalid_too = argc > 1 && !strcmp(argv[1], "-i");
	call = parse(argc - invalid_too, argv + invalid_too);
	fail_nth = open_or_die("/proc/thread-self/fail-nth", O_RDWR);
	for (n = 1; hit; n++) {
		int fd = open_or_die(call.file, call.flags);
		int error;

		if (n > SITES_MAX)
			die("more than %u allocations", SITES_MAX);
		prepare(&call, fd);
		arm(n);
		error = make(&call, fd);
		hit = disarm();
		if (!error)
			undo(&call, fd);
		else if (!hit)
			die("fails with no allocation failed: %s", strerror(error));
		close(fd);
		failed += error != 0;
		succeeded += hit && !error;
		if (error && error != ENOMEM && !(invalid_too && error == EINVAL) && other++ < 8)
			fprintf(stderr, "with allocation %u failed: %s\n", n, strerror(error));
	}
	printf("sites=%u failed=%u succeeded=%u other=%u\n", n - 2, failed, succeeded, other);
	return other ? EXIT_BAD : 0;
}
