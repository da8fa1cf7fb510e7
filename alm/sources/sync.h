/*
 * sync: reads a whole source once and builds a new index of it (lifecycle.md 1.3, 1.4). Fetching
 * is asynchronous, parsing happens in the sandbox, of local files too, and building takes slices of
 * a turn, so no source stops the loop.
 *
 * done is called once, in a later turn, unless the sync was cancelled.
 */
#ifndef ALM_SOURCES_SYNC_H
#define ALM_SOURCES_SYNC_H

#include "alm/base/hash.h"
#include "alm/io/loop.h"
#include "alm/io/sandbox.h"
#include "alm/sources/source.h"
#include "catalog/index/index.h"

#define SYNC_VALIDATOR_MAX 512

/* What a server gave to ask again with: the revision has not changed if it answers 304. */
struct sync_validators {
	char etag[SYNC_VALIDATOR_MAX], last_modified[SYNC_VALIDATOR_MAX];
};

struct sync_host {
	struct loop *loop;
	const struct source_files *files;
	struct sandbox *sandbox;                /* with SOURCE_JOBS */
	const struct address_policy *addresses; /* of https:// and oci://; NULL: any (commands) */
	bool take_fresh;                        /* also files that changed just now (commands) */
	bool take_all;                          /* also what lint finds errors in (commands) */
};

/* The entry lines of the last good revision; asked for only if something cannot be read. */
typedef int (*kept_fn)(void *arg, struct strbuf *ret_lines, struct error *err);

struct sync_request {
	const struct obj *catalog; /* name, spec.source, spec.priority */
	const struct obj *secret;  /* of spec.source.secretRef; NULL: none */
	const struct obj *keys;    /* of the Catalog's policy (policy.h); NULL: none */
	const char *policy;        /* its digest; "": none */
	struct source_cache *cache;
	const struct sync_validators *validators; /* NULL: there is no last good revision */
	kept_fn last; /* NULL: there is no last good revision; called until done */
	void *last_arg;
	struct str
		saved; /* entry lines: they are read instead of the source; borrowed until done */
};

struct sync_result {
	const struct error *err;     /* NULL: success */
	struct catalog_index *index; /* to be taken; NULL: unchanged, or err */
	struct str lines;            /* what it was built of, borrowed */
	struct sync_validators validators;
	char bad_digest[SHA256_HEX]; /* of the content that was refused; "" if nothing came */
	int64_t wait_ns;             /* > 0: a file was too fresh and shall be looked at then */
};
typedef void (*sync_done)(void *arg, struct sync_result *result);

struct sync;
struct sync *sync_start(const struct sync_host *h, const struct sync_request *r, sync_done done,
			void *arg);
void sync_cancel(struct sync *s); /* not from inside done; NULL is fine */

/* One archive of an index: its bytes, checked against its digest, and what is in it against what
 * the index said. Where the Catalog has a policy, the version's signature was found valid by it
 * when the index was built, and still is. */
struct archive_fetch;
struct archive_result {
	const struct error *err;
	struct str bytes;        /* borrowed */
	const struct obj *entry; /* of inspect.h */
};
typedef void (*archive_done)(void *arg, const struct archive_result *result);
struct archive_request {                    /* borrowed until archive_fetch_start() returns */
	const struct obj *catalog, *secret; /* as of sync_request */
	const char *policy;
	const struct package_version *version;
};
struct archive_fetch *archive_fetch_start(const struct sync_host *h,
					  const struct archive_request *r, archive_done done,
					  void *arg);
void archive_fetch_cancel(struct archive_fetch *f); /* not from inside done; NULL is fine */

#endif
