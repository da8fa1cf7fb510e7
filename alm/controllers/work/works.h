/*
 * works: the kinds of work that our plans name (alm/engine/work.h), and how they are planned. What
 * the outcome of each is stands in its file.
 */
#ifndef ALM_CONTROLLERS_WORK_WORKS_H
#define ALM_CONTROLLERS_WORK_WORKS_H

#include "alm/engine/work.h"
#include "alm/render/render_job.h"
#include "catalog/index/index.h"

#define PLUGINS_AT_ONCE 8 /* of a process' units */
#define TAGS_AT_ONCE    8 /* tags that registries are asked for */
#define QUERIES_AT_ONCE 8 /* of Prometheus */
#define RENDERS_MAX     8 /* at once; each holds its input, and a file, until its turn in the sandbox */

extern const struct work_kind sync_work;   /* read a catalog's source: body, key its name */
extern const struct work_kind fetch_work;  /* read an archive: key its digest */
extern const struct work_kind render_work; /* an archive in the sandbox: key the id of its fetch */
extern const struct work_kind survey_work; /* live read of objects, as ALM */
/* Metadata of whatever has the labels of body.selector, of every kind: all lists, or the error. Or rows
 * (stray.h) of what may be nobody's in body.namespaces. */
extern const struct work_kind gather_work;
extern const struct work_kind kinds_work;  /* which kinds there are: work_kinds.c */
extern const struct work_kind ask_work;    /* live answers to what a template or a step needs */
extern const struct work_kind gate_work;   /* judge a planned CRD by the cluster (live_gate.h) */
extern const struct work_kind review_work; /* ask the server what the account may */
extern const struct work_kind log_work;    /* why a Job failed, in its own words */
extern const struct work_kind try_work;    /* dry runs of objects of the app */
extern const struct work_kind
	plugin_work; /* body: {kind: enum plugin_kind, name, request, wallNs} */
/* One query of Prometheus (work_prometheus.c has body and outcome). */
extern const struct work_kind prometheus_work;
/* What a tag stands for: key "oci://HOST/NAME:TAG", name of the Secret or NULL; the outcome is {digest}. */
extern const struct work_kind tag_work;
extern const struct work_kind
	read_work; /* read a Bundle's source: body and subject it, key its name */
/* Run what was read last of a Bundle, or, if it is being deleted, delete all: body it. row_only: it
 * is there already, and only kept as it is. */
extern const struct work_kind roll_work;

/* Live answers for a template, read as the account (work_ask.c); what it may not read is answered
 * with {"error", "denied": true, "rightsVersion"}. */
struct action *plan_lookup(struct plan *p, const char *id, const struct obj *needs);
/* The end of the log of a Job's Pods, as the account; well: it has succeeded. work_log.c has the outcome. */
struct action *plan_log(struct plan *p, const char *id, const char *ns, const char *selector,
			bool well);
/* Asks what the account may: questions as access_questions(); consumed. The outcome is E_FORBIDDEN
 * with {denied: [index], rightsVersion, rightsSince} when not all of it. */
struct action *plan_review(struct plan *p, const char *id, struct obj *questions);
/* Judges a CRD of the app: request as in live_gate.h; consumed. */
struct action *plan_gate(struct plan *p, const char *id, struct obj *request);
/* Would the server take these objects? Consumed. The outcome is {refused: [{index, message}]}. */
struct action *plan_try(struct plan *p, const char *id, struct obj *objects);

/* Begins the state of a kind that calls work_with_secret(). */
struct work_secret {
	const char *name;
	void (*then)(struct work *w, const struct obj *secret);
};
/* Reads the Secret of CREDENTIALS_NAMESPACE, again each time (a changed password is used at once, and none
 * is kept), then goes on with it, borrowed, in this turn or a later one. name NULL: without one. One that
 * cannot be read is the outcome. */
void work_with_secret(struct work *w, const char *name,
		      void (*then)(struct work *w, const struct obj *secret));

/* Consumes index; NULL without err: unchanged. bad_digest: of content that was refused, or "". */
typedef void (*synced_fn)(void *arg, struct catalog_index *index, const char *bad_digest,
			  const struct error *err);
typedef void (*fetched_fn)(void *arg, struct str bytes, const struct error *err);

/* What a source of a Bundle gave; {"commit", "author", "subject", ..} each. */
struct bundle_news {
	const struct obj *read,
		*skipped; /* the head; those between that were never run, newest first */
	bool is_new;      /* another commit than was read before */
	bool unknown;     /* whether it is one is not known: it lies too far back */
};
/* err NULL: news is there. */
typedef void (*bundle_read_fn)(void *arg, const struct bundle_news *news, const struct error *err);

/* Who has the catalogs, the bundles and the sandbox: executor_config.work_host. */
struct work_host {
	/* Renders an archive in the sandbox: {release, namespace, revision, isUpgrade, kubeVersion,
	 * values}. */
	void (*render)(void *arg, struct str archive, const struct obj *request,
		       struct render_call *call);
	/* Reads a catalog's source into a new index. */
	void (*sync)(void *arg, const char *name, const struct obj *catalog, synced_fn done,
		     void *done_arg);
	/* The archive with this digest, checked against it. */
	void (*fetch)(void *arg, const char *digest, fetched_fn done, void *done_arg);
	/* The pointer swap; consumes. */
	void (*swap_index)(void *arg, const char *catalog, struct catalog_index *index);
	const struct catalog_index *(*index)(void *arg, const char *catalog);
	/* Reads a Bundle's source, if its head has changed; one reading of a Bundle at a time. */
	void (*read_bundle)(void *arg, const struct obj *bundle, bundle_read_fn done,
			    void *done_arg);
	/* Fails: nothing was begun. */
	int (*roll_bundle)(void *arg, const struct obj *bundle, bool is_there, struct error *err);
	void *arg;
	struct plugins *plugins;                /* NULL: nothing asks one */
	const struct address_policy *addresses; /* what oci:// may reach */
};

#endif
