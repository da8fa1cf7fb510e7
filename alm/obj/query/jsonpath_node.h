/* jsonpath_node: a path as its steps, between jsonpath_parse.c and jsonpath.c. */
#ifndef ALM_OBJ_QUERY_JSONPATH_NODE_H
#define ALM_OBJ_QUERY_JSONPATH_NODE_H

#include "alm/obj/query/jsonpath.h"

enum step_type { STEP_FIELD, STEP_INDEX, STEP_SLICE, STEP_ALL, STEP_DESCEND, STEP_FILTER };
enum op { OP_EXISTS, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE };

#define JSONPATH_UNION_MAX 16

struct jsonpath_step {
	enum step_type type;
	size_t n; /* of names or indexes */
	char *names[JSONPATH_UNION_MAX];
	int64_t indexes[JSONPATH_UNION_MAX];
	int64_t from, to; /* slice; to INT64_MAX: the end */
	/* filter */
	struct jsonpath *left;
	enum op op;
	struct obj *right;       /* a literal */
	struct jsonpath *r_path; /* or a path below @ */
};

struct jsonpath {
	size_t n;
	struct jsonpath_step steps[];
};

#endif
