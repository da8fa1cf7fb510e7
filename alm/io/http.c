/*
 * http: header lookup, query parameters, percent-encoding. Pure.
 */
#include <string.h>
#include <strings.h>

#include "alm/io/http.h"

const char *http_header(const struct http_headers *h, const char *name)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcasecmp(h->items[i].name, name) == 0)
			return h->items[i].value;
	return NULL;
}

bool http_header_add(struct http_headers *h, const char *name, const char *value)
{
	if (h->n == HTTP_HEADERS_MAX)
		return false;
	h->items[h->n++] = (struct http_header){name, value};
	return true;
}

const char *http_query(const char *query, const char *name, struct arena *a)
{
	struct str rest = str_of(query), pair, key, value;
	while (str_next(&rest, '&', &pair)) {
		str_cut(pair, '=', &key, &value);
		const char *decoded = url_decode(key, true, a);
		if (cstr_eq(decoded, name))
			return url_decode(value, true, a);
	}
	return NULL;
}
