/* test_spec_seen.c: who changed a spec is told once a generation, with what he changed where the log of the server does
 * not say it. */
#include "tests/lib/test.h"

#include "alm/controllers/app/spec_seen.h"
#include "alm/obj/json.h"
#include "tests/lib/view_fake.h"

#define OBJECT                                                                                 \
	"{\"apiVersion\":\"g/v1\",\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\","       \
	"\"uid\":\"u\",\"generation\":3%s},\"spec\":{\"channel\":\"beta\"},\"status\":{\"x\":" \
	"1}}"
#define MANAGED                                                                           \
	",\"managedFields\":[{\"manager\":\"kubectl\",\"operation\":\"Update\",\"time\":" \
	"\"2026-01-01T00:00:00Z\",\"fieldsV1\":{\"f:spec\":{\"f:channel\":{}}}}]"
#define LAST(uid, generation, spec)                                                 \
	"{\"seq\":9,\"actor\":\"bob\",\"subject\":{\"uid\":\"" uid "\"},\"body\":{" \
	"\"generation\":" generation ",\"object\":\"{\\\"spec\\\":" spec "}\"}}"

static const char *last; /* row of the log, or NULL */

static struct obj *last_reason(void *arg, const char *type, const char *reason, const char *kind,
			       const char *name)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	(void)arg;
	assert_string_equal(type, "Observe");
	assert_string_equal(reason, "SpecChanged");
	assert_string_equal(kind, "AppType");
	assert_string_equal(name, "etcd");
	if (last)
		assert_ok(json_parse(str_of(last), &o, &err), &err);
	return o;
}

static struct obj *redacted(void *arg, const struct obj *o)
{
	(void)arg;
	return obj_copy(o);
}

static void test_spec_seen__who_and_what(void **state)
{
	static const struct {
		const char *managed, *last;
		bool foreign;
		const char *body; /* NULL: no entry, as that generation has one */
		const char *actor;
	} rows[] = {
		{MANAGED, NULL, false, "{\"generation\":3}", NULL},
		{MANAGED, LAST("u", "2", "{}"), false, "{\"generation\":3}", NULL},
		{MANAGED, LAST("u", "3", "{}"), false, NULL, NULL},
		{MANAGED, LAST("u", "4", "{}"), false, NULL, NULL},
		{MANAGED, LAST("of one before", "3", "{}"), false, "{\"generation\":3}", NULL},
		{"", NULL, true,
		 "{\"generation\":3,\"object\":\"{\\\"spec\\\":{\\\"channel\\\":\\\"beta\\\"}}\"}",
		 NULL},
		{MANAGED, NULL, true,
		 "{\"generation\":3,\"object\":\"{\\\"spec\\\":{\\\"channel\\\":\\\"beta\\\"}}\","
		 "\"who\":{\"trust\":\"managedFields\",\"via\":\"kubectl\"}}",
		 "kubectl"},
		{MANAGED, LAST("u", "2", "{\\\"channel\\\":\\\"stable\\\"}"), true,
		 "{\"changed\":[\"spec.channel\"],\"generation\":3,\"object\":\"{\\\"spec\\\":{"
		 "\\\"channel\\\":\\\"beta\\\"}}\",\"was\":\"{\\\"spec.channel\\\":\\\"stable\\\"}"
		 "\","
		 "\"patch\":\"[{\\\"op\\\":\\\"replace\\\",\\\"path\\\":\\\"/spec/channel\\\","
		 "\\\"value\\\":\\\"beta\\\"}]\",\"who\":{\"trust\":\"managedFields\",\"via\":"
		 "\"kubectl\"}}",
		 "kubectl"},
		{MANAGED, LAST("u", "3", "{}"), true, NULL, NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		struct view_ops ops = *f.view.ops;
		ops.last_reason = last_reason;
		ops.redacted = redacted;
		f.view.ops = &ops;
		f.settings.foreign = rows[i].foreign;
		last = rows[i].last;
		struct obj *o = view_fake_obj(&f, arena_fmt(f.a, OBJECT, rows[i].managed));
		const struct action *x = spec_seen_once(&f.view, view_fake_plan(&f), o);
		if (!x != !rows[i].body)
			fail_msg("row %zu: %s", i, x ? "an entry" : "none");
		if (x) {
			CLEANUP(xfreep) char *text = json_text(x->body);
			const struct obj *want = view_fake_obj(&f, rows[i].body);
			if (!obj_equal(x->body, want))
				fail_msg("row %zu: %s", i, text);
			assert_string_equal(x->row_type, "Observe");
			assert_string_equal(x->reason, "SpecChanged");
			assert_true(cstr_eq(x->actor, rows[i].actor) || x->actor == rows[i].actor);
			assert_null(x->key);
		}
		/* asked for by somebody who knows that it is new */
		struct obj *body = obj_map();
		obj_set_str(body, "more", "m");
		x = spec_seen_row(&f.view, view_fake_plan(&f), o, "k", body);
		assert_string_equal(x->key, "k");
		assert_string_equal(obj_str(x->body, "more"), "m");
		assert_int_equal(obj_i64(x->body, "generation", 0), 3);
		assert_int_equal(obj_has(x->body, "object"), rows[i].foreign);
		view_fake_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spec_seen__who_and_what),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
