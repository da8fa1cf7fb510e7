/*
 * trace: what happened, folded into one SHA-256: two runs of a seed are the same run exactly if
 * their hashes are equal. What is printed of it is no part of the hash.
 */
#ifndef TESTS_SIM_TRACE_H
#define TESTS_SIM_TRACE_H

#include "alm/base/hash.h"

/* How much is printed on stderr. */
enum trace_level {
	TRACE_NOTHING,
	TRACE_STORY, /* passes, writes with what became of them, crashes */
	TRACE_WIRE,  /* every request, answer and event of a watch besides */
	TRACE_ENDS,  /* what is there at the end (digest.h): with -v, too, and whole */
};

struct trace {
	struct sha256 *hash;
	const int64_t *now_ns;
	enum trace_level level;
	uint64_t n;
};

/* Lines of the log join the trace from here on to trace_release(): the passes are in them. */
void trace_init(struct trace *t, const int64_t *now_ns, enum trace_level level);
void trace_release(struct trace *t);
/* level: at which it is printed. detail is folded as its digest; printed up to 200 bytes. */
void trace_event(struct trace *t, enum trace_level level, const char *actor, const char *event,
		 const char *key, struct str detail);
void trace_final(struct trace *t, char out[SHA256_HEX]);

#endif
