#include "tests/lib/test.h"

#include <string.h>

#include "alm/io/http_parse.h"

#define CRLF "\r\n"

static void test_http__queries_are_decoded(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	const char *q = "watch=1&labelSelector=app%3Detcd%2Ctier+in+%28a%29&empty=&bare&watch=2";
	assert_string_equal(http_query(q, "watch", a), "1");
	assert_string_equal(http_query(q, "labelSelector", a), "app=etcd,tier in (a)");
	assert_string_equal(http_query(q, "empty", a), "");
	assert_string_equal(http_query(q, "bare", a), "");
	assert_null(http_query(q, "absent", a));
	assert_null(http_query("", "watch", a));
	assert_null(http_query("a=%zz", "a", a));
	assert_null(http_query("a=%00", "a", a));
	assert_null(http_query("a=%4", "a", a));
}

static int parse(const char *text, struct arena *a, struct http_head *h)
{
	struct error err = ERROR_INIT;
	memset(h, 0, sizeof(*h));
	return http_head_parse(str_of(text), a, h, &err);
}

static void test_http__a_head_is_split(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct http_head h;
	assert_int_equal(parse("POST /api/v1/x?a=b?c HTTP/1.1" CRLF "Host: h" CRLF
			       "content-length:  12 " CRLF "Expect: 100-continue" CRLF
			       "X-Empty:" CRLF CRLF,
			       a, &h),
			 0);
	assert_string_equal(h.method, "POST");
	assert_string_equal(h.path, "/api/v1/x");
	assert_string_equal(h.query, "a=b?c");
	assert_string_equal(http_header(&h.headers, "x-empty"), "");
	assert_int_equal(h.length, 12);
	assert_true(h.keep_alive && h.expect_continue && !h.chunked);
	assert_string_equal(h.authority, "h");
	assert_int_equal(parse("GET http://h:1/p HTTP/1.1" CRLF "Host: H:1" CRLF
			       "Connection: foo, Close" CRLF CRLF,
			       a, &h),
			 0);
	assert_string_equal(h.path, "/p");
	assert_string_equal(h.authority, "h:1");
	assert_string_equal(h.query, "");
	assert_false(h.keep_alive);
	assert_int_equal(parse("GET / HTTP/1.0" CRLF CRLF, a, &h), 0);
	assert_false(h.keep_alive);
	assert_null(h.authority);
}

static void test_http__ambiguous_heads_are_refused(void **state)
{
	(void)state;
	static const char *const heads[] = {
		"GET / HTTP/1.1" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Host: a" CRLF CRLF,
		"GET http://b/ HTTP/1.1" CRLF "Host: a" CRLF CRLF,
		"GET / HTTP/1.1\nHost: a\n\n",
		"GET / HTTP/1.1" CRLF "Host: a\rX: b" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host : a" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF " folded" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "X: \x01" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Content-Length: 1" CRLF
		"Content-Length: 1" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Content-Length: 1" CRLF
		"Transfer-Encoding: chunked" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Transfer-Encoding: chunked" CRLF
		"Transfer-Encoding: chunked" CRLF CRLF,
		"GET / HTTP/1.0" CRLF "Transfer-Encoding: chunked" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Content-Length: +1" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Content-Length: 1, 1" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF
		"Content-Length: 99999999999999999999" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Content-Length: \v1" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Content-Length: 1 1" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF
		"Content-Length: 00000000000000000003" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Transfer-Encoding:\vchunked" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Transfer-Encoding: chunked\f" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "Connection: close,\v keep-alive" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host:\fa" CRLF CRLF,
		"GET / HTTP/1.1\v" CRLF "Host: a" CRLF CRLF,
		"GET /\t HTTP/1.1" CRLF "Host: a" CRLF CRLF,
		"GET  / HTTP/1.1" CRLF "Host: a" CRLF CRLF,
		"GET x HTTP/1.1" CRLF "Host: a" CRLF CRLF,
		"GET /\x80 HTTP/1.1 " CRLF "Host: a" CRLF CRLF,
		"GET /#f HTTP/1.1" CRLF "Host: a" CRLF CRLF,
		"GET / HTTP/2.0" CRLF "Host: a" CRLF CRLF,
		"G(T / HTTP/1.1" CRLF "Host: a" CRLF CRLF,
		"GET / HTTP/1.1" CRLF "Host: a" CRLF "X" CRLF CRLF,
		CRLF,
		"",
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct http_head h;
	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		if (parse(heads[i], a, &h) != -E_BADREQUEST)
			fail_msg("accepted: %s", heads[i]);
	assert_int_equal(parse("GET / HTTP/1.1" CRLF "Host: a" CRLF
			       "Transfer-Encoding: gzip" CRLF CRLF,
			       a, &h),
			 -E_UNSUPPORTED);
}

static int unchunk(const char *text, size_t step, struct strbuf *body, size_t *ret_left)
{
	struct http_chunked c = {0};
	struct error err = ERROR_INIT;
	struct str all = str_of(text);
	int r = 0;
	while (r == 0 && all.len) {
		struct str piece = str_sub(all, 0, step);
		size_t n = piece.len;
		r = http_chunked_read(&c, &piece, body, &err);
		all = str_skip(all, n - piece.len);
	}
	*ret_left = all.len;
	return r;
}

static void test_http__chunks_are_joined_in_any_pieces(void **state)
{
	(void)state;
	const char *text = "4;ext=\"x\"" CRLF "wiki" CRLF "000000000000000a" CRLF "0123456789" CRLF
			   "0" CRLF "Trailer: x" CRLF CRLF "GET";
	for (size_t step = 1; step < 60; step++) {
		CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(14);
		size_t left;
		assert_int_equal(unchunk(text, step, &body, &left), 1);
		assert_string_equal(body.buf, "wiki0123456789");
		assert_int_equal(left, 3);
	}
}

static void test_http__bad_chunks_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int code;
	} cases[] = {
		{"x" CRLF, -E_BADREQUEST},
		{"-1" CRLF, -E_BADREQUEST},
		{"1\nx", -E_BADREQUEST},
		{"1" CRLF "xy", -E_BADREQUEST},
		{CRLF, -E_BADREQUEST},
		{"ffffffffff" CRLF, -E_TOOLARGE},
		{"5" CRLF "12345", -E_TOOLARGE},
		{"0" CRLF "\n", -E_BADREQUEST},
		{"1 " CRLF "x", -E_BADREQUEST},
		{"00000000000000001" CRLF "x", -E_BADREQUEST},
		{"1;a\v" CRLF, -E_BADREQUEST},
		{"1;a\x01" CRLF, -E_BADREQUEST},
		{"\v1" CRLF, -E_BADREQUEST},
		{"0" CRLF "\vt: x" CRLF, -E_BADREQUEST},
		{"0" CRLF " t: x" CRLF, -E_BADREQUEST},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(4);
		size_t left;
		int r = unchunk(cases[i].text, 100, &body, &left);
		if (r != cases[i].code)
			fail_msg("%d for %s", r, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_http__queries_are_decoded),
		cmocka_unit_test(test_http__a_head_is_split),
		cmocka_unit_test(test_http__ambiguous_heads_are_refused),
		cmocka_unit_test(test_http__chunks_are_joined_in_any_pieces),
		cmocka_unit_test(test_http__bad_chunks_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
