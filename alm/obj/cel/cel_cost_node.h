/*
 * cel_cost_node: what is estimated of a node, for the files that share it: cel_cost.c walks the tree,
 * cel_cost_call.c has the functions, cel_extent.c the sizes. Users call cel_cost().
 */
#ifndef ALM_OBJ_CEL_CEL_COST_NODE_H
#define ALM_OBJ_CEL_CEL_COST_NODE_H

#include "alm/obj/cel/cel_cost.h"

/* Bytes of a text, items of a list, members of a map; 1 of what is no more than itself. */
struct cel_extent {
	uint64_t min, max;
};

/* Where in the object a value is from. As upstream, what is selected of a value that is from nowhere
 * counts as the object itself. */
struct cel_place {
	enum { PLACE_NONE, PLACE_LOST, PLACE_SCHEMA, PLACE_TEXT, PLACE_METADATA, PLACE_KEY } how;
	const struct schema *s; /* SCHEMA */
};

struct cel_estimate {
	uint64_t cost;
	bool sized, has_items;
	struct cel_extent size;
	struct cel_extent item; /* of each item of a list, each value of a map */
	struct cel_place place;
	struct cel_type type;
};

struct cel_estimate_var {
	const char *name;
	struct cel_estimate is;
};

struct cel_coster {
	const struct cel_type *types; /* by id of the node */
	const struct schema *root;
	bool is_root; /* it has apiVersion, kind and metadata */
	struct cel_estimate_var vars[CEL_VARS_MAX];
	size_t n_vars;
};

struct cel_extent cel_extent_of(const struct cel_estimate *e);
/* Of the items of a list, by its place alone. */
struct cel_extent cel_extent_of_items(const struct cel_coster *c, const struct cel_estimate *list);
struct cel_place cel_place_of(const struct schema *s); /* NULL: LOST */
struct cel_place cel_place_member(const struct cel_coster *c, struct cel_place p, const char *name);
struct cel_place cel_place_items(const struct cel_coster *c, struct cel_place p);
/* What a variable is that stands for the keys, of a list for the numbers of its items. */
struct cel_place cel_place_keys(const struct cel_coster *c, struct cel_place p);
bool cel_place_extent(struct cel_place p, struct cel_extent *ret); /* false: nobody knows */
/* n times factor, rounded up. */
uint64_t cel_cost_share(uint64_t n, double factor);

/* Of a call, with args estimated: adds what the function costs to ret->cost, which has that of the arguments,
 * and tells the size of its result. */
void cel_cost_call(const struct cel_coster *c, const struct cel_node *n,
		   const struct cel_estimate *args, struct cel_estimate *ret);

#endif
