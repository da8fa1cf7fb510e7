/*
 * unit_make: a unit out of what a renderer gave and a rollout. Pure.
 *
 *	{"format": 1, "owner": {"hub", "bundle", "instance"}, "namespace",
 *	 "objects": [{"key", "file", "digest", "instance", "ignore", "object"}], "rollout": as it was written, or
 *	 absent}
 *
 * "digest" of an object is of what is ignored of it, too (spec.ignore): under another rule it is applied anew.
 * The digest of the unit is the SHA-256 of all that, so equal inputs are equal units, and what was rolled out once
 * is known again (Job steps are not run a second time, nothing is written).
 *
 * Objects that no step names go before or after the rollout as it says, or are left out. They are
 * in groups of their own: CRDs, Namespaces, then one a kind in install order; those of an instance
 * (flat.h), INSTANCE/KIND, after those of no instance and of the instances before. Without a rollout
 * all objects are.
 */
#ifndef ALM_UNIT_UNIT_MAKE_H
#define ALM_UNIT_UNIT_MAKE_H

#include "alm/unit/flat.h"
#include "alm/unit/rollout.h"
#include "alm/unit/unit.h"

#define UNIT_FORMAT 1

struct unit_step {
	const char *name;
	const struct rollout_step *rule; /* NULL: of the objects that no step names */
	enum rollout_action action;
	size_t *rows; /* of the document's objects */
	size_t n;
};

struct unit_group {
	const char *name;
	bool parallel;
	struct unit_step *steps;
	size_t n;
};

/* Parts follow each other. */
struct unit_part {
	bool parallel;
	struct unit_group *groups;
	size_t n;
};

enum { UNIT_BEFORE, UNIT_ROLLOUT, UNIT_AFTER, UNIT_PARTS };

struct unit {
	const struct obj *doc;
	const char *hub, *bundle, *instance, *owner_id, *ns;
	char digest[SHA256_HEX];
	bool goes_back; /* when a step fails: to the unit that succeeded before */
	struct unit_part parts[UNIT_PARTS];
};

struct unit_options {
	const char *hub, *bundle, *instance; /* "cli", "grafana", "files" */
	const char *ns;                      /* of objects that have none */
	const struct rollout *rollout;       /* NULL: none */
	const struct obj *rollout_text;      /* it, as it was written; NULL: none */
	/* Texts that no message may show (secrets.h), kept in the document; NULL: none. They are no part
	 * of what the unit is: its digest does not know them. */
	const struct obj *hidden;
	struct unit_digest digest;
};

/* What a cluster is called in the marks of who writes to it: the beginning of its identity. Arena. */
const char *unit_hub(const char *identity, struct arena *a);
/* "HUB.BUNDLE.INSTANCE", the mark; "alm:HUB:BUNDLE", the field manager. Arena. */
const char *unit_owner_id(const char *hub, const char *bundle, const char *instance,
			  struct arena *a);
const char *unit_manager(const char *hub, const char *bundle, struct arena *a);

/* In the arena of flat, which must be sorted. E_INVALID for a step that names no object, and for an
 * object whose switches (switches.h) say nothing. */
int unit_make(const struct flat *flat, const struct unit_options *o, struct unit **ret,
	      struct error *err);
/* Groups and steps of a unit whose document is there; rollout NULL: none. E_INVALID as above. */
int unit_lay_out(struct unit *u, const struct rollout *rollout, struct arena *a, struct error *err);
/* The same out of its document, as it was stored; borrows that. E_CORRUPT, E_INVALID. */
int unit_load(const struct obj *doc, struct arena *a, struct unit **ret, struct error *err);

#endif
