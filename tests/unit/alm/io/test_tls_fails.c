/* Every call of OpenSSL that tls.c makes fails in turn: it is told each time, nothing is returned, and the next time it works. */
#include "tests/lib/test.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "alm/io/tls.h"
#include "tests/lib/interpose.h"
#include "tests/lib/loop_fake.h"

/* clang-format off */
#define CALLS(X) \
	X(BIO *, BIO_new_mem_buf, (const void *a, int b), (a, b), NULL) \
	X(BIO *, BIO_new, (const BIO_METHOD *a), (a), NULL) \
	X(X509 *, PEM_read_bio_X509, (BIO *a, X509 **b, pem_password_cb *c, void *d), (a, b, c, d), NULL) \
	X(EVP_PKEY *, PEM_read_bio_PrivateKey, (BIO *a, EVP_PKEY **b, pem_password_cb *c, void *d), (a, b, c, d), NULL) \
	X(int, PEM_write_bio_X509, (BIO *a, const X509 *b), (a, b), 0) \
	X(int, PEM_write_bio_PrivateKey, (BIO *a, const EVP_PKEY *b, const EVP_CIPHER *c, const unsigned char *d, int e, pem_password_cb *f, void *g), (a, b, c, d, e, f, g), 0) \
	X(ASN1_TIME *, ASN1_TIME_set, (ASN1_TIME *a, time_t b), (a, b), NULL) \
	X(int, ASN1_TIME_diff, (int *a, int *b, const ASN1_TIME *c, const ASN1_TIME *d), (a, b, c, d), 0) \
	X(BIGNUM *, BN_bin2bn, (const unsigned char *a, int b, BIGNUM *c), (a, b, c), NULL) \
	X(ASN1_INTEGER *, BN_to_ASN1_INTEGER, (const BIGNUM *a, ASN1_INTEGER *b), (a, b), NULL) \
	X(X509 *, X509_new, (void), (), NULL) \
	X(int, X509_set_version, (X509 *a, long b), (a, b), 0) \
	X(int, X509_set_pubkey, (X509 *a, EVP_PKEY *b), (a, b), 0) \
	X(int, X509_set_issuer_name, (X509 *a, const X509_NAME *b), (a, b), 0) \
	X(int, X509_NAME_add_entry_by_txt, (X509_NAME *a, const char *b, int c, const unsigned char *d, int e, int f, int g), (a, b, c, d, e, f, g), 0) \
	X(X509_EXTENSION *, X509V3_EXT_conf_nid, (LHASH_OF(CONF_VALUE) *a, X509V3_CTX *b, int c, const char *d), (a, b, c, d), NULL) \
	X(int, X509_add_ext, (X509 *a, X509_EXTENSION *b, int c), (a, b, c), 0) \
	X(int, X509_sign, (X509 *a, EVP_PKEY *b, const EVP_MD *c), (a, b, c), 0) \
	X(int, X509_check_private_key, (const X509 *a, const EVP_PKEY *b), (a, b), 0) \
	X(int, X509_STORE_add_cert, (X509_STORE *a, X509 *b), (a, b), 0) \
	X(SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *a), (a), NULL) \
	X(int, SSL_CTX_set_cipher_list, (SSL_CTX *a, const char *b), (a, b), 0) \
	X(int, SSL_CTX_use_certificate, (SSL_CTX *a, X509 *b), (a, b), 0) \
	X(int, SSL_CTX_use_PrivateKey, (SSL_CTX *a, EVP_PKEY *b), (a, b), 0) \
	X(int, SSL_CTX_check_private_key, (const SSL_CTX *a), (a), 0) \
	X(int, SSL_CTX_add_client_CA, (SSL_CTX *a, X509 *b), (a, b), 0) \
	X(int, SSL_CTX_set_ex_data, (SSL_CTX *a, int b, void *c), (a, b, c), 0)
/* clang-format on */

static bool armed;
static int n, at; /* calls so far; which one fails; 0: none */
static const char *struck;

static bool strikes(const char *name)
{
	if (!armed || ++n != at)
		return false;
	struck = name;
	return true;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): OpenSSL's names are its own */
#define X(type, name, params, args, failure)                                \
	type name params                                                    \
	{                                                                   \
		static type(*real) params;                                  \
		if (!real)                                                  \
			interpose_real(#name, &real);                       \
		bool ours = interpose_is_ours(__builtin_return_address(0)); \
		return ours && strikes(#name) ? (failure) : real args;      \
	}
CALLS(X)
#undef X

/* Its mode is for speed alone. */
long SSL_CTX_ctrl(SSL_CTX *ctx, int cmd, long number, void *p)
{
	static long (*real)(SSL_CTX *, int, long, void *);
	if (!real)
		interpose_real("SSL_CTX_ctrl", &real);
	bool counts = cmd == SSL_CTRL_SET_MIN_PROTO_VERSION &&
		      interpose_is_ours(__builtin_return_address(0));
	return counts && strikes("SSL_CTX_ctrl") ? 0 : real(ctx, cmd, number, p);
}

EVP_PKEY *EVP_PKEY_Q_keygen(OSSL_LIB_CTX *ctx, const char *query, const char *type, ...)
{
	static EVP_PKEY *(*real)(OSSL_LIB_CTX *, const char *, const char *, ...);
	va_list ap;
	va_start(ap, type);
	const char *curve = va_arg(ap, const char *);
	va_end(ap);
	if (!real)
		interpose_real("EVP_PKEY_Q_keygen", &real);
	bool ours = interpose_is_ours(__builtin_return_address(0));
	return ours && strikes("EVP_PKEY_Q_keygen") ? NULL : real(ctx, query, type, curve);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* --- scenes: 0 or the code that is told --- */

static struct loop *loop;
static char *ca, *ca_key, *cert, *key;

static int scene_ca(struct error *err)
{
	CLEANUP(xfreep) char *c = NULL, *k = NULL;
	int r = tls_ca_new(loop, "x-ca", &c, &k, err);
	assert_int_equal(r == 0, c && k);
	assert_true(r == 0 || (!c && !k));
	return r;
}

static int scene_serving(struct error *err)
{
	static const char *const names[] = {"x", "10.0.0.1"};
	CLEANUP(xfreep) char *c = NULL, *k = NULL;
	int r = tls_serving_new(loop, ca, ca_key, names, ARRAY_LEN(names), &c, &k, err);
	assert_int_equal(r == 0, c && k);
	assert_true(r == 0 || (!c && !k));
	return r;
}

static int scene_lifetime(struct error *err)
{
	int64_t from, until;
	int r = tls_lifetime(cert, &from, &until, err);
	assert_true(r < 0 || from < until);
	return r;
}

static int scene_server(struct error *err)
{
	struct ssl_ctx_st *ctx = NULL;
	int r = tls_server_context(cert, key, ca, &ctx, err);
	assert_int_equal(r == 0, ctx != NULL);
	SSL_CTX_free(ctx);
	return r;
}

static int scene_client(struct error *err)
{
	bool nameless = false, was = armed;
	armed = false;
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	assert_non_null(ctx);
	armed = was;
	bool ok = tls_client_context(ctx, &nameless);
	armed = false;
	SSL_CTX_free(ctx);
	return ok ? 0 : error_set(err, E_INVALID, "no context of a client");
}

static void every_call(const char *name, int (*scene)(struct error *err))
{
	struct error err = ERROR_INIT;
	n = at = 0;
	armed = true;
	assert_ok(scene(&err), &err);
	int calls = n;
	assert_true(calls >= 2);
	for (int i = 1; i <= calls; i++) {
		n = 0;
		at = i;
		armed = true;
		struck = NULL;
		err = ERROR_INIT;
		int r = scene(&err);
		armed = false;
		if (r == 0 && i == calls && cstr_eq(struck, "PEM_read_bio_X509"))
			continue; /* behind the last of the clients' CAs there is none anyway */
		if (!struck || r != -E_INVALID || err.code != E_INVALID || !*err.msg)
			fail_msg("%s, call %d, %s: %d %s", name, i, struck, r, err.msg);
		assert_int_equal(ERR_peek_error(), 0); /* it would be told of the next one */
		at = 0;
		assert_ok(scene(&err), &err);
	}
}

static void test_tls_fails__each_call_that_fails_is_told(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	loop = loop_fake_new(INT64_C(1893571200000000000));
	assert_ok(tls_ca_new(loop, "x-ca", &ca, &ca_key, &err), &err);
	assert_ok(tls_serving_new(loop, ca, ca_key, NULL, 0, &cert, &key, &err), &err);
	every_call("a CA", scene_ca);
	every_call("a serving certificate", scene_serving);
	every_call("a lifetime", scene_lifetime);
	every_call("a server", scene_server);
	every_call("a client", scene_client);
	xfree(ca);
	xfree(ca_key);
	xfree(cert);
	xfree(key);
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tls_fails__each_call_that_fails_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
