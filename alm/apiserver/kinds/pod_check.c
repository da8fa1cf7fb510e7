/* pod_check: see pod_check.h. */
#include "alm/apiserver/kinds/pod_check.h"

#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/apiserver/kinds/pod_place.h"
#include "alm/apiserver/kinds/pod_probe.h"
#include "alm/apiserver/kinds/pod_security.h"
#include "alm/apiserver/kinds/rule_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/object_meta.h"

#define RANGE_TEXT "must be between 1 and 65535, inclusive"

struct volumes {
	const struct obj *list, *claims;
	const struct obj *devices; /* the Pod's claims of them */
	struct field_errors *e;
	const char *path;
	struct map *good; /* names of claims, and of list: one that is refused is none */
	bool never;       /* are containers not started again */
	bool init;        /* are they those that come first */
	int64_t grace;    /* seconds that the Pod has to end */
};

static const char *at(struct field_errors *e, const char *path, const char *list, size_t i)
{
	return arena_fmt(e->arena, "%s.%s[%zu]", path, list, i);
}

/* A name of its own in its list. */
static bool check_name(struct field_errors *e, const char *path, const struct obj *o,
		       struct map *seen)
{
	const char *name = obj_str(o, "name"), *field = check_below(e, path, "name");
	if (check_is_empty(o, "name")) {
		check_required(e, field, NULL);
		return false;
	}
	const char *fault = name_fault(NAME_DNS_LABEL, str_of(name));
	check_named(e, field, NAME_DNS_LABEL, name);
	if (!seen || !check_again(seen, name))
		return !fault;
	if (!fault)
		field_errors_add(e, FIELD_DUPLICATE, field, "Duplicate value: \"%s\"", name);
	return false;
}

/* --- volumes --- */

/* They are volumes before the others. */
static void check_claims(const struct volumes *v)
{
	for (size_t i = 0; i < obj_len(v->claims); i++) {
		const char *path = at(v->e, v->path, "volumes", i);
		const char *name = obj_str(obj_at(v->claims, i), "metadata.name");
		size_t before = v->e->n;
		if (name && *name)
			check_named(v->e, check_below(v->e, path, "name"), NAME_DNS_LABEL, name);
		if (name && v->e->n == before)
			(void)map_set(v->good, name, NULL);
		if (name && *name)
			continue;
		check_required(v->e, check_below(v->e, path, "persistentVolumeClaim.claimName"),
			       NULL);
		check_required(v->e, check_below(v->e, path, "name"), NULL);
	}
}

static void check_volumes(struct volumes *v)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(v->list); i++) {
		const char *path = at(v->e, v->path, "volumes", obj_len(v->claims) + i);
		size_t before = v->e->n;
		pod_check_source(v->e, path, obj_at(v->list, i));
		check_name(v->e, path, obj_at(v->list, i), seen);
		if (v->e->n == before)
			(void)map_set(v->good, check_text(obj_at(v->list, i), "name"), NULL);
	}
}

static bool has_volume(const struct volumes *v, const char *name)
{
	return map_has(v->good, name);
}

static void check_mounts(const struct volumes *v, const char *path, const struct obj *mounts)
{
	struct field_errors *e = v->e;
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(mounts); i++) {
		const struct obj *m = obj_at(mounts, i);
		const char *here = at(e, path, "volumeMounts", i), *name = obj_str(m, "name");
		const char *where = obj_str(m, "mountPath");
		if (check_is_empty(m, "name"))
			check_required(e, check_below(e, here, "name"), NULL);
		if (!has_volume(v, name ? name : ""))
			field_errors_add(e, FIELD_NOT_FOUND, check_below(e, here, "name"),
					 "Not found: \"%s\"", name ? name : "");
		if (check_is_empty(m, "mountPath"))
			check_required(e, check_below(e, here, "mountPath"), NULL);
		if (where && check_again(seen, where))
			field_errors_add(e, FIELD_INVALID, check_below(e, here, "mountPath"),
					 "Invalid value: \"%s\": must be unique", where);
		size_t from = e->n;
		pod_check_path(e, check_below(e, path, "volumeMounts.subPath"), /* sic */
			       check_text(m, "subPath"));
		if (*check_text(m, "subPath") && *check_text(m, "subPathExpr"))
			check_invalid_text(e, check_below(e, here, "subPathExpr"),
					   check_text(m, "subPathExpr"),
					   "subPathExpr and subPath are mutually exclusive");
		pod_check_path(e, check_below(e, path, "volumeMounts.subPathExpr"),
			       check_text(m, "subPathExpr"));
		check_said_since(e, from, m);
	}
}

/* What a container mounts, others see only if it may all. */
static void check_propagation(struct field_errors *e, const char *path, const struct obj *c)
{
	const struct obj *mounts = obj_get(c, "volumeMounts");
	bool privileged = obj_flag(c, "securityContext.privileged", false);
	for (size_t i = 0; i < obj_len(mounts) && !privileged; i++) {
		const struct obj *how = obj_get(obj_at(mounts, i), "mountPropagation");
		if (strcmp(check_text(obj_at(mounts, i), "mountPropagation"), "Bidirectional") != 0)
			continue;
		check_forbidden(e, path,
				"Bidirectional mount propagation is available only to privileged "
				"containers");
		check_said_of(e, how);
	}
}

/* The same of what is no file system. */
static void check_devices(const struct volumes *v, const char *path, const struct obj *devices)
{
	struct field_errors *e = v->e;
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(devices); i++) {
		const struct obj *d = obj_at(devices, i);
		const char *here = at(e, path, "volumeDevices", i), *name = check_text(d, "name");
		if (!*name)
			check_required(e, check_below(e, here, "name"), NULL);
		if (!has_volume(v, name))
			field_errors_add(e, FIELD_NOT_FOUND, check_below(e, here, "name"),
					 "Not found: \"%s\"", name);
		if (check_is_empty(d, "devicePath"))
			check_required(e, check_below(e, here, "devicePath"), NULL);
	}
	check_said_since(e, from, devices);
}

/* --- containers --- */

/* Of a host's or a container's; 0 is none. */
static void check_port_number(struct field_errors *e, const char *path, int64_t n)
{
	if (n < 0 || n > 65535)
		field_errors_add(e, FIELD_INVALID, path, "Invalid value: %lld: " RANGE_TEXT,
				 (long long)n);
}

static void check_port_name(struct field_errors *e, const char *path, const struct obj *name,
			    struct map *seen)
{
	size_t from = e->n;
	if (!obj_as_str(name).len)
		return;
	check_port_or_name(e, path, name);
	if (e->n == from && check_again(seen, obj_as_string(name)))
		field_errors_add(e, FIELD_DUPLICATE, path, "Duplicate value: \"%s\"",
				 obj_as_string(name));
}

static void check_ports(struct field_errors *e, const char *path, const struct obj *ports)
{
	static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(ports); i++) {
		const struct obj *port = obj_at(ports, i);
		const char *here = at(e, path, "ports", i);
		const char *number = check_below(e, here, "containerPort");
		int64_t n = obj_i64(port, "containerPort", 0);
		size_t from = e->n;
		check_port_name(e, check_below(e, here, "name"), obj_get(port, "name"), seen);
		check_said_since(e, from, ports);
		if (n == 0)
			check_required(e, number, NULL);
		check_port_number(e, number, n);
		from = e->n;
		check_port_number(e, check_below(e, here, "hostPort"),
				  obj_i64(port, "hostPort", 0));
		if (!check_is_empty(port, "protocol"))
			field_errors_one_of(e, check_below(e, here, "protocol"),
					    check_text(port, "protocol"), protocols);
		check_said_since(e, from, port);
	}
}

static void check_container(const struct volumes *v, const char *path, const struct obj *c,
			    bool short_lived)
{
	static const char *const probes[] = {"livenessProbe", "readinessProbe", "startupProbe"};
	static const char *const hooks[] = {"lifecycle.postStart", "lifecycle.preStop"};
	struct field_errors *e = v->e;
	if (check_is_empty(c, "image"))
		check_required(e, check_below(e, path, "image"), NULL);
	rule_check_part(e, "message", path, c);
	check_ports(e, path, obj_get(c, "ports"));
	pod_check_env(e, path, c);
	check_mounts(v, path, obj_get(c, "volumeMounts"));
	rule_check_part(e, "mounts", path, c);
	check_propagation(e, check_below(e, path, "volumeMounts.mountPropagation"), c);
	check_devices(v, path, obj_get(c, "volumeDevices"));
	rule_check_part(e, "pull", path, c);
	pod_check_resources(e, check_below(e, path, "resources"), obj_get(c, "resources"),
			    v->devices, false);
	pod_check_resize(e, path, c, v->never);
	pod_check_container_security(e, path, c);
	for (size_t i = 0; i < ARRAY_LEN(hooks) && !short_lived; i++)
		if (obj_path(c, hooks[i]))
			pod_check_hook(e, check_below(e, path, hooks[i]), obj_path(c, hooks[i]),
				       v->grace);
	for (size_t i = 0; i < ARRAY_LEN(probes) && !short_lived; i++)
		pod_check_probe(e, check_below(e, path, probes[i]), obj_get(c, probes[i]), i != 1);
	pod_check_restart(e, path, c, v->init);
}

/* One that is brought in later has no part in the work. */
static void check_ephemeral(const struct volumes *v, const char *path, const struct obj *c)
{
	static const char *const fields[] = {
		"ports",         "resources",      "lifecycle",
		"livenessProbe", "readinessProbe", "startupProbe",
		"resizePolicy",  "restartPolicy",  "restartPolicyRules"};
	size_t from = v->e->n;
	check_name(v->e, path, c, NULL);
	check_container(v, path, c, true);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *is = obj_get(c, fields[i]);
		bool empty = obj_type(is) == OBJ_STRING ? !obj_as_str(is).len : !obj_len(is);
		if (is && !(empty && (i == 0 || i == 1 || i == 6 || i == 8)))
			check_forbidden(v->e, check_below(v->e, path, fields[i]),
					"cannot be set for an Ephemeral Container");
	}
	check_said_since(v->e, from, c);
}

/* One that ends before the others begin. */
static void check_short_lived(struct field_errors *e, const char *path, const struct obj *c)
{
	static const char *const fields[] = {"livenessProbe", "readinessProbe", "startupProbe"};
	const struct obj *hooks = obj_get(c, "lifecycle");
	if (hooks &&
	    !(obj_len(hooks) == 1 && obj_has(hooks, "stopSignal"))) /* of a feature that is off */
		check_forbidden(e, check_below(e, path, "lifecycle"),
				"may not be set for init containers without restartPolicy=Always");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (obj_has(c, fields[i]))
			check_forbidden(e, check_below(e, path, fields[i]),
					"may not be set for init containers without "
					"restartPolicy=Always");
}

static void check_aliases(struct field_errors *e, const char *path, const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *here = at(e, path, "hostAliases", i);
		const struct obj *names = obj_get(obj_at(list, i), "hostnames");
		check_ip(e, check_below(e, here, "ip"), check_text(obj_at(list, i), "ip"), false);
		for (size_t k = 0; k < obj_len(names); k++) {
			const char *name = obj_as_string(obj_at(names, k));
			check_name_rule(e, at(e, here, "hostnames", k), NAME_DNS_SUBDOMAIN,
					name ? name : "");
		}
	}
}

/* Without that of the cluster it needs one of its own. */
static void check_resolver(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *policy = obj_get(spec, "dnsPolicy"), *config = obj_get(spec, "dnsConfig");
	if (strcmp(check_text(spec, "dnsPolicy"), "None") != 0)
		return;
	if (!config) {
		check_required(e, path, "must provide `dnsConfig` when `dnsPolicy` is None");
		check_said_of(e, policy);
	} else if (!obj_len(obj_get(config, "nameservers"))) {
		check_required(e, check_below(e, path, "nameservers"),
			       "must provide at least one DNS nameserver when `dnsPolicy` is None");
		check_said_of(e, config);
	}
}

/* Who has the network of the host has its ports. */
static void check_ports_alike(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *list = obj_get(spec, "containers");
	for (size_t i = 0; i < obj_len(list) && obj_flag(spec, "hostNetwork", false); i++) {
		const struct obj *ports = obj_get(obj_at(list, i), "ports");
		for (size_t k = 0; k < obj_len(ports) && !field_errors_full(e); k++) {
			const struct obj *port = obj_at(ports, k), *n = obj_get(port, "hostPort");
			if (!obj_i64(port, "hostPort", 0) ||
			    obj_equal(n, obj_get(port, "containerPort")))
				continue;
			check_invalid(e,
				      check_below(e,
						  at(e, at(e, path, "containers", i), "ports", k),
						  "hostPort"),
				      n, "must match `containerPort` when `hostNetwork` is true");
			check_said_of(e, port);
		}
	}
}

/* What is about the Pod as a whole. */
static void check_pod_rest(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *options = obj_path(spec, "dnsConfig.options");
	const struct obj *gates = obj_get(spec, "readinessGates");
	const struct obj *deadline = obj_get(spec, "activeDeadlineSeconds");
	int64_t n = 1;
	rule_check_part(e, "policies", path, spec);
	check_label_map(e, check_below(e, path, "nodeSelector"), obj_get(spec, "nodeSelector"));
	check_ports_alike(e, path, spec);
	pod_check_security(e, path, spec);
	pod_check_affinity(e, check_below(e, path, "affinity"), obj_get(spec, "affinity"));
	check_resolver(e, check_below(e, path, "dnsConfig"), spec);
	rule_check_part(e, "dns", path, spec);
	for (size_t i = 0; i < obj_len(options); i++)
		if (check_is_empty(obj_at(options, i), "name"))
			check_required(e, at(e, path, "dnsConfig.options", i), "must not be empty");
	for (size_t i = 0; i < obj_len(gates); i++) {
		const char *type = check_text(obj_at(gates, i), "conditionType");
		check_qualified(
			e, check_below(e, at(e, path, "readinessGates", i), "conditionType"), type);
	}
	for (size_t i = 0; i < obj_len(obj_get(spec, "schedulingGates")); i++) {
		const struct obj *gate = obj_at(obj_get(spec, "schedulingGates"), i);
		size_t from = e->n;
		check_qualified(e, at(e, path, "schedulingGates", i), check_text(gate, "name"));
		check_said_since(e, from, gate);
	}
	pod_check_spread(e, check_below(e, path, "topologySpreadConstraints"),
			 obj_get(spec, "topologySpreadConstraints"));
	rule_check_part(e, "spread", path, spec);
	check_name_rule(e, check_below(e, path, "serviceAccountName"), NAME_DNS_SUBDOMAIN,
			check_text(spec, "serviceAccountName"));
	rule_check_part(e, "node", path, spec);
	if (deadline && (!obj_as_i64(deadline, &n) || n < 1 || n > INT32_MAX))
		check_invalid(e, check_below(e, path, "activeDeadlineSeconds"), deadline,
			      "must be between 1 and 2147483647, inclusive");
	rule_check_part(e, "names", path, spec);
	check_aliases(e, path, obj_get(spec, "hostAliases"));
	rule_check_part(e, "last", path, spec);
	pod_check_files(e, path, spec);
}

/* What two take of the host is one too many. */
static void check_host_port(struct field_errors *e, const char *path, const struct obj *port,
			    struct map *seen)
{
	const char *protocol = check_text(port, "protocol");
	int64_t n = obj_i64(port, "hostPort", 0);
	const char *key = arena_fmt(e->arena, "%s/%s/%lld", *protocol ? protocol : "TCP",
				    check_text(port, "hostIP"), (long long)n);
	if (!n || !check_again(seen, key))
		return;
	field_errors_add(e, FIELD_DUPLICATE, check_below(e, path, "hostPort"),
			 "Duplicate value: \"%s\"", key);
	check_said_of(e, port);
}

static void check_host_ports(struct field_errors *e, const char *path, const struct obj *list)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *ports = obj_get(obj_at(list, i), "ports");
		for (size_t k = 0; k < obj_len(ports) && !field_errors_full(e); k++)
			check_host_port(e, at(e, at(e, path, "containers", i), "ports", k),
					obj_at(ports, k), seen);
	}
}

void check_pod_spec(struct field_errors *e, const char *path, const struct obj *spec,
		    const struct obj *claims)
{
	static const char *const lists[] = {"containers", "initContainers"};
	struct volumes v = {
		.list = obj_get(spec, "volumes"), .claims = claims, .e = e, .path = path};
	CLEANUP(map_freep) struct map *good = v.good = map_new(NULL);
	check_claims(&v);
	check_volumes(&v);
	v.devices = obj_get(spec, "resourceClaims");
	v.grace = obj_i64(spec, "terminationGracePeriodSeconds", 30);
	v.never = strcmp(check_text(spec, "restartPolicy"), "Never") == 0;
	pod_check_claims(e, check_below(e, path, "resourceClaims"),
			 obj_get(spec, "resourceClaims"));
	if (!obj_len(obj_get(spec, "containers")))
		check_required(e, check_below(e, path, "containers"), NULL);
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *list = obj_get(spec, lists[k]);
		CLEANUP(map_freep) struct map *seen = map_new(NULL);
		v.init = k > 0;
		for (size_t i = 0; i < obj_len(list); i++) {
			const char *here = at(e, path, lists[k], i);
			check_name(e, here, obj_at(list, i), seen);
			bool short_lived =
				k > 0 &&
				!cstr_eq(obj_str(obj_at(list, i), "restartPolicy"), "Always");
			check_container(&v, here, obj_at(list, i), short_lived);
			if (short_lived)
				check_short_lived(e, here, obj_at(list, i));
		}
		if (k == 0)
			check_host_ports(e, path, list);
	}
	v.init = false;
	for (size_t i = 0; i < obj_len(obj_get(spec, "ephemeralContainers")); i++)
		check_ephemeral(&v, at(e, path, "ephemeralContainers", i),
				obj_at(obj_get(spec, "ephemeralContainers"), i));
	pod_check_whole(e, check_below(e, path, "resources"), obj_get(spec, "resources"),
			v.devices);
	check_pod_rest(e, path, spec);
}

void check_pod_template(struct field_errors *e, const char *path, const struct obj *t,
			const struct obj *claims)
{
	const struct obj *later = obj_path(t, "spec.ephemeralContainers");
	size_t from = e->n;
	check_label_map(e, check_below(e, path, "labels"), obj_path(t, "metadata.labels"));
	object_meta_check_annotations(obj_path(t, "metadata.annotations"),
				      check_below(e, path, "annotations"), e);
	check_said_since(e, from, obj_get(t, "metadata"));
	check_pod_spec(e, check_below(e, path, "spec"), obj_get(t, "spec"), claims);
	if (obj_len(later)) {
		check_forbidden(e, check_below(e, path, "spec.ephemeralContainers"),
				"ephemeral containers not allowed in pod template");
		check_said_of(e, later);
	}
}
