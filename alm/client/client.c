/* client: see client.h. One call is one transport call, or several when a read is retried. */
#include "alm/client/client.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define TIMEOUT_DEFAULT (30 * NS_PER_S)
#define BODY_DEFAULT    ((size_t)16 << 20)
#define BACKOFF_MIN     (800 * NS_PER_MS)
#define BACKOFF_MAX     (30 * NS_PER_S)
#define RETRY_AFTER_MAX (10 * NS_PER_MIN) /* what a server may ask for */
#define DOUBLINGS_MAX   20

struct client_call {
	struct client *client;
	TAILQ_ENTRY(client_call) link;
	struct arena *arena; /* of the request */
	struct transport_request request;
	bool is_read, is_raw, is_urgent; /* is_read: it changes nothing, so it is retried */
	bool queued, slot;               /* waits for a place; has one */
	client_reply_fn fn;
	void *arg;
	int64_t timeout, deadline;
	struct call *call; /* NULL between two attempts */
	struct timer retry;
	unsigned attempts;
	/* of the answer */
	int status;
	int64_t retry_after;
	struct strbuf body;
	const char *warnings[CLIENT_WARNINGS_MAX];
	size_t n_warnings;
};

struct client {
	struct loop *loop;
	struct transport *transport;
	TAILQ_HEAD(, client_call) calls;
	size_t n_writes; /* in flight */
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

int64_t client_backoff(struct loop *l, unsigned n, int64_t base_ns, int64_t max_ns)
{
	n = n < DOUBLINGS_MAX ? n : DOUBLINGS_MAX;
	int64_t pause = base_ns > max_ns >> n ? max_ns : base_ns << n;
	/* three quarters of it are certain, so that clients that failed together part */
	return pause - (int64_t)loop_random_below(l, (uint64_t)pause / 4 + 1);
}

void client_status_error(const struct obj *status, int http, struct error *ret,
			 int64_t *ret_retry_after_ns)
{
	const char *reason = obj_str(status, "reason"), *message = obj_str(status, "message");
	int64_t code = obj_i64(status, "code", http);
	int64_t after = obj_i64(status, "details.retryAfterSeconds", 0);
	int known = error_from_http(http ? http : (int)code, reason ? reason : "");
	if (message && *message)
		error_set(ret, known, "%s", message);
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
	return k->status == 429 || k->status == 500 || (k->status >= 502 && k->status <= 504);
}

static void on_retry(void *arg)
{
	send_call(arg);
}

/* Reads only: another attempt, if the deadline allows one. */
static bool try_again(struct client_call *k, const struct error *err, int64_t retry_after)
{
	struct loop *l = k->client->loop;
	if (!k->is_read || !may_pass(k, err))
		return false;
	int64_t pause = client_backoff(l, k->attempts, BACKOFF_MIN, BACKOFF_MAX);
	pause = pause < retry_after ? retry_after : pause;
	if (loop_mono(l) + pause >= k->deadline)
		return false;
	k->attempts++;
	loop_arm(l, &k->retry, pause);
	return true;
}

/* A write that the server may have done though it did not say so. */
static bool maybe_applied(const struct client_call *k, const struct error *err)
{
	return !k->is_read && (err || k->status == 500 || k->status == 502 || k->status == 504);
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
	if (failed.code && try_again(k, err, retry_after))
		return;
	reply(k, body, failed.code ? &failed : NULL, retry_after,
	      failed.code && maybe_applied(k, err));
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

static void add_header(struct client_call *k, const char *name, const char *value)
{
	bool ok = http_header_add(&k->request.headers, name, arena_strdup(k->arena, value));
	assert(ok);
}

static const struct client_options no_options;

static struct client_call *call_new(struct client *c, const char *method,
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
	k->retry.fn = on_retry;
	k->retry.arg = k;
	k->timeout = o->timeout_ns ? o->timeout_ns : TIMEOUT_DEFAULT;
	k->deadline = loop_mono(c->loop) + k->timeout;
	strbuf_init(&k->body, body_max);
	k->request.method = method;
	k->request.body_max = body_max;
	if (o->as) {
		assert(!strpbrk(o->as, "\r\n")); /* the request would be the client's own */
		add_header(k, "Impersonate-User", o->as);
	}
	if (o->audit_id) {
		k->request.trusted_audit_id = arena_strdup(k->arena, o->audit_id);
		http_header_add(&k->request.headers, "Audit-ID", k->request.trusted_audit_id);
	}
	TAILQ_INSERT_TAIL(&c->calls, k, link);
	return k;
}

static struct client_call *call_start(struct client_call *k)
{
	/* what only asks waits, too: a thousand apps ask for their rights at once */
	k->queued = strcmp(k->request.method, "GET") != 0 && !k->is_urgent;
	if (!k->queued)
		send_call(k);
	else
		start_waiting(k->client);
	return k;
}

static void set_body(struct client_call *k, const char *type, struct str body)
{
	k->request.body.ptr = arena_memdup(k->arena, body.ptr, body.len);
	k->request.body.len = body.len;
	add_header(k, "Content-Type", type);
}

static void set_object(struct client_call *k, const char *type, const struct obj *o)
{
	CLEANUP(xfreep) char *text = json_text(o);
	set_body(k, type, str_of(text));
}

/* The path with fieldManager, force, dryRun and fieldValidation, as far as they are wanted. */
static const char *write_target(struct client_call *k, const char *path,
				const struct client_options *o, bool apply)
{
	const char *manager = o->field_manager ? o->field_manager : CLIENT_FIELD_MANAGER;
	return arena_fmt(
		k->arena, "%s?fieldManager=%s%s%s%s", path, url_encode(str_of(manager), k->arena),
		apply ? (o->force ? "&force=true" : "&force=false") : "",
		o->dry_run ? "&dryRun=All" : "", o->strict ? "&fieldValidation=Strict" : "");
}

struct client_call *client_read(struct client *c, const char *target, const char *accept,
				client_reply_fn fn, void *arg)
{
	struct client_call *k = call_new(c, "GET", &no_options, fn, arg);
	k->request.target = arena_strdup(k->arena, target);
	add_header(k, "Accept", accept ? accept : "application/json");
	return call_start(k);
}

struct client_call *client_text(struct client *c, const char *target,
				const struct client_options *o, client_reply_fn fn, void *arg)
{
	struct client_call *k = call_new(c, "GET", o, fn, arg);
	k->is_raw = true;
	k->request.target = arena_strdup(k->arena, target);
	add_header(k, "Accept", "application/json, */*"); /* a refusal is a Status */
	return call_start(k);
}

struct client_call *client_get(struct client *c, const struct resource *r, const char *ns,
			       const char *name, const struct client_options *o, client_reply_fn fn,
			       void *arg)
{
	o = o ? o : &no_options;
	struct client_call *k = call_new(c, "GET", o, fn, arg);
	k->request.target = resource_path(r, ns, name, o->subresource, k->arena);
	add_header(k, "Accept", "application/json");
	return call_start(k);
}

struct client_call *client_list_with(struct client *c, const struct resource *r, const char *ns,
				     const char *query, const struct client_options *o,
				     client_reply_fn fn, void *arg)
{
	struct client_call *k = call_new(c, "GET", o ? o : &no_options, fn, arg);
	const char *path = resource_path(r, ns, NULL, NULL, k->arena);
	k->request.target = *query ? arena_fmt(k->arena, "%s?%s", path, query) : path;
	add_header(k, "Accept", "application/json");
	return call_start(k);
}

struct client_call *client_list(struct client *c, const struct resource *r, const char *ns,
				const char *query, client_reply_fn fn, void *arg)
{
	return client_list_with(c, r, ns, query, NULL, fn, arg);
}

static struct client_call *write_object(struct client_call *k, const char *path, const char *type,
					const struct obj *body, const struct client_options *o)
{
	k->request.target =
		write_target(k, path, o, strcmp(type, "application/apply-patch+yaml") == 0);
	add_header(k, "Accept", "application/json");
	set_object(k, type, body);
	return call_start(k);
}

struct client_call *client_create(struct client *c, const struct resource *r, const char *ns,
				  const struct obj *body, const struct client_options *o,
				  client_reply_fn fn, void *arg)
{
	o = o ? o : &no_options;
	struct client_call *k = call_new(c, "POST", o, fn, arg);
	const char *path = resource_path(r, ns, NULL, NULL, k->arena);
	return write_object(k, path, "application/json", body, o);
}

struct client_call *client_replace(struct client *c, const struct resource *r, const char *ns,
				   const char *name, const struct obj *body,
				   const struct client_options *o, client_reply_fn fn, void *arg)
{
	o = o ? o : &no_options;
	struct client_call *k = call_new(c, "PUT", o, fn, arg);
	const char *path = resource_path(r, ns, name, o->subresource, k->arena);
	return write_object(k, path, "application/json", body, o);
}

/* NOLINTNEXTLINE(readability-function-size): what, with which type, and whom to tell */
struct client_call *client_patch(struct client *c, const struct resource *r, const char *ns,
				 const char *name, const char *type, const struct obj *patch,
				 const struct client_options *o, client_reply_fn fn, void *arg)
{
	o = o ? o : &no_options;
	struct client_call *k = call_new(c, "PATCH", o, fn, arg);
	const char *path = resource_path(r, ns, name, o->subresource, k->arena);
	return write_object(k, path, type, patch, o);
}

struct client_call *client_apply(struct client *c, const struct resource *r, const char *ns,
				 const char *name, const struct obj *body,
				 const struct client_options *o, client_reply_fn fn, void *arg)
{
	return client_patch(c, r, ns, name, "application/apply-patch+yaml", body, o, fn, arg);
}

static struct obj *delete_options(const struct client_options *o)
{
	struct obj *body = obj_map();
	obj_set_str(body, "apiVersion", "v1");
	obj_set_str(body, "kind", "DeleteOptions");
	if (o->uid)
		obj_set_path(body, "preconditions.uid", obj_string(o->uid));
	if (o->resource_version)
		obj_set_path(body, "preconditions.resourceVersion",
			     obj_string(o->resource_version));
	obj_set_str(body, "propagationPolicy", o->propagation);
	if (o->dry_run) {
		obj_set(body, "dryRun", obj_list());
		obj_append(obj_get_mut(body, "dryRun"), obj_string("All"));
	}
	return body;
}

struct client_call *client_delete(struct client *c, const struct resource *r, const char *ns,
				  const char *name, const struct client_options *o,
				  client_reply_fn fn, void *arg)
{
	o = o ? o : &no_options;
	struct client_call *k = call_new(c, "DELETE", o, fn, arg);
	CLEANUP(obj_unrefp) struct obj *body = delete_options(o);
	k->request.target = resource_path(r, ns, name, NULL, k->arena);
	add_header(k, "Accept", "application/json");
	set_object(k, "application/json", body);
	return call_start(k);
}

struct client_call *client_raw(struct client *c, const char *method, const char *target,
			       struct str body, const char *content_type, client_reply_fn fn,
			       void *arg)
{
	struct client_call *k = call_new(c, method, &no_options, fn, arg);
	k->is_raw = true;
	k->request.method = arena_strdup(k->arena, method);
	k->request.target = arena_strdup(k->arena, target);
	add_header(k, "Accept", "application/json, */*");
	if (body.len)
		set_body(k, content_type ? content_type : "application/json", body);
	return call_start(k);
}

bool client_refuses_body(const struct error *err)
{
	return err->code == E_INVALID || err->code == E_BADREQUEST ||
	       str_find(str_of(err->msg), STR("failed to create typed patch object")) >= 0;
}
