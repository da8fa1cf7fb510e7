/*
 * columns: the printer columns of the built-in kinds (kube-api.md 5.2) and the functions that
 * compute their cells. A cell function borrows the object and returns an owned scalar, or
 * obj_null() for what is missing. Pure: the instant that ages are counted from is a parameter.
 */
#ifndef ALM_APISERVER_DOCS_COLUMNS_H
#define ALM_APISERVER_DOCS_COLUMNS_H

#include "alm/apiserver/kinds/kinds.h"

struct columns {
	const struct kind_column *items;
	size_t n;
};

/* The columns of a built-in kind; Name and Age for those without any of their own. */
struct columns columns_of(const char *group, const char *kind);

/* "2m35s"; "<unknown>" if the text is absent, "<invalid>" if it is no RFC 3339 time. */
struct obj *columns_age(const char *timestamp, int64_t now_ns);

#endif
