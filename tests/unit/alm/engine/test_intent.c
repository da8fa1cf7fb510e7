/* What was planned, against what is there: is it done? */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/client/client.h"
#include "alm/engine/intent.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

#define LIVE(operation, manager, data)                                                          \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\","           \
	"\"uid\":\"u1\",\"managedFields\":[{\"manager\":\"" manager                             \
	"\",\"operation\":\"" operation "\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\"," \
	"\"fieldsV1\":{\"f:data\":{\"f:k\":{}}}}]},\"data\":" data "}"
#define APPLIED(data) LIVE("Apply", CLIENT_FIELD_MANAGER, data)
#define UPDATED(data) LIVE("Update", CLIENT_FIELD_MANAGER, data)

static struct obj *parse(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static struct action action_of(enum act_type type, const struct obj *body)
{
	return (struct action){.type = type,
			       .resource = {"", "v1", "configmaps", "ConfigMap", true},
			       .ns = "default",
			       .name = "c",
			       .uid = "u1",
			       .body = body};
}

static bool done(struct audit_log *l, const struct action *x, const char *cached, const char *live)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	CLEANUP(obj_unrefp) struct obj *intent =
		intent_new(l->audit, x, 0, cached ? parse(a, cached) : NULL, true);
	return intent_is_done(l->audit, intent, live ? parse(a, live) : NULL);
}

static void test_intent__is_done_if_the_object_shows_it(void **state)
{
	(void)state;
	struct audit_log l;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	audit_log_open(&l, ":memory:", NULL);
	static const char theirs[] = LIVE("Update", "somebody", "{\"k\":\"1\"}");
	struct action x = action_of(ACT_CREATE, NULL);
	assert_false(done(&l, &x, NULL, NULL));
	assert_true(done(&l, &x, NULL, UPDATED("{\"k\":\"9\"}")));
	assert_false(done(&l, &x, NULL, APPLIED("{\"k\":\"9\"}")));
	assert_false(done(&l, &x, NULL, theirs));
	x.manager = "somebody";
	assert_true(done(&l, &x, NULL, theirs));
	assert_false(done(&l, &x, NULL, UPDATED("{\"k\":\"9\"}")));

	x = action_of(ACT_APPLY, parse(a, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
					  "\"metadata\":{\"name\":\"c\"},\"data\":{\"k\":\"1\"}}"));
	assert_false(done(&l, &x, NULL, NULL));
	assert_true(done(&l, &x, NULL, APPLIED("{\"k\":\"1\"}")));
	assert_true(done(&l, &x, NULL, APPLIED("{\"k\":\"1\",\"of-others\":\"2\"}")));
	assert_false(done(&l, &x, NULL, APPLIED("{\"k\":\"2\"}")));
	assert_false(done(&l, &x, NULL, UPDATED("{\"k\":\"1\"}")));
	assert_false(done(&l, &x, NULL, LIVE("Apply", "somebody", "{\"k\":\"1\"}")));

	x = action_of(ACT_PATCH, parse(a, "{\"data\":{\"k\":\"1\"}}"));
	static const char before[] = UPDATED("{\"k\":\"0\",\"l\":\"7\"}");
	assert_false(done(&l, &x, before, NULL));
	assert_true(done(&l, &x, before, UPDATED("{\"k\":\"1\",\"l\":\"7\"}")));
	assert_false(done(&l, &x, before, before));
	assert_false(done(&l, &x, NULL, UPDATED("{\"k\":\"1\",\"l\":\"7\"}"))); /* of what? */
	/* what it would have become, by somebody else */
	x.body = parse(a, "{\"data\":{\"l\":\"7\"}}");
	assert_false(done(&l, &x, theirs, LIVE("Update", "somebody", "{\"k\":\"1\",\"l\":\"7\"}")));
	x.manager = "somebody";
	assert_true(done(&l, &x, theirs, LIVE("Update", "somebody", "{\"k\":\"1\",\"l\":\"7\"}")));
	audit_log_close(&l);
}

static void test_intent__a_deletion_is_of_one_uid(void **state)
{
	(void)state;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	struct action x = action_of(ACT_DELETE, NULL);
	assert_true(done(&l, &x, NULL, NULL));
	assert_false(done(&l, &x, NULL, UPDATED("{}")));
	assert_true(done(&l, &x, NULL, "{\"metadata\":{\"name\":\"c\",\"uid\":\"u2\"}}"));
	assert_true(done(&l, &x, NULL,
			 "{\"metadata\":{\"name\":\"c\",\"uid\":\"u1\","
			 "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}"));
	audit_log_close(&l);
}

static void test_intent__says_what_is_to_be_done(void **state)
{
	(void)state;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	struct action x = action_of(ACT_DELETE, NULL);
	CLEANUP(obj_unrefp) struct obj *o = intent_new(l.audit, &x, 3, NULL, true);
	CLEANUP(xfreep) char *text = json_text(o);
	assert_string_equal(text, "{\"i\":3,\"verb\":\"delete\",\"apiVersion\":\"v1\",\"object\":"
				  "\"ConfigMap/default/c\",\"uid\":\"u1\"}");
	x = action_of(ACT_CREATE, NULL);
	x.resource.group = "apps";
	x.ns = NULL;
	x.manager = "m";
	CLEANUP(obj_unrefp) struct obj *p = intent_new(l.audit, &x, 0, NULL, true);
	CLEANUP(xfreep) char *more = json_text(p);
	assert_string_equal(more, "{\"i\":0,\"verb\":\"create\",\"apiVersion\":\"apps/v1\","
				  "\"object\":\"ConfigMap//c\",\"manager\":\"m\"}");
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	for (int with = 0; with < 2; with++) {
		x = action_of(ACT_APPLY, parse(a, "{\"data\":{\"k\":\"1\"}}"));
		CLEANUP(obj_unrefp) struct obj *q = intent_new(l.audit, &x, 0, NULL, with);
		assert_int_equal(obj_has(q, "desired"), with);
	}
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intent__is_done_if_the_object_shows_it),
		cmocka_unit_test(test_intent__a_deletion_is_of_one_uid),
		cmocka_unit_test(test_intent__says_what_is_to_be_done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
