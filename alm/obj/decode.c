/* decode: see decode.h. */
#include "alm/obj/decode.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"

#define SPAN_MIN NS_PER_MS
#define SPAN_MAX (7 * NS_PER_DAY)

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

static int decode_version(const struct decode_field *f, const struct obj *v, const char **out,
			  struct arena *a, struct error *err)
{
	struct str number = obj_number_text(v);
	int64_t whole;
	if (number.ptr && (str_find(number, STR(".")) >= 0 || !obj_as_i64(v, &whole)))
		return error_set(err, E_INVALID,
				 "%s: the number %.*s may have been written with more digits (1.30 "
				 "is read as 1.3); put it in quotes",
				 f->path, STR_ARG(str_sub(number, 0, 40)));
	if (!number.ptr && !obj_as_string(v))
		return wrong(f, v, "string", err);
	return decode_text(f, v, out, a, err);
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

/* A small number is one of seconds, which would be over at once. */
static int decode_span(const struct decode_field *f, const struct obj *v, int64_t *out,
		       struct error *err)
{
	int64_t ns = 0;
	struct error unread = ERROR_INIT;
	struct str text = obj_as_str(v);
	bool known = text.ptr ? duration_parse(text, &ns, &unread) >= 0 : obj_as_i64(v, &ns);
	if (known && ns >= SPAN_MIN && ns <= SPAN_MAX) {
		*out = ns;
		return 0;
	}
	if (obj_is_number(v))
		text = obj_number_text(v);
	if (!text.ptr)
		return wrong(f, v, "a duration like \"30s\"", err);
	return error_set(err, E_INVALID,
			 "%s: \"%.*s\" is no duration from 1ms to 7d; write it like \"30s\" or"
			 " \"5m\"",
			 f->path, (int)(text.len > 40 ? 40 : text.len), text.ptr);
}

static int decode_typed(const struct decode_field *f, const struct obj *v, enum obj_type type,
			const struct obj **out, struct error *err)
{
	if (obj_type(v) != type)
		return wrong(f, v, obj_type_name(type), err);
	*out = v;
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
	case DECODE_VERSION:
		return decode_version(f, v, out, a, err);
	case DECODE_LIST:
		return decode_typed(f, v, OBJ_LIST, out, err);
	case DECODE_MAP:
		return decode_typed(f, v, OBJ_MAP, out, err);
	case DECODE_ANY:
		*(const struct obj **)out = v;
		return 0;
	case DECODE_BOOL:
		if (obj_type(v) != OBJ_BOOL)
			return wrong(f, v, "boolean", err);
		*(bool *)out = obj_is_true(v);
		return 0;
	case DECODE_SPAN:
		return decode_span(f, v, out, err);
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
		if (obj_type(v) == OBJ_ABSENT || (obj_type(v) == OBJ_NULL && f->type != DECODE_ANY))
			continue;
		int r = decode_one(f, v, (char *)out + f->offset, a, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static const struct decode_field *field_named(const struct decode_field *f, const char *name)
{
	while (f->path && strcmp(f->path, name) != 0)
		f++;
	return f->path ? f : NULL;
}

static int unknown(const char *path, const char *name, const struct decode_field *fields,
		   struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT(STRBUF_SMALL);
	for (const struct decode_field *f = fields; f->path; f++)
		strbuf_addf(&known, "%s%s", f == fields ? "" : ", ", f->path);
	return error_set(err, E_INVALID, "%s.%.64s: there is no such field; known are %s", path,
			 name, known.buf);
}

int decode_members(const struct obj *o, const char *path, const struct decode_field *fields,
		   void *out, struct arena *a, struct error *err)
{
	struct error inner = ERROR_INIT;
	if (obj_type(o) != OBJ_MAP)
		return error_set(err, E_INVALID, "%s: found %s, wanted object", path,
				 obj_type_name(obj_type(o)));
	OBJ_EACH (it, o)
		if (!field_named(fields, it.key))
			return unknown(path, it.key, fields, err);
	if (decode_fields(o, fields, out, a, &inner) < 0)
		return error_set(err, inner.code, "%s.%s", path, inner.msg);
	return 0;
}
