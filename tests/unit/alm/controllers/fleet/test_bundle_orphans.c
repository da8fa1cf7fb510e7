/* What the status of a Bundle says of objects that nobody has declared. */
#include "tests/lib/test.h"

#include "alm/controllers/fleet/bundle_orphans.h"
#include "alm/obj/json.h"

#define ORPHAN(name)  "{\"name\":\"" name "\",\"since\":\"s\",\"deleteAt\":\"d\"}"
#define RESTING(name) "{\"name\":\"" name "\",\"since\":\"s\"}"

static const struct {
	const char *was, *record, *want; /* record NULL: nothing was looked for yet */
	bool sweeps, rests;
} rows[] = {
	{"{}", NULL, "{}", true, false},
	{"{}", "{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1}",
	 "{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1}", true, false},
	{"{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1,\"orphansDigest\":\"x\"}",
	 "{\"orphans\":[],\"orphanCount\":0}", "{}", true, false},
	/* since when is not forgotten in a restart */
	{"{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1}", NULL,
	 "{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1}", true, false},
	/* no time is told while nothing goes */
	{"{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1}", NULL,
	 "{\"orphans\":[" RESTING("a") "],\"orphanCount\":1}", true, true},
	{"{}", "{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1,\"orphansDigest\":\"x\"}",
	 "{\"orphans\":[" RESTING("a") "],\"orphanCount\":1,\"orphansDigest\":\"x\"}", true, true},
	/* another mode */
	{"{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1}",
	 "{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1}", "{}", false, false},
};

static struct obj *parse(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static void test_bundle_orphans__what_the_status_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct bundle_spec spec = {.sweeps = rows[i].sweeps};
		CLEANUP(obj_unrefp) struct obj *status = parse(rows[i].was);
		CLEANUP(obj_unrefp) struct obj *want = parse(rows[i].want);
		CLEANUP(obj_unrefp) struct obj *record =
			rows[i].record ? parse(rows[i].record) : NULL;
		bundle_orphans_tell(&spec, record, rows[i].rests, status);
		CLEANUP(xfreep) char *text = json_text(status);
		if (!obj_equal(status, want))
			print_error("row %zu: %s\n", i, text);
		assert_true(obj_equal(status, want));
	}
}

static void test_bundle_orphans__a_hundred_of_them(void **state)
{
	(void)state;
	const struct bundle_spec spec = {.sweeps = true};
	CLEANUP(obj_unrefp) struct obj *status = obj_map();
	CLEANUP(obj_unrefp) struct obj *record = parse("{\"orphanCount\":150,\"orphans\":[]}");
	for (int i = 0; i < 150; i++)
		obj_append(obj_get_mut(record, "orphans"), parse(ORPHAN("a")));
	bundle_orphans_tell(&spec, record, false, status);
	assert_int_equal(obj_len(obj_get(status, "orphans")), ORPHANS_TOLD);
	assert_int_equal(obj_i64(status, "orphanCount", 0), 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_orphans__what_the_status_says),
		cmocka_unit_test(test_bundle_orphans__a_hundred_of_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
