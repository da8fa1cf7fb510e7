/* The end of the log that tells why a Job failed, or what it did (body.well), read as the account: its Pods by body.selector in
 * body.namespace, then the log of the one container (pod_log.h). The outcome is {pod, container, reason, text}, or
 * null where no container ended so. */
#include "alm/controllers/work/works.h"
#include "alm/io/http.h"
#include "alm/unit/pod_log.h"

/* A server counts the bytes from the first of these lines. */
#define QUERY     "&tailLines=10&limitBytes=16384"
#define LOG_BYTES ((size_t)64 << 10)
#define PODS_MAX  "100"

_Static_assert(POD_LOG_LINES == 10, "as many are asked for");

static const struct resource pods = {"", "v1", "pods", "Pod", true};

static void end(struct work *w, const struct error *err)
{
	work_put(w, err, STR_NONE, err ? NULL : w->found ? STEAL(w->found) : obj_null());
	work_done(w);
}

static void has_log(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	w->call = NULL;
	if (!reply->err) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LOG_BYTES);
		/* before it is cut, as the rest of a secret would not be known again */
		const char *text = arena_strndup(w->a, reply->text.ptr, reply->text.len);
		pod_log_print(str_of(work_hide_text(w, text)), &b);
		obj_set_str(w->found, "text", b.buf);
	}
	end(w, reply->err);
}

static void has_pods(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	const struct client_options o = {.as = w->action->as, .body_max = LOG_BYTES};
	const char *ns = obj_str(w->action->body, "namespace");
	struct pod_log_source from;
	w->call = NULL;
	bool well = obj_flag(w->action->body, "well", false);
	if (reply->err || !pod_log_find(obj_get(reply->body, "items"), well, &from)) {
		end(w, reply->err);
		return;
	}
	w->found = obj_map();
	obj_set_str(w->found, "pod", from.pod);
	obj_set_str(w->found, "container", from.container);
	obj_set_str(w->found, "reason", from.reason);
	const char *path = resource_path(&pods, ns, from.pod, "log", w->a);
	const char *container = url_encode(str_of(from.container), w->a);
	w->call = client_text(w->client,
			      arena_fmt(w->a, "%s?container=%s%s" QUERY, path, container,
					from.previous ? "&previous=true" : ""),
			      &o, has_log, w);
}

static void start(struct work *w)
{
	const struct client_options o = {.as = w->action->as};
	const struct obj *body = w->action->body;
	const char *selector = url_encode(str_of(obj_str(body, "selector")), w->a);
	w->call = client_list_with(w->client, &pods, obj_str(body, "namespace"),
				   arena_fmt(w->a, "labelSelector=%s&limit=" PODS_MAX, selector),
				   &o, has_pods, w);
}

const struct work_kind log_work = {.name = "log", .start = start};
