/* test_gate_corpus.c: pairs of definitions by hand: widening ones pass, breaking ones never, and
 * what was bad before is no finding (tests/golden/gate/corpus). */
#include <string.h>

#include "tests/lib/gate_case.h"
#include "tests/lib/test.h"

#define LIMIT ((size_t)64 << 20)

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new(LIMIT);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

/* A line of a corpus, judged. object NULL: none. */
static struct gate *judge(const struct obj *line, const struct obj *object)
{
	const struct gate_input in = {.before = gate_case_crd(arena, obj_at(line, 1)),
				      .after = gate_case_crd(arena, obj_at(line, 2))};
	struct gate *g = NULL;
	struct error err = ERROR_INIT;
	const char *const *versions;
	if (gate_begin(&in, &g, &err) < 0)
		fail_msg("%s: %s", obj_as_string(obj_at(line, 0)), err.msg);
	for (size_t i = 0; object && i < gate_versions(g, &versions); i++)
		gate_object(g, gate_case_object(arena, object), versions[i]);
	gate_finish(g);
	return g;
}

static void fail_line(const struct obj *line, const struct gate *g)
{
	fail_msg("%s: %s %s", obj_as_string(obj_at(line, 0)), gate_case_outcome(g),
		 gate_case_findings(arena, g));
}

static void test_gate_corpus__widening_passes(void **state)
{
	(void)state;
	const struct obj *lines = gate_case_file(arena, "corpus/widening.yaml");
	for (size_t i = 0; i < obj_len(lines); i++) {
		CLEANUP(gate_freep) struct gate *g = judge(obj_at(lines, i), NULL);
		if (gate_outcome(g) != FINDING_ALLOW)
			fail_line(obj_at(lines, i), g);
	}
	assert_true(obj_len(lines) >= 60);
}

static void test_gate_corpus__breaking_never_passes(void **state)
{
	(void)state;
	const struct obj *lines = gate_case_file(arena, "corpus/breaking.yaml");
	for (size_t i = 0; i < obj_len(lines); i++) {
		const struct obj *object = obj_at(obj_at(lines, i), 3);
		CLEANUP(gate_freep) struct gate *blind = judge(obj_at(lines, i), NULL);
		assert_int_equal(obj_len(obj_at(lines, i)), 4);
		if (gate_outcome(blind) == FINDING_ALLOW)
			fail_line(obj_at(lines, i), blind);
		if (obj_type(object) == OBJ_NULL)
			continue;
		CLEANUP(gate_freep) struct gate *g = judge(obj_at(lines, i), object);
		if (gate_outcome(g) != FINDING_REFUSE)
			fail_line(obj_at(lines, i), g);
	}
	assert_true(obj_len(lines) >= 100);
}

static void test_gate_corpus__old_sins_are_no_finding(void **state)
{
	(void)state;
	const struct obj *lines = gate_case_file(arena, "corpus/old_sins.yaml");
	for (size_t i = 0; i < obj_len(lines); i++) {
		CLEANUP(gate_freep) struct gate *g = judge(obj_at(lines, i), NULL);
		if (gate_count(g) > 0)
			fail_line(obj_at(lines, i), g);
	}
	assert_true(obj_len(lines) >= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_gate_corpus__widening_passes),
		CASE(test_gate_corpus__breaking_never_passes),
		CASE(test_gate_corpus__old_sins_are_no_finding),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
