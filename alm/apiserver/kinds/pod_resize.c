/* pod_resize: see pod_resize.h. */
#include "alm/apiserver/kinds/pod_resize.h"

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_amount.h"
#include "alm/obj/schema/api_same.h"

static const char *const amounts[] = {"limits", "requests"};
static const char *const may_change[] = {"cpu", "memory"};
static const char *const lists[] = {"initContainers", "containers"};

static bool same_names(const struct obj *is, const struct obj *was)
{
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *a = obj_get(is, lists[k]), *b = obj_get(was, lists[k]);
		if (obj_len(a) != obj_len(b))
			return false;
		for (size_t i = 0; i < obj_len(a); i++)
			if (!cstr_eq(obj_str(obj_at(a, i), "name"), obj_str(obj_at(b, i), "name")))
				return false;
	}
	return true;
}

static void take(struct obj *o, const struct obj *from, const char *field)
{
	const struct obj *v = obj_get(from, field);
	if (v)
		obj_set(o, field, obj_copy(v));
	else
		obj_del(o, field);
}

bool pod_resize_take(struct obj *o, const struct obj *asked)
{
	struct obj *spec = obj_get_mut(o, "spec");
	const struct obj *from = obj_get(asked, "spec");
	if (!same_names(spec, from))
		return false;
	take(spec, from, "resources");
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < obj_len(obj_get(from, lists[k])); i++) {
			struct obj *c = obj_at_mut(obj_get_mut(spec, lists[k]), i);
			take(c, obj_at(obj_get(from, lists[k]), i), "resources");
			take(c, obj_at(obj_get(from, lists[k]), i), "resizePolicy");
		}
	return true;
}

/* --- what is compared --- */

/* One list of amounts, cpu and memory as they were; NULL: none is there. */
static struct obj *amounts_but(const struct obj *is, const struct obj *was)
{
	struct obj *o = obj_copy_map(is);
	for (size_t i = 0; i < ARRAY_LEN(may_change); i++)
		take(o, was, may_change[i]);
	if (obj_len(o))
		return o;
	obj_unref(o);
	return NULL;
}

/* What there is of resources beside cpu and memory; those are as they were. */
static struct obj *resources_but(const struct obj *is, const struct obj *was, bool with_claims)
{
	struct obj *o = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(amounts); i++) {
		struct obj *v = amounts_but(obj_get(is, amounts[i]), obj_get(was, amounts[i]));
		if (v)
			obj_set(o, amounts[i], v);
	}
	if (with_claims && obj_len(obj_get(is, "claims")))
		obj_set(o, "claims", obj_copy(obj_get(is, "claims")));
	return o;
}

/* Of a container claims are left out of one side alone there, so that with claims nothing can be resized. */
static bool is_same_but(const char *type, const struct obj *is, const struct obj *was,
			bool with_claims)
{
	CLEANUP(obj_unrefp) struct obj *a = resources_but(is, was, with_claims);
	CLEANUP(obj_unrefp) struct obj *b = resources_but(was, was, true);
	return api_same(api_type_named(type), a, b);
}

static bool same_policy(const struct obj *is, const struct obj *was)
{
	const struct obj *a = obj_get(is, "resizePolicy"), *b = obj_get(was, "resizePolicy");
	return (!obj_len(a) && !obj_len(b)) || (a && b && obj_equal(a, b));
}

#define RESOURCES "core.v1.ResourceRequirements"

bool pod_resize_same(const struct obj *is, const struct obj *was)
{
	const struct obj *a = obj_get(is, "resources"), *b = obj_get(was, "resources");
	CLEANUP(obj_unrefp) struct obj *none = obj_map();
	return api_same(api_type_named(RESOURCES), a ? a : none, b ? b : none);
}

static bool is_removed(const struct obj *is, const struct obj *was)
{
	OBJ_EACH (it, was)
		if (!obj_has(is, it.key))
			return true;
	return false;
}

static void check_removed(struct field_errors *e, const char *path, const struct obj *is,
			  const struct obj *was, const char *of)
{
	for (size_t i = ARRAY_LEN(amounts); i-- > 0;)
		if (is_removed(obj_get(is, amounts[i]), obj_get(was, amounts[i])))
			check_forbidden(
				e, check_below(e, path, amounts[i]),
				arena_fmt(e->arena, "%s %s cannot be removed", of, amounts[i]));
}

/* --- the parts --- */

static bool has_amounts(const struct obj *resources)
{
	return obj_len(obj_get(resources, "requests")) + obj_len(obj_get(resources, "limits")) > 0;
}

static void check_whole(struct field_errors *e, const struct obj *is, const struct obj *was)
{
	static const char path[] = "spec.resources";
	if (was && !is) {
		check_forbidden(e, path, "pod-level resources cannot be removed");
		return;
	}
	check_removed(e, path, is, was, "pod-level resource");
	if (!is_same_but(RESOURCES, is, was, true))
		check_forbidden(e, "spec",
				"only cpu and memory resources are mutable at pod-level");
}

/* false: the containers are others, and nothing more is told. */
static bool check_order(struct field_errors *e, const struct obj *is, const struct obj *was)
{
	size_t from = e->n;
	for (size_t k = ARRAY_LEN(lists); k-- > 0;) {
		const struct obj *a = obj_get(is, lists[k]), *b = obj_get(was, lists[k]);
		const char *path = check_below(e, "spec", lists[k]);
		if (obj_len(a) != obj_len(b))
			check_forbidden(e, path,
					arena_fmt(e->arena,
						  "%s may not be added or removed on resize",
						  lists[k]));
		for (size_t i = 0; obj_len(a) == obj_len(b) && i < obj_len(a); i++)
			if (!cstr_eq(obj_str(obj_at(a, i), "name"), obj_str(obj_at(b, i), "name")))
				check_forbidden(
					e, check_below(e, check_at(e, path, i), "name"),
					arena_fmt(e->arena,
						  "%s may not be renamed or reordered on resize",
						  lists[k]));
	}
	return e->n == from;
}

static bool restarts(const struct obj *c)
{
	const struct obj *list = obj_get(c, "resizePolicy");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "restartPolicy"), "RestartContainer"))
			return true;
	return false;
}

static void check_container(struct field_errors *e, const char *list, size_t i,
			    const struct obj *is, const struct obj *was)
{
	bool init = cstr_eq(list, "initContainers");
	const char *path = init ? check_at(e, "spec.initContainers", i) : "spec";
	bool other =
		!is_same_but(RESOURCES, obj_get(is, "resources"), obj_get(was, "resources"), false);
	if (other || !same_policy(is, was))
		check_forbidden(e, path,
				init ? "only cpu and memory resources for init or sidecar "
				       "containers are mutable"
				     : "only cpu and memory resources are mutable");
	if (init && !cstr_eq(obj_str(is, "restartPolicy"), "Always") && restarts(is) &&
	    !(pod_resize_same(is, was) && same_policy(is, was)))
		check_forbidden(e, path,
				"non-sidecar init containers with a resize policy of "
				"RestartContainer cannot be resized");
}

static void check_containers(struct field_errors *e, const struct obj *is, const struct obj *was)
{
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *a = obj_get(is, lists[k]), *b = obj_get(was, lists[k]);
		const char *path = check_below(e, "spec", lists[k]);
		for (size_t i = 0; i < obj_len(a) && !field_errors_full(e); i++)
			check_removed(e, check_below(e, check_at(e, path, i), "resources"),
				      obj_get(obj_at(a, i), "resources"),
				      obj_get(obj_at(b, i), "resources"), "resource");
	}
	for (size_t k = ARRAY_LEN(lists); k-- > 0;) {
		const struct obj *a = obj_get(is, lists[k]), *b = obj_get(was, lists[k]);
		for (size_t i = 0; i < obj_len(a) && !field_errors_full(e); i++)
			check_container(e, lists[k], i, obj_at(a, i), obj_at(b, i));
	}
}

/* Is the kubelet, if there is one, of those that tell what a container has? */
static bool node_resizes(const struct obj *before)
{
	const struct obj *list = obj_path(before, "status.containerStatuses");
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_is_set(obj_path(obj_at(list, i), "state.running")))
			return obj_is_set(obj_get(obj_at(list, i), "resources"));
	return true;
}

/* Of what cannot be resized at all, nothing else is told. */
static bool check_able(struct field_errors *e, const struct obj *before)
{
	const struct obj *notes = obj_path(before, "metadata.annotations");
	const char *what = obj_has(notes, "kubernetes.io/config.mirror")         ? "static"
			   : cstr_eq(obj_str(before, "spec.os.name"), "windows") ? "windows"
										 : NULL;
	if (!what)
		return true;
	e->n = 0;
	check_forbidden(e, "[]", arena_fmt(e->arena, "%s pods cannot be resized", what));
	return false;
}

void pod_resize_check(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *is = obj_get(o, "spec"), *was = obj_get(before, "spec");
	const struct obj *own = obj_get(is, "resources"), *had = obj_get(was, "resources");
	const char *told = obj_str(before, "status.qosClass");
	if (!check_able(e, before))
		return;
	if (!cstr_eq(told && *told ? told : pod_quality(before), pod_quality(o)))
		check_invalid_text(e, "spec", check_text(obj_get(o, "status"), "qosClass"),
				   "Pod QOS Class may not change as a result of resizing");
	if (!node_resizes(before))
		check_forbidden(e, "spec", "Pod running on node without support for resize");
	bool whole = has_amounts(own) || has_amounts(had);
	if (whole)
		check_whole(e, own, had);
	if (obj_len(obj_path(before, "status.nodeAllocatableResourceClaimStatuses")))
		check_forbidden(e, "spec",
				"pods with node allocatable resource claims cannot be resized");
	if (!check_order(e, is, was))
		return;
	check_containers(e, is, was);
	if (e->n == 0 && !whole && !own != !had)
		check_forbidden(e, "spec", "only cpu and memory resources are mutable");
}
