/*
 * pubkey: checks of signatures with public keys, by OpenSSL. Verifying only: no private key is ever
 * held here. Keys too weak to be believed are refused when they are made, so a check needs no look
 * at the size.
 */
#ifndef ALM_BASE_PUBKEY_H
#define ALM_BASE_PUBKEY_H

#include <stdbool.h>

#include "alm/base/error.h"
#include "alm/base/mem.h"
#include "alm/base/str.h"

#define PUBKEY_RSA_BITS_MIN  2048
#define PUBKEY_RSA_BITS_MAX  8192
#define PUBKEY_ED25519_BYTES 32

struct pubkey;

/* Owned. n and e: big-endian, without leading zeros. */
int pubkey_rsa(struct str n, struct str e, struct pubkey **ret, struct error *err);
int pubkey_ed25519(struct str point, struct pubkey **ret, struct error *err);
/* "-----BEGIN PUBLIC KEY-----" (RFC 7468): ECDSA P-256, RSA or Ed25519; nothing but this key is in
 * the text. */
int pubkey_pem(struct str text, struct pubkey **ret, struct error *err);
void pubkey_free(struct pubkey *k); /* NULL is fine */
DEFINE_FREEP(pubkey)

bool pubkey_is_ed25519(const struct pubkey *k);
size_t pubkey_bytes(const struct pubkey *k); /* of a signature, at most */
/* ECDSA: DER; RSA: PKCS #1 v1.5, as long as the modulus. Both over hash ("sha256") of data; Ed25519
 * over data itself. */
bool pubkey_verify(const struct pubkey *k, const char *hash, struct str data, struct str signature);

#endif
