/* network_check: see network_check.h. */
#include "alm/apiserver/kinds/network_check.h"

#include "alm/apiserver/kinds/field_check.h"

#define RANGE_TEXT "must be between 1 and 65535, inclusive"

static bool is_port(int64_t n)
{
	return n >= 1 && n <= 65535;
}

static void check_backend(struct field_errors *e, const char *path, const struct obj *b)
{
	const struct obj *service = obj_get(b, "service"), *port = obj_get(service, "port");
	int64_t number = obj_i64(port, "number", 0);
	if (!service && !obj_get(b, "resource"))
		field_errors_add(e, FIELD_INVALID, path,
				 "Invalid value: \"\": resource or service backend is required");
	if (!service)
		return;
	if (check_is_empty(service, "name"))
		check_required(e, arena_fmt(e->arena, "%s.service.name", path), NULL);
	if (!number && check_is_empty(port, "name"))
		check_required(e, path, "port name or number is required");
	if (number && !is_port(number))
		field_errors_add(e, FIELD_INVALID,
				 arena_fmt(e->arena, "%s.service.port.number", path),
				 "Invalid value: %lld: " RANGE_TEXT, (long long)number);
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
	if (rooted && (!path || *path != '/'))
		field_errors_add(e, FIELD_INVALID, arena_fmt(e->arena, "%s.path", at),
				 "Invalid value: \"%s\": must be an absolute path",
				 path ? path : "");
	check_backend(e, arena_fmt(e->arena, "%s.backend", at), obj_get(p, "backend"));
}

static void check_host(struct field_errors *e, const char *path, const char *host)
{
	const char *fault =
		host && *host != '*' ? name_fault(NAME_DNS_SUBDOMAIN, str_of(host)) : NULL;
	if (fault)
		field_errors_add(e, FIELD_INVALID, path, "Invalid value: \"%s\": %s", host, fault);
}

static void check_tls(struct field_errors *e, const struct obj *tls)
{
	for (size_t i = 0; i < obj_len(tls); i++) {
		const struct obj *hosts = obj_get(obj_at(tls, i), "hosts");
		for (size_t k = 0; k < obj_len(hosts); k++)
			check_host(e, arena_fmt(e->arena, "spec.tls[%zu].hosts[%zu]", i, k),
				   obj_as_string(obj_at(hosts, k)));
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
		if (!check_is_empty(obj_at(rules, i), "host"))
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
		if (!n)
			check_required(e, arena_fmt(e->arena, "%s[%zu]", path, i),
				       "must specify a peer");
	}
}

static void check_flow(struct field_errors *e, const char *path, const struct obj *rule,
		       const char *peers)
{
	static const char *const protocols[] = {"TCP", "UDP", "SCTP", NULL};
	const struct obj *ports = obj_get(rule, "ports");
	for (size_t i = 0; i < obj_len(ports); i++) {
		const struct obj *p = obj_at(ports, i);
		const char *at = arena_fmt(e->arena, "%s.ports[%zu]", path, i);
		int64_t n = 1;
		if (obj_has(p, "protocol"))
			field_errors_one_of(e, arena_fmt(e->arena, "%s.protocol", at),
					    obj_str(p, "protocol"), protocols);
		if (obj_type(obj_get(p, "port")) == OBJ_INT && obj_as_i64(obj_get(p, "port"), &n) &&
		    !is_port(n))
			field_errors_add(e, FIELD_INVALID, arena_fmt(e->arena, "%s.port", at),
					 "Invalid value: %lld: " RANGE_TEXT, (long long)n);
	}
	check_peers(e, arena_fmt(e->arena, "%s.%s", path, peers), obj_get(rule, peers));
}

void check_network_policy(struct field_errors *e, const struct obj *o)
{
	static const char *const types[] = {"Ingress", "Egress", NULL};
	const struct obj *in = obj_path(o, "spec.ingress"), *out = obj_path(o, "spec.egress");
	const struct obj *list = obj_path(o, "spec.policyTypes");
	for (size_t i = 0; i < obj_len(in); i++)
		check_flow(e, arena_fmt(e->arena, "spec.ingress[%zu]", i), obj_at(in, i), "from");
	for (size_t i = 0; i < obj_len(out); i++)
		check_flow(e, arena_fmt(e->arena, "spec.egress[%zu]", i), obj_at(out, i), "to");
	for (size_t i = 0; i < obj_len(list); i++)
		field_errors_one_of(e, arena_fmt(e->arena, "spec.policyTypes[%zu]", i),
				    obj_as_string(obj_at(list, i)), types);
}
