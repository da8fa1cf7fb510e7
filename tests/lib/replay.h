/*
 * replay: requests that were recorded with what a real API server answered (a script and its .jsonl in tests/golden/kube-api)
 * are sent to ours in their order: code, message, the recorded fields of the answer, and the Warnings.
 */
#ifndef TESTS_LIB_REPLAY_H
#define TESTS_LIB_REPLAY_H

#include "tests/lib/exchange_fake.h"

/* Fails the test for each difference, all of which are printed, and if there are fewer than min lines. before: called with
 * each line, or NULL. */
void replay(const char *path, size_t min, void (*before)(struct apifake *f, struct str line));
/* The same with another server than apifake_new(NULL), and what is looked at after each answer: a difference is told with
 * replay_differs(). Either may be NULL. */
void replay_with(const struct apifake_options *o, const char *path, size_t min,
		 void (*before)(struct apifake *f, struct str line),
		 void (*after)(const struct obj *recorded));
void replay_differs(const struct obj *c, const char *what, const char *want, const char *got);

#endif
