/* Another process that works for this one: every byte of its pages comes, in order; how it ends is told; it never outlives. */
#include "tests/lib/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "alm/io/lane.h"

static const size_t sizes[] = {0, 1, 4096, 65537, LANE_PAGE_BYTES};

enum { PAGES = 3 };

/* Each byte says which page it is of, and where. */
static void fill(struct strbuf *b, size_t size, size_t n)
{
	strbuf_clear(b);
	char *to = size ? strbuf_reserve(b, size) : NULL;
	for (size_t i = 0; i < size; i++)
		to[i] = (char)((i * 31 + n) & 0x7f);
	strbuf_commit(b, size);
}

static bool send_pages(struct lane_parent *p, size_t size, size_t n)
{
	struct strbuf b = STRBUF_INIT(LANE_PAGE_BYTES + 1);
	for (size_t i = 0; i < n; i++) {
		fill(&b, size, i);
		if (!lane_page(p, strbuf_str(&b)))
			return false;
	}
	return true;
}

/* In the child: the first letter of the order says what it does. */
static int work(struct lane_parent *p, struct str order, struct error *err)
{
	switch (order.len ? *order.ptr : 'e') {
	case 's': /* all sizes */
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
			if (!send_pages(p, sizes[i], PAGES))
				return error_set(err, E_IO, "nobody reads");
		return 0;
	case 'f':
		(void)lane_page(p, STR("one"));
		return error_set(err, E_NOTFOUND, "no such entry");
	case 'l': { /* larger than a page may be: nothing is sent */
		bool sent = send_pages(p, LANE_PAGE_BYTES + 1, 1);
		return sent ? 0 : error_set(err, E_LIMIT, "too large");
	}
	case 'd':
		(void)lane_page(p, STR("one"));
		(void)raise(SIGKILL);
		return 0;
	case 'i': /* what a terminal sends to all of its processes */
		(void)raise(SIGINT);
		return 0;
	case 'w': /* without end, as long as somebody reads */
		while (lane_page(p, STR("more")))
			;
		return 0;
	default: /* what it was told */
		return lane_page(p, order) ? 0 : error_set(err, E_IO, "nobody reads");
	}
}

static struct lane *begin(const char *order)
{
	struct error err = ERROR_INIT;
	struct lane *l = NULL;
	assert_ok(lane_new(work, &l, &err), &err);
	if (order)
		assert_ok(lane_order(l, str_of(order), &err), &err);
	return l;
}

static void test_lane__every_byte_in_order(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct lane *l = begin("sizes");
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(LANE_PAGE_BYTES);
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(LANE_PAGE_BYTES);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (size_t n = 0; n < PAGES; n++) {
			fill(&want, sizes[i], n);
			assert_int_equal(lane_read(l, &page, &err), 1);
			assert_true(str_eq(strbuf_str(&page), strbuf_str(&want)));
		}
	assert_int_equal(lane_read(l, &page, &err), 0);
	assert_int_equal(lane_read(l, &page, &err), -E_INTERNAL); /* and then it is gone */
	lane_free(l);
}

static void test_lane__it_has_its_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct error err = ERROR_INIT;
		struct lane *l = begin(NULL);
		CLEANUP(strbuf_release) struct strbuf order = STRBUF_INIT(LANE_PAGE_BYTES);
		CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(LANE_PAGE_BYTES);
		fill(&order, sizes[i], 1);
		if (order.len)
			order.buf[0] = 'e';
		assert_ok(lane_order(l, strbuf_str(&order), &err), &err);
		assert_int_equal(lane_read(l, &page, &err), 1);
		assert_true(str_eq(strbuf_str(&page), strbuf_str(&order)));
		assert_int_equal(lane_read(l, &page, &err), 0);
		lane_free(l);
	}
}

static void test_lane__how_it_ends_is_told(void **state)
{
	static const struct {
		const char *order;
		int n_pages, code;
		const char *why;
	} rows[] = {{"fail", 1, E_NOTFOUND, "no such entry"},
		    {"large", 0, E_LIMIT, "too large"},
		    {"die", 1, E_INTERNAL, "which works for this one, has ended"},
		    {"interrupt", 0, 0, NULL}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		struct lane *l = begin(rows[i].order);
		CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(LANE_PAGE_BYTES);
		for (int n = 0; n < rows[i].n_pages; n++) {
			assert_int_equal(lane_read(l, &page, &err), 1);
			assert_string_equal(page.buf, "one");
		}
		assert_int_equal(lane_read(l, &page, &err), -rows[i].code);
		if (rows[i].why) {
			assert_int_equal(err.code, rows[i].code);
			assert_non_null(strstr(err.msg, rows[i].why));
		}
		lane_free(l);
	}
}

/* One that is told something after its end: an error, and no signal, whose way stays what it was. */
static void test_lane__nobody_is_told(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct lane *l = begin("die");
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(LANE_PAGE_BYTES);
	assert_int_equal(lane_read(l, &page, &err), 1);
	assert_int_equal(lane_read(l, &page, &err), -E_INTERNAL);
	assert_int_equal(lane_order(l, STR("more"), &err), -E_INTERNAL);
	assert_true(signal(SIGPIPE, SIG_DFL) == SIG_DFL);
	lane_free(l);
}

/* Whatever it does: waiting for its order, for somebody who reads, or for ever. No child is left. */
static void test_lane__it_does_not_outlive(void **state)
{
	static const char *const orders[] = {NULL, "write", "echo"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		struct error err = ERROR_INIT;
		struct lane *l = begin(orders[i]);
		CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(LANE_PAGE_BYTES);
		if (orders[i])
			assert_int_equal(lane_read(l, &page, &err), 1);
		lane_free(l);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(errno, ECHILD);
	}
	lane_free(NULL);
	assert_in_range(lane_cores(), 1, LANES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lane__every_byte_in_order),
		cmocka_unit_test(test_lane__it_has_its_order),
		cmocka_unit_test(test_lane__how_it_ends_is_told),
		cmocka_unit_test(test_lane__nobody_is_told),
		cmocka_unit_test(test_lane__it_does_not_outlive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
