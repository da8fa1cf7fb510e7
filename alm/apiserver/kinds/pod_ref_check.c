/* pod_ref_check: what of itself a Pod tells its containers (the downward API), as core/validation of Kubernetes 1.36 has it; see
 * pod_parts.h. */
#include "alm/apiserver/kinds/pod_parts.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/obj/gvk.h"
#include "alm/obj/quantity.h"

/* metadata.labels['KEY']: true, with both parts. */
static bool has_key(const char *path, struct arena *a, const char **ret_map, const char **ret_key)
{
	const char *open = strstr(path, "['");
	size_t n = strlen(path);
	if (!cstr_has_suffix(path, "']") || !open || open == path || open + 2 > path + n - 2)
		return false;
	*ret_map = arena_strndup(a, path, (size_t)(open - path));
	*ret_key = arena_strndup(a, open + 2, (size_t)(path + n - 2 - (open + 2)));
	return true;
}

static void refuse_path(struct field_errors *e, const char *path, const char *field,
			const char *why, const char *what)
{
	check_invalid_text(e, check_below(e, path, "fieldPath"), field,
			   arena_fmt(e->arena, "error converting fieldPath: %s: %s", why, what));
}

/* One value of a map. An annotation's key is judged in lower case. */
static void check_key(struct field_errors *e, const char *path, const char *field, const char *map,
		      const char *key)
{
	bool of_notes = strcmp(map, "metadata.annotations") == 0;
	char *name = arena_strdup(e->arena, key);
	if (!of_notes && strcmp(map, "metadata.labels") != 0) {
		refuse_path(e, path, field, "field label does not support subscript", field);
		return;
	}
	for (char *c = name; of_notes && *c; c++)
		*c = char_lower(*c);
	check_qualified(e, path, name);
}

/* may: what can be read whole here. */
static void check_path(struct field_errors *e, const char *path, const struct obj *ref,
		       const char *const *may)
{
	static const char *const known[] = {"metadata.annotations",
					    "metadata.labels",
					    "metadata.name",
					    "metadata.namespace",
					    "metadata.uid",
					    "spec.nodeName",
					    "spec.host",
					    "spec.restartPolicy",
					    "spec.schedulerName",
					    "spec.serviceAccountName",
					    "status.phase",
					    "status.hostIP",
					    "status.hostIPs",
					    "status.podIP",
					    "status.podIPs",
					    NULL};
	const char *version = check_text(ref, "apiVersion"), *field = check_text(ref, "fieldPath");
	const char *map, *key;
	if (!*field)
		check_required(e, check_below(e, path, "fieldPath"), NULL);
	else if (*version && strcmp(version, "v1") != 0)
		refuse_path(e, path, field, "unsupported pod version", version);
	else if (has_key(field, e->arena, &map, &key))
		check_key(e, path, field, map, key);
	else if (!cstr_in(field, known))
		refuse_path(e, path, field, "field label not supported", field);
	else
		field_errors_one_of(e, check_below(e, path, "fieldPath"),
				    strcmp(field, "spec.host") == 0 ? "spec.nodeName" : field, may);
}

void pod_check_field_ref(struct field_errors *e, const char *path, const struct obj *ref)
{
	static const char *const of_env[] = {"metadata.name",
					     "metadata.namespace",
					     "metadata.uid",
					     "spec.nodeName",
					     "spec.serviceAccountName",
					     "status.hostIP",
					     "status.hostIPs",
					     "status.podIP",
					     "status.podIPs",
					     NULL};
	check_path(e, path, ref, of_env);
}

/* In which parts it is told. */
static void check_divisor(struct field_errors *e, const char *path, const struct obj *ref)
{
	static const char *const of_cpu[] = {"1m", "1", NULL};
	static const char *const of_bytes[] = {"1",   "1k",  "1M",  "1G",  "1T",  "1P",  "1E",
					       "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", NULL};
	static const char all[] = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
	static const struct {
		const char *name, *called;
	} parts[] = {{"cpu", "cpu resource"},
		     {"memory", "memory resource"},
		     {"ephemeral-storage", "local ephemeral storage resource"},
		     {"hugepages-", "hugepages resource"}};
	const char *is = check_text(ref, "resource"), *dot = strchr(is, '.');
	const char *divisor = check_text(ref, "divisor");
	struct quantity q;
	if (!dot || !quantity_read(str_of(divisor), &q) || q.nanos == 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		bool huge = i == ARRAY_LEN(parts) - 1;
		if (huge ? !cstr_has_prefix(dot + 1, parts[i].name)
			 : strcmp(dot + 1, parts[i].name) != 0)
			continue;
		if (!cstr_in(divisor, i ? of_bytes : of_cpu))
			check_invalid_text(e, check_below(e, path, "divisor"), is,
					   arena_fmt(e->arena,
						     "only divisor's values %s are supported with "
						     "the %s",
						     i ? all : "1m and 1", parts[i].called));
	}
}

void pod_check_resource_ref(struct field_errors *e, const char *path, const struct obj *ref)
{
	static const char *const known[] = {"limits.cpu",
					    "limits.ephemeral-storage",
					    "limits.memory",
					    "requests.cpu",
					    "requests.ephemeral-storage",
					    "requests.memory",
					    NULL};
	const char *is = check_text(ref, "resource");
	if (!cstr_has_prefix(is, "limits.hugepages-") &&
	    !cstr_has_prefix(is, "requests.hugepages-"))
		check_one_of_or_empty(e, check_below(e, path, "resource"), is, known);
	check_divisor(e, path, ref);
}

void pod_check_file_ref(struct field_errors *e, const char *path, const struct obj *file)
{
	static const char *const of_volumes[] = {"metadata.annotations", "metadata.labels",
						 "metadata.name",        "metadata.namespace",
						 "metadata.uid",         NULL};
	const struct obj *field = obj_get(file, "fieldRef");
	const struct obj *resource = obj_get(file, "resourceFieldRef");
	const char *at = check_below(e, path, "resourceFieldRef");
	if (field)
		check_path(e, check_below(e, path, "fieldRef"), field, of_volumes);
	else if (resource && check_is_empty(resource, "containerName"))
		check_required(e, check_below(e, at, "containerName"), NULL);
	else if (resource)
		pod_check_resource_ref(e, at, resource);
}
