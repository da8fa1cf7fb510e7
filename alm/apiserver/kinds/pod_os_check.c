/* pod_os_check: what of a Pod its operating system does not have, as core/validation of Kubernetes 1.36 has it; see pod_parts.h. */
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/apiserver/kinds/rule_check.h"

#define SECURITY "securityContext."

/* In the order they are told. */
static const char *const of_pods[] = {
	SECURITY "appArmorProfile",
	SECURITY "seLinuxOptions",
	"hostUsers",
	"hostPID",
	"hostIPC",
	SECURITY "seccompProfile",
	SECURITY "fsGroup",
	SECURITY "fsGroupChangePolicy",
	SECURITY "sysctls",
	"shareProcessNamespace",
	SECURITY "runAsUser",
	SECURITY "runAsGroup",
	SECURITY "supplementalGroups",
	SECURITY "supplementalGroupsPolicy",
	SECURITY "seLinuxChangePolicy",
	NULL,
};
static const char *const of_containers[] = {
	SECURITY "appArmorProfile",
	SECURITY "seLinuxOptions",
	SECURITY "seccompProfile",
	SECURITY "capabilities",
	SECURITY "readOnlyRootFilesystem",
	SECURITY "privileged",
	SECURITY "allowPrivilegeEscalation",
	SECURITY "procMount",
	SECURITY "runAsUser",
	SECURITY "runAsGroup",
	NULL,
};
static const char *const of_windows[] = {SECURITY "windowsOptions", NULL};

/* One that is no pointer in Go is not there where it is false. */
static bool is_told(const struct obj *o, const char *field)
{
	const struct obj *v = obj_path(o, field);
	bool plain = strcmp(field, "hostPID") == 0 || strcmp(field, "hostIPC") == 0;
	return v && (!plain || obj_is_true(v)) && (obj_type(v) != OBJ_LIST || obj_len(v));
}

static void refuse(struct field_errors *e, const char *path, const struct obj *o,
		   const char *const *fields, const char *why)
{
	for (; *fields; fields++)
		if (is_told(o, *fields))
			check_forbidden(e, check_below(e, path, *fields), why);
}

void pod_check_system(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
	const char *os = check_text(spec, "os.name");
	bool windows = strcmp(os, "windows") == 0;
	const char *why = windows ? "cannot be set for a windows pod"
				  : "windows options cannot be set for a linux pod";
	size_t from = e->n;
	rule_check_part(e, "system", path, spec);
	if (!windows && strcmp(os, "linux") != 0)
		return;
	refuse(e, path, spec, windows ? of_pods : of_windows, why);
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *list = obj_get(spec, lists[k]);
		for (size_t i = 0; i < obj_len(list); i++)
			refuse(e, check_at(e, check_below(e, path, lists[k]), i), obj_at(list, i),
			       windows ? of_containers : of_windows, why);
	}
	check_said_since(e, from, obj_get(spec, "os"));
}
