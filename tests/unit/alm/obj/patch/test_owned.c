/* What a manager has applied, read back by managedFields, is what it applied (owned.h). */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/patch/apply.h"
#include "alm/obj/patch/owned.h"

static struct obj *parse(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

#define FINALIZERS "{\"metadata\":{\"finalizers\":[\"a/b\",\"c/d\"],\"name\":\"x\"}"

/* Keyed lists, sets, atomic lists and maps, an empty map. */
static const char *const configs[] = {
	FINALIZERS "}",
	FINALIZERS ",\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"spec\":{\"selector\":"
		   "{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"spec\":{\"containers\":[{"
		   "\"name\":\"one\",\"args\":[\"x\",\"y\"],\"ports\":[{\"containerPort\":80,"
		   "\"protocol\":\"TCP\"},{\"containerPort\":81,\"protocol\":\"TCP\"}]},{\"name\":"
		   "\"two\",\"securityContext\":{}}],\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}"
		   "}]}}}}",
};

static struct obj *applied(const struct obj *live, const struct obj *config, const char *manager)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	struct apply_conflicts conflicts = {0};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	conflicts.arena = a;
	struct apply_request r = {.schema = apply_builtin_schema("apps/v1", "Deployment"),
				  .live = live,
				  .config = config,
				  .manager = manager,
				  .api_version = "apps/v1",
				  .subresource = ""};
	assert_ok(apply_merge(&r, &conflicts, &o, &err), &err);
	return o;
}

static void test_owned__is_what_was_applied(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(configs); i++) {
		CLEANUP(obj_unrefp) struct obj *config = parse(configs[i]);
		CLEANUP(obj_unrefp) struct obj *others =
			parse("{\"metadata\":{\"finalizers\":[\"e/f\"]},\"spec\":"
			      "{\"replicas\":3,\"template\":{\"spec\":{\"containers\":"
			      "[{\"name\":\"side\"},{\"name\":\"two\",\"image\":"
			      "\"i\"}]}}}}");
		CLEANUP(obj_unrefp) struct obj *first = applied(NULL, others, "kubectl");
		CLEANUP(obj_unrefp) struct obj *live = applied(first, config, "alm");
		CLEANUP(obj_unrefp) struct obj *bare = owned_bare(config);
		CLEANUP(obj_unrefp) struct obj *mine = owned_fields(live, live, "alm");
		CLEANUP(obj_unrefp) struct obj *theirs = owned_fields(live, live, "kubectl");
		assert_true(obj_equal(mine, bare));
		assert_true(obj_equal(theirs, others));
		assert_null(owned_fields(live, live, "helm"));
		assert_false(owned_in_part(live, "alm"));
	}
}

/* The values are those of the copy that is shown. */
static void test_owned__values_are_of_the_copy(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *config =
		parse("{\"metadata\":{\"name\":\"x\"},\"spec\":{\"paused\":true}}");
	CLEANUP(obj_unrefp) struct obj *live = applied(NULL, config, "alm");
	CLEANUP(obj_unrefp) struct obj *shown = parse("{\"spec\":{\"paused\":\"hmac\",\"x\":1}}");
	CLEANUP(obj_unrefp) struct obj *mine = owned_fields(live, shown, "alm");
	CLEANUP(xfreep) char *text = json_text(mine);
	assert_string_equal(text, "{\"spec\":{\"paused\":\"hmac\"}}");
}

static void test_owned__in_part(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *o =
		parse("{\"metadata\":{\"managedFields\":[{\"manager\":\"alm\",\"operation\":"
		      "\"Update\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\","
		      "\"fieldsV1\":{\"f:data\":{}}},{\"manager\":\"sub\",\"operation\":"
		      "\"Update\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\","
		      "\"subresource\":\"status\",\"fieldsV1\":{}}]}}");
	assert_true(owned_in_part(o, "alm"));
	assert_false(owned_in_part(o, "sub"));
	assert_null(owned_fields(o, o, "alm"));
	obj_set_path(o, "metadata.managedFields", parse("[{\"operation\":7}]"));
	assert_false(owned_in_part(o, "alm"));
	assert_null(owned_fields(o, o, "alm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owned__is_what_was_applied),
		cmocka_unit_test(test_owned__values_are_of_the_copy),
		cmocka_unit_test(test_owned__in_part),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
