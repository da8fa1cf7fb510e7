/* api_decode: see api_decode.h. Recursion is as deep as the object, OBJ_DEPTH_MAX. */
#include "alm/obj/schema/api_decode.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/quantity.h"
#include "alm/obj/schema/api_scalar.h"

#define PATH_BYTES_MAX 4096
#define SCHEMA_TYPE    "apiextensions.v1.JSONSchemaProps"

struct decode {
	void (*on_unknown)(void *arg, const char *path);
	void *arg;
	struct error *err;
};

/* Where a value is: a member (key), or an element of a list. Texts are made of it when needed. */
struct place {
	const struct place *up;
	const char *key; /* NULL: an element */
	size_t index;
	bool is_entry;                 /* of a map: no field of Go */
	const struct api_field *field; /* that holds the value, or the list or map that it is in */
	const struct api_type *holder,
		*outer; /* the struct of the field, and the one embedding it */
};

/* --- texts --- */

/* NOLINTBEGIN(misc-no-recursion): as deep as the object */
/* spec.containers[0].ports */
static void add_path(const struct place *p, struct strbuf *b)
{
	if (!p)
		return;
	add_path(p->up, b);
	if (!p->key)
		strbuf_addf(b, "[%zu]", p->index);
	else
		strbuf_addf(b, "%s%s", b->len ? "." : "", p->key);
}

/* The fields of Go on the way, embedded structs among them: spec.containers.livenessProbe.
 * ProbeHandler.httpGet */
static void add_fields(const struct place *p, struct strbuf *b)
{
	if (!p)
		return;
	add_fields(p->up, b);
	if (!p->key || p->is_entry)
		return;
	if (p->outer != p->holder)
		strbuf_addf(b, "%s%s", b->len ? "." : "", api_short_name(p->holder));
	strbuf_addf(b, "%s%s", b->len ? "." : "", p->key);
}
/* NOLINTEND(misc-no-recursion) */

static const char *shape_name(const struct api_field *f)
{
	switch ((enum api_shape)f->shape) {
	case API_STRUCT:
		return api_go_name(api_struct_of(f));
	case API_BOOL:
		return "bool";
	case API_INT32:
	case API_INT_OR_STRING:
		return "int32";
	case API_INT64:
		return "int64";
	case API_DOUBLE:
		return "float64";
	case API_BYTES:
		return "[]uint8";
	case API_QUANTITY:
		return "resource.Quantity";
	case API_STRING:
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
	return "string";
}

static const char *found_name(const struct obj *v)
{
	switch (obj_type(v)) {
	case OBJ_BOOL:
		return "bool";
	case OBJ_LIST:
		return "array";
	case OBJ_MAP:
		return "object";
	case OBJ_STRING:
		return "string";
	case OBJ_INT:
	case OBJ_DOUBLE:
	case OBJ_NULL:
	case OBJ_ABSENT:
		break;
	}
	return "number";
}

/* marks: what of the field's type was wanted here. */
static int wrong_type(struct decode *d, const struct place *p, unsigned marks, const struct obj *v)
{
	CLEANUP(strbuf_release) struct strbuf fields = STRBUF_INIT(PATH_BYTES_MAX);
	bool is_integer = !marks && (p->field->shape == API_INT32 || p->field->shape == API_INT64 ||
				     p->field->shape == API_INT_OR_STRING);
	struct str number = is_integer ? obj_number_text(v) : STR_NONE;
	bool resources = marks & API_MAP && p->field->shape == API_QUANTITY;
	add_fields(p, &fields);
	return error_set(
		d->err, E_BADREQUEST,
		"json: cannot unmarshal %s%s%.*s into Go struct field %s.%s of type %s%s%s",
		found_name(v), number.len ? " " : "", STR_ARG(number), api_short_name(p->holder),
		fields.buf, marks & API_MAP && !resources ? "map[string]" : "",
		marks & API_LIST ? "[]" : "", resources ? "v1.ResourceList" : shape_name(p->field));
}

/* --- scalars --- */

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

/* A null in a list or map. */
static struct obj *zero_of(const struct api_field *f)
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

static bool fits_integer(const struct obj *v, enum api_shape shape)
{
	int64_t n;
	return obj_type(v) == OBJ_INT && obj_as_i64(v, &n) &&
	       (shape == API_INT64 || (n >= INT32_MIN && n <= INT32_MAX));
}

static int decode_quantity(struct decode *d, const struct place *p, const struct obj *v,
			   struct obj **ret)
{
	char out[QUANTITY_TEXT_MAX];
	struct str s = obj_type(v) == OBJ_STRING ? obj_as_str(v) : obj_number_text(v);
	/* The lists of pods' and claims' resources are rounded to milli when they are defaulted. */
	int floor = p->field->marks & API_MAP ? QUANTITY_MILLI : QUANTITY_NANO;
	const char *fault = quantity_canonical(s, floor, out);
	if (fault)
		return error_set(d->err, E_BADREQUEST, "%s", fault);
	if (obj_type(v) != OBJ_STRING || !str_is(s, out))
		*ret = obj_string(out);
	return 0;
}

/* ret stays as it is where the value may stay. */
static int decode_scalar(struct decode *d, const struct place *p, const struct obj *v,
			 struct obj **ret)
{
	enum obj_type type = obj_type(v);
	enum api_shape shape = (enum api_shape)p->field->shape;
	bool text = type == OBJ_STRING;
	switch (shape) {
	case API_STRING:
		return text ? 0 : wrong_type(d, p, 0, v);
	case API_BOOL:
		return type == OBJ_BOOL ? 0 : wrong_type(d, p, 0, v);
	case API_INT_OR_STRING:
		if (text)
			return 0;
		/* fall through */
	case API_INT32:
	case API_INT64:
		return fits_integer(v, shape) ? 0 : wrong_type(d, p, 0, v);
	case API_DOUBLE:
		return obj_is_number(v) ? 0 : wrong_type(d, p, 0, v);
	case API_BYTES:
		return text ? api_base64(obj_as_str(v), ret, d->err) : wrong_type(d, p, 0, v);
	case API_QUANTITY:
		return decode_quantity(d, p, v, ret);
	case API_TIME:
	case API_MICRO_TIME:
		return text ? api_time(obj_as_str(v), shape == API_MICRO_TIME, ret, d->err)
			    : wrong_type(d, p, 0, v);
	case API_STRUCT:
	case API_FIELDS:
	case API_RAW:
	case API_JSON:
	case API_SCHEMA_OR_ARRAY:
	case API_SCHEMA_OR_BOOL:
	case API_SCHEMA_OR_STRINGS:
		break;
	}
	return 0;
}

/* --- structs, lists, maps --- */

static int decode_struct(struct decode *d, const struct place *at, const struct api_type *t,
			 struct obj *o);
static int decode_list(struct decode *d, const struct place *p, struct obj *list);

/* NOLINTBEGIN(misc-no-recursion): as deep as the object */
/* A member of a CRD's schema that is a schema, several, or something else. */
static int decode_schema_or(struct decode *d, const struct place *p, struct obj *v)
{
	const struct api_type *t = api_type_named(SCHEMA_TYPE);
	if (obj_type(v) == OBJ_MAP)
		return decode_struct(d, p, t, v);
	for (size_t i = 0; i < obj_len(v); i++) {
		struct place in = {.up = p,
				   .index = i,
				   .field = p->field,
				   .holder = p->holder,
				   .outer = p->outer};
		if (obj_type(obj_at(v, i)) == OBJ_MAP &&
		    decode_struct(d, &in, t, obj_at_mut(v, i)) < 0)
			return -d->err->code;
	}
	return 0;
}

/* One value of the field's shape, whatever list or map it is in. */
static int decode_value(struct decode *d, const struct place *p, struct obj *v, struct obj **ret)
{
	switch ((enum api_shape)p->field->shape) {
	case API_STRUCT:
		if (obj_type(v) != OBJ_MAP)
			return wrong_type(d, p, 0, v);
		return decode_struct(d, p, api_struct_of(p->field), v);
	case API_SCHEMA_OR_ARRAY:
	case API_SCHEMA_OR_BOOL:
	case API_SCHEMA_OR_STRINGS:
		return decode_schema_or(d, p, v);
	case API_STRING:
	case API_BOOL:
	case API_INT32:
	case API_INT64:
	case API_DOUBLE:
	case API_BYTES:
	case API_QUANTITY:
	case API_INT_OR_STRING:
	case API_TIME:
	case API_MICRO_TIME:
	case API_FIELDS:
	case API_RAW:
	case API_JSON:
		break;
	}
	return decode_scalar(d, p, v, ret);
}

static int decode_map(struct decode *d, const struct place *p, struct obj *map)
{
	bool lists = p->field->marks & API_LIST;
	OBJ_EACH (it, map) {
		struct place in = {.up = p,
				   .key = it.key,
				   .is_entry = true,
				   .field = p->field,
				   .holder = p->holder,
				   .outer = p->outer};
		struct obj *v = obj_get_mut(map, it.key), *now = NULL;
		int r = 0;
		if (obj_type(v) == OBJ_NULL)
			now = lists ? obj_list() : zero_of(p->field);
		else if (lists)
			r = obj_type(v) == OBJ_LIST ? decode_list(d, &in, v)
						    : wrong_type(d, &in, API_LIST, v);
		else
			r = decode_value(d, &in, v, &now);
		if (r < 0)
			return r;
		if (now)
			obj_set(map, it.key, now);
	}
	return 0;
}

static int decode_list(struct decode *d, const struct place *p, struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		struct place in = {.up = p,
				   .index = i,
				   .field = p->field,
				   .holder = p->holder,
				   .outer = p->outer};
		struct obj *v = obj_at_mut(list, i), *now = NULL;
		if (obj_type(v) == OBJ_NULL)
			now = zero_of(p->field);
		else if (decode_value(d, &in, v, &now) < 0)
			return -d->err->code;
		if (now)
			obj_set_at(list, i, now);
	}
	return 0;
}

static int decode_field(struct decode *d, const struct place *p, struct obj *v, struct obj **ret)
{
	const struct api_field *f = p->field;
	if (f->marks & API_MAP)
		return obj_type(v) == OBJ_MAP ? decode_map(d, p, v) : wrong_type(d, p, f->marks, v);
	if (f->marks & API_LIST)
		return obj_type(v) == OBJ_LIST ? decode_list(d, p, v)
					       : wrong_type(d, p, f->marks, v);
	return decode_value(d, p, v, ret);
}
/* NOLINTEND(misc-no-recursion) */

/* Go leaves it out: no pointer, optional, and the zero value. Structs are always written, and an
 * empty list of managers asks for something. */
static bool is_left_out(const struct api_field *f, const struct obj *v)
{
	if (obj_type(v) == OBJ_NULL)
		return true;
	if (strcmp(api_text(f->name), "managedFields") == 0)
		return false;
	bool plural = f->marks & (API_LIST | API_MAP);
	bool scalar = f->shape == API_STRING || f->shape == API_BOOL || f->shape == API_INT32 ||
		      f->shape == API_INT64 || f->shape == API_BYTES;
	return !(f->flags & (API_REQUIRED | API_ALWAYS)) &&
	       (plural || (scalar && !(f->marks & API_POINTER))) && is_zero(v);
}

static bool is_type_meta(const struct api_type *t, const char *key)
{
	return t->flags & API_IS_KIND &&
	       (strcmp(key, "kind") == 0 || strcmp(key, "apiVersion") == 0);
}

static void unknown(struct decode *d, const struct place *p)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_BYTES_MAX);
	add_path(p, &path);
	if (d->on_unknown)
		d->on_unknown(d->arg, path.buf);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the object */
static int decode_struct(struct decode *d, const struct place *at, const struct api_type *t,
			 struct obj *o)
{
	OBJ_EACH (it, o) {
		struct place p = {.up = at, .key = it.key, .outer = t};
		struct obj *now = NULL;
		if (is_type_meta(t, it.key))
			continue;
		p.field = api_find(t, it.key, &p.holder);
		if (!p.field)
			unknown(d, &p);
		struct obj *v = p.field ? obj_get_mut(o, it.key) : NULL;
		if (v && obj_type(v) != OBJ_NULL && decode_field(d, &p, v, &now) < 0)
			return -d->err->code;
		if (now)
			obj_set(o, it.key, now);
		if (!v || is_left_out(p.field, obj_get(o, it.key)))
			obj_del(o, it.key);
	}
	return 0;
}

int api_decode(const struct api_type *t, struct obj *o,
	       void (*on_unknown)(void *arg, const char *path), void *arg, struct error *err)
{
	struct decode d = {on_unknown, arg, err};
	return decode_struct(&d, NULL, t, o);
}
