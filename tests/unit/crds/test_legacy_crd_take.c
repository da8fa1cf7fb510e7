/* What one version more says of the whole definition: taken, united, or named. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "crds/legacy_crd_take.h"

static struct {
	struct strbuf text;
	size_t n;
} told;

static void begin(void)
{
	strbuf_release(&told.text);
	strbuf_init(&told.text, (size_t)1 << 16);
	told.n = 0;
}

static void warn(void *arg, const char *text)
{
	assert_ptr_equal(arg, &told);
	told.n++;
	strbuf_addf(&told.text, "%s\n", text);
}

static struct obj *read(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return o;
}

/* told of: "" or what the warnings have. */
static void expect(const char *there, const char *said, const char *want, const char *of)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(obj_unrefp) struct obj *now = read(there), *s = read(said), *w = read(want);
	begin();
	legacy_crd_take(now, s, a, warn, &told);
	CLEANUP(xfreep) char *text = json_text(now);
	if (!obj_equal(now, w))
		print_error("%s\n", text);
	assert_true(obj_equal(now, w));
	if (*of)
		assert_non_null(strstr(told.text.buf, of));
	else
		assert_int_equal(told.text.len, 0);
}

#define THERE(meta, spec) "metadata: {name: cups" meta "}\nspec: {" spec "}"

static void test_legacy_crd_take__each_field(void **state)
{
	(void)state;
	expect(THERE("", ""), THERE(", labels: {a: b}", "names: {shortNames: [c]}"),
	       THERE(", labels: {a: b}", "names: {shortNames: [c]}"), "");
	expect(THERE(", labels: {a: b}", ""), THERE(", labels: {a: b}", ""),
	       THERE(", labels: {a: b}", ""), "");
	expect(THERE(", labels: {a: b}", ""), THERE(", labels: {a: c, d: e}", ""),
	       THERE(", labels: {a: b, d: e}", ""),
	       "metadata.labels.a stays \"b\", as cups has it for all of its versions, and is not "
	       "\"c\"; kubectl edit crd cups changes it");
	expect(THERE("", "names: {shortNames: [c], categories: [all]}"),
	       THERE("", "names: {shortNames: [d, c]}"),
	       THERE("", "names: {shortNames: [c, d], categories: [all]}"), "");
	expect(THERE("", "names: {shortNames: [c]}"),
	       THERE("", "names: {shortNames: [c, d, e, d]}"),
	       THERE("", "names: {shortNames: [c, d, e]}"), "");
	expect(THERE("", "names: {singular: cup}"), THERE("", "names: {singular: mug}"),
	       THERE("", "names: {singular: cup}"), "spec.names.singular stays");
	expect(THERE("", "conversion: {strategy: None}"),
	       THERE("", "conversion: {strategy: Webhook, webhook: {x: 1}}"),
	       THERE("", "conversion: {strategy: Webhook, webhook: {x: 1}}"), "");
	expect(THERE("", "conversion: {strategy: Webhook, webhook: {x: 1}}"),
	       THERE("", "conversion: {strategy: Webhook, webhook: {x: 2}}"),
	       THERE("", "conversion: {strategy: Webhook, webhook: {x: 1}}"),
	       "spec.conversion stays");
	/* kept by those who write them */
	expect(THERE(", annotations: {a: b}", ""),
	       THERE(", annotations: {kubectl.kubernetes.io/last-applied-configuration: x, c: d}",
		     ""),
	       THERE(", annotations: {a: b, c: d}", ""), "");
}

static void test_legacy_crd_take__contradictions_without_end(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(obj_unrefp) struct obj *now = read(THERE("", "")), *said = read(THERE("", ""));
	for (int i = 0; i < 1000; i++) {
		const char *path = arena_fmt(a, "metadata.labels.l%d", i);
		obj_set_path(now, path, obj_string("a"));
		obj_set_path(said, path, obj_string("b"));
	}
	begin();
	legacy_crd_take(now, said, a, warn, &told);
	assert_int_equal(told.n, LEGACY_TAKE_WARNINGS_MAX);
	assert_non_null(strstr(told.text.buf, "more fields stay as they are"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_legacy_crd_take__each_field),
		cmocka_unit_test(test_legacy_crd_take__contradictions_without_end),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	strbuf_release(&told.text);
	return r;
}
