/* test_hooks_recorded.c: what a real kube-apiserver 1.36 asked webhooks, and made of their answers
 * (tests/golden/kube-api/webhook.py). */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/hook_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

#define RECORDED "tests/golden/kube-api/webhook.jsonl"

/* Of another run these differ. */
static bool differs_by_run(const char *key)
{
	static const char *const keys[] = {
		"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", NULL};
	return cstr_in(key, keys);
}

/* Go's server shows an empty status; and who owns what of a Deployment with a Scale is told otherwise. */
static bool is_left_out(const char *key, const struct obj *value)
{
	CLEANUP(xfreep) char *text = cstr_eq(key, "managedFields") ? json_text(value) : NULL;
	return (cstr_eq(key, "status") && obj_type(value) == OBJ_MAP && obj_len(value) == 0) ||
	       (text && (strstr(text, "f:replicas") || strstr(text, "f:strategy")));
}

static struct obj *comparable(const struct obj *o);

/* NOLINTNEXTLINE(misc-no-recursion): the reader of JSON bounds it */
static struct obj *comparable_map(const struct obj *o)
{
	struct obj *out = obj_map();
	const char *generated = obj_str(o, "generateName");
	OBJ_EACH (it, o)
		if (is_left_out(it.key, it.value))
			continue;
		else if (differs_by_run(it.key) || (generated && cstr_eq(it.key, "name")))
			obj_set_str(out, it.key, "*");
		else
			obj_set(out, it.key, comparable(it.value));
	if (obj_path(o, "object.metadata.generateName"))
		obj_set_str(out, "name", obj_has(o, "name") ? "*" : NULL);
	return out;
}

/* NOLINTNEXTLINE(misc-no-recursion): the reader of JSON bounds it */
static struct obj *comparable(const struct obj *o)
{
	if (obj_type(o) == OBJ_MAP)
		return comparable_map(o);
	if (obj_type(o) != OBJ_LIST)
		return obj_copy(o);
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(o); i++)
		obj_append(out, comparable(obj_at(o, i)));
	return out;
}

static void tell(const struct obj *recorded, const char *path, const struct obj *want,
		 const struct obj *got)
{
	CLEANUP(xfreep) char *a = want ? json_text(want) : NULL;
	CLEANUP(xfreep) char *b = got ? json_text(got) : NULL;
	replay_differs(recorded, path, a ? a : "nothing", b ? b : "nothing");
}

/* Member by member, as the whole is long. */
/* NOLINTNEXTLINE(misc-no-recursion): the reader of JSON bounds it */
static void compare(const struct obj *recorded, const char *path, const struct obj *want,
		    const struct obj *got)
{
	if (want && got && obj_equal(want, got))
		return;
	if (obj_type(want) != OBJ_MAP || obj_type(got) != OBJ_MAP) {
		tell(recorded, path, want, got);
		return;
	}
	OBJ_EACH (it, want) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 12);
		strbuf_addf(&b, "%s.%s", path, it.key);
		compare(recorded, b.buf, it.value, obj_get(got, it.key));
	}
	OBJ_EACH (it, got)
		if (!obj_has(want, it.key)) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 12);
			strbuf_addf(&b, "%s.%s", path, it.key);
			tell(recorded, b.buf, NULL, it.value);
		}
}

static void check_calls(const struct obj *recorded)
{
	const struct obj *calls = obj_get(recorded, "calls");
	for (size_t i = 0; i < obj_len(calls) || i < hook_fake_calls(); i++) {
		const struct obj *call = obj_at(calls, i);
		CLEANUP(obj_unrefp) struct obj *want =
			call ? comparable(obj_get(call, "review")) : NULL;
		CLEANUP(obj_unrefp) struct obj *got =
			i < hook_fake_calls() ? comparable(hook_fake_call(i)->review) : NULL;
		compare(recorded, "review", want, got);
		if (want && got && !cstr_eq(obj_str(call, "target"), hook_fake_call(i)->path))
			replay_differs(recorded, "target", obj_str(call, "target"),
				       hook_fake_call(i)->path);
	}
}

static void test_hooks_recorded__reviews_and_answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay_with(&(struct apifake_options){.dial = hook_fake_dial}, RECORDED, 400,
		    hook_fake_as_recorded, check_calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_hooks_recorded__reviews_and_answers_are_those_of_a_real_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
