/* decode: see decode.h. */
#include "alm/obj/decode.h"

#include "alm/base/clock.h"

static int wrong(const struct decode_field *f, const struct obj *v, const char *wanted,
		 struct error *err)
{
	return error_set(err, E_INVALID, "%s: found %s, wanted %s", f->path,
			 obj_type_name(obj_type(v)), wanted);
}

static int decode_text(const struct decode_field *f, const struct obj *v, const char **out,
		       struct arena *a, struct error *err)
{
	struct str number = obj_number_text(v);
	if (obj_as_string(v))
		*out = obj_as_string(v);
	else if (number.ptr)
		*out = arena_strndup(a, number.ptr, number.len);
	else if (obj_type(v) == OBJ_BOOL)
		*out = obj_is_true(v) ? "true" : "false";
	else
		return wrong(f, v, "string or number", err);
	return 0;
}

static int decode_strs(const struct decode_field *f, const struct obj *v, struct decode_strs *out,
		       struct arena *a, struct error *err)
{
	if (obj_type(v) != OBJ_LIST)
		return wrong(f, v, "array of strings", err);
	size_t n = obj_len(v);
	const char **items = ARENA_ARRAY(a, const char *, n);
	for (size_t i = 0; i < n; i++) {
		items[i] = obj_as_string(obj_at(v, i));
		if (!items[i])
			return error_set(err, E_INVALID, "%s[%zu]: found %s, wanted string",
					 f->path, i, obj_type_name(obj_type(obj_at(v, i))));
	}
	*out = (struct decode_strs){items, n};
	return 0;
}

static int decode_time(const struct decode_field *f, const struct obj *v, int64_t *out,
		       struct error *err)
{
	if (!obj_as_string(v))
		return wrong(f, v, f->type == DECODE_TIME ? "time" : "duration", err);
	if (f->type == DECODE_DURATION)
		return duration_parse(obj_as_str(v), out, err) < 0 ? error_wrap(err, "%s", f->path)
								   : 0;
	if (!clock_parse(obj_as_str(v), out))
		return error_set(err, E_INVALID, "%s: found \"%.64s\", wanted an RFC 3339 time",
				 f->path, obj_as_string(v));
	return 0;
}

static int decode_one(const struct decode_field *f, const struct obj *v, void *out, struct arena *a,
		      struct error *err)
{
	switch (f->type) {
	case DECODE_STR:
		if (!obj_as_string(v))
			return wrong(f, v, "string", err);
		*(const char **)out = obj_as_string(v);
		return 0;
	case DECODE_TEXT:
		return decode_text(f, v, out, a, err);
	case DECODE_BOOL:
		if (obj_type(v) != OBJ_BOOL)
			return wrong(f, v, "boolean", err);
		*(bool *)out = obj_is_true(v);
		return 0;
	case DECODE_INT:
		return obj_as_i64(v, out) ? 0 : wrong(f, v, "integer", err);
	case DECODE_OBJ:
		if (obj_type(v) != OBJ_MAP)
			return wrong(f, v, "object", err);
		*(const struct obj **)out = v;
		return 0;
	case DECODE_LIST:
		if (obj_type(v) != OBJ_LIST)
			return wrong(f, v, "array", err);
		*(const struct obj **)out = v;
		return 0;
	case DECODE_STRS:
		return decode_strs(f, v, out, a, err);
	case DECODE_DURATION:
	case DECODE_TIME:
	default:
		return decode_time(f, v, out, err);
	}
}

int decode(const struct obj *o, const struct decode_field *fields, void *out, struct arena *a,
	   struct error *err)
{
	for (const struct decode_field *f = fields; f->path; f++) {
		const struct obj *v = obj_path(o, f->path);
		int r;
		if (obj_type(v) == OBJ_ABSENT || obj_type(v) == OBJ_NULL) {
			if (!(f->flags & DECODE_REQUIRED))
				continue;
			return error_set(err, E_INVALID, "%s: required, but absent", f->path);
		}
		r = decode_one(f, v, (char *)out + f->offset, a, err);
		if (r < 0)
			return r;
	}
	return 0;
}
