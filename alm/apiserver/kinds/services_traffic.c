/* services_traffic: see services_traffic.h; the texts are a real 1.36's. */
#include "alm/apiserver/kinds/services_traffic.h"

#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/services.h"
#include "alm/obj/meta.h"

#define RANGE_TEXT           "must be between 1 and 65535, inclusive"
#define AFFINITY_SECONDS_MAX 86400
#define ONLY_BALANCED        "may only be used when `type` is 'LoadBalancer'"
#define RANGES_NOTE          "service.beta.kubernetes.io/load-balancer-source-ranges"
#define MODE_NOTE            "service.kubernetes.io/topology-mode"
#define HINTS_NOTE           "service.kubernetes.io/topology-aware-hints"

static void check_supported(struct field_errors *e, const char *path, const char *value,
			    const char *const *all)
{
	if (value)
		field_errors_one_of(e, path, value, all);
}

/* Is it there, and was it not before? What was is left behind where the type changes. */
static const struct obj *new_field(const struct obj *o, const struct obj *before, const char *field)
{
	const struct obj *is = obj_get(obj_get(o, "spec"), field);
	const struct obj *was = obj_get(obj_get(before, "spec"), field);
	return is && (!was || !obj_equal(is, was)) ? is : NULL;
}

static bool is_port(int64_t v)
{
	return v >= 1 && v <= 65535;
}

/* What only a balancer of load has. */
static bool is_balancer(const struct obj *spec)
{
	return cstr_eq(obj_str(spec, "type"), "LoadBalancer");
}

static void check_range(struct field_errors *e, const char *path, struct str text)
{
	text = str_trim(text);
	check_cidr(e, path, arena_strndup(e->arena, text.ptr, text.len), false);
}

/* As it was said before there was a field for it. */
static void check_range_note(struct field_errors *e, const struct obj *o, const struct obj *before,
			     bool balances)
{
	const char *is = meta_annotation(o, RANGES_NOTE);
	const char *path = "metadata.annotations[" RANGES_NOTE "]";
	struct str rest = str_trim(str_of(is ? is : "")), one;
	if (!is)
		return;
	bool stood = cstr_eq(meta_annotation(before, RANGES_NOTE), is);
	if (!balances && !(stood && !is_balancer(obj_get(before, "spec"))))
		check_forbidden(e, path, ONLY_BALANCED);
	if (stood)
		return;
	while (rest.ptr && rest.len && !field_errors_full(e) && str_next(&rest, ',', &one))
		check_range(e, path, one);
}

void services_check_notes(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const char *mode = meta_annotation(o, MODE_NOTE), *hints = meta_annotation(o, HINTS_NOTE);
	bool stood = cstr_eq(meta_annotation(before, MODE_NOTE), mode) &&
		     cstr_eq(meta_annotation(before, HINTS_NOTE), hints);
	if (!mode || !hints || strcmp(mode, hints) == 0 || stood)
		return;
	check_invalid_text(e, "metadata.annotations[" MODE_NOTE "]", mode,
			   "must match annotations[" HINTS_NOTE "] when both are specified");
}

void services_check_balancer(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *spec = obj_get(o, "spec");
	static const char only[] = ONLY_BALANCED;
	static const char ranges[] = "spec.LoadBalancerSourceRanges"; /* sic */
	bool balances = cstr_eq(obj_str(spec, "type"), "LoadBalancer");
	const struct obj *list = new_field(o, before, "loadBalancerSourceRanges");
	bool balanced = cstr_eq(obj_str(before, "spec.type"), "LoadBalancer");
	if (obj_len(obj_get(spec, "loadBalancerSourceRanges")) && !balances && (list || balanced))
		check_forbidden(e, ranges, only);
	for (size_t i = 0; i < obj_len(list); i++)
		check_range(e, check_at(e, ranges, i), obj_as_str(obj_at(list, i)));
	if (!obj_len(obj_get(spec, "loadBalancerSourceRanges")))
		check_range_note(e, o, before, balances);
	if (!balances && new_field(o, before, "allocateLoadBalancerNodePorts"))
		check_forbidden(e, "spec.allocateLoadBalancerNodePorts", only);
}

void services_check_class(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *spec = obj_get(o, "spec");
	static const char path[] = "spec.loadBalancerClass";
	const struct obj *is = obj_get(spec, "loadBalancerClass"), *was = obj_path(before, path);
	bool balances = is_balancer(spec);
	size_t from = e->n;
	if (balances && before && is_balancer(obj_get(before, "spec")) &&
	    (!is != !was || (is && !obj_equal(is, was))))
		check_invalid(e, path, is, "may not change once set");
	if (balances && is)
		check_qualified(e, path, check_text(spec, "loadBalancerClass"));
	else if (is)
		check_forbidden(e, path, "may only be used when `type` is 'LoadBalancer'");
	check_said_since(e, from, is);
}

void services_check_traffic(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *spec = obj_get(o, "spec");
	static const char *const traffic[] = {"Cluster", "Local", NULL};
	static const char *const spread[] = {"PreferClose", "PreferSameZone", "PreferSameNode",
					     NULL};
	const char *external = obj_str(spec, "externalTrafficPolicy");
	const struct obj *port = new_field(o, before, "healthCheckNodePort");
	bool balances = cstr_eq(obj_str(spec, "type"), "LoadBalancer");
	bool reached = services_has_node_ports(o) || (cstr_eq(obj_str(spec, "type"), "ClusterIP") &&
						      obj_len(obj_get(spec, "externalIPs")));
	if (external && !reached)
		check_invalid_text(e, "spec.externalTrafficPolicy", external,
				   "may only be set for externally-accessible services");
	else
		check_supported(e, "spec.externalTrafficPolicy", external, traffic);
	if (port && !(balances && cstr_eq(external, "Local")))
		check_invalid(e, "spec.healthCheckNodePort", port,
			      "may only be set when `type` is 'LoadBalancer' and "
			      "`externalTrafficPolicy` is 'Local'");
	int64_t n = 1;
	if (port && balances && obj_as_i64(port, &n) && !is_port(n))
		check_invalid(e, "spec.healthCheckNodePort", port, RANGE_TEXT);
	check_supported(e, "spec.internalTrafficPolicy", obj_str(spec, "internalTrafficPolicy"),
			traffic);
	if (new_field(o, before, "trafficDistribution"))
		check_supported(e, "spec.trafficDistribution",
				check_text(spec, "trafficDistribution"), spread);
}

void services_check_affinity(struct field_errors *e, const struct obj *o)
{
	static const char path[] = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
	const struct obj *seconds = obj_path(o, path);
	int64_t n = 1;
	if (!cstr_eq(obj_str(o, "spec.sessionAffinity"), "ClientIP"))
		return;
	if (!obj_as_i64(seconds, &n) || (n > 0 && n <= AFFINITY_SECONDS_MAX))
		return;
	check_invalid(e, path, seconds, "must be greater than 0 and less than 86400"); /* sic */
	check_said_of(e, seconds);
}

static bool is_asked_for_health(const struct obj *o)
{
	return is_balancer(obj_get(o, "spec")) &&
	       cstr_eq(obj_str(o, "spec.externalTrafficPolicy"), "Local");
}

void services_check_health_kept(struct field_errors *e, const struct obj *o,
				const struct obj *before)
{
	static const char path[] = "spec.healthCheckNodePort";
	int64_t is = 0, was = 0;
	obj_as_i64(obj_path(o, path), &is);
	obj_as_i64(obj_path(before, path), &was);
	if (is != was && was != 0 && is_asked_for_health(o) && is_asked_for_health(before))
		check_forbidden(e, path, "field is immutable");
}
