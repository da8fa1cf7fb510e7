/* A CA and its bundle in an APIService, which is this test's. At each step who signs is in the bundle: no request is lost. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/log.h"
#include "alm/client/injected_ca.h"
#include "alm/obj/json.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

#define NAME    "v1.things.example.com"
#define TARGET  "/apis/apiregistration.k8s.io/v1/apiservices/" NAME
#define PATCHED TARGET "?*"
#define PEM_MAX ((size_t)256 << 10)

struct fixture {
	struct loop *loop;
	struct transport_fake *fake;
	struct client *client;
	struct injected_ca *ca;
	char dir[32];
	int n_sign, sign_code;
	char *signer; /* its certificate */
	char *bundle; /* of the APIService, base64 */
	size_t seen;  /* calls that were looked at */
	struct error err;
};

static int on_sign(void *arg, const char *cert, const char *key, struct error *err)
{
	struct fixture *f = arg;
	assert_non_null(key);
	f->n_sign++;
	if (f->sign_code)
		return error_set(err, f->sign_code, "no serving certificate");
	xfree(f->signer);
	f->signer = xstrdup(cert);
	return 0;
}

static void start(struct fixture *f)
{
	const struct injected_ca_config c = {.client = f->client,
					     .dir = f->dir,
					     .name = "x-ca",
					     .place = &injected_ca_apiservices,
					     .object = NAME,
					     .sign = on_sign,
					     .arg = f};
	assert_ok(injected_ca_open(&c, &f->ca, &f->err), &f->err);
	injected_ca_start(f->ca);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->loop = loop_fake_new(INT64_C(1893571200000000000));
	f->fake = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->fake));
	f->bundle = xstrdup("");
	snprintf(f->dir, sizeof(f->dir), "/tmp/alm-ca-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	start(f);
	assert_int_equal(f->n_sign, 1);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	static const char *const files[] = {"x-ca.crt", "x-ca.key", "x-ca-next.crt",
					    "x-ca-next.key"};
	struct fixture *f = *state;
	assert_int_equal(fake_unused(f->fake), 0);
	injected_ca_free(f->ca);
	assert_int_equal(fake_open(f->fake), 0);
	client_free(f->client);
	transport_fake_free(f->fake);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s/%s", f->dir, files[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(f->dir), 0);
	loop_free(f->loop);
	xfree(f->signer);
	xfree(f->bundle);
	xfree(f);
	return 0;
}

/* --- the APIService --- */

static void put_get(struct fixture *f)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PEM_MAX);
	strbuf_addf(&b, "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"caBundle\":\"%s\"}}",
		    f->bundle);
	fake_answer(f->fake, "GET", TARGET, 200, b.buf);
}

/* A minute passes, in which there is a look and nothing is to be written. */
static void look_finds_it_in_place(struct fixture *f)
{
	put_get(f);
	loop_fake_run(f->loop, INJECTED_CA_LOOK_NS);
	assert_int_equal(fake_unused(f->fake), 0);
	f->seen = fake_count(f->fake);
}

/* The bundle of the last call, which is a write over revision 7. */
static char *written(struct fixture *f)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *patch = NULL;
	const char *call = fake_call(f->fake, fake_count(f->fake) - 1);
	assert_true(cstr_has_prefix(call, "PATCH " TARGET));
	assert_ok(json_parse(str_of(strchr(call, '{')), &patch, &err), &err);
	assert_string_equal(obj_str(patch, "metadata.resourceVersion"), "7");
	return xstrdup(obj_str(patch, "spec.caBundle"));
}

static void put_look_that_writes(struct fixture *f, int status)
{
	put_get(f);
	fake_answer(f->fake, "PATCH", PATCHED, status,
		    status == 200 ? "{}" : "{\"kind\":\"Status\",\"reason\":\"Conflict\"}");
}

/* What was put has come, and the APIService has the bundle. */
static void it_is_written(struct fixture *f)
{
	assert_int_equal(fake_unused(f->fake), 0);
	xfree(f->bundle);
	f->bundle = written(f);
	f->seen = fake_count(f->fake);
}

static void look_writes(struct fixture *f)
{
	put_look_that_writes(f, 200);
	loop_fake_run(f->loop, INJECTED_CA_LOOK_NS);
	it_is_written(f);
}

static void lead(struct fixture *f)
{
	put_look_that_writes(f, 200);
	injected_ca_lead(f->ca, true);
	loop_fake_settle(f->loop);
	it_is_written(f);
}

static size_t bundle_has(struct fixture *f, const char *cert)
{
	CLEANUP(strbuf_release) struct strbuf pem = STRBUF_INIT(PEM_MAX);
	size_t n = 0;
	assert_true(base64_decode(str_of(f->bundle), &pem));
	for (const char *at = pem.buf; (at = strstr(at, cert)); at++)
		n++;
	return n;
}

static void assert_trusts_signer(struct fixture *f, size_t n_certs)
{
	assert_int_equal(bundle_has(f, f->signer), 1);
	assert_int_equal(bundle_has(f, "BEGIN CERTIFICATE"), n_certs);
}

/* --- cases --- */

static void test_injected_ca__who_leads_writes_it_over_the_revision_that_was_read(void **state)
{
	struct fixture *f = *state;
	loop_fake_run(f->loop, 5 * NS_PER_MIN);
	assert_int_equal(fake_count(f->fake), 0); /* nobody leads */
	lead(f);
	assert_trusts_signer(f, 1);
	look_finds_it_in_place(f);
	xfree(f->bundle);
	f->bundle = xstrdup("b3RoZXI="); /* somebody else's */
	look_writes(f);
	assert_trusts_signer(f, 1);
	injected_ca_lead(f->ca, false);
	loop_fake_run(f->loop, 5 * NS_PER_MIN);
	assert_int_equal(fake_count(f->fake), f->seen);
}

static void test_injected_ca__of_two_that_lead_one_is_refused_and_looks_again(void **state)
{
	struct fixture *f = *state;
	put_look_that_writes(f, 409);
	injected_ca_lead(f->ca, true);
	loop_fake_settle(f->loop);
	xfree(f->bundle);
	f->bundle = written(f); /* the other one did the same */
	put_get(f);
	loop_fake_run(f->loop, INJECTED_CA_AGAIN_NS);
	assert_int_equal(fake_unused(f->fake), 0);
	assert_trusts_signer(f, 1);
}

static void test_injected_ca__a_new_one_signs_when_all_have_heard_of_it(void **state)
{
	struct fixture *f = *state;
	lead(f);
	look_finds_it_in_place(f);
	CLEANUP(xfreep) char *first = xstrdup(f->signer);
	loop_fake_step(f->loop, 2450 * NS_PER_DAY);
	look_writes(f); /* beside the former one, which signs on */
	assert_string_equal(f->signer, first);
	assert_trusts_signer(f, 2);
	for (int64_t t = 0; t < INJECTED_CA_SETTLE_NS; t += INJECTED_CA_LOOK_NS) {
		assert_int_equal(f->n_sign, 1);
		look_finds_it_in_place(f);
	}
	put_look_that_writes(f, 200); /* the former one leaves it, when nobody serves with it */
	loop_fake_run(f->loop, INJECTED_CA_LOOK_NS);
	assert_int_equal(f->n_sign, 2);
	assert_string_not_equal(f->signer, first);
	assert_trusts_signer(f, 2);
	it_is_written(f);
	assert_trusts_signer(f, 1);
	look_finds_it_in_place(f);
	assert_int_equal(f->n_sign, 2);
}

static void test_injected_ca__it_is_waited_anew_when_it_was_taken_away(void **state)
{
	struct fixture *f = *state;
	lead(f);
	CLEANUP(xfreep) char *former = xstrdup(f->bundle);
	loop_fake_step(f->loop, 2450 * NS_PER_DAY);
	look_writes(f);
	for (int i = 0; i < 9; i++)
		look_finds_it_in_place(f);
	xfree(f->bundle);
	f->bundle = xstrdup(former); /* an older manifest was applied */
	look_writes(f);
	for (int64_t t = 0; t < INJECTED_CA_SETTLE_NS; t += INJECTED_CA_LOOK_NS)
		look_finds_it_in_place(f);
	assert_int_equal(f->n_sign, 1);
	look_writes(f);
	assert_int_equal(f->n_sign, 2);
}

/* A server that does not answer has not heard of the successor, however long the former one was in place. */
static void test_injected_ca__silence_is_not_in_place(void **state)
{
	struct fixture *f = *state;
	lead(f);
	look_finds_it_in_place(f);
	loop_fake_step(f->loop, 2450 * NS_PER_DAY);
	for (int64_t t = 0; t < INJECTED_CA_SETTLE_NS + 2 * INJECTED_CA_LOOK_NS;
	     t += INJECTED_CA_LOOK_NS) {
		if (!fake_open(f->fake))
			fake_stream(f->fake, "GET", TARGET, 200, "");
		loop_fake_run(f->loop, INJECTED_CA_LOOK_NS);
	}
	assert_int_equal(fake_open(f->fake), 1);
	assert_int_equal(f->n_sign, 1);
}

static void test_injected_ca__a_restart_goes_on_with_the_same_two(void **state)
{
	struct fixture *f = *state;
	lead(f);
	loop_fake_step(f->loop, 2450 * NS_PER_DAY);
	look_writes(f);
	CLEANUP(xfreep) char *first = xstrdup(f->signer);
	injected_ca_free(f->ca);
	start(f);
	assert_string_equal(f->signer, first);
	put_get(f);
	injected_ca_lead(f->ca, true);
	loop_fake_settle(f->loop);
	assert_int_equal(fake_unused(f->fake), 0); /* it is in place: both */
	assert_trusts_signer(f, 2);
}

static void test_injected_ca__one_that_signs_nothing_more_is_replaced_at_once(void **state)
{
	struct fixture *f = *state;
	CLEANUP(xfreep) char *first = xstrdup(f->signer);
	loop_fake_step(f->loop, 3655 * NS_PER_DAY);
	loop_fake_run(f->loop, INJECTED_CA_LOOK_NS); /* nobody leads */
	assert_int_equal(f->n_sign, 2);
	assert_string_not_equal(f->signer, first);
	CLEANUP(xfreep) char *second = xstrdup(f->signer);
	loop_fake_step(f->loop, -3655 * NS_PER_DAY); /* the clock was wrong */
	loop_fake_run(f->loop, INJECTED_CA_LOOK_NS);
	assert_int_equal(f->n_sign, 3);
	assert_string_not_equal(f->signer, second);
	lead(f);
	assert_trusts_signer(f, 1);
}

static void test_injected_ca__without_an_apiservice_the_former_one_signs_on(void **state)
{
	struct fixture *f = *state;
	loop_fake_step(f->loop, 2450 * NS_PER_DAY);
	fake_answer(f->fake, "GET", TARGET, 404, "{\"kind\":\"Status\",\"reason\":\"NotFound\"}");
	injected_ca_lead(f->ca, true);
	loop_fake_settle(f->loop);
	for (int i = 0; i < 20; i++) {
		fake_answer(f->fake, "GET", TARGET, 404,
			    "{\"kind\":\"Status\",\"reason\":\"NotFound\"}");
		loop_fake_run(f->loop, INJECTED_CA_LOOK_NS);
	}
	assert_int_equal(f->n_sign, 1);
	look_writes(f); /* somebody made one */
	assert_trusts_signer(f, 2);
}

struct told {
	int n;
	char line[512];
};

static void on_line(void *arg, const char *line)
{
	struct told *t = arg;
	t->n++;
	(void)snprintf(t->line, sizeof(t->line), "%s", line);
}

static void test_injected_ca__what_could_not_be_served_is_tried_again(void **state)
{
	struct fixture *f = *state;
	loop_fake_step(f->loop, 3655 * NS_PER_DAY);
	f->sign_code = E_IO;
	CLEANUP(xfreep) char *first = xstrdup(f->signer);
	struct told told = {0};
	log_setup(LOG_ERROR, LOG_FORMAT_KV, NULL);
	log_divert(on_line, &told);
	loop_fake_run(f->loop, INJECTED_CA_LOOK_NS);
	log_divert(NULL, NULL);
	log_setup(LOG_NONE, LOG_FORMAT_KV, NULL);
	assert_int_equal(told.n, 1);
	assert_non_null(strstr(told.line, "no serving certificate"));
	assert_string_equal(f->signer, first);
	f->sign_code = 0;
	loop_fake_run(f->loop, INJECTED_CA_LOOK_NS);
	assert_string_not_equal(f->signer, first);
	assert_int_equal(f->n_sign, 3);
	loop_fake_run(f->loop, INJECTED_CA_LOOK_NS);
	assert_int_equal(f->n_sign, 3);
}

/* The server goes on with the former certificate, so the former CA stays in the bundle. */
static void test_injected_ca__the_former_one_stays_while_it_serves(void **state)
{
	struct fixture *f = *state;
	lead(f);
	loop_fake_step(f->loop, 2450 * NS_PER_DAY);
	look_writes(f);
	f->sign_code = E_IO;
	for (int64_t t = 0; t < 2 * INJECTED_CA_SETTLE_NS; t += INJECTED_CA_LOOK_NS) {
		look_finds_it_in_place(f);
		assert_trusts_signer(f, 2);
	}
	assert_true(f->n_sign > 1);
	f->sign_code = 0;
	look_writes(f);
	assert_trusts_signer(f, 1);
}

/* A ValidatingWebhookConfiguration has a bundle at each webhook; what else stands there is kept. */
static void test_injected_ca__webhooks_have_it_each(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *live = NULL, *patch = obj_map(), *none = obj_map();
	assert_ok(json_parse(STR("{\"webhooks\":[{\"name\":\"a\",\"clientConfig\":{\"url\":\"u\","
				 "\"caBundle\":\"new\"}},{\"name\":\"b\",\"clientConfig\":{}}]}"),
			     &live, &err),
		  &err);
	assert_false(injected_ca_webhooks.has(live, "new")); /* b has not */
	injected_ca_webhooks.put(live, "new", patch);
	assert_true(injected_ca_webhooks.has(patch, "new"));
	assert_false(injected_ca_webhooks.has(patch, "newer"));
	const struct obj *hooks = obj_get(patch, "webhooks");
	assert_int_equal(obj_len(hooks), 2);
	assert_string_equal(obj_str(obj_at(hooks, 0), "clientConfig.url"), "u");
	assert_string_equal(obj_str(obj_at(hooks, 1), "name"), "b");
	assert_true(injected_ca_webhooks.has(none, "new")); /* nothing is to be written */
}

/* What it saw before says nothing of what another one that led has put there. */
static void test_injected_ca__who_leads_again_sees_it_in_place_first(void **state)
{
	struct fixture *f = *state;
	lead(f);
	loop_fake_step(f->loop, 2450 * NS_PER_DAY);
	look_writes(f);
	look_finds_it_in_place(f);
	injected_ca_lead(f->ca, false);
	loop_fake_run(f->loop, INJECTED_CA_SETTLE_NS + INJECTED_CA_LOOK_NS);
	assert_int_equal(f->n_sign, 1);
	put_get(f);
	injected_ca_lead(f->ca, true);
	loop_fake_settle(f->loop);
	assert_int_equal(f->n_sign, 1);
	assert_trusts_signer(f, 2);
}

/* A successor that has no room is told of at each look, and nobody is asked to trust it; the former one signs on. */
static void test_injected_ca__one_that_cannot_be_kept_is_told(void **state)
{
	static const char *const files[] = {"x-ca-next.key", "x-ca-next.crt"};
	struct fixture *f = *state;
	char path[64];
	lead(f);
	loop_fake_step(f->loop, 2450 * NS_PER_DAY);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", f->dir, files[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		for (int k = 1; k <= 2; k++) {
			struct told told = {0};
			log_setup(LOG_ERROR, LOG_FORMAT_KV, NULL);
			log_divert(on_line, &told);
			look_finds_it_in_place(f);
			log_divert(NULL, NULL);
			log_setup(LOG_NONE, LOG_FORMAT_KV, NULL);
			assert_int_equal(told.n, 1);
			assert_non_null(strstr(told.line, "no new CA"));
			assert_non_null(strstr(told.line, path));
			assert_trusts_signer(f, 1);
		}
		assert_int_equal(rmdir(path), 0);
	}
	look_writes(f);
	assert_trusts_signer(f, 2);
	assert_int_equal(f->n_sign, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_injected_ca__##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_leads_writes_it_over_the_revision_that_was_read),
		TEST(of_two_that_lead_one_is_refused_and_looks_again),
		TEST(a_new_one_signs_when_all_have_heard_of_it),
		TEST(who_leads_again_sees_it_in_place_first),
		TEST(one_that_cannot_be_kept_is_told),
		TEST(it_is_waited_anew_when_it_was_taken_away),
		TEST(silence_is_not_in_place),
		TEST(a_restart_goes_on_with_the_same_two),
		TEST(one_that_signs_nothing_more_is_replaced_at_once),
		TEST(without_an_apiservice_the_former_one_signs_on),
		TEST(what_could_not_be_served_is_tried_again),
		TEST(the_former_one_stays_while_it_serves),
		cmocka_unit_test(test_injected_ca__webhooks_have_it_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
