#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/client/client.h"
#include "alm/obj/meta.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

struct fixture {
	struct loop *loop;
	struct transport_fake *fake;
	struct client *client;
	/* of the last reply */
	int n, status;
	struct error err;
	int64_t retry_after;
	bool maybe;
	char text[512], warning[128];
};

static const struct resource widgets = {"g.io", "v1", "widgets", "Widget", true};
static const struct resource nodes = {"", "v1", "nodes", "Node", false};

static void setup(struct fixture *f)
{
	*f = (struct fixture){.loop = loop_fake_new(0)};
	f->fake = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->fake));
}

static void teardown(struct fixture *f)
{
	assert_int_equal(fake_unused(f->fake), 0);
	client_free(f->client);
	transport_fake_free(f->fake);
	loop_free(f->loop);
}

static void on_reply(void *arg, const struct client_reply *r)
{
	struct fixture *f = arg;
	f->n++;
	f->status = r->status;
	f->err = r->err ? *r->err : ERROR_INIT;
	f->retry_after = r->retry_after_ns;
	f->maybe = r->maybe_applied;
	snprintf(f->text, sizeof(f->text), "%.*s", STR_ARG(r->text));
	snprintf(f->warning, sizeof(f->warning), "%s", r->n_warnings ? r->warnings[0] : "");
}

static void test_client__paths_and_bodies_of_the_verbs(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	struct obj *o = meta_skeleton("g.io/v1", "Widget", "ns", "a");
	const char *body = "{\"apiVersion\":\"g.io/v1\",\"kind\":\"Widget\",\"metadata\":"
			   "{\"name\":\"a\",\"namespace\":\"ns\"}}";
	const struct client_options status = {.subresource = "status"};
	const struct client_options force = {.force = true, .dry_run = true, .strict = true};
	const struct client_options gone = {
		.uid = "u1", .resource_version = "7", .propagation = "Background"};
	const char *base = "/apis/g.io/v1/namespaces/ns/widgets";
	fake_answer(f.fake, "GET", "/apis/g.io/v1/namespaces/ns/widgets/a", 200, "{}");
	fake_answer(f.fake, "GET", "/api/v1/nodes?limit=5", 200, "{\"items\":[]}");
	fake_answer(f.fake, "POST", "/apis/g.io/v1/namespaces/ns/widgets?fieldManager=alm", 201,
		    "{}");
	fake_answer(f.fake, "PUT", "/apis/g.io/v1/namespaces/ns/widgets/a/status?fieldManager=alm",
		    200, "{}");
	fake_answer(f.fake, "PATCH",
		    "/apis/g.io/v1/namespaces/ns/widgets/a?fieldManager=alm&force=true&dryRun=All"
		    "&fieldValidation=Strict",
		    200, "{}");
	fake_answer(f.fake, "DELETE", "/apis/g.io/v1/namespaces/ns/widgets/a", 200, "{}");
	client_get(f.client, &widgets, "ns", "a", NULL, on_reply, &f);
	client_list(f.client, &nodes, NULL, "limit=5", on_reply, &f);
	client_create(f.client, &widgets, "ns", o, NULL, on_reply, &f);
	client_replace(f.client, &widgets, "ns", "a", o, &status, on_reply, &f);
	client_apply(f.client, &widgets, "ns", "a", o, &force, on_reply, &f);
	client_delete(f.client, &widgets, "ns", "a", &gone, on_reply, &f);
	assert_int_equal(f.n, 0);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n, 6);
	assert_int_equal(f.err.code, 0);
	char want[1024];
	snprintf(want, sizeof(want), "POST %s?fieldManager=alm application/json %s", base, body);
	assert_string_equal(fake_call(f.fake, 2), want);
	assert_non_null(strstr(fake_call(f.fake, 4), " application/apply-patch+yaml {"));
	assert_non_null(strstr(fake_call(f.fake, 5),
			       "\"preconditions\":{\"uid\":\"u1\",\"resourceVersion\":\"7\"},"
			       "\"propagationPolicy\":\"Background\"}"));
	obj_unref(o);
	teardown(&f);
}

/* What is said to be well and is no list is not taken for an empty one. */
static void test_client__an_answer_that_is_no_list_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *body;
		bool ok;
	} rows[] = {
		{"{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"items\":null}", true},
		{"{\"kind\":\"PartialObjectMetadataList\",\"metadata\":{}}", true},
		{"{\"items\":[]}", true},
		{"{}", false},
		{"{\"items\":{}}", false},
		{"{\"kind\":\"Node\",\"metadata\":{\"resourceVersion\":\"5\"}}", false},
		{"{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":401}", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		setup(&f);
		fake_answer(f.fake, "GET", "/api/v1/nodes", 200, rows[i].body);
		client_list(f.client, &nodes, NULL, "", on_reply, &f);
		loop_fake_settle(f.loop);
		if (f.n != 1 || f.err.code != (rows[i].ok ? 0 : E_INTERNAL))
			fail_msg("row %zu: %d %s", i, f.err.code, f.err.msg);
		teardown(&f);
	}
}

static void test_client__a_status_becomes_an_error(void **state)
{
	(void)state;
	static const struct {
		int status;
		const char *reason;
		int code;
	} cases[] = {{404, "NotFound", E_NOTFOUND}, {409, "AlreadyExists", E_EXISTS},
		     {409, "Conflict", E_CONFLICT}, {410, "Expired", E_EXPIRED},
		     {410, "Gone", E_EXPIRED},      {403, "Forbidden", E_FORBIDDEN},
		     {422, "Invalid", E_INVALID},   {401, "Unauthorized", E_UNAUTHORIZED},
		     {418, "", E_BADREQUEST},       {413, "RequestEntityTooLarge", E_TOOLARGE}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		char body[256];
		setup(&f);
		snprintf(
			body, sizeof(body),
			"{\"kind\":\"Status\",\"message\":\"m %zu\",\"reason\":\"%s\",\"code\":%d}",
			i, cases[i].reason, cases[i].status);
		fake_answer(f.fake, "GET", "/api/v1/nodes/x", cases[i].status, body);
		client_get(f.client, &nodes, NULL, "x", NULL, on_reply, &f);
		loop_fake_settle(f.loop);
		assert_int_equal(f.err.code, cases[i].code);
		assert_memory_equal(f.err.msg, "m ", 2);
		assert_int_equal(f.status, cases[i].status);
		teardown(&f);
	}
}

/* As kube-apiserver 1.36 says it: an error of its own, which another try would not change. */
static void test_client__a_field_that_the_kind_has_not_is_no_error_of_the_server(void **state)
{
	(void)state;
	static const struct {
		const char *message;
		int code;
		bool maybe;
	} rows[] = {
		{"failed to create typed patch object (default/a; g.io/v1, Kind=Widget): "
		 ".spec.Size: field not declared in schema",
		 E_INVALID, false},
		{"etcdserver: leader changed", E_INTERNAL, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		struct obj *o = meta_skeleton("g.io/v1", "Widget", "ns", "a");
		char body[512];
		setup(&f);
		snprintf(body, sizeof(body),
			 "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"%s\",\"code\":"
			 "500}",
			 rows[i].message);
		fake_answer(f.fake, "PATCH",
			    "/apis/g.io/v1/namespaces/ns/widgets/a?fieldManager=alm&force=false",
			    500, body);
		client_apply(f.client, &widgets, "ns", "a", o, NULL, on_reply, &f);
		loop_fake_settle(f.loop);
		assert_int_equal(f.err.code, rows[i].code);
		assert_string_equal(f.err.msg, rows[i].message);
		assert_int_equal(f.maybe, rows[i].maybe);
		obj_unref(o);
		teardown(&f);
	}
}

static void test_client__reads_are_retried(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	fake_lose(f.fake, "GET", "/api/v1/nodes/x");
	fake_answer(f.fake, "GET", "/api/v1/nodes/x", 503, "");
	fake_answer(f.fake, "GET", "/api/v1/nodes/x", 200, "{\"a\":1}");
	client_get(f.client, &nodes, NULL, "x", NULL, on_reply, &f);
	loop_fake_run(f.loop, 500 * NS_PER_MS);
	assert_int_equal(fake_count(f.fake), 1);
	loop_fake_run(f.loop, 400 * NS_PER_MS);
	assert_int_equal(fake_count(f.fake), 2);
	loop_fake_run(f.loop, 2 * NS_PER_S);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.text, "{\"a\":1}");
	teardown(&f);
}

/* What may pass, unless whoever asks takes a failure of a server behind it for an answer. */
static void test_client__which_answers_may_pass(void **state)
{
	static const struct {
		int status;
		bool passes, with_5xx; /* with_5xx: for whom takes those */
	} rows[] = {{404, false, false}, {408, false, false}, {409, false, false},
		    {429, true, true},   {499, false, false}, {500, true, false},
		    {501, false, false}, {502, true, false},  {503, true, false},
		    {504, true, false},  {505, false, false}};
	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		const struct client_options o = {.takes_5xx = i % 2};
		bool passes = i % 2 ? rows[i / 2].with_5xx : rows[i / 2].passes;
		struct fixture f;
		setup(&f);
		fake_answer(f.fake, "GET", "/api/v1/nodes/x", rows[i / 2].status, "");
		if (passes)
			fake_answer(f.fake, "GET", "/api/v1/nodes/x", 200, "{}");
		client_get(f.client, &nodes, NULL, "x", &o, on_reply, &f);
		loop_fake_run(f.loop, 5 * NS_PER_S);
		assert_int_equal(f.n, 1);
		assert_int_equal(f.err.code == 0, passes);
		teardown(&f);
	}
}

/* Somebody waits: a server that never answered is given up soon, one that did may come back. */
static void test_client__whoever_waits_is_told_soon(void **state)
{
	(void)state;
	struct fixture f;
	for (int answers = 0; answers < 2; answers++) {
		setup(&f);
		client_hurry(f.client, 2 * NS_PER_S);
		if (answers) {
			fake_answer(f.fake, "GET", "/api/v1/nodes/x", 200, "{}");
			client_get(f.client, &nodes, NULL, "x", NULL, on_reply, &f);
			loop_fake_settle(f.loop);
		}
		for (int i = 0; i < 2 + answers * 2; i++)
			fake_lose(f.fake, "GET", "/api/v1/nodes/x");
		if (answers)
			fake_answer(f.fake, "GET", "/api/v1/nodes/x", 200, "{\"a\":1}");
		client_get(f.client, &nodes, NULL, "x", NULL, on_reply, &f);
		loop_fake_run(f.loop, 15 * NS_PER_S);
		assert_int_equal(f.n, 1 + answers);
		assert_int_equal(f.err.code, answers ? 0 : E_IO);
		while (fake_unused(f.fake)) { /* how often depends on the dice */
			client_get(f.client, &nodes, NULL, "x",
				   &(struct client_options){.timeout_ns = 1}, on_reply, &f);
			loop_fake_settle(f.loop);
		}
		teardown(&f);
	}
}

static void test_client__retry_after_is_obeyed(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	fake_answer(f.fake, "GET", "/api/v1/nodes/x", 429, "");
	fake_header(f.fake, "Retry-After", "7");
	fake_answer(f.fake, "GET", "/api/v1/nodes/x", 503,
		    "{\"message\":\"busy\",\"details\":{\"retryAfterSeconds\":40}}");
	client_get(f.client, &nodes, NULL, "x", NULL, on_reply, &f);
	loop_fake_run(f.loop, 6 * NS_PER_S);
	assert_int_equal(fake_count(f.fake), 1);
	loop_fake_run(f.loop, 2 * NS_PER_S);
	/* 40 s are beyond the deadline: the caller hears of it */
	assert_int_equal(f.n, 1);
	assert_int_equal(f.err.code, E_UNAVAILABLE);
	assert_int_equal(f.retry_after, 40 * NS_PER_S);
	teardown(&f);
}

static void test_client__reads_end_at_their_deadline(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	for (int i = 0; i < 6; i++)
		fake_answer(f.fake, "GET", "/api/v1/nodes/x", 500, "");
	client_get(f.client, &nodes, NULL, "x", NULL, on_reply, &f);
	loop_fake_run(f.loop, 60 * NS_PER_S);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.err.code, E_INTERNAL);
	assert_in_range(fake_count(f.fake), 5, 6);
	while (fake_unused(f.fake)) { /* the last row may stand unused */
		client_get(f.client, &nodes, NULL, "x", &(struct client_options){.timeout_ns = 1},
			   on_reply, &f);
		loop_fake_settle(f.loop);
	}
	teardown(&f);
}

/* Turned away with a time, a write waits that long; one that may have been done is its caller's. */
static void test_client__writes_wait_where_they_are_told_to(void **state)
{
	(void)state;
	static const struct {
		int status;
		const char *after;
		bool waits;
	} rows[] = {{429, "7", true},  {503, "7", true},  {429, NULL, false}, {503, NULL, false},
		    {504, "7", false}, {500, "7", false}, {409, "7", false},  {429, "40", false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		struct obj *o = obj_map();
		setup(&f);
		fake_answer(f.fake, "POST", "/api/v1/nodes*", rows[i].status, "");
		if (rows[i].after)
			fake_header(f.fake, "Retry-After", rows[i].after);
		if (rows[i].waits)
			fake_answer(f.fake, "POST", "/api/v1/nodes*", 201, "{}");
		client_create(f.client, &nodes, NULL, o, NULL, on_reply, &f);
		loop_fake_run(f.loop, 6 * NS_PER_S);
		assert_int_equal(fake_count(f.fake), 1);
		assert_int_equal(f.n, rows[i].waits ? 0 : 1);
		loop_fake_run(f.loop, 60 * NS_PER_S);
		assert_int_equal(f.n, 1);
		assert_int_equal(f.status, rows[i].waits ? 201 : rows[i].status);
		obj_unref(o);
		teardown(&f);
	}
}

static void test_client__writes_are_not_retried(void **state)
{
	(void)state;
	struct fixture f;
	struct obj *o = obj_map();
	setup(&f);
	fake_lose(f.fake, "POST", "/api/v1/nodes*");
	client_create(f.client, &nodes, NULL, o, NULL, on_reply, &f);
	loop_fake_run(f.loop, 60 * NS_PER_S);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.err.code, E_IO);
	assert_true(f.maybe);
	fake_answer(f.fake, "POST", "/api/v1/nodes*", 429, "");
	client_create(f.client, &nodes, NULL, o, NULL, on_reply, &f);
	loop_fake_run(f.loop, 60 * NS_PER_S);
	assert_int_equal(f.err.code, E_TOOMANY);
	assert_false(f.maybe);
	obj_unref(o);
	teardown(&f);
}

/* A review stores nothing: of many in a row one that is answered 429 must not end all. */
static void test_client__what_only_asks_is_retried(void **state)
{
	(void)state;
	struct fixture f;
	struct obj *o = obj_map();
	setup(&f);
	fake_answer(f.fake, "POST", "/api/v1/nodes*", 429, "");
	fake_lose(f.fake, "POST", "/api/v1/nodes*");
	fake_answer(f.fake, "POST", "/api/v1/nodes*", 201, "{\"a\":1}");
	client_create(f.client, &nodes, NULL, o, &(struct client_options){.asks = true}, on_reply,
		      &f);
	loop_fake_run(f.loop, 10 * NS_PER_S);
	assert_int_equal(fake_count(f.fake), 3);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.text, "{\"a\":1}");
	obj_unref(o);
	teardown(&f);
}

static void few_are_in_flight(const struct client_options *options)
{
	struct fixture f;
	struct obj *o = obj_map();
	struct client_call *calls[3 * CLIENT_WRITES_MAX];
	setup(&f);
	for (size_t i = 0; i < ARRAY_LEN(calls) - 1; i++)
		fake_answer(f.fake, "POST", "/api/v1/nodes*", 201, "{}");
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		calls[i] = client_create(f.client, &nodes, NULL, o, options, on_reply, &f);
	assert_int_equal(fake_open(f.fake), CLIENT_WRITES_MAX);
	client_cancel(f.client, calls[0]);
	assert_int_equal(fake_open(f.fake), CLIENT_WRITES_MAX);
	fake_answer(f.fake, "POST", "/api/v1/nodes*", 201, "{}");
	client_cancel(f.client, calls[ARRAY_LEN(calls) - 1]);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n, ARRAY_LEN(calls) - 2);
	client_create(f.client, &nodes, NULL, o, options, on_reply, &f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n, ARRAY_LEN(calls) - 1);
	obj_unref(o);
	teardown(&f);
}

static void test_client__few_writes_are_in_flight(void **state)
{
	(void)state;
	few_are_in_flight(NULL);
	few_are_in_flight(&(struct client_options){.asks = true});
}

/* The lease is renewed however many writes wait, and takes nobody's place. */
static void test_client__an_urgent_write_waits_for_none(void **state)
{
	(void)state;
	static const struct client_options urgent = {.urgent = true};
	struct fixture f;
	struct obj *o = obj_map();
	setup(&f);
	for (size_t i = 0; i < 2 * CLIENT_WRITES_MAX + 2; i++)
		fake_answer(f.fake, "POST", "/api/v1/nodes*", 201, "{}");
	for (size_t i = 0; i < 2 * CLIENT_WRITES_MAX; i++)
		client_create(f.client, &nodes, NULL, o, NULL, on_reply, &f);
	struct client_call *first = client_create(f.client, &nodes, NULL, o, &urgent, on_reply, &f);
	client_create(f.client, &nodes, NULL, o, &urgent, on_reply, &f);
	assert_int_equal(fake_open(f.fake), CLIENT_WRITES_MAX + 2);
	client_cancel(f.client, first);
	assert_int_equal(fake_open(f.fake), CLIENT_WRITES_MAX + 1);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n, 2 * CLIENT_WRITES_MAX + 1);
	obj_unref(o);
	teardown(&f);
}

/* A slow server: what waited for a place has its whole time once it goes. */
static void test_client__one_write_over_the_bound_has_its_time(void **state)
{
	(void)state;
	struct fixture f;
	struct obj *o = obj_map();
	setup(&f);
	for (size_t i = 0; i <= CLIENT_WRITES_MAX; i++)
		fake_stream(f.fake, "POST", "/api/v1/nodes*", 201, "{");
	for (size_t i = 0; i <= CLIENT_WRITES_MAX; i++)
		client_create(f.client, &nodes, NULL, o, NULL, on_reply, &f);
	loop_fake_run(f.loop, 40 * NS_PER_S);
	assert_int_equal(fake_count(f.fake), CLIENT_WRITES_MAX);
	fake_push(f.fake, "}");
	fake_end(f.fake, false);
	loop_fake_settle(f.loop);
	assert_int_equal(fake_count(f.fake), CLIENT_WRITES_MAX + 1);
	assert_int_equal(fake_timeout_ns(f.fake, CLIENT_WRITES_MAX), 30 * NS_PER_S);
	obj_unref(o);
	teardown(&f);
}

/* Each says which form of an answer it reads. */
static void test_client__what_it_accepts(void **state)
{
	(void)state;
	static const struct client_options plain = {0};
	struct fixture f;
	setup(&f);
	fake_answer(f.fake, "GET", "/x", 200, "{}");
	client_read(f.client, "/x", NULL, &plain, on_reply, &f);
	fake_answer(f.fake, "GET", "/x", 200, "{}");
	client_read(f.client, "/x", "application/json;as=Table", &plain, on_reply, &f);
	fake_answer(f.fake, "GET", "/log", 200, "a line");
	client_text(f.client, "/log", &plain, on_reply, &f);
	loop_fake_settle(f.loop);
	assert_string_equal(f.text, "a line");
	static const char *const want[] = {"application/json", "application/json;as=Table",
					   "application/json, */*"};
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_string_equal(fake_accept(f.fake, i), want[i]);
	teardown(&f);
}

static void test_client__warnings_and_other_bodies(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	fake_answer(f.fake, "GET", "/readyz", 200, "ok");
	fake_header(f.fake, "Warning", "299 - \"say \\\"hi\\\"\"");
	client_raw(f.client, "GET", "/readyz", STR_NONE, NULL, on_reply, &f);
	loop_fake_settle(f.loop);
	assert_string_equal(f.text, "ok");
	assert_string_equal(f.warning, "say \"hi\"");
	assert_int_equal(f.err.code, 0);
	fake_answer(f.fake, "GET", "/api/v1/nodes/x", 200, "<html>");
	client_get(f.client, &nodes, NULL, "x", NULL, on_reply, &f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.err.code, E_INTERNAL);
	static const char *const unusable[] = {
		"5",
		"[{}]",
		"{\"metadata\":5}",
		"{\"items\":[{},0]}",
		"{\"kind\":\"NodeList\",\"items\":[{\"metadata\":\"x\"}]}",
	};
	for (size_t i = 0; i < ARRAY_LEN(unusable); i++) {
		fake_answer(f.fake, "GET", "/api/v1/nodes/x", 200, unusable[i]);
		client_get(f.client, &nodes, NULL, "x", NULL, on_reply, &f);
		loop_fake_settle(f.loop);
		assert_int_equal(f.err.code, E_INTERNAL);
		assert_non_null(strstr(f.err.msg, "cannot be used: neither"));
	}
	static const char *const usable[] = {
		"{\"kind\":\"Cart\",\"items\":[5]}",
		"{\"kind\":\"AllowList\",\"metadata\":{\"name\":\"x\"},\"items\":[\"a\"]}",
	};
	for (size_t i = 0; i < ARRAY_LEN(usable); i++) {
		fake_answer(f.fake, "GET", "/api/v1/nodes/x", 200, usable[i]);
		client_get(f.client, &nodes, NULL, "x", NULL, on_reply, &f);
		loop_fake_settle(f.loop);
		assert_int_equal(f.err.code, 0);
	}
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client__paths_and_bodies_of_the_verbs),
		cmocka_unit_test(test_client__an_answer_that_is_no_list_is_refused),
		cmocka_unit_test(test_client__a_status_becomes_an_error),
		cmocka_unit_test(
			test_client__a_field_that_the_kind_has_not_is_no_error_of_the_server),
		cmocka_unit_test(test_client__reads_are_retried),
		cmocka_unit_test(test_client__which_answers_may_pass),
		cmocka_unit_test(test_client__whoever_waits_is_told_soon),
		cmocka_unit_test(test_client__retry_after_is_obeyed),
		cmocka_unit_test(test_client__reads_end_at_their_deadline),
		cmocka_unit_test(test_client__writes_wait_where_they_are_told_to),
		cmocka_unit_test(test_client__writes_are_not_retried),
		cmocka_unit_test(test_client__what_only_asks_is_retried),
		cmocka_unit_test(test_client__few_writes_are_in_flight),
		cmocka_unit_test(test_client__an_urgent_write_waits_for_none),
		cmocka_unit_test(test_client__one_write_over_the_bound_has_its_time),
		cmocka_unit_test(test_client__what_it_accepts),
		cmocka_unit_test(test_client__warnings_and_other_bodies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
