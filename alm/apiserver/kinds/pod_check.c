/* pod_check: see pod_check.h. */
#include "alm/apiserver/kinds/pod_check.h"

#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_notes.h"
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
	const char *path, *pod; /* its name; NULL of a template */
	struct map *good;       /* names of claims, and of list: one that is refused is none */
	bool never;             /* are containers not started again */
	bool host_users;        /* do they have those of the host */
	int64_t grace;          /* seconds that the Pod has to end */
};

static const char *at(struct field_errors *e, const char *path, const char *list, size_t i)
{
	return arena_fmt(e->arena, "%s.%s[%zu]", path, list, i);
}

static void check_name(struct field_errors *e, const char *path, const struct obj *o)
{
	const char *name = check_text(o, "name"), *field = check_below(e, path, "name");
	if (!*name)
		check_required(e, field, NULL);
	else
		check_named(e, field, NAME_DNS_LABEL, name);
}

/* They are volumes before the others, and instead of those of their names. How many they are. */
static size_t check_claims(const struct volumes *v, struct map *claimed)
{
	size_t n = 0;
	for (size_t i = 0; i < obj_len(v->claims); i++) {
		const char *name = check_text(obj_at(v->claims, i), "metadata.name");
		if (check_again(claimed, name))
			continue;
		const char *path = at(v->e, v->path, "volumes", n++);
		size_t before = v->e->n;
		check_name_rule(v->e, check_below(v->e, path, "name"), NAME_DNS_LABEL, name);
		if (v->e->n == before)
			(void)map_set(v->good, name, NULL);
		if (*name)
			continue;
		check_required(v->e, check_below(v->e, path, "persistentVolumeClaim.claimName"),
			       NULL);
		check_required(v->e, check_below(v->e, path, "name"), NULL);
	}
	return n;
}

/* What is told of one is told of its name, too, and then it has none. */
static void check_volumes(struct volumes *v)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	CLEANUP(map_freep) struct map *claimed = map_new(NULL);
	size_t n = check_claims(v, claimed);
	for (size_t i = 0; i < obj_len(v->list); i++) {
		const struct obj *o = obj_at(v->list, i);
		const char *name = check_text(o, "name");
		if (map_has(claimed, name))
			continue;
		const char *path = at(v->e, v->path, "volumes", n++);
		size_t before = v->e->n;
		pod_check_source(v->e, path, o, v->pod);
		check_name(v->e, path, o);
		if (map_has(seen, name))
			field_errors_add_text(v->e, FIELD_DUPLICATE,
					      check_below(v->e, path, "name"), name);
		if (v->e->n > before)
			continue;
		(void)map_set(seen, name, NULL);
		(void)map_set(v->good, name, mem_unconst(o));
	}
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
		field_errors_add_text(e, FIELD_DUPLICATE, path, obj_as_string(name));
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

/* What is told of each container, wherever it stands. */
static void check_container(const struct volumes *v, const char *path, const struct obj *c)
{
	struct field_errors *e = v->e;
	check_name(e, path, c);
	if (check_is_empty(c, "image"))
		check_required(e, check_below(e, path, "image"), NULL);
	rule_check_part(e, "message", path, c);
	check_ports(e, path, obj_get(c, "ports"));
	pod_check_env(e, path, c);
	pod_check_mounts(e, path, c, v->good);
	rule_check_part(e, "pull", path, c);
	pod_check_resources(e, check_below(e, path, "resources"), obj_get(c, "resources"),
			    v->devices, false);
	pod_check_resize(e, path, c, v->never);
	pod_check_container_security(e, path, c, v->host_users);
}

/* Of what stays beside the others while the Pod works. */
static void check_life(const struct volumes *v, const char *path, const struct obj *c)
{
	static const char *const probes[] = {"livenessProbe", "readinessProbe", "startupProbe"};
	static const char *const hooks[] = {"lifecycle.postStart", "lifecycle.preStop"};
	struct field_errors *e = v->e;
	for (size_t i = 0; i < ARRAY_LEN(hooks); i++)
		if (obj_path(c, hooks[i]))
			pod_check_hook(e, check_below(e, path, hooks[i]), obj_path(c, hooks[i]),
				       v->grace);
	for (size_t i = 0; i < ARRAY_LEN(probes); i++)
		pod_check_probe(e, check_below(e, path, probes[i]), obj_get(c, probes[i]), i != 1);
}

static void check_own_name(struct field_errors *e, const char *path, const struct obj *c,
			   struct map *seen)
{
	const char *name = check_text(c, "name");
	if (check_again(seen, name))
		field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, path, "name"), name);
}

/* One that is brought in later has no part in the work. names: of all, others: that it may look at. */
static void check_ephemeral(const struct volumes *v, const char *path, const struct obj *c,
			    struct map *names, const struct map *others)
{
	static const char *const fields[] = {
		"ports",          "resources",          "resizePolicy",
		"restartPolicy",  "restartPolicyRules", "livenessProbe",
		"readinessProbe", "startupProbe",       "lifecycle"};
	const char *target = check_text(c, "targetContainerName");
	size_t from = v->e->n;
	check_container(v, path, c);
	pod_check_image(v->e, path, c);
	check_own_name(v->e, path, c, names);
	if (*target && !map_has(others, target))
		field_errors_add_text(v->e, FIELD_NOT_FOUND,
				      check_below(v->e, path, "targetContainerName"), target);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *is = obj_get(c, fields[i]);
		bool empty = i < 5 && i != 3 && !obj_len(is);
		if (is && !empty)
			check_forbidden(v->e, check_below(v->e, path, fields[i]),
					"cannot be set for an Ephemeral Container");
	}
	pod_check_ephemeral_mounts(v->e, path, c);
	check_said_since(v->e, from, c);
}

/* One that ends before the others begin. */
static void check_short_lived(struct field_errors *e, const char *path, const struct obj *c)
{
	static const char *const fields[] = {"livenessProbe", "readinessProbe", "startupProbe"};
	const struct obj *hooks = obj_get(c, "lifecycle"), *list = obj_get(c, "resizePolicy");
	size_t from;
	if (hooks && !obj_has(hooks, "stopSignal")) /* of a feature that is off: all of it goes */
		check_forbidden(e, check_below(e, path, "lifecycle"),
				"may not be set for init containers without restartPolicy=Always");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (obj_has(c, fields[i]))
			check_forbidden(e, check_below(e, path, fields[i]),
					"may not be set for init containers without "
					"restartPolicy=Always");
	from = e->n;
	for (size_t i = 0; i < obj_len(list); i++)
		if (strcmp(check_text(obj_at(list, i), "restartPolicy"), "RestartContainer") == 0)
			check_invalid_text(
				e, check_below(e, at(e, path, "resizePolicy", i), "restartPolicy"),
				"RestartContainer",
				"must not be set to 'RestartContainer' for non-sidecar "
				"initContainers");
	check_said_since(e, from, list);
}

static void check_aliases(struct field_errors *e, const char *path, const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *here = at(e, path, "hostAliases", i);
		const struct obj *names = obj_get(obj_at(list, i), "hostnames");
		check_ip(e, check_below(e, here, "ip"), check_text(obj_at(list, i), "ip"), false);
		for (size_t k = 0; k < obj_len(names); k++) {
			const char *name = obj_as_string(obj_at(names, k));
			check_named(e, at(e, here, "hostnames", k), NAME_DNS_SUBDOMAIN,
				    name ? name : "");
		}
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
	const struct obj *gates = obj_get(spec, "readinessGates");
	const struct obj *deadline = obj_get(spec, "activeDeadlineSeconds");
	int64_t n = 1;
	rule_check_part(e, "policies", path, spec);
	check_label_map(e, check_below(e, path, "nodeSelector"), obj_get(spec, "nodeSelector"));
	check_ports_alike(e, path, spec);
	pod_check_security(e, path, spec);
	pod_check_affinity(e, check_below(e, path, "affinity"), obj_get(spec, "affinity"));
	pod_check_dns(e, path, spec);
	for (size_t i = 0; i < obj_len(gates); i++) {
		const char *type = check_text(obj_at(gates, i), "conditionType");
		check_qualified(
			e, check_below(e, at(e, path, "readinessGates", i), "conditionType"), type);
	}
	pod_check_gates(e, check_below(e, path, "schedulingGates"),
			obj_get(spec, "schedulingGates"));
	pod_check_spread(e, check_below(e, path, "topologySpreadConstraints"),
			 obj_get(spec, "topologySpreadConstraints"));
	pod_check_host(e, path, spec);
	check_name_rule(e, check_below(e, path, "serviceAccountName"), NAME_DNS_SUBDOMAIN,
			check_text(spec, "serviceAccountName"));
	rule_check_part(e, "node", path, spec);
	if (deadline && (!obj_as_i64(deadline, &n) || n < 1 || n > INT32_MAX))
		check_invalid(e, check_below(e, path, "activeDeadlineSeconds"), deadline,
			      "must be between 1 and 2147483647, inclusive");
	rule_check_part(e, "names", path, spec);
	check_aliases(e, path, obj_get(spec, "hostAliases"));
	rule_check_part(e, "last", path, spec);
	pod_check_overhead(e, check_below(e, path, "overhead"), obj_get(spec, "overhead"));
	pod_check_system(e, path, spec);
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
	field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, path, "hostPort"), key);
	check_said_of(e, port);
}

/* Of those from number i to n. */
static void check_host_ports(struct field_errors *e, const char *path, const struct obj *list,
			     size_t i, size_t n)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t first = i; i < n; i++) {
		const struct obj *ports = obj_get(obj_at(list, i), "ports");
		const char *here = check_at(e, path, n - first > 1 ? i : 0);
		for (size_t k = 0; k < obj_len(ports) && !field_errors_full(e); k++)
			check_host_port(e, at(e, here, "ports", k), obj_at(ports, k), seen);
	}
}

static void check_regular(const struct volumes *v, const struct obj *list)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	if (!obj_len(list))
		check_required(v->e, check_below(v->e, v->path, "containers"), NULL);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *c = obj_at(list, i);
		const char *here = at(v->e, v->path, "containers", i);
		check_container(v, here, c);
		check_own_name(v->e, here, c, seen);
		check_life(v, here, c);
		pod_check_restart(v->e, here, c, false);
	}
	check_host_ports(v->e, check_below(v->e, v->path, "containers"), list, 0, obj_len(list));
}

/* names: of containers that were before. */
static void check_init(const struct volumes *v, const struct obj *list, struct map *names)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *c = obj_at(list, i);
		const char *here = at(v->e, v->path, "initContainers", i);
		bool stays = cstr_eq(obj_str(c, "restartPolicy"), "Always");
		check_container(v, here, c);
		pod_check_restart(v->e, here, c, true);
		if (map_has(names, check_text(c, "name")) || !check_is_empty(c, "name"))
			check_own_name(v->e, here, c, names);
		/* sic: each is the first of a list of its own */
		check_host_ports(v->e, check_below(v->e, v->path, "initContainers"), list, i,
				 i + 1);
		if (stays)
			check_life(v, here, c);
		else
			check_short_lived(v->e, here, c);
	}
}

static void check_later(const struct volumes *v, const struct obj *spec)
{
	static const char *const lists[] = {"containers", "initContainers"};
	const struct obj *list = obj_get(spec, "ephemeralContainers");
	CLEANUP(map_freep) struct map *names = map_new(NULL);
	CLEANUP(map_freep) struct map *others = map_new(NULL);
	for (size_t k = 0; k < ARRAY_LEN(lists) && obj_len(list); k++)
		for (size_t i = 0; i < obj_len(obj_get(spec, lists[k])); i++) {
			const char *name = check_text(obj_at(obj_get(spec, lists[k]), i), "name");
			(void)map_set(names, name, NULL);
			(void)map_set(others, name, NULL);
		}
	for (size_t i = 0; i < obj_len(list); i++)
		check_ephemeral(v, at(v->e, v->path, "ephemeralContainers", i), obj_at(list, i),
				names, others);
}

void check_pod_spec(struct field_errors *e, const char *path, const struct obj *spec,
		    const struct obj *claims, const char *pod)
{
	const struct obj *containers = obj_get(spec, "containers");
	struct volumes v = {.list = obj_get(spec, "volumes"),
			    .claims = claims,
			    .e = e,
			    .path = path,
			    .pod = pod};
	CLEANUP(map_freep) struct map *good = v.good = map_new(NULL);
	CLEANUP(map_freep) struct map *names = map_new(NULL);
	check_volumes(&v);
	v.devices = obj_get(spec, "resourceClaims");
	v.grace = obj_i64(spec, "terminationGracePeriodSeconds", 30);
	v.never = strcmp(check_text(spec, "restartPolicy"), "Never") == 0;
	v.host_users = obj_flag(spec, "hostUsers", true);
	pod_check_claims(e, check_below(e, path, "resourceClaims"),
			 obj_get(spec, "resourceClaims"));
	check_regular(&v, containers);
	for (size_t i = 0; i < obj_len(containers); i++)
		(void)map_set(names, check_text(obj_at(containers, i), "name"), NULL);
	check_init(&v, obj_get(spec, "initContainers"), names);
	check_later(&v, spec);
	pod_check_whole(e, path, spec);
	check_pod_rest(e, path, spec);
}

void check_template_meta(struct field_errors *e, const char *path, const struct obj *t)
{
	const struct obj *meta = obj_get(t, "metadata"), *notes = obj_get(meta, "annotations");
	const char *at = check_below(e, path, "annotations");
	size_t from = e->n;
	check_label_map(e, check_below(e, path, "labels"), obj_get(meta, "labels"));
	object_meta_check_annotations(notes, at, e);
	pod_notes_check(e, at, notes, obj_get(t, "spec"));
	check_said_since(e, from, meta);
}

void check_pod_template(struct field_errors *e, const char *path, const struct obj *t,
			const struct obj *claims)
{
	const struct obj *later = obj_path(t, "spec.ephemeralContainers");
	check_template_meta(e, path, t);
	check_pod_spec(e, check_below(e, path, "spec"), obj_get(t, "spec"), claims, NULL);
	pod_notes_match(e, check_below(e, path, "spec"), obj_path(t, "metadata.annotations"),
			obj_get(t, "spec"));
	if (obj_len(later)) {
		check_forbidden(e, check_below(e, path, "spec.ephemeralContainers"),
				"ephemeral containers not allowed in pod template");
		check_said_of(e, later);
	}
}
