/*
 * cel_url: url() and what a URL is asked for in rules of CRDs, as k8s.io/apiserver/pkg/cel/library
 * (urls.go) has it: an absolute URI or an absolute path, without a fragment. A value of CEL_URL is
 * its text.
 */
#ifndef ALM_OBJ_CEL_CEL_URL_H
#define ALM_OBJ_CEL_CEL_URL_H

#include "alm/obj/cel/cel.h"

struct cel_value cel_url_of(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_url_scheme(const struct cel_value *v, struct cel_call *c); /* "https", or "" */
struct cel_value cel_url_host(const struct cel_value *v, struct cel_call *c);   /* "[::1]:80" */
struct cel_value cel_url_hostname(const struct cel_value *v, struct cel_call *c); /* "::1" */
struct cel_value cel_url_port(const struct cel_value *v, struct cel_call *c);     /* "80", or "" */
struct cel_value cel_url_path(const struct cel_value *v, struct cel_call *c);
/* {"a": ["1", "2"]} of "?a=1&a=2"; what cannot be read is left out, as by Go's url.Query(). */
struct cel_value cel_url_query(const struct cel_value *v, struct cel_call *c);

#endif
