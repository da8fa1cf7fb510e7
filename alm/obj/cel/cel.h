/*
 * cel: the Common Expression Language, as far as x-kubernetes-validations need it (kube-api.md 11,
 * the M row). Text -> tree -> checked against the schema -> evaluated with a budget.
 *
 * Everything lives in the arena of its step: trees in that of the schema, values in that of the
 * evaluation. No expression can run away: its text, tree, depth, comprehension steps and the bytes
 * it builds are bounded.
 */
#ifndef ALM_OBJ_CEL_CEL_H
#define ALM_OBJ_CEL_CEL_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"
#include "alm/obj/schema/schema.h"

#define CEL_TEXT_MAX  ((size_t)64 << 10)
#define CEL_NODES_MAX 20000
#define CEL_DEPTH_MAX 120
#define CEL_VARS_MAX  64

enum cel_kind {
	CEL_ERROR,
	CEL_DYN, /* types only: anything */
	CEL_NULL,
	CEL_BOOL,
	CEL_INT,
	CEL_UINT,
	CEL_DOUBLE,
	CEL_STRING,
	CEL_BYTES,
	CEL_LIST,
	CEL_MAP,
	CEL_OBJECT, /* types only: a map with declared fields */
	CEL_TYPE,
	CEL_DURATION,  /* nanoseconds */
	CEL_TIMESTAMP, /* of the years 1 to 9999 */
	CEL_URL,       /* of url(); its text as it was given */
	/* The steps of authorizer.group(..).resource(..).check(..) (cel_authorizer.h) */
	CEL_AUTHORIZER,
	CEL_PATH_CHECK,
	CEL_GROUP_CHECK,
	CEL_RESOURCE_CHECK,
	CEL_DECISION,
	CEL_QUANTITY,
	CEL_IP,
	CEL_CIDR,
	CEL_OPTIONAL,
	CEL_FORMAT,  /* format.dns1123Label() (cel_named.c) */
	CEL_SEMVER,  /* of semver() */
	CEL_MESSAGE, /* Object.spec{..}, JSONPatch{..} (cel_message.h) */
};

/* An address; with its prefix, a network. */
struct cel_ip {
	unsigned char bytes[16];
	size_t n;   /* 4, 16 */
	int prefix; /* of a CIDR */
};

/* A list or map is either of JSON (o, under schema s) or built by the expression (items; of a map
 * key, value, key, value). */
struct cel_value {
	enum cel_kind kind;
	const struct schema *s;
	const struct obj *o;
	union {
		bool b;
		int64_t i; /* INT, DURATION (nanoseconds) */
		uint64_t u;
		double d;
		struct str str; /* STRING, BYTES, URL; the message of an ERROR */
		enum cel_kind type;
		const struct cel_authz *authz; /* AUTHORIZER .. DECISION */
		struct {
			int64_t s, ns; /* since 1970; 0 to 999,999,999 */
		} at;                  /* TIMESTAMP */
		struct {
			int64_t high;
			uint64_t low;
		} nanos;                       /* QUANTITY, as one of 128 bits */
		const struct cel_ip *ip;       /* IP, CIDR (cel_net.c) */
		const struct cel_value *inner; /* OPTIONAL; NULL: it has no value */
		const struct cel_message *message;
		const struct cel_format *format; /* FORMAT */
		const struct version *version;   /* SEMVER */
		struct {
			const struct cel_value *items;
			size_t n;
		} list;
	};
};

/* inner: the items of a LIST, the values of a MAP whose keys are texts, what a TYPE is of. */
struct cel_type {
	enum cel_kind kind;
	const struct schema *s;       /* OBJECT */
	const struct cel_type *inner; /* NULL: DYN */
	const char *name;             /* MESSAGE */
};

/* A member that was not written is not there: name, its value, in the order of the text. */
struct cel_message {
	const char *name; /* of its type */
	const struct cel_value *items;
	size_t n; /* of items */
};

enum cel_op {
	CEL_OP_LITERAL,
	CEL_OP_IDENT,
	CEL_OP_SELECT, /* args[0].name */
	CEL_OP_HAS,    /* has(args[0].name) */
	CEL_OP_CALL,   /* operators too: "_+_", "_[_]", "!_"; member: args[0] is the receiver */
	CEL_OP_AND,
	CEL_OP_OR,
	CEL_OP_COND,
	CEL_OP_LIST,
	CEL_OP_MAP,
	CEL_OP_MACRO,   /* args[0].name(var[, second], args[1][, args[2]]) */
	CEL_OP_MESSAGE, /* name{..}: args are member, value, member, value */
	CEL_OP_ENTRY,   /* ?args[0] in a literal: it is left out if it has no value */
};

struct cel_node {
	enum cel_op op;
	size_t id; /* below n_nodes of its program */
	size_t at; /* byte offset, for messages */
	const char *name, *var;
	const char *
		second; /* of a comprehension of two variables: the item, as var is its index or key */
	bool member;
	struct cel_node **args;
	size_t n;
	struct cel_value literal;
};

struct cel_program {
	const char *text;
	struct cel_node *root;
	size_t n_nodes;
	bool uses_old;        /* oldSelf */
	bool old_is_optional; /* set by who knows the rule: oldSelf is a value that may be absent */
};

/* NULL on failure, with the messages in b: "ERROR: <input>:1:5: ...\n | text\n | ....^". */
struct cel_program *cel_parse(const char *text, struct arena *a, struct strbuf *b);
/* Appends one such message. */
void cel_report(const char *text, size_t at, const char *message, struct strbuf *b);

/* self is under schema s. The number of errors, with messages of the first hundred in b (NULL: none); ret_kind is the result's. */
size_t cel_check(const struct cel_program *p, const struct schema *s, bool is_root, struct arena *a,
		 struct strbuf *b, enum cel_kind *ret_kind);

/* NULL; else why a conversion of a literal fails, in the arena: int('a'). p is free of errors. */
const char *cel_constant_fault(const struct cel_program *p, struct arena *a);

struct cel_budget {
	uint64_t left; /* steps */
	bool over;
	struct arena *decoded; /* for texts of format byte; of cel_eval() */
};

/* What a name stands for besides those that comprehensions make. of: "variables" for what is written
 * variables.NAME, which is no map that could be passed on; else NULL. An ERROR among the values fails
 * the expression that uses it. */
struct cel_var {
	const char *of, *name;
	struct cel_type type;   /* when it is checked */
	struct cel_value value; /* when it is evaluated */
};

struct cel_vars {
	const struct cel_var *items;
	size_t n;
	bool messages; /* Object{..} and JSONPatch{..} may be written */
};

/* The one that is meant, the last of alike ones; NULL: none. */
const struct cel_var *cel_var_find(const struct cel_vars *vars, const char *of, const char *name);
/* The type of the values of s; NULL: DYN. */
struct cel_type cel_type_of(const struct schema *s, struct arena *a);
/* As cel_check() and cel_eval(), which name self and oldSelf. */
size_t cel_check_with(const struct cel_program *p, const struct cel_vars *vars, struct arena *a,
		      struct strbuf *b, struct cel_type *ret);
struct cel_value cel_eval_with(const struct cel_program *p, const struct cel_vars *vars,
			       struct arena *a, struct cel_budget *budget);

/* An ERROR value tells what went wrong; budget->over if it was the budget. */
struct cel_value cel_eval(const struct cel_program *p, const struct schema *s,
			  const struct obj *self, const struct obj *old, struct arena *a,
			  struct cel_budget *budget);

/* --- values --- */
/* Texts of format byte are decoded into the arena; without one they are texts. */
struct cel_value cel_of(const struct obj *o, const struct schema *s, struct arena *a);
struct cel_value cel_error(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
struct cel_value cel_bool(bool b);
struct cel_value cel_int(int64_t i);
struct cel_value cel_string(struct str s);
struct cel_value cel_list(const struct cel_value *items, size_t n); /* borrowed */
const char *cel_kind_name(enum cel_kind kind); /* as type(x) and messages print it */
const char *cel_type_text(const struct cel_type *t, struct arena *a); /* "list(JSONPatch)" */
/* duration: DURATION; date-time, date: TIMESTAMP; byte: BYTES; others and NULL: STRING. */
enum cel_kind cel_format_kind(const char *format);
/* A DURATION or a TIMESTAMP; false: the text is none. */
bool cel_parse_time(enum cel_kind kind, struct str text, struct cel_value *ret);
/* Does it lie in the years 1 to 9999? */
bool cel_is_timestamp(int64_t seconds);
/* Lists and maps: any of the two forms. */
size_t cel_size(const struct cel_value *v);
struct cel_value cel_item(const struct cel_value *list, size_t i, struct arena *a);
/* In a map that the expression built it is sought from the first entry on: false, too, if the budget has no room for that. */
bool cel_lookup(const struct cel_value *map, const struct cel_value *key, struct cel_budget *budget,
		struct cel_value *ret);
/* Heterogeneous equality: values of other types differ, 1 == 1.0. */
bool cel_equal(const struct cel_value *x, const struct cel_value *y, struct cel_budget *budget);
/* "90s", "2026-01-02T03:04:05.5Z". */
void cel_time_text(const struct cel_value *v, struct strbuf *b);
/* -1, 0, 1; false if they have no order. */
bool cel_compare(const struct cel_value *x, const struct cel_value *y, int *ret);

/* --- functions, cel_fn.c --- */
struct cel_call {
	struct arena *a;
	struct cel_budget *budget;
};
/* False if the budget has no room for the cost; and what is said then. */
bool cel_spend(struct cel_call *c, uint64_t cost);
struct cel_value cel_over_budget(struct cel_call *c);
/* What was built, in the arena, unless it is too long. */
struct cel_value cel_built(struct strbuf *b, struct cel_call *c);
/* The kind of the result, or CEL_ERROR if no overload fits these types; DYN fits everything.
 * ret_known: is there a function of that name at all? */
enum cel_kind cel_fn_type(const char *name, bool member, const enum cel_kind *args, size_t n,
			  bool *ret_known);
/* Is there one of that name that is no member: "size", "sets.contains"? */
bool cel_fn_is_known(const char *name);
struct cel_value cel_fn_call(const char *name, bool member, const struct cel_value *args, size_t n,
			     struct cel_call *call);

/* "__dash__" and the like back to what they stand for; the property itself otherwise. */
const char *cel_unescape(const char *name, struct arena *a);

#endif
