/* What is not applied before somebody says that it is meant. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/fleet/bundle_accept.h"
#include "alm/obj/meta.h"

static const struct {
	const char *about;
	struct bundle_head head;
	bool refuses, pinned, accepted, fresh;
	const char *want; /* NULL: it is applied */
} cases[] = {
	{.about = "an ordinary push", .head = {.objects = 1}, .refuses = true},
	{.about = "a force push, accepted by default", .head = {.objects = 1, .rewritten = true}},
	{.about = "refused",
	 .head = {.objects = 1, .rewritten = true},
	 .refuses = true,
	 .want = "beef does not follow c0ffee, which is applied: the history of branch \"main\" "
		 "was rewritten, or what is applied was read of another branch or url; "
		 "spec.source.git.rewrites is Refuse, so nothing of it is applied until "
		 "annotation app.coreos.com/accept-digest is beef"},
	{.about = "who cannot tell refuses, too",
	 .head = {.objects = 1, .unknown = true},
	 .refuses = true,
	 .want = "as far as can be seen"},
	{.about = "until that commit is named",
	 .head = {.objects = 1, .rewritten = true},
	 .refuses = true,
	 .accepted = true},
	{.about = "a commit that is named is meant",
	 .head = {.objects = 1, .rewritten = true},
	 .refuses = true,
	 .pinned = true},
	{.about = "nothing is applied yet",
	 .head = {.objects = 1, .unknown = true},
	 .refuses = true,
	 .fresh = true},
	{.about = "an empty tree", .head = {0}, .want = "nothing is deleted until"},
	{.about = "that is meant", .head = {0}, .accepted = true},
	{.about = "that never had any", .head = {0}, .fresh = true},
};

static void test_bundle_accept__until_somebody_says_that_it_is_meant(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		struct bundle_head head = cases[i].head;
		const struct bundle_spec spec = {.branch = "main",
						 .refuses_rewrites = cases[i].refuses,
						 .commit = cases[i].pinned ? "beef" : NULL};
		head.commit = "beef";
		if (!cases[i].fresh) {
			obj_set_path(o, "status.commit", obj_string("c0ffee"));
			obj_set_path(o, "status.objects", obj_int(1));
		}
		meta_set_annotation(o, "app.coreos.com/accept-digest",
				    cases[i].accepted ? "beef" : "c0ffee");
		int got = bundle_accept_check(o, &spec, &head, &err);
		if ((got < 0) != (cases[i].want != NULL) ||
		    (got < 0 && !strstr(err.msg, cases[i].want)))
			fail_msg("%s: %d %s", cases[i].about, got, err.msg);
		if (got < 0)
			assert_int_equal(err.reason, head.objects ? REASON_HISTORY_REWRITTEN
								  : REASON_SOURCE_EMPTY);
	}
}

/* Of another branch or url nothing is known; who named it in the spec means it. */
static void test_bundle_accept__another_branch_or_url(void **state)
{
	(void)state;
	static const struct {
		const char *url, *branch; /* of what is applied; NULL: nobody has kept it */
		bool moved, told;
	} list[] = {
		{"https://a/b", "main", false, false},
		{"https://a/b", "dev", true, false},
		{"https://a/c", "main", true, false},
		{NULL, NULL, false, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		const struct bundle_spec spec = {
			.url = "https://a/b", .branch = "main", .refuses_rewrites = true};
		const struct bundle_head head = {.commit = "beef", .objects = 1, .rewritten = true};
		obj_set_path(o, "status.commit", obj_string("c0ffee"));
		if (list[i].url) {
			obj_set_path(o, "status.source.url", obj_string(list[i].url));
			obj_set_path(o, "status.source.branch", obj_string(list[i].branch));
		}
		assert_int_equal(bundle_accept_moved(o, &spec), list[i].moved);
		assert_int_equal(bundle_accept_check(o, &spec, &head, &err), -E_INVALID);
		assert_int_equal(strstr(err.msg, "another branch or url") != NULL, list[i].told);
	}
}

/* The remedy is at the end. */
static void test_bundle_accept__a_long_branch_does_not_push_out_the_remedy(void **state)
{
	(void)state;
	static const char commit[] =
		"0123456789012345678901234567890123456789012345678901234567890123";
	char branch[256] = {0};
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	const struct bundle_spec spec = {.branch = branch, .refuses_rewrites = true};
	const struct bundle_head head = {.commit = commit, .objects = 1, .unknown = true};
	memset(branch, 'b', sizeof(branch) - 1);
	obj_set_path(o, "status.commit", obj_string("c0ffee"));
	assert_int_equal(bundle_accept_check(o, &spec, &head, &err), -E_INVALID);
	assert_true(cstr_has_suffix(err.msg, commit));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_accept__until_somebody_says_that_it_is_meant),
		cmocka_unit_test(test_bundle_accept__another_branch_or_url),
		cmocka_unit_test(test_bundle_accept__a_long_branch_does_not_push_out_the_remedy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
