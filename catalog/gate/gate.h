/*
 * gate: may this change of a CustomResourceDefinition be installed without losing or breaking what
 * users stored? (lifecycle.md 3.) Pure: two definitions, the managed resources of both packages,
 * waivers and the time in; then every live object, one at a time; findings out.
 *
 *	gate_begin(&input, &g, err);
 *	for each version of gate_versions(g):   list in that version, pages of any size
 *		for each object: gate_object(g, object, version);
 *	gate_finish(g);                         or gate_incomplete(g, "3000 of 9000 objects")
 *	for (i < gate_count(g)) gate_finding(g, i) ...; gate_outcome(g)
 *	gate_free(g);
 *
 * Without objects (offline) call gate_offline(): what only live objects can prove wrong then warns,
 * and says so. Only what the change brings is reported: an object that the old schema refused too
 * is no finding. Keywords that are not known here are refused when they change (fail closed).
 *
 * The definitions are borrowed until gate_free(); objects only during the call.
 *
 * To add a rule: a row in gate_rules.c; the comparison where its keyword is (gate_keywords.c,
 * gate_schema.c, gate_crd.c); rows with no, a valid and an invalid object in tests/golden/gate/.
 */
#ifndef CATALOG_GATE_GATE_H
#define CATALOG_GATE_GATE_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define GATE_FINDINGS_MAX 5000
#define GATE_LISTED_MAX   10

struct gate;

/* Increasing; the outcome of a whole is the largest of its findings. */
enum finding_outcome { FINDING_ALLOW, FINDING_WARN, FINDING_REFUSE };

struct gate_finding {
	const char *rule;           /* "FieldRemoved" */
	const char *resource;       /* plural.group/version, or plural.group */
	const char *path;           /* "spec.l[*].x", "spec.m{*}"; "" for the definition itself */
	const char *before, *after; /* as texts; "" for absent */
	const char *note; /* what else is worth knowing: writers, the other version; or "" */
	const char *remedy;
	const char *command;          /* a migration that lifts it; NULL: there is none */
	enum finding_outcome outcome; /* final after gate_finish(); FINDING_ALLOW if waived */
	bool waived;
	bool narrow;                          /* the outcome came from the live objects */
	size_t n_affected;                    /* objects */
	const char *objects[GATE_LISTED_MAX]; /* the first of them, as ns/name */
	size_t n_listed;
};

struct gate_waiver {
	const char *rule, *resource, *path, *reason; /* path NULL: none named */
	int64_t expires_ns;                          /* 0: never */
};

struct gate_input {
	const struct obj *before; /* the live definition; NULL: none, only server_refused applies */
	const struct obj *after;  /* as the server's dry run returned it; NULL: it goes */
	const char *const *managed_before, *const *managed_after; /* plural.group/version */
	size_t n_managed_before, n_managed_after;
	const struct gate_waiver *waivers;
	size_t n_waivers;
	int64_t now_ns;
	const char *server_refused; /* the words of a failed dry run, or NULL */
};

int gate_begin(const struct gate_input *input, struct gate **ret, struct error *err);
void gate_free(struct gate *g);
DEFINE_FREEP(gate)

/* The versions to list through: one (storage) under strategy None, each served before and after
 * under a converter. Where there is an old definition, the list ends with NULL. */
size_t gate_versions(const struct gate *g, const char *const **ret);
/* Does any finding depend on objects? Without, listing may be left out. */
bool gate_wants_objects(const struct gate *g);
void gate_object(struct gate *g, const struct obj *o, const char *version);
/* Did rules change in this version, so that only a server can tell? */
bool gate_wants_shadow(const struct gate *g, const char *version);
/* What a dry-run create against the new schema said of an object (shadow validation): the rules of
 * the version were evaluated; message NULL: it passed. */
void gate_shadow(struct gate *g, const struct obj *o, const char *version, const char *message);
/* Where no server can be asked: the same by the evaluator here, of an object as it was listed in
 * that version. A version with a rule that does not compile here stays "not evaluated". */
void gate_evaluate(struct gate *g, const struct obj *o, const char *version);

void gate_finish(struct gate *g);
/* Instead: the objects could not be read to the end; adds LiveCheckIncomplete. remedy NULL: that of
 * the rule. */
void gate_incomplete(struct gate *g, const char *progress, const char *remedy);
/* Instead: there are no objects to look at. */
void gate_offline(struct gate *g);

size_t gate_count(const struct gate *g);
const struct gate_finding *gate_finding(const struct gate *g, size_t i);
enum finding_outcome gate_outcome(const struct gate *g);
size_t gate_objects_seen(const struct gate *g);
/* Waivers that matched nothing or are expired: indexes into the input. */
size_t gate_unused_waivers(const struct gate *g, const size_t **ret);

/* How a waiver lifts it: by rule and resource, or by the path too; never, too, while more was found
 * than is looked at. */
enum gate_waivable { WAIVE_NEVER, WAIVE_RESOURCE, WAIVE_PATH };
enum gate_waivable gate_waivable(const struct gate *g, const struct gate_finding *f);

const char *finding_outcome_name(const struct gate_finding *f); /* allow, warn, refuse, waived */
/* RULE plural.group/version path: old -> new; N of M objects affected (a/b, c/d); remedy */
void gate_finding_text(const struct gate *g, const struct gate_finding *f, struct strbuf *b);

#endif
