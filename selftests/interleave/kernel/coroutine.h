/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks of their own, switched between by hand. The sanitizers are told. */
#ifndef INTERLEAVE_COROUTINE_H
#define INTERLEAVE_COROUTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

struct coroutine {
	void *place[5];		/* where it goes on, as the compiler's builtins keep it */
	ucontext_t first;	/* where it begins */
	bool begun;
	void *stack;
	size_t size;
	void *fake_stack;	/* the sanitizer's */
};

/* The one that runs now, on the program's own stack. */
void coroutine_adopt(struct coroutine *co);
/* @run, which never returns, is called at the first switch to @co. */
void coroutine_make(struct coroutine *co, void (*run)(void));
/* @from, which runs, stands still until somebody switches to it. */
void coroutine_switch(struct coroutine *from, struct coroutine *to);
/* The first thing that run() does. */
void coroutine_begun(void);

#endif
