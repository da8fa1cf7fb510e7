/*
 * cert: X.509 and private keys by OpenSSL. OpenSSL's generator is replaced by one that is fed from
 * the entropy of the request for the time of a call, so the same request gives the same keys.
 */
/* RAND_set_rand_method: there is no other way to lend entropy */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "installers/tmpl/fn/cert.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/dsa.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"

#define PEM_BYTES_MAX 65536
#define KEY_ID_BYTES  20

/* ---- randomness ---- */
static struct cert_random *current;

static int lent_bytes(unsigned char *buf, int n)
{
	size_t left = n > 0 ? (size_t)n : 0;
	while (left > 0) {
		unsigned char sum[SHA256_BYTES], in[sizeof(current->seed) + sizeof(uint64_t)];
		current->counter++;
		memcpy(in, current->seed, sizeof(current->seed));
		memcpy(in + sizeof(current->seed), &current->counter, sizeof(uint64_t));
		sha256(str_n((const char *)in, sizeof(in)), sum);
		size_t part = left < sizeof(sum) ? left : sizeof(sum);
		memcpy(buf, sum, part);
		buf += part;
		left -= part;
	}
	return 1;
}

static int lent_status(void)
{
	return 1;
}

static const RAND_METHOD lent = {
	.bytes = lent_bytes, .pseudorand = lent_bytes, .status = lent_status};

static int cert_random_begin(struct tmpl_run *run, struct cert_random *rnd)
{
	*rnd = (struct cert_random){.run = run};
	int r = tmpl_entropy(run, rnd->seed, sizeof(rnd->seed));
	if (r < 0)
		return r;
	current = rnd;
	RAND_set_rand_method(&lent);
	return 0;
}

/* E_UNAVAILABLE without entropy. Ends with cert_random_end(). */
static void cert_random_end(void)
{
	RAND_set_rand_method(NULL);
	current = NULL;
}

/* ---- PEM ---- */
static void pkey_freep(EVP_PKEY **p)
{
	EVP_PKEY_free(*p);
}

static void x509_freep(X509 **p)
{
	X509_free(*p);
}

static void bio_freep(BIO **p)
{
	BIO_free(*p);
}

static struct value bio_text(struct tmpl_run *run, BIO *bio)
{
	char *data = NULL;
	long n = BIO_get_mem_data(bio, &data);
	return value_strcpy(tmpl_arena(run), str_n(data, n > 0 ? (size_t)n : 0));
}

static BIO *text_bio(struct str s)
{
	return BIO_new_mem_buf(s.ptr, (int)(s.len > PEM_BYTES_MAX ? PEM_BYTES_MAX : s.len));
}

/* The name between -----BEGIN and -----, empty if there is no PEM block. */
static struct str pem_type(struct str s)
{
	ptrdiff_t i = str_find(s, STR("-----BEGIN "));
	if (i < 0)
		return STR("");
	s = str_skip(s, (size_t)i + 11);
	ptrdiff_t end = str_find(s, STR("-----"));
	return end < 0 ? STR("") : str_sub(s, 0, (size_t)end);
}

/* outer: what stands before the message. */
static int read_key(struct tmpl_run *run, struct str pem, const char *outer, EVP_PKEY **ret)
{
	struct str type = pem_type(pem);
	if (type.len == 0)
		return tmpl_fail(run, "%s: no PEM data in input", outer);
	if (!str_has_suffix(type, STR("PRIVATE KEY")))
		return tmpl_fail(run, "%s: no private key data in PEM block of type %.*s", outer,
				 STR_ARG(type));
	CLEANUP(bio_freep) BIO *bio = text_bio(pem);
	*ret = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
	if (!*ret)
		return tmpl_fail(run, "%s: parsing %.*s from PEM failed", outer, STR_ARG(type));
	return 0;
}

static int read_cert(struct tmpl_run *run, struct str pem, X509 **ret)
{
	if (pem_type(pem).len == 0)
		return tmpl_fail(run, "unable to decode certificate");
	CLEANUP(bio_freep) BIO *bio = text_bio(pem);
	*ret = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	if (!*ret)
		return tmpl_fail(run, "error parsing certificate: decodedCert.Bytes: x509: "
				      "malformed certificate");
	return 0;
}

static int write_key(struct tmpl_run *run, EVP_PKEY *key, struct value *ret)
{
	CLEANUP(bio_freep) BIO *bio = BIO_new(BIO_s_mem());
	int ok;
	if (EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519)
		ok = PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
	else
		ok = PEM_write_bio_PrivateKey_traditional(bio, key, NULL, NULL, 0, NULL, NULL);
	if (!ok)
		return tmpl_fail(run, "error pem-encoding key");
	*ret = bio_text(run, bio);
	return 0;
}

/* ---- keys ---- */
static EVP_PKEY *new_dsa(void)
{
	EVP_PKEY *params = NULL, *key = NULL;
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_DSA, NULL);
	if (ctx && EVP_PKEY_paramgen_init(ctx) > 0 &&
	    EVP_PKEY_CTX_set_dsa_paramgen_bits(ctx, 2048) > 0 &&
	    EVP_PKEY_CTX_set_dsa_paramgen_q_bits(ctx, 256) > 0)
		EVP_PKEY_paramgen(ctx, &params);
	EVP_PKEY_CTX_free(ctx);
	ctx = params ? EVP_PKEY_CTX_new(params, NULL) : NULL;
	if (ctx && EVP_PKEY_keygen_init(ctx) > 0)
		EVP_PKEY_keygen(ctx, &key);
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(params);
	return key;
}

static int new_key(struct tmpl_run *run, struct str type, EVP_PKEY **ret)
{
	int r = tmpl_want_key(run);
	if (r < 0)
		return r;
	if (str_is(type, "rsa2048"))
		*ret = EVP_RSA_gen(2048);
	else if (str_is(type, "") || str_is(type, "rsa"))
		*ret = EVP_RSA_gen(4096);
	else if (str_is(type, "ecdsa"))
		*ret = EVP_EC_gen("P-256");
	else if (str_is(type, "ed25519"))
		*ret = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	else
		*ret = new_dsa();
	return *ret ? 0 : tmpl_fail(run, "failed to generate private key");
}

int cert_private_key(struct tmpl_run *run, struct str type, struct value *ret)
{
	if (type.len && !str_is(type, "rsa") && !str_is(type, "dsa") && !str_is(type, "ecdsa") &&
	    !str_is(type, "ed25519")) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
		strbuf_adds(&b, "Unknown type ");
		strbuf_addstr(&b, type);
		return tmpl_return(run, &b, ret);
	}
	CLEANUP(pkey_freep) EVP_PKEY *key = NULL;
	struct cert_random rnd;
	int r = cert_random_begin(run, &rnd);
	if (r < 0)
		return r;
	r = new_key(run, type, &key);
	cert_random_end();
	return r < 0 ? r : write_key(run, key, ret);
}

/* ---- certificates ---- */
static int add_extension(X509 *cert, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509V3_set_ctx(&ctx, NULL, cert, NULL, NULL, 0);
	X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	int ok = ext && X509_add_ext(cert, ext, -1);
	X509_EXTENSION_free(ext);
	return ok;
}

static int fail_not_string(struct tmpl_run *run, const char *what, struct value v)
{
	struct str text = value_string(tmpl_arena(run), v);
	return tmpl_fail(run, "%s: %.*s is not a string", what, STR_ARG(text));
}

static int add_ip(struct tmpl_run *run, GENERAL_NAMES *names, struct value v)
{
	if (v.type != VALUE_STRING)
		return fail_not_string(run, "error parsing ip", v);
	struct str text = value_text(v);
	ASN1_OCTET_STRING *ip = a2i_IPADDRESS(arena_strndup(tmpl_arena(run), text.ptr, text.len));
	if (!ip)
		return tmpl_fail(run, "error parsing ip: %.*s", STR_ARG(text));
	GENERAL_NAME *name = GENERAL_NAME_new();
	GENERAL_NAME_set0_value(name, GEN_IPADD, ip);
	sk_GENERAL_NAME_push(names, name);
	return 0;
}

static int add_dns(struct tmpl_run *run, GENERAL_NAMES *names, struct value v)
{
	if (v.type != VALUE_STRING)
		return fail_not_string(run, "error processing alternate dns name", v);
	ASN1_IA5STRING *text = ASN1_IA5STRING_new();
	ASN1_STRING_set(text, v.s, (int)v.len);
	GENERAL_NAME *name = GENERAL_NAME_new();
	GENERAL_NAME_set0_value(name, GEN_DNS, text);
	sk_GENERAL_NAME_push(names, name);
	return 0;
}

/* The names of the request; checked before a key is made, as sprig does for its order of errors. */
static int add_names(struct tmpl_run *run, const struct cert_request *rq, X509 *cert)
{
	GENERAL_NAMES *names = sk_GENERAL_NAME_new_null(), *dns = sk_GENERAL_NAME_new_null();
	int r = 0;
	for (size_t i = 0; r == 0 && i < rq->ips.len; i++)
		r = add_ip(run, names, rq->ips.items[i]);
	for (size_t i = 0; r == 0 && i < rq->names.len; i++)
		r = add_dns(run, dns, rq->names.items[i]);
	while (r == 0 && sk_GENERAL_NAME_num(names) > 0)
		sk_GENERAL_NAME_push(dns, sk_GENERAL_NAME_shift(names));
	if (r == 0 && sk_GENERAL_NAME_num(dns) > 0 &&
	    X509_add1_ext_i2d(cert, NID_subject_alt_name, dns, !rq->cn.len, 0) != 1)
		r = tmpl_fail(run, "error creating certificate");
	GENERAL_NAMES_free(names);
	GENERAL_NAMES_free(dns);
	return r;
}

static int set_times(X509 *cert, int64_t now_ns, int64_t days)
{
	time_t now = (time_t)(now_ns / NS_PER_S);
	if (days > 3650000 || days < -3650000)
		return 0;
	return X509_time_adj_ex(X509_getm_notBefore(cert), 0, 0, &now) &&
	       X509_time_adj_ex(X509_getm_notAfter(cert), (int)days, 0, &now);
}

static int set_serial(X509 *cert)
{
	BIGNUM *n = BN_new();
	int ok = n && BN_rand(n, 128, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) &&
		 BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
	BN_free(n);
	return ok;
}

/* RFC 7093 section 2 method 1, as Go has it since 1.25. */
static bool add_key_identifier(X509 *cert)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned int n;
	if (!X509_pubkey_digest(cert, EVP_sha256(), sum, &n))
		return false;
	ASN1_OCTET_STRING *id = ASN1_OCTET_STRING_new();
	bool ok = ASN1_OCTET_STRING_set(id, sum, KEY_ID_BYTES) &&
		  X509_add1_ext_i2d(cert, NID_subject_key_identifier, id, 0, 0) == 1;
	ASN1_OCTET_STRING_free(id);
	return ok;
}

/* Go's choice of a string type (encoding/asn1): PrintableString where it can be. */
static bool is_printable_string(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && !memchr(" '()+,-./:=?", s.ptr[i], 12))
			return false;
	return true;
}

/* No name at all is an empty subject. */
static bool set_subject(X509 *cert, struct str cn)
{
	int type = is_printable_string(cn) ? V_ASN1_PRINTABLESTRING : V_ASN1_UTF8STRING;
	return !cn.len ||
	       X509_NAME_add_entry_by_NID(X509_get_subject_name(cert), NID_commonName, type,
					  (const unsigned char *)cn.ptr, (int)cn.len, -1, 0);
}

/* Go writes the names after all other extensions. */
static void move_names_last(X509 *cert)
{
	int at = X509_get_ext_by_NID(cert, NID_subject_alt_name, -1);
	X509_EXTENSION *names = at < 0 ? NULL : X509_delete_ext(cert, at);
	if (names)
		X509_add_ext(cert, names, -1);
	X509_EXTENSION_free(names);
}

/* Byte for byte, as Go asks before it names the key of the issuer. */
static bool is_self_issued(const X509 *cert)
{
	const unsigned char *a, *b;
	size_t n, m;
	return X509_NAME_get0_der(X509_get_subject_name(cert), &a, &n) &&
	       X509_NAME_get0_der(X509_get_issuer_name(cert), &b, &m) && n == m &&
	       memcmp(a, b, n) == 0;
}

static int fill(struct tmpl_run *run, const struct cert_request *rq, X509 *cert, EVP_PKEY *key,
		X509 *parent)
{
	const X509_NAME *name = X509_get_subject_name(cert);
	bool ok = X509_set_version(cert, 2) && set_serial(cert) && set_subject(cert, rq->cn) &&
		  X509_set_issuer_name(cert, parent ? X509_get_subject_name(parent) : name) &&
		  set_times(cert, tmpl_run_host(run)->now_ns, rq->days) &&
		  X509_set_pubkey(cert, key) &&
		  add_extension(cert, NID_key_usage,
				rq->ca ? "critical,digitalSignature,keyEncipherment,keyCertSign"
				       : "critical,digitalSignature,keyEncipherment") &&
		  add_extension(cert, NID_ext_key_usage, "serverAuth,clientAuth") &&
		  add_extension(cert, NID_basic_constraints,
				rq->ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
	if (ok && rq->ca)
		ok = add_key_identifier(cert);
	if (ok && parent && X509_get0_subject_key_id(parent) && !is_self_issued(cert)) {
		AUTHORITY_KEYID *id = AUTHORITY_KEYID_new();
		id->keyid = ASN1_OCTET_STRING_dup(X509_get0_subject_key_id(parent));
		ok = X509_add1_ext_i2d(cert, NID_authority_key_identifier, id, 0, 0) == 1;
		AUTHORITY_KEYID_free(id);
	}
	move_names_last(cert);
	return ok ? 0 : tmpl_fail(run, "error creating certificate");
}

static int sign(struct tmpl_run *run, X509 *cert, EVP_PKEY *key)
{
	const EVP_MD *md = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? NULL : EVP_sha256();
	return X509_sign(cert, key, md) > 0 ? 0 : tmpl_fail(run, "error creating certificate");
}

static int write_cert(struct tmpl_run *run, X509 *cert, EVP_PKEY *key, struct value *ret)
{
	CLEANUP(bio_freep) BIO *bio = BIO_new(BIO_s_mem());
	struct vstruct *st = vstruct_new(tmpl_arena(run), &vstruct_certificate);
	if (!PEM_write_bio_X509(bio, cert))
		return tmpl_fail(run, "error pem-encoding certificate");
	st->fields[0] = bio_text(run, bio);
	int r = write_key(run, key, &st->fields[1]);
	*ret = value_struct(st, false);
	return r;
}

static int make(struct tmpl_run *run, const struct cert_request *rq, struct value *ret)
{
	CLEANUP(x509_freep) X509 *cert = X509_new(), *parent = NULL;
	CLEANUP(pkey_freep) EVP_PKEY *key = NULL, *signer = NULL;
	int r = rq->key.ptr ? read_key(run, rq->key, "parsing private key", &key)
			    : new_key(run, STR("rsa2048"), &key);
	if (r < 0)
		return r;
	if (rq->signer) {
		const struct vstruct *st = rq->signer->st;
		r = read_cert(run, value_text(st->fields[0]), &parent);
		if (r == 0)
			r = read_key(run, value_text(st->fields[1]), "error parsing private key",
				     &signer);
	}
	if (r == 0)
		r = add_names(run, rq, cert);
	if (r == 0)
		r = fill(run, rq, cert, key, parent);
	if (r == 0)
		r = sign(run, cert, signer ? signer : key);
	return r < 0 ? r : write_cert(run, cert, key, ret);
}

int cert_make(struct tmpl_run *run, const struct cert_request *rq, struct value *ret)
{
	struct cert_random rnd;
	int r = cert_random_begin(run, &rnd);
	if (r < 0)
		return r;
	r = make(run, rq, ret);
	cert_random_end();
	return r;
}

/* Go skips line ends in base64. */
static struct str unbroken(struct tmpl_run *run, struct str s)
{
	char *out = arena_alloc(tmpl_arena(run), s.len + 1);
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] != '\n' && s.ptr[i] != '\r')
			out[n++] = s.ptr[i];
	return str_n(out, n);
}

int cert_build_custom(struct tmpl_run *run, struct str cert_b64, struct str key_b64,
		      struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf cert = STRBUF_INIT(PEM_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(PEM_BYTES_MAX);
	CLEANUP(x509_freep) X509 *x509 = NULL;
	CLEANUP(pkey_freep) EVP_PKEY *pkey = NULL;
	if (!base64_decode(unbroken(run, cert_b64), &cert))
		return tmpl_fail(run, "unable to decode base64 certificate");
	if (!base64_decode(unbroken(run, key_b64), &key))
		return tmpl_fail(run, "unable to decode base64 private key");
	int r = read_cert(run, strbuf_str(&cert), &x509);
	if (r == 0)
		r = read_key(run, strbuf_str(&key), "error parsing private key", &pkey);
	if (r < 0)
		return r;
	struct vstruct *st = vstruct_new(tmpl_arena(run), &vstruct_certificate);
	st->fields[0] = value_take(tmpl_arena(run), &cert);
	st->fields[1] = value_take(tmpl_arena(run), &key);
	*ret = value_struct(st, false);
	return 0;
}
