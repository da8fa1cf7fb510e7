/* cel_to_obj: a value of CEL as JSON; see cel_message.h. */
#include <math.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/cel/cel_message.h"

#define BYTES_MAX ((size_t)8 << 20)

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by CEL_DEPTH_MAX */
static size_t size_of(const struct obj *o)
{
	size_t n = 16 + obj_as_str(o).len;
	OBJ_EACH (it, o)
		n += strlen(it.key) + size_of(it.value);
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
		n += size_of(obj_at(o, i));
	return n;
}

static int charge(size_t n, size_t *left, struct error *err)
{
	if (n > *left)
		return error_set(err, E_TOOLARGE, "what the expression builds is too large");
	*left -= n;
	return 0;
}

static int to_list(const struct cel_value *v, size_t *left, struct obj **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *out = obj_list();
	for (size_t i = 0; i < v->list.n; i++) {
		struct obj *one;
		if (cel_to_obj(&v->list.items[i], left, &one, err) < 0)
			return -err->code;
		obj_append(out, one);
	}
	*ret = STEAL(out);
	return 0;
}

static int to_map(const struct cel_value *items, size_t n, size_t *left, struct obj **ret,
		  struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *out = obj_map();
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(BYTES_MAX);
	for (size_t i = 0; i + 1 < n; i += 2) {
		struct obj *one;
		if (items[i].kind != CEL_STRING)
			return error_set(err, E_INVALID, "map key is of type %s, not string",
					 cel_kind_name(items[i].kind));
		if (cel_to_obj(&items[i + 1], left, &one, err) < 0)
			return -err->code;
		strbuf_truncate(&key, 0);
		strbuf_addstr(&key, items[i].str);
		obj_set(out, key.buf, one);
	}
	*ret = STEAL(out);
	return 0;
}

static int to_text(const struct cel_value *v, struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(BYTES_MAX);
	if (v->kind == CEL_BYTES)
		base64_encode(v->str, &b);
	else
		cel_time_text(v, &b);
	if (strbuf_check(&b, "a text", err) < 0)
		return -err->code;
	*ret = obj_stringn(strbuf_str(&b));
	return 0;
}

int cel_to_obj(const struct cel_value *v, size_t *left, struct obj **ret, struct error *err)
{
	bool text = v->kind == CEL_STRING || v->kind == CEL_BYTES || v->kind == CEL_URL;
	bool copied = (v->kind == CEL_LIST || v->kind == CEL_MAP) && v->o;
	size_t bytes = copied ? size_of(v->o) : 16 + (text ? v->str.len : 0);
	if (charge(bytes, left, err) < 0)
		return -err->code;
	switch ((int)v->kind) {
	case CEL_NULL:
		*ret = obj_null();
		return 0;
	case CEL_BOOL:
		*ret = obj_bool(v->b);
		return 0;
	case CEL_INT:
		*ret = obj_int(v->i);
		return 0;
	case CEL_UINT:
		*ret = v->u <= INT64_MAX ? obj_int((int64_t)v->u) : obj_double((double)v->u);
		return 0;
	case CEL_DOUBLE:
		if (!isfinite(v->d))
			return error_set(err, E_INVALID, "%f has no form in JSON", v->d);
		*ret = obj_double(v->d);
		return 0;
	case CEL_STRING:
	case CEL_URL:
		*ret = obj_stringn(v->str);
		return 0;
	case CEL_BYTES:
	case CEL_DURATION:
	case CEL_TIMESTAMP:
		return to_text(v, ret, err);
	case CEL_MESSAGE:
		return to_map(v->message->items, v->message->n, left, ret, err);
	case CEL_LIST:
	case CEL_MAP:
		if (v->o)
			*ret = obj_copy(v->o);
		return v->o                 ? 0
		       : v->kind == CEL_MAP ? to_map(v->list.items, v->list.n, left, ret, err)
					    : to_list(v, left, ret, err);
	default:
		return error_set(err, E_INVALID, "a %s has no form in JSON",
				 cel_kind_name(v->kind));
	}
}
/* NOLINTEND(misc-no-recursion) */
