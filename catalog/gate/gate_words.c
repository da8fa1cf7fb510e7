/* gate_words.c: see gate_words.h. */
#include "catalog/gate/gate_words.h"

#include <string.h>

#include "alm/base/visible.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/schema.h"
#include "catalog/gate/gate_internal.h"

#define VALUE_BYTES_MAX 200

struct words {
	struct arena *a;
	struct obj *out; /* list */
	struct strbuf path;
	const char *resource;
	unsigned depth;
};

static const char *value_text(struct words *w, const struct obj *o)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!o)
		return "none";
	json_print_canonical(o, &b);
	if (b.len > VALUE_BYTES_MAX) {
		strbuf_truncate(&b, VALUE_BYTES_MAX - 3);
		visible_adds(&b, "...");
	}
	return arena_strdup(w->a, b.buf);
}

static void say(struct words *w, const char *what)
{
	struct obj *o = obj_map();
	obj_set_str(o, "resource", w->resource);
	if (w->path.len)
		obj_set_str(o, "path", w->path.buf);
	obj_set_str(o, "change", what);
	obj_append(w->out, o);
}

static void changed(struct words *w, const char *name, const struct obj *x, const struct obj *y)
{
	if (x && y && obj_equal(x, y))
		return;
	if (!x && !y)
		return;
	say(w, arena_fmt(w->a, "%s %s -> %s", name, value_text(w, x), value_text(w, y)));
}

static void node(struct words *w, const struct obj *x, const struct obj *y);

static const char *type_text(const struct obj *o)
{
	const char *type = obj_str(o, "type");
	if (type)
		return type;
	return obj_is_true(obj_get(o, "x-kubernetes-int-or-string")) ? "int-or-string" : "any";
}

/* NOLINTBEGIN(misc-no-recursion): node() bounds the depth by SCHEMA_DEPTH_MAX */
static void field(struct words *w, const char *step, const struct obj *x, const struct obj *y)
{
	size_t at = w->path.len;
	bool name = step[0] != '[' && step[0] != '{';
	visible_addf(&w->path, "%s%s", name && at ? "." : "", step);
	if (x && y)
		node(w, x, y);
	else if (x)
		say(w, arena_fmt(w->a, "field removed (%s)", type_text(x)));
	else if (y)
		say(w, arena_fmt(w->a, "field added (%s)", type_text(y)));
	strbuf_truncate(&w->path, at);
}

static bool is_child(const char *key)
{
	return strcmp(key, "properties") == 0 || strcmp(key, "items") == 0 ||
	       strcmp(key, "additionalProperties") == 0;
}

static bool is_documentation(const char *key)
{
	static const char *const keys[] = {"description", "title", "example", "externalDocs"};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static void keywords(struct words *w, const struct obj *x, const struct obj *y)
{
	OBJ_EACH (it, x)
		if (!is_child(it.key) && !is_documentation(it.key))
			changed(w, it.key, it.value, obj_get(y, it.key));
	OBJ_EACH (it, y)
		if (!is_child(it.key) && !is_documentation(it.key) && !obj_has(x, it.key))
			changed(w, it.key, NULL, it.value);
}

static void node(struct words *w, const struct obj *x, const struct obj *y)
{
	const struct obj *old = obj_get(x, "properties"), *new = obj_get(y, "properties");
	if (obj_equal(x, y) || w->depth == SCHEMA_DEPTH_MAX)
		return;
	w->depth++;
	keywords(w, x, y);
	OBJ_EACH (it, old)
		field(w, it.key, it.value, obj_get(new, it.key));
	OBJ_EACH (it, new)
		if (!obj_has(old, it.key))
			field(w, it.key, NULL, it.value);
	field(w, "[*]", obj_get(x, "items"), obj_get(y, "items"));
	const struct obj *a = obj_get(x, "additionalProperties");
	const struct obj *b = obj_get(y, "additionalProperties");
	if (obj_type(a) == OBJ_MAP && obj_type(b) == OBJ_MAP)
		field(w, "{*}", a, b);
	else
		changed(w, "additionalProperties", a, b);
	w->depth--;
}
/* NOLINTEND(misc-no-recursion) */

static const struct obj *named(const struct obj *list, const char *name)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), name))
			return obj_at(list, i);
	return NULL;
}

static void version(struct words *w, const struct obj *x, const struct obj *y)
{
	static const char *const keys[] = {"served",       "storage",
					   "deprecated",   "deprecationWarning",
					   "subresources", "selectableFields"};
	if (!x || !y) {
		say(w, x ? "version removed" : "version added");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		changed(w, keys[i], obj_get(x, keys[i]), obj_get(y, keys[i]));
	if (!obj_equal(obj_get(x, "additionalPrinterColumns"),
		       obj_get(y, "additionalPrinterColumns")) &&
	    (obj_has(x, "additionalPrinterColumns") || obj_has(y, "additionalPrinterColumns")))
		say(w, "printer columns changed");
	node(w, obj_path(x, "schema.openAPIV3Schema"), obj_path(y, "schema.openAPIV3Schema"));
}

static void versions(struct words *w, const char *crd, const struct obj *x, const struct obj *y)
{
	const struct obj *lists[] = {obj_path(x, "spec.versions"), obj_path(y, "spec.versions")};
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < obj_len(lists[side]); i++) {
			const char *name = obj_str(obj_at(lists[side], i), "name");
			if (!name || (side == 1 && named(lists[0], name)))
				continue;
			w->resource = arena_fmt(w->a, "%s/%s", crd, name);
			version(w, named(lists[0], name), named(lists[1], name));
		}
}

void gate_words(const struct obj *before, const struct obj *after, struct obj *list)
{
	static const char *const paths[] = {"spec.scope", "spec.names", "spec.conversion",
					    "spec.preserveUnknownFields"};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	const char *name = meta_name(before ? before : after);
	struct words w = {.a = a, .out = list, .resource = name ? name : ""};
	strbuf_init(&w.path, (size_t)64 << 10);
	if (!before || !after) {
		say(&w, before ? "definition removed" : "definition added");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		changed(&w, paths[i], obj_path(before, paths[i]), obj_path(after, paths[i]));
	versions(&w, w.resource, before, after);
	strbuf_release(&w.path);
}
