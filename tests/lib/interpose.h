/* interpose: for a test program that has a function of its own in front of a library's, which it then calls or not. */
#ifndef TESTS_LIB_INTERPOSE_H
#define TESTS_LIB_INTERPOSE_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "tests/lib/test.h"

/* Is it this program that calls? Libraries make such calls of their own, each release others. caller: __builtin_return_address(0). */
static inline bool interpose_is_ours(const void *caller)
{
	/* NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's name */
	extern const char __executable_start, etext;
	return (const char *)caller >= &__executable_start && (const char *)caller < &etext;
}

/* The library's function; ret: address of a pointer to one. */
static inline void interpose_real(const char *name, void *ret)
{
	void *p = dlsym(RTLD_NEXT, name);
	assert_non_null(p);
	memcpy(ret, &p, sizeof(p));
}

#endif
