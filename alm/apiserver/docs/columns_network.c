/* columns_network: columns of how workloads are reached: services, endpoints, ingresses, policies. */
#include "alm/apiserver/docs/columns_internal.h"

TEXT_CELL(cell_service_type, "spec.type", "ClusterIP")
TEXT_CELL(cell_cluster_ip, "spec.clusterIP", "<none>")
TEXT_CELL(cell_ingress_class, "spec.ingressClassName", "<none>")
TEXT_CELL(cell_controller, "spec.controller", "")
TEXT_CELL(cell_address_type, "addressType", "")

static struct obj *cell_pod_selector(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_selector(obj_path(o, "spec.podSelector"));
}

static struct obj *cell_external_ip(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *type = obj_str(o, "spec.type");
	if (cstr_eq(type, "ExternalName"))
		return columns_text(obj_str(o, "spec.externalName"), "<none>");
	if (!cstr_eq(type, "LoadBalancer"))
		return columns_join(obj_path(o, "spec.externalIPs"), NULL, "<none>");
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *ingress = obj_path(o, "status.loadBalancer.ingress");
	for (size_t i = 0; i < obj_len(ingress); i++) {
		const char *ip = obj_str(obj_at(ingress, i), "ip");
		columns_add(&b, ",", ip ? ip : obj_str(obj_at(ingress, i), "hostname"));
	}
	return columns_take(&b, "<pending>");
}

static struct obj *cell_ports(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *ports = obj_path(o, "spec.ports");
	for (size_t i = 0; i < obj_len(ports); i++) {
		const struct obj *p = obj_at(ports, i);
		const char *protocol = obj_str(p, "protocol");
		int64_t node_port = obj_i64(p, "nodePort", 0);
		strbuf_addf(&b, "%s%lld", i ? "," : "", (long long)obj_i64(p, "port", 0));
		if (node_port)
			strbuf_addf(&b, ":%lld", (long long)node_port);
		strbuf_addf(&b, "/%s", protocol ? protocol : "TCP");
	}
	return columns_take(&b, "<none>");
}

static struct obj *cell_endpoints(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *subsets = obj_get(o, "subsets");
	for (size_t i = 0; i < obj_len(subsets); i++) {
		const struct obj *addresses = obj_get(obj_at(subsets, i), "addresses");
		const struct obj *ports = obj_get(obj_at(subsets, i), "ports");
		for (size_t j = 0; j < obj_len(addresses); j++) {
			columns_add(&b, ",", obj_str(obj_at(addresses, j), "ip"));
			if (obj_len(ports))
				strbuf_addf(&b, ":%lld",
					    (long long)obj_i64(obj_at(ports, 0), "port", 0));
		}
	}
	return columns_take(&b, "<none>");
}

/* Three of them, as upstream. */
static struct obj *cell_slice_endpoints(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *list = obj_get(o, "endpoints");
	size_t n = 0;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *addresses = obj_get(obj_at(list, i), "addresses");
		for (size_t j = 0; j < obj_len(addresses); j++, n++)
			if (n < 3)
				columns_add(&b, ",", obj_as_string(obj_at(addresses, j)));
	}
	if (n > 3)
		strbuf_addf(&b, " + %zu more...", n - 3);
	return columns_take(&b, "<unset>");
}

static struct obj *cell_slice_ports(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *list = obj_get(o, "ports");
	for (size_t i = 0; i < obj_len(list); i++)
		strbuf_addf(&b, "%s%lld", i ? "," : "",
			    (long long)obj_i64(obj_at(list, i), "port", 0));
	return columns_take(&b, "<unset>");
}

static struct obj *cell_hosts(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_join(obj_path(o, "spec.rules"), "host", "*");
}

static struct obj *cell_addresses(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const struct obj *list = obj_path(o, "status.loadBalancer.ingress");
	return columns_join(list, obj_str(obj_at(list, 0), "ip") ? "ip" : "hostname", "");
}

static struct obj *cell_ingress_ports(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_string(obj_len(obj_path(o, "spec.tls")) ? "80, 443" : "80");
}

static struct obj *cell_cidrs(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_join(obj_path(o, "spec.cidrs"), NULL, "");
}

/* "configmap.example.com/name" */
static struct obj *cell_parameters(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const struct obj *p = obj_path(o, "spec.parameters");
	const char *group = obj_str(p, "apiGroup"), *kind = obj_str(p, "kind");
	const char *name = obj_str(p, "name");
	return p ? obj_stringf("%s%s%s/%s", kind ? kind : "", group ? "." : "", group ? group : "",
			       name ? name : "")
		 : obj_string("<none>");
}

/* "services/default/kubernetes" */
static struct obj *cell_parent(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	static const char *const parts[] = {"resource", "group", "namespace", "name"};
	const struct obj *ref = obj_path(o, "spec.parentRef");
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const char *part = obj_str(ref, parts[i]);
		if (part && *part)
			columns_add(&b, i == 1 ? "." : "/", part);
	}
	return columns_take(&b, "<none>");
}

/* clang-format off */
static const struct kind_column of_service[] = {
	NAME, COLUMN("Type", "string", cell_service_type, 0),
	COLUMN("Cluster-IP", "string", cell_cluster_ip, 0),
	COLUMN("External-IP", "string", cell_external_ip, 0),
	COLUMN("Port(s)", "string", cell_ports, 0), AGE,
	COLUMN("Selector", "string", columns_plain_selector, 1)};
static const struct kind_column of_endpoints[] = {
	NAME, COLUMN("Endpoints", "string", cell_endpoints, 0), AGE};
static const struct kind_column of_slice[] = {
	NAME, COLUMN("AddressType", "string", cell_address_type, 0),
	COLUMN("Ports", "string", cell_slice_ports, 0),
	COLUMN("Endpoints", "string", cell_slice_endpoints, 0), AGE};
static const struct kind_column of_ingress[] = {
	NAME, COLUMN("Class", "string", cell_ingress_class, 0),
	COLUMN("Hosts", "string", cell_hosts, 0), COLUMN("Address", "string", cell_addresses, 0),
	COLUMN("Ports", "string", cell_ingress_ports, 0), AGE};
static const struct kind_column of_ingressclass[] = {
	DEFAULT_NAME, COLUMN("Controller", "string", cell_controller, 0),
	COLUMN("Parameters", "string", cell_parameters, 0), AGE};
static const struct kind_column of_cidr[] = {
	NAME, COLUMN("CIDRs", "string", cell_cidrs, 0), AGE};
static const struct kind_column of_address[] = {
	NAME, COLUMN("ParentRef", "string", cell_parent, 0)};
static const struct kind_column of_netpol[] = {
	NAME, COLUMN("Pod-Selector", "string", cell_pod_selector, 0), AGE};

const struct columns_row columns_network[] = {
	OF("", "Service", of_service),
	OF("", "Endpoints", of_endpoints),
	OF("discovery.k8s.io", "EndpointSlice", of_slice),
	OF("networking.k8s.io", "Ingress", of_ingress),
	OF("networking.k8s.io", "IngressClass", of_ingressclass),
	OF("networking.k8s.io", "ServiceCIDR", of_cidr),
	OF("networking.k8s.io", "IPAddress", of_address),
	OF("networking.k8s.io", "NetworkPolicy", of_netpol),
	{0},
};
/* clang-format on */
