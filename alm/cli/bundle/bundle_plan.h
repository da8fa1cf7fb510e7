/*
 * bundle_plan: what a revision would do to a cluster, were it pushed: each object of the folder held
 * against the live one, and what the Bundle's inventory names and the folder has no more. What would be
 * written is shown to the server, which judges it as a write and stores nothing (dryRun=All, applied by
 * the server): schema, fields that cannot be changed, quotas, policies and webhooks. Nothing is written.
 */
#ifndef ALM_CLI_BUNDLE_BUNDLE_PLAN_H
#define ALM_CLI_BUNDLE_BUNDLE_PLAN_H

#include "alm/cli/bundle/bundle_folder.h"
#include "alm/cli/session.h"
#include "alm/unit/holder.h"

enum bundle_act {
	BUNDLE_CREATE,
	BUNDLE_CHANGE,
	BUNDLE_DELETE,
	BUNDLE_KEEP,   /* it left the folder, and stays */
	BUNDLE_REFUSE, /* the revision as a whole */
	BUNDLE_SAME,
	BUNDLE_ACTS
};

struct bundle_field {
	const char *path, *manager; /* manager NULL: nobody has it */
	enum holder holder;
};

struct bundle_step {
	enum bundle_act act;
	const char *what; /* "Deployment default/my-app" */
	const char *key;  /* of the folder, or what it was */
	const char *why;  /* paths that differ, the reason; NULL: nothing more is to be said */
	const struct bundle_field *fields; /* of a change: these paths, with who controls each */
	size_t n_fields;
	bool by_server; /* refused at the write, and so after those before it */
};

struct bundle_plan {
	struct bundle_step *steps; /* in the order in which they would be taken */
	size_t n, cap, counts[BUNDLE_ACTS];
	bool held;         /* more deletes than spec.prune.maxDeletes: they wait for an approval */
	const char *blind; /* why deletes are not known; NULL: they are */
	/* Writes that the server was not shown: of a kind or in a Namespace that the folder brings;
	 * of what the user of the kubeconfig may not create and patch. */
	size_t n_early, n_forbidden;
};

/* Of a folder without flaws, that has a Bundle. All in c->arena. */
int bundle_plan_make(const struct cli *c, struct session *s, const struct bundle_folder *f,
		     struct bundle_plan *ret, struct error *err);

#endif
