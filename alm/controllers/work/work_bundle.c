/* The source of a Bundle is read, and what came of it is run: both by who has the Bundles
 * (work_host). What the log says of a push is said here, once, before anything is made of it. */
#include "alm/base/log.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"

static struct audit_subject subject_of(const struct work *w)
{
	const struct action *a = w->action;
	return (struct audit_subject){
		.kind = "Bundle", .name = a->key, .uid = meta_uid(a->subject)};
}

/* Whom the commit names; whoever may push chose the names, but for the signer's (audit.md 6). */
static void set_who(struct obj *body, const struct obj *source)
{
	static const char *const copied[] = {"committer", "signer"};
	struct obj *who = obj_map();
	obj_set_str(who, "trust", "git");
	for (size_t i = 0; i < ARRAY_LEN(copied); i++)
		if (obj_str(source, copied[i]))
			obj_set_str(who, copied[i], obj_str(source, copied[i]));
	obj_set(body, "who", who);
}

/* by_author: the commit is what happened; else what happened to the branch, which names nobody. */
static int append(struct work *w, const char *reason, const struct obj *source, bool by_author,
		  struct error *err)
{
	struct obj *body = obj_keep(w->a, obj_map());
	obj_set(body, "source", obj_ref(source));
	const char *name = obj_str(source, "author");
	const char *author = by_author && name && *name ? name : NULL;
	const struct audit_row row = {.type = "Observe",
				      .reason = reason,
				      .subject = subject_of(w),
				      .actor = author,
				      .body = body};
	if (author)
		set_who(body, source);
	const char *key = arena_fmt(w->a, "%s %s", reason, obj_str(source, "commit"));
	return work_append(w, &row, key, arena_fmt(w->a, "bundle:%s", w->action->key), err);
}

/* Each commit once, in their order: those that were never run, then the head. */
static void append_revision(struct work *w, const struct bundle_news *news, struct error *err)
{
	size_t n = obj_len(news->skipped);
	if (news->unknown && append(w, "HistoryUnknown", news->read, false, err) < 0)
		return;
	for (size_t i = n; i > 0; i--)
		if (append(w, "Superseded", obj_at(news->skipped, i - 1), true, err) < 0)
			return;
	(void)append(w, "RevisionRead", news->read, true, err);
}

static void told(void *arg, const struct bundle_news *news, const struct error *err)
{
	struct work *w = arg;
	struct error failed = err ? *err : ERROR_INIT;
	if (!err && news->is_new)
		append_revision(w, news, &failed);
	failed = work_hide(w, &failed);
	const struct outcome *last = stash_get(w->stash, w->action->id);
	if (failed.code && (!last || !cstr_eq(last->msg, failed.msg)))
		log_warn("the source is not read", "bundle", w->action->key, "error", failed.msg);
	work_put(w, failed.code ? &failed : NULL, STR_NONE, news ? obj_ref(news->read) : NULL);
	work_done(w);
}

static void start_read(struct work *w)
{
	const struct work_host *h = w->host;
	h->read_bundle(h->arg, w->action->body, told, w);
}

const struct work_kind read_work = {.name = "read", .start = start_read};

static void start_roll(struct work *w)
{
	const struct work_host *h = w->host;
	const struct action *a = w->action;
	struct error err = ERROR_INIT;
	if (h->roll_bundle(h->arg, a->body, a->row_only, &err) < 0)
		work_fail(w, &err);
	else
		work_done(w);
}

const struct work_kind roll_work = {.name = "roll", .start = start_roll};
