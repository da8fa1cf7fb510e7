/* The revisions that a Bundle can go back to. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/fleet/bundle_history.h"

static void add(struct obj *bundle, const char *commit)
{
	CLEANUP(obj_unrefp) struct obj *source = obj_map();
	obj_set_str(source, "commit", commit);
	obj_set_str(source, "author", "alice");
	obj_set_str(source, "digest", "d");
	struct obj *status = obj_need_map(bundle, "status");
	bundle_history_add(status, source, NS_PER_S);
	obj_set_str(status, "commit", commit);
}

static void test_bundle_history__the_newest_are_kept(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *bundle = obj_map();
	char commit[16];
	assert_null(bundle_history_before(bundle));
	for (int i = 0; i < 15; i++) {
		snprintf(commit, sizeof(commit), "%07d", i);
		add(bundle, commit);
		add(bundle, commit); /* the same is no other */
	}
	const struct obj *list = obj_path(bundle, "status.history");
	assert_int_equal(obj_len(list), BUNDLE_HISTORY_MAX);
	assert_string_equal(obj_str(obj_at(list, 0), "commit"), "0000014");
	assert_string_equal(obj_str(obj_at(list, 0), "author"), "alice");
	assert_string_equal(obj_str(obj_at(list, 0), "since"), "1970-01-01T00:00:01Z");
	assert_null(obj_str(obj_at(list, 0), "digest"));
	assert_string_equal(obj_str(obj_at(list, 9), "commit"), "0000005");
	assert_string_equal(obj_str(bundle_history_before(bundle), "commit"), "0000013");
	/* one that failed was never there: back is to the newest that was */
	obj_set_str(obj_need_map(bundle, "status"), "commit", "fffffff");
	assert_string_equal(obj_str(bundle_history_before(bundle), "commit"), "0000014");
}

/* alm rollback, where that is to go; and that it is Synced. */
static void back(struct obj *bundle, const char *want)
{
	const struct obj *o = bundle_history_before(bundle);
	if (!want) {
		assert_null(o);
		return;
	}
	assert_non_null(o);
	assert_string_equal(obj_str(o, "commit"), want);
	obj_set_path(bundle, "spec.source.git.commit", obj_string(want));
}

static void synced(struct obj *bundle, const char *commit)
{
	bundle_history_leave(obj_need_map(bundle, "status"),
			     obj_str(bundle, "spec.source.git.commit"));
	add(bundle, commit);
}

static void test_bundle_history__back_again_goes_further_back(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *bundle = obj_map();
	synced(bundle, "aaaaaaa");
	synced(bundle, "bbbbbbb");
	synced(bundle, "ccccccc"); /* bad */
	back(bundle, "bbbbbbb");
	back(bundle, "aaaaaaa"); /* at once: it is not there yet, or failed */
	back(bundle, NULL);
	obj_set_path(bundle, "spec.source.git.commit", obj_string("bbbbbbb"));
	synced(bundle, "bbbbbbb"); /* b c b a */
	back(bundle, "aaaaaaa");
	synced(bundle, "aaaaaaa");
	back(bundle, NULL); /* and not to c or b */
	obj_del_path(bundle, "spec.source.git.commit");
	synced(bundle, "ccccccc"); /* the head again, by its own will */
	back(bundle, "aaaaaaa");
	obj_del_path(bundle, "spec.source.git.commit");
	synced(bundle, "ddddddd");
	back(bundle, "ccccccc"); /* it was Synced since */
}

/* Who holds each revision by its commit goes forward by that. */
static void test_bundle_history__a_pin_to_a_new_one_leaves_none(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *bundle = obj_map();
	synced(bundle, "aaaaaaa");
	obj_set_path(bundle, "spec.source.git.commit", obj_string("bbbbbbb"));
	back(bundle, "aaaaaaa"); /* b failed */
	obj_set_path(bundle, "spec.source.git.commit", obj_string("bbbbbbb"));
	synced(bundle, "bbbbbbb");
	back(bundle, "aaaaaaa");
	synced(bundle, "aaaaaaa"); /* a b(left) a */
	obj_set_path(bundle, "spec.source.git.commit", obj_string("bbbbbbb"));
	synced(bundle, "bbbbbbb"); /* forward to what was left: a is not */
	back(bundle, "aaaaaaa");
}

static void test_bundle_history__by_the_beginning_of_a_commit(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *bundle = obj_map();
	const struct obj *found = NULL;
	struct error err = ERROR_INIT;
	assert_int_equal(bundle_history_find(bundle, "0123456", &found, &err), -E_NOTFOUND);
	add(bundle, "0123456aa");
	add(bundle, "0123456bb");
	add(bundle, "0123456aa");
	assert_int_equal(bundle_history_find(bundle, "012345", &found, &err), -E_INVALID);
	assert_int_equal(bundle_history_find(bundle, "0123456", &found, &err), -E_INVALID);
	assert_int_equal(bundle_history_find(bundle, "fffffff", &found, &err), -E_NOTFOUND);
	assert_null(found);
	assert_ok(bundle_history_find(bundle, "git:0123456a", &found, &err), &err);
	assert_string_equal(obj_str(found, "commit"), "0123456aa");
}

/* Who may write the status may have written such a list: back is to a commit, never to the head for want of one. */
static void test_bundle_history__one_without_a_commit_is_none(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *bundle = obj_map(), *nameless = obj_map();
	const struct obj *found = NULL;
	struct error err = ERROR_INIT;
	struct obj *status = obj_need_map(bundle, "status");
	bundle_history_add(status, nameless, NS_PER_S);
	assert_int_equal(obj_len(obj_get(status, "history")), 0);
	add(bundle, "0123456aa");
	struct obj *list = obj_list();
	obj_append(list, obj_map());
	obj_append(list, obj_ref(obj_at(obj_get(status, "history"), 0)));
	obj_append(list, obj_map());
	obj_set(status, "history", list);
	assert_null(bundle_history_before(bundle)); /* it is there already */
	assert_int_equal(bundle_history_find(bundle, "fffffff", &found, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "Synced: 0123456aa;"));
	assert_ok(bundle_history_find(bundle, "0123456", &found, &err), &err);
	obj_set_str(status, "commit", "fffffff");
	assert_string_equal(obj_str(bundle_history_before(bundle), "commit"), "0123456aa");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_history__the_newest_are_kept),
		cmocka_unit_test(test_bundle_history__back_again_goes_further_back),
		cmocka_unit_test(test_bundle_history__a_pin_to_a_new_one_leaves_none),
		cmocka_unit_test(test_bundle_history__by_the_beginning_of_a_commit),
		cmocka_unit_test(test_bundle_history__one_without_a_commit_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
