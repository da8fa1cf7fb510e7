/* What is kept of catalogs against what the log says of it: every pair of the two, in both directions. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/audit/kept.h"
#include "alm/audit/verify_parts.h"
#include "tests/lib/audit_log.h"

#define ONE   "1111111111111111111111111111111111111111111111111111111111111111"
#define OTHER "2222222222222222222222222222222222222222222222222222222222222222"

/* What the log says of a catalog, one after the other; NULL-ended. "-": it was dropped. */
static const char *const told[][4] = {
	{NULL},     {ONE},           {OTHER},
	{"-"},      {ONE, OTHER},    {OTHER, ONE},
	{ONE, "-"}, {ONE, "-", ONE}, {OTHER, ONE, OTHER},
};

static const char *const kept[] = {NULL, ONE, OTHER};

struct there {
	const char *digest; /* of "community"; NULL: nothing is kept of it */
	int fails;
};

static int each_kept(void *arg, verify_kept_fn fn, void *fn_arg, struct error *err)
{
	const struct there *t = arg;
	if (t->fails)
		return error_set(err, E_CANCELLED, "stopped");
	return t->digest ? fn(fn_arg, "Catalog", "community", t->digest, err) : 0;
}

static void append(struct audit_log *l, const char *name, const char *digest)
{
	struct error err = ERROR_INIT;
	assert_ok(db_begin(l->db, &err), &err);
	assert_ok(kept_append(l->audit, "Catalog", name, strcmp(digest, "-") ? digest : NULL, &err),
		  &err);
	assert_ok(db_commit(l->db, &err), &err);
	audit_committed(l->audit);
}

/* The newest word, "" if there is none, and its row: the log's own is the first. */
static const char *newest(const char *const *words, int64_t *ret_seq)
{
	const char *word = "";
	*ret_seq = 1;
	for (; *words; words++, (*ret_seq)++)
		word = *words;
	return strcmp(word, "-") != 0 ? word : "";
}

static void expect(const char *digest, const char *word, int64_t seq,
		   const struct verify_report *rep)
{
	const char *finding = NULL;
	if (!digest && *word)
		finding = "what is kept of Catalog community was removed";
	else if (digest && *word && strcmp(digest, word) != 0)
		finding = "what is kept of Catalog community was altered";
	assert_int_equal(rep->n_findings, finding != NULL);
	assert_int_equal(rep->n_unchecked, digest && !*word);
	if (finding) {
		assert_string_equal(rep->findings[0].text, finding);
		assert_int_equal(rep->findings[0].seq, seq);
		assert_int_equal(rep->findings[0].to, seq);
	}
	if (rep->n_unchecked)
		assert_non_null(strstr(rep->unchecked[0],
				       "Catalog community: what is kept of it has no record"));
}

static void test_verify_kept__every_pair_of_what_is_kept_and_told(void **state)
{
	(void)state;
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	for (size_t i = 0; i < ARRAY_LEN(told); i++)
		for (size_t k = 0; k < ARRAY_LEN(kept); k++) {
			struct error err = ERROR_INIT;
			struct audit_log l;
			int64_t seq;
			struct there t = {.digest = kept[k]};
			struct verify_options o = {.each_kept = each_kept, .each_kept_arg = &t};
			audit_log_open(&l, ":memory:", NULL);
			for (const char *const *w = told[i]; *w; w++)
				append(&l, "community", *w);
			memset(rep, 0, sizeof(*rep));
			assert_ok(verify_kept(l.db, &o, rep, &err), &err);
			const char *word = newest(told[i], &seq);
			expect(kept[k], word, seq, rep);
			append(&l, "another", "-"); /* which was dropped, and is not there */
			memset(rep, 0, sizeof(*rep));
			assert_ok(verify_kept(l.db, &o, rep, &err), &err);
			expect(kept[k], word, seq, rep);
			memset(rep, 0, sizeof(*rep));
			o.since_checkpoint = true; /* the rest is not looked at */
			assert_ok(verify_kept(l.db, &o, rep, &err), &err);
			assert_int_equal(rep->n_findings + rep->n_unchecked, 0);
			audit_log_close(&l);
		}
	xfree(rep);
}

static void test_verify_kept__what_cannot_be_read_is_an_error(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	struct there t = {.fails = true};
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	const struct verify_options o = {.each_kept = each_kept, .each_kept_arg = &t};
	audit_log_open(&l, ":memory:", NULL);
	assert_int_equal(verify_kept(l.db, &o, rep, &err), -E_CANCELLED);
	audit_log_close(&l);
	xfree(rep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verify_kept__every_pair_of_what_is_kept_and_told),
		cmocka_unit_test(test_verify_kept__what_cannot_be_read_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
