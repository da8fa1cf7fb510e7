/* Where a strategy's archive is: of one that no catalog has it is told what there is instead. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/obj/condition.h"
#include "tests/lib/strategy_fake.h"

static struct catalog_index *index_of(const char *name, const char *package)
{
	struct catalog_index *x = index_new(name, 0);
	struct error err = ERROR_INIT;
	char digest[SHA256_HEX];
	sha256_hex(STR("other"), digest);
	const struct package_source s = {
		.chart_yaml = str_of(arena_fmt(x->arena, "{name: %s, version: 1.0.0}", package)),
		.digest = digest,
		.locator = "x"};
	index_add(x, &s);
	assert_ok(index_finish(x, STR_NONE, &err), &err);
	return x;
}

static void test_strategy_plan__an_archive_that_no_catalog_has(void **state)
{
	static const struct {
		const char *reference, *package;
		bool by_alm;
		const char *reason, *message;
		bool again; /* looks again by itself */
	} rows[] = {
		{"quay.io/a/etcd:1@sha256:f", "etcd", false, "DigestMismatch",
		 "no archive of etcd has sha256 abc; catalog two has 1.0.0 as sha256:", false},
		{"etcd", "etcd", false, "DigestMismatch", "no archive of etcd has sha256 abc;",
		 false},
		{"quay.io/a/etcd", "web", false, "FetchFailed",
		 "no catalog has an archive with sha256 abc; put the chart quay.io/a/etcd into one",
		 true},
		{"quay.io/a/etcd", "etcd", true, "FetchFailed",
		 "no catalog has etcd 1.0.0 any more (sha256 abc), and there is no stored plan of "
		 "it",
		 true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		struct catalog_index *one = index_of("one", "none"),
				     *two = index_of("two", rows[i].package);
		const struct catalog_index *indexes[] = {one, two};
		f.shared.indexes = indexes;
		f.shared.n_indexes = ARRAY_LEN(indexes);
		struct obj *o = view_fake_obj(&f, "{\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}}");
		obj_set_path(o, "spec.strategy.helmChart", obj_string(rows[i].reference));
		struct strategy_ref ref = {.o = o,
					   .name = "s",
					   .version = "1.0.0",
					   .sha256 = "abc",
					   .by_alm = rows[i].by_alm};
		struct app app = {.name = "etcd"};
		struct strategy_pass s = {.v = &f.view,
					  .plan = view_fake_plan(&f),
					  .app = &app,
					  .ref = &ref,
					  .phase = PHASE_PENDING,
					  .conditions = obj_keep(f.a, obj_list()),
					  .steps = obj_keep(f.a, obj_list())};
		assert_int_not_equal(strategy_find_archive(&s), DONE);
		assert_int_equal(s.phase, PHASE_BLOCKED);
		assert_string_equal(s.reason, rows[i].reason);
		if (!cstr_has_prefix(s.message, rows[i].message))
			fail_msg("row %zu: %s", i, s.message);
		assert_int_equal(f.plan.requeue_after_ns, rows[i].again ? NS_PER_MIN : 0);
		index_free(one);
		index_free(two);
		view_fake_release(&f);
	}
}

/* What keeps a version from being installed is told by the condition of its predicate; of those that ALM chose only if it is
 * for safety. */
static void test_strategy_plan__a_refused_version_has_its_condition(void **state)
{
	static const struct {
		const char *reason, *condition;
	} rows[] = {
		{"ResourceDropped", "CRDCompatible"},    {"CRDIncompatible", "CRDCompatible"},
		{"RequirementUnmet", "RequirementsMet"}, {"ResourceMissing", "RequirementsMet"},
		{"NotInChannel", "PlanReady"},
	};
	(void)state;
	for (size_t i = 0; i < 4 * ARRAY_LEN(rows); i++) {
		const char *reason = rows[i / 4].reason;
		bool by_alm = i & 1, safety = i & 2;
		struct view_fake f;
		view_fake_init(&f);
		struct strategy_ref ref = {
			.o = view_fake_obj(&f, "{\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}}"),
			.name = "s",
			.version = "1.0.0",
			.by_alm = by_alm};
		struct candidate c = {.version = "1.0.0",
				      .reason = reason,
				      .message = "it says why",
				      .safety = safety};
		struct app app = {.name = "etcd",
				  .o = ref.o,
				  .in = {.app = "etcd"},
				  .resolution = {.candidates = &c, .n = 1}};
		struct strategy_pass s = strategy_fake(&f, &app, &ref);
		strategy_ensure_turn(&s);
		const struct obj *told = condition_find(s.conditions, rows[i / 4].condition);
		if (by_alm && !safety) {
			assert_int_equal(s.phase, PHASE_SUPERSEDED);
			assert_null(told);
		} else {
			assert_int_equal(s.phase, PHASE_BLOCKED);
			assert_int_equal(obj_len(s.conditions), 1);
			assert_string_equal(obj_str(told, "status"), "False");
			assert_string_equal(obj_str(told, "reason"), reason);
			assert_string_equal(obj_str(told, "message"), "it says why");
		}
		view_fake_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_plan__an_archive_that_no_catalog_has),
		cmocka_unit_test(test_strategy_plan__a_refused_version_has_its_condition),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
