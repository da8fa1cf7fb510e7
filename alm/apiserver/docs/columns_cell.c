/* columns_cell: cells of every kind, and what cells are made of. */
#include "alm/apiserver/docs/columns_internal.h"
#include "alm/base/clock.h"
#include "alm/obj/meta.h"

struct obj *columns_age(const char *timestamp, int64_t now_ns)
{
	char text[CLOCK_TEXT_MAX];
	int64_t then;
	if (!timestamp)
		return obj_string("<unknown>");
	if (!clock_parse(str_of(timestamp), &then))
		return obj_string("<invalid>");
	duration_human(now_ns - then, text);
	return obj_string(text);
}

struct obj *columns_text(const char *s, const char *fallback)
{
	return obj_string(s && *s ? s : fallback);
}

struct obj *columns_take(struct strbuf *b, const char *fallback)
{
	struct obj *o = columns_text(b->len ? b->buf : NULL, fallback);
	strbuf_release(b);
	return o;
}

struct obj *columns_cell_age(const struct obj *o, int64_t now_ns)
{
	return columns_age(obj_str(o, "metadata.creationTimestamp"), now_ns);
}

struct obj *columns_cell_name(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_text(obj_str(o, "metadata.name"), "");
}

struct obj *columns_cell_default_name(const struct obj *o, int64_t now_ns)
{
	static const char *const keys[] = {"storageclass.kubernetes.io/is-default-class",
					   "storageclass.beta.kubernetes.io/is-default-class",
					   "ingressclass.kubernetes.io/is-default-class"};
	const char *name = obj_str(o, "metadata.name");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (cstr_eq(meta_annotation(o, keys[i]), "true"))
			return obj_stringf("%s (default)", name ? name : "");
	return columns_cell_name(o, now_ns);
}

void columns_add(struct strbuf *b, const char *sep, const char *s)
{
	if (!s)
		return;
	if (b->len)
		strbuf_adds(b, sep);
	strbuf_adds(b, s);
}

struct obj *columns_join(const struct obj *list, const char *member, const char *fallback)
{
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *item = obj_at(list, i);
		columns_add(&b, ",", member ? obj_str(item, member) : obj_as_string(item));
	}
	return columns_take(&b, fallback);
}

struct obj *columns_number(const struct obj *o, const char *path)
{
	return obj_int(obj_i64(o, path, 0));
}

static void add_pairs(struct strbuf *b, const struct obj *map)
{
	OBJ_EACH (it, map) {
		const char *value = obj_as_string(it.value);
		strbuf_addf(b, "%s%s=%s", b->len ? "," : "", it.key, value ? value : "");
	}
}

struct obj *columns_selector(const struct obj *selector)
{
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	add_pairs(&b, obj_get(selector, "matchLabels"));
	const struct obj *list = obj_get(selector, "matchExpressions");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *e = obj_at(list, i);
		const char *key = obj_str(e, "key"), *op = obj_str(e, "operator");
		const struct obj *values = obj_get(e, "values");
		bool negated = cstr_eq(op, "DoesNotExist");
		strbuf_addf(&b, "%s%s%s", b.len ? "," : "", negated ? "!" : "", key ? key : "");
		if (negated || cstr_eq(op, "Exists"))
			continue;
		strbuf_addf(&b, " %s (", cstr_eq(op, "NotIn") ? "notin" : "in");
		for (size_t j = 0; j < obj_len(values); j++) {
			const char *v = obj_as_string(obj_at(values, j));
			strbuf_addf(&b, "%s%s", j ? "," : "", v ? v : "");
		}
		strbuf_addc(&b, ')');
	}
	return columns_take(&b, "<none>");
}

struct obj *columns_pairs(const struct obj *map)
{
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	add_pairs(&b, map);
	return columns_take(&b, "<none>");
}

struct obj *columns_plain_selector(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_pairs(obj_path(o, "spec.selector"));
}
