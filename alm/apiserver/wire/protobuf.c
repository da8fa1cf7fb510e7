/* protobuf: the wire format. Input is hostile: every length is checked against what is left, depth
 * is bounded, and a wrong wire type is an error. */
#include "alm/apiserver/wire/protobuf.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/gvk.h"

#define PROTOBUF_BYTES_MAX ((size_t)4 << 20)

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct reader {
	struct str rest;
	struct error *err;
	int depth;
};

/* One field as read: varint or bytes. */
struct item {
	unsigned number;
	enum wire wire;
	uint64_t varint;
	struct str bytes;
};

static int broken(struct reader *r, const char *what)
{
	return error_set(r->err, E_BADREQUEST, "protobuf body: %s", what);
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
	*ret = (struct item){.number = (unsigned)(tag >> 3), .wire = (enum wire)(tag & 7)};
	switch (tag & 7) {
	case WIRE_VARINT:
		return read_varint(r, &ret->varint) < 0 ? -E_BADREQUEST : 1;
	case WIRE_BYTES:
		if (read_varint(r, &len) < 0 || read_bytes(r, len, &ret->bytes) < 0)
			return -E_BADREQUEST;
		return 1;
	case WIRE_64:
		return read_bytes(r, 8, &ret->bytes) < 0 ? -E_BADREQUEST : 1;
	case WIRE_32:
		return read_bytes(r, 4, &ret->bytes) < 0 ? -E_BADREQUEST : 1;
	default:
		return broken(r, "illegal wire type");
	}
}

static int decode_message(struct reader *r, const struct pb_message *m, struct obj *into);

static int want(struct reader *r, const struct item *it, enum wire wire)
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
	struct reader r = {bytes, outer->err, outer->depth};
	struct item it = {0};
	int more;
	*ret = (struct item){0};
	while ((more = read_item(&r, &it)) > 0)
		if (it.number == want_number)
			*ret = it;
	return more;
}

static int decode_time(struct reader *r, struct str bytes, struct obj **ret)
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
	clock_format(s * NS_PER_S + n, n ? CLOCK_MICROS : CLOCK_SECONDS, text);
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
	*ret = obj_int((int64_t)number.varint);
	return 0;
}

static int decode_map_entry(struct reader *r, enum pb_type type, struct str bytes, struct obj *map)
{
	struct item key = {0}, value = {0};
	struct obj *v = NULL;
	if (find_item(r, bytes, 1, &key) < 0 || find_item(r, bytes, 2, &value) < 0)
		return -E_BADREQUEST;
	if (!utf8_valid(key.bytes) || (key.bytes.len && memchr(key.bytes.ptr, 0, key.bytes.len)))
		return broken(r, "illegal map key");
	int e = 0;
	if (type == PB_BYTES_MAP)
		v = base64_of(value.bytes);
	else if (type == PB_QUANTITY_MAP)
		e = decode_quantity(r, value.bytes, &v);
	else
		e = text_of(r, value.bytes, &v);
	if (e < 0)
		return e;
	CLEANUP(xfreep) char *name = str_dup(key.bytes);
	obj_set(map, name, v);
	return 0;
}

/* The scalar, or NULL where JSON leaves it out. */
static int decode_scalar(struct reader *r, const struct pb_field *f, const struct item *it,
			 struct obj **ret)
{
	bool keep = f->flags & (PB_KEEP | PB_REPEATED);
	bool is_varint = f->type == PB_INT || f->type == PB_BOOL;
	*ret = NULL;
	if (want(r, it, is_varint ? WIRE_VARINT : WIRE_BYTES) < 0)
		return -E_BADREQUEST;
	switch (f->type) {
	case PB_INT:
		*ret = keep || it->varint ? obj_int((int64_t)it->varint) : NULL;
		return 0;
	case PB_BOOL:
		*ret = keep || it->varint ? obj_bool(it->varint != 0) : NULL;
		return 0;
	case PB_BYTES:
		*ret = keep || it->bytes.len ? base64_of(it->bytes) : NULL;
		return 0;
	case PB_TIME:
		return decode_time(r, it->bytes, ret);
	case PB_QUANTITY:
		return decode_quantity(r, it->bytes, ret);
	case PB_INT_OR_STRING:
		return decode_int_or_string(r, it->bytes, ret);
	case PB_STRING:
	case PB_MESSAGE:
	case PB_STRING_MAP:
	case PB_BYTES_MAP:
	case PB_QUANTITY_MAP:
		break;
	}
	return keep || it->bytes.len ? text_of(r, it->bytes, ret) : 0;
}

/* NOLINTBEGIN(misc-no-recursion): decode_sub() bounds the depth by PROTOBUF_DEPTH_MAX */
static struct obj *member(struct obj *into, const char *name, struct obj *(*make)(void))
{
	if (!obj_has(into, name))
		obj_set(into, name, make());
	return obj_get_mut(into, name);
}

static int decode_sub(struct reader *r, const struct pb_field *f, const struct item *it,
		      struct obj *into)
{
	struct reader sub = {it->bytes, r->err, r->depth + 1};
	if (want(r, it, WIRE_BYTES) < 0)
		return -E_BADREQUEST;
	if (sub.depth > PROTOBUF_DEPTH_MAX)
		return broken(r, "nested too deeply");
	if (!(f->flags & PB_REPEATED))
		return decode_message(&sub, f->of, member(into, f->name, obj_map));
	struct obj *list = member(into, f->name, obj_list);
	obj_append(list, obj_map());
	return decode_message(&sub, f->of, obj_at_mut(list, obj_len(list) - 1));
}

static int decode_field(struct reader *r, const struct pb_field *f, const struct item *it,
			struct obj *into)
{
	struct obj *v = NULL;
	if (f->type == PB_MESSAGE)
		return decode_sub(r, f, it, into);
	if (f->type == PB_STRING_MAP || f->type == PB_BYTES_MAP || f->type == PB_QUANTITY_MAP) {
		if (want(r, it, WIRE_BYTES) < 0)
			return -E_BADREQUEST;
		return decode_map_entry(r, f->type, it->bytes, member(into, f->name, obj_map));
	}
	if (decode_scalar(r, f, it, &v) < 0)
		return -E_BADREQUEST;
	if (v && f->flags & PB_REPEATED)
		obj_append(member(into, f->name, obj_list), v);
	else if (v)
		obj_set(into, f->name, v);
	return 0;
}

static int decode_message(struct reader *r, const struct pb_message *m, struct obj *into)
{
	struct item it = {0};
	int more;
	while ((more = read_item(r, &it)) > 0) {
		const struct pb_field *f = m->fields;
		while (f->name && f->number != it.number)
			f++;
		if (f->name && decode_field(r, f, &it, into) < 0)
			return -E_BADREQUEST;
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

static const struct pb_message *message_of(const struct obj *o)
{
	const char *api_version = obj_str(o, "apiVersion"), *kind = obj_str(o, "kind");
	struct str group, version;
	if (!str_cut(str_of(api_version), '/', &group, &version))
		return protobuf_message("", kind);
	CLEANUP(xfreep) char *g = str_dup(group);
	return protobuf_message(g, kind);
}

int protobuf_decode(struct str bytes, struct obj **ret, struct error *err)
{
	static const char magic[4] = {'k', '8', 's', 0};
	struct reader r = {bytes, err, 0};
	struct item type_meta = {0}, raw = {0};
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	if (bytes.len > PROTOBUF_BYTES_MAX)
		return error_set(err, E_TOOLARGE, "protobuf body is larger than %zu bytes",
				 PROTOBUF_BYTES_MAX);
	if (bytes.len < sizeof(magic) || memcmp(bytes.ptr, magic, sizeof(magic)) != 0)
		return broken(&r, "it does not begin with k8s\\x00");
	bytes = str_skip(bytes, sizeof(magic));
	if (find_item(&r, bytes, 1, &type_meta) < 0 || find_item(&r, bytes, 2, &raw) < 0 ||
	    decode_type(&r, type_meta.bytes, o) < 0)
		return -E_BADREQUEST;
	const struct pb_message *m = message_of(o);
	if (!m)
		return error_set(err, E_MEDIATYPE,
				 "%s %s is not served as protobuf; use kubectl create -f, which "
				 "sends application/json",
				 obj_str(o, "apiVersion"), obj_str(o, "kind"));
	r.rest = raw.bytes;
	int e = decode_message(&r, m, o);
	if (e < 0)
		return e;
	*ret = STEAL(o);
	return 0;
}
