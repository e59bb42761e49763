/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nonsense, and what is nearly sense, to feed to the kernel: random bytes, numbers at the edges, known words whole,
 * cut and joined. The same seed gives the same texts.
 */
#ifndef SELFTESTS_FUZZ_H
#define SELFTESTS_FUZZ_H

#include <getopt.h>

#include "page.h"

#define FUZZ_WORDS_MAX	64
#define FUZZ_LONGEST	70000
#define FUZZ_WORD_LONGEST	64

struct fuzz_words {
	const char *word[FUZZ_WORDS_MAX];
	size_t n;
};

struct fuzz {
	const struct fuzz_words *words;	/* may have none */
	uint64_t random;
	char text[FUZZ_LONGEST + 4 * FUZZ_WORD_LONGEST];
};

static inline void fuzz_init(struct fuzz *fuzz, const struct fuzz_words *words, uint64_t seed)
{
	fuzz->words = words;
	fuzz->random = mix64(seed + 1);
}

/* A number below @n, which is not 0. */
static inline size_t fuzz_below(struct fuzz *fuzz, size_t n)
{
	return (random_next(&fuzz->random) >> 11) % n;
}

static inline void fuzz_add_word(struct fuzz_words *words, const char *word)
{
	if (words->n == FUZZ_WORDS_MAX || strlen(word) >= FUZZ_WORD_LONGEST)
		die("too many words, or a word too long: %s", word);
	words->word[words->n++] = word;
}

#define FUZZ_OPTIONS	"s:t:n:w:"

struct fuzz_options {
	unsigned long seed;
	unsigned long seconds;
	unsigned long threads;
	unsigned long threads_max;
	struct fuzz_words *words;
};

/* Takes one of the options that the fuzzers have in common, as getopt() found it; false if it is none of them. */
static inline bool fuzz_take_option(struct fuzz_options *options, int opt)
{
	if (opt == 's')
		options->seed = number_arg(optarg, 1, UINT32_MAX);
	else if (opt == 't')
		options->seconds = number_arg(optarg, 1, 36000);
	else if (opt == 'n')
		options->threads = number_arg(optarg, 1, options->threads_max);
	else if (opt == 'w')
		fuzz_add_word(options->words, optarg);
	else
		return false;
	return true;
}

/* Puts a word or a number at @at; the length with it. */
static inline size_t fuzz_put_word(struct fuzz *fuzz, size_t at)
{
	static const char * const numbers[] = {
		"0", "1", "-1", "2", "63", "64", "65", "255", "256", "257", "4095", "4096", "65536", "65537",
		"1048576", "2147483647", "2147483648", "4294967295", "4294967296", "18446744073709551615",
		"18446744073709551616", "0x40", "1K", "1M", "64M", "16777215T", "1e3", " 7 ", "+8", "0\n1", "%s%n",
		"\n", "",
	};
	const char *word;
	size_t len;

	if (fuzz->words->n && fuzz_below(fuzz, 3))
		word = fuzz->words->word[fuzz_below(fuzz, fuzz->words->n)];
	else
		word = numbers[fuzz_below(fuzz, sizeof(numbers) / sizeof(*numbers))];
	len = strlen(word);
	memcpy(fuzz->text + at, word, len);
	return at + len;
}

static inline size_t fuzz_put_bytes(struct fuzz *fuzz, size_t at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fuzz->text[at + i] = (char)random_next(&fuzz->random);
	return at + len;
}

/* Puts something in ->text, which is not ended by a zero; its length, which may be 0. */
static inline size_t fuzz_compose(struct fuzz *fuzz)
{
	size_t len = 0;

	switch (fuzz_below(fuzz, 8)) {
	case 0:
		return fuzz_put_bytes(fuzz, 0, fuzz_below(fuzz, 64));
	case 1:
		return fuzz_put_bytes(fuzz, 0, fuzz_below(fuzz, FUZZ_LONGEST));
	case 2:
		len = fuzz_below(fuzz, FUZZ_LONGEST);
		memset(fuzz->text, "0 9/a\n"[fuzz_below(fuzz, 6)], len);
		return len;
	case 3:
		len = fuzz_put_word(fuzz, 0);
		return len ? fuzz_below(fuzz, len + 1) : 0;
	case 4:
		len = fuzz_put_word(fuzz, fuzz_put_word(fuzz, 0));
		return fuzz_put_bytes(fuzz, len, fuzz_below(fuzz, 4));
	default:
		return fuzz_put_word(fuzz, 0);
	}
}

#endif
