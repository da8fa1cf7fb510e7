/*
 * resolve: which version of an app's package is installed next, and why not the others
 * (lifecycle.md 2). Pure: everything it may know is in the input; the same input gives the same
 * bytes. A candidate carries the first predicate that fails, in the order of lifecycle.md 2.2.
 */
#ifndef CATALOG_RESOLVE_H
#define CATALOG_RESOLVE_H

#include "catalog/index.h"

#define RESOLVE_CANDIDATES_MAX 20 /* listed in status; the rest is counted */

struct resolve_crd {                               /* a live CRD */
	const char *name;                          /* plural.group */
	const char *owner;                         /* annotation app.coreos.com/owner, or NULL */
	const char *foreign_owner;                 /* mark of Helm or another installer, or NULL */
	bool released;                             /* left behind by a deleted app */
	const char *const *served, *const *stored; /* NULL-ended */
};

struct resolve_usage { /* of one managed resource plural.group/version */
	bool known;    /* false: the count could not be read; treated as in use */
	int64_t objects;
	bool stored;
	const char *writer;       /* manager that last wrote through this version, or NULL */
	const char *first_object; /* "default/etcd-purple-ant", or NULL */
	const char *next_version; /* version a migration would lead to, or NULL */
	bool migrated;            /* a migration away is noted and nobody wrote through it since */
};

struct resolve_claim {   /* another app, installed or begun */
	const char *app; /* name */
	const char *self_ref;
	bool installed;
	const char *const *managed; /* NULL-ended */
	const struct package_requirement *
		requires;
	size_t n_requires;
};

struct resolve_manual { /* a strategy made by hand: always a candidate */
	const char *strategy, *version, *sha256;
	const char *const *resources; /* NULL-ended */
};

struct resolve_waiver {
	const char *rule, *resource, *path, *reason;
	int64_t expires_ns; /* 0: never */
};

enum resolve_gate { GATE_UNKNOWN, GATE_ALLOW, GATE_REFUSE };

struct resolve_input {
	const char *app, *self_ref; /* "etcd", "etcd.com.tectonic.storage" */
	const char *package, *catalog, *channel, *range, *to; /* of spec; NULL: unset */
	const char *installed_version, *installed_package,
		*installed_catalog; /* NULL: nothing installed */
	const char *installed_digest;
	const char *const *installed_managed; /* NULL-ended; NULL if nothing is installed */
	const char *const *failed;            /* "VERSION@archive+values", NULL-ended */
	const char *values_digest;            /* 12 digits, as in failed */
	const char *kube_version;
	const struct catalog_index *const *indexes; /* every synced catalog, by name */
	size_t n_indexes;
	size_t n_unsynced; /* catalogs that never synced */
	const struct resolve_manual *manual;
	size_t n_manual;
	const struct resolve_claim *claims;
	size_t n_claims;
	const struct resolve_waiver *waivers;
	size_t n_waivers;
	int64_t now_ns;
	/* Live state; NULL result: no such CRD. */
	const struct resolve_crd *(*crd)(void *arg, const char *name);
	void (*usage)(void *arg, const char *resource, struct resolve_usage *ret);
	/* The gate's verdict for this archive, once I/O has answered: the finding in words, and
	 * the steps that lift it (NULL-ended). */
	enum resolve_gate (*gate)(void *arg, const char *archive_digest, const char **ret_message,
				  const char *const **ret_steps);
	/* Is a requirement of kind Permission, Object, CRD, Feature met? NULL: the message of the
	 * lack. */
	const char *(*unmet)(void *arg, const struct obj *requirement, struct arena *a);
	void *arg;
};

struct candidate {
	const char *version; /* as written */
	struct version parsed;
	const struct package_version *entry; /* NULL for one made by hand */
	const char *catalog;                 /* name of its catalog, or NULL */
	const struct resolve_manual *manual; /* or NULL */
	bool installable, installed, chosen;
	bool user_class,
		safety;      /* class of the failing predicate; a wish of the user never alerts */
	const char *reason;  /* first failing predicate; NULL if installable */
	const char *message; /* what `alm why` prints behind the reason */
	const char
		*summary; /* "1.0.0 drops etcds.etcd.coreos.com/v1 (1 object, stored)": the Event */
	const char **dropped;
	size_t n_dropped;
	const char **steps;
	size_t n_steps;
};

struct resolution {
	const char *package, *catalog; /* NULL if none was found */
	const char *catalog_revision;
	struct candidate *candidates; /* highest first, all of them */
	size_t n;
	const struct candidate *chosen; /* installable, newer; NULL if none */
	const struct candidate
		*available; /* highest that only safety may refuse; or the installed one */
	const struct candidate *blocked; /* available, but refused by a safety predicate */
	const char **path;               /* versions from installed to chosen, without the first */
	size_t n_path;
	const char *reason, *message; /* of condition Resolved: "Resolved", "NoPackage" ... */
	bool not_ready;               /* CatalogNotReady: status Unknown */
};

void resolve(const struct resolve_input *in, struct arena *a, struct resolution *ret);

/* Text of `alm why` (specs: lifecycle.md 2.6). */
void resolve_print(const struct resolve_input *in, const struct resolution *r, const char *mode,
		   struct strbuf *b);

#endif
