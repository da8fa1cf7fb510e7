/* Refused writes in the log: told, counted, and never a way to fill it. */
#include "alm/apiserver/auth/refusals.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define SECRETS "/api/v1/namespaces/kube-system/secrets"

static int setup(void **state)
{
	static const struct apifake_options o = {.with_audit = true};
	*state = apifake_new(&o);
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

static int64_t entries(struct apifake *f)
{
	return audit_last_seq(apifake_audit(f));
}

static void refuse(struct apifake *f, const char *user, const char *method, const char *base, int i)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s/x%d", base, i);
	if (user)
		apifake_header(f, "Impersonate-User", user);
	else
		apifake_header(f, "Authorization", "Bearer alice");
	assert_int_equal(
		apifake_do(f, method, b.buf, strcmp(method, "DELETE") ? "{}" : NULL).status, 403);
}

static struct obj *last_entry(struct apifake *f)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(audit_row_get(apifake_audit(f), entries(f), &o, &err), &err);
	return o;
}

static void test_refusals__fresh_names_are_one_count(void **state)
{
	struct apifake *f = *state;
	int64_t before = entries(f);
	for (int i = 0; i < 500; i++)
		refuse(f, NULL, "DELETE", SECRETS, i);
	apifake_forget(f);
	assert_int_equal(entries(f), before + 1);
	CLEANUP(obj_unrefp) struct obj *first = last_entry(f);
	assert_string_equal(obj_str(first, "reason"), "Refused");
	assert_string_equal(obj_str(first, "actor"), "alice");
	assert_string_equal(obj_str(first, "subject.name"), "x0");
	assert_null(obj_path(first, "body.suppressed"));
	apifake_advance(f, REFUSALS_PAUSE_NS);
	assert_int_equal(entries(f), before + 2);
	CLEANUP(obj_unrefp) struct obj *o = last_entry(f);
	assert_string_equal(obj_str(o, "subject.name"), "x499");
	assert_string_equal(obj_str(o, "body.outcome"), "Denied");
	assert_int_equal(obj_i64(o, "body.suppressed", -1), 498);
	apifake_advance(f, 100 * REFUSALS_PAUSE_NS);
	assert_int_equal(entries(f), before + 2);
}

/* Who may not act for somebody else is told of as himself, before anything of the request is done. */
static void test_refusals__of_who_may_not_impersonate(void **state)
{
	struct apifake *f = *state;
	int64_t before = entries(f);
	apifake_header(f, "Authorization", "Bearer alice");
	apifake_header(f, "Impersonate-User", "admin");
	assert_int_equal(apifake_do(f, "DELETE", SECRETS "/x", NULL).status, 403);
	assert_int_equal(entries(f), before + 1);
	CLEANUP(obj_unrefp) struct obj *o = last_entry(f);
	assert_string_equal(obj_str(o, "reason"), "Refused");
	assert_string_equal(obj_str(o, "actor"), "alice");
}

static void test_refusals__another_verb_kind_or_outcome_has_its_own_entry(void **state)
{
	struct apifake *f = *state;
	int64_t before = entries(f);
	refuse(f, NULL, "DELETE", SECRETS, 0);
	refuse(f, NULL, "PUT", SECRETS, 0);
	refuse(f, NULL, "DELETE", "/api/v1/namespaces/kube-system/configmaps", 0);
	assert_int_equal(entries(f), before + 3);
	assert_int_equal(apifake_do(f, "POST", "/api/v1/namespaces/default/configmaps",
				    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
				    "\"name\":\"B\"}}")
				 .status,
			 422);
	assert_int_equal(entries(f), before + 4);
	refuse(f, NULL, "DELETE", SECRETS "?dryRun=All", 1);
	assert_int_equal(entries(f), before + 4);
	/* of a deletion that has a body the query says nothing */
	apifake_header(f, "Authorization", "Bearer alice");
	assert_int_equal(apifake_do(f, "DELETE", SECRETS "?dryRun=All", "{}").status, 403);
	assert_int_equal(entries(f), before + 5);
}

static void test_refusals__while_it_goes_on_entries_grow_rare(void **state)
{
	struct apifake *f = *state;
	int64_t before = entries(f);
	for (int i = 0; i < 8 * 60; i++) {
		refuse(f, NULL, "DELETE", SECRETS, i);
		apifake_advance(f, REFUSALS_PAUSE_NS);
		apifake_forget(f);
	}
	/* the first, then after 1, 2, 4 .. 32 and 60 minutes, then one an hour */
	assert_in_range(entries(f) - before, 10, 16);
}

/* Whoever may impersonate has any number of names; it is he who counts. */
static void test_refusals__a_user_has_a_bounded_number_of_counts(void **state)
{
	struct apifake *f = *state;
	static const char *const kinds[] = {"configmaps", "endpoints",       "limitranges",
					    "pods",       "podtemplates",    "resourcequotas",
					    "secrets",    "serviceaccounts", "services"};
	static const char *const methods[] = {"DELETE", "PUT", "PATCH"};
	int64_t before = entries(f);
	for (int i = 0; i < 4; i++)
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
				CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(256);
				CLEANUP(strbuf_release) struct strbuf user = STRBUF_INIT(256);
				strbuf_addf(&path, "/api/v1/namespaces/default/%s", kinds[k]);
				strbuf_addf(&user, "user-%d-%zu", i, k);
				refuse(f, user.buf, methods[m], path.buf, i);
			}
	assert_int_equal(entries(f), before + REFUSALS_OF_USER_MAX + 1);
	apifake_advance(f, REFUSALS_PAUSE_NS);
	assert_int_equal(entries(f), before + 2 * (REFUSALS_OF_USER_MAX + 1));
}

static void test_refusals__nothing_is_lost_at_the_end(void **state)
{
	struct apifake *f = *state;
	int64_t before = entries(f);
	for (int i = 0; i < 5; i++)
		refuse(f, NULL, "DELETE", SECRETS, i);
	assert_int_equal(entries(f), before + 1);
	apifake_restart(f);
	bool found = false;
	for (int64_t seq = before + 1; seq <= entries(f); seq++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		struct error err = ERROR_INIT;
		assert_ok(audit_row_get(apifake_audit(f), seq, &o, &err), &err);
		found = found || obj_i64(o, "body.suppressed", -1) == 3;
	}
	assert_true(found);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_refusals__fresh_names_are_one_count),
		TEST(test_refusals__of_who_may_not_impersonate),
		TEST(test_refusals__another_verb_kind_or_outcome_has_its_own_entry),
		TEST(test_refusals__while_it_goes_on_entries_grow_rare),
		TEST(test_refusals__a_user_has_a_bounded_number_of_counts),
		TEST(test_refusals__nothing_is_lost_at_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
