/* priority: see priority.h. */
#include "alm/apiserver/admission/priority.h"

#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/status.h"
#include "alm/obj/meta.h"

#define GROUP  "scheduling.k8s.io"
#define PLURAL "priorityclasses"

static const struct {
	const char *name, *description;
	int64_t value;
} of_system[] = {
	{"system-cluster-critical",
	 "Used for system critical pods that must run in the cluster, but can be moved to another "
	 "node if necessary.",
	 2000000000},
	{"system-node-critical",
	 "Used for system critical pods that must not be moved from their current node.",
	 2000001000},
};

struct obj *priority_bootstrap(size_t i)
{
	if (i >= ARRAY_LEN(of_system))
		return NULL;
	struct obj *o = meta_skeleton(GROUP "/v1", "PriorityClass", NULL, of_system[i].name);
	obj_set_int(o, "value", of_system[i].value);
	obj_set_str(o, "description", of_system[i].description);
	return o;
}

/* Of several, which only a race of two servers could have made, the lowest. */
static const struct obj *default_class(struct apiserver *s)
{
	const struct store_table *t = store_resource(s->store, GROUP, PLURAL);
	const struct obj *found = NULL;
	for (size_t i = 0; i < t->n_heads; i++) {
		if (!strstr(t->heads[i]->text->bytes, "\"globalDefault\":true"))
			continue; /* most are not, and need not be read */
		const struct obj *o = head_obj_hot(t->heads[i]);
		if (obj_flag(o, "globalDefault", false) &&
		    (!found || obj_i64(o, "value", 0) < obj_i64(found, "value", 0)))
			found = o;
	}
	return found;
}

static const struct obj *class_of(struct apiserver *s, const char *name)
{
	struct head *h = store_find(s->store, GROUP, PLURAL, "", name);
	return h ? head_obj_hot(h) : NULL;
}

const char *priority_set(struct apiserver *s, struct obj *pod, struct arena *a)
{
	struct obj *spec = obj_get_mut(pod, "spec");
	const char *name = obj_str(spec, "priorityClassName");
	bool named = name && *name;
	if (obj_type(spec) != OBJ_MAP)
		return NULL;
	const struct obj *c = named ? class_of(s, name) : default_class(s);
	if (named && !c)
		return arena_fmt(a, "no PriorityClass with name %s was found", name);
	long long is = obj_i64(c, "value", 0), stated = obj_i64(spec, "priority", is);
	const char *policy = c ? obj_str(c, "preemptionPolicy") : "PreemptLowerPriority";
	const char *other = obj_str(spec, "preemptionPolicy");
	if (stated != is)
		return arena_fmt(
			a,
			"the integer value of priority (%lld) must not be provided in pod spec; "
			"priority admission controller computed %lld from the given PriorityClass "
			"name",
			stated, is);
	if (policy && other && strcmp(policy, other) != 0)
		return arena_fmt(
			a,
			"the string value of PreemptionPolicy (%s) must not be provided in pod "
			"spec; priority admission controller computed %s from the given "
			"PriorityClass name",
			other, policy);
	if (!named && c)
		obj_set_str(spec, "priorityClassName", meta_name(c));
	obj_set_int(spec, "priority", is);
	if (policy)
		obj_set_str(spec, "preemptionPolicy", policy);
	return NULL;
}

static bool is_about(const struct mutation *m, const char *group, const char *plural)
{
	return cstr_eq(m->resource->group, group) && cstr_eq(m->resource->plural, plural) &&
	       !(m->r->subresource && *m->r->subresource);
}

/* Both are written once, and an update that leaves them out means no other. */
static void keep(struct obj *spec, const struct obj *before, const char *key)
{
	const struct obj *was = obj_get(before, key);
	if (was && obj_type(spec) == OBJ_MAP && !obj_has(spec, key))
		obj_set(spec, key, obj_ref(was));
}

int priority_admit(struct mutation *m, struct error *err)
{
	if (!is_about(m, "", "pods"))
		return 0;
	if (m->head) {
		struct obj *spec = obj_get_mut(m->after, "spec");
		keep(spec, obj_get(m->before, "spec"), "priority");
		keep(spec, obj_get(m->before, "spec"), "preemptionPolicy");
		return 0;
	}
	const char *why = priority_set(m->r->server, m->after, m->r->arena);
	return why ? fail_forbidden(m->r, m->name ? m->name : "", err, "%s", why) : 0;
}

int priority_check(struct mutation *m, struct error *err)
{
	if (!is_about(m, GROUP, PLURAL) || !obj_flag(m->after, "globalDefault", false))
		return 0;
	const struct obj *is = default_class(m->r->server);
	if (!is || (m->head && cstr_eq(meta_name(is), m->name)))
		return 0;
	return fail_forbidden(
		m->r, m->name, err,
		"PriorityClass %s is already marked as default. Only one default can exist",
		meta_name(is));
}

int priority_check_delete(struct mutation *m, struct error *err)
{
	for (size_t i = 0; is_about(m, GROUP, PLURAL) && i < ARRAY_LEN(of_system); i++)
		if (cstr_eq(m->name, of_system[i].name))
			return fail_forbidden(
				m->r, m->name, err,
				"this is a system priority class and cannot be deleted");
	return 0;
}
