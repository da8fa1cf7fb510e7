#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/client/delegated.h"
#include "alm/obj/json.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

#define CONFIG "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
#define SAR    "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define TOKENS "/apis/authentication.k8s.io/v1/tokenreviews"
#define TRUST                                                             \
	"{\"data\":{\"requestheader-client-ca-file\":\"CA\","             \
	"\"requestheader-allowed-names\":\"[\\\"front\\\"]\","            \
	"\"requestheader-username-headers\":\"[\\\"X-Remote-User\\\"]\"," \
	"\"requestheader-uid-headers\":\"[\\\"X-Remote-Uid\\\"]\","       \
	"\"requestheader-group-headers\":\"[\\\"X-Remote-Group\\\"]\","   \
	"\"requestheader-extra-headers-prefix\":\"[\\\"X-Remote-Extra-\\\"]\"}}"

struct fixture {
	struct loop *loop;
	struct transport_fake *fake;
	struct client *client;
	struct delegated *d;
	struct arena *arena;
	struct exchange x;
	struct rbac_attributes at;
	int n_done, n_trust, code, trust_code;
	char user[64], ca[16];
};

static int on_trust(void *arg, const char *ca_pem, struct error *err)
{
	struct fixture *f = arg;
	f->n_trust++;
	snprintf(f->ca, sizeof(f->ca), "%s", ca_pem ? ca_pem : "none");
	return f->trust_code ? error_set(err, f->trust_code, "no CA") : 0;
}

static void on_done(void *arg, const char *user, const struct error *err)
{
	struct fixture *f = arg;
	f->n_done++;
	f->code = err ? err->code : 0;
	snprintf(f->user, sizeof(f->user), "%s", user);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->loop = loop_fake_new(INT64_C(1893571200000000000));
	f->fake = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->fake));
	f->d = delegated_new(f->client);
	f->arena = arena_new((size_t)1 << 20);
	f->x = (struct exchange){.arena = f->arena,
				 .request = ARENA_NEW(f->arena, struct http_request)};
	*f->x.request =
		(struct http_request){.method = "GET", .path = "/", .query = "", .peer = ""};
	f->at = (struct rbac_attributes){.verb = "list",
					 .is_resource = true,
					 .group = "g",
					 .resource = "things",
					 .subresource = "",
					 .ns = "",
					 .name = "",
					 .path = "/"};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(fake_unused(f->fake), 0);
	delegated_free(f->d);
	client_free(f->client);
	transport_fake_free(f->fake);
	arena_free(f->arena);
	loop_free(f->loop);
	xfree(f);
	return 0;
}

static void header(struct fixture *f, const char *name, const char *value)
{
	assert_true(http_header_add(&f->x.request->headers, name, value));
}

/* The code of the answer to what stands in f->x. */
static int ask(struct fixture *f)
{
	f->n_done = 0;
	assert_non_null(delegated_ask(f->d, &f->x, &f->at, "v1", on_done, f));
	assert_int_equal(f->n_done, 0);
	loop_fake_settle(f->loop);
	assert_int_equal(f->n_done, 1);
	return f->code;
}

static void trust(struct fixture *f)
{
	fake_answer(f->fake, "GET", CONFIG, 200, TRUST);
	delegated_start(f->d, on_trust, f);
	loop_fake_settle(f->loop);
	assert_string_equal(f->ca, "CA");
}

/* --- headers --- */

static char *user_of(struct fixture *f, const char *configmap)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	assert_ok(json_parse(str_of(configmap), &o, &err), &err);
	struct proxy_trust t = proxy_trust_read(o, f->arena);
	CLEANUP(obj_unrefp) struct obj *user = proxy_user(&t, f->x.request, f->arena);
	if (!user)
		return NULL;
	json_print(user, &b);
	return arena_strdup(f->arena, b.buf);
}

static void test_delegated__headers_name_a_user(void **state)
{
	struct fixture *f = *state;
	f->x.request->client_name = "front";
	header(f, "x-remote-user", "jane");
	header(f, "X-Remote-Uid", "u-1");
	header(f, "X-Remote-Group", "a");
	header(f, "x-remote-group", "b");
	header(f, "X-Remote-Extra-Example.com%2fScope", "s1");
	header(f, "x-remote-extra-example.com%2fscope", "s2");
	header(f, "X-Remote-Extra-", "no key");
	header(f, "X-Other", "c");
	assert_string_equal(user_of(f, TRUST),
			    "{\"user\":\"jane\",\"uid\":\"u-1\",\"groups\":[\"a\",\"b\","
			    "\"system:authenticated\"],\"extra\":{\"example.com/scope\":[\"s1\","
			    "\"s2\"]}}");
}

static void test_delegated__nobody_stays_nobody(void **state)
{
	struct fixture *f = *state;
	f->x.request->client_name = "front";
	header(f, "X-Remote-User", "system:anonymous");
	header(f, "X-Remote-Group", "system:unauthenticated");
	assert_string_equal(
		user_of(f, TRUST),
		"{\"user\":\"system:anonymous\",\"groups\":[\"system:unauthenticated\"],"
		"\"extra\":{}}");
}

static void test_delegated__headers_are_not_believed(void **state)
{
	struct fixture *f = *state;
#define CA    "\"requestheader-client-ca-file\":\"CA\""
#define USER  "\"requestheader-username-headers\":\"[\\\"X-Remote-User\\\"]\""
#define NAMES "\"requestheader-allowed-names\":"
	header(f, "X-Remote-User", "jane");
	assert_null(user_of(f, TRUST)); /* without a certificate */
	f->x.request->client_name = "another";
	assert_null(user_of(f, TRUST));
	assert_null(user_of(f, "{\"data\":{" CA "," USER "," NAMES "\"junk\"}}"));
	assert_null(user_of(f, "{\"data\":{" CA "," USER "," NAMES "\"[1]\"}}"));
	assert_null(user_of(f, "{\"data\":{" CA "," USER "," NAMES "\"{}\"}}"));
	assert_null(user_of(f, "{\"data\":{" USER "}}")); /* no CA */
	assert_null(user_of(f, "{\"data\":{" CA "}}"));
	assert_null(user_of(f, "{}"));
	assert_non_null(user_of(f, "{\"data\":{" CA "," USER "," NAMES "\"[]\"}}"));
	assert_non_null(user_of(f, "{\"data\":{" CA "," USER "}}")); /* all of the CA's */
	f->x.request->headers.n = 0;
	header(f, "X-Remote-User", "");
	assert_null(user_of(f, "{\"data\":{" CA "," USER "}}"));
}

/* --- questions --- */

static void test_delegated__what_a_user_may_is_a_review(void **state)
{
	struct fixture *f = *state;
	trust(f);
	f->x.request->client_name = "front";
	header(f, "X-Remote-User", "jane");
	f->at.name = "one";
	fake_answer(f->fake, "POST", SAR "*", 201, "{\"status\":{\"allowed\":true}}");
	assert_int_equal(ask(f), 0);
	assert_string_equal(f->user, "jane");
	assert_non_null(
		strstr(fake_call(f->fake, 1),
		       "\"resourceAttributes\":{\"verb\":\"list\",\"group\":\"g\",\"version\":"
		       "\"v1\",\"resource\":\"things\",\"name\":\"one\"}"));
	fake_answer(f->fake, "POST", SAR "*", 201, "{\"status\":{\"allowed\":false}}");
	assert_int_equal(ask(f), E_FORBIDDEN);
	fake_answer(f->fake, "POST", SAR "*", 201, "{}");
	assert_int_equal(ask(f), E_FORBIDDEN);
	f->at.is_resource = false;
	f->at.path = "/apis";
	fake_answer(f->fake, "POST", SAR "*", 403,
		    "{\"kind\":\"Status\",\"reason\":\"Forbidden\"}");
	assert_int_equal(ask(f), E_UNAVAILABLE); /* ALM may not ask: it is nobody's refusal */
	assert_non_null(strstr(fake_call(f->fake, 4),
			       "\"nonResourceAttributes\":{\"verb\":\"list\",\"path\":\"/apis\"}"));
	header(f, "X-Remote-Group", "system:masters");
	assert_int_equal(ask(f), 0); /* without a question */
	assert_int_equal(fake_count(f->fake), 5);
}

static void test_delegated__a_token_is_reviewed(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(ask(f), E_UNAUTHORIZED);
	header(f, "Authorization", "Basic abc");
	assert_int_equal(ask(f), E_UNAUTHORIZED);
	f->x.request->headers.n = 0;
	header(f, "X-Remote-User", "root"); /* of whom nobody asks */
	header(f, "Authorization", "bearer  t1 ");
	assert_int_equal(fake_count(f->fake), 0);
	fake_answer(f->fake, "POST", TOKENS "*", 201, "{\"status\":{\"error\":\"no\"}}");
	assert_int_equal(ask(f), E_UNAUTHORIZED);
	assert_string_equal(f->user, "");
	assert_non_null(strstr(fake_call(f->fake, 0), "\"spec\":{\"token\":\"t1\"}"));
	fake_answer(f->fake, "POST", TOKENS "*", 201,
		    "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"bob\",\"uid\":"
		    "\"7\",\"groups\":[\"g1\"],\"extra\":{\"k\":[\"v\"]}}}}");
	fake_answer(f->fake, "POST", SAR "*", 201, "{\"status\":{\"allowed\":true}}");
	assert_int_equal(ask(f), 0);
	assert_string_equal(f->user, "bob");
	assert_non_null(strstr(fake_call(f->fake, 2),
			       "{\"user\":\"bob\",\"uid\":\"7\",\"groups\":[\"g1\",\"system:"
			       "authenticated\"],\"extra\":{\"k\":[\"v\"]}"));
}

static void test_delegated__one_that_leaves_is_told_nothing(void **state)
{
	struct fixture *f = *state;
	struct delegated_ask *q = delegated_ask(f->d, &f->x, &f->at, "v1", on_done, f);
	delegated_cancel(q);
	header(f, "Authorization", "Bearer t");
	fake_stream(f->fake, "POST", TOKENS "*", 201, "");
	q = delegated_ask(f->d, &f->x, &f->at, "v1", on_done, f);
	loop_fake_settle(f->loop);
	delegated_cancel(q);
	loop_fake_settle(f->loop);
	assert_int_equal(f->n_done, 0);
	assert_int_equal(fake_open(f->fake), 0);
}

static void test_delegated__the_ca_is_read_again(void **state)
{
	struct fixture *f = *state;
	fake_answer(f->fake, "GET", CONFIG, 404, "{\"kind\":\"Status\",\"reason\":\"NotFound\"}");
	delegated_start(f->d, on_trust, f);
	loop_fake_settle(f->loop);
	assert_int_equal(f->n_trust, 0);
	fake_answer(f->fake, "GET", CONFIG, 200, TRUST);
	loop_fake_run(f->loop, DELEGATED_READ_AGAIN_NS);
	assert_int_equal(f->n_trust, 1);
	fake_answer(f->fake, "GET", CONFIG, 200, TRUST);
	loop_fake_run(f->loop, DELEGATED_READ_NS); /* the same */
	assert_int_equal(f->n_trust, 1);
	f->trust_code = E_INVALID; /* one that is none: the former one counts */
	fake_answer(f->fake, "GET", CONFIG, 200,
		    "{\"data\":{\"requestheader-client-ca-file\":\"junk\"}}");
	loop_fake_run(f->loop, DELEGATED_READ_NS);
	assert_int_equal(f->n_trust, 2);
	f->x.request->client_name = "front";
	header(f, "X-Remote-User", "jane");
	assert_string_equal(delegated_proxied(f->d, f->x.request, f->arena), "jane");
	f->trust_code = 0;
	fake_answer(f->fake, "GET", CONFIG, 200, "{\"data\":{}}");
	loop_fake_run(f->loop, DELEGATED_READ_AGAIN_NS);
	assert_string_equal(f->ca, "none");
	assert_null(delegated_proxied(f->d, f->x.request, f->arena));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_delegated__headers_name_a_user),
		TEST(test_delegated__nobody_stays_nobody),
		TEST(test_delegated__headers_are_not_believed),
		TEST(test_delegated__what_a_user_may_is_a_review),
		TEST(test_delegated__a_token_is_reviewed),
		TEST(test_delegated__one_that_leaves_is_told_nothing),
		TEST(test_delegated__the_ca_is_read_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
