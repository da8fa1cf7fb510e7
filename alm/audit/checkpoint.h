/*
 * checkpoint: C2SP signed notes over a size and a root, and the Ed25519 keys that sign them
 * (c2sp.org/tlog-checkpoint, c2sp.org/signed-note; audit.md 4).
 */
#ifndef ALM_AUDIT_CHECKPOINT_H
#define ALM_AUDIT_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/hash.h"
#include "alm/base/strbuf.h"

#define SIGNER_SEED_BYTES    32
#define CHECKPOINT_BYTES_MAX 4096
#define VKEY_BYTES_MAX       512

struct signer;

/* name is the log's origin. */
int signer_new(const char *name, const unsigned char seed[SIGNER_SEED_BYTES], struct signer **ret,
	       struct error *err);
void signer_free(struct signer *s);
DEFINE_FREEP(signer)
/* "NAME+HEXID+BASE64": what a verifier needs; borrowed. */
const char *signer_vkey(const struct signer *s);

/* The note: origin, size, root, blank line, signature line. */
int checkpoint_sign(const struct signer *s, int64_t size, const unsigned char root[SHA256_BYTES],
		    struct strbuf *b, struct error *err);

struct checkpoint {
	int64_t size;
	unsigned char root[SHA256_BYTES];
};

/* A number and bytes in base64 in the only form that they are written in, so that no two texts are
 * one checkpoint: digits without a leading zero; exactly n bytes. */
bool checkpoint_number(struct str s, int64_t *ret);
bool checkpoint_bytes(struct str base64, unsigned char *out, size_t n);
/* What the note says, whoever signed it; the origin borrows from the note. E_CORRUPT. */
int checkpoint_read(struct str note, struct str *ret_origin, struct checkpoint *ret,
		    struct error *err);
/* E_ALTERED if the note is not the one of this origin, is malformed, or the signature of the vkey
 * is missing or wrong. Signatures of other keys are ignored. */
int checkpoint_verify(struct str note, const char *origin, const char *vkey, struct checkpoint *ret,
		      struct error *err);

/* Cosignatures (c2sp.org/tlog-cosignature, Ed25519): lines of signatures by a witness over the
 * note's text and a time. True if one of them is the one of the witness' vkey (type 0x04). */
bool cosigner_is_valid(const char *vkey); /* a vkey of a witness */
bool cosignature_fits(struct str note, struct str lines, const char *vkey, int64_t *ret_time_s);

#endif
