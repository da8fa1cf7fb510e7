/* decode: see decode.h. */
#include "alm/obj/decode.h"

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
	case DECODE_LIST:
		if (obj_type(v) != OBJ_LIST)
			return wrong(f, v, "array", err);
		*(const struct obj **)out = v;
		return 0;
	case DECODE_STRS:
	default:
		return decode_strs(f, v, out, a, err);
	}
}

int decode_fields(const struct obj *o, const struct decode_field *fields, void *out,
		  struct arena *a, struct error *err)
{
	for (const struct decode_field *f = fields; f->path; f++) {
		const struct obj *v = obj_path(o, f->path);
		if (obj_type(v) == OBJ_ABSENT || obj_type(v) == OBJ_NULL)
			continue;
		int r = decode_one(f, v, (char *)out + f->offset, a, err);
		if (r < 0)
			return r;
	}
	return 0;
}
