/* test_strategy_approve.c: whether a plan may begin, against a model: every mix of what the spec gives, what the status
 * has of it, and what the log knows. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/strategy/strategy_approve.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/obj/meta.h"
#include "tests/lib/view_fake.h"

#define OURS   "sha256:ours"
#define OTHER  "sha256:other"
#define NOW_S  1700000000 /* that of view_fake: 2023-11-14T22:13:20Z */
#define BEFORE "2023-11-14T22:13:19Z"
#define IS_NOW "2023-11-14T22:13:20Z"
#define LATER  "2023-11-14T22:13:21Z"

/* Of status.approval and of the log's newest entry. */
enum { NONE, OF_OURS, OF_OTHER, HAS_ENDED, ENDS_NOW, N_STATUS };
enum { LOG_NONE, LOG_OURS, LOG_OTHER_PLAN, LOG_OTHER_UID, LOG_WITHDRAWN, N_LOG };

struct given {
	bool approved, needs_digest;
	const char *named; /* spec.approvedPlan, or NULL */
	unsigned status, log;
};

struct fixture {
	struct view_fake f;
	struct view_ops ops;
	struct app app;
	struct strategy_ref ref;
	struct strategy_pass s;
	const struct given *g;
};

static struct obj *last_row(void *arg, const char *type, const char *kind, const char *name)
{
	const struct fixture *x = CONTAINER_OF(arg, struct fixture, f);
	struct obj *row = obj_map();
	assert_string_equal(type, "Approval");
	assert_string_equal(kind, "InstallStrategy");
	assert_string_equal(name, "s");
	obj_set_str(row, "reason", x->g->log == LOG_WITHDRAWN ? "Withdrawn" : "Approved");
	obj_set_path(row, "subject.uid", obj_string(x->g->log == LOG_OTHER_UID ? "v" : "u"));
	obj_set_path(row, "body.approves", obj_string(x->g->log == LOG_OTHER_PLAN ? OTHER : OURS));
	if (x->g->log == LOG_NONE) {
		obj_unref(row);
		return NULL;
	}
	return row;
}

static struct obj *approval_of(unsigned status)
{
	static const char *const ends[N_STATUS] = {
		[OF_OURS] = LATER, [OF_OTHER] = LATER, [HAS_ENDED] = BEFORE, [ENDS_NOW] = IS_NOW};
	struct obj *o = status ? obj_map() : NULL;
	if (!o)
		return NULL;
	obj_set_str(o, "digest", status == OF_OTHER ? OTHER : OURS);
	obj_set_str(o, "expires", ends[status]);
	return o;
}

static void setup(struct fixture *x, const struct given *g)
{
	*x = (struct fixture){.g = g};
	view_fake_init(&x->f);
	x->ops = *x->f.view.ops;
	x->ops.last_row = last_row;
	x->f.view.ops = &x->ops;
	struct obj *app = obj_keep(x->f.a, obj_map());
	struct obj *o = obj_keep(x->f.a, meta_skeleton("o/v1", "InstallStrategy", NULL, "s"));
	obj_set_path(app, "spec.upgrade.approveFirst", obj_bool(true));
	obj_set_path(app, "spec.upgrade.requirePlanDigest", obj_bool(g->needs_digest));
	obj_set_path(o, "metadata.uid", obj_string("u"));
	obj_set_path(o, "spec.approved", obj_bool(g->approved));
	if (g->named)
		obj_set_path(o, "spec.approvedPlan", obj_string(g->named));
	obj_set_path(o, "status.plan.digest", obj_string(OURS));
	x->app = (struct app){.name = "etcd", .mode = "Manual", .o = app};
	x->ref = (struct strategy_ref){.o = o, .name = "s", .version = "2.0.0"};
	struct obj *approval = approval_of(g->status);
	x->s = (struct strategy_pass){.v = &x->f.view,
				      .plan = &x->f.plan,
				      .app = &x->app,
				      .ref = &x->ref,
				      .digest = OURS,
				      .conditions = obj_keep(x->f.a, obj_list()),
				      .steps = obj_keep(x->f.a, obj_list()),
				      .approval = approval ? obj_keep(x->f.a, approval) : NULL};
}

/* What must come of it: NULL, it may begin; else the reason why not. *ret_row: of the entry, or "". */
static const char *wanted(const struct given *g, const char **ret_row)
{
	const char *bound = g->status == NONE ? NULL : g->status == OF_OTHER ? OTHER : OURS;
	bool has_ended = g->status == HAS_ENDED || g->status == ENDS_NOW;
	*ret_row = "";
	if (!g->approved) {
		*ret_row = bound ? "Withdrawn" : "";
		return "ApprovalRequired";
	}
	if (!bound && g->log == LOG_OURS)
		bound = OURS;
	else if (!bound && g->log == LOG_OTHER_PLAN)
		bound = OTHER;
	if (!bound || (g->named && strcmp(g->named, bound) != 0)) { /* another one is given now */
		*ret_row = "Approved";
		has_ended = false;
		bound = g->named ? g->named : g->needs_digest ? "" : OURS;
	}
	return strcmp(bound, OURS) != 0 ? "ApprovalStale" : has_ended ? "ApprovalExpired" : NULL;
}

static void check(const struct given *g)
{
	struct fixture x;
	const char *row, *want = wanted(g, &row);
	setup(&x, g);
	enum ensured state = strategy_ensure_approved(&x.s);
	const char *got = state == DONE ? NULL : x.s.reason, *told = "";
	for (const struct action *a = x.f.plan.head; a; a = a->next)
		if (cstr_eq(a->row_type, "Approval")) {
			told = a->reason;
			assert_string_equal(obj_str(a->body, "version.to"), "2.0.0");
		}
	if (!cstr_eq(got, want) && (got || want))
		fail_msg("approved %d, needs digest %d, named %s, status %u, log %u: %s, want %s",
			 g->approved, g->needs_digest, g->named ? g->named : "none", g->status,
			 g->log, got ? got : "begins", want ? want : "begins");
	assert_string_equal(told, row);
	const struct action *decision = NULL;
	for (const struct action *a = x.f.plan.head; a; a = a->next)
		if (cstr_eq(a->row_type, "Decision"))
			decision = a;
	assert_int_equal(decision != NULL, want != NULL);
	if (decision) {
		assert_string_equal(decision->reason, want);
		assert_string_equal(obj_str(decision->body, "plan"), OURS);
		assert_string_equal(obj_str(decision->body, "version.to"), "2.0.0");
		assert_true(*obj_str(decision->body, "message"));
		assert_true(*obj_str(decision->body, "verdict"));
	}
	assert_int_equal(x.s.phase == PHASE_AWAITING, want != NULL);
	if (*row && g->approved && !want) {
		assert_string_equal(obj_str(x.s.approval, "digest"), OURS);
		assert_string_equal(obj_str(x.s.approval, "at"), IS_NOW);
	}
	view_fake_release(&x.f);
}

static void test_strategy_approve__only_what_was_approved_begins(void **state)
{
	static const char *const named[] = {NULL, OURS, OTHER};
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		for (size_t k = 0; k < ARRAY_LEN(named); k++)
			for (unsigned status = 0; status < N_STATUS; status++)
				for (unsigned log = 0; log < N_LOG; log++)
					check(&(struct given){i & 1, i & 2, named[k], status, log});
}

/* A range approves what leaves nothing to decide: no finding, none that is only counted, no right more. */
static void test_strategy_approve__a_range_approves_what_needs_nobody(void **state)
{
	static const struct {
		const char *range, *findings, *permissions;
		int64_t n_unlisted;
		bool begins;
	} cases[] = {
		{"^2.0.0", "[]", "[]", 0, true},
		{"2.0.0", "[{\"outcome\":\"allow\"},{\"outcome\":\"waived\"}]", "[]", 0, true},
		{"^1.0.0", "[]", "[]", 0, false},
		{"", "[]", "[]", 0, false},
		{"^2.0.0", "[{\"outcome\":\"allow\"},{\"outcome\":\"warn\"}]", "[]", 0, false},
		{"^2.0.0", "[]", "[{\"verb\":\"get\"}]", 0, false},
		{"^2.0.0", "[]", "[]", 1, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		static const struct given nothing = {.approved = false};
		struct fixture x;
		setup(&x, &nothing);
		struct obj *app = obj_keep(x.f.a, obj_copy(x.app.o));
		obj_set_path(app, "spec.upgrade.approveVersion", obj_string(cases[i].range));
		x.app.o = app;
		x.s.findings = view_fake_obj(&x.f, cases[i].findings);
		x.s.permissions = view_fake_obj(&x.f, cases[i].permissions);
		x.s.n_unlisted = cases[i].n_unlisted;
		assert_int_equal(strategy_ensure_approved(&x.s) == DONE, cases[i].begins);
		view_fake_release(&x.f);
	}
}

/* What goes by itself stops only at a warning or at a right more, and only where the app says so. */
static void test_strategy_approve__what_goes_by_itself_stops_at_a_warning(void **state)
{
	static const struct {
		const char *on_warn, *findings, *permissions;
		bool begins;
	} cases[] = {
		{"Approve", "[]", "[]", true},
		{"Approve", "[{\"outcome\":\"allow\"},{\"outcome\":\"waived\"}]", "[]", true},
		{"Approve", "[{\"outcome\":\"allow\"},{\"outcome\":\"warn\"}]", "[]", false},
		{"Approve", "[]", "[{\"verb\":\"get\"}]", false},
		{"Proceed", "[{\"outcome\":\"warn\"}]", "[{\"verb\":\"get\"}]", true},
		{NULL, "[{\"outcome\":\"warn\"}]", "[{\"verb\":\"get\"}]", true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		static const struct given nothing = {.approved = false};
		struct fixture x;
		setup(&x, &nothing);
		struct obj *app = obj_keep(x.f.a, obj_copy(x.app.o));
		if (cases[i].on_warn)
			obj_set_path(app, "spec.upgrade.onWarn", obj_string(cases[i].on_warn));
		x.app.o = app;
		x.app.mode = "Automatic";
		x.s.findings = view_fake_obj(&x.f, cases[i].findings);
		x.s.permissions = view_fake_obj(&x.f, cases[i].permissions);
		if ((strategy_ensure_approved(&x.s) == DONE) != cases[i].begins)
			fail_msg("case %zu", i);
		view_fake_release(&x.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_approve__what_goes_by_itself_stops_at_a_warning),
		cmocka_unit_test(test_strategy_approve__only_what_was_approved_begins),
		cmocka_unit_test(test_strategy_approve__a_range_approves_what_needs_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
