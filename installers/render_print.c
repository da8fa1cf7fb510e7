/* render_print: what `helm template` prints of a rendered chart (render.h). */
#include "installers/render.h"

static void print_piece(struct strbuf *b, const char *path, struct str text)
{
	strbuf_addf(b, "---\n# Source: %s\n", path);
	strbuf_addstr(b, text);
	strbuf_addc(b, '\n');
}

/* Without the blanks at its end. */
static size_t trimmed(struct str s)
{
	struct str t = text_trim(s);
	return t.len ? (size_t)(t.ptr - s.ptr) + t.len : 0;
}

/* Blanks at the end stay: they may be those of the whole, which go. */
static void put_piece(const struct render_print *p, struct strbuf *out)
{
	if (!p->put || out->len < RENDER_PIECE_BYTES)
		return;
	size_t n = trimmed(strbuf_str(out));
	p->put(p->ctx, str_n(out->buf, n));
	strbuf_remove(out, 0, n);
}

static void print_manifest(const struct render_result *r, const struct render_print *options,
			   struct strbuf *out)
{
	for (size_t i = 0; options->crds && i < r->n_crds; i++) {
		print_piece(out, r->crds[i].path, r->crds[i].text);
		put_piece(options, out);
	}
	for (size_t i = 0; i < r->n_documents; i++) {
		print_piece(out, r->documents[i].path, r->documents[i].text);
		put_piece(options, out);
	}
}

void render_print_manifest(const struct render_result *r, bool crds, struct strbuf *out)
{
	print_manifest(r, &(struct render_print){.crds = crds}, out);
}

void render_print(const struct render_result *r, const struct render_print *options,
		  struct strbuf *out)
{
	print_manifest(r, options, out);
	strbuf_truncate(out, trimmed(strbuf_str(out)));
	strbuf_addc(out, '\n');
	for (size_t i = 0; !options->no_hooks && i < r->n_hooks; i++)
		if (!(options->skip_tests && (r->hooks[i].events & HOOK_TEST)))
			print_piece(out, r->hooks[i].path, r->hooks[i].text);
}
