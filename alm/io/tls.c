/*
 * tls: X.509 by OpenSSL. Knows no file and no socket.
 */
#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/io/tls.h"

#define CA_NS          (3650 * NS_PER_DAY)
#define SERVING_NS     (30 * NS_PER_DAY)
#define CLIENT_CAS_MAX 64
#define CIPHERS        "ECDHE+AESGCM:ECDHE+CHACHA20" /* of TLS 1.2; all of 1.3 are such */

/* NOLINTBEGIN(bugprone-macro-parentheses): a type */
#define DEFINE_SSL_FREEP(type, fn)  \
	static void fn##p(type **p) \
	{                           \
		fn(*p);             \
	}
/* NOLINTEND(bugprone-macro-parentheses) */
DEFINE_SSL_FREEP(X509, X509_free)
DEFINE_SSL_FREEP(EVP_PKEY, EVP_PKEY_free)
DEFINE_SSL_FREEP(BIO, BIO_free_all)
DEFINE_SSL_FREEP(SSL_CTX, SSL_CTX_free)

static int ssl_failed(struct error *err, const char *what)
{
	unsigned long code = ERR_get_error();
	const char *reason = code ? ERR_reason_error_string(code) : NULL;
	ERR_clear_error();
	return error_set(err, E_INVALID, "%s: %s", what, reason ? reason : "unknown TLS error");
}

/* Never a prompt: an encrypted key is refused. */
static int no_password(char *buf UNUSED, int size UNUSED, int writing UNUSED, void *arg UNUSED)
{
	return -1;
}

static X509 *cert_of(const char *pem)
{
	CLEANUP(BIO_free_allp) BIO *bio = BIO_new_mem_buf(pem, -1);
	return bio ? PEM_read_bio_X509(bio, NULL, no_password, NULL) : NULL;
}

static EVP_PKEY *key_of(const char *pem)
{
	CLEANUP(BIO_free_allp) BIO *bio = BIO_new_mem_buf(pem, -1);
	return bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
}

static char *text_of(BIO *bio)
{
	char *p = NULL;
	long n = BIO_get_mem_data(bio, &p);
	return xstrndup(p, (size_t)n);
}

static int print_pair(X509 *cert, EVP_PKEY *key, char **ret_cert_pem, char **ret_key_pem,
		      struct error *err)
{
	CLEANUP(BIO_free_allp) BIO *c = BIO_new(BIO_s_mem());
	CLEANUP(BIO_free_allp) BIO *k = BIO_new(BIO_s_mem());
	if (!c || !k || !PEM_write_bio_X509(c, cert) ||
	    !PEM_write_bio_PrivateKey(k, key, NULL, NULL, 0, NULL, NULL))
		return ssl_failed(err, "certificate");
	*ret_cert_pem = text_of(c);
	*ret_key_pem = text_of(k);
	return 0;
}

static bool set_time(ASN1_TIME *t, int64_t ns)
{
	return ASN1_TIME_set(t, (time_t)(ns / NS_PER_S)) != NULL;
}

static bool set_serial(struct loop *l, X509 *cert)
{
	unsigned char bytes[16];
	loop_random(l, bytes, sizeof(bytes));
	bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40); /* positive, of full length */
	BIGNUM *n = BN_bin2bn(bytes, sizeof(bytes), NULL);
	bool ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
	BN_free(n);
	return ok;
}

/* A certificate without issuer, extensions and signature. */
static X509 *blank_cert(struct loop *l, const char *common_name, int64_t life_ns, EVP_PKEY *key)
{
	CLEANUP(X509_freep) X509 *cert = X509_new();
	int64_t now = loop_now(l);
	if (!cert || !X509_set_version(cert, X509_VERSION_3) || !set_serial(l, cert) ||
	    !set_time(X509_getm_notBefore(cert), now - NS_PER_HOUR) ||
	    !set_time(X509_getm_notAfter(cert), now + life_ns) || !X509_set_pubkey(cert, key) ||
	    !X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
					(const unsigned char *)common_name, -1, -1, 0))
		return NULL;
	return STEAL(cert);
}

static bool extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	bool ok = e && X509_add_ext(cert, e, -1);
	X509_EXTENSION_free(e);
	return ok;
}

int tls_ca_new(struct loop *l, const char *common_name, char **ret_cert_pem, char **ret_key_pem,
	       struct error *err)
{
	CLEANUP(EVP_PKEY_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
	CLEANUP(X509_freep) X509 *cert = key ? blank_cert(l, common_name, CA_NS, key) : NULL;
	if (!cert || !X509_set_issuer_name(cert, X509_get_subject_name(cert)) ||
	    !extend(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
	    !extend(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") ||
	    !extend(cert, cert, NID_subject_key_identifier, "hash") ||
	    !X509_sign(cert, key, EVP_sha256()))
		return ssl_failed(err, "CA certificate");
	return print_pair(cert, key, ret_cert_pem, ret_key_pem, err);
}

static bool is_address(const char *name)
{
	unsigned char buf[16];
	return inet_pton(AF_INET, name, buf) == 1 || inet_pton(AF_INET6, name, buf) == 1;
}

/* Only what cannot end an entry of the comma-separated list. */
static bool is_host_name(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!char_is_alnum(*p) && *p != '.' && *p != '-' && *p != '_')
			return false;
	return name[0] && strlen(name) <= 253;
}

static void add_name(struct strbuf *b, const char *name)
{
	if (!name || !(is_address(name) || is_host_name(name)))
		return;
	strbuf_addf(b, "%s%s:%s", b->len ? "," : "", is_address(name) ? "IP" : "DNS", name);
}

static void alternative_names(const char *const *names, size_t n_names, struct strbuf *b)
{
	static const char *const always[] = {"127.0.0.1",
					     "::1",
					     "localhost",
					     "kubernetes",
					     "kubernetes.default",
					     "kubernetes.default.svc",
					     "kubernetes.default.svc.cluster.local"};
	char host[256] = "";
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		add_name(b, always[i]);
	if (gethostname(host, sizeof(host) - 1) == 0 && strcmp(host, "localhost") != 0)
		add_name(b, host);
	for (size_t i = 0; i < n_names; i++)
		add_name(b, names[i]);
}

static bool since_1970(const ASN1_TIME *t, int64_t *ret_ns)
{
	int days, seconds;
	ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
	bool ok = epoch && ASN1_TIME_diff(&days, &seconds, epoch, t);
	ASN1_TIME_free(epoch);
	if (ok)
		*ret_ns = days * NS_PER_DAY + seconds * NS_PER_S;
	return ok;
}

static int lifetime(const X509 *cert, int64_t *ret_from_ns, int64_t *ret_until_ns,
		    struct error *err)
{
	if (!cert || !since_1970(X509_get0_notBefore(cert), ret_from_ns) ||
	    !since_1970(X509_get0_notAfter(cert), ret_until_ns))
		return ssl_failed(err, "certificate");
	return 0;
}

int tls_lifetime(const char *cert_pem, int64_t *ret_from_ns, int64_t *ret_until_ns,
		 struct error *err)
{
	CLEANUP(X509_freep) X509 *cert = cert_of(cert_pem);
	return lifetime(cert, ret_from_ns, ret_until_ns, err);
}

/* How long what the CA signs now may live. */
static int remaining(struct loop *l, const X509 *ca, int64_t *ret_ns, struct error *err)
{
	int64_t from, until, now = loop_now(l);
	char text[CLOCK_TEXT_MAX];
	if (lifetime(ca, &from, &until, err) < 0)
		return -err->code;
	if (now >= from && now < until) {
		*ret_ns = until - now;
		return 0;
	}
	clock_format(now < from ? from : until, CLOCK_SECONDS, text);
	return error_set(err, E_INVALID, "the CA %s %s", now < from ? "begins" : "has ended", text);
}

int tls_serving_new(struct loop *l, const char *ca_cert_pem, const char *ca_key_pem,
		    const char *const *names, size_t n_names, char **ret_cert_pem,
		    char **ret_key_pem, struct error *err)
{
	CLEANUP(X509_freep) X509 *ca = cert_of(ca_cert_pem);
	CLEANUP(EVP_PKEY_freep) EVP_PKEY *ca_key = key_of(ca_key_pem);
	if (!ca || !ca_key || X509_check_private_key(ca, ca_key) != 1)
		return ssl_failed(err, "CA certificate or key");
	int64_t life = 0;
	if (remaining(l, ca, &life, err) < 0)
		return -err->code;
	CLEANUP(strbuf_release) struct strbuf san = STRBUF_INIT(STRBUF_SMALL);
	alternative_names(names, n_names, &san);
	CLEANUP(EVP_PKEY_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
	CLEANUP(X509_freep) X509 *cert =
		key ? blank_cert(l, "alm", life < SERVING_NS ? life : SERVING_NS, key) : NULL;
	if (!cert || !X509_set_issuer_name(cert, X509_get_subject_name(ca)) ||
	    !extend(cert, ca, NID_basic_constraints, "critical,CA:FALSE") ||
	    !extend(cert, ca, NID_key_usage, "critical,digitalSignature") ||
	    !extend(cert, ca, NID_ext_key_usage, "serverAuth") ||
	    !extend(cert, ca, NID_authority_key_identifier, "keyid") ||
	    !extend(cert, ca, NID_subject_alt_name, san.buf) ||
	    !X509_sign(cert, ca_key, EVP_sha256()))
		return ssl_failed(err, "serving certificate");
	return print_pair(cert, key, ret_cert_pem, ret_key_pem, err);
}

void tls_token(struct loop *l, char out[TLS_TOKEN_MAX])
{
	unsigned char bytes[32];
	loop_random(l, bytes, sizeof(bytes));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TLS_TOKEN_MAX);
	base64url_encode(str_n((const char *)bytes, sizeof(bytes)), &b);
	memcpy(out, b.buf, b.len + 1);
	memset(b.buf, 0, b.len);
}

static int choose_protocol(SSL *ssl UNUSED, const unsigned char **out, unsigned char *out_len,
			   const unsigned char *in, unsigned in_len, void *arg UNUSED)
{
	static const unsigned char ours[] = "\x08http/1.1";
	unsigned char *chosen;
	if (SSL_select_next_proto(&chosen, out_len, ours, sizeof(ours) - 1, in, in_len) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

static bool take_modern(SSL_CTX *ctx)
{
	return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) &&
	       SSL_CTX_set_cipher_list(ctx, CIPHERS);
}

static bool names_hosts(X509 *cert)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	bool found = false;
	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		int type = sk_GENERAL_NAME_value(names, i)->type;
		found = found || type == GEN_DNS || type == GEN_IPADD;
	}
	GENERAL_NAMES_free(names);
	return found;
}

static int verify_server(int ok, X509_STORE_CTX *store)
{
	if (!ok || X509_STORE_CTX_get_error_depth(store) > 0 ||
	    names_hosts(X509_STORE_CTX_get_current_cert(store)))
		return ok;
	const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	bool *nameless = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	*nameless = true;
	X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
	return 0;
}

bool tls_client_context(SSL_CTX *ctx, bool *nameless)
{
	if (!take_modern(ctx))
		return false;
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS); /* a watch waits most of its time */
	if (nameless)
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, verify_server);
	return SSL_CTX_set_app_data(ctx, nameless);
}

const char *tls_peer_name(const SSL *ssl, struct arena *a)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);
	const X509_NAME *subject = cert ? X509_get_subject_name(cert) : NULL;
	if (!subject || SSL_get_verify_result(ssl) != X509_V_OK ||
	    !(SSL_get_verify_mode(ssl) & SSL_VERIFY_PEER))
		return NULL;
	int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
	if (at < 0)
		return NULL;
	unsigned char *text = NULL;
	int n = ASN1_STRING_to_UTF8(&text,
				    X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
	/* A NUL within would end another name than the one that was signed. */
	bool ok = n > 0 && !memchr(text, 0, (size_t)n);
	const char *name = ok ? arena_strndup(a, (const char *)text, (size_t)n) : NULL;
	OPENSSL_free(text);
	return name;
}

/* One certificate or more; of the rest of the text nothing is believed. */
static int trust_clients(SSL_CTX *ctx, const char *pem, struct error *err)
{
	CLEANUP(BIO_free_allp) BIO *bio = BIO_new_mem_buf(pem, -1);
	int n = 0;
	for (; bio && n < CLIENT_CAS_MAX; n++) {
		CLEANUP(X509_freep) X509 *ca = PEM_read_bio_X509(bio, NULL, no_password, NULL);
		if (!ca)
			break;
		if (X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), ca) != 1 ||
		    SSL_CTX_add_client_CA(ctx, ca) != 1)
			return ssl_failed(err, "CA of the clients");
	}
	if (n == 0)
		return ssl_failed(err, "CA of the clients");
	ERR_clear_error(); /* the end of the text */
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	return 0;
}

int tls_server_context(const char *cert_pem, const char *key_pem, const char *client_ca_pem,
		       struct ssl_ctx_st **ret, struct error *err)
{
	CLEANUP(X509_freep) X509 *cert = cert_of(cert_pem);
	CLEANUP(EVP_PKEY_freep) EVP_PKEY *key = key_of(key_pem);
	CLEANUP(SSL_CTX_freep) SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	/* Each says so of what is not there; the key has to be that of the certificate. */
	if (!take_modern(ctx) || SSL_CTX_use_certificate(ctx, cert) != 1 ||
	    SSL_CTX_use_PrivateKey(ctx, key) != 1)
		return ssl_failed(err, "serving certificate");
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	/* Else one SSL_read() goes through records without data (KeyUpdate) for as long as they
	 * come. */
	SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
	static const unsigned char session_context[] = "alm";
	SSL_CTX_set_session_id_context(ctx, session_context, sizeof(session_context) - 1);
	SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
	if (client_ca_pem && trust_clients(ctx, client_ca_pem, err) < 0)
		return -err->code;
	*ret = STEAL(ctx);
	return 0;
}
