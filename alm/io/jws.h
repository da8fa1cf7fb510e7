/*
 * jws: ES256 (RFC 7515; RFC 7518, 3.4) by OpenSSL: keys as PEM texts, signatures as 64 raw bytes.
 * It knows no claims and no files; the caller keeps a private key 0600.
 */
#ifndef ALM_IO_JWS_H
#define ALM_IO_JWS_H

#include "alm/base/error.h"
#include "alm/base/strbuf.h"

#define JWS_SIGNATURE_BYTES 64

struct jws_key;

/* A fresh P-256 key; owned PEM text. */
int jws_key_new(char **ret_pem, struct error *err);
/* A private P-256 key from its PEM text; E_INVALID for any other. */
int jws_key_read(const char *pem, struct jws_key **ret, struct error *err);
void jws_key_free(struct jws_key *k);
DEFINE_FREEP(jws_key)

/* "kid": base64url of the SHA-256 of the public key's DER form, as the real server names its own.
 */
const char *jws_key_id(const struct jws_key *k);
int jws_sign(const struct jws_key *k, struct str text, unsigned char sig[JWS_SIGNATURE_BYTES],
	     struct error *err);
bool jws_verify(const struct jws_key *k, struct str text, struct str sig);
/* Appends the public half as one member of a JSON Web Key Set. */
void jws_key_print(const struct jws_key *k, struct strbuf *b);

#endif
