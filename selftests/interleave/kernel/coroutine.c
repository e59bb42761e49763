// SPDX-License-Identifier: GPL-2.0-only
#include <sanitizer/common_interface_defs.h>
#include <stdlib.h>

#include "coroutine.h"

#define STACK_BYTES	(256 * 1024)

/* Stack of who ran before the first switch; the sanitizer tells it then. */
static struct coroutine *adopted;

void coroutine_adopt(struct coroutine *co)
{
	co->begun = true;
	adopted = co;
}

void coroutine_make(struct coroutine *co, void (*run)(void))
{
	co->size = STACK_BYTES;
	co->stack = malloc(STACK_BYTES);
	if (!co->stack)
		abort();
	getcontext(&co->first);
	co->first.uc_stack.ss_sp = co->stack;
	co->first.uc_stack.ss_size = co->size;
	makecontext(&co->first, run, 0);
}

/*
 * Two functions, since one that saves its place must not be left for it. Neither may
 * be instrumented: to leave a function would be taken for the end of its stack. And
 * swapcontext() makes two system calls.
 */
__attribute__((noinline, no_sanitize_address))
static void go_to(struct coroutine *to)
{
	if (to->begun)
		__builtin_longjmp(to->place, 1);
	to->begun = true;
	setcontext(&to->first);
}

__attribute__((noinline, no_sanitize_address))
void coroutine_switch(struct coroutine *from, struct coroutine *to)
{
	__sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->size);
	if (!__builtin_setjmp(from->place))
		go_to(to);
	__sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
}

void coroutine_begun(void)
{
	const void *stack;
	size_t size;

	__sanitizer_finish_switch_fiber(NULL, &stack, &size);
	if (!adopted->stack) {
		adopted->stack = (void *)stack;
		adopted->size = size;
	}
}
