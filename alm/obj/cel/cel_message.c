/* cel_message: see cel_message.h. */
#include "alm/obj/cel/cel_message.h"

#include <string.h>

/* What cel_to_obj() takes of 16 bytes each. */
#define VALUES_MAX (CEL_OBJ_BYTES_MAX / 16)

struct cel_value cel_message_map(const struct cel_value *v)
{
	struct cel_value map = {.kind = CEL_MAP};
	map.list.items = v->message->items;
	map.list.n = v->message->n;
	return map;
}

bool cel_message_get(const struct cel_value *v, const char *name, struct cel_value *ret)
{
	const struct cel_message *m = v->message;
	bool found = false;
	for (size_t i = 0; i + 1 < m->n; i += 2)
		if (str_is(m->items[i].str, name)) {
			*ret = m->items[i + 1]; /* the last one, as upstream */
			found = true;
		}
	return found;
}

struct search {
	struct arena *a;
	size_t left; /* values: built lists share their elements, so a small one may be met for ever */
};

/* NOLINTBEGIN(misc-no-recursion): at most OBJ_DEPTH_MAX deep */
static const char *fault_at(struct search *s, const struct cel_value *v, const char *path,
			    size_t depth)
{
	const char *fault = NULL;
	bool built = (v->kind == CEL_LIST || v->kind == CEL_MAP) && !v->o;
	size_t step = v->kind == CEL_LIST ? 1 : 2;
	if (!s->left || depth > OBJ_DEPTH_MAX)
		return NULL; /* cel_to_obj() refuses it */
	s->left--;
	for (size_t i = step - 1; built && i < v->list.n && !fault; i += step)
		fault = fault_at(s, &v->list.items[i], path, depth + 1);
	if (v->kind != CEL_MESSAGE)
		return fault;
	const struct cel_message *m = v->message;
	if (strcmp(m->name, path) != 0)
		return arena_fmt(
			s->a,
			"unexpected type name \"%s\", expected \"%s\", which matches field "
			"name path from root Object type",
			m->name, path);
	for (size_t i = 0; i + 1 < m->n && !fault; i += 2)
		fault = fault_at(s, &m->items[i + 1],
				 arena_fmt(s->a, "%s.%.*s", path, STR_ARG(m->items[i].str)),
				 depth + 1);
	return fault;
}
/* NOLINTEND(misc-no-recursion) */

const char *cel_message_fault(const struct cel_value *v, struct arena *a)
{
	struct search s = {a, VALUES_MAX};
	return v->kind == CEL_MESSAGE ? fault_at(&s, v, v->message->name, 0) : NULL;
}
