/* cel_cost_call.c: what each function costs for arguments of a size. */
#include <math.h>
#include <string.h>

#include "alm/obj/cel/cel_cost_node.h"

#define TEXT         0.1  /* a byte of a text that is gone through */
#define REGEX        0.25 /* a byte of a regular expression */
#define CHECK_COST   350000
#define FORMAT_BYTES 128 /* of the regular expression of a named format */
#define NAME_BYTES   64
#define IP_BYTES     16
#define LIST_MADE    11 /* the call, and the list */

struct fn {
	const struct cel_coster *c;
	const struct cel_node *n;
	const struct cel_estimate *args;
	struct cel_estimate *ret;
};

static struct cel_extent extent(const struct fn *f, size_t i)
{
	return cel_extent_of(&f->args[i]);
}

static void spend(struct fn *f, uint64_t cost)
{
	f->ret->cost = cel_cost_plus(f->ret->cost, cost);
}

static void result(struct fn *f, uint64_t min, uint64_t max)
{
	f->ret->sized = true;
	f->ret->size = (struct cel_extent){min, max};
}

/* A text that is gone through. */
static void traverse(struct fn *f, size_t i, double factor)
{
	spend(f, cel_cost_share(extent(f, i).max, factor));
}

static void same_text(struct fn *f)
{
	struct cel_extent x = extent(f, 0);
	traverse(f, 0, TEXT);
	result(f, x.min, x.max);
}

static void first_text(struct fn *f)
{
	traverse(f, 0, TEXT);
}

/* min(), indexOf() and the like: each item, and its text. */
static void each_item(struct fn *f)
{
	const struct cel_estimate *list = &f->args[0];
	uint64_t one = 1;
	if (list->type.kind != CEL_LIST) {
		first_text(f);
		return;
	}
	enum cel_kind kind = list->type.inner ? list->type.inner->kind : CEL_DYN;
	if (kind == CEL_STRING || kind == CEL_BYTES)
		one = cel_cost_plus(one, cel_cost_share(cel_extent_of_items(f->c, list).max, TEXT));
	spend(f, cel_cost_times(extent(f, 0).max, one));
}

static void replace(struct fn *f)
{
	struct cel_extent text = extent(f, 0), from = extent(f, 1), with = extent(f, 2);
	uint64_t times = 0, kept = text.max;
	if (from.min == 0) {
		times = cel_cost_plus(text.max, 1);
	} else if (with.max > from.min) {
		times = (uint64_t)ceil((double)text.max / (double)from.min);
		kept = 0;
	}
	traverse(f, 0, 2 * TEXT);
	result(f, 0, cel_cost_plus(cel_cost_times(times, with.max), kept));
}

static void split(struct fn *f)
{
	uint64_t most = extent(f, 0).max;
	const struct cel_node *limit = f->n->n > 2 ? f->n->args[2] : NULL;
	if (limit && limit->op == CEL_OP_LITERAL && limit->literal.kind == CEL_INT)
		most = (uint64_t)limit->literal.i;
	traverse(f, 0, 2 * TEXT);
	result(f, 0, most);
}

static void join(struct fn *f)
{
	struct cel_extent n = extent(f, 0), item = cel_extent_of_items(f->c, &f->args[0]), between;
	uint64_t min = cel_cost_times(n.min, item.min), max = cel_cost_times(n.max, item.max);
	if (f->n->n > 1) {
		between = extent(f, 1);
		min = cel_cost_plus(min, cel_cost_times(between.min, n.min ? n.min - 1 : 0));
		max = cel_cost_plus(max, cel_cost_times(between.max, n.max ? n.max - 1 : 0));
	}
	spend(f, cel_cost_share(max, TEXT));
	result(f, min, max);
}

static void match(struct fn *f)
{
	uint64_t text = cel_cost_share(cel_cost_plus(extent(f, 0).max, 1), TEXT);
	if (!f->n->member) {
		spend(f, 1);
		return;
	}
	spend(f, cel_cost_times(text, cel_cost_share(extent(f, 1).max, REGEX)));
}

static void find(struct fn *f)
{
	match(f);
	result(f, 0, extent(f, 0).max);
}

static void contains(struct fn *f)
{
	spend(f, cel_cost_times(cel_cost_share(extent(f, 0).max, TEXT),
				cel_cost_share(extent(f, 1).max, TEXT)));
}

static void second_text(struct fn *f)
{
	traverse(f, 1, TEXT);
}

static void ip(struct fn *f)
{
	if (f->args[0].type.kind == CEL_CIDR)
		spend(f, 1);
	else
		first_text(f);
}

static void canonical(struct fn *f)
{
	traverse(f, 0, 2 * TEXT);
}

static void contains_net(struct fn *f)
{
	bool net = strcmp(f->n->name, "containsCIDR") == 0;
	spend(f, cel_cost_share(2 * IP_BYTES, TEXT));
	if (net)
		spend(f, cel_cost_share(IP_BYTES, TEXT) + 1);
	if (f->args[1].type.kind == CEL_STRING)
		second_text(f);
}

static void validate(struct fn *f)
{
	spend(f, cel_cost_share(cel_cost_share(extent(f, 1).max, TEXT), FORMAT_BYTES * REGEX));
}

static void check(struct fn *f)
{
	spend(f, CHECK_COST);
}

static void in(struct fn *f)
{
	if (f->args[1].type.kind == CEL_MAP)
		spend(f, 1);
	else
		spend(f, extent(f, 1).max);
}

static bool is_text(const struct cel_estimate *e)
{
	return e->type.kind == CEL_STRING || e->type.kind == CEL_BYTES;
}

static void add(struct fn *f)
{
	struct cel_extent x = extent(f, 0), y = extent(f, 1);
	bool texts = is_text(&f->args[0]) && is_text(&f->args[1]);
	uint64_t max = cel_cost_plus(x.max, y.max);
	if (!texts && f->ret->type.kind != CEL_LIST) {
		spend(f, 1);
		return;
	}
	spend(f, texts ? cel_cost_share(max, TEXT) : 1);
	result(f, cel_cost_plus(x.min, y.min), max);
	f->ret->has_items = f->args[0].has_items && f->args[1].has_items;
	f->ret->item.max = f->args[0].item.max > f->args[1].item.max ? f->args[0].item.max
								     : f->args[1].item.max;
}

static void compare_texts(struct fn *f)
{
	uint64_t x = extent(f, 0).max, y = extent(f, 1).max;
	spend(f, cel_cost_share(x < y ? x : y, TEXT));
}

static void order(struct fn *f)
{
	if (is_text(&f->args[0]) && is_text(&f->args[1]))
		compare_texts(f);
	else
		spend(f, 1);
}

static void equal(struct fn *f)
{
	enum cel_kind x = f->args[0].type.kind, y = f->args[1].type.kind;
	if (x == y && x == CEL_FORMAT)
		spend(f, cel_cost_share(NAME_BYTES, TEXT));
	else if (x == y && (x == CEL_IP || x == CEL_CIDR || x == CEL_QUANTITY || x == CEL_SEMVER))
		spend(f, 1);
	else
		compare_texts(f);
}

static void sets(struct fn *f)
{
	bool both = strcmp(f->n->name, "sets.equivalent") == 0;
	spend(f, cel_cost_plus(cel_cost_share(cel_cost_times(extent(f, 0).max, extent(f, 1).max),
					      both ? 2 : 1),
			       1));
}

/* A list of n items that is made. */
static void made(struct fn *f, struct cel_extent n, double factor)
{
	spend(f, cel_cost_plus(cel_cost_share(n.max, factor), LIST_MADE));
	result(f, n.min, n.max);
}

static uint64_t number(const struct cel_node *n, uint64_t otherwise)
{
	if (n->op != CEL_OP_LITERAL || n->literal.kind != CEL_INT)
		return otherwise;
	return n->literal.i < 0 ? 0 : (uint64_t)n->literal.i;
}

/* An end before its begin counts as no list could, as upstream. */
static void slice(struct fn *f)
{
	uint64_t n = number(f->n->args[2], extent(f, 0).max) - number(f->n->args[1], 0);
	made(f, (struct cel_extent){n, n}, 1);
}

static void range(struct fn *f)
{
	uint64_t n = number(f->n->args[0], UINT64_MAX);
	made(f, (struct cel_extent){n, n}, 1);
}

static void reverse(struct fn *f)
{
	made(f, extent(f, 0), 1);
}

static void flatten(struct fn *f)
{
	made(f, extent(f, 0), f->n->n > 1 ? (double)number(f->n->args[1], UINT64_MAX) : 1);
}

static struct cel_extent squared(struct cel_extent n)
{
	return (struct cel_extent){cel_cost_times(n.min, n.min), cel_cost_times(n.max, n.max)};
}

static void distinct(struct fn *f)
{
	made(f, squared(extent(f, 0)), 2);
}

static void sort(struct fn *f)
{
	const struct cel_type *inner = f->args[0].type.inner;
	bool texts = inner && (inner->kind == CEL_STRING || inner->kind == CEL_BYTES);
	made(f, squared(extent(f, 0)), texts ? 2 + TEXT : 2);
}

static void to_bytes(struct fn *f)
{
	struct cel_extent x = extent(f, 0);
	if (f->args[0].type.kind != CEL_STRING && f->args[0].type.kind != CEL_DYN) {
		spend(f, 1);
		return;
	}
	traverse(f, 0, TEXT);
	result(f, x.min, cel_cost_times(x.max, 4));
}

static void to_string(struct fn *f)
{
	struct cel_extent x = extent(f, 0);
	if (f->args[0].type.kind != CEL_BYTES && f->args[0].type.kind != CEL_DYN) {
		spend(f, 1);
		return;
	}
	traverse(f, 0, TEXT);
	result(f, x.min / 4, x.max);
}

static void any_type(struct fn *f)
{
	spend(f, 1);
	f->ret->sized = true;
	f->ret->size = extent(f, 0);
	f->ret->has_items = f->args[0].has_items;
	f->ret->item = f->args[0].item;
}

void cel_cost_call(const struct cel_coster *c, const struct cel_node *n,
		   const struct cel_estimate *args, struct cel_estimate *ret)
{
	static const struct {
		const char *name;
		size_t args_min;
		void (*fn)(struct fn *f);
	} rows[] = {{"check", 2, check},
		    {"isSorted", 1, each_item},
		    {"sum", 1, each_item},
		    {"max", 1, each_item},
		    {"min", 1, each_item},
		    {"indexOf", 2, each_item},
		    {"lastIndexOf", 2, each_item},
		    {"url", 1, same_text},
		    {"lowerAscii", 1, same_text},
		    {"upperAscii", 1, same_text},
		    {"substring", 2, same_text},
		    {"trim", 1, same_text},
		    {"replace", 3, replace},
		    {"split", 2, split},
		    {"join", 1, join},
		    {"matches", 2, match},
		    {"find", 2, find},
		    {"findAll", 2, find},
		    {"contains", 2, contains},
		    {"startsWith", 2, second_text},
		    {"endsWith", 2, second_text},
		    {"format", 2, first_text},
		    {"cidr", 1, first_text},
		    {"isIP", 1, first_text},
		    {"isCIDR", 1, first_text},
		    {"quantity", 1, first_text},
		    {"isQuantity", 1, first_text},
		    {"semver", 1, first_text},
		    {"isSemver", 1, first_text},
		    {"ip", 1, ip},
		    {"ip.isCanonical", 1, canonical},
		    {"containsIP", 2, contains_net},
		    {"containsCIDR", 2, contains_net},
		    {"validate", 2, validate},
		    {"@in", 2, in},
		    {"_+_", 2, add},
		    {"_<_", 2, order},
		    {"_<=_", 2, order},
		    {"_>_", 2, order},
		    {"_>=_", 2, order},
		    {"_==_", 2, equal},
		    {"_!=_", 2, compare_texts},
		    {"sets.contains", 2, sets},
		    {"sets.intersects", 2, sets},
		    {"sets.equivalent", 2, sets},
		    {"slice", 3, slice},
		    {"lists.range", 1, range},
		    {"reverse", 1, reverse},
		    {"flatten", 1, flatten},
		    {"distinct", 1, distinct},
		    {"sort", 1, sort},
		    {"bytes", 1, to_bytes},
		    {"string", 1, to_string},
		    {"dyn", 1, any_type}};
	struct fn f = {c, n, args, ret};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, n->name) == 0 && n->n >= rows[i].args_min) {
			rows[i].fn(&f);
			return;
		}
	spend(&f, 1);
}
