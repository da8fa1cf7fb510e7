#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/strbuf.h"
#include "tests/lib/transport_fake.h"

#define ROWS_MAX  1024
#define CALLS_MAX 1024

struct row {
	char *method, *target, *body;
	struct http_headers headers;
	int status; /* 0: fails with code, E_IO unless set */
	int code;
	bool stream, used;
};

struct call {
	struct transport_fake *fake;
	const struct row *row;
	struct transport_events events;
	void *arg;
	size_t body_max;
	struct task task;
	TAILQ_ENTRY(call) link;
};

struct transport_fake {
	struct transport transport;
	struct loop *loop;
	struct row rows[ROWS_MAX];
	size_t n_rows;
	char *calls[CALLS_MAX], *users[CALLS_MAX], *accepts[CALLS_MAX];
	int64_t timeouts[CALLS_MAX];
	size_t n_calls;
	TAILQ_HEAD(, call) open;
};

static void call_free(struct call *c)
{
	TAILQ_REMOVE(&c->fake->open, c, link);
	loop_unpost(c->fake->loop, &c->task);
	xfree(c);
}

/* As the real ones refuse it. */
static bool is_too_large(const struct call *c)
{
	return c->row->status && c->body_max && strlen(c->row->body) > c->body_max;
}

static void finish(struct call *c, bool lost)
{
	int code = c->row->code ? c->row->code : E_IO;
	struct transport_events events = c->events;
	void *arg = c->arg;
	struct error err = ERROR_INIT;
	if (is_too_large(c))
		error_set(&err, E_LIMIT, "answer is larger than %zu bytes", c->body_max);
	else if (lost)
		error_set(&err, code, "connection reset");
	call_free(c);
	events.done(arg, err.code ? &err : NULL);
}

static bool is_open(struct transport_fake *f, const struct call *c)
{
	struct call *other;
	TAILQ_FOREACH (other, &f->open, link)
		if (other == c)
			return true;
	return false;
}

/* A callback may cancel the call. */
static void answer(void *arg)
{
	struct call *c = arg;
	struct transport_fake *f = c->fake;
	const struct row *row = c->row;
	if (row->status && c->events.head)
		c->events.head(c->arg, row->status, &row->headers);
	if (is_open(f, c) && row->status && *row->body && !is_too_large(c))
		c->events.data(c->arg, str_of(row->body));
	if (is_open(f, c) && (!row->stream || is_too_large(c)))
		finish(c, !row->status);
}

static struct row *row_for(struct transport_fake *f, const char *method, const char *target)
{
	for (size_t i = 0; i < f->n_rows; i++) {
		struct row *r = &f->rows[i];
		size_t n = strlen(r->target);
		bool prefix = n && r->target[n - 1] == '*';
		if (r->used || strcmp(r->method, method) != 0)
			continue;
		if (prefix ? strncmp(r->target, target, n - 1) == 0
			   : strcmp(r->target, target) == 0)
			return r;
	}
	return NULL;
}

static struct call *fake_start(struct transport *t, const struct transport_request *r,
			       const struct transport_events *events, void *arg)
{
	struct transport_fake *f = CONTAINER_OF(t, struct transport_fake, transport);
	struct row *row = row_for(f, r->method, r->target);
	const char *type = http_header(&r->headers, "Content-Type");
	const char *signature = http_header(&r->headers, "X-ALM-Signature-256");
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!row)
		fail_msg("no row for %s %s", r->method, r->target);
	assert_true(f->n_calls < CALLS_MAX);
	strbuf_addf(&b, "%s %s", r->method, r->target);
	if (type)
		strbuf_addf(&b, " %s", type);
	if (signature)
		strbuf_addf(&b, " %s", signature);
	if (r->body.len)
		strbuf_addf(&b, " %.*s", STR_ARG(r->body));
	const char *user = http_header(&r->headers, "Impersonate-User");
	f->users[f->n_calls] = user ? xstrdup(user) : NULL;
	const char *accept = http_header(&r->headers, "Accept");
	f->accepts[f->n_calls] = accept ? xstrdup(accept) : NULL;
	f->timeouts[f->n_calls] = r->timeout_ns;
	f->calls[f->n_calls++] = strbuf_detach(&b);
	row->used = true;
	struct call *c = xcalloc(1, sizeof(*c));
	*c = (struct call){
		.fake = f, .row = row, .events = *events, .arg = arg, .body_max = r->body_max};
	c->task.fn = answer;
	c->task.arg = c;
	TAILQ_INSERT_TAIL(&f->open, c, link);
	loop_post(f->loop, &c->task);
	return c;
}

static void fake_cancel(struct transport *t, struct call *c)
{
	(void)t;
	call_free(c);
}

static void fake_free(struct transport *t)
{
	transport_fake_free(CONTAINER_OF(t, struct transport_fake, transport));
}

struct transport_fake *transport_fake_new(struct loop *l)
{
	static const struct transport_ops ops = {fake_start, fake_cancel, fake_free};
	struct transport_fake *f = xcalloc(1, sizeof(*f));
	f->transport.ops = &ops;
	f->loop = l;
	TAILQ_INIT(&f->open);
	return f;
}

struct transport *transport_fake_transport(struct transport_fake *f)
{
	return &f->transport;
}

void transport_fake_free(struct transport_fake *f)
{
	while (!TAILQ_EMPTY(&f->open))
		call_free(TAILQ_FIRST(&f->open));
	for (size_t i = 0; i < f->n_rows; i++) {
		xfree(f->rows[i].method);
		xfree(f->rows[i].target);
		xfree(f->rows[i].body);
	}
	for (size_t i = 0; i < f->n_calls; i++) {
		xfree(f->calls[i]);
		xfree(f->users[i]);
		xfree(f->accepts[i]);
	}
	xfree(f);
}

static struct row *add_row(struct transport_fake *f, const char *method, const char *target,
			   int status, const char *body)
{
	assert_true(f->n_rows < ROWS_MAX);
	struct row *r = &f->rows[f->n_rows++];
	r->method = xstrdup(method);
	r->target = xstrdup(target);
	r->body = xstrdup(body);
	r->status = status;
	return r;
}

void fake_answer(struct transport_fake *f, const char *method, const char *target, int status,
		 const char *body)
{
	add_row(f, method, target, status, body);
}

void fake_header(struct transport_fake *f, const char *name, const char *value)
{
	assert_true(f->n_rows > 0);
	assert_true(http_header_add(&f->rows[f->n_rows - 1].headers, name, value));
}

void fake_lose(struct transport_fake *f, const char *method, const char *target)
{
	add_row(f, method, target, 0, "");
}

void fake_stream(struct transport_fake *f, const char *method, const char *target, int status,
		 const char *body)
{
	add_row(f, method, target, status, body)->stream = true;
}

void fake_code(struct transport_fake *f, int code)
{
	assert_true(f->n_rows > 0);
	f->rows[f->n_rows - 1].code = code;
}

static struct call *open_stream(struct transport_fake *f)
{
	struct call *c;
	TAILQ_FOREACH (c, &f->open, link)
		if (c->row->stream && !c->task.posted)
			return c;
	fail_msg("no open stream");
	abort(); /* fail_msg() does not return */
}

void fake_push(struct transport_fake *f, const char *chunk)
{
	struct call *c = open_stream(f);
	c->events.data(c->arg, str_of(chunk));
}

void fake_end(struct transport_fake *f, bool lost)
{
	finish(open_stream(f), lost);
}

size_t fake_count(const struct transport_fake *f)
{
	return f->n_calls;
}

const char *fake_accept(const struct transport_fake *f, size_t i)
{
	assert_true(i < f->n_calls);
	return f->accepts[i];
}

int64_t fake_timeout_ns(const struct transport_fake *f, size_t i)
{
	assert_true(i < f->n_calls);
	return f->timeouts[i];
}

const char *fake_user(const struct transport_fake *f, size_t i)
{
	assert_true(i < f->n_calls);
	return f->users[i];
}

const char *fake_call(const struct transport_fake *f, size_t i)
{
	assert_true(i < f->n_calls);
	return f->calls[i];
}

size_t fake_unused(const struct transport_fake *f)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n_rows; i++)
		n += !f->rows[i].used;
	return n;
}

size_t fake_open(const struct transport_fake *f)
{
	size_t n = 0;
	const struct call *c;
	TAILQ_FOREACH (c, &f->open, link)
		n++;
	return n;
}
