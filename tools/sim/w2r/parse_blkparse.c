// SPDX-License-Identifier: GPL-2.0-only
#include "scan.h"
#include "trace.h"

#define SECTORS_END	(TRACE_BYTES_END / 512)
#define ACTIONS		"QGIDCMFSPUTXABRm"	/* first letters; also UT and so on */

struct event {
	u64 major, minor;
	u64 ns;
	char action[4];
	char rwbs[9];
};

static enum parsed bad(const char **why, const char *text)
{
	*why = text;
	return PARSED_BAD;
}

/* A word that is not longer than @size - 1. */
static bool scan_word(const char **at, char *word, size_t size)
{
	size_t n = 0;

	while (**at && **at != ' ') {
		if (n == size - 1)
			return false;
		word[n++] = *(*at)++;
	}
	word[n] = 0;
	return n;
}

/* What every event begins with: device, CPU, number, time, process, action. */
static const char *scan_event(const char **at, struct event *e)
{
	u64 ignored;

	scan_blanks(at);
	if (!scan_number(at, 0xfff, &e->major) || !scan_char(at, ',') ||
	    !scan_number(at, 0xfffff, &e->minor) || !scan_blanks(at))
		return "it does not begin with a device (major,minor)";
	if (!scan_number(at, 0xffff, &ignored) || !scan_blanks(at))
		return "no CPU after the device";
	if (!scan_number(at, 0xffffffff, &ignored) || !scan_blanks(at))
		return "no sequence number after the CPU";
	if (!scan_time(at, &e->ns) || !scan_blanks(at))
		return "no time after the sequence number";
	if (!scan_number(at, 0xffffffff, &ignored) || !scan_blanks(at))
		return "no process after the time";
	if (!scan_word(at, e->action, sizeof(e->action)) || !strchr(ACTIONS, e->action[0]))
		return "no known action after the process";
	return NULL;
}

/* Letters of an operation and its flags; flushes before and FUA after it are F. */
static bool known_rwbs(const char *rwbs)
{
	return !rwbs[strspn(rwbs, "FRWDENASM")];
}

static bool what_of(const char *rwbs, enum trace_what *what)
{
	if (*rwbs == 'F')
		rwbs++;
	if (*rwbs == 'R')
		*what = TRACE_READ;
	else if (*rwbs == 'W')
		*what = TRACE_WRITE;
	else if (*rwbs == 'D')
		*what = TRACE_DISCARD;
	else
		return false;
	return true;
}

/* A queued I/O, from after its operation on: "sector + sectors [process]", or "[process]" of a flush. */
static enum parsed queued(const char *at, const struct event *e, struct trace_op *op, const char **why)
{
	op->ns = e->ns;
	if (*at == '[')
		return PARSED_NOTHING;
	if (!scan_number(&at, SECTORS_END, &op->sector) || !scan_blanks(&at) ||
	    !scan_char(&at, '+') || !scan_blanks(&at) ||
	    !scan_number(&at, SECTORS_END, &op->sectors) || !scan_blanks(&at) || *at != '[')
		return bad(why, "Q must be followed by: operation sector + sectors [process]");
	if (!what_of(e->rwbs, &op->what) || !op->sectors)
		return PARSED_NOTHING;
	if (op->sector + op->sectors > SECTORS_END)
		return bad(why, "the I/O goes past 2^62 bytes");
	return PARSED_OP;
}

static bool begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

static bool is_summary(const char *line)
{
	return begins(line, "Trace started at") || begins(line, "CPU") ||
	       begins(line, "Total (") || begins(line, "Throughput (") ||
	       begins(line, "Events (");
}

enum parsed parse_blkparse(struct blkparse *state, const char *line, struct trace_op *op,
			   const char **why)
{
	const char *wrong;
	struct event e;

	if (state->ended || !*line)
		return PARSED_NOTHING;
	if (is_summary(line)) {
		state->ended = true;
		return PARSED_NOTHING;
	}
	wrong = scan_event(&line, &e);
	if (wrong)
		return bad(why, wrong);
	if (state->known && (state->major != e.major || state->minor != e.minor))
		return bad(why, "another device than that of the lines before");
	state->known = true;
	state->major = (u32)e.major;
	state->minor = (u32)e.minor;
	if (strcmp(e.action, "Q"))
		return PARSED_NOTHING;
	if (!scan_blanks(&line) || !scan_word(&line, e.rwbs, sizeof(e.rwbs)) ||
	    !known_rwbs(e.rwbs) || !scan_blanks(&line))
		return bad(why, "no known operation after the action");
	return queued(line, &e, op, why);
}
