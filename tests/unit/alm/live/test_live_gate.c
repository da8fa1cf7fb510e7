/* test_live_gate.c: a planned CRD judged against a server: pages, versions, deadline, waivers. The
 * server of this program, in process, on virtual time. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/live/live_gate.h"
#include "alm/live/shadow.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/exchange_fake.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

struct fixture {
	struct apifake *server;
	struct transport *transport;
	struct client *client;
	struct live_gate *gate;
	struct obj *answer; /* owned */
	struct error err;
	bool done;
	int n_lists, n_writes, fail_list; /* the list that is answered with 410 */
	int n_asks, deny;                 /* the review of a right that is answered with no */
	bool dead;                        /* dry runs of objects are never answered */
	int64_t slow_ns;                  /* a list takes that long */
	struct exchange *held;
	struct timer late;
};

static void answer_late(void *arg)
{
	struct fixture *f = arg;
	apiserver_handle(apifake_server(f->server), f->held);
}

static void handle(void *arg, struct exchange *x)
{
	struct fixture *f = arg;
	static const char gone[] =
		"{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"code\":410,"
		"\"message\":\"too old\"}";
	static const char denied[] = "{\"kind\":\"SelfSubjectAccessReview\",\"apiVersion\":"
				     "\"authorization.k8s.io/v1\",\"status\":{\"allowed\":false}}";
	bool list = strstr(x->request->query, "limit=") != NULL;
	bool dry = strstr(x->request->query, "dryRun=All") != NULL;
	bool asks =
		strstr(x->request->path, "/selfsubjectaccessreviews") != NULL; /* stores nothing */
	f->n_writes += strcmp(x->request->method, "GET") != 0 && !dry && !asks;
	f->n_lists += list;
	if (f->dead && dry && !strcmp(x->request->method, "POST"))
		return;
	if (asks && ++f->n_asks == f->deny)
		exchange_reply(x, 201, &(struct http_headers){.n = 0}, STR(denied));
	else if (list && f->slow_ns) {
		f->held = x;
		f->late = (struct timer){.fn = answer_late, .arg = f};
		loop_arm(apifake_loop(f->server), &f->late, f->slow_ns);
	} else if (list && f->n_lists == f->fail_list)
		exchange_reply(x, 410, &(struct http_headers){.n = 0}, STR(gone));
	else
		apiserver_handle(apifake_server(f->server), x);
}

static const char *definition(const char *x, const char *other)
{
	static char text[2][2048];
	static int turn;
	char *to = text[turn ^= 1];
	snprintf(
		to, sizeof(text[0]),
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"ws.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":"
		"\"Namespaced\",\"names\":{\"plural\":\"ws\",\"kind\":\"W\"},\"versions\":[{"
		"\"name\":"
		"\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":"
		"\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"x\":%s}"
		"}}}"
		"}}%s]}}",
		x, other);
	return to;
}

static void put(struct fixture *f, int i, const char *x)
{
	char body[256];
	snprintf(body, sizeof(body),
		 "{\"apiVersion\":\"e.io/v1\",\"kind\":\"W\",\"metadata\":{\"name\":\"w%04d\"},"
		 "\"spec\":{\"x\":%s}}",
		 i, x);
	apifake_send(f->server, "POST", "/apis/e.io/v1/namespaces/default/ws", NULL, body);
}

static void setup(struct fixture *f, int n)
{
	*f = (struct fixture){.server = apifake_new(NULL)};
	struct loop *loop = apifake_loop(f->server);
	f->transport = transport_local_new(loop, handle, f, "secret");
	f->client = client_new(loop, f->transport);
	assert_int_equal(
		apifake_do(f->server, "POST", CRDS, definition("{\"type\":\"string\"}", "")).status,
		201);
	for (int i = 0; i < n; i++) {
		put(f, i, i % 100 == 7 ? "\"long\"" : "\"a\"");
		if (i % 500 == 499) {
			apifake_run(f->server);
			apifake_forget(f->server);
		}
	}
	apifake_run(f->server);
}

static void teardown(struct fixture *f)
{
	live_gate_free(f->gate);
	obj_unref(f->answer);
	client_free(f->client);
	transport_free(f->transport);
	apifake_free(f->server);
}

static void on_done(void *arg, struct obj *value, const struct error *err)
{
	struct fixture *f = arg;
	f->gate = NULL;
	f->done = true;
	f->answer = value;
	f->err = err ? *err : ERROR_INIT;
}

static struct obj *request(const char *crd, const char *more)
{
	struct obj *o = NULL;
	struct error err;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "{\"inputs\":\"i\",\"objectsVersion\":3,\"crd\":%s%s}", crd, more);
	assert_ok(json_parse(strbuf_str(&b), &o, &err), &err);
	return o;
}

static void start(struct fixture *f, const char *crd, const char *more)
{
	CLEANUP(obj_unrefp) struct obj *q = request(crd, more);
	const struct live_gate_config c = {.client = f->client,
					   .loop = apifake_loop(f->server),
					   .request = q,
					   .deadline_ns = 30 * NS_PER_S,
					   .done = on_done,
					   .arg = f};
	obj_unref(f->answer);
	f->answer = NULL;
	f->done = false;
	f->n_lists = f->n_writes = 0;
	f->gate = live_gate_start(&c);
	for (int i = 0; i < 100 && !f->done; i++)
		apifake_advance(f->server, NS_PER_S);
	assert_true(f->done);
}

static const char *outcome(const struct fixture *f)
{
	return obj_str(f->answer, "outcome");
}

#define SHORT "{\"type\":\"string\",\"maxLength\":2}"

static void test_live_gate__reads_all_pages_once(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1207);
	start(&f, definition(SHORT, ""), "");
	assert_string_equal(outcome(&f), "refuse");
	assert_int_equal(f.n_lists, 3);
	assert_int_equal(f.n_writes, 0);
	assert_int_equal(obj_i64(f.answer, "objects", 0), 1207);
	assert_int_equal(obj_i64(f.answer, "objectsVersion", 0), 3);
	const struct obj *first = obj_at(obj_get(f.answer, "findings"), 0);
	assert_string_equal(obj_str(first, "rule"), "BoundTightened");
	assert_int_equal(obj_i64(first, "objects.affected", 0), 12);
	assert_string_equal(obj_str(f.answer, "text"), obj_str(first, "message"));
	struct answer live = apifake_do(f.server, "GET", CRDS "/ws.e.io", NULL);
	assert_string_equal(obj_str(f.answer, "resourceVersion"), meta_resource_version(live.json));
	/* nothing that objects decide: none is read */
	start(&f, definition("{\"type\":\"string\"}", ""), "");
	assert_string_equal(outcome(&f), "allow");
	assert_int_equal(f.n_lists, 0);
	teardown(&f);
}

static void test_live_gate__a_waiver_and_one_that_matches_nothing(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 8);
	start(&f, definition(SHORT, ""),
	      ",\"waivers\":[{\"rule\":\"BoundTightened\",\"resource\":\"ws.e.io/v1\",\"path\":"
	      "\"spec.x\",\"reason\":\"r\"},{\"rule\":\"FieldRemoved\",\"resource\":\"ws.e.io/v1\","
	      "\"path\":\"spec.y\",\"reason\":\"r\"}]");
	assert_string_equal(outcome(&f), "allow");
	const struct obj *first = obj_at(obj_get(f.answer, "findings"), 0);
	assert_string_equal(obj_str(first, "outcome"), "waived");
	const struct obj *unused = obj_get(f.answer, "unusedWaivers");
	assert_int_equal(obj_len(unused), 1);
	assert_string_equal(obj_as_string(obj_at(unused, 0)),
			    "FieldRemoved ws.e.io/v1 matches nothing");
	/* of a rule that is waived path by path: it says which it could have been */
	start(&f, definition(SHORT, ""),
	      ",\"waivers\":[{\"rule\":\"BoundTightened\",\"resource\":\"ws.e.io/v1\","
	      "\"reason\":\"r\"}]");
	assert_string_equal(outcome(&f), "refuse");
	unused = obj_get(f.answer, "unusedWaivers");
	assert_int_equal(obj_len(unused), 1);
	assert_string_equal(obj_as_string(obj_at(unused, 0)),
			    "BoundTightened ws.e.io/v1 needs path: spec.x");
	teardown(&f);
}

static void test_live_gate__an_expired_list_starts_over(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1207);
	f.fail_list = 2;
	start(&f, definition(SHORT, ""), "");
	assert_int_equal(f.n_lists, 5);
	assert_int_equal(obj_i64(f.answer, "objects", 0), 1207);
	const struct obj *first = obj_at(obj_get(f.answer, "findings"), 0);
	assert_int_equal(obj_i64(first, "objects.affected", 0), 12);
	teardown(&f);
}

static void test_live_gate__too_slow_is_incomplete(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1207);
	f.slow_ns = 20 * NS_PER_S;
	start(&f, definition(SHORT, ""), "");
	assert_string_equal(outcome(&f), "refuse");
	assert_int_equal(f.n_lists, 2);
	CLEANUP(xfreep) char *text = json_text(f.answer);
	assert_non_null(strstr(text, "LiveCheckIncomplete"));
	assert_non_null(strstr(text, "1000 objects read, then the deadline"));
	teardown(&f);
}

static void test_live_gate__the_server_refuses(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1);
	start(&f, definition("{\"type\":\"nonsense\"}", ""), "");
	assert_string_equal(outcome(&f), "refuse");
	CLEANUP(xfreep) char *text = json_text(f.answer);
	if (!strstr(text, "ServerRefused"))
		fail_msg("%s", text);
	assert_int_equal(f.n_writes, 0);
	teardown(&f);
}

static void test_live_gate__a_new_definition_passes(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 0);
	assert_int_equal(apifake_do(f.server, "DELETE", CRDS "/ws.e.io", NULL).status, 200);
	apifake_advance(f.server, NS_PER_S);
	start(&f, definition(SHORT, ""), "");
	assert_string_equal(outcome(&f), "allow");
	assert_null(obj_str(f.answer, "resourceVersion"));
	assert_int_equal(f.n_writes, 0);
	teardown(&f);
}

#define RULED "{\"type\":\"string\",\"x-kubernetes-validations\":[{\"rule\":\"self != 'long'\"}]}"

static size_t shadows(struct fixture *f)
{
	struct answer a = apifake_do(f->server, "GET",
				     CRDS "?labelSelector=app.coreos.com%2Fshadow%3Dtrue", NULL);
	return obj_len(obj_get(a.json, "items"));
}

static void test_live_gate__rules_are_tried_by_the_server(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 7);
	start(&f, definition(RULED, ""), "");
	assert_string_equal(outcome(&f), "warn");
	const struct obj *first = obj_at(obj_get(f.answer, "findings"), 0);
	assert_string_equal(obj_str(first, "rule"), "CELChanged");
	assert_string_equal(obj_str(first, "note"), "evaluated by the server");
	assert_int_equal(shadows(&f), 0);
	assert_int_equal(f.n_writes, 2); /* the temporary definition, and its end */
	put(&f, 7, "\"long\"");
	apifake_run(f.server);
	start(&f, definition(RULED, ""), "");
	assert_string_equal(outcome(&f), "refuse");
	first = obj_at(obj_get(f.answer, "findings"), 0);
	assert_int_equal(obj_i64(first, "objects.affected", 0), 1);
	assert_int_equal(shadows(&f), 0);
	struct answer list = apifake_do(f.server, "GET", "/apis/e.io/v1/ws", NULL);
	assert_int_equal(obj_len(obj_get(list.json, "items")), 8);
	teardown(&f);
}

/* With some of the rights a temporary definition could not be used, or not be deleted. */
static void test_live_gate__without_the_rights_rules_are_judged_here(void **state)
{
	(void)state;
	for (int i = 1; i <= 3; i++) {
		struct fixture f;
		setup(&f, 8);
		f.deny = i;
		start(&f, definition(RULED, ""), "");
		assert_string_equal(outcome(&f), "refuse");
		assert_int_equal(f.n_asks, i);
		assert_int_equal(f.n_writes, 0);
		assert_int_equal(shadows(&f), 0);
		teardown(&f);
	}
}

static void test_live_gate__what_a_crash_leaves_is_swept(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 7);
	CLEANUP(obj_unrefp) struct obj *q = request(definition(RULED, ""), "");
	const struct live_gate_config c = {.client = f.client,
					   .loop = apifake_loop(f.server),
					   .request = q,
					   .done = on_done,
					   .arg = &f};
	struct live_gate *g = live_gate_start(&c);
	f.dead = true; /* when it tries the first object */
	apifake_advance(f.server, NS_PER_S);
	live_gate_free(g);
	f.dead = false;
	assert_int_equal(shadows(&f), 1);
	shadow_sweep(f.client);
	apifake_advance(f.server, NS_PER_S);
	assert_int_equal(shadows(&f), 0);
	assert_int_equal(apifake_do(f.server, "GET", CRDS "/ws.e.io", NULL).status, 200);
	teardown(&f);
}

static void test_live_gate__freed_in_the_middle(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 600);
	for (int turns = 0; turns < 6; turns++) {
		CLEANUP(obj_unrefp) struct obj *q = request(definition(SHORT, ""), "");
		const struct live_gate_config c = {.client = f.client,
						   .loop = apifake_loop(f.server),
						   .request = q,
						   .done = on_done,
						   .arg = &f};
		struct live_gate *g = live_gate_start(&c);
		for (int i = 0; i < turns; i++)
			loop_run_due(apifake_loop(f.server));
		f.done = false;
		live_gate_free(g);
		apifake_run(f.server);
		assert_false(f.done);
	}
	teardown(&f);
}

static void test_live_gate__the_key_forgets_counts(void **state)
{
	(void)state;
	struct fixture f;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	setup(&f, 8);
	start(&f, definition(SHORT, ""), "");
	const char *key = live_gate_key(obj_get(f.answer, "findings"), a);
	put(&f, 9, "\"also long\"");
	apifake_run(f.server);
	start(&f, definition(SHORT, ""), "");
	assert_string_equal(live_gate_key(obj_get(f.answer, "findings"), a), key);
	start(&f, definition("{\"type\":\"string\",\"maxLength\":3}", ""), "");
	assert_string_not_equal(live_gate_key(obj_get(f.answer, "findings"), a), key);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_gate__reads_all_pages_once),
		cmocka_unit_test(test_live_gate__a_waiver_and_one_that_matches_nothing),
		cmocka_unit_test(test_live_gate__an_expired_list_starts_over),
		cmocka_unit_test(test_live_gate__too_slow_is_incomplete),
		cmocka_unit_test(test_live_gate__the_server_refuses),
		cmocka_unit_test(test_live_gate__a_new_definition_passes),
		cmocka_unit_test(test_live_gate__rules_are_tried_by_the_server),
		cmocka_unit_test(test_live_gate__without_the_rights_rules_are_judged_here),
		cmocka_unit_test(test_live_gate__what_a_crash_leaves_is_swept),
		cmocka_unit_test(test_live_gate__freed_in_the_middle),
		cmocka_unit_test(test_live_gate__the_key_forgets_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
