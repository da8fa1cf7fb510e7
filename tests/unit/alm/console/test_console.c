/* console: which paths are the page's, and what is answered there. */
#include "alm/console/console.h"

#include "tests/lib/test.h"

struct fake {
	struct exchange x;
	int status;
	struct http_headers headers;
	size_t body_bytes;
};

static void reply(struct exchange *x, int status, const struct http_headers *h, struct str body)
{
	struct fake *f = (struct fake *)x;
	f->status = status;
	f->body_bytes = body.len;
	f->headers.n = h->n;
}

/* 0: the request is left to the API. */
static int answer(const char *method, const char *path)
{
	static const struct exchange_ops ops = {.reply = reply};
	struct http_request request = {.method = method, .path = path};
	struct fake f = {.x = {.ops = &ops, .request = &request}};
	bool taken = console_handle(&f.x);
	assert_int_equal(taken, f.status != 0);
	if (f.status == 200)
		assert_true(f.body_bytes > 1000);
	if (taken)
		assert_true(f.headers.n >= 6);
	return f.status;
}

static void test_console__has_one_page(void **state)
{
	(void)state;
	assert_int_equal(answer("GET", "/ui"), 200);
	assert_int_equal(answer("HEAD", "/ui/"), 200);
	assert_int_equal(answer("GET", "/ui/index.html"), 404);
	assert_int_equal(answer("GET", "/ui//"), 404);
	assert_int_equal(answer("GET", "/ui/../api"), 404);
	assert_int_equal(answer("GET", "/ui/%2e%2e/api"), 404);
}

static void test_console__only_shows(void **state)
{
	static const char *const methods[] = {"POST",    "PUT", "PATCH", "DELETE",
					      "OPTIONS", "get", ""};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		assert_int_equal(answer(methods[i], "/ui"), 405);
}

static void test_console__leaves_the_api_alone(void **state)
{
	static const char *const paths[] = {"",     "/",      "/u",   "/uix", "/UI",     "/api",
					    "//ui", "/ui%2f", "/ui.", "ui",   "/apis/ui"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		assert_int_equal(answer("GET", paths[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_console__has_one_page),
		cmocka_unit_test(test_console__only_shows),
		cmocka_unit_test(test_console__leaves_the_api_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
