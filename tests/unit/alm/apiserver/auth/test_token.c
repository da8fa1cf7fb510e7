#include "alm/apiserver/auth/token.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

struct world {
	struct token_keys ours, old, others;
	struct obj *here, *vault;
	struct token_claims claims;
};

static struct jws_key *key_new(void)
{
	struct error err = ERROR_INIT;
	CLEANUP(xfreep) char *pem = NULL;
	struct jws_key *k = NULL;
	assert_ok(jws_key_new(&pem, &err), &err);
	assert_ok(jws_key_read(pem, &k, &err), &err);
	return k;
}

static struct obj *list_of(const char *s)
{
	struct obj *o = obj_list();
	obj_append(o, obj_string(s));
	return o;
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	w->old = (struct token_keys){{key_new()}, 1};
	w->ours = (struct token_keys){{key_new(), w->old.items[0]}, 2};
	w->others = (struct token_keys){{key_new()}, 1};
	w->here = list_of(TOKEN_ISSUER);
	w->vault = list_of("vault.example");
	w->claims = (struct token_claims){"ns", "builder", "u-1", "id-1", w->here, 1000, 4600};
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	jws_key_free(w->ours.items[0]);
	jws_key_free(w->old.items[0]);
	jws_key_free(w->others.items[0]);
	obj_unref(w->here);
	obj_unref(w->vault);
	xfree(w);
	return 0;
}

static void sign(const struct token_keys *keys, const struct token_claims *c, struct strbuf *b)
{
	struct error err = ERROR_INIT;
	assert_ok(token_sign(keys, c, b, &err), &err);
}

static bool is_valid(const struct token_keys *keys, struct str token, const struct obj *audiences,
		     int64_t now_s)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	int r = token_verify(keys, token, audiences, now_s, &o, &err);
	if (r < 0) {
		assert_int_equal(r, -E_UNAUTHORIZED);
		assert_null(o);
	}
	obj_unref(o);
	return r == 0;
}

static void test_token__a_signed_token_reads_back(void **state)
{
	struct world *w = *state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	sign(&w->ours, &w->claims, &b);
	assert_ok(token_verify(&w->ours, strbuf_str(&b), w->here, 2000, &o, &err), &err);
	assert_string_equal(obj_str(o, "sub"), "system:serviceaccount:ns:builder");
	assert_string_equal(obj_str(o, "['kubernetes.io'].serviceaccount.uid"), "u-1");
	assert_string_equal(obj_str(o, "jti"), "id-1");
	assert_string_equal(obj_str(o, "iss"), TOKEN_ISSUER);
}

static void test_token__expired_foreign_and_altered_ones_are_refused(void **state)
{
	struct world *w = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	sign(&w->ours, &w->claims, &b);
	assert_true(is_valid(&w->ours, strbuf_str(&b), w->here, 4599));
	assert_false(is_valid(&w->ours, strbuf_str(&b), w->here, 4600));
	assert_false(is_valid(&w->ours, strbuf_str(&b), w->here, 100));
	assert_false(is_valid(&w->others, strbuf_str(&b), w->here, 2000));
	for (size_t n = 0; n < b.len; n++)
		assert_false(is_valid(&w->ours, str_n(b.buf, n), w->here, 2000));
	for (size_t i = 0; i + 1 < b.len; i += 3) {
		CLEANUP(xfreep) char *bad = xstrndup(b.buf, b.len);
		bad[i] = bad[i] == 'A' ? 'B' : 'A';
		assert_false(is_valid(&w->ours, str_n(bad, b.len), w->here, 2000));
	}
	assert_false(is_valid(&w->ours, STR("eyJhbGciOiJub25lIn0.e30."), w->here, 2000));
}

/* The same key may sign for another issuer, too. */
static void test_token__one_of_another_issuer_is_refused(void **state)
{
	static const char *const issuers[] = {TOKEN_ISSUER, "https://other.example",
					      TOKEN_ISSUER "x", ""};
	struct world *w = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	struct str head, body;
	sign(&w->ours, &w->claims, &b);
	assert_true(str_cut(strbuf_str(&b), '.', &head, &body));
	for (size_t i = 0; i < ARRAY_LEN(issuers); i++) {
		struct error err = ERROR_INIT;
		unsigned char raw[JWS_SIGNATURE_BYTES];
		CLEANUP(strbuf_release) struct strbuf t = STRBUF_INIT(TOKEN_BYTES_MAX);
		CLEANUP(obj_unrefp) struct obj *claims = NULL;
		assert_ok(token_verify(&w->ours, strbuf_str(&b), w->here, 2000, &claims, &err),
			  &err);
		CLEANUP(obj_unrefp) struct obj *changed = obj_copy(claims);
		obj_set_str(changed, "iss", issuers[i]);
		CLEANUP(xfreep) char *text = json_text(changed);
		strbuf_addstr(&t, head);
		strbuf_addc(&t, '.');
		base64url_encode(str_of(text), &t);
		assert_ok(jws_sign(w->ours.items[0], strbuf_str(&t), raw, &err), &err);
		strbuf_addc(&t, '.');
		base64url_encode(str_n((const char *)raw, sizeof(raw)), &t);
		assert_int_equal(is_valid(&w->ours, strbuf_str(&t), w->here, 2000), i == 0);
	}
}

static void test_token__it_is_for_its_audience_alone(void **state)
{
	struct world *w = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	w->claims.audiences = w->vault;
	sign(&w->ours, &w->claims, &b);
	assert_false(is_valid(&w->ours, strbuf_str(&b), w->here, 2000));
	assert_true(is_valid(&w->ours, strbuf_str(&b), w->vault, 2000));
	assert_false(is_valid(&w->ours, strbuf_str(&b), NULL, 2000));
	CLEANUP(obj_unrefp) struct obj *both = token_audiences(w->vault, w->here);
	assert_int_equal(obj_len(both), 0);
}

static void test_token__a_key_that_was_replaced_still_counts_while_it_is_there(void **state)
{
	struct world *w = *state;
	struct token_keys fresh = {{w->ours.items[0]}, 1};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	sign(&w->old, &w->claims, &b);
	assert_true(is_valid(&w->ours, strbuf_str(&b), w->here, 2000));
	assert_false(is_valid(&fresh, strbuf_str(&b), w->here, 2000));
}

/* Header and body of one's own making, with a signature of the real key over other words. */
static void test_token__the_header_is_never_believed(void **state)
{
	struct world *w = *state;
	static const char *const headers[] = {
		"{\"alg\":\"none\"}",
		"{\"alg\":\"HS256\",\"typ\":\"JWT\"}",
		"{\"alg\":\"ES256\"}",
		"{\"alg\":\"ES256\",\"kid\":\"x\"}",
		"{\"alg\":\"ES256\",\"jku\":\"https://evil.example\"}",
	};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	struct str text, sig, head, body;
	sign(&w->ours, &w->claims, &b);
	assert_true(str_rcut(strbuf_str(&b), '.', &text, &sig));
	assert_true(str_cut(text, '.', &head, &body));
	for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
		unsigned char raw[JWS_SIGNATURE_BYTES], mac[SHA256_BYTES];
		struct error err = ERROR_INIT;
		CLEANUP(strbuf_release) struct strbuf t = STRBUF_INIT(TOKEN_BYTES_MAX);
		base64url_encode(str_of(headers[i]), &t);
		strbuf_addc(&t, '.');
		strbuf_addstr(&t, body);
		size_t signed_bytes = t.len;
		assert_ok(jws_sign(w->ours.items[0], strbuf_str(&t), raw, &err), &err);
		strbuf_addc(&t, '.');
		base64url_encode(str_n((const char *)raw, sizeof(raw)), &t);
		assert_false(is_valid(&w->ours, strbuf_str(&t), w->here, 2000));
		/* The public key as the secret of an HMAC, the old confusion. */
		const char *id = jws_key_id(w->ours.items[0]);
		strbuf_truncate(&t, signed_bytes);
		hmac_sha256(str_of(id), strbuf_str(&t), mac);
		strbuf_addc(&t, '.');
		base64url_encode(str_n((const char *)mac, sizeof(mac)), &t);
		assert_false(is_valid(&w->ours, strbuf_str(&t), w->here, 2000));
	}
}

static void test_token__keys_are_private_p256(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct jws_key *k = NULL;
	assert_int_equal(jws_key_read("", &k, &err), -E_INVALID);
	assert_int_equal(jws_key_read("-----BEGIN PRIVATE KEY-----\nx\n", &k, &err), -E_INVALID);
	/* P-384, made for this test: openssl ecparam -name secp384r1 -genkey -noout */
	assert_int_equal(
		jws_key_read("-----BEGIN EC PRIVATE KEY-----\n"
			     "MIGkAgEBBDDBSKlZ4JuZVKRcuAUVN5KJDtjStKEcQkpnk2cAhV5Gr7f14CBJjt1p\n"
			     "C+aVBxPyeoagBwYFK4EEACKhZANiAARSoLxi+ntHTlVG5az8OZTcrg6NDOF3jfME\n"
			     "CxkWDbjMZPjBEvizyMQUXs2g503bpPpEkLpafz73vbUElfOXCayjWKV3Vq6jPVrP\n"
			     "rT1kQF8VEZRvbdYt4GODHJynxxxwUGE=\n"
			     "-----END EC PRIVATE KEY-----\n",
			     &k, &err),
		-E_INVALID);
	assert_null(k);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_token__a_signed_token_reads_back),
		TEST(test_token__expired_foreign_and_altered_ones_are_refused),
		TEST(test_token__it_is_for_its_audience_alone),
		TEST(test_token__one_of_another_issuer_is_refused),
		TEST(test_token__a_key_that_was_replaced_still_counts_while_it_is_there),
		TEST(test_token__the_header_is_never_believed),
		TEST(test_token__keys_are_private_p256),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
