/*
 * weburl: the URLs of catalogs, read strictly (RFC 3986). Only https:// and oci:// (which is HTTPS)
 * have a place here; user names in URLs are refused, as they end up in logs.
 *
 * weburl_resolve() is what redirects and the urls[] of an index go through: no scheme but https
 * comes out of it, so nothing ever leads to http:// or file://.
 */
#ifndef CATALOG_WEBURL_H
#define CATALOG_WEBURL_H

#include <stdbool.h>

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/str.h"

#define WEBURL_BYTES_MAX 4096

struct weburl {
	const char *origin; /* "https://host:port", lower case; the port only if it is not 443 */
	const char *path;   /* "/charts/index.yaml"; at least "/" */
	const char *query;  /* without '?'; NULL: none */
};

/* Absolute URL of scheme ("https" or "oci"); the origin is https either way. A fragment is cut. */
int weburl_parse(struct str text, const char *scheme, struct arena *a, struct weburl *ret,
		 struct error *err);
/* Reference against base (RFC 3986 5.2); E_REFUSED for any other scheme than https. */
int weburl_resolve(const struct weburl *base, struct str reference, struct arena *a,
		   struct weburl *ret, struct error *err);
bool weburl_same_origin(const struct weburl *a, const struct weburl *b);
/* "/path?query" and the whole URL. */
const char *weburl_target(const struct weburl *u, struct arena *a);
const char *weburl_text(const struct weburl *u, struct arena *a);

#endif
