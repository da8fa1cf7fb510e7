#include "tests/lib/test.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "alm/base/hash.h"
#include "alm/io/jws.h"
#include "alm/obj/json.h"
#include "alm/obj/obj.h"

/* The public key that a verifier makes of x and y. */
static EVP_PKEY *key_of(const struct obj *jwk)
{
	unsigned char point[65] = {4};
	EVP_PKEY *key = NULL;
	static const char *const halves[] = {"x", "y"};
	for (size_t i = 0; i < 2; i++) {
		CLEANUP(strbuf_release) struct strbuf half = STRBUF_INIT(100);
		assert_true(base64url_decode(str_of(obj_str(jwk, halves[i])), &half));
		assert_int_equal(half.len, 32);
		memcpy(point + 1 + 32 * i, half.buf, 32);
	}
	OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
	assert_true(OSSL_PARAM_BLD_push_utf8_string(b, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1",
						    0) == 1 &&
		    OSSL_PARAM_BLD_push_octet_string(b, OSSL_PKEY_PARAM_PUB_KEY, point,
						     sizeof(point)) == 1);
	OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(b);
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
	assert_true(EVP_PKEY_fromdata_init(ctx) == 1 &&
		    EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) == 1);
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(b);
	return key;
}

/* What a verifier reads there is the public half of the key that signs, under the name of its hash. */
static void test_jws__the_member_of_the_set_is_the_key(void **state)
{
	(void)state;
	CLEANUP(xfreep) char *pem = NULL;
	CLEANUP(jws_key_freep) struct jws_key *k = NULL;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1000), id = STRBUF_INIT(100);
	struct error err = ERROR_INIT;
	unsigned char *der = NULL, hash[SHA256_BYTES];
	assert_ok(jws_key_new(&pem, &err), &err);
	assert_ok(jws_key_read(pem, &k, &err), &err);
	jws_key_print(k, &text);
	CLEANUP(obj_unrefp) struct obj *jwk = NULL;
	assert_ok(json_parse(strbuf_str(&text), &jwk, &err), &err);
	static const char *const want[][2] = {
		{"use", "sig"}, {"kty", "EC"}, {"crv", "P-256"}, {"alg", "ES256"}};
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_string_equal(obj_str(jwk, want[i][0]), want[i][1]);
	EVP_PKEY *key = key_of(jwk);
	int n = i2d_PUBKEY(key, &der);
	assert_true(n > 0);
	sha256(str_n((const char *)der, (size_t)n), hash);
	base64url_encode(str_n((const char *)hash, sizeof(hash)), &id);
	assert_string_equal(jws_key_id(k), id.buf);
	assert_string_equal(obj_str(jwk, "kid"), id.buf);
	OPENSSL_free(der);
	EVP_PKEY_free(key);
}

static void test_jws__a_signature_is_of_this_key_and_text(void **state)
{
	(void)state;
	CLEANUP(xfreep) char *pem = NULL, *pem2 = NULL;
	CLEANUP(jws_key_freep) struct jws_key *k = NULL, *other = NULL;
	struct error err = ERROR_INIT;
	unsigned char sig[JWS_SIGNATURE_BYTES];
	struct str s = {(const char *)sig, sizeof(sig)};
	assert_ok(jws_key_new(&pem, &err), &err);
	assert_ok(jws_key_new(&pem2, &err), &err);
	assert_ok(jws_key_read(pem, &k, &err), &err);
	assert_ok(jws_key_read(pem2, &other, &err), &err);
	assert_string_not_equal(jws_key_id(k), jws_key_id(other));
	assert_ok(jws_sign(k, STR("text"), sig, &err), &err);
	assert_true(jws_verify(k, STR("text"), s));
	assert_false(jws_verify(k, STR("texT"), s));
	assert_false(jws_verify(other, STR("text"), s));
	assert_false(jws_verify(k, STR("text"), str_n(s.ptr, s.len - 1)));
	assert_false(jws_verify(k, STR("text"), STR_NONE));
	for (size_t i = 0; i < sizeof(sig); i += 31) {
		sig[i] ^= 1;
		assert_false(jws_verify(k, STR("text"), s));
		sig[i] ^= 1;
	}
	memset(sig, 0, sizeof(sig));
	assert_false(jws_verify(k, STR("text"), s));
}

static char *pem_of(EVP_PKEY *key)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *text = NULL;
	assert_true(key && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1);
	long n = BIO_get_mem_data(bio, &text);
	char *ret = xstrndup(text, (size_t)n);
	BIO_free_all(bio);
	EVP_PKEY_free(key);
	return ret;
}

static void test_jws__other_keys_are_refused(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct jws_key *k = NULL;
	CLEANUP(xfreep) char *large = pem_of(EVP_EC_gen("P-384")),
			     *edwards = pem_of(EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"));
	const char *const all[] = {"", "no key", large, edwards};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		err = ERROR_INIT;
		assert_int_equal(jws_key_read(all[i], &k, &err), -E_INVALID);
		assert_string_equal(err.msg, "no private P-256 key in PEM form");
		assert_null(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jws__the_member_of_the_set_is_the_key),
		cmocka_unit_test(test_jws__a_signature_is_of_this_key_and_text),
		cmocka_unit_test(test_jws__other_keys_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
