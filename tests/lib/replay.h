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

#endif
