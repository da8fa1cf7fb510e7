/* pod_status_check: what the status of a Pod tells of its containers, as core/validation of Kubernetes 1.36 has it; see pod_parts.h. */
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"

#define ID_MAX INT32_MAX

static void check_id(struct field_errors *e, const char *path, const struct obj *v)
{
	int64_t n = 0;
	if (obj_as_i64(v, &n) && (n < 0 || n > ID_MAX))
		check_invalid(e, path, v, "must be between 0 and 2147483647, inclusive");
}

/* Who runs in it. */
static void check_user(struct field_errors *e, const char *path, const struct obj *c,
		       const char *os)
{
	const struct obj *user = obj_path(c, "user.linux"),
			 *groups = obj_get(user, "supplementalGroups");
	const char *at = check_below(e, path, "user.linux");
	if (user && strcmp(os, "windows") == 0)
		check_forbidden(e, at, "cannot be set for a windows pod");
	if (strcmp(os, "linux") != 0)
		return;
	check_id(e, check_below(e, at, "uid"), obj_get(user, "uid"));
	check_id(e, check_below(e, at, "gid"), obj_get(user, "gid"));
	for (size_t i = 0; i < obj_len(groups) && !field_errors_full(e); i++)
		check_id(e, check_at(e, check_below(e, at, "supplementalGroups"), i),
			 obj_at(groups, i));
}

static const struct obj *container_named(const struct obj *list, const char *name)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (strcmp(check_text(obj_at(list, i), "name"), name) == 0)
			return obj_at(list, i);
	return NULL;
}

/* Is it "claim:NAME/REQUEST" of one of the claims? */
static bool is_claim(struct field_errors *e, const struct obj *claims, const char *name)
{
	for (size_t i = 0; i < obj_len(claims); i++) {
		const char *request = check_text(obj_at(claims, i), "request");
		const char *text =
			arena_fmt(e->arena, "claim:%s%s%s", check_text(obj_at(claims, i), "name"),
				  *request ? "/" : "", request);
		if (strcmp(text, name) == 0)
			return true;
	}
	return false;
}

static void check_health(struct field_errors *e, const char *path, const struct obj *list)
{
	static const char *const all[] = {"Healthy", "Unhealthy", "Unknown", NULL};
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const struct obj *one = obj_at(list, i);
		const char *at = check_at(e, path, i), *id = check_text(one, "resourceID");
		field_errors_one_of(e, check_below(e, at, "health"), check_text(one, "health"),
				    all);
		if (obj_has(one, "message") && check_is_empty(one, "message"))
			check_required(e, check_below(e, at, "message"),
				       "must be non-empty if specified");
		if (check_again(seen, id))
			field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, at, "resourceID"),
					      id);
	}
}

/* How what it was given is; container: as the spec has it, NULL: it does not. */
static void check_given(struct field_errors *e, const char *path, const struct obj *c,
			const struct obj *container)
{
	static const char claims[] =
		"must match one of the container's resource claims in a format "
		"'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
	const struct obj *list = obj_get(c, "allocatedResourcesStatus");
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *at = check_at(e, check_below(e, path, "allocatedResourcesStatus"), i);
		const char *name = check_text(obj_at(list, i), "name");
		bool claimed = cstr_has_prefix(name, "claim:");
		bool found = claimed ? is_claim(e, obj_path(container, "resources.claims"), name)
				     : obj_has(obj_path(container, "resources.requests"), name);
		if (container && !found)
			check_invalid_text(
				e, check_below(e, at, "name"), name,
				claimed ? claims
					: "must match one of the container's resource requests");
		check_health(e, check_below(e, at, "resources"),
			     obj_get(obj_at(list, i), "resources"));
	}
}

void pod_check_status(struct field_errors *e, const struct obj *o)
{
	static const struct {
		const char *statuses, *containers; /* NULL: they are given nothing */
	} lists[] = {{"status.containerStatuses", "spec.containers"},
		     {"status.initContainerStatuses", "spec.initContainers"},
		     {"status.ephemeralContainerStatuses", NULL}};
	const char *os = obj_path(o, "spec.os") ? check_text(o, "spec.os.name") : "linux";
	for (size_t step = 0; step < 2; step++)
		for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
			const struct obj *list = obj_path(o, lists[k].statuses);
			size_t from = e->n;
			for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
				const struct obj *c = obj_at(list, i);
				const char *at = check_at(e, lists[k].statuses, i);
				if (step == 0)
					check_user(e, at, c, os);
				else if (lists[k].containers)
					check_given(
						e, at, c,
						container_named(obj_path(o, lists[k].containers),
								check_text(c, "name")));
				else if (obj_len(obj_get(c, "allocatedResourcesStatus")))
					check_forbidden(
						e, check_below(e, at, "allocatedResourcesStatus"),
						"must not be specified in container status");
			}
			check_said_since(e, from, list);
		}
}
