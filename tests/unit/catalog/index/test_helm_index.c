#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "catalog/index/entry.h"
#include "catalog/index/helm_index.h"

#define DIGEST "aef445500000000000000000000000000000000000000000000000000000000a"

/* Reads an index of https://charts.example/stable/ into a catalog index. */
static struct catalog_index *read_index(const char *text, unsigned flags, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(HELM_LINES_BYTES_MAX);
	CLEANUP(index_freep) struct catalog_index *x = index_new("test", 0);
	struct weburl base;
	assert_ok(weburl_parse(STR("https://charts.example/stable/index.yaml"), "https", a, &base,
			       err),
		  err);
	if (helm_index_read(str_of(text), &base, flags, &lines, err) < 0)
		return NULL;
	struct str rest = strbuf_str(&lines);
	int more;
	do {
		more = entry_read_lines(x, &rest, 1, err);
	} while (more > 0);
	if (more < 0 || index_finish(x, STR_NONE, err) < 0)
		return NULL;
	return STEAL(x);
}

static void test_helm_index__versions_come_with_place_digest_and_descriptor(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = read_index(
		"apiVersion: v1\ngenerated: \"2024-01-01T00:00:00Z\"\nentries:\n  etcd:\n"
		"  - name: etcd\n    version: 0.9.6\n    digest: sha256:" DIGEST "\n"
		"    urls: [etcd-0.9.6.tgz]\n    annotations:\n"
		"      app.coreos.com/package: |\n        provides: [etcds.etcd.coreos.com/v1]\n"
		"        replaces: 0.9.4\n"
		"  - name: etcd\n    version: 0.9.4\n    digest: " DIGEST "\n    deprecated: true\n"
		"    urls: [\"https://cdn.example/etcd.tgz\"]\n"
		"  - name: etcd\n    version: 0.9.1\n    removed: true\n",
		0, &err);
	if (!x)
		fail_msg("%s", err.msg);
	assert_int_equal(x->n, 2);
	assert_int_equal(x->n_rejected, 0);
	const struct package_version *p = x->versions[0];
	assert_string_equal(p->locator, "https://charts.example/stable/etcd-0.9.6.tgz");
	assert_string_equal(p->digest, DIGEST);
	assert_string_equal(p->provides[0], "etcds.etcd.coreos.com/v1");
	assert_string_equal(p->replaces, "0.9.4");
	assert_true(p->unread);
	assert_string_equal(x->versions[1]->locator, "https://cdn.example/etcd.tgz");
	assert_true(x->versions[1]->deprecated);
}

static void test_helm_index__a_bad_entry_is_named_and_the_rest_is_used(void **state)
{
	static const struct {
		const char *entry, *want;
	} rows[] = {
		{"{name: etcd, version: 0.9.5, urls: [x.tgz]}", "MissingDigest"},
		{"{name: etcd, version: 0.9.5, digest: abc, urls: [x.tgz]}", "no SHA-256"},
		{"{name: etcd, version: 0.9.5, digest: " DIGEST "}", "nowhere to fetch"},
		{"{name: etcd, version: 0.9.5, digest: " DIGEST ", urls: []}", "nowhere to fetch"},
		{"{name: etcd, version: 0.9.5, digest: " DIGEST ", urls: [\"\", b.tgz]}",
		 "nowhere to fetch"},
		{"{name: etcd, version: 0.9.5, digest: " DIGEST ", urls: [\"http://h/x.tgz\"]}",
		 "only https:// is followed"},
		{"{name: etcd, version: 0.9.5, digest: " DIGEST ", urls: [\"file:///x.tgz\"]}",
		 "only https:// is followed"},
		{"{name: vault, version: 0.9.5, digest: " DIGEST ", urls: [x]}",
		 "stands below etcd"},
		{"{name: etcd, version: 00.9.1, digest: " DIGEST ", urls: [x]}", "starts with 0"},
		{"[1, 2]", "is no map"},
		{"{name: etcd, version: 0.9.5, digest: " DIGEST ", urls: [x], annotations: "
		 "{app.coreos.com/package: \"replaces: 1.0.0\"}}",
		 "is not below"},
		{"{name: etcd, version: 0.9.5, digest: " DIGEST ", urls: [x], annotations: "
		 "{app.coreos.com/package: \"rollback: Maybe\"}}",
		 "is not Unsafe"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		CLEANUP(index_freep) struct catalog_index *x = read_index(
			arena_fmt(a,
				  "apiVersion: v1\nentries:\n  etcd:\n  - %s\n  - {name: etcd, "
				  "version: 0.9.4, digest: " DIGEST ", urls: [e.tgz]}\n",
				  rows[i].entry),
			0, &err);
		if (!x)
			fail_msg("%s: %s", rows[i].entry, err.msg);
		assert_int_equal(x->n, 1);
		assert_int_equal(x->n_rejected, 1);
		if (!strstr(x->rejected[0], rows[i].want) ||
		    !strstr(x->rejected[0], "line 4: etcd"))
			fail_msg("%s: %s", rows[i].entry, x->rejected[0]);
	}
}

static void test_helm_index__a_file_that_is_no_index_is_refused_whole(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", "wanted 1"},
		{"<html>", "no apiVersion"},
		{"apiVersion: v1\nentries: [", "line"},
		{"apiVersion: v1\nentries:\n  etcd: 7\n", "is no list"},
		{"apiVersion: v1\nentries: {a: [], a: []}\n", "already set"},
		{"apiVersion: v1\nentries:\n  a: &x [{name: a}]\n  b: *x\n", "alias"},
		{"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "alias"},
		{"apiVersion: v1\nentries: {}\n---\napiVersion: v1\n", "2 documents"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(index_freep) struct catalog_index *x = read_index(rows[i].text, 0, &err);
		if (x || !strstr(err.msg, rows[i].want))
			fail_msg("%s: %s", rows[i].text, err.msg);
	}
}

static void test_helm_index__json_is_an_index_too_and_order_does_not_count(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = read_index(
		"{\"apiVersion\":\"v1\",\"entries\":{\"a\":[{\"name\":\"a\",\"version\":\"1.0.0\","
		"\"digest\":\"" DIGEST "\",\"urls\":[\"a\"]},{\"name\":\"a\",\"version\":\"2.0.0\","
		"\"digest\":\"" DIGEST "\",\"urls\":[\"b\"]}]}}",
		0, &err);
	CLEANUP(index_freep) struct catalog_index *y =
		read_index("apiVersion: v1\nentries:\n  a:\n"
			   "  - {version: 2.0.0, name: a, digest: " DIGEST ", urls: [b]}\n"
			   "  - {version: 1.0.0, name: a, digest: " DIGEST ", urls: [a]}\n",
			   0, &err);
	if (!x || !y)
		fail_msg("%s", err.msg);
	assert_string_equal(x->revision, y->revision);
}

static void test_helm_index__the_job_reads_its_head(void **state)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(HELM_LINES_BYTES_MAX);
	(void)state;
	assert_ok(helm_index_job(STR("https://h/x/index.yaml\nunpinned\napiVersion: v1\nentries:\n"
				     "  a: [{name: a, version: 1, urls: [a.tgz]}]\n"),
				 &out, &err),
		  &err);
	assert_non_null(strstr(out.buf, "\"digest\":\"\",\"locator\":\"https://h/x/a.tgz\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_helm_index__versions_come_with_place_digest_and_descriptor),
		cmocka_unit_test(test_helm_index__a_bad_entry_is_named_and_the_rest_is_used),
		cmocka_unit_test(test_helm_index__a_file_that_is_no_index_is_refused_whole),
		cmocka_unit_test(test_helm_index__json_is_an_index_too_and_order_does_not_count),
		cmocka_unit_test(test_helm_index__the_job_reads_its_head),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
