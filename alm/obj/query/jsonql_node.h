/* jsonql_node: the syntax tree between jsonql_parse.c and jsonql_eval.c. */
#ifndef ALM_OBJ_QUERY_JSONQL_NODE_H
#define ALM_OBJ_QUERY_JSONQL_NODE_H

#include "alm/base/arena.h"
#include "alm/obj/query/jsonql.h"
#include "alm/obj/regex/regex.h"

enum val_type {
	VAL_INT,
	VAL_UINT,
	VAL_DOUBLE,
	VAL_STRING,
	VAL_BOOL,
	VAL_NULL,
	VAL_DEFINED,
	VAL_OBJ
};

struct val {
	enum val_type type;
	int64_t i;
	uint64_t u;
	double d;
	bool b;
	struct str s;
	const struct obj *o; /* list or map */
};

struct vals { /* arena */
	struct val *items;
	size_t n;
	bool missing; /* of a path that found nothing */
};

enum node_type {
	NODE_CONST,
	NODE_PATH,
	NODE_ARITH, /* op: + - * / % ^ */
	NODE_NEG,
	NODE_LEN,
	NODE_AGE,
	NODE_CMP, /* op: an enum cmp_op */
	NODE_IN,
	NODE_AND,
	NODE_OR,
	NODE_NOT,
};

enum cmp_op {
	CMP_EQ = 256,
	CMP_NE,
	CMP_GT,
	CMP_LT,
	CMP_GE,
	CMP_LE,
	CMP_MATCH,
	CMP_NOMATCH,
	CMP_IS,
	CMP_ISNOT,
	CMP_CONTAINS,
	CMP_STARTS,
	CMP_ENDS,
};

enum seg_type { SEG_NAME, SEG_INDEX, SEG_ALL, SEG_FILTER };

struct seg {
	enum seg_type type;
	const char *name;
	int64_t index;
	struct jsonql_node *filter;
	struct seg *next;
};

struct jsonql_node {
	enum node_type type;
	int op;
	size_t column;
	struct jsonql_node *a, *b;
	struct jsonql_node **list; /* NODE_IN */
	size_t n_list;
	struct val value; /* NODE_CONST */
	struct seg *path; /* NODE_PATH: NULL is the whole object */
	struct str text;  /* NODE_PATH: as written */
	struct regex *pattern;
	struct jsonql_node *next_path; /* all paths of the expression, in order */
};

struct jsonql {
	struct arena *arena;
	struct jsonql_node *root, *paths;
	bool uses_age;
};

struct eval {
	const struct obj *root;
	int64_t now_ns;
	struct arena *arena;
	struct strbuf *notes; /* or NULL */
	struct val sink;      /* takes what comes after the arena's limit */
};

/* Truth value: what && || ! and the whole expression take. */
bool node_is_truth(const struct jsonql_node *n);
/* A constant, or made of constants alone. */
bool node_is_literal(const struct jsonql_node *n);
void node_values(struct eval *e, const struct jsonql_node *n, struct vals *ret);

#endif
