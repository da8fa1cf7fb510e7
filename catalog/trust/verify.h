/*
 * verify: is there a valid signature of an archive? What spec.verify of a Catalog asks
 * (reliability.md 9). A job of the sandbox, as signatures are foreign bytes; keys come with the
 * question, never with the signature.
 *
 *	{"keys": {"release.asc": "-----BEGIN PGP ..."}, "now": seconds,
 *	 "digest": "64 hex digits", "chart": {...},       the archive
 *	 "provenance": base64,                            absent: it has none
 *	 "manifest": "64 hex digits",                     of a registry; absent: it lies in none
 *	 "cosign": [{"payload": base64, "signature": base64}]}
 *
 * The answer is {"until": seconds}; 0: no end. One valid signature is enough, of the kind that
 * there are keys for: OpenPGP keys ask for provenance, PEM keys for cosign.
 */
#ifndef CATALOG_TRUST_VERIFY_H
#define CATALOG_TRUST_VERIFY_H

#include "alm/base/pubkey.h"
#include "alm/base/strbuf.h"
#include "catalog/trust/openpgp.h"

#define VERIFY_JOB            "verify"
#define VERIFY_PEM_BEGIN      "-----BEGIN PUBLIC KEY-----"
#define VERIFY_PEM_KEYS_MAX   64
#define VERIFY_KEYS_BYTES_MAX ((size_t)1 << 20) /* of all: the size of a ConfigMap */

struct obj;

struct verify_keys {
	struct openpgp_keyring ring;
	const struct pubkey *pem[VERIFY_PEM_KEYS_MAX];
	size_t n_pem;
};
/* data: name -> text; each text has at least one key. In the arena. E_INVALID names the text. */
int verify_keys_read(const struct obj *data, int64_t now_s, struct arena *a,
		     struct verify_keys *ret, struct error *err);

/* What it refuses has REASON_SIGNATURE_INVALID. */
int verify_job(struct str input, struct strbuf *output, struct error *err);

#endif
