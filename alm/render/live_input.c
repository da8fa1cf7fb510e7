#include "alm/render/live_input.h"

#include <string.h>

#include "alm/base/file.h"
#include "alm/client/client.h"
#include "alm/client/discovery.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"
#include "alm/render/sql_rows.h"
#include "alm/source/keymap.h"

#define SELECTOR_BYTES ((size_t)64 << 10)

struct live_input {
	struct loop *loop;
	struct client *client;
	struct sandbox *sandbox;
	const struct keymap *map;
	struct discovery *discovery; /* of the client */
	bool borrows;                /* it is another's */
};

struct live_input_read {
	struct live_input *l;
	const struct live_input_wants *w;
	struct arena *a;
	struct live_input_found found;
	struct obj *lists;
	size_t at, bytes;
	const char *name;         /* of what is read, in messages */
	struct client_call *call; /* under way */
	struct render_call sql;
	bool asks; /* the discovery */
	struct task begin;
	live_input_fn fn;
	void *arg;
};

static void read_next(void *arg);

void live_input_imports(struct live_input_wants *w, const char *const *names, size_t n,
			const struct database_queries *queries, struct arena *a)
{
	const char **lists = ARENA_ARRAY(a, const char *, n + 1);
	const struct database_query **found = ARENA_ARRAY(a, const struct database_query *, n + 1);
	for (size_t i = 0; i < n; i++) {
		const struct database_query *q = database_query_find(queries, names[i]);
		if (q)
			found[w->n_queries++] = q;
		else if (cstr_has_suffix(names[i], "/list"))
			lists[w->n_lists++] = names[i];
	}
	w->lists = lists;
	w->queries = found;
}

bool live_input_asks(const struct live_input_wants *w)
{
	for (size_t i = 0; w->from && i < w->from->n; i++)
		if (w->from->items[i].type <= FROM_RESOURCE)
			return true;
	return w->n_lists > 0;
}

struct live_input *live_input_new(struct loop *loop, struct sandbox *sandbox)
{
	struct live_input *l = xcalloc(1, sizeof(*l));
	*l = (struct live_input){.loop = loop, .sandbox = sandbox};
	return l;
}

void live_input_connect(struct live_input *l, struct client *client, const struct keymap *map)
{
	l->client = client;
	l->map = map;
	l->discovery = discovery_new(client);
}

void live_input_lend(struct live_input *l, struct client *client, struct discovery *discovery)
{
	l->client = client;
	l->discovery = discovery;
	l->borrows = true;
}

bool live_input_is_connected(const struct live_input *l)
{
	return l->client != NULL;
}

void live_input_free(struct live_input *l)
{
	if (!l)
		return;
	if (!l->borrows)
		discovery_free(l->discovery);
	xfree(l);
}

void live_input_cancel(struct live_input_read *r)
{
	if (!r)
		return;
	loop_unpost(r->l->loop, &r->begin);
	if (r->call)
		client_cancel(r->l->client, r->call);
	if (r->asks)
		discovery_cancel(r->l->discovery, r);
	render_job_cancel(&r->sql);
	obj_unref(r->lists);
	xfree(r);
}

static size_t n_sources(const struct live_input_read *r)
{
	return r->w->from ? r->w->from->n : 0;
}

static const struct config_from *source_of(const struct live_input_read *r)
{
	return &r->w->from->items[r->at];
}

static const struct database_query *query_of(const struct live_input_read *r)
{
	return r->w->queries[r->at - n_sources(r) - r->w->n_lists];
}

/* --- the end of one --- */

static void fail(struct live_input_read *r, const struct error *why)
{
	struct error err;
	error_copy(&err, why);
	(void)error_wrap(&err, "%s", r->name);
	live_input_fn fn = r->fn;
	void *arg = r->arg;
	obj_unref(r->lists);
	xfree(r);
	fn(arg, NULL, &err);
}

static void take_layer(struct live_input_read *r, const struct obj *layer)
{
	r->found.layers[r->at++] = (struct config_layer){r->name, layer};
}

static bool is_too_much(struct live_input_read *r, const struct client_reply *reply,
			struct error *err)
{
	r->bytes += reply->text.len;
	if (r->bytes <= LIVE_INPUT_BYTES)
		return false;
	error_set(err, E_LIMIT, "all that is read is larger than %zu MiB", LIVE_INPUT_BYTES >> 20);
	return true;
}

/* --- sources --- */

static void has_object(void *arg, const struct client_reply *reply)
{
	struct live_input_read *r = arg;
	const struct obj *layer = NULL;
	struct error err = ERROR_INIT;
	r->call = NULL;
	if (reply->err) {
		fail(r, reply->err);
		return;
	}
	struct obj *o = obj_keep(r->a, obj_copy(reply->body));
	if (is_too_much(r, reply, &err) ||
	    config_from_layer(source_of(r), o, r->name, r->a, &layer, &err) < 0) {
		r->name = r->w->option; /* it names the object itself */
		fail(r, &err);
		return;
	}
	take_layer(r, layer);
	read_next(r);
}

static void get_object(struct live_input_read *r, const struct resource *kind)
{
	const struct config_from *f = source_of(r);
	const char *ns = !kind->namespaced ? NULL : f->ns ? f->ns : r->w->ns;
	r->name = config_from_text(f, ns, r->a);
	const struct client_options as = {.as = r->w->as};
	r->call = client_get(r->l->client, kind, ns, f->name, &as, has_object, r);
}

static void has_kind(void *arg, const struct resource *kind, const struct error *err)
{
	struct live_input_read *r = arg;
	r->asks = false;
	if (kind)
		get_object(r, kind);
	else
		fail(r, err);
}

static void find_kind(struct live_input_read *r, const char *api_version, const char *kind,
		      discovery_found_fn fn)
{
	struct str group, version, all = str_of(api_version);
	bool core = !str_cut(all, '/', &group, &version);
	r->asks = true;
	discovery_require_kind(
		r->l->discovery, core ? "" : arena_strndup(r->a, group.ptr, group.len),
		core ? api_version : arena_strndup(r->a, version.ptr, version.len), kind, fn, r);
}

static void has_rows(void *arg, struct obj *answer, const struct error *err)
{
	struct live_input_read *r = arg;
	if (answer)
		obj_keep(r->a, answer);
	if (err) {
		fail(r, err);
		return;
	}
	take_layer(r, answer);
	read_next(r);
}

static int read_file(struct live_input_read *r, const char *path, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CONFIG_BYTES_MAX);
	struct obj *o = NULL;
	r->name = r->w->option; /* both name the file themselves */
	if (file_read_input(path, &b, err) < 0 || config_parse(strbuf_str(&b), path, &o, err) < 0)
		return -err->code;
	r->name = path;
	take_layer(r, obj_keep(r->a, o));
	return 0;
}

/* What is not read at once: its answer goes on. */
static int ask_source(struct live_input_read *r, struct error *err)
{
	const struct config_from *f = source_of(r);
	r->name = config_from_text(f, f->ns, r->a);
	if (f->type != FROM_SQL) {
		find_kind(r, f->api_version, f->kind, has_kind);
		return 0;
	}
	r->sql = (struct render_call){.done = has_rows, .arg = r};
	r->name = r->w->option; /* it names the file itself */
	int rc = sql_rows_start(r->l->sandbox, f->path, f->query, &r->sql, err);
	r->name = rc < 0 ? r->name : f->path;
	return rc;
}

/* --- lists --- */

static void has_list(void *arg, const struct client_reply *reply)
{
	struct live_input_read *r = arg;
	struct error err = ERROR_INIT;
	r->call = NULL;
	if (reply->err || is_too_much(r, reply, &err)) {
		fail(r, reply->err ? reply->err : &err);
		return;
	}
	CLEANUP(obj_unrefp) struct obj *body = obj_copy(reply->body);
	struct obj *items = obj_get_mut(body, "items");
	const char *kind = meta_kind(body);
	size_t n = kind ? strlen(kind) : 0;
	for (size_t i = 0; i < obj_len(items); i++) { /* the list says for them what they are */
		struct obj *o = obj_at_mut(items, i);
		if (!meta_api_version(o))
			obj_set_str(o, "apiVersion", meta_api_version(body));
		if (!meta_kind(o) && n > 4)
			obj_set(o, "kind", obj_stringn(str_n(kind, n - 4)));
	}
	obj_set(r->lists, r->w->lists[r->at++ - n_sources(r)], items ? obj_ref(items) : obj_list());
	read_next(r);
}

static const struct keymap_resource *declared(const struct live_input_read *r, struct str name)
{
	for (size_t i = 0; r->l->map && i < r->l->map->n; i++)
		if (str_is(name, r->l->map->resources[i].name))
			return &r->l->map->resources[i];
	return NULL;
}

static struct str list_name(const struct live_input_read *r)
{
	const char *list = r->w->lists[r->at - n_sources(r)];
	return str_n(list, strlen(list) - strlen("/list"));
}

static void has_list_kind(void *arg, const struct resource *kind, const struct error *err)
{
	struct live_input_read *r = arg;
	const struct keymap_resource *k = declared(r, list_name(r));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SELECTOR_BYTES);
	const char *query = "";
	r->asks = false;
	if (!kind) {
		fail(r, err);
		return;
	}
	if (k && k->selector) {
		selector_print(k->selector, &b);
		query = arena_fmt(r->a, "labelSelector=%s", url_encode(strbuf_str(&b), r->a));
	}
	const struct client_options as = {.as = r->w->as};
	r->call = client_list_with(r->l->client, kind, k ? k->ns : NULL, query, &as, has_list, r);
}

static void read_list(struct live_input_read *r)
{
	struct str name = list_name(r);
	const struct keymap_resource *k = declared(r, name);
	r->name = arena_fmt(r->a, "import alm-runtime/%s/list",
			    arena_strndup(r->a, name.ptr, name.len));
	if (k) {
		find_kind(r, k->api_version, k->kind, has_list_kind);
		return;
	}
	r->asks = true;
	discovery_require_name(r->l->discovery, arena_strndup(r->a, name.ptr, name.len),
			       has_list_kind, r);
}

/* --- queries --- */

static void has_query(void *arg, struct obj *answer, const struct error *err)
{
	struct live_input_read *r = arg;
	const struct obj *rows = answer ? obj_get(obj_keep(r->a, answer), "rows") : NULL;
	if (err) {
		fail(r, err);
		return;
	}
	obj_set(r->lists, query_of(r)->name, rows ? obj_ref(rows) : obj_list());
	r->at++;
	read_next(r);
}

static int read_query(struct live_input_read *r, struct error *err)
{
	const struct database_query *q = query_of(r);
	r->sql = (struct render_call){.done = has_query, .arg = r};
	r->name = arena_fmt(r->a, "import alm-runtime/%s: %s", q->name, q->path);
	if (sql_rows_start(r->l->sandbox, q->path, q->query, &r->sql, err) >= 0)
		return 0;
	r->name = arena_fmt(r->a, "import alm-runtime/%s", q->name); /* it names the file itself */
	return -err->code;
}

/* --- one after the other --- */

static void end(struct live_input_read *r)
{
	struct live_input_found found = r->found;
	live_input_fn fn = r->fn;
	void *arg = r->arg;
	found.lists = obj_keep(r->a, r->lists);
	xfree(r);
	fn(arg, &found, NULL);
}

static void read_next(void *arg)
{
	struct live_input_read *r = arg;
	struct error err = ERROR_INIT;
	while (!err.code && r->at < n_sources(r) && source_of(r)->type == FROM_FILE)
		(void)read_file(r, source_of(r)->path, &err);
	if (!err.code && r->at < n_sources(r))
		(void)ask_source(r, &err);
	else if (!err.code && r->at < n_sources(r) + r->w->n_lists)
		read_list(r);
	else if (!err.code && r->at < n_sources(r) + r->w->n_lists + r->w->n_queries)
		(void)read_query(r, &err);
	else if (!err.code)
		end(r);
	if (err.code)
		fail(r, &err);
}

struct live_input_read *live_input_start(struct live_input *l, const struct live_input_wants *w,
					 struct arena *a, live_input_fn fn, void *arg)
{
	struct live_input_read *r = xcalloc(1, sizeof(*r));
	*r = (struct live_input_read){
		.l = l, .w = w, .a = a, .lists = obj_map(), .name = "", .fn = fn, .arg = arg};
	r->found.n = n_sources(r);
	r->found.layers = ARENA_ARRAY(a, struct config_layer, r->found.n + 1);
	r->begin = (struct task){.fn = read_next, .arg = r};
	loop_post(l->loop, &r->begin);
	return r;
}
