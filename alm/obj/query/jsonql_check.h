/*
 * jsonql_check: the refusals of jsonql.md: expressions that are well written and can never work.
 * Private to jsonql*.c. Each looks at a node whose operands are checked already, and sets the fault
 * of the whole expression, "column N: ..."; only the first one counts.
 */
#ifndef ALM_OBJ_QUERY_JSONQL_CHECK_H
#define ALM_OBJ_QUERY_JSONQL_CHECK_H

#include "alm/obj/query/jsonql_node.h"

/* at: from 0. Returns NULL, which every parse function returns then. */
struct jsonql_node *jsonql_fail(struct error *err, size_t at, const char *fmt, ...) PRINTF(3, 4);

/* The node itself, or NULL with the fault set. Constants must work: what can never have a value is a
 * mistake. */
struct jsonql_node *jsonql_check_arith(struct jsonql_node *n, struct error *err);
struct jsonql_node *jsonql_check_cmp(struct jsonql_node *n, struct error *err);
/* of && and || */
struct jsonql_node *jsonql_check_join(struct jsonql_node *n, struct error *err);
/* What a sign stands before, at `at`. */
struct jsonql_node *jsonql_check_signed(struct jsonql_node *n, size_t at, struct error *err);

#endif
