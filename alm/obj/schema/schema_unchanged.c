/* schema_unchanged: what a validation needs to know of how a value was before an update (KEP-4008): which item of a list it was, and
 * how to take back what was found wrong with it. See schema_scalar.h. */
#include "alm/base/strbuf.h"
#include "alm/obj/schema/schema_scalar.h"

static const struct obj *item_key(const struct schema *s, const struct obj *item, const char *key)
{
	const struct obj *value = obj_get(item, key);
	if (value)
		return value;
	return schema_default_of(schema_property(s->items, key));
}

/* What makes the item unique: itself, or the map of its keys. Owned. */
struct obj *validation_identity(const struct schema *s, const struct obj *item)
{
	if (s->list_type == LIST_SET)
		return obj_ref(item);
	struct obj *keys = obj_map();
	for (size_t i = 0; i < s->n_list_keys; i++) {
		const struct obj *value = item_key(s, item, s->list_keys[i]);
		if (value)
			obj_set(keys, s->list_keys[i], obj_ref(value));
	}
	return keys;
}

static void let_go(void *o)
{
	obj_unref(o);
}

/* Items of a list of type map as they were, by what makes them unique. */
struct map *validation_items(const struct schema *s, const struct obj *old)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	if (s->list_type != LIST_MAP || obj_type(old) != OBJ_LIST)
		return NULL;
	struct map *ret = map_new(let_go);
	for (size_t i = 0; i < obj_len(old); i++) {
		CLEANUP(obj_unrefp) struct obj *id = validation_identity(s, obj_at(old, i));
		strbuf_clear(&text);
		go_bad_value(id, &text);
		map_set(ret, text.buf, obj_ref(obj_at(old, i)));
	}
	return ret;
}

/* NULL: there was none. */
const struct obj *validation_item(const struct schema *s, const struct obj *item,
				  const struct map *items)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	if (!items)
		return NULL;
	CLEANUP(obj_unrefp) struct obj *id = validation_identity(s, item);
	go_bad_value(id, &text);
	return map_get(items, text.buf);
}

struct validation_found validation_found(const struct schema_validation *v)
{
	const struct field_errors *e = v->errors;
	return e ? (struct validation_found){e->n, e->bytes, e->omitted, v->n_failed}
		 : (struct validation_found){.failed = v->n_failed};
}

void validation_forget(struct schema_validation *v, struct validation_found before)
{
	v->n_failed = before.failed;
	if (!v->errors)
		return;
	v->errors->n = before.n;
	v->errors->bytes = before.bytes;
	v->errors->omitted = before.omitted;
}
