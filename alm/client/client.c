/* client: see client.h. One call is one transport call, or several when a read is retried. */
#include "alm/client/client.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "alm/base/clock.h"
#include "alm/client/client_internal.h"
#include "alm/client/status_text.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define TIMEOUT_DEFAULT (30 * NS_PER_S)
#define BODY_DEFAULT    ((size_t)16 << 20)
#define BACKOFF_MIN     (800 * NS_PER_MS)
#define BACKOFF_MAX     (30 * NS_PER_S)
#define RETRY_AFTER_MAX (10 * NS_PER_MIN) /* what a server may ask for */
#define DOUBLINGS_MAX   20

struct client {
	struct loop *loop;
	struct transport *transport;
	TAILQ_HEAD(, client_call) calls;
	size_t n_writes; /* in flight */
	int64_t hurry;   /* see client_hurry(); 0: none, or a server has answered */
};

struct client *client_new(struct loop *l, struct transport *t)
{
	struct client *c = xcalloc(1, sizeof(*c));
	c->loop = l;
	c->transport = t;
	TAILQ_INIT(&c->calls);
	return c;
}

struct transport *client_transport(struct client *c)
{
	return c->transport;
}

struct loop *client_loop(struct client *c)
{
	return c->loop;
}

void client_hurry(struct client *c, int64_t ns)
{
	c->hurry = ns;
}

int64_t client_backoff(struct loop *l, unsigned n, int64_t base_ns, int64_t max_ns)
{
	n = n < DOUBLINGS_MAX ? n : DOUBLINGS_MAX;
	int64_t pause = base_ns > max_ns >> n ? max_ns : base_ns << n;
	/* three quarters of it are certain, so that clients that failed together part */
	return pause - (int64_t)loop_random_below(l, (uint64_t)pause / 4 + 1);
}

/* An apply with a field that the kind has not: the API server calls it an error of its own (500), and it stays one. */
static bool is_no_field(const char *message)
{
	return cstr_has_prefix(message, "failed to create typed patch object");
}

void client_status_error(const struct obj *status, int http, struct error *ret,
			 int64_t *ret_retry_after_ns)
{
	const char *reason = obj_str(status, "reason"), *message = obj_str(status, "message");
	int64_t code = obj_i64(status, "code", http);
	int64_t after = obj_i64(status, "details.retryAfterSeconds", 0);
	int known = error_from_http(http ? http : (int)code, reason ? reason : "");
	if (known == E_INTERNAL && message && is_no_field(message))
		known = E_INVALID;
	if (message && *message)
		status_text_error(ret, known, message);
	else
		error_set(ret, known, "the server answered %d", http ? http : (int)code);
	if (after > 0 && after <= RETRY_AFTER_MAX / NS_PER_S)
		*ret_retry_after_ns = after * NS_PER_S;
}

static void call_free(struct client_call *k)
{
	TAILQ_REMOVE(&k->client->calls, k, link);
	if (k->call)
		transport_cancel(k->client->transport, k->call);
	loop_disarm(k->client->loop, &k->retry);
	strbuf_release(&k->body);
	arena_free(k->arena);
	xfree(k);
}

static void send_call(struct client_call *k);

/* The longest-waiting write takes a free place. */
static void start_waiting(struct client *c)
{
	struct client_call *k;
	TAILQ_FOREACH (k, &c->calls, link) {
		if (c->n_writes == CLIENT_WRITES_MAX)
			return;
		if (!k->queued)
			continue;
		k->queued = false;
		k->slot = true;
		k->deadline = loop_mono(c->loop) + k->timeout; /* it has waited on our account */
		c->n_writes++;
		send_call(k);
	}
}

static void release_slot(struct client_call *k)
{
	struct client *c = k->client;
	if (!k->slot)
		return;
	k->slot = false;
	c->n_writes--;
	start_waiting(c);
}

void client_cancel(struct client *c, struct client_call *call)
{
	assert(call->client == c);
	release_slot(call);
	call_free(call);
}

void client_free(struct client *c)
{
	if (!c)
		return;
	while (!TAILQ_EMPTY(&c->calls))
		call_free(TAILQ_FIRST(&c->calls));
	xfree(c);
}

static int64_t seconds(const char *text)
{
	int64_t v;
	if (!text || !str_parse_i64(str_of(text), &v) || v < 0)
		return 0;
	return v * NS_PER_S > RETRY_AFTER_MAX || v > RETRY_AFTER_MAX / NS_PER_S ? RETRY_AFTER_MAX
										: v * NS_PER_S;
}

/* 299 - "text with \" and \\" */
static void note_warning(struct client_call *k, const char *value)
{
	const char *quote = strchr(value, '"');
	if (!cstr_has_prefix(value, "299 ") || !quote || k->n_warnings == CLIENT_WARNINGS_MAX)
		return;
	char *text = arena_strdup(k->arena, quote + 1), *to = text;
	for (const char *p = quote + 1; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
		*to++ = *p;
	}
	*to = '\0';
	k->warnings[k->n_warnings++] = text;
}

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct client_call *k = arg;
	k->status = status;
	k->client->hurry = 0;
	k->retry_after = seconds(http_header(h, "Retry-After"));
	for (size_t i = 0; i < h->n; i++)
		if (strcasecmp(h->items[i].name, "Warning") == 0)
			note_warning(k, h->items[i].value);
}

static void on_data(void *arg, struct str chunk)
{
	struct client_call *k = arg;
	strbuf_addstr(&k->body, chunk);
}

static bool may_pass(const struct client_call *k, const struct error *err)
{
	if (err)
		return err->code == E_IO;
	bool is_5xx = k->status == 500 || (k->status >= 502 && k->status <= 504);
	return k->status == 429 || (is_5xx && !k->takes_5xx);
}

static void on_retry(void *arg)
{
	send_call(arg);
}

/* A write that was turned away untouched, and told when to come again: whoever sent it would send it
 * again at the next event, which is sooner. */
static bool was_put_off(const struct client_call *k, const struct error *err, int64_t retry_after)
{
	return !err && retry_after > 0 && (k->status == 429 || k->status == 503);
}

/* Another attempt, if the deadline allows one. */
static bool try_again(struct client_call *k, const struct error *err, int64_t retry_after)
{
	struct loop *l = k->client->loop;
	if (k->is_read ? !may_pass(k, err) : !was_put_off(k, err, retry_after))
		return false;
	int64_t pause = client_backoff(l, k->attempts, BACKOFF_MIN, BACKOFF_MAX);
	pause = pause < retry_after ? retry_after : pause;
	int64_t at = loop_mono(l) + pause, hurry = k->client->hurry;
	if (at >= k->deadline || (hurry && at > k->deadline - k->timeout + hurry))
		return false;
	k->attempts++;
	loop_arm(l, &k->retry, pause);
	return true;
}

/* A write that the server may have done though it did not say so. */
static bool maybe_applied(const struct client_call *k, const struct error *err,
			  const struct error *failed)
{
	bool refused = failed->code == E_INVALID;
	return !k->is_read &&
	       (err || (k->status == 500 && !refused) || k->status == 502 || k->status == 504);
}

/* Takes the call out and tells the caller, who may do anything but use the call again. */
static void reply(struct client_call *k, const struct obj *body, const struct error *err,
		  int64_t retry_after, bool maybe)
{
	struct client_reply r = {
		.status = k->status,
		.body = body,
		.text = strbuf_str(&k->body),
		.err = err,
		.retry_after_ns = retry_after,
		.maybe_applied = maybe,
		.warnings = k->warnings,
		.n_warnings = k->n_warnings,
	};
	struct client *c = k->client;
	release_slot(k);
	TAILQ_REMOVE(&c->calls, k, link);
	k->fn(k->arg, &r);
	strbuf_release(&k->body);
	arena_free(k->arena);
	xfree(k);
}

/* The answer's JSON; NULL if it is none, or no object. */
static struct obj *parse_body(struct client_call *k, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (!k->body.len || k->status == 304 || json_parse(strbuf_str(&k->body), &o, err) < 0)
		return NULL;
	if (!meta_is_well_formed(o)) {
		error_set(err, E_INVALID, "neither an object nor a list of objects");
		return NULL;
	}
	return STEAL(o);
}

bool client_is_list(const struct obj *body)
{
	return cstr_has_suffix(obj_str(body, "kind"), "List") ||
	       obj_type(obj_get(body, "items")) == OBJ_LIST;
}

static void on_done(void *arg, const struct error *err)
{
	struct client_call *k = arg;
	struct error failed = ERROR_INIT, unreadable = ERROR_INIT;
	int64_t retry_after = k->retry_after;
	k->call = NULL;
	CLEANUP(obj_unrefp) struct obj *body = err ? NULL : parse_body(k, &unreadable);
	if (err)
		error_copy(&failed, err);
	else if (k->status >= 400)
		client_status_error(body, k->status, &failed, &retry_after);
	else if (unreadable.code && !k->is_raw)
		error_set(&failed, E_INTERNAL, "the server's answer cannot be used: %s",
			  unreadable.msg);
	else if (k->is_list && !client_is_list(body))
		error_set(&failed, E_INTERNAL, "the server's answer is no list");
	if (failed.code && try_again(k, err, retry_after))
		return;
	reply(k, body, failed.code ? &failed : NULL, retry_after,
	      failed.code && maybe_applied(k, err, &failed));
}

static void send_call(struct client_call *k)
{
	static const struct transport_events events = {on_head, on_data, on_done};
	int64_t left = k->deadline - loop_mono(k->client->loop);
	strbuf_clear(&k->body);
	k->status = 0;
	k->retry_after = 0;
	k->n_warnings = 0;
	k->request.timeout_ns = left > NS_PER_MS ? left : NS_PER_MS;
	k->call = transport_start(k->client->transport, &k->request, &events, k);
}

struct client_call *client_call_new(struct client *c, const char *method,
				    const struct client_options *o, client_reply_fn fn, void *arg)
{
	struct client_call *k = xcalloc(1, sizeof(*k));
	size_t body_max = o->body_max ? o->body_max : BODY_DEFAULT;
	k->client = c;
	k->arena = arena_new(body_max);
	k->fn = fn;
	k->arg = arg;
	k->is_read = o->asks || strcmp(method, "GET") == 0;
	k->is_urgent = o->urgent;
	k->takes_5xx = o->takes_5xx;
	k->retry.fn = on_retry;
	k->retry.arg = k;
	k->timeout = o->timeout_ns ? o->timeout_ns : TIMEOUT_DEFAULT;
	k->deadline = loop_mono(c->loop) + k->timeout;
	strbuf_init(&k->body, body_max);
	k->request.method = method;
	k->request.body_max = body_max;
	TAILQ_INSERT_TAIL(&c->calls, k, link);
	return k;
}

struct client_call *client_call_start(struct client_call *k)
{
	/* what only asks waits, too: a thousand apps ask for their rights at once */
	k->queued = strcmp(k->request.method, "GET") != 0 && !k->is_urgent;
	if (!k->queued)
		send_call(k);
	else
		start_waiting(k->client);
	return k;
}

bool client_refuses_body(const struct error *err)
{
	return err->code == E_INVALID || err->code == E_BADREQUEST;
}
