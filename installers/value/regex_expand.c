#include "installers/value/regex_expand.h"

#include "installers/value/unicode.h"

/* The name after a $: bytes used, or 0 if it is none. */
static size_t template_name(struct str t, struct str *ret)
{
	bool brace = t.len && t.ptr[0] == '{';
	struct str s = str_skip(t, brace);
	size_t n = 0;
	uint32_t r;
	for (size_t w; (w = rune_next(str_skip(s, n), &r)) > 0 && rune_is_alnum(r);)
		n += w;
	if (n == 0)
		return 0;
	*ret = str_sub(s, 0, n);
	if (!brace)
		return n;
	return n < s.len && s.ptr[n] == '}' ? n + 2 : 0;
}

/* The group of a name or number; 0 is the whole match, -1 there is none. */
static ptrdiff_t group_of(const struct regex *re, const size_t *at, struct str name)
{
	int64_t number = -1;
	bool digits = true;
	for (size_t i = 0; i < name.len; i++)
		digits = digits && char_is_digit(name.ptr[i]);
	if (digits && !(name.len > 1 && name.ptr[0] == '0') && name.len < 9 &&
	    str_parse_i64(name, &number))
		return (uint64_t)number <= regex_groups(re) ? (ptrdiff_t)number : -1;
	for (size_t i = 0; i < regex_groups(re); i++)
		if (str_eq(regex_group_name(re, i), name) && at[2 * (i + 1)] != REGEX_UNSET)
			return (ptrdiff_t)i + 1;
	return -1;
}

void regex_expand(const struct regex *re, const size_t *at, struct str t, struct str s,
		  struct strbuf *b)
{
	while (t.len && !b->over) {
		ptrdiff_t dollar = str_find_char(t, '$');
		if (dollar < 0)
			break;
		strbuf_add(b, t.ptr, (size_t)dollar);
		t = str_skip(t, (size_t)dollar + 1);
		if (t.len && t.ptr[0] == '$') {
			strbuf_addc(b, '$');
			t = str_skip(t, 1);
			continue;
		}
		struct str name;
		size_t used = template_name(t, &name);
		if (used == 0) {
			strbuf_addc(b, '$');
			continue;
		}
		t = str_skip(t, used);
		ptrdiff_t g = group_of(re, at, name);
		if (g >= 0 && at[2 * g] != REGEX_UNSET)
			strbuf_addstr(b, str_sub(s, at[2 * g], at[2 * g + 1] - at[2 * g]));
	}
	strbuf_addstr(b, t);
}
