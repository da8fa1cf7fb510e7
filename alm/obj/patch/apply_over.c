/* apply_over: see apply.h. */
#include "alm/base/strbuf.h"
#include "alm/obj/meta.h"
#include "alm/obj/patch/apply.h"
#include "alm/obj/patch/apply_walk.h"
#include "alm/obj/schema/schema_node.h"

#define TEXT_BYTES_MAX ((size_t)64 << 10)

struct search {
	struct strbuf path, found;
};

static void note(struct search *s)
{
	strbuf_addf(&s->found, "%s%s", s->found.len ? ", " : "", s->path.buf);
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static void search(struct search *s, struct apply_type t, const struct obj *o)
{
	size_t at = s->path.len;
	if (obj_type(o) == OBJ_MAP && at && t.s && apply_map_is_atomic(t))
		note(s);
	if (obj_type(o) == OBJ_LIST && t.s && apply_list_is_atomic(t))
		note(s);
	OBJ_EACH (it, o) {
		if (!apply_is_named(t, it.key))
			continue;
		strbuf_addf(&s->path, ".%s", it.key);
		search(s, apply_field(t, it.key), it.value);
		strbuf_truncate(&s->path, at);
	}
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++) {
		strbuf_addf(&s->path, "[%zu]", i);
		search(s, apply_items(t), obj_at(o, i));
		strbuf_truncate(&s->path, at);
	}
}

/* As Go prints a null of CEL. */
static void note_null(struct search *s, struct apply_type t)
{
	unsigned type = t.s ? t.s->type : 0;
	const char *want = type & SCHEMA_OBJECT    ? "map"
			   : type & SCHEMA_ARRAY   ? "list"
			   : type & SCHEMA_BOOLEAN ? "boolean"
			   : type & SCHEMA_STRING  ? "string"
						   : "a value";
	if (s->found.len)
		strbuf_addc(&s->found, '\n');
	strbuf_addf(&s->found, "%s: expected %s, got %s", s->path.buf, want,
		    type & SCHEMA_STRING ? "&value.valueUnstructured{Value:0}" : "&{NULL_VALUE}");
}

static void search_nulls(struct search *s, struct apply_type t, const struct obj *o)
{
	size_t at = s->path.len;
	if (obj_type(o) == OBJ_NULL)
		note_null(s, t);
	OBJ_EACH (it, o) {
		strbuf_addf(&s->path, ".%s", it.key);
		search_nulls(s, apply_field(t, it.key), it.value);
		strbuf_truncate(&s->path, at);
	}
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++) {
		strbuf_addf(&s->path, "[%zu]", i);
		search_nulls(s, apply_items(t), obj_at(o, i));
		strbuf_truncate(&s->path, at);
	}
}
/* NOLINTEND(misc-no-recursion) */

static int check_types(struct apply_type t, const struct obj *config, struct arena *a,
		       struct error *err)
{
	static const char outer[] = "failed to convert patch object to typed object";
	CLEANUP(strbuf_release) struct strbuf findings = STRBUF_INIT(TEXT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	struct search nulls = {STRBUF_INIT(TEXT_BYTES_MAX), STRBUF_INIT(TEXT_BYTES_MAX)};
	search_nulls(&nulls, t, config);
	size_t n = nulls.found.len ? 1 : apply_check_config(t, config, a, &findings);
	strbuf_addstr(&findings, strbuf_str(&nulls.found));
	strbuf_release(&nulls.path);
	strbuf_release(&nulls.found);
	struct str rest = strbuf_str(&findings), line;
	if (n == 0)
		return 0;
	if (n == 1)
		return error_set(err, E_INVALID, "%s: %s", outer, findings.buf);
	while (str_next_line(&rest, &line))
		strbuf_addf(&b, "\n  %.*s", STR_ARG(line));
	return error_set(err, E_INVALID, "%s: errors:%s", outer, b.buf);
}

int apply_over(const struct schema *schema, const struct obj *live, const struct obj *config,
	       struct arena *a, struct obj **ret, struct error *err)
{
	const struct schema *s =
		schema ? schema : apply_builtin_schema(meta_api_version(live), meta_kind(live));
	struct apply_type t = apply_type_of(s, !s);
	struct search atomic = {STRBUF_INIT(TEXT_BYTES_MAX), STRBUF_INIT(TEXT_BYTES_MAX)};
	int rc = check_types(t, config, a, err);
	if (rc == 0)
		search(&atomic, t, config);
	if (rc == 0 && atomic.found.len)
		rc = error_set(err, E_INVALID,
			       "invalid ApplyConfiguration: may not mutate atomic arrays, maps or "
			       "structs: %s",
			       atomic.found.buf);
	strbuf_release(&atomic.path);
	strbuf_release(&atomic.found);
	if (rc < 0)
		return rc;
	CLEANUP(obj_unrefp) struct obj *merged = apply_merge_values(t, live, config, a);
	*ret = obj_keep(a, obj_copy(merged));
	return 0;
}
