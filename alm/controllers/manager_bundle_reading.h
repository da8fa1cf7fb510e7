/* manager_bundle_reading: one reading of a Bundle's source, shared by the files that do it: manager_bundle_read.c up to
 * the files, manager_bundle_take.c from there on. */
#ifndef ALM_CONTROLLERS_MANAGER_BUNDLE_READING_H
#define ALM_CONTROLLERS_MANAGER_BUNDLE_READING_H

#include "alm/client/git_mirror.h"
#include "alm/controllers/manager_bundles.h"

/* One reading, from its work to its answer. */
struct reading {
	struct arena *a; /* the unit that comes of it lives in it */
	struct obj *bundle;
	struct bundle_spec spec;
	struct client_call *asked; /* ConfigMap of keys, or Secret */
	struct git_keys keys;
	struct bundle_rollout rollout;
	struct git_read *git;
	struct bundle_asking ask;
	struct error lacks; /* of what its program is given: told once git was asked */
	char tree[SHA256_HEX];
	struct render_call render;
	struct task refuse; /* what cannot be started is told in a later turn */
	struct error err;
	bundle_read_fn done;
	void *arg;
	struct obj *read, *skipped; /* in the arena */
	const char *secret_version; /* of what is sent; "": nothing is */
	bool rewritten, unknown;
	bool unchanged; /* git has the commit that the slot knows */
	struct bundle_place place;
};

/* It is cancelled; none is fine. */
void bundle_reading_free(struct bundle_slot *s);
/* It ends, and who waits for it is told. */
void bundle_reading_end(struct bundle_slot *s, const struct bundle_news *news,
			const struct error *err);
/* ... with what is wrong. What is wrong with a commit stays wrong with it; what a server says, or this machine lacks,
 * may pass. */
void bundle_reading_refuse(struct bundle_slot *s, const struct error *err);
/* What the slot knows of its head from now on; err NULL: it is well. */
void bundle_reading_head(struct bundle_slot *s, const char *head, const struct error *err);
/* All but the commit is as it was when that was said. */
bool bundle_reading_is_known(const struct bundle_slot *s);
/* f: of its commit, which is another one than the slot knows. */
void bundle_reading_take(struct bundle_slot *s, const struct files *f);

#endif
