/* test_gate.c: the CRD gate: the rows of tests/golden/gate, generated corpora, properties. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/schema.h"
#include "catalog/gate/gate.h"
#include "catalog/gate/usage.h"
#include "tests/lib/test.h"

#define LIMIT ((size_t)64 << 20)

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new(LIMIT);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static struct obj *parse(const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	if (json_parse(str_of(text), &o, &err) < 0)
		fail_msg("%s: %s", err.msg, text);
	return obj_keep(arena, o);
}

static const char *text_of(const struct obj *o)
{
	char *owned = json_text(o);
	const char *text = arena_strdup(arena, owned);
	xfree(owned);
	return text;
}

static const char *const versions_none = "\"conversion\":{\"strategy\":\"None\"}";

/* A definition with the versions given as text, v1 stored. */
static struct obj *crd(const char *versions, const char *conversion)
{
	return parse(arena_fmt(
		arena,
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"etcds.etcd.coreos.com\"},\"spec\":{\"group\":"
		"\"etcd.coreos.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"etcds\","
		"\"kind\":\"Etcd\"},\"versions\":[%s],%s},\"status\":{\"storedVersions\":[\"v1\"]}"
		"}",
		versions, conversion));
}

static const char *version(const char *name, bool served, bool storage, const char *schema)
{
	return arena_fmt(arena,
			 "{\"name\":\"%s\",\"served\":%s,\"storage\":%s,\"schema\":{"
			 "\"openAPIV3Schema\":%s}}",
			 name, served ? "true" : "false", storage ? "true" : "false", schema);
}

static const char *around(const char *x)
{
	return arena_fmt(arena,
			 "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
			 "\"properties\":{\"x\":%s}}}}",
			 x);
}

static struct obj *crd_of(const char *x)
{
	return crd(version("v1", true, true, around(x)), versions_none);
}

static struct obj *object(const char *x)
{
	return parse(arena_fmt(arena,
			       "{\"apiVersion\":\"etcd.coreos.com/v1\",\"kind\":\"Etcd\","
			       "\"metadata\":{\"name\":\"a\",\"namespace\":\"default\"},\"spec\":{"
			       "\"x\":%s}}",
			       x));
}

static struct gate *begin(const struct obj *before, const struct obj *after)
{
	const struct gate_input in = {.before = before, .after = after};
	struct gate *g = NULL;
	struct error err = ERROR_INIT;
	assert_ok(gate_begin(&in, &g, &err), &err);
	return g;
}

static struct gate *run(const struct obj *before, const struct obj *after, const struct obj *live)
{
	struct gate *g = begin(before, after);
	if (live)
		gate_object(g, live, "v1");
	gate_finish(g);
	return g;
}

static const char *word(enum finding_outcome o)
{
	return o == FINDING_REFUSE ? "refuse" : o == FINDING_WARN ? "warn" : "allow";
}

static const char *summary(const struct gate *g)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	for (size_t i = 0; i < gate_count(g); i++) {
		gate_finding_text(g, gate_finding(g, i), &b);
		strbuf_addf(&b, " [%s]\n", finding_outcome_name(gate_finding(g, i)));
	}
	return arena_strdup(arena, b.buf);
}

/* "warn warn refuse RULE@PATH" of one direction. */
static const char *judge(const char *a, const char *b, const char *valid, const char *invalid)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(LIMIT);
	const struct obj *live[] = {NULL, object(valid), object(invalid)};
	const char *rule = "-";
	for (size_t i = 0; i < ARRAY_LEN(live); i++) {
		struct gate *g = run(crd_of(a), crd_of(b), live[i]);
		strbuf_addf(&out, "%s ", word(gate_outcome(g)));
		if (i == 0 && gate_count(g) > 0)
			rule = arena_fmt(arena, "%s@%s", gate_finding(g, 0)->rule,
					 gate_finding(g, 0)->path);
		gate_free(g);
	}
	strbuf_adds(&out, rule);
	return arena_strdup(arena, out.buf);
}

static const char *line_of(struct str line)
{
	return arena_strndup(arena, line.ptr, line.len);
}

static void test_gate__rows_of_the_table(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT(LIMIT);
	struct error err = ERROR_INIT;
	struct str rest, line;
	const char *row[7];
	size_t n = 0, rows = 0;
	assert_ok(file_read("tests/golden/gate/rows.test", &file, &err), &err);
	strbuf_adds(&file, "\n");
	rest = strbuf_str(&file);
	while (str_next_line(&rest, &line)) {
		if (line.len > 0 && line.ptr[0] == '#')
			continue;
		if (line.len > 0) {
			assert_true(n < ARRAY_LEN(row));
			row[n++] = line_of(line);
			continue;
		}
		if (n == 0)
			continue;
		assert_int_equal(n, ARRAY_LEN(row));
		/* in the reverse direction both values are judged as they are */
		const char *there =
			arena_fmt(arena, "A->B %s", judge(row[1], row[2], row[5], row[6]));
		const char *back =
			arena_fmt(arena, "B->A %s", judge(row[2], row[1], row[5], row[6]));
		if (strcmp(there, row[3]) != 0 || strcmp(back, row[4]) != 0)
			fail_msg("%s\n got %s | %s\nwant %s | %s", row[0], there, back, row[3],
				 row[4]);
		n = 0;
		rows++;
	}
	assert_true(rows >= 40);
}

/* Narrower first: {narrow, wide, a value that only the wide one takes}. */
static const struct {
	const char *narrow, *wide, *value;
} pairs[] = {
	{"{\"type\":\"integer\"}", "{\"type\":\"number\"}", "1.5"},
	{"{\"type\":\"integer\"}", "{\"x-kubernetes-int-or-string\":true}", "\"a\""},
	{"{\"type\":\"string\"}", "{\"x-kubernetes-int-or-string\":true}", "5"},
	{"{\"type\":\"string\"}", "{\"x-kubernetes-preserve-unknown-fields\":true}", "5"},
	{"{\"type\":\"string\",\"enum\":[\"a\"]}", "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}",
	 "\"b\""},
	{"{\"type\":\"string\",\"enum\":[\"a\"]}", "{\"type\":\"string\"}", "\"b\""},
	{"{\"type\":\"integer\",\"enum\":[1]}", "{\"type\":\"integer\"}", "2"},
	{"{\"type\":\"string\",\"maxLength\":2}", "{\"type\":\"string\",\"maxLength\":3}",
	 "\"abc\""},
	{"{\"type\":\"string\",\"maxLength\":2}", "{\"type\":\"string\"}", "\"abc\""},
	{"{\"type\":\"string\",\"minLength\":2}", "{\"type\":\"string\",\"minLength\":1}", "\"a\""},
	{"{\"type\":\"string\",\"minLength\":1}", "{\"type\":\"string\"}", "\"\""},
	{"{\"type\":\"integer\",\"maximum\":5}", "{\"type\":\"integer\",\"maximum\":6}", "6"},
	{"{\"type\":\"integer\",\"maximum\":5}", "{\"type\":\"integer\"}", "6"},
	{"{\"type\":\"integer\",\"minimum\":5}", "{\"type\":\"integer\",\"minimum\":4}", "4"},
	{"{\"type\":\"number\",\"minimum\":0,\"exclusiveMinimum\":true}",
	 "{\"type\":\"number\",\"minimum\":0}", "0"},
	{"{\"type\":\"integer\",\"multipleOf\":6}", "{\"type\":\"integer\",\"multipleOf\":3}", "3"},
	{"{\"type\":\"integer\",\"multipleOf\":6}", "{\"type\":\"integer\"}", "5"},
	{"{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":1}",
	 "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "[\"a\",\"b\"]"},
	{"{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1}",
	 "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "[]"},
	{"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},\"maxProperties\":1}",
	 "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},\"maxProperties\":2}",
	 "{\"a\":\"1\",\"b\":\"2\"}"},
	{"{\"type\":\"string\",\"pattern\":\"^a\"}", "{\"type\":\"string\"}", "\"b\""},
	{"{\"type\":\"string\",\"format\":\"date\"}", "{\"type\":\"string\"}", "\"b\""},
	{"{\"type\":\"string\"}", "{\"type\":\"string\",\"nullable\":true}", "null"},
	{"{\"type\":\"string\",\"anyOf\":[{\"enum\":[\"a\"]}]}",
	 "{\"type\":\"string\",\"anyOf\":[{\"enum\":[\"a\"]},{\"enum\":[\"b\"]}]}", "\"b\""},
	{"{\"type\":\"string\",\"anyOf\":[{\"enum\":[\"a\"]}]}", "{\"type\":\"string\"}", "\"b\""},
	{"{\"type\":\"string\",\"allOf\":[{\"enum\":[\"a\"]}]}", "{\"type\":\"string\"}", "\"b\""},
	{"{\"type\":\"string\",\"not\":{\"enum\":[\"b\"]}}", "{\"type\":\"string\"}", "\"b\""},
	{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}",
	 "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}", "{}"},
	{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}",
	 "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":"
	 "\"string\"}}}",
	 "{\"b\":\"1\"}"},
	{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}",
	 "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"x-kubernetes-"
	 "preserve-unknown-fields\":true}",
	 "{\"b\":\"1\"}"},
};

/* Where in spec.x the pair stands, and how a value is wrapped. */
static const struct {
	const char *schema, *value;
} places[] = {
	{"%s", "%s"},
	{"{\"type\":\"array\",\"items\":%s}", "[%s]"},
	{"{\"type\":\"object\",\"additionalProperties\":%s}", "{\"k\":%s}"},
	{"{\"type\":\"object\",\"properties\":{\"p\":{\"type\":\"array\",\"items\":{\"type\":"
	 "\"object\","
	 "\"properties\":{\"q\":%s}}}}}",
	 "{\"p\":[{\"q\":%s}]}"},
};

static const char *put(const char *form, const char *text)
{
	struct str before, after, s = str_of(form);
	ptrdiff_t at = str_find(s, STR("%s"));
	before = str_sub(s, 0, (size_t)at);
	after = str_skip(s, (size_t)at + 2);
	return arena_fmt(arena, "%.*s%s%.*s", STR_ARG(before), text, STR_ARG(after));
}

static void test_gate__widening_is_never_refused_and_narrowing_never_passes(void **state)
{
	(void)state;
	size_t widened = 0, narrowed = 0;
	for (size_t p = 0; p < ARRAY_LEN(places); p++)
		for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
			struct obj *narrow = crd_of(put(places[p].schema, pairs[i].narrow));
			struct obj *wide = crd_of(put(places[p].schema, pairs[i].wide));
			struct obj *live = object(put(places[p].value, pairs[i].value));
			struct gate *g = run(narrow, wide, live);
			if (gate_outcome(g) != FINDING_ALLOW)
				fail_msg("%s to %s: %s", pairs[i].narrow, pairs[i].wide,
					 summary(g));
			gate_free(g);
			widened++;
			g = run(wide, narrow, NULL);
			if (gate_outcome(g) == FINDING_ALLOW)
				fail_msg("passes: %s to %s", pairs[i].wide, pairs[i].narrow);
			gate_free(g);
			g = run(wide, narrow, live);
			if (gate_outcome(g) != FINDING_REFUSE)
				fail_msg("%s to %s with %s: %s", pairs[i].wide, pairs[i].narrow,
					 pairs[i].value, summary(g));
			gate_free(g);
			narrowed++;
		}
	assert_true(widened >= 60);
	assert_true(narrowed >= 100);
}

static void test_gate__an_object_that_was_invalid_before_is_no_finding(void **state)
{
	(void)state;
	struct gate *g =
		run(crd_of("{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}"),
		    crd_of("{\"type\":\"string\",\"enum\":[\"a\"]}"), object("\"old sin\""));
	assert_int_equal(gate_outcome(g), FINDING_WARN);
	gate_free(g);
}

static const char *const plain = "{\"type\":\"string\"}";

static void test_gate__a_message_names_everything(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	struct gate *g = run(crd_of(plain), crd_of("{\"type\":\"string\",\"enum\":[\"a\"]}"),
			     object("\"b\""));
	gate_finding_text(g, gate_finding(g, 0), &b);
	assert_string_equal(b.buf, "EnumNarrowed etcds.etcd.coreos.com/v1 spec.x: none -> [\"a\"]; "
				   "1 of 1 objects affected (default/a); change the objects first, "
				   "or waive the rule for this path");
	gate_free(g);
}

/* before, after: versions; the outcome and the first rule, without objects */
static void check_versions(const char *before, const char *after, const char *conversion_before,
			   const char *conversion_after, const char *want)
{
	struct gate *g = run(crd(before, conversion_before), crd(after, conversion_after), NULL);
	const char *got = arena_fmt(arena, "%s %s", word(gate_outcome(g)),
				    gate_count(g) ? gate_finding(g, 0)->rule : "-");
	if (strcmp(got, want) != 0)
		fail_msg("%s to %s: %s\n%s", before, after, got, summary(g));
	gate_free(g);
}

static void test_gate__versions_and_conversion(void **state)
{
	(void)state;
	const char *s = around(plain), *t = around("{\"type\":\"string\",\"maxLength\":3}");
	const char *v1 = version("v1", true, true, s), *v2 = version("v2", true, true, s);
	const char *both = arena_fmt(arena, "%s,%s", v1, version("v2", true, false, s));
	const char *moved = arena_fmt(arena, "%s,%s", version("v1", true, false, s), v2);
	const char *unserved = arena_fmt(arena, "%s,%s", version("v1", false, true, s),
					 version("v2", true, false, s));
	const char *tight = arena_fmt(arena, "%s,%s", v1, version("v2", true, false, t));
	const char *none = versions_none;
	const char *hook = "\"conversion\":{\"strategy\":\"Webhook\"}";
	check_versions(v1, v1, none, none, "allow -");
	check_versions(v1, both, none, none, "allow -");
	check_versions(both, moved, none, none, "allow StorageMoved");
	check_versions(v1, v2, none, none, "refuse VersionRemoved");
	check_versions(both, v1, none, none, "refuse VersionRemoved");
	check_versions(both, unserved, none, none, "refuse VersionUnserved");
	check_versions(unserved, v2, none, none, "refuse StoredVersionRemoved");
	check_versions(both, both, none, hook, "warn ConversionAdded");
	check_versions(both, both, hook, none, "warn ConversionRemoved");
	check_versions(tight, tight, hook, none, "refuse ConversionRemoved");
	check_versions(v1, tight, none, none, "warn CrossVersion");
	check_versions(v1, tight, hook, hook, "allow -");
	check_versions(tight, tight, none, none, "allow -"); /* they disagreed before */
	struct obj *before = crd(v1, none), *after = crd(v1, none);
	obj_set_path(after, "spec.scope", obj_string("Cluster"));
	obj_set_path(after, "spec.names.kind", obj_string("Other"));
	struct gate *g = run(before, after, NULL);
	assert_int_equal(gate_count(g), 2);
	assert_int_equal(gate_outcome(g), FINDING_REFUSE);
	gate_free(g);
	const struct gate_input in = {.before = before, .after = before, .server_refused = "no"};
	struct error err = ERROR_INIT;
	assert_ok(gate_begin(&in, &g, &err), &err);
	gate_finish(g);
	assert_string_equal(gate_finding(g, 0)->rule, "ServerRefused");
	gate_free(g);
}

static void test_gate__cross_version_field_that_the_new_version_lacks(void **state)
{
	(void)state;
	const char *s =
		around("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}");
	const char *t =
		around("{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"string\"}}}");
	const char *v1 = version("v1", true, true, s);
	check_versions(v1, arena_fmt(arena, "%s,%s", v1, version("v2", true, false, t)),
		       versions_none, versions_none, "refuse CrossVersion");
	/* the old version lacks a field of the new one: allowed */
	const char *u = around("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
			       "\"b\":{\"type\":\"string\"}}}");
	check_versions(v1, arena_fmt(arena, "%s,%s", v1, version("v2", true, false, u)),
		       versions_none, versions_none, "allow -");
	/* v2 gains a field while v1 changes too: no object has it yet */
	const char *a = "\"a\":{\"type\":\"string\",\"nullable\":true}";
	const char *x = around(arena_fmt(arena, "{\"type\":\"object\",\"properties\":{%s}}", a));
	const char *y = around(arena_fmt(
		arena, "{\"type\":\"object\",\"properties\":{%s,\"b\":{\"type\":\"string\"}}}", a));
	check_versions(arena_fmt(arena, "%s,%s", v1, version("v2", true, false, s)),
		       arena_fmt(arena, "%s,%s", version("v1", true, true, x),
				 version("v2", true, false, y)),
		       versions_none, versions_none, "allow -");
}

static void test_gate__subresources_and_selectable_fields(void **state)
{
	(void)state;
	struct obj *with = crd_of(plain), *without = crd_of(plain);
	struct obj *v = obj_at_mut(obj_get_mut(obj_get_mut(with, "spec"), "versions"), 0);
	obj_set(v, "subresources", obj_ref(parse("{\"status\":{}}")));
	obj_set(v, "selectableFields", obj_ref(parse("[{\"jsonPath\":\".spec.x\"}]")));
	struct gate *g = run(with, without, NULL);
	assert_string_equal(gate_finding(g, 0)->rule, "SubresourceRemoved");
	assert_string_equal(gate_finding(g, 1)->rule, "SelectableRemoved");
	assert_int_equal(gate_outcome(g), FINDING_REFUSE);
	gate_free(g);
	g = run(without, with, NULL);
	assert_int_equal(gate_outcome(g), FINDING_WARN);
	gate_free(g);
}

static const char *const managed_object =
	"{\"apiVersion\":\"etcd.coreos.com/v1\",\"kind\":\"Etcd\",\"metadata\":{\"name\":"
	"\"etcd-purple-ant\",\"namespace\":\"default\",\"managedFields\":[{\"manager\":"
	"\"kubectl-create\",\"operation\":\"Update\",\"apiVersion\":\"etcd.coreos.com/"
	"v1\",\"time\":"
	"\"2026-01-01T00:00:00Z\"},{\"manager\":\"other\",\"operation\":\"Update\",\"apiVersion\":"
	"\"etcd.coreos.com/v1\",\"time\":\"2026-01-01T00:00:00Z\"},{\"manager\":\"other\","
	"\"operation\":\"Update\",\"apiVersion\":\"etcd.coreos.com/v2\",\"time\":"
	"\"2026-01-02T00:00:00Z\"}]},\"spec\":{}}";

static struct gate *dropped_by(const struct obj *before, const struct obj *after,
			       const struct gate_waiver *waiver)
{
	static const char *const old[] = {"etcds.etcd.coreos.com/v1", "etcds.etcd.coreos.com/v2"};
	static const char *const new[] = {"etcds.etcd.coreos.com/v2"};
	const struct gate_input in = {.before = before,
				      .after = after,
				      .managed_before = old,
				      .n_managed_before = 2,
				      .managed_after = new,
				      .n_managed_after = 1,
				      .waivers = waiver,
				      .n_waivers = waiver != NULL,
				      .now_ns = INT64_C(1800000000) * NS_PER_S};
	struct gate *g = NULL;
	struct error err = ERROR_INIT;
	assert_ok(gate_begin(&in, &g, &err), &err);
	assert_true(gate_wants_objects(g));
	gate_object(g, parse(managed_object), "v1");
	gate_finish(g);
	return g;
}

static struct gate *dropped(const struct obj *before, const struct gate_waiver *waiver)
{
	return dropped_by(before, before, waiver);
}

static struct obj *two_versions(void)
{
	const char *s = around(plain);
	return crd(arena_fmt(arena, "%s,%s", version("v1", true, true, s),
			     version("v2", true, false, s)),
		   versions_none);
}

static void test_gate__a_dropped_resource_blocks_until_it_is_migrated(void **state)
{
	(void)state;
	struct obj *before = two_versions();
	struct gate *g = dropped(before, NULL);
	assert_int_equal(gate_outcome(g), FINDING_REFUSE);
	const struct gate_finding *f = gate_finding(g, 0);
	assert_string_equal(f->rule, "ResourceDropped");
	assert_string_equal(f->resource, "etcds.etcd.coreos.com/v1");
	assert_string_equal(f->note, "1 object, stored, last written through by kubectl-create");
	assert_string_equal(f->remedy, "alm crd migrate etcds.etcd.coreos.com --to v2");
	gate_free(g);
	obj_set_path(before, "status.storedVersions", obj_ref(parse("[\"v2\"]")));
	obj_set_path(before, "metadata.annotations", obj_map());
	struct obj *notes = obj_get_mut(obj_get_mut(before, "metadata"), "annotations");
	obj_set_str(notes, "app.coreos.com/migrated-from.v1", "2026-01-01T00:00:01Z");
	g = dropped(before, NULL);
	assert_int_equal(gate_outcome(g), FINDING_WARN);
	gate_free(g);
	obj_set_str(notes, "app.coreos.com/migrated-from.v1", "2025-12-31T00:00:00Z");
	g = dropped(before, NULL); /* somebody wrote through v1 since */
	assert_int_equal(gate_outcome(g), FINDING_REFUSE);
	gate_free(g);
}

/* Whatever of the version's going is refused has the migration as its step. */
static void test_gate__a_stored_version_that_goes_has_the_same_step(void **state)
{
	(void)state;
	size_t n = 0;
	struct obj *after = crd(version("v2", true, true, around(plain)), versions_none);
	struct gate *g = dropped_by(two_versions(), after, NULL);
	for (size_t i = 0; i < gate_count(g); i++) {
		const struct gate_finding *f = gate_finding(g, i);
		bool goes = !strcmp(f->rule, "ResourceDropped") ||
			    !strcmp(f->rule, "StoredVersionRemoved");
		n += goes;
		if (goes && !cstr_eq(f->command, "alm crd migrate etcds.etcd.coreos.com --to v2"))
			fail_msg("%s: %s", f->rule, f->command);
	}
	assert_int_equal(n, 2);
	gate_free(g);
}

/* What is no list says nothing with its items. */
static void test_gate__items_of_what_is_no_list(void **state)
{
	(void)state;
	struct gate *g = run(crd_of("{\"type\":\"string\"}"),
			     crd_of("{\"type\":\"string\",\"items\":{\"type\":\"string\"}}"), NULL);
	assert_int_equal(gate_outcome(g), FINDING_ALLOW);
	gate_free(g);
}

static void test_gate__waivers_name_rule_resource_reason_and_time(void **state)
{
	(void)state;
	struct gate_waiver w = {.rule = "ResourceDropped",
				.resource = "etcds.etcd.coreos.com/v1",
				.reason = "tested"};
	const size_t *unused;
	struct gate *g = dropped(two_versions(), &w);
	assert_int_equal(gate_outcome(g), FINDING_ALLOW);
	assert_true(gate_finding(g, 0)->waived);
	assert_int_equal(gate_unused_waivers(g, &unused), 0);
	gate_free(g);
	w.expires_ns = 1;
	g = dropped(two_versions(), &w);
	assert_int_equal(gate_outcome(g), FINDING_REFUSE);
	assert_int_equal(gate_unused_waivers(g, &unused), 1);
	gate_free(g);
	w.expires_ns = 0;
	w.resource = "etcds.etcd.coreos.com/v2";
	g = dropped(two_versions(), &w);
	assert_int_equal(gate_outcome(g), FINDING_REFUSE);
	gate_free(g);
}

/* One finding, EnumNarrowed at spec.x that an object proves; a waiver of it, with one thing
 * changed. */
static enum finding_outcome waived(const struct gate_waiver *waiver, size_t *ret_unused)
{
	const struct gate_input in = {.before = crd_of("{\"type\":\"string\"}"),
				      .after = crd_of("{\"type\":\"string\",\"enum\":[\"a\"]}"),
				      .waivers = waiver,
				      .n_waivers = 1,
				      .now_ns = 100};
	const size_t *unused;
	struct gate *g = NULL;
	struct error err = ERROR_INIT;
	assert_ok(gate_begin(&in, &g, &err), &err);
	gate_object(g, object("\"b\""), "v1");
	gate_finish(g);
	enum finding_outcome outcome = gate_outcome(g);
	assert_true(gate_finding(g, 0)->waived == (outcome == FINDING_ALLOW));
	*ret_unused = gate_unused_waivers(g, &unused);
	gate_free(g);
	return outcome;
}

static void test_gate__a_waiver_of_a_path_names_all_of_it(void **state)
{
	(void)state;
	const struct gate_waiver good = {.rule = "EnumNarrowed",
					 .resource = "etcds.etcd.coreos.com/v1",
					 .path = "spec.x",
					 .reason = "tested",
					 .expires_ns = 101};
	struct gate_waiver bad[8];
	size_t unused;
	assert_int_equal(waived(&good, &unused), FINDING_ALLOW);
	assert_int_equal(unused, 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		bad[i] = good;
	bad[0].rule = "PatternChanged";
	bad[1].resource = "etcds.etcd.coreos.com/v2";
	bad[2].resource = "*";
	bad[3].path = "spec";
	bad[4].path = NULL; /* of the whole resource: this rule is waived path by path */
	bad[5].reason = "";
	bad[6].reason = NULL;
	bad[7].expires_ns = 100; /* now */
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (waived(&bad[i], &unused) != FINDING_REFUSE)
			fail_msg("waiver %zu", i);
		assert_int_equal(unused, 1);
	}
}

static void test_gate__a_waiver_of_a_resource_may_name_the_path(void **state)
{
	(void)state;
	struct gate_waiver w = {.rule = "ResourceDropped",
				.resource = "etcds.etcd.coreos.com/v1",
				.path = "spec.x",
				.reason = "tested"};
	struct gate *g = dropped(two_versions(), &w);
	assert_int_equal(gate_outcome(g), FINDING_REFUSE); /* the finding has no path */
	gate_free(g);
	w.path = "";
	g = dropped(two_versions(), &w);
	assert_int_equal(gate_outcome(g), FINDING_ALLOW);
	gate_free(g);
}

static void test_gate__too_many_findings_refuse(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf x = STRBUF_INIT(LIMIT), y = STRBUF_INIT(LIMIT);
	for (int i = 0; i < GATE_FINDINGS_MAX + 10; i++) {
		strbuf_addf(&x, "%s\"f%d\":{\"type\":\"string\"}", i ? "," : "", i);
		strbuf_addf(&y, "%s\"f%d\":{\"type\":\"string\",\"maxLength\":9}", i ? "," : "", i);
	}
	const char *form = "{\"type\":\"object\",\"properties\":{%s}}";
	struct gate *g = run(crd_of(put(form, x.buf)), crd_of(put(form, y.buf)), NULL);
	assert_int_equal(gate_count(g), GATE_FINDINGS_MAX);
	assert_int_equal(gate_outcome(g), FINDING_REFUSE);
	assert_string_equal(gate_finding(g, GATE_FINDINGS_MAX - 1)->rule, "KeywordUnknown");
	assert_int_equal(gate_waivable(g, gate_finding(g, 0)), WAIVE_NEVER);
	gate_free(g);
	/* no waiver helps: nobody knows what it would accept besides */
	const struct gate_waiver w = {.rule = "BoundTightened",
				      .resource = "etcds.etcd.coreos.com/v1",
				      .path = "spec.x.f0",
				      .reason = "r"};
	const char *one = "\"f0\":{\"type\":\"string\"}";
	const char *bound = "\"f0\":{\"type\":\"string\",\"maxLength\":9}";
	for (int over = 1; over >= 0; over--) {
		const struct gate_input in = {.before = crd_of(put(form, over ? x.buf : one)),
					      .after = crd_of(put(form, over ? y.buf : bound)),
					      .waivers = &w,
					      .n_waivers = 1};
		struct error err = ERROR_INIT;
		assert_ok(gate_begin(&in, &g, &err), &err);
		gate_finish(g);
		assert_int_equal(gate_finding(g, 0)->waived, !over);
		gate_free(g);
	}
}

static void test_gate__usage_speaks_as_the_story(void **state)
{
	(void)state;
	static const char *const keep[] = {"v2", NULL};
	struct usage u;
	usage_begin(&u, two_versions(), "v1", keep, arena);
	usage_object(&u, parse(managed_object));
	usage_end(&u);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	usage_text(&u, &b);
	assert_string_equal(b.buf, "1 object, stored, last written through by kubectl-create");
}

static void test_gate__incomplete_check_refuses(void **state)
{
	(void)state;
	struct gate *g = begin(crd_of(plain), crd_of("{\"type\":\"string\",\"maxLength\":1}"));
	gate_incomplete(g, "500 of 1000 objects", NULL);
	assert_int_equal(gate_outcome(g), FINDING_REFUSE);
	gate_free(g);
}

static void test_gate__shadow_validation_decides_rules(void **state)
{
	(void)state;
	const char *ruled =
		"{\"type\":\"string\",\"x-kubernetes-validations\":[{\"rule\":\"self != "
		"'b'\"}]}";
	struct gate *g = begin(crd_of(plain), crd_of(ruled));
	gate_shadow(g, object("\"a\""), "v1", NULL);
	gate_finish(g);
	assert_int_equal(gate_outcome(g), FINDING_WARN);
	assert_string_equal(gate_finding(g, 0)->note, "evaluated by the server");
	gate_free(g);
	g = begin(crd_of(plain), crd_of(ruled));
	gate_shadow(g, object("\"b\""), "v1", "spec.x: failed rule");
	gate_finish(g);
	assert_int_equal(gate_outcome(g), FINDING_REFUSE);
	gate_free(g);
}

/* --- property: whatever is allowed, every old object passes a brute-force validator --- */

static uint32_t seed;

static uint32_t next_random(uint32_t bound)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % bound;
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the caller says */
static struct obj *random_schema(unsigned depth);

static void random_properties(struct obj *o, unsigned depth)
{
	struct obj *properties = obj_map(), *required = obj_list();
	obj_set_str(o, "type", "object");
	for (int c = 'a'; c < 'd'; c++) {
		char name[] = {(char)c, '\0'};
		if (next_random(2))
			continue;
		obj_set(properties, name, random_schema(depth - 1));
		if (next_random(4) == 0)
			obj_append(required, obj_string(name));
	}
	obj_set(o, "properties", properties);
	obj_set(o, "required", required);
	if (next_random(4) == 0)
		obj_set_bool(o, "x-kubernetes-preserve-unknown-fields", true);
}

static void random_string(struct obj *o)
{
	obj_set_str(o, "type", "string");
	if (next_random(3) == 0)
		obj_set_int(o, "maxLength", 1 + (int64_t)next_random(3));
	if (next_random(3) == 0)
		obj_set(o, "enum", obj_ref(parse(next_random(2) ? "[\"a\"]" : "[\"a\",\"bb\"]")));
	if (next_random(4) == 0)
		obj_set_str(o, "pattern", next_random(2) ? "^a" : "b$");
}

static struct obj *random_schema(unsigned depth)
{
	struct obj *o = obj_map();
	uint32_t kind = next_random(depth ? 7 : 4);
	if (kind == 0) {
		obj_set_str(o, "type", "integer");
		if (next_random(3) == 0)
			obj_set_int(o, "maximum", 1 + (int64_t)next_random(3));
		if (next_random(3) == 0)
			obj_set_int(o, "minimum", (int64_t)next_random(3));
	} else if (kind == 1) {
		random_string(o);
	} else if (kind == 2) {
		obj_set_bool(o, "x-kubernetes-int-or-string", true);
	} else if (kind == 3) {
		obj_set_str(o, "type", "number");
	} else if (kind == 4) {
		obj_set_str(o, "type", "array");
		obj_set(o, "items", random_schema(depth - 1));
		if (next_random(3) == 0)
			obj_set_int(o, "maxItems", (int64_t)next_random(3));
	} else if (kind == 5) {
		obj_set_str(o, "type", "object");
		obj_set(o, "additionalProperties", random_schema(depth - 1));
	} else {
		random_properties(o, depth);
	}
	if (next_random(6) == 0)
		obj_set_bool(o, "nullable", true);
	return o;
}

/* The same schema with one keyword or child changed. */
static struct obj *mutated(const struct obj *schema, unsigned depth)
{
	struct obj *o = obj_copy(schema);
	struct obj *properties = obj_get_mut(o, "properties");
	if (next_random(3) == 0)
		return obj_unref(o), random_schema(depth);
	if (obj_len(properties) > 0 && depth > 0) {
		OBJ_EACH (it, obj_get(schema, "properties"))
			if (next_random(2))
				obj_set(properties, it.key, mutated(it.value, depth - 1));
		if (next_random(4) == 0)
			obj_del(o, "required");
	} else if (obj_has(o, "items") && depth > 0) {
		obj_set(o, "items", mutated(obj_get(schema, "items"), depth - 1));
	} else if (next_random(2)) {
		obj_set_int(o, "maxLength", (int64_t)next_random(4));
		obj_set_int(o, "maximum", (int64_t)next_random(4));
	} else {
		obj_del(o, next_random(2) ? "enum" : "maximum");
	}
	return o;
}

static struct obj *random_value(unsigned depth)
{
	static const char *const texts[] = {"", "a", "bb", "ab", "abc"};
	switch (next_random(depth ? 7 : 5)) {
	case 0:
	case 1:
		return obj_int((int64_t)next_random(5));
	case 2:
	case 3:
		return obj_string(texts[next_random(5)]);
	case 4:
		return next_random(2) ? obj_null() : obj_number(STR("1.5"));
	case 5: {
		struct obj *list = obj_list();
		for (uint32_t i = next_random(4); i > 0; i--)
			obj_append(list, random_value(depth - 1));
		return list;
	}
	default: {
		struct obj *map = obj_map();
		for (int c = 'a'; c < 'e'; c++) {
			char name[] = {(char)c, '\0'};
			if (next_random(2))
				obj_set(map, name, random_value(depth - 1));
		}
		return map;
	}
	}
}
/* NOLINTEND(misc-no-recursion) */

/* A value that the schema takes, by trying. */
static struct obj *value_for(const struct schema *s)
{
	for (int i = 0; i < 40; i++) {
		struct obj *o = obj_keep(arena, obj_map()), *spec = obj_map();
		obj_set(spec, "x", random_value(3));
		obj_set(o, "spec", spec);
		obj_set(o, "metadata", obj_ref(parse("{\"name\":\"a\"}")));
		schema_prune(s, o, NULL, NULL);
		schema_default(s, o);
		if (schema_accepts(s, o) && obj_path(o, "spec.x"))
			return o;
	}
	return NULL;
}

static void brute_force(const struct obj *before, const struct obj *after, size_t *ret_allowed)
{
	struct schema *x = NULL, *y = NULL;
	struct error err = ERROR_INIT;
	const char *path = "spec.versions[0].schema.openAPIV3Schema";
	assert_ok(schema_compile(obj_path(before, path), &x, &err), &err);
	assert_ok(schema_compile(obj_path(after, path), &y, &err), &err);
	struct gate *blind = run(before, after, NULL);
	for (int i = 0; i < 12; i++) {
		struct obj *o = value_for(x);
		if (!o)
			continue;
		struct obj *new = obj_keep(arena, obj_copy(o));
		schema_prune(y, new, NULL, NULL);
		bool same = obj_equal(new, o);
		schema_default(y, new);
		bool fine = same && schema_accepts(y, new);
		struct gate *g = run(before, after, o);
		if (!fine &&
		    (gate_outcome(g) != FINDING_REFUSE || gate_outcome(blind) == FINDING_ALLOW))
			fail_msg("seed %u: %s is lost, but %s\n%s\n%s\n%s", seed, text_of(o),
				 word(gate_outcome(g)), summary(g), text_of(obj_path(before, path)),
				 text_of(obj_path(after, path)));
		gate_free(g);
	}
	*ret_allowed += gate_outcome(blind) == FINDING_ALLOW;
	gate_free(blind);
	schema_free(x);
	schema_free(y);
}

static void test_gate__what_is_allowed_loses_no_object(void **state)
{
	(void)state;
	size_t allowed = 0;
	for (uint32_t i = 0; i < 400; i++) {
		seed = i * 7919;
		struct obj *a = obj_keep(arena, random_schema(3));
		struct obj *b = obj_keep(arena, mutated(a, 3));
		brute_force(crd_of(text_of(a)), crd_of(text_of(b)), &allowed);
		if (i % 20 == 19) {
			arena_free(arena);
			arena = arena_new(LIMIT);
		}
	}
	assert_true(allowed > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_gate__rows_of_the_table),
		CASE(test_gate__widening_is_never_refused_and_narrowing_never_passes),
		CASE(test_gate__an_object_that_was_invalid_before_is_no_finding),
		CASE(test_gate__a_message_names_everything),
		CASE(test_gate__versions_and_conversion),
		CASE(test_gate__cross_version_field_that_the_new_version_lacks),
		CASE(test_gate__subresources_and_selectable_fields),
		CASE(test_gate__a_dropped_resource_blocks_until_it_is_migrated),
		CASE(test_gate__waivers_name_rule_resource_reason_and_time),
		CASE(test_gate__a_stored_version_that_goes_has_the_same_step),
		CASE(test_gate__items_of_what_is_no_list),
		CASE(test_gate__a_waiver_of_a_path_names_all_of_it),
		CASE(test_gate__a_waiver_of_a_resource_may_name_the_path),
		CASE(test_gate__too_many_findings_refuse),
		CASE(test_gate__usage_speaks_as_the_story),
		CASE(test_gate__incomplete_check_refuses),
		CASE(test_gate__shadow_validation_decides_rules),
		CASE(test_gate__what_is_allowed_loses_no_object),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
