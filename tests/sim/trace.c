#include "tests/sim/trace.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"

static double seconds(const struct trace *t)
{
	return (double)*t->now_ns / (double)NS_PER_S;
}

static void on_log_line(void *arg, const char *line)
{
	fprintf(stderr, "%12.6f %s\n", seconds(arg), line);
}

void trace_init(struct trace *t, const int64_t *now_ns, enum trace_level level)
{
	*t = (struct trace){.hash = sha256_new(), .now_ns = now_ns, .level = level};
	log_divert(on_log_line, t);
}

void trace_release(struct trace *t)
{
	log_divert(NULL, NULL);
	sha256_free(t->hash);
}

static void add_text(struct trace *t, const char *text)
{
	sha256_add(t->hash, text, strlen(text) + 1);
}

void trace_event(struct trace *t, enum trace_level level, const char *actor, const char *event,
		 const char *key, struct str detail)
{
	t->n++;
	sha256_add(t->hash, t->now_ns, sizeof(*t->now_ns));
	add_text(t, actor);
	add_text(t, event);
	add_text(t, key);
	sha256_add(t->hash, detail.ptr ? detail.ptr : "", detail.len);
	if (t->level < level && (level != TRACE_ENDS || t->level < TRACE_WIRE))
		return;
	bool is_dull = t->level == TRACE_STORY && event[0] == '2'; /* 200, 201: what was sent */
	int n = is_dull ? 0 : (int)(detail.len < 200 || level == TRACE_ENDS ? detail.len : 200);
	fprintf(stderr, "%12.6f %-10s %-8s %s %.*s\n", seconds(t), actor, event, key, n,
		detail.ptr ? detail.ptr : "");
}

void trace_final(struct trace *t, char out[SHA256_HEX])
{
	unsigned char digest[SHA256_BYTES];
	sha256_final(t->hash, digest);
	hex_encode(digest, sizeof(digest), out);
}
