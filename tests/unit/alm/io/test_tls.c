/* What certificates of ours say; and every call of OpenSSL that tls.c makes fails in turn: it is told each time, nothing is returned, and the
 * next time it works. */
#include "tests/lib/test.h"

#include <string.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "alm/base/clock.h"
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

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name, bugprone-macro-parentheses): OpenSSL's names are its own */
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

/* NOLINTEND(readability-inconsistent-declaration-parameter-name, bugprone-macro-parentheses) */

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

static X509 *read_cert(const char *pem)
{
	BIO *bio = BIO_new_mem_buf(pem, -1);
	X509 *ret = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	BIO_free(bio);
	assert_non_null(ret);
	return ret;
}

static bool has_extension(X509 *x, int nid, bool critical)
{
	int place = X509_get_ext_by_NID(x, nid, -1);
	return place >= 0 && X509_EXTENSION_get_critical(X509_get_ext(x, place)) == critical;
}

/* As RFC 5280, 4.2 wants them of a CA and of what it signs. */
static void test_tls__what_certificates_say(void **state)
{
	struct error err = ERROR_INIT;
	char *pems[4];
	(void)state;
	struct loop *l = loop_fake_new(INT64_C(1893571200000000000));
	assert_ok(tls_ca_new(l, "x-ca", &pems[0], &pems[1], &err), &err);
	static const char *const names[] = {"x.y", "10.1.2.3", "bad,DNS:z", ""};
	assert_ok(tls_serving_new(l, pems[0], pems[1], names, ARRAY_LEN(names), &pems[2], &pems[3],
				  &err),
		  &err);
	X509 *authority = read_cert(pems[0]), *serving = read_cert(pems[2]);
	assert_int_equal(X509_check_ca(authority), 1);
	assert_int_equal(X509_get_pathlen(authority), 0);
	assert_int_equal(X509_get_key_usage(authority), KU_KEY_CERT_SIGN | KU_CRL_SIGN);
	assert_true(has_extension(authority, NID_basic_constraints, true));
	assert_true(has_extension(authority, NID_key_usage, true));
	assert_non_null(X509_get0_subject_key_id(authority));
	assert_int_equal(X509_check_ca(serving), 0);
	assert_true(has_extension(serving, NID_basic_constraints, true));
	assert_int_equal(X509_get_key_usage(serving), KU_DIGITAL_SIGNATURE);
	assert_true(has_extension(serving, NID_key_usage, true));
	assert_int_equal(X509_get_extended_key_usage(serving), XKU_SSL_SERVER);
	assert_int_equal(ASN1_OCTET_STRING_cmp(X509_get0_authority_key_id(serving),
					       X509_get0_subject_key_id(authority)),
			 0);
	assert_int_equal(X509_check_issued(authority, serving), X509_V_OK);
	static const char *const hosts[] = {"x.y", "localhost", "kubernetes.default.svc"};
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
		assert_int_equal(X509_check_host(serving, hosts[i], 0, 0, NULL), 1);
	assert_int_equal(X509_check_host(serving, "z", 0, 0, NULL), 0);
	assert_int_equal(X509_check_ip_asc(serving, "10.1.2.3", 0), 1);
	assert_int_equal(X509_check_ip_asc(serving, "127.0.0.1", 0), 1);
	assert_int_equal(X509_check_ip_asc(serving, "10.1.2.4", 0), 0);
	X509_free(authority);
	X509_free(serving);
	/* a server has the key of its certificate, and both */
	static const int pairs[][2] = {{2, 1}, {0, 3}, {3, 3}, {2, 2}};
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct ssl_ctx_st *ctx = NULL;
		assert_int_equal(
			tls_server_context(pems[pairs[i][0]], pems[pairs[i][1]], NULL, &ctx, &err),
			-E_INVALID);
		assert_null(ctx);
	}
	for (size_t i = 0; i < ARRAY_LEN(pems); i++)
		xfree(pems[i]);
	loop_free(l);
}

/* RFC 9325: TLS 1.2 and 1.3, keys that are thrown away, ciphers that notice what was changed; nothing is negotiated anew. */
static void assert_modern(SSL_CTX *ctx)
{
	const STACK_OF(SSL_CIPHER) *all = SSL_CTX_get_ciphers(ctx);
	assert_int_equal(SSL_CTX_get_min_proto_version(ctx), TLS1_2_VERSION);
	assert_int_equal(SSL_CTX_get_max_proto_version(ctx), 0);
	assert_true(SSL_CTX_get_options(ctx) & SSL_OP_NO_RENEGOTIATION);
	assert_true(SSL_CTX_get_options(ctx) & SSL_OP_NO_COMPRESSION);
	assert_true(SSL_CTX_get_mode(ctx) & SSL_MODE_RELEASE_BUFFERS);
	assert_true(sk_SSL_CIPHER_num(all) > 3);
	for (int i = 0; i < sk_SSL_CIPHER_num(all); i++) {
		const SSL_CIPHER *c = sk_SSL_CIPHER_value(all, i);
		int exchange = SSL_CIPHER_get_kx_nid(c);
		if (!SSL_CIPHER_is_aead(c) || (exchange != NID_kx_any && exchange != NID_kx_ecdhe))
			fail_msg("%s", SSL_CIPHER_get_name(c));
	}
}

/* Both ends of one connection, without a socket. protocols: what the client offers (ALPN). */
struct pair {
	SSL *server, *client;
};

static bool meet(struct pair *p, SSL_CTX *server, SSL_CTX *client, SSL_SESSION *session,
		 const char *protocols)
{
	BIO *a, *b;
	int n_turns = 0, done = 0;
	*p = (struct pair){SSL_new(server), SSL_new(client)};
	assert_int_equal(BIO_new_bio_pair(&a, 0, &b, 0), 1);
	SSL_set_bio(p->server, a, a);
	SSL_set_bio(p->client, b, b);
	SSL_set_accept_state(p->server);
	SSL_set_connect_state(p->client);
	if (protocols)
		assert_int_equal(SSL_set_alpn_protos(p->client, (const unsigned char *)protocols,
						     (unsigned)strlen(protocols)),
				 0);
	if (session)
		assert_int_equal(SSL_set_session(p->client, session), 1);
	for (; n_turns < 20 && done < 2; n_turns++)
		done = (SSL_do_handshake(p->client) == 1) + (SSL_do_handshake(p->server) == 1);
	char byte;
	(void)SSL_read(p->client, &byte, 1); /* a ticket comes behind the handshake */
	ERR_clear_error();
	return done == 2;
}

static void part(struct pair *p)
{
	/* at its end, as it should be: the session of another is not used again */
	SSL_set_shutdown(p->server, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_set_shutdown(p->client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(p->server);
	SSL_free(p->client);
}

/* HTTP/1.1 alone is spoken; who comes again brings his session. */
static void check_meetings(SSL_CTX *server, SSL_CTX *client)
{
	static const struct {
		const char *offered;
		bool meets;
	} rows[] = {{NULL, true},
		    {"\x08http/1.1", true},
		    {"\x02h2\x08http/1.1", true},
		    {"\x02h2", false}};
	SSL_SESSION *session = NULL;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pair p;
		const unsigned char *chosen;
		unsigned len;
		assert_int_equal(meet(&p, server, client, session, rows[i].offered), rows[i].meets);
		SSL_get0_alpn_selected(p.client, &chosen, &len);
		assert_str(str_n((const char *)chosen, len),
			   rows[i].meets && rows[i].offered ? "http/1.1" : "");
		assert_int_equal(SSL_session_reused(p.client), session && rows[i].meets);
		if (!session)
			session = SSL_get1_session(p.client);
		part(&p);
	}
	SSL_SESSION_free(session);
}

static void test_tls__both_sides_are_modern(void **state)
{
	struct error err = ERROR_INIT;
	char *pems[4];
	bool nameless = false;
	(void)state;
	struct loop *l = loop_fake_new(NS_PER_S * (int64_t)time(NULL));
	assert_ok(tls_ca_new(l, "x-ca", &pems[0], &pems[1], &err), &err);
	assert_ok(tls_serving_new(l, pems[0], pems[1], NULL, 0, &pems[2], &pems[3], &err), &err);
	for (int i = 0; i < 2; i++) {
		struct ssl_ctx_st *server = NULL, *client = SSL_CTX_new(TLS_client_method());
		X509 *authority = read_cert(pems[0]);
		assert_ok(tls_server_context(pems[2], pems[3], i ? pems[0] : NULL, &server, &err),
			  &err);
		assert_modern(server);
		assert_false(SSL_CTX_get_mode(server) & SSL_MODE_AUTO_RETRY);
		assert_int_equal(SSL_CTX_get_verify_mode(server),
				 i ? SSL_VERIFY_PEER : SSL_VERIFY_NONE);
		assert_true(tls_client_context(client, i ? &nameless : NULL));
		assert_modern(client);
		assert_int_equal(SSL_CTX_get_verify_mode(client),
				 i ? SSL_VERIFY_PEER : SSL_VERIFY_NONE);
		assert_int_equal(SSL_CTX_get_verify_callback(client) != NULL, i);
		assert_ptr_equal(SSL_CTX_get_app_data(client), i ? &nameless : NULL);
		assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(client), authority), 1);
		check_meetings(server, client);
		X509_free(authority);
		SSL_CTX_free(server);
		SSL_CTX_free(client);
	}
	for (size_t i = 0; i < ARRAY_LEN(pems); i++)
		xfree(pems[i]);
	loop_free(l);
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

static void test_tls__each_call_that_fails_is_told(void **state)
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
		cmocka_unit_test(test_tls__what_certificates_say),
		cmocka_unit_test(test_tls__both_sides_are_modern),
		cmocka_unit_test(test_tls__each_call_that_fails_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
