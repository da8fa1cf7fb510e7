/* Several Decisions about one subject in one reconcile: each has an entry, and none has a second. */
#include "tests/lib/test.h"

#include "alm/audit/audit.h"
#include "alm/engine/chain.h"
#include "alm/engine/plan.h"
#include "alm/obj/meta.h"
#include "tests/lib/work_fixture.h"

static void observed(void *arg, const struct resource *r, const struct obj *o)
{
	(void)arg;
	(void)r;
	(void)o;
}

/* One reconcile that decides these, "" for none; how many entries it has. */
static int64_t reconcile(struct work_fixture *f, const char *first, const char *second)
{
	const char *const reasons[] = {"DriftLeft", "RetryRefused"};
	struct plan p;
	work_fixture_plan(&p);
	struct obj *about = obj_keep(p.a, meta_skeleton("v1", "ConfigMap", "", "t"));
	obj_set_path(about, "metadata.uid", obj_string("u"));
	if (*first)
		(void)plan_row(&p, "Decision", about, reasons[0], first, obj_map());
	if (*second)
		(void)plan_row(&p, "Decision", about, reasons[1],
			       *first ? arena_fmt(p.a, "%s\n%s", first, second) : second,
			       obj_map());
	int64_t before = audit_last_seq(f->audit);
	work_fixture_run(f, &p);
	assert_int_equal(f->code, 0);
	return audit_last_seq(f->audit) - before;
}

static void test_executor_decisions__each_is_reported_once(void **state)
{
	(void)state;
	struct work_fixture f;
	const struct executor_host host = {.observed = observed};
	work_fixture_init_as(&f, false, &host);
	assert_int_equal(reconcile(&f, "DriftLeft replicas", "RetryRefused r1"), 2);
	for (int i = 0; i < 3; i++)
		assert_int_equal(reconcile(&f, "DriftLeft replicas", "RetryRefused r1"), 0);
	assert_int_equal(reconcile(&f, "", "RetryRefused r1"), 0);
	/* what differs in a word, or is the beginning of the other, is another */
	assert_int_equal(reconcile(&f, "DriftLeft", ""), 1);
	assert_int_equal(reconcile(&f, "DriftLeft replicas", ""), 1);
	assert_int_equal(reconcile(&f, "", "RetryRefused r2"), 1);
	assert_int_equal(reconcile(&f, "DriftLeft replicas", "RetryRefused r2"), 2);
	assert_int_equal(reconcile(&f, "DriftLeft replicas", "RetryRefused r2"), 0);
	work_fixture_release(&f);
}

/* The key of what is no Decision may have lines of a stranger: they hide nothing. */
static void test_executor_decisions__lines_are_of_decisions_alone(void **state)
{
	(void)state;
	struct work_fixture f;
	const struct executor_host host = {.observed = observed};
	static const char *const keys[] = {"u:approved: 50: ok\n", "u:approved: x\nu:approved: 50",
					   "u:approved: 50", ""};
	work_fixture_init_as(&f, false, &host);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct plan p;
		work_fixture_plan(&p);
		struct obj *about = obj_keep(p.a, meta_skeleton("v1", "ConfigMap", "", "t"));
		obj_set_path(about, "metadata.uid", obj_string("u"));
		(void)plan_row(&p, "Observe", about, "CanarySteered", keys[i], obj_map());
		int64_t before = audit_last_seq(f.audit);
		work_fixture_run(&f, &p);
		assert_int_equal(audit_last_seq(f.audit) - before, 1);
	}
	assert_int_equal(reconcile(&f, "DriftLeft", "\n"), 2); /* an empty line is not told */
	work_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executor_decisions__each_is_reported_once),
		cmocka_unit_test(test_executor_decisions__lines_are_of_decisions_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
