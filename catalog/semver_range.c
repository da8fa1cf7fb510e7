/* Ranges: what the charts' semverCompare means by them is what catalogs mean (charts.md 7). */
#include "catalog/semver.h"

#include <string.h>

/* Longest first. */
/* clang-format off */
static const struct { const char *text; enum range_op op; } ops[] = {
	{"!=", RANGE_NE}, {">=", RANGE_GE}, {"=>", RANGE_GE}, {"<=", RANGE_LE}, {"=<", RANGE_LE},
	{"~>", RANGE_TILDE}, {"=", RANGE_EQ}, {">", RANGE_GT}, {"<", RANGE_LT}, {"~", RANGE_TILDE},
	{"^", RANGE_CARET},
};
/* clang-format on */

static enum range_op take_op(struct str *s)
{
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		if (str_has_prefix(*s, str_of(ops[i].text))) {
			*s = str_skip(*s, strlen(ops[i].text));
			return ops[i].op;
		}
	}
	return RANGE_EQ;
}

static bool is_wild(struct str s)
{
	return str_is(s, "x") || str_is(s, "X") || str_is(s, "*");
}

/* Too large ones, too: those are reported by version_parse(). */
static bool is_number(struct str s)
{
	size_t n = 0;
	while (n < s.len && char_is_digit(s.ptr[n]))
		n++;
	return n == s.len && n > 0;
}

/* The leading numbers and wildcards of a version, and what follows them. */
static bool split_version(struct str s, struct str part[3], size_t *ret_n, struct str *ret_tail)
{
	if (s.len && *s.ptr == 'v')
		s = str_skip(s, 1);
	size_t end = 0;
	while (end < s.len && (char_is_digit(s.ptr[end]) || memchr("xX*.", s.ptr[end], 4)))
		end++;
	struct str numbers = str_sub(s, 0, end), field;
	*ret_tail = str_skip(s, end);
	*ret_n = 0;
	while (str_next(&numbers, '.', &field)) {
		if (*ret_n == 3 || (!is_wild(field) && !is_number(field)))
			return false;
		part[(*ret_n)++] = field;
	}
	return *ret_n > 0 && (!ret_tail->len || *ret_tail->ptr == '-' || *ret_tail->ptr == '+');
}

static bool parse_term(enum range_op op, struct str text, struct arena *a, struct range_term *ret,
		       struct error *err)
{
	struct str part[3], tail;
	size_t n;
	*ret = (struct range_term){.op = op};
	if (text.len > VERSION_BYTES_MAX || !split_version(text, part, &n, &tail))
		return false;
	ret->any = is_wild(part[0]);
	ret->minor_any = !ret->any && (n < 2 || is_wild(part[1]));
	ret->patch_any = !ret->any && !ret->minor_any && (n < 3 || is_wild(part[2]));
	size_t known = ret->any ? 0 : ret->minor_any ? 1 : ret->patch_any ? 2 : 3;
	for (size_t i = known; i < 3; i++)
		part[i] = STR("0");
	char *full = arena_fmt(a, "%.*s.%.*s.%.*s%.*s", STR_ARG(part[0]), STR_ARG(part[1]),
			       STR_ARG(part[2]), STR_ARG(tail));
	return version_parse(str_of(full), VERSION_LOOSE, &ret->v, err) == 0;
}

/* *err is set if the term has the form of one, but its version is none. */
static bool add_term(struct range *r, enum range_op op, struct str text, struct arena *a,
		     struct error *err)
{
	struct error fault = ERROR_INIT;
	if (r->n == RANGE_TERMS_MAX)
		return false;
	if (!parse_term(op, text, a, &r->terms[r->n], &fault)) {
		if (fault.code && fault.reason != REASON_VERSION_NO_FORM)
			error_set(err, E_INVALID, "constraint parser error");
		return false;
	}
	r->n++;
	return true;
}

static struct str take_word(struct str *s)
{
	size_t n = 0;
	while (n < s->len && !char_is_space(s->ptr[n]) && s->ptr[n] != ',')
		n++;
	struct str word = str_sub(*s, 0, n);
	*s = str_skip(*s, n);
	return word;
}

/* " - 1.4" behind a version without operator. */
static bool take_upper_bound(struct str *s, struct str *ret)
{
	struct str rest = str_trim_left(*s);
	if (rest.ptr == s->ptr || rest.len < 2 || *rest.ptr != '-' || !char_is_space(rest.ptr[1]))
		return false;
	rest = str_trim_left(str_skip(rest, 1));
	*ret = take_word(&rest);
	*s = rest;
	return true;
}

/* One comparator, or the two that a hyphen range stands for. */
static bool parse_comparator(struct str *s, struct arena *a, struct range *r, struct error *err)
{
	struct str upper, start = *s;
	enum range_op op = take_op(s);
	bool bare = s->ptr == start.ptr;
	*s = str_trim_left(*s);
	struct str word = take_word(s);
	if (bare && take_upper_bound(s, &upper))
		return add_term(r, RANGE_GE, word, a, err) && add_term(r, RANGE_LE, upper, a, err);
	return add_term(r, op, word, a, err);
}

static bool parse_group(struct str s, struct arena *a, struct range *r, struct error *err)
{
	size_t first = r->n;
	s = str_trim(s);
	while (s.len) {
		if (!parse_comparator(&s, a, r, err))
			return false;
		s = str_trim_left(s);
		if (s.len && *s.ptr == ',') {
			s = str_trim_left(str_skip(s, 1));
			if (!s.len)
				return false;
		}
	}
	if (r->n == first)
		return false;
	r->terms[r->n - 1].or_next = true;
	return true;
}

int range_parse(struct str text, struct arena *a, struct range *ret, struct error *err)
{
	ret->n = 0;
	struct str rest = text;
	for (;;) {
		ptrdiff_t at = str_find(rest, STR("||"));
		struct str group = at < 0 ? rest : str_sub(rest, 0, (size_t)at);
		struct error fault = ERROR_INIT;
		if (!parse_group(group, a, ret, &fault))
			return fault.code ? error_set(err, E_INVALID, "%s", fault.msg)
					  : error_set(err, E_INVALID, "improper constraint: %.*s",
						      STR_ARG(group));
		if (at < 0)
			return 0;
		rest = str_skip(rest, (size_t)at + 2);
	}
}

static bool matches_tilde(const struct range_term *t, const struct version *v)
{
	const struct version *c = &t->v;
	if (version_precedence(v, c) < 0)
		return false;
	if (!c->major && !c->minor && !c->patch && !t->minor_any && !t->patch_any)
		return true; /* x, and ~0.0.0 as Helm reads it */
	return v->major == c->major && (t->minor_any || v->minor == c->minor);
}

static bool matches_caret(const struct range_term *t, const struct version *v)
{
	const struct version *c = &t->v;
	if (version_precedence(v, c) < 0 || v->major != c->major)
		return false;
	if (c->major || t->minor_any)
		return true;
	if (c->minor || t->patch_any)
		return v->minor == c->minor;
	return !v->minor && v->patch == c->patch;
}

static bool matches_not(const struct range_term *t, const struct version *v)
{
	const struct version *c = &t->v;
	if (t->minor_any)
		return v->major != c->major;
	if (t->patch_any)
		return v->major != c->major || v->minor != c->minor || !str_eq(v->pre, c->pre);
	return version_precedence(v, c) != 0;
}

static bool matches_greater(const struct range_term *t, const struct version *v)
{
	const struct version *c = &t->v;
	if (t->minor_any)
		return v->major > c->major;
	if (t->patch_any)
		return v->major > c->major || (v->major == c->major && v->minor > c->minor);
	return version_precedence(v, c) > 0;
}

static bool matches_at_most(const struct range_term *t, const struct version *v)
{
	const struct version *c = &t->v;
	if (!t->any && !t->minor_any && !t->patch_any)
		return version_precedence(v, c) <= 0;
	return v->major < c->major ||
	       (v->major == c->major && (t->minor_any || v->minor <= c->minor));
}

static bool matches_term(const struct range_term *t, const struct version *v)
{
	switch (t->op) {
	case RANGE_NE:
		return matches_not(t, v);
	case RANGE_GT:
		return matches_greater(t, v);
	case RANGE_LT:
		return version_precedence(v, &t->v) < 0;
	case RANGE_GE:
		return version_precedence(v, &t->v) >= 0;
	case RANGE_LE:
		return matches_at_most(t, v);
	case RANGE_TILDE:
		return matches_tilde(t, v);
	case RANGE_CARET:
		return matches_caret(t, v);
	case RANGE_EQ:
		break;
	}
	if (t->any || t->minor_any || t->patch_any)
		return matches_tilde(t, v);
	return version_precedence(v, &t->v) == 0;
}

bool range_matches(const struct range *r, const struct version *v)
{
	bool all = true, names_pre = false;
	for (size_t i = 0; i < r->n; i++) {
		const struct range_term *t = &r->terms[i];
		names_pre = names_pre || t->v.pre.len;
		all = all && matches_term(t, v);
		if (!t->or_next)
			continue;
		if (all && (names_pre || !v->pre.len))
			return true;
		all = true;
		names_pre = false;
	}
	return false;
}

bool range_names_prerelease(const struct range *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->terms[i].v.pre.len)
			return true;
	return false;
}
