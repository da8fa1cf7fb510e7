#include "tests/lib/edits.h"

#include "alm/base/strbuf.h"
#include <assert.h>

struct edits {
	struct str text;
	edit_fn fn;
	void *arg;
};

/* The text with these bytes instead of n at the place. */
static void with(const struct edits *e, size_t at, size_t n, struct str instead)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(2 * EDITS_BYTES_MAX + 1);
	strbuf_addstr(&b, str_sub(e->text, 0, at));
	strbuf_addstr(&b, instead);
	strbuf_addstr(&b, str_skip(e->text, at + n));
	if (!str_eq(strbuf_str(&b), e->text))
		e->fn(e->arg, strbuf_str(&b));
}

static void bytes(const struct edits *e, const char *chars)
{
	for (size_t i = 0; i <= e->text.len; i++) {
		size_t here = i < e->text.len;
		for (const char *c = chars; *c; c++) {
			with(e, i, 0, str_n(c, 1));
			if (here)
				with(e, i, 1, str_n(c, 1));
		}
		if (!here)
			continue;
		with(e, i, 1, STR(""));
		with(e, i, 0, str_sub(e->text, i, 1));
	}
}

static void lines(const struct edits *e)
{
	struct str rest = e->text, line;
	while (str_next_line(&rest, &line)) {
		size_t at = (size_t)(line.ptr - e->text.ptr);
		size_t n = e->text.len - rest.len - at;
		with(e, at, n, STR(""));
		with(e, at, 0, str_sub(e->text, at, n));
	}
}

void edits_each(struct str text, const char *chars, edit_fn fn, void *arg)
{
	const struct edits e = {.text = text, .fn = fn, .arg = arg};
	assert(text.len <= EDITS_BYTES_MAX);
	bytes(&e, chars);
	lines(&e);
}
