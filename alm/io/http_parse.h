/*
 * http_parse: the bytes of an HTTP/1.1 request to its parts (RFC 9112). Pure; strict where leniency
 * lets two parsers disagree: CRLF only, no folded lines, no blank before the colon, one Host,
 * Content-Length never doubled and never beside Transfer-Encoding, blanks and tabs the only white
 * space, 16 digits of a chunk size and 19 of a length with their leading zeros.
 */
#ifndef ALM_IO_HTTP_PARSE_H
#define ALM_IO_HTTP_PARSE_H

#include "alm/base/error.h"
#include "alm/base/strbuf.h"
#include "alm/io/http.h"

struct http_head {
	const char *method, *path, *query; /* in the arena */
	const char *authority; /* HOST[:PORT] that is asked for; NULL: HTTP/1.0 that names none */
	struct http_headers headers;
	uint64_t length; /* of the body, 0 without Content-Length */
	bool chunked, expect_continue, keep_alive;
	bool is_1_0;
};

/* head is everything through the empty line. E_BADREQUEST, E_LIMIT (too many headers),
 * E_UNSUPPORTED (an unknown transfer coding). */
int http_head_parse(struct str head, struct arena *a, struct http_head *ret, struct error *err);

/* Zeroed before the first call. */
struct http_chunked {
	int state;
	unsigned digits; /* of the size that is being read */
	uint64_t left;
	size_t overhead; /* bytes of extensions and trailers */
};

/* Takes bytes off *in and appends the data to body, whose limit bounds it. 1: complete, what is
 * left in *in belongs to the next request; 0: wants more; E_BADREQUEST, E_TOOLARGE. */
int http_chunked_read(struct http_chunked *c, struct str *in, struct strbuf *body,
		      struct error *err);

#endif
