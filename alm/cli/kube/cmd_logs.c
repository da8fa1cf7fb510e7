/* cmd_logs: what a container wrote, as the server hands it out. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/io/http.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define FOLLOW_NS     (365 * 24 * NS_PER_HOUR)
#define ANSWER_NS     (60 * NS_PER_S)
#define REFUSAL_BYTES ((size_t)64 << 10)

static const struct resource pods = {"", "v1", "pods", "Pod", true};

struct stream {
	struct session *s;
	int status;
	struct strbuf refusal; /* the body of an answer of 400 and more */
	struct error err;
	bool done;
};

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct stream *x = arg;
	(void)h;
	x->status = status;
}

static void on_data(void *arg, struct str chunk)
{
	struct stream *x = arg;
	int lost = 0;
	if (x->status >= 400) {
		visible_add_lines(&x->refusal, chunk);
		return;
	}
	lost = term_data(chunk);
	if (!lost)
		lost = term_flush();
	if (lost && !x->err.code) {
		error_set(&x->err, E_IO, "standard output: %s", strerror(lost));
		session_stop(x->s);
	}
}

static void on_done(void *arg, const struct error *err)
{
	struct stream *x = arg;
	x->done = true;
	if (err && !x->err.code)
		x->err = *err;
	session_stop(x->s);
}

/* A Status, or what else it says. */
static int refused(const struct stream *x, const char *pod, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error ignored = ERROR_INIT;
	int code = error_from_http(x->status, "");
	if (json_parse(strbuf_str(&x->refusal), &o, &ignored) == 0 && obj_str(o, "message"))
		return error_set(err, code, "logs of %s: %s", pod, obj_str(o, "message"));
	return error_set(err, code, "logs of %s: HTTP %d %.*s", pod, x->status,
			 STR_ARG(str_clip(strbuf_str(&x->refusal), 200)));
}

static const char *query(const struct cli *c)
{
	static const char *const names[][2] = {{"container", "container"}, {"tail", "tailLines"}};
	static const char *const flags[] = {"follow", "previous", "timestamps"};
	const char *q = "";
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (cli_value(c, names[i][0]))
			q = arena_fmt(c->arena, "%s&%s=%s", q, names[i][1],
				      url_encode(str_of(cli_value(c, names[i][0])), c->arena));
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (cli_flag(c, flags[i]))
			q = arena_fmt(c->arena, "%s&%s=true", q, flags[i]);
	return *q ? q + 1 : q;
}

static int read_log(struct cli *c, struct session *s, const char *pod, struct error *err)
{
	static const struct transport_events events = {on_head, on_data, on_done};
	struct stream x = {.s = s};
	int64_t since = 0;
	const char *q = query(c);
	if (cli_duration(c, "since", 0, &since, err) < 0)
		return -err->code;
	if (since)
		q = arena_fmt(c->arena, "%s%ssinceSeconds=%lld", q, *q ? "&" : "",
			      (long long)((since + NS_PER_S - 1) / NS_PER_S));
	const char *base = session_target(s, &pods, session_namespace(s), pod, NULL);
	struct transport_request r = {
		.method = "GET",
		.target = arena_fmt(c->arena, "%s/log%s%s", base, *q ? "?" : "", q),
		.idle_ns = cli_flag(c, "follow") ? FOLLOW_NS : ANSWER_NS};
	http_header_add(&r.headers, "Accept", "*/*");
	strbuf_init(&x.refusal, REFUSAL_BYTES);
	struct call *call = transport_start(session_transport(s), &r, &events, &x);
	(void)session_run(s, FOLLOW_NS);
	if (!x.done)
		transport_cancel(session_transport(s), call);
	int rc = x.err.code ? error_copy(err, &x.err) : x.status >= 400 ? refused(&x, pod, err) : 0;
	strbuf_release(&x.refusal);
	return rc;
}

/* "a=b,c=d" of spec.selector.matchLabels; NULL: the kind has none. */
static const char *selector_of(const struct obj *o, struct arena *a)
{
	const struct obj *labels = obj_path(o, "spec.selector.matchLabels");
	const char *text = NULL;
	if (cstr_eq(meta_kind(o), "Service"))
		labels = obj_path(o, "spec.selector");
	OBJ_EACH (it, labels)
		text = arena_fmt(a, "%s%s%s=%s", text ? text : "", text ? "," : "", it.key,
				 obj_as_string(it.value));
	return text;
}

/* Of TYPE/NAME the first of its Pods. */
static int pod_of(struct cli *c, struct session *s, struct str type, const char *name,
		  const char **ret, struct error *err)
{
	struct resource r;
	const struct obj *o = NULL, *list = NULL;
	const char *word = arena_strndup(c->arena, type.ptr, type.len);
	if (session_resource(s, word, &r, err) < 0)
		return -err->code;
	if (cstr_eq(r.kind, "Pod")) {
		*ret = name;
		return 0;
	}
	if (session_get(s, session_target(s, &r, session_ns(s, &r, false), name, NULL), &o, err) <
	    0)
		return -err->code;
	const char *labels = selector_of(o, c->arena);
	if (!labels)
		return error_set(err, E_USAGE, "%s/%s has no Pods: its kind selects none", word,
				 name);
	const char *q =
		arena_fmt(c->arena, "labelSelector=%s", url_encode(str_of(labels), c->arena));
	if (session_get(s, session_target(s, &pods, session_namespace(s), NULL, q), &list, err) < 0)
		return -err->code;
	*ret = meta_name(obj_at(obj_get(list, "items"), 0));
	if (!*ret)
		return error_set(err, E_NOTFOUND, "%s/%s has no Pod in namespace %s (asked: %s)",
				 word, name, session_namespace(s), labels);
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	struct str type, name;
	const char *pod = c->args[0];
	int r = session_open(c, &s, err);
	if (r >= 0 && str_cut(str_of(c->args[0]), '/', &type, &name))
		r = pod_of(c, s, type, name.ptr, &pod, err);
	const struct obj *o = NULL; /* its own answer says what is missing */
	if (r >= 0)
		r = session_get(s, session_target(s, &pods, session_namespace(s), pod, NULL), &o,
				err);
	return r < 0 ? r : read_log(c, s, pod, err);
}

static const struct cmd_option options[] = {
	{"container", "NAME", "container of the Pod", 'c'},
	{"follow", NULL, "goes on with what is written", 'f'},
	{"previous", NULL, "of the container before it was started again", 'p'},
	{"tail", "N", "the last lines", 0},
	{"since", "DURATION", "what is not older", 0},
	{"timestamps", NULL, "each line with its time", 0},
	{0},
};

const struct cmd cmd_logs = {
	.name = "logs",
	.usage = "alm logs (POD | TYPE/NAME) [-c NAME] [-f] [--tail N]",
	.summary = "print what a container wrote",
	.description = "Of a workload, the log of the first of its Pods. The server of `alm up` "
		       "has no kubelet: of the Pods that it simulates the log is one line that "
		       "says so.",
	.examples = "alm logs deployment/etcd-operator -n etcd -f\nalm logs etcd-0 --tail 20",
	.options = options,
	.args = {1, 1},
	.run = run,
};
