// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace_file.h"

#define LINE	1024
#define PAUSE	1000000000ull	/* between the files of a trace */

static const char *const format_names[FORMATS] = { "", "csv", "blkparse", "oracle" };

/* One file on its way in. */
struct source {
	const char *path;
	FILE *file;
	pid_t unpacker;			/* 0: none */
	enum trace_format format;
	u32 unit;
	u64 number;			/* line or record, from 1 */
	u64 start;			/* ns to add to its times */
	char *error;
};

enum trace_format trace_format_named(const char *name)
{
	enum trace_format f;

	for (f = FORMAT_CSV; f < FORMATS; f++)
		if (!strcmp(name, format_names[f]))
			break;
	return f;
}

void trace_add(struct trace *t, const struct trace_op *op)
{
	struct trace_op *ops;

	if (t->nr == t->room) {
		t->room = t->room ? 2 * t->room : 1024;
		ops = realloc(t->ops, t->room * sizeof(*ops));
		if (!ops) {
			fprintf(stderr, "no memory for the trace\n");
			exit(2);
		}
		t->ops = ops;
	}
	t->ops[t->nr++] = *op;
	if (op->ns > t->ns)
		t->ns = op->ns;
	if (op->sector + op->sectors > t->sectors)
		t->sectors = op->sector + op->sectors;
}

void trace_free(struct trace *t)
{
	free(t->ops);
	memset(t, 0, sizeof(*t));
}

static bool wrong(struct source *s, const char *why)
{
	if (s->number)
		snprintf(s->error, TRACE_ERROR, "%s:%llu: %s", s->path, (unsigned long long)s->number,
			 why);
	else
		snprintf(s->error, TRACE_ERROR, "%s: %s", s->path, why);
	return false;
}

static bool take(struct source *s, struct trace *t, enum parsed parsed, struct trace_op *op,
		 const char *why)
{
	if (parsed == PARSED_BAD)
		return wrong(s, why);
	if (parsed == PARSED_OP) {
		op->ns += s->start;
		trace_add(t, op);
	}
	return true;
}

static bool load_lines(struct source *s, struct trace *t)
{
	struct blkparse state = { 0 };
	enum parsed parsed;
	struct trace_op op;
	const char *why;
	char line[LINE];
	size_t n;

	while (fgets(line, sizeof(line), s->file)) {
		s->number++;
		n = strlen(line);
		if (!n || line[n - 1] != '\n')
			return wrong(s, feof(s->file) ? "the line has no end" :
						       "the line is too long or has a zero byte");
		line[n - 1] = 0;
		parsed = s->format == FORMAT_CSV ? parse_csv(line, s->number == 1, &op, &why) :
						   parse_blkparse(&state, line, &op, &why);
		if (!take(s, t, parsed, &op, why))
			return false;
	}
	return true;
}

static bool load_records(struct source *s, struct trace *t)
{
	u8 record[ORACLE_RECORD];
	enum parsed parsed;
	struct trace_op op;
	const char *why;
	size_t n;

	while ((n = fread(record, 1, sizeof(record), s->file))) {
		s->number++;
		if (n < sizeof(record))
			return wrong(s, "the record is not whole: there are 24 bytes to each");
		parsed = parse_oracle(record, s->unit, &op, &why);
		if (!take(s, t, parsed, &op, why))
			return false;
	}
	return true;
}

static bool ends(const char *text, size_t n, const char *with)
{
	size_t tail = strlen(with);

	return n >= tail && !strncmp(text + n - tail, with, tail);
}

static enum trace_format format_of(const char *path, size_t n)
{
	if (ends(path, n, ".csv"))
		return FORMAT_CSV;
	if (ends(path, n, ".blkparse"))
		return FORMAT_BLKPARSE;
	if (ends(path, n, ".bin") || ends(path, n, ".oracleGeneral"))
		return FORMAT_ORACLE;
	return FORMATS;
}

/* @s->file becomes what xz makes of file @fd. */
static bool unpack(struct source *s, int fd)
{
	int ends[2];

	if (pipe(ends))
		return wrong(s, strerror(errno));
	s->unpacker = fork();
	if (!s->unpacker) {
		dup2(fd, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execlp("xz", "xz", "-dc", (char *)NULL);
		_exit(127);
	}
	close(fd);
	close(ends[1]);
	if (s->unpacker < 0) {
		s->unpacker = 0;
		close(ends[0]);
		return wrong(s, strerror(errno));
	}
	s->file = fdopen(ends[0], "r");
	return true;
}

static bool open_source(struct source *s, bool packed)
{
	int fd = open(s->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return wrong(s, strerror(errno));
	if (packed)
		return unpack(s, fd);
	s->file = fdopen(fd, "r");
	return true;
}

/* @good: what was read so far makes sense. */
static bool close_source(struct source *s, bool good)
{
	int status = 0;

	if (good && ferror(s->file))
		good = wrong(s, strerror(errno));
	fclose(s->file);
	if (s->unpacker && waitpid(s->unpacker, &status, 0) == s->unpacker && status && good)
		good = wrong(s, "xz could not unpack it");
	return good;
}

bool trace_load(struct trace *t, const char *path, enum trace_format format, u32 unit,
		char error[TRACE_ERROR])
{
	struct source s = { .path = path, .unit = unit, .error = error };
	size_t n = strlen(path);
	bool packed = ends(path, n, ".xz");

	s.format = format ? format : format_of(path, packed ? n - 3 : n);
	s.start = t->nr ? t->ns + PAUSE : 0;
	if (s.format == FORMATS)
		return wrong(&s, "its format cannot be told from its name: say csv, blkparse or oracle");
	if (!open_source(&s, packed))
		return false;
	return close_source(&s, s.format == FORMAT_ORACLE ? load_records(&s, t) : load_lines(&s, t));
}
