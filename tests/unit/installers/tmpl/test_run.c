/* test_run.c: of each budget of a run that functions ask for, what fits and one over it. */
#include "tests/lib/test.h"

#include "installers/tmpl/run.h"

static const struct tmpl_limits few = {
	.steps = 10, .string_bytes = 4, .list_len = 3, .key_pairs = 2, .slow_hashes = 1};

struct fixture {
	struct arena *a;
	struct tmpl_run *run;
};

static void setup(struct fixture *f, const struct tmpl_host *host)
{
	f->a = arena_new(0);
	f->run = tmpl_run_new(NULL, f->a, host, &few);
}

static void teardown(struct fixture *f)
{
	tmpl_run_free(f->run);
	arena_free(f->a);
}

static void assert_over(struct fixture *f, int rc, const char *budget)
{
	assert_true(rc < 0);
	assert_int_equal(f->run->failure.n, 1);
	assert_non_null(memmem(f->run->failure.levels[0].ptr, f->run->failure.levels[0].len, budget,
			       strlen(budget)));
}

static void test_run__one_over_each_budget(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL);
	assert_int_equal(tmpl_want_string(f.run, 4), 0);
	assert_over(&f, tmpl_want_string(f.run, 5), "bytes in one string");
	teardown(&f);
	setup(&f, NULL);
	assert_int_equal(tmpl_want_list(f.run, 3), 0);
	assert_over(&f, tmpl_want_list(f.run, 4), "items in one list");
	teardown(&f);
	setup(&f, NULL);
	assert_int_equal(tmpl_want_steps(f.run, 4), 0);
	assert_int_equal(tmpl_want_steps(f.run, 6), 0); /* those of before count */
	assert_over(&f, tmpl_want_steps(f.run, 1), "steps");
	teardown(&f);
	setup(&f, NULL);
	assert_int_equal(tmpl_want_key(f.run) + tmpl_want_key(f.run), 0);
	assert_over(&f, tmpl_want_key(f.run), "key pairs");
	teardown(&f);
	setup(&f, NULL);
	assert_int_equal(tmpl_want_slow_hash(f.run), 0);
	assert_over(&f, tmpl_want_slow_hash(f.run), "bcrypt");
	teardown(&f);
}

static void test_run__a_text_that_is_too_long(void **state)
{
	(void)state;
	struct fixture f;
	struct value v;
	CLEANUP(strbuf_release) struct strbuf fits = STRBUF_INIT(4), over = STRBUF_INIT(8);
	setup(&f, NULL);
	strbuf_adds(&fits, "abcd");
	strbuf_adds(&over, "abcde");
	assert_int_equal(tmpl_return(f.run, &fits, &v), 0);
	assert_true(str_eq(value_text(v), STR("abcd")));
	assert_over(&f, tmpl_return(f.run, &over, &v), "bytes in one string");
	teardown(&f);
	setup(&f, NULL);
	strbuf_adds(&fits, "e"); /* dropped: the buffer says so */
	assert_over(&f, tmpl_return(f.run, &fits, &v), "bytes in one string");
	teardown(&f);
}

static int entropy(void *ctx, void *out, size_t len)
{
	memset(out, 7, len);
	return *(const int *)ctx;
}

/* A run that has drawn is random, whether it got anything or not. */
static void test_run__entropy(void **state)
{
	(void)state;
	int rc = 0;
	const struct tmpl_host host = {.ctx = &rc, .entropy = entropy}, none = {.ctx = NULL};
	unsigned char drawn[2] = {0};
	struct fixture f;
	setup(&f, &host);
	assert_false(tmpl_run_is_random(f.run));
	assert_int_equal(tmpl_entropy(f.run, drawn, sizeof(drawn)), 0);
	assert_int_equal(drawn[1], 7);
	assert_true(tmpl_run_is_random(f.run));
	rc = -1;
	assert_over(&f, tmpl_entropy(f.run, drawn, sizeof(drawn)), "no entropy");
	teardown(&f);
	setup(&f, &none);
	assert_over(&f, tmpl_entropy(f.run, drawn, sizeof(drawn)), "no entropy");
	assert_true(tmpl_run_is_random(f.run));
	teardown(&f);
}

static void test_run__what_helm_deletes(void **state)
{
	(void)state;
	static const char *const cases[][2] = {{"", ""},
					       {"a<no value>b<no value>", "ab"},
					       {"<no <no value>value>", "<no value>"},
					       {"<no value", "<no value"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		tmpl_add_cleaned(&b, str_of(cases[i][0]));
		assert_string_equal(b.buf, cases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run__one_over_each_budget),
		cmocka_unit_test(test_run__a_text_that_is_too_long),
		cmocka_unit_test(test_run__entropy),
		cmocka_unit_test(test_run__what_helm_deletes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
