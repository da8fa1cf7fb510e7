/* Reads a request: a head, and what follows it as a body with chunks. What is read of the head has
 * no control character, and a body is the same in whatever pieces it comes. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "alm/io/hosts.h"
#include "alm/io/http_parse.h"

#define BODY_BYTES_MAX 4096

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void must_be_clean(const char *text)
{
	for (; *text; text++)
		must((unsigned char)*text >= ' ' || *text == '\t');
}

static void check_head(struct str head)
{
	struct error err = ERROR_INIT;
	struct http_head h;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	if (fuzz_noted(http_head_parse(head, a, &h, &err), &err) < 0) {
		must(err.code != 0);
		must_be_clean(err.msg);
		return;
	}
	fuzz_note_text(h.method);
	fuzz_note_text(h.path);
	fuzz_note_text(h.query);
	fuzz_note_number((int64_t)h.length);
	must_be_clean(h.method);
	must_be_clean(h.path);
	must_be_clean(h.query);
	must(h.path[0] == '/' || !strcmp(h.path, "*"));
	must(!h.chunked || h.length == 0);
	for (size_t i = 0; i < h.headers.n; i++) {
		fuzz_note_text(h.headers.items[i].value);
		must_be_clean(h.headers.items[i].name);
		must_be_clean(h.headers.items[i].value);
	}
	must(h.authority || h.is_1_0);
	struct str host = host_of(str_of(h.authority));
	must(!host_is_known(host, NULL, 0) || host.len > 0);
}

/* What is left over goes to *ret_left. */
static int read_body(struct str all, size_t step, struct strbuf *body, size_t *ret_left)
{
	struct http_chunked c = {0};
	struct error err = ERROR_INIT;
	int r = 0;
	while (r == 0 && all.len) {
		struct str piece = str_sub(all, 0, step);
		size_t n = piece.len;
		r = http_chunked_read(&c, &piece, body, &err);
		all = str_skip(all, n - piece.len);
	}
	*ret_left = all.len;
	return r;
}

static void check_body(struct str text)
{
	CLEANUP(strbuf_release) struct strbuf whole = STRBUF_INIT(BODY_BYTES_MAX);
	size_t left;
	int r = read_body(text, SIZE_MAX, &whole, &left);
	fuzz_note_number(r);
	fuzz_note(strbuf_str(&whole));
	for (size_t step = 1; step < 8; step += 2) {
		CLEANUP(strbuf_release) struct strbuf pieces = STRBUF_INIT(BODY_BYTES_MAX);
		size_t pieces_left;
		must(read_body(text, step, &pieces, &pieces_left) == r);
		/* A body that is too large ends at the piece that does not fit. */
		must(r < 0 ||
		     (str_eq(strbuf_str(&whole), strbuf_str(&pieces)) && left == pieces_left));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_n((const char *)data, size);
	ptrdiff_t end = str_find(text, STR("\r\n\r\n"));
	size_t head = end < 0 ? text.len : (size_t)end + 4;
	check_head(str_sub(text, 0, head));
	check_body(str_skip(text, head));
	return 0;
}
