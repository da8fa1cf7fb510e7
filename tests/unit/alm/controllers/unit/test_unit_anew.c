/* What the server does not change is deleted and made anew, if it says so: app.coreos.com/force. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/meta.h"
#include "tests/lib/unit_fixture.h"

#define IMMUTABLE "ConfigMap \"c0\" is invalid: data: Forbidden: field is immutable"

static void refuse(struct unit_fixture *x, int code, const char *message)
{
	struct error err = ERROR_INIT;
	error_set(&err, code, "%s", message);
	stash_put(x->f.stash, "refused:/ConfigMap/default/c0", &err, STR_NONE, NULL,
		  x->f.view.now_ns);
}

static void do_it(struct unit_fixture *x)
{
	view_fake_survey(&x->f);
	view_fake_perform(&x->f);
}

/* Another attempt, with another value of c0, up to the pass after its write was refused so. */
static void change_and_refuse(struct unit_fixture *x, int code, const char *message)
{
	x->value = "2";
	x->job.unit = unit_fixture_unit(x, 2);
	x->job.attempt++;
	x->job.record = NULL;
	for (int i = 0; i < 20 && !view_fake_action(&x->f, ACT_APPLY, "ConfigMap", "c0"); i++) {
		do_it(x);
		unit_fixture_pass(x);
	}
	assert_non_null(view_fake_action(&x->f, ACT_APPLY, "ConfigMap", "c0"));
	refuse(x, code, message);
	unit_fixture_pass(x);
}

static void init(struct unit_fixture *x, bool forced)
{
	unit_fixture_init(x, 2);
	x->forced = forced;
	x->job.unit = unit_fixture_unit(x, 2);
	assert_string_equal(unit_fixture_settle(x), "Succeeded");
}

static void test_unit_anew__that_object_alone(void **state)
{
	(void)state;
	struct unit_fixture x;
	init(&x, true);
	change_and_refuse(&x, E_INVALID, IMMUTABLE);
	assert_string_equal(obj_str(x.job.record, "state"), "Running");
	const struct action *d = view_fake_action(&x.f, ACT_DELETE, "ConfigMap", "c0");
	assert_non_null(d);
	assert_string_equal(d->uid, "uid-ConfigMap-c0"); /* of what was read, and of no other */
	assert_int_equal(view_fake_count(&x.f, ACT_DELETE), 1);
	do_it(&x);
	stash_drop(x.f.stash, "refused:/ConfigMap/default/c0"); /* as who writes does */
	assert_null(unit_fixture_map(&x, "c0"));
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	assert_non_null(strstr(unit_fixture_map(&x, "c0"), "\"v\":\"2\""));
	unit_fixture_release(&x);
}

static void test_unit_anew__what_does_not_ask_for_it_fails(void **state)
{
	(void)state;
	static const struct {
		bool forced;
		int code;
		const char *message, *said;
	} rows[] = {
		{false, E_INVALID, IMMUTABLE, "ImmutableField: " IMMUTABLE},
		{false, E_INVALID, IMMUTABLE, "app.coreos.com/force: \"true\" would have it so"},
		{true, E_INVALID, "data: Invalid value", "data: Invalid value"},
		{true, E_FORBIDDEN, IMMUTABLE, IMMUTABLE},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct unit_fixture x;
		init(&x, rows[i].forced);
		change_and_refuse(&x, rows[i].code, rows[i].message);
		assert_int_equal(view_fake_count(&x.f, ACT_DELETE), 0);
		assert_string_equal(obj_str(x.job.record, "state"), "RollingBack");
		assert_non_null(strstr(obj_str(x.job.record, "message"), rows[i].said));
		unit_fixture_release(&x);
	}
}

/* It was made anew, and the server says the same of that one: not for ever. */
static void test_unit_anew__once_a_step(void **state)
{
	(void)state;
	struct unit_fixture x;
	init(&x, true);
	change_and_refuse(&x, E_INVALID, IMMUTABLE);
	do_it(&x);
	view_fake_live(
		&x.f,
		"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": "
		"\"c0\", \"namespace\": \"default\", \"uid\": \"another\", "
		"\"resourceVersion\": \"77\", \"labels\": {\"app.coreos.com/bundle\": \"b\"}, "
		"\"annotations\": {\"app.coreos.com/owner-id\": \"cli.b.i\"}}}");
	unit_fixture_pass(&x);
	assert_int_equal(view_fake_count(&x.f, ACT_DELETE), 0);
	assert_string_equal(obj_str(x.job.record, "state"), "RollingBack");
	assert_non_null(strstr(obj_str(x.job.record, "message"), "in this step already"));
	unit_fixture_release(&x);
}

/* Its deletion is refused: that is told. */
static void test_unit_anew__who_may_not_delete(void **state)
{
	(void)state;
	struct unit_fixture x;
	init(&x, true);
	change_and_refuse(&x, E_INVALID, IMMUTABLE);
	refuse(&x, E_FORBIDDEN, "deletes are not for you");
	unit_fixture_pass(&x);
	assert_string_equal(obj_str(x.job.record, "state"), "RollingBack");
	assert_non_null(strstr(obj_str(x.job.record, "message"), "deletes are not for you"));
	unit_fixture_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_anew__that_object_alone),
		cmocka_unit_test(test_unit_anew__what_does_not_ask_for_it_fails),
		cmocka_unit_test(test_unit_anew__once_a_step),
		cmocka_unit_test(test_unit_anew__who_may_not_delete),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
