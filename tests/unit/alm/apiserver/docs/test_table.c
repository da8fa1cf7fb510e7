#include "alm/apiserver/docs/table.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "tests/lib/golden.h"
#include "tests/lib/test.h"

static const struct kind_column widget_columns[] = {
	{.name = "Size", .type = "integer", .format = "", .json_path = ".spec.size"},
	{.name = "Phase",
	 .type = "string",
	 .format = "",
	 .json_path = ".status.phase",
	 .priority = 1},
	{.name = "Age", .type = "date", .format = "", .json_path = ".metadata.creationTimestamp"},
};

static const struct kind widget = {
	.group = "golden.example.com",
	.version = "v1",
	.kind = "Widget",
	.list_kind = "WidgetList",
	.plural = "widgets",
	.singular = "widget",
	.flags = KIND_NAMESPACED | KIND_CUSTOM,
	.columns = widget_columns,
	.n_columns = ARRAY_LEN(widget_columns),
};

static int64_t at(const char *time)
{
	int64_t ns;
	assert_true(clock_parse(str_of(time), &ns));
	return ns;
}

static struct obj *parse(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static struct obj *one_row(const struct kind *k, const struct accept *a, const struct obj *o,
			   int64_t now_ns)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct list_meta meta = {"7", NULL, -1};
	table_begin(&b, k, a, &meta, true);
	table_row(&b, k, a, o, now_ns, true);
	table_end(&b);
	return parse(b.buf);
}

/* Names, types, formats, priorities; descriptions are our own. */
static void assert_columns(const struct obj *got, const struct obj *want)
{
	const struct obj *g = obj_get(got, "columnDefinitions"),
			 *w = obj_get(want, "columnDefinitions");
	assert_int_equal(obj_len(g), obj_len(w));
	for (size_t i = 0; i < obj_len(w); i++) {
		static const char *const members[] = {"name", "type", "format", "priority"};
		for (size_t j = 0; j < ARRAY_LEN(members); j++)
			if (!obj_equal(obj_get(obj_at(g, i), members[j]),
				       obj_get(obj_at(w, i), members[j])))
				fail_msg("column %zu: %s differs", i, members[j]);
	}
}

static void assert_row(const struct obj *got, const struct obj *want, size_t want_row)
{
	const struct obj *g = obj_get(obj_at(obj_get(got, "rows"), 0), "cells");
	const struct obj *w = obj_get(obj_at(obj_get(want, "rows"), want_row), "cells");
	CLEANUP(xfreep) char *gt = json_text(g);
	CLEANUP(xfreep) char *wt = json_text(w);
	assert_string_equal(gt, wt);
	g = obj_get(obj_at(obj_get(got, "rows"), 0), "object");
	w = obj_get(obj_at(obj_get(want, "rows"), want_row), "object");
	assert_true(obj_equal(g, w));
}

static void check(int n_answer, const struct kind *k, const struct obj *o, const char *now,
		  enum table_include include)
{
	CLEANUP(obj_unrefp) struct obj *golden = golden_case(n_answer);
	struct accept a = {.as = AS_TABLE, .as_version = "v1", .include = include};
	CLEANUP(obj_unrefp) struct obj *got = one_row(k, &a, o, at(now));
	const struct obj *want = obj_get(golden, "resp");
	assert_columns(got, want);
	assert_row(got, want, 0);
	assert_string_equal(obj_str(got, "apiVersion"), "meta.k8s.io/v1");
	assert_string_equal(obj_str(got, "metadata.resourceVersion"), "7");
}

static void test_table__custom_columns_as_recorded(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *golden = golden_case(93);
	const struct obj *o = obj_path(golden, "resp.rows[0].object");
	assert_non_null(o);
	check(93, &widget, o, "2026-11-21T04:51:33Z", INCLUDE_OBJECT);
	check(92, &widget, o, "2026-11-21T04:51:33Z", INCLUDE_NONE);
}

static void check_builtin(int n_answer, int n_object, const char *group, const char *kind,
			  const char *now)
{
	CLEANUP(kinds_freep) struct kinds *kinds = kinds_new();
	CLEANUP(obj_unrefp) struct obj *source = golden_case(n_object);
	const struct kind *k = kinds_find_kind(kinds, group, "v1", kind);
	assert_non_null(k);
	check(n_answer, k, obj_get(source, "resp"), now, INCLUDE_METADATA);
}

static void test_table__builtin_columns_as_recorded(void **state)
{
	(void)state;
	check_builtin(171, 170, "coordination.k8s.io", "Lease", "2026-11-21T04:51:44Z");
	check_builtin(174, 173, "", "Event", "2026-11-21T04:51:44Z");
}

/* As a 1.36 has them. */
static void test_table__columns_of_a_quota(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *kinds = kinds_new();
	const struct kind *k = kinds_find_kind(kinds, "", "v1", "ResourceQuota");
	CLEANUP(obj_unrefp) struct obj *o = parse(
		"{\"metadata\":{\"name\":\"q\",\"creationTimestamp\":\"2020-01-01T00:00:00Z\"},"
		"\"status\":{\"hard\":{\"pods\":\"2\",\"limits.cpu\":\"2\",\"count/secrets\":\"3\","
		"\"requests.cpu\":\"1\"},\"used\":{\"pods\":\"1\",\"count/secrets\":\"0\","
		"\"requests.cpu\":\"500m\",\"limits.cpu\":\"1\"}}}");
	const struct accept a = {.as = AS_TABLE, .as_version = "v1", .include = INCLUDE_NONE};
	CLEANUP(obj_unrefp) struct obj *got = one_row(k, &a, o, at("2020-01-01T00:00:09Z"));
	CLEANUP(xfreep) char *cells = json_text(obj_path(got, "rows[0].cells"));
	assert_string_equal(cells, "[\"q\",\"count/secrets: 0/3, pods: 1/2, requests.cpu: 500m/1\","
				   "\"limits.cpu: 1/2\",\"9s\"]");
	assert_string_equal(obj_str(got, "columnDefinitions[1].name"), "Request");
	assert_string_equal(obj_str(got, "columnDefinitions[2].name"), "Limit");
}

static void check_recorded(struct kinds *kinds, const struct obj *c)
{
	const char *group_version = obj_str(c, "apiVersion"), *slash = strchr(group_version, '/');
	const char *version = slash ? slash + 1 : group_version;
	CLEANUP(xfreep) char *group =
		slash ? xstrndup(group_version, (size_t)(slash - group_version)) : xstrdup("");
	const struct kind *k = kinds_find_kind(kinds, group, version, obj_str(c, "kind"));
	const struct obj *o = obj_get(c, "object"), *columns = obj_get(c, "columns");
	const struct accept a = {.as = AS_TABLE, .as_version = "v1", .include = INCLUDE_NONE};
	assert_non_null(k);
	CLEANUP(obj_unrefp) struct obj *got =
		one_row(k, &a, o, at(obj_str(o, "metadata.creationTimestamp")));
	const struct obj *head = obj_get(got, "columnDefinitions");
	const struct obj *cells = obj_path(got, "rows[0].cells");
	assert_int_equal(obj_len(head), obj_len(columns));
	for (size_t i = 0; i < obj_len(columns); i++) {
		static const char *const members[] = {"name", "type", "format", "priority"};
		const struct obj *column = obj_at(columns, i);
		const struct obj *want = obj_at(obj_get(c, "cells"), i);
		const char *name = obj_as_string(obj_at(column, 0));
		for (size_t j = 0; j < ARRAY_LEN(members); j++)
			if (!obj_equal(obj_get(obj_at(head, i), members[j]), obj_at(column, j)))
				fail_msg("%s: %s of %s differs", k->kind, members[j], name);
		if (!cstr_eq(name, "Age") && !obj_equal(obj_at(cells, i), want))
			fail_msg("%s: the cell of %s differs: %s", k->kind, name,
				 obj_as_string(obj_at(cells, i)));
	}
}

/* What a real server showed of the same objects (tests/golden/kube-api/columns.py). */
static void test_table__builtin_columns_of_a_real_server(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *kinds = kinds_new();
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 20);
	struct error err = ERROR_INIT;
	size_t n = 0;
	assert_ok(file_read("tests/golden/kube-api/columns.jsonl", &text, &err), &err);
	for (struct str rest = strbuf_str(&text), line; str_next(&rest, '\n', &line);) {
		if (!line.len)
			continue;
		struct obj *c = NULL;
		assert_ok(json_parse(line, &c, &err), &err);
		check_recorded(kinds, c);
		obj_unref(c);
		n++;
	}
	assert_true(n >= 24);
}

static void test_table__ready_containers_of_a_pod(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"{\"spec\":{\"containers\":[{},{},{}]},\"status\":{\"containerStatuses\":["
		 "{\"ready\":true},{\"ready\":false},{\"ready\":true}]}}",
		 "2/3"},
		{"{\"spec\":{\"containers\":[{}]},\"status\":{}}", "0/1"},
	};
	CLEANUP(kinds_freep) struct kinds *kinds = kinds_new();
	const struct kind *k = kinds_find_kind(kinds, "", "v1", "Pod");
	const struct accept a = {.as = AS_TABLE, .as_version = "v1", .include = INCLUDE_NONE};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(obj_unrefp) struct obj *o = parse(cases[i][0]);
		CLEANUP(obj_unrefp) struct obj *got = one_row(k, &a, o, 0);
		const char *ready = obj_str(got, "rows[0].cells[1]");
		assert_non_null(ready);
		assert_string_equal(ready, cases[i][1]);
	}
}

static void test_table__cells_follow_the_type_of_the_column(void **state)
{
	(void)state;
	static const struct {
		const char *type, *value, *cell;
	} cases[] = {
		{"integer", "4", "4"},
		{"integer", "4.9", "4"},
		{"integer", "\"4\"", "null"},
		{"number", "4.5", "4.5"},
		{"number", "true", "null"},
		{"boolean", "true", "true"},
		{"boolean", "\"true\"", "null"},
		{"string", "\"a\"", "\"a\""},
		{"string", "4", "\"4\""},
		{"string", "[1,2]", "\"[1,2]\""},
		{"string", "null", "null"},
		{"date", "\"2020-01-01T00:00:00Z\"", "\"9s\""},
		{"date", "\"yesterday\"", "\"<invalid>\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct kind_column c = {
			.name = "V", .type = cases[i].type, .format = "", .json_path = ".v"};
		struct kind k = widget;
		struct accept a = {
			.as = AS_TABLE, .as_version = "v1beta1", .include = INCLUDE_NONE};
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "{\"metadata\":{\"name\":\"x\"},\"v\":%s}", cases[i].value);
		CLEANUP(obj_unrefp) struct obj *o = parse(b.buf);
		k.columns = &c;
		k.n_columns = 1;
		CLEANUP(obj_unrefp) struct obj *got =
			one_row(&k, &a, o, at("2020-01-01T00:00:09Z"));
		CLEANUP(xfreep) char *cell = json_text(obj_path(got, "rows[0].cells[1]"));
		assert_string_equal(cell, cases[i].cell);
	}
}

static void test_table__later_events_carry_no_columns(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct list_meta meta = {"9", "next", 3};
	struct accept a = {.as = AS_TABLE, .as_version = "v1"};
	table_begin(&b, &widget, &a, &meta, false);
	table_end(&b);
	assert_string_equal(b.buf,
			    "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"
			    "\"resourceVersion\":\"9\",\"continue\":\"next\","
			    "\"remainingItemCount\":3},\"columnDefinitions\":null,\"rows\":[]}");
}

/* Objects are stored unchecked: no printer may trip over an empty or odd one. */
static void test_table__every_printer_survives_odd_objects(void **state)
{
	(void)state;
	static const char *const odd[] = {
		"{}", "{\"metadata\":1,\"spec\":[],\"status\":\"x\",\"data\":7,\"subjects\":{}}",
		"{\"metadata\":{\"creationTimestamp\":5,\"labels\":[1]},\"spec\":{\"ports\":[1,"
		"null],"
		"\"selector\":\"x\",\"rules\":[null],\"template\":{\"spec\":{\"containers\":[[]]}}}"
		","
		"\"status\":{\"conditions\":[1],\"containerStatuses\":[null],\"loadBalancer\":{"
		"\"ingress\":[{}]},\"accessModes\":[1]},\"subjects\":[1],\"subsets\":[{"
		"\"addresses\":["
		"1],\"ports\":[1]}],\"webhooks\":1}"};
	CLEANUP(kinds_freep) struct kinds *kinds = kinds_new();
	size_t n;
	const struct kind *const *all = kinds_all(kinds, &n);
	struct accept a = {.as = AS_TABLE, .as_version = "v1"};
	for (size_t i = 0; i < n * ARRAY_LEN(odd); i++) {
		CLEANUP(obj_unrefp) struct obj *o = parse(odd[i % ARRAY_LEN(odd)]);
		const struct kind *k = all[i / ARRAY_LEN(odd)];
		CLEANUP(obj_unrefp) struct obj *got = one_row(k, &a, o, 0);
		assert_int_equal(obj_len(obj_path(got, "rows[0].cells")),
				 k->columns ? k->n_columns : 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table__custom_columns_as_recorded),
		cmocka_unit_test(test_table__builtin_columns_as_recorded),
		cmocka_unit_test(test_table__columns_of_a_quota),
		cmocka_unit_test(test_table__builtin_columns_of_a_real_server),
		cmocka_unit_test(test_table__ready_containers_of_a_pod),
		cmocka_unit_test(test_table__cells_follow_the_type_of_the_column),
		cmocka_unit_test(test_table__later_events_carry_no_columns),
		cmocka_unit_test(test_table__every_printer_survives_odd_objects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
