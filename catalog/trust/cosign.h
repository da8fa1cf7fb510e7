/*
 * cosign: signatures of cosign made with a key (its "simple signing" form): a small JSON text names
 * the manifest that is meant, and the signature is over that text. Both lie in the registry as one
 * more manifest, with the tag that cosign_tag() gives. Signatures without a key (Fulcio, Rekor) and
 * bundles are not read.
 */
#ifndef CATALOG_TRUST_COSIGN_H
#define CATALOG_TRUST_COSIGN_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/str.h"

#define COSIGN_LAYER             "application/vnd.dev.cosign.simplesigning.v1+json"
#define COSIGN_ANNOTATION        "dev.cosignproject.cosign/signature"
#define COSIGN_SIGNATURES_MAX    16 /* of one manifest; further ones are not looked at */
#define COSIGN_PAYLOAD_BYTES_MAX ((size_t)64 << 10)

struct pubkey;

/* "sha256-HEX.sig" */
const char *cosign_tag(const char *manifest_digest, struct arena *a);
/* One signature: by one of the keys over the payload, which names the manifest (64 hex digits).
 * signature: base64. */
int cosign_check(const struct pubkey *const *keys, size_t n_keys, struct str payload,
		 struct str signature, const char *manifest_digest, struct error *err);

#endif
