#include "alm/apiserver/health.h"

#include <string.h>

#define TEXT "text/plain; charset=utf-8"

static const char *const roots[] = {"/healthz", "/livez", "/readyz"};

static const char *root_of(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		size_t n = strlen(roots[i]);
		if (cstr_has_prefix(path, roots[i]) && (!path[n] || path[n] == '/'))
			return roots[i];
	}
	return NULL;
}

bool health_is_path(const char *path)
{
	return root_of(path) != NULL;
}

static bool counts(const struct health_check *c, bool ready)
{
	return ready || !c->ready_only;
}

/* /readyz/NAME: one check alone. */
static void reply_one(struct request *r, const char *name, const struct health_check *checks,
		      size_t n, bool ready)
{
	for (size_t i = 0; i < n; i++) {
		if (!cstr_eq(checks[i].name, name) || !counts(&checks[i], ready))
			continue;
		if (checks[i].ok)
			request_reply(r, 200, TEXT, STR("ok"));
		else
			request_reply(r, 500, TEXT, STR("internal server error: check failed\n"));
		return;
	}
	request_reply_no_page(r);
}

static void print_check(const struct health_check *c, struct strbuf *b)
{
	const char *note = c->ok && c->note && *c->note ? c->note : NULL;
	strbuf_addf(b, "[%c]%s %s", c->ok ? '+' : '-', c->name,
		    c->ok ? "ok" : "failed: reason withheld");
	if (note)
		strbuf_addf(b, " (%s)", note);
	strbuf_addc(b, '\n');
}

void health_handle(struct request *r, const struct health_check *checks, size_t n)
{
	const char *root = root_of(r->path), *name = r->path + strlen(root);
	bool ready = cstr_eq(root, "/readyz"), ok = true;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (name[0] == '/' && name[1]) {
		reply_one(r, name + 1, checks, n, ready);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (!counts(&checks[i], ready))
			continue;
		ok = ok && checks[i].ok;
		print_check(&checks[i], &b);
	}
	strbuf_addf(&b, "%s check %s\n", root + 1, ok ? "passed" : "failed");
	if (ok && !request_query(r, "verbose"))
		request_reply(r, 200, TEXT, STR("ok"));
	else
		request_reply(r, ok ? 200 : 500, TEXT, strbuf_str(&b));
}

#define METRICS_BYTES_MAX ((size_t)16 << 20)

void health_metrics(struct request *r, const struct metrics *m)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(METRICS_BYTES_MAX);
	metrics_print(m, &b);
	request_reply(r, 200, "text/plain; version=0.0.4; charset=utf-8", strbuf_str(&b));
}
