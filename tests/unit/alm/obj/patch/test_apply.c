/* test_apply.c: server-side apply against the recorded sequence G80 to G90, tables and properties.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/obj/patch/apply.h"
#include "alm/obj/patch/apply_walk.h"
#include "alm/obj/patch/managed.h"
#include "alm/obj/schema/builtin_types.h"
#include "tests/lib/recorded.h"
#include "tests/lib/test.h"

#define LIMIT ((size_t)8 << 20)

static struct arena *arena;
static struct schema *schema;
static int64_t now_ns;

static int setup(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct obj *openapi = recorded_schema(14);
	arena = arena_new(LIMIT);
	assert_ok(schema_compile(openapi, &schema, &err), &err);
	obj_unref(openapi);
	now_ns = INT64_C(1700000000) * NS_PER_S;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	schema_free(schema);
	schema = NULL;
	arena_free(arena);
	return 0;
}

static struct obj *parse(const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(arena, o);
}

static struct obj *widget(const char *spec)
{
	return parse(arena_fmt(arena,
			       "{\"apiVersion\":\"golden.example.com/v1\",\"kind\":\"Widget\","
			       "\"metadata\":{\"name\":\"s\"},\"spec\":%s}",
			       spec));
}

static struct apply_conflicts conflicts;

static int apply(const struct obj *live, const struct obj *config, const char *manager, bool force,
		 struct obj **ret, struct error *err)
{
	const struct apply_request r = {.schema = schema,
					.live = live,
					.config = config,
					.manager = manager,
					.api_version = obj_str(config, "apiVersion"),
					.subresource = "",
					.has_status = true,
					.force = force,
					.now_ns = now_ns};
	conflicts = (struct apply_conflicts){.arena = arena};
	struct obj *o = NULL;
	int rc = apply_merge(&r, &conflicts, &o, err);
	if (rc >= 0) {
		if (schema)
			schema_default(schema, o);
		*ret = obj_keep(arena, o);
	}
	return rc;
}

static struct obj *update(const struct obj *before, const struct obj *after, const char *manager,
			  const char *subresource)
{
	struct obj *o = obj_keep(arena, obj_copy(after));
	const struct update_request r = {.schema = schema,
					 .before = before,
					 .after = o,
					 .manager = manager,
					 .api_version = obj_str(after, "apiVersion"),
					 .subresource = subresource,
					 .has_status = true,
					 .now_ns = now_ns};
	struct error err = ERROR_INIT;
	assert_ok(apply_track_update(&r, &err), &err);
	return o;
}

/* managedFields without times, by their text. */
static const char *owners(const struct obj *o)
{
	struct obj *list = obj_copy(obj_path(o, "metadata.managedFields"));
	if (!list)
		return "none";
	for (size_t i = 0; i < obj_len(list); i++)
		obj_del(obj_at_mut(list, i), "time");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	json_print_canonical(list, &b);
	obj_unref(list);
	return arena_strdup(arena, b.buf);
}

static void assert_recorded(const struct obj *o, int n)
{
	struct obj *r = obj_keep(arena, recorded(n));
	const struct obj *resp = obj_get(r, "resp");
	assert_string_equal(owners(o), owners(resp));
	if (!obj_equal(obj_get(o, "spec"), obj_get(resp, "spec")))
		fail_msg("G%d: spec %s", n, json_text(obj_get(o, "spec")));
}

static void assert_refused(int n, int rc)
{
	struct obj *r = obj_keep(arena, recorded(n));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	assert_int_equal(rc, -E_CONFLICT);
	apply_conflicts_text(&conflicts, &b);
	assert_string_equal(b.buf, obj_str(r, "resp.message"));
	const struct obj *causes = obj_path(r, "resp.details.causes");
	assert_int_equal(conflicts.n, obj_len(causes));
	for (size_t i = 0; i < conflicts.n; i++)
		assert_string_equal(conflicts.items[i].field, obj_str(obj_at(causes, i), "field"));
}

static const struct obj *body(int n)
{
	return obj_get(obj_keep(arena, recorded(n)), "body");
}

static void test_apply__recorded_sequence(void **state)
{
	(void)state;
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(apply(NULL, body(80), "m1", false, &o, &err), &err);
	assert_recorded(o, 80);
	assert_refused(81, apply(o, body(81), "m2", false, &o, &err));
	assert_ok(apply(o, body(82), "m2", true, &o, &err), &err);
	assert_recorded(o, 82);
	assert_ok(apply(o, body(83), "m1", false, &o, &err), &err);
	assert_recorded(o, 83);
	assert_ok(apply(o, body(84), "m2", false, &o, &err), &err);
	assert_recorded(o, 84);
	struct obj *before = o;
	now_ns += NS_PER_HOUR;
	assert_ok(apply(o, body(85), "m1", false, &o, &err), &err);
	assert_true(obj_equal(o, before)); /* times too: nothing is stored */
	struct obj *green = obj_copy(o);
	obj_set_path(green, "spec.color", obj_string("green"));
	o = update(o, obj_keep(arena, green), "u", "");
	assert_recorded(o, 89);
	assert_refused(90, apply(o, body(90), "m1", false, &o, &err));
}

static void test_apply__undeclared_field_reads_as_G87(void **state)
{
	(void)state;
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_int_equal(apply(NULL, body(87), "m1", false, &o, &err), -E_BADREQUEST);
	assert_string_equal(err.msg, obj_str(obj_keep(arena, recorded(87)), "resp.message"));
}

static void test_apply__create_by_update_owns_defaults_as_G29(void **state)
{
	(void)state;
	struct obj *o = obj_copy(body(29));
	schema_prune(schema, o, NULL, NULL);
	schema_default(schema, o);
	assert_recorded(update(NULL, obj_keep(arena, o), "Python-urllib", ""), 29);
}

static const struct {
	const char *spec, *finding;
} bad_configs[] = {
	{"{\"size\":\"x\"}", ".spec.size: expected numeric (int or float), got string"},
	{"{\"m\":[]}", ".spec.m: expected map, got &{[]}"},
	{"{\"color\":5}", ".spec.color: expected string, got &value.valueUnstructured{Value:5}"},
	{"{\"lst\":[\"a\",\"a\"]}", ".spec.lst: duplicate entries for key [=\"a\"]"},
	{"{\"ports\":[{\"name\":\"a\"},{\"name\":\"a\"}]}",
	 ".spec.ports: duplicate entries for key [name=\"a\"]"},
	{"{\"ports\":[{\"port\":1}]}",
	 ".spec.ports: element 0: associative list with keys has an element that omits all key "
	 "fields [\"name\"] (and doesn't have default values for any key fields)"},
};

static void test_apply__bad_configurations(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad_configs); i++) {
		struct obj *o = NULL;
		struct error err = ERROR_INIT;
		assert_int_equal(apply(NULL, widget(bad_configs[i].spec), "m", false, &o, &err),
				 -E_BADREQUEST);
		if (!str_contains(str_of(err.msg), str_of(bad_configs[i].finding)))
			fail_msg("%s: %s", bad_configs[i].spec, err.msg);
	}
}

/* live list, configuration, result: items of a set. */
static const struct {
	const char *live, *config, *merged;
} orders[] = {
	{"[]", "[\"a\",\"b\"]", "[\"a\",\"b\"]"},
	{"[\"a\",\"b\",\"c\"]", "[\"b\"]", "[\"a\",\"b\",\"c\"]"},
	{"[\"a\",\"b\",\"c\"]", "[\"c\",\"a\"]", "[\"b\",\"c\",\"a\"]"},
	{"[\"a\",\"b\",\"c\"]", "[\"x\",\"c\"]", "[\"a\",\"b\",\"x\",\"c\"]"},
	{"[\"a\"]", "[\"x\",\"y\"]", "[\"a\",\"x\",\"y\"]"},
	{"[\"a\",\"b\"]", "[\"b\",\"a\"]", "[\"b\",\"a\"]"},
};

static void test_apply__lists_keep_the_order_of_the_configuration(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		struct obj *live = update(
			NULL, widget(arena_fmt(arena, "{\"lst\":%s}", orders[i].live)), "u", "");
		struct obj *o = NULL, *want = parse(orders[i].merged);
		struct error err = ERROR_INIT;
		assert_ok(apply(live, widget(arena_fmt(arena, "{\"lst\":%s}", orders[i].config)),
				"m", false, &o, &err),
			  &err);
		if (!obj_equal(obj_path(o, "spec.lst"), want))
			fail_msg("%s over %s: %s", orders[i].config, orders[i].live,
				 json_text(obj_path(o, "spec.lst")));
	}
}

static void test_apply__unowned_object_was_written_before_first_apply(void **state)
{
	(void)state;
	struct obj *o = NULL, *live = widget("{\"size\":1,\"color\":\"red\"}");
	struct error err = ERROR_INIT;
	assert_int_equal(apply(live, widget("{\"size\":2}"), "m", false, &o, &err), -E_CONFLICT);
	assert_string_equal(conflicts.items[0].manager, "before-first-apply");
	assert_ok(apply(live, widget("{\"size\":2}"), "m", true, &o, &err), &err);
	assert_string_equal(
		owners(o), "[{\"apiVersion\":\"golden.example.com/v1\",\"fieldsType\":\"FieldsV1\","
			   "\"fieldsV1\":{\"f:spec\":{\"f:size\":{}}},\"manager\":\"m\","
			   "\"operation\":\"Apply\"},{\"apiVersion\":\"golden.example.com/v1\","
			   "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{\".\":{},"
			   "\"f:color\":{}}},\"manager\":\"before-first-apply\",\"operation\":"
			   "\"Update\"}]");
}

static void test_apply__a_client_may_clear_but_not_spoil_managed_fields(void **state)
{
	(void)state;
	struct obj *live = update(NULL, widget("{\"size\":1}"), "u", "");
	struct obj *sent = obj_keep(arena, obj_copy(live));
	obj_set_path(sent, "metadata.managedFields", obj_ref(parse("[{}]")));
	struct obj *cleared = update(live, sent, "v", "");
	assert_null(obj_path(cleared, "metadata.managedFields"));
	/* untracked until the next apply */
	struct obj *changed = obj_keep(arena, obj_copy(cleared));
	obj_set_path(changed, "spec.size", obj_int(5));
	assert_null(obj_path(update(cleared, changed, "v", ""), "metadata.managedFields"));
	/* an invalid list changes nothing, and an absent one neither */
	obj_set_path(sent, "metadata.managedFields", obj_ref(parse("[{\"operation\":\"X\"}]")));
	assert_string_equal(owners(update(live, sent, "v", "")), owners(live));
	obj_set_path(sent, "metadata.managedFields", obj_list());
	assert_string_equal(owners(update(live, sent, "v", "")), owners(live));
}

static void test_apply__ten_updaters_then_ancient_changes(void **state)
{
	(void)state;
	struct obj *o = update(NULL, widget("{\"m\":{}}"), "u0", "");
	for (int i = 1; i <= 14; i++) {
		struct obj *next = obj_keep(arena, obj_copy(o));
		now_ns += NS_PER_S;
		obj_set(obj_get_mut(obj_get_mut(next, "spec"), "m"), arena_fmt(arena, "k%d", i),
			obj_string("v"));
		o = update(o, next, arena_fmt(arena, "u%d", i), "");
	}
	const struct obj *list = obj_path(o, "metadata.managedFields");
	assert_int_equal(obj_len(list), MANAGED_UPDATES_MAX);
	size_t ancient = 0;
	for (size_t i = 0; i < obj_len(list); i++)
		ancient += cstr_eq(obj_str(obj_at(list, i), "manager"), MANAGED_ANCIENT_CHANGES);
	assert_int_equal(ancient, 1);
}

static void test_apply__status_belongs_to_nobody_on_the_main_endpoint(void **state)
{
	(void)state;
	struct obj *o = update(NULL, widget("{\"size\":1}"), "u", "");
	struct obj *next = obj_keep(arena, obj_copy(o));
	obj_set_path(next, "status.phase", obj_string("P"));
	assert_string_equal(owners(update(o, next, "u", "")), owners(o));
	struct obj *status = update(o, next, "u", "status");
	assert_non_null(strstr(owners(status), "\"subresource\":\"status\""));
	assert_non_null(strstr(owners(status), "{\"f:status\":{\".\":{},\"f:phase\":{}}}"));
}

static void test_apply__built_in_kinds_merge_by_their_tables(void **state)
{
	(void)state;
	schema_free(schema);
	schema = NULL;
	static const char pod[] =
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\","
		"\"labels\":{\"a\":\"b\"}},\"spec\":{\"replicas\":1,\"selector\":{\"matchLabels\":"
		"{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{"
		"\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"ports\":[{\"containerPort\":80}]"
		"}]}}}}";
	assert_string_equal(
		owners(update(NULL, parse(pod), "u", "")),
		"[{\"apiVersion\":\"apps/v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{"
		"\"f:metadata\":{\"f:labels\":{\".\":{},\"f:a\":{}}},\"f:spec\":{\"f:replicas\":{},"
		"\"f:selector\":{},\"f:template\":{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:a\":"
		"{}}},\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"c\\\"}\":{\".\":{},"
		"\"f:image\":{},\"f:name\":{},\"f:ports\":{\".\":{},\"k:{\\\"containerPort\\\":80,"
		"\\\"protocol\\\":\\\"TCP\\\"}\":{\".\":{},\"f:containerPort\":{}}},\"f:"
		"resources\":"
		"{}}}}}}},\"manager\":\"u\",\"operation\":\"Update\"}]");
}

/* An item of a list is known by its key; several of one key, which environments may have, are one member. Groups of them cost their
 * number: each looked for in the whole list filled the memory. */
static void test_apply__items_of_one_key_are_one_member(void **state)
{
	enum { PAIRS = 10000 };
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	struct apply_diff diff;
	strbuf_adds(&b, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"containers\":[{"
			"\"name\":\"c\",\"env\":[{\"name\":\"x\"}");
	for (int i = 0; i < PAIRS; i++)
		strbuf_addf(
			&b,
			",{\"name\":\"n%d\",\"value\":\"a\"},{\"name\":\"n%d\",\"value\":\"b\"}", i,
			i);
	strbuf_adds(&b, "]}]}}");
	const struct obj *before = parse(b.buf);
	strstr(b.buf, "\"n7\",\"value\":\"a\"")[strlen("\"n7\",\"value\":\"")] = 'c';
	memcpy(strstr(b.buf, "\"n8\",\"value\":\"b\""), "\"m8\"", 4); /* no pair any more */
	apply_compare(apply_type_of(builtin_schema("v1", "Pod"), true), before, parse(b.buf), arena,
		      &diff);
	const struct {
		const struct fieldset *s;
		const char *want;
	} rows[] = {
		{diff.modified, "\"k:{\\\"name\\\":\\\"n7\\\"}\":{}"},
		{diff.removed, "\"k:{\\\"name\\\":\\\"n8\\\"}\":{}"},
		{diff.added,
		 "\"k:{\\\"name\\\":\\\"m8\\\"}\":{\".\":{},\"f:name\":{},\"f:value\":{}},"
		 "\"k:{\\\"name\\\":\\\"n8\\\"}\":{\".\":{},\"f:name\":{},\"f:value\":{}}"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *o = fieldset_print(rows[i].s);
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LIMIT);
		json_print_canonical(o, &text);
		assert_string_equal(text.buf,
				    arena_fmt(arena,
					      "{\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":"
					      "\\\"c\\\"}\":{\"f:env\":{%s}}}}}",
					      rows[i].want));
	}
}

/* --- properties over generated writes --- */

static uint32_t seed;

static uint32_t next_random(uint32_t bound)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % bound;
}

static struct obj *random_widget(void)
{
	struct obj *spec = obj_map(), *ports = obj_list(), *set = obj_list();
	static const char *const names[] = {"a", "b", "c"};
	if (next_random(2))
		obj_set_int(spec, "size", (int64_t)next_random(3));
	if (next_random(2))
		obj_set_str(spec, "color", next_random(2) ? "red" : "green");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (next_random(2)) {
			struct obj *port = obj_map();
			obj_set_str(port, "name", names[i]);
			if (next_random(2))
				obj_set_int(port, "port", (int64_t)next_random(3));
			obj_append(ports, port);
		}
		if (next_random(2))
			obj_append(set, obj_string(names[i]));
	}
	obj_set(spec, "ports", ports);
	obj_set(spec, "lst", set);
	struct obj *o = obj_keep(arena, obj_copy(widget("{}")));
	obj_set(o, "spec", spec);
	return o;
}

/* A field that two appliers own has the value both applied, so a forced apply of one leaves the
 * other's set without what differs: no set names a field that the object does not have. */
static void assert_sets_exist(const struct obj *o)
{
	struct managed m;
	assert_true(managed_parse(obj_path(o, "metadata.managedFields"), arena, &m));
	for (size_t i = 0; i < m.n; i++)
		for (size_t j = 0; j < m.items[i].fields->n; j++) {
			const char *step = m.items[i].fields->items[j].step;
			assert_true(obj_has(o, step + 2));
		}
}

/* By an update, or by an apply and the same apply again. */
static struct obj *changed(struct obj *o, uint32_t run)
{
	struct error err = ERROR_INIT;
	const char *manager = next_random(2) ? "m1" : "m2";
	struct obj *config = random_widget(), *again = NULL;
	now_ns += NS_PER_S;
	if (next_random(4) == 0) {
		struct obj *after = obj_keep(arena, obj_copy(o));
		obj_set(after, "spec", obj_copy(obj_get(config, "spec")));
		schema_default(schema, after);
		return update(o, after, "u", "");
	}
	assert_ok(apply(o, config, manager, true, &o, &err), &err);
	now_ns += NS_PER_S;
	assert_ok(apply(o, config, manager, false, &again, &err), &err);
	if (!obj_equal(o, again))
		fail_msg("seed %u: %s\nthen %s", run, json_text(o), json_text(again));
	return o;
}

static void test_apply__twice_is_a_no_op(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct error err = ERROR_INIT;
		struct obj *o = NULL;
		seed = run;
		assert_ok(apply(NULL, random_widget(), "m0", false, &o, &err), &err);
		for (int i = 0; i < 6; i++) {
			o = changed(o, run);
			assert_sets_exist(o);
		}
		if (run % 20 == 19) {
			arena_free(arena);
			arena = arena_new(LIMIT);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_apply__recorded_sequence),
		CASE(test_apply__undeclared_field_reads_as_G87),
		CASE(test_apply__create_by_update_owns_defaults_as_G29),
		CASE(test_apply__bad_configurations),
		CASE(test_apply__lists_keep_the_order_of_the_configuration),
		CASE(test_apply__unowned_object_was_written_before_first_apply),
		CASE(test_apply__a_client_may_clear_but_not_spoil_managed_fields),
		CASE(test_apply__ten_updaters_then_ancient_changes),
		CASE(test_apply__status_belongs_to_nobody_on_the_main_endpoint),
		CASE(test_apply__built_in_kinds_merge_by_their_tables),
		CASE(test_apply__items_of_one_key_are_one_member),
		CASE(test_apply__twice_is_a_no_op),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
