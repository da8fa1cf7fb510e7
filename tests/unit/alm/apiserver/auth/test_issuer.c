/* ServiceAccount tokens through a whole server: keys, audiences, lifetimes, discovery. */
#include "alm/apiserver/auth/issuer.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define TOKEN    "/api/v1/namespaces/default/serviceaccounts/default/token"
#define REVIEWS  "/apis/authentication.k8s.io/v1/tokenreviews"
#define WHO      "/apis/authentication.k8s.io/v1/selfsubjectreviews"
#define WHO_BODY "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"SelfSubjectReview\"}"

static int setup(void **state)
{
	*state = apifake_new(NULL);
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

static void expect(struct answer a, int status, const char *text)
{
	if (a.status != status)
		fail_msg("status %d: %.*s", a.status, STR_ARG(a.body));
	if (text && str_find(a.body, str_of(text)) < 0)
		fail_msg("no '%s' in %.*s", text, STR_ARG(a.body));
}

static struct answer request(struct apifake *f, const char *spec)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\","
		    "\"spec\":%s}",
		    spec);
	return apifake_do(f, "POST", TOKEN, b.buf);
}

static const char *token_of(struct answer a)
{
	expect(a, 201, NULL);
	return obj_str(a.json, "status.token");
}

static struct answer with_token(struct apifake *f, const char *token)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	strbuf_addf(&b, "Bearer %s", token);
	apifake_header(f, "Authorization", b.buf);
	size_t n = apifake_send(f, "POST", WHO, NULL, WHO_BODY);
	apifake_run(f);
	return apifake_answer(f, n);
}

static void test_issuer__a_token_is_for_this_server_unless_it_says_otherwise(void **state)
{
	struct apifake *f = *state;
	expect(with_token(f, token_of(request(f, "{}"))), 201,
	       "\"extra\":{\"authentication.kubernetes.io/credential-id\":[\"JTI=");
	expect(with_token(f, token_of(request(f, "{\"audiences\":[]}"))), 201, NULL);
	expect(with_token(f, token_of(request(f, "{\"audiences\":[\"vault.example\",\"" TOKEN_ISSUER
						 "\"]}"))),
	       201, NULL);
	expect(with_token(f, token_of(request(f, "{\"audiences\":[\"vault.example\"]}"))), 401,
	       NULL);
}

static struct answer review(struct apifake *f, const char *token, const char *audiences)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
		    "\"spec\":{\"token\":\"%s\"%s}}",
		    token, audiences);
	return apifake_do(f, "POST", REVIEWS, b.buf);
}

/* As recorded from kube-apiserver 1.36. */
static void test_issuer__reviews_intersect_the_audiences(void **state)
{
	struct apifake *f = *state;
	static const char *const asked[] = {"", ",\"audiences\":[]", ",\"audiences\":[\"vault\"]",
					    ",\"audiences\":[\"" TOKEN_ISSUER "\"]",
					    ",\"audiences\":[\"vault\",\"" TOKEN_ISSUER "\"]"};
	static const char here[] = "[\"" TOKEN_ISSUER "\"]", vault[] = "[\"vault\"]";
	const struct {
		const char *token, *audiences[ARRAY_LEN(asked)]; /* NULL: not valid */
	} cases[] = {
		{token_of(request(f, "{}")), {here, here, NULL, here, here}},
		{token_of(request(f, "{\"audiences\":[\"vault\"]}")),
		 {NULL, NULL, vault, NULL, vault}},
		{"secret", {here, here, NULL, here, here}},
		{"nonsense", {NULL, NULL, NULL, NULL, NULL}},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (size_t j = 0; j < ARRAY_LEN(asked); j++) {
			struct answer a = review(f, cases[i].token, asked[j]);
			const struct obj *got = obj_path(a.json, "status.audiences");
			CLEANUP(xfreep) char *text = got ? json_text(got) : NULL;
			expect(a, 201, NULL);
			if (!cstr_eq(text, cases[i].audiences[j]) ||
			    obj_flag(a.json, "status.authenticated", false) != (got != NULL))
				fail_msg("token %zu, audiences %zu: %.*s", i, j, STR_ARG(a.body));
		}
	expect(review(f, "", ""), 400, "token is required");
}

static void test_issuer__lives_are_bounded(void **state)
{
	struct apifake *f = *state;
	expect(request(f, "{\"expirationSeconds\":599}"), 422, "less than 10 minutes");
	expect(request(f, "{\"expirationSeconds\":8589934592}"), 422, "larger than 2^32 seconds");
	struct answer a = request(f, "{\"expirationSeconds\":34560000}");
	expect(a, 201, "\"expirationSeconds\":31536000");
	assert_non_null(strstr(http_header(a.headers, "Warning"),
			       "requested expiration of 34560000 seconds shortened to 31536000 "
			       "seconds"));
	const char *token = token_of(request(f, "{\"expirationSeconds\":600}"));
	apifake_advance(f, 599 * NS_PER_S);
	expect(with_token(f, token), 201, NULL);
	apifake_advance(f, NS_PER_S);
	expect(with_token(f, token), 401, NULL);
}

static void test_issuer__what_it_does_not_do_is_refused(void **state)
{
	struct apifake *f = *state;
	expect(request(f, "{\"boundObjectRef\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":"
			  "\"x\"}}"),
	       422, "spec.boundObjectRef: Forbidden");
	expect(request(f, "{\"audiences\":\"x\"}"), 400, "spec.audiences");
	expect(request(f, "{\"audiences\":[1]}"), 400, "spec.audiences");
	expect(request(f, "{\"expirationSeconds\":\"x\"}"), 400, "spec.expirationSeconds");
	expect(apifake_do(f, "POST", TOKEN, "{\"kind\":\"Foo\"}"), 400, NULL);
	expect(apifake_do(f, "POST", "/api/v1/namespaces/default/serviceaccounts/no/token", "{}"),
	       404, NULL);
}

static void test_issuer__keys_are_replaced_without_ending_tokens(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(xfreep) char *first = NULL;
	CLEANUP(xfreep) char *second = NULL;
	assert_ok(jws_key_new(&first, &err), &err);
	assert_ok(jws_key_new(&second, &err), &err);
	struct apifake_options o = {.account_key = first};
	struct apifake *f = apifake_new(&o);
	CLEANUP(xfreep) char *token = xstrdup(token_of(request(f, "{}")));
	apifake_restart(f);
	expect(with_token(f, token), 201, NULL);
	apifake_rekey(f, second, first);
	apifake_restart(f);
	expect(with_token(f, token), 201, NULL);
	expect(with_token(f, token_of(request(f, "{}"))), 201, NULL);
	expect(apifake_do(f, "GET", "/openid/v1/jwks", NULL), 200, "},{");
	apifake_rekey(f, second, NULL);
	apifake_restart(f);
	expect(with_token(f, token), 401, NULL);
	apifake_free(f);
}

/* A key that an alm of old kept in a Secret: it goes, and opens nothing. */
static void test_issuer__a_key_in_a_secret_is_retired(void **state)
{
	struct apifake *f = *state;
	static const char secret[] = "/api/v1/namespaces/kube-system/secrets";
	static const char head[] = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";
	const unsigned char key[32] = {1};
	unsigned char mac[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	CLEANUP(strbuf_release) struct strbuf t = STRBUF_INIT(4096);
	strbuf_adds(&b, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":"
			"\"alm-service-account-key\"},\"type\":"
			"\"app.coreos.com/service-account-key\",\"data\":{\"key\":\"");
	base64_encode(str_n((const char *)key, sizeof(key)), &b);
	strbuf_adds(&b, "\"}}");
	expect(apifake_do(f, "POST", secret, b.buf), 201, NULL);
	struct answer a =
		apifake_do(f, "GET", "/api/v1/namespaces/default/serviceaccounts/default", NULL);
	strbuf_clear(&b);
	strbuf_addf(&b,
		    "{\"aud\":[\"" TOKEN_ISSUER
		    "\"],\"exp\":4102444800,\"iat\":1,\"iss\":\"" TOKEN_ISSUER
		    "\",\"nbf\":1,\"sub\":\"system:serviceaccount:default:default\","
		    "\"kubernetes.io\":{\"namespace\":\"default\",\"serviceaccount\":{\"name\":"
		    "\"default\",\"uid\":\"%s\"}}}",
		    obj_str(a.json, "metadata.uid"));
	base64url_encode(str_of(head), &t);
	strbuf_addc(&t, '.');
	base64url_encode(strbuf_str(&b), &t);
	hmac_sha256(str_n((const char *)key, sizeof(key)), strbuf_str(&t), mac);
	strbuf_addc(&t, '.');
	base64url_encode(str_n((const char *)mac, sizeof(mac)), &t);
	expect(with_token(f, t.buf), 401, NULL);
	apifake_restart(f);
	assert_non_null(strstr(apiserver_notice(apifake_server(f), 0),
			       "secret kube-system/alm-service-account-key was removed"));
	a = apifake_do(f, "GET", secret, NULL);
	expect(a, 200, NULL);
	assert_true(str_find(a.body, STR("alm-service-account-key")) < 0);
	expect(with_token(f, t.buf), 401, NULL);
	token_of(request(f, "{}"));
	a = apifake_do(f, "GET", "/api/v1/secrets", NULL);
	assert_int_equal(obj_len(obj_get(a.json, "items")), 0);
	apifake_restart(f);
	assert_null(apiserver_notice(apifake_server(f), 0));
}

static void test_issuer__discovery_is_for_accounts(void **state)
{
	struct apifake *f = *state;
	static const char config[] = "/.well-known/openid-configuration";
	struct answer a = apifake_do(f, "GET", config, NULL);
	expect(a, 200, "\"issuer\":\"" TOKEN_ISSUER "\"");
	assert_string_equal(obj_str(a.json, "jwks_uri"), "https://127.0.0.1:6443/openid/v1/jwks");
	a = apifake_do(f, "GET", "/openid/v1/jwks", NULL);
	expect(a, 200, "\"alg\":\"ES256\"");
	assert_string_equal(http_header(a.headers, "Content-Type"), "application/jwk-set+json");
	expect(apifake_do(f, "GET", "/.well-known/", NULL), 404, NULL);
	expect(apifake_do(f, "POST", config, "{}"), 404, NULL);
	apifake_header(f, "Authorization", "Bearer alice");
	expect(apifake_do(f, "GET", "/openid/v1/jwks", NULL), 403, NULL);
	apifake_header(f, "Impersonate-User", "system:serviceaccount:default:default");
	expect(apifake_do(f, "GET", "/openid/v1/jwks", NULL), 200, NULL);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_issuer__a_token_is_for_this_server_unless_it_says_otherwise),
		TEST(test_issuer__reviews_intersect_the_audiences),
		TEST(test_issuer__lives_are_bounded),
		TEST(test_issuer__what_it_does_not_do_is_refused),
		TEST(test_issuer__keys_are_replaced_without_ending_tokens),
		TEST(test_issuer__a_key_in_a_secret_is_retired),
		TEST(test_issuer__discovery_is_for_accounts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
