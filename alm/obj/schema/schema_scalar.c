#include "alm/obj/schema/schema_scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/regex/regex.h"
#include "alm/obj/schema/schema_node.h"

#define VALUE_BYTES_MAX 4096
#define INT64_ABOVE     9223372036854775808.0

/* KIND: VALUE: PATH in body WHAT */
static void fail_value(struct schema_validation *v, const struct obj *value, const char *what)
{
	if (!validation_fail(v))
		return;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	go_bad_value(value, &text);
	field_errors_add(v->errors, FIELD_INVALID, validation_at(v),
			 "Invalid value: %.*s: %s in body %s",
			 (int)(text.len < VALUE_BYTES_MAX ? text.len : VALUE_BYTES_MAX), text.buf,
			 validation_said(v), what);
}

void validation_enum(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	const struct obj *values = s->enum_values;
	if (!values || !validation_spend(v, obj_len(values) * VALIDATION_VALUE_STEPS))
		return;
	for (size_t i = 0; i < obj_len(values); i++)
		if (obj_equal(obj_at(values, i), o))
			return;
	if (!validation_fail(v))
		return;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&text, "Unsupported value: ");
	go_bad_value(o, &text);
	strbuf_adds(&text, ": supported values: ");
	for (size_t i = 0; i < obj_len(values); i++) {
		const struct obj *value = obj_at(values, i);
		CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(STRBUF_SMALL);
		if (i > 0)
			strbuf_adds(&text, ", ");
		if (obj_type(value) == OBJ_STRING) {
			go_quote(obj_as_str(value), &text);
			continue;
		}
		go_bad_value(value, &plain);
		go_quote(strbuf_str(&plain), &text);
	}
	field_errors_add(v->errors, FIELD_NOT_SUPPORTED, validation_at(v), "%s", text.buf);
}

static void check_format(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	if (!s->format || schema_format_valid(s->format, obj_as_str(o)) || !validation_fail(v))
		return;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	go_quote(obj_as_str(o), &text);
	field_errors_add(v->errors, FIELD_TYPE_INVALID, validation_at(v),
			 "Invalid value: %s: %s in body must be of type %s: %s", text.buf,
			 validation_said(v), s->format, text.buf);
}

static bool matches(struct schema_validation *v, const struct schema *s, struct str text)
{
	struct error ignored = ERROR_INIT;
	int r = regex_matches(s->pattern, text, &v->work->left, &ignored);
	if (r == REGEX_LIMIT)
		validation_spend(v, UINT64_MAX);
	return r == REGEX_YES;
}

/* The first of too long, too short and not matching, as upstream. */
void validation_string(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	struct str text = obj_as_str(o);
	char what[96];
	int64_t length = 0;
	if (s->max_length >= 0 || s->min_length > 0)
		length = (int64_t)utf8_count(text);
	if (s->max_length >= 0 && length > s->max_length) {
		if (validation_fail(v))
			field_errors_add(v->errors, FIELD_TOO_LONG, validation_at(v),
					 "Too long: may not be more than %lld bytes",
					 (long long)s->max_length);
	} else if (length < s->min_length) {
		snprintf(what, sizeof(what), "should be at least %lld chars long",
			 (long long)s->min_length);
		fail_value(v, o, what);
	} else if (s->pattern.ptr && !matches(v, s, text)) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "should match '%s'", s->pattern_text);
		fail_value(v, o, b.buf);
	}
	check_format(v, s, o);
}

/* Can a value of the type be so large, or so exact? What may not is told beside what it bounds. */
static bool bound_fits(const struct schema *s, double bound)
{
	bool is_int32 = s->format && strcmp(s->format, "int32") == 0;
	if ((s->type & (SCHEMA_INTEGER | SCHEMA_STRING)) != SCHEMA_INTEGER)
		return true;
	if (bound != trunc(bound))
		return false;
	return is_int32 ? bound >= INT32_MIN && bound <= INT32_MAX
			: bound >= -INT64_ABOVE && bound < INT64_ABOVE;
}

static void fail_bound(struct schema_validation *v, const struct schema *s, const struct obj *o,
		       const char *what, double bound)
{
	char number[GO_DOUBLE_BYTES], text[GO_DOUBLE_BYTES + 64];
	go_double(bound, number);
	/* as upstream: in the value's own type */
	if (obj_type(o) == OBJ_INT && fabs(bound) < 9e18 && bound_fits(s, bound))
		snprintf(number, sizeof(number), "%lld", (long long)bound);
	snprintf(text, sizeof(text), "%s %s", what, number);
	fail_value(v, o, text);
}

/* Exact for integers, where a double would round. */
static int compare_numbers(const struct obj *a, const struct obj *b)
{
	int64_t x, y;
	double p = 0, q = 0;
	if (obj_as_i64(a, &x) && obj_as_i64(b, &y))
		return (x > y) - (x < y);
	obj_as_double(a, &p);
	obj_as_double(b, &q);
	return (p > q) - (p < q);
}

static bool is_multiple(const struct obj *o, const struct obj *of)
{
	int64_t x, y;
	double p = 0, q = 0;
	if (obj_as_i64(o, &x) && obj_as_i64(of, &y))
		return y <= 0 || x % y == 0;
	obj_as_double(o, &p);
	obj_as_double(of, &q);
	if (q <= 0)
		return true;
	double quotient = p / q; /* swag.IsFloat64AJSONInteger: within 1e-9 of an integer */
	double whole = round(quotient);
	double off = fabs(quotient - whole);
	return off == 0 || off < 1e-9 * (fabs(quotient) + fabs(whole));
}

/* The API server checks integers twice, and words it so. */
static void check_integer(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	int64_t i = 0;
	bool fits = obj_as_i64(o, &i);
	const char *format = s->format ? s->format : "";
	bool is_int32 = strcmp(format, "int32") == 0;
	if ((s->type & (SCHEMA_INTEGER | SCHEMA_STRING)) != SCHEMA_INTEGER ||
	    (fits && (!is_int32 || (i >= INT32_MIN && i <= INT32_MAX))))
		return;
	if (!fits && obj_type(o) == OBJ_INT && validation_fail(v))
		field_errors_add(v->errors, FIELD_TYPE_INVALID, validation_at(v),
				 "Invalid value: \"float64\": %s in body must be of type %s: "
				 "\"float64\"",
				 validation_said(v), *format ? format : "integer");
	if (validation_fail(v))
		field_errors_add(
			v->errors, FIELD_INVALID, v->root,
			"Invalid value: \"\": Checked value must be of type integer %s%s in %s",
			*format ? "with format " : "(default format)", format, validation_said(v));
}

static void check_bound(struct schema_validation *v, const struct schema *s, const struct obj *o,
			const struct obj *is, const char *name, const char *what)
{
	const char *format = s->format ? s->format : "";
	double bound = 0;
	if (!is)
		return;
	obj_as_double(is, &bound);
	if (!bound_fits(s, bound) && validation_fail(v))
		field_errors_add(v->errors, FIELD_INVALID, v->root,
				 "Invalid value: \"\": %s value must be of type integer %s%s in %s",
				 name, *format ? "with format " : "(default format)", format,
				 validation_said(v));
	if (what)
		fail_bound(v, s, o, what, bound);
}

void validation_number(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	check_integer(v, s, o);
	check_bound(v, s, o, s->multiple_of, "MultipleOf",
		    s->multiple_of && !is_multiple(o, s->multiple_of) ? "should be a multiple of"
								      : NULL);
	int under = s->minimum ? compare_numbers(o, s->minimum) : 1;
	int over = s->maximum ? compare_numbers(o, s->maximum) : -1;
	bool too_low = under < 0 || (under == 0 && s->exclusive_minimum);
	bool too_high = over > 0 || (over == 0 && s->exclusive_maximum);
	check_bound(v, s, o, s->minimum, "Minimum boundary",
		    !too_low               ? NULL
		    : s->exclusive_minimum ? "should be greater than"
					   : "should be greater than or equal to");
	check_bound(v, s, o, s->maximum, "Maximum boundary",
		    !too_high              ? NULL
		    : s->exclusive_maximum ? "should be less than"
					   : "should be less than or equal to");
}
