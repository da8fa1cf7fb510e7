#include "alm/cli/kube/get_watch.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/cli/term.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"

#define OUTPUT_MAX   ((size_t)64 << 20)
#define VERSION_SIZE 64
#define AGAIN_NS     NS_PER_S /* between two watches */
#define FOREVER_NS   (365 * 24 * NS_PER_HOUR)

struct watching {
	struct get_watch *w;
	char version[VERSION_SIZE];
	bool headers;
	struct error err;
};

static void note_version(struct watching *x, const char *version)
{
	size_t n = version ? strlen(version) : 0;
	if (n && n < sizeof(x->version))
		memcpy(x->version, version, n + 1);
}

static const struct obj *object_of(const struct obj *o)
{
	bool table = cstr_eq(meta_kind(o), "Table");
	return table ? obj_get(obj_at(obj_get(o, "rows"), 0), "object") : o;
}

/* Only the first table of a watch has its columns. */
static int print_row(struct watching *x, const char *type, const struct obj *table,
		     struct strbuf *b, struct error *err)
{
	struct get_watch *w = x->w;
	CLEANUP(obj_unrefp) struct obj *full = obj_copy_map(table);
	if (obj_len(obj_get(table, "columnDefinitions")))
		w->columns = obj_keep(w->c->arena, obj_copy(obj_get(table, "columnDefinitions")));
	if (w->columns)
		obj_set(full, "columnDefinitions", obj_ref(w->columns));
	if (w->events)
		visible_addf(b, "%-10s", type);
	int r = printer_table(full, w->printer->format == PRINT_WIDE, NULL,
			      w->all && w->target->resource.namespaced, x->headers && !w->events, b,
			      err);
	x->headers = false;
	return r;
}

static int print_object(struct watching *x, const char *type, const struct obj *o, struct strbuf *b,
			struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *shown = obj_copy(o);
	if (!cli_flag(x->w->c, "show-managed-fields"))
		obj_del_path(shown, "metadata.managedFields");
	if (x->w->printer->format == PRINT_YAML)
		visible_addf(b, "---\n");
	struct printer p = *x->w->printer;
	p.no_headers = !x->headers;
	x->headers = false;
	if (!x->w->events)
		return printer_object(&p, shown, b, err);
	CLEANUP(obj_unrefp) struct obj *event = obj_map();
	obj_set_str(event, "type", type);
	obj_set(event, "object", obj_ref(shown));
	return printer_object(&p, event, b, err);
}

static void on_event(void *arg, const struct obj *event)
{
	struct watching *x = arg;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OUTPUT_MAX);
	const struct obj *o = obj_get(event, "object");
	const char *type = obj_str(event, "type"), *message = obj_str(o, "message");
	if (cstr_eq(type, "ERROR")) {
		error_set(&x->err, error_from_http((int)obj_i64(o, "code", 500), ""), "watch: %s",
			  message ? message : "the server ended it");
		session_stop(x->w->s);
		return;
	}
	note_version(x, obj_str(object_of(o), "metadata.resourceVersion"));
	note_version(x, obj_str(o, "metadata.resourceVersion"));
	if (cstr_eq(type, "BOOKMARK"))
		return;
	int r = cstr_eq(meta_kind(o), "Table") ? print_row(x, type, o, &b, &x->err)
					       : print_object(x, type, o, &b, &x->err);
	printer_write(x->w->printer, strbuf_str(&b));
	int lost = term_flush();
	if (r >= 0 && lost)
		r = error_set(&x->err, E_IO, "standard output: %s", strerror(lost));
	if (r < 0)
		session_stop(x->w->s);
}

static void on_closed(void *arg, const struct error *err)
{
	struct watching *x = arg;
	if (err && err->code != E_IO && err->code != E_TIMEOUT && err->code != E_UNAVAILABLE)
		x->err = *err;
	session_stop(x->w->s);
}

static const char *query(const struct watching *x, struct arena *a)
{
	const char *own = targets_query(x->w->c), *name = x->w->target->name;
	const char *q = arena_fmt(a, "watch=true&allowWatchBookmarks=true&resourceVersion=%s",
				  url_encode(str_of(x->version), a));
	if (*own)
		q = arena_fmt(a, "%s&%s", q, own);
	if (name)
		q = arena_fmt(a, "%s&fieldSelector=%s", q,
			      url_encode(str_of(arena_fmt(a, "metadata.name=%s", name)), a));
	return q;
}

int get_watch_run(struct get_watch *w, struct error *err)
{
	struct watching x = {.w = w, .headers = w->headers};
	note_version(&x, w->version);
	while (!x.err.code) {
		const char *target = session_target(w->s, &w->target->resource, w->target->ns, NULL,
						    query(&x, w->c->arena));
		struct session_watch *watch = session_watch_start(
			w->s, target, printer_is_table(w->printer) ? ACCEPT_TABLE : ACCEPT_JSON,
			on_event, on_closed, &x);
		(void)session_run(w->s, FOREVER_NS);
		session_watch_free(watch);
		if (!x.err.code)
			(void)session_run(w->s, AGAIN_NS);
	}
	return error_copy(err, &x.err);
}
