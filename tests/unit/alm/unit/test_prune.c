/* What a unit had and has no more: deleted, kept, or not known yet. */
#include "tests/lib/test.h"

#include "alm/base/arena.h"
#include "alm/obj/json.h"
#include "alm/unit/prune.h"
#include "crds/marks.h"

#define MARKED "{\"metadata\": {\"labels\": {\"l\": \"ours\"}}}"
#define DELETING                                                                 \
	"{\"metadata\": {\"labels\": {\"l\": \"ours\"}, \"deletionTimestamp\": " \
	"\"2030-01-01T00:00:00Z\"}}"
#define FOREIGN "{\"metadata\": {\"labels\": {\"l\": \"theirs\"}}}"

struct row {
	const char *name, *live; /* NULL: absent */
	bool unknown, keep;
	int verdict; /* -1: not in the list */
};

/* clang-format off */
static const struct row rows[] = { /* as they were applied */
	{"gone",     NULL,     false, false, -1},
	{"ours",     MARKED,   false, false, PRUNE_DELETE},
	{"deleting", DELETING, false, false, PRUNE_DELETING},
	{"theirs",   FOREIGN,  false, false, PRUNE_KEEP},
	{"bare",     "{}",     false, false, PRUNE_KEEP},
	{"kept",     MARKED,   false, true,  PRUNE_KEEP},
	{"unknown",  NULL,     true,  false, PRUNE_UNKNOWN},
	{"wanted",   MARKED,   false, false, -1},
};
/* clang-format on */

static void test_prune__what_is_deleted_and_in_which_order(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct unit_entry was[ARRAY_LEN(rows)] = {0};
	struct unit_entry wanted[] = {{.kind = "ConfigMap", .ns = "n", .name = "wanted"},
				      {.kind = "Secret", .ns = "n", .name = "ours"},
				      {.kind = "ConfigMap", .ns = "other", .name = "ours"}};
	const struct prune_rules rules = {.label = "l", .value = "ours"};
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct obj *live = NULL;
		if (rows[i].live)
			assert_ok(json_parse(str_of(rows[i].live), &live, &err), &err);
		was[i] = (struct unit_entry){.kind = "ConfigMap",
					     .ns = "n",
					     .name = rows[i].name,
					     .live = live ? obj_keep(a, live) : NULL,
					     .unknown = rows[i].unknown,
					     .keep = rows[i].keep};
	}
	size_t n, at = 0;
	const struct prune_item *list =
		prune_list(was, ARRAY_LEN(rows), wanted, ARRAY_LEN(wanted), &rules, a, &n);
	for (size_t i = ARRAY_LEN(rows); i-- > 0;) {
		if (rows[i].verdict < 0)
			continue;
		assert_true(at < n);
		assert_string_equal(list[at].entry->name, rows[i].name);
		assert_int_equal(list[at].verdict, rows[i].verdict);
		assert_true((list[at].why != NULL) == (rows[i].verdict == PRUNE_KEEP));
		at++;
	}
	assert_int_equal(at, n);
}

static void test_prune__why_it_is_still_there(void **state)
{
	(void)state;
	static const struct {
		const char *live, *want;
	} list[] = {
		{"{\"kind\":\"Thing\"}", ""},
		{"{\"kind\":\"Thing\",\"metadata\":{\"finalizers\":[\"a/b\\u001b\",\"c\"]}}",
		 "finalizer a/b\\u001b"},
		{"{\"kind\":\"Namespace\",\"metadata\":{\"finalizers\":[\"a/b\"]},\"status\":{"
		 "\"conditions\":[{\"type\":\"NamespaceContentRemaining\",\"status\":\"True\","
		 "\"message\":\"things has 1\"},{\"type\":\"NamespaceFinalizersRemaining\","
		 "\"status\":\"False\",\"message\":\"none\"}]}}",
		 "things has 1"},
		{"{\"kind\":\"Namespace\",\"status\":{\"conditions\":[{\"type\":"
		 "\"NamespaceContentRemaining\",\"status\":\"True\",\"message\":\"things has 1\"},{"
		 "\"type\":\"NamespaceDeletionContentFailure\",\"status\":\"True\",\"message\":"
		 "\"a policy says no\"}]}}",
		 "a policy says no"},
		{"{\"kind\":\"Namespace\",\"metadata\":{\"finalizers\":[\"a/b\"]}}",
		 "finalizer a/b"},
	};
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 16);
		struct error err = ERROR_INIT;
		struct obj *live;
		assert_ok(json_parse(str_of(list[i].live), &live, &err), &err);
		const char *got = prune_waits_for(obj_keep(a, live), a);
		assert_string_equal(got ? got : "", list[i].want);
	}
}

/* What another made, what names another owner, what is to stay, and what nobody could make again. */
static void test_prune__what_is_spared(void **state)
{
#define LIVE(kind, uid, owner, bundle, more)                                                   \
	"{\"kind\":\"" kind "\",\"metadata\":{\"uid\":\"" uid "\",\"labels\":{\"" LABEL_BUNDLE \
	"\":\"" bundle "\"},\"annotations\":{\"" ANNOTATION_OWNER_ID "\":\"" owner "\"" more "}}}"
	static const struct {
		const char *live, *uid;
		bool is_spared;
	} cases[] = {
		{LIVE("Pod", "u", "o", "b", ""), "u", false},
		{LIVE("Pod", "u", "o", "b", ""), NULL, false},
		{LIVE("Pod", "v", "o", "b", ""), "u", false}, /* made again by this unit */
		{LIVE("Pod", "v", "o", "c", ""), "u", true},
		{LIVE("Pod", "u", "o", "c", ""), "u", false},
		{LIVE("Pod", "u", "p", "b", ""), "u", true},
		{LIVE("Pod", "v", "p", "b", ""), "u", true},
		{LIVE("PersistentVolume", "u", "o", "b", ""), "u", true},
		{LIVE("Pod", "u", "o", "b", ",\"" ANNOTATION_PRUNE "\":\"disabled\""), "u", true},
		{LIVE("Pod", "u", "o", "b", ",\"" ANNOTATION_PRUNE "\":\"enabled\""), "u", false},
		{LIVE("Pod", "u", "o", "b", ",\"helm.sh/resource-policy\":\"keep\""), "u", true},
		{"{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"u\"}}", "u", true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		struct obj *parsed = NULL;
		assert_ok(json_parse(str_of(cases[i].live), &parsed, &err), &err);
		CLEANUP(obj_unrefp) struct obj *live = parsed;
		if (prune_spares(live, cases[i].uid, "b", "o") != cases[i].is_spared)
			fail_msg("%s", cases[i].live);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prune__what_is_deleted_and_in_which_order),
		cmocka_unit_test(test_prune__why_it_is_still_there),
		cmocka_unit_test(test_prune__what_is_spared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
