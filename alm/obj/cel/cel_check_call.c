/* cel_check_call.c: the types of calls: does an overload of the function fit, and what comes out? */
#include <string.h>

#include "alm/obj/cel/cel_check.h"
#include "alm/obj/regex/regex.h"

static const struct cel_type dyn = {.kind = CEL_DYN};

/* What a null may stand for: everything that is a message or opaque upstream. */
static bool may_be_null(enum cel_kind kind)
{
	return !cel_check_is_sortable(kind) || kind == CEL_DURATION || kind == CEL_TIMESTAMP
		       ? kind != CEL_LIST && kind != CEL_MAP && kind != CEL_TYPE
		       : false;
}

/* An object of a schema is of a type of its own, but for metadata and what policies see, of which there are several schemas. */
static bool same_object(const struct cel_checker *c, const struct cel_type *x,
			const struct cel_type *y)
{
	return x->s == y->s || c->sees_all || !x->s || !y->s;
}

/* NOLINTNEXTLINE(misc-no-recursion): types nest as deep as the expression or the schema */
bool cel_check_comparable(const struct cel_checker *c, struct cel_type x, struct cel_type y)
{
	if (x.kind == CEL_DYN || y.kind == CEL_DYN || x.kind == CEL_ERROR || y.kind == CEL_ERROR)
		return true;
	if (x.kind == CEL_NULL || y.kind == CEL_NULL)
		return may_be_null(x.kind) && may_be_null(y.kind);
	if (x.kind != y.kind || (x.kind == CEL_OBJECT && !same_object(c, &x, &y)))
		return false;
	bool nests = x.kind == CEL_LIST || x.kind == CEL_MAP || x.kind == CEL_OPTIONAL;
	return !nests || !x.inner || !y.inner || cel_check_comparable(c, *x.inner, *y.inner);
}

/* x.?name, x[?key]: of an object a field or an error, as x.name is. */
static struct cel_type optional_member(struct cel_checker *c, const struct cel_node *n,
				       struct cel_type of)
{
	struct cel_type found = dyn;
	bool is_name = n->args[1]->op == CEL_OP_LITERAL && n->args[1]->literal.kind == CEL_STRING;
	if (of.kind == CEL_OPTIONAL)
		of = of.inner ? *of.inner : dyn;
	if ((of.kind == CEL_MAP || of.kind == CEL_LIST) && of.inner)
		found = *of.inner;
	if (of.kind == CEL_OBJECT && is_name &&
	    !cel_check_field(c, of.s, n->args[1]->literal.str.ptr, &found))
		return cel_check_fail(
			c, n->at,
			arena_fmt(c->a, "undefined field '%s'", n->args[1]->literal.str.ptr));
	return cel_check_optional(c, found);
}

/* Of functions that want an item of what a list, or an optional value, has; or a key of a map, which is a text where its values are
 * known. */
static bool takes_item(const struct cel_checker *c, const struct cel_node *n,
		       const struct cel_type *types)
{
	static const char *const first[] = {"indexOf", "lastIndexOf", "orValue", NULL};
	bool in = strcmp(n->name, "@in") == 0, at = strcmp(n->name, "_[_]") == 0;
	if (n->n != 2 || (!in && !at && !cstr_in(n->name, first)))
		return true;
	const struct cel_type *of = &types[in], *item = &types[!in];
	if (!of->inner)
		return true;
	if (of->kind == CEL_MAP)
		return item->kind == CEL_STRING || item->kind == CEL_DYN;
	return at || cel_check_comparable(c, *of->inner, *item);
}

/* What takes two lists takes them of one type. */
static bool takes_lists(const struct cel_checker *c, const struct cel_node *n,
			const struct cel_type *types)
{
	static const char *const names[] = {"sets.contains", "sets.equivalent", "sets.intersects",
					    "_+_", NULL};
	return n->n != 2 || types[0].kind != CEL_LIST || types[1].kind != CEL_LIST ||
	       !cstr_in(n->name, names) || cel_check_comparable(c, types[0], types[1]);
}

/* sort() wants what has an order, flatten() lists. */
static bool takes_items(const struct cel_node *n, enum cel_kind kind)
{
	if (strcmp(n->name, "sort") == 0)
		return cel_check_is_sortable(kind);
	return strcmp(n->name, "flatten") != 0 || n->n > 1 || kind == CEL_LIST || kind == CEL_DYN;
}

static struct cel_type list_of(struct cel_checker *c, struct cel_type item)
{
	return (struct cel_type){.kind = CEL_LIST, .inner = cel_check_boxed(c, item)};
}

/* Of functions of optional values: what they have inside is known. */
static bool optional_result(struct cel_checker *c, const struct cel_node *n,
			    const struct cel_type *types, struct cel_type *ret)
{
	static const char *const makers[] = {"optional.of", "optional.ofNonZeroValue", NULL};
	static const char *const ends[] = {"first", "last", NULL};
	static const char *const members[] = {"_?._", "_[?_]", NULL};
	static const char *const unwrapped[] = {"optional.unwrap", "unwrapOpt", NULL};
	struct cel_type inner = n->n > 0 && types[0].inner ? *types[0].inner : dyn;
	if (cstr_in(n->name, members))
		*ret = optional_member(c, n, types[0]);
	else if (cstr_in(n->name, makers))
		*ret = cel_check_optional(c, types[0]);
	else if (cstr_in(n->name, ends))
		*ret = cel_check_optional(c, inner);
	else if (strcmp(n->name, "value") == 0)
		*ret = inner;
	else if (strcmp(n->name, "orValue") == 0)
		*ret = types[0].inner ? inner : types[1]; /* none() is of any type */
	else if (strcmp(n->name, "or") == 0)
		*ret = types[0].inner ? types[0] : types[1];
	else if (cstr_in(n->name, unwrapped))
		*ret = (struct cel_type){.kind = CEL_LIST, .inner = inner.inner};
	else if (strcmp(n->name, "validate") == 0)
		*ret = cel_check_optional(c, list_of(c, cel_type_kind(CEL_STRING)));
	else if (strcmp(n->name, "format.named") == 0)
		*ret = cel_check_optional(c, cel_type_kind(CEL_FORMAT));
	else
		return false;
	return true;
}

/* Of functions whose result is of a type that an argument has, or a list of one type. */
static struct cel_type result_type(struct cel_checker *c, const struct cel_node *n,
				   const struct cel_type *types, enum cel_kind result)
{
	static const char *const items[] = {"_[_]", "min", "max", "sum", "flatten", NULL};
	static const char *const lists[] = {"_+_", "slice", "sort", "reverse", "distinct", NULL};
	static const char *const texts[] = {"split", "findAll", NULL};
	bool flattens = strcmp(n->name, "flatten") == 0;
	struct cel_type found;
	if (n->n > 0 && cstr_in(n->name, items) && !(flattens && n->n > 1))
		return types[0].inner ? *types[0].inner : flattens ? cel_type_kind(CEL_LIST) : dyn;
	if (result == CEL_LIST && types[0].inner && cstr_in(n->name, lists))
		return types[0];
	if (cstr_in(n->name, texts))
		return list_of(c, cel_type_kind(CEL_STRING));
	if (strcmp(n->name, "getQuery") == 0)
		return (struct cel_type){
			.kind = CEL_MAP,
			.inner = cel_check_boxed(c, list_of(c, cel_type_kind(CEL_STRING)))};
	if (strcmp(n->name, "type") == 0)
		return (struct cel_type){.kind = CEL_TYPE, .inner = cel_check_boxed(c, types[0])};
	if (strcmp(n->name, "lists.range") == 0)
		return list_of(c, cel_type_kind(CEL_INT));
	return optional_result(c, n, types, &found) ? found : cel_type_kind(result);
}

/* Times and regular expressions that are written out, and are none. */
static void check_literals(struct cel_checker *c, const struct cel_node *n)
{
	CLEANUP(regex_freep) struct regex *re = NULL;
	struct error err = ERROR_INIT;
	const struct cel_node *arg = n->n > 0 ? n->args[n->n - 1] : NULL;
	bool duration = strcmp(n->name, "duration") == 0, broken;
	bool instant = strcmp(n->name, "timestamp") == 0;
	struct cel_value time;
	if (!arg || arg->op != CEL_OP_LITERAL)
		return;
	if (instant && arg->literal.kind == CEL_INT)
		broken = !cel_is_timestamp(arg->literal.i);
	else if (arg->literal.kind != CEL_STRING)
		return;
	else if (duration || instant)
		broken = !cel_parse_time(duration ? CEL_DURATION : CEL_TIMESTAMP, arg->literal.str,
					 &time);
	else
		broken = n->member && strcmp(n->name, "matches") == 0 &&
			 regex_new(arg->literal.str, &re, &err) < 0;
	if (broken)
		cel_check_late(c, arg->at, arena_fmt(c->a, "invalid %s argument", n->name));
}

struct cel_type cel_check_call(struct cel_checker *c, const struct cel_node *n,
			       const struct cel_type types[CEL_ARGS_MAX])
{
	enum cel_kind kinds[CEL_ARGS_MAX] = {CEL_DYN};
	bool known, broken = false;
	for (size_t i = 0; i < n->n; i++) {
		kinds[i] = types[i].kind;
		broken |= types[i].kind == CEL_ERROR;
	}
	enum cel_kind result = cel_fn_type(n->name, n->member, kinds, n->n, &known);
	if (!known)
		return cel_check_fail(
			c, n->at,
			arena_fmt(c->a, "undeclared reference to '%s' (in container '')", n->name));
	if (broken)
		return cel_type_kind(CEL_ERROR);
	if (types[0].kind == CEL_OBJECT && strcmp(n->name, "_?._") == 0)
		return optional_member(c, n, types[0]);
	bool equality = strcmp(n->name, "_==_") == 0 || strcmp(n->name, "_!=_") == 0;
	if (result == CEL_ERROR || (equality && !cel_check_comparable(c, types[0], types[1])))
		return cel_check_no_overload(c, n, types);
	if (types[0].kind == CEL_LIST && types[0].inner && !takes_items(n, types[0].inner->kind))
		return cel_check_no_overload(c, n, types);
	if (!takes_item(c, n, types) || !takes_lists(c, n, types))
		return cel_check_no_overload(c, n, types);
	check_literals(c, n);
	return result_type(c, n, types, result);
}
