/* What the object that a unit is run for is the owner of, and what never: the garbage collector deletes it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/unit_fixture.h"

#define OWNER "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"name\": \"%s\", \"uid\": \"%s\"}"

#define MADE "2023-11-14T22:13:30Z" /* ten seconds after the beginning */

static void run_for_m(struct unit_fixture *x, bool kept)
{
	unit_fixture_init(x, 1);
	x->kept = kept;
	x->job.unit = unit_fixture_unit(x, 1);
	x->job.main =
		view_fake_obj(&x->f, "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", "
				     "\"metadata\": {\"name\": \"m\", \"namespace\": \"default\", "
				     "\"uid\": \"u\", \"resourceVersion\": \"1\", "
				     "\"finalizers\": [\"app.coreos.com/unit\"]}}");
	x->job.watched = x->job.touches = true;
}

/* What c0 is applied as. */
static const struct obj *applied(struct unit_fixture *x)
{
	for (int i = 0; i < 9; i++) {
		view_fake_survey(&x->f);
		view_fake_perform(&x->f);
		unit_fixture_pass(x);
		const struct action *made = view_fake_action(&x->f, ACT_APPLY, "ConfigMap", "c0");
		if (made)
			return made->body;
	}
	return NULL;
}

/* c0 as it is live, with another owner besides; manager: who set m as one of its owners. */
static void own(struct unit_fixture *x, const char *manager)
{
	struct error err = ERROR_INIT;
	struct obj *parsed = NULL, *owners = NULL, *managed = NULL;
	assert_ok(json_parse(str_of(unit_fixture_map(x, "c0")), &parsed, &err), &err);
	CLEANUP(obj_unrefp) struct obj *o = parsed;
	const char *list = arena_fmt(x->a, "[" OWNER ", " OWNER "]", "other", "v", "m", "u");
	const char *fields = arena_fmt(x->a,
				       "[{\"manager\": \"%s\", \"operation\": \"Apply\", "
				       "\"fieldsV1\": {\"f:metadata\": {\"f:ownerReferences\": "
				       "{\"k:{\\\"uid\\\":\\\"u\\\"}\": {}}}}}]",
				       manager);
	assert_ok(json_parse(str_of(list), &owners, &err), &err);
	assert_ok(json_parse(str_of(fields), &managed, &err), &err);
	obj_set_path(o, "metadata.ownerReferences", owners);
	obj_set_path(o, "metadata.managedFields", managed);
	obj_set_path(o, "metadata.creationTimestamp", obj_string(MADE));
	view_fake_live_obj(&x->f, o);
}

static void test_unit_owner__nobody_owns_what_is_kept(void **state)
{
	(void)state;
	static const struct {
		bool kept, touches, owned;
	} rows[] = {{false, true, true}, {true, true, false}, {false, false, false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct unit_fixture x;
		run_for_m(&x, rows[i].kept);
		x.job.touches = rows[i].touches;
		const struct obj *made = applied(&x);
		assert_non_null(made);
		assert_int_equal(meta_is_owned_by(made, "u"), rows[i].owned);
		unit_fixture_release(&x);
	}
}

/* Somebody has annotated it since (alm keep): the next apply is without, and there is one. */
static void test_unit_owner__what_is_kept_since_has_none_any_more(void **state)
{
	(void)state;
	static const struct {
		const char *manager;
		bool goes;
	} rows[] = {{"alm:cli:b", true}, {"operator", false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct unit_fixture x;
		run_for_m(&x, false);
		assert_string_equal(unit_fixture_settle(&x), "Succeeded");
		own(&x, rows[i].manager);
		x.job.keeps = true;
		unit_fixture_pass(&x);
		assert_null(view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0"));
		CLEANUP(obj_unrefp) struct obj *c0 =
			obj_copy(view_fake_obj(&x.f, unit_fixture_map(&x, "c0")));
		meta_set_annotation(c0, ANNOTATION_PRUNE, "disabled");
		view_fake_live_obj(&x.f, c0);
		unit_fixture_pass(&x);
		const struct action *made = view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0");
		assert_int_equal(made != NULL, rows[i].goes);
		assert_false(made && meta_is_owned_by(made->body, "u"));
		unit_fixture_release(&x);
	}
}

static void go_on(struct unit_fixture *x)
{
	/* what was read live is used while it is young */
	if (!view_fake_works(&x->f, &survey_work))
		x->f.view.now_ns += NS_PER_S;
	view_fake_survey(&x->f);
	view_fake_perform(&x->f);
}

/* Of its finalizer; its status tells of the deletion. */
static bool is_released(struct unit_fixture *x)
{
	const struct action *patch = view_fake_action(&x->f, ACT_PATCH, "ConfigMap", "m");
	return patch && !patch->subresource;
}

/* Before the finalizer goes, and the object with it. */
static void test_unit_owner__parts_from_what_pruning_keeps(void **state)
{
	(void)state;
	struct unit_fixture x;
	run_for_m(&x, true);
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	own(&x, "alm:cli:b");
	x.job.deleting = true;
	x.job.unit = unit_fixture_unit(&x, 0);
	x.job.attempt++;
	x.job.record = NULL;
	const struct action *patch = NULL;
	for (int i = 0; i < 20 && !patch; i++) {
		unit_fixture_pass(&x);
		patch = view_fake_action(&x.f, ACT_PATCH, "ConfigMap", "c0");
		assert_null(view_fake_action(&x.f, ACT_PATCH, "ConfigMap", "m"));
		go_on(&x);
	}
	assert_non_null(patch);
	int64_t parted = x.f.view.now_ns;
	CLEANUP(obj_unrefp) struct obj *c0 =
		obj_copy(view_fake_obj(&x.f, unit_fixture_map(&x, "c0")));
	assert_int_equal(meta_owner_count(c0), 1);
	assert_true(meta_is_owned_by(c0, "v"));
	for (int i = 0; i < 200 && !is_released(&x); i++) {
		unit_fixture_pass(&x);
		go_on(&x);
	}
	assert_true(is_released(&x));
	/* its create, carried out once more, would make m its owner again */
	assert_true(x.f.view.now_ns - parted > 30 * NS_PER_S);
	assert_non_null(unit_fixture_map(&x, "c0"));
	unit_fixture_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_owner__nobody_owns_what_is_kept),
		cmocka_unit_test(test_unit_owner__what_is_kept_since_has_none_any_more),
		cmocka_unit_test(test_unit_owner__parts_from_what_pruning_keeps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
