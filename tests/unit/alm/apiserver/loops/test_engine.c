/* engine: what the server itself creates, replaces, changes and deletes: an object that it cannot be is told, one that is there is not made
 * again, and what would change nothing is no write. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/apiserver/loops/engine.h"
#include "alm/apiserver/store/store.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/apifake_expect.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static const struct engine engine = {.user = "system:test", .manager = "test"};

static struct obj *parsed(const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

#define MAP(name, more)                                                                \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name \
	"\",\"namespace\":\"default\"}" more "}"

static void test_engine__what_it_creates(void **state)
{
	static const struct {
		const char *object;
		int want;
		const char *why;
	} rows[] = {
		{"{}", E_INTERNAL, "an object of the server without kind"},
		{"{\"kind\":\"ConfigMap\"}", E_INTERNAL, "an object of the server without kind"},
		{"{\"apiVersion\":\"v1\"}", E_INTERNAL, "an object of the server without kind"},
		{"{\"apiVersion\":\"a/b/c\",\"kind\":\"ConfigMap\"}", E_INTERNAL,
		 "an object of the server without kind"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"Nothing\"}", E_INTERNAL,
		 "kind Nothing is not served"},
		{"{\"apiVersion\":\"v9\",\"kind\":\"ConfigMap\"}", E_INTERNAL,
		 "kind ConfigMap is not served"},
		{MAP("a", ""), 0, ""},
		{MAP("a", ",\"data\":{\"k\":\"v\"}"), E_EXISTS, "a is there"},
		{MAP("A b", ""), E_INVALID, ""},
		{"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\","
		 "\"namespace\":\"none\"}}",
		 E_NOTFOUND, ""},
	};
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct apiserver *s = apifake_server(f);
	char first[STORE_UID_TEXT] = "";
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char uid[STORE_UID_TEXT] = "";
		struct error err = ERROR_INIT;
		int r = engine_create(s, &engine, parsed(rows[i].object), uid, &err);
		apifake_run(f);
		if (r != -rows[i].want || err.code != rows[i].want || !strstr(err.msg, rows[i].why))
			fail_msg("row %zu: %d %s", i, r, err.msg);
		if (r == 0)
			memcpy(first, uid, sizeof(first));
		assert_string_equal(uid, r == 0 || r == -E_EXISTS ? first : "");
	}
	struct answer a = apifake_expect(f, "GET", MAPS "/a", NULL, 200);
	assert_string_equal(obj_str(a.json, "metadata.uid"), first);
	assert_null(obj_path(a.json, "data"));
}

static struct head *head_of(struct apifake *f, const char *name)
{
	return store_find(apifake_server(f)->store, "", "configmaps", "default", name);
}

static void put_label(void *arg, struct obj *o)
{
	obj_set_path(o, "metadata.labels", obj_map());
	obj_set_path(o, "metadata.labels.l", obj_string(arg));
}

static void test_engine__what_it_changes(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct apiserver *s = apifake_server(f);
	struct error err = ERROR_INIT;
	char uid[STORE_UID_TEXT];
	assert_ok(engine_ensure(s, parsed(MAP("a", ",\"data\":{\"k\":\"v\"}")), &err), &err);
	assert_ok(engine_ensure(s, parsed(MAP("a", "")), &err), &err); /* it stays as it is */
	assert_int_equal(engine_ensure(s, parsed("{}"), &err), -E_INTERNAL);
	assert_int_equal(engine_create(s, &engine, parsed(MAP("a", "")), uid, &err), -E_EXISTS);
	apifake_run(f);
	struct answer a = apifake_expect(f, "GET", MAPS "/a", NULL, 200);
	assert_string_equal(obj_str(a.json, "data.k"), "v");
	CLEANUP(xfreep) char *rv = xstrdup(meta_resource_version(a.json));
	CLEANUP(obj_unrefp) struct obj *same = obj_copy(a.json), *other = obj_copy(a.json);
	assert_ok(engine_replace(s, &engine, head_of(f, "a"), same, &err), &err);
	apifake_run(f);
	a = apifake_expect(f, "GET", MAPS "/a", NULL, 200);
	assert_string_equal(meta_resource_version(a.json), rv);
	obj_set_path(other, "data.k", obj_string("w"));
	assert_ok(engine_replace(s, &engine, head_of(f, "a"), other, &err), &err);
	char label[] = "x";
	for (int i = 0; i < 2; i++) {
		assert_ok(engine_update(s, &engine, head_of(f, "a"), "", put_label, label, &err),
			  &err);
		apifake_run(f);
		a = apifake_expect(f, "GET", MAPS "/a", NULL, 200);
		assert_string_equal(obj_str(a.json, "data.k"), "w");
		assert_string_equal(obj_str(a.json, "metadata.labels.l"), "x");
		assert_string_not_equal(meta_resource_version(a.json), rv);
		if (i)
			assert_string_equal(meta_resource_version(a.json), uid);
		(void)snprintf(uid, sizeof(uid), "%s", meta_resource_version(a.json));
	}
	assert_ok(engine_delete(s, &engine, head_of(f, "a"), PROPAGATE_BACKGROUND, &err), &err);
	apifake_run(f);
	assert_null(head_of(f, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engine__what_it_creates),
		cmocka_unit_test(test_engine__what_it_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
