#include "alm/base/pubkey.h"

#include <string.h>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#define PEM_BYTES_MAX ((size_t)16 << 10)

struct pubkey {
	EVP_PKEY *key;
};

static void free_key(EVP_PKEY **p)
{
	EVP_PKEY_free(*p);
}

static void free_context(EVP_PKEY_CTX **p)
{
	EVP_PKEY_CTX_free(*p);
}

static void free_digest(EVP_MD_CTX **p)
{
	EVP_MD_CTX_free(*p);
}

static void free_bio(BIO **p)
{
	BIO_free(*p);
}

static void free_number(BIGNUM **p)
{
	BN_free(*p);
}

static void free_builder(OSSL_PARAM_BLD **p)
{
	OSSL_PARAM_BLD_free(*p);
}

static void free_params(OSSL_PARAM **p)
{
	OSSL_PARAM_free(*p);
}

static const unsigned char *bytes(struct str s)
{
	return (const unsigned char *)s.ptr;
}

static int refuse(const char *what, struct error *err)
{
	ERR_clear_error();
	return error_set(err, E_INVALID, "%s", what);
}

static int make(EVP_PKEY *key, struct pubkey **ret)
{
	struct pubkey *k = xcalloc(1, sizeof(*k));
	k->key = key;
	*ret = k;
	return 0;
}

void pubkey_free(struct pubkey *k)
{
	if (!k)
		return;
	EVP_PKEY_free(k->key);
	xfree(k);
}

bool pubkey_is_ed25519(const struct pubkey *k)
{
	return EVP_PKEY_is_a(k->key, "ED25519");
}

size_t pubkey_bytes(const struct pubkey *k)
{
	int n = EVP_PKEY_get_size(k->key);
	return n > 0 ? (size_t)n : 0;
}

/* E_INVALID for a kind or a size that is not believed. */
static int check_strength(EVP_PKEY *key, struct error *err)
{
	char group[32] = "";
	int bits = EVP_PKEY_get_bits(key);
	if (EVP_PKEY_is_a(key, "ED25519"))
		return 0;
	if (EVP_PKEY_is_a(key, "EC")) {
		EVP_PKEY_get_group_name(key, group, sizeof(group), NULL);
		if (!strcmp(group, "prime256v1"))
			return 0;
		return error_set(err, E_INVALID, "an elliptic curve other than P-256");
	}
	if (!EVP_PKEY_is_a(key, "RSA"))
		return error_set(err, E_INVALID, "is neither ECDSA P-256 nor RSA nor Ed25519");
	if (bits < PUBKEY_RSA_BITS_MIN || bits > PUBKEY_RSA_BITS_MAX)
		return error_set(err, E_INVALID, "an RSA key of %d bits; want %d to %d", bits,
				 PUBKEY_RSA_BITS_MIN, PUBKEY_RSA_BITS_MAX);
	return 0;
}

static EVP_PKEY *rsa_of(OSSL_PARAM *params)
{
	EVP_PKEY *key = NULL;
	CLEANUP(free_context) EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	if (!c || !params || EVP_PKEY_fromdata_init(c) <= 0 ||
	    EVP_PKEY_fromdata(c, &key, EVP_PKEY_PUBLIC_KEY, params) <= 0)
		return NULL;
	return key;
}

int pubkey_rsa(struct str n, struct str e, struct pubkey **ret, struct error *err)
{
	if (n.len > PUBKEY_RSA_BITS_MAX / 8 || !e.len || e.len > 8 || !(e.ptr[e.len - 1] & 1) ||
	    (e.len == 1 && e.ptr[0] == 1))
		return error_set(err, E_INVALID, "numbers that no RSA key has");
	CLEANUP(free_number) BIGNUM *modulus = BN_bin2bn(bytes(n), (int)n.len, NULL);
	CLEANUP(free_number) BIGNUM *exponent = BN_bin2bn(bytes(e), (int)e.len, NULL);
	CLEANUP(free_builder) OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
	CLEANUP(free_params) OSSL_PARAM *params = NULL;
	if (modulus && exponent && b && OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_RSA_N, modulus) &&
	    OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_RSA_E, exponent))
		params = OSSL_PARAM_BLD_to_param(b);
	CLEANUP(free_key) EVP_PKEY *key = rsa_of(params);
	if (!key)
		return refuse("an RSA key that cannot be read", err);
	if (check_strength(key, err) < 0)
		return -err->code;
	return make(STEAL(key), ret);
}

int pubkey_ed25519(struct str point, struct pubkey **ret, struct error *err)
{
	CLEANUP(free_key) EVP_PKEY *key =
		point.len == PUBKEY_ED25519_BYTES
			? EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes(point),
						      point.len)
			: NULL;
	if (!key)
		return refuse("an Ed25519 key that cannot be read", err);
	return make(STEAL(key), ret);
}

int pubkey_pem(struct str text, struct pubkey **ret, struct error *err)
{
	text = str_trim(text);
	if (text.len > PEM_BYTES_MAX || !str_has_prefix(text, STR("-----BEGIN PUBLIC KEY-----")) ||
	    !str_has_suffix(text, STR("-----END PUBLIC KEY-----")))
		return error_set(err, E_INVALID,
				 "is no public key in PEM (-----BEGIN PUBLIC KEY-----)");
	CLEANUP(free_bio) BIO *b = BIO_new_mem_buf(text.ptr, (int)text.len);
	CLEANUP(free_key) EVP_PKEY *key = b ? PEM_read_bio_PUBKEY(b, NULL, NULL, NULL) : NULL;
	if (!key)
		return refuse("a public key in PEM that cannot be read", err);
	if (check_strength(key, err) < 0)
		return -err->code;
	return make(STEAL(key), ret);
}

bool pubkey_verify(const struct pubkey *k, const char *hash, struct str data, struct str signature)
{
	CLEANUP(free_digest) EVP_MD_CTX *c = EVP_MD_CTX_new();
	if (pubkey_is_ed25519(k))
		hash = NULL;
	bool good =
		c && EVP_DigestVerifyInit_ex(c, NULL, hash, NULL, NULL, k->key, NULL) == 1 &&
		EVP_DigestVerify(c, bytes(signature), signature.len,
				 (const unsigned char *)(data.ptr ? data.ptr : ""), data.len) == 1;
	ERR_clear_error();
	return good;
}
