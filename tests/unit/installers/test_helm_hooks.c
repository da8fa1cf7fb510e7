/* Hooks: what an object's annotations say, and the order of those of one event. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "installers/hooks.h"
#include "installers/order.h"

static const struct {
	const char *name;
	enum hook_event event;
} events[] = {
	{"pre-install", HOOK_PRE_INSTALL},
	{"post-install", HOOK_POST_INSTALL},
	{"pre-delete", HOOK_PRE_DELETE},
	{"post-delete", HOOK_POST_DELETE},
	{"pre-upgrade", HOOK_PRE_UPGRADE},
	{"post-upgrade", HOOK_POST_UPGRADE},
	{"pre-rollback", HOOK_PRE_ROLLBACK},
	{"post-rollback", HOOK_POST_ROLLBACK},
	{"test", HOOK_TEST},
};

static struct manifest_head head_of(struct arena *a, const char *hook)
{
	struct manifest_head h = {.api_version = STR("batch/v1"),
				  .kind = STR("Job"),
				  .name = STR("n"),
				  .ns = STR("s"),
				  .annotations = vmap_new(a)};
	if (hook)
		vmap_setc(h.annotations, "helm.sh/hook", value_cstr(hook));
	return h;
}

static void test_helm_hooks__every_two_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		for (size_t k = 0; k < ARRAY_LEN(events); k++) {
			CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
			struct manifest_head head =
				head_of(a, arena_fmt(a, " %s ,%s", events[i].name, events[k].name));
			struct hook h;
			struct str event = STR_NONE;
			assert_int_equal(hook_read(&head, &h, &event), 1);
			assert_int_equal(h.events, events[i].event | events[k].event);
			assert_int_equal(h.n_order, 2);
			assert_int_equal(h.order[0], events[i].event);
			assert_int_equal(h.order[1], events[k].event);
			assert_string_equal(hook_event_name(h.order[0]), events[i].name);
			assert_str(h.kind, "Job");
			assert_str(h.name, "n");
			assert_str(h.api_version, "batch/v1");
			assert_str(h.ns, "s");
			assert_int_equal(h.weight, 0);
			assert_int_equal(hook_policies(&h), HOOK_BEFORE_CREATION);
		}
	assert_string_equal(hook_event_name((enum hook_event)0), "");
	assert_string_equal(hook_policy_name((enum hook_policy)0), "");
}

static void test_helm_hooks__what_is_no_event(void **state)
{
	static const struct {
		const char *hook, *event; /* event NULL: that is fine */
		int r;
	} rows[] = {
		{NULL, NULL, 0},
		{"Pre-Install", NULL, 1},
		{"test-success", NULL, 1},
		{"test-failure", "test-failure", -E_UNSUPPORTED},
		{"crd-install", "crd-install", -E_UNSUPPORTED},
		{"pre-install,pre-instal", "pre-instal", -E_UNSUPPORTED},
		{"pre-install,pre-installs", "pre-installs", -E_UNSUPPORTED},
		{"pre-install,", "", -E_UNSUPPORTED},
		{"", "", -E_UNSUPPORTED},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct manifest_head head = head_of(a, rows[i].hook);
		struct hook h = {.weight = 77};
		struct str event = STR_NONE;
		int r = hook_read(&head, &h, &event);
		if (r != rows[i].r || (rows[i].event && !str_is(event, rows[i].event)))
			fail_msg("%s: %d %.*s", rows[i].hook ? rows[i].hook : "(none)", r,
				 STR_ARG(event));
		assert_int_equal(h.weight, r == 1 ? 0 : 77); /* untouched otherwise */
	}
}

static void test_helm_hooks__more_events_than_are_remembered(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *text = "pre-install";
	for (int i = 1; i < HOOK_EVENTS_MAX; i++)
		text = arena_fmt(a, "%s,pre-install", text);
	struct manifest_head head = head_of(a, arena_fmt(a, "%s,test", text));
	struct hook h;
	struct str event;
	assert_int_equal(hook_read(&head, &h, &event), 1);
	assert_int_equal(h.n_order, HOOK_EVENTS_MAX);
	assert_int_equal(h.order[HOOK_EVENTS_MAX - 1], HOOK_PRE_INSTALL);
	assert_int_equal(h.events, HOOK_PRE_INSTALL | HOOK_TEST); /* but it is run */
}

static void test_helm_hooks__every_set_of_policies(void **state)
{
	static const char *const names[] = {"before-hook-creation", "hook-succeeded",
					    "hook-failed"};
	(void)state;
	for (unsigned set = 0; set < 64; set++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct manifest_head head = head_of(a, "test");
		const char *text[] = {"", ""};
		struct hook h;
		struct str event;
		for (size_t i = 0; i < 6; i++)
			if (set >> i & 1)
				text[i / 3] = arena_fmt(a, "%s%s%s", text[i / 3],
							*text[i / 3] ? " , " : "", names[i % 3]);
		if (*text[0])
			vmap_setc(head.annotations, "helm.sh/hook-delete-policy",
				  value_cstr(text[0]));
		if (*text[1])
			vmap_setc(head.annotations, "helm.sh/hook-output-log-policy",
				  value_cstr(text[1]));
		assert_int_equal(hook_read(&head, &h, &event), 1);
		assert_int_equal(h.delete_policies, set & 7);
		assert_int_equal(h.log_policies, set >> 3);
		assert_int_equal(hook_policies(&h), set & 7 ? set & 7 : HOOK_BEFORE_CREATION);
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_string_equal(hook_policy_name((enum hook_policy)(1 << i)), names[i]);
}

/* As Go's Atoi reads it; what is none is 0. */
static void test_helm_hooks__weights(void **state)
{
	static const struct {
		const char *text;
		int weight;
	} rows[] = {
		{"0", 0},
		{"5", 5},
		{"-5", -5},
		{"+5", 5},
		{"+-5", 0},
		{"+", 0},
		{"", 0},
		{"1.5", 0},
		{" 1", 0},
		{"1 ", 0},
		{"a", 0},
		{"007", 7},
		{"2147483647", INT32_MAX},
		{"2147483648", 0},
		{"-2147483648", INT32_MIN},
		{"-2147483649", 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct manifest_head head = head_of(a, "test");
		struct hook h;
		struct str event;
		vmap_setc(head.annotations, "helm.sh/hook-weight", value_cstr(rows[i].text));
		assert_int_equal(hook_read(&head, &h, &event), 1);
		if (h.weight != rows[i].weight)
			fail_msg("\"%s\": %d", rows[i].text, h.weight);
	}
}

static int sign(int r)
{
	return (r > 0) - (r < 0);
}

/* Weight, then name, then kind: for every two. */
static void test_helm_hooks__one_order_of_all(void **state)
{
	static const int weights[] = {-1, 0, 1};
	static const char *const names[] = {"a", "b"}, *const kinds[] = {"Secret", "Job",
									 "Unknown"};
	struct hook all[18];
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) /* in their order */
		all[i] = (struct hook){.weight = weights[i / 6],
				       .name = str_of(names[i / 3 % 2]),
				       .kind = str_of(kinds[i % 3])};
	for (int i = 0; i < (int)ARRAY_LEN(all); i++)
		for (int k = 0; k < (int)ARRAY_LEN(all); k++)
			assert_int_equal(sign(hook_cmp(&all[i], &all[k])), sign(i - k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_helm_hooks__every_two_events),
		cmocka_unit_test(test_helm_hooks__what_is_no_event),
		cmocka_unit_test(test_helm_hooks__more_events_than_are_remembered),
		cmocka_unit_test(test_helm_hooks__every_set_of_policies),
		cmocka_unit_test(test_helm_hooks__weights),
		cmocka_unit_test(test_helm_hooks__one_order_of_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
