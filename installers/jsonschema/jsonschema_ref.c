/* jsonschema_ref: the schema that a $ref names. References stay inside the document: nothing is
 * loaded. */
#include <string.h>

#include "alm/base/hash.h"
#include "installers/jsonschema/jsonschema_tree.h"

static struct str unescape(struct arena *a, struct str s)
{
	char *out = arena_alloc(a, s.len + 1);
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++) {
		unsigned char byte;
		if (s.ptr[i] == '%' && hex_decode(str_sub(s, i + 1, 2), &byte, 1)) {
			out[n++] = (char)byte;
			i += 2;
		} else if (s.ptr[i] == '~' && i + 1 < s.len) {
			out[n++] = s.ptr[++i] == '1' ? '/' : '~';
		} else {
			out[n++] = s.ptr[i];
		}
	}
	return str_n(out, n);
}

static const struct value *by_pointer(struct schema_run *r, struct str pointer)
{
	const struct value *v = &r->root;
	struct str part;
	if (!pointer.len)
		return v;
	pointer = str_skip(pointer, 1);
	while (v && str_next(&pointer, '/', &part)) {
		struct str key = unescape(r->a, part);
		uint64_t i;
		if (v->type == VALUE_MAP)
			v = vmap_get(v->map, key);
		else if (v->type == VALUE_LIST && str_parse_u64(key, &i) && i < v->len)
			v = &v->items[i];
		else
			v = NULL;
	}
	return v;
}

/* NOLINTBEGIN(misc-no-recursion): VALUE_DEPTH_MAX bounds the depth */
/* The schema anywhere in the document whose keyword has this text. */
static const struct value *by_name(const struct value *v, const char *name, struct str text,
				   int depth)
{
	const struct value *hit = NULL;
	if (depth > VALUE_DEPTH_MAX)
		return NULL;
	if (v->type == VALUE_LIST)
		for (size_t i = 0; !hit && i < v->len; i++)
			hit = by_name(&v->items[i], name, text, depth + 1);
	if (v->type != VALUE_MAP)
		return hit;
	const struct value *x = vmap_getc(v->map, name);
	if (x && x->type == VALUE_STRING && str_eq(value_text(*x), text))
		return v;
	for (size_t i = 0; !hit && i < v->map->n; i++)
		hit = by_name(&v->map->entries[i].value, name, text, depth + 1);
	return hit;
}
/* NOLINTEND(misc-no-recursion) */

static const struct value *by_anchor(struct schema_run *r, struct str anchor)
{
	const char *id = arena_fmt(r->a, "#%.*s", STR_ARG(anchor));
	const struct value *v = by_name(&r->root, "$anchor", anchor, 0);
	if (!v)
		v = by_name(&r->root, "$dynamicAnchor", anchor, 0);
	if (!v)
		v = by_name(&r->root, r->draft == DRAFT_4 ? "id" : "$id", str_of(id), 0);
	return v;
}

static const struct value *in_document(struct schema_run *r, struct str fragment)
{
	const struct value *v;
	if (!fragment.len || fragment.ptr[0] == '/') {
		v = by_pointer(r, fragment);
		if (!v)
			schema_broken(
				r, "json-pointer in \"file:///values.schema.json#%.*s\" not found",
				STR_ARG(fragment));
		return v;
	}
	v = by_anchor(r, fragment);
	if (!v)
		schema_broken(r,
			      "anchor in \"file:///values.schema.json#%.*s\" not found in schema "
			      "\"file:///values.schema.json\"",
			      STR_ARG(fragment));
	return v;
}

/* Anything is valid for a schema that is nowhere; said once of each. */
static void permit_urn(struct schema_run *r, struct str urn)
{
	const char *text =
		arena_fmt(r->a, "unresolved URN reference ignored; using permissive schema: %.*s",
			  STR_ARG(urn));
	for (size_t i = r->first_warning; r->w && i < r->w->n; i++)
		if (!strcmp(r->w->items[i].text, text))
			return;
	warnings_add(r->w, "%s", text);
	warnings_log(r->w, "WARN", "unresolved URN reference ignored; using permissive schema");
	warnings_attr(r->w, "urn", urn);
}

const struct value *schema_resolve(struct schema_run *r, struct str ref)
{
	struct str base, fragment;
	bool has_fragment = str_cut(ref, '#', &base, &fragment);
	if (!base.len)
		return in_document(r, has_fragment ? fragment : STR(""));
	const struct value *v = by_name(&r->root, r->draft == DRAFT_4 ? "id" : "$id", base, 0);
	if (!v)
		v = by_name(&r->root, "$id", ref, 0);
	if (v && has_fragment && fragment.len) {
		struct value outer = r->root;
		r->root = *v;
		v = in_document(r, fragment);
		r->root = outer;
	}
	if (v)
		return v;
	if (str_has_prefix(base, STR("urn:"))) {
		permit_urn(r, base);
		if (fragment.len)
			schema_broken(
				r, "%s in \"%.*s\" not found%s",
				fragment.ptr[0] == '/' ? "json-pointer" : "anchor", STR_ARG(ref),
				fragment.ptr[0] == '/'
					? ""
					: arena_fmt(r->a, " in schema \"%.*s\"", STR_ARG(base)));
		return NULL;
	}
	if (str_contains(base, STR("json-schema.org/draft")))
		return NULL; /* a value that is itself a schema is not looked at */
	schema_broken(r, "failing loading \"%.*s\": references outside of the schema are refused",
		      STR_ARG(base));
	return NULL;
}
