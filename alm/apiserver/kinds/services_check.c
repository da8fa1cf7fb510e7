/* services_check: what a Service may say. See services.h; the texts are a real 1.36's. */
#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_probe.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/kinds/services.h"
#include "alm/apiserver/kinds/services_ports.h"
#include "alm/apiserver/kinds/services_traffic.h"
#include "alm/base/strbuf.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"

#define RANGE_TEXT "must be between 1 and 65535, inclusive"

static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};

struct check {
	const struct store_table *services;
	const struct obj *o, *spec, *before;
	const struct head *own;
	struct field_errors *e;
	size_t from; /* what was wrong before */
};

static const char *at(const struct check *c, size_t i, const char *field)
{
	return arena_fmt(c->e->arena, "spec.ports[%zu]%s", i, field);
}

static void check_supported(const struct check *c, const char *path, const char *value,
			    const char *const *all)
{
	if (value)
		field_errors_one_of(c->e, path, value, all);
}

/* Is it there, and was it not before? What was is left behind where the type changes. */
static const struct obj *new_field(const struct check *c, const char *field)
{
	const struct obj *is = obj_get(c->spec, field);
	const struct obj *was = obj_get(obj_get(c->before, "spec"), field);
	return is && (!was || !obj_equal(is, was)) ? is : NULL;
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
	check_named(c->e, at(c, i, ".name"), NAME_DNS_LABEL, name);
	if (check_again(seen, arena_fmt(c->e->arena, "name %s", name)))
		field_errors_add_text(c->e, FIELD_DUPLICATE, at(c, i, ".name"), name);
}

static void check_target(const struct check *c, size_t i, const struct obj *target)
{
	int64_t v = 0; /* without a target and a port, whose default it is */
	if (obj_as_str(target).len && new_field(c, "ports"))
		check_port_or_name(c->e, at(c, i, ".targetPort"), target);
	if ((!target || (obj_type(target) == OBJ_INT && obj_as_i64(target, &v))) && !is_port(v))
		field_errors_add(c->e, FIELD_INVALID, at(c, i, ".targetPort"),
				 "Invalid value: %lld: " RANGE_TEXT, (long long)v);
}

/* A new Service may have one number for one port, whose protocols are compared afterwards; an update for any over several
 * protocols. first: who has it. */
static bool may_share(const struct check *c, const struct obj *p, const struct obj *first)
{
	return c->before ? !cstr_eq(obj_str(p, "protocol"), obj_str(first, "protocol"))
			 : obj_i64(p, "port", 0) == obj_i64(first, "port", 0);
}

/* had: what was given before stays given. */
static void check_node_port(const struct check *c, size_t i, const struct map *had,
			    struct map *seen)
{
	const struct obj *p = obj_at(obj_get(c->spec, "ports"), i);
	int64_t port = obj_i64(p, "nodePort", 0);
	char key[SERVICES_KEY_MAX];
	services_port_key(port, key);
	const struct obj *first = map_get(seen, key);
	bool kept = map_has(had, key);
	if (!kept && (port < SERVICES_PORT_MIN || port > SERVICES_PORT_MAX))
		field_errors_add(c->e, FIELD_INVALID, at(c, i, ".nodePort"),
				 "Invalid value: %lld: provided port is not in the valid range. "
				 "The range of valid ports is %d-%d",
				 (long long)port, SERVICES_PORT_MIN, SERVICES_PORT_MAX);
	else if ((first && !may_share(c, p, first)) ||
		 (!kept && services_is_taken(c->services, key, c->own)))
		field_errors_add(c->e, FIELD_INVALID, at(c, i, ".nodePort"),
				 "Invalid value: %lld: provided port is already allocated",
				 (long long)port);
	if (!first)
		(void)map_set(seen, key, mem_unconst(p));
}

/* Of those that nodes listen on: told alone, as they are given out before all else is judged. */
static void check_node_ports(const struct check *c)
{
	const struct obj *ports = obj_get(c->spec, "ports");
	const struct obj *was = c->before && services_has_node_ports(c->before)
					? obj_path(c->before, "spec.ports")
					: NULL;
	CLEANUP(map_freep) struct map *had = services_ports_numbers(was);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	bool wanted = obj_flag(c->spec, "allocateLoadBalancerNodePorts", true);
	for (size_t i = 0; services_has_node_ports(c->o) && i < obj_len(ports); i++)
		if (obj_i64(obj_at(ports, i), "nodePort", 0))
			check_node_port(c, i, had, seen);
		else if (wanted) /* it was given none */
			check_invalid_text(c->e, at(c, i, ".nodePort"), "", "all ports are taken");
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
}

/* --- addresses --- */

static void refuse_addresses(const struct check *c, const char *path, const char *why)
{
	CLEANUP(xfreep) char *list = json_text(obj_get(c->spec, "clusterIPs"));
	field_errors_add(c->e, FIELD_INVALID, path, "Invalid value: %s: %s", list, why);
}

static bool is_v6(const char *ip)
{
	return strchr(ip, ':');
}

static bool is_headless(const struct obj *spec)
{
	return cstr_eq(obj_str(spec, "clusterIP"), "None");
}

/* One of each family. */
static bool is_dual(const struct obj *ips)
{
	bool has[2] = {false, false};
	for (size_t i = 0; i < obj_len(ips); i++) {
		if (cstr_eq(obj_as_string(obj_at(ips, i)), "None"))
			return false;
		has[is_v6(obj_as_string(obj_at(ips, i)))] = true;
	}
	return has[0] && has[1];
}

/* One that it has already, wherever, is not looked at again. At most two are stored. */
static bool had_address(const struct check *c, const char *ip)
{
	const struct obj *was = obj_path(c->before, "spec.clusterIPs");
	for (size_t i = 0; i < obj_len(was); i++)
		if (cstr_eq(obj_as_string(obj_at(was, i)), ip))
			return true;
	return false;
}

/* Each of its addresses, and that they and the families fit. */
static void check_ips(const struct check *c)
{
	const struct obj *ips = obj_get(c->spec, "clusterIPs");
	const struct obj *families = obj_get(c->spec, "ipFamilies");
	size_t from = c->e->n, n = obj_len(ips);
	bool headless = cstr_eq(obj_as_string(obj_at(ips, 0)), "None");
	if (headless && n > 1)
		refuse_addresses(c, "spec.clusterIPs", "'None' must be the first and only value");
	for (size_t i = headless; i < n && !field_errors_full(c->e); i++) {
		const char *ip = obj_as_string(obj_at(ips, i));
		if (!had_address(c, ip))
			check_ip(c->e, check_at(c->e, "spec.clusterIPs", i), ip ? ip : "", false);
	}
	bool is_readable = c->e->n == from;
	if (n > 2)
		refuse_addresses(c, "spec.clusterIPs", "may only hold up to 2 values");
	if (!is_readable || headless)
		return;
	for (size_t i = 1; i < n; i++)
		if (cstr_eq(obj_as_string(obj_at(ips, i)), "None")) { /* which it had */
			field_errors_add(c->e, FIELD_INTERNAL, "spec.clusterIPs",
					 "Internal error: failed to check for dual stack with "
					 "error:invalid IP[%zu]: None",
					 i);
			break;
		}
	if (n > 1 && !is_dual(ips))
		refuse_addresses(c, "spec.clusterIPs",
				 "may specify no more than one IP for each IP family");
	for (size_t i = 0; i < n && i < obj_len(families) && !is_headless(c->spec); i++) {
		const char *ip = obj_as_string(obj_at(ips, i));
		const char *family = obj_as_string(obj_at(families, i));
		if (cstr_eq(family, is_v6(ip) ? "IPv4" : "IPv6"))
			check_invalid_text(c->e, check_at(c->e, "spec.clusterIPs", i), ip,
					   arena_fmt(c->e->arena,
						     "expected an %s value as indicated by "
						     "`ipFamilies[%zu]`",
						     family, i));
	}
}

/* What an address is made of, which is judged before all else. */
static void check_families(const struct check *c)
{
	static const char *const policies[] = {"PreferDualStack", "RequireDualStack", "SingleStack",
					       NULL};
	static const char *const known[] = {"IPv4", "IPv6", NULL};
	const struct obj *families = obj_get(c->spec, "ipFamilies");
	const struct obj *ips = obj_get(c->spec, "clusterIPs");
	const char *ip = obj_str(c->spec, "clusterIP");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	if (ip && *ip && obj_len(ips) && !cstr_eq(ip, obj_as_string(obj_at(ips, 0))))
		refuse_addresses(c, "spec.clusterIPs", "first value must match `clusterIP`");
	if (!(ip && *ip) && obj_len(ips))
		refuse_addresses(c, "spec.clusterIPs",
				 "must be empty when `clusterIP` is not specified");
	for (size_t i = 0; i < obj_len(families); i++) {
		const char *family = obj_as_string(obj_at(families, i));
		const char *at = check_at(c->e, "spec.ipFamilies", i);
		check_supported(c, at, family ? family : "", known);
		if (check_again(seen, family ? family : ""))
			field_errors_add_text(c->e, FIELD_DUPLICATE, at, family);
	}
	check_supported(c, "spec.ipFamilyPolicy", obj_str(c->spec, "ipFamilyPolicy"), policies);
	check_ips(c);
}

/* What this server has no addresses for. */
static void check_stack(const struct check *c)
{
	const struct obj *families = obj_get(c->spec, "ipFamilies");
	const struct obj *ips = obj_get(c->spec, "clusterIPs");
	const char *policy = obj_str(c->spec, "ipFamilyPolicy");
	const char *ip = obj_str(c->spec, "clusterIP");
	bool single = !policy || cstr_eq(policy, "SingleStack");
	bool headless = cstr_eq(ip, "None") && !obj_len(obj_get(c->spec, "selector"));
	if (single && (obj_len(ips) == 2 || obj_len(families) == 2) && !headless)
		check_invalid_text(
			c->e, "spec.ipFamilyPolicy", policy ? policy : "SingleStack",
			arena_fmt(c->e->arena,
				  "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
				  "%s are specified",
				  obj_len(ips) == 2 ? "cluster IPs" : "IP families"));
	if (ip && is_v6(ip) && !obj_len(families))
		refuse_addresses(c, "spec.clusterIPs[0]", "IPv6 is not configured on this cluster");
	if (c->e->n > c->from || headless)
		return;
	if (cstr_eq(policy, "RequireDualStack"))
		field_errors_add(c->e, FIELD_INVALID, "spec.ipFamilyPolicy",
				 "Invalid value: \"RequireDualStack\": this cluster is not "
				 "configured for dual-stack services");
	for (size_t i = 0; i < obj_len(families); i++)
		if (cstr_eq(obj_as_string(obj_at(families, i)), "IPv6"))
			check_invalid_text(c->e, check_at(c->e, "spec.ipFamilies", i), "IPv6",
					   "not configured on this cluster");
}

static void check_new_address(const struct check *c, const char *ip)
{
	uint32_t address;
	if (!services_address(ip, &address) || !services_in_range(address))
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

/* Of one that may not change the new one is not looked at. */
static void check_address(const struct check *c)
{
	const char *ip = obj_str(c->spec, "clusterIP"), *old = obj_str(c->before, "spec.clusterIP");
	bool kept = old && *old && services_has_address(c->before);
	if (!services_has_address(c->o))
		return;
	if (ip && !kept && !cstr_eq(ip, "None"))
		check_new_address(c, ip);
	else if (!ip && !kept)
		field_errors_add(c->e, FIELD_INVALID, "spec.clusterIPs",
				 "Invalid value: []: range " SERVICES_RANGE " is full");
}

/* One that was given stays. */
static void check_kept_address(const struct check *c)
{
	const char *ip = obj_str(c->spec, "clusterIP"), *old = obj_str(c->before, "spec.clusterIP");
	if (old && *old && services_has_address(c->before) && services_has_address(c->o) &&
	    !cstr_eq(ip, old))
		refuse_addresses(c, "spec.clusterIPs[0]", "may not change once set");
}

static void check_headless(const struct check *c)
{
	static const char *const families[] = {"ipFamilies", "ipFamilyPolicy"};
	if (is_headless(c->spec) && services_has_node_ports(c->o))
		field_errors_add(
			c->e, FIELD_INVALID, "spec.clusterIPs[0]",
			"Invalid value: \"None\": may not be set to 'None' for %s services",
			obj_str(c->spec, "type"));
	if (cstr_eq(obj_str(c->spec, "type"), "ExternalName") &&
	    (obj_has(c->spec, "clusterIP") || obj_len(obj_get(c->spec, "clusterIPs"))))
		field_errors_add(c->e, FIELD_FORBIDDEN, "spec.clusterIPs",
				 "Forbidden: may not be set for ExternalName services");
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		if (cstr_eq(obj_str(c->spec, "type"), "ExternalName") &&
		    obj_has(c->spec, families[i]) &&
		    (i > 0 || obj_len(obj_get(c->spec, families[i]))))
			check_forbidden(c->e, check_below(c->e, "spec", families[i]),
					"may not be set for ExternalName services");
}

static void check_external_name(const struct check *c)
{
	const char *name = obj_str(c->spec, "externalName");
	if (!cstr_eq(obj_str(c->spec, "type"), "ExternalName"))
		return;
	struct str s = str_of(name ? name : "");
	if (s.len && s.ptr[s.len - 1] == '.')
		s.len--;
	if (s.len)
		check_named(c->e, "spec.externalName", NAME_DNS_SUBDOMAIN,
			    arena_strndup(c->e->arena, s.ptr, s.len));
	else
		field_errors_add(c->e, FIELD_REQUIRED, "spec.externalName", "Required value");
}

static void check_ports(const struct check *c)
{
	const struct obj *ports = obj_get(c->spec, "ports");
	bool headless = is_headless(c->spec);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	if (!obj_len(ports) && !headless && !cstr_eq(obj_str(c->spec, "type"), "ExternalName"))
		field_errors_add(c->e, FIELD_REQUIRED, "spec.ports", "Required value");
	check_headless(c);
	check_external_name(c);
	for (size_t i = 0; i < obj_len(ports); i++)
		check_port(c, i, ports, seen);
}

/* What of the ports is told after the type. */
static void check_port_pairs(const struct check *c)
{
	const struct obj *ports = obj_get(c->spec, "ports");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(ports); i++)
		if (cstr_eq(obj_str(c->spec, "type"), "ClusterIP") &&
		    obj_i64(obj_at(ports, i), "nodePort", 0))
			check_forbidden(c->e, at(c, i, ".nodePort"),
					"may not be used when `type` is 'ClusterIP'");
	for (size_t i = 0; i < obj_len(ports); i++) {
		const struct obj *p = obj_at(ports, i), *port = obj_get(p, "nodePort");
		int64_t n = 0;
		if (obj_as_i64(port, &n) && n != 0 &&
		    check_again(seen, arena_fmt(c->e->arena, "node %lld %s", (long long)n,
						check_text(p, "protocol"))))
			field_errors_add(c->e, FIELD_DUPLICATE, at(c, i, ".nodePort"),
					 "Duplicate value: %lld", (long long)n);
	}
	for (size_t i = 0; i < obj_len(ports); i++)
		check_duplicate(c, i, ports, seen);
}

static void check_external_ips(const struct check *c)
{
	const struct obj *ips = new_field(c, "externalIPs");
	for (size_t i = 0; i < obj_len(ips); i++) {
		const char *ip = obj_as_string(obj_at(ips, i));
		const char *path = check_at(c->e, "spec.externalIPs", i);
		size_t from = c->e->n;
		check_ip(c->e, path, ip ? ip : "", false);
		if (c->e->n == from)
			check_reachable(c->e, path, ip);
	}
}

static void check_selector(const struct check *c)
{
	const struct obj *selector = obj_get(c->spec, "selector");
	if (!c->before || !obj_equal(selector, obj_path(c->before, "spec.selector")))
		check_label_map(c->e, "spec.selector", selector);
}

/* What has to be given to it; without that, nothing else is judged. */
static bool is_given(const struct check *c)
{
	static void (*const steps[])(const struct check *c) = {check_families, check_stack,
							       check_address, check_node_ports};
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		if (i < 2 && cstr_eq(obj_str(c->spec, "type"), "ExternalName"))
			continue;
		steps[i](c);
		if (c->e->n > c->from)
			return false;
	}
	return true;
}

void services_validate(const struct store_table *services, const struct obj *o,
		       const struct obj *before, const struct head *own, struct field_errors *e)
{
	static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort",
					    NULL};
	static const char *const affinities[] = {"ClientIP", "None", NULL};
	struct check c = {services, o, obj_get(o, "spec"), before, own, e, e->n};
	if (!is_given(&c)) {
		e->hidden = c.from;
		return;
	}
	check_kept_address(&c);
	if (before) {
		services_check_class(e, o, before);
		services_check_health_kept(e, o, before);
	}
	services_check_notes(e, o, before);
	check_ports(&c);
	check_selector(&c);
	check_supported(&c, "spec.sessionAffinity", obj_str(c.spec, "sessionAffinity"), affinities);
	services_check_affinity(e, o);
	check_external_ips(&c);
	check_supported(&c, "spec.type", obj_str(c.spec, "type"), types);
	check_port_pairs(&c);
	services_check_balancer(e, o, before);
	services_check_class(e, o, NULL);
	services_check_traffic(e, o, before);
}
