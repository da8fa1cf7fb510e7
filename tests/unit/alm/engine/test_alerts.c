#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/engine/alerts.h"
#include "alm/obj/json.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

struct fixture {
	struct loop *loop;
	struct transport_fake *fake;
	struct client *client;
	struct metrics *metrics;
	struct alerts *alerts;
};

static struct obj *fires(const struct obj *o)
{
	struct obj *list = obj_list(), *alert = obj_map(), *labels = obj_map();
	obj_set_str(labels, "thing", obj_str(o, "metadata.name"));
	obj_set(alert, "labels", labels);
	if (obj_flag(o, "bad", false))
		obj_append(list, obj_ref(alert));
	obj_unref(alert);
	return list;
}

static void setup(struct fixture *f)
{
	*f = (struct fixture){.loop = loop_fake_new(0), .metrics = metrics_new()};
	f->fake = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->fake));
	f->alerts = alerts_new(f->client, fires, f->metrics);
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

static struct obj *thing(const char *name, bool bad)
{
	char text[128];
	snprintf(text, sizeof(text),
		 "{\"kind\":\"Thing\",\"metadata\":{\"name\":\"%s\"},\"bad\":%s}", name,
		 bad ? "true" : "false");
	return parsed(text);
}

static void update(struct fixture *f, struct obj *o, bool gone)
{
	alerts_update(f->alerts, o, gone);
	obj_unref(o);
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
	update(&f, thing("etcd", true), false);
	update(&f, thing("etcd", true), false);
	loop_fake_run(f.loop, 2 * NS_PER_MIN + 30 * NS_PER_S);
	assert_int_equal(fake_count(f.fake), 3);
	CLEANUP(obj_unrefp) struct obj *first = sent(&f, 0);
	assert_string_equal(obj_str(obj_at(first, 0), "endsAt"), "1970-01-01T00:05:01.000Z");
	update(&f, thing("etcd", false), false);
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
	update(&f, thing("etcd", true), false);
	loop_fake_run(f.loop, 30 * NS_PER_S);
	update(&f, thing("etcd", true), true);
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
	update(&f, thing("etcd", true), false);
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
	update(&f, thing("etcd", false), false);
	loop_fake_run(f.loop, NS_PER_HOUR);
	update(&f, thing("etcd", true), false);
	alerts_forget(f.alerts);
	loop_fake_run(f.loop, NS_PER_HOUR);
	assert_int_equal(fake_count(f.fake), 0);
	teardown(&f);
}

/* The first post of a thing that is over is slow, and there is nothing to repeat when another one fires. */
static void test_alerts__what_comes_while_one_is_posted_waits_for_a_minute(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	fake_answer(f.fake, "POST", "/api/v2/alerts", 200, "");
	fake_stream(f.fake, "POST", "/api/v2/alerts", 200, "");
	fake_answer(f.fake, "POST", "/api/v2/alerts", 200, "");
	update(&f, thing("etcd", true), false);
	loop_fake_run(f.loop, 10 * NS_PER_S);
	update(&f, thing("etcd", false), false);
	loop_fake_run(f.loop, 10 * NS_PER_S);
	update(&f, thing("redis", true), false);
	loop_fake_run(f.loop, 2 * NS_PER_S);
	assert_int_equal(fake_count(f.fake), 2);
	fake_end(f.fake, false);
	loop_fake_run(f.loop, NS_PER_MIN);
	assert_int_equal(fake_count(f.fake), 3);
	assert_non_null(strstr(fake_call(f.fake, 2), "redis"));
	teardown(&f);
}

static struct obj *thing_named(size_t i)
{
	char name[32];
	snprintf(name, sizeof(name), "app%04zu", i);
	return thing(name, true);
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
		update(&f, thing_named(i), false);
	loop_fake_run(f.loop, 2 * NS_PER_S);
	assert_int_equal(posted(&f, 0), ALERT_OBJECTS_MAX);
	assert_null(strstr(fake_call(f.fake, 0), "app1000"));
	update(&f, thing_named(0), true);
	loop_fake_run(f.loop, 2 * NS_PER_S);
	assert_int_equal(posted(&f, 1), ALERT_OBJECTS_MAX + 1); /* and the one that is over */
	assert_non_null(strstr(fake_call(f.fake, 1), "app1000"));
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alerts__repeated_each_minute_and_ended_once),
		cmocka_unit_test(test_alerts__an_object_that_goes_ends_its_alert),
		cmocka_unit_test(test_alerts__a_post_that_fails_is_made_again_a_minute_later),
		cmocka_unit_test(test_alerts__what_comes_while_one_is_posted_waits_for_a_minute),
		cmocka_unit_test(test_alerts__without_an_alert_nothing_is_posted),
		cmocka_unit_test(test_alerts__one_over_the_bound_comes_later),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
