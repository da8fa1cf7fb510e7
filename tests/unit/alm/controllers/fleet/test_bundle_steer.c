/* What people say of a revision that is rolled out, and how long it has waited. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/fleet/bundle_side.h"
#include "alm/controllers/fleet/bundle_steer.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

static struct obj *read(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

/* clang-format off */
static const struct { const char *spec, *want; } rows[] = {
	{"{}", NULL},
	{"{abort: {plan: p, since: t, reason: r, by: b}}", "{\"abort\":{\"plan\":\"p\",\"since\":\"t\",\"reason\":\"r\",\"by\":\"b\"}}"},
	/* of another plan, of another rollout of it, or without a reason: nothing was said */
	{"{abort: {plan: q, since: t, reason: r}}", NULL},
	{"{abort: {plan: p, since: s, reason: r}, skipAnalysis: {plan: p, reason: r}}", NULL},
	{"{abort: {plan: p, since: t, reason: ''}, skipAnalysis: {plan: p, since: t}}", NULL},
	{"{skipAnalysis: {plan: p, since: t, reason: r}, approvals: {canary: {plan: p, since: t, weight: 5, reason: s}, prune: {commit: p, reason: r}}}",
	 "{\"approve\":{\"plan\":\"p\",\"since\":\"t\",\"weight\":5,\"reason\":\"s\"},\"skip\":{\"plan\":\"p\",\"since\":\"t\",\"reason\":\"r\"}}"},
};
/* clang-format on */

static void test_bundle_steer__of_one_rollout(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct obj *o = obj_keep(a, obj_map());
		obj_set(o, "spec", obj_ref(read(a, rows[i].spec)));
		CLEANUP(obj_unrefp) struct obj *got = bundle_steer(o, "p", "t");
		CLEANUP(xfreep) char *text = got ? json_text(got) : NULL;
		if (!cstr_eq(text, rows[i].want))
			fail_msg("row %zu: %s", i, text ? text : "nothing");
		assert_null(bundle_steer(o, "p", NULL)); /* nothing is run */
	}
}

/* Of deletes: what names too little, or another revision, approves none, and says what is wrong with it. */
static void test_bundle_steer__deletes(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct { const char *spec, *why; } asked[] = {
		{"{}", "nothing is approved"},
		{"{approvals: {prune: {plan: p, reason: r}}}", "nothing is approved"},
		{"{approvals: {prune: {commit: c, reason: r}}}", NULL},
		{"{approvals: {prune: {commit: c, plan: p, reason: r}}}", NULL},
		{"{approvals: {prune: {commit: d, plan: p, reason: r}}}", "commit is not status.commit"},
		{"{approvals: {prune: {commit: c, plan: q, reason: r}}}", "plan is not status.revisionDigest"},
		{"{approvals: {prune: {commit: c, plan: p, orphans: o, reason: r}}}", "it is of orphans"},
		{"{instances: [{name: a}], approvals: {prune: {commit: c, reason: r}}}", "plan is missing"},
		{"{instances: [{name: a}], approvals: {prune: {commit: c, plan: p, reason: r}}}", NULL},
	};
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct obj *o = obj_keep(a, obj_map());
		obj_set(o, "spec", obj_ref(read(a, asked[i].spec)));
		const char *why = bundle_steer_unpruned(o, "c", "p"), *want = asked[i].why;
		bool is_right = why && want ? strstr(why, want) != NULL : !why && !want;
		if (!is_right)
			fail_msg("row %zu: %s", i, why ? why : "approved");
	}
}

/* The status says when it began while it is not through; a process that begins anew goes on with it,
 * the same plan that is begun once more does not. */
static void test_bundle_steer__a_rollout_ends(void **state)
{
	(void)state;
	static const struct unit_job job = {0};
	static const struct {
		const char *read;
		bool has_job, newer, is_done;
		const char *want;
	} ends[] = {
		{"p", true, false, false, "now"}, {"p", true, false, true, NULL},
		{"p", true, true, false, NULL},   {"p", false, true, false, "logged"},
		{"q", false, true, false, NULL},  {NULL, false, true, false, NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct obj *status = read(a, "{revisionDigest: p, rollingSince: forged}");
		const struct obj *said = read(a, "{revisionDigest: p, rollingSince: logged}");
		struct obj *source = obj_keep(a, obj_map());
		obj_set_str(source, "digest", ends[i].read);
		const struct bundle_now now = {
			.read = source, .job = ends[i].has_job ? &job : NULL, .since = "now"};
		bundle_steer_since(&now, said, ends[i].newer, ends[i].is_done, status);
		if (!cstr_eq(obj_str(status, "rollingSince"), ends[i].want))
			fail_msg("row %zu: %s", i, obj_str(status, "rollingSince"));
	}
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const struct obj *said = read(a, "{revisionDigest: p, rollingSince: then}");
	assert_string_equal(bundle_steer_resumes(said, "p"), "then");
	assert_null(bundle_steer_resumes(said, "q"));
	assert_null(bundle_steer_resumes(read(a, "{revisionDigest: p}"), "p"));
	assert_null(bundle_steer_resumes(NULL, "p")); /* the log has nothing of it */
	struct obj *status = read(a, "{revisionDigest: p, rollingSince: forged}");
	struct obj *source = obj_keep(a, obj_map());
	obj_set_str(source, "digest", "p");
	struct bundle_now now = {.read = source};
	bundle_steer_since(&now, NULL, true, false, status);
	assert_null(obj_str(status, "rollingSince"));
	/* nothing is read yet: the next entry of the log does not say what somebody wrote into the status */
	status = read(a, "{revisionDigest: q, rollingSince: forged}");
	now.read = NULL;
	bundle_steer_since(&now, said, true, false, status);
	assert_string_equal(obj_str(status, "rollingSince"), "then");
	assert_string_equal(obj_str(status, "revisionDigest"), "p");
}

/* What is said while it runs makes no other spec; an approval of deletes, and all else, does. */
static void test_bundle_steer__the_rest(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char plain[SHA256_HEX], steered[SHA256_HEX], other[SHA256_HEX];
	bundle_steer_rest(read(a, "{spec: {drift: Report}}"), plain);
	bundle_steer_rest(
		read(a, "{spec: {drift: Report, abort: {plan: p, since: t, reason: r}, approvals: "
			"{canary: {plan: p, weight: 5, reason: r}}}}"),
		steered);
	assert_string_equal(plain, steered);
	bundle_steer_rest(read(a, "{spec: {drift: Repair}}"), other);
	assert_string_not_equal(plain, other);
	bundle_steer_rest(read(a, "{spec: {drift: Report, approvals: {prune: {commit: c, reason: "
				  "r}}}}"),
			  other);
	assert_string_not_equal(plain, other);
}

static void test_bundle_steer__since_when_it_is_held(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct bundle_held h;
	bundle_held_read(NULL, &h);
	assert_int_equal(h.data_ns, 0);
	bundle_held_read(
		read(a,
		     "{steps: {a: {state: InProgress, message: m, metrics: {'0/0': {heldSinceNs: "
		     "7}}}, b: {state: InProgress, message: two, canary: {'0': {askedNs: 9, "
		     "metrics: "
		     "{x: {heldSinceNs: 5}}}, '1': {askedNs: 8}, '2': {askedNs: 1, end: abort}}}, "
		     "c: {state: Finished, metrics: {x: {heldSinceNs: 1}}}}}"),
		&h);
	assert_int_equal(h.data_ns, 5);
	assert_string_equal(h.data_text, "two");
	assert_int_equal(h.asked_ns, 8);
	assert_string_equal(h.asked_text, "two");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_steer__of_one_rollout),
		cmocka_unit_test(test_bundle_steer__deletes),
		cmocka_unit_test(test_bundle_steer__a_rollout_ends),
		cmocka_unit_test(test_bundle_steer__the_rest),
		cmocka_unit_test(test_bundle_steer__since_when_it_is_held),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
