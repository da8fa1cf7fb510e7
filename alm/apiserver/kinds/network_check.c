/* network_check: see network_check.h. */
#include "alm/apiserver/kinds/network_check.h"

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_probe.h"
#include "alm/apiserver/kinds/selector_check.h"

/* What is not a Service. */
static void check_resource(struct field_errors *e, const char *path, const struct obj *o)
{
	static const char *const names[] = {"kind", "name"};
	const char *group = obj_str(o, "apiGroup");
	size_t from = e->n;
	if (group)
		check_named(e, check_below(e, path, "apiGroup"), NAME_DNS_SUBDOMAIN, group);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (check_is_empty(o, names[i]))
			check_required(e, check_below(e, path, names[i]), NULL);
		else
			check_segment(e, check_below(e, path, names[i]), check_text(o, names[i]));
	}
	check_said_since(e, from, o);
}

static void check_backend(struct field_errors *e, const char *path, const struct obj *b)
{
	const struct obj *service = obj_get(b, "service"), *port = obj_get(service, "port");
	const struct obj *resource = obj_get(b, "resource"), *number = obj_get(port, "number");
	const char *at = check_below(e, path, "service.name"), *name = check_text(port, "name");
	size_t from = e->n;
	int64_t n = 0;
	obj_as_i64(number, &n);
	if (!service && !resource)
		check_invalid_text(e, path, "", "resource or service backend is required");
	else if (service && resource)
		check_invalid_text(e, path, "", "cannot set both resource and service backends");
	if (resource && !service)
		check_resource(e, check_below(e, path, "resource"), resource);
	if (resource)
		check_said_since(e, from, b);
	if (!service || resource)
		return;
	if (check_is_empty(service, "name"))
		check_required(e, at, NULL);
	check_name_rule(e, at, NAME_DNS_LABEL, check_text(service, "name"));
	from = e->n;
	if (*name && n)
		check_invalid_text(e, path, "", "cannot set both port name & port number");
	else if (*name)
		check_port_or_name(e, check_below(e, path, "service.port.name"),
				   obj_get(port, "name"));
	else if (n)
		check_port_or_name(e, check_below(e, path, "service.port.number"), number);
	else
		check_required(e, path, "port name or number is required");
	check_said_since(e, from, service); /* younger than what may be stored */
}

/* What a URL cannot say in one way only. */
static void check_sequences(struct field_errors *e, const char *at, const char *path)
{
	static const char *const never[] = {"//", "/./", "/../", "%2f", "%2F"};
	static const char *const ends[] = {"/..", "/."};
	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (strstr(path, never[i]))
			check_invalid_text(e, at, path,
					   arena_fmt(e->arena, "must not contain '%s'", never[i]));
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (cstr_has_suffix(path, ends[i]))
			check_invalid_text(e, at, path,
					   arena_fmt(e->arena, "cannot end with '%s'", ends[i]));
}

static void check_path(struct field_errors *e, const char *at, const struct obj *p)
{
	static const char *const types[] = {"Exact", "ImplementationSpecific", "Prefix", NULL};
	const char *type = obj_str(p, "pathType"), *path = obj_str(p, "path");
	const char *field = arena_fmt(e->arena, "%s.pathType", at);
	bool rooted = cstr_eq(type, "Exact") || cstr_eq(type, "Prefix");
	if (!type) {
		check_required(e, field, "pathType must be specified");
		return;
	}
	field_errors_one_of(e, field, type, types);
	size_t from = e->n;
	const char *where = check_below(e, at, "path");
	bool free = cstr_eq(type, "ImplementationSpecific") && path && *path;
	if ((rooted || free) && (!path || *path != '/'))
		check_invalid_text(e, where, path ? path : "", "must be an absolute path");
	if (path && rooted)
		check_sequences(e, where, path);
	if (path && *path)
		check_said_since(e, from, obj_get(p, "path"));
	check_backend(e, arena_fmt(e->arena, "%s.backend", at), obj_get(p, "backend"));
}

static void check_host(struct field_errors *e, const char *path, const char *host)
{
	static const char wild[] =
		"a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS "
		"subdomain, which must consist of lower case alphanumeric characters, '-' or '.' "
		"and end with an alphanumeric character (e.g. '*.example.com', regex used for "
		"validation is "
		"'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
	if (!host)
		return;
	bool below = cstr_has_prefix(host, "*.");
	const char *name = below ? host + 2 : host;
	if (!strchr(host, '*'))
		check_named(e, path, NAME_DNS_SUBDOMAIN, host);
	else if (!below || name_fault(NAME_DNS_SUBDOMAIN, str_of(name)))
		check_invalid_text(e, path, host, wild);
}

static void check_tls(struct field_errors *e, const struct obj *tls)
{
	for (size_t i = 0; i < obj_len(tls); i++) {
		const struct obj *hosts = obj_get(obj_at(tls, i), "hosts");
		for (size_t k = 0; k < obj_len(hosts); k++)
			check_host(e, arena_fmt(e->arena, "spec.tls[%zu].hosts[%zu]", i, k),
				   obj_as_string(obj_at(hosts, k)));
		check_name_rule(e, arena_fmt(e->arena, "spec.tls[%zu].secretName", i),
				NAME_DNS_SUBDOMAIN, check_text(obj_at(tls, i), "secretName"));
	}
}

void check_ingress(struct field_errors *e, const struct obj *o)
{
	const struct obj *rules = obj_path(o, "spec.rules");
	const struct obj *backend = obj_path(o, "spec.defaultBackend");
	if (!obj_len(rules) && !backend)
		field_errors_add(e, FIELD_INVALID, "spec",
				 "Invalid value: null: either `defaultBackend` or `rules` must be "
				 "specified");
	if (backend)
		check_backend(e, "spec.defaultBackend", backend);
	for (size_t i = 0; i < obj_len(rules); i++) {
		const char *host = check_text(obj_at(rules, i), "host");
		if (address_is_ip(host))
			check_invalid_text(e, arena_fmt(e->arena, "spec.rules[%zu].host", i), host,
					   "must be a DNS name, not an IP address");
		if (*host)
			check_host(e, arena_fmt(e->arena, "spec.rules[%zu].host", i),
				   obj_str(obj_at(rules, i), "host"));
		const struct obj *http = obj_get(obj_at(rules, i), "http");
		const struct obj *paths = obj_get(http, "paths");
		const char *at = arena_fmt(e->arena, "spec.rules[%zu].http.paths", i);
		if (http && !obj_len(paths))
			check_required(e, at, NULL);
		for (size_t k = 0; k < obj_len(paths); k++)
			check_path(e, arena_fmt(e->arena, "%s[%zu]", at, k), obj_at(paths, k));
	}
	check_tls(e, obj_path(o, "spec.tls"));
}

static void check_peers(struct field_errors *e, const char *path, const struct obj *peers)
{
	static const char *const kinds[] = {"podSelector", "namespaceSelector", "ipBlock"};
	for (size_t i = 0; i < obj_len(peers); i++) {
		size_t n = 0;
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			n += obj_get(obj_at(peers, i), kinds[k]) != NULL;
		const char *at = check_at(e, path, i);
		const struct obj *block = obj_get(obj_at(peers, i), "ipBlock");
		for (size_t k = 0; k < 2; k++)
			check_label_selector(e, check_below(e, at, kinds[k]),
					     obj_get(obj_at(peers, i), kinds[k]));
		if (block)
			check_ip_block(e, check_below(e, at, "ipBlock"), block);
		if (!n)
			check_required(e, at, "must specify a peer");
		else if (block && n > 1)
			check_forbidden(e, at, "may not specify both ipBlock and another peer");
	}
}

static void end_port_is(struct field_errors *e, const char *path, const struct obj *shown,
			const struct obj *end, const char *why)
{
	check_invalid(e, path, shown, why);
	check_said_of(e, end);
}

/* The last port of a range, whose first is a number. */
static void check_end_port(struct field_errors *e, const char *path, const struct obj *p)
{
	const struct obj *end = obj_get(p, "endPort"), *port = obj_get(p, "port");
	int64_t last = 0, first = 0;
	if (!obj_as_i64(end, &last))
		return;
	if (!port)
		end_port_is(e, path, end, end, "may not be specified when `port` is not specified");
	else if (!obj_as_i64(port, &first))
		end_port_is(e, path, end, end, "may not be specified when `port` is non-numeric");
	else if (last < first)
		end_port_is(e, path, port, end,
			    "must be greater than or equal to `port`"); /* sic */
	if (port && obj_as_i64(port, &first) && (last < 1 || last > 65535))
		end_port_is(e, path, end, end, "must be between 1 and 65535, inclusive");
}

static void check_flow(struct field_errors *e, const char *path, const struct obj *rule,
		       const char *peers)
{
	static const char *const protocols[] = {"TCP", "UDP", "SCTP", NULL};
	const struct obj *ports = obj_get(rule, "ports");
	for (size_t i = 0; i < obj_len(ports); i++) {
		const struct obj *p = obj_at(ports, i);
		const char *at = arena_fmt(e->arena, "%s.ports[%zu]", path, i);
		if (obj_has(p, "protocol"))
			field_errors_one_of(e, arena_fmt(e->arena, "%s.protocol", at),
					    obj_str(p, "protocol"), protocols);
		bool named = obj_type(obj_get(p, "port")) == OBJ_STRING;
		if (named)
			check_end_port(e, check_below(e, at, "endPort"), p);
		if (obj_has(p, "port"))
			check_port_or_name(e, check_below(e, at, "port"), obj_get(p, "port"));
		if (!named)
			check_end_port(e, check_below(e, at, "endPort"), p);
	}
	check_peers(e, arena_fmt(e->arena, "%s.%s", path, peers), obj_get(rule, peers));
}

void check_network_policy(struct field_errors *e, const struct obj *o)
{
	static const char *const types[] = {"Ingress", "Egress", NULL};
	const struct obj *in = obj_path(o, "spec.ingress"), *out = obj_path(o, "spec.egress");
	const struct obj *list = obj_path(o, "spec.policyTypes");
	check_label_selector(e, "spec.podSelector", obj_path(o, "spec.podSelector"));
	for (size_t i = 0; i < obj_len(in); i++)
		check_flow(e, arena_fmt(e->arena, "spec.ingress[%zu]", i), obj_at(in, i), "from");
	for (size_t i = 0; i < obj_len(out); i++)
		check_flow(e, arena_fmt(e->arena, "spec.egress[%zu]", i), obj_at(out, i), "to");
	if (obj_len(list) > 2) {
		check_invalid(e, "spec.policyTypes", list,
			      "may not specify more than two policyTypes");
		check_said_of(e, list);
	}
	for (size_t i = 0; i < obj_len(list) && obj_len(list) <= 2; i++)
		field_errors_one_of(e, arena_fmt(e->arena, "spec.policyTypes[%zu]", i),
				    obj_as_string(obj_at(list, i)), types);
}
