/* An inventory in several ConfigMaps: no object is written before one of them names it, and what is lost of
 * it is found again. */
#include <string.h>

#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/unit/inventory.h"
#include "crds/marks.h"
#include "tests/lib/test.h"
#include "tests/lib/unit_fixture.h"

#define PIECE_BYTES 300 /* has one line */

static const struct obj *piece(struct unit_fixture *x, size_t n)
{
	const char *name = n > 1 ? arena_fmt(x->a, "inv-%zu.b.i", n) : "inv.b.i";
	const char *text = map_get(x->f.live, arena_fmt(x->a, "ConfigMap/alm-system/%s", name));
	return text ? view_fake_obj(&x->f, text) : NULL;
}

static bool is_named(struct unit_fixture *x, const char *name)
{
	const char *line = arena_fmt(x->a, " default %s ", name);
	for (size_t n = 1; piece(x, n); n++)
		if (strstr(obj_str(piece(x, n), "data.objects"), line))
			return true;
	return false;
}

static const char *run_named(struct unit_fixture *x)
{
	const char *how = "Running";
	for (int i = 0; i < 40 && cstr_eq(how, "Running"); i++) {
		how = unit_fixture_pass(x);
		for (const struct action *w = x->f.plan.head; w; w = w->next)
			if (w->type == ACT_APPLY && cstr_eq(w->ns, "default"))
				assert_true(is_named(x, w->name));
		view_fake_survey(&x->f);
		view_fake_perform(&x->f);
		if (!view_fake_works(&x->f, &survey_work))
			x->f.view.now_ns += 2 * NS_PER_S;
	}
	return how;
}

static void test_unit_pieces__a_large_inventory_lies_in_several(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 5);
	x.job.inventory_bytes = PIECE_BYTES;
	assert_string_equal(run_named(&x), "Succeeded");
	assert_non_null(piece(&x, 5));
	assert_null(piece(&x, 6));
	assert_string_equal(meta_annotation(piece(&x, 1), ANNOTATION_PIECES), "5");
	assert_string_equal(obj_str(piece(&x, 5), "metadata.ownerReferences[0].name"), "inv.b.i");
	assert_string_equal(unit_fixture_run(&x, 5), "Succeeded");
	assert_false(plan_has_writes(&x.f.plan));
	assert_string_equal(unit_fixture_run(&x, 2), "Succeeded");
	assert_true(is_named(&x, "c1"));
	assert_false(is_named(&x, "c4"));
	assert_non_null(piece(&x, 5)); /* a late write of it finds it */
	unit_fixture_release(&x);
}

static void test_unit_pieces__an_inventory_of_one_is_read_on(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 4);
	assert_string_equal(run_named(&x), "Succeeded");
	assert_null(piece(&x, 2));
	x.job = (struct unit_job){.unit = unit_fixture_unit(&x, 3),
				  .attempt = 2,
				  .inventory_ns = "alm-system",
				  .inventory_bytes = PIECE_BYTES,
				  .max_deletes = 10};
	assert_string_equal(run_named(&x), "Succeeded");
	assert_null(unit_fixture_map(&x, "c3"));
	assert_true(is_named(&x, "c2"));
	assert_non_null(piece(&x, 2)); /* what it had and did not fit is there once */
	assert_null(strstr(obj_str(piece(&x, 1), "data.objects"), "c2"));
	unit_fixture_release(&x);
}

/* The inventory itself has the marks, too. */
#define MARKED(name, ns)                                                                        \
	"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"" name    \
	"\", \"namespace\": \"" ns "\", \"uid\": \"uid-ConfigMap-" name "\", \"annotations\": " \
	"{\"app.coreos.com/owner-id\": \"cli.b.i\"}, \"managedFields\": [{\"manager\": "        \
	"\"alm:cli:b\"}]}}"
static const char marked[] = "[" MARKED("c1", "default") ", " MARKED("inv.b.i", "alm-system") "]";

static void test_unit_pieces__a_lost_piece_is_rebuilt_by_marks(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	x.job.inventory_bytes = PIECE_BYTES;
	unit_fixture_settle(&x);
	view_fake_gone(&x.f, "ConfigMap", "alm-system", "inv-2.b.i"); /* has c1 */
	x.job.unit = unit_fixture_unit(&x, 1);
	x.job.attempt = 2;
	x.job.record = NULL;
	view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":2:marked", marked);
	for (int i = 0; i < 20 && !piece(&x, 2); i++) {
		unit_fixture_pass(&x);
		view_fake_survey(&x.f);
		view_fake_perform(&x.f);
	}
	assert_non_null(
		meta_annotation(piece(&x, 1), ANNOTATION_INCOMPLETE)); /* it was noted first */
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	assert_null(unit_fixture_map(&x, "c1"));
	assert_non_null(piece(&x, 1));
	assert_false(inventory_is_incomplete(piece(&x, 1)));
	assert_false(is_named(&x, "c1"));
	assert_null(strstr(obj_str(piece(&x, 1), "data.objects"), "inv.b.i"));
	unit_fixture_release(&x);
}

/* No informer shows what was read, and a write over it met a conflict. */
static void test_unit_pieces__an_inventory_that_goes_meanwhile_is_read_again(void **state)
{
	(void)state;
	struct unit_fixture x;
	struct error err = ERROR_INIT;
	unit_fixture_init(&x, 2);
	unit_fixture_settle(&x);
	x.job.unit = unit_fixture_unit(&x, 3);
	x.job.attempt = 2;
	x.job.record = NULL;
	for (int i = 0; i < 9 && !view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "inv.b.i"); i++) {
		unit_fixture_pass(&x);
		view_fake_survey(&x.f);
	}
	view_fake_gone(&x.f, "ConfigMap", "alm-system", "inv.b.i");
	error_set(&err, E_CONFLICT, "uid mismatch");
	stash_put(x.f.stash, refusal_id("", "ConfigMap", "alm-system", "inv.b.i", x.a), &err,
		  STR_NONE, NULL, x.f.view.now_ns);
	unit_fixture_pass(&x);
	const struct action *forget = view_fake_action(&x.f, ACT_FORGET, NULL, NULL);
	assert_non_null(forget);
	assert_string_equal(forget->id, "unit:" UNIT_FIXTURE_KEY ":2:books");
	unit_fixture_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_pieces__a_large_inventory_lies_in_several),
		cmocka_unit_test(test_unit_pieces__an_inventory_of_one_is_read_on),
		cmocka_unit_test(test_unit_pieces__a_lost_piece_is_rebuilt_by_marks),
		cmocka_unit_test(test_unit_pieces__an_inventory_that_goes_meanwhile_is_read_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
