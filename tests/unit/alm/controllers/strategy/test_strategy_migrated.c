/* test_strategy_migrated.c: when a strategy says that the objects of its definitions are stored anew, and of whom. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/obj/condition.h"
#include "tests/lib/view_fake.h"

#define CRD                                                                                     \
	"{\"metadata\":{\"name\":\"etcds.io.ops\",\"annotations\":{%s}},\"spec\":{\"versions\"" \
	":[{\"name\":\"v1\"},{\"name\":\"v2\",\"storage\":true},{\"name\":\"v3\"}]},"           \
	"\"status\":{\"storedVersions\":[%s]}}"
#define FROM(version, day) \
	"\"app.coreos.com/migrated-from." version "\":\"2030-01-0" day "T00:00:00Z\""
#define BY(who) ",\"app.coreos.com/migrated-by\":\"" who "\""
#define TOLD    "etcds.io.ops: stored as v2 alone, no longer as "

struct world {
	struct view_fake f;
	struct strategy_ref ref;
	struct strategy_pass s;
};

static void begin(struct world *w)
{
	static char managed_of[] = "etcds.io.ops/v1";
	static char *managed[] = {managed_of, NULL};
	view_fake_init(&w->f);
	w->ref = (struct strategy_ref){.o = view_fake_obj(&w->f, "{\"metadata\":{\"name\":\"s\"}}"),
				       .managed = (void *)managed};
	w->s = (struct strategy_pass){.v = &w->f.view,
				      .plan = &w->f.plan,
				      .ref = &w->ref,
				      .conditions = obj_keep(w->f.a, obj_list())};
}

/* "True MESSAGE", "" without a condition. */
static const char *said(struct world *w, const char *notes, const char *stored)
{
	char text[1024];
	(void)snprintf(text, sizeof(text), CRD, notes, stored);
	view_fake_put(&w->f, WATCH_CRD, text);
	assert_int_equal(strategy_tell_migrated(&w->s), DONE);
	const struct obj *c = condition_find(w->s.conditions, "StorageMigrated");
	return c ? arena_fmt(w->f.a, "%s %s", obj_str(c, "status"), obj_str(c, "message")) : "";
}

static void is_said(const char *notes, const char *stored, const char *want)
{
	struct world w;
	begin(&w);
	assert_string_equal(said(&w, notes, stored), want);
	view_fake_release(&w.f);
}

static void test_strategy_migrated__only_what_is_so_is_told(void **state)
{
	(void)state;
	is_said("", "\"v2\"", "");
	is_said(FROM("v1", "1") BY("alice"), "\"v2\"",
		"True " TOLD "v1, since 2030-01-01T00:00:00Z; asked for by alice");
	is_said(FROM("v1", "1"), "\"v2\"", "True " TOLD "v1, since 2030-01-01T00:00:00Z");
	/* it is stored in the old one, too, or in that alone */
	is_said(FROM("v1", "1"), "\"v1\",\"v2\"", "");
	is_said(FROM("v1", "1"), "\"v1\"", "");
	is_said(FROM("v1", "1"), "", "");
	/* away from what is stored now, and never back by a migration that is noted */
	is_said(FROM("v1", "1") "," FROM("v2", "2") BY("bob"), "\"v2\"", "");
}

static void test_strategy_migrated__who_asked_is_that_of_the_last_one(void **state)
{
	(void)state;
	is_said(FROM("v2", "1") "," FROM("v1", "2") "," FROM("v3", "2") BY("bob"), "\"v2\"",
		"True " TOLD "v1, v3, since 2030-01-02T00:00:00Z; asked for by bob");
	/* what is no text says nothing */
	is_said(FROM("v3", "2") ",\"app.coreos.com/migrated-from.v1\":5" BY("bob"), "\"v2\"",
		"True " TOLD "v3, since 2030-01-02T00:00:00Z; asked for by bob");
	is_said(FROM("v1", "1") "," FROM("v3", "2") BY("bob"), "\"v2\"",
		"True " TOLD "v3, since 2030-01-02T00:00:00Z; asked for by bob");
}

static void test_strategy_migrated__what_is_so_no_longer_is_told(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	(void)said(&w, FROM("v1", "1"), "\"v2\"");
	assert_string_equal(said(&w, FROM("v1", "1"), "\"v2\",\"v1\""),
			    "False the definition is stored in another version too, or is gone");
	assert_string_equal(obj_str(condition_find(w.s.conditions, "StorageMigrated"), "reason"),
			    "StorageChanged");
	assert_string_equal(said(&w, FROM("v1", "3"), "\"v2\""),
			    "True " TOLD "v1, since 2030-01-03T00:00:00Z");
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_migrated__only_what_is_so_is_told),
		cmocka_unit_test(test_strategy_migrated__who_asked_is_that_of_the_last_one),
		cmocka_unit_test(test_strategy_migrated__what_is_so_no_longer_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
