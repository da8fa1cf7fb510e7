#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/engine/alerts.h"
#include "alm/obj/json.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

#define BLOCKED                                                                                \
	"{\"apiVersion\":\"app.coreos.com/"                                                    \
	"v1beta1\",\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},"                     \
	"\"spec\":{\"upgrade\":{\"mode\":\"%s\"}},\"status\":{\"availableVersion\":\"1.0.0\"," \
	"\"conditions\":[{\"type\":\"UpgradeBlocked\",\"status\":\"%s\",\"reason\":"           \
	"\"ResourceDropped\","                                                                 \
	"\"message\":\"1.0.0 drops v1\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}],"    \
	"\"candidates\":[{\"version\":\"1.0.0\",\"steps\":[\"alm crd migrate etcds\"]}]}}"

struct fixture {
	struct loop *loop;
	struct transport_fake *fake;
	struct client *client;
	struct metrics *metrics;
	struct alerts *alerts;
};

static void setup(struct fixture *f)
{
	*f = (struct fixture){.loop = loop_fake_new(0), .metrics = metrics_new()};
	f->fake = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->fake));
	f->alerts = alerts_new(f->client, f->metrics);
}

static void teardown(struct fixture *f)
{
	assert_int_equal(fake_unused(f->fake), 0);
	alerts_free(f->alerts);
	client_free(f->client);
	transport_fake_free(f->fake);
	metrics_free(f->metrics);
	loop_free(f->loop);
}

static struct obj *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static struct obj *app(const char *mode, const char *blocked)
{
	char text[1024];
	snprintf(text, sizeof(text), BLOCKED, mode, blocked);
	return parsed(text);
}

static void update(struct fixture *f, struct obj *o, bool gone)
{
	alerts_update(f->alerts, o, gone);
	obj_unref(o);
}

static void test_alerts__a_blocked_upgrade_fires_in_mode_automatic_only(void **state)
{
	(void)state;
	static const char *const modes[] = {"Automatic", "Manual", "None"};
	for (size_t i = 0; i < 3; i++) {
		CLEANUP(obj_unrefp) struct obj *o = app(modes[i], "True");
		CLEANUP(obj_unrefp) struct obj *list = alerts_of(o);
		assert_int_equal(obj_len(list), i == 0);
		if (i)
			continue;
		const struct obj *a = obj_at(list, 0);
		assert_string_equal(obj_str(a, "labels.alertname"), "ALMUpgradeBlocked");
		assert_string_equal(obj_str(a, "labels.app"), "etcd");
		assert_string_equal(obj_str(a, "labels.version"), "1.0.0");
		assert_string_equal(obj_str(a, "labels.severity"), "warning");
		assert_string_equal(obj_str(a, "annotations.message"), "1.0.0 drops v1");
		assert_string_equal(obj_str(a, "annotations.steps"), "1. alm crd migrate etcds");
		assert_string_equal(obj_str(a, "startsAt"), "2026-01-01T00:00:00Z");
	}
	CLEANUP(obj_unrefp) struct obj *o = app("Automatic", "False");
	CLEANUP(obj_unrefp) struct obj *none = alerts_of(o);
	assert_int_equal(obj_len(none), 0);
}

static void test_alerts__each_kind_has_its_alerts(void **state)
{
	(void)state;
	static const struct {
		const char *object, *name;
	} cases[] = {
		{"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"i\"},\"spec\":{"
		 "\"version\":\"1\"},"
		 "\"status\":{\"phase\":\"RolledBack\"}}",
		 "ALMUpgradeFailed"},
		{"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"i\"},\"status\":{"
		 "\"phase\":"
		 "\"Succeeded\"}}",
		 NULL},
		{"{\"kind\":\"Catalog\",\"metadata\":{\"name\":\"c\"},\"status\":{\"conditions\":[{"
		 "\"type\":"
		 "\"Synced\",\"status\":\"False\",\"message\":\"gone\"}]}}",
		 "ALMCatalogStale"},
		{"{\"kind\":\"Catalog\",\"metadata\":{\"name\":\"c\"},\"status\":{\"quarantined\":{"
		 "\"reason\":\"SuspiciousShrink\"}}}",
		 "ALMCatalogQuarantined"},
		{"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"a\"},\"status\":{\"conditions\":[{"
		 "\"type\":"
		 "\"Ready\",\"status\":\"False\",\"reason\":\"Degraded\",\"message\":\"m\"}]}}",
		 "ALMDegraded"},
		{"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(obj_unrefp) struct obj *o = parsed(cases[i].object);
		CLEANUP(obj_unrefp) struct obj *list = alerts_of(o);
		const char *name = obj_str(obj_at(list, 0), "labels.alertname");
		assert_true(cstr_eq(name, cases[i].name));
	}
}

/* The list of the n-th post. */
static struct obj *sent(struct fixture *f, size_t n)
{
	const char *call = fake_call(f->fake, n);
	assert_non_null(strstr(call, "POST /api/v2/alerts application/json ["));
	return parsed(strchr(call, '['));
}

static void test_alerts__repeated_each_minute_and_ended_once(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	for (int i = 0; i < 4; i++)
		fake_answer(f.fake, "POST", "/api/v2/alerts", 200, "");
	update(&f, app("Automatic", "True"), false);
	update(&f, app("Automatic", "True"), false);
	loop_fake_run(f.loop, 2 * NS_PER_MIN + 30 * NS_PER_S);
	assert_int_equal(fake_count(f.fake), 3);
	CLEANUP(obj_unrefp) struct obj *first = sent(&f, 0);
	assert_string_equal(obj_str(obj_at(first, 0), "endsAt"), "1970-01-01T00:05:01.000Z");
	update(&f, app("Automatic", "False"), false);
	loop_fake_run(f.loop, NS_PER_HOUR);
	assert_int_equal(fake_count(f.fake), 4);
	CLEANUP(obj_unrefp) struct obj *last = sent(&f, 3);
	assert_int_equal(obj_len(last), 1);
	assert_string_equal(obj_str(obj_at(last, 0), "endsAt"), "1970-01-01T00:02:31.000Z");
	teardown(&f);
}

static void test_alerts__an_object_that_goes_ends_its_alert(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	fake_answer(f.fake, "POST", "/api/v2/alerts", 200, "");
	fake_answer(f.fake, "POST", "/api/v2/alerts", 200, "");
	update(&f, app("Automatic", "True"), false);
	loop_fake_run(f.loop, 30 * NS_PER_S);
	update(&f, app("Automatic", "True"), true);
	loop_fake_run(f.loop, NS_PER_HOUR);
	assert_int_equal(fake_count(f.fake), 2);
	teardown(&f);
}

static void test_alerts__a_post_that_fails_is_made_again_a_minute_later(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	fake_lose(f.fake, "POST", "/api/v2/alerts");
	fake_answer(f.fake, "POST", "/api/v2/alerts", 200, "");
	update(&f, app("Automatic", "True"), false);
	loop_fake_run(f.loop, NS_PER_MIN + 30 * NS_PER_S);
	assert_int_equal(fake_count(f.fake), 2);
	assert_int_equal(metric_value(metrics_counter(f.metrics, "alm_alert_posts_total", "",
						      "result=\"failed\"")),
			 1);
	teardown(&f);
}

static void test_alerts__without_an_alert_nothing_is_posted(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	update(&f, app("Manual", "True"), false);
	loop_fake_run(f.loop, NS_PER_HOUR);
	update(&f, app("Automatic", "True"), false);
	alerts_forget(f.alerts);
	loop_fake_run(f.loop, NS_PER_HOUR);
	assert_int_equal(fake_count(f.fake), 0);
	teardown(&f);
}

static struct obj *app_named(size_t i)
{
	char name[32];
	struct obj *o = app("Automatic", "True");
	snprintf(name, sizeof(name), "app%04zu", i);
	obj_set_path(o, "metadata.name", obj_string(name));
	return o;
}

/* How many alerts the n-th post has. */
static size_t posted(const struct fixture *f, size_t n)
{
	size_t found = 0;
	for (const char *at = fake_call(f->fake, n); (at = strstr(at, "\"endsAt\"")); at++)
		found++;
	return found;
}

/* One over the bound is told as soon as another is over. */
static void test_alerts__one_over_the_bound_comes_later(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	for (int i = 0; i < 2; i++)
		fake_answer(f.fake, "POST", "/api/v2/alerts", 200, "");
	for (size_t i = 0; i <= ALERT_OBJECTS_MAX; i++)
		update(&f, app_named(i), false);
	loop_fake_run(f.loop, 2 * NS_PER_S);
	assert_int_equal(posted(&f, 0), ALERT_OBJECTS_MAX);
	assert_null(strstr(fake_call(f.fake, 0), "app1000"));
	update(&f, app_named(0), true);
	loop_fake_run(f.loop, 2 * NS_PER_S);
	assert_int_equal(posted(&f, 1), ALERT_OBJECTS_MAX + 1); /* and the one that is over */
	assert_non_null(strstr(fake_call(f.fake, 1), "app1000"));
	teardown(&f);
}

/* lifecycle.md 4.6: a condition that is True has its alert, and takes it along. */
static void test_alerts__each_state_that_lasts_is_told(void **state)
{
	(void)state;
	static const char *const rows[][2] = {{"StateOverdue", "ALMStateOverdue"},
					      {"ApprovalPending", "ALMApprovalPending"},
					      {"DeletionBlocked", "ALMDeletionBlocked"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int on = 0; on < 2; on++) {
			char text[512];
			snprintf(text, sizeof(text),
				 "{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},"
				 "\"status\":{\"conditions\":[{\"type\":\"%s\",\"status\":\"%s\","
				 "\"message\":\"why\"}]}}",
				 rows[i][0], on ? "True" : "False");
			CLEANUP(obj_unrefp) struct obj *o = parsed(text);
			CLEANUP(obj_unrefp) struct obj *list = alerts_of(o);
			assert_int_equal(obj_len(list), on);
			if (on)
				assert_string_equal(obj_str(obj_at(list, 0), "labels.alertname"),
						    rows[i][1]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alerts__each_state_that_lasts_is_told),
		cmocka_unit_test(test_alerts__a_blocked_upgrade_fires_in_mode_automatic_only),
		cmocka_unit_test(test_alerts__each_kind_has_its_alerts),
		cmocka_unit_test(test_alerts__repeated_each_minute_and_ended_once),
		cmocka_unit_test(test_alerts__an_object_that_goes_ends_its_alert),
		cmocka_unit_test(test_alerts__a_post_that_fails_is_made_again_a_minute_later),
		cmocka_unit_test(test_alerts__without_an_alert_nothing_is_posted),
		cmocka_unit_test(test_alerts__one_over_the_bound_comes_later),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
