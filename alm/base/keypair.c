#include "alm/base/keypair.h"

#include <limits.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "alm/base/mem.h"

static void free_bio(BIO **p)
{
	BIO_free(*p);
}

static void free_key(EVP_PKEY **p)
{
	EVP_PKEY_free(*p);
}

static void free_certificate(X509 **p)
{
	X509_free(*p);
}

struct block {
	char *type, *header;
	unsigned char *der;
	long len;
};

static void block_release(struct block *b)
{
	OPENSSL_free(b->type);
	OPENSSL_free(b->header);
	OPENSSL_clear_free(b->der, b->len > 0 ? (size_t)b->len : 0);
	*b = (struct block){0};
}

/* What stands before the block that is meant. */
struct skipped {
	const char *types; /* with blanks; "" */
	const char *last;
	size_t n;
};

static bool is_key(const char *type)
{
	return strcmp(type, "PRIVATE KEY") == 0 || cstr_has_suffix(type, " PRIVATE KEY");
}

static bool is_certificate(const char *type)
{
	return strcmp(type, "CERTIFICATE") == 0;
}

/* The first that is meant; false: there is none. A block that is none itself is passed over. */
static bool find_block(struct str text, bool (*is_meant)(const char *type), struct arena *a,
		       struct block *ret, struct skipped *ret_skipped)
{
	CLEANUP(free_bio) BIO *bio = BIO_new_mem_buf(text.ptr, (int)text.len);
	*ret_skipped = (struct skipped){.types = ""};
	for (size_t i = 0; bio && i < KEYPAIR_BLOCKS_MAX; i++) {
		ERR_clear_error();
		if (PEM_read_bio(bio, &ret->type, &ret->header, &ret->der, &ret->len) == 1) {
			if (is_meant(ret->type))
				return true;
			ret_skipped->last = arena_strdup(a, ret->type);
			ret_skipped->types =
				arena_fmt(a, "%s%s%s", ret_skipped->types,
					  ret_skipped->n++ ? " " : "", ret_skipped->last);
			block_release(ret);
		} else if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
			break;
		}
	}
	ERR_clear_error();
	return false;
}

static const char *no_certificate(const struct skipped *s, struct arena *a)
{
	if (!s->n)
		return "tls: failed to find any PEM data in certificate input";
	if (s->n == 1 && cstr_has_suffix(s->last, "PRIVATE KEY"))
		return "tls: failed to find certificate PEM data in certificate input, but did "
		       "find a private key; PEM inputs may have been switched";
	return arena_fmt(a,
			 "tls: failed to find \"CERTIFICATE\" PEM block in certificate input "
			 "after skipping PEM blocks of the following types: [%s]",
			 s->types);
}

static const char *no_key(const struct skipped *s, struct arena *a)
{
	if (!s->n)
		return "tls: failed to find any PEM data in key input";
	if (s->n == 1 && is_certificate(s->last))
		return "tls: found a certificate rather than a key in the PEM for the private key";
	return arena_fmt(a,
			 "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key "
			 "input after skipping PEM blocks of the following types: [%s]",
			 s->types);
}

static bool is_known(int type)
{
	return type == EVP_PKEY_RSA || type == EVP_PKEY_EC || type == EVP_PKEY_ED25519;
}

static const char *fit(const struct block *certificate, const struct block *key)
{
	const unsigned char *p = certificate->der;
	CLEANUP(free_certificate) X509 *x = d2i_X509(NULL, &p, certificate->len);
	if (!x)
		return "x509: malformed certificate";
	if (p != certificate->der + certificate->len)
		return "x509: trailing data";
	p = key->der;
	CLEANUP(free_key) EVP_PKEY *own = d2i_AutoPrivateKey(NULL, &p, key->len);
	EVP_PKEY *other = X509_get0_pubkey(x);
	if (own && EVP_PKEY_get_base_id(own) == EVP_PKEY_X25519)
		return "tls: found unknown private key type in PKCS#8 wrapping";
	if (!own || !is_known(EVP_PKEY_get_base_id(own)))
		return "tls: failed to parse private key";
	if (!other || !is_known(EVP_PKEY_get_base_id(other)))
		return "tls: unknown public key algorithm";
	if (EVP_PKEY_get_base_id(own) != EVP_PKEY_get_base_id(other))
		return "tls: private key type does not match public key type";
	return EVP_PKEY_eq(own, other) == 1 ? NULL : "tls: private key does not match public key";
}

const char *keypair_fault(struct str certificate, struct str key, struct arena *a)
{
	struct block c = {0}, k = {0};
	struct skipped s;
	const char *why = NULL;
	if (certificate.len > INT_MAX || key.len > INT_MAX)
		return "tls: failed to find any PEM data in certificate input";
	if (!find_block(certificate, is_certificate, a, &c, &s))
		why = no_certificate(&s, a);
	else if (!find_block(key, is_key, a, &k, &s))
		why = no_key(&s, a);
	else
		why = fit(&c, &k);
	block_release(&c);
	block_release(&k);
	ERR_clear_error();
	return why;
}
