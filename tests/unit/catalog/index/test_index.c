#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "catalog/index/index.h"

struct row {
	const char *package, *version, *content; /* the digest is made of it */
};

static struct catalog_index *index_of(const struct row *rows, size_t n, const char *notices,
				      struct error *err)
{
	CLEANUP(index_freep) struct catalog_index *x = index_new("test", 0);
	for (size_t i = 0; i < n; i++) {
		char digest[SHA256_HEX];
		sha256_hex(str_of(rows[i].content), digest);
		struct package_source s = {
			.chart_yaml = str_of(arena_fmt(x->arena, "{name: %s, version: %s}",
						       rows[i].package, rows[i].version)),
			.digest = digest,
			.locator = rows[i].content};
		index_add(x, &s);
	}
	return index_finish(x, str_of(notices), err) < 0 ? NULL : STEAL(x);
}

static void test_index__the_revision_is_of_the_content_whatever_the_order(void **state)
{
	static const struct row one[] = {{"a", "1.0.0", "x"}, {"b", "2.0.0", "y"}};
	static const struct row two[] = {
		{"b", "2.0.0", "y"}, {"a", "1.0.0", "x"}, {"a", "1.0.0", "x"}};
	static const struct row three[] = {{"a", "1.0.0", "other"}, {"b", "2.0.0", "y"}};
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = index_of(one, 2, NULL, &err);
	CLEANUP(index_freep) struct catalog_index *y = index_of(two, 3, NULL, &err);
	CLEANUP(index_freep) struct catalog_index *z = index_of(three, 2, NULL, &err);
	CLEANUP(index_freep) struct catalog_index *noted =
		index_of(one, 2, "withdrawn: [{package: b}]", &err);
	assert_string_equal(x->revision, y->revision);
	assert_int_equal(y->n, 2); /* equal digests merge */
	assert_int_equal(y->n_packages, 2);
	assert_string_not_equal(x->revision, z->revision);
	assert_string_not_equal(x->revision, noted->revision);
}

static void test_index__one_version_of_two_contents_is_ambiguous_on_both_sides(void **state)
{
	static const struct row rows[] = {
		{"a", "1", "x"}, {"a", "1.0.0", "y"}, {"a", "2.0.0", "z"}, {"a", "1.0.0+b", "w"}};
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = index_of(rows, 4, NULL, &err);
	assert_int_equal(x->n, 4);
	assert_int_equal(x->n_packages, 1);
	assert_null(x->versions[0]->ambiguous);
	assert_null(x->versions[1]->ambiguous); /* build metadata orders */
	assert_non_null(x->versions[2]->ambiguous);
	assert_non_null(x->versions[3]->ambiguous);
}

static void test_index__notices_of_catalog_yaml(void **state)
{
	static const struct row rows[] = {
		{"a", "1.0.0", "x"}, {"a", "2.0.0", "y"}, {"b", "1.0.0", "z"}};
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"deprecations: [", "catalog.yaml: yaml: "},
		{"deprecations: [{versions: \"1\"}]",
		 "catalog.yaml: deprecations[0].package: want a name"},
		{"withdrawn: [{package: a, versions: \"<<\"}]",
		 "catalog.yaml: withdrawn[0].versions: "},
		{"withdrawn: [{package: a, version: \"1.0.0\"}]",
		 "catalog.yaml: withdrawn[0].version: there is no such field"},
		{"withdrawn: [{package: a, versions: 1.30}]",
		 "catalog.yaml: withdrawn[0].versions: the number 1.3 may"},
		{"withdrawn: [{package: a, versions: [1]}]", "catalog.yaml: withdrawn[0].versions"},
		{"withdrawn: [a]", "catalog.yaml: withdrawn[0]"},
		{"withdrawn: {package: a}", "catalog.yaml.withdrawn: found"},
		{"withdraw: [{package: a}]", "catalog.yaml.withdraw: there is no such field"},
		{"[]", "catalog.yaml: found"},
	};
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x =
		index_of(rows, 3,
			 "deprecations: [{package: a, versions: \"<2.0.0\", message: go on}]\n"
			 "withdrawn: [{package: b, message: broken}, {package: absent}]\n",
			 &err);
	assert_string_equal(x->versions[1]->deprecation, "go on");
	assert_true(x->versions[1]->deprecated);
	assert_false(x->versions[0]->deprecated);
	assert_string_equal(x->versions[2]->withdrawn, "broken");
	assert_null(x->versions[0]->withdrawn);
	/* a whole number is a range */
	CLEANUP(index_freep) struct catalog_index *y =
		index_of(rows, 3,
			 "withdrawn: [{package: a, versions: 2}]\n"
			 "deprecations: [{package: b, replacedBy: c}, {package: a, channel: x}]\n",
			 &err);
	assert_non_null(y);
	assert_string_equal(y->versions[0]->withdrawn, "withdrawn");
	assert_null(y->versions[1]->withdrawn);
	assert_string_equal(y->versions[2]->deprecation, "deprecated");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		err = ERROR_INIT;
		assert_null(index_of(rows, 3, bad[i].text, &err));
		if (!cstr_has_prefix(err.msg, bad[i].why))
			fail_msg("%s, want %s", err.msg, bad[i].why);
	}
}

static void test_index__of_two_copies_the_one_that_can_be_read_counts(void **state)
{
	char digest[SHA256_HEX];
	struct error err = ERROR_INIT;
	(void)state;
	sha256_hex(STR("x"), digest);
	for (int gone = 0; gone < 3; gone++) { /* the first, the second, both */
		CLEANUP(index_freep) struct catalog_index *x = index_new("test", 0);
		for (int i = 0; i < 2; i++) {
			struct package_source s = {.chart_yaml = STR("{name: a, version: 1.0.0}"),
						   .digest = digest,
						   .locator = "x",
						   .unusable =
							   gone == i || gone == 2 ? "gone" : NULL};
			index_add(x, &s);
		}
		assert_ok(index_finish(x, STR_NONE, &err), &err);
		assert_int_equal(x->n, 1);
		assert_int_equal(x->versions[0]->withdrawn != NULL, gone == 2);
	}
}

static void note(void *arg, const char *package)
{
	struct strbuf *b = arg;
	strbuf_addf(b, "%s ", package);
}

static void test_index__only_packages_that_changed_are_named(void **state)
{
	static const struct row one[] = {
		{"a", "1.0.0", "x"}, {"b", "1.0.0", "y"}, {"c", "1.0.0", "z"}, {"e", "1.0.0", "e"}};
	static const struct row two[] = {{"a", "1.0.0", "x"},
					 {"b", "1.0.0", "other"},
					 {"d", "1.0.0", "z"},
					 {"e", "1.0.0", "e"}};
	static const struct {
		const char *before, *after, *want;
	} cases[] = {
		{NULL, NULL, "b c d "},
		{NULL, "withdrawn: [{package: e}]", "b c d e "},
		{"deprecations: [{package: a}]", "deprecations: [{package: a}]", "b c d "},
		{"deprecations: [{package: a}]", NULL, "a b c d "},
	};
	struct error err = ERROR_INIT;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(index_freep) struct catalog_index *x =
			index_of(one, 4, cases[i].before, &err);
		CLEANUP(index_freep) struct catalog_index *y =
			index_of(two, 4, cases[i].after, &err);
		index_changes(x, y, note, &b);
		assert_string_equal(b.buf, cases[i].want);
		strbuf_clear(&b);
		index_changes(x, x, note, &b);
		assert_int_equal(b.len, 0);
		index_changes(NULL, x, note, &b);
		assert_string_equal(b.buf, "a b c e ");
	}
}

/* What names no channel is in all of them. */
static void test_index__a_notice_of_a_channel_is_of_that_alone(void **state)
{
	static const char *const descriptors[] = {"channels: [beta]", "channels: [stable, beta]",
						  "channels: [stable]", ""};
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = index_new("test", 0);
	for (size_t i = 0; i < ARRAY_LEN(descriptors); i++) {
		char digest[SHA256_HEX];
		const char *version = arena_fmt(x->arena, "%zu.0.0", 9 - i);
		sha256_hex(str_of(version), digest);
		struct package_source s = {
			.chart_yaml =
				str_of(arena_fmt(x->arena, "{name: a, version: %s}", version)),
			.descriptor = *descriptors[i] ? str_of(descriptors[i]) : STR_NONE,
			.digest = digest,
			.locator = version};
		index_add(x, &s);
	}
	assert_ok(index_finish(x, STR("withdrawn: [{package: a, channel: stable}]"), &err), &err);
	assert_int_equal(x->n, ARRAY_LEN(descriptors));
	for (size_t i = 0; i < x->n; i++)
		assert_int_equal(x->versions[i]->withdrawn != NULL, i > 0);
}

/* The whole catalog is judged again when the first signature ends; 0: one that never does. */
static void test_index__the_first_signature_to_end_counts(void **state)
{
	static const int64_t ends[][3] = {
		{0, 0, 0}, {900, 0, 500}, {500, 900, 0}, {0, 700, 800}, {300, 300, 300}};
	static const int64_t first[] = {0, 500, 500, 700, 300};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		CLEANUP(index_freep) struct catalog_index *x = index_new("test", 0);
		for (size_t k = 0; k < 3; k++) {
			char digest[SHA256_HEX];
			const char *name = arena_fmt(x->arena, "p%zu", k);
			sha256_hex(str_of(name), digest);
			struct package_source s = {
				.chart_yaml = str_of(
					arena_fmt(x->arena, "{name: %s, version: 1.0.0}", name)),
				.digest = digest,
				.locator = name,
				.verified_by = "keys",
				.verified_until_s = ends[i][k]};
			index_add(x, &s);
		}
		assert_int_equal(x->n, 3);
		assert_int_equal(x->verified_until_s, first[i]);
	}
}

static void test_index__names_of_packages(void **state)
{
	static const char *const good[] = {"a", "A", "0", "_", "etcd-operator", "a_B.c-", "a..b"};
	static const char *const bad[] = {"",          ".",       "..",    ".a",   "-a",
					  "a/b",       "/a",      "a\\b",  "a b",  "a\n",
					  "a\t",       "a\x1b[m", "a\x7f", "a%2f", "\xc3\xa9",
					  "a\xc2\x9b", "a:b",     "a+b",   "~a",   "$a"};
	struct error err = ERROR_INIT;
	char longest[PACKAGE_NAME_BYTES_MAX + 1];
	(void)state;
	memset(longest, 'a', sizeof(longest));
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_ok(package_check_name(str_of(good[i]), &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (package_check_name(str_of(bad[i]), &err) != -E_INVALID)
			fail_msg("\"%s\" is taken", bad[i]);
	assert_int_equal(package_check_name(str_n("a\0b", 3), &err), -E_INVALID);
	assert_ok(package_check_name(str_n(longest, sizeof(longest) - 1), &err), &err);
	assert_int_equal(package_check_name(str_n(longest, sizeof(longest)), &err), -E_INVALID);
}

static void test_index__what_is_rejected_can_be_shown(void **state)
{
	CLEANUP(index_freep) struct catalog_index *x = index_new("c", 0);
	(void)state;
	index_reject(x, "a\x1b]0;t\x07\n\xc2\x9b.tgz", "b\x7f\xe2\x80\xae", REASON_NONE);
	assert_string_equal(x->rejected[0],
			    "a\\x1b]0;t\\x07\\x0a\\xc2\\x9b.tgz: b\\x7f\\xe2\\x80\\xae");
}

/* All are counted, the first are named. */
static void test_index__so_many_are_named_that_were_rejected(void **state)
{
	static const enum error_reason reasons[] = {REASON_MISSING_DIGEST,
						    REASON_DESCRIPTOR_MISMATCH, REASON_NONE};
	CLEANUP(index_freep) struct catalog_index *x = index_new("c", 0);
	(void)state;
	for (size_t i = 0; i < INDEX_REJECTED_MAX + 3; i++)
		index_reject(x, arena_fmt(x->arena, "%zu.tgz", i), "why",
			     i < INDEX_REJECTED_MAX ? reasons[i % 3] : REASON_NONE);
	assert_int_equal(x->n_rejected, INDEX_REJECTED_MAX + 3);
	for (size_t i = 0; i < INDEX_REJECTED_MAX; i++) {
		assert_string_equal(x->rejected[i], arena_fmt(x->arena, "%zu.tgz: why", i));
		assert_int_equal(x->rejected_for[i], reasons[i % 3]);
	}
	assert_null(x->app_types); /* behind them */
}

static void test_index__what_makes_all_of_it_unusable(void **state)
{
	static const struct row rows[] = {{"a", "1.0.0", "x"}};
	struct error err = ERROR_INIT;
	CLEANUP(index_freep) struct catalog_index *x = index_new("c", 7);
	(void)state;
	assert_int_equal(x->priority, 7);
	x->notices_error = "line 1: broken"; /* as a line of entry.h says it */
	assert_int_equal(index_finish(x, STR("withdrawn: ["), &err), -E_INVALID);
	assert_string_equal(err.msg, "catalog.yaml: line 1: broken");
	CLEANUP(index_freep) struct catalog_index *y = index_of(rows, 1, NULL, &err);
	struct package_source more = {.chart_yaml = STR("{name: b, version: 1.0.0}"),
				      .digest = y->versions[0]->digest,
				      .locator = "l"};
	y->n = INDEX_VERSIONS_MAX; /* without their memory */
	index_add(y, &more);
	assert_int_equal(y->n, INDEX_VERSIONS_MAX);
	y->n = 1;
	assert_int_equal(index_finish(y, STR_NONE, &err), -E_LIMIT);
	assert_string_equal(err.msg, "catalog test has more than 500000 versions");
}

/* Channels and edges that another file gave count, too. */
static void test_index__the_revision_is_of_what_was_laid_over(void **state)
{
	static const char *const overlays[] = {NULL, "channels: [a]", "channels: [b]"};
	char revisions[ARRAY_LEN(overlays)][65];
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(overlays); i++) {
		static const struct row rows[] = {{"a", "1.0.0", "x"}};
		struct error err = ERROR_INIT;
		CLEANUP(index_freep) struct catalog_index *x = index_of(rows, 1, NULL, &err);
		x->versions[0]->overlay = overlays[i];
		assert_ok(index_finish(x, STR_NONE, &err), &err);
		memcpy(revisions[i], x->revision, sizeof(revisions[i]));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(revisions[i], revisions[k]);
	}
}

/* The first of all versions whose digest begins so, as going through them says. */
static const struct package_version *first_by_digest(const struct catalog_index *x,
						     struct str prefix)
{
	for (size_t i = 0; i < x->n; i++)
		if (str_has_prefix(str_of(x->versions[i]->digest), prefix))
			return x->versions[i];
	return NULL;
}

static void test_index__a_digest_or_its_beginning_is_found(void **state)
{
	static const size_t lengths[] = {0, 1, 2, 3, 8, 64};
	struct row rows[120];
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) /* two packages share a content */
		rows[i] = (struct row){arena_fmt(a, "p%zu", i * 7 % 120), "1.0.0",
				       arena_fmt(a, "content %zu", i / 2)};
	CLEANUP(index_freep) struct catalog_index *x = index_of(rows, 120, NULL, &err);
	assert_int_equal(x->n, 120);
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < ARRAY_LEN(lengths); k++) {
			struct str prefix = str_n(x->versions[i]->digest, lengths[k]);
			assert_ptr_equal(index_by_digest(x, prefix), first_by_digest(x, prefix));
		}
	assert_null(index_by_digest(x, STR("x")));
	CLEANUP(index_freep) struct catalog_index *empty = index_of(NULL, 0, NULL, &err);
	assert_null(index_by_digest(empty, STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index__the_revision_is_of_the_content_whatever_the_order),
		cmocka_unit_test(
			test_index__one_version_of_two_contents_is_ambiguous_on_both_sides),
		cmocka_unit_test(test_index__of_two_copies_the_one_that_can_be_read_counts),
		cmocka_unit_test(test_index__notices_of_catalog_yaml),
		cmocka_unit_test(test_index__names_of_packages),
		cmocka_unit_test(test_index__the_first_signature_to_end_counts),
		cmocka_unit_test(test_index__a_notice_of_a_channel_is_of_that_alone),
		cmocka_unit_test(test_index__a_digest_or_its_beginning_is_found),
		cmocka_unit_test(test_index__what_is_rejected_can_be_shown),
		cmocka_unit_test(test_index__so_many_are_named_that_were_rejected),
		cmocka_unit_test(test_index__what_makes_all_of_it_unusable),
		cmocka_unit_test(test_index__the_revision_is_of_what_was_laid_over),
		cmocka_unit_test(test_index__only_packages_that_changed_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
