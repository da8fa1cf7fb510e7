#include "alm/sources/remote.h"

#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "alm/base/map.h"
#include "alm/base/strbuf.h"

#define CALL_BYTES ((size_t)256 << 10)

struct remote_call {
	TAILQ_ENTRY(remote_call) link;
	struct remote *remote;
	struct arena *arena;
	struct remote_request request; /* copied into the arena */
	struct weburl home, url;       /* where it was sent first; where it is now */
	struct transport *transport;
	struct call *call;
	struct http_headers headers;
	struct strbuf body;
	int status;
	unsigned n_redirects;
	struct task refuse; /* a request that could not be sent is reported in a later turn */
	struct error failed;
	remote_done done;
	void *arg;
};

struct remote {
	struct loop *loop;
	char *ca_pem;
	const struct address_policy *addresses;
	struct map *origins; /* "https://host" -> struct transport */
	TAILQ_HEAD(, remote_call) calls;
};

static void free_transport(void *p)
{
	transport_free(p);
}

struct remote *remote_new(struct loop *l, const char *ca_pem,
			  const struct address_policy *addresses)
{
	struct remote *r = xcalloc(1, sizeof(*r));
	r->loop = l;
	r->ca_pem = ca_pem ? xstrdup(ca_pem) : NULL;
	r->addresses = addresses;
	r->origins = map_new(free_transport);
	TAILQ_INIT(&r->calls);
	return r;
}

static void call_free(struct remote_call *c)
{
	strbuf_release(&c->body);
	arena_free(c->arena);
	xfree(c);
}

void remote_cancel(struct remote_call *c)
{
	if (c->call)
		transport_cancel(c->transport, c->call);
	loop_unpost(c->remote->loop, &c->refuse);
	TAILQ_REMOVE(&c->remote->calls, c, link);
	call_free(c);
}

void remote_free(struct remote *r)
{
	struct remote_call *c;
	if (!r)
		return;
	while ((c = TAILQ_FIRST(&r->calls)) != NULL)
		remote_cancel(c);
	map_free(r->origins);
	xfree(r->ca_pem);
	xfree(r);
}

static struct transport *transport_of(struct remote *r, const char *origin, struct error *err)
{
	struct transport *t = map_get(r->origins, origin);
	if (t)
		return t;
	if (map_count(r->origins) >= REMOTE_ORIGINS_MAX) {
		error_set(err, E_LIMIT, "%s: the source leads to more than %d servers", origin,
			  REMOTE_ORIGINS_MAX);
		return NULL;
	}
	struct transport_config tc = {
		.base_url = origin, .ca_pem = r->ca_pem, .addresses = r->addresses};
	if (transport_curl_new(r->loop, &tc, &t, err) < 0)
		return NULL;
	map_set(r->origins, origin, t);
	return t;
}

static void finish(struct remote_call *c, const struct error *err)
{
	struct remote_reply reply = {.status = c->status,
				     .headers = &c->headers,
				     .url = &c->url,
				     .body = strbuf_str(&c->body),
				     .err = err};
	TAILQ_REMOVE(&c->remote->calls, c, link);
	c->done(c->arg, &reply);
	call_free(c);
}

static void refused(void *arg)
{
	struct remote_call *c = arg;
	finish(c, &c->failed);
}

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct remote_call *c = arg;
	c->status = status;
	c->headers.n = 0;
	for (size_t i = 0; i < h->n; i++)
		http_header_add(&c->headers, arena_strdup(c->arena, h->items[i].name),
				arena_strdup(c->arena, h->items[i].value));
}

static void on_data(void *arg, struct str chunk)
{
	struct remote_call *c = arg;
	strbuf_addstr(&c->body, chunk);
}

static void start(struct remote_call *c);

static bool is_redirect(const struct remote_call *c)
{
	return c->status >= 301 && c->status <= 308 && c->status != 304 && c->status != 305 &&
	       c->status != 306 &&
	       (!strcmp(c->request.method, "GET") || !strcmp(c->request.method, "HEAD"));
}

static int follow(struct remote_call *c, struct error *err)
{
	const char *to = http_header(&c->headers, "Location");
	if (!to)
		return error_set(err, E_IO, "answers %d without Location", c->status);
	if (++c->n_redirects > REMOTE_REDIRECTS_MAX)
		return error_set(err, E_IO, "more than %d redirects", REMOTE_REDIRECTS_MAX);
	return weburl_resolve(&c->url, str_of(to), c->arena, &c->url, err);
}

/* The transport knows the server only; people want to know what was asked for. */
static const struct error *name_url(struct remote_call *c, const struct error *err)
{
	struct str msg = str_of(err->msg), origin = str_of(c->url.origin);
	if (str_has_prefix(msg, origin))
		msg = str_skip(msg, origin.len + 2);
	error_set(&c->failed, err->code, "%s: %.*s", weburl_text(&c->url, c->arena), STR_ARG(msg));
	return &c->failed;
}

static void on_done(void *arg, const struct error *err)
{
	struct remote_call *c = arg;
	c->call = NULL;
	if (err)
		err = name_url(c, err);
	if (!err && is_redirect(c)) {
		const char *from = weburl_text(&c->url, c->arena);
		strbuf_clear(&c->body);
		if (follow(c, &c->failed) == 0) {
			start(c);
			return;
		}
		error_wrap(&c->failed, "%s", from);
		err = &c->failed;
	}
	finish(c, err);
}

static void add(struct transport_request *r, const char *name, const char *value)
{
	if (value)
		http_header_add(&r->headers, name, value);
}

static void start(struct remote_call *c)
{
	static const struct transport_events events = {on_head, on_data, on_done};
	const struct remote_request *q = &c->request;
	struct transport_request r = {.method = q->method,
				      .target = weburl_target(&c->url, c->arena),
				      .body = q->body,
				      .timeout_ns = q->timeout_ns,
				      .idle_ns = REMOTE_IDLE_NS,
				      .body_max = q->body_max};
	c->status = 0;
	c->transport = transport_of(c->remote, c->url.origin, &c->failed);
	if (arena_over(c->arena))
		error_set(&c->failed, E_LIMIT, "%s: the answer's head is too large", c->url.origin);
	if (!c->transport || c->failed.code) {
		loop_post(c->remote->loop, &c->refuse);
		return;
	}
	if (weburl_same_origin(&c->home, &c->url))
		add(&r, "Authorization", q->authorization);
	add(&r, "Accept", q->accept);
	add(&r, "Content-Type", q->content_type);
	add(&r, "If-None-Match", q->if_none_match);
	add(&r, "If-Modified-Since", q->if_modified_since);
	c->call = transport_start(c->transport, &r, &events, c);
}

static const char *copy(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : NULL;
}

struct remote_call *remote_send(struct remote *r, const struct remote_request *q, remote_done done,
				void *arg)
{
	struct remote_call *c = xcalloc(1, sizeof(*c));
	c->remote = r;
	c->arena = arena_new(CALL_BYTES + q->body.len);
	c->done = done;
	c->arg = arg;
	c->refuse = (struct task){.fn = refused, .arg = c};
	strbuf_init(&c->body, q->body_max + 1);
	c->home = (struct weburl){arena_strdup(c->arena, q->url->origin),
				  arena_strdup(c->arena, q->url->path),
				  copy(c->arena, q->url->query)};
	c->url = c->home;
	c->request = (struct remote_request){
		.method = arena_strdup(c->arena, q->method ? q->method : "GET"),
		.authorization = copy(c->arena, q->authorization),
		.accept = copy(c->arena, q->accept),
		.content_type = copy(c->arena, q->content_type),
		.if_none_match = copy(c->arena, q->if_none_match),
		.if_modified_since = copy(c->arena, q->if_modified_since),
		.body = str_n(arena_text(c->arena, q->body.ptr ? q->body.ptr : "", q->body.len),
			      q->body.len),
		.body_max = q->body_max,
		.timeout_ns = q->timeout_ns ? q->timeout_ns : REMOTE_TIMEOUT_NS,
	};
	TAILQ_INSERT_TAIL(&r->calls, c, link);
	start(c);
	return c;
}

int remote_check(const struct remote_reply *reply, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	if (reply->err)
		return error_copy(err, reply->err);
	if (reply->status >= 200 && reply->status < 300)
		return 0;
	const char *url = weburl_text(reply->url, a);
	if (reply->status == 401 || reply->status == 403)
		return error_set(err, reply->status == 401 ? E_UNAUTHORIZED : E_FORBIDDEN,
				 "%s: answers %d; the Secret of spec.source.secretRef gives "
				 "username and password, or token",
				 url, reply->status);
	return error_set(err, reply->status == 404 ? E_NOTFOUND : E_UNAVAILABLE, "%s: answers %d",
			 url, reply->status);
}
