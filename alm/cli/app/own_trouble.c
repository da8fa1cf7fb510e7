#include "alm/cli/app/own_trouble.h"

#include "alm/base/str.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

#define NS_FLAG "kubectl -n alm-system"

/* Without a class there is nobody who makes its volume. The API server writes a default one into
 * claims that have none, also later. */
static const char *of_claim(const struct obj *claim)
{
	if (!cstr_eq(obj_str(claim, "status.phase"), "Pending") ||
	    obj_path(claim, "spec.storageClassName") || obj_path(claim, "spec.volumeName"))
		return NULL;
	return "PersistentVolumeClaim alm-log names no StorageClass, and the cluster has no "
	       "default one: `kubectl annotate storageclass NAME "
	       "storageclass.kubernetes.io/is-default-class=true`, or name a folder of a node: "
	       "`alm install --to-cluster --log-volume NODE:/PATH`";
}

/* What every Pod says while it comes. */
static bool is_coming(const char *reason)
{
	return !reason || cstr_eq(reason, "ContainerCreating") ||
	       cstr_eq(reason, "PodInitializing");
}

static const char *name_of(const struct obj *pod)
{
	const char *name = meta_name(pod);
	return name ? name : "without a name";
}

static const char *of_container(const struct obj *pod, const struct obj *status, struct arena *a)
{
	const char *name = name_of(pod), *reason = obj_str(status, "state.waiting.reason");
	const char *message = obj_str(status, "state.waiting.message");
	if (!is_coming(reason) && obj_path(status, "lastState.terminated"))
		return arena_fmt(
			a, "Pod %s ends again and again (%s): `" NS_FLAG " logs %s --previous`",
			name, reason, name);
	if (!is_coming(reason))
		return arena_fmt(a, "Pod %s: %s: %s", name, reason, message ? message : "");
	if (obj_path(status, "state.running") && !obj_flag(status, "ready", false))
		return arena_fmt(a, "Pod %s runs and is not ready: `" NS_FLAG " logs %s`", name,
				 name);
	return NULL;
}

static const char *of_pod(const struct obj *pod, struct arena *a)
{
	struct condition c;
	const struct obj *containers = obj_path(pod, "status.containerStatuses");
	if (obj_path(pod, "metadata.deletionTimestamp"))
		return NULL;
	for (size_t i = 0; i < obj_len(containers); i++) {
		const char *found = of_container(pod, obj_at(containers, i), a);
		if (found)
			return found;
	}
	if (condition_get(pod, "PodScheduled", &c) && cstr_eq(c.status, "False"))
		return arena_fmt(a, "Pod %s: %s: %s", name_of(pod), c.reason, c.message);
	return NULL;
}

const char *own_trouble(const struct obj *deployment, const struct obj *claim,
			const struct obj *pods, struct arena *a)
{
	struct condition c;
	const struct obj *items = obj_get(pods, "items");
	const char *found = of_claim(claim);
	for (size_t i = 0; !found && i < obj_len(items); i++)
		found = of_pod(obj_at(items, i), a);
	if (!found && condition_get(deployment, "ReplicaFailure", &c) && cstr_eq(c.status, "True"))
		found = arena_fmt(a, "no Pod is made: %s", c.message);
	return found;
}
