/* `alm why` as text (lifecycle.md 2.6). */
#include <string.h>

#include "catalog/resolve.h"

static void add_row(struct strbuf *b, const struct candidate *c, const char *verdict,
		    const char *reason, const char *message)
{
	strbuf_addf(b, "  %-11s %-4s %s%s%s\n", c->version, verdict, reason, *message ? "  " : "",
		    message);
}

static const char *path_text(const struct resolution *r, const char *from, struct arena *a)
{
	const char *s = from ? from : "";
	for (size_t i = 0; i < r->n_path; i++)
		s = arena_fmt(a, "%s -> %s", s, r->path[i]);
	return s;
}

static bool is_lower(const struct resolve_input *in, const struct candidate *c)
{
	return in->installed_version && c->reason && !strcmp(c->reason, "NotNewer") &&
	       !c->installed;
}

void resolve_print(const struct resolve_input *in, const struct resolution *r, const char *mode,
		   struct strbuf *b)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	size_t n_lower = 0;
	strbuf_addf(b, "%s  %s%s  %s", in->app,
		    in->installed_version ? "installed " : "not installed",
		    in->installed_version ? in->installed_version : "", mode);
	if (r->catalog)
		strbuf_addf(b, "  %s@sha256:%.4s…", r->catalog, r->catalog_revision);
	strbuf_addf(b, "  channel %s  range %s\n", in->channel ? in->channel : "stable",
		    in->range && *in->range ? in->range : "*");
	if (!r->n && r->message)
		strbuf_addf(b, "  %s: %s\n", r->reason, r->message);
	for (size_t i = 0; i < r->n; i++) {
		const struct candidate *c = &r->candidates[i];
		if (is_lower(in, c))
			n_lower++;
		else if (c->installed)
			add_row(b, c, "-", "installed", "");
		else if (c->chosen)
			add_row(b, c, "yes", "chosen", path_text(r, in->installed_version, a));
		else if (c->installable)
			add_row(b, c, "yes", "installable", "");
		else
			add_row(b, c, "no", c->reason, c->message);
	}
	if (n_lower)
		strbuf_addf(b, "  %zu lower version%s: NotNewer\n", n_lower,
			    n_lower == 1 ? "" : "s");
}
