/*
 * redact: secret values of an object become HMACs before anything is digested or stored
 * (audit.md 8). Pure; the key is the file redact.key beside the log.
 */
#ifndef ALM_AUDIT_REDACT_H
#define ALM_AUDIT_REDACT_H

#include "alm/base/hash.h"
#include "alm/obj/obj.h"

#define REDACT_KEY_BYTES 32
/* Raised with each change of what is replaced or left out: digests of before then compare with
 * nothing. */
#define REDACT_VERSION 1
#define REDACT_ID_MAX  32

/* "1-5f0c93aa": version and key. The log says by which rules its newest digests were made. */
void redact_id(const unsigned char key[REDACT_KEY_BYTES], char out[REDACT_ID_MAX]);
/* O without secret values, managedFields, resourceVersion and generation; parts with nothing to hide are those of o. Owned. */
struct obj *redact_object(const unsigned char key[REDACT_KEY_BYTES], const struct obj *o);
/* SHA-256 (hex) of the canonical form of a redacted object without its status: what a write of the
 * status leaves as it is. */
void redact_main_digest(const struct obj *redacted, char out[SHA256_HEX]);

#endif
