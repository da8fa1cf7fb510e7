/* cel_check_macro.c: the types of comprehensions: what their variables are, and what comes out. */
#include <string.h>

#include "alm/obj/cel/cel_check.h"

static const struct cel_type dyn = {.kind = CEL_DYN};

static bool declare(struct cel_checker *c, const struct cel_node *n, const char *name,
		    struct cel_type type)
{
	if (c->n_vars == CEL_VARS_MAX) {
		cel_check_fail(c, n->at, "too many nested comprehensions");
		return false;
	}
	c->vars[c->n_vars++] = (struct cel_check_var){.name = name, .type = type};
	return true;
}

/* What the variables of a comprehension over it are. false: it is no range. */
static bool range_types(struct cel_type range, bool two, struct cel_type *ret_first,
			struct cel_type *ret_second)
{
	struct cel_type inner = range.inner ? *range.inner : dyn;
	*ret_first = *ret_second = dyn;
	if (range.kind == CEL_LIST) {
		*ret_first = two ? cel_type_kind(CEL_INT) : inner;
		*ret_second = inner;
	} else if (range.kind == CEL_MAP) {
		*ret_first = range.inner || !two ? cel_type_kind(CEL_STRING) : dyn;
		*ret_second = inner;
	}
	return range.kind == CEL_LIST || range.kind == CEL_MAP || range.kind == CEL_DYN ||
	       range.kind == CEL_ERROR;
}

/* The body of optFlatMap() is one. */
static struct cel_type made_optional(struct cel_checker *c, struct cel_type body)
{
	return body.kind == CEL_ERROR || body.kind == CEL_OPTIONAL ? body
								   : cel_check_optional(c, body);
}

/* What a comprehension of the name makes of a range and a body. */
struct cel_type cel_check_made(struct cel_checker *c, const struct cel_node *n,
			       struct cel_type range, struct cel_type item, struct cel_type body)
{
	if (cstr_has_prefix(n->name, "opt"))
		return range.kind == CEL_ERROR ? range : made_optional(c, body);
	struct cel_type list = {.kind = CEL_LIST, .inner = cel_check_boxed(c, body)};
	if (strcmp(n->name, "map") == 0 || strcmp(n->name, "transformList") == 0)
		return list;
	if (strcmp(n->name, "filter") == 0)
		return (struct cel_type){.kind = CEL_LIST, .inner = cel_check_boxed(c, item)};
	if (strcmp(n->name, "transformMap") == 0)
		return (struct cel_type){.kind = CEL_MAP,
					 .inner = range.kind == CEL_MAP && range.inner ? list.inner
										       : NULL};
	if (strcmp(n->name, "transformMapEntry") == 0) {
		bool fits = body.kind == CEL_MAP || body.kind == CEL_DYN || body.kind == CEL_ERROR;
		return fits ? body
			    : cel_check_fail(
				      c, n->at,
				      arena_fmt(c->a,
						"found no matching overload for 'cel.@mapInsert' "
						"applied to '(map(dyn, dyn), %s)'",
						cel_check_text(c, body)));
	}
	if (strcmp(n->name, "sortBy") != 0)
		return cel_type_kind(CEL_BOOL);
	if (body.kind == CEL_ERROR || (range.kind != CEL_MAP && cel_check_is_sortable(body.kind)))
		return range;
	return cel_check_fail(
		c, n->at,
		arena_fmt(c->a,
			  "found no matching overload for '@sortByAssociatedKeys' applied to "
			  "'%s.(%s)'",
			  cel_check_text(c, range), cel_check_text(c, list)));
}

bool cel_check_makes_value(const char *name)
{
	static const char *const names[] = {"map",
					    "sortBy",
					    "transformList",
					    "transformMap",
					    "transformMapEntry",
					    "optMap",
					    "optFlatMap",
					    NULL};
	return cstr_in(name, names);
}

/* Of optMap() upstream makes x.hasValue() ? .. x.value() .. */
static void no_optional(struct cel_checker *c, const struct cel_node *n, struct cel_type range)
{
	static const char *const made[] = {"hasValue", "value"};
	for (size_t i = 0; i < ARRAY_LEN(made); i++)
		cel_check_fail(c, n->at,
			       arena_fmt(c->a,
					 "found no matching overload for '%s' applied to '%s.()'",
					 made[i], cel_check_text(c, range)));
}

bool cel_check_declare(struct cel_checker *c, const struct cel_node *n, struct cel_type range)
{
	struct cel_type first, second;
	if (cstr_has_prefix(n->name, "opt")) {
		if (range.kind == CEL_OPTIONAL || range.kind == CEL_DYN || range.kind == CEL_ERROR)
			return declare(c, n, n->var, range.inner ? *range.inner : dyn);
		no_optional(c, n, range);
		return false;
	}
	if (range_types(range, n->second != NULL, &first, &second))
		return declare(c, n, n->var, first) &&
		       (!n->second || declare(c, n, n->second, second));
	cel_check_fail(c, n->args[0]->at,
		       arena_fmt(c->a,
				 "expression of type '%s' cannot be range of a comprehension "
				 "(must be list, map, or dynamic)",
				 cel_check_text(c, range)));
	return false;
}
