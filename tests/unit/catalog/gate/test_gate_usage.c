/* How a writer that is gone is forgotten, as the command that a person copies. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "catalog/gate/usage.h"

static struct arena *arena;

static const char *forget(const char *entries)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	const char *text = arena_fmt(
		arena, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"managedFields\":%s}}",
		entries);
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return usage_forget(obj_keep(arena, o), "etcd.coreos.com", "etcds", "v2", 1000, arena);
}

#define ENTRY(version, time)                                                                       \
	"{\"manager\":\"m'\",\"apiVersion\":\"etcd.coreos.com/" version "\",\"time\":\"" time "\"" \
	"}"
#define LATE "2026-01-02T03:04:05Z"

static void test_gate_usage__tells_how_an_entry_is_forgotten(void **state)
{
	(void)state;
	arena = arena_new(1 << 20);
	const char *head = "kubectl patch etcds.v2.etcd.coreos.com a -n d --type=json -p ";
	const char *both = arena_fmt(
		arena,
		"%s'[{\"op\":\"test\",\"path\":\"/metadata/managedFields/2/apiVersion\",\"value\":"
		"\"etcd.coreos.com/v1\"},{\"op\":\"remove\",\"path\":\"/metadata/managedFields/"
		"2\"},"
		"{\"op\":\"test\",\"path\":\"/metadata/managedFields/0/apiVersion\",\"value\":"
		"\"etcd.coreos.com/v1\"},{\"op\":\"remove\",\"path\":\"/metadata/managedFields/"
		"0\"}]'",
		head);
	const char *only = arena_fmt(
		arena,
		"%s'[{\"op\":\"test\",\"path\":\"/metadata/managedFields/0/apiVersion\",\"value\":"
		"\"etcd.coreos.com/v1\"},{\"op\":\"replace\",\"path\":\"/metadata/managedFields\","
		"\"value\":[{}]}]'",
		head);
	assert_string_equal(forget("[" ENTRY("v1", "1970-01-01T00:00:00Z") "," ENTRY(
				    "v2", LATE) "," ENTRY("v1", LATE) "]"),
			    both);
	assert_string_equal(forget("[" ENTRY("v1", LATE) "]"), only);
	assert_null(forget("[" ENTRY("v1", "1970-01-01T00:00:00Z") "]"));
	assert_null(forget("[" ENTRY("v2", LATE) "]"));
	assert_null(forget("[" ENTRY("v1$(x)", LATE) "]"));
	assert_null(forget("[]"));
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gate_usage__tells_how_an_entry_is_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
