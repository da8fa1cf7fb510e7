/* An Event of ALM: whom it is about, where it lies, how long it may be. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/obj/event.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define ABOUT(meta) "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":" meta "}"

static struct obj *event_of(const char *about, const char *message)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	const struct event_text t = {"Warning", "Why", message, "tail"};
	assert_ok(json_parse(str_of(about), &o, &err), &err);
	return event_about(o, &t, 1500000000000000000);
}

static void test_event__all_of_it(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *e = event_of(
		ABOUT("{\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"0123456789\"}"), "so");
	json_print_canonical(e, &b);
	assert_string_equal(
		b.buf,
		"{\"apiVersion\":\"v1\",\"count\":1,\"firstTimestamp\":\"2017-07-14T02:40:00Z\","
		"\"involvedObject\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"web\","
		"\"namespace\":\"shop\",\"uid\":\"0123456789\"},\"kind\":\"Event\","
		"\"lastTimestamp\":\"2017-07-14T02:40:00Z\",\"message\":\"so\",\"metadata\":{"
		"\"name\":\"web.01234567.tail\",\"namespace\":\"shop\"},\"reason\":\"Why\","
		"\"reportingComponent\":\"alm\",\"reportingInstance\":\"alm\",\"source\":{"
		"\"component\":\"alm\"},\"type\":\"Warning\"}");
}

static void test_event__what_has_no_namespace_lies_in_default(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *e =
		event_of(ABOUT("{\"name\":\"web\",\"uid\":\"0123456789\"}"), "");
	assert_string_equal(meta_namespace(e), "default");
	assert_null(obj_path(e, "involvedObject.namespace"));
	assert_string_equal(obj_str(e, "message"), "Why"); /* one without is refused */
}

static void test_event__what_is_missing_has_no_uid(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *e =
		event_of(ABOUT("{\"name\":\"web\",\"namespace\":\"shop\"}"), "");
	assert_string_equal(meta_name(e), "web.missing.tail");
}

static void test_event__a_server_takes_it(void **state)
{
	(void)state;
	char name[254], text[2 * EVENT_MESSAGE_MAX + 1], about[400];
	memset(name, 'n', sizeof(name) - 1);
	memset(text, 't', sizeof(text) - 1);
	name[sizeof(name) - 1] = text[sizeof(text) - 1] = '\0';
	(void)snprintf(about, sizeof(about), ABOUT("{\"name\":\"%s\",\"uid\":\"0123456789\"}"),
		       name);
	CLEANUP(obj_unrefp) struct obj *e = event_of(about, text);
	assert_true(strlen(meta_name(e)) <= 253);
	assert_int_equal(strlen(obj_str(e, "message")), EVENT_MESSAGE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event__all_of_it),
		cmocka_unit_test(test_event__what_has_no_namespace_lies_in_default),
		cmocka_unit_test(test_event__what_is_missing_has_no_uid),
		cmocka_unit_test(test_event__a_server_takes_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
