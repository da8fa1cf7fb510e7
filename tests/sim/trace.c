#include "tests/sim/trace.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"

void trace_init(struct trace *t, const int64_t *now_ns, bool verbose)
{
	*t = (struct trace){.hash = sha256_new(), .now_ns = now_ns, .verbose = verbose};
}

void trace_release(struct trace *t)
{
	sha256_free(t->hash);
}

static void add_text(struct trace *t, const char *text)
{
	sha256_add(t->hash, text, strlen(text) + 1);
}

void trace_event(struct trace *t, const char *actor, const char *event, const char *key,
		 struct str detail)
{
	t->n++;
	sha256_add(t->hash, t->now_ns, sizeof(*t->now_ns));
	add_text(t, actor);
	add_text(t, event);
	add_text(t, key);
	sha256_add(t->hash, detail.ptr ? detail.ptr : "", detail.len);
	if (!t->verbose)
		return;
	int n = (int)(detail.len < 200 ? detail.len : 200);
	fprintf(stderr, "%12.6f %-10s %-14s %s %.*s\n", (double)*t->now_ns / (double)NS_PER_S,
		actor, event, key, n, detail.ptr ? detail.ptr : "");
}

void trace_final(struct trace *t, char out[SHA256_HEX])
{
	unsigned char digest[SHA256_BYTES];
	sha256_final(t->hash, digest);
	hex_encode(digest, sizeof(digest), out);
}
