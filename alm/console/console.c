#include "alm/console/console.h"

#include <assert.h>
#include <string.h>

#include "alm/base/carried.h"
#include "alm/base/hash.h"
#include "alm/base/strbuf.h"

extern const struct carried_text alm_console_index_html;

#define TEXT "text/plain; charset=utf-8"

/* 'sha256-...' of what stands between the tags: nothing else on the page may run or style it. */
static void add_source(struct strbuf *b, const char *page, const char *open, const char *close)
{
	unsigned char digest[SHA256_BYTES];
	const char *start = strstr(page, open);
	assert(start);
	start += strlen(open);
	const char *end = strstr(start, close);
	assert(end);
	sha256(str_n(start, (size_t)(end - start)), digest);
	strbuf_adds(b, "'sha256-");
	base64_encode(str_n((const char *)digest, sizeof(digest)), b);
	strbuf_adds(b, "'; ");
}

static void add_policy(struct strbuf *b, const char *page)
{
	strbuf_adds(b, "default-src 'none'; script-src ");
	add_source(b, page, "<script>", "</script>");
	strbuf_adds(b, "style-src ");
	add_source(b, page, "<style>", "</style>");
	strbuf_adds(b, "connect-src 'self'; base-uri 'none'; form-action 'none'; "
		       "frame-ancestors 'none'");
}

/* body NULL: the page. */
static void reply(struct exchange *x, int status, const char *type, const char *body)
{
	CLEANUP(strbuf_release) struct strbuf policy = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(xfreep) char *page = carried_read(&alm_console_index_html);
	struct http_headers h = {0};
	add_policy(&policy, page);
	http_header_add(&h, "Content-Type", type);
	http_header_add(&h, "Content-Security-Policy", policy.buf);
	http_header_add(&h, "X-Content-Type-Options", "nosniff");
	http_header_add(&h, "X-Frame-Options", "DENY");
	http_header_add(&h, "Referrer-Policy", "no-referrer");
	http_header_add(&h, "Cache-Control", "no-store");
	if (status == 405)
		http_header_add(&h, "Allow", "GET, HEAD");
	exchange_reply(x, status, &h, str_of(body ? body : page));
}

bool console_handle(struct exchange *x)
{
	const char *path = x->request->path, *method = x->request->method;
	if (!cstr_has_prefix(path, CONSOLE_PATH))
		return false;
	const char *rest = path + strlen(CONSOLE_PATH);
	if (*rest && *rest != '/')
		return false;
	if (!cstr_eq(rest, "") && !cstr_eq(rest, "/"))
		reply(x, 404, TEXT, "404 page not found\n");
	else if (!cstr_eq(method, "GET") && !cstr_eq(method, "HEAD"))
		reply(x, 405, TEXT, "405 method not allowed\n");
	else
		reply(x, 200, "text/html; charset=utf-8", NULL);
	return true;
}
