#include "alm/sources/prometheus.h"

#include <string.h>

#include "alm/base/visible.h"
#include "alm/obj/json_foreign.h"
#include "alm/unit/check_prometheus.h"
#include "catalog/weburl.h"

#define QUESTION_BYTES ((size_t)64 << 10)
#define SECRET_BYTES   ((size_t)4 << 20)
#define SAID_MAX       200 /* bytes of what a server says of an error */

struct prometheus_question {
	struct loop *loop;
	struct arena *a;
	const char *address;
	struct transport *transport;
	struct call *call;
	struct task deliver;
	struct strbuf body;
	int status;
	struct error err;
	prometheus_done done;
	void *arg;
};

void prometheus_cancel(struct prometheus_question *q)
{
	if (!q)
		return;
	loop_unpost(q->loop, &q->deliver);
	if (q->call)
		transport_cancel(q->transport, q->call);
	transport_free(q->transport);
	strbuf_release(&q->body);
	arena_free(q->a);
	xfree(q);
}

/* The error of an answer with another status than 200, with what it says. */
static int check(int status, struct str body, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error inner = ERROR_INIT;
	if (status == 200)
		return 0;
	if (json_foreign_parse(body, &o, &inner) == 0 && obj_str(o, "error")) {
		strbuf_adds(&b, ": ");
		visible_add(&b, str_clip(str_of(obj_str(o, "error")), SAID_MAX));
	}
	int code = status == 401   ? E_UNAUTHORIZED
		   : status == 403 ? E_FORBIDDEN
		   : status == 404 ? E_NOTFOUND
				   : E_UNAVAILABLE;
	return error_set(err, code, "Prometheus answers %d%s", status, b.buf ? b.buf : "");
}

/* In a turn of its own: a transport is not freed inside its callback. */
static void deliver(void *arg)
{
	struct prometheus_question *q = arg;
	if (!q->err.code)
		(void)check(q->status, strbuf_str(&q->body), &q->err);
	q->done(q->arg, strbuf_str(&q->body), q->err.code ? &q->err : NULL);
	prometheus_cancel(q);
}

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct prometheus_question *q = arg;
	(void)h;
	q->status = status;
}

static void on_data(void *arg, struct str chunk)
{
	struct prometheus_question *q = arg;
	strbuf_addstr(&q->body, chunk);
}

static void on_done(void *arg, const struct error *err)
{
	struct prometheus_question *q = arg;
	q->call = NULL;
	if (err)
		q->err = *err;
	loop_post(q->loop, &q->deliver);
}

/* "https://host:port", as credentials name it. */
static const char *origin_of(const char *address, struct arena *a)
{
	struct error err = ERROR_INIT;
	struct weburl url;
	return weburl_parse(str_of(address), "https", a, &url, &err) < 0 ? NULL : url.origin;
}

static int begin(struct prometheus_question *q, const struct address_policy *addresses,
		 const struct obj *secret, const char *query)
{
	static const struct transport_events events = {on_head, on_data, on_done};
	struct credentials c = {0};
	const char *origin = origin_of(q->address, q->a);
	if (secret && !origin)
		return error_set(&q->err, E_NOTALLOWED, "a token is sent over https:// only");
	if (secret && credentials_read(secret, origin, q->a, &c, &q->err) < 0)
		return -q->err.code;
	const struct transport_config config = {.base_url = q->address,
						.ca_pem = c.ca_pem,
						.token = c.token,
						.username = c.token ? NULL : c.username,
						.password = c.token ? NULL : c.password,
						.addresses = addresses};
	if (transport_curl_new(q->loop, &config, &q->transport, &q->err) < 0)
		return -q->err.code;
	struct transport_request r = {.method = "GET",
				      .target = prometheus_target(query, q->a),
				      .timeout_ns = PROMETHEUS_ASK_NS,
				      .idle_ns = PROMETHEUS_IDLE_NS,
				      .body_max = PROMETHEUS_ANSWER_MAX};
	http_header_add(&r.headers, "Accept", "application/json");
	q->call = transport_start(q->transport, &r, &events, q);
	return 0;
}

struct prometheus_question *prometheus_ask(struct loop *l, const struct address_policy *addresses,
					   const struct obj *secret, const char *address,
					   const char *query, prometheus_done done, void *arg)
{
	struct prometheus_question *q = xcalloc(1, sizeof(*q));
	q->loop = l;
	q->a = arena_new(QUESTION_BYTES + SECRET_BYTES);
	q->address = arena_strdup(q->a, address);
	q->deliver = (struct task){.fn = deliver, .arg = q};
	q->done = done;
	q->arg = arg;
	strbuf_init(&q->body, PROMETHEUS_ANSWER_MAX + 1);
	if (begin(q, addresses, secret, query) < 0)
		loop_post(l, &q->deliver);
	return q;
}

const char *prometheus_target(const char *query, struct arena *a)
{
	return arena_fmt(a, "/api/v1/query?query=%s", url_encode(str_of(query), a));
}
