/* sync_internal: shared by sync.c (life, building) and the readers, one for each kind of source. */
#ifndef ALM_SOURCES_SYNC_INTERNAL_H
#define ALM_SOURCES_SYNC_INTERNAL_H

#include "alm/sources/credentials.h"
#include "alm/sources/remote.h"
#include "alm/sources/sync.h"
#include "catalog/index/helm_index.h"

#define SYNC_ARENA_BYTES ((size_t)256 << 20)
#define SYNC_SLICE_NS    INT64_C(20000000) /* of one turn */

struct local_file; /* sync_files.c */
struct signatures; /* sync_verify.c */
struct pull;       /* pull.h */
struct kept;       /* sync_kept.c */

struct sync {
	struct sync_host host;
	struct arena *a;
	struct obj *catalog;
	struct source_cache *cache;
	const char *url;
	struct credentials credentials;
	struct weburl base; /* of https and oci */
	struct remote *remote;
	struct sandbox_run *child;
	struct task step;
	void (*go)(struct sync *s); /* what the task does */
	bool is_conditional;
	struct strbuf lines; /* what the source told */
	struct str rest;     /* of them, not yet built in */
	struct catalog_index *index;
	struct error err;
	struct sync_result result;
	sync_done done;
	void *arg;
	/* dir://, file:// */
	char **names;
	size_t n_names, at;
	struct local_file **files; /* in the order of their names */
	size_t n_files, cap_files, n_running;
	kept_fn last; /* of sync_request */
	void *last_arg;
	struct kept *kept;
	struct oci_sync *oci;
	const struct obj *secret; /* of spec.source.secretRef, kept by the arena; NULL: none */
	struct pull *pull;        /* of the operator of apptype:// */
	/* the policy of the Catalog */
	struct obj *keys; /* NULL: none */
	struct signatures *signatures;
};

/* Each ends in sync_build() or sync_fail(). */
void sync_dir(struct sync *s);
void sync_file(struct sync *s);
void sync_https(struct sync *s);
void sync_oci(struct sync *s);
void sync_inplace(struct sync *s);
/* The input of HELM_INDEX_JOB; read in the sandbox, then built. */
void sync_parse_index(struct sync *s, struct str input);

void sync_next(struct sync *s, void (*go)(struct sync *s)); /* in the next turn */
void sync_fail(struct sync *s, const struct error *err);
void sync_unchanged(struct sync *s);
void sync_build(struct sync *s); /* lines are complete, but for what the policy says of them */
void sync_build_lines(struct sync *s); /* lines are complete */
/* sync_verify.c: finds the signature of every entry, has it judged by the keys, and replaces what
 * has no valid one by an error. Ends in sync_build_lines() or sync_fail(). */
void sync_verify(struct sync *s);
void signatures_free(struct signatures *g);
/* The child read the bytes and says what is wrong with them; else it died, or was killed. */
bool sync_is_verdict(const struct error *err);
/* sync_kept.c: a file that could not be looked at. What it told last is taken from the last good
 * revision: of a text as it is, of an archive as a version that cannot be installed until it can be
 * read, so that its soak goes on. Ends in sync_build(), or in sync_fail() for notices that nobody
 * knows: they may withdraw versions. */
void kept_want(struct sync *s, const char *name, const char *why);
void kept_take(struct sync *s);
void kept_free(struct kept *k);
void oci_sync_free(struct oci_sync *o);
/* Of the registry of an oci:// source, below /v2/NAME. */
void oci_sync_get(struct sync *s, const char *path, size_t body_max, remote_done done, void *arg);
/* The body has the digest: of the request, or the one the registry claims. */
int oci_sync_check(const struct remote_reply *reply, const char *wanted, char hex[SHA256_HEX],
		   struct error *err);
/* Digest of the manifest of a catalog artifact, which covers all its entries; NULL: it is none. */
const char *oci_sync_artifact(const struct sync *s);
void local_files_free(struct sync *s);

#endif
