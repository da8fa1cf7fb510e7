/* What the recorded cases do not reach: other profiles, ignore rules, orders, hooks, lint. */
#include "tests/lib/test.h"

#include <string.h>

#include "installers/chart/chart.h"
#include "installers/chart/glob.h"
#include "installers/chart/values.h"
#include "installers/format/json_go.h"
#include "installers/hooks.h"
#include "installers/manifest.h"
#include "installers/order.h"

static char *json(struct arena *a, struct vmap *m)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	assert_int_equal(json_go_encode(value_map(m), JSON_GO_COMPACT, &b, &msg), 0);
	return arena_strdup(a, b.buf);
}

static struct chart *chart_of(struct arena *a, const char *values, enum tmpl_profile profile)
{
	struct archive_file items[] = {
		{"Chart.yaml", STR("apiVersion: v2\nname: c\nversion: 1.0.0\n")},
		{"values.yaml", str_of(values)},
	};
	struct archive_files files = {items, 2, 2};
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct chart *c = NULL;
	if (chart_load(a, &files, &budget, profile, &c, &msg) < 0)
		fail_msg("%s", msg.buf);
	return c;
}

static void assert_coalesced(const char *defaults, enum tmpl_profile profile, const char *want)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct vmap *m;
	struct chart *c = chart_of(a, defaults, profile);
	assert_int_equal(values_coalesce(a, c, NULL, profile, NULL, &m, &msg), 0);
	assert_string_equal(json(a, m), want);
}

static void test_values__documents_by_profile(void **state)
{
	static const char two[] = "a: 1\n---\nb: 2\n";
	(void)state;
	assert_coalesced(two, TMPL_PROFILE_3, "{\"a\":1}");
	assert_coalesced(two, TMPL_PROFILE_4_1, "{\"a\":1,\"b\":2}");
}

/* An empty one, wherever it stands, has no values. */
static void test_values__empty_documents(void **state)
{
	static const char *const texts[] = {"a: 1\n---\n", "---\na: 1\n", "a: 1\n---\n---\n",
					    "---\n---\na: 1\n---", "a: 1\n---\n# no more\n"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_coalesced(texts[i], TMPL_PROFILE_4_1, "{\"a\":1}");
	assert_coalesced("", TMPL_PROFILE_3, "{}");
	assert_coalesced("", TMPL_PROFILE_4_1, "{}");
	assert_coalesced("---\n", TMPL_PROFILE_4_1, "{}");
}

static void test_values__null_defaults_by_profile(void **state)
{
	static const char nulls[] = "a: null\nb: {c: null, d: 1}\n";
	(void)state;
	assert_coalesced(nulls, TMPL_PROFILE_3, "{\"a\":null,\"b\":{\"c\":null,\"d\":1}}");
	assert_coalesced(nulls, TMPL_PROFILE_4_1, "{\"a\":null,\"b\":{\"c\":null,\"d\":1}}");
	assert_coalesced(nulls, TMPL_PROFILE_4_2, "{\"b\":{\"d\":1}}");
}

static void test_values__user_values_are_not_changed(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct vmap *user, *m;
	(void)state;
	struct chart *c = chart_of(a, "a: {b: 1, c: 2}\n", TMPL_PROFILE_4_1);
	assert_int_equal(
		values_read(a, STR("a: {c: null, d: [1]}\n"), TMPL_PROFILE_4_1, &user, &msg), 0);
	assert_int_equal(values_coalesce(a, c, user, TMPL_PROFILE_4_1, NULL, &m, &msg), 0);
	assert_string_equal(json(a, m), "{\"a\":{\"b\":1,\"d\":[1]}}");
	assert_string_equal(json(a, user), "{\"a\":{\"c\":null,\"d\":[1]}}");
}

static void test_values__splitting_by_profile(void **state)
{
	static const char text[] = "\na: 1\n\n\n--- b: 2\n---\n---\nc: 3\n";
	static const struct {
		enum tmpl_profile profile;
		const char *pieces[4];
	} want[] = {
		{TMPL_PROFILE_4_1, {"a: 1", "b: 2", "---\nc: 3", NULL}},
		{TMPL_PROFILE_4_2, {"a: 1\n\n\n", "b: 2\n", "c: 3\n", NULL}},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		struct manifest_split s = manifest_split(str_of(text), want[i].profile);
		struct str piece;
		size_t n = 0;
		while (manifest_next(&s, &piece)) {
			assert_non_null(want[i].pieces[n]);
			assert_str(piece, want[i].pieces[n]);
			n++;
		}
		assert_null(want[i].pieces[n]);
	}
}

static void test_values__helmignore(void **state)
{
	static const char rules[] = "# comment\n*.bak\n/top\nfolder/\ndocs/*.md\n";
	static const struct {
		const char *path;
		bool is_dir, ignored;
	} cases[] = {
		{"a.bak", false, true},        {"x/y.bak", false, true},
		{"top", false, true},          {"x/top", false, false},
		{"folder", true, true},        {"folder", false, false},
		{"docs/a.md", false, true},    {"x/docs/a.md", false, false},
		{"templates/.x", false, true}, {"templates/x", false, false},
	};
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	bool ignored;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(chart_ignores(str_of(rules), str_of(cases[i].path),
					       cases[i].is_dir, &ignored, &msg),
				 0);
		if (ignored != cases[i].ignored)
			fail_msg("%s", cases[i].path);
	}
	assert_true(chart_ignores(STR("a/**"), STR("x"), false, &ignored, &msg) < 0);
	assert_string_equal(msg.buf, "double-star (**) syntax is not supported");
}

static void test_values__glob(void **state)
{
	static const struct {
		const char *pattern, *name;
		int want; /* -1: malformed */
	} cases[] = {
		{"*", "a", 1},      {"*", "a/b", 0},       {"a*c", "abbc", 1},
		{"a*c", "ab/c", 0}, {"a?c", "abc", 1},     {"a?c", "a/c", 0},
		{"[a-c]", "b", 1},  {"[^a-c]", "b", 0},    {"[^a-c]", "d", 1},
		{"\\*", "*", 1},    {"\\*", "a", 0},       {"[", "a", -1},
		{"a[", "b", -1},    {"", "", 1},           {"*.y?ml", "a.yaml", 1},
		{"**", "abc", 1},   {"a*b*c", "axbxc", 1}, {"[a", "a", -1},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool hit = false;
		int rc = glob_match(str_of(cases[i].pattern), str_of(cases[i].name), &hit);
		if ((cases[i].want < 0) != (rc < 0) || (rc == 0 && hit != (cases[i].want == 1)))
			fail_msg("%s on %s: %d %d", cases[i].pattern, cases[i].name, rc, hit);
	}
}

static void test_values__orders(void **state)
{
	(void)state;
	assert_true(order_install_cmp(STR("Namespace"), STR("Service"), TMPL_PROFILE_4_1) < 0);
	assert_true(order_install_cmp(STR("Zeta"), STR("Service"), TMPL_PROFILE_4_1) > 0);
	assert_true(order_install_cmp(STR("Alpha"), STR("Zeta"), TMPL_PROFILE_4_1) < 0);
	assert_true(order_install_cmp(STR("MutatingWebhookConfiguration"), STR("Alpha"),
				      TMPL_PROFILE_4_1) < 0);
	assert_true(order_install_cmp(STR("MutatingWebhookConfiguration"), STR("Alpha"),
				      TMPL_PROFILE_3) > 0);
	assert_true(order_uninstall_cmp(STR("Service"), STR("Namespace")) < 0);
	assert_true(order_uninstall_cmp(STR("IngressClass"), STR("Service")) < 0);
	assert_true(order_uninstall_cmp(STR("Service"), STR("CronJob")) < 0);
	assert_true(order_uninstall_cmp(STR("Zeta"), STR("Namespace")) > 0);
}

static struct manifest_head head_of(struct arena *a, const char *text)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct manifest_head head;
	if (manifest_head(a, str_of(text), &head, &msg) < 0)
		fail_msg("%s", msg.buf);
	return head;
}

static void test_values__hooks(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct hook h, other;
	struct str event;
	(void)state;
	struct manifest_head head = head_of(
		a, "kind: Job\nmetadata: {name: x, annotations: {helm.sh/hook: \" Pre-Install, "
		   "test-success\", helm.sh/hook-weight: -5, helm.sh/hook-delete-policy: "
		   "\"hook-succeeded,HOOK-FAILED\"}}\n");
	assert_int_equal(hook_read(&head, &h, &event), 1);
	assert_int_equal(h.events, HOOK_PRE_INSTALL | HOOK_TEST);
	assert_int_equal(h.weight, -5);
	assert_int_equal(hook_policies(&h), HOOK_SUCCEEDED | HOOK_FAILED);
	head = head_of(a, "kind: Job\nmetadata: {name: a, annotations: {helm.sh/hook: test, "
			  "helm.sh/hook-weight: many}}\n");
	assert_int_equal(hook_read(&head, &other, &event), 1);
	assert_int_equal(other.weight, 0);
	assert_int_equal(hook_policies(&other), HOOK_BEFORE_CREATION);
	assert_true(hook_cmp(&h, &other) < 0);
	head = head_of(a, "kind: Job\nmetadata: {annotations: {helm.sh/hook: \"test,odd\"}}\n");
	assert_int_equal(hook_read(&head, &h, &event), -E_UNSUPPORTED);
	assert_str(event, "odd");
	head = head_of(a, "kind: Job\n");
	assert_int_equal(hook_read(&head, &h, &event), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values__documents_by_profile),
		cmocka_unit_test(test_values__empty_documents),
		cmocka_unit_test(test_values__null_defaults_by_profile),
		cmocka_unit_test(test_values__user_values_are_not_changed),
		cmocka_unit_test(test_values__splitting_by_profile),
		cmocka_unit_test(test_values__helmignore),
		cmocka_unit_test(test_values__glob),
		cmocka_unit_test(test_values__orders),
		cmocka_unit_test(test_values__hooks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
