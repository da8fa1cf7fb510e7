/* jws: see jws.h. */
#include "alm/io/jws.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "alm/base/hash.h"

#define HALF_BYTES 32
#define ID_MAX     44 /* 32 bytes as base64url, and the NUL */

struct jws_key {
	EVP_PKEY *key;
	char id[ID_MAX];
	unsigned char x[HALF_BYTES], y[HALF_BYTES];
};

static int failed(struct error *err, const char *what)
{
	ERR_clear_error();
	return error_set(err, E_INVALID, "%s", what);
}

int jws_key_new(char **ret_pem, struct error *err)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	BIO *bio = BIO_new(BIO_s_mem());
	char *text = NULL;
	bool ok = key && bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1;
	if (ok) {
		long n = BIO_get_mem_data(bio, &text);
		*ret_pem = xstrndup(text, (size_t)n);
	}
	BIO_free_all(bio);
	EVP_PKEY_free(key);
	return ok ? 0 : failed(err, "no P-256 key could be made");
}

/* Never a prompt: an encrypted key is refused. */
static int no_password(char *buf UNUSED, int size UNUSED, int writing UNUSED, void *arg UNUSED)
{
	return -1;
}

static bool is_p256(const EVP_PKEY *key)
{
	char group[64];
	size_t n = 0;
	return key && EVP_PKEY_is_a(key, "EC") &&
	       EVP_PKEY_get_group_name(key, group, sizeof(group), &n) == 1 &&
	       strcmp(group, "prime256v1") == 0;
}

static bool read_half(const EVP_PKEY *key, const char *name, unsigned char out[HALF_BYTES])
{
	BIGNUM *n = NULL;
	bool ok = EVP_PKEY_get_bn_param(key, name, &n) == 1 &&
		  BN_bn2binpad(n, out, HALF_BYTES) == HALF_BYTES;
	BN_free(n);
	return ok;
}

static bool name_key(struct jws_key *k)
{
	unsigned char *der = NULL, hash[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ID_MAX);
	int n = i2d_PUBKEY(k->key, &der);
	if (n <= 0)
		return false;
	sha256(str_n((const char *)der, (size_t)n), hash);
	OPENSSL_free(der);
	base64url_encode(str_n((const char *)hash, sizeof(hash)), &b);
	memcpy(k->id, b.buf, b.len + 1);
	return read_half(k->key, OSSL_PKEY_PARAM_EC_PUB_X, k->x) &&
	       read_half(k->key, OSSL_PKEY_PARAM_EC_PUB_Y, k->y);
}

int jws_key_read(const char *pem, struct jws_key **ret, struct error *err)
{
	CLEANUP(jws_key_freep) struct jws_key *k = xcalloc(1, sizeof(*k));
	BIO *bio = BIO_new_mem_buf(pem, -1);
	k->key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
	BIO_free_all(bio);
	if (!is_p256(k->key) || !name_key(k))
		return failed(err, "no private P-256 key in PEM form");
	*ret = STEAL(k);
	return 0;
}

void jws_key_free(struct jws_key *k)
{
	if (!k)
		return;
	EVP_PKEY_free(k->key);
	xfree(k);
}

const char *jws_key_id(const struct jws_key *k)
{
	return k->id;
}

/* OpenSSL writes r and s as DER, JWS as two numbers of 32 bytes. */
static bool der_to_raw(const unsigned char *der, size_t n, unsigned char out[JWS_SIGNATURE_BYTES])
{
	ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
	bool ok = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), out, HALF_BYTES) == HALF_BYTES &&
		  BN_bn2binpad(ECDSA_SIG_get0_s(sig), out + HALF_BYTES, HALF_BYTES) == HALF_BYTES;
	ECDSA_SIG_free(sig);
	return ok;
}

int jws_sign(const struct jws_key *k, struct str text, unsigned char sig[JWS_SIGNATURE_BYTES],
	     struct error *err)
{
	unsigned char der[2 * JWS_SIGNATURE_BYTES];
	size_t n = sizeof(der);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx && EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, k->key) == 1 &&
		  EVP_DigestSign(ctx, der, &n, (const unsigned char *)text.ptr, text.len) == 1 &&
		  der_to_raw(der, n, sig);
	EVP_MD_CTX_free(ctx);
	return ok ? 0 : failed(err, "the token could not be signed");
}

/* Owned by OpenSSL; NULL for numbers that are none. */
static unsigned char *raw_to_der(struct str raw, int *ret_n)
{
	unsigned char *der = NULL;
	const unsigned char *p = (const unsigned char *)raw.ptr;
	ECDSA_SIG *sig = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(p, HALF_BYTES, NULL),
	       *s = BN_bin2bn(p + HALF_BYTES, HALF_BYTES, NULL);
	*ret_n = 0;
	if (sig && r && s && ECDSA_SIG_set0(sig, r, s) == 1) {
		*ret_n = i2d_ECDSA_SIG(sig, &der);
	} else {
		BN_free(r);
		BN_free(s);
	}
	ECDSA_SIG_free(sig);
	return der;
}

bool jws_verify(const struct jws_key *k, struct str text, struct str sig)
{
	int n;
	if (sig.len != JWS_SIGNATURE_BYTES)
		return false;
	unsigned char *der = raw_to_der(sig, &n);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = der && n > 0 && ctx &&
		  EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, k->key) == 1 &&
		  EVP_DigestVerify(ctx, der, (size_t)n, (const unsigned char *)text.ptr,
				   text.len) == 1;
	EVP_MD_CTX_free(ctx);
	OPENSSL_free(der);
	ERR_clear_error();
	return ok;
}

void jws_key_print(const struct jws_key *k, struct strbuf *b)
{
	strbuf_addf(b,
		    "{\"use\":\"sig\",\"kty\":\"EC\",\"kid\":\"%s\",\"crv\":\"P-256\",\"alg\":"
		    "\"ES256\",\"x\":\"",
		    k->id);
	base64url_encode(str_n((const char *)k->x, HALF_BYTES), b);
	strbuf_adds(b, "\",\"y\":\"");
	base64url_encode(str_n((const char *)k->y, HALF_BYTES), b);
	strbuf_adds(b, "\"}");
}
