/* Helm's release record: what we write reads back, what Helm writes is read, hostile ones refused.
 */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
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

static void pack_record(const char *json, bool gzip, struct strbuf *data)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT((size_t)8 << 20);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT((size_t)8 << 20);
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

static struct obj *parsed(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static void assert_json(const struct obj *is, const struct obj *want)
{
	CLEANUP(xfreep) char *x = json_text(is);
	CLEANUP(xfreep) char *y = json_text(want);
	if (!obj_equal(is, want))
		fail_msg("%s\nwant %s", x, y);
}

/* As anybody unpacks the text of data.release. */
static struct obj *unpacked(struct arena *a, const char *data)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT((size_t)8 << 20);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT((size_t)8 << 20);
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT((size_t)8 << 20);
	struct error err = ERROR_INIT;
	assert_true(base64_decode(str_of(data), &text));
	assert_true(base64_decode(strbuf_str(&text), &packed));
	assert_ok(gzip_unpack(strbuf_str(&packed), 1000, &json, &err), &err);
	return parsed(a, json.buf);
}

/* --- a reference record: one of every field, and what is there without it --- */

static const char full_record[] =
	"{\"name\":\"etcd\",\"info\":{\"first_deployed\":\"2023-11-14T22:13:20.000000Z\","
	"\"last_deployed\":\"2023-11-14T22:13:21.000000Z\",\"deleted\":\"2023-11-14T22:13:22."
	"000007Z\","
	"\"description\":\"Upgrade complete\",\"status\":\"deployed\",\"notes\":\"done\"},"
	"\"chart\":{\"metadata\":{\"name\":\"etcd-operator\"},\"lock\":null,\"templates\":[],"
	"\"values\":{\"size\":3},\"schema\":null,\"files\":[]},\"config\":{\"size\":5},"
	"\"manifest\":\"kind: A\\n\",\"hooks\":[{\"name\":\"h\"}],\"version\":3,"
	"\"namespace\":\"storage\"}";

static struct release full(struct arena *a)
{
	return (struct release){
		.name = "etcd",
		.ns = "storage",
		.revision = 3,
		.status = "deployed",
		.description = "Upgrade complete",
		.notes = "done",
		.first_deployed_ns = TIME_NS,
		.last_deployed_ns = TIME_NS + INT64_C(1000000000),
		.deleted_ns = TIME_NS + INT64_C(2000007000),
		.metadata = parsed(a, "{\"name\":\"etcd-operator\"}"),
		.chart_values = parsed(a, "{\"size\":3}"),
		.config = parsed(a, "{\"size\":5}"),
		.hooks = parsed(a, "[{\"name\":\"h\"}]"),
		.manifest = "kind: A\n",
		.labels = parsed(a, "{\"team\":\"db\",\"status\":\"lost\",\"modifiedAt\":\"1\"}"),
	};
}

/* without: what stands there in the record when the release has none; NULL: the member is left out */
static const struct optional {
	const char *path, *without;
	size_t offset; /* of a pointer, or a time of the same size */
} optionals[] = {
	{"namespace", NULL, offsetof(struct release, ns)},
	{"info.description", NULL, offsetof(struct release, description)},
	{"info.notes", NULL, offsetof(struct release, notes)},
	{"info.first_deployed", "\"\"", offsetof(struct release, first_deployed_ns)},
	{"info.last_deployed", "\"\"", offsetof(struct release, last_deployed_ns)},
	{"info.deleted", "\"\"", offsetof(struct release, deleted_ns)},
	{"chart.metadata", "{}", offsetof(struct release, metadata)},
	{"chart.values", "{}", offsetof(struct release, chart_values)},
	{"config", "{}", offsetof(struct release, config)},
	{"hooks", "[]", offsetof(struct release, hooks)},
	{"manifest", "\"\"", offsetof(struct release, manifest)},
};

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* What is read again is what was written; empty is as good as none. */
static void assert_read_again(const struct release *is, const struct release *want)
{
	const struct obj *const objects[][2] = {{is->metadata, want->metadata},
						{is->chart_values, want->chart_values},
						{is->config, want->config},
						{is->hooks, want->hooks}};
	for (size_t i = 0; i < ARRAY_LEN(objects); i++)
		if (obj_len(objects[i][0]) || obj_len(objects[i][1]))
			assert_json(objects[i][0], objects[i][1]);
	assert_string_equal(is->name, want->name);
	assert_true(same_text(is->ns, want->ns));
	assert_int_equal(is->revision, want->revision);
	assert_string_equal(is->status, want->status);
	assert_true(same_text(is->description, want->description));
	assert_true(same_text(is->notes, want->notes));
	assert_true(same_text(is->manifest, want->manifest ? want->manifest : ""));
	assert_int_equal(is->first_deployed_ns, want->first_deployed_ns);
	assert_int_equal(is->last_deployed_ns, want->last_deployed_ns);
	assert_int_equal(is->deleted_ns, want->deleted_ns);
}

/* Every subset of the optional fields. */
static void test_release__the_record_is_the_one_of_its_fields(void **state)
{
	(void)state;
	for (unsigned left_out = 0; left_out < 1U << ARRAY_LEN(optionals); left_out++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT((size_t)1 << 20);
		CLEANUP(obj_unrefp) struct obj *want = obj_copy(parsed(a, full_record));
		struct error err = ERROR_INIT;
		struct release r = full(a), back;
		for (size_t i = 0; i < ARRAY_LEN(optionals); i++) {
			const struct optional *o = &optionals[i];
			if (!(left_out >> i & 1))
				continue;
			memset((char *)&r + o->offset, 0, sizeof(int64_t));
			obj_del_path(want, o->path);
			if (o->without)
				obj_set_path(want, o->path, obj_ref(parsed(a, o->without)));
		}
		assert_ok(release_encode(&r, &data, &err), &err);
		assert_json(unpacked(a, data.buf), want);
		assert_ok(release_decode(strbuf_str(&data), a, &back, &err), &err);
		assert_read_again(&back, &r);
	}
}

static void test_release__its_secret(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	CLEANUP(obj_unrefp) struct obj *secret = NULL;
	struct error err = ERROR_INIT;
	struct release r = full(a), back;
	(void)state;
	assert_ok(release_to_secret(&r, TIME_NS, &secret, &err), &err);
	assert_json(unpacked(a, obj_str(secret, "data.release")), parsed(a, full_record));
	assert_ok(release_from_secret(secret, a, &back, &err), &err);
	assert_read_again(&back, &r);
	/* Helm's own are of this revision alone */
	assert_json(back.labels, parsed(a, "{\"team\":\"db\"}"));
	obj_del_path(secret, "data.release");
	assert_json(secret,
		    parsed(a,
			   "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":"
			   "\"sh.helm.release.v1.etcd.v3\",\"namespace\":\"storage\",\"labels\":{"
			   "\"name\":\"etcd\",\"owner\":\"helm\",\"status\":\"deployed\","
			   "\"version\":\"3\",\"createdAt\":\"1700000000\",\"team\":\"db\","
			   "\"modifiedAt\":\"1\"}},\"type\":\"helm.sh/release.v1\",\"data\":{}}"));
	assert_int_equal(release_from_secret(secret, a, &back, &err), -E_INVALID);
	assert_non_null(strstr(err.msg, "secret sh.helm.release.v1.etcd.v3 is no release record"));
	assert_int_equal(
		release_change(secret, &(struct release_change){.status = "failed"}, &secret, &err),
		-E_INVALID);
}

/* Another type of Secret, whatever it holds, is none of Helm's. */
static void test_release__only_secrets_of_its_type_are_records(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	CLEANUP(obj_unrefp) struct obj *secret = NULL;
	struct error err = ERROR_INIT;
	struct release r = full(a), back;
	(void)state;
	assert_ok(release_to_secret(&r, TIME_NS, &secret, &err), &err);
	obj_set_str(secret, "type", "Opaque");
	assert_int_equal(release_from_secret(secret, a, &back, &err), -E_INVALID);
}

/* --- changing --- */

/* Of another writer: with members that ALM does not know, on every level. */
static const char foreign_record[] =
	"{\"name\":\"web\",\"info\":{\"status\":\"deployed\",\"description\":\"by "
	"helm\",\"odd\":1},"
	"\"chart\":{\"metadata\":{\"name\":\"web\"},\"files\":[{\"name\":\"f\",\"data\":\"eA==\"}],"
	"\"templates\":[{\"name\":\"t\"}],\"values\":{\"a\":1}},\"config\":{\"b\":2},\"version\":2,"
	"\"hooks\":[{\"name\":\"old\"}],\"manifest\":\"x\",\"namespace\":\"default\",\"odd\":{"
	"\"c\":[]},"
	"\"apply_method\":\"ssa\"}";

static struct obj *secret_of(struct arena *a, const char *json)
{
	CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT((size_t)8 << 20);
	struct obj *o = obj_keep(a, obj_map());
	pack_record(json, true, &data);
	obj_set_path(o, "metadata.name", obj_string("s"));
	obj_set_str(o, "type", RELEASE_SECRET_TYPE);
	obj_set_path(o, "data.release", obj_stringn(strbuf_str(&data)));
	return o;
}

static void test_release__a_change_is_of_what_it_names(void **state)
{
	(void)state;
	for (int k = 0; k < 8; k++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		CLEANUP(obj_unrefp) struct obj *want = obj_copy(parsed(a, foreign_record));
		CLEANUP(obj_unrefp) struct obj *patch = NULL;
		struct error err = ERROR_INIT;
		const struct release_change c = {.status = k & 1 ? "failed" : "superseded",
						 .description = k & 2 ? "told" : NULL,
						 .hooks = k & 4 ? parsed(a, "[{\"name\":\"new\"}]")
								: NULL,
						 .now_ns = TIME_NS + INT64_C(5000000000)};
		obj_del(want, "apply_method");
		obj_set_path(want, "info.status", obj_string(c.status));
		if (c.description)
			obj_set_path(want, "info.description", obj_string(c.description));
		if (c.hooks)
			obj_set(want, "hooks", obj_ref(c.hooks));
		assert_ok(release_change(secret_of(a, foreign_record), &c, &patch, &err), &err);
		assert_json(unpacked(a, obj_str(patch, "data.release")), want);
		obj_del_path(patch, "data.release");
		assert_json(patch,
			    parsed(a, arena_fmt(a,
						"{\"metadata\":{\"labels\":{\"status\":\"%s\","
						"\"modifiedAt\":\"1700000005\"}},\"data\":{}}",
						c.status)));
	}
}

static void test_release__a_change_of_what_is_no_record(void **state)
{
	static const char *const none[] = {"[]", "7", "null"};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	CLEANUP(obj_unrefp) struct obj *patch = NULL;
	struct error err = ERROR_INIT;
	const struct release_change c = {.status = "failed", .now_ns = TIME_NS};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		assert_int_equal(release_change(secret_of(a, none[i]), &c, &patch, &err),
				 -E_INVALID);
	assert_null(patch);
	assert_ok(release_change(secret_of(a, "{\"info\":7}"), &c, &patch, &err), &err);
	assert_json(unpacked(a, obj_str(patch, "data.release")),
		    parsed(a, "{\"info\":{\"status\":\"failed\"}}"));
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

/* Files and templates go first, then the defaults and the notes; what runs is never cut. */
static void test_release__what_goes_from_a_record_that_is_changed(void **state)
{
	static const struct {
		int manifest;
		bool files, values;
	} rows[] = {{100000, true, true}, {500000, false, true}, {950000, false, false}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
		CLEANUP(obj_unrefp) struct obj *want = obj_copy(parsed(a, foreign_record));
		CLEANUP(obj_unrefp) struct obj *patch = NULL;
		struct error err = ERROR_INIT;
		const struct release_change c = {.status = "failed", .now_ns = TIME_NS};
		obj_set_path(want, "manifest", obj_string(noise(a, rows[i].manifest)));
		obj_set_path(want, "info.notes", obj_string(noise(a, 100000)));
		obj_set_path(want, "chart.values.v", obj_string(noise(a, 100000)));
		obj_set_path(want, "chart.files", obj_ref(obj_keep(a, obj_list())));
		obj_append(obj_get_mut(obj_get_mut(want, "chart"), "files"),
			   obj_string(noise(a, 200000)));
		obj_append(obj_get_mut(obj_get_mut(want, "chart"), "templates"),
			   obj_string(noise(a, 200000)));
		CLEANUP(xfreep) char *text = json_text(want);
		assert_ok(release_change(secret_of(a, text), &c, &patch, &err), &err);
		obj_del(want, "apply_method");
		obj_set_path(want, "info.status", obj_string("failed"));
		if (!rows[i].files) {
			obj_set_path(want, "chart.files", obj_list());
			obj_set_path(want, "chart.templates", obj_list());
		}
		if (!rows[i].values) {
			obj_set_path(want, "chart.values", obj_map());
			obj_del_path(want, "info.notes");
		}
		assert_true(obj_equal(unpacked(a, obj_str(patch, "data.release")), want));
		struct obj *none = NULL;
		obj_set_path(want, "manifest", obj_string(noise(a, 1200000)));
		CLEANUP(xfreep) char *large = json_text(want);
		assert_int_equal(release_change(secret_of(a, large), &c, &none, &err), -E_LIMIT);
	}
}

/* --- parts --- */

static struct value texts(struct arena *a, const char *first, const char *second)
{
	struct value v = value_list(a, VALUE_STRINGS, 2);
	v.items[0] = value_cstr(first);
	v.items[1] = value_cstr(second);
	return v;
}

static const char full_metadata[] =
	"{\"name\":\"etcd\",\"home\":\"https://"
	"h\",\"sources\":[\"s1\",\"s2\"],\"version\":\"1.2.3\","
	"\"description\":\"a "
	"store\",\"keywords\":[\"k1\",\"k2\"],\"maintainers\":[{\"name\":\"ann\","
	"\"email\":\"a@x\",\"url\":\"u\"},{\"name\":\"bob\"}],\"icon\":\"i.png\",\"apiVersion\":"
	"\"v2\","
	"\"appVersion\":\"3.5\",\"deprecated\":true,\"annotations\":{\"x\":\"y\",\"z\":\"\"},"
	"\"kubeVersion\":\">=1.30\",\"dependencies\":[{\"name\":\"d\",\"version\":\"1\","
	"\"repository\":"
	"\"https://"
	"r\",\"condition\":\"d.on\",\"tags\":[\"t1\",\"t2\"],\"alias\":\"e\",\"enabled\":true},"
	"{\"name\":\"f\",\"repository\":\"\"}],\"type\":\"application\"}";

static struct chart_meta full_meta(struct arena *a)
{
	struct chart_meta m = {.name = STR("etcd"),
			       .home = STR("https://h"),
			       .version = STR("1.2.3"),
			       .description = STR("a store"),
			       .icon = STR("i.png"),
			       .api_version = STR("v2"),
			       .condition = STR("never told"),
			       .tags = STR("never told"),
			       .app_version = STR("3.5"),
			       .kube_version = STR(">=1.30"),
			       .type = STR("application"),
			       .sources = texts(a, "s1", "s2"),
			       .keywords = texts(a, "k1", "k2"),
			       .annotations = vmap_new(a),
			       .deprecated = true,
			       .n_maintainers = 2,
			       .n_dependencies = 2};
	vmap_setc(m.annotations, "x", value_cstr("y"));
	vmap_setc(m.annotations, "z", value_cstr(""));
	m.maintainers = ARENA_ARRAY(a, struct chart_maintainer, 2);
	m.maintainers[0] = (struct chart_maintainer){STR("ann"), STR("a@x"), STR("u")};
	m.maintainers[1].name = STR("bob");
	m.dependencies = ARENA_ARRAY(a, struct chart_dependency, 2);
	m.dependencies[0] = (struct chart_dependency){.name = STR("d"),
						      .version = STR("1"),
						      .repository = STR("https://r"),
						      .condition = STR("d.on"),
						      .alias = STR("e"),
						      .tags = texts(a, "t1", "t2"),
						      .enabled = true};
	m.dependencies[1].name = STR("f");
	return m;
}

#define META(member, type) offsetof(struct chart_meta, member), sizeof(type)

/* What a chart does not say, its record does not either. */
static void test_release__the_metadata_is_what_the_chart_says(void **state)
{
	static const struct {
		const char *key;
		size_t offset, size;
	} members[] = {
		{"name", META(name, struct str)},
		{"home", META(home, struct str)},
		{"sources", META(sources, struct value)},
		{"version", META(version, struct str)},
		{"description", META(description, struct str)},
		{"keywords", META(keywords, struct value)},
		{"maintainers", META(n_maintainers, size_t)},
		{"icon", META(icon, struct str)},
		{"apiVersion", META(api_version, struct str)},
		{"appVersion", META(app_version, struct str)},
		{"deprecated", META(deprecated, bool)},
		{"annotations", META(annotations, void *)},
		{"kubeVersion", META(kube_version, struct str)},
		{"dependencies", META(n_dependencies, size_t)},
		{"type", META(type, struct str)},
	};
	(void)state;
	for (size_t i = 0; i <= ARRAY_LEN(members); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		CLEANUP(obj_unrefp) struct obj *want = obj_copy(parsed(a, full_metadata));
		struct chart_meta m = full_meta(a);
		if (i < ARRAY_LEN(members)) {
			memset((char *)&m + members[i].offset, 0, members[i].size);
			obj_del(want, members[i].key);
		}
		CLEANUP(obj_unrefp) struct obj *is = release_metadata(&m);
		assert_json(is, want);
	}
}

/* All policies of both kinds, with and without a weight. */
static void test_release__a_hook_as_it_was_written(void **state)
{
	static const char *const names[] = {"\"before-hook-creation\"", "\"hook-succeeded\"",
					    "\"hook-failed\""};
	(void)state;
	for (unsigned set = 0; set < 128; set++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		CLEANUP(obj_unrefp) struct obj *want = obj_copy(parsed(
			a,
			"{\"name\":\"h\",\"kind\":\"Job\",\"path\":\"c/templates/h.yaml\","
			"\"manifest\":\"kind: Job\",\"events\":[\"post-upgrade\",\"pre-install\","
			"\"test\"],\"last_run\":{\"started_at\":\"\",\"completed_at\":\"\","
			"\"phase\":\"\"}}"));
		struct hook h = {.path = "c/templates/h.yaml",
				 .text = STR("kind: Job"),
				 .kind = STR("Job"),
				 .name = STR("h"),
				 .order = {HOOK_POST_UPGRADE, HOOK_PRE_INSTALL, HOOK_TEST},
				 .n_order = 3,
				 .weight = set & 64 ? -5 : 0,
				 .delete_policies = set & 7,
				 .log_policies = set >> 3 & 7};
		if (h.weight)
			obj_set_int(want, "weight", h.weight);
		for (int k = 0; k < 2; k++) {
			const char *key = k ? "output_log_policies" : "delete_policies";
			unsigned policies = k ? h.log_policies : h.delete_policies;
			if (policies)
				obj_set(want, key, obj_list());
			for (size_t i = 0; i < ARRAY_LEN(names); i++)
				if (policies >> i & 1)
					obj_append(obj_get_mut(want, key),
						   obj_ref(parsed(a, names[i])));
		}
		CLEANUP(obj_unrefp) struct obj *is = release_hook(&h);
		assert_json(is, want);
	}
}

static void test_release__statuses(void **state)
{
	static const struct {
		const char *name;
		bool known, pending;
	} rows[] = {
		{"unknown", true, false},
		{"deployed", true, false},
		{"uninstalled", true, false},
		{"superseded", true, false},
		{"failed", true, false},
		{"uninstalling", true, false},
		{"pending-install", true, true},
		{"pending-upgrade", true, true},
		{"pending-rollback", true, true},
		{"Deployed", false, false},
		{"", false, false},
		{"pending", false, false},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT((size_t)1 << 20);
		struct error err = ERROR_INIT;
		struct release r = full(a), back;
		r.status = rows[i].name;
		assert_ok(release_encode(&r, &data, &err), &err);
		assert_int_equal(release_decode(strbuf_str(&data), a, &back, &err),
				 rows[i].known ? 0 : -E_INVALID);
		assert_int_equal(release_is_pending(rows[i].name), rows[i].pending);
	}
	assert_false(release_is_pending(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release__reads_what_helm_writes),
		cmocka_unit_test(test_release__refuses_what_is_no_record),
		cmocka_unit_test(test_release__the_record_is_the_one_of_its_fields),
		cmocka_unit_test(test_release__its_secret),
		cmocka_unit_test(test_release__only_secrets_of_its_type_are_records),
		cmocka_unit_test(test_release__a_change_is_of_what_it_names),
		cmocka_unit_test(test_release__a_change_of_what_is_no_record),
		cmocka_unit_test(test_release__what_goes_from_a_record_that_is_changed),
		cmocka_unit_test(test_release__the_metadata_is_what_the_chart_says),
		cmocka_unit_test(test_release__a_hook_as_it_was_written),
		cmocka_unit_test(test_release__too_large_for_a_secret),
		cmocka_unit_test(test_release__what_is_left_out_of_a_large_one),
		cmocka_unit_test(test_release__a_change_of_a_full_one),
		cmocka_unit_test(test_release__statuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
