/* cel_cost.c: see cel_cost.h. Macros cost what cel-go makes of them: a loop with an accumulator. */
#include "alm/obj/cel/cel_cost_node.h"

#include <string.h>

#include "alm/obj/cel/cel_check.h"
#include "alm/obj/schema/schema_node.h"

#define LIST_COST    10
#define MAP_COST     30
#define MESSAGE_COST 40

static struct cel_extent united(struct cel_extent a, struct cel_extent b)
{
	return (struct cel_extent){a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
}

static struct cel_estimate estimate(struct cel_coster *c, const struct cel_node *n);

static struct cel_estimate ident(const struct cel_coster *c, const struct cel_node *n)
{
	struct cel_estimate e = {.cost = 1, .place = cel_place_of(c->root)};
	for (size_t i = c->n_vars; i > 0; i--)
		if (strcmp(c->vars[i - 1].name, n->name) == 0) {
			e = c->vars[i - 1].is;
			e.cost = 1;
			break;
		}
	return e;
}

static struct cel_estimate literal(const struct cel_node *n)
{
	struct cel_estimate e = {.sized = true, .size = {1, 1}};
	if (n->literal.kind == CEL_STRING)
		e.size.min = e.size.max = utf8_count(n->literal.str);
	else if (n->literal.kind == CEL_BYTES)
		e.size.min = e.size.max = n->literal.str.len;
	return e;
}

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by CEL_DEPTH_MAX */
static struct cel_estimate select_member(struct cel_coster *c, const struct cel_node *n)
{
	struct cel_estimate of = estimate(c, n->args[0]), e = {.cost = of.cost};
	if (n->op == CEL_OP_HAS)
		return e;
	if (of.type.kind == CEL_MAP || of.type.kind == CEL_OBJECT)
		e.cost = cel_cost_plus(e.cost, 1);
	e.place = cel_place_member(c, of.place, n->name);
	return e;
}

/* A list or a map: every step-th is a value. */
static struct cel_estimate collection(struct cel_coster *c, const struct cel_node *n, size_t step,
				      uint64_t base)
{
	struct cel_estimate e = {.cost = base, .sized = true, .has_items = true};
	struct cel_extent item = {n->n ? UINT64_MAX : 0, 0};
	for (size_t i = 0; i < n->n; i++) {
		const struct cel_node *arg = n->args[i];
		struct cel_estimate x = estimate(c, arg->op == CEL_OP_ENTRY ? arg->args[0] : arg);
		e.cost = cel_cost_plus(e.cost, x.cost);
		if (i % step == step - 1)
			item = united(item, cel_extent_of(&x));
	}
	e.size.min = e.size.max = n->n / step;
	e.item = item;
	return e;
}

static struct cel_estimate conditional(struct cel_coster *c, const struct cel_node *n)
{
	struct cel_estimate test = estimate(c, n->args[0]), yes = estimate(c, n->args[1]);
	struct cel_estimate no = estimate(c, n->args[2]), e = {.sized = true};
	e.cost = cel_cost_plus(test.cost, yes.cost > no.cost ? yes.cost : no.cost);
	e.size = united(cel_extent_of(&yes), cel_extent_of(&no));
	e.has_items = yes.has_items && no.has_items;
	e.item = united(yes.item, no.item);
	return e;
}

static void declare(struct cel_coster *c, const char *name, struct cel_estimate is)
{
	if (c->n_vars < CEL_VARS_MAX) /* cel_check() has refused more */
		c->vars[c->n_vars++] = (struct cel_estimate_var){name, is};
}

/* The variables of a loop over it. */
static void declare_items(struct cel_coster *c, const struct cel_node *n,
			  const struct cel_estimate *range)
{
	bool list = range->type.kind == CEL_LIST, two = n->second != NULL;
	struct cel_type inner = range->type.inner ? *range->type.inner : cel_type_kind(CEL_DYN);
	struct cel_estimate key = {.place = cel_place_keys(c, range->place),
				   .type = cel_type_kind(list ? CEL_INT : CEL_STRING)};
	struct cel_estimate item = {.place = cel_place_items(c, range->place), .type = inner};
	struct cel_extent known;
	if (range->has_items && !cel_place_extent(item.place, &known)) {
		item.sized = true;
		item.size = range->item;
	}
	declare(c, n->var, list && !two ? item : key);
	if (two)
		declare(c, n->second, item);
}

/* What one turn of the loop costs besides its last argument and the test of the one before; and what is
 * made before and after. */
struct loop {
	uint64_t before, turn, after;
	bool tests, collects; /* collects: into a list or a map */
};

static struct loop loop_of(const char *name)
{
	static const struct {
		const char *name;
		struct loop loop;
	} rows[] = {
		{"all", {0, 3, 1, true, false}},
		{"exists", {0, 4, 1, true, false}},
		{"exists_one", {0, 2, 2, true, false}},
		{"existsOne", {0, 2, 2, true, false}},
		{"filter", {LIST_COST, LIST_COST + 3, 1, true, true}},
		{"map", {LIST_COST, LIST_COST + 2, 1, false, true}},
		{"transformList", {LIST_COST, LIST_COST + 2, 1, false, true}},
		{"sortBy", {LIST_COST, LIST_COST + 2, 1, false, true}},
		{"transformMap", {MAP_COST, 3, 1, false, true}},
		{"transformMapEntry", {MAP_COST, 2, 1, false, true}},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].loop;
	return (struct loop){0};
}

/* x.optMap(v, e), x.optFlatMap(v, e): a condition whether x has a value, and a variable for it. */
static struct cel_estimate optional_macro(struct cel_coster *c, const struct cel_node *n)
{
	struct cel_estimate of = estimate(c, n->args[0]);
	uint64_t once = cel_cost_plus(of.cost, 1);
	size_t before = c->n_vars;
	declare(c, n->var,
		(struct cel_estimate){.type = of.type.inner ? *of.type.inner
							    : cel_type_kind(CEL_DYN)});
	struct cel_estimate e = estimate(c, n->args[1]);
	c->n_vars = before;
	e.cost = cel_cost_plus(cel_cost_plus(e.cost, LIST_COST), cel_cost_times(once, 2));
	if (strcmp(n->name, "optMap") == 0)
		e.cost = cel_cost_plus(e.cost, 1);
	e.place.how = PLACE_NONE;
	e.sized = e.has_items = false;
	return e;
}

/* The list that is sorted counts by the square of its length, and so does the result, as upstream. */
static void sort_by(struct cel_estimate *e, enum cel_kind key)
{
	bool texts = key == CEL_STRING || key == CEL_BYTES;
	e->size.min = cel_cost_times(e->size.min, e->size.min);
	e->size.max = cel_cost_times(e->size.max, e->size.max);
	e->cost = cel_cost_plus(e->cost, LIST_COST + 2 + LIST_COST + 1);
	e->cost = cel_cost_plus(e->cost, cel_cost_share(e->size.max, texts ? 2.1 : 2.0));
}

static struct cel_estimate macro(struct cel_coster *c, const struct cel_node *n)
{
	if (cstr_has_prefix(n->name, "opt"))
		return optional_macro(c, n);
	struct loop loop = loop_of(n->name);
	struct cel_estimate range = estimate(c, n->args[0]), e = {0}, last = {0};
	struct cel_extent count = cel_extent_of(&range);
	uint64_t turn = loop.turn;
	size_t before = c->n_vars;
	declare_items(c, n, &range);
	for (size_t i = 1; i < n->n; i++) {
		last = estimate(c, n->args[i]);
		turn = cel_cost_plus(turn, last.cost);
	}
	if (strcmp(n->name, "filter") == 0)
		last = c->vars[before].is;
	c->n_vars = before;
	e.cost = cel_cost_plus(cel_cost_plus(range.cost, loop.before + loop.after),
			       cel_cost_times(count.max, turn));
	e.sized = loop.collects;
	e.size = count;
	e.has_items = loop.before == LIST_COST;
	e.item = united((struct cel_extent){0, 0}, cel_extent_of(&last));
	if (strcmp(n->name, "sortBy") == 0)
		sort_by(&e, last.type.kind);
	return e;
}

static struct cel_estimate call(struct cel_coster *c, const struct cel_node *n)
{
	struct cel_estimate args[8], e = {0};
	size_t k = n->n < ARRAY_LEN(args) ? n->n : ARRAY_LEN(args);
	for (size_t i = 0; i < k; i++) {
		args[i] = estimate(c, n->args[i]);
		e.cost = cel_cost_plus(e.cost, args[i].cost);
	}
	e.type = c->types[n->id];
	cel_cost_call(c, n, args, &e);
	if (strcmp(n->name, "_[_]") == 0) {
		e.place = cel_place_items(c, args[0].place);
		e.sized = args[0].has_items;
		e.size = args[0].item;
	}
	return e;
}

static struct cel_estimate logic(struct cel_coster *c, const struct cel_node *n)
{
	struct cel_estimate e = {0};
	for (size_t i = 0; i < n->n; i++)
		e.cost = cel_cost_plus(e.cost, estimate(c, n->args[i]).cost);
	return e;
}

static struct cel_estimate by_op(struct cel_coster *c, const struct cel_node *n)
{
	switch (n->op) {
	case CEL_OP_LITERAL:
		return literal(n);
	case CEL_OP_IDENT:
		return ident(c, n);
	case CEL_OP_SELECT:
	case CEL_OP_HAS:
		return select_member(c, n);
	case CEL_OP_CALL:
		return call(c, n);
	case CEL_OP_AND:
	case CEL_OP_OR:
		return logic(c, n);
	case CEL_OP_COND:
		return conditional(c, n);
	case CEL_OP_LIST:
		return collection(c, n, 1, LIST_COST);
	case CEL_OP_MAP:
		return collection(c, n, 2, MAP_COST);
	case CEL_OP_MESSAGE:
		return collection(c, n, 2, MESSAGE_COST);
	case CEL_OP_ENTRY:
		return estimate(c, n->args[0]);
	case CEL_OP_MACRO:
		return macro(c, n);
	}
	return (struct cel_estimate){0};
}

static struct cel_estimate estimate(struct cel_coster *c, const struct cel_node *n)
{
	struct cel_estimate e = by_op(c, n);
	e.type = c->types[n->id];
	return e;
}
/* NOLINTEND(misc-no-recursion) */

uint64_t cel_cost(const struct cel_program *p, const struct schema *s, bool is_root,
		  struct arena *a)
{
	struct cel_coster *c = ARENA_NEW(a, struct cel_coster);
	c->types = cel_check_types(p, s, is_root, a);
	c->root = s;
	c->is_root = is_root;
	return estimate(c, p->root).cost;
}
