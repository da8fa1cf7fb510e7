/* scale_object: the Scale of an object; see scale.h. */
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/scale.h"
#include "alm/apiserver/status.h"
#include "alm/obj/schema/schema_node.h"

#define STEPS_MAX 64 /* a path comes from a CRD, and what is made on the way nests */

/* ".spec.replicas", step by step: neither brackets nor quotes mean anything (unstructured). */
static const struct obj *at_path(const struct obj *o, const char *path)
{
	struct str rest = str_of(path ? path : ""), step;
	str_next(&rest, '.', &step); /* what is before the first dot */
	while (o && str_next(&rest, '.', &step))
		o = obj_getn(o, step);
	return o;
}

static int no_replicas(struct request *r, struct error *err)
{
	struct status_cause *cause = ARENA_NEW(r->arena, struct status_cause);
	cause->message = arena_fmt(r->arena, "the spec replicas field \"%s\" does not exist",
				   r->kind->spec_replicas_path);
	int rc = fail_code(r, E_INTERNAL, err, "Internal error occurred: %s", cause->message);
	r->failure.details = true;
	r->failure.extra = cause;
	r->failure.n_extra = 1;
	return rc;
}

static const char *selector_text(struct request *r, const struct obj *o)
{
	const struct kind *k = r->kind;
	const char *text =
		k->label_selector_path ? obj_as_string(at_path(o, k->label_selector_path)) : NULL;
	if (text || (k->flags & KIND_CUSTOM))
		return text;
	OBJ_EACH (it, obj_path(o, "spec.selector.matchLabels")) {
		const char *v = obj_as_string(it.value);
		text = text ? arena_fmt(r->arena, "%s,%s=%s", text, it.key, v ? v : "")
			    : arena_fmt(r->arena, "%s=%s", it.key, v ? v : "");
	}
	return text;
}

int scale_of(struct request *r, const struct obj *o, struct obj **ret, struct error *err)
{
	const struct kind *k = r->kind;
	int64_t want = -1, have = 0;
	obj_as_i64(at_path(o, k->spec_replicas_path), &want);
	obj_as_i64(at_path(o, k->status_replicas_path), &have);
	if (want < 0 && cstr_eq(r->verb, "get"))
		return no_replicas(r, err);
	struct obj *s = obj_keep(r->arena, obj_map()), *meta = obj_map();
	static const char *const fields[] = {"name", "namespace", "uid", "resourceVersion",
					     "creationTimestamp"};
	obj_set_str(s, "kind", "Scale");
	obj_set_str(s, "apiVersion", "autoscaling/v1");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		obj_set_str(meta, fields[i],
			    obj_str(o, arena_fmt(r->arena, "metadata.%s", fields[i])));
	obj_set(s, "metadata", meta);
	obj_set(s, "spec", obj_map());
	if (want > 0) /* Go leaves a zero out */
		obj_set_path(s, "spec.replicas", obj_int(want));
	obj_set_path(s, "status.replicas", obj_int(have));
	const char *selector = selector_text(r, o);
	if (selector)
		obj_set_path(s, "status.selector", obj_string(selector));
	*ret = s;
	return 0;
}

/* False if something that is no object is in the way, or the path has too many steps. */
static bool set_at_path(struct obj *o, const char *path, struct obj *value, struct arena *a)
{
	struct str rest = str_of(path), step;
	str_next(&rest, '.', &step);
	for (int i = 0; i < STEPS_MAX && str_next(&rest, '.', &step); i++) {
		const char *name = arena_strndup(a, step.ptr, step.len);
		if (!rest.ptr) {
			obj_set(o, name, value);
			return true;
		}
		if (!obj_has(o, name))
			obj_set(o, name, obj_map());
		o = obj_get_mut(o, name);
		if (obj_type(o) != OBJ_MAP)
			break;
	}
	obj_unref(value);
	return false;
}

int scale_put(struct request *r, struct obj *o, int64_t replicas, struct error *err)
{
	if (set_at_path(o, r->kind->spec_replicas_path, obj_int(replicas), r->arena))
		return 0;
	return fail_code(r, E_INTERNAL, err,
			 "Internal error occurred: replicas cannot be set at %s: something on the "
			 "way is no object, or it has more than %d steps",
			 r->kind->spec_replicas_path, STEPS_MAX);
}

/* --- what is stored --- */

static const char *go_type_of(const struct obj *v)
{
	switch (obj_type(v)) {
	case OBJ_BOOL:
		return "bool";
	case OBJ_INT:
		return "int64";
	case OBJ_DOUBLE:
		return "float64";
	case OBJ_STRING:
		return "string";
	case OBJ_LIST:
		return "[]interface {}";
	case OBJ_MAP:
		return "map[string]interface {}";
	case OBJ_ABSENT:
	case OBJ_NULL:
		break;
	}
	return "<nil>";
}

static void check_number(const char *path, int64_t n, struct field_errors *e)
{
	CLEANUP(obj_unrefp) struct obj *v = obj_int(n);
	if (n < 0)
		check_invalid(e, path, v, "should be a non-negative integer");
	else if (n > INT32_MAX)
		check_invalid(e, path, v, "should be less than or equal to 2147483647");
}

/* A wrong value on the way is told in the words of unstructured, with the step that it has not. */
static void check_member(const char *path, const struct obj *o, bool is_text,
			 struct field_errors *e)
{
	struct str rest = str_of(path), step;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FIELD_ERRORS_BYTES_MAX);
	const char *want = is_text ? "string" : "int64";
	int64_t n = 0;
	str_next(&rest, '.', &step);
	while (obj_type(o) == OBJ_MAP && rest.len) {
		str_next(&rest, '.', &step);
		o = obj_getn(o, step);
	}
	if (!o || (rest.len && obj_type(o) == OBJ_NULL) ||
	    (!rest.len && is_text && obj_type(o) == OBJ_STRING))
		return;
	if (!rest.len && !is_text && obj_as_i64(o, &n)) {
		check_number(path, n, e);
		return;
	}
	if (rest.len) {
		want = "map[string]interface{}";
		str_next(&rest, '.', &step);
	}
	int so_far = (int)(strlen(path) - rest.len) - (rest.len ? 1 : 0);
	go_plain(o, &b);
	field_errors_add(
		e, FIELD_INVALID, path,
		"Invalid value: %s: %.*s accessor error: %s is of the type %s, expected %s",
		is_text ? "\"\"" : "0", so_far, path, b.buf ? b.buf : "", go_type_of(o), want);
}

void scale_check(const struct kind *k, const struct obj *o, bool of_status, struct field_errors *e)
{
	if (k->spec_replicas_path && !of_status)
		check_member(k->spec_replicas_path, o, false, e);
	if (k->status_replicas_path)
		check_member(k->status_replicas_path, o, false, e);
	if (k->label_selector_path)
		check_member(k->label_selector_path, o, true, e);
}
