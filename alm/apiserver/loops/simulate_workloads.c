/* simulate_workloads: Deployments, ReplicaSets, StatefulSets, DaemonSets. Their rollouts take one
 * step: the newest template has all Pods at once. See simulate_internal.h. */
#include <string.h>

#include "alm/apiserver/loops/simulate_internal.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

#define REVISION "deployment.kubernetes.io/revision"
#define HISTORY  "deployment.kubernetes.io/revision-history"
#define NAME_CUT 200

static bool fails(const struct pass *p)
{
	return p->fault.kind != FAULT_NONE && p->fault.kind != FAULT_HANGS;
}

static int64_t want_of(const struct obj *o)
{
	int64_t n = obj_i64(o, "spec.replicas", 1);
	return n < 0 ? 0 : n;
}

/* Deletes the oldest of what an owner has besides keep, until its history limit holds. */
static void prune(struct pass *p, const struct children *all, const struct obj *keep,
		  int64_t (*revision)(const struct obj *o))
{
	int64_t limit = obj_i64(p->o, "spec.revisionHistoryLimit", 10);
	bool gone[SIM_CHILDREN_MAX] = {false};
	int64_t n = 0;
	for (size_t i = 0; i < all->n; i++)
		n += all->items[i] != keep;
	for (; n > limit; n--) {
		size_t oldest = all->n;
		for (size_t i = 0; i < all->n; i++)
			if (!gone[i] && all->items[i] != keep &&
			    (oldest == all->n ||
			     revision(all->items[i]) < revision(all->items[oldest])))
				oldest = i;
		if (oldest == all->n)
			return;
		gone[oldest] = true;
		sim_delete(p, all->items[oldest]);
	}
}

/* --- ReplicaSets --- */

static void replicas_status(struct pass *p, struct obj *set, bool failing)
{
	struct obj *s = sim_status(set);
	int64_t want = p->refused ? sim_refused(p, meta_uid(set)) : want_of(set);
	int64_t ready = failing ? 0 : want;
	obj_set_int(s, "replicas", want);
	obj_set_int(s, "fullyLabeledReplicas", want);
	obj_set_int(s, "readyReplicas", ready);
	obj_set_int(s, "availableReplicas", ready);
	if (p->fault.kind == FAULT_PODLESS) {
		obj_set_int(s, "replicas", 0);
		obj_set_int(s, "fullyLabeledReplicas", 0);
		if (want)
			sim_condition(p, set, "ReplicaFailure", true, "FailedCreate",
				      p->fault.message);
	} else if (p->refused) {
		sim_condition(p, set, "ReplicaFailure", true, "FailedCreate", p->refused);
	} else if (obj_has(s, "conditions")) {
		condition_remove(obj_get_mut(s, "conditions"), "ReplicaFailure");
	}
}

static void pods_of_set(struct pass *p, const struct obj *set)
{
	const struct pod_set pods = {
		.owner = set, .template = obj_path(set, "spec.template"), .want = want_of(set)};
	sim_pods(p, &pods);
}

/* Of ReplicationControllers, too. */
void sim_replicaset(struct pass *p)
{
	struct obj *set = sim_copy(p, p->o);
	pods_of_set(p, p->o);
	replicas_status(p, set, fails(p));
	/* A set that a new generation scales is observed in the same write. */
	sim_put(p, p->o, set);
}

/* --- Deployments --- */

static int64_t set_revision(const struct obj *set)
{
	int64_t n = 0;
	return str_parse_i64(str_of(meta_annotation(set, REVISION)), &n) ? n : 0;
}

/* As upstream: not what kubectl and the controller themselves keep there. */
static void copy_annotations(struct obj *to, const struct obj *from)
{
	const struct obj *all = obj_path(from, "metadata.annotations");
	OBJ_EACH (it, all)
		if (!cstr_has_prefix(it.key, "deployment.kubernetes.io/") &&
		    !cstr_eq(it.key, "kubectl.kubernetes.io/last-applied-configuration"))
			meta_set_annotation(to, it.key, obj_as_string(it.value));
}

static struct obj *new_set(struct pass *p, const char *hash)
{
	const struct obj *template = obj_path(p->o, "spec.template");
	struct obj *set = sim_child(
		"apps/v1", "ReplicaSet",
		arena_fmt(p->a, "%s-%s", name_cut(meta_name(p->o), NAME_CUT, p->a), hash), p->o);
	obj_set_path(set, "metadata.generation", obj_int(1));
	sim_labels(set, obj_path(template, "metadata.labels"));
	meta_set_label(set, "pod-template-hash", hash);
	obj_set_path(set, "spec.replicas", obj_int(want_of(p->o)));
	obj_set_path(set, "spec.selector", obj_copy_map(obj_path(p->o, "spec.selector")));
	obj_set_path(set, "spec.selector.matchLabels",
		     obj_copy_map(obj_path(p->o, "spec.selector.matchLabels")));
	obj_set_path(set, "spec.selector.matchLabels.pod-template-hash", obj_string(hash));
	obj_set_path(set, "spec.template", obj_copy_map(template));
	obj_set_path(set, "spec.template.metadata", obj_copy_map(obj_path(template, "metadata")));
	obj_set_path(set, "spec.template.metadata.labels",
		     obj_copy_map(obj_path(template, "metadata.labels")));
	obj_set_path(set, "spec.template.metadata.labels.pod-template-hash", obj_string(hash));
	return set;
}

static void annotate(struct pass *p, struct obj *set, int64_t newest)
{
	int64_t had = set_revision(set);
	copy_annotations(set, p->o);
	if (had && had == newest)
		return;
	if (had) {
		const char *old = meta_annotation(set, HISTORY);
		meta_set_annotation(set, HISTORY,
				    old ? arena_fmt(p->a, "%s,%lld", old, (long long)had)
					: arena_fmt(p->a, "%lld", (long long)had));
	}
	meta_set_annotation(set, REVISION, arena_fmt(p->a, "%lld", (long long)newest + 1));
}

/* The generation that the write will give, so that the set is observed in it. */
static void scale(struct pass *p, const struct obj *before, struct obj *set, int64_t n,
		  bool failing)
{
	bool moved = obj_i64(set, "spec.replicas", -1) != n;
	obj_set_path(set, "spec.replicas", obj_int(n));
	replicas_status(p, set, failing);
	if (moved)
		obj_set_path(set, "status.observedGeneration",
			     obj_int(meta_generation(before) + 1));
	sim_put(p, before, set);
	pods_of_set(p, set);
}

static const struct obj *set_of_hash(const struct children *sets, const char *hash)
{
	for (size_t i = 0; i < sets->n; i++)
		if (cstr_eq(meta_label(sets->items[i], "pod-template-hash"), hash) &&
		    !meta_is_deleting(sets->items[i]))
			return sets->items[i];
	return NULL;
}

static const struct obj *newest_set(const struct children *sets)
{
	const struct obj *best = NULL;
	for (size_t i = 0; i < sets->n; i++)
		if (!best || set_revision(sets->items[i]) > set_revision(best))
			best = sets->items[i];
	return best;
}

/* The set of the template, with as many Pods as wanted; NULL: it could not be made. */
static const struct obj *roll_out(struct pass *p, const struct obj *current, int64_t newest,
				  const char *hash)
{
	char uid[STORE_UID_TEXT];
	struct obj *set = current ? sim_copy(p, current) : new_set(p, hash);
	annotate(p, set, newest);
	if (current) {
		scale(p, current, set, want_of(p->o), fails(p));
		return set;
	}
	replicas_status(p, set, fails(p));
	obj_keep(p->a, obj_ref(set));
	if (!sim_create(p, set, uid))
		return NULL;
	pods_of_set(p, set);
	return set;
}

/* Of a refused one as many as there are: upstream's default lets a quarter of them be missing. */
static void deployment_conditions(struct pass *p, struct obj *d, const struct obj *set,
				  int64_t ready)
{
	bool down = (fails(p) || ready < want_of(d) - want_of(d) / 4) && want_of(d);
	const char *name = set ? meta_name(set) : "";
	sim_condition(p, d, "Available", !down,
		      down ? "MinimumReplicasUnavailable" : "MinimumReplicasAvailable",
		      down ? "Deployment does not have minimum availability."
			   : "Deployment has minimum availability.");
	if (p->fault.kind == FAULT_DEADLINE)
		sim_condition(p, d, "Progressing", false, "ProgressDeadlineExceeded",
			      *p->fault.message ? p->fault.message
						: arena_fmt(p->a,
							    "ReplicaSet \"%s\" has timed out "
							    "progressing.",
							    name));
	else if (down)
		sim_condition(p, d, "Progressing", true, "ReplicaSetUpdated",
			      arena_fmt(p->a, "ReplicaSet \"%s\" is progressing.", name));
	else
		sim_condition(
			p, d, "Progressing", true, "NewReplicaSetAvailable",
			arena_fmt(p->a, "ReplicaSet \"%s\" has successfully progressed.", name));
	if (p->fault.kind == FAULT_PODLESS && want_of(d))
		sim_condition(p, d, "ReplicaFailure", true, "FailedCreate", p->fault.message);
	else if (p->refused)
		sim_condition(p, d, "ReplicaFailure", true, "FailedCreate", p->refused);
	else
		condition_remove(obj_get_mut(obj_get_mut(d, "status"), "conditions"),
				 "ReplicaFailure");
}

static void deployment_status(struct pass *p, struct obj *d, const struct obj *set, bool updated)
{
	struct obj *s = sim_status(d);
	int64_t want = p->fault.kind == FAULT_PODLESS ? 0
		       : p->refused && set            ? sim_refused(p, meta_uid(set))
						      : want_of(d);
	int64_t ready = fails(p) ? 0 : want;
	obj_set_int(s, "replicas", want);
	obj_set_int(s, "updatedReplicas", updated ? want : 0);
	obj_set_int(s, "readyReplicas", ready);
	obj_set_int(s, "availableReplicas", ready);
	if (ready < want_of(d))
		obj_set_int(s, "unavailableReplicas", want_of(d) - ready);
	else
		obj_del(s, "unavailableReplicas");
	deployment_conditions(p, d, set, ready);
}

void sim_deployment(struct pass *p)
{
	struct children sets;
	char hash[SIM_HASH];
	struct obj *d = sim_copy(p, p->o);
	sim_children(p, meta_uid(p->o), "apps", "replicasets", &sets);
	sim_hash(obj_path(p->o, "spec.template"), hash);
	const struct obj *of_template = set_of_hash(&sets, hash), *newest = newest_set(&sets);
	const struct obj *current = of_template, *now = NULL;
	bool held = !of_template && obj_flag(p->o, "spec.paused", false);
	if (held) { /* scaled, but not rolled out */
		current = newest;
		if (newest)
			scale(p, newest, sim_copy(p, newest), want_of(p->o), fails(p));
		now = newest;
	} else {
		now = roll_out(p, of_template, newest ? set_revision(newest) : 0, hash);
	}
	for (size_t i = 0; i < sets.n; i++)
		if (sets.items[i] != current)
			scale(p, sets.items[i], sim_copy(p, sets.items[i]), 0, false);
	prune(p, &sets, current, set_revision);
	if (now && meta_annotation(now, REVISION))
		meta_set_annotation(d, REVISION, meta_annotation(now, REVISION));
	deployment_status(p, d, now, !held);
	sim_put(p, p->o, d);
}

/* --- ControllerRevisions --- */

static int64_t revision_number(const struct obj *o)
{
	return obj_i64(o, "revision", 0);
}

static struct obj *new_revision(struct pass *p, const char *name, const char *hash)
{
	const struct obj *template = obj_path(p->o, "spec.template");
	struct obj *r = sim_child("apps/v1", "ControllerRevision", name, p->o);
	struct obj *data = obj_copy_map(template);
	sim_labels(r, obj_path(template, "metadata.labels"));
	meta_set_label(r, "controller.kubernetes.io/hash", hash);
	copy_annotations(r, p->o);
	obj_set_str(data, "$patch", "replace"); /* rollout undo sends it as a patch */
	obj_set_path(r, "data.spec.template", data);
	return r;
}

struct revision {
	const char *name, *hash, *before; /* before: the newest one until now, or NULL */
};

/* The template as one of the owner's revisions, numbered as the newest. */
static struct revision keep_revision(struct pass *p)
{
	struct children all;
	char hash[SIM_HASH], uid[STORE_UID_TEXT];
	const struct obj *current = NULL, *newest = NULL;
	sim_children(p, meta_uid(p->o), "apps", "controllerrevisions", &all);
	sim_hash(obj_path(p->o, "spec.template"), hash);
	struct revision ret = {.hash = arena_strdup(p->a, hash)};
	ret.name = arena_fmt(p->a, "%s-%s", name_cut(meta_name(p->o), NAME_CUT, p->a), hash);
	for (size_t i = 0; i < all.n; i++) {
		if (cstr_eq(meta_label(all.items[i], "controller.kubernetes.io/hash"), hash))
			current = all.items[i];
		if (!newest || revision_number(all.items[i]) > revision_number(newest))
			newest = all.items[i];
	}
	int64_t next = newest ? revision_number(newest) + 1 : 1;
	if (newest && newest != current)
		ret.before = meta_name(newest);
	if (!current) {
		struct obj *r = new_revision(p, ret.name, hash);
		obj_set_int(r, "revision", next);
		sim_create(p, r, uid);
	} else if (newest != current) {
		struct obj *r = sim_copy(p, current);
		obj_set_int(r, "revision", next);
		sim_put(p, current, r);
	}
	prune(p, &all, current, revision_number);
	return ret;
}

/* --- StatefulSets --- */

void sim_statefulset(struct pass *p)
{
	struct obj *o = sim_copy(p, p->o), *labels = obj_keep(p->a, obj_map());
	struct revision r = keep_revision(p);
	const char *label = strlen(r.name) <= 63 ? r.name : r.hash;
	bool rolls = !cstr_eq(obj_str(o, "spec.updateStrategy.type"), "OnDelete");
	int64_t partition = obj_i64(o, "spec.updateStrategy.rollingUpdate.partition", 0);
	int64_t want = want_of(o), ready = fails(p) ? 0 : want;
	int64_t kept = partition < 0 ? 0 : partition > want ? want : partition;
	obj_set_str(labels, "controller-revision-hash", label);
	const struct pod_set pods = {.owner = p->o,
				     .template = obj_path(p->o, "spec.template"),
				     .labels = labels,
				     .revision = rolls && !kept ? label : NULL,
				     .want = want,
				     .ordinal = true};
	sim_pods(p, &pods);
	if (p->refused) {
		want = sim_refused(p, meta_uid(o));
		ready = ready < want ? ready : want;
	}
	struct obj *s = sim_status(o);
	const char *former = obj_str(s, "currentRevision");
	bool partly = rolls && kept && former;
	obj_set_int(s, "replicas", p->fault.kind == FAULT_PODLESS ? 0 : want);
	obj_set_int(s, "readyReplicas", ready);
	obj_set_int(s, "availableReplicas", ready);
	obj_set_int(s, "currentReplicas", partly && !cstr_eq(former, r.name) ? kept : want);
	obj_set_int(s, "updatedReplicas", partly && !cstr_eq(former, r.name) ? want - kept : want);
	obj_set_int(s, "collisionCount", 0);
	if (!partly)
		obj_set_str(s, "currentRevision", r.name);
	obj_set_str(s, "updateRevision", r.name);
	sim_put(p, p->o, o);
}

/* --- DaemonSets: there is one node --- */

void sim_daemonset(struct pass *p)
{
	struct obj *o = sim_copy(p, p->o), *labels = obj_keep(p->a, obj_map());
	struct revision r = keep_revision(p);
	bool rolls = !cstr_eq(obj_str(o, "spec.updateStrategy.type"), "OnDelete");
	obj_set_str(labels, "controller-revision-hash", r.hash);
	const struct pod_set pods = {.owner = p->o,
				     .template = obj_path(p->o, "spec.template"),
				     .labels = labels,
				     .revision = rolls ? r.hash : NULL,
				     .want = 1};
	sim_pods(p, &pods);
	struct obj *s = sim_status(o);
	int64_t ready = fails(p) ? 0 : 1, scheduled = p->fault.kind != FAULT_PODLESS;
	obj_set_int(s, "desiredNumberScheduled", 1);
	obj_set_int(s, "currentNumberScheduled", scheduled);
	obj_set_int(s, "updatedNumberScheduled", scheduled);
	obj_set_int(s, "numberMisscheduled", 0);
	obj_set_int(s, "numberReady", ready);
	obj_set_int(s, "numberAvailable", ready);
	sim_put(p, p->o, o);
}
