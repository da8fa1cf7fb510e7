/* url_escape: the escapes of URLs. */
#ifndef ALM_BASE_URL_ESCAPE_H
#define ALM_BASE_URL_ESCAPE_H

#include "alm/base/arena.h"
#include "alm/base/str.h"

/* Percent-decoding; '+' is a blank only in queries. NULL for a bad escape or an encoded NUL. */
char *url_decode(struct str s, bool plus_is_blank, struct arena *a);
/* Everything but unreserved characters (RFC 3986) is escaped. */
char *url_encode(struct str s, struct arena *a);

#endif
