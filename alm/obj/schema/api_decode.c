/* api_decode: see api_decode.h. Recursion is as deep as the object, OBJ_DEPTH_MAX. */
#include "alm/obj/schema/api_decode.h"

#include <limits.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/quantity.h"
#include "alm/obj/schema/api_scalar.h"
#include "alm/obj/schema/api_words.h"
#define SCHEMA_TYPE "apiextensions.v1.JSONSchemaProps"
#define BYTES_MAX   ((size_t)4 << 20) /* of a list of them */

struct decode {
	enum api_dialect dialect;
	void (*on_unknown)(void *arg, const char *path);
	void *arg;
	struct error *err;
	bool is_wrong; /* err says of the first value of a wrong type */
	bool is_own;   /* or of the first that a reader of its own refused */
	bool keeps_empty, has_empty;
	bool keeps_all; /* empty lists and maps of any field */
	struct strbuf *
		way; /* to that value, where the first is told by the order of keys; NULL: as it stands */
};

/* As places are sorted: key by key, item by item. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the object */
static void add_way(const struct api_place *p, struct strbuf *b)
{
	if (!p)
		return;
	add_way(p->up, b);
	if (p->key)
		strbuf_addf(b, "\x01%s", p->key);
	else
		strbuf_addf(b, "\x01%010zu", p->index);
}

/* Is what is wrong at p told instead of what was found before? */
static bool is_first(struct decode *d, const struct api_place *p)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(API_PATH_BYTES_MAX);
	if (!d->way)
		return !d->is_wrong;
	add_way(p, &b);
	if (d->is_wrong && strcmp(strbuf_str(&b).ptr, d->way->buf) >= 0)
		return false;
	strbuf_clear(d->way);
	strbuf_addstr(d->way, strbuf_str(&b));
	return true;
}

/* A reader of its own (of a time, a quantity) has refused what is at p, which comes before any wrong type. As the text
 * stands that is the end; where keys are sorted another one may come before it. */
static int refused(struct decode *d, const struct api_place *p, const struct error *why)
{
	if (!d->is_own)
		d->is_wrong = false; /* what was told is forgotten */
	if (!d->way || is_first(d, p))
		*d->err = *why;
	d->is_own = d->is_wrong = true;
	return d->way ? 0 : -d->err->code;
}

/* Go's reader of JSON tells the first wrong type, the converter stops where it is. */
static int wrong_type(struct decode *d, const struct api_place *p, unsigned marks,
		      const struct obj *v)
{
	bool own_reader =
		!marks && (p->field->shape == API_TIME || p->field->shape == API_MICRO_TIME ||
			   p->field->shape == API_INT_OR_STRING);
	struct error inner = ERROR_INIT;
	if (own_reader) {
		api_wrong_type(d->dialect, p, marks, v, &inner);
		return refused(d, p, &inner);
	}
	bool stops = d->dialect == API_UNSTRUCTURED;
	if (stops || (!d->is_own && is_first(d, p)))
		api_wrong_type(d->dialect, p, marks, v, d->err);
	d->is_wrong = true;
	return stops ? -E_BADREQUEST : 0;
}

/* --- scalars --- */

static bool fits_integer(const struct obj *v, enum api_shape shape)
{
	int64_t n;
	return obj_type(v) == OBJ_INT && obj_as_i64(v, &n) &&
	       (shape == API_INT64 || (n >= INT32_MIN && n <= INT32_MAX));
}

/* Go's converter cuts a number to the bits that its type has. */
static int decode_integer(struct decode *d, const struct api_place *p, const struct obj *v,
			  struct obj **ret)
{
	enum api_shape shape = (enum api_shape)p->field->shape;
	int64_t n;
	if (fits_integer(v, shape))
		return 0;
	if (d->dialect != API_UNSTRUCTURED || shape == API_INT_OR_STRING ||
	    obj_type(v) != OBJ_INT || !obj_as_i64(v, &n))
		return wrong_type(d, p, 0, v);
	*ret = obj_int((int32_t)(uint32_t)(uint64_t)n);
	return 0;
}

/* Go takes a list of numbers, too, of which null is none. */
static int decode_byte_list(struct decode *d, const struct api_place *p, const struct obj *v,
			    struct obj **ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(2 * BYTES_MAX);
	for (size_t i = 0; i < obj_len(v); i++) {
		const struct obj *one = obj_at(v, i);
		int64_t n = 0;
		bool is_number = obj_type(one) == OBJ_INT && obj_as_i64(one, &n);
		if (d->dialect == API_UNSTRUCTURED)
			n &= UINT8_MAX;
		if ((!is_number && obj_type(one) != OBJ_NULL) || n < 0 || n > UINT8_MAX) {
			int r = wrong_type(d, p, API_ONE_BYTE, one);
			if (r < 0)
				return r;
		}
		strbuf_addc(&b, (char)n);
	}
	base64_encode(strbuf_str(&b), &text);
	if (b.over || text.over)
		return error_set(d->err, E_TOOLARGE, "a list of more than %zu bytes", BYTES_MAX);
	*ret = obj_stringn(strbuf_str(&text));
	return 0;
}

static int decode_bytes(struct decode *d, const struct api_place *p, const struct obj *v,
			struct obj **ret)
{
	struct error inner = ERROR_INIT;
	bool stops = d->dialect == API_UNSTRUCTURED;
	if (obj_type(v) == OBJ_LIST)
		return decode_byte_list(d, p, v, ret);
	if (obj_type(v) != OBJ_STRING)
		return wrong_type(d, p, 0, v);
	if (api_base64(obj_as_str(v), ret, &inner) == 0)
		return 0;
	if (stops || (!d->is_own && is_first(d, p)))
		error_set(d->err, E_BADREQUEST, "%s%s", stops ? "error decoding from json: " : "",
			  inner.msg);
	d->is_wrong = true;
	return stops ? -E_BADREQUEST : 0;
}

static int decode_quantity(struct decode *d, const struct api_place *p, const struct obj *v,
			   struct obj **ret)
{
	char out[QUANTITY_TEXT_MAX];
	struct str s = obj_type(v) == OBJ_STRING ? obj_as_str(v) : obj_number_text(v);
	/* The lists of pods' and claims' resources are rounded to milli when they are defaulted. */
	bool of_pods = p->field->marks & API_MAP && !*api_go_type(p->field) &&
		       strcmp(api_text(p->field->name), "podFixed") != 0;
	int floor = of_pods ? QUANTITY_MILLI : QUANTITY_NANO;
	const char *fault = quantity_canonical(s, floor, out);
	struct error inner = ERROR_INIT;
	if (fault) {
		error_set(&inner, E_BADREQUEST, "%s", fault);
		return refused(d, p, &inner);
	}
	if (obj_type(v) != OBJ_STRING || !str_is(s, out))
		*ret = obj_string(out);
	return 0;
}

static int decode_time(struct decode *d, const struct api_place *p, const struct obj *v,
		       struct obj **ret)
{
	struct error inner = ERROR_INIT;
	bool is_micro = p->field->shape == API_MICRO_TIME;
	return api_time(obj_as_str(v), is_micro, ret, &inner) < 0 ? refused(d, p, &inner) : 0;
}

/* ret stays as it is where the value may stay. */
static int decode_scalar(struct decode *d, const struct api_place *p, const struct obj *v,
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
		return decode_integer(d, p, v, ret);
	case API_DOUBLE:
		return obj_is_number(v) ? api_double(v, ret) : wrong_type(d, p, 0, v);
	case API_BYTES:
		return decode_bytes(d, p, v, ret);
	case API_QUANTITY:
		return decode_quantity(d, p, v, ret);
	case API_TIME:
	case API_MICRO_TIME:
		return text ? decode_time(d, p, v, ret) : wrong_type(d, p, 0, v);
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

/* NOLINTBEGIN(misc-no-recursion): as deep as structs are in structs that are no pointers */
/* omitempty leaves out no struct. */
static bool is_always_struct(const struct api_field *f)
{
	return f->shape == API_STRUCT && !f->marks;
}

/* The zero value of it, or of a null in a list or map of it. */
static struct obj *filled(const struct api_field *f)
{
	struct obj *o = api_zero(f);
	if (o && f->shape == API_STRUCT)
		api_fill(api_struct_of(f), o);
	return o;
}

void api_fill(const struct api_type *t, struct obj *o)
{
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	for (size_t i = 0; i < n; i++) {
		const struct api_field *f = &fields[i];
		const char *name = api_text(f->name);
		if (f->flags & API_EMBEDDED) {
			api_fill(api_struct_of(f), o);
			continue;
		}
		const char *json = api_text(f->default_json);
		struct obj *value = NULL;
		struct error ignored;
		if (obj_has(o, name))
			continue;
		if (*json && json_parse(str_of(json), &value, &ignored) == 0)
			obj_set(o, name, value);
		else if (api_is_always(f) || is_always_struct(f))
			obj_set(o, name, filled(f));
	}
}
/* NOLINTEND(misc-no-recursion) */

static int decode_struct(struct decode *d, const struct api_place *at, const struct api_type *t,
			 struct obj *o);
static int decode_list(struct decode *d, const struct api_place *p, struct obj *list);

/* NOLINTBEGIN(misc-no-recursion): as deep as the object */
/* A member of a CRD's schema that is a schema, several, or something else: read by its own reader, which is not strict and
 * stops where something is wrong. */
static int decode_schema_or(struct decode *d, const struct api_place *p, struct obj *v)
{
	const struct api_type *t = api_type_named(SCHEMA_TYPE);
	bool is_text = d->dialect != API_UNSTRUCTURED;
	struct decode own = {.dialect = API_JSON_TEXT, .err = d->err, .keeps_all = d->keeps_all};
	int r = 0;
	if (obj_type(v) == OBJ_MAP)
		r = decode_struct(&own, is_text ? p : NULL, t, v);
	else if (p->field->shape == API_SCHEMA_OR_BOOL && obj_type(v) != OBJ_BOOL &&
		 obj_type(v) != OBJ_NULL)
		return error_set(d->err, E_BADREQUEST, "boolean or JSON schema expected");
	enum obj_type want = p->field->shape == API_SCHEMA_OR_ARRAY ? OBJ_MAP : OBJ_STRING;
	for (size_t i = 0; r == 0 && !own.is_wrong && i < obj_len(v) && obj_type(v) == OBJ_LIST;
	     i++) {
		struct obj *one = obj_at_mut(v, i);
		if (obj_type(one) != want && obj_type(one) != OBJ_NULL)
			r = api_wrong_type(d->dialect, p, 0, one, d->err);
		else if (want == OBJ_MAP && obj_type(one) == OBJ_MAP)
			r = decode_struct(&own, is_text ? p : NULL, t, one);
	}
	return r < 0 || own.is_wrong ? -E_BADREQUEST : 0;
}

/* One value of the field's shape, whatever list or map it is in. */
static int decode_value(struct decode *d, const struct api_place *p, struct obj *v,
			struct obj **ret)
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

static int decode_map(struct decode *d, const struct api_place *p, struct obj *map)
{
	bool lists = p->field->marks & API_LIST;
	OBJ_EACH (it, map) {
		struct api_place in = {.up = p,
				       .key = it.key,
				       .is_entry = true,
				       .field = p->field,
				       .holder = p->holder,
				       .outer = p->outer};
		struct obj *v = obj_get_mut(map, it.key), *now = NULL;
		int r = 0;
		if (obj_type(v) == OBJ_NULL)
			now = lists ? obj_list() : filled(p->field);
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

static int decode_list(struct decode *d, const struct api_place *p, struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		struct api_place in = {.up = p,
				       .index = i,
				       .field = p->field,
				       .holder = p->holder,
				       .outer = p->outer};
		struct obj *v = obj_at_mut(list, i), *now = NULL;
		if (obj_type(v) == OBJ_NULL)
			now = filled(p->field);
		else if (decode_value(d, &in, v, &now) < 0)
			return -d->err->code;
		if (now)
			obj_set_at(list, i, now);
	}
	return 0;
}

static int decode_field(struct decode *d, const struct api_place *p, struct obj *v,
			struct obj **ret)
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

static bool is_type_meta(const struct api_type *t, const char *key)
{
	return t->flags & API_IS_KIND &&
	       (strcmp(key, "kind") == 0 || strcmp(key, "apiVersion") == 0);
}

static void unknown(struct decode *d, const struct api_place *p)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(API_PATH_BYTES_MAX);
	api_place_path(p, d->dialect != API_UNSTRUCTURED, &path);
	if (d->on_unknown)
		d->on_unknown(d->arg, path.buf);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the object */
static int decode_struct(struct decode *d, const struct api_place *at, const struct api_type *t,
			 struct obj *o)
{
	unsigned first = UINT_MAX; /* of what the converter, which goes by the struct, refuses */
	struct error fault;
	OBJ_EACH (it, o) {
		struct api_place p = {.up = at, .key = it.key, .outer = t};
		struct obj *now = NULL;
		p.field = api_find(t, it.key, &p.holder);
		if (is_type_meta(t, it.key)) {
			static const struct api_field text = {.shape = API_STRING};
			if (!at) /* who asked has looked at it */
				continue;
			p.key = strcmp(it.key, "kind") == 0 ? "TypeMeta.kind"
							    : "TypeMeta.apiVersion";
			p.field = &text;
		}
		if (!p.field)
			unknown(d, &p);
		struct obj *v = p.field ? obj_get_mut(o, it.key) : NULL;
		if (v && obj_type(v) != OBJ_NULL && decode_field(d, &p, v, &now) < 0) {
			if (d->dialect != API_UNSTRUCTURED)
				return -d->err->code;
			unsigned place = api_place_in_struct(t, it.key);
			if (place < first)
				fault = *d->err;
			first = place < first ? place : first;
			continue;
		}
		if (now)
			obj_set(o, it.key, now);
		if (v && d->keeps_all && api_is_no_schema(p.field, obj_get(o, it.key)))
			obj_set(o, it.key, obj_list());
		const struct obj *is = obj_get(o, it.key);
		bool of_template = at && at->up && strcmp(it.key, "managedFields") == 0;
		bool stays = d->keeps_all && v && api_is_emptied(p.field, is);
		if (!v || (!stays && (api_is_left_out(p.field, is, d->keeps_empty) ||
				      (of_template && !obj_len(is)))))
			obj_del(o, it.key);
		else if (d->keeps_empty)
			d->has_empty |= obj_type(is) == OBJ_LIST && !obj_len(is);
	}
	if (first != UINT_MAX) {
		*d->err = fault;
		return -d->err->code;
	}
	api_fill(t, o);
	return 0;
}

static int decode(struct decode *d, const struct api_type *t, struct obj *o, struct strbuf *way)
{
	if (d->dialect == API_JSON_SORTED) {
		d->dialect = API_JSON_TEXT;
		d->way = way;
	}
	int r = decode_struct(d, NULL, t, o);
	return r < 0 || !d->is_wrong ? r : -E_BADREQUEST;
}

int api_decode(const struct api_type *t, enum api_dialect dialect, struct obj *o,
	       void (*on_unknown)(void *arg, const char *path), void *arg, struct error *err)
{
	struct decode d = {.dialect = dialect, .on_unknown = on_unknown, .arg = arg, .err = err};
	CLEANUP(strbuf_release) struct strbuf way = STRBUF_INIT(API_PATH_BYTES_MAX);
	return decode(&d, t, o, &way);
}

int api_decode_as_read(const struct api_type *t, enum api_dialect dialect, struct obj *o,
		       struct error *err)
{
	struct decode d = {.dialect = dialect, .err = err, .keeps_all = true};
	CLEANUP(strbuf_release) struct strbuf way = STRBUF_INIT(API_PATH_BYTES_MAX);
	return decode(&d, t, o, &way);
}

int api_decode_keeping(const struct api_type *t, enum api_dialect dialect, struct obj *o,
		       void (*on_unknown)(void *arg, const char *path), void *arg,
		       struct error *err)
{
	struct decode d = {.dialect = dialect,
			   .on_unknown = on_unknown,
			   .arg = arg,
			   .err = err,
			   .keeps_empty = true};
	CLEANUP(strbuf_release) struct strbuf way = STRBUF_INIT(API_PATH_BYTES_MAX);
	int r = decode(&d, t, o, &way);
	return r < 0 ? r : d.has_empty;
}
