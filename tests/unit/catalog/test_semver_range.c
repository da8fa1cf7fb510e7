#include "tests/lib/test.h"

#include <string.h>

#include "catalog/semver.h"

static struct version v(const char *text)
{
	struct version r;
	struct error err;
	assert_ok(version_parse(str_of(text), VERSION_LOOSE, &r, &err), &err);
	return r;
}

static bool in(const char *range, const char *version)
{
	struct error err;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct range *r = ARENA_NEW(a, struct range);
	struct version x = v(version);
	assert_ok(range_parse(str_of(range), a, r, &err), &err);
	return range_matches(r, &x);
}

static void test_semver_range__examples(void **state)
{
	(void)state;
	static const struct {
		const char *range, *version;
		bool want;
	} rows[] = {
		{"*", "9.9.9", true},
		{"*", "1.0.0-a", false},
		{"*-0", "1.0.0-a", true},
		{"1.2", "1.2.9", true},
		{">1.2", "1.2.5", false},
		{"<=1.2", "1.2.9", true},
		{"!=1.2", "1.2.9", false},
		{"^0.2.3", "0.3.0", false},
		{"^0.0.3", "0.0.4", false},
		{"^0", "0.9.0", true},
		{"~1.2.3", "1.2.9", true},
		{"~>1.2", "1.2.5", true},
		{">=1.0.0 <2.0.0", "1.5.0", true},
		{">=1.0.0,<2.0.0 || >=3.0.0", "3.5.0", true},
		{"1.2 - 1.4", "1.4.5", true},
		{"1.2.0-1.4.0", "1.3.0", false},
		{">=1.0.0-0 <2.0.0", "1.5.0-beta", true},
		{"<1.0.0-0 || >1.4", "1.5.0-beta", false},
		{"^1.5.0-0", "2.0.0-beta", false},
		{">1.x", "1.9.0", false},
		{"=1.2.3+a", "1.2.3+b", true},
		{"1.2.3 1.x", "1.2.3", true},
		{"> 1.0.0", "1.0.1", true},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (in(rows[i].range, rows[i].version) != rows[i].want)
			fail_msg("%s in %s is not %d", rows[i].version, rows[i].range,
				 rows[i].want);
}

static void test_semver_range__bad_ones_are_named(void **state)
{
	(void)state;
	static const char *const bad[] = {"",     ">", ">= 1.0.0 <", "1.2.x.4",
					  "1.0,", "a", "1 ||",       "1.0 -"};
	struct error err;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct range *r = ARENA_NEW(a, struct range);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (range_parse(str_of(bad[i]), a, r, &err) >= 0)
			fail_msg("accepted \"%s\"", bad[i]);
		assert_true(cstr_has_prefix(err.msg, "improper constraint: "));
	}
}

/* --- a model of ranges: each term is an interval of few versions --- */

#define DIGITS 3 /* of each of the three numbers */
#define PLACE  (DIGITS + 1)

struct random {
	struct arena *a;
	uint64_t state;
};

static uint64_t draw(struct random *r, uint64_t n)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state % n;
}

enum { PRE_A, PRE_B, RELEASE, FORMS };
static const char *const forms[FORMS] = {"-a", "-b", ""};

static int at(int major, int minor, int patch, int form)
{
	return ((major * PLACE + minor) * PLACE + patch) * FORMS + form;
}

struct term {
	char *text;
	const char *op;
	int n[3], known, form; /* known: numbers that are written */
};

static struct term random_term(struct random *r, const char *op)
{
	static const char *const wild[] = {"x", "X", "*"};
	struct term t = {.op = op, .known = 1 + (int)draw(r, 3), .form = RELEASE};
	char *text =
		arena_fmt(r->a, "%s%s%s", op, *op && !draw(r, 3) ? " " : "", draw(r, 5) ? "" : "v");
	for (int i = 0; i < t.known; i++) {
		t.n[i] = (int)draw(r, DIGITS);
		text = arena_fmt(r->a, "%s%s%d", text, i ? "." : "", t.n[i]);
	}
	for (int i = t.known; i < 3 && draw(r, 2); i++)
		text = arena_fmt(r->a, "%s.%s", text, wild[draw(r, 3)]);
	if (t.known == 3)
		t.form = (int)draw(r, FORMS);
	t.text = arena_fmt(r->a, "%s%s", text, forms[t.form]);
	return t;
}

/* The first version behind all that agree with t in its first n numbers. */
static int behind(const struct term *t, int n)
{
	return n == 1   ? at(t->n[0] + 1, 0, 0, 0)
	       : n == 2 ? at(t->n[0], t->n[1] + 1, 0, 0)
			: at(t->n[0], t->n[1], t->n[2] + 1, 0);
}

static bool model_caret(const struct term *t, int v, int from)
{
	int n = t->n[0] || t->known == 1 ? 1 : t->n[1] || t->known == 2 ? 2 : 3;
	return v >= from && v < behind(t, n);
}

static bool model_tilde(const struct term *t, int v, int from)
{
	bool is_nothing = t->known == 3 && !t->n[0] && !t->n[1] && !t->n[2]; /* as Helm reads it */
	return v >= from && (is_nothing || v < behind(t, t->known == 1 ? 1 : 2));
}

static bool model_term(const struct term *t, int v)
{
	int from = at(t->n[0], t->n[1], t->n[2], t->form);
	int end = t->known == 3 ? from + 1 : behind(t, t->known);
	int all_from = t->known == 3 ? from : at(t->n[0], t->n[1], 0, 0);
	switch (*t->op) {
	case '!': /* a pre-release is none of 1.2.x; what Helm says */
		return v < all_from || v >= end || (t->known == 2 && v % FORMS != RELEASE);
	case '>':
		return t->op[1] ? v >= from : v >= end;
	case '<':
		return t->op[1] ? v < end : v < from;
	case '~':
		return model_tilde(t, v, from);
	case '^':
		return model_caret(t, v, from);
	default:
		return t->op[0] && t->op[1] == '>'   ? v >= from
		       : t->op[0] && t->op[1] == '<' ? v < end
						     : v >= from && v < end;
	}
}

#define TERMS 3

struct group {
	size_t n;
	struct term terms[TERMS + 1];
};

/* Of one to three terms, one of which may be "A - B". */
static char *random_group(struct random *r, struct group *g)
{
	static const char *const ops[] = {
		"", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^"};
	static const char *const between[] = {" ", ",", ", ", " , ", "  "};
	char *text = arena_strdup(r->a, "");
	g->n = 0;
	for (size_t i = 0, n = 1 + draw(r, TERMS); i < n; i++) {
		text = arena_fmt(r->a, "%s%s", text, i ? between[draw(r, ARRAY_LEN(between))] : "");
		g->terms[g->n++] = random_term(r, ops[draw(r, ARRAY_LEN(ops))]);
		text = arena_fmt(r->a, "%s%s", text, g->terms[g->n - 1].text);
	}
	if (g->n < TERMS && !draw(r, 4)) {
		struct term low = random_term(r, ""), high = random_term(r, "");
		text = arena_fmt(r->a, "%s%s%s - %s", text, g->n ? ", " : "", low.text, high.text);
		low.op = ">=";
		high.op = "<=";
		g->terms[g->n++] = low;
		g->terms[g->n++] = high;
	}
	return text;
}

static bool model_group(const struct group *g, int v)
{
	bool all = true, names = false;
	for (size_t i = 0; i < g->n; i++) {
		all = all && model_term(&g->terms[i], v);
		names = names || g->terms[i].form != RELEASE;
	}
	return all && (names || v % FORMS == RELEASE);
}

static void test_semver_range__takes_what_its_intervals_take(void **state)
{
	(void)state;
	struct random r = {.state = 3};
	for (int round = 0; round < 3000; round++) {
		struct error err;
		struct group groups[2];
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		r.a = a;
		size_t n = 1 + draw(&r, 2);
		char *text = random_group(&r, &groups[0]);
		if (n == 2)
			text = arena_fmt(a, "%s%s%s", text, draw(&r, 2) ? " || " : "||",
					 random_group(&r, &groups[1]));
		struct range *range = ARENA_NEW(a, struct range);
		assert_ok(range_parse(str_of(text), a, range, &err), &err);
		for (int i = 0; i < DIGITS * DIGITS * DIGITS * FORMS; i++) {
			int form = i % FORMS, patch = i / FORMS % DIGITS;
			int minor = i / FORMS / DIGITS % DIGITS,
			    major = i / FORMS / DIGITS / DIGITS;
			char *version =
				arena_fmt(a, "%d.%d.%d%s", major, minor, patch, forms[form]);
			struct version x = v(version);
			int place = at(major, minor, patch, form);
			bool want = model_group(&groups[0], place) ||
				    (n == 2 && model_group(&groups[1], place));
			if (range_matches(range, &x) != want)
				fail_msg("%s in \"%s\" is not %d", version, text, want);
		}
	}
}

static void test_semver_range__terms_have_a_limit(void **state)
{
	(void)state;
	struct error err;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct range *r = ARENA_NEW(a, struct range);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < RANGE_TERMS_MAX; i++)
		strbuf_adds(&b, ">1 ");
	assert_ok(range_parse(strbuf_str(&b), a, r, &err), &err);
	assert_int_equal(r->n, RANGE_TERMS_MAX);
	assert_false(range_names_prerelease(r));
	strbuf_adds(&b, ">1");
	assert_true(range_parse(strbuf_str(&b), a, r, &err) < 0);
	assert_ok(range_parse(STR("<1 || >2.0.0-a"), a, r, &err), &err);
	assert_true(range_names_prerelease(r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_semver_range__examples),
		cmocka_unit_test(test_semver_range__bad_ones_are_named),
		cmocka_unit_test(test_semver_range__takes_what_its_intervals_take),
		cmocka_unit_test(test_semver_range__terms_have_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
