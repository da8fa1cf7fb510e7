/* The index against a model of it: catalogs of random entries, among them copies, versions of two contents and copies that
 * cannot be read. What is kept, what is said of it, what is found and when the revision moves follow from the entries alone. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/hash.h"
#include "catalog/index/index.h"

#define ROOM     ((size_t)4 << 20)
#define ROUNDS   400
#define ROWS_MAX 14

static const char *const packages[] = {"a", "a-b", "ab", "b"}; /* sorted */

/* Ascending; those of one rank are one version. */
static const struct {
	const char *text;
	int rank;
} versions[] = {{"0.9.0", 0},   {"1", 1},          {"1.0.0", 1},
		{"1.0.0+b", 2}, {"2.0.0-rc.1", 3}, {"2.0.0", 4}};
#define N_RANKS 5

/* What its archive says is of the content. Keys that differ only behind the end of another, on both sides of '/'. */
static const struct content {
	const char *name, *descriptor, *channel, *app_type, *provides[3];
} contents[] = {
	{"w", "", NULL, NULL, {NULL}},
	{"x",
	 "channels: [stable]\nappType: x.io\nprovides: [as.x.io/v1, bs.x.io/v1]\n",
	 "stable",
	 "x.io",
	 {"as.x.io/v1", "bs.x.io/v1"}},
	{"y",
	 "channels: [beta]\nappType: y.io\nprovides: [as.x.io/v1, as.x.io/v2]\n",
	 "beta",
	 "y.io",
	 {"as.x.io/v1", "as.x.io/v2"}},
	{"z",
	 "appType: x.io\nprovides: [as.x.io-more/v1, as.x.io.more/v1]\n",
	 NULL,
	 "x.io",
	 {"as.x.io-more/v1", "as.x.io.more/v1"}},
};

static const struct notice {
	const char *yaml, *package, *channel, *message;
	int from, to; /* ranks */
} notices[] = {
	{"{package: a}", "a", NULL, NULL, 0, 4},
	{"{package: ab, message: m1}", "ab", NULL, "m1", 0, 4},
	{"{package: a, versions: \"<1.0.0\", message: m2}", "a", NULL, "m2", 0, 0},
	{"{package: b, versions: \">=2.0.0\", message: m3}", "b", NULL, "m3", 4, 4},
	{"{package: a, channel: stable, message: m4}", "a", "stable", "m4", 0, 4},
	{"{package: b, channel: beta, versions: \"=1.0.0\", message: m5}", "b", "beta", "m5", 1, 2},
	{"{package: a-}", "a-", NULL, NULL, 0, 4},
};

struct row {
	size_t package, version, content;
	bool unusable;
};

struct catalog {
	struct row rows[ROWS_MAX + 1];
	size_t n, withdrawn[2], deprecated[2], n_withdrawn, n_deprecated;
};

static uint64_t random_state = 11;

static size_t below(size_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (size_t)((random_state >> 33) % n);
}

static struct row random_row(void)
{
	return (struct row){.package = below(ARRAY_LEN(packages)),
			    .version = below(ARRAY_LEN(versions)),
			    .content = below(ARRAY_LEN(contents)),
			    .unusable = !below(5)};
}

static struct catalog random_catalog(void)
{
	struct catalog c = {
		.n = below(ROWS_MAX + 1), .n_withdrawn = below(3), .n_deprecated = below(3)};
	for (size_t i = 0; i < c.n; i++) {
		c.rows[i] = random_row();
		if (i && !below(3)) /* a copy */
			c.rows[i] = (struct row){c.rows[i - 1].package, c.rows[i - 1].version,
						 c.rows[i - 1].content, !below(2)};
	}
	for (size_t i = 0; i < 2; i++) {
		c.withdrawn[i] = below(ARRAY_LEN(notices));
		c.deprecated[i] = below(ARRAY_LEN(notices));
	}
	return c;
}

static void shuffle(struct catalog *c)
{
	for (size_t i = c->n; i > 1; i--) {
		size_t k = below(i);
		struct row r = c->rows[i - 1];
		c->rows[i - 1] = c->rows[k];
		c->rows[k] = r;
	}
}

static const char *yaml_of(const struct catalog *c, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (int k = 0; k < 2; k++) {
		size_t n = k ? c->n_withdrawn : c->n_deprecated;
		if (n)
			strbuf_adds(&b, k ? "withdrawn:\n" : "deprecations:\n");
		for (size_t i = 0; i < n; i++)
			strbuf_addf(&b, "- %s\n",
				    notices[k ? c->withdrawn[i] : c->deprecated[i]].yaml);
	}
	return arena_strdup(a, b.buf ? b.buf : "");
}

static struct catalog_index *index_of(const struct catalog *c)
{
	struct error err = ERROR_INIT;
	struct catalog_index *x = index_new("c", 0);
	for (size_t i = 0; i < c->n; i++) {
		const struct row *r = &c->rows[i];
		const struct content *of = &contents[r->content];
		char digest[SHA256_HEX];
		sha256_hex(str_of(of->name), digest);
		struct package_source s = {
			.chart_yaml =
				str_of(arena_fmt(x->arena, "{name: %s, version: \"%s\"}",
						 packages[r->package], versions[r->version].text)),
			.descriptor = str_of(of->descriptor),
			.digest = digest,
			.locator = r->unusable ? "broken" : "fine",
			.unusable = r->unusable ? "gone" : NULL};
		index_add(x, &s);
	}
	assert_ok(index_finish(x, str_of(yaml_of(c, x->arena)), &err), &err);
	assert_int_equal(x->n_rejected, 0);
	return x;
}

/* --- what the entries come to --- */

static bool is_of(const struct row *r, size_t package, int rank)
{
	return r->package == package && versions[r->version].rank == rank;
}

static const char *told(const struct catalog *c, bool withdrawn, const struct row *r,
			const char *otherwise)
{
	const char *ret = otherwise, *channel = contents[r->content].channel;
	size_t n = withdrawn ? c->n_withdrawn : c->n_deprecated;
	for (size_t i = 0; i < n; i++) {
		const struct notice *q = &notices[withdrawn ? c->withdrawn[i] : c->deprecated[i]];
		int rank = versions[r->version].rank;
		if (strcmp(q->package, packages[r->package]) == 0 && q->from <= rank &&
		    rank <= q->to && (!q->channel || !channel || !strcmp(q->channel, channel)))
			ret = q->message ? q->message : withdrawn ? "withdrawn" : "deprecated";
	}
	return ret;
}

/* Of copies of one content: one that can be read, if one can; then the first text. */
static const struct row *kept_of(const struct catalog *c, size_t package, int rank)
{
	const struct row *best = NULL;
	for (size_t i = 0; i < c->n; i++) {
		const struct row *r = &c->rows[i];
		if (!is_of(r, package, rank))
			continue;
		if (!best || (best->unusable && !r->unusable) ||
		    (best->unusable == r->unusable && r->version < best->version))
			best = r;
	}
	return best;
}

static void add_version(const char *package, struct str version, size_t content, bool is_broken,
			const char *gone, const char *old, struct strbuf *b)
{
	strbuf_addf(b, "%s %.*s %s %s gone=%s old=%s\n", package, STR_ARG(version),
		    contents[content].name, is_broken ? "broken" : "fine", gone ? gone : "",
		    old ? old : "");
}

static void add_ambiguous(const char *package, const bool *has, struct strbuf *b)
{
	strbuf_addf(b, "%s ambiguous", package);
	for (size_t i = 0; i < ARRAY_LEN(contents); i++)
		strbuf_adds(b, has[i] ? contents[i].name : "");
	strbuf_addc(b, '\n');
}

static void expect_version(const struct catalog *c, size_t package, int rank, struct strbuf *b)
{
	bool has[ARRAY_LEN(contents)] = {false};
	size_t n = 0;
	for (size_t i = 0; i < c->n; i++)
		if (is_of(&c->rows[i], package, rank))
			has[c->rows[i].content] = true;
	for (size_t i = 0; i < ARRAY_LEN(contents); i++)
		n += has[i];
	const struct row *r = kept_of(c, package, rank);
	if (n > 1)
		add_ambiguous(packages[package], has, b);
	else if (r)
		add_version(packages[package], str_of(versions[r->version].text), r->content,
			    r->unusable, told(c, true, r, r->unusable ? "gone" : NULL),
			    told(c, false, r, NULL), b);
}

static void expect(const struct catalog *c, struct strbuf *b)
{
	for (size_t package = 0; package < ARRAY_LEN(packages); package++)
		for (int rank = N_RANKS - 1; rank >= 0; rank--)
			expect_version(c, package, rank, b);
}

/* --- what the index has --- */

static size_t content_of(const struct package_version *p)
{
	for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
		char digest[SHA256_HEX];
		sha256_hex(str_of(contents[i].name), digest);
		if (!strcmp(digest, p->digest))
			return i;
	}
	fail_msg("another digest: %s", p->digest);
	return 0;
}

static bool is_one_version(const struct package_version *a, const struct package_version *b)
{
	return !strcmp(a->package, b->package) && !version_cmp(&a->version, &b->version);
}

static bool is_copy(const struct package_version *a, const struct package_version *b)
{
	return str_eq(a->version.text, b->version.text) && !strcmp(a->digest, b->digest);
}

/* All of them say so, and none stands there twice. */
static void tell_ambiguous(struct package_version *const *all, size_t n, struct strbuf *b)
{
	bool has[ARRAY_LEN(contents)] = {false};
	for (size_t i = 0; i < n; i++) {
		assert_non_null(all[i]->ambiguous);
		has[content_of(all[i])] = true;
		for (size_t k = 0; k < i; k++)
			assert_false(is_copy(all[i], all[k]));
	}
	add_ambiguous(all[0]->package, has, b);
}

/* The versions that are one: as a line; how many there are. */
static size_t tell_group(const struct catalog_index *x, size_t at, struct strbuf *b)
{
	const struct package_version *p = x->versions[at];
	size_t n = 1;
	while (at + n < x->n && is_one_version(p, x->versions[at + n]))
		n++;
	if (n > 1) {
		tell_ambiguous(x->versions + at, n, b);
		return n;
	}
	assert_null(p->ambiguous);
	assert_int_equal(p->deprecated, p->deprecation != NULL);
	assert_string_equal(p->locator, p->is_unusable ? "broken" : "fine");
	add_version(p->package, p->version.text, content_of(p), p->is_unusable, p->withdrawn,
		    p->deprecation, b);
	return n;
}

static void tell(const struct catalog_index *x, struct strbuf *b)
{
	size_t n_packages = 0;
	for (size_t at = 0; at < x->n;) {
		if (!at || strcmp(x->versions[at]->package, x->versions[at - 1]->package) != 0)
			n_packages++;
		at += tell_group(x, at, b);
	}
	assert_int_equal(x->n_packages, n_packages);
}

static void test_index_random__it_is_what_its_entries_say(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		CLEANUP(strbuf_release) struct strbuf is = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(STRBUF_SMALL);
		struct catalog c = random_catalog();
		CLEANUP(index_freep) struct catalog_index *x = index_of(&c);
		expect(&c, &want);
		tell(x, &is);
		if (!str_eq(strbuf_str(&is), strbuf_str(&want)))
			fail_msg("round %d:\n%s\nwant\n%s", round, is.buf, want.buf);
		shuffle(&c);
		CLEANUP(index_freep) struct catalog_index *y = index_of(&c);
		strbuf_clear(&is);
		tell(y, &is);
		assert_true(str_eq(strbuf_str(&is), strbuf_str(&want)));
		assert_string_equal(x->revision, y->revision);
	}
}

/* --- the revision --- */

/* The index of a repository may say of one archive one thing and, further down, another. */
static void test_index_random__of_entries_that_differ_the_order_does_not_count(void **state)
{
	static const char *const said[] = {"channels: [stable]", "channels: [beta]", ""};
	char revision[65] = "";
	(void)state;
	for (size_t k = 0; k < 6; k++) {
		struct error err = ERROR_INIT;
		char digest[SHA256_HEX];
		CLEANUP(index_freep) struct catalog_index *x = index_new("c", 0);
		sha256_hex(STR("x"), digest);
		for (size_t i = 0; i < 3; i++) {
			size_t at = (k + (k < 3 ? i : 3 - i)) % 3;
			const struct package_source s = {.chart_yaml =
								 STR("{name: a, version: 1.0.0}"),
							 .descriptor = str_of(said[at]),
							 .digest = digest,
							 .locator = "l"};
			index_add(x, &s);
		}
		assert_ok(index_finish(x, STR_NONE, &err), &err);
		assert_int_equal(x->n, 1);
		assert_true(index_holds(x, x->versions[0]));
		if (k)
			assert_string_equal(x->revision, revision);
		memcpy(revision, x->revision, sizeof(revision));
	}
}

/* All that it is of, in the order of the index. */
static void add_facts(const struct catalog_index *x, struct strbuf *b)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct package_version *p = x->versions[i];
		strbuf_addf(b, "%s %.*s %s %s %d\n", p->package, STR_ARG(p->version.text),
			    p->digest, p->descriptor_digest, p->is_unusable);
	}
}

/* One thing is another, or comes to nothing. */
static void change(struct catalog *c)
{
	struct row *r = &c->rows[c->n ? below(c->n) : 0];
	switch (below(7)) {
	case 0:
		r->version = below(ARRAY_LEN(versions));
		break;
	case 1:
		r->content = below(ARRAY_LEN(contents));
		break;
	case 2:
		r->unusable = !r->unusable;
		break;
	case 3:
		r->package = below(ARRAY_LEN(packages));
		break;
	case 4:
		c->rows[c->n] = *r;
		c->n += c->n > 0 && c->n < ROWS_MAX;
		break;
	case 5:
		c->n -= c->n > 0;
		break;
	default:
		c->n_withdrawn = below(3);
		break;
	}
}

static void add_name(void *arg, const char *package)
{
	strbuf_addf(arg, "%s ", package);
}

/* As much of a package as its readers see. */
static void package_facts(const struct catalog_index *x, const char *package, struct strbuf *b)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct package_version *p = x->versions[i];
		if (!strcmp(p->package, package))
			strbuf_addf(b, "%.*s %s %s|%s|%s\n", STR_ARG(p->version.text), p->digest,
				    p->withdrawn ? p->withdrawn : "-",
				    p->deprecation ? p->deprecation : "-",
				    p->ambiguous ? p->ambiguous : "-");
	}
}

static void changed_packages(const struct catalog_index *x, const struct catalog_index *y,
			     struct strbuf *want)
{
	for (size_t i = 0; i < ARRAY_LEN(packages); i++) {
		CLEANUP(strbuf_release) struct strbuf f = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf g = STRBUF_INIT(STRBUF_SMALL);
		package_facts(x, packages[i], &f);
		package_facts(y, packages[i], &g);
		if (!str_eq(strbuf_str(&f), strbuf_str(&g)))
			strbuf_addf(want, "%s ", packages[i]);
	}
}

static bool is_in(const struct catalog_index *x, const struct package_version *p)
{
	for (size_t i = 0; i < x->n; i++)
		if (!strcmp(x->versions[i]->package, p->package) &&
		    str_eq(x->versions[i]->version.text, p->version.text) &&
		    !strcmp(x->versions[i]->digest, p->digest))
			return true;
	return false;
}

static void test_index_random__the_revision_moves_with_what_it_is_of(void **state)
{
	size_t n_same = 0;
	(void)state;
	for (int round = 0; round < 2 * ROUNDS; round++) {
		CLEANUP(strbuf_release) struct strbuf f = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf g = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf is = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(STRBUF_SMALL);
		struct catalog c = random_catalog();
		CLEANUP(index_freep) struct catalog_index *x = index_of(&c);
		change(&c);
		CLEANUP(index_freep) struct catalog_index *y = index_of(&c);
		add_facts(x, &f);
		add_facts(y, &g);
		strbuf_adds(&f, x->catalog_yaml ? x->catalog_yaml : "");
		strbuf_adds(&g, y->catalog_yaml ? y->catalog_yaml : "");
		bool same = str_eq(strbuf_str(&f), strbuf_str(&g));
		n_same += same;
		if (same != !strcmp(x->revision, y->revision))
			fail_msg("round %d: %s\n%s\n%s", round, same ? "moved" : "stays", f.buf,
				 g.buf);
		index_changes(x, y, add_name, &is);
		changed_packages(x, y, &want);
		if (!str_eq(strbuf_str(&is), strbuf_str(&want)))
			fail_msg("round %d: changed %s, want %s", round, is.buf, want.buf);
		for (size_t i = 0; i < y->n; i++)
			assert_int_equal(index_holds(x, y->versions[i]), is_in(x, y->versions[i]));
	}
	assert_true(n_same > 20); /* both are met */
	assert_true(n_same < ROUNDS);
}

/* --- what is looked for --- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "KEY PACKAGE APPTYPE" of every version that says the key, sorted, each once. */
static void scan(const struct catalog_index *x, bool (*says)(const char *key, const char *wanted),
		 bool apps, const char *wanted, struct strbuf *b)
{
	const char *lines[ROWS_MAX * 2];
	size_t n = 0;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	for (size_t i = 0; i < x->n; i++) {
		const struct content *of = &contents[content_of(x->versions[i])];
		const char *app = of->app_type ? of->app_type : "-",
			   *package = x->versions[i]->package;
		if (apps && of->app_type && says(of->app_type, wanted))
			lines[n++] = arena_fmt(a, "%s %s %s\n", of->app_type, package, app);
		for (const char *const *p = of->provides; !apps && *p; p++)
			if (says(*p, wanted))
				lines[n++] = arena_fmt(a, "%s %s %s\n", *p, package, app);
	}
	if (n)
		qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(lines[i], lines[i - 1]) != 0)
			strbuf_adds(b, lines[i]);
}

static bool is_key(const char *key, const char *wanted)
{
	return !strcmp(key, wanted);
}

static bool is_crd(const char *key, const char *wanted)
{
	const char *slash = strchr(key, '/');
	return slash && (size_t)(slash - key) == strlen(wanted) &&
	       !strncmp(key, wanted, strlen(wanted));
}

static void found(const struct index_ref *refs, size_t n, struct strbuf *b)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addf(b, "%s %s %s\n", refs[i].key, refs[i].package,
			    refs[i].app_type ? refs[i].app_type : "-");
}

static const struct lookup {
	const struct index_ref *(*find)(const struct catalog_index *x, const char *key,
					size_t *ret_n);
	bool (*says)(const char *key, const char *wanted);
	bool apps;
	const char *keys[6];
} lookups[] = {
	{index_by_app_type, is_key, true, {"x.io", "y.io", "x.i", "x.io.", ""}},
	{index_by_resource,
	 is_key,
	 false,
	 {"as.x.io/v1", "as.x.io/v2", "bs.x.io/v1", "as.x.io", "as.x.io.more/v1"}},
	{index_by_crd,
	 is_crd,
	 false,
	 {"as.x.io", "as.x.io.more", "as.x.io-more", "bs.x.io", "as.x", "cs.x.io"}},
};

static void test_index_random__what_is_found_is_what_a_scan_finds(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct catalog c = random_catalog();
		CLEANUP(index_freep) struct catalog_index *x = index_of(&c);
		for (size_t l = 0; l < ARRAY_LEN(lookups); l++)
			for (size_t k = 0; k < 6 && lookups[l].keys[k]; k++) {
				CLEANUP(strbuf_release) struct strbuf is =
					STRBUF_INIT(STRBUF_SMALL);
				CLEANUP(strbuf_release) struct strbuf want =
					STRBUF_INIT(STRBUF_SMALL);
				size_t n;
				const struct index_ref *refs =
					lookups[l].find(x, lookups[l].keys[k], &n);
				found(refs, n, &is);
				scan(x, lookups[l].says, lookups[l].apps, lookups[l].keys[k],
				     &want);
				if (!str_eq(strbuf_str(&is), strbuf_str(&want)))
					fail_msg("%s:\n%s\nwant\n%s", lookups[l].keys[k], is.buf,
						 want.buf);
			}
		for (size_t p = 0; p < ARRAY_LEN(packages); p++) {
			size_t n, of = 0;
			struct package_version *const *all = index_package(x, packages[p], &n);
			for (size_t i = 0; i < x->n; i++)
				of += !strcmp(x->versions[i]->package, packages[p]);
			assert_int_equal(n, of);
			for (size_t i = 0; i < n; i++)
				assert_string_equal(all[i]->package, packages[p]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index_random__it_is_what_its_entries_say),
		cmocka_unit_test(test_index_random__the_revision_moves_with_what_it_is_of),
		cmocka_unit_test(
			test_index_random__of_entries_that_differ_the_order_does_not_count),
		cmocka_unit_test(test_index_random__what_is_found_is_what_a_scan_finds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
