/* nextstep: the form of every step that is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alm/obj/nextstep.h"

static int setup(void **state)
{
	*state = arena_new((size_t)1 << 20);
	return 0;
}

static int teardown(void **state)
{
	arena_freep((struct arena **)state);
	return 0;
}

static void test_nextstep__begins_with_a_program(void **state)
{
	(void)state;
	assert_true(nextstep_is_command("alm why etcd"));
	assert_true(nextstep_is_command("kubectl apply -f - # note"));
	assert_true(nextstep_is_command("helm status a"));
	assert_false(nextstep_is_command("delete what is over"));
	assert_false(nextstep_is_command("almost"));
	assert_false(nextstep_is_command(""));
}

/* A note is for reading: whoever wrote it, it adds no line to what is pasted. */
static void test_nextstep__a_note_stays_one(void **state)
{
	struct arena *a = *state;
	assert_string_equal(nextstep_new(a, NULL, "alm why %s", "x"), "alm why x");
	assert_string_equal(nextstep_new(a, "", "alm why x"), "alm why x");
	assert_string_equal(nextstep_new(a, "bad\nrm -rf /", "alm why x"),
			    "alm why x # bad\\nrm -rf /");
}

static void test_nextstep__a_word_is_one_word(void **state)
{
	struct arena *a = *state;
	assert_string_equal(nextstep_word(a, "etcds.etcd.coreos.com/v1"),
			    "etcds.etcd.coreos.com/v1");
	assert_string_equal(nextstep_word(a, "a b"), "'a b'");
	assert_string_equal(nextstep_word(a, "$(id)"), "'$(id)'");
	assert_string_equal(nextstep_word(a, "it's"), "'it'\\''s'");
	assert_string_equal(nextstep_word(a, ""), "''");
}

static void test_nextstep__a_list_has_copies(void **state)
{
	(void)state;
	char text[] = "alm why x";
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	nextstep_add(list, text);
	memset(text, 'y', sizeof(text) - 1);
	assert_string_equal(obj_as_string(obj_at(list, 0)), "alm why x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nextstep__begins_with_a_program),
		cmocka_unit_test_setup_teardown(test_nextstep__a_note_stays_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nextstep__a_word_is_one_word, setup, teardown),
		cmocka_unit_test(test_nextstep__a_list_has_copies),
	};
	return cmocka_run_group_tests_name("nextstep", tests, NULL, NULL);
}
