/* test_asks.c: what people ask of an app by its spec has a record each, with the reason that was
 * given for it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/app/asks.h"
#include "tests/lib/view_fake.h"

#define APP(annotations, spec)                                                                    \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{"          \
	"\"name\":\"etcd\",\"uid\":\"u\",\"generation\":7,\"annotations\":{" annotations "},"     \
	"\"managedFields\":[{\"manager\":\"old\",\"time\":\"2030-01-01T00:00:00Z\",\"fieldsV1\":" \
	"{\"f:spec\":{}}},{\"manager\":\"kubectl-edit\",\"time\":\"2030-01-02T00:00:00Z\","       \
	"\"fieldsV1\":{\"f:spec\":{}}}]},\"spec\":{" spec "}}"
#define WAIVER(reason) \
	"{\"rule\":\"R\",\"resource\":\"as.e.io/v1\",\"path\":\"spec.a\",\"reason\":\"" reason "\"}"

struct world {
	struct view_fake f;
	struct view_ops ops;
	struct strategy_ref installed;
	struct obj *logged; /* body.asked of the last SpecChanged record */
};

static struct world w;

static struct obj *last_reason(void *arg, const char *type, const char *reason, const char *kind,
			       const char *name)
{
	(void)arg;
	assert_string_equal(type, "Observe");
	assert_string_equal(reason, "SpecChanged");
	assert_string_equal(kind, "AppType");
	assert_string_equal(name, "etcd");
	struct obj *row = obj_map();
	obj_set(row, "subject", obj_map());
	obj_set_path(row, "subject.uid", obj_string("u"));
	obj_set(row, "body", obj_map());
	if (w.logged)
		obj_set_path(row, "body.asked", obj_ref(w.logged));
	return row;
}

static struct app app_of(const char *json)
{
	struct app app = {.o = view_fake_obj(&w.f, json), .name = "etcd"};
	app.mode = obj_str(app.o, "spec.upgrade.mode");
	app.paused = obj_flag(app.o, "spec.paused", false);
	app.installed = &w.installed;
	return app;
}

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	view_fake_init(&w.f);
	w.ops = *w.f.view.ops;
	w.ops.last_reason = last_reason;
	w.f.view.ops = &w.ops;
	w.installed.version = "2.0.0";
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	view_fake_release(&w.f);
	return 0;
}

/* The records of a change; how many. */
static size_t change(const char *before, const char *now)
{
	struct app from = app_of(before), to = app_of(now);
	w.logged = obj_keep(w.f.a, asks_of(&from));
	asks_plan(&w.f.view, &to, view_fake_plan(&w.f));
	return view_fake_count(&w.f, ACT_ROW);
}

static const struct action *nth(size_t n)
{
	const struct action *x = w.f.plan.head;
	while (n--)
		x = x->next;
	return x;
}

static void assert_row(size_t n, const char *reason, const char *why)
{
	const struct action *x = nth(n);
	const char *given = obj_str(x->body, "justification");
	assert_string_equal(x->row_type, "Approval");
	assert_string_equal(x->reason, reason);
	assert_string_equal(given ? given : "none", why ? why : "none");
	assert_string_equal(x->actor, "kubectl-edit"); /* the last who wrote the spec */
	assert_false(x->actor_known);
}

static void test_asks__mode_and_pause(void **state)
{
	(void)state;
	const char *now = APP("\"app.coreos.com/reason\":\"freeze\"",
			      "\"paused\":true,\"upgrade\":{\"mode\":\"Manual\"}");
	assert_int_equal(change(APP("", ""), now), 2);
	assert_row(0, "ModeChanged", "freeze");
	assert_string_equal(obj_str(nth(0)->body, "message"), "Automatic -> Manual");
	assert_row(1, "Paused", "freeze");
	assert_string_equal(nth(1)->touches, "spec.paused");
	assert_int_equal(change(now, APP("\"app.coreos.com/reason\":\"freeze\"", "")), 2);
	assert_row(0, "ModeChanged", NULL); /* a reason that was left is not of this change */
	assert_row(1, "Resumed", NULL);
	assert_int_equal(change(now, now), 0);
}

static void test_asks__a_version(void **state)
{
	(void)state;
	const char *back =
		APP("\"app.coreos.com/reason\":\"bad\",\"app.coreos.com/reason-for\":\"7\"",
		    "\"upgrade\":{\"to\":\"1.9.0\"}");
	assert_int_equal(change(APP("\"app.coreos.com/reason\":\"bad\"", ""), back), 1);
	assert_row(0, "RollbackAsked", "bad"); /* the same words, given again for this generation */
	assert_string_equal(obj_str(nth(0)->body, "version.from"), "2.0.0");
	assert_string_equal(obj_str(nth(0)->body, "version.to"), "1.9.0");
	assert_int_equal(change(back, APP("", "\"upgrade\":{\"to\":\"2.1.0\"}")), 1);
	assert_row(0, "UpgradeAsked", NULL);
	assert_int_equal(change(back, APP("", "")), 1);
	assert_row(0, "VersionReleased", NULL);
}

static void test_asks__waivers(void **state)
{
	(void)state;
	const char *one = APP("", "\"upgrade\":{\"waivers\":[" WAIVER("nobody has one") "]}");
	assert_int_equal(change(APP("", ""), one), 1);
	assert_row(0, "Waived", "nobody has one");
	assert_string_equal(obj_str(nth(0)->body, "waiver.resource"), "as.e.io/v1");
	assert_string_equal(obj_str(nth(0)->body, "waiver.path"), "spec.a");
	assert_string_equal(obj_str(nth(0)->body, "waiver.rule"), "R");
	assert_int_equal(change(one, one), 0);
	assert_int_equal(change(one, APP("", "\"upgrade\":{\"waivers\":[" WAIVER("other") "]}")),
			 2);
	assert_row(0, "Waived", "other");
	assert_row(1, "WaiverWithdrawn", NULL);
}

static const char *waivers_json(size_t n)
{
	struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	strbuf_adds(&b, "{\"metadata\":{\"uid\":\"u\",\"generation\":7},\"spec\":{\"upgrade\":{"
			"\"waivers\":[");
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&b, "%s{\"rule\":\"R%zu\",\"reason\":\"r\"}", i ? "," : "", i);
	strbuf_adds(&b, "]}}}");
	const char *text = arena_strdup(w.f.a, b.buf);
	strbuf_release(&b);
	return text;
}

static void test_asks__many_waivers_are_told_by_their_number(void **state)
{
	(void)state;
	const char *many = waivers_json(1000), *more = waivers_json(1001);
	assert_int_equal(change(APP("", ""), many), ASKS_WAIVERS_MAX + 1);
	assert_int_equal(change(many, more), 1);
	assert_string_equal(obj_str(nth(0)->body, "message"),
			    "1001 waivers, of which the first 32 are told one by one");
	assert_int_equal(change(more, more), 0);
}

static void test_asks__nothing_to_compare_with(void **state)
{
	(void)state;
	struct app app = app_of(APP("", "\"paused\":true"));
	w.logged = NULL; /* the first record of the app, or one of an older ALM */
	asks_plan(&w.f.view, &app, view_fake_plan(&w.f));
	assert_int_equal(view_fake_count(&w.f, ACT_ROW), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asks__mode_and_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_asks__a_version, setup, teardown),
		cmocka_unit_test_setup_teardown(test_asks__waivers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_asks__many_waivers_are_told_by_their_number,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_asks__nothing_to_compare_with, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
