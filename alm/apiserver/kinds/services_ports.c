/* services_ports: see services_ports.h. */
#include "alm/apiserver/kinds/services_ports.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/services.h"
#include "alm/base/map.h"
#include "alm/base/strbuf.h"

#define N_PORTS (SERVICES_PORT_MAX - SERVICES_PORT_MIN + 1)

struct giving {
	const struct store_table *services;
	bool is_new;
	uint32_t from;     /* where the search begins */
	uint32_t tried;    /* how many are known to be taken */
	struct map *used;  /* services_port_key() of those of this Service */
	struct map *first; /* by its own number, too: a port that has one */
};

void services_port_key(int64_t port, char out[SERVICES_KEY_MAX])
{
	struct strbuf b = STRBUF_INIT(SERVICES_KEY_MAX);
	strbuf_addf(&b, "port/%lld", (long long)port);
	memcpy(out, b.buf, b.len + 1);
	strbuf_release(&b);
}

bool services_is_taken(const struct store_table *services, const char *key, const struct head *own)
{
	size_t n;
	void *const *heads = resource_by_key(services, key, &n);
	for (size_t i = 0; i < n; i++)
		if (heads[i] != own)
			return true;
	return false;
}

static void note(struct giving *g, const struct obj *p)
{
	char key[SERVICES_KEY_MAX];
	int64_t port = obj_i64(p, "nodePort", 0);
	if (!port)
		return;
	services_port_key(port, key);
	(void)map_set(g->used, key, NULL);
	services_port_key(obj_i64(p, "port", 0), key);
	if (!map_has(g->first, key))
		(void)map_set(g->first, key, mem_unconst(p));
}

/* A number that stands twice, over two protocols, has one port of nodes. */
static int64_t sibling(const struct giving *g, const struct obj *p)
{
	char key[SERVICES_KEY_MAX];
	services_port_key(obj_i64(p, "port", 0), key);
	return obj_i64(map_get(g->first, key), "nodePort", 0);
}

/* 0: all are taken. */
static int64_t next_free(struct giving *g)
{
	char key[SERVICES_KEY_MAX];
	for (; g->tried < N_PORTS; g->tried++) {
		int64_t port = SERVICES_PORT_MIN + (g->from + g->tried) % N_PORTS;
		services_port_key(port, key);
		if (!map_has(g->used, key) && !services_is_taken(g->services, key, NULL))
			return port;
	}
	return 0;
}

static void give(struct giving *g, struct obj *p)
{
	if (obj_i64(p, "nodePort", 0))
		return;
	int64_t port = g->is_new ? sibling(g, p) : 0;
	if (!port)
		port = next_free(g);
	if (!port)
		return;
	obj_set_int(p, "nodePort", port);
	note(g, p);
}

void services_ports_give(const struct store_table *services, struct obj *spec, bool is_new,
			 uint32_t from)
{
	struct obj *ports = obj_get_mut(spec, "ports");
	CLEANUP(map_freep) struct map *used = map_new(NULL);
	CLEANUP(map_freep) struct map *first = map_new(NULL);
	struct giving g = {
		.services = services, .is_new = is_new, .from = from, .used = used, .first = first};
	bool wanted = obj_flag(spec, "allocateLoadBalancerNodePorts", true);
	for (size_t i = 0; i < obj_len(ports); i++)
		note(&g, obj_at(ports, i));
	for (size_t i = 0; wanted && i < obj_len(ports); i++)
		give(&g, obj_at_mut(ports, i));
	if (cstr_eq(obj_str(spec, "type"), "LoadBalancer") &&
	    cstr_eq(obj_str(spec, "externalTrafficPolicy"), "Local") &&
	    !obj_i64(spec, "healthCheckNodePort", 0))
		obj_set_int(spec, "healthCheckNodePort", next_free(&g));
}

/* --- of an update --- */

struct map *services_ports_numbers(const struct obj *ports)
{
	struct map *m = map_new(NULL);
	char key[SERVICES_KEY_MAX];
	for (size_t i = 0; i < obj_len(ports); i++) {
		services_port_key(obj_i64(obj_at(ports, i), "nodePort", 0), key);
		(void)map_set(m, key, NULL);
	}
	return m;
}

void services_ports_keep(struct obj *spec, const struct obj *before)
{
	struct obj *ports = obj_get_mut(spec, "ports");
	const struct obj *old = obj_get(before, "ports");
	CLEANUP(map_freep) struct map *used = services_ports_numbers(ports);
	CLEANUP(map_freep) struct map *by_name = map_new(NULL);
	char key[SERVICES_KEY_MAX];
	for (size_t i = 0; i < obj_len(old); i++)
		(void)map_set(by_name, check_text(obj_at(old, i), "name"),
			      mem_unconst(obj_at(old, i)));
	for (size_t i = 0; i < obj_len(ports); i++) {
		struct obj *p = obj_at_mut(ports, i);
		int64_t port = obj_i64(map_get(by_name, check_text(p, "name")), "nodePort", 0);
		services_port_key(port, key);
		if (port && !obj_i64(p, "nodePort", 0) && !map_has(used, key))
			obj_set_int(p, "nodePort", port);
	}
}

void services_ports_drop(struct obj *spec, const struct obj *before)
{
	struct obj *ports = obj_get_mut(spec, "ports");
	CLEANUP(map_freep) struct map *had = services_ports_numbers(obj_get(before, "ports"));
	char key[SERVICES_KEY_MAX];
	for (size_t i = 0; i < obj_len(ports); i++) {
		int64_t port = obj_i64(obj_at(ports, i), "nodePort", 0);
		services_port_key(port, key);
		if (port && !map_has(had, key))
			return;
	}
	for (size_t i = 0; i < obj_len(ports); i++)
		obj_del(obj_at_mut(ports, i), "nodePort");
}
