/* simulate_objects: reading and writing for the reconcilers. See simulate_internal.h. */
#include <string.h>

#include "alm/apiserver/limits.h"
#include "alm/apiserver/loops/engine.h"
#include "alm/apiserver/loops/simulate_internal.h"
#include "alm/base/hash.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

static const struct engine simulator = {"system:alm:simulator", "alm-simulator", .asks = true};

static bool is_controlled_by(const struct obj *o, const char *uid)
{
	for (size_t i = 0; i < meta_owner_count(o); i++) {
		struct owner_ref ref;
		if (meta_owner(o, i, &ref) && ref.controller && cstr_eq(ref.uid, uid))
			return true;
	}
	return false;
}

void sim_children(struct pass *p, const char *uid, const char *group, const char *plural,
		  struct children *ret)
{
	size_t n;
	void *const *list = store_dependents(p->server->store, uid, &n);
	ret->n = 0;
	for (size_t i = 0; i < n && ret->n < SIM_CHILDREN_MAX; i++) {
		struct head *h = list[i];
		const struct obj *o =
			cstr_eq(h->resource->group, group) && cstr_eq(h->resource->plural, plural)
				? head_obj(h, p->a)
				: NULL;
		if (o && is_controlled_by(o, uid))
			ret->items[ret->n++] = o;
	}
}

struct obj *sim_child(const char *api_version, const char *kind, const char *name,
		      const struct obj *owner)
{
	struct obj *o = meta_skeleton(api_version, kind, meta_namespace(owner), name);
	const struct owner_ref ref = {
		.api_version = meta_api_version(owner),
		.kind = meta_kind(owner),
		.name = meta_name(owner),
		.uid = meta_uid(owner),
		.controller = true,
		.block_owner_deletion = true,
	};
	meta_add_owner(o, &ref);
	return o;
}

struct obj *sim_copy(struct pass *p, const struct obj *o)
{
	return obj_keep(p->a, obj_copy(o));
}

/* What is refused (a name that is another's, a namespace that goes) is left: the next change of
 * owner or object looks again. */
bool sim_create(struct pass *p, struct obj *o, char ret_uid[STORE_UID_TEXT])
{
	struct error err = ERROR_INIT;
	bool is_pod = cstr_eq(meta_kind(o), "Pod");
	if (engine_create(p->server, &simulator, o, ret_uid, &err) == 0)
		return true;
	if (is_pod && err.code == E_FORBIDDEN)
		p->refused = arena_strdup(p->a, err.msg);
	return false;
}

void sim_put(struct pass *p, const struct obj *before, const struct obj *wanted)
{
	struct error err = ERROR_INIT;
	struct head *h = store_by_uid(p->server->store, meta_uid(before));
	if (h && !obj_equal(before, wanted))
		engine_replace(p->server, &simulator, h, wanted, &err);
}

void sim_delete(struct pass *p, const struct obj *o)
{
	struct error err = ERROR_INIT;
	struct head *h = store_by_uid(p->server->store, meta_uid(o));
	if (h && !meta_is_deleting(o))
		engine_delete(p->server, &simulator, h, PROPAGATE_BACKGROUND, &err);
}

void sim_hash(const struct obj *template, char out[SIM_HASH])
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	char digest[SHA256_HEX];
	json_digest(template, digest);
	for (size_t i = 0; i < SIM_HASH - 1; i++)
		out[i] = letters[((size_t)digest[2 * i] * 16 + (size_t)digest[2 * i + 1]) %
				 (sizeof(letters) - 1)];
	out[SIM_HASH - 1] = '\0';
}

struct obj *sim_status(struct obj *o)
{
	int64_t generation = meta_generation(o);
	if (obj_type(obj_get(o, "status")) != OBJ_MAP)
		obj_set(o, "status", obj_map());
	struct obj *s = obj_get_mut(o, "status");
	if (generation)
		obj_set_int(s, "observedGeneration", generation);
	return s;
}

void sim_condition(struct pass *p, struct obj *o, const char *type, bool is_true,
		   const char *reason, const char *message)
{
	struct obj *s = obj_get_mut(o, "status");
	struct condition c = {.type = type,
			      .status = is_true ? "True" : "False",
			      .reason = reason,
			      .message = message};
	if (obj_type(obj_get(s, "conditions")) != OBJ_LIST)
		obj_set(s, "conditions", obj_list());
	struct obj *conditions = obj_get_mut(s, "conditions");
	if (!condition_set(conditions, &c, p->now_ns) || !cstr_eq(obj_str(o, "kind"), "Deployment"))
		return;
	for (size_t i = 0; i < obj_len(conditions); i++) /* only a Deployment's have it */
		if (cstr_eq(obj_str(obj_at(conditions, i), "type"), type))
			obj_set_str(obj_at_mut(conditions, i), "lastUpdateTime", p->now);
}

void sim_labels(struct obj *to, const struct obj *labels)
{
	OBJ_EACH (it, labels)
		meta_set_label(to, it.key, obj_as_string(it.value));
}

/* --- faults --- */

static const struct {
	const char *word;
	enum fault_kind kind;
} words[] = {
	{"OOMKilled", FAULT_ENDED},          {"JobOOMKilled", FAULT_ENDED},
	{"StartError", FAULT_ENDED},         {"Unschedulable", FAULT_UNSCHEDULABLE},
	{"Evicted", FAULT_EVICTED},          {"FailedMount", FAULT_EVENT},
	{"FailedAttachVolume", FAULT_EVENT}, {"ReplicaFailure", FAULT_PODLESS},
	{"FailedCreate", FAULT_PODLESS},     {"ProgressDeadlineExceeded", FAULT_DEADLINE},
	{"DeadlineExceeded", FAULT_JOB},     {"BackoffLimitExceeded", FAULT_JOB},
};

#define REASON_MAX 64

/* "REASON: TEXT"; any other word than those of the table is one that a container waits with. */
static struct fault said(struct str text, struct arena *a)
{
	struct str reason, detail;
	str_cut(text, ':', &reason, &detail);
	reason = str_clip(str_trim(reason), REASON_MAX);
	struct fault f = {.kind = FAULT_WAITS,
			  .reason = arena_strndup(a, reason.ptr, reason.len),
			  .message = ""};
	detail = str_trim(detail);
	if (detail.len)
		f.message = arena_strndup(a, detail.ptr, detail.len);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (cstr_eq(words[i].word, f.reason))
			f.kind = words[i].kind;
	if (cstr_eq(f.reason, "JobOOMKilled"))
		f.reason = "OOMKilled";
	if (f.kind == FAULT_PODLESS)
		f.reason = "FailedCreate";
	return f;
}

/* Does a container's image have the word in its tag? */
static bool has_tag(const struct obj *spec, const char *word)
{
	const struct obj *list = obj_get(spec, "containers");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *image = obj_str(obj_at(list, i), "image");
		struct str name, tag = {NULL, 0};
		if (image && str_rcut(str_of(image), ':', &name, &tag) &&
		    str_contains(tag, str_of(word)))
			return true;
	}
	return false;
}

struct fault sim_fault(const struct obj *o, struct arena *a)
{
	const struct obj *pod = cstr_eq(meta_kind(o), "Pod") ? o : obj_path(o, "spec.template");
	const struct obj *spec = obj_get(pod, "spec");
	struct str text =
		obj_as_str(obj_path(pod, "metadata.annotations['app.coreos.com/simulate']"));
	if (str_trim(text).len)
		return said(text, a);
	return (struct fault){.kind = has_tag(spec, "fail")   ? FAULT_UNREADY
				      : has_tag(spec, "hang") ? FAULT_HANGS
							      : FAULT_NONE,
			      .reason = "ContainerCreating",
			      .message = ""};
}

#define REFUSED_AGAIN_NS (10 * NS_PER_S)

/* Who has Pods of this very spec keeps them, whatever range came later. */
static bool has_pods(const struct obj *o)
{
	static const char *const counts[] = {"status.readyReplicas", "status.numberReady",
					     "status.succeeded"};
	int64_t generation = meta_generation(o);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		if (obj_i64(o, counts[i], 0) > 0)
			return obj_i64(o, "status.observedGeneration", generation) == generation;
	return false;
}

int64_t sim_refused(struct pass *p, const char *uid)
{
	struct children pods;
	int64_t n = 0;
	sim_children(p, uid, "", "pods", &pods);
	for (size_t i = 0; i < pods.n; i++)
		n += !meta_is_deleting(pods.items[i]);
	p->again_ns = p->now_ns + REFUSED_AGAIN_NS;
	return n;
}

void sim_limits(struct pass *p)
{
	const struct obj *template = obj_path(p->o, "spec.template");
	if (p->fault.kind != FAULT_NONE || !template || has_pods(p->o))
		return;
	const char *ns = meta_namespace(p->o) ? meta_namespace(p->o) : "";
	const char *why = limits_template_fault(p->server, ns, template, p->a);
	if (!why)
		return;
	p->fault = (struct fault){
		.kind = FAULT_PODLESS,
		.reason = "FailedCreate",
		.message = arena_fmt(p->a, "pods \"%s-\" is forbidden: %s", meta_name(p->o), why)};
	p->refused = p->fault.message;
	p->again_ns = p->now_ns + REFUSED_AGAIN_NS;
}
