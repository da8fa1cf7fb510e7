/* cel_message: see cel_message.h. */
#include "alm/obj/cel/cel_message.h"

#include <string.h>

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

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by CEL_DEPTH_MAX */
static const char *fault_at(const struct cel_value *v, const char *path, struct arena *a)
{
	const char *fault = NULL;
	bool built = (v->kind == CEL_LIST || v->kind == CEL_MAP) && !v->o;
	size_t step = v->kind == CEL_LIST ? 1 : 2;
	for (size_t i = step - 1; built && i < v->list.n && !fault; i += step)
		fault = fault_at(&v->list.items[i], path, a);
	if (v->kind != CEL_MESSAGE)
		return fault;
	const struct cel_message *m = v->message;
	if (strcmp(m->name, path) != 0)
		return arena_fmt(
			a,
			"unexpected type name \"%s\", expected \"%s\", which matches field "
			"name path from root Object type",
			m->name, path);
	for (size_t i = 0; i + 1 < m->n && !fault; i += 2)
		fault = fault_at(&m->items[i + 1],
				 arena_fmt(a, "%s.%.*s", path, STR_ARG(m->items[i].str)), a);
	return fault;
}

const char *cel_message_fault(const struct cel_value *v, struct arena *a)
{
	return v->kind == CEL_MESSAGE ? fault_at(v, v->message->name, a) : NULL;
}
/* NOLINTEND(misc-no-recursion) */
