/* hook_fake: see hook_fake.h. */
#include "tests/lib/hook_fake.h"

#include <string.h>
#include <sys/queue.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

#define ANSWERS_MAX 64
#define CALLS_MAX   4096

struct call {
	TAILQ_ENTRY(call) link;
	struct fake *fake;
	struct transport_events events;
	void *arg;
	struct task task;
	size_t index;
};

struct fake {
	struct transport transport;
	struct loop *loop;
	char *base_url, *server_name, *ca_pem;
	TAILQ_HEAD(, call) open;
};

static struct {
	char *path, *body;
	int status;
} answers[ANSWERS_MAX];
static size_t n_answers;
static struct hook_fake_call calls[CALLS_MAX];
static size_t n_calls, n_cancelled, n_dialled;
static struct call *held[CALLS_MAX];
static size_t n_held;
static bool holds;
static char *(*answer_by)(const struct obj *review, int *ret_status);

static void call_end(struct call *c)
{
	for (size_t i = 0; i < n_held; i++)
		if (held[i] == c) {
			memmove(held + i, held + i + 1, (n_held - i - 1) * sizeof(*held));
			n_held--;
			break;
		}
	TAILQ_REMOVE(&c->fake->open, c, link);
	loop_unpost(c->fake->loop, &c->task);
	xfree(c);
}

static void send(struct call *c, int status, const char *body)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 22);
	const char *uid = obj_str(calls[c->index].review, "request.uid"), *at;
	struct transport_events events = c->events;
	void *arg = c->arg;
	struct error err = ERROR_INIT;
	while ((at = strstr(body, "\"UID\"")) != NULL) {
		strbuf_addf(&b, "%.*s\"%s\"", (int)(at - body), body, uid);
		body = at + strlen("\"UID\"");
	}
	strbuf_adds(&b, body);
	call_end(c);
	if (!status) {
		error_set(&err, E_IO, "https://x: connection reset");
		events.done(arg, &err);
		return;
	}
	events.head(arg, status, NULL);
	if (b.len)
		events.data(arg, strbuf_str(&b));
	events.done(arg, NULL);
}

static void answer(void *arg)
{
	struct call *c = arg;
	const char *path = calls[c->index].path;
	for (size_t i = n_answers; i-- > 0;)
		if (strncmp(answers[i].path, path, strlen(answers[i].path)) == 0) {
			send(c, answers[i].status, answers[i].body);
			return;
		}
	if (!answer_by)
		fail_msg("nobody answers %s", path);
	int status = 200;
	CLEANUP(xfreep) char *body = answer_by(calls[c->index].review, &status);
	send(c, status, body);
}

static struct call *fake_start(struct transport *t, const struct transport_request *r,
			       const struct transport_events *events, void *arg)
{
	struct fake *f = CONTAINER_OF(t, struct fake, transport);
	struct error err = ERROR_INIT;
	struct obj *review = NULL;
	assert_true(n_calls < CALLS_MAX);
	assert_string_equal(r->method, "POST");
	assert_ok(json_parse(r->body, &review, &err), &err);
	calls[n_calls] = (struct hook_fake_call){
		.base_url = xstrdup(f->base_url),
		.server_name = f->server_name ? xstrdup(f->server_name) : NULL,
		.ca_pem = f->ca_pem ? xstrdup(f->ca_pem) : NULL,
		.path = xstrdup(r->target),
		.timeout_ns = r->timeout_ns,
		.review = review};
	struct call *c = xcalloc(1, sizeof(*c));
	*c = (struct call){.fake = f, .events = *events, .arg = arg, .index = n_calls++};
	c->task = (struct task){.fn = answer, .arg = c};
	TAILQ_INSERT_TAIL(&f->open, c, link);
	if (holds)
		held[n_held++] = c;
	else
		loop_post(f->loop, &c->task);
	return c;
}

static void fake_cancel(struct transport *t UNUSED, struct call *c)
{
	n_cancelled++;
	call_end(c);
}

static void fake_free(struct transport *t)
{
	struct fake *f = CONTAINER_OF(t, struct fake, transport);
	n_dialled--;
	while (!TAILQ_EMPTY(&f->open))
		call_end(TAILQ_FIRST(&f->open));
	xfree(f->base_url);
	xfree(f->server_name);
	xfree(f->ca_pem);
	xfree(f);
}

int hook_fake_dial(struct loop *l, const struct transport_config *c, struct transport **ret,
		   struct error *err UNUSED)
{
	static const struct transport_ops ops = {fake_start, fake_cancel, fake_free};
	struct fake *f = xcalloc(1, sizeof(*f));
	f->transport.ops = &ops;
	f->loop = l;
	f->base_url = xstrdup(c->base_url);
	f->server_name = c->tls_server_name ? xstrdup(c->tls_server_name) : NULL;
	f->ca_pem = c->ca_pem ? xstrdup(c->ca_pem) : NULL;
	TAILQ_INIT(&f->open);
	*ret = &f->transport;
	n_dialled++;
	return 0;
}

static void free_text(const char *s)
{
	union {
		const char *from;
		void *to;
	} u = {.from = s};
	xfree(u.to);
}

void hook_fake_reset(void)
{
	for (size_t i = 0; i < n_answers; i++) {
		xfree(answers[i].path);
		xfree(answers[i].body);
	}
	for (size_t i = 0; i < n_calls; i++) {
		union {
			const struct obj *from;
			struct obj *to;
		} u = {.from = calls[i].review};
		obj_unref(u.to);
		free_text(calls[i].base_url);
		free_text(calls[i].server_name);
		free_text(calls[i].ca_pem);
		free_text(calls[i].path);
	}
	n_answers = n_calls = n_cancelled = 0;
	holds = false;
}

void hook_fake_answer(const char *path, int status, const char *body)
{
	assert_true(n_answers < ANSWERS_MAX);
	answers[n_answers].path = xstrdup(path);
	answers[n_answers].body = xstrdup(body);
	answers[n_answers++].status = status;
}

void hook_fake_answer_by(char *(*fn)(const struct obj *review, int *ret_status))
{
	answer_by = fn;
}

void hook_fake_hold(bool hold)
{
	holds = hold;
}

size_t hook_fake_waiting(void)
{
	return n_held;
}

void hook_fake_release(size_t n)
{
	for (size_t i = 0; i < n && n_held; i++) {
		struct call *c = held[0];
		memmove(held, held + 1, (n_held - 1) * sizeof(struct call *));
		n_held--;
		loop_post(c->fake->loop, &c->task);
	}
}

size_t hook_fake_calls(void)
{
	return n_calls;
}

const struct hook_fake_call *hook_fake_call(size_t i)
{
	assert_true(i < n_calls);
	return &calls[i];
}

size_t hook_fake_cancelled(void)
{
	return n_cancelled;
}

size_t hook_fake_dialled(void)
{
	return n_dialled;
}

void hook_fake_as_recorded(struct apifake *f, struct str line)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *c = NULL;
	(void)f;
	hook_fake_reset();
	assert_ok(json_parse(line, &c, &err), &err);
	const struct obj *asked = obj_get(c, "calls");
	for (size_t i = 0; i < obj_len(asked); i++) {
		const struct obj *call = obj_at(asked, i);
		hook_fake_answer(obj_str(call, "target"), (int)obj_i64(call, "status", 200),
				 obj_str(call, "answer"));
	}
}
