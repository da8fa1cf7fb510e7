#include "alm/cli/session.h"

#include <string.h>
#include <strings.h>

#include "alm/base/clock.h"
#include "alm/cli/nearest.h"
#include "alm/cli/not_there.h"
#include "alm/cli/session_exec.h"
#include "alm/cli/session_server.h"
#include "alm/cli/term.h"
#include "alm/client/kubeconfig.h"
#include "alm/client/status_text.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define REQUEST_NS    (30 * NS_PER_S)
#define ANSWER_MAX    ((size_t)256 << 20)
#define EVENT_MAX     ((size_t)8 << 20)
#define HURRY         (2 * NS_PER_S) /* who started a command waits for it */
#define WATCH_IDLE_NS (120 * NS_PER_S)
#define QPS           5 /* where --burst alone is given; as client-go */
#define BURST         10
#define QPS_MIN       0.1
#define QPS_MAX       10000

struct session {
	struct cli *cli;
	struct loop *loop, *own_loop; /* own_loop NULL: it is the caller's */
	struct transport *transport;
	struct client *client;
	struct discovery *discovery;
	const char *ns;
	struct transport_config config; /* strings in the arena of the command */
	struct session_exec *exec;      /* NULL: no program prints the credentials */
	bool stopped;
};

/* --qps N --burst N, of commands that have them. */
static int limit_rate(struct session *s, struct error *err)
{
	const char *text = cli_value(s->cli, "qps");
	double qps = QPS;
	int64_t burst;
	if (!text && !cli_value(s->cli, "burst"))
		return 0;
	if (text && (!str_parse_double(str_of(text), &qps) || !(qps >= QPS_MIN && qps <= QPS_MAX)))
		return error_set(err, E_USAGE,
				 "--qps %.40s: want a number of requests a second, from 0.1 to "
				 "10000",
				 text);
	if (cli_int(s->cli, "burst", BURST, &burst, err) < 0)
		return -err->code;
	if (burst < 1 || burst > TRANSPORT_BURST_MAX)
		return error_set(err, E_USAGE, "--burst %lld: want a number from 1 to %d",
				 (long long)burst, TRANSPORT_BURST_MAX);
	s->transport = transport_limited_new(s->loop, s->transport, qps, burst);
	return 0;
}

int session_open(struct cli *c, struct session **ret, struct error *err)
{
	return session_open_on(c, NULL, ret, err);
}

int session_open_on(struct cli *c, struct loop *loop, struct session **ret, struct error *err)
{
	CLEANUP(session_freep) struct session *s = xcalloc(1, sizeof(*s));
	struct kubeconfig_target t = {0};
	int r = session_server(c, &t, err);
	if (r < 0)
		return r;
	s->cli = c;
	s->ns = cli_value(c, "namespace") ? cli_value(c, "namespace")
		: t.ns && *t.ns           ? t.ns
					  : "default";
	t.transport.user_agent = "alm/" ALM_VERSION;
	s->own_loop = loop ? NULL : loop_event_new();
	s->loop = loop ? loop : s->own_loop;
	if (t.exec && session_exec_new(c, s->loop, t.exec, &t.transport, &s->exec, err) < 0)
		return -err->code;
	s->config = t.transport;
	r = transport_curl_new(s->loop, &t.transport, &s->transport, err);
	if (r >= 0 && s->exec)
		session_exec_keep(s->exec, s->transport);
	if (r < 0 || limit_rate(s, err) < 0)
		return -err->code;
	s->client = client_new(s->loop, s->transport);
	client_hurry(s->client, HURRY);
	*ret = STEAL(s);
	return 0;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	discovery_free(s->discovery);
	client_free(s->client);
	session_exec_free(s->exec);
	transport_free(s->transport);
	loop_free(s->own_loop);
	xfree(s);
}

struct loop *session_loop(struct session *s)
{
	return s->loop;
}

struct transport *session_transport(struct session *s)
{
	return s->transport;
}

struct client *session_client(struct session *s)
{
	return s->client;
}

const char *session_namespace(const struct session *s)
{
	return s->ns;
}

const struct transport_config *session_config(const struct session *s)
{
	return &s->config;
}

struct waiter {
	struct session *s;
	int status;
	struct strbuf body;
	struct error err;
	bool done;
};

static void print_warnings(const struct http_headers *h)
{
	for (size_t i = 0; i < h->n; i++) {
		/* 299 - "text" */
		struct str v = str_of(h->items[i].value), code, text;
		if (strcasecmp(h->items[i].name, "Warning") != 0 ||
		    !str_cut(v, '"', &code, &text) || !str_rcut(text, '"', &text, &code))
			continue;
		term_error("Warning: %.*s\n", STR_ARG(text));
	}
}

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct waiter *w = arg;
	w->status = status;
	print_warnings(h);
}

static void on_data(void *arg, struct str chunk)
{
	struct waiter *w = arg;
	strbuf_addstr(&w->body, chunk);
}

static void on_done(void *arg, const struct error *err)
{
	struct waiter *w = arg;
	if (err)
		error_copy(&w->err, err);
	w->done = true;
	loop_stop(w->s->loop);
}

static int reply_of(struct waiter *w, const struct session_request *q, struct session_reply *ret,
		    struct error *err)
{
	struct error bad = ERROR_INIT;
	struct obj *body = NULL;
	if (w->err.code)
		return error_copy(err, &w->err);
	if (q->status_only) {
		*ret = (struct session_reply){.status = w->status};
		return 0;
	}
	if (strbuf_check(&w->body, "the server's answer", err) < 0)
		return -err->code;
	if (w->body.len && json_parse(strbuf_str(&w->body), &body, &bad) >= 0)
		obj_keep(w->s->cli->arena, body);
	const char *message = obj_str(body, "message"), *reason = obj_str(body, "reason");
	int code = error_from_http(w->status, reason ? reason : "");
	if (w->status >= 400 && message)
		return status_text_error(err, code, message);
	if (w->status >= 400)
		return error_set(err, code, "%s %s: HTTP %d %s%s", q->method, q->target, w->status,
				 error_reason(code),
				 code == E_NOTFOUND ? not_there_path(q->target) : "");
	if (!body && w->body.len)
		return error_set(err, E_INTERNAL, "%s %s: the answer is no JSON: %s", q->method,
				 q->target, bad.msg);
	if (body && !meta_is_well_formed(body))
		return error_set(err, E_INTERNAL,
				 "%s %s: the answer is neither an object nor a list of objects",
				 q->method, q->target);
	*ret = (struct session_reply){.status = w->status, .body = body};
	return 0;
}

int session_send(struct session *s, const struct session_request *q, struct session_reply *ret,
		 struct error *err)
{
	static const struct transport_events events = {on_head, on_data, on_done};
	struct waiter w = {.s = s};
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(ANSWER_MAX);
	struct transport_request r = {
		.method = q->method,
		.target = q->target,
		.timeout_ns = q->timeout_ns ? q->timeout_ns : REQUEST_NS,
		.body_max = ANSWER_MAX,
	};
	http_header_add(&r.headers, "Accept", q->accept ? q->accept : ACCEPT_JSON);
	if (q->body) {
		json_print(q->body, &body);
		r.body = strbuf_str(&body);
		http_header_add(&r.headers, "Content-Type",
				q->content_type ? q->content_type : ACCEPT_JSON);
	}
	strbuf_init(&w.body, ANSWER_MAX);
	transport_start(s->transport, &r, &events, &w);
	while (!w.done)
		loop_run(s->loop);
	int rc = reply_of(&w, q, ret, err);
	strbuf_release(&w.body);
	return rc;
}

int session_get(struct session *s, const char *target, const struct obj **ret, struct error *err)
{
	struct session_request q = {.method = "GET", .target = target};
	struct session_reply reply;
	int r = session_send(s, &q, &reply, err);
	if (r >= 0)
		*ret = reply.body;
	return r;
}

static void on_discovery(void *arg, const struct error *err)
{
	struct waiter *w = arg;
	on_done(w, err);
}

static int refresh(struct session *s, struct error *err)
{
	struct waiter w = {.s = s};
	if (!s->discovery)
		s->discovery = discovery_new(s->client);
	discovery_refresh(s->discovery, on_discovery, &w);
	while (!w.done)
		loop_run(s->loop);
	return w.err.code ? error_copy(err, &w.err) : 0;
}

const struct discovery *session_discovery(struct session *s, struct error *err)
{
	if (!s->discovery && refresh(s, err) < 0)
		return NULL;
	return s->discovery;
}

static const char *resource_hint(const struct session *s, const struct discovery *d,
				 const char *name)
{
	CLEANUP(obj_unrefp) struct obj *names = obj_list();
	size_t n;
	const struct resource *const *all = discovery_all(d, &n);
	for (size_t i = 0; i < n; i++)
		obj_append(names, obj_string(all[i]->plural));
	for (size_t i = 0; i < n; i++)
		obj_append(names, obj_string(discovery_singular(d, all[i])));
	return nearest_hint(name, names, "", s->cli->arena);
}

int session_resource(struct session *s, const char *name, struct resource *ret, struct error *err)
{
	const struct discovery *d = session_discovery(s, err);
	const struct resource *r = d ? discovery_name(d, name) : NULL;
	if (!d)
		return -err->code;
	if (!r)
		return error_set(err, E_NOTFOUND,
				 "the server doesn't have a resource type \"%s\"%s", name,
				 resource_hint(s, d, name));
	*ret = *r;
	return 0;
}

int session_kind(struct session *s, const struct obj *o, struct resource *ret, struct error *err)
{
	struct gvk g;
	const struct discovery *d = session_discovery(s, err);
	if (!d)
		return -err->code;
	if (!gvk_of(o, s->cli->arena, &g))
		return error_set(err, E_INVALID, "apiVersion or kind is not set");
	const struct resource *r = discovery_kind(d, g.group, g.version, g.kind);
	/* A CRD of the same command may have come a moment ago. */
	if (!r && refresh(s, err) >= 0)
		r = discovery_kind(d, g.group, g.version, g.kind);
	if (!r)
		return error_set(err, E_NOTFOUND, "no matches for kind \"%s\" in version \"%s\"%s",
				 g.kind, meta_api_version(o), not_there_kind(d, g.group));
	*ret = *r;
	return 0;
}

const char *session_ns(const struct session *s, const struct resource *r, bool all)
{
	return r->namespaced && !all ? s->ns : NULL;
}

const char *session_target(struct session *s, const struct resource *r, const char *ns,
			   const char *name, const char *query)
{
	struct arena *a = s->cli->arena;
	const char *path = resource_path(r, ns, name ? url_encode(str_of(name), a) : NULL, NULL, a);
	return query && *query ? arena_fmt(a, "%s?%s", path, query) : path;
}

struct session_watch {
	struct session *s;
	struct call *call;
	struct strbuf line;
	struct error refused;
	int status;
	session_event_fn fn;
	session_closed_fn closed;
	void *arg;
	bool dead, busy, doomed; /* doomed: freed by a callback, gone when it returns */
};

static void watch_head(void *arg, int status, const struct http_headers *h)
{
	struct session_watch *w = arg;
	(void)h;
	w->status = status;
}

static void one_event(struct session_watch *w)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (json_parse(strbuf_str(&w->line), &o, &err) < 0)
		return;
	w->fn(w->arg, o);
}

static void watch_release(struct session_watch *w)
{
	strbuf_release(&w->line);
	xfree(w);
}

static void watch_data(void *arg, struct str chunk)
{
	struct session_watch *w = arg;
	w->busy = true;
	while (chunk.len && !w->doomed) {
		ptrdiff_t n = str_find_char(chunk, '\n');
		strbuf_addstr(&w->line, str_sub(chunk, 0, n < 0 ? chunk.len : (size_t)n));
		if (n < 0)
			break;
		chunk = str_skip(chunk, (size_t)n + 1);
		if (w->status < 400)
			one_event(w);
		strbuf_clear(&w->line);
	}
	w->busy = false;
	if (w->doomed)
		watch_release(w);
}

static void watch_done(void *arg, const struct error *err)
{
	struct session_watch *w = arg;
	struct error refused = ERROR_INIT;
	w->dead = true;
	w->call = NULL;
	if (!err && w->status >= 400) {
		error_set(&refused, error_from_http(w->status, ""), "watch: HTTP %d", w->status);
		err = &refused;
	}
	w->closed(w->arg, err);
}

struct session_watch *session_watch_start(struct session *s, const char *target, const char *accept,
					  session_event_fn fn, session_closed_fn closed, void *arg)
{
	static const struct transport_events events = {watch_head, watch_data, watch_done};
	struct session_watch *w = xcalloc(1, sizeof(*w));
	struct transport_request r = {.method = "GET", .target = target, .idle_ns = WATCH_IDLE_NS};
	w->s = s;
	w->fn = fn;
	w->closed = closed;
	w->arg = arg;
	strbuf_init(&w->line, EVENT_MAX);
	http_header_add(&r.headers, "Accept", accept);
	w->call = transport_start(s->transport, &r, &events, w);
	return w;
}

void session_watch_free(struct session_watch *w)
{
	if (!w)
		return;
	if (!w->dead && w->call)
		transport_cancel(w->s->transport, w->call);
	w->doomed = true;
	if (!w->busy)
		watch_release(w);
}

static void time_over(void *arg)
{
	session_stop(arg);
}

int session_run(struct session *s, int64_t timeout_ns)
{
	struct timer t = {.fn = time_over, .arg = s};
	s->stopped = false;
	int64_t end = loop_mono(s->loop) + timeout_ns;
	loop_arm(s->loop, &t, timeout_ns);
	while (!s->stopped)
		loop_run(s->loop);
	loop_disarm(s->loop, &t);
	return loop_mono(s->loop) >= end ? -E_TIMEOUT : 0;
}

void session_stop(struct session *s)
{
	s->stopped = true;
	loop_stop(s->loop);
}
