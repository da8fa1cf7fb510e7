/* version.c: see version.h; ranges are in catalog/semver.h. */
#include "alm/base/version.h"

static bool all_digits(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_digit(s.ptr[i]))
			return false;
	return s.len > 0;
}

static bool is_identifier(struct str id)
{
	for (size_t i = 0; i < id.len; i++)
		if (!char_is_alnum(id.ptr[i]) && id.ptr[i] != '-')
			return false;
	return id.len > 0;
}

/* Dot-separated identifiers, none empty. */
static bool are_identifiers(struct str s)
{
	struct str id;
	while (str_next(&s, '.', &id))
		if (!is_identifier(id))
			return false;
	return true;
}

/* A numeric identifier of a pre-release has no leading zero. */
static bool has_leading_zero(struct str s)
{
	struct str id;
	while (str_next(&s, '.', &id))
		if (id.len > 1 && *id.ptr == '0' && all_digits(id))
			return true;
	return false;
}

static int parse_number(struct str s, enum version_rules rules, uint64_t *ret, struct error *err)
{
	if (!str_parse_u64(s, ret))
		return error_set(err, E_INVALID,
				 "error parsing version segment: strconv.ParseUint: parsing "
				 "\"%.*s\": value out of range",
				 STR_ARG(s));
	if (rules == VERSION_STRICT && s.len > 1 && *s.ptr == '0')
		return error_set(err, E_INVALID, "version segment starts with 0");
	return 0;
}

static bool split_numbers(struct str rest, struct str part[3], size_t *ret_n)
{
	*ret_n = 0;
	while (str_next(&rest, '.', &part[*ret_n])) {
		if (!all_digits(part[*ret_n]))
			return false;
		if (++*ret_n == 3)
			return !rest.ptr;
	}
	return *ret_n > 0;
}

static int no_form(struct error *err)
{
	(void)error_set(err, E_INVALID, "invalid semantic version"); /* as helm says it */
	err->reason = REASON_VERSION_NO_FORM;
	return -E_INVALID;
}

int version_parse(struct str text, enum version_rules rules, struct version *ret, struct error *err)
{
	struct version v = {.text = text};
	struct str rest = text, part[3];
	uint64_t *numbers[] = {&v.major, &v.minor, &v.patch};
	size_t n;

	if (!text.len || text.len > VERSION_BYTES_MAX)
		return no_form(err);
	if (*rest.ptr == 'v')
		rest = str_skip(rest, 1);
	bool has_build = str_cut(rest, '+', &rest, &v.build);
	bool has_pre = str_cut(rest, '-', &rest, &v.pre);
	if (!split_numbers(rest, part, &n) || (has_pre && !are_identifiers(v.pre)) ||
	    (has_build && !are_identifiers(v.build)))
		return no_form(err);
	if (text.len + 2 * (ARRAY_LEN(part) - n) >
	    VERSION_BYTES_MAX) /* it could not be read back */
		return no_form(err);
	for (size_t i = 0; i < n; i++)
		if (parse_number(part[i], rules, numbers[i], err) < 0)
			return -err->code;
	if (has_pre && has_leading_zero(v.pre))
		return error_set(err, E_INVALID, "version segment starts with 0");
	*ret = v;
	return 0;
}

static int cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Numbers of any length. */
static int cmp_numeric(struct str a, struct str b)
{
	while (a.len > 1 && *a.ptr == '0')
		a = str_skip(a, 1);
	while (b.len > 1 && *b.ptr == '0')
		b = str_skip(b, 1);
	return a.len != b.len ? cmp_u64(a.len, b.len) : str_cmp(a, b);
}

static int cmp_identifier(struct str a, struct str b)
{
	bool na = all_digits(a), nb = all_digits(b);
	if (na && nb) {
		int r = cmp_numeric(a, b);
		return r ? r : str_cmp(a, b); /* build 01 and 1: still a total order */
	}
	if (na != nb)
		return na ? -1 : 1;
	return str_cmp(a, b);
}

static int cmp_identifiers(struct str a, struct str b)
{
	struct str ia, ib;
	for (;;) {
		bool more_a = a.len && str_next(&a, '.', &ia);
		bool more_b = b.len && str_next(&b, '.', &ib);
		if (!more_a || !more_b)
			return more_a - more_b;
		int r = cmp_identifier(ia, ib);
		if (r)
			return r;
	}
}

int version_precedence(const struct version *a, const struct version *b)
{
	int r = cmp_u64(a->major, b->major);
	if (!r)
		r = cmp_u64(a->minor, b->minor);
	if (!r)
		r = cmp_u64(a->patch, b->patch);
	if (r)
		return r;
	if (!a->pre.len || !b->pre.len)
		return (b->pre.len != 0) - (a->pre.len != 0);
	return cmp_identifiers(a->pre, b->pre);
}

int version_cmp(const struct version *a, const struct version *b)
{
	int r = version_precedence(a, b);
	return r ? r : cmp_identifiers(a->build, b->build);
}

bool version_is_prerelease(const struct version *v)
{
	return v->pre.len > 0;
}

void version_print(const struct version *v, struct strbuf *b)
{
	strbuf_addf(b, "%llu.%llu.%llu", (unsigned long long)v->major, (unsigned long long)v->minor,
		    (unsigned long long)v->patch);
	if (v->pre.len)
		strbuf_addf(b, "-%.*s", STR_ARG(v->pre));
	if (v->build.len)
		strbuf_addf(b, "+%.*s", STR_ARG(v->build));
}
