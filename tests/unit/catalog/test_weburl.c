#include "tests/lib/test.h"

#include <string.h>

#include "catalog/weburl.h"

static const char *resolved(struct arena *a, const char *base, const char *reference)
{
	struct weburl b, u;
	struct error err = ERROR_INIT;
	assert_ok(weburl_parse(str_of(base), "https", a, &b, &err), &err);
	if (weburl_resolve(&b, str_of(reference), a, &u, &err) < 0)
		return arena_fmt(a, "error: %s", err.msg);
	return weburl_text(&u, a);
}

static void test_weburl__a_reference_is_resolved_as_rfc_3986_says(void **state)
{
	static const char *const rows[][2] = {
		{"etcd.tgz", "https://h/a/b/etcd.tgz"},
		{"./etcd.tgz", "https://h/a/b/etcd.tgz"},
		{"../etcd.tgz", "https://h/a/etcd.tgz"},
		{"../../../etcd.tgz", "https://h/etcd.tgz"},
		{"/x/../y", "https://h/y"},
		{"?n=2", "https://h/a/b/index.yaml?n=2"},
		{"//other:8443/x", "https://other:8443/x"},
		{"https://Other:443/x?y#z", "https://other/x?y"},
		{"HTTPS://h/x", "https://h/x"},
		{"a/..", "https://h/a/b/"},
		{"", "https://h/a/b/index.yaml?q"},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(resolved(a, "https://h/a/b/index.yaml?q", rows[i][0]),
				    rows[i][1]);
}

static void test_weburl__nothing_leads_to_another_scheme(void **state)
{
	static const char *const rows[] = {"http://h/x", "file:///etc/passwd", "ftp://h/x",
					   "javascript:x", "oci://h/x"};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_non_null(
			strstr(resolved(a, "https://h/", rows[i]), "only https:// is followed"));
}

static void test_weburl__a_reference_that_is_no_url_is_refused(void **state)
{
	static const char *const rows[] = {"a b",     "x\r\nY: z", "\x7f", "caf\xc3\xa9.tgz",
					   "//h:0/x", "//u@h/"};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char *path = arena_alloc(a, WEBURL_BYTES_MAX + 2);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!cstr_has_prefix(resolved(a, "https://h/", rows[i]), "error: "))
			fail_msg("%s is taken", rows[i]);
	assert_string_equal(resolved(a, "https://h/", "a b"), "error: what it leads to is no URL");
	memset(path, 'x', WEBURL_BYTES_MAX + 1);
	path[WEBURL_BYTES_MAX + 1] = '\0';
	assert_true(cstr_has_prefix(resolved(a, "https://h/", path), "error: "));
	path[WEBURL_BYTES_MAX] = '\0';
	assert_true(cstr_has_prefix(resolved(a, "https://h/", path), "https://h/xxx"));
}

static void test_weburl__what_two_parsers_read_differently_is_refused(void **state)
{
	static const char *const rows[] = {
		"https://",
		"https:/h/x",
		"https://user:pw@h/",
		"https://h\\@evil/",
		"https://h:0/",
		"https://h:65536/",
		"https://h:99999999999999999999/",
		"https://h:/",
		"https://[::1/",
		"https://[/",
		"https://[]/",
		"https://[:]/",
		"https://[:g]/",
		"https://[::]x/",
		"https://[a:b:1/",
		"https://h:000443/",
		"https://a b/",
		"https://h/\r\nX: y",
		"https://h/\xc3\xa9",
		"https://h%2fevil/",
		"http://h/",
		"https//h",
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct weburl u;
		struct error err = ERROR_INIT;
		if (weburl_parse(str_of(rows[i]), "https", a, &u, &err) == 0)
			fail_msg("%s is read as %s", rows[i], weburl_text(&u, a));
	}
}

static void test_weburl__origins_compare_by_host_and_port(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct weburl x, y, z;
	struct error err = ERROR_INIT;
	(void)state;
	assert_ok(weburl_parse(STR("https://Host:443/a"), "https", a, &x, &err), &err);
	assert_ok(weburl_parse(STR("oci://host/b"), "oci", a, &y, &err), &err);
	assert_ok(weburl_parse(STR("https://host:444/a"), "https", a, &z, &err), &err);
	assert_true(weburl_same_origin(&x, &y));
	assert_false(weburl_same_origin(&x, &z));
	assert_ok(weburl_parse(STR("https://[::1]:5000/a"), "https", a, &z, &err), &err);
	assert_string_equal(z.origin, "https://[::1]:5000");
}

/* As the host of a certificate: 253 bytes; a port as people write it, zeros before it too. */
static void test_weburl__hosts_and_ports_at_their_limits(void **state)
{
	static const char *const rows[][2] = {
		{"https://h:1/", "https://h:1"},           {"https://h:65535/", "https://h:65535"},
		{"https://h:00443/", "https://h"},         {"https://[::]/", "https://[::]"},
		{"https://[A::1.2]/", "https://[a::1.2]"}, {"https://a-b._c/", "https://a-b._c"},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct weburl u;
	char host[255];
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_ok(weburl_parse(str_of(rows[i][0]), "https", a, &u, &err), &err);
		assert_string_equal(u.origin, rows[i][1]);
	}
	memset(host, 'h', sizeof(host));
	for (int len = 253; len <= 254; len++) {
		const char *text = arena_fmt(a, "https://%.*s/x", len, host);
		int r = weburl_parse(str_of(text), "https", a, &u, &err);
		assert_int_equal(r, len > 253 ? -E_INVALID : 0);
		if (r < 0)
			assert_non_null(strstr(err.msg, "is no HOST[:PORT]"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weburl__a_reference_is_resolved_as_rfc_3986_says),
		cmocka_unit_test(test_weburl__nothing_leads_to_another_scheme),
		cmocka_unit_test(test_weburl__a_reference_that_is_no_url_is_refused),
		cmocka_unit_test(test_weburl__what_two_parsers_read_differently_is_refused),
		cmocka_unit_test(test_weburl__origins_compare_by_host_and_port),
		cmocka_unit_test(test_weburl__hosts_and_ports_at_their_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
