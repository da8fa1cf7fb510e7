/* What a trigger on resources watches, and whose change concerns whom. */
#include "tests/lib/test.h"

#include "alm/base/strbuf.h"
#include "alm/source/keymap.h"

#define ARENA_BYTES ((size_t)4 << 20)
#define MAIN \
	"mainResource: g\nresources:\n- {name: g, kind: Grafana, apiVersion: m.example.com/v1}\n"
#define OTHER MAIN "- name: d\n  kind: Deployment\n  apiVersion: apps/v1\n  keyTransformations:\n"

static struct keymap *read_map(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct keymap *k = NULL;
	assert_ok(keymap_read(str_of(text), "t.yaml", a, &k, &err), &err);
	return k;
}

static void test_keymap__keys(void **state)
{
	static const struct {
		const char *rules, *key, *want;
	} cases[] = {
		{"    []\n", "ns/a", "ns/a"},
		{"  - {action: keep, regex: /grafana-}\n", "ns/grafana-a", "ns/grafana-a"},
		{"  - {action: keep, regex: /grafana-}\n", "ns/other", NULL},
		{"  - {action: drop, regex: /grafana-}\n", "ns/grafana-a", NULL},
		{"  - {action: drop, regex: /grafana-}\n", "ns/other", "ns/other"},
		{"  - {regex: '([^/]*)/grafana-(.*)', replacement: $1/$2}\n", "ns/grafana-a",
		 "ns/a"},
		{"  - {action: replace, regex: '([^/]*)/grafana-(.*)', replacement: $1/$2}\n",
		 "ns/other", "ns/other"},
		{"  - {regex: '(?P<n>[^/]*)/x', replacement: '${n}/y$$'}\n", "ns/x", "ns/y$"},
		/* the whole key is made anew of the first match, wherever that is */
		{"  - {regex: b, replacement: X}\n", "a/b/b", "X"},
		{"  - {}\n", "ns/a", "ns/a"},
		{"  - {regex: '/(.*)'}\n", "ns/a", "a"},
		{"  - {regex: 'a()', replacement: $1}\n", "ns/a", NULL},
		/* in order */
		{"  - {action: keep, regex: grafana}\n  - {regex: '([^/]*)/grafana-(.*)', "
		 "replacement: $1/$2}\n  - {action: drop, regex: /a$}\n",
		 "ns/grafana-a", NULL},
		{"  - {action: keep, regex: grafana}\n  - {regex: '([^/]*)/grafana-(.*)', "
		 "replacement: $1/$2}\n  - {action: drop, regex: /a$}\n",
		 "ns/grafana-b", "ns/b"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		const char *key = NULL;
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
		struct keymap *k = read_map(a, arena_fmt(a, OTHER "%s", cases[i].rules));
		assert_ok(keymap_key(k, &k->resources[1], cases[i].key, a, &key, &err), &err);
		if (!cstr_eq(key, cases[i].want))
			fail_msg("%s%s: %s", cases[i].rules, cases[i].key, key ? key : "NULL");
	}
}

static void test_keymap__fields(void **state)
{
	struct error err = ERROR_INIT;
	const char *key = NULL;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	struct keymap *k =
		read_map(a, MAIN "- name: d\n  kind: Deployment\n  apiVersion: apps/v1\n"
				 "  namespace: prod\n"
				 "  selector: {matchExpressions: [{key: a, operator: Exists}]}\n");
	assert_int_equal(k->n, 2);
	assert_ptr_equal(k->main, &k->resources[0]);
	assert_string_equal(k->main->api_version, "m.example.com/v1");
	assert_null(k->main->ns);
	assert_null(k->main->selector);
	assert_string_equal(k->resources[1].ns, "prod");
	assert_false(selector_matches(k->resources[1].selector, NULL));
	assert_ok(keymap_key(k, k->main, "ns/x", a, &key, &err), &err);
	assert_string_equal(key, "ns/x");
}

static void test_keymap__mistakes_name_the_field(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"resources:\n- {name: g, kind: G, apiVersion: v1}\n",
		 "t.yaml: mainResource: the name of one of resources is wanted"},
		{"mainResource: x\nresources:\n- {name: g, kind: G, apiVersion: v1}\n",
		 "t.yaml: mainResource: x is none of resources"},
		{"mainResource: x\n", "t.yaml: resources: 1 to 32"},
		{MAIN "- {name: g, kind: G, apiVersion: v1}\n",
		 "t.yaml: resources[1]: name g is there twice"},
		{MAIN "- {name: h, kind: G}\n",
		 "t.yaml: resources[1]: name, apiVersion and kind are wanted"},
		{OTHER "  - {action: kepe}\n",
		 "t.yaml: resources[1].keyTransformations[0].action: kepe is none; there are keep, "
		 "drop and replace"},
		{OTHER "  - {regex: '('}\n",
		 "t.yaml: resources[1].keyTransformations[0].regex: error parsing regexp: missing "
		 "closing ): `(`"},
		{MAIN "- {name: h, kind: G, apiVersion: v1, selektor: {}}\n", "t.yaml: "},
		{MAIN "- {name: h, kind: G, apiVersion: v1, selector: {matchExpressions: [{key: a, "
		      "operator: Near}]}}\n",
		 "t.yaml: resources[1].selector: "},
		{"mainResource: g\nresources:\n- {name: g, kind: G, apiVersion: v1, "
		 "keyTransformations: [{}]}\n",
		 "t.yaml: mainResource: its keys are its own: keyTransformations are of the "
		 "others"},
		{"[1]", "t.yaml: a configuration is an object, not array"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		struct keymap *k = NULL;
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
		assert_true(keymap_read(str_of(cases[i].text), "t.yaml", a, &k, &err) < 0);
		if (!cstr_has_prefix(err.msg, cases[i].says))
			fail_msg("%s: %s", cases[i].text, err.msg);
	}
}

static void test_keymap__keys_have_a_limit(void **state)
{
	struct error err = ERROR_INIT;
	const char *key = NULL;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, OTHER "  - {replacement: '");
	strbuf_pad(&b, 'x', KEYMAP_KEY_MAX + 1);
	strbuf_adds(&b, "'}\n");
	struct keymap *k = read_map(a, b.buf);
	assert_int_equal(keymap_key(k, &k->resources[1], "ns/x", a, &key, &err), -E_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keymap__keys),
		cmocka_unit_test(test_keymap__fields),
		cmocka_unit_test(test_keymap__mistakes_name_the_field),
		cmocka_unit_test(test_keymap__keys_have_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
