/* app.c: names, phases and revisions of an app's strategies, and whether a view is too old to act on. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/app/app.h"
#include "alm/obj/gvk.h"
#include "tests/lib/view_fake.h"

struct world {
	struct view_fake f;
	struct view_ops ops;
	struct app app;
	struct strategy_ref refs[2];
	const char *known; /* the uid that the log has an entry of; its number is 5 */
};

static int64_t head(void *arg, const char *uid)
{
	const struct world *w = CONTAINER_OF(arg, struct world, f);
	return cstr_eq(uid, w->known) ? 5 : 0;
}

static void begin(struct world *w, const char *known, int seen)
{
	*w = (struct world){.known = known};
	view_fake_init(&w->f);
	w->ops = *w->f.view.ops;
	w->ops.head = head;
	w->f.view.ops = &w->ops;
	static const char *const uids[] = {"a", "s", "t"};
	const struct obj *o[3];
	for (size_t i = 0; i < ARRAY_LEN(uids); i++)
		o[i] = view_fake_obj(&w->f,
				     arena_fmt(w->f.a,
					       "{\"metadata\":{\"name\":\"n\",\"uid\":\"%s\"},"
					       "\"status\":{\"transitionSeq\":%d}}",
					       uids[i], seen));
	w->refs[0] = (struct strategy_ref){.o = o[1], .name = "s"};
	w->refs[1] = (struct strategy_ref){.o = o[2], .name = "t"};
	w->app = (struct app){.name = "etcd", .o = o[0], .strategies = w->refs, .n = 2};
}

/* What a crash has left between entry and status is the object's own to repeat: nobody else acts on it. */
static void test_app__an_older_view_means_wait(void **state)
{
	static const struct {
		const char *known;
		int seen;
		const char *but;
		bool deleting;
		const char *older; /* NULL: it is young enough */
	} rows[] = {
		{"a", 4, NULL, false, "AppType etcd"},
		{"a", 5, NULL, false, NULL},
		{"a", 6, NULL, false, NULL},
		{"a", 4, NULL, true, NULL}, /* one that goes is decided by its mark */
		{"s", 4, NULL, false, "InstallStrategy s"},
		{"s", 4, "s", false, NULL},
		{"t", 4, "s", false, "InstallStrategy t"},
		{"t", 4, NULL, true, "InstallStrategy t"},
		{"other", 0, NULL, false, NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		struct error err = ERROR_INIT;
		begin(&w, rows[i].known, rows[i].seen);
		w.app.deleting = rows[i].deleting;
		int r = app_check_age(&w.f.view, &w.app, rows[i].but, &err);
		if (r != (rows[i].older ? -E_CONFLICT : 0))
			fail_msg("row %zu: %d", i, r);
		if (rows[i].older)
			assert_non_null(strstr(err.msg, rows[i].older));
		view_fake_release(&w.f);
	}
}

static void test_app__phases_have_their_names(void **state)
{
	struct world w;
	(void)state;
	begin(&w, NULL, 0);
	for (int p = PHASE_PENDING; p <= PHASE_SUPERSEDED; p++) {
		const char *name = phase_name((enum phase)p);
		const struct obj *o = view_fake_obj(
			&w.f, arena_fmt(w.f.a, "{\"status\":{\"phase\":\"%s\"}}", name));
		assert_int_equal(phase_of(o), p);
		bool busy = cstr_eq(name, "Installing") || cstr_eq(name, "Verifying") ||
			    cstr_eq(name, "RollingBack");
		assert_int_equal(phase_is_busy((enum phase)p), busy);
		assert_int_equal(phase_is_unfinished((enum phase)p),
				 busy || cstr_eq(name, "Pending") ||
					 cstr_eq(name, "AwaitingApproval"));
	}
	assert_int_equal(phase_of(view_fake_obj(&w.f, "{}")), PHASE_NEW);
	assert_int_equal(phase_of(view_fake_obj(&w.f, "{\"status\":{\"phase\":\"\"}}")), PHASE_NEW);
	assert_int_equal(phase_of(view_fake_obj(&w.f, "{\"status\":{\"phase\":\"X\"}}")),
			 PHASE_NEW);
	view_fake_release(&w.f);
}

/* Whatever the version, it is a name, and another one for each. */
static void test_app__names_of_strategies(void **state)
{
	static const char *const versions[] = {"1.0.0",     "1.0.0-RC1", "1.0.0-rc1",
					       "1.0.0+b_1", "1.0.0-b-1", "1.0.0+B_1"};
	struct arena *a = arena_new((size_t)1 << 20);
	char ref[300];
	(void)state;
	assert_string_equal(strategy_name("1.0.0", "etcd.io", a), "install.1.0.0.etcd.io");
	for (size_t n = 220; n < 260; n++) {
		memset(ref, 'x', n);
		ref[n] = 0;
		for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
			const char *name = strategy_name(versions[i], ref, a);
			if (!name_is_dns_subdomain(str_of(name)) || strlen(name) > GVK_NAME_MAX)
				fail_msg("%s", name);
			for (size_t k = 0; k < i; k++)
				assert_string_not_equal(name, strategy_name(versions[k], ref, a));
		}
	}
	for (size_t n = 60; n < 70; n++) {
		ref[n] = 0;
		const char *value = app_label_value(ref, a);
		assert_true(strlen(value) <= 63);
		assert_int_equal(!strcmp(value, ref), n <= 63);
		ref[n] = 'x';
	}
	arena_free(a);
}

static void test_app__revisions(void **state)
{
	struct world w;
	(void)state;
	begin(&w, NULL, 0);
	assert_int_equal(app_highest_revision(&w.app), 0);
	w.refs[0].revision = 3;
	w.refs[1].revision = 2;
	assert_int_equal(app_highest_revision(&w.app), 3);
	w.refs[1].o = view_fake_obj(&w.f, "{\"status\":{\"rollbackRevision\":4,\"former\":{"
					  "\"revision\":1}}}");
	assert_int_equal(app_highest_revision(&w.app), 4);
	/* while other values are tried, the former revision is what runs */
	w.refs[1].phase = PHASE_VERIFYING;
	assert_int_equal(strategy_running_revision(&w.refs[1]), 1);
	w.refs[1].phase = PHASE_SUCCEEDED;
	assert_int_equal(strategy_running_revision(&w.refs[1]), 2);
	w.refs[0].phase = PHASE_PENDING;
	assert_int_equal(strategy_running_revision(&w.refs[0]), 3);
	assert_false(app_replans(&w.app));
	w.app.installed = &w.refs[0];
	assert_true(app_replans(&w.app));
	w.refs[0].phase = PHASE_AWAITING;
	assert_true(app_replans(&w.app));
	w.refs[0].phase = PHASE_INSTALLING;
	assert_false(app_replans(&w.app));
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_app__an_older_view_means_wait),
		cmocka_unit_test(test_app__phases_have_their_names),
		cmocka_unit_test(test_app__names_of_strategies),
		cmocka_unit_test(test_app__revisions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
