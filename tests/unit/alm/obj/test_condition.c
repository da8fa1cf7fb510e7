#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"

static void test_condition__transition_time_moves_with_status_only(void **state)
{
	(void)state;
	struct obj *o = obj_map(), *list = obj_list();
	struct condition c = {"Ready", "False", "Waiting", "a", 1}, got;
	assert_true(condition_set(list, &c, 100 * NS_PER_S));
	assert_false(condition_set(list, &c, 200 * NS_PER_S));
	c.message = "b";
	assert_true(condition_set(list, &c, 200 * NS_PER_S));
	obj_set_path(o, "status.conditions", list);
	assert_string_equal(condition_since(o, "Ready"), "1970-01-01T00:01:40Z");
	c.status = "True";
	assert_true(condition_set(list, &c, 300 * NS_PER_S));
	assert_string_equal(condition_since(o, "Ready"), "1970-01-01T00:05:00Z");
	assert_true(condition_get(o, "Ready", &got));
	assert_string_equal(got.message, "b");
	assert_int_equal(got.observed_generation, 1);
	assert_true(condition_is(o, "Ready", "True"));
	assert_false(condition_is(o, "Nope", "True"));
	assert_null(condition_since(o, "Nope"));
	assert_true(condition_remove(list, "Ready"));
	assert_false(condition_remove(list, "Ready"));
	assert_false(condition_get(o, "Ready", &got));
	obj_unref(o);
}

static void test_condition__message_is_cut_at_a_border(void **state)
{
	(void)state;
	char message[2 * CONDITION_MESSAGE_MAX];
	memset(message, 'x', sizeof(message) - 1);
	message[sizeof(message) - 1] = '\0';
	memcpy(message + CONDITION_MESSAGE_MAX - 1, "\xc3\xa9", 2);
	struct obj *list = obj_list();
	struct condition c = {"Ready", "False", "R", message, 0};
	assert_true(condition_set(list, &c, 0));
	assert_false(condition_set(list, &c, 0));
	assert_int_equal(obj_as_str(obj_path(list, "[0].message")).len, CONDITION_MESSAGE_MAX - 1);
	assert_null(obj_path(list, "[0].observedGeneration"));
	obj_unref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_condition__transition_time_moves_with_status_only),
		cmocka_unit_test(test_condition__message_is_cut_at_a_border),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
