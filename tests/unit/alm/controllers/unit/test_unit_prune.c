/* test_unit_prune.c: what becomes of the objects of a unit that goes. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/unit_fixture.h"

#define MARK "\"app.coreos.com/"

/* Deleted for good, or left behind as nobody's: then not one mark of the unit is left, and all the rest is. */
static void test_unit_prune__orphans_lose_their_marks_and_stay(void **state)
{
	(void)state;
	for (int orphans = 0; orphans < 2; orphans++) {
		struct unit_fixture x;
		unit_fixture_init(&x, 4);
		assert_string_equal(unit_fixture_settle(&x), "Succeeded");
		assert_non_null(strstr(unit_fixture_map(&x, "c0"), MARK));
		/* somebody took one of them over meanwhile */
		struct obj *theirs = view_fake_obj(&x.f, unit_fixture_map(&x, "c1"));
		meta_set_label(theirs, LABEL_INSTANCE, "another");
		meta_set_annotation(theirs, ANNOTATION_OWNER_ID, "cli.b.another");
		view_fake_live_obj(&x.f, theirs);
		view_fake_gone(&x.f, "ConfigMap", "default", "c3");
		if (orphans) { /* one goes anyway */
			struct obj *going = view_fake_obj(&x.f, unit_fixture_map(&x, "c2"));
			obj_set_path(going, "metadata.deletionTimestamp",
				     obj_string("2026-01-01T00:00:00Z"));
			view_fake_live_obj(&x.f, going);
		}
		x.job.deleting = true;
		x.job.orphans = orphans;
		(void)unit_fixture_run(&x, 0);
		x.f.view.now_ns +=
			61 * NS_PER_S; /* nothing of a former process can come any more */
		assert_string_equal(unit_fixture_settle(&x), "Succeeded");
		const char *left = unit_fixture_map(&x, "c0");
		assert_int_equal(left != NULL, orphans);
		if (left) {
			assert_null(strstr(left, MARK));
			assert_non_null(strstr(left, "\"data\":{\"v\":\"1\"}"));
		}
		assert_non_null(strstr(unit_fixture_map(&x, "c1"), "cli.b.another"));
		if (orphans)
			assert_non_null(strstr(unit_fixture_map(&x, "c2"), MARK));
		else
			assert_null(unit_fixture_map(&x, "c2"));
		assert_null(unit_fixture_map(&x, "c3"));
		unit_fixture_release(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_prune__orphans_lose_their_marks_and_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
