/* cel_to_obj: a value of CEL as JSON; see cel_message.h. */
#include <math.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/cel/cel_message.h"

struct conversion {
	size_t *left, depth; /* bytes; of the value that is looked at */
	struct error *err;
};

/* NOLINTBEGIN(misc-no-recursion): convert() goes OBJ_DEPTH_MAX deep */
static int convert(struct conversion *x, const struct cel_value *v, struct obj **ret);

static size_t size_of(const struct obj *o)
{
	size_t n = 16 + obj_as_str(o).len;
	OBJ_EACH (it, o)
		n += strlen(it.key) + size_of(it.value);
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
		n += size_of(obj_at(o, i));
	return n;
}

static int charge(struct conversion *x, size_t n)
{
	if (n > *x->left)
		return error_set(x->err, E_TOOLARGE, "what the expression builds is too large");
	*x->left -= n;
	return 0;
}

static int to_list(struct conversion *x, const struct cel_value *v, struct obj **ret)
{
	CLEANUP(obj_unrefp) struct obj *out = obj_list();
	for (size_t i = 0; i < v->list.n; i++) {
		struct obj *one;
		if (convert(x, &v->list.items[i], &one) < 0)
			return -x->err->code;
		obj_append(out, one);
	}
	*ret = STEAL(out);
	return 0;
}

static int to_map(struct conversion *x, const struct cel_value *items, size_t n, struct obj **ret)
{
	CLEANUP(obj_unrefp) struct obj *out = obj_map();
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(CEL_OBJ_BYTES_MAX);
	for (size_t i = 0; i + 1 < n; i += 2) {
		struct obj *one;
		if (items[i].kind != CEL_STRING)
			return error_set(x->err, E_INVALID, "map key is of type %s, not string",
					 cel_kind_name(items[i].kind));
		if (charge(x, items[i].str.len) < 0 || convert(x, &items[i + 1], &one) < 0)
			return -x->err->code;
		strbuf_truncate(&key, 0);
		strbuf_addstr(&key, items[i].str);
		obj_set(out, key.buf, one);
	}
	*ret = STEAL(out);
	return 0;
}

static int to_text(const struct cel_value *v, struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_OBJ_BYTES_MAX);
	if (v->kind == CEL_BYTES)
		base64_encode(v->str, &b);
	else
		cel_time_text(v, &b);
	if (strbuf_check(&b, "a text", err) < 0)
		return -err->code;
	*ret = obj_stringn(strbuf_str(&b));
	return 0;
}

static int convert_one(struct conversion *x, const struct cel_value *v, struct obj **ret)
{
	bool text = v->kind == CEL_STRING || v->kind == CEL_BYTES || v->kind == CEL_URL;
	bool copied = (v->kind == CEL_LIST || v->kind == CEL_MAP) && v->o;
	size_t bytes = copied ? size_of(v->o) : 16 + (text ? v->str.len : 0);
	if (charge(x, bytes) < 0)
		return -x->err->code;
	if (x->depth + (copied ? obj_depth(v->o) : 0) > OBJ_DEPTH_MAX)
		return error_set(x->err, E_INVALID, "what the expression builds is deeper than %d",
				 OBJ_DEPTH_MAX);
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
			return error_set(x->err, E_INVALID, "%f has no form in JSON", v->d);
		*ret = obj_double(v->d);
		return 0;
	case CEL_STRING:
	case CEL_URL:
		*ret = obj_stringn(v->str);
		return 0;
	case CEL_BYTES:
	case CEL_DURATION:
	case CEL_TIMESTAMP:
		return to_text(v, ret, x->err);
	case CEL_MESSAGE:
		return to_map(x, v->message->items, v->message->n, ret);
	case CEL_LIST:
	case CEL_MAP:
		if (v->o)
			*ret = obj_copy(v->o);
		return v->o                 ? 0
		       : v->kind == CEL_MAP ? to_map(x, v->list.items, v->list.n, ret)
					    : to_list(x, v, ret);
	default:
		return error_set(x->err, E_INVALID, "a %s has no form in JSON",
				 cel_kind_name(v->kind));
	}
}

static int convert(struct conversion *x, const struct cel_value *v, struct obj **ret)
{
	x->depth++;
	int r = convert_one(x, v, ret);
	x->depth--;
	return r;
}
/* NOLINTEND(misc-no-recursion) */

int cel_to_obj(const struct cel_value *v, size_t *left, struct obj **ret, struct error *err)
{
	struct conversion x = {.left = left, .err = err};
	return convert_one(&x, v, ret);
}
