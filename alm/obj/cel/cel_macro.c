/*
 * cel_macro.c: comprehensions: range.all(x, p), range.map(x, e) and their kin, and those of two
 * variables, of which the first is the index of an item or its key: range.transformMap(k, v, e).
 */
#include <string.h>

#include "alm/obj/cel/cel_eval.h"
#include "alm/obj/cel/cel_table.h"
#include "alm/obj/schema/schema_node.h"

bool cel_is_macro(const char *name, size_t args, size_t *ret_vars)
{
	static const struct {
		const char *name;
		size_t vars, bodies_max;
	} rows[] = {{"all", 1, 1},          {"exists", 1, 1},
		    {"exists_one", 1, 1},   {"existsOne", 1, 1},
		    {"filter", 1, 1},       {"map", 1, 2},
		    {"optMap", 1, 1},       {"optFlatMap", 1, 1},
		    {"sortBy", 1, 1},       {"all", 2, 1},
		    {"exists", 2, 1},       {"exists_one", 2, 1},
		    {"existsOne", 2, 1},    {"transformList", 2, 2},
		    {"transformMap", 2, 2}, {"transformMapEntry", 2, 2}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		*ret_vars = rows[i].vars;
		if (strcmp(rows[i].name, name) == 0 && args > 1 + *ret_vars &&
		    args <= 1 + *ret_vars + rows[i].bodies_max)
			return true;
	}
	return false;
}

enum fold {
	FOLD_ALL,
	FOLD_EXISTS,
	FOLD_ONE,
	FOLD_FILTER,
	FOLD_LIST,    /* from here on the last argument makes a value */
	FOLD_MAP,     /* under the key that the item had */
	FOLD_ENTRIES, /* maps, whose entries become one map's */
	FOLD_KEYS,    /* that the items are sorted by */
};

static enum fold fold_of(const char *name)
{
	static const struct {
		const char *name;
		enum fold fold;
	} rows[] = {{"all", FOLD_ALL},
		    {"exists", FOLD_EXISTS},
		    {"filter", FOLD_FILTER},
		    {"map", FOLD_LIST},
		    {"transformList", FOLD_LIST},
		    {"transformMap", FOLD_MAP},
		    {"transformMapEntry", FOLD_ENTRIES},
		    {"sortBy", FOLD_KEYS}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].fold;
	return FOLD_ONE; /* exists_one, existsOne */
}

struct item {
	struct cel_value first, second; /* the variables; second: of two alone */
};

struct folding {
	enum fold kind;
	struct cel_value failed; /* NULL: none */
	struct cel_value *out;   /* of a map key, value, key, value */
	size_t n, cap;
};

static bool is_error(const struct cel_value *v)
{
	return v->kind == CEL_ERROR;
}

static struct cel_value collected(const struct folding *f)
{
	bool map = f->kind == FOLD_MAP || f->kind == FOLD_ENTRIES;
	struct cel_value v = {.kind = map ? CEL_MAP : CEL_LIST};
	v.list.items = f->out;
	v.list.n = f->n;
	return v;
}

static void push(struct cel_evaluator *e, struct folding *f, const struct cel_value *v)
{
	if (f->n == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 8;
		f->out = arena_grown(e->call.a, f->out, f->n, f->cap, sizeof(*f->out));
	}
	f->out[f->n++] = *v;
}

/* Of a map of JSON, which has no places: all at once. */
static struct item *members_of(struct cel_evaluator *e, const struct cel_value *range)
{
	size_t i = 0;
	if (range->kind != CEL_MAP || !range->o)
		return NULL;
	struct item *items = ARENA_ARRAY(e->call.a, struct item, cel_size(range) + 1);
	OBJ_EACH (it, range->o)
		items[i++] = (struct item){
			.first = cel_string(str_of(it.key)),
			.second = cel_of(it.value, schema_field(range->s, it.key), e->call.a)};
	return items;
}

/* The i-th item of a list, the i-th key of a map; with two variables an index before, a value behind. */
static struct item item_at(struct cel_evaluator *e, const struct cel_value *range,
			   const struct item *members, bool two, size_t i)
{
	if (members)
		return members[i];
	if (range->kind == CEL_MAP)
		return (struct item){range->list.items[2 * i], range->list.items[2 * i + 1]};
	if (two)
		return (struct item){cel_int((int64_t)i), cel_item(range, i, e->call.a)};
	return (struct item){.first = cel_item(range, i, e->call.a)};
}

static bool fails(struct folding *f, struct cel_value error)
{
	f->failed = error;
	return true;
}

/* The entries of a map that was made for one item join those of the others. */
static bool insert_entries(struct cel_evaluator *e, struct folding *f, const struct cel_value *map)
{
	struct cel_value there;
	if (map->kind != CEL_MAP)
		return fails(f, cel_error(e->call.a, "no such overload"));
	size_t n = cel_size(map);
	const struct item *members = members_of(e, map);
	for (size_t i = 0; i < n; i++) {
		const struct cel_value all = collected(f);
		const struct item item = item_at(e, map, members, true, i);
		if (cel_lookup(&all, &item.first, e->call.budget, &there)) {
			struct cel_value text =
				cel_fn_call("string", false, &item.first, 1, &e->call);
			return fails(f,
				     cel_error(e->call.a, "insert failed: key %.*s already exists",
					       STR_ARG(text.str)));
		}
		push(e, f, &item.first);
		push(e, f, &item.second);
	}
	return false;
}

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by CEL_DEPTH_MAX */
static bool make(struct cel_evaluator *e, const struct cel_node *n, struct folding *f,
		 const struct item *item)
{
	struct cel_value v = e->eval(e, n->args[n->n - 1]);
	if (is_error(&v))
		return fails(f, v);
	if (f->kind == FOLD_ENTRIES)
		return insert_entries(e, f, &v);
	if (f->kind == FOLD_MAP)
		push(e, f, &item->first);
	push(e, f, &v);
	return false;
}

/* One item with its variables bound; true ends the fold, with the result in failed or n. */
static bool fold_item(struct cel_evaluator *e, const struct cel_node *n, struct folding *f,
		      const struct item *item)
{
	bool tested = f->kind < FOLD_LIST || n->n == 3;
	struct cel_value test = tested ? e->eval(e, n->args[1]) : cel_bool(true);
	if (tested && test.kind != CEL_BOOL) {
		bool last =
			f->kind == FOLD_ONE || f->kind == FOLD_FILTER; /* it is told, as upstream */
		if (f->failed.kind == CEL_NULL || last)
			f->failed =
				is_error(&test) ? test : cel_error(e->call.a, "no such overload");
		return f->kind >= FOLD_LIST;
	}
	if (f->kind == FOLD_ALL || f->kind == FOLD_EXISTS) {
		f->n += test.b == (f->kind == FOLD_EXISTS);
		return f->n > 0; /* decided, whatever failed before */
	}
	if (!test.b)
		return false;
	if (f->kind >= FOLD_LIST)
		return make(e, n, f, item);
	if (f->kind == FOLD_FILTER)
		push(e, f, &item->first);
	else
		f->n++;
	return false;
}

static struct cel_value optional_macro(struct cel_evaluator *e, const struct cel_node *n)
{
	struct cel_value x = e->eval(e, n->args[0]);
	if (is_error(&x) || (x.kind == CEL_OPTIONAL && !x.inner))
		return x;
	if (x.kind != CEL_OPTIONAL || e->n_vars == CEL_VARS_MAX)
		return cel_error(e->call.a, "no such overload");
	e->vars[e->n_vars++] = (struct cel_binding){.name = n->var, .value = *x.inner};
	struct cel_value made = e->eval(e, n->args[1]);
	e->n_vars--;
	bool flat = strcmp(n->name, "optFlatMap") == 0;
	if (is_error(&made) || (flat && made.kind == CEL_OPTIONAL))
		return made;
	if (flat)
		return cel_error(e->call.a, "no such overload");
	x.inner = arena_memdup(e->call.a, &made, sizeof(made));
	return x;
}

static struct cel_value folded(struct cel_evaluator *e, const struct folding *f,
			       const struct cel_value *range)
{
	bool decided = f->kind <= FOLD_EXISTS && f->n > 0;
	if (f->failed.kind == CEL_ERROR && !decided)
		return f->failed;
	if (f->kind == FOLD_KEYS)
		return cel_list_sorted(range, f->out, f->n, &e->call);
	if (f->kind >= FOLD_FILTER)
		return collected(f);
	if (f->kind == FOLD_ONE)
		return cel_bool(f->n == 1);
	return cel_bool(decided == (f->kind == FOLD_EXISTS));
}

struct cel_value cel_eval_macro(struct cel_evaluator *e, const struct cel_node *n)
{
	if (cstr_has_prefix(n->name, "opt"))
		return optional_macro(e, n);
	struct cel_value range = e->eval(e, n->args[0]);
	struct folding f = {.kind = fold_of(n->name), .failed = {.kind = CEL_NULL}};
	if (is_error(&range))
		return range;
	if (range.kind != CEL_LIST && (range.kind != CEL_MAP || f.kind == FOLD_KEYS))
		return cel_error(e->call.a, "no such overload");
	if (e->n_vars + 2 > CEL_VARS_MAX)
		return cel_error(e->call.a, "too many nested comprehensions");
	size_t count = cel_size(&range);
	const struct item *members = members_of(e, &range);
	struct cel_binding *vars = &e->vars[e->n_vars];
	bool done = false;
	e->n_vars += n->second ? 2 : 1;
	for (size_t i = 0; i < count && !done && !e->call.budget->over && cel_eval_step(e); i++) {
		const struct item item = item_at(e, &range, members, n->second, i);
		vars[0] = (struct cel_binding){.name = n->var, .value = item.first};
		if (n->second)
			vars[1] = (struct cel_binding){n->second, item.second};
		done = fold_item(e, n, &f, &item);
	}
	e->n_vars -= n->second ? 2 : 1;
	if (e->call.budget->over)
		return cel_over_budget(&e->call);
	return folded(e, &f, &range);
}
/* NOLINTEND(misc-no-recursion) */
