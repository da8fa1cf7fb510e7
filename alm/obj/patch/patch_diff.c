/* patch_diff: patch_json_diff() of patch.h. */
#include "alm/base/strbuf.h"
#include "alm/obj/patch/patch.h"

#define POINTER_BYTES_MAX ((size_t)1 << 20)

static void push(struct strbuf *path, const char *key)
{
	strbuf_addc(path, '/');
	for (; *key; key++) {
		if (*key == '~' || *key == '/')
			strbuf_adds(path, *key == '~' ? "~0" : "~1");
		else
			strbuf_addc(path, *key);
	}
}

static void emit(struct obj *out, const char *op, const struct strbuf *path,
		 const struct obj *value)
{
	struct obj *o = obj_map();
	obj_set_str(o, "op", op);
	obj_set_str(o, "path", path->buf);
	if (value)
		obj_set(o, "value", obj_ref(value));
	obj_append(out, o);
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static void visit(struct obj *out, struct strbuf *path, const struct obj *a, const struct obj *b);

static void visit_maps(struct obj *out, struct strbuf *path, const struct obj *a,
		       const struct obj *b)
{
	size_t len = path->len;
	OBJ_EACH (it, a) {
		push(path, it.key);
		if (!obj_has(b, it.key))
			emit(out, "remove", path, NULL);
		else
			visit(out, path, it.value, obj_get(b, it.key));
		strbuf_truncate(path, len);
	}
	OBJ_EACH (it, b) {
		if (obj_has(a, it.key))
			continue;
		push(path, it.key);
		emit(out, "add", path, it.value);
		strbuf_truncate(path, len);
	}
}

/* By index; a longer list loses or gains its tail. */
static void visit_lists(struct obj *out, struct strbuf *path, const struct obj *a,
			const struct obj *b)
{
	size_t len = path->len, n = obj_len(a), m = obj_len(b);
	for (size_t i = 0; i < n && i < m; i++) {
		strbuf_addf(path, "/%zu", i);
		visit(out, path, obj_at(a, i), obj_at(b, i));
		strbuf_truncate(path, len);
	}
	for (size_t i = n; i > m; i--) {
		strbuf_addf(path, "/%zu", i - 1);
		emit(out, "remove", path, NULL);
		strbuf_truncate(path, len);
	}
	for (size_t i = n; i < m; i++) {
		strbuf_addf(path, "/%zu", i);
		emit(out, "add", path, obj_at(b, i));
		strbuf_truncate(path, len);
	}
}

static void visit(struct obj *out, struct strbuf *path, const struct obj *a, const struct obj *b)
{
	if (obj_type(a) == OBJ_MAP && obj_type(b) == OBJ_MAP)
		visit_maps(out, path, a, b);
	else if (obj_type(a) == OBJ_LIST && obj_type(b) == OBJ_LIST)
		visit_lists(out, path, a, b);
	else if (!obj_equal(a, b))
		emit(out, "replace", path, b);
}
/* NOLINTEND(misc-no-recursion) */

struct obj *patch_json_diff(const struct obj *a, const struct obj *b)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(POINTER_BYTES_MAX);
	struct obj *out = obj_list();
	visit(out, &path, a, b);
	return out;
}
