/* pod_resource_check: what containers and a Pod as a whole ask for, as core/validation of Kubernetes 1.36 has it; see pod_parts.h. */
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/obj/gvk.h"
#include "alm/obj/quantity.h"

/* Not below zero, and of an extended resource whole. */
static void check_quantity(struct field_errors *e, const char *path, const char *name,
			   const struct obj *v)
{
	struct quantity q;
	const char *text = obj_as_string(v);
	size_t from = e->n;
	if (!text || !quantity_read(str_of(text), &q))
		return;
	if (q.nanos < 0)
		check_invalid_text(e, path, text, "must be greater than or equal to 0");
	if (strchr(name, '/') && !strstr(name, "kubernetes.io/") && q.nanos % 1000000000 &&
	    !name_fault(NAME_QUALIFIED, str_of(name)))
		check_invalid_text(e, path, text, "must be an integer");
	check_said_since(e, from, v);
}

/* Of a Pod as a whole only few can be asked for. */
static void check_amount_name(struct field_errors *e, const char *path, const char *name, bool pod)
{
	static const char *const known[] = {"cpu", "hugepages-", "memory", NULL};
	size_t from = e->n;
	if (!pod) {
		check_container_resource(e, path, name);
		return;
	}
	check_resource_name(e, path, name);
	if (e->n == from && !cstr_has_prefix(name, "hugepages-"))
		field_errors_one_of(e, path, name, known);
}

/* What a node can overcommit is asked for up to its limit; another resource in full. */
static void check_request(struct field_errors *e, const char *path, const struct obj *limits,
			  const char *name, const struct obj *v)
{
	struct quantity request, limit;
	const char *text = obj_as_string(v), *most = obj_as_string(obj_get(limits, name));
	bool part = (!strchr(name, '/') || strstr(name, "kubernetes.io/")) &&
		    !cstr_has_prefix(name, "hugepages-");
	if (text && !most && !part) {
		check_required(e, check_below(e, path, "limits"),
			       "Limit must be set for non overcommitable resources");
		check_said_of(e, v);
	}
	if (!text || !most || !quantity_read(str_of(text), &request) ||
	    !quantity_read(str_of(most), &limit) ||
	    (part ? request.nanos <= limit.nanos : request.nanos == limit.nanos))
		return;
	field_errors_add(e, FIELD_INVALID, check_below(e, path, "requests"),
			 "Invalid value: \"%s\": must be %s to %s limit of %s", text,
			 part ? "less than or equal" : "equal", name, most);
}

void pod_check_resources(struct field_errors *e, const char *path, const struct obj *resources,
			 const struct obj *claims, bool pod)
{
	static const char *const lists[] = {"limits", "requests"};
	const struct obj *limits = obj_get(resources, "limits");
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		OBJ_EACH (it, obj_get(resources, lists[i])) {
			const char *at = arena_fmt(e->arena, "%s.%s[%s]", path, lists[i], it.key);
			check_amount_name(e, at, it.key, pod);
			check_quantity(e, at, it.key, it.value);
			if (i > 0)
				check_request(e, path, limits, it.key, it.value);
		}
	pod_check_claim_names(e, check_below(e, path, "claims"), obj_get(resources, "claims"),
			      claims);
}

void pod_check_whole(struct field_errors *e, const char *path, const struct obj *resources,
		     const struct obj *devices)
{
	size_t from = e->n;
	if (obj_has(resources, "claims"))
		check_forbidden(e, check_below(e, path, "claims"),
				"claims may not be set for Resources at pod-level");
	pod_check_resources(e, path, resources, devices, true);
	check_said_since(e, from, resources);
}
