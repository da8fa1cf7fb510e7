#include "tests/lib/client_cert.h"

#include "tests/lib/test.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "alm/base/mem.h"

static X509 *read_cert(const char *pem)
{
	BIO *b = BIO_new_mem_buf(pem, -1);
	X509 *cert = PEM_read_bio_X509(b, NULL, NULL, NULL);
	BIO_free_all(b);
	return cert;
}

static EVP_PKEY *read_key(const char *pem)
{
	BIO *b = BIO_new_mem_buf(pem, -1);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(b, NULL, NULL, NULL);
	BIO_free_all(b);
	return key;
}

static char *take_text(BIO *b)
{
	char *p;
	long n = BIO_get_mem_data(b, &p);
	char *text = xstrndup(p, (size_t)n);
	BIO_free_all(b);
	return text;
}

void client_cert(const char *ca_pem, const char *ca_key_pem, const char *name, int len,
		 char **ret_cert, char **ret_key)
{
	X509 *ca = read_cert(ca_pem), *cert = X509_new();
	EVP_PKEY *ca_key = read_key(ca_key_pem), *key = EVP_EC_gen("P-256");
	BIO *cert_text = BIO_new(BIO_s_mem()), *key_text = BIO_new(BIO_s_mem());
	X509_set_version(cert, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), 7);
	X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
	X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
	X509_set_pubkey(cert, key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
				   (const unsigned char *)name, len, -1, 0);
	X509_set_issuer_name(cert, X509_get_subject_name(ca));
	X509_EXTENSION *use = X509V3_EXT_conf_nid(NULL, NULL, NID_ext_key_usage, "clientAuth");
	assert_true(X509_add_ext(cert, use, -1) && X509_sign(cert, ca_key, EVP_sha256()) > 0 &&
		    PEM_write_bio_X509(cert_text, cert) &&
		    PEM_write_bio_PrivateKey(key_text, key, NULL, NULL, 0, NULL, NULL));
	*ret_cert = take_text(cert_text);
	*ret_key = take_text(key_text);
	X509_EXTENSION_free(use);
	X509_free(cert);
	X509_free(ca);
	EVP_PKEY_free(key);
	EVP_PKEY_free(ca_key);
}
