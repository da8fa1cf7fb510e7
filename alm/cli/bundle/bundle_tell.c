#include "alm/cli/bundle/bundle_tell.h"

#include "alm/cli/term.h"

const char *bundle_place(const struct cli *c, const struct bundle_folder *f)
{
	return f->revision.commit ? arena_fmt(c->arena, "%s at %.12s", f->dir, f->revision.commit)
				  : f->dir;
}

/* Before what is printed: that is for another program. */
static void tell_notes(const struct bundle_folder *f)
{
	const struct bundle_revision *r = &f->revision;
	if (r->unjudged)
		term_error("alm: not judged, as it is on disk and not so in %.12s: %s "
			   "(--worktree judges what is on disk)\n",
			   r->commit, r->unjudged);
	if (r->why)
		term_error("alm: what is on disk is judged: %s\n", r->why);
	for (size_t i = 0; i < f->warnings.n; i++)
		term_error("alm: warning: %s\n", f->warnings.texts[i]);
}

int bundle_tell_flaws(const struct bundle_folder *f, struct error *err)
{
	const struct flaws *all = &f->flaws;
	if (all->n == 1 && !err->code)
		return error_set(err, E_INVALID, "%s", all->texts[0]);
	for (size_t i = 0; i < all->n; i++)
		term_error("alm: %s\n", all->texts[i]);
	if (err->code || !all->n)
		return -err->code;
	return error_set(err, E_INVALID, "%zu faults: nothing of it would be applied", all->n);
}

int bundle_read_and_tell(const struct cli *c, struct bundle_folder *f, struct error *err)
{
	int r = bundle_folder_read(c, f, err);
	tell_notes(f);
	if (err->reason == REASON_SOURCE_EMPTY && !cli_value(c, "rev"))
		term_error("alm: --worktree judges what is on disk, committed or not\n");
	return r < 0 ? bundle_tell_flaws(f, err) : 0;
}
