/*
 * cel_cost: what a rule may cost at most, told from the schema's bounds before any object is there,
 * as cel-go's checker and the API server's library count it (one unit is a step; a text is a tenth of
 * its bytes). A rule without maxItems, maxProperties or maxLength above it can be refused for it
 * (kube-api.md 11): a real API server would refuse the same definition.
 *
 * Where the type of a value is not known here it counts as one: fewer rules are refused, never more.
 */
#ifndef ALM_OBJ_CEL_CEL_COST_H
#define ALM_OBJ_CEL_CEL_COST_H

#include "alm/obj/cel/cel.h"

#define CEL_COST_RULE_MAX   UINT64_C(10000000) /* of an expression, times how often it is evaluated */
#define CEL_COST_SCHEMA_MAX UINT64_C(100000000) /* of all expressions of a schema */
#define CEL_REQUEST_BYTES   ((int64_t)3 << 20)  /* an object is no larger */

/* How small values of a schema and of all below it can be: once, before the others are asked. */
void cel_measure(struct schema *s);
/* Of one evaluation; p is free of errors. Products and sums end at UINT64_MAX. */
uint64_t cel_cost(const struct cel_program *p, const struct schema *s, bool is_root,
		  struct arena *a);
uint64_t cel_cost_times(uint64_t a, uint64_t b);
uint64_t cel_cost_plus(uint64_t a, uint64_t b);

/* Does CEL see values of the schema at all? What has no type, and lists and maps of such, it does not. */
bool cel_is_exposed(const struct schema *s);
/* How many values of the schema one object has room for. */
uint64_t cel_cardinality(const struct schema *s);
/* The most bytes of a text, items of a list, members of a map; 0 of others. */
uint64_t cel_elements_max(const struct schema *s);

#endif
