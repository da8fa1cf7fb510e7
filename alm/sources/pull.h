/*
 * pull: the archive of one Helm chart from an OCI registry, by tag or digest. What came is checked against the digests
 * of the reference and of its manifest; nothing of it is parsed but the manifest.
 *
 * done is called once, in a later turn, unless the pull was cancelled.
 */
#ifndef ALM_SOURCES_PULL_H
#define ALM_SOURCES_PULL_H

#include "alm/base/hash.h"
#include "alm/io/loop.h"
#include "alm/sources/credentials.h"
#include "alm/sources/remote.h"

struct pull;
struct pull_result {
	const struct error *err; /* NULL: success; names the reference */
	struct str bytes;        /* borrowed */
	const char *digest;      /* of the manifest, 64 hex digits */
};
typedef void (*pull_done)(void *arg, const struct pull_result *result);

/* ref: "oci://HOST/NAME[:TAG][@sha256:DIGEST]"; copied. secret: credentials.h, NULL: none; read at once. addresses: see
 * transport.h. */
struct pull *pull_start(struct loop *l, const struct address_policy *addresses,
			const struct obj *secret, const char *ref, pull_done done, void *arg);
/* The same without the archive: what a tag stands for now. bytes are empty. */
struct pull *pull_digest_start(struct loop *l, const struct address_policy *addresses,
			       const struct obj *secret, const char *ref, pull_done done,
			       void *arg);
void pull_cancel(struct pull *p); /* not from inside done; NULL is fine */

#endif
