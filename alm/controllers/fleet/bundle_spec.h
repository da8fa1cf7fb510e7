/*
 * bundle_spec: what a Bundle says, typed, with what the schema cannot say checked; and the rule of
 * its namespaces. Pure. Texts are borrowed from the object.
 *
 * Errors are E_INVALID and begin with the field: "spec.source.git.url: ...".
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_SPEC_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_SPEC_H

#include "alm/controllers/fleet/bundle_renderer.h"
#include "alm/unit/flat.h"

#define BUNDLE_NAME_MAX 50        /* bytes: it is part of names and a label */
#define BUNDLE_CLUSTER  "default" /* the hub itself, and its group */

struct bundle_spec {
	const char *name;
	const char *url, *branch, *path, *secret; /* path "": the root; secret NULL: none */
	const char *commit;      /* read instead of the branch's head; NULL: that */
	const char *held_by;     /* the field that says so */
	bool refuses_rewrites;   /* rewrites: Refuse (bundle_accept.h) */
	const char *hook_secret; /* who knows it may say that there is a push */
	const char *keys;        /* ConfigMap with the keys that sign the head; NULL: nobody asks */
	const char *rollout;     /* NULL: none */
	int64_t interval_ns;
	const char *ns;      /* of objects that name none */
	const char *account; /* "system:serviceaccount:NS:NAME"; NULL: ALM itself */
	int64_t max_deletes;
	const struct obj *namespaces, *cluster_kinds; /* lists; NULL: all */
	const struct obj *ignore;                     /* bundle_ignore.h; NULL: nothing */
	bool adopts, takes;                           /* adopt: Unowned, Any */
	bool keeps;                                   /* drift: Repair */
	bool spares;                                  /* prune.mode: None */
	bool sweeps;      /* prune.mode: Namespace: namespaces has some */
	int64_t grace_ns; /* ... before what nobody declared goes */
	bool orphans;     /* deletion: Orphan */
	bool paused;
	struct bundle_renderer renderer;
	struct flat_instances instances; /* bundle_instances.h */
	const char *orphans_approved;    /* digest of orphans (stray.h) that may go; NULL: none */
};

/* Where another field than it is wrong, account is set, too: what was made may have to go. */
int bundle_spec_read(const struct obj *o, struct arena *a, struct bundle_spec *b,
		     struct error *err);

/* Between tries with the same credentials that were rejected so many times: 30 s, then twice as
 * long each time, up to 10 min. */
int64_t bundle_rejected_pause(unsigned times);

/* What is known of kinds. */
struct bundle_scopes {
	/* Is the object's kind namespaced? 1, 0; -1: nobody knows it yet. */
	int (*fn)(void *arg, const struct obj *o);
	void *arg;
	/* Of an object without a namespace whose kind only a cluster knows, and which that makes
	 * right or wrong, it is told here, and it is taken. NULL: it counts as cluster-scoped. */
	struct flaws *unsure;
};

/* 1, 0; -1: nobody knows. A definition of the map says it of a kind that is not served yet. */
int bundle_scope_of(const struct flat *f, const struct obj *o, const struct bundle_scopes *scopes);

/* NamespaceNotAllowed: with namespaces each object lies in one of them, is one of these Namespaces,
 * or is of a kind that clusterKinds names. The message has the first that does not, how many do not,
 * and the entries that would take them. E_LIMIT: more is unsure than is told. */
int bundle_check_namespaces(const struct bundle_spec *b, const struct flat *f,
			    const struct bundle_scopes *scopes, struct error *err);

#endif
