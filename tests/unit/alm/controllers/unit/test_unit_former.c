/* Which unit of a job is there, by how its attempts ended. What is freed too soon or never the sanitizer tells. */
#include "tests/lib/test.h"

#include "alm/controllers/unit/unit_side.h"
#include "alm/obj/json.h"

#define DONE     "{\"state\":\"Succeeded\",\"begun\":true}"
#define REFUSED  "{\"state\":\"Failed\",\"refused\":true}"
#define FAILED   "{\"state\":\"Failed\",\"begun\":true}"
#define LOST     "{\"state\":\"Failed\",\"refused\":true,\"begun\":true}"
#define BACK     "{\"state\":\"RolledBack\",\"begun\":true}"
#define RUNNING  "{\"state\":\"Running\"}"
#define BEGUN    "{\"state\":\"Running\",\"begun\":true}"
#define ATTEMPTS 5

struct job {
	struct unit_job job;
	struct unit_arenas arenas;
	const struct unit *units[ATTEMPTS];
};

static void replace(struct job *j, size_t n)
{
	struct arena *a = arena_new(1 << 12);
	j->units[n] = ARENA_NEW(a, struct unit);
	unit_job_replace(&j->job, &j->arenas, j->units[n], a);
}

static void test_unit_former__which_one_is_there(void **state)
{
	(void)state;
	static const struct {
		const char *records
			[ATTEMPTS]; /* of one attempt after the other, each of a unit of its own */
		int former;         /* -1: none is known */
	} rows[] = {
		{{REFUSED}, -1},
		{{FAILED}, -1},
		{{DONE}, 0},
		{{DONE, REFUSED}, 0},
		{{DONE, REFUSED, REFUSED, REFUSED}, 0},
		{{DONE, REFUSED, DONE}, 2},
		{{DONE, DONE, REFUSED}, 1},
		{{DONE, FAILED}, -1},
		{{DONE, LOST}, -1}, /* the server refused what was pruned */
		{{DONE, FAILED, REFUSED}, -1},
		{{DONE, FAILED, DONE, REFUSED}, 2},
		{{DONE, BACK}, 0},
		{{DONE, BACK, REFUSED}, 0},
		/* another one takes its place before it has ended */
		{{DONE, RUNNING, REFUSED}, 0},
		{{DONE, BEGUN, REFUSED}, -1},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job j = {.job = {.attempt = 0}};
		for (size_t k = 0; k < ATTEMPTS && rows[i].records[k]; k++) {
			struct error err = ERROR_INIT;
			CLEANUP(obj_unrefp) struct obj *o = NULL;
			assert_ok(json_parse(str_of(rows[i].records[k]), &o, &err), &err);
			replace(&j, k);
			obj_unref(mem_unconst(j.job.record));
			j.job.record = STEAL(o);
			if (!unit_record_is_open(j.job.record))
				unit_job_settle(&j.job, &j.arenas);
		}
		const struct unit *want = rows[i].former < 0 ? NULL : j.units[rows[i].former];
		if (j.job.former != want)
			fail_msg("row %zu", i);
		obj_unref(mem_unconst(j.job.record));
		unit_arenas_free(&j.arenas);
	}
}

static void test_unit_former__what_a_refused_one_leaves(void **state)
{
	(void)state;
	static const struct {
		const char *record;
		bool refused;
	} rows[] = {{REFUSED, true}, {FAILED, false},
		    {LOST, false},   {DONE, false},
		    {BACK, false},   {RUNNING, false},
		    {"{}", false},   {"{\"state\":\"Failed\"}", false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		assert_ok(json_parse(str_of(rows[i].record), &o, &err), &err);
		if (unit_record_is_refused(o) != rows[i].refused)
			fail_msg("row %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_former__which_one_is_there),
		cmocka_unit_test(test_unit_former__what_a_refused_one_leaves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
