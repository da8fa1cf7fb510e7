/*
 * http_parse: see the header. Messages never quote the input: they go back over the wire.
 */
#include <string.h>
#include <strings.h>

#include "alm/io/http_parse.h"

#define METHOD_BYTES_MAX   16
#define OVERHEAD_BYTES_MAX 4096
#define SIZE_DIGITS_MAX    16 /* of a chunk, leading zeros counted */
#define LENGTH_DIGITS_MAX  19 /* of Content-Length, leading zeros counted */

static bool is_token_char(char c)
{
	return char_is_alnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!is_token_char(s.ptr[i]))
			return false;
	return s.len > 0;
}

/* Control characters end no text and are part of none: RFC 9110 5.5. */
static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (((unsigned char)s.ptr[i] < ' ' && s.ptr[i] != '\t') || s.ptr[i] == 0x7f)
			return true;
	return false;
}

/* Blanks and tabs alone (RFC 9110 5.6.3): a parser that trims more reads other words. */
static struct str trim_ows(struct str s)
{
	while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
		s = str_skip(s, 1);
	while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
		s.len--;
	return s;
}

static int bad(struct error *err, const char *what)
{
	return error_set(err, E_BADREQUEST, "%s", what);
}

/* The next line without its CRLF; false if a bare CR or LF is in it or none ends it. */
static bool next_line(struct str *rest, struct str *ret)
{
	const char *lf = memchr(rest->ptr, '\n', rest->len);
	if (!lf || lf == rest->ptr || lf[-1] != '\r')
		return false;
	*ret = str_n(rest->ptr, (size_t)(lf - rest->ptr) - 1);
	*rest = str_skip(*rest, ret->len + 2);
	return str_find_char(*ret, '\r') < 0;
}

/* An absolute form loses its scheme, and its authority is what Host must say, too. */
static int parse_target(struct str target, struct arena *a, struct http_head *h, struct error *err)
{
	static const char *const schemes[] = {"http://", "https://"};
	for (size_t i = 0; i < target.len; i++)
		if ((unsigned char)target.ptr[i] <= ' ' || target.ptr[i] == 0x7f ||
		    target.ptr[i] == '#')
			return bad(err, "request target with a forbidden character");
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		if (!str_has_prefix(target, str_of(schemes[i])))
			continue;
		target = str_skip(target, strlen(schemes[i]));
		ptrdiff_t slash = str_find_char(target, '/');
		struct str authority = slash < 0 ? target : str_sub(target, 0, (size_t)slash);
		h->authority = arena_strndup(a, authority.ptr, authority.len);
		target = slash < 0 ? STR("/") : str_skip(target, (size_t)slash);
	}
	if (target.len == 0 || (target.ptr[0] != '/' && !str_is(target, "*")))
		return bad(err, "request target must begin with /");
	struct str path, query;
	if (!str_cut(target, '?', &path, &query))
		query = STR_NONE;
	h->path = arena_strndup(a, path.ptr, path.len);
	h->query = query.len ? arena_strndup(a, query.ptr, query.len) : "";
	return 0;
}

static int parse_request_line(struct str line, struct arena *a, struct http_head *h,
			      struct error *err)
{
	struct str method, rest, target, version;
	if (!str_cut(line, ' ', &method, &rest) || !str_cut(rest, ' ', &target, &version))
		return bad(err, "malformed request line");
	if (!is_token(method) || method.len > METHOD_BYTES_MAX)
		return bad(err, "malformed method");
	if (!str_is(version, "HTTP/1.1") && !str_is(version, "HTTP/1.0"))
		return bad(err, "only HTTP/1.1 and HTTP/1.0 are spoken here");
	h->is_1_0 = str_is(version, "HTTP/1.0");
	h->keep_alive = !h->is_1_0;
	h->method = arena_strndup(a, method.ptr, method.len);
	return parse_target(target, a, h, err);
}

static int parse_header(struct str line, struct arena *a, struct http_head *h, struct error *err)
{
	struct str name, value;
	if (!str_cut(line, ':', &name, &value) || !is_token(name))
		return bad(err, "malformed header");
	value = trim_ows(value);
	if (has_control(value))
		return bad(err, "header with a control character");
	if (!http_header_add(&h->headers, arena_strndup(a, name.ptr, name.len),
			     arena_strndup(a, value.len ? value.ptr : "", value.len)))
		return error_set(err, E_LIMIT, "more than %d headers", HTTP_HEADERS_MAX);
	return 0;
}

static size_t count(const struct http_headers *h, const char *name)
{
	size_t n = 0;
	for (size_t i = 0; i < h->n; i++)
		n += strcasecmp(h->items[i].name, name) == 0;
	return n;
}

static void read_connection(struct http_head *h)
{
	for (size_t i = 0; i < h->headers.n; i++) {
		if (strcasecmp(h->headers.items[i].name, "Connection") != 0)
			continue;
		struct str rest = str_of(h->headers.items[i].value), option;
		while (str_next(&rest, ',', &option)) {
			option = trim_ows(option);
			if (option.len == 5 && strncasecmp(option.ptr, "close", 5) == 0)
				h->keep_alive = false;
			else if (option.len == 10 && strncasecmp(option.ptr, "keep-alive", 10) == 0)
				h->keep_alive = true;
		}
	}
}

/* RFC 9112 6.3 and its section 11.2: what frames the body must be said once and in one way. */
static int read_framing(struct http_head *h, struct error *err)
{
	size_t n_length = count(&h->headers, "Content-Length");
	size_t n_coding = count(&h->headers, "Transfer-Encoding");
	if (n_length + n_coding > 1)
		return bad(err, "more than one of Content-Length and Transfer-Encoding");
	if (n_coding) {
		if (h->is_1_0)
			return bad(err, "Transfer-Encoding in HTTP/1.0");
		if (strcasecmp(http_header(&h->headers, "Transfer-Encoding"), "chunked") != 0)
			return error_set(err, E_UNSUPPORTED, "unknown transfer coding");
		h->chunked = true;
	}
	if (n_length) {
		const char *text = http_header(&h->headers, "Content-Length");
		if (!char_is_digit(text[0]) || strlen(text) > LENGTH_DIGITS_MAX ||
		    !str_parse_u64(str_of(text), &h->length))
			return bad(err, "malformed Content-Length");
	}
	const char *expect = http_header(&h->headers, "Expect");
	if (expect && strcasecmp(expect, "100-continue") == 0)
		h->expect_continue = !h->is_1_0 && (h->chunked || h->length);
	return 0;
}

/* RFC 9112 3.2: once; the same as in the target where that has one. */
static int read_host(struct http_head *h, struct error *err)
{
	const char *host = http_header(&h->headers, "Host");
	size_t n = count(&h->headers, "Host");
	if (n > 1 || (n == 0 && !h->is_1_0))
		return bad(err, "want exactly one Host header");
	if (h->authority && host && strcasecmp(h->authority, host) != 0)
		return bad(err, "Host is not the host of the request target");
	if (!h->authority)
		h->authority = host;
	return 0;
}

int http_head_parse(struct str head, struct arena *a, struct http_head *ret, struct error *err)
{
	struct http_head h = {0};
	struct str line;
	if (!next_line(&head, &line))
		return bad(err, "lines must end in CR LF");
	int r = parse_request_line(line, a, &h, err);
	if (r < 0)
		return r;
	for (;;) {
		if (!next_line(&head, &line))
			return bad(err, "lines must end in CR LF");
		if (line.len == 0)
			break;
		r = parse_header(line, a, &h, err);
		if (r < 0)
			return r;
	}
	if (read_host(&h, err) < 0)
		return -err->code;
	read_connection(&h);
	r = read_framing(&h, err);
	if (r < 0)
		return r;
	*ret = h;
	return 0;
}

enum chunk_state {
	SIZE_FIRST,
	SIZE,
	EXTENSION,
	SIZE_LF,
	DATA,
	DATA_CR,
	DATA_LF,
	LINE_FIRST,
	TRAILER,
	TRAILER_LF,
	LAST_LF
};

static int add_size_digit(struct http_chunked *c, char digit, struct error *err)
{
	if (++c->digits > SIZE_DIGITS_MAX)
		return bad(err, "malformed chunk size");
	if (c->left >> 32)
		return error_set(err, E_TOOLARGE, "chunk is too large");
	int v = char_is_digit(digit) ? digit - '0' : char_lower(digit) - 'a' + 10;
	c->left = c->left << 4 | (uint64_t)v;
	c->state = SIZE;
	return 0;
}

/* Every state but DATA takes one byte. */
/* NOLINTNEXTLINE(readability-function-cognitive-complexity): a flat switch, a case a state */
static int chunk_byte(struct http_chunked *c, char b, struct error *err)
{
	bool in_line = c->state == EXTENSION || c->state == TRAILER;
	if (in_line && ++c->overhead > OVERHEAD_BYTES_MAX)
		return error_set(err, E_TOOLARGE, "chunk extensions or trailers are too large");
	switch ((enum chunk_state)c->state) {
	case SIZE_FIRST:
		return char_is_hex(b) ? add_size_digit(c, b, err)
				      : bad(err, "malformed chunk size");
	case SIZE:
		if (char_is_hex(b))
			return add_size_digit(c, b, err);
		if (b != '\r' && b != ';')
			return bad(err, "malformed chunk size");
		c->state = b == '\r' ? SIZE_LF : EXTENSION;
		return 0;
	case EXTENSION:
	case TRAILER:
		if (b != '\r' && has_control(str_n(&b, 1)))
			return bad(err, "malformed chunk line");
		if (b == '\r')
			c->state = c->state == EXTENSION ? SIZE_LF : TRAILER_LF;
		return 0;
	case LINE_FIRST:
		c->state = b == '\r' ? LAST_LF : TRAILER;
		return b == '\r' || is_token_char(b) ? 0 : bad(err, "malformed trailer");
	case DATA_CR:
		c->state = DATA_LF;
		return b == '\r' ? 0 : bad(err, "chunk is longer than its size");
	case SIZE_LF:
		c->state = c->left ? DATA : LINE_FIRST;
		break;
	case DATA_LF:
		c->state = SIZE_FIRST;
		c->digits = 0;
		break;
	case TRAILER_LF:
		c->state = LINE_FIRST;
		break;
	case LAST_LF:
	case DATA:
		break;
	}
	return b == '\n' ? 0 : bad(err, "chunk lines must end in CR LF");
}

int http_chunked_read(struct http_chunked *c, struct str *in, struct strbuf *body,
		      struct error *err)
{
	while (in->len) {
		if (c->state == DATA) {
			size_t n = in->len < c->left ? in->len : (size_t)c->left;
			strbuf_add(body, in->ptr, n);
			if (body->over)
				return error_set(err, E_TOOLARGE, "body is larger than %zu bytes",
						 body->limit);
			*in = str_skip(*in, n);
			c->left -= n;
			if (c->left == 0)
				c->state = DATA_CR;
			continue;
		}
		bool last = c->state == LAST_LF;
		int r = chunk_byte(c, in->ptr[0], err);
		if (r < 0)
			return r;
		*in = str_skip(*in, 1);
		if (last)
			return 1;
	}
	return 0;
}
