/*
 * jsonpath: the path part of Kubernetes' JSONPath, for printer columns, wait and the CLI.
 *
 * Understood: ".a.b", "$.a", "a.b", "['a.b']", "['a','b']", ".a\.b" (an escaped dot), "[0]",
 * "[-1]",
 * "[1:3]", "[0,2]", "[*]", ".*", "..name", and filters "[?(@.type=="Ready")]" with == != < <= > >=
 * against a string, number, true, false or null, or "[?(@.name)]" for existence. The braces and
 * {range} of templates are the caller's. A path is owned, immutable after parsing.
 */
#ifndef ALM_OBJ_QUERY_JSONPATH_H
#define ALM_OBJ_QUERY_JSONPATH_H

#include "alm/obj/obj.h"

struct jsonpath;

#define JSONPATH_STEPS_MAX   64
#define JSONPATH_RESULTS_MAX 65536 /* further values are left out */

/* E_BADREQUEST "jsonpath TEXT: WHAT at byte N". */
int jsonpath_parse(struct str text, struct jsonpath **ret, struct error *err);
void jsonpath_free(struct jsonpath *p);
DEFINE_FREEP(jsonpath)

struct jsonpath_values {
	const struct obj **items; /* owned array of values borrowed from the object */
	size_t n, cap;
	size_t *work; /* what it may look at, counted down; NULL: everything */
};
void jsonpath_values_release(struct jsonpath_values *v); /* usable as CLEANUP */

/* Appends every value at the path, in document order. */
void jsonpath_eval(const struct jsonpath *p, const struct obj *root, struct jsonpath_values *v);
/* The first one, or NULL. */
const struct obj *jsonpath_first(const struct jsonpath *p, const struct obj *root);
/* The same, for paths of others: *work is what is left of the values that may be looked at, and
 * what is not found with it is absent. ".." in ".." looks at a value as often as it nests deep. */
const struct obj *jsonpath_first_within(const struct jsonpath *p, const struct obj *root,
					size_t *work);

#endif
