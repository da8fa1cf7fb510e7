/* hash: digests, MACs and their text forms. Digests come from OpenSSL. */
#ifndef ALM_BASE_HASH_H
#define ALM_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>

#include "alm/base/str.h"
#include "alm/base/strbuf.h"

#define SHA256_BYTES 32
#define SHA256_HEX   (2 * SHA256_BYTES + 1)

struct sha256; /* streaming */
struct sha256 *sha256_new(void);
void sha256_free(struct sha256 *h);
DEFINE_FREEP(sha256)
void sha256_add(struct sha256 *h, const void *p, size_t n);
void sha256_final(struct sha256 *h, unsigned char out[SHA256_BYTES]); /* h starts over afterwards */

void sha256(struct str s, unsigned char out[SHA256_BYTES]);
void sha256_hex(struct str s, char out[SHA256_HEX]);
/* name is OpenSSL's: "sha1", "sha512"; returns the digest's length, at most 64. */
size_t hash_digest(const char *name, struct str s, unsigned char out[64]);
/* A stream of bytes that depends on the seed alone: SHA-256 of seed and counter, block by block;
 * what is left of a block is dropped. For renders that can be repeated, not for keys of ALM itself.
 */
struct hash_stream {
	unsigned char seed[SHA256_BYTES];
	uint64_t counter;
};
void hash_stream_read(struct hash_stream *h, void *out, size_t len);
void hmac_sha256(struct str key, struct str s, unsigned char out[SHA256_BYTES]);
/* For tables: SipHash-1-3 with a key of this process, so that nobody can choose texts that all fall
 * into one slot. Nothing that anybody sees may depend on it. */
uint64_t hash_key(struct str s);
/* Constant time. */
bool mem_equal(const void *a, const void *b, size_t n);

void hex_encode(const void *p, size_t n, char *out);           /* 2n + 1 bytes, lower case */
bool hex_decode(struct str hex, unsigned char *out, size_t n); /* exactly n bytes, either case */

/* RFC 4648, padded. base64url is the unpadded URL alphabet. */
void base64_encode(struct str s, struct strbuf *b);
bool base64_decode(struct str s,
		   struct strbuf *b); /* strict: no white space; false leaves b as is */
void base64url_encode(struct str s, struct strbuf *b);
bool base64url_decode(struct str s, struct strbuf *b);

#endif
