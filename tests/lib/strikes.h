/*
 * strikes: what a whole manager does about each request that fails. A story (manager_fixture.h) is played once as it
 * should be, and then once for each request of it and each way to fail, which lasts until the story's end; then the
 * server is well again. What is told meanwhile, and where that leads, is compared with a text that a person has read
 * (golden_text.h).
 */
#ifndef TESTS_LIB_STRIKES_H
#define TESTS_LIB_STRIKES_H

#include "tests/lib/manager_fixture.h"

struct story {
	const char *golden; /* "tests/golden/strikes/x.txt" */
	const struct git_table_commit *commits;
	void (*phase)(struct manager_fixture *f, size_t n);
	size_t n_phases, struck; /* from this one on requests fail */
	int64_t phase_ns;
	const char *const *
		only; /* words, NULL-ended: a request that has none of them does not fail; NULL: each does */
	void (*tell)(struct manager_fixture *f,
		     struct strbuf *b); /* a line of what a person sees */
};

void strikes_hold(const struct story *s);

#endif
