/* cel_check_types.c: errors of a check, and the types of a schema's values. */
#include <string.h>

#include "alm/obj/cel/cel_check.h"
#include "alm/obj/cel/cel_cost.h"
#include "alm/obj/schema/schema_node.h"

static const struct cel_type dyn = {.kind = CEL_DYN};

/* The next error. */
static bool is_told(const struct cel_checker *c)
{
	return c->out && c->errors < CEL_TOLD_MAX;
}

struct cel_type cel_check_fail(struct cel_checker *c, size_t at, const char *message)
{
	if (is_told(c))
		c->told[c->errors] =
			(struct cel_check_error){at, arena_strdup(c->a, message), false};
	c->errors++;
	return cel_type_kind(CEL_ERROR);
}

/* Of what is looked at once everything else is well. */
void cel_check_late(struct cel_checker *c, size_t at, const char *message)
{
	if (is_told(c))
		c->told[c->errors] =
			(struct cel_check_error){at, arena_strdup(c->a, message), true};
	c->errors++;
	c->late++;
}

const struct cel_type *cel_check_boxed(struct cel_checker *c, struct cel_type t)
{
	return arena_memdup(c->a, &t, sizeof(t));
}

/* NOLINTNEXTLINE(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep */
static struct cel_type of_schema(struct cel_checker *c, const struct schema *s)
{
	if (!s || s->int_or_string)
		return dyn;
	switch (s->type) {
	case SCHEMA_OBJECT:
		if (s->additional && !s->properties)
			return (struct cel_type){
				.kind = CEL_MAP,
				.inner = cel_check_boxed(c, of_schema(c, s->additional))};
		return (struct cel_type){.kind = CEL_OBJECT, .s = s};
	case SCHEMA_ARRAY:
		return (struct cel_type){.kind = CEL_LIST,
					 .inner = cel_check_boxed(c, of_schema(c, s->items))};
	case SCHEMA_STRING:
		return cel_type_kind(cel_format_kind(s->format));
	case SCHEMA_INTEGER:
		return cel_type_kind(CEL_INT);
	case SCHEMA_NUMBER:
		return cel_type_kind(CEL_DOUBLE);
	case SCHEMA_BOOLEAN:
		return cel_type_kind(CEL_BOOL);
	default:
		return dyn;
	}
}

const char *cel_check_text(struct cel_checker *c, struct cel_type t)
{
	return is_told(c) ? cel_type_text(&t, c->a) : "";
}

/* metadata of the root and of embedded resources: name and generateName. */
static const struct schema *metadata_schema(struct cel_checker *c)
{
	if (c->metadata)
		return c->metadata;
	struct schema *text = ARENA_NEW(c->a, struct schema);
	struct schema *meta = ARENA_NEW(c->a, struct schema);
	text->type = SCHEMA_STRING;
	meta->type = SCHEMA_OBJECT;
	schema_set_property(c->a, meta, "generateName", text);
	schema_set_property(c->a, meta, "name", text);
	c->metadata = meta;
	return meta;
}

static bool is_resource_field(struct cel_checker *c, const struct schema *s, const char *name,
			      struct cel_type *ret)
{
	if (s != c->root && !s->embedded)
		return false;
	bool is_text = strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0;
	if (is_text)
		*ret = cel_type_kind(CEL_STRING);
	else if (strcmp(name, "metadata") == 0)
		*ret = (struct cel_type){.kind = CEL_OBJECT, .s = metadata_schema(c)};
	else
		return false;
	return true;
}

struct cel_type cel_check_optional(struct cel_checker *c, struct cel_type t)
{
	return (struct cel_type){.kind = CEL_OPTIONAL, .inner = cel_check_boxed(c, t)};
}

bool cel_check_field(struct cel_checker *c, const struct schema *s, const char *name,
		     struct cel_type *ret)
{
	if (is_resource_field(c, s, name, ret))
		return true;
	const struct schema *p = schema_property(s, name);
	*ret = of_schema(c, p);
	return c->sees_all ? p != NULL : cel_is_exposed(p);
}

struct cel_type cel_type_of(const struct schema *s, struct arena *a)
{
	struct cel_checker c = {.a = a};
	return of_schema(&c, s);
}

struct cel_type cel_check_no_overload(struct cel_checker *c, const struct cel_node *n,
				      const struct cel_type *types)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "found no matching overload for '%s' applied to '", n->name);
	for (size_t i = 0; i < n->n; i++) {
		const char *open = i == 0 && !n->member ? "(" : i == 1 && n->member ? ".(" : "";
		strbuf_addf(&b, "%s%s%s", open, i > (n->member ? 1U : 0U) ? ", " : "",
			    cel_check_text(c, types[i]));
	}
	strbuf_adds(&b, n->member && n->n == 1 ? ".()'" : ")'");
	return cel_check_fail(c, n->at, b.buf);
}

bool cel_check_is_sortable(enum cel_kind kind)
{
	return kind == CEL_DYN || kind == CEL_INT || kind == CEL_UINT || kind == CEL_DOUBLE ||
	       kind == CEL_BOOL || kind == CEL_DURATION || kind == CEL_TIMESTAMP ||
	       kind == CEL_STRING || kind == CEL_BYTES;
}
