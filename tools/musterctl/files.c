// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "util.h"

static const char *root = "";

void files_set_root(const char *dir)
{
	root = dir;
}

/* Empty for one that is too long: nothing is found there. */
static void path_of(char path[PATH_MAX], const char *format, va_list words)
{
	int start = snprintf(path, PATH_MAX, "%s/", root);

	if (start >= PATH_MAX || vsnprintf(path + start, PATH_MAX - start, format, words) >= PATH_MAX - start)
		path[0] = '\0';
}

#define PATH_OF(path, format) do {				\
	va_list words_;						\
								\
	va_start(words_, format);				\
	path_of(path, format, words_);				\
	va_end(words_);						\
} while (0)

/* How many bytes were read, at most @size; -1 on an error. */
static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t got = 0;
	ssize_t n;

	do {
		n = read(fd, text + got, size - got);
		if (n > 0)
			got += n;
	} while (n > 0 && got < size);
	return n < 0 ? -1 : (ssize_t)got;
}

static bool read_line(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;
	char *end;

	if (fd < 0)
		return false;
	len = read_all(fd, text, size);
	close(fd);
	if (len < 0)
		return false;
	end = memchr(text, '\n', len);
	if (!end && (size_t)len == size)
		return false;
	text[end ? end - text : len] = '\0';
	return true;
}

bool file_text(char *text, size_t size, const char *format, ...)
{
	char path[PATH_MAX];

	PATH_OF(path, format);
	return read_line(path, text, size);
}

bool file_number(uint64_t *number, const char *format, ...)
{
	char path[PATH_MAX], text[32], *end;

	PATH_OF(path, format);
	if (!read_line(path, text, sizeof(text)) || !isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end;
}

FILE *file_open(const char *format, ...)
{
	char path[PATH_MAX];

	PATH_OF(path, format);
	return fopen(path, "re");
}

bool is_folder(const char *format, ...)
{
	char path[PATH_MAX];
	struct stat st;

	PATH_OF(path, format);
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

size_t folder_list(struct dirent ***list, const char *format, ...)
{
	char path[PATH_MAX];
	int count;

	PATH_OF(path, format);
	*list = NULL;
	count = scandir(path, list, not_hidden, versionsort);
	if (count < 0 && errno == ENOMEM)
		die("no memory");
	return count < 0 ? 0 : count;
}

void folder_free(struct dirent **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}
