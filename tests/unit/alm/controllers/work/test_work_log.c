/* The log of a Job that failed is read as the account, and what may not be read is told. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "tests/lib/work_fixture.h"

#define PODS "/api/v1/namespaces/n/pods?labelSelector=job-name%3Dj&limit=100"
#define LOG  "/api/v1/namespaces/n/pods/p/log?container=m&tailLines=10&limitBytes=16384"
#define POD(state)                                                                        \
	"{\"items\":[{\"metadata\":{\"name\":\"p\"},\"status\":{\"containerStatuses\":[{" \
	"\"name\":\"m\",\"state\":{" state "}}]}}]}"
#define FAILED POD("\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\"}")

static const struct outcome *read_log(struct work_fixture *f)
{
	struct arena *a = arena_new((size_t)1 << 20);
	struct plan p;
	plan_init(&p, a);
	p.as = "system:serviceaccount:n:web";
	struct obj *secret = obj_keep(a, meta_skeleton("v1", "Secret", "n", "s"));
	obj_set_path(secret, "stringData.password", obj_string("hunter2hunter2"));
	struct obj *doc = obj_keep(a, obj_map()), *row = obj_map(), *rows = obj_list();
	obj_set(row, "object", obj_ref(secret));
	obj_append(rows, row);
	obj_set(doc, "objects", rows);
	plan_hide(&p, doc);
	(void)plan_log(&p, "log:0", "n", "job-name=j", false);
	executor_start(f->executor, "unit", "k", &p, a, work_fixture_ended, f);
	loop_fake_settle(f->loop);
	assert_int_equal(f->n_done, 1);
	assert_int_equal(f->code, 0);
	const struct outcome *o = stash_get(f->stash, "log:0");
	assert_non_null(o);
	return o;
}

static void test_work_log__the_container_that_failed_is_asked(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	fake_answer(f.transport, "GET", PODS, 200, FAILED);
	fake_answer(f.transport, "GET", LOG, 200, "no table users\nas hunter2hunter2\n");
	const struct outcome *o = read_log(&f);
	assert_int_equal(o->code, 0);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(fake_user(f.transport, i), "system:serviceaccount:n:web");
	assert_true(str_is(o->text,
			   "{\"pod\":\"p\",\"container\":\"m\",\"reason\":\"OOMKilled\",\"text\":"
			   "\"no table users | as (hidden)\"}"));
	work_fixture_release(&f);
}

static void test_work_log__nothing_is_asked_where_nothing_failed(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	fake_answer(f.transport, "GET", PODS, 200, POD("\"running\":{}"));
	const struct outcome *o = read_log(&f);
	assert_int_equal(o->code, 0);
	assert_int_equal(fake_count(f.transport), 1);
	work_fixture_release(&f);
}

static void test_work_log__a_refusal_is_its_outcome(void **state)
{
	(void)state;
	static const char no[] = "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":"
				 "\"web may not\"}";
	for (int i = 0; i < 2; i++) {
		struct work_fixture f;
		work_fixture_init(&f);
		if (i)
			fake_answer(f.transport, "GET", PODS, 200, FAILED);
		fake_answer(f.transport, "GET", i ? LOG : PODS, 403, no);
		const struct outcome *o = read_log(&f);
		assert_int_equal(o->code, E_FORBIDDEN);
		assert_non_null(strstr(o->msg, "web may not"));
		work_fixture_release(&f);
	}
}

/* A server that does not count is not read without end. */
static void test_work_log__more_than_was_asked_for_is_refused(void **state)
{
	(void)state;
	static const size_t most = (size_t)64 << 10;
	for (int over = 0; over < 2; over++) {
		struct work_fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(2 * most);
		work_fixture_init(&f);
		strbuf_pad(&b, 'x', most + (size_t)over);
		fake_answer(f.transport, "GET", PODS, 200, FAILED);
		fake_answer(f.transport, "GET", LOG, 200, b.buf);
		assert_int_equal(read_log(&f)->code, over ? E_LIMIT : 0);
		work_fixture_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_log__the_container_that_failed_is_asked),
		cmocka_unit_test(test_work_log__nothing_is_asked_where_nothing_failed),
		cmocka_unit_test(test_work_log__a_refusal_is_its_outcome),
		cmocka_unit_test(test_work_log__more_than_was_asked_for_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
