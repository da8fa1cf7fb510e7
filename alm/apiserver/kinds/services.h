/*
 * services: what an API server gives Services and refuses them: cluster addresses out of
 * SERVICES_RANGE, node ports out of 30000 to 32767, one address family. Addresses and ports in use
 * are found by an index of the store; the choice follows from the object's uid, so it needs no
 * randomness. Nothing here is reachable: no network serves these addresses.
 */
#ifndef ALM_APISERVER_KINDS_SERVICES_H
#define ALM_APISERVER_KINDS_SERVICES_H

#include "alm/apiserver/store/store.h"
#include "alm/obj/field_error.h"

#define SERVICES_RANGE      "10.96.0.0/12"
#define SERVICES_KUBERNETES "10.96.0.1" /* of default/kubernetes */
#define SERVICES_PORT_MIN   30000
#define SERVICES_PORT_MAX   32767

/* Before the first Service is written; the store is open. */
void services_index(struct store *s);
/* Takes over from before (NULL: create) what the client left out, gives back what the type has no
 * use for, and allocates the rest; in place, and twice is once. */
void services_allocate(const struct store_table *services, struct obj *o, const struct obj *before);
/* own: the Service as it is stored; NULL: create. */
void services_validate(const struct store_table *services, const struct obj *o,
		       const struct obj *before, const struct head *own, struct field_errors *e);

/* Borrowed array of struct head, until the next write: the Services of the namespace whose selector
 * begins with this label; each is found by one of its labels. */
void *const *services_selecting(const struct store_table *services, const char *ns,
				const char *label, const char *value, size_t *ret_n);

/* For both files. The number of an address of the range, or false: another text. */
bool services_address(const char *text, uint32_t *ret);
bool services_in_range(uint32_t address);
bool services_has_address(const struct obj *o);    /* its type has one */
bool services_has_node_ports(const struct obj *o); /* its type has them */

#endif
