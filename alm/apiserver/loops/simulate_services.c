/* simulate_services: what stands behind Services, claims and APIServices. See simulate_internal.h. */
#include <string.h>

#include "alm/apiserver/kinds/services.h"
#include "alm/apiserver/loops/simulate_internal.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/obj/quantity.h"
#include "alm/obj/query/selector.h"

#define NAME_CUT 200

/* --- load balancers --- */

/* A load balancer gets an address of the documentation range (RFC 5737). */
static void balance(struct pass *p)
{
	if (!cstr_eq(obj_str(p->o, "spec.type"), "LoadBalancer") ||
	    obj_len(obj_path(p->o, "status.loadBalancer.ingress")))
		return;
	struct obj *o = sim_copy(p, p->o), *list = obj_list(), *ingress = obj_map();
	obj_set_str(ingress, "ip", "192.0.2.1");
	obj_set_str(ingress, "ipMode", "VIP");
	obj_append(list, ingress);
	obj_set_path(o, "status.loadBalancer.ingress", list);
	sim_put(p, p->o, o);
}

/* --- endpoints --- */

struct backends {
	const struct obj *pods[SIM_ENDPOINTS_MAX];
	size_t n;
};

/* A Pod whose text lacks one of the labels needs not be parsed. */
static bool may_match(const struct head *h, const struct obj *selector, struct arena *a)
{
	OBJ_EACH (it, selector) {
		const char *text = arena_fmt(a, "\"%s\":\"%s\"", it.key, obj_as_string(it.value));
		if (!strstr(h->text->bytes, text))
			return false;
	}
	return true;
}

static void select_pods(struct pass *p, struct backends *ret)
{
	const struct obj *labels = obj_path(p->o, "spec.selector");
	struct store_table *pods = store_resource(p->server->store, "", "pods");
	const char *ns = meta_namespace(p->o);
	ret->n = 0;
	for (size_t i = resource_lower_bound(pods, ns, "");
	     i < pods->n_heads && cstr_eq(pods->heads[i]->ns, ns) && ret->n < SIM_ENDPOINTS_MAX;
	     i++) {
		const struct obj *pod = may_match(pods->heads[i], labels, p->a)
						? head_obj(pods->heads[i], p->a)
						: NULL;
		bool fits = pod && obj_str(pod, "status.podIP") && !meta_is_deleting(pod);
		OBJ_EACH (it, labels)
			fits = fits && cstr_eq(meta_label(pod, it.key), obj_as_string(it.value));
		if (fits)
			ret->pods[ret->n++] = pod;
	}
}

/* The number behind a port's name, as the first Pod has it; 0: none. */
static int64_t target_port(const struct obj *port, const struct backends *b)
{
	int64_t n = obj_i64(port, "port", 0);
	const struct obj *target = obj_get(port, "targetPort");
	const char *name = obj_as_string(target);
	if (!name) {
		obj_as_i64(target, &n);
		return n;
	}
	const struct obj *containers = b->n ? obj_path(b->pods[0], "spec.containers") : NULL;
	for (size_t i = 0; i < obj_len(containers); i++) {
		const struct obj *ports = obj_get(obj_at(containers, i), "ports");
		for (size_t k = 0; k < obj_len(ports); k++)
			if (cstr_eq(obj_str(obj_at(ports, k), "name"), name))
				return obj_i64(obj_at(ports, k), "containerPort", 0);
	}
	return 0;
}

static struct obj *ports_of(const struct pass *p, const struct backends *b, bool empty_name)
{
	const struct obj *ports = obj_path(p->o, "spec.ports");
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(ports) && b->n; i++) {
		const struct obj *port = obj_at(ports, i);
		int64_t n = target_port(port, b);
		const char *name = obj_str(port, "name");
		if (!n)
			continue;
		struct obj *e = obj_map();
		obj_set_str(e, "name", name ? name : empty_name ? "" : NULL);
		obj_set_int(e, "port", n);
		obj_set_str(e, "protocol", obj_str(port, "protocol"));
		obj_set_str(e, "appProtocol", obj_str(port, "appProtocol"));
		obj_append(out, e);
	}
	return out;
}

static struct obj *target_ref(const struct obj *pod)
{
	struct obj *ref = obj_map();
	obj_set_str(ref, "kind", "Pod");
	obj_set_str(ref, "namespace", meta_namespace(pod));
	obj_set_str(ref, "name", meta_name(pod));
	obj_set_str(ref, "uid", meta_uid(pod));
	return ref;
}

static struct obj *slice_endpoint(const struct obj *pod)
{
	struct obj *e = obj_map(), *addresses = obj_list(), *c = obj_map();
	obj_append(addresses, obj_string(obj_str(pod, "status.podIP")));
	obj_set_bool(c, "ready", condition_is(pod, "Ready", "True"));
	obj_set_bool(c, "serving", condition_is(pod, "Ready", "True"));
	obj_set_bool(c, "terminating", false);
	obj_set(e, "addresses", addresses);
	obj_set(e, "conditions", c);
	obj_set_str(e, "nodeName", obj_str(pod, "spec.nodeName"));
	obj_set(e, "targetRef", target_ref(pod));
	return e;
}

static void set_slice(struct pass *p, struct obj *slice, const struct backends *b)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < b->n; i++)
		obj_append(list, slice_endpoint(b->pods[i]));
	sim_labels(slice, obj_path(p->o, "metadata.labels"));
	meta_set_label(slice, "endpointslice.kubernetes.io/managed-by",
		       "endpointslice-controller.k8s.io");
	meta_set_label(slice, "kubernetes.io/service-name",
		       strlen(meta_name(p->o)) <= 63 ? meta_name(p->o) : NULL);
	obj_set_str(slice, "addressType", "IPv4");
	obj_set(slice, "endpoints", list);
	obj_set(slice, "ports", ports_of(p, b, true));
}

static void add_address(struct obj *subset, const struct obj *pod)
{
	const char *key = condition_is(pod, "Ready", "True") ? "addresses" : "notReadyAddresses";
	struct obj *e = obj_map();
	obj_set_str(e, "ip", obj_str(pod, "status.podIP"));
	obj_set_str(e, "nodeName", obj_str(pod, "spec.nodeName"));
	obj_set(e, "targetRef", target_ref(pod));
	if (!obj_has(subset, key))
		obj_set(subset, key, obj_list());
	obj_append(obj_get_mut(subset, key), e);
}

static void set_endpoints(struct pass *p, struct obj *o, const struct backends *b)
{
	struct obj *subsets = obj_list(), *subset = obj_map();
	for (size_t i = 0; i < b->n; i++)
		add_address(subset, b->pods[i]);
	obj_set(subset, "ports", ports_of(p, b, false));
	if (b->n)
		obj_append(subsets, obj_ref(subset));
	obj_unref(subset);
	sim_labels(o, obj_path(p->o, "metadata.labels"));
	meta_set_label(o, "endpoints.kubernetes.io/managed-by", "endpoint-controller");
	if (obj_len(subsets))
		obj_set(o, "subsets", obj_ref(subsets));
	else
		obj_del(o, "subsets");
	obj_unref(subsets);
}

/* One of the two objects of a Service; set completes it. */
static void publish(struct pass *p, const char *group, const char *plural, struct obj *fresh,
		    const struct backends *b,
		    void (*set)(struct pass *p, struct obj *o, const struct backends *b))
{
	char uid[STORE_UID_TEXT];
	struct children have;
	sim_children(p, meta_uid(p->o), group, plural, &have);
	if (!have.n) {
		set(p, fresh, b);
		sim_create(p, fresh, uid);
		return;
	}
	obj_unref(fresh);
	struct obj *o = sim_copy(p, have.items[0]);
	set(p, o, b);
	sim_put(p, have.items[0], o);
}

void sim_service(struct pass *p)
{
	struct backends b;
	balance(p);
	if (!obj_len(obj_path(p->o, "spec.selector")) ||
	    cstr_eq(obj_str(p->o, "spec.type"), "ExternalName"))
		return;
	const char *name = name_cut(meta_name(p->o), NAME_CUT, p->a);
	const char *uid = meta_uid(p->o);
	select_pods(p, &b);
	publish(p, "discovery.k8s.io", "endpointslices",
		sim_child("discovery.k8s.io/v1", "EndpointSlice",
			  arena_fmt(p->a, "%s-%.5s", name, uid), p->o),
		&b, set_slice);
	publish(p, "", "endpoints", sim_child("v1", "Endpoints", meta_name(p->o), p->o), &b,
		set_endpoints);
}

/* --- claims --- */

/* Are they all in the other list? */
static bool has_modes(const struct obj *all, const struct obj *some)
{
	size_t found = 0;
	for (size_t i = 0; i < obj_len(some); i++)
		for (size_t j = 0; j < obj_len(all); j++)
			found += obj_equal(obj_at(all, j), obj_at(some, i));
	return found >= obj_len(some);
}

static bool is_enough(const struct obj *volume, const struct obj *claim)
{
	static const char asked[] = "spec.resources.requests.storage";
	struct quantity has, wants;
	return !obj_path(claim, asked) ||
	       (quantity_read(obj_as_str(obj_path(volume, "spec.capacity.storage")), &has) &&
		quantity_read(obj_as_str(obj_path(claim, asked)), &wants) &&
		has.nanos >= wants.nanos);
}

static bool same_text(const struct obj *a, const struct obj *b, const char *path)
{
	const char *x = obj_str(a, path), *y = obj_str(b, path);
	return cstr_eq(x ? x : "", y ? y : "");
}

/* Is it nobody's, or kept for this claim? */
static bool is_free(const struct obj *volume, const struct obj *claim)
{
	const struct obj *ref = obj_path(volume, "spec.claimRef");
	const char *uid = obj_str(ref, "uid");
	return !ref || (cstr_eq(obj_str(ref, "namespace"), meta_namespace(claim)) &&
			cstr_eq(obj_str(ref, "name"), meta_name(claim)) &&
			(!uid || !*uid || cstr_eq(uid, meta_uid(claim))));
}

/* The first volume that is there and fits; NULL: one is made, as a provisioner does. */
static const struct obj *volume_of(struct pass *p, const char *name)
{
	struct store_table *all = store_resource(p->server->store, "", "persistentvolumes");
	for (size_t i = 0; i < all->n_heads; i++) {
		const struct obj *v = head_obj(all->heads[i], p->a);
		if (v && !meta_is_deleting(v) && (!name || cstr_eq(name, meta_name(v))) &&
		    is_free(v, p->o) && same_text(v, p->o, "spec.storageClassName") &&
		    has_modes(obj_path(v, "spec.accessModes"),
			      obj_path(p->o, "spec.accessModes")) &&
		    is_enough(v, p->o))
			return v;
	}
	return NULL;
}

static void bind_volume(struct pass *p, const struct obj *volume)
{
	static const char *const fields[] = {"kind", "apiVersion"};
	static const char *const of_meta[] = {"namespace", "name", "uid"};
	struct obj *o = sim_copy(p, volume), *ref = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		obj_set_str(ref, fields[i], obj_str(p->o, fields[i]));
	for (size_t i = 0; i < ARRAY_LEN(of_meta); i++)
		obj_set_str(ref, of_meta[i], obj_str(obj_get(p->o, "metadata"), of_meta[i]));
	obj_set_path(o, "spec.claimRef", ref);
	obj_set_path(o, "status.phase", obj_string("Bound"));
	sim_put(p, volume, o);
}

void sim_volume(struct pass *p)
{
	const char *uid = obj_str(p->o, "spec.claimRef.uid");
	struct obj *o = sim_copy(p, p->o);
	bool is_held = uid && store_by_uid(p->server->store, uid);
	obj_set_path(o, "status.phase",
		     obj_string(is_held ? "Bound"
				: uid   ? "Released"
					: "Available"));
	sim_put(p, p->o, o);
}

void sim_claim(struct pass *p)
{
	struct obj *o = sim_copy(p, p->o);
	const struct obj *modes = obj_path(o, "spec.accessModes");
	const struct obj *storage = obj_path(o, "spec.resources.requests.storage");
	if (obj_type(obj_get(o, "status")) != OBJ_MAP)
		obj_set(o, "status", obj_map());
	obj_set_path(o, "status.phase", obj_string("Bound"));
	const struct obj *volume = volume_of(p, obj_str(o, "spec.volumeName"));
	if (!obj_str(o, "spec.volumeName"))
		obj_set_path(o, "spec.volumeName",
			     volume ? obj_string(meta_name(volume))
				    : obj_stringf("pvc-%s", meta_uid(o)));
	if (volume)
		bind_volume(p, volume);
	if (modes && !obj_path(o, "status.accessModes"))
		obj_set_path(o, "status.accessModes", obj_copy(modes));
	if (storage)
		obj_set_path(o, "status.capacity.storage", obj_copy(storage));
	sim_put(p, p->o, o);
}

/* --- APIServices --- */

/* As the aggregator says it once the Service answers; ALM and others wait for it (ready.c). */
void sim_api_service(struct pass *p)
{
	bool local = !obj_get(obj_get(p->o, "spec"), "service");
	struct obj *o = sim_copy(p, p->o);
	sim_status(o);
	sim_condition(p, o, "Available", true, local ? "Local" : "Passed",
		      local ? "Local APIServices are always available"
			    : "all checks passed (simulated)");
	sim_put(p, p->o, o);
}
