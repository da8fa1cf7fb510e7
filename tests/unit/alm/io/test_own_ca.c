#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/io/own_ca.h"
#include "alm/io/tls.h"
#include "tests/lib/loop_fake.h"

struct fixture {
	struct loop *loop;
	char dir[32];
	struct own_ca ca;
	struct error err;
};

static void open_ca(struct fixture *f)
{
	own_ca_release(&f->ca);
	f->ca = (struct own_ca){.loop = f->loop, .dir = f->dir, .name = "x-ca"};
	assert_ok(own_ca_open(&f->ca, &f->err), &f->err);
}

static const char *in_dir(struct fixture *f, const char *name, char out[64])
{
	snprintf(out, 64, "%s/%s", f->dir, name);
	return out;
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->loop = loop_fake_new(INT64_C(1893571200000000000));
	snprintf(f->dir, sizeof(f->dir), "/tmp/alm-ca-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char path[64];
	own_ca_release(&f->ca);
	unlink(in_dir(f, "x-ca.crt", path));
	unlink(in_dir(f, "x-ca.key", path));
	unlink(in_dir(f, "x-ca-next.crt", path));
	unlink(in_dir(f, "x-ca-next.key", path));
	assert_int_equal(rmdir(f->dir), 0); /* nothing else was left in it */
	loop_free(f->loop);
	xfree(f);
	return 0;
}

static void test_own_ca__is_made_once_and_kept(void **state)
{
	struct fixture *f = *state;
	struct file_info info;
	char path[64];
	open_ca(f);
	CLEANUP(xfreep) char *first = xstrdup(f->ca.now.cert);
	assert_ok(file_info(in_dir(f, "x-ca.key", path), &info, &f->err), &f->err);
	assert_int_equal(info.mode, 0600);
	loop_fake_step(f->loop, 365 * NS_PER_DAY);
	open_ca(f);
	assert_string_equal(f->ca.now.cert, first);
	assert_false(own_ca_is_due(&f->ca));
}

static void prepare(struct fixture *f)
{
	assert_ok(own_ca_prepare(&f->ca, &f->err), &f->err);
}

static void test_own_ca__is_due_when_a_third_of_its_life_is_left(void **state)
{
	struct fixture *f = *state;
	CLEANUP(xfreep) char *cert = NULL, *key = NULL;
	open_ca(f);
	CLEANUP(xfreep) char *first = xstrdup(f->ca.now.cert);
	loop_fake_step(f->loop, 2400 * NS_PER_DAY);
	assert_false(own_ca_is_due(&f->ca));
	loop_fake_step(f->loop, 50 * NS_PER_DAY);
	assert_true(own_ca_is_due(&f->ca));
	assert_false(own_ca_is_over(&f->ca));
	open_ca(f); /* whoever trusts it has to hear of another one first */
	assert_string_equal(f->ca.now.cert, first);
	loop_fake_step(f->loop, 4000 * NS_PER_DAY); /* nobody looked: it has ended */
	assert_true(own_ca_is_over(&f->ca));
	open_ca(f);
	assert_string_not_equal(f->ca.now.cert, first);
	assert_null(f->ca.next.cert);
	assert_ok(tls_serving_new(f->loop, f->ca.now.cert, f->ca.now.key, NULL, 0, &cert, &key,
				  &f->err),
		  &f->err);
}

/* What it signs would outlive it: for its last day it is as one that has ended. */
static void test_own_ca__signs_nothing_on_its_last_day(void **state)
{
	struct fixture *f = *state;
	int64_t from, until;
	open_ca(f);
	assert_ok(tls_lifetime(f->ca.now.cert, &from, &until, &f->err), &f->err);
	loop_fake_step(f->loop, until - OWN_CA_LAST_NS - NS_PER_S - loop_now(f->loop));
	assert_false(own_ca_is_over(&f->ca));
	loop_fake_step(f->loop, 2 * NS_PER_S);
	assert_true(own_ca_is_over(&f->ca));
}

/* Only one that is not there is made: what cannot be read may be what all clients trust. */
static void test_own_ca__what_cannot_be_read_is_not_replaced(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf large = STRBUF_INIT((size_t)1 << 20);
	CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT((size_t)1 << 20);
	char path[64];
	open_ca(f);
	while (large.len <= (size_t)64 << 10)
		strbuf_adds(&large, f->ca.now.cert);
	in_dir(f, "x-ca.crt", path);
	assert_ok(file_write_atomic(path, strbuf_str(&large), 0600, &f->err), &f->err);
	own_ca_release(&f->ca);
	assert_int_equal(own_ca_open(&f->ca, &f->err), -E_LIMIT);
	assert_non_null(strstr(f->err.msg, path));
	assert_ok(file_read(path, &found, &f->err), &f->err);
	assert_string_equal(found.buf, large.buf);
}

/* A folder in the place of a file can be neither read nor written as one. */
static void put_folder(struct fixture *f, const char *name, char path[64])
{
	(void)unlink(in_dir(f, name, path));
	assert_int_equal(mkdir(path, 0700), 0);
}

/* Each file in turn, of each step: what fails is told, and what was there before is still used. */
static void test_own_ca__a_file_that_fails_is_told(void **state)
{
	static const char *const names[] = {"x-ca.key", "x-ca.crt", "x-ca-next.key",
					    "x-ca-next.crt"};
	struct fixture *f = *state;
	char path[64];
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		bool is_next = i >= 2;
		open_ca(f);
		CLEANUP(xfreep) char *now = xstrdup(f->ca.now.cert);
		put_folder(f, names[i], path);
		f->err.code = 0;
		if (is_next) {
			assert_true(own_ca_prepare(&f->ca, &f->err) < 0);
			assert_null(f->ca.next.cert);
			assert_null(f->ca.next.key);
		} else {
			prepare(f);
			CLEANUP(xfreep) char *next = xstrdup(f->ca.next.cert);
			assert_true(own_ca_switch(&f->ca, &f->err) < 0);
			assert_string_equal(f->ca.next.cert, next);
		}
		assert_int_not_equal(f->err.code, 0);
		assert_string_equal(f->ca.now.cert, now);
		own_ca_release(&f->ca);
		f->err.code = 0;
		assert_true(own_ca_open(&f->ca, &f->err) < 0);
		assert_int_not_equal(f->err.code, 0);
		assert_int_equal(rmdir(path), 0);
	}
}

/* Without its folder there is none; and the first moment at which it signs nothing, or is due, is that. */
static void test_own_ca__to_the_moment(void **state)
{
	struct fixture *f = *state;
	int64_t from, until;
	struct own_ca nowhere = {.loop = f->loop, .dir = "/nowhere/at/all", .name = "x-ca"};
	assert_true(own_ca_open(&nowhere, &f->err) < 0);
	assert_null(nowhere.now.cert);
	own_ca_release(&nowhere);
	open_ca(f);
	assert_ok(tls_lifetime(f->ca.now.cert, &from, &until, &f->err), &f->err);
	struct {
		int64_t at;
		bool is_due, is_over;
	} rows[] = {{from - 1, true, true},
		    {from, false, false},
		    {until - (until - from) / 3, false, false},
		    {until - (until - from) / 3 + 1, true, false},
		    {until - OWN_CA_LAST_NS, true, false},
		    {until - OWN_CA_LAST_NS + 1, true, true}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		loop_fake_step(f->loop, rows[i].at - loop_now(f->loop));
		assert_int_equal(own_ca_is_due(&f->ca), rows[i].is_due);
		assert_int_equal(own_ca_is_over(&f->ca), rows[i].is_over);
	}
	f->ca.now.cert[0] = 'x'; /* what cannot be read is at its end */
	assert_true(own_ca_is_due(&f->ca));
	assert_true(own_ca_is_over(&f->ca));
}

static void assert_bundle(struct fixture *f, const char *first, const char *second)
{
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(65536);
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(65536);
	strbuf_addf(&want, "%s%s", first, second);
	own_ca_bundle(&f->ca, &got);
	assert_string_equal(got.buf, want.buf);
}

static void test_own_ca__another_stands_beside_it_until_the_switch(void **state)
{
	struct fixture *f = *state;
	open_ca(f);
	CLEANUP(xfreep) char *first = xstrdup(f->ca.now.cert);
	prepare(f);
	CLEANUP(xfreep) char *second = xstrdup(f->ca.next.cert);
	prepare(f); /* there is one */
	assert_bundle(f, first, second);
	open_ca(f);
	assert_bundle(f, first, second);
	assert_ok(own_ca_switch(&f->ca, &f->err), &f->err);
	assert_bundle(f, second, "");
	open_ca(f);
	assert_bundle(f, second, "");
}

/* What a switch has written when it is killed. */
static void test_own_ca__a_switch_that_was_killed_is_ended(void **state)
{
	struct fixture *f = *state;
	char path[64];
	for (int written = 0; written < 4; written++) {
		open_ca(f);
		prepare(f);
		CLEANUP(xfreep) char *first = xstrdup(f->ca.now.cert);
		CLEANUP(xfreep) char *cert = xstrdup(f->ca.next.cert);
		CLEANUP(xfreep) char *key = xstrdup(f->ca.next.key);
		if (written > 0)
			assert_ok(file_write_atomic(in_dir(f, "x-ca.key", path), str_of(key), 0600,
						    &f->err),
				  &f->err);
		if (written > 1)
			assert_ok(file_write_atomic(in_dir(f, "x-ca.crt", path), str_of(cert), 0600,
						    &f->err),
				  &f->err);
		if (written > 2)
			unlink(in_dir(f, "x-ca-next.crt", path));
		open_ca(f);
		if (written)
			assert_bundle(f, cert, "");
		else
			assert_bundle(f, first, cert);
	}
}

static void test_own_ca__a_successor_whose_time_has_not_come_is_made_again(void **state)
{
	struct fixture *f = *state;
	open_ca(f);
	loop_fake_step(f->loop, 100 * NS_PER_DAY); /* the clock was wrong */
	prepare(f);
	CLEANUP(xfreep) char *wrong = xstrdup(f->ca.next.cert);
	loop_fake_step(f->loop, -100 * NS_PER_DAY);
	prepare(f);
	assert_string_not_equal(f->ca.next.cert, wrong);
}

static void test_own_ca__two_files_that_do_not_fit_are_replaced(void **state)
{
	struct fixture *f = *state;
	CLEANUP(xfreep) char *other = NULL, *other_key = NULL;
	char path[64];
	assert_ok(tls_ca_new(f->loop, "other", &other, &other_key, &f->err), &f->err);
	const char *const keys[] = {other_key, "", "junk"};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		open_ca(f);
		CLEANUP(xfreep) char *first = xstrdup(f->ca.now.cert);
		assert_ok(file_write_atomic(in_dir(f, "x-ca.key", path), str_of(keys[i]), 0600,
					    &f->err),
			  &f->err);
		open_ca(f);
		assert_string_not_equal(f->ca.now.cert, first);
	}
}

static void test_own_ca__stays_when_another_cannot_be_written(void **state)
{
	struct fixture *f = *state;
	open_ca(f);
	CLEANUP(xfreep) char *first = xstrdup(f->ca.now.cert);
	f->ca.dir = "/nonexistent/folder";
	assert_true(own_ca_prepare(&f->ca, &f->err) < 0);
	assert_non_null(strstr(f->err.msg, "/nonexistent/folder"));
	assert_null(f->ca.next.cert);
	f->ca.dir = f->dir;
	prepare(f);
	f->ca.dir = "/nonexistent/folder";
	assert_true(own_ca_switch(&f->ca, &f->err) < 0);
	assert_non_null(f->ca.next.cert);
	f->ca.dir = f->dir;
	assert_string_equal(f->ca.now.cert, first);
	assert_non_null(f->ca.now.key);
}

/* From the instant when it begins to the one when it ends, that one left out; what it signs does not outlive it. */
static void test_own_ca__signs_as_long_as_it_is_valid(void **state)
{
	struct fixture *f = *state;
	int64_t from = 0, until = 0, began = 0, ends = 0;
	CLEANUP(xfreep) char *ca = NULL, *ca_key = NULL;
	assert_ok(tls_ca_new(f->loop, "x-ca", &ca, &ca_key, &f->err), &f->err);
	assert_ok(tls_lifetime(ca, &from, &until, &f->err), &f->err);
	const struct {
		int64_t at;
		const char *why;
	} cases[] = {
		{from - 1, "the CA begins "},    {from, NULL},      {from + 1, NULL},
		{until - NS_PER_S, NULL},        {until - 1, NULL}, {until, "the CA has ended "},
		{until + 1, "the CA has ended "}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *cert = NULL, *key = NULL;
		static const char *const names[] = {"localhost"};
		f->err = ERROR_INIT;
		loop_fake_step(f->loop, cases[i].at - loop_now(f->loop));
		int r = tls_serving_new(f->loop, ca, ca_key, names, 1, &cert, &key, &f->err);
		assert_int_equal(r < 0, cases[i].why != NULL);
		if (r < 0 && !strstr(f->err.msg, cases[i].why))
			fail_msg("case %zu: %s", i, f->err.msg);
		if (r < 0)
			continue;
		assert_ok(tls_lifetime(cert, &began, &ends, &f->err), &f->err);
		assert_true(began <= cases[i].at && ends <= until);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_own_ca__is_made_once_and_kept),
		TEST(test_own_ca__is_due_when_a_third_of_its_life_is_left),
		TEST(test_own_ca__signs_nothing_on_its_last_day),
		TEST(test_own_ca__signs_as_long_as_it_is_valid),
		TEST(test_own_ca__what_cannot_be_read_is_not_replaced),
		TEST(test_own_ca__a_file_that_fails_is_told),
		TEST(test_own_ca__to_the_moment),
		TEST(test_own_ca__another_stands_beside_it_until_the_switch),
		TEST(test_own_ca__a_switch_that_was_killed_is_ended),
		TEST(test_own_ca__a_successor_whose_time_has_not_come_is_made_again),
		TEST(test_own_ca__two_files_that_do_not_fit_are_replaced),
		TEST(test_own_ca__stays_when_another_cannot_be_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
