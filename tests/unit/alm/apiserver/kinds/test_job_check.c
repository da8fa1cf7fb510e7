/* test_job_check.c: what of a Job may change, and of its status; the rest of it is in test_differs.c. */
#include "alm/apiserver/kinds/job_check.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

static struct obj *parse(const char *spec, const char *status)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	const char *text = arena_fmt(a, "{\"spec\":{%s},\"status\":{%s}}", spec, status);
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

/* What the change is refused for: of one cause at most. NULL: it is not. */
static void expect(void (*kept)(struct field_errors *e, const struct obj *o,
				const struct obj *before),
		   struct obj *before, struct obj *after, const char *path)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct field_errors e;
	field_errors_init(&e, a);
	kept(&e, after, before);
	assert_int_equal(e.n, path ? 1 : 0);
	if (path)
		assert_string_equal(e.items[0].path, path);
	obj_unref(before);
	obj_unref(after);
}

#define SUSPENDED "\"suspend\":true,"
#define POD(more) \
	"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"" more "}]}}"
#define PLACED(more) \
	"\"template\":{\"spec\":{" more ",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"
#define MORE             ",\"resources\":{\"limits\":{\"cpu\":\"2\"}}"
#define SELECTED         "\"nodeSelector\":{\"a\":\"b\"}"
#define STARTED          "\"startTime\":\"2026-01-01T00:00:00Z\""
#define IS(type, status) "\"conditions\":[{\"type\":\"" type "\",\"status\":\"" status "\"}]"

static void test_job_check__a_suspended_one_is_placed_anew(void **state)
{
	(void)state;
	static const struct {
		const char *status, *before, *after, *path;
	} cases[] = {
		{"", POD(""), POD(""), NULL},
		{"", POD(""), PLACED(SELECTED), "spec.template"},
		{"", POD(""), POD(MORE), "spec.template"},
		{"", SUSPENDED POD(""), SUSPENDED PLACED(SELECTED), NULL},
		{"", SUSPENDED POD(""), PLACED(SELECTED), NULL},
		{"", SUSPENDED POD(""), SUSPENDED POD(MORE), NULL},
		{"", SUSPENDED POD(""), SUSPENDED POD(",\"tty\":true"), "spec.template.spec"},
		{"\"active\":1", SUSPENDED POD(""), SUSPENDED POD(MORE), "spec.template"},
		{STARTED, SUSPENDED POD(""), SUSPENDED PLACED(SELECTED), "spec.template"},
		{STARTED "," IS("Suspended", "True"), SUSPENDED POD(""), SUSPENDED PLACED(SELECTED),
		 NULL},
		{STARTED "," IS("Suspended", "False"), SUSPENDED POD(""),
		 SUSPENDED PLACED(SELECTED), "spec.template"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect(job_kept, parse(cases[i].before, cases[i].status),
		       parse(cases[i].after, cases[i].status), cases[i].path);
}

static void test_job_check__how_it_ended_stays(void **state)
{
	(void)state;
	static const char done[] = "\"completionTime\":\"2026-01-01T00:00:00Z\"";
	static const char later[] = "\"completionTime\":\"2026-01-01T00:00:01Z\"";
	static const struct {
		const char *spec, *before, *after, *path;
	} cases[] = {
		{"", IS("Failed", "True"), IS("Failed", "True"), NULL},
		{"", IS("Failed", "True"), IS("Failed", "False"), "status.conditions"},
		{"", IS("Complete", "True"), "", "status.conditions"},
		{"", IS("FailureTarget", "True"), "", "status.conditions"},
		{"", IS("SuccessCriteriaMet", "True"), "", "status.conditions"},
		{"", IS("Suspended", "True"), "", NULL},
		{"", IS("Complete", "False"), IS("Complete", "True"), NULL},
		{"", done, done, NULL},
		{"", done, later, "status.completionTime"},
		{"", done, "", NULL},
		{"", STARTED, "", "status.startTime"},
		{SUSPENDED "\"x\":1", STARTED, "", NULL},
		{"", "", STARTED, NULL},
		{"", STARTED "," IS("Suspended", "True"), IS("Suspended", "False"), NULL},
		{"", "\"failed\":2", "\"failed\":1", "status.failed"},
		{"", "\"succeeded\":2", "\"succeeded\":1", "status.succeeded"},
		{"\"completionMode\":\"Indexed\",\"completions\":1,\"parallelism\":1",
		 "\"succeeded\":2", "\"succeeded\":1", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect(job_status_kept, parse(cases[i].spec, cases[i].before),
		       parse(cases[i].spec, cases[i].after), cases[i].path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job_check__a_suspended_one_is_placed_anew),
		cmocka_unit_test(test_job_check__how_it_ended_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
