/* gate_internal: shared by gate*.c. */
#ifndef CATALOG_GATE_GATE_INTERNAL_H
#define CATALOG_GATE_GATE_INTERNAL_H

#include "alm/obj/schema/schema_node.h"
#include "catalog/gate/gate.h"
#include "catalog/gate/usage.h"

struct gate_rule {
	const char *name;
	enum gate_waivable waivable;
	const char *remedy;
};
/* Asserts that the rule exists. */
const struct gate_rule *gate_rule(const char *name);
size_t gate_rules(const struct gate_rule **ret);

/* A step of a schema path. */
struct gate_step {
	char kind; /* '.', '[' items, '{' undeclared keys */
	const char *name;
	const struct schema *map; /* of '{': its properties are left out */
};
#define GATE_STEPS_MAX (2 * SCHEMA_DEPTH_MAX)

/* How a finding looks at objects. */
enum gate_check {
	CHECK_NONE,
	CHECK_REFUSED,    /* a value at the path that test refuses */
	CHECK_LOSES,      /* a value at the path that test refuses or prunes, with its defaults */
	CHECK_HAS,        /* there is a value at the path */
	CHECK_LACKS,      /* a map at the path lacks name */
	CHECK_UNDECLARED, /* a map at the path has a key that test does not declare */
};

struct gate_item {
	struct gate_finding f;
	const struct gate_rule *rule;
	enum gate_check check;
	bool on_new;         /* looks at the object with the new defaults */
	bool on_stored;      /* looks at the object as it was read: CrossVersion */
	bool escalates;      /* one affected object makes it FINDING_REFUSE */
	bool needs_shadow;   /* CEL: only gate_shadow() counts */
	const char *version; /* whose objects; NULL: of any */
	const struct schema *test;
	const char *name;
	struct gate_step *steps;
	size_t n_steps;
};

/* Who judged objects by the rules of a version. */
enum gate_evaluator { EVALUATED_BY_NOBODY, EVALUATED_BY_SERVER, EVALUATED_HERE };

struct gate_version {
	const char *name;
	const struct obj *before, *after;         /* entries of spec.versions; NULL */
	const struct obj *raw_before, *raw_after; /* openAPIV3Schema */
	struct schema *old_schema, *new_schema;
	bool changed;
	enum gate_evaluator evaluated;
	bool rules_known, rules_fit; /* fit: all compile here; asked once */
	struct usage usage;
	bool use_counts; /* usage decides a finding */
	size_t use_item;
};

struct gate {
	struct arena *arena;
	const struct gate_input *in;
	struct gate_input input; /* copy */
	const char *crd;         /* plural.group */
	struct gate_item *items;
	size_t n, cap;
	size_t omitted;
	struct gate_version *versions;
	size_t n_versions;
	const char **through;
	size_t n_through;
	bool converter; /* strategy Webhook now */
	bool offline;
	size_t seen;
	bool *waiver_used;
	size_t *unused;
	size_t n_unused;
	enum finding_outcome outcome;
};

/* Where two schemas are compared. */
struct gate_walk {
	struct gate *g;
	const char *version; /* of the finding's resource */
	const char *other;   /* CrossVersion: the version that has more; NULL: the version itself */
	struct gate_step steps[GATE_STEPS_MAX];
	size_t n;
	bool covered; /* a finding further up looks at the values here: no further "narrow" */
};

/* Adds a finding at the place of the walk (or of the definition: w NULL). outcome: FINDING_WARN of
 * a check that escalates is "narrow". The item may be filled further; it is good until the next. */
struct gate_item *gate_add(struct gate *g, const char *rule, const char *version,
			   const struct gate_walk *w, enum finding_outcome outcome,
			   const char *before, const char *after);
/* The same, narrow: a value at the place that test refuses. NULL if a finding further up covers it.
 */
struct gate_item *gate_add_narrow(struct gate_walk *w, const char *rule, const char *before,
				  const char *after, const struct schema *test);

/* apiVersion, kind or metadata: every object has them. */
bool gate_is_meta(const char *name);
/* gate_schema.c: nodes; raw ones for the keywords that do not compile. */
void gate_compare(struct gate_walk *w, const struct schema *x, const struct schema *y,
		  const struct obj *raw_x, const struct obj *raw_y);
/* gate_keywords.c: all keywords of one node but its children. False: no value can be valid. */
bool gate_compare_type(struct gate_walk *w, const struct schema *x, const struct schema *y);
void gate_compare_keywords(struct gate_walk *w, const struct schema *x, const struct schema *y);
const char *gate_type_text(const struct schema *s);
/* A value as canonical text, shortened; "" of none. */
const char *gate_value_text(struct gate_walk *w, const struct obj *o);
/* gate_branches.c */
void gate_compare_branches(struct gate_walk *w, const struct schema *y, const struct obj *raw_x,
			   const struct obj *raw_y);
void gate_compare_rules(struct gate_walk *w, const struct obj *raw_x, const struct obj *raw_y);
void gate_compare_unknown(struct gate_walk *w, const struct obj *raw_x, const struct obj *raw_y);
/* The same but for documentation; may call equal nodes different, never the reverse. */
bool gate_same(const struct obj *x, const struct obj *y);
/* A node without documentation, as canonical text. */
const char *gate_canonical(const struct obj *o, struct arena *a);
/* A schema that tests nothing; keywords are then set in it. */
struct schema *gate_test(struct gate *g);
/* Accepts everything, declares nothing. */
const struct schema *gate_anything(void);
const struct schema *gate_string(void);
/* Accepts everything; maps in it are pruned empty. */
const struct schema *gate_undeclared(void);
/* gate_crd.c: the definition; fills versions. */
int gate_compare_crd(struct gate *g, struct error *err);
void gate_finish_versions(struct gate *g);

#endif
