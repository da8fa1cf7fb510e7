/* address_check: addresses and ranges of them, and the kinds that are made of them: ServiceCIDR, IPAddress, Endpoints and
 * EndpointSlice, in the words of Kubernetes 1.36 (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_ADDRESS_CHECK_H
#define ALM_APISERVER_KINDS_ADDRESS_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* Is it one, in the one form that its kind of field takes? canonical: RFC 5952 alone. */
void check_ip(struct field_errors *e, const char *path, const char *text, bool canonical);
bool address_is_ip(const char *text); /* in any form */
void check_cidr(struct field_errors *e, const char *path, const char *text, bool canonical);
/* An address and the length of its network's prefix, in its canonical form. */
void check_interface_address(struct field_errors *e, const char *path, const char *text);

/* Of a NetworkPolicy: each exception is a part of the block. */
void check_ip_block(struct field_errors *e, const char *path, const struct obj *block);

void check_service_cidr(struct field_errors *e, const struct obj *o);
void check_ip_address(struct field_errors *e, const struct obj *o);
/* Of an address that a load balancer could send to. */
void check_reachable(struct field_errors *e, const char *path, const char *text);
void check_endpoints(struct field_errors *e, const struct obj *o);
void check_endpoint_slice(struct field_errors *e, const struct obj *o);

void service_cidr_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void ip_address_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void endpoint_slice_kept(struct field_errors *e, const struct obj *o, const struct obj *before);

#endif
