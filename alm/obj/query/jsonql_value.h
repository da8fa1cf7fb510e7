/*
 * jsonql_value: single values of an expression: what an object's member is as one, and what two of
 * them say of each other. Private to jsonql*.c.
 */
#ifndef ALM_OBJ_QUERY_JSONQL_VALUE_H
#define ALM_OBJ_QUERY_JSONQL_VALUE_H

#include "alm/obj/query/jsonql_node.h"

bool val_is_number(const struct val *v);
double val_as_double(const struct val *v);
/* False for what is absent, and for a number beyond all types. Texts are borrowed of o. */
bool val_of_obj(const struct obj *o, struct val *ret);
/* 1 equal, 0 different, -1 the types do not compare; the right side's type decides. */
int val_equal(const struct val *a, const struct val *b);
/* a OP b, of a node that compares: 1 it holds, 0 it does not, -1 the types do not compare. Its
 * pattern is compiled already, or is made of b. */
int val_compare(const struct jsonql_node *n, const struct val *a, const struct val *b);

#endif
