/* stringer: the text of values that have a String method: times, durations, versions. */
#include "installers/value/date.h"
#include "installers/value/version.h"

void value_time_rfc3339(struct strbuf *b, struct value v)
{
	date_format(b, v.t, STR("2006-01-02T15:04:05.999999999Z07:00"));
}

void value_semver_text(struct strbuf *b, struct value v)
{
	version_print(&v.ver->v, b);
}

bool value_semver_equal(struct value a, struct value b)
{
	const struct version *x = &a.ver->v, *y = &b.ver->v;
	return x->major == y->major && x->minor == y->minor && x->patch == y->patch &&
	       str_eq(x->pre, y->pre) && str_eq(x->build, y->build) && str_eq(x->text, y->text);
}

bool value_stringer(struct strbuf *b, struct value v)
{
	switch ((int)v.type) {
	case VALUE_TIME:
		date_print(b, v.t);
		return true;
	case VALUE_DURATION:
		date_duration_text(b, v.i);
		return true;
	case VALUE_MONTH:
	case VALUE_WEEKDAY:
		date_name(b, v);
		return true;
	case VALUE_SEMVER:
		value_semver_text(b, v);
		return true;
	default:
		return false;
	}
}
