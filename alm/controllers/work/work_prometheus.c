/* Prometheus is asked: body {address, query, secret} of its server by URL, or {ns, service, query} through
 * the API server, as the account. The outcome is {text}, the answer, or why there is none. */
#include "alm/controllers/work/works.h"
#include "alm/io/http.h"
#include "alm/sources/prometheus.h"
#include "alm/unit/check_prometheus.h"

struct state {
	struct work_secret secret;
	struct prometheus_question *question;
};

static struct state *state_of(struct work *w)
{
	return (struct state *)w->state;
}

static void end(struct work *w, struct str body, const struct error *err)
{
	struct obj *value = NULL;
	if (!err) {
		value = obj_map();
		obj_set(value, "text", obj_stringn(body));
	}
	work_put(w, err, STR_NONE, value);
	work_done(w);
}

static void answered(void *arg, struct str body, const struct error *err)
{
	struct work *w = arg;
	state_of(w)->question = NULL;
	end(w, body, err);
}

static void ask(struct work *w, const struct obj *secret)
{
	const struct work_host *h = w->host;
	const struct obj *body = w->action->body;
	state_of(w)->question =
		prometheus_ask(w->loop, h->addresses, secret, obj_str(body, "address"),
			       obj_str(body, "query"), answered, w);
}

static void proxied(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	w->call = NULL;
	struct error err = ERROR_INIT;
	if (reply->err && (reply->err->code == E_UNAVAILABLE || reply->err->code == E_NOTFOUND)) {
		err = *reply->err; /* an address by hand is none for an API server, and it does not say so */
		error_wrap(&err, "the API server, which proxies a Service to Pods alone");
	}
	end(w, reply->text, err.code ? &err : reply->err);
}

static void ask_service(struct work *w, const char *service)
{
	const struct obj *body = w->action->body;
	const struct client_options o = {.as = w->action->as,
					 .timeout_ns = PROMETHEUS_ASK_NS,
					 .body_max = PROMETHEUS_ANSWER_MAX};
	const char *path = arena_fmt(w->a, "/api/v1/namespaces/%s/services/%s/proxy%s",
				     obj_str(body, "ns"), url_encode(str_of(service), w->a),
				     prometheus_target(obj_str(body, "query"), w->a));
	w->call = client_text(w->client, path, &o, proxied, w);
}

static void start(struct work *w)
{
	const char *service = obj_str(w->action->body, "service");
	if (service)
		ask_service(w, service);
	else
		work_with_secret(w, obj_str(w->action->body, "secret"), ask);
}

static void cancel(struct work *w)
{
	prometheus_cancel(state_of(w)->question);
}

const struct work_kind prometheus_work = {
	.name = "prometheus", .start = start, .cancel = cancel, .at_once = QUERIES_AT_ONCE};
