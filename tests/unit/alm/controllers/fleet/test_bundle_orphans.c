/* What the status of a Bundle says of objects that nobody has declared. */
#include "tests/lib/test.h"

#include "alm/controllers/fleet/bundle_orphans.h"
#include "alm/obj/json.h"

#define ORPHAN(name)  "{\"name\":\"" name "\",\"since\":\"s\",\"deleteAt\":\"d\"}"
#define RESTING(name) "{\"name\":\"" name "\",\"since\":\"s\"}"

#define ONE(orphan) "{\"orphans\":[" orphan "],\"orphanCount\":1}"
#define FORGED      "{\"name\":\"a\",\"since\":\"long ago\"}"

static const struct {
	const char *was, *said, *record, *want; /* record NULL: nothing was looked for yet */
	bool sweeps, rests;
} rows[] = {
	{"{}", NULL, NULL, "{}", true, false},
	{"{}", NULL, ONE(ORPHAN("a")), ONE(ORPHAN("a")), true, false},
	{"{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1,\"orphansDigest\":\"x\"}",
	 ONE(ORPHAN("a")), "{\"orphans\":[],\"orphanCount\":0}", "{}", true, false},
	/* since when is not forgotten in a restart */
	{ONE(ORPHAN("a")), ONE(ORPHAN("a")), NULL, ONE(ORPHAN("a")), true, false},
	{"{}", ONE(ORPHAN("a")), NULL, ONE(ORPHAN("a")), true, false},
	/* nor is it what somebody else has written there meanwhile */
	{ONE(FORGED), ONE(ORPHAN("a")), NULL, ONE(ORPHAN("a")), true, false},
	{"{\"orphans\":[" FORGED "],\"orphanCount\":7,\"orphansDigest\":\"x\"}", NULL, NULL, "{}",
	 true, false},
	{ONE(FORGED), "{\"state\":\"Synced\"}", NULL, "{}", true, false},
	{ONE(FORGED), ONE(FORGED), ONE(ORPHAN("a")), ONE(ORPHAN("a")), true, false},
	/* no time is told while nothing goes */
	{"{}", ONE(ORPHAN("a")), NULL, ONE(RESTING("a")), true, true},
	{"{}", NULL, "{\"orphans\":[" ORPHAN("a") "],\"orphanCount\":1,\"orphansDigest\":\"x\"}",
	 "{\"orphans\":[" RESTING("a") "],\"orphanCount\":1,\"orphansDigest\":\"x\"}", true, true},
	/* another mode */
	{ONE(ORPHAN("a")), ONE(ORPHAN("a")), ONE(ORPHAN("a")), "{}", false, false},
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
		CLEANUP(obj_unrefp) struct obj *said = rows[i].said ? parse(rows[i].said) : NULL;
		bundle_orphans_tell(&spec, record, said, rows[i].rests, status);
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
	bundle_orphans_tell(&spec, record, NULL, false, status);
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
