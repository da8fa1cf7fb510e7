/*
 * provenance: the file that `helm package --sign` puts beside an archive: OpenPGP clear-signed text
 * of two YAML documents, Chart.yaml and the SHA-256 of the archive. Nothing of it is parsed as YAML
 * before its signature is valid.
 */
#ifndef CATALOG_TRUST_PROVENANCE_H
#define CATALOG_TRUST_PROVENANCE_H

#include "alm/obj/obj.h"
#include "catalog/trust/openpgp.h"

#define PROVENANCE_SUFFIX    ".prov"
#define PROVENANCE_BYTES_MAX OPENPGP_CLEARSIGN_BYTES_MAX

/* The archive that it shall be about. */
struct archive_subject {
	const char *digest;      /* 64 hex digits */
	const struct obj *chart; /* as entry_chart() gives it */
};

/* In this order: signature by a key of the ring, the key's validity, two documents, the digest of
 * NAME-VERSION.tgz, Chart.yaml equal to the subject's. *ret_until_s as openpgp_check(). */
int provenance_check(const struct openpgp_keyring *ring, struct str file,
		     const struct archive_subject *subject, int64_t now_s, int64_t *ret_until_s,
		     struct error *err);

#endif
