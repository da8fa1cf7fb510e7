/*
 * resolve: which version of an app's package is installed next, and why not the others
 * (lifecycle.md 2). Pure: everything it may know is in the input; the same input gives the same
 * bytes. A candidate carries the first predicate that fails, in the order of lifecycle.md 2.2.
 */
#ifndef CATALOG_RESOLVE_RESOLVE_H
#define CATALOG_RESOLVE_RESOLVE_H

#include "catalog/index/index.h"

#define RESOLVE_CANDIDATES_MAX 20 /* listed in status; the rest is counted */
#define RESOLVE_EVALUATED_MAX  16 /* candidates whose predicates 13 to 15 are asked */
#define RESOLVE_WINDOWS_MAX    32

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
	const char *version;                 /* of what is installed or begun; NULL: nothing */
	const char *const *managed;          /* NULL-ended */
	const struct package_version *entry; /* of that version, or NULL */
};

/* All apps by what they claim, require and refuse; shared by every app's input, which leaves itself
 * out. */
struct resolve_claims;
struct resolve_change; /* resolve_relax.h */

struct resolve_manual { /* a strategy made by hand: always a candidate */
	/* One of ALM's that upgrade.to names and whose plan is stored: only while no catalog has its
	 * version, as the way back needs none (lifecycle.md 7.4). */
	bool stored;
	const char *strategy, *version, *sha256;
	const char *const *resources; /* NULL-ended */
	/* What its own planning met (FetchFailed, RenderFailed ...), which only that can lift;
	 * NULL: nothing, or not looked at. Such a version stops no other. */
	const char *blocked, *message;
};

struct resolve_waiver {
	const char *rule, *resource, *path, *reason;
	int64_t expires_ns; /* 0: never */
};

struct resolve_window { /* UTC; from == to: the whole day; from > to: over midnight */
	unsigned days;  /* bit 0: Sunday; 0: every day */
	int from, to;   /* minutes after midnight */
};

enum resolve_gate { GATE_UNKNOWN, GATE_ALLOW, GATE_REFUSE };

struct resolve_input {
	const char *app, *self_ref; /* "etcd", "etcd.com.tectonic.storage" */
	const char *package, *catalog, *channel, *range, *to; /* of spec; NULL: unset */
	const char *installed_version, *installed_package,
		*installed_catalog; /* NULL: nothing installed */
	const char *installed_digest;
	/* Nothing is installed, and this version was when its strategy was deleted, from
	 * installed_package of installed_catalog with installed_digest (NULL: not known): it comes
	 * back, and no other of the catalog unless `to` names it (lifecycle.md 8). NULL: no such
	 * thing. */
	const char *restore;
	const char *const *installed_managed; /* NULL-ended; NULL if nothing is installed */
	const char *const *failed;            /* "VERSION@archive+values", NULL-ended */
	const char *values_digest;            /* 12 digits, as in failed */
	const char *kube_version;
	const struct catalog_index *const *indexes; /* every synced catalog, by name */
	size_t n_indexes;
	size_t n_unsynced; /* catalogs that never synced */
	const struct resolve_manual *manual;
	size_t n_manual;
	const struct resolve_claims *claims; /* NULL: there is no other app */
	const struct resolve_waiver *waivers;
	size_t n_waivers;
	const char *mode; /* "Automatic", "Manual", "None" */
	bool paused;
	const struct resolve_window *windows;
	size_t n_windows;
	int64_t soak_ns;
	const char
		*unreadable; /* what of soak and windows cannot be read; NULL: nothing. It closes */
	/* The first field of the spec that asks for what this program does not do, with the remedy;
	 * NULL: none. Nothing is chosen: Unsupported. */
	const char *unsupported;
	/* When the version was first listed; 0: now. NULL: no version ever was. */
	int64_t (*first_seen)(void *arg, const char *version);
	const char *const *approved; /* versions a person lets through in mode Manual; NULL-ended */
	const char *evaluate;        /* "*" or a version: predicates 13 to 15 are asked of it too */
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
	/* What another app resolves with; NULL: nobody knows, it stays as it is. */
	const struct resolve_input *(*other)(void *arg, const char *app);
	void *arg;
};

struct dependency { /* what is installed before, or has to be there */
	const char *app, *self_ref, *package, *catalog, *version;
	const char *range;                   /* for the spec of the AppType to be made */
	const struct package_version *entry; /* NULL: the installed one, in no catalog */
	bool add, upgrade;                   /* neither: it is installed and stays */
};

struct candidate {
	const char *version; /* as written */
	struct version parsed;
	const char *malformed; /* why the text is no version (made by hand), or NULL */
	const struct package_version *entry; /* NULL for one made by hand */
	const char *catalog;                 /* name of its catalog, or NULL */
	const struct resolve_manual *manual; /* or NULL */
	bool installable, installed, chosen;
	bool user_class,
		safety;      /* class of the failing predicate; a wish of the user never alerts */
	const char *reason;  /* first failing predicate; NULL if installable */
	const char *message; /* what `alm why` prints behind the reason */
	const char *subject; /* the resource, CRD or app that the reason is about, or NULL */
	const char
		*summary; /* "1.0.0 drops etcds.etcd.coreos.com/v1 (1 object, stored)": the Event */
	const char **dropped;
	size_t n_dropped;
	const char *const *gate_steps; /* CRDIncompatible: what lifts the findings; NULL-ended */
	const char **explanation;      /* DependencyUnresolved: numbered sentences */
	size_t n_explanation;
	const struct dependency *dependencies; /* of an installable one, the first to install first
						*/
	size_t n_dependencies;
	const struct resolve_change *const *ways; /* DependencyUnresolved: what would lift a line */
	size_t n_ways;
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
	int64_t decisions;            /* of the search for dependencies */
	/* Why the next version waits (lifecycle.md 2.2 "When"): "Paused", "ModeNone",
	 * "OutsideWindow", "Soaking", "Unreadable"; NULL: its turn is now. until_ns: when it ends,
	 * 0: unknown. */
	const char *gate, *gate_why; /* why: of Unreadable */
	int64_t until_ns;
};

void resolve_run(const struct resolve_input *in, struct arena *a, struct resolution *ret);

/* days: "Sat" or "Saturday", NULL-ended; from and to: "22:00" in UTC. False: unreadable, and *ret
 * never opens. */
bool resolve_window_parse(const char *const *days, const char *from, const char *to,
			  struct resolve_window *ret);
/* "OutsideWindow until Sat 02:00Z", "Unreadable: spec.upgrade.soak ...", or the bare gate; NULL:
 * none. */
const char *resolve_gate_text(const struct resolution *r, int64_t now_ns, struct arena *a);

/* What all apps have, by what is asked of it. A change costs what the one app claims, whatever else
 * there is. Claims are borrowed: they live until they are replaced or dropped. */
struct resolve_claims *resolve_claims_new(void);
void resolve_claims_free(struct resolve_claims *c);
void resolve_claims_put(struct resolve_claims *c, const struct resolve_claim *claim);
void resolve_claims_drop(struct resolve_claims *c, const char *app);
/* Of a list, which is borrowed; freed with the arena. */
const struct resolve_claims *resolve_claims_of(const struct resolve_claim *list, size_t n,
					       struct arena *a);

/* The package that provides a resource in an app that would have to be made (lifecycle.md 2.4): of
 * all whose descriptor names an appType (self_ref: only this one, NULL: any) the one of an app that
 * exists, else of the catalog with the highest priority. */
struct resolve_provider {
	const char *package, *app_type;
	const struct catalog_index *index;
	const char *reason, *message; /* package NULL: "NoPackageProvides", "AmbiguousProvider" */
};
void resolve_find_provider(const struct resolve_input *in, const char *resource,
			   const char *self_ref, struct arena *a, struct resolve_provider *ret);

#endif
