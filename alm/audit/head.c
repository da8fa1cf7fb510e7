#include "alm/audit/head.h"

#include <inttypes.h>
#include <string.h>

#include "alm/base/file.h"

#define FIRST_LINE      "alm audit head 1"
#define HEAD_BYTES_MAX  (CHECKPOINT_BYTES_MAX + 1024)
#define CHECKPOINTS_KEY "checkpoints: "

void head_notes_add(struct head_notes *h, struct str note)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(HEAD_BYTES_MAX);
	strbuf_add(&b, h->digest, sizeof(h->digest));
	strbuf_addstr(&b, note);
	sha256(strbuf_str(&b), h->digest);
	h->n++;
}

static void head_path(const char *dir, struct strbuf *b)
{
	strbuf_addf(b, "%s/" HEAD_FILE, dir);
}

/* "12 BASE64" */
static bool notes_parse(struct str s, struct head_notes *ret)
{
	struct str number, base64;
	return str_cut(s, ' ', &number, &base64) && checkpoint_number(number, &ret->n) &&
	       checkpoint_bytes(base64, ret->digest, SHA256_BYTES);
}

static bool head_parse(struct str text, struct audit_head_state *ret)
{
	struct str line, origin;
	struct error err = ERROR_INIT;
	if (!str_next_line(&text, &line) || !str_is(line, FIRST_LINE) ||
	    !str_next_line(&text, &line) ||
	    !(str_is(line, "log: open") || str_is(line, "log: closed")))
		return false;
	ret->closed = str_is(line, "log: closed");
	if (!str_next_line(&text, &line) || !str_has_prefix(line, STR(CHECKPOINTS_KEY)) ||
	    !notes_parse(str_skip(line, strlen(CHECKPOINTS_KEY)), &ret->notes) ||
	    !str_next_line(&text, &line) || line.len || text.len > CHECKPOINT_BYTES_MAX)
		return false;
	memcpy(ret->note, text.ptr, text.len);
	ret->note[text.len] = '\0';
	return checkpoint_read(text, &origin, &ret->checkpoint, &err) == 0;
}

int head_read(const char *dir, struct audit_head_state *ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(HEAD_BYTES_MAX);
	head_path(dir, &path);
	int r = file_read(path.buf, &text, err);
	if (r < 0)
		return r == -E_LIMIT ? error_set(err, E_CORRUPT, "%s is no head of a log", path.buf)
				     : r;
	struct audit_head_state *h = xcalloc(1, sizeof(*h));
	bool ok = head_parse(strbuf_str(&text), h);
	if (ok)
		*ret = *h;
	xfree(h);
	return ok ? 0 : error_set(err, E_CORRUPT, "%s is no head of a log", path.buf);
}

int head_write(const char *dir, const struct audit_head_state *h, bool durably, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(HEAD_BYTES_MAX);
	head_path(dir, &path);
	strbuf_addf(&b, FIRST_LINE "\nlog: %s\n" CHECKPOINTS_KEY "%" PRId64 " ",
		    h->closed ? "closed" : "open", h->notes.n);
	base64_encode(str_n((const char *)h->notes.digest, SHA256_BYTES), &b);
	strbuf_addf(&b, "\n\n%s", h->note);
	return durably ? file_write_atomic(path.buf, strbuf_str(&b), 0600, err)
		       : file_replace(path.buf, strbuf_str(&b), 0600, err);
}
