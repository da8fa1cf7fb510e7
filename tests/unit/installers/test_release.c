/* Helm's release record: what we write reads back, what Helm writes is read, hostile ones refused.
 */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/meta.h"
#include "installers/chart/gzip.h"
#include "installers/release.h"

#define TIME_NS INT64_C(1700000000000000000)

static struct release sample(struct arena *a)
{
	struct obj *config = obj_keep(a, obj_map()), *meta = obj_keep(a, obj_map()),
		   *labels = obj_keep(a, obj_map());
	obj_set_int(config, "replicas", 2);
	obj_set_str(meta, "name", "etcd-operator");
	obj_set_str(meta, "version", "0.9.4");
	obj_set_str(meta, "apiVersion", "v2");
	obj_set_str(labels, "team", "storage");
	return (struct release){
		.name = "etcd",
		.ns = "etcd",
		.revision = 3,
		.status = "deployed",
		.description = "Upgrade complete",
		.notes = "done",
		.first_deployed_ns = TIME_NS,
		.last_deployed_ns = TIME_NS + 5,
		.metadata = meta,
		.config = config,
		.labels = labels,
		.manifest = "---\n# Source: c/templates/a.yaml\nkind: ConfigMap\n",
	};
}

static void test_release__reads_back(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *secret = NULL;
	struct error err = ERROR_INIT;
	struct release r = sample(a), back;
	(void)state;
	assert_ok(release_to_secret(&r, TIME_NS, &secret, &err), &err);
	assert_string_equal(meta_name(secret), "sh.helm.release.v1.etcd.v3");
	assert_string_equal(meta_label(secret, "owner"), "helm");
	assert_string_equal(meta_label(secret, "status"), "deployed");
	assert_string_equal(meta_label(secret, "version"), "3");
	assert_string_equal(meta_label(secret, "createdAt"), "1700000000");
	assert_string_equal(obj_str(secret, "type"), "helm.sh/release.v1");
	assert_ok(release_from_secret(secret, a, &back, &err), &err);
	assert_string_equal(back.name, "etcd");
	assert_int_equal(back.revision, 3);
	assert_string_equal(back.manifest, r.manifest);
	assert_string_equal(back.notes, "done");
	assert_true(back.first_deployed_ns == TIME_NS);
	assert_true(back.deleted_ns == 0);
	assert_true(obj_equal(back.config, r.config));
	assert_true(obj_equal(back.metadata, r.metadata));
	assert_true(obj_equal(back.labels, r.labels));
}

static void pack_record(const char *json, bool gzip, struct strbuf *data)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	if (gzip)
		assert_ok(gzip_pack(str_of(json), &packed, &err), &err);
	base64_encode(gzip ? strbuf_str(&packed) : str_of(json), &text);
	base64_encode(strbuf_str(&text), data);
}

static void test_release__reads_what_helm_writes(void **state)
{
	/* keys as helm 3 writes them: deleted "", local offset in the times, unknown keys */
	static const char json[] =
		"{\"name\":\"web\",\"info\":{\"first_deployed\":\"2024-05-01T10:00:00.123456789+02:"
		"00\","
		"\"last_deployed\":\"2024-05-01T10:00:00.123456789+02:00\",\"deleted\":\"\","
		"\"description\":\"Install complete\",\"status\":\"deployed\",\"resources\":{}},"
		"\"chart\":{\"metadata\":{\"name\":\"web\",\"version\":\"1.0.0\"},\"lock\":null,"
		"\"templates\":[],\"values\":{\"a\":1},\"schema\":null,\"files\":[]},"
		"\"config\":{\"b\":2},\"manifest\":\"x\",\"version\":1,\"namespace\":\"default\"}";
	(void)state;
	for (int gzip = 0; gzip < 2; gzip++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT(STRBUF_SMALL);
		struct error err = ERROR_INIT;
		struct release r;
		pack_record(json, gzip, &data);
		assert_ok(release_decode(strbuf_str(&data), a, &r, &err), &err);
		assert_string_equal(r.name, "web");
		assert_true(r.first_deployed_ns == INT64_C(1714550400123456789));
		assert_true(r.deleted_ns == 0);
		assert_int_equal(obj_i64(r.chart_values, "a", 0), 1);
	}
}

static void test_release__refuses_what_is_no_record(void **state)
{
	static const struct {
		const char *json, *want;
	} bad[] = {
		{"{}", "no name or version"},
		{"{\"name\":\"x\",\"version\":0,\"info\":{\"status\":\"deployed\"}}",
		 "no name or version"},
		{"{\"name\":\"x\",\"version\":1,\"info\":{\"status\":\"odd\"}}",
		 "unknown status odd"},
		{"{\"name\":\"x\",\"version\":1}", "unknown status (none)"},
		{"{", "the release record"},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct release r;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT(STRBUF_SMALL);
		struct error err = ERROR_INIT;
		pack_record(bad[i].json, true, &data);
		assert_true(release_decode(strbuf_str(&data), a, &r, &err) < 0);
		assert_non_null(strstr(err.msg, bad[i].want));
	}
	struct error err = ERROR_INIT;
	assert_int_equal(release_decode(STR("!!"), a, &r, &err), -E_INVALID);
}

/* Does not pack. */
static const char *noise(struct arena *a, int bytes)
{
	static uint32_t x = 1;
	CLEANUP(strbuf_release) struct strbuf big = STRBUF_INIT((size_t)8 << 20);
	for (int i = 0; i < bytes; i++) {
		x = x * 1664525 + 1013904223;
		strbuf_addc(&big, (char)('#' + (x >> 16) % 57)); /* none that JSON escapes */
	}
	return arena_strndup(a, big.buf, big.len);
}

static void test_release__too_large_for_a_secret(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT((size_t)32 << 20);
	CLEANUP(obj_unrefp) struct obj *secret = NULL;
	struct error err = ERROR_INIT;
	struct release r = sample(a);
	(void)state;
	r.manifest = noise(a, 2000000);
	assert_int_equal(release_encode(&r, &data, &err), -E_LIMIT);
	assert_non_null(strstr(err.msg, "the record of release etcd has "));
	assert_non_null(strstr(err.msg, "a Secret holds 786432"));
	assert_int_equal(release_to_secret(&r, TIME_NS, &secret, &err), -E_LIMIT);
}

static struct obj *map_with(struct arena *a, const char *key, const char *text)
{
	struct obj *o = obj_keep(a, obj_map());
	obj_set_str(o, key, text);
	return o;
}

/* Notes go first, then the defaults; hooks, which helm runs, only at the end. */
static void test_release__what_is_left_out_of_a_large_one(void **state)
{
	static const struct {
		int manifest;
		bool notes, values, hooks;
	} rows[] = {{100000, true, true, true},
		    {500000, false, true, true},
		    {850000, false, false, true},
		    {1000000, false, false, false}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
		CLEANUP(obj_unrefp) struct obj *secret = NULL;
		struct error err = ERROR_INIT;
		struct release r = sample(a), back;
		struct obj *hooks = obj_keep(a, obj_list());
		obj_append(hooks, obj_ref(map_with(a, "manifest", noise(a, 150000))));
		r.manifest = noise(a, rows[i].manifest);
		r.notes = noise(a, 300000);
		r.chart_values = map_with(a, "v", noise(a, 200000));
		r.hooks = hooks;
		assert_ok(release_to_secret(&r, TIME_NS, &secret, &err), &err);
		assert_ok(release_from_secret(secret, a, &back, &err), &err);
		assert_string_equal(back.manifest, r.manifest);
		assert_int_equal(back.notes && *back.notes, rows[i].notes);
		assert_int_equal(obj_len(back.chart_values) > 0, rows[i].values);
		assert_int_equal(obj_len(back.hooks) > 0, rows[i].hooks);
	}
}

/* A change that would take it over the limit costs what only helm's own upgrades read. */
static void test_release__a_change_of_a_full_one(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(obj_unrefp) struct obj *secret = NULL;
	CLEANUP(obj_unrefp) struct obj *patch = NULL;
	struct error err = ERROR_INIT;
	struct release r = sample(a), back;
	(void)state;
	r.manifest = noise(a, 700000);
	r.chart_values = map_with(a, "v", noise(a, 200000));
	assert_ok(release_to_secret(&r, TIME_NS, &secret, &err), &err);
	struct obj *hooks = obj_keep(a, obj_list());
	obj_append(hooks, obj_ref(map_with(a, "manifest", noise(a, 200000))));
	struct release_change c = {.status = "superseded", .hooks = hooks, .now_ns = TIME_NS};
	assert_ok(release_change(secret, &c, &patch, &err), &err);
	assert_ok(release_decode(str_of(obj_str(patch, "data.release")), a, &back, &err), &err);
	assert_string_equal(back.status, "superseded");
	assert_string_equal(back.manifest, r.manifest);
	assert_int_equal(obj_len(back.hooks), 1);
	assert_int_equal(obj_len(back.chart_values), 0);
}

static void test_release__statuses(void **state)
{
	(void)state;
	assert_true(release_is_pending("pending-install"));
	assert_false(release_is_pending("failed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release__reads_back),
		cmocka_unit_test(test_release__reads_what_helm_writes),
		cmocka_unit_test(test_release__refuses_what_is_no_record),
		cmocka_unit_test(test_release__too_large_for_a_secret),
		cmocka_unit_test(test_release__what_is_left_out_of_a_large_one),
		cmocka_unit_test(test_release__a_change_of_a_full_one),
		cmocka_unit_test(test_release__statuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
