/* scale_object: the Scale of an object; see scale.h. */
#include "alm/apiserver/kinds/scale.h"
#include "alm/apiserver/status.h"

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
