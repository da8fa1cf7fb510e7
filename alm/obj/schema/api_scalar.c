/* api_scalar: see api_scalar.h. */
#include "alm/obj/schema/api_scalar.h"

#include <math.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"

#define TEXT_BYTES_MAX   ((size_t)4 << 20)
#define SHOWN_MAX        64
#define TIME_NONE        (-INT64_C(62135596800)) /* 0001-01-01T00:00:00Z: Go's zero, written null */
#define TIME_END         INT64_C(253402300800)   /* 10000-01-01 */
#define DOUBLE_EXACT_MAX 9007199254740992.0      /* 2^53 */

/* --- times --- */

struct layout {
	const char *text; /* of the element in Go's layout */
	int digits;       /* 0: a literal */
	int min, max;
	const char *what; /* is out of range */
};

static const struct layout layout[] = {
	{"2006", 4, 0, 9999, "year"}, {"-", 0, 0, 0, NULL},       {"01", 2, 1, 12, "month"},
	{"-", 0, 0, 0, NULL},         {"02", 2, 0, 31, "day"},    {"T", 0, 0, 0, NULL},
	{"15", 2, 0, 23, "hour"},     {":", 0, 0, 0, NULL},       {"04", 2, 0, 59, "minute"},
	{":", 0, 0, 0, NULL},         {"05", 2, 0, 59, "second"},
};

struct parse {
	struct str text, rest;
	const char *layout;
	struct error *err;
};

static int cannot(const struct parse *p, struct str at, const char *want)
{
	return error_set(p->err, E_BADREQUEST,
			 "parsing time \"%.*s\" as \"%s\": cannot parse \"%.*s\" as \"%s\"",
			 STR_ARG(str_sub(p->text, 0, SHOWN_MAX)), p->layout,
			 STR_ARG(str_sub(at, 0, SHOWN_MAX)), want);
}

static bool is_digit(struct str s, size_t i)
{
	return i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9';
}

static int element(struct parse *p, const struct layout *l)
{
	struct str at = p->rest;
	size_t n = l->digits ? (size_t)l->digits : strlen(l->text);
	int value = 0;
	if (!l->digits && (at.len < n || memcmp(at.ptr, l->text, n) != 0))
		return cannot(p, at, l->text);
	for (size_t i = 0; l->digits && i < n; i++) {
		if (!is_digit(at, i))
			return cannot(p, at, l->text);
		value = value * 10 + (at.ptr[i] - '0');
	}
	p->rest = str_skip(at, n);
	if (l->digits && (value < l->min || value > l->max))
		return error_set(p->err, E_BADREQUEST, "parsing time \"%.*s\": %s out of range",
				 STR_ARG(str_sub(p->text, 0, SHOWN_MAX)), l->what);
	return 0;
}

/* A fraction is optional in the one layout, and six digits in the other. */
static int fraction(struct parse *p, bool micro)
{
	struct str at = p->rest;
	size_t n = 1;
	bool dot = at.len > 1 && (at.ptr[0] == '.' || at.ptr[0] == ',') && is_digit(at, 1);
	while (dot && is_digit(at, n) && (!micro || n <= 6))
		n++;
	if (micro && (!dot || n != 7))
		return cannot(p, at, ".000000");
	if (dot)
		p->rest = str_skip(at, n);
	return 0;
}

static int zone(struct parse *p)
{
	struct str at = p->rest;
	bool utc = at.len && at.ptr[0] == 'Z';
	bool offset = at.len >= 6 && (at.ptr[0] == '+' || at.ptr[0] == '-') && is_digit(at, 1) &&
		      is_digit(at, 2) && at.ptr[3] == ':' && is_digit(at, 4) && is_digit(at, 5);
	if (!utc && !offset)
		return cannot(p, at, "Z07:00");
	p->rest = str_skip(at, utc ? 1 : 6);
	if (p->rest.len)
		return error_set(p->err, E_BADREQUEST,
				 "parsing time \"%.*s\": extra text: \"%.*s\"",
				 STR_ARG(str_sub(p->text, 0, SHOWN_MAX)),
				 STR_ARG(str_sub(p->rest, 0, SHOWN_MAX)));
	return 0;
}

int api_time(struct str text, bool micro, struct obj **ret, struct error *err)
{
	struct parse p = {text, text,
			  micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00",
			  err};
	char out[CLOCK_TEXT_MAX];
	int64_t s, frac;
	for (size_t i = 0; i < ARRAY_LEN(layout); i++)
		if (element(&p, &layout[i]) < 0)
			return -err->code;
	if (fraction(&p, micro) < 0 || zone(&p) < 0)
		return -err->code;
	if (!clock_parse_seconds(text, &s, &frac) || s >= TIME_END)
		return error_set(err, E_BADREQUEST, "parsing time \"%.*s\": day out of range",
				 STR_ARG(str_sub(text, 0, SHOWN_MAX)));
	clock_format_seconds(s, frac, micro ? CLOCK_MICROS : CLOCK_SECONDS, out);
	*ret = s == TIME_NONE && !frac ? obj_null() : obj_string(out);
	return 0;
}

/* --- base64 --- */

static bool is_base64(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '+' || c == '/';
}

static int illegal(struct error *err, size_t at)
{
	return error_set(err, E_BADREQUEST, "illegal base64 data at input byte %zu", at);
}

int api_base64(struct str text, struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	size_t n = 0, pads = 0, quantum = 0;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == '\n' || c == '\r')
			continue;
		if (n % 4 == 0)
			quantum = i;
		bool pad = c == '=';
		if ((pads && (!pad || n % 4 == 0)) || (pad && n % 4 < 2) || (!pad && !is_base64(c)))
			return illegal(err, i);
		pads += pad;
		n++;
		strbuf_addc(&b, c);
	}
	if (n % 4)
		return illegal(err, pads ? text.len : quantum);
	if (b.over)
		return error_set(err, E_TOOLARGE, "base64 data is larger than %zu bytes",
				 TEXT_BYTES_MAX);
	*ret = obj_stringn(strbuf_str(&b));
	return 0;
}

/* What Go's zero value is: an optional field that has it is left out. */
static bool is_zero(const struct obj *v)
{
	int64_t n = 1;
	switch (obj_type(v)) {
	case OBJ_BOOL:
		return !obj_is_true(v);
	case OBJ_INT:
		return obj_as_i64(v, &n) && n == 0;
	case OBJ_DOUBLE:
		return false;
	case OBJ_STRING:
		return obj_as_str(v).len == 0;
	case OBJ_LIST:
	case OBJ_MAP:
		return obj_len(v) == 0;
	case OBJ_NULL:
	case OBJ_ABSENT:
		break;
	}
	return true;
}

/* Go leaves it out: no pointer, optional, and the zero value. Structs are always written, and an
 * empty list of managers asks for something. */
bool api_is_left_out(const struct api_field *f, const struct obj *v, bool keeps_empty)
{
	static const char *const asked_for[] = {"managedFields", "currentMetrics", "sharedCounters",
						NULL};
	if (obj_type(v) == OBJ_NULL)
		return true;
	if (cstr_in(api_text(f->name), asked_for) || f->shape == API_SCHEMA_OR_STRINGS ||
	    (f->shape == API_STRUCT &&
	     strcmp(api_text(api_struct_of(f)->name), "resource.v1.Device") == 0))
		return false;
	if (f->shape == API_SCHEMA_OR_ARRAY) /* what is neither is read as nothing */
		return (obj_type(v) != OBJ_MAP && obj_type(v) != OBJ_LIST) ||
		       (obj_type(v) == OBJ_LIST && !obj_len(v));
	bool plural = f->marks & (API_LIST | API_MAP);
	if (plural && f->flags & API_ALWAYS && strcmp(api_text(f->name), "conditions") != 0)
		return !obj_len(v) &&
		       !(keeps_empty && obj_type(v) == OBJ_LIST); /* Go writes null */
	bool scalar = f->shape == API_STRING || f->shape == API_BOOL || f->shape == API_INT32 ||
		      f->shape == API_INT64 || f->shape == API_BYTES;
	return (!(f->flags & (API_REQUIRED | API_ALWAYS)) || f->flags & API_OMITTED) &&
	       (plural || (scalar && !(f->marks & API_POINTER))) && is_zero(v);
}

struct obj *api_zero(const struct api_field *f)
{
	switch ((enum api_shape)f->shape) {
	case API_STRUCT:
		return f->marks & API_POINTER ? NULL : obj_map();
	case API_BOOL:
		return obj_bool(false);
	case API_INT32:
	case API_INT64:
	case API_INT_OR_STRING:
		return obj_int(0);
	case API_QUANTITY:
		return obj_string("0");
	case API_STRING:
	case API_BYTES:
		return obj_string("");
	case API_DOUBLE:
	case API_TIME:
	case API_MICRO_TIME:
	case API_FIELDS:
	case API_RAW:
	case API_JSON:
	case API_SCHEMA_OR_ARRAY:
	case API_SCHEMA_OR_BOOL:
	case API_SCHEMA_OR_STRINGS:
		break;
	}
	return NULL;
}

bool api_is_emptied(const struct api_field *f, const struct obj *v)
{
	bool one = f->shape == API_SCHEMA_OR_ARRAY && obj_type(v) == OBJ_LIST;
	return (f->marks & (API_LIST | API_MAP) || one) &&
	       (obj_type(v) == OBJ_LIST || obj_type(v) == OBJ_MAP) && !obj_len(v);
}

bool api_is_no_schema(const struct api_field *f, const struct obj *v)
{
	return f->shape == API_SCHEMA_OR_ARRAY && obj_type(v) > OBJ_NULL &&
	       obj_type(v) != OBJ_MAP && obj_type(v) != OBJ_LIST;
}

int api_double(const struct obj *v, struct obj **ret)
{
	double number = 0;
	if (obj_type(v) == OBJ_INT && obj_as_double(v, &number) && fabs(number) > DOUBLE_EXACT_MAX)
		*ret = obj_double(number);
	return 0;
}
