/* services: allocation. See services.h. */
#include "alm/apiserver/kinds/services.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/services_ports.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/meta.h"

#define RANGE_FIRST 0x0a600000u /* 10.96.0.0 */
#define RANGE_BITS  20

static bool is_type(const struct obj *o, const char *type)
{
	const char *have = obj_str(o, "spec.type");
	return cstr_eq(have ? have : "ClusterIP", type);
}

bool services_has_node_ports(const struct obj *o)
{
	return is_type(o, "NodePort") || is_type(o, "LoadBalancer");
}

bool services_has_address(const struct obj *o)
{
	return is_type(o, "ClusterIP") || services_has_node_ports(o);
}

bool services_address(const char *text, uint32_t *ret)
{
	struct str rest = str_of(text), part;
	uint32_t address = 0;
	int n = 0;
	for (int64_t v; str_next(&rest, '.', &part); n++) {
		if (n == 4 || !part.len || part.len > 3 || !str_parse_i64(part, &v) || v < 0 ||
		    v > 255 || (part.len > 1 && part.ptr[0] == '0'))
			return false;
		address = address << 8 | (uint32_t)v;
	}
	*ret = address;
	return n == 4;
}

/* Neither the network's own address nor the one for all. */
bool services_in_range(uint32_t address)
{
	uint32_t last = RANGE_FIRST + (1u << RANGE_BITS) - 1;
	return address > RANGE_FIRST && address < last;
}

static void address_text(uint32_t a, char out[SERVICES_KEY_MAX])
{
	struct strbuf b = STRBUF_INIT(SERVICES_KEY_MAX);
	strbuf_addf(&b, "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
	memcpy(out, b.buf, b.len + 1);
	strbuf_release(&b);
}

/* --- what is taken --- */

static char *selector_key(const char *ns, const char *label, const char *value)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s|%s=%s", ns ? ns : "", label, value ? value : "");
	return xstrdup(b.buf);
}

void *const *services_selecting(const struct store_table *services, const char *ns,
				const char *label, const char *value, size_t *ret_n)
{
	CLEANUP(xfreep) char *key = selector_key(ns, label, value);
	return resource_by_key(services, key, ret_n);
}

static void keys_of(const struct obj *o, struct head_keys *ret)
{
	const struct obj *ports = obj_path(o, "spec.ports");
	struct obj_iter first = obj_iter(obj_path(o, "spec.selector"));
	if (obj_iter_next(&first))
		head_keys_add(ret, selector_key(meta_namespace(o), first.key,
						obj_as_string(first.value)));
	const char *ip = obj_str(o, "spec.clusterIP");
	char key[SERVICES_KEY_MAX];
	if (ip && *ip && !cstr_eq(ip, "None"))
		head_keys_add(ret, xstrdup(ip));
	for (size_t i = 0; i < obj_len(ports); i++) {
		int64_t port = obj_i64(obj_at(ports, i), "nodePort", 0);
		if (!port)
			continue;
		services_port_key(port, key);
		head_keys_add(ret, xstrdup(key));
	}
}

void services_index(struct store *s)
{
	resource_index(store_resource(s, "", "services"), keys_of);
}

/* --- allocation --- */

/* FNV-1a: where the search begins. */
static uint32_t hash_of(const struct obj *o)
{
	uint32_t h = 2166136261u;
	const char *uid = meta_uid(o);
	for (const char *p = uid ? uid : ""; *p; p++)
		h = (h ^ (unsigned char)*p) * 16777619u;
	return h;
}

static void allocate_address(const struct store_table *services, struct obj *spec, uint32_t from)
{
	char text[SERVICES_KEY_MAX];
	for (size_t i = 0; i <= services->n_heads; i++) {
		uint32_t address = RANGE_FIRST + (from + (uint32_t)i) % (1u << RANGE_BITS);
		address_text(address, text);
		if (!services_in_range(address) || cstr_eq(text, SERVICES_KUBERNETES) ||
		    services_is_taken(services, text, NULL))
			continue;
		obj_set_str(spec, "clusterIP", text);
		return;
	}
}

static void set_one(struct obj *spec, const char *key, const char *value)
{
	if (obj_has(spec, key))
		return;
	struct obj *list = obj_list();
	obj_append(list, obj_string(value));
	obj_set(spec, key, list);
}

static void set_families(struct obj *spec)
{
	bool headless = cstr_eq(obj_str(spec, "clusterIP"), "None");
	bool both = headless && !obj_len(obj_get(spec, "selector")) &&
		    !obj_has(spec, "ipFamilies") && !obj_has(spec, "ipFamilyPolicy");
	if (!strchr(check_text(spec, "clusterIP"), ':'))
		set_one(spec, "ipFamilies", "IPv4");
	if (both)
		obj_append(obj_get_mut(spec, "ipFamilies"), obj_string("IPv6"));
	if (!obj_has(spec, "ipFamilyPolicy"))
		obj_set_str(spec, "ipFamilyPolicy", both ? "RequireDualStack" : "SingleStack");
}

/* --- what an update leaves out --- */

static void take(struct obj *spec, const struct obj *before, const char *key)
{
	if (!obj_has(spec, key) && obj_has(before, key))
		obj_set(spec, key, obj_copy(obj_get(before, key)));
}

static void drop(struct obj *spec, const struct obj *before, const char *key)
{
	const struct obj *a = obj_get(spec, key), *b = obj_get(before, key);
	if (a && b && obj_equal(a, b))
		obj_del(spec, key);
}

static void drop_all(struct obj *spec, const struct obj *before, const char *const *keys)
{
	for (; *keys; keys++)
		drop(spec, before, *keys);
}

/* Of what was given to it ports are kept only where they are given. */
static bool is_given_ports(const struct obj *o)
{
	return is_type(o, "NodePort") ||
	       (is_type(o, "LoadBalancer") &&
		obj_flag(obj_get(o, "spec"), "allocateLoadBalancerNodePorts", true));
}

static bool is_asked_for_health(const struct obj *o)
{
	return is_type(o, "LoadBalancer") &&
	       cstr_eq(obj_str(o, "spec.externalTrafficPolicy"), "Local");
}

static void follow(struct obj *o, struct obj *spec, const struct obj *before)
{
	static const char *const of_address[] = {
		"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy",
		NULL};
	static const char *const of_ports[] = {"externalTrafficPolicy", NULL};
	static const char *const of_balancer[] = {"allocateLoadBalancerNodePorts",
						  "loadBalancerClass", NULL};
	const struct obj *old = obj_get(before, "spec");
	const char *ip = obj_str(spec, "clusterIP");
	if (services_has_address(before) && is_type(o, "ExternalName"))
		drop_all(spec, old, of_address);
	if (services_has_address(before) && services_has_address(o)) {
		if (!ip || !*ip) {
			obj_del(spec, "clusterIP");
			drop(spec, old, "clusterIPs");
			take(spec, old, "clusterIP");
			take(spec, old, "clusterIPs");
		} else if (!cstr_eq(ip, obj_str(old, "clusterIP"))) {
			drop(spec, old, "clusterIPs");
		}
		take(spec, old, "ipFamilies");
		take(spec, old, "ipFamilyPolicy");
	}
	if (is_given_ports(before) && is_given_ports(o))
		services_ports_keep(spec, old);
	if (services_has_node_ports(before) && !services_has_node_ports(o)) {
		services_ports_drop(spec, old);
		drop_all(spec, old, of_ports);
	}
	if (is_type(before, "LoadBalancer") && !is_type(o, "LoadBalancer"))
		drop_all(spec, old, of_balancer);
	if (is_asked_for_health(before) && is_asked_for_health(o))
		take(spec, old, "healthCheckNodePort");
	else if (is_asked_for_health(before))
		drop(spec, old, "healthCheckNodePort");
}

void services_allocate(const struct store_table *services, struct obj *o, const struct obj *before)
{
	static const char *const traffic[] = {"Cluster", "Local", NULL};
	struct obj *spec = obj_get_mut(o, "spec");
	if (obj_type(spec) != OBJ_MAP)
		return;
	if (obj_type(obj_path(before, "spec")) == OBJ_MAP)
		follow(o, spec, before);
	const char *ip = obj_str(spec, "clusterIP");
	if (ip && *ip && !obj_has(spec, "clusterIPs") &&
	    !cstr_eq(obj_str(spec, "type"), "ExternalName"))
		set_one(spec, "clusterIPs", ip);
	bool unnamed = obj_len(obj_get(spec, "clusterIPs")) && (!ip || !*ip);
	if (services_has_address(o) && !unnamed) {
		const char *family = obj_as_string(obj_at(obj_get(spec, "ipFamilies"), 0));
		if ((!ip || !*ip) && !cstr_eq(family, "IPv6")) /* there are none to give */
			allocate_address(services, spec, hash_of(o));
		ip = obj_str(spec, "clusterIP");
		if (ip)
			set_one(spec, "clusterIPs", ip);
		set_families(spec);
	}
	if (services_has_node_ports(o))
		services_ports_give(services, spec, !before, hash_of(o));
	if (is_type(o, "ExternalName") && cstr_in(obj_str(spec, "internalTrafficPolicy"), traffic))
		obj_del(spec,
			"internalTrafficPolicy"); /* it is not shown, and another one refused */
}
