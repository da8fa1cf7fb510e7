/* request: parts and answers of one request. It must not know verbs. */
#include "alm/apiserver/request.h"

#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/wire/negotiate.h"
#include "alm/apiserver/wire/protobuf.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

struct kinds *request_kinds(const struct request *r)
{
	return r->server->kinds;
}

bool request_find_kind(struct request *r)
{
	r->kind = kinds_find(request_kinds(r), r->group, r->version, r->resource);
	return r->kind != NULL;
}

struct store *request_store(const struct request *r)
{
	return r->server->store;
}

int64_t request_now(const struct request *r)
{
	return r->fixed.now_ns ? r->fixed.now_ns : loop_now(r->server->loop);
}

struct request *request_again(const struct request *old, struct arena *a)
{
	struct request *r = ARENA_NEW(a, struct request);
	r->server = old->server;
	r->exchange = old->exchange;
	r->arena = a;
	r->told = ARENA_NEW(a, struct request_told);
	r->path = r->query = "";
	r->fixed = old->fixed;
	r->waiting = old->waiting;
	if (!r->exchange->admitted)
		return r;
	r->user = old->user;
	r->by_admin = old->by_admin;
	r->exchange->admitted = r;
	return r;
}

struct request *request_kept(const struct request *r, struct arena *a)
{
	struct request *kept = ARENA_NEW(a, struct request);
	kept->server = r->server;
	kept->exchange = r->exchange;
	kept->arena = a;
	kept->verb = r->verb;
	kept->path = "";
	kept->query = arena_strdup(a, r->query);
	kept->is_resource = true;
	kept->kind = r->kind;
	kept->group = r->kind->group;
	kept->version = r->kind->version;
	kept->resource = r->kind->plural;
	kept->subresource = "";
	kept->ns = arena_strdup(a, r->ns);
	kept->name = arena_strdup(a, r->name);
	kept->accept = r->accept;
	if (r->accept.as_version)
		kept->accept.as_version = arena_strdup(a, r->accept.as_version);
	return kept;
}

const char *request_header(const struct request *r, const char *name)
{
	return r->exchange ? http_header(&r->exchange->request->headers, name) : NULL;
}

const char *request_query(const struct request *r, const char *name)
{
	return r->query ? http_query(r->query, name, r->arena) : NULL;
}

void request_set_header(struct request *r, const char *name, const char *value)
{
	http_header_add(&r->told->headers, name, value);
}

void request_warn(struct request *r, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	const char *text = arena_vfmt(r->arena, fmt, args);
	va_end(args);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(REQUEST_WARNING_BYTES_MAX);
	strbuf_adds(&b, "299 - \"");
	for (const char *p = text; *p; p++) {
		/* Go's client takes no answer whose head has a control character: a real server tells
		 * nothing, either. */
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return;
		if (*p == '"' || *p == '\\')
			strbuf_addc(&b, '\\');
		strbuf_addc(&b, *p);
	}
	strbuf_addc(&b, '"');
	for (size_t i = 0; i < r->told->n_warnings; i++)
		if (str_is(strbuf_str(&b), r->told->warnings[i])) /* told once */
			return;
	if (b.over || r->told->n_warnings == REQUEST_WARNINGS_MAX ||
	    r->told->warning_bytes + b.len > REQUEST_WARNING_BYTES_MAX)
		return;
	r->told->warning_bytes += b.len;
	r->told->warnings[r->told->n_warnings++] = arena_strndup(r->arena, b.buf, b.len);
}

void request_warn_lines(struct request *r, const char *text)
{
	struct str rest = str_of(text), line;
	(void)str_next_line(&rest, &line);
	while (str_next_line(&rest, &line))
		request_warn(r, "%.*s", STR_ARG(str_trim(line)));
}

static void headers_finish(struct request *r, const char *content_type)
{
	if (!http_header(&r->told->headers, "Content-Type"))
		http_header_add(&r->told->headers, "Content-Type", content_type);
	if (!http_header(&r->told->headers, "Cache-Control"))
		http_header_add(&r->told->headers, "Cache-Control", "no-cache, private");
	for (size_t i = 0; i < r->told->n_warnings; i++)
		http_header_add(&r->told->headers, "Warning", r->told->warnings[i]);
	r->told->n_warnings = 0;
}

/* An answer that waits for the commit. Lives on the heap: the client may go first. */
struct parked {
	struct request *request; /* NULL once the client is gone */
	int status;
	struct text *body;
};

static void parked_gone(void *arg)
{
	struct parked *p = arg;
	p->request = NULL;
}

static void reply_unavailable(struct request *r, const struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	r->failure = (struct failure){.retry_after_s = 1};
	status_print(&r->failure, err, &b);
	struct http_headers h = {0};
	http_header_add(&h, "Content-Type", "application/json");
	http_header_add(&h, "Retry-After", "1");
	exchange_reply(r->exchange, error_http(err->code), &h, strbuf_str(&b));
}

static void parked_done(void *arg, const struct error *err)
{
	struct parked *p = arg;
	struct request *r = p->request;
	if (r) {
		r->exchange->on_close = NULL;
		if (err)
			reply_unavailable(r, err);
		else
			exchange_reply(r->exchange, p->status, &r->told->headers,
				       text_str(p->body));
	}
	text_unref(p->body);
	xfree(p);
}

static void count(struct request *r, int status)
{
	CLEANUP(strbuf_release) struct strbuf labels = STRBUF_INIT(STRBUF_SMALL);
	/* names that a user gives would be as many series as he likes */
	bool named = r->kind && !(r->kind->flags & KIND_CUSTOM);
	metrics_label(&labels, "verb", r->verb && r->is_resource ? r->verb : "");
	metrics_label(&labels, "resource", named ? r->kind->plural : "");
	strbuf_addf(&labels, ",code=\"%d\"", status);
	metric_add(metrics_counter(r->server->metrics, "alm_api_requests_total",
				   "Answers by verb, built-in resource and HTTP status; verb is "
				   "empty for paths without a resource.",
				   labels.buf),
		   1);
}

void request_reply(struct request *r, int status, const char *content_type, struct str body)
{
	if (!r->exchange)
		return;
	headers_finish(r, content_type);
	count(r, status);
	if (!store_batch_is_open(r->server->store)) {
		r->exchange->on_close = NULL;
		exchange_reply(r->exchange, status, &r->told->headers, body);
		return;
	}
	struct parked *p = xcalloc(1, sizeof(*p));
	p->request = r;
	p->status = status;
	p->body = text_new(body);
	r->exchange->on_close = parked_gone;
	r->exchange->on_close_arg = p;
	store_after_commit(r->server->store, parked_done, p);
}

void request_begin(struct request *r, int status, const char *content_type)
{
	headers_finish(r, content_type);
	count(r, status);
	exchange_begin(r->exchange, status, &r->told->headers);
}

static void print_failure(struct request *r, const struct error *err, struct strbuf *b)
{
	if ((err->code == E_UNAVAILABLE || err->code == E_TOOMANY) && !r->failure.retry_after_s &&
	    !r->failure.no_retry)
		r->failure.retry_after_s = 1;
	if (r->failure.retry_after_s)
		request_set_header(r, "Retry-After",
				   arena_fmt(r->arena, "%d", r->failure.retry_after_s));
	status_print(&r->failure, err, b);
}

/* NOLINTNEXTLINE(misc-no-recursion): see request_reply_json() */
static void reply_too_large(struct request *r)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	error_set(&err, E_TOOLARGE, REQUEST_TREE_MESSAGE);
	print_failure(r, &err, &b);
	request_reply_json(r, error_http(err.code), strbuf_str(&b)); /* which is small */
}

/* NOLINTNEXTLINE(misc-no-recursion): once, with what is small */
void request_reply_json(struct request *r, int status, struct str json)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (r->accept.form != FORM_JSON && json.len > REQUEST_TREE_BYTES_MAX) {
		reply_too_large(r);
		return;
	}
	if (r->accept.form == FORM_JSON || json_parse(json, &o, &err) < 0) {
		request_reply(r, status, "application/json", json);
		return;
	}
	request_reply_obj(r, status, o);
	obj_unref(o);
}

void request_reply_obj(struct request *r, int status, const struct obj *o)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)256 << 20);
	if (r->accept.form == FORM_YAML) {
		yaml_print(o, &b);
		request_reply(r, status, "application/yaml", strbuf_str(&b));
		return;
	}
	if (r->accept.form == FORM_PROTOBUF && protobuf_encode(o, &b)) {
		request_reply(r, status, NEGOTIATE_PROTOBUF, strbuf_str(&b));
		return;
	}
	json_print(o, &b);
	request_reply(r, status, "application/json", strbuf_str(&b));
}

void request_reply_error(struct request *r, const struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	print_failure(r, err, &b);
	request_reply_json(r, r->failure.status ? r->failure.http : error_http(err->code),
			   strbuf_str(&b));
}

void request_reply_no_page(struct request *r)
{
	request_reply(r, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
}

void request_annotate(struct request *r, const char *key, struct str value)
{
	if (!r->annotations)
		r->annotations = obj_keep(r->arena, obj_map());
	obj_set(r->annotations, key, obj_stringn(value));
}

struct request *request_internal(struct apiserver *s, struct arena *a, const char *user,
				 const char *manager, const struct kind *k, const char *ns,
				 const char *name)
{
	static const char *const groups[] = {"system:masters", "system:authenticated"};
	struct request *r = ARENA_NEW(a, struct request);
	r->server = s;
	r->arena = a;
	r->told = ARENA_NEW(a, struct request_told);
	r->verb = "update";
	r->path = r->query = r->subresource = "";
	r->query = arena_fmt(a, "fieldManager=%s", manager);
	r->is_resource = true;
	r->kind = k;
	r->group = k->group;
	r->version = k->version;
	r->resource = k->plural;
	r->ns = arena_strdup(a, ns ? ns : "");
	r->name = arena_strdup(a, name ? name : "");
	r->user = (struct user_info){.name = user, .uid = "", .groups = groups, .n_groups = 2};
	return r;
}
