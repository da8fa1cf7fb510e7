/* prune.mode Namespace: what nobody has declared is told, and deleted in its time. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/unit_fixture.h"

#define LIST  "unit:" UNIT_FIXTURE_KEY ":1:strays"
#define GRACE (60 * NS_PER_S)
#define STRAY(name)                                                                                \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"by\":\"kubectl\",\"metadata\":{\"name\":" \
	"\"" name "\",\"namespace\":\"default\",\"uid\":\"uid-" name                               \
	"\",\"resourceVersion\":\"5\"}}"

struct sweeping {
	struct unit_fixture x;
	struct unit_sweep rules;
};

static void begin(struct sweeping *w)
{
	struct obj *namespaces;
	unit_fixture_init(&w->x, 2);
	assert_string_equal(unit_fixture_settle(&w->x), "Succeeded");
	namespaces = obj_keep(w->x.a, obj_list());
	obj_append(namespaces, obj_string("default"));
	w->rules = (struct unit_sweep){.namespaces = namespaces,
				       .interval_ns = 30 * NS_PER_S,
				       .grace_ns = GRACE,
				       .max_deletes = 2};
	w->x.job.sweep = &w->rules;
}

/* A list that is complete, and of now. */
static void listed(struct sweeping *w, const char *rows)
{
	view_fake_outcome(&w->x.f, LIST, rows);
	(void)unit_fixture_pass(&w->x);
}

static size_t deletes(struct sweeping *w)
{
	return view_fake_count(&w->x.f, ACT_DELETE);
}

static const struct obj *orphan(const struct sweeping *w, size_t i)
{
	return obj_at(obj_get(w->x.job.record, "orphans"), i);
}

static void later(struct sweeping *w, int64_t ns)
{
	w->x.f.view.now_ns += ns;
}

static void test_unit_sweep__told_first_and_deleted_after_its_grace(void **state)
{
	(void)state;
	struct sweeping w;
	begin(&w);
	(void)unit_fixture_pass(&w.x);
	const struct action *look = view_fake_work(&w.x.f, &gather_work);
	assert_non_null(look);
	assert_string_equal(obj_as_string(obj_at(obj_get(look->body, "namespaces"), 0)), "default");
	listed(&w, "[" STRAY("s") "," STRAY("c0") "]"); /* c0 is declared */
	assert_int_equal(deletes(&w), 0);
	assert_int_equal(obj_len(obj_get(w.x.job.record, "orphans")), 1);
	assert_string_equal(obj_str(orphan(&w, 0), "name"), "s");
	assert_string_equal(obj_str(orphan(&w, 0), "by"), "kubectl");
	CLEANUP(xfreep) char *since = xstrdup(obj_str(orphan(&w, 0), "since"));
	later(&w, GRACE - NS_PER_S);
	listed(&w, "[" STRAY("s") "]");
	assert_int_equal(deletes(&w), 0);
	assert_string_equal(obj_str(orphan(&w, 0), "since"), since);
	later(&w, 2 * NS_PER_S);
	listed(&w, "[" STRAY("s") "]");
	const struct action *gone = view_fake_action(&w.x.f, ACT_DELETE, "ConfigMap", "s");
	assert_non_null(gone);
	assert_string_equal(gone->uid, "uid-s"); /* of what was listed, and as it was */
	assert_string_equal(gone->resource_version, "5");
	assert_int_equal(deletes(&w), 1);
	/* what becomes of it is told when it is known */
	assert_string_equal(gone->ends->done, "OrphanDeleted");
	assert_string_equal(gone->ends->refused, "OrphanDeleteRefused");
	assert_non_null(strstr(obj_str(gone->body, "what"), since));
	assert_int_equal(view_fake_count(&w.x.f, ACT_ROW), 0);
	later(&w, NS_PER_S);
	listed(&w, "[]");
	assert_int_equal(obj_len(obj_get(w.x.job.record, "orphans")), 0);
	unit_fixture_release(&w.x);
}

/* What is due by a list that is old is listed again: by then somebody may have declared it. */
static void test_unit_sweep__deleted_by_a_young_list_alone(void **state)
{
	(void)state;
	struct sweeping w;
	begin(&w);
	w.rules.grace_ns = 10 * NS_PER_S;
	listed(&w, "[" STRAY("s") "]");
	later(&w, 11 * NS_PER_S); /* the list is younger than the interval */
	(void)unit_fixture_pass(&w.x);
	assert_int_equal(deletes(&w), 0);
	assert_int_equal(view_fake_works(&w.x.f, &gather_work), 1);
	unit_fixture_release(&w.x);
}

/* After a restart the grace does not begin anew; what is said to be of the future is of now. */
static void test_unit_sweep__since_when_a_former_process_has_told(void **state)
{
	(void)state;
	static const struct {
		const char *since;
		bool goes;
	} rows[] = {{"1970-01-01T00:00:01Z", true}, {"2999-01-01T00:00:00Z", false}, {"x", false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sweeping w;
		begin(&w);
		struct obj *o = obj_map(), *known = obj_keep(w.x.a, obj_list());
		obj_set_str(o, "uid", "uid-s");
		obj_set_str(o, "since", rows[i].since);
		obj_append(known, o);
		w.rules.known = known;
		listed(&w, "[" STRAY("s") "]");
		assert_int_equal(deletes(&w), rows[i].goes);
		unit_fixture_release(&w.x);
	}
}

static void test_unit_sweep__more_than_may_go_at_once(void **state)
{
	(void)state;
	struct sweeping w;
	begin(&w);
	w.rules.grace_ns = 0;
	static const char three[] = "[" STRAY("r") "," STRAY("s") "," STRAY("t") "]";
	listed(&w, three);
	assert_int_equal(deletes(&w), 0);
	assert_non_null(strstr(obj_str(w.x.job.record, "orphansHeld"),
			       "3 objects that nobody has declared would be deleted, more than "
			       "spec.prune.maxDeletes 2; the first: ConfigMap/default/r"));
	assert_null(obj_str(orphan(&w, 0), "deleteAt"));
	assert_string_equal(obj_str(w.x.job.record, "state"), "Succeeded"); /* revisions go on */
	CLEANUP(xfreep) char *digest = xstrdup(obj_str(w.x.job.record, "orphansDigest"));
	w.rules.approved = digest;
	/* another one: nobody has consented to that */
	listed(&w, "[" STRAY("r") "," STRAY("s") "," STRAY("u") "]");
	assert_int_equal(deletes(&w), 0);
	listed(&w, three);
	assert_int_equal(deletes(&w), 3);
	assert_null(obj_str(w.x.job.record, "orphansHeld"));
	unit_fixture_release(&w.x);
}

static void test_unit_sweep__nothing_by_a_list_that_failed(void **state)
{
	(void)state;
	struct sweeping w;
	struct error err = ERROR_INIT;
	begin(&w);
	w.rules.grace_ns = 20 * NS_PER_S;
	listed(&w, "[" STRAY("s") "]");
	later(&w, 31 * NS_PER_S);
	error_set(&err, E_FORBIDDEN, "secrets: no");
	stash_put(w.x.f.stash, LIST, &err, STR_NONE, NULL, w.x.f.view.now_ns);
	(void)unit_fixture_pass(&w.x);
	assert_int_equal(deletes(&w), 0);
	assert_string_equal(obj_str(w.x.job.record, "orphansUnknown"), "secrets: no");
	listed(&w, "[" STRAY("s") "]");
	assert_int_equal(deletes(&w), 1);
	assert_null(obj_str(w.x.job.record, "orphansUnknown"));
	unit_fixture_release(&w.x);
}

/* What the server refuses to delete is told, and not asked each time. */
static void test_unit_sweep__a_delete_that_is_refused_is_told(void **state)
{
	(void)state;
	struct sweeping w;
	struct error err = ERROR_INIT;
	begin(&w);
	w.rules.grace_ns = 0;
	error_set(&err, E_FORBIDDEN, "you may not");
	stash_put(w.x.f.stash, refusal_id("", "ConfigMap", "default", "s", w.x.a), &err, STR_NONE,
		  NULL, w.x.f.view.now_ns);
	listed(&w, "[" STRAY("s") "]");
	assert_int_equal(deletes(&w), 0);
	assert_string_equal(obj_str(orphan(&w, 0), "message"),
			    "it could not be deleted: you may not");
	later(&w, NS_PER_MIN - 1);
	listed(&w, "[" STRAY("s") "]");
	assert_int_equal(deletes(&w), 0);
	later(&w, 1);
	listed(&w, "[" STRAY("s") "]");
	assert_int_equal(deletes(&w), 1);
	assert_string_equal(obj_str(orphan(&w, 0), "message"),
			    "it could not be deleted: you may not");
	unit_fixture_release(&w.x);
}

/* Neither while a revision is applied, nor where nobody asks (any more). */
static void test_unit_sweep__only_when_all_is_there_and_somebody_asks(void **state)
{
	(void)state;
	struct sweeping w;
	begin(&w);
	w.rules.grace_ns = 0;
	w.x.job.sweep = NULL;
	listed(&w, "[" STRAY("s") "]");
	assert_int_equal(deletes(&w) + view_fake_works(&w.x.f, &gather_work), 0);
	w.x.job.sweep = &w.rules;
	w.x.job.deleting = true;
	listed(&w, "[" STRAY("s") "]");
	assert_int_equal(deletes(&w), 0);
	w.x.job.deleting = false;
	struct obj *failed = obj_keep(w.x.a, obj_copy(w.x.job.record));
	obj_set_str(failed, "state", "Failed");
	w.x.job.record = failed;
	listed(&w, "[" STRAY("s") "]");
	assert_int_equal(deletes(&w), 0);
	unit_fixture_release(&w.x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_sweep__told_first_and_deleted_after_its_grace),
		cmocka_unit_test(test_unit_sweep__deleted_by_a_young_list_alone),
		cmocka_unit_test(test_unit_sweep__since_when_a_former_process_has_told),
		cmocka_unit_test(test_unit_sweep__more_than_may_go_at_once),
		cmocka_unit_test(test_unit_sweep__nothing_by_a_list_that_failed),
		cmocka_unit_test(test_unit_sweep__a_delete_that_is_refused_is_told),
		cmocka_unit_test(test_unit_sweep__only_when_all_is_there_and_somebody_asks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
