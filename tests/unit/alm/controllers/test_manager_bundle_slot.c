/* When a program that met a limit is run again. */
#include "tests/lib/test.h"

#include "alm/controllers/fleet/bundle_steer.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/obj/yaml.h"
#include "tests/lib/audit_log.h"

static int64_t now_ns;

static int64_t mono(struct loop *l)
{
	(void)l;
	return now_ns;
}

static void after(struct bundle_slot *s, int64_t minutes, bool again)
{
	now_ns += minutes * NS_PER_MIN - 1;
	assert_false(bundle_slot_tries_again(s));
	now_ns++;
	assert_true(bundle_slot_tries_again(s));
	bundle_slot_limit(s, again, &s->failed);
}

static void test_manager_bundle_slot__a_limit_is_tried_again(void **state)
{
	(void)state;
	const struct loop_ops ops = {.mono_ns = mono};
	struct loop l = {.ops = &ops};
	struct manager m = {.c = {.loop = &l}};
	struct bundles b = {.m = &m};
	struct bundle_slot s = {.b = &b};
	error_because(&s.failed, E_LIMIT, REASON_RENDER_LIMIT, "used more than 5 s");
	bundle_slot_limit(&s, false, &s.failed);
	after(&s, 1, true);
	after(&s, 2, true);
	after(&s, 4, false); /* another commit */
	after(&s, 1, true);
	for (int i = 0; i < 9; i++)
		bundle_slot_limit(&s, true, &s.failed);
	after(&s, 60, true);
	/* a configuration that changes at each poll does not end the pause */
	memcpy(s.config, "one", sizeof("one"));
	assert_true(bundle_slot_has_config(&s, "other"));
	/* what is wrong with a program stays wrong with it */
	s.failed = ERROR_INIT;
	error_because(&s.failed, E_INVALID, REASON_RENDER_FAILED, "no");
	bundle_slot_limit(&s, true, &s.failed);
	now_ns += NS_PER_DAY;
	assert_false(bundle_slot_tries_again(&s));
	assert_false(bundle_slot_has_config(&s, "other"));
	assert_true(bundle_slot_has_config(&s, "one"));
	s.asks = true; /* but not what it was told of the cluster */
	assert_true(bundle_slot_tries_again(&s));
	s.failed = ERROR_INIT;
	assert_false(bundle_slot_tries_again(&s));
}

/* What a person says to a run is no reason to run the same revision once more; another change is. */
static void test_manager_bundle_slot__a_word_to_the_run_is_no_new_spec(void **state)
{
	static const struct {
		const char *now;
		int64_t generation;
	} rows[] = {
		{"{metadata: {name: b, generation: 2}, spec: {source: {url: u}, abort: {plan: p, "
		 "since: t, reason: r}}}",
		 2},
		{"{metadata: {name: b, generation: 2}, spec: {source: {url: v}}}", 1},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		struct obj *was = NULL, *now = NULL;
		assert_ok(yaml_parse_one(STR("{spec: {source: {url: u}}}"), &was, &err), &err);
		assert_ok(yaml_parse_one(str_of(rows[i].now), &now, &err), &err);
		struct unit u = {.digest = "p"};
		struct bundle_slot s = {.job = {.unit = &u}, .job_generation = 1, .job_since = "t"};
		struct bundles b = {.slots = map_new(NULL)};
		struct manager m = {.bundles = &b};
		bundle_steer_rest(was, s.job_rest);
		map_set(b.slots, "b", &s);
		manager_steer_bundle(&m, now);
		assert_int_equal(s.job_generation, rows[i].generation);
		obj_unref(s.steer);
		map_free(b.slots);
		obj_unref(was);
		obj_unref(now);
	}
}

static const char *since_of(struct audit_log *l, char text[CLOCK_TEXT_MAX])
{
	struct manager m = {.c = {.loop = &l->loop.base, .audit = l->audit, .db = l->db}};
	struct bundles b = {.m = &m};
	struct unit u = {.digest = "p"};
	struct bundle_slot s = {.b = &b, .job = {.unit = &u}};
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	obj_set_path(o, "metadata.name", obj_string("web"));
	obj_set_path(o, "metadata.uid", obj_string("u"));
	bundle_slot_since(&s, o); /* of a process that begins */
	memcpy(text, s.job_since, sizeof(s.job_since));
	return text;
}

/* Whoever asks for another try while no process runs asks for a rollout of its own: an abort of the former one would
 * end it before its first write. */
static void test_manager_bundle_slot__a_retry_goes_on_with_nothing(void **state)
{
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	int64_t seq;
	char at[CLOCK_TEXT_MAX];
	static const char aborted[] = "2020-01-01T00:00:00.000001Z";
	audit_log_open(&l, ":memory:", NULL);
	assert_string_not_equal(since_of(&l, at), aborted);
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_path(body, "status.revisionDigest", obj_string("p"));
	obj_set_path(body, "status.rollingSince", obj_string(aborted));
	obj_set_path(body, "status.transitionSeq", obj_int(1));
	struct audit_row row = {.type = "Transition",
				.reason = "RolledBack",
				.transition_seq = 1,
				.subject = {.kind = "Bundle", .name = "web", .uid = "u"},
				.body = body};
	assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	assert_string_equal(since_of(&l, at), aborted);
	row = (struct audit_row){.type = "Approval",
				 .reason = "RetryAsked",
				 .actor = "alice",
				 .subject = {.kind = "Bundle", .name = "web", .uid = "another"}};
	assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	assert_string_equal(since_of(&l, at), aborted);
	row.subject.uid = "u";
	assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	assert_string_not_equal(since_of(&l, at), aborted);
	audit_log_close(&l);
}

/* The same credentials for the same spec are shown more and more seldom; others at once, from the first. */
static void test_manager_bundle_slot__rejected_credentials_wait(void **state)
{
	static const struct {
		const char *secret;
		int64_t generation;
		bool same;
	} rows[] = {{"7", 1, true}, {"8", 1, false}, {"7", 2, false}, {"", 1, false}};
	(void)state;
	const struct loop_ops ops = {.mono_ns = mono};
	struct loop l = {.ops = &ops};
	struct manager m = {.c = {.loop = &l}};
	struct bundles b = {.m = &m};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct bundle_slot s = {.b = &b};
		struct error why = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *o = obj_map(), *next = obj_map();
		obj_set_path(o, "metadata.generation", obj_int(1));
		obj_set_path(next, "metadata.generation", obj_int(rows[i].generation));
		error_set(&why, E_UNAUTHORIZED, "no");
		assert_false(bundle_rejected_still(&s, o, "7")); /* nobody has said so */
		bundle_rejected_note(&s, o, "7", &why);
		bundle_rejected_note(&s, o, "7", &why);
		assert_int_equal(s.rejected.times, 2);
		assert_int_equal(s.rejected.why.code, E_UNAUTHORIZED);
		assert_int_equal(bundle_rejected_still(&s, next, rows[i].secret), rows[i].same);
		now_ns += bundle_rejected_pause(2) - 1;
		assert_int_equal(bundle_rejected_still(&s, next, rows[i].secret), rows[i].same);
		now_ns++;
		assert_false(bundle_rejected_still(&s, next, rows[i].secret));
		bundle_rejected_note(&s, next, rows[i].secret, &why);
		assert_int_equal(s.rejected.times, rows[i].same ? 3 : 1);
		bundle_rejected_clear(&s);
		assert_false(bundle_rejected_still(&s, next, rows[i].secret));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manager_bundle_slot__a_word_to_the_run_is_no_new_spec),
		cmocka_unit_test(test_manager_bundle_slot__a_limit_is_tried_again),
		cmocka_unit_test(test_manager_bundle_slot__a_retry_goes_on_with_nothing),
		cmocka_unit_test(test_manager_bundle_slot__rejected_credentials_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
