/*
 * openpgp: signatures in the form that gpg and helm write (RFC 4880, RFC 9580 for version 4), read
 * strictly and checked against keys that are given. Pure; crypto is OpenSSL's (pubkey.h). Reads
 * hostile bytes: no recursion, every length is checked against what is left, every count is
 * bounded.
 *
 * What counts: version 4; RSA, Ed25519 (algorithms 22 and 27); SHA-256, SHA-384, SHA-512. Anything
 * else is refused with its name, never skipped over in silence.
 *
 * A key may sign if a self signature says so that is itself valid; its newest one gives the expiry.
 * A revocation is believed unchecked: whoever put it into the keyring meant it, and believing too
 * much can only refuse. All is judged at the time of the check, not of the signature: an expired or
 * revoked key makes nothing valid.
 */
#ifndef CATALOG_TRUST_OPENPGP_H
#define CATALOG_TRUST_OPENPGP_H

#include <stdint.h>

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/str.h"

#define OPENPGP_KEYRING_BYTES_MAX   ((size_t)1 << 20)
#define OPENPGP_CLEARSIGN_BYTES_MAX ((size_t)1 << 20)
#define OPENPGP_PACKETS_MAX         4096 /* of a keyring */
#define OPENPGP_FINGERPRINT_BYTES   20
#define OPENPGP_SKEW_S              (24 * 3600) /* that the signer's clock may be ahead */
#define OPENPGP_KEY_BEGIN           "-----BEGIN PGP PUBLIC KEY BLOCK-----"

struct pubkey;

/* A primary key or a subkey. */
struct openpgp_key {
	unsigned char fingerprint[OPENPGP_FINGERPRINT_BYTES];
	const struct pubkey *key; /* NULL: problem says why */
	int64_t created_s;
	int64_t expires_s;   /* 0: never */
	const char *problem; /* why it makes no signature valid; NULL: it may */
};
struct openpgp_keyring { /* zeroed: empty */
	struct openpgp_key *items;
	size_t n, cap;
	size_t n_packets;
};

/* Adds the keys of text: one or more armored blocks with anything between them, or the bytes that
 * gpg --export writes. Everything lives in the arena. E_INVALID, E_LIMIT. */
int openpgp_keyring_add(struct openpgp_keyring *ring, struct str text, int64_t now_s,
			struct arena *a, struct error *err);

/* "-----BEGIN PGP SIGNED MESSAGE-----", read so that there is one way to read it: nothing before or
 * after, no header but Hash, exactly one signature. */
struct openpgp_clearsigned {
	struct str text;      /* what was signed, lines ended by \n; trailing blanks are gone */
	struct str canonical; /* the same as it was hashed */
	unsigned hashes;      /* that the header names, 1 << algorithm */
	struct str signature; /* one packet */
};
int openpgp_clearsigned_read(struct str file, struct arena *a, struct openpgp_clearsigned *ret,
			     struct error *err);

/* The signature is valid at now_s; *ret_until_s: until when (0: no end), the first expiry of
 * signature, key and primary key. E_INVALID says which check failed, with the key's fingerprint. */
int openpgp_check(const struct openpgp_keyring *ring, const struct openpgp_clearsigned *c,
		  int64_t now_s, int64_t *ret_until_s, struct error *err);

#endif
