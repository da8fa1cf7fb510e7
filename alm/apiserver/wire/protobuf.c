/* protobuf: the wire format. Input is hostile: every length is checked against what is left, depth
 * is bounded, and a wrong wire type is an error. */
#include "alm/apiserver/wire/protobuf.h"
#include "alm/apiserver/wire/protobuf_write.h"

#include <math.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/api_types.h"

struct reader {
	struct str rest;
	struct error *err;
	int depth;
	size_t *n_left; /* values that the body may still have */
};

/* One field as read: varint or bytes. */
struct item {
	unsigned number;
	enum pb_wire wire;
	uint64_t varint;
	struct str bytes;
};

static int broken(struct reader *r, const char *what)
{
	return error_set(r->err, E_BADREQUEST, "protobuf body: %s", what);
}

static int too_many(struct reader *r)
{
	return error_set(r->err, E_TOOLARGE, "protobuf body: more than %zu values",
			 OBJ_BODY_NODES_MAX);
}

/* A value more. */
static int spend(struct reader *r)
{
	if (*r->n_left == 0)
		return too_many(r);
	--*r->n_left;
	return 0;
}

static int read_varint(struct reader *r, uint64_t *ret)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (!r->rest.len)
			return broken(r, "unexpected end");
		unsigned char c = (unsigned char)r->rest.ptr[0];
		r->rest = str_skip(r->rest, 1);
		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			*ret = v;
			return 0;
		}
	}
	return broken(r, "varint too long");
}

static int read_bytes(struct reader *r, uint64_t n, struct str *ret)
{
	if (n > r->rest.len)
		return broken(r, "unexpected end");
	*ret = str_sub(r->rest, 0, (size_t)n);
	r->rest = str_skip(r->rest, (size_t)n);
	return 0;
}

/* 1 with the next field, 0 at the end. */
static int read_item(struct reader *r, struct item *ret)
{
	uint64_t tag = 0, len = 0;
	if (!r->rest.len)
		return 0;
	if (read_varint(r, &tag) < 0)
		return -E_BADREQUEST;
	if (!(tag >> 3) || tag >> 3 > 536870911)
		return broken(r, "illegal field number");
	*ret = (struct item){.number = (unsigned)(tag >> 3), .wire = (enum pb_wire)(tag & 7)};
	switch (tag & 7) {
	case PB_VARINT:
		return read_varint(r, &ret->varint) < 0 ? -E_BADREQUEST : 1;
	case PB_BYTES:
		if (read_varint(r, &len) < 0 || read_bytes(r, len, &ret->bytes) < 0)
			return -E_BADREQUEST;
		return 1;
	case PB_64:
		return read_bytes(r, 8, &ret->bytes) < 0 ? -E_BADREQUEST : 1;
	case PB_32:
		return read_bytes(r, 4, &ret->bytes) < 0 ? -E_BADREQUEST : 1;
	default:
		return broken(r, "illegal wire type");
	}
}

static int want(struct reader *r, const struct item *it, enum pb_wire wire)
{
	return it->wire == wire ? 0 : broken(r, "wrong wire type");
}

static int text_of(struct reader *r, struct str s, struct obj **ret)
{
	if (!utf8_valid(s))
		return broken(r, "text is not UTF-8");
	*ret = obj_stringn(s.ptr ? s : STR(""));
	return 0;
}

static struct obj *base64_of(struct str s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(2 * PROTOBUF_BYTES_MAX);
	base64_encode(s, &b);
	return obj_stringn(strbuf_str(&b));
}

/* The member of number want_number in a small message; the last one wins. */
static int find_item(struct reader *outer, struct str bytes, unsigned want_number, struct item *ret)
{
	struct reader r = {bytes, outer->err, outer->depth, outer->n_left};
	struct item it = {0};
	int more;
	*ret = (struct item){0};
	while ((more = read_item(&r, &it)) > 0)
		if (it.number == want_number)
			*ret = it;
	return more;
}

static int decode_time(struct reader *r, struct str bytes, bool micro, struct obj **ret)
{
	struct item seconds = {0}, nanos = {0};
	char text[CLOCK_TEXT_MAX];
	if (find_item(r, bytes, 1, &seconds) < 0 || find_item(r, bytes, 2, &nanos) < 0)
		return -E_BADREQUEST;
	int64_t s = (int64_t)seconds.varint, n = (int64_t)nanos.varint;
	*ret = NULL;
	if (!s && !n)
		return 0;
	if (s < -INT64_C(9000000000) || s > INT64_C(9000000000) || n < 0 || n >= NS_PER_S)
		return broken(r, "time out of range");
	clock_format(s * NS_PER_S + n, micro ? CLOCK_MICROS : CLOCK_SECONDS, text);
	*ret = obj_string(text);
	return 0;
}

static int decode_quantity(struct reader *r, struct str bytes, struct obj **ret)
{
	struct item it = {0};
	if (find_item(r, bytes, 1, &it) < 0)
		return -E_BADREQUEST;
	return text_of(r, it.bytes, ret);
}

static int decode_int_or_string(struct reader *r, struct str bytes, struct obj **ret)
{
	struct item type = {0}, number = {0}, text = {0};
	if (find_item(r, bytes, 1, &type) < 0 || find_item(r, bytes, 2, &number) < 0 ||
	    find_item(r, bytes, 3, &text) < 0)
		return -E_BADREQUEST;
	if (type.varint)
		return text_of(r, text.bytes, ret);
	*ret = obj_int((int32_t)number.varint);
	return 0;
}

static int decode_double(struct reader *r, const struct item *it, struct obj **ret)
{
	double v;
	if (it->wire != PB_64)
		return broken(r, "wrong wire type");
	memcpy(&v, it->bytes.ptr, sizeof(v)); /* little endian, as this machine */
	if (!isfinite(v))
		return broken(r, "number is not finite");
	*ret = obj_double(v);
	return 0;
}

/* {raw=1}: JSON in bytes. */
static int decode_raw(struct reader *r, struct str bytes, struct obj **ret)
{
	struct item raw = {0};
	struct json_duplicates dup = {0};
	struct error inner = ERROR_INIT;
	*ret = NULL;
	if (find_item(r, bytes, 1, &raw) < 0)
		return -E_BADREQUEST;
	if (!raw.bytes.len)
		return 0;
	if (json_parse_dup(raw.bytes, *r->n_left, &dup, ret, &inner) < 0)
		return inner.code == E_TOOLARGE ? too_many(r)
						: broken(r, "an embedded object is not JSON");
	json_duplicates_release(&dup);
	return 0;
}

/* Go leaves an optional zero out of JSON, unless a pointer, list or map holds it. */
static bool keeps_zero(const struct api_field *f)
{
	return f->marks || f->flags & API_REQUIRED;
}

static int decode_number(struct reader *r, const struct api_field *f, const struct item *it,
			 struct obj **ret)
{
	if (want(r, it, PB_VARINT) < 0)
		return -E_BADREQUEST;
	if (!it->varint && !keeps_zero(f))
		return 0;
	if (f->shape == API_BOOL)
		*ret = obj_bool(it->varint != 0);
	else
		*ret = obj_int(f->shape == API_INT32 ? (int32_t)it->varint : (int64_t)it->varint);
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): enter() bounds the depth by PROTOBUF_DEPTH_MAX */
static int decode_message(struct reader *outer, const struct api_type *t, struct str bytes,
			  struct obj *into);

static const struct api_type *schema_type(void)
{
	return api_type_named("apiextensions.v1.JSONSchemaProps");
}

static int decode_struct(struct reader *r, const struct api_type *t, struct str bytes,
			 struct obj **ret)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	if (decode_message(r, t, bytes, o) < 0)
		return -r->err->code;
	*ret = STEAL(o);
	return 0;
}

/* {schema=1, and 2: more of them, texts, or nothing}; of OrBool {allows=1, schema=2}. */
static int decode_schema_or(struct reader *outer, enum api_shape shape, struct str bytes,
			    struct obj **ret)
{
	struct reader r = *outer;
	struct item it = {0};
	CLEANUP(obj_unrefp) struct obj *one = NULL, *list = NULL;
	unsigned schema_number = shape == API_SCHEMA_OR_BOOL ? 2 : 1;
	bool allows = false;
	int more;
	r.rest = bytes;
	while ((more = read_item(&r, &it)) > 0) {
		struct obj *v = NULL;
		if (spend(&r) < 0)
			return -E_TOOLARGE;
		bool is_schema = it.number == schema_number || shape == API_SCHEMA_OR_ARRAY;
		if (shape == API_SCHEMA_OR_BOOL && it.number == 1) {
			allows = it.varint != 0;
			continue;
		}
		if (it.number > 2)
			continue;
		if (want(&r, &it, PB_BYTES) < 0 ||
		    (is_schema ? decode_struct(&r, schema_type(), it.bytes, &v)
			       : text_of(&r, it.bytes, &v)) < 0)
			return -r.err->code;
		if (it.number == schema_number) {
			obj_unref(one);
			one = v;
			continue;
		}
		list = list ? list : obj_list();
		obj_append(list, v);
	}
	if (more < 0)
		return more;
	if (!one && shape == API_SCHEMA_OR_BOOL)
		one = obj_bool(allows);
	*ret = one ? STEAL(one) : list ? STEAL(list) : obj_list();
	return 0;
}

/* One value of the field's shape; *ret stays NULL where JSON leaves it out. */
static int decode_value(struct reader *r, const struct api_field *f, const struct item *it,
			struct obj **ret)
{
	enum api_shape shape = (enum api_shape)f->shape;
	bool number = shape == API_BOOL || shape == API_INT32 || shape == API_INT64;
	*ret = NULL;
	if (number)
		return decode_number(r, f, it, ret);
	if (shape == API_DOUBLE)
		return decode_double(r, it, ret);
	if (want(r, it, PB_BYTES) < 0)
		return -E_BADREQUEST;
	switch (shape) {
	case API_STRING:
		return keeps_zero(f) || it->bytes.len ? text_of(r, it->bytes, ret) : 0;
	case API_BYTES:
		*ret = keeps_zero(f) || it->bytes.len ? base64_of(it->bytes) : NULL;
		return 0;
	case API_QUANTITY:
		return decode_quantity(r, it->bytes, ret);
	case API_TIME:
	case API_MICRO_TIME:
		return decode_time(r, it->bytes, shape == API_MICRO_TIME, ret);
	case API_INT_OR_STRING:
		return decode_int_or_string(r, it->bytes, ret);
	case API_FIELDS:
	case API_RAW:
	case API_JSON:
		return decode_raw(r, it->bytes, ret);
	case API_SCHEMA_OR_ARRAY:
	case API_SCHEMA_OR_BOOL:
	case API_SCHEMA_OR_STRINGS:
		return decode_schema_or(r, shape, it->bytes, ret);
	case API_STRUCT:
		return decode_struct(r, api_struct_of(f), it->bytes, ret);
	case API_BOOL:
	case API_INT32:
	case API_INT64:
	case API_DOUBLE:
		break;
	}
	return 0;
}

static struct obj *member(struct obj *into, const char *name, struct obj *(*make)(void))
{
	if (!obj_has(into, name))
		obj_set(into, name, make());
	return obj_get_mut(into, name);
}

/* {items=1}: a list of texts in a map. */
static int decode_texts(struct reader *outer, struct str bytes, struct obj **ret)
{
	struct reader r = *outer;
	struct item it = {0};
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	int more;
	r.rest = bytes;
	while ((more = read_item(&r, &it)) > 0) {
		struct obj *v = NULL;
		if (spend(&r) < 0)
			return -E_TOOLARGE;
		if (it.number != 1)
			continue;
		if (want(&r, &it, PB_BYTES) < 0 || text_of(&r, it.bytes, &v) < 0)
			return -E_BADREQUEST;
		obj_append(list, v);
	}
	if (more == 0)
		*ret = STEAL(list);
	return more;
}

static int decode_entry(struct reader *r, const struct api_field *f, struct str bytes,
			struct obj *map)
{
	struct item key = {0}, value = {0};
	struct obj *v = NULL;
	if (find_item(r, bytes, 1, &key) < 0 || find_item(r, bytes, 2, &value) < 0)
		return -E_BADREQUEST;
	if (!utf8_valid(key.bytes) || (key.bytes.len && memchr(key.bytes.ptr, 0, key.bytes.len)))
		return broken(r, "illegal map key");
	if (!value.number) { /* a zero that was left out */
		bool number =
			f->shape == API_BOOL || f->shape == API_INT32 || f->shape == API_INT64;
		value.wire = number ? PB_VARINT : PB_BYTES;
	}
	if ((f->marks & API_LIST ? decode_texts(r, value.bytes, &v)
				 : decode_value(r, f, &value, &v)) < 0)
		return -r->err->code;
	CLEANUP(xfreep) char *name = str_dup(key.bytes);
	obj_set(map, name, v ? v : obj_null());
	return 0;
}

static int decode_field(struct reader *r, const struct api_field *f, const struct item *it,
			struct obj *into)
{
	const char *name = api_text(f->name);
	struct obj *v = NULL;
	if (f->flags & API_EMBEDDED)
		return want(r, it, PB_BYTES) < 0
			       ? -E_BADREQUEST
			       : decode_message(r, api_struct_of(f), it->bytes, into);
	if (f->marks & API_MAP) {
		if (want(r, it, PB_BYTES) < 0)
			return -E_BADREQUEST;
		return decode_entry(r, f, it->bytes, member(into, name, obj_map));
	}
	bool again = f->shape == API_STRUCT && !(f->marks & API_LIST) && obj_has(into, name);
	if (again) /* a message in two parts is one, as protobuf has it */
		return decode_message(r, api_struct_of(f), it->bytes, obj_get_mut(into, name));
	if (decode_value(r, f, it, &v) < 0)
		return -r->err->code;
	if (f->marks & API_LIST)
		obj_append(member(into, name, obj_list), v ? v : obj_null());
	else if (v)
		obj_set(into, name, v);
	return 0;
}

static const struct api_field *field_of(const struct api_type *t, unsigned number)
{
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	for (size_t i = 0; i < n; i++)
		if (fields[i].number == number)
			return &fields[i];
	return NULL;
}

static int decode_message(struct reader *outer, const struct api_type *t, struct str bytes,
			  struct obj *into)
{
	struct reader r = {bytes, outer->err, outer->depth + 1, outer->n_left};
	struct item it = {0};
	int more;
	if (r.depth > PROTOBUF_DEPTH_MAX)
		return broken(&r, "nested too deeply");
	while ((more = read_item(&r, &it)) > 0) {
		const struct api_field *f = field_of(t, it.number);
		if (spend(&r) < 0)
			return -E_TOOLARGE;
		if (f && decode_field(&r, f, &it, into) < 0)
			return -r.err->code;
	}
	return more;
}
/* NOLINTEND(misc-no-recursion) */

static int decode_type(struct reader *r, struct str type_meta, struct obj *into)
{
	struct item api_version = {0}, kind = {0};
	struct obj *v = NULL;
	if (find_item(r, type_meta, 1, &api_version) < 0 || find_item(r, type_meta, 2, &kind) < 0)
		return -E_BADREQUEST;
	if (text_of(r, api_version.bytes, &v) < 0)
		return -E_BADREQUEST;
	obj_set(into, "apiVersion", v);
	if (text_of(r, kind.bytes, &v) < 0)
		return -E_BADREQUEST;
	obj_set(into, "kind", v);
	return 0;
}

/* DeleteOptions are sent in the version of what is deleted. */
static const struct api_type *type_of(const struct obj *o)
{
	const char *kind = obj_str(o, "kind");
	if (cstr_eq(kind, "DeleteOptions"))
		return api_type_named("apis.meta.v1.DeleteOptions");
	return api_type_of_kind(obj_str(o, "apiVersion"), kind);
}

int protobuf_decode(struct str bytes, struct obj **ret, struct error *err)
{
	size_t n_left = OBJ_BODY_NODES_MAX;
	struct reader r = {bytes, err, 0, &n_left};
	struct item type_meta = {0}, raw = {0};
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	if (bytes.len > PROTOBUF_BYTES_MAX)
		return error_set(err, E_TOOLARGE, "protobuf body is larger than %zu bytes",
				 PROTOBUF_BYTES_MAX);
	if (bytes.len < PROTOBUF_MAGIC_BYTES ||
	    memcmp(bytes.ptr, PROTOBUF_MAGIC, PROTOBUF_MAGIC_BYTES) != 0)
		return broken(&r, "it does not begin with k8s\\x00");
	bytes = str_skip(bytes, PROTOBUF_MAGIC_BYTES);
	if (find_item(&r, bytes, 1, &type_meta) < 0 || find_item(&r, bytes, 2, &raw) < 0 ||
	    decode_type(&r, type_meta.bytes, o) < 0)
		return -E_BADREQUEST;
	const struct api_type *t = type_of(o);
	if (!t)
		return error_set(err, E_MEDIATYPE,
				 "%s %s is not served as protobuf; use kubectl create -f, which "
				 "sends application/json",
				 obj_str(o, "apiVersion"), obj_str(o, "kind"));
	if (decode_message(&r, t, raw.bytes, o) < 0)
		return -err->code;
	*ret = STEAL(o);
	return 0;
}
