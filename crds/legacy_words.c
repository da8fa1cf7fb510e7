#include "crds/legacy_words.h"

void legacy_warn(struct arena *a, struct legacy *ret, const char *old, const char *now)
{
	if (ret->n_warnings < LEGACY_WARNINGS_MAX)
		ret->warnings[ret->n_warnings++] =
			arena_fmt(a, "%s is legacy; stored as %s", old, now);
}

/* "1", "v1", "v1alpha1": the digits of the major, none if it is no version. */
static struct str major_of(struct str label)
{
	struct str s = label.len && *label.ptr == 'v' ? str_skip(label, 1) : label;
	size_t n = 0;
	while (n < s.len && char_is_digit(s.ptr[n]))
		n++;
	struct str rest = str_skip(s, n);
	bool is_stage = str_has_prefix(rest, STR("alpha")) || str_has_prefix(rest, STR("beta"));
	return n && n < 4 && (!rest.len || (is_stage && *label.ptr == 'v')) ? str_n(s.ptr, n)
									    : STR_NONE;
}

bool legacy_group(struct str group, struct arena *a, struct str *ret_group,
		  const char **ret_version)
{
	struct str label, rest;
	if (!str_cut(group, '.', &label, &rest) || str_find_char(rest, '.') < 0)
		return false;
	struct str major = major_of(label);
	if (!major.len)
		return false;
	*ret_group = rest;
	*ret_version = arena_fmt(a, "v%.*s", STR_ARG(major));
	return true;
}
