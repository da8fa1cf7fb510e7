/* pod_resource_check: what containers and a Pod as a whole ask for, as core/validation of Kubernetes 1.36 has it; see pod_parts.h. */
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_amount.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/obj/gvk.h"
#include "alm/obj/quantity.h"

#define HUGE "hugepages-"

/* Is it counted one by one? */
static bool is_counted(const char *name)
{
	static const char *const objects[] = {"pods",
					      "services",
					      "replicationcontrollers",
					      "resourcequotas",
					      "secrets",
					      "configmaps",
					      "persistentvolumeclaims",
					      "services.nodeports",
					      "services.loadbalancers",
					      NULL};
	return cstr_in(name, objects) || (strchr(name, '/') && !strstr(name, "kubernetes.io/") &&
					  !name_fault(NAME_QUALIFIED, str_of(name)));
}

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
	if (q.nanos % 1000000000 && is_counted(name))
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
	bool part = resource_is_shared(name);
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

/* Whole pages of the size that its name has. */
static void check_pages(struct field_errors *e, const char *path, const char *name,
			const struct obj *v)
{
	struct quantity page, q;
	const char *text = obj_as_string(v);
	if (!cstr_has_prefix(name, HUGE) || !text || !quantity_read(str_of(text), &q))
		return;
	if (quantity_read(str_of(name + strlen(HUGE)), &page) && page.nanos > 0 &&
	    page.nanos % 1000000000 == 0 && q.nanos % page.nanos == 0)
		return;
	check_invalid_text(
		e, path, text,
		arena_fmt(e->arena, "%s is not positive integer multiple of %s", text, name));
	check_said_of(e, v);
}

/* Pages alone are nothing to run in. */
static bool has_pages_alone(const struct obj *resources)
{
	static const char *const lists[] = {"limits", "requests"};
	bool pages = false;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		OBJ_EACH (it, obj_get(resources, lists[i])) {
			if (strcmp(it.key, "cpu") == 0 || strcmp(it.key, "memory") == 0)
				return false;
			pages = pages || cstr_has_prefix(it.key, HUGE);
		}
	return pages;
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
			check_pages(e, at, it.key, it.value);
		}
	if (has_pages_alone(resources)) {
		check_forbidden(e, path, "HugePages require cpu or memory");
		check_said_of(e, resources);
	}
	pod_check_claim_names(e, check_below(e, path, "claims"), obj_get(resources, "claims"),
			      claims);
}

void pod_check_overhead(struct field_errors *e, const char *path, const struct obj *amounts)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	size_t from = e->n;
	if (!amounts)
		return;
	obj_set(o, "limits", obj_ref(amounts));
	pod_check_resources(e, path, o, NULL, false);
	check_said_since(e, from, amounts);
}

static bool amount_of(const struct obj *list, const char *name, struct quantity *ret)
{
	const char *text = obj_as_string(obj_get(list, name));
	return text && quantity_read(str_of(text), ret);
}

/* A container has no more than the Pod. */
static void check_limits(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *most = obj_path(spec, "resources.limits");
	const struct obj *list = obj_get(spec, "containers");
	for (size_t i = 0; i < obj_len(list) && most; i++)
		OBJ_EACH (it, obj_path(obj_at(list, i), "resources.limits")) {
			struct quantity one, all;
			if (field_errors_full(e))
				return;
			if (!amount_of(most, it.key, &all) || !obj_as_string(it.value) ||
			    !quantity_read(obj_as_str(it.value), &one) || one.nanos <= all.nanos)
				continue;
			check_invalid_text(
				e,
				arena_fmt(e->arena, "%s.containers[%zu][%s].limits", path,
					  i, /* sic */
					  it.key),
				obj_as_string(it.value),
				arena_fmt(e->arena,
					  "must be less than or equal to pod limits of %s",
					  obj_as_string(obj_get(most, it.key))));
		}
}

/* All of them together do not ask for more than the Pod does. */
static void check_requests(struct field_errors *e, const char *path, const struct obj *spec)
{
	CLEANUP(obj_unrefp) struct obj *alone = obj_copy_map(spec);
	CLEANUP(obj_unrefp) struct obj *pod = obj_map();
	obj_del(alone, "resources");
	obj_set(pod, "spec", obj_ref(alone));
	OBJ_EACH (it, obj_path(spec, "resources.requests")) {
		struct amount sum = amount_of_pod(pod, "requests", it.key);
		struct quantity whole;
		char text[QUANTITY_TEXT_MAX];
		if (!sum.is_there || !obj_as_string(it.value) ||
		    !quantity_read(obj_as_str(it.value), &whole) || sum.q.nanos <= whole.nanos)
			continue;
		quantity_print(&sum.q, text);
		check_invalid_text(
			e, arena_fmt(e->arena, "%s.requests[%s]", path, it.key),
			obj_as_string(it.value),
			arena_fmt(e->arena,
				  "must be greater than or equal to aggregate container requests "
				  "of %s",
				  text));
	}
}

void pod_check_whole(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *resources = obj_get(spec, "resources");
	const char *at = check_below(e, path, "resources");
	size_t from = e->n;
	if (!resources)
		return;
	if (cstr_eq(obj_str(spec, "os.name"), "windows")) {
		check_forbidden(e, at, "may not be set for a windows pod");
		check_said_of(e, resources);
		return;
	}
	if (obj_has(resources, "claims"))
		check_forbidden(e, check_below(e, at, "claims"),
				"claims may not be set for Resources at pod-level");
	pod_check_resources(e, at, resources, obj_get(spec, "resourceClaims"), true);
	check_requests(e, at, spec);
	check_limits(e, at, spec);
	check_said_since(e, from, resources);
}

static const struct obj *container_of(const struct obj *spec, const char *name)
{
	static const char *const lists[] = {"containers", "initContainers"};
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *list = obj_get(spec, lists[k]);
		for (size_t i = 0; i < obj_len(list); i++)
			if (cstr_eq(check_text(obj_at(list, i), "name"), name))
				return obj_at(list, i);
	}
	return NULL;
}

/* The claim that was made for what containers ask for by the names of resources. */
void pod_check_extended_claim(struct field_errors *e, const struct obj *o)
{
	static const char path[] = "status.extendedResourceClaimStatus.requestMappings";
	static const char claim_path[] = "status.extendedResourceClaimStatus.resourceClaimName";
	static const char *const parts[] = {"containerName", "resourceName", "requestName"};
	const struct obj *claim = obj_path(o, "status.extendedResourceClaimStatus");
	const struct obj *list = obj_get(claim, "requestMappings");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	if (!claim)
		return;
	if (!obj_len(list))
		check_required(e, path, "at least one request mapping is required");
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *at = check_at(e, path, i), *text[ARRAY_LEN(parts)];
		for (size_t k = 0; k < ARRAY_LEN(parts); k++)
			text[k] = check_text(obj_at(list, i), parts[k]);
		const struct obj *c = container_of(obj_get(o, "spec"), text[0]);
		if (!c)
			check_invalid_text(e, check_below(e, at, parts[0]), text[0],
					   "must match the name of an entry in "
					   "spec.initContainers.name or spec.containers.name");
		else if (!obj_has(obj_path(c, "resources.requests"), text[1]))
			check_invalid_text(e, check_below(e, at, parts[1]), text[1],
					   "must match the extended resource name of an entry in "
					   "spec.initContainers.resources.requests or "
					   "spec.containers.resources.requests");
		check_named(e, "status.extendedResourceClaimStatus.requestName", /* sic */
			    NAME_DNS_LABEL, text[2]);
		if (check_again(seen, arena_fmt(e->arena, "%s\n%s\n%s", text[0], text[1], text[2])))
			for (size_t k = 0; k < ARRAY_LEN(parts); k++)
				field_errors_add_text(e, FIELD_DUPLICATE,
						      check_below(e, at, parts[k]), text[k]);
	}
	if (check_is_empty(claim, "resourceClaimName"))
		check_required(e, claim_path, NULL);
	else
		check_named(e, claim_path, NAME_DNS_SUBDOMAIN,
			    check_text(claim, "resourceClaimName"));
}
