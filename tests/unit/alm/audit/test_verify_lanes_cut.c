/* A lane whose pages do not arrive whole: what it gave before is used, and a part of an entry never is. The lanes are this test's, in one process. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/audit/verify_lanes.h"
#include "alm/io/lane.h"
#include "tests/lib/audit_log.h"

enum { ROWS_MAX = 64 };

struct lane {
	lane_fn fn;
	struct strbuf order, page;
	bool given;
};

static size_t cut_at, page_bytes; /* cut_at: so many of the page's arrive */

int lane_new(lane_fn fn, struct lane **ret, struct error *err)
{
	(void)err;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->fn = fn;
	strbuf_init(&(*ret)->order, LANE_PAGE_BYTES);
	strbuf_init(&(*ret)->page, LANE_PAGE_BYTES);
	return 0;
}

int lane_order(struct lane *l, struct str order, struct error *err)
{
	(void)err;
	strbuf_addstr(&l->order, order);
	return 0;
}

bool lane_page(struct lane_parent *p, struct str page)
{
	struct lane *l = (struct lane *)p;
	assert_int_equal(l->page.len, 0); /* the log is small */
	strbuf_addstr(&l->page, page);
	return true;
}

int lane_read(struct lane *l, struct strbuf *page, struct error *err)
{
	int r = l->given ? 0 : l->fn((struct lane_parent *)l, strbuf_str(&l->order), err);
	strbuf_clear(page);
	if (r < 0 || l->given)
		return r;
	l->given = true;
	page_bytes = l->page.len ? l->page.len : page_bytes;
	strbuf_addstr(page, str_sub(strbuf_str(&l->page), 0, cut_at));
	return 1;
}

void lane_free(struct lane *l)
{
	if (!l)
		return;
	strbuf_release(&l->order);
	strbuf_release(&l->page);
	xfree(l);
}

size_t lane_cores(void)
{
	return 2;
}

struct seen {
	char uids[ROWS_MAX][32];
	size_t n;
	int code; /* how it ended */
};

static void read_all(const char *path, int64_t last, struct seen *ret)
{
	struct error err = ERROR_INIT;
	struct row_digest row;
	CLEANUP(verify_lanes_freep) struct verify_lanes *l = verify_lanes_new(0);
	*ret = (struct seen){.n = 0};
	assert_ok(verify_lanes_begin(l, path, 0, last, false, &err), &err);
	while ((ret->code = verify_lanes_next(l, &row, &err)) > 0) {
		assert_true(ret->n < ROWS_MAX && row.uid.len < sizeof(ret->uids[0]));
		memcpy(ret->uids[ret->n++], row.uid.ptr, row.uid.len);
	}
}

static void append(struct audit_log *l, const char *uid)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	struct audit_row row = {.type = "Write",
				.reason = "Updated",
				.subject = {.kind = "AppType", .name = "etcd", .uid = uid}};
	assert_ok(audit_append_now(l->audit, &row, &seq, &err), &err);
	audit_committed(l->audit);
}

static void test_verify_lanes__a_part_of_an_entry_is_none(void **state)
{
	static const char *const uids[] = {"u", "uid-of-the-second", "", "x", "four"};
	static struct audit_log l;
	static char dir[] = "/tmp/alm-verify-lanes-XXXXXX";
	struct seen whole, cut;
	size_t n_whole = 0;
	(void)state;
	assert_non_null(mkdtemp(dir));
	char path[64];
	(void)snprintf(path, sizeof(path), "%s/alm.db", dir);
	audit_log_open(&l, path, NULL);
	for (size_t i = 0; i < ARRAY_LEN(uids); i++)
		append(&l, uids[i]);
	int64_t last = audit_last_seq(l.audit);
	audit_log_close(&l);
	cut_at = LANE_PAGE_BYTES;
	read_all(path, last, &whole);
	assert_int_equal(whole.code, 0);
	assert_int_equal(whole.n, last);
	for (size_t i = 0; i < ARRAY_LEN(uids); i++)
		assert_string_equal(whole.uids[whole.n - ARRAY_LEN(uids) + i], uids[i]);
	for (cut_at = 0; cut_at <= page_bytes; cut_at++) {
		read_all(path, last, &cut);
		for (size_t i = 0; i < cut.n; i++)
			assert_string_equal(cut.uids[i], whole.uids[i]);
		assert_true(cut.code == 0 || cut.code == -E_INTERNAL);
		/* between two entries nothing is seen here: who counts them misses some */
		assert_int_equal(cut.n, cut.code == 0 ? n_whole : n_whole ? n_whole - 1 : 0);
		n_whole += cut.code == 0;
	}
	assert_int_equal(n_whole, whole.n + 1);
	audit_log_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verify_lanes__a_part_of_an_entry_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
