/* hub_line: see hub_line.h. */
#include "alm/apiserver/store/hub_line.h"

#include "alm/apiserver/core.h"
#include "alm/apiserver/docs/table.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/wire/protobuf.h"
#include "alm/base/hash.h"
#include "alm/obj/json.h"

static void print_table(const struct request *r, const struct obj *o, bool columns,
			struct strbuf *b)
{
	const struct kind *k = r->kind;
	const char *rv = obj_str(o, "metadata.resourceVersion");
	struct list_meta m = {.resource_version = rv ? rv : "", .remaining = -1};
	table_begin(b, k, &r->accept, &m, columns);
	table_row(b, k, &r->accept, o, loop_now(r->server->loop), true);
	table_end(b);
	while (b->len && b->buf[b->len - 1] == '\n')
		strbuf_truncate(b, b->len - 1);
}

void hub_line_finish(const struct request *r, struct strbuf *b)
{
	struct error ignored = ERROR_INIT;
	struct obj *event = NULL;
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT(STORE_VALUE_BYTES_MAX * 4);
	if (r->accept.form != FORM_PROTOBUF || json_parse(strbuf_str(b), &event, &ignored) < 0)
		return;
	if (protobuf_encode_event(event, &frame)) {
		strbuf_clear(b);
		strbuf_addstr(b, strbuf_str(&frame));
	}
	obj_unref(event);
}

void hub_line_print(const struct request *r, const char *type, const struct obj *o, struct text *t,
		    bool columns, struct strbuf *b)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	const struct kind *k = r->kind;
	enum accept_as as = r->accept.as;
	strbuf_addf(b, "{\"type\":\"%s\",\"object\":", type);
	if (!o && as != AS_OBJECT)
		o = convert_read(k, t, a);
	if (as == AS_TABLE && o)
		print_table(r, o, columns, b);
	else if (as == AS_METADATA && o)
		table_metadata(b, &r->accept, o);
	else if (o)
		json_print(o, b);
	else
		convert_print(k, t, false, b);
	strbuf_adds(b, "}\n");
	hub_line_finish(r, b);
}

static bool same_accept(const struct accept *a, const struct accept *b)
{
	return a->form == b->form && a->as == b->as && a->include == b->include &&
	       (a->as == AS_OBJECT || cstr_eq(a->as_version, b->as_version));
}

struct str hub_lines_get(struct hub_lines *l, const struct request *r, const char *type,
			 struct text *t, int64_t rv, bool columns)
{
	for (size_t i = 0; i < l->n; i++) {
		struct hub_line *e = &l->lines[i];
		if (e->kind == r->kind && e->type == type && e->columns == columns &&
		    same_accept(&e->accept, &r->accept))
			return text_str(e->line);
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX * 4);
	CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	struct obj *o = rv ? convert_read(r->kind, t, a) : NULL;
	if (rv && !o)
		return STR("");
	if (rv)
		obj_set_path(o, "metadata.resourceVersion", obj_stringf("%lld", (long long)rv));
	hub_line_print(r, type, o, t, columns, &b);
	if (l->n == HUB_LINES_MAX)
		text_unref(l->lines[--l->n].line);
	l->lines[l->n++] = (struct hub_line){
		.kind = r->kind,
		.accept = r->accept,
		.columns = columns,
		.type = type,
		.line = text_new(strbuf_str(&b)),
	};
	return text_str(l->lines[l->n - 1].line);
}

void hub_lines_clear(struct hub_lines *l)
{
	while (l->n)
		text_unref(l->lines[--l->n].line);
}

void hub_line_bookmark(const struct request *r, int64_t rv, bool initial_end, bool columns,
		       struct strbuf *b)
{
	const struct kind *k = r->kind;
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	obj_set_str(o, "kind", k->kind);
	obj_set_str(o, "apiVersion", kind_api_version(k, a));
	obj_set_path(o, "metadata.resourceVersion", obj_stringf("%lld", (long long)rv));
	if (initial_end) {
		CLEANUP(strbuf_release) struct strbuf blueprint = STRBUF_INIT(STRBUF_SMALL);
		struct obj *notes = obj_map();
		base64_encode(str_of(arena_fmt(a,
					       "{\"apiVersion\":\"%s\",\"items\":[],\"kind\":"
					       "\"%s\"}\n",
					       kind_api_version(k, a), k->list_kind)),
			      &blueprint);
		obj_set_str(notes, "k8s.io/initial-events-end", "true");
		if (r->accept.as == AS_OBJECT)
			obj_set_str(notes, "kubernetes.io/initial-events-list-blueprint",
				    blueprint.buf);
		obj_set_path(o, "metadata.annotations", notes);
	}
	hub_line_print(r, "BOOKMARK", o, NULL, columns, b);
}
