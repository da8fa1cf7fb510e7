/* services_check: what a Service may say. See services.h; the texts are a real 1.36's. */
#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/kinds/services.h"
#include "alm/base/strbuf.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"

#define RANGE_TEXT "must be between 1 and 65535, inclusive"

struct check {
	const struct store_table *services;
	const struct obj *o, *spec, *before;
	const struct head *own;
	struct field_errors *e;
};

static const char *at(const struct check *c, size_t i, const char *field)
{
	return arena_fmt(c->e->arena, "spec.ports[%zu]%s", i, field);
}

static bool is_one_of(const char *value, const char *const *all)
{
	return !value || cstr_in(value, all);
}

static void check_supported(const struct check *c, const char *path, const char *value,
			    const char *const *all)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (is_one_of(value, all))
		return;
	for (size_t i = 0; all[i]; i++)
		strbuf_addf(&b, "%s\"%s\"", i ? ", " : "", all[i]);
	field_errors_add(c->e, FIELD_NOT_SUPPORTED, path,
			 "Unsupported value: \"%s\": supported values: %s", value, b.buf);
}

/* --- ports --- */

static bool is_port(int64_t v)
{
	return v >= 1 && v <= 65535;
}

static void check_name(const struct check *c, size_t i, const struct obj *ports, struct map *seen)
{
	const char *name = obj_str(obj_at(ports, i), "name");
	if (!name) {
		if (obj_len(ports) > 1)
			field_errors_add(c->e, FIELD_REQUIRED, at(c, i, ".name"), "Required value");
		return;
	}
	const char *fault = name_fault(NAME_DNS_LABEL, str_of(name));
	check_named(c->e, at(c, i, ".name"), NAME_DNS_LABEL, name);
	if (check_again(seen, arena_fmt(c->e->arena, "name %s", name)) && !fault)
		field_errors_add(c->e, FIELD_DUPLICATE, at(c, i, ".name"),
				 "Duplicate value: \"%s\"", name);
}

static void check_target(const struct check *c, size_t i, const struct obj *target)
{
	int64_t v = 0; /* without a target and a port, whose default it is */
	if ((!target || (obj_type(target) == OBJ_INT && obj_as_i64(target, &v))) && !is_port(v))
		field_errors_add(c->e, FIELD_INVALID, at(c, i, ".targetPort"),
				 "Invalid value: %lld: " RANGE_TEXT, (long long)v);
}

static void check_node_port(const struct check *c, size_t i, const struct obj *ports,
			    struct map *seen)
{
	const struct obj *p = obj_at(ports, i);
	const char *protocol = obj_str(p, "protocol"), *type = obj_str(c->spec, "type");
	int64_t port = obj_i64(p, "nodePort", 0);
	char key[SERVICES_KEY_MAX];
	if (!port)
		return;
	if (!services_has_node_ports(c->o)) {
		field_errors_add(c->e, FIELD_FORBIDDEN, at(c, i, ".nodePort"),
				 "Forbidden: may not be used when `type` is '%s'", type);
		return;
	}
	if (port < SERVICES_PORT_MIN || port > SERVICES_PORT_MAX) {
		field_errors_add(
			c->e, FIELD_INVALID, at(c, i, ".nodePort"),
			"Invalid value: %lld: provided port is not in the valid range. The "
			"range of valid ports is %d-%d",
			(long long)port, SERVICES_PORT_MIN, SERVICES_PORT_MAX);
		return;
	}
	bool taken = check_again(seen, arena_fmt(c->e->arena, "node %lld %s", (long long)port,
						 protocol ? protocol : ""));
	services_port_key(protocol, port, key);
	if (taken || services_is_taken(c->services, key, c->own))
		field_errors_add(c->e, FIELD_INVALID, at(c, i, ".nodePort"),
				 "Invalid value: %lld: provided port is already allocated",
				 (long long)port);
}

static void check_duplicate(const struct check *c, size_t i, const struct obj *ports,
			    struct map *seen)
{
	const struct obj *p = obj_at(ports, i);
	const char *protocol = obj_str(p, "protocol");
	int64_t port = obj_i64(p, "port", 0);
	if (check_again(seen, arena_fmt(c->e->arena, "port %lld %s", (long long)port,
					protocol ? protocol : "")))
		field_errors_add(
			c->e, FIELD_DUPLICATE, at(c, i, ""),
			"Duplicate value: {\"Name\":\"\",\"Protocol\":\"%s\","
			"\"AppProtocol\":null,\"Port\":%lld,\"TargetPort\":0,\"NodePort\":0}",
			protocol, (long long)port);
}

static void check_port(const struct check *c, size_t i, const struct obj *ports, struct map *seen)
{
	static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
	const struct obj *p = obj_at(ports, i);
	int64_t port = obj_i64(p, "port", 0);
	check_name(c, i, ports, seen);
	if (!is_port(port))
		field_errors_add(c->e, FIELD_INVALID, at(c, i, ".port"),
				 "Invalid value: %lld: " RANGE_TEXT, (long long)port);
	check_supported(c, at(c, i, ".protocol"), obj_str(p, "protocol"), protocols);
	check_target(c, i, obj_get(p, "targetPort"));
	if (obj_str(p, "appProtocol"))
		check_qualified(c->e, at(c, i, ".appProtocol"), obj_str(p, "appProtocol"));
	check_node_port(c, i, ports, seen);
	check_duplicate(c, i, ports, seen);
}

static void check_ports(const struct check *c)
{
	const struct obj *ports = obj_get(c->spec, "ports");
	bool headless = cstr_eq(obj_str(c->spec, "clusterIP"), "None");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	if (!obj_len(ports) && services_has_address(c->o) && !headless)
		field_errors_add(c->e, FIELD_REQUIRED, "spec.ports", "Required value");
	for (size_t i = 0; i < obj_len(ports); i++)
		check_port(c, i, ports, seen);
}

/* --- addresses --- */

static void refuse_addresses(const struct check *c, const char *path, const char *why)
{
	CLEANUP(xfreep) char *list = json_text(obj_get(c->spec, "clusterIPs"));
	field_errors_add(c->e, FIELD_INVALID, path, "Invalid value: %s: %s", list, why);
}

static void check_new_address(const struct check *c, const char *ip)
{
	uint32_t address;
	if (!services_address(ip, &address))
		field_errors_add(
			c->e, FIELD_INVALID, "spec.clusterIPs[0]",
			"Invalid value: \"%s\": must be a valid IP address, (e.g. 10.9.8.7 "
			"or 2001:db8::ffff)",
			ip);
	else if (!services_in_range(address))
		refuse_addresses(
			c, "spec.clusterIPs",
			arena_fmt(c->e->arena,
				  "failed to allocate IP %s: the provided network does not "
				  "match the current range",
				  ip));
	else if (services_is_taken(c->services, ip, c->own))
		refuse_addresses(c, "spec.clusterIPs",
				 arena_fmt(c->e->arena,
					   "failed to allocate IP %s: provided IP is already "
					   "allocated",
					   ip));
}

static void check_address(const struct check *c)
{
	const struct obj *ips = obj_get(c->spec, "clusterIPs");
	const char *ip = obj_str(c->spec, "clusterIP"), *first = obj_as_string(obj_at(ips, 0));
	const char *old = obj_str(c->before, "spec.clusterIP");
	if (!services_has_address(c->o)) {
		if (ip || ips)
			field_errors_add(c->e, FIELD_FORBIDDEN, "spec.clusterIPs",
					 "Forbidden: may not be set for ExternalName services");
		return;
	}
	if (!ip && ips)
		refuse_addresses(c, "spec.clusterIPs",
				 "must be empty when `clusterIP` is not specified");
	else if (ip && ips && !cstr_eq(ip, first))
		refuse_addresses(c, "spec.clusterIPs", "first value must match `clusterIP`");
	else if (obj_len(ips) > 1)
		refuse_addresses(c, "spec.clusterIPs",
				 "may specify no more than one IP for each IP family");
	else if (old && *old && services_has_address(c->before) && !cstr_eq(ip, old))
		refuse_addresses(c, "spec.clusterIPs[0]", "may not change once set");
	else if (cstr_eq(ip, "None") && services_has_node_ports(c->o))
		field_errors_add(
			c->e, FIELD_INVALID, "spec.clusterIPs[0]",
			"Invalid value: \"None\": may not be set to 'None' for %s services",
			obj_str(c->spec, "type"));
	else if (ip && !cstr_eq(ip, "None") && !cstr_eq(ip, old))
		check_new_address(c, ip);
	else if (!ip)
		field_errors_add(c->e, FIELD_INVALID, "spec.clusterIPs",
				 "Invalid value: []: range " SERVICES_RANGE " is full");
}

static void check_families(const struct check *c)
{
	static const char *const policies[] = {"PreferDualStack", "RequireDualStack", "SingleStack",
					       NULL};
	const char *policy = obj_str(c->spec, "ipFamilyPolicy");
	bool headless = cstr_eq(obj_str(c->spec, "clusterIP"), "None");
	const struct obj *families = obj_get(c->spec, "ipFamilies");
	check_supported(c, "spec.ipFamilyPolicy", policy, policies);
	if (cstr_eq(policy, "RequireDualStack") && !headless)
		field_errors_add(c->e, FIELD_INVALID, "spec.ipFamilyPolicy",
				 "Invalid value: \"RequireDualStack\": this cluster is not "
				 "configured for dual-stack services");
	for (size_t i = 0; !headless && i < obj_len(families); i++) {
		const char *family = obj_as_string(obj_at(families, i));
		if (!cstr_eq(family, "IPv4"))
			field_errors_add(c->e, FIELD_INVALID,
					 arena_fmt(c->e->arena, "spec.ipFamilies[%zu]", i),
					 "Invalid value: \"%s\": not configured on this cluster",
					 family);
	}
}

static void check_external_name(const struct check *c)
{
	const char *name = obj_str(c->spec, "externalName");
	if (!cstr_eq(obj_str(c->spec, "type"), "ExternalName"))
		return;
	if (!name) {
		field_errors_add(c->e, FIELD_REQUIRED, "spec.externalName", "Required value");
		return;
	}
	struct str s = str_of(name);
	if (s.len > 1 && s.ptr[s.len - 1] == '.')
		s.len--;
	const char *fault = name_fault(NAME_DNS_SUBDOMAIN, s);
	if (fault)
		field_errors_add(c->e, FIELD_INVALID, "spec.externalName",
				 "Invalid value: \"%s\": %s", name, fault);
}

static void check_selector(const struct check *c)
{
	check_label_map(c->e, "spec.selector", obj_get(c->spec, "selector"));
}

/* Is it there, and was it not before? What was is left behind where the type changes. */
static const struct obj *new_field(const struct check *c, const char *field)
{
	const struct obj *is = obj_get(c->spec, field);
	const struct obj *was = obj_get(obj_get(c->before, "spec"), field);
	return is && (!was || !obj_equal(is, was)) ? is : NULL;
}

/* What only a balancer of load has. */
static void check_balancer(const struct check *c)
{
	static const char only[] = "may only be used when `type` is 'LoadBalancer'";
	static const char ranges[] = "spec.LoadBalancerSourceRanges"; /* sic */
	bool balances = cstr_eq(obj_str(c->spec, "type"), "LoadBalancer");
	bool local = cstr_eq(obj_str(c->spec, "externalTrafficPolicy"), "Local");
	const struct obj *list = new_field(c, "loadBalancerSourceRanges");
	const struct obj *port = new_field(c, "healthCheckNodePort");
	if (obj_len(list) && !balances)
		check_forbidden(c->e, ranges, only);
	for (size_t i = 0; i < obj_len(list); i++) {
		struct str text = str_trim(obj_as_str(obj_at(list, i)));
		check_cidr(c->e, check_at(c->e, ranges, i),
			   arena_strndup(c->e->arena, text.ptr, text.len), false);
	}
	if (!balances && new_field(c, "allocateLoadBalancerNodePorts"))
		check_forbidden(c->e, "spec.allocateLoadBalancerNodePorts", only);
	if (port && !(balances && local))
		check_invalid(c->e, "spec.healthCheckNodePort", port,
			      "may only be set when `type` is 'LoadBalancer' and "
			      "`externalTrafficPolicy` is 'Local'");
}

static void check_traffic(const struct check *c)
{
	static const char *const traffic[] = {"Cluster", "Local", NULL};
	const char *external = obj_str(c->spec, "externalTrafficPolicy");
	check_supported(c, "spec.internalTrafficPolicy", obj_str(c->spec, "internalTrafficPolicy"),
			traffic);
	if (external && !services_has_node_ports(c->o) && !obj_has(c->spec, "externalIPs"))
		field_errors_add(c->e, FIELD_INVALID, "spec.externalTrafficPolicy",
				 "Invalid value: \"%s\": may only be set for "
				 "externally-accessible services",
				 external);
	else
		check_supported(c, "spec.externalTrafficPolicy", external, traffic);
	if (obj_has(c->spec, "loadBalancerClass") &&
	    !cstr_eq(obj_str(c->spec, "type"), "LoadBalancer"))
		field_errors_add(c->e, FIELD_FORBIDDEN, "spec.loadBalancerClass",
				 "Forbidden: may only be used when `type` is 'LoadBalancer'");
}

void services_validate(const struct store_table *services, const struct obj *o,
		       const struct obj *before, const struct head *own, struct field_errors *e)
{
	static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort",
					    NULL};
	static const char *const affinities[] = {"ClientIP", "None", NULL};
	struct check c = {services, o, obj_get(o, "spec"), before, own, e};
	const char *type = obj_str(c.spec, "type");
	if (!c.spec) { /* nothing was defaulted */
		field_errors_add(e, FIELD_REQUIRED, "spec.ports", "Required value");
		return;
	}
	check_supported(&c, "spec.type", type, types);
	if (!is_one_of(type, types))
		return;
	check_ports(&c);
	check_supported(&c, "spec.sessionAffinity", obj_str(c.spec, "sessionAffinity"), affinities);
	check_selector(&c);
	check_balancer(&c);
	check_traffic(&c);
	check_external_name(&c);
	check_address(&c);
	check_families(&c);
}
