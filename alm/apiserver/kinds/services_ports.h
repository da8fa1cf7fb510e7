/*
 * services_ports: the ports of nodes that a Service is given (services.h): each of its ports one that no other Service has, one
 * port number over two protocols the same where the Service is new; and what an update keeps of them. All in place. A Service may have as many ports as a
 * body has room for, so each of these goes over them once.
 */
#ifndef ALM_APISERVER_KINDS_SERVICES_PORTS_H
#define ALM_APISERVER_KINDS_SERVICES_PORTS_H

#include "alm/apiserver/store/store.h"
#include "alm/base/map.h"

#define SERVICES_KEY_MAX 32
/* "port/30080": the key of a node port, which is one Service's whatever the protocol. */
void services_port_key(int64_t port, char out[SERVICES_KEY_MAX]);
/* Is such a key, or an address, another's than own? */
bool services_is_taken(const struct store_table *services, const char *key, const struct head *own);

/* To those of spec.ports that have none, and to the check of health where there is one; the search begins at `from`. What finds
 * no free one stays without. */
void services_ports_give(const struct store_table *services, struct obj *spec, bool is_new,
			 uint32_t from);
/* Owned: services_port_key() of those that the ports have. */
struct map *services_ports_numbers(const struct obj *ports);
/* Those without one have what the port of their name had before, unless it was given away since. */
void services_ports_keep(struct obj *spec, const struct obj *before);
/* The type has no use for them: they go, unless one of them is new, which is refused. */
void services_ports_drop(struct obj *spec, const struct obj *before);

#endif
