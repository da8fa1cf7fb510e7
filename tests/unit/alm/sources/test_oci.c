#include "tests/lib/test.h"

#include <string.h>

#include "alm/sources/oci.h"

#define HEX  "aef4455000000000000000000000000000000000000000000000000000000000"
#define BLOB "{\"mediaType\":\"m\",\"digest\":\"sha256:" HEX "\",\"size\":7}"

static void test_oci__references(void **state)
{
	static const struct {
		const char *text, *origin, *name, *tag, *digest; /* origin NULL: refused */
	} cases[] = {
		{"oci://h/a", "https://h", "a", NULL, NULL},
		{"oci://h:5000/charts/etcd:0.9.4", "https://h:5000", "charts/etcd", "0.9.4", NULL},
		{"oci://h/a@sha256:" HEX, "https://h", "a", NULL, "sha256:" HEX},
		{"oci://h/a:1@sha256:" HEX, "https://h", "a", "1", "sha256:" HEX},
		{"oci://h", NULL, NULL, NULL, NULL},
		{"oci://h/", NULL, NULL, NULL, NULL},
		{"https://h/a", NULL, NULL, NULL, NULL},
		{"oci://h/A", NULL, NULL, NULL, NULL},
		{"oci://h/a:", NULL, NULL, NULL, NULL},
		{"oci://h/a:b c", NULL, NULL, NULL, NULL},
		{"oci://h/a@sha256:00", NULL, NULL, NULL, NULL},
		{"oci://h/a@md5:" HEX, NULL, NULL, NULL, NULL},
		{"oci://user:pw@h/a", NULL, NULL, NULL, NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct error err = ERROR_INIT;
		struct oci_reference ref = {0};
		int r = oci_reference_parse(str_of(cases[i].text), a, &ref, &err);
		if ((r == 0) != (cases[i].origin != NULL))
			fail_msg("%s: %s", cases[i].text, r ? err.msg : "is read");
		if (r)
			continue;
		assert_string_equal(ref.registry.origin, cases[i].origin);
		assert_string_equal(ref.name, cases[i].name);
		assert_true(cstr_eq(ref.tag, cases[i].tag) || (!ref.tag && !cases[i].tag));
		assert_true(cstr_eq(ref.digest, cases[i].digest) ||
			    (!ref.digest && !cases[i].digest));
	}
}

static void test_oci__a_manifest_is_read_strictly(void **state)
{
	static const struct {
		const char *text, *why; /* why NULL: it is read */
	} cases[] = {
		{"{\"schemaVersion\":2,\"config\":" BLOB ",\"layers\":[" BLOB "]}", NULL},
		{"{\"schemaVersion\":2,\"mediaType\":\"" OCI_DOCKER "\",\"config\":" BLOB "}",
		 NULL},
		{"{\"schemaVersion\":1,\"config\":" BLOB "}", "schemaVersion"},
		{"{\"schemaVersion\":2,\"mediaType\":\"text/html\",\"config\":" BLOB "}",
		 "is no manifest of one artifact"},
		{"{\"schemaVersion\":2,\"manifests\":[],\"config\":" BLOB "}", "index of images"},
		{"{\"schemaVersion\":2}", "config: want mediaType"},
		{"{\"schemaVersion\":2,\"config\":{\"mediaType\":\"m\",\"digest\":\"sha256:AEF\","
		 "\"size\":1}}",
		 "config: want mediaType"},
		{"{\"schemaVersion\":2,\"config\":{\"mediaType\":\"m\",\"digest\":\"sha256:" HEX
		 "\",\"size\":-1}}",
		 "config: want mediaType"},
		{"{\"schemaVersion\":2,\"config\":" BLOB ",\"layers\":[{}]}",
		 "layers: want mediaType"},
		{"[", "unexpected end"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct error err = ERROR_INIT;
		struct oci_manifest m;
		int r = oci_manifest_parse(str_of(cases[i].text), a, &m, &err);
		if ((r == 0) != !cases[i].why || (r && !strstr(err.msg, cases[i].why)))
			fail_msg("%s: %s", cases[i].text, r ? err.msg : "is read");
		if (!r)
			assert_string_equal(m.config.digest, HEX);
	}
}

static void test_oci__tags_are_versions(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct error err = ERROR_INIT;
	const char **tags = NULL;
	size_t n = 0, cap = 0;
	(void)state;
	assert_ok(oci_tags_parse(STR("{\"tags\": [\"1.0.0_b1\", \"latest\"]}"), a, &tags, &n, &cap,
				 &err),
		  &err);
	assert_ok(
		oci_tags_parse(STR("{\"name\": \"a\", \"tags\": null}"), a, &tags, &n, &cap, &err),
		&err);
	assert_int_equal(n, 2);
	assert_string_equal(oci_tag_version(tags[0], a), "1.0.0+b1");
	assert_string_equal(oci_version_tag("1.0.0+b1", a), "1.0.0_b1");
	assert_true(oci_tags_parse(STR("{\"tags\": [\"a/b\"]}"), a, &tags, &n, &cap, &err) < 0);
	assert_true(oci_tags_parse(STR("{\"tags\": [1]}"), a, &tags, &n, &cap, &err) < 0);
	xfree(tags);
}

static void test_oci__where_the_next_page_is(void **state)
{
	static const struct {
		const char *link, *want;
	} cases[] = {
		{"</v2/a/tags/list?last=b&n=2>; rel=\"next\"", "/v2/a/tags/list?last=b&n=2"},
		{"</x>; rel=next", "/x"},
		{"</x>; rel=\"prev\"", ""},
		{"/x; rel=\"next\"", ""},
		{"<", ""},
		{"", ""},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str got = oci_next_page(cases[i].link);
		if (!str_is(got, cases[i].want))
			fail_msg("%s: %.*s", cases[i].link, STR_ARG(got));
	}
	assert_int_equal(oci_next_page(NULL).len, 0);
}

static void test_oci__challenges(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct error err = ERROR_INIT;
	struct oci_challenge c;
	(void)state;
	assert_ok(
		oci_challenge_parse("Bearer realm=\"https://a/t\",service=\"s\",scope=\"repository:"
				    "x:pull,push\"",
				    a, &c, &err),
		&err);
	assert_string_equal(c.realm, "https://a/t");
	assert_string_equal(c.service, "s");
	assert_string_equal(c.scope, "repository:x:pull,push");
	assert_ok(oci_challenge_parse("Basic realm=x", a, &c, &err), &err);
	assert_true(c.is_basic);
	assert_true(oci_challenge_parse("Bearer service=s", a, &c, &err) < 0);
	assert_true(oci_challenge_parse("Negotiate", a, &c, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oci__references),
		cmocka_unit_test(test_oci__a_manifest_is_read_strictly),
		cmocka_unit_test(test_oci__tags_are_versions),
		cmocka_unit_test(test_oci__where_the_next_page_is),
		cmocka_unit_test(test_oci__challenges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
