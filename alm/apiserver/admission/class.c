/* class: see class.h. */
#include "alm/apiserver/admission/class.h"

#include <string.h>

#include "alm/apiserver/admit_platform.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/status.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define DEFAULT_MARK ".kubernetes.io/is-default-class"

static const struct defaulted {
	const char *group, *plural; /* of what names a class */
	const char *class_group, *class_plural, *field;
	const char *mark, *old_mark; /* of the class that is the default */
	const char *annotation;      /* that names one, too */
} defaulted[] = {
	{"", "persistentvolumeclaims", "storage.k8s.io", "storageclasses", "spec.storageClassName",
	 "storageclass" DEFAULT_MARK, "storageclass.beta" DEFAULT_MARK,
	 "volume.beta.kubernetes.io/storage-class"},
	{"networking.k8s.io", "ingresses", "networking.k8s.io", "ingressclasses",
	 "spec.ingressClassName", "ingressclass" DEFAULT_MARK, "ingressclass" DEFAULT_MARK,
	 "kubernetes.io/ingress.class"},
};

static bool is_marked(const struct obj *o, const struct defaulted *d)
{
	return cstr_eq(meta_annotation(o, d->mark), "true") ||
	       cstr_eq(meta_annotation(o, d->old_mark), "true");
}

/* Times of one form come in the order of their texts. */
static bool is_before(const struct obj *a, const struct obj *b)
{
	const char *x = obj_str(a, "metadata.creationTimestamp");
	const char *y = obj_str(b, "metadata.creationTimestamp");
	int order = strcmp(x ? x : "", y ? y : "");
	return order > 0 || (order == 0 && strcmp(meta_name(a), meta_name(b)) < 0);
}

static const struct obj *default_of(struct apiserver *s, const struct defaulted *d)
{
	const struct store_table *t = store_resource(s->store, d->class_group, d->class_plural);
	const struct obj *found = NULL;
	for (size_t i = 0; t && i < t->n_heads; i++) {
		if (!strstr(t->heads[i]->text->bytes, DEFAULT_MARK))
			continue; /* most are not, and need not be read */
		const struct obj *o = head_obj_hot(t->heads[i]);
		if (is_marked(o, d) && (!found || is_before(o, found)))
			found = o;
	}
	return found;
}

static bool is_about(const struct mutation *m, const char *group, const char *plural)
{
	return !m->head && cstr_eq(m->resource->group, group) &&
	       cstr_eq(m->resource->plural, plural) && !*m->r->subresource;
}

/* --- Pods --- */

static int forbid(struct mutation *m, struct error *err, const char *why)
{
	return fail_forbidden(m->r, m->name ? m->name : "", err, "pod rejected: %s", why);
}

#define NAME_SHOWN_MAX 4096

static const char *no_class(const char *name, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(NAME_SHOWN_MAX);
	json_quote(str_of(name), &b);
	return arena_fmt(a, "pod rejected: RuntimeClass %s not found", b.buf);
}

static struct head *find_class(struct apiserver *s, const char *name)
{
	return store_find(s->store, "node.k8s.io", "runtimeclasses", "", name);
}

/* E_FORBIDDEN; *ret NULL: it names none. */
static int class_of_pod(struct mutation *m, const struct obj **ret, struct error *err)
{
	const char *name = obj_str(m->after, "spec.runtimeClassName");
	struct head *h = name ? find_class(m->r->server, name) : NULL;
	*ret = h ? head_obj_hot(h) : NULL;
	return name && !h ? fail_forbidden(m->r, m->name ? m->name : "", err, "%s",
					   no_class(name, m->r->arena))
			  : 0;
}

const char *class_missing(struct apiserver *s, const struct obj *pod, struct arena *a)
{
	const char *name = obj_str(pod, "spec.runtimeClassName");
	return name && !find_class(s, name) ? no_class(name, a) : NULL;
}

/* What the class wants of nodes and the Pod says, too, is the same. */
static int add_labels(struct mutation *m, const struct obj *labels, struct error *err)
{
	OBJ_EACH (it, labels) {
		const char *want = obj_as_string(it.value);
		const char *path = arena_fmt(m->r->arena, "spec.nodeSelector['%s']", it.key);
		const char *have = obj_str(m->after, path);
		if (have && !cstr_eq(have, want))
			return fail_forbidden(
				m->r, m->name ? m->name : "", err,
				"conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; "
				"pod.spec.nodeSelector[%s] = %s",
				it.key, want, it.key, have);
		obj_set_path(m->after, path, obj_ref(it.value));
	}
	return 0;
}

static bool has(const struct obj *list, const struct obj *o)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_equal(obj_at(list, i), o))
			return true;
	return false;
}

static void add_tolerations(struct mutation *m, const struct obj *more)
{
	const struct obj *is = obj_path(m->after, "spec.tolerations");
	if (!obj_len(more))
		return;
	struct obj *list = obj_type(is) == OBJ_LIST ? obj_copy(is) : obj_list();
	for (size_t i = 0; i < obj_len(more); i++)
		if (!has(list, obj_at(more, i)))
			obj_append(list, obj_ref(obj_at(more, i)));
	obj_set_path(m->after, "spec.tolerations", list);
}

static bool is_overhead(const struct obj *o, const struct obj *overhead)
{
	return o && obj_equal(o, overhead);
}

#define OTHER_OVERHEAD "Pod's Overhead doesn't match RuntimeClass's defined Overhead"

static int admit_pod(struct mutation *m, struct error *err)
{
	const struct obj *c, *had = obj_path(m->after, "spec.overhead");
	if (class_of_pod(m, &c, err) < 0)
		return -err->code;
	const struct obj *overhead = obj_path(c, "overhead.podFixed");
	if (overhead && obj_len(had) && !is_overhead(had, overhead))
		return forbid(m, err, OTHER_OVERHEAD);
	if (overhead)
		obj_set_path(m->after, "spec.overhead", obj_ref(overhead));
	if (add_labels(m, obj_path(c, "scheduling.nodeSelector"), err) < 0)
		return -err->code;
	add_tolerations(m, obj_path(c, "scheduling.tolerations"));
	return 0;
}

int class_admit(struct mutation *m, struct error *err)
{
	admit_tolerations(m);
	for (size_t i = 0; i < ARRAY_LEN(defaulted); i++) {
		const struct defaulted *d = &defaulted[i];
		if (!is_about(m, d->group, d->plural) || obj_path(m->after, d->field) ||
		    meta_annotation(m->after, d->annotation) ||
		    obj_type(obj_get(m->after, "spec")) != OBJ_MAP)
			continue;
		const struct obj *c = default_of(m->r->server, d);
		if (c)
			obj_set_path(m->after, d->field, obj_string(meta_name(c)));
	}
	return is_about(m, "", "pods") ? admit_pod(m, err) : 0;
}

int class_check(struct mutation *m, struct error *err)
{
	const struct obj *c, *had = obj_path(m->after, "spec.overhead");
	if (!is_about(m, "", "pods"))
		return 0;
	if (class_of_pod(m, &c, err) < 0)
		return -err->code;
	const struct obj *overhead = obj_path(c, "overhead.podFixed");
	if (obj_path(c, "overhead") && !is_overhead(had, overhead))
		return forbid(m, err, OTHER_OVERHEAD);
	if (!obj_path(c, "overhead") && (had || cstr_eq(m->emptied, "spec.overhead")))
		return forbid(
			m, err,
			"Pod Overhead set without corresponding RuntimeClass defined Overhead");
	return 0;
}
