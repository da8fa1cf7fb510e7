/* A Bundle goes back to a revision: its branch is held at that commit until --to head. */
#include "alm/cli/app/rollback_bundle.h"

#include <string.h>

#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/term.h"
#include "alm/controllers/app/asks.h"
#include "alm/controllers/fleet/bundle_history.h"
#include "alm/obj/meta.h"

/* Where it is to go; commit NULL: to the head of the branch. */
struct way {
	const char *commit, *author, *subject;
};

static struct way way_of(const struct obj *entry)
{
	const char *author = obj_str(entry, "author"), *subject = obj_str(entry, "subject");
	return (struct way){obj_str(entry, "commit"), author ? author : "", subject ? subject : ""};
}

static bool is_whole(const char *s)
{
	size_t n = strlen(s);
	return (n == 40 || n == 64) && strspn(s, "0123456789abcdef") == n;
}

/* It is on its way to a commit that was never Synced and is not there yet: where before that is nobody knows. */
static int check_known(const struct bundle_ask *b, struct error *err)
{
	struct error why = ERROR_INIT;
	const struct obj *entry;
	const char *pin = obj_str(b->bundle, BUNDLE_PIN),
		   *now = obj_str(b->bundle, "status.commit");
	if (!pin || cstr_eq(pin, now) || bundle_history_find(b->bundle, pin, &entry, &why) == 0)
		return 0;
	return error_set(
		err, E_REFUSED,
		"bundle %s is at %.12s, and held at %.12s, which was never Synced: what was "
		"before that is not known; --to COMMIT names one, --to head ends it",
		b->name, now ? now : "-", pin);
}

static int find(const struct bundle_ask *b, const char *to, struct way *ret, struct error *err)
{
	const struct obj *entry = NULL;
	*ret = (struct way){0};
	if (cstr_eq(to, "head"))
		return obj_path(b->bundle, BUNDLE_PIN)
			       ? 0
			       : error_set(err, E_REFUSED,
					   "bundle %s follows the head of its branch already",
					   b->name);
	if (!to) {
		if (check_known(b, err) < 0)
			return -err->code;
		entry = bundle_history_before(b->bundle);
		if (!entry)
			return error_set(err, E_REFUSED,
					 "bundle %s has no revision before this one that was "
					 "Synced; --to COMMIT names one",
					 b->name);
	} else if (bundle_history_find(b->bundle, to, &entry, err) < 0) {
		if (err->code != E_NOTFOUND || !is_whole(to))
			return -err->code;
		*err = ERROR_INIT; /* whether the branch has it git will tell */
		*ret = (struct way){to, "", ""};
	}
	if (entry)
		*ret = way_of(entry);
	if (cstr_eq(ret->commit, obj_str(b->bundle, BUNDLE_PIN)))
		return error_set(err, E_REFUSED, "bundle %s is held at %.12s already", b->name,
				 ret->commit);
	return 0;
}

/* For the audit log: why, and that it belongs to this very change. */
static struct obj *patch_of(const struct bundle_ask *b, const struct way *w)
{
	struct obj *patch = obj_map(), *annotations = obj_map();
	const char *reason = cli_value(b->c, "reason");
	obj_set_path(patch, BUNDLE_PIN, w->commit ? obj_string(w->commit) : obj_null());
	obj_set_str(annotations, ANNOTATION_REASON, reason);
	obj_set(annotations, ANNOTATION_REASON_FOR,
		obj_stringf("%lld", (long long)meta_generation(b->bundle) + 1));
	obj_set_path(patch, "metadata.annotations", annotations);
	return patch;
}

static const char *text_of(const struct bundle_ask *b, const struct way *w)
{
	struct arena *a = b->c->arena;
	const char *now = obj_str(b->bundle, "status.commit"),
		   *pin = obj_str(b->bundle, BUNDLE_PIN);
	bool stays = pin && cstr_eq(now, w->commit); /* it had not gone yet */
	const char *from = now ? arena_fmt(a, "%.12s", stays ? pin : now) : "-";
	if (!w->commit)
		return arena_fmt(a, "from %s to the head of its branch, which is followed again",
				 from);
	return arena_fmt(a, "from %s to %.12s%s%s%s%s; pushes are not applied until --to head",
			 from, w->commit, *w->author ? " " : "", w->author, *w->subject ? ": " : "",
			 w->subject);
}

static int answer(const struct bundle_ask *b, const struct way *w, bool only_tried,
		  struct error *err)
{
	const char *output = cli_value(b->c, "output"), *text = text_of(b, w);
	if (cstr_eq(output, "name")) {
		term_print("bundle.app.coreos.com/%s\n", b->name);
		return 0;
	}
	if (!output) {
		term_print("bundle %s goes %s%s\n", b->name, text,
			   obj_flag(b->bundle, "spec.paused", false)
				   ? "; it is paused, and goes once it is not"
				   : "");
		if (only_tried)
			term_print(
				"nothing is changed; what that does object by object tells, in a "
				"clone, alm bundle plan --rev %s\n",
				w->commit ? w->commit : "HEAD");
		return 0;
	}
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	obj_set_str(o, "bundle", b->name);
	obj_set_str(o, "outcome", only_tried ? "Possible" : "Asked");
	obj_set_str(o, "from", obj_str(b->bundle, "status.commit"));
	obj_set_str(o, "commit", w->commit ? w->commit : "head");
	obj_set_str(o, "author", w->author);
	obj_set_str(o, "subject", w->subject);
	obj_set_str(o, "message", text);
	return cli_print_data(b->c, o, err);
}

static int rollback(struct bundle_ask *b, struct error *err)
{
	bool only_tried = cli_flag(b->c, "dry-run"), data;
	struct way w;
	if (obj_len(obj_path(b->bundle, "spec.pins")))
		return error_set(
			err, E_REFUSED,
			"spec.pins of bundle %s says which commit it has, whatever " BUNDLE_PIN
			" is; change or remove that",
			b->name);
	if (!cstr_eq(cli_value(b->c, "output"), "name") && cli_output_data(b->c, &data, err) < 0)
		return -err->code;
	if (find(b, cli_value(b->c, "to"), &w, err) < 0)
		return -err->code;
	CLEANUP(obj_unrefp) struct obj *patch = patch_of(b, &w);
	if (bundle_ask_patch(b, patch, only_tried, err) < 0)
		return -err->code;
	return answer(b, &w, only_tried, err);
}

int rollback_bundle(struct cli *c, const char *name, struct error *err)
{
	struct bundle_ask b;
	if (!cli_value(c, "reason") && !cli_flag(c, "dry-run"))
		return error_set(err, E_USAGE, "--reason is required; it is kept in the audit log");
	int r = bundle_ask_open(c, name, &b, err);
	if (!r)
		r = rollback(&b, err);
	bundle_ask_release(&b);
	return r;
}
