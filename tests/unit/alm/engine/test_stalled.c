#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/alerts_of.h"
#include "alm/engine/stalled.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define NOW INT64_C(1893571200000000000)

static struct obj *parse(struct arena *a, const char *json)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(json), &o, &err), &err);
	return obj_keep(a, o);
}

#define APP                                                                             \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":" \
	"{\"name\":\"web\",\"uid\":\"u\",\"generation\":3,\"resourceVersion\":\"7\"},"  \
	"\"status\":{\"selfRef\":\"web.io\",\"transitionSeq\":4,\"conditions\":["       \
	"{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Installed\",\"message\":\"\"}]}}"

static struct error error_of(int code, const char *text)
{
	struct error err = ERROR_INIT;
	error_set(&err, code, "%s", text);
	return err;
}

/* As the server would have it after the plan's status write. */
static struct obj *written(struct arena *a, const struct obj *o, const struct plan *p)
{
	assert_int_equal(p->n, 1);
	assert_int_equal(p->head->type, ACT_STATUS);
	struct obj *after = obj_keep(a, obj_copy(o));
	obj_set(after, "status", obj_copy(p->head->body));
	return after;
}

static void test_stalled__every_code_has_a_reason_and_a_step(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	for (int code = 1; code <= E_ALTERED; code++) {
		const char *reason = stalled_reason(code);
		assert_non_null(strstr(stalled_next("apptype", "web", reason, a), " # "));
		for (const char *c = reason; *c; c++)
			assert_true(char_is_alpha(*c));
	}
	assert_string_equal(stalled_reason(E_FORBIDDEN), "Forbidden");
	assert_string_equal(stalled_reason(E_LIMIT), "LimitExceeded");
	assert_string_equal(stalled_reason(E_ALTERED), "LogBehindStatus");
	assert_string_equal(stalled_reason(E_INVALID), "Refused");
	assert_string_equal(stalled_reason(E_IO), "ServerUnavailable");
	assert_string_equal(stalled_next("apptype", "web", "Unknown", a), "");
}

static void test_stalled__is_written_when_it_turns_and_only_then(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	struct error err = error_of(E_FORBIDDEN, "configmaps web: try 1");
	const struct obj *o = parse(a, APP);
	struct condition c;
	struct plan p;
	plan_init(&p, a);
	assert_int_equal(stalled_begin(&p, o, &err, NOW), WAITING);
	assert_string_equal(p.head->reason, "Forbidden");
	assert_string_equal(p.head->event_type, "Warning");
	o = written(a, o, &p);
	assert_true(condition_get(o, "Stalled", &c));
	assert_string_equal(c.status, "True");
	assert_non_null(strstr(c.message, "configmaps web: try 1; tried again"));
	assert_int_equal(c.observed_generation, 3);
	assert_true(condition_is(o, "Ready", "True"));
	/* the next attempt words it otherwise: no write */
	err = error_of(E_UNAUTHORIZED, "configmaps web: try 2");
	plan_init(&p, a);
	assert_int_equal(stalled_begin(&p, o, &err, NOW + NS_PER_HOUR), DONE);
	assert_int_equal(p.n, 0);
	/* another cause is another state */
	err = error_of(E_LIMIT, "too large");
	plan_init(&p, a);
	assert_int_equal(stalled_begin(&p, o, &err, NOW + NS_PER_HOUR), WAITING);
	o = written(a, o, &p);
	plan_init(&p, a);
	assert_int_equal(stalled_end(&p, o), WAITING);
	assert_string_equal(p.head->reason, "Recovered");
	assert_string_equal(p.head->event_type, "Normal");
	o = written(a, o, &p);
	assert_false(condition_get(o, "Stalled", &c));
	plan_init(&p, a);
	assert_int_equal(stalled_end(&p, o), DONE);
	assert_int_equal(p.n, 0);
}

static void test_stalled__a_crd_keeps_the_conditions_of_others(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	struct error err = error_of(E_FORBIDDEN, "no");
	const struct obj *o = parse(
		a, "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
		   "\"CustomResourceDefinition\",\"metadata\":{\"name\":\"as.x.io\",\"uid\":"
		   "\"u\",\"resourceVersion\":\"7\"},\"status\":{\"conditions\":[{\"type\":"
		   "\"Established\",\"status\":\"True\",\"reason\":\"A\",\"message\":\"\"}]}}");
	struct plan p;
	plan_init(&p, a);
	assert_int_equal(stalled_begin(&p, o, &err, NOW), WAITING);
	assert_int_equal(p.head->type, ACT_PATCH);
	assert_string_equal(p.head->subresource, "status");
	const struct obj *list = obj_path(p.head->body, "status.conditions");
	assert_int_equal(obj_len(list), 2);
	assert_string_equal(obj_str(obj_at(list, 0), "type"), "Established");
	assert_string_equal(obj_str(obj_at(list, 1), "type"), "app.coreos.com/Stalled");
}

static void test_stalled__a_note_is_a_row_and_an_event(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	struct error err = error_of(E_ALTERED, "LogBehindStatus: 9, the log 4");
	struct plan p;
	plan_init(&p, a);
	stalled_note(&p, parse(a, APP), &err);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.head->type, ACT_ROW);
	assert_string_equal(p.head->reason, "LogBehindStatus");
	assert_string_equal(p.head->event_type, "Warning");
	assert_null(p.head->key);
}

static void test_stalled__alerts(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	struct error err = error_of(E_FORBIDDEN, "no");
	const struct obj *o = parse(a, APP);
	struct plan p;
	plan_init(&p, a);
	assert_int_equal(stalled_begin(&p, o, &err, NOW), WAITING);
	CLEANUP(obj_unrefp) struct obj *list = alerts_of(written(a, o, &p));
	assert_int_equal(obj_len(list), 1);
	assert_string_equal(obj_str(obj_at(list, 0), "labels.alertname"), "ALMReconcileFailing");
	assert_string_equal(obj_str(obj_at(list, 0), "labels.app"), "web");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stalled__every_code_has_a_reason_and_a_step),
		cmocka_unit_test(test_stalled__is_written_when_it_turns_and_only_then),
		cmocka_unit_test(test_stalled__a_crd_keeps_the_conditions_of_others),
		cmocka_unit_test(test_stalled__a_note_is_a_row_and_an_event),
		cmocka_unit_test(test_stalled__alerts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
