/*
 * trace: what happened, folded into one SHA-256: two runs of a seed are the same run exactly if
 * their hashes are equal.
 */
#ifndef TESTS_SIM_TRACE_H
#define TESTS_SIM_TRACE_H

#include "alm/base/hash.h"

struct trace {
	struct sha256 *hash;
	const int64_t *now_ns;
	bool verbose; /* prints every event on stderr */
	uint64_t n;
};

void trace_init(struct trace *t, const int64_t *now_ns, bool verbose);
void trace_release(struct trace *t);
/* detail is folded as its digest; printed up to 200 bytes. */
void trace_event(struct trace *t, const char *actor, const char *event, const char *key,
		 struct str detail);
void trace_final(struct trace *t, char out[SHA256_HEX]);

#endif
