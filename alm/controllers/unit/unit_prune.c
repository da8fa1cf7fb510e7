/* What a unit had and has no more goes, and what comes back of it: a create that is delayed, or
 * carried out once more, makes an object anew that was deleted meanwhile. For as long as one may
 * come the inventory names what was deleted (inventory.h). */
#include "alm/unit/prune.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

#define LOOK_AGAIN_NS NS_PER_S
#define TOLD_MAX      100 /* texts of a list */

/* What the unit had, and what was deleted of it before, without what it has. */
struct former {
	struct inventory lines;
	size_t n_had; /* the first; the rest may come back only */
	struct unit_entry *was;
	const struct prune_item *list;
	size_t n_list;
	const char *read; /* names the live read of them */
};

/* --- what is told --- */

static void tell(struct unit_pass *s, const char *list, const char *text)
{
	if (!obj_has(s->record, list))
		obj_set(s->record, list, obj_list());
	struct obj *told = obj_get_mut(s->record, list);
	for (size_t i = 0; i < obj_len(told); i++)
		if (cstr_eq(obj_as_string(obj_at(told, i)), text))
			return;
	if (obj_len(told) < TOLD_MAX)
		obj_append(told, obj_string(text));
}

void unit_tell_kept(struct unit_pass *s, const char *text)
{
	tell(s, "kept", text);
}

/* --- what may come back --- */

/* What is left of the time in which a create of that time may still come. */
static int64_t left_since(const struct unit_pass *s, const char *since)
{
	int64_t at;
	if (!since || !clock_parse(str_of(since), &at))
		return 0;
	int64_t late = s->v->settings->late_write_ns, left = at + late - s->v->now_ns;
	const char *id = arena_fmt(s->v->a, "unit:%s:late:%s", s->key, since);
	return left > 0 ? s->v->ops->left(s->v->ops_arg, id, late, left) : 0;
}

/* record.deleted: {id: {"since", "unconfirmed": nobody has ever seen it, "young": it may well be that
 * something is on its way}}, of this attempt. */
static const struct obj *noted(const struct unit_pass *s, const struct inventory_line *l)
{
	return obj_get(obj_get(s->record, "deleted"), inventory_id(l, s->v->a));
}

/* What a process before this one has sent nobody knows. NULL: nothing of it can come any more. */
static const char *begun(const struct unit_pass *s, char text[CLOCK_TEXT_MAX])
{
	clock_format(s->v->now_ns - s->v->settings->late_write_ns + s->former_ns, CLOCK_SECONDS,
		     text);
	return s->former_ns > 0 ? text : NULL;
}

/* When this process has written it first, by its own clock: the server's, which says when an object was
 * made, may be behind. NULL: it has not. */
static const char *written(const struct unit_pass *s, const struct obj *ours,
			   char text[CLOCK_TEXT_MAX])
{
	int64_t at_ns = ours ? stash_first_applied_ns(s->v->stash, meta_uid(ours)) : 0;
	clock_format(at_ns, CLOCK_SECONDS, text);
	return at_ns ? text : NULL;
}

static void note_since(struct unit_pass *s, const struct inventory_line *l, bool had,
		       const struct obj *live)
{
	char now[CLOCK_TEXT_MAX], begin[CLOCK_TEXT_MAX], last[CLOCK_TEXT_MAX];
	const struct obj *old = noted(s, l), *ours = unit_owns(s->unit, live) ? live : NULL;
	const char *known = old ? obj_str(old, "since") : had ? NULL : l->digest;
	clock_format(s->v->now_ns, CLOCK_SECONDS, now);
	const char *since = inventory_since(known, ours, now);
	if (cstr_eq(since, known))
		return;
	struct obj *o = obj_map();
	const char *wrote = written(s, ours, last);
	if (wrote && strcmp(since, wrote) < 0)
		since = wrote;
	bool young = left_since(s, since) > 0;
	const char *before = !known && ours ? begun(s, begin) : NULL;
	if (before && strcmp(since, before) < 0)
		since = before;
	obj_set_str(o, "since", since);
	if (had && !known && !l->uid && !live)
		obj_set_bool(o, "unconfirmed", true);
	if (young)
		obj_set_bool(o, "young", true);
	if (!obj_has(s->record, "deleted"))
		obj_set(s->record, "deleted", obj_map());
	obj_set(obj_get_mut(s->record, "deleted"), inventory_id(l, s->v->a), o);
}

static void watch_late(struct unit_pass *s, const struct former *f)
{
	struct inventory *w = &s->watched;
	bool *kept = ARENA_ARRAY(s->v->a, bool, f->lines.n + 1);
	for (size_t i = 0; i < f->n_list; i++)
		if (f->list[i].verdict == PRUNE_KEEP)
			kept[f->list[i].entry - f->was] = true;
	w->lines = ARENA_ARRAY(s->v->a, struct inventory_line, f->lines.n + 1);
	w->n = 0;
	for (size_t i = 0; i < f->lines.n; i++) {
		struct inventory_line l = f->lines.lines[i];
		const char *since = obj_str(noted(s, &l), "since");
		l.digest = since ? since : l.digest;
		if (s->job->spares && unit_owns(s->unit, f->was[i].live))
			continue; /* it stays named */
		l.uid = kept[i] ? meta_uid(f->was[i].live) : NULL;
		if (left_since(s, l.digest) > 0)
			w->lines[w->n++] = l;
	}
}

static void tell_young(struct unit_pass *s, const struct inventory_line *l)
{
	const char *text = arena_fmt(s->v->a,
				     "%s %s%s%s was deleted less than a minute after it was made: "
				     "should a late request make it again, the next run deletes it",
				     l->kind, l->ns ? l->ns : "", l->ns ? "/" : "", l->name);
	unit_tell_kept(s, text);
}

/* All that the main object waits for: so that nobody takes it for stuck. */
static void tell_late(struct unit_pass *s, const char *since)
{
	const char *done = s->job->orphans ? "let go of" : "deleted";
	obj_set(s->record, "waits",
		obj_stringf("all is %s; until %d s after %s a create that was sent by then may "
			    "still be carried out, and what it made is %s, too",
			    done, (int)(s->v->settings->late_write_ns / NS_PER_S), since, done));
}

/* A process that ends waits for what nobody has seen, and tells of the rest. One that goes on sees
 * it come; but the inventory is not deleted before. */
enum ensured unit_await_late(struct unit_pass *s)
{
	int64_t longest = 0;
	const char *until = NULL;
	for (size_t i = 0; s->job->deleting && i < s->n_pieces; i++) {
		const char *since = obj_str(s->pieces[i], "metadata.creationTimestamp");
		int64_t left = left_since(s, since);
		until = left > longest ? since : until;
		longest = left > longest ? left : longest;
	}
	for (size_t i = 0; i < s->watched.n; i++) {
		const struct inventory_line *l = &s->watched.lines[i];
		const struct obj *o = noted(s, l);
		int64_t left = left_since(s, l->digest);
		bool waits =
			s->job->deleting || (s->job->ends && obj_flag(o, "unconfirmed", false));
		plan_requeue_after(s->plan, left);
		if (waits && left > longest) {
			until = l->digest;
			longest = left;
		}
		if (!waits && s->job->ends && obj_flag(o, "young", false))
			tell_young(s, l);
	}
	if (until) /* only who waits has one */
		tell_late(s, until);
	return plan_await(s->plan, longest);
}

/* --- pruning --- */

static void load_former(const struct unit_pass *s, const struct inventory_line *l,
			struct unit_entry *e)
{
	*e = (struct unit_entry){
		.object = obj_keep(s->v->a, meta_skeleton(l->api_version, l->kind, l->ns, l->name)),
		.kind = l->kind,
		.ns = l->ns,
		.name = l->name};
}

/* An object that is another one than we made, or that somebody wants kept. */
static bool is_kept(const struct unit_pass *s, const struct inventory_line *l, bool had,
		    const struct obj *live)
{
	bool same = cstr_eq(l->uid, meta_uid(live));
	/* on the way back only that goes which was not there before */
	bool left = had ? s->back && l->uid : l->uid && same;
	return left || prune_spares(live, l->uid, s->unit->bundle, s->unit->owner_id);
}

static struct former former_of(const struct unit_pass *s)
{
	struct arena *a = s->v->a;
	struct inventory wanted = unit_wanted_lines(s);
	struct former f = {0};
	struct inventory late = {.lines = ARENA_ARRAY(a, struct inventory_line, s->late.n + 1)};
	f.lines.lines = ARENA_ARRAY(a, struct inventory_line, s->had.n + s->late.n + 1);
	f.n_had = inventory_add_missing(&f.lines, &s->had, &wanted, a);
	inventory_add_missing(&late, &s->late, &wanted, a);
	inventory_add_missing(&f.lines, &late, &f.lines, a);
	return f;
}

/* By a live read, not by an informer: it is said with uid and resourceVersion what goes. */
static enum ensured read_former(struct unit_pass *s, struct former *f)
{
	const struct prune_rules rules = {.label = LABEL_BUNDLE, .value = s->unit->bundle};
	struct arena *a = s->v->a;
	char digest[SHA256_HEX];
	struct obj *rows = obj_list();
	f->was = ARENA_ARRAY(a, struct unit_entry, f->lines.n + 1);
	for (size_t i = 0; i < f->lines.n; i++) {
		load_former(s, &f->lines.lines[i], &f->was[i]);
		unit_survey_row(rows, inventory_id(&f->lines.lines[i], a), &f->was[i]);
	}
	json_digest(rows, digest);
	f->read = arena_fmt(a, "former:%.16s", digest);
	const struct outcome *found = unit_survey(s, unit_id(s, f->read), rows, LOOK_AGAIN_NS);
	if (!found)
		return WAITING;
	for (size_t i = 0; i < f->lines.n; i++) {
		const struct inventory_line *l = &f->lines.lines[i];
		const struct obj *live = obj_get(found->value, inventory_id(l, a));
		f->was[i].live = live;
		f->was[i].keep = live && is_kept(s, l, i < f->n_had, live);
		note_since(s, l, i < f->n_had, live);
	}
	f->list = prune_list(f->was, f->lines.n, NULL, 0, &rules, a, &f->n_list);
	return DONE;
}

static bool comes_back(const struct former *f, const struct prune_item *item)
{
	return item->entry >= f->was + f->n_had;
}

static enum ensured hold(struct unit_pass *s, const struct former *f, size_t doomed)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	strbuf_addf(&b, "%zu objects would be deleted, more than %s %lld:", doomed,
		    cstr_has_prefix(s->unit->owner_id, "cli.") ? "--max-deletes"
							       : "spec.prune.maxDeletes",
		    (long long)s->job->max_deletes);
	for (size_t i = 0; i < f->n_list && b.len < 2000; i++)
		if (f->list[i].verdict == PRUNE_DELETE)
			strbuf_addf(&b, " %s", unit_entry_text(f->list[i].entry, s->v->a));
	return unit_refuse(s, "PruneHeld", arena_strdup(s->v->a, b.buf));
}

static enum ensured judge(struct unit_pass *s, const struct former *f, size_t *ret_doomed)
{
	size_t doomed = 0;
	for (size_t i = 0; i < f->n_list; i++)
		doomed += f->list[i].verdict == PRUNE_DELETE && !comes_back(f, &f->list[i]);
	*ret_doomed = doomed;
	if (!s->job->deleting && !s->back && doomed > (uint64_t)s->job->max_deletes &&
	    !obj_has(s->record, "pruned"))
		return hold(s, f, doomed);
	return DONE;
}

/* A folder that is mistyped, or not mounted, is no wish that all goes (fleet.md 3.2). */
static enum ensured refuse_empty(struct unit_pass *s)
{
	const struct inventory_line *l = &s->had.lines[0];
	return unit_refuse(s, "SourceEmpty",
			   arena_fmt(s->v->a,
				     "nothing was rendered, and %zu object%s would be deleted, %s "
				     "%s%s%s the first; if that is meant: --accept-empty",
				     s->had.n, s->had.n == 1 ? "" : "s", l->kind,
				     l->ns ? l->ns : "", l->ns ? "/" : "", l->name));
}

/* Before anything is written, where it may be too much. */
enum ensured unit_judge_prune(struct unit_pass *s)
{
	struct former f = former_of(s);
	size_t doomed;
	if (s->job->never_empty && !s->job->deleting && !s->n && s->had.n)
		return refuse_empty(s);
	if (s->job->deleting || s->job->spares || f.n_had <= (uint64_t)s->job->max_deletes)
		return DONE;
	return read_former(s, &f) == WAITING ? WAITING : judge(s, &f, &doomed);
}

/* What was deleted and is there still, the first of it that says why. */
static void tell_waiting(struct unit_pass *s, const struct former *f)
{
	const char *text = NULL;
	for (size_t i = 0; i < f->n_list && !text; i++) {
		const struct unit_entry *e = f->list[i].entry;
		const char *why = f->list[i].verdict == PRUNE_DELETING
					  ? prune_waits_for(e->live, s->v->a)
					  : NULL;
		if (why)
			text = arena_fmt(s->v->a, "deleting %s: %s", unit_entry_text(e, s->v->a),
					 why);
	}
	if (text && !obj_has(s->record, "waits"))
		obj_set_int(s->record, "waitsSinceNs", s->v->now_ns);
	if (text) {
		obj_set_str(s->record, "waits", text);
	} else {
		obj_del(s->record, "waits");
		obj_del(s->record, "waitsSinceNs");
	}
}

static enum ensured prune(struct unit_pass *s, const struct former *f)
{
	struct arena *a = s->v->a;
	size_t doomed, deletes = 0, parted = 0, waiting = 0;
	if (judge(s, f, &doomed) != DONE)
		return ENDED;
	if (doomed && !obj_has(s->record, "pruned"))
		obj_set_int(s->record, "pruned", (int64_t)doomed);
	for (size_t i = 0; i < f->n_list; i++) {
		const struct prune_item *item = &f->list[i];
		const char *text = unit_entry_text(item->entry, a);
		bool back = comes_back(f, item);
		waiting += item->verdict == PRUNE_DELETE || item->verdict == PRUNE_DELETING;
		if (item->verdict == PRUNE_KEEP && !back)
			unit_tell_kept(s, arena_fmt(a, "%s is not deleted: %s", text, item->why));
		if (item->verdict == PRUNE_KEEP)
			parted += unit_part_main(s, item->entry->live) == WAITING;
		if (item->verdict != PRUNE_DELETE)
			continue;
		if (back)
			tell(s, "returned",
			     arena_fmt(a, "%s (%s) was made anew by a late request, and is deleted",
				       text, meta_uid(item->entry->live)));
		plan_delete(s->plan, item->entry->live, "Background");
		deletes++;
	}
	tell_waiting(s, f);
	waiting += parted;
	if (deletes || parted) /* once: they are read again behind it */
		unit_forget(s, f->read);
	if (waiting)
		plan_requeue_after(s->plan, LOOK_AGAIN_NS);
	return waiting ? WAITING : DONE;
}

/* job.spares: they stay named, so that they go once they may. */
static void spare(struct unit_pass *s, const struct former *f)
{
	struct arena *a = s->v->a;
	s->spared.lines = ARENA_ARRAY(a, struct inventory_line, f->lines.n + 1);
	for (size_t i = 0; i < f->lines.n; i++) {
		if (!f->was[i].live || !unit_owns(s->unit, f->was[i].live))
			continue;
		s->spared.lines[s->spared.n++] = f->lines.lines[i];
		if (!s->back) /* where prune() has told why */
			unit_tell_kept(s, arena_fmt(a, "%s is not deleted: spec.prune.mode is None",
						    unit_entry_text(&f->was[i], a)));
	}
}

static struct obj *without_marks(void)
{
	static const char *const labels[] = {LABEL_BUNDLE, LABEL_INSTANCE};
	static const char *const annotations[] = {ANNOTATION_OWNER_ID, ANNOTATION_APPLIED,
						  ANNOTATION_INTENT, ANNOTATION_FENCE};
	struct obj *patch = obj_map(), *l = obj_map(), *a = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		obj_set(l, labels[i], obj_null());
	for (size_t i = 0; i < ARRAY_LEN(annotations); i++)
		obj_set(a, annotations[i], obj_null());
	obj_set_path(patch, "metadata.labels", l);
	obj_set_path(patch, "metadata.annotations", a);
	return patch;
}

/* job.orphans: whatever has the marks of the unit loses them, and is nobody's. */
static enum ensured orphan(struct unit_pass *s, const struct former *f)
{
	size_t marked = 0;
	for (size_t i = 0; i < f->lines.n; i++) {
		if (!f->was[i].live || meta_is_deleting(f->was[i].live) ||
		    !unit_owns(s->unit, f->was[i].live))
			continue;
		plan_patch(s->plan, f->was[i].live, without_marks());
		marked++;
	}
	if (!marked)
		return DONE;
	unit_forget(s, f->read); /* read again behind the patches */
	plan_requeue_after(s->plan, LOOK_AGAIN_NS);
	return WAITING;
}

/* What the failed unit alone has made goes in any mode, on the way back. */
static enum ensured prune_or_spare(struct unit_pass *s, const struct former *f)
{
	if (s->job->deleting)
		return s->job->orphans ? orphan(s, f) : prune(s, f);
	enum ensured state = s->job->spares && !s->back ? DONE : prune(s, f);
	if (s->job->spares && state == DONE)
		spare(s, f);
	return state;
}

enum ensured unit_prune(struct unit_pass *s)
{
	struct former f = former_of(s);
	if (!f.lines.n)
		return DONE;
	if (read_former(s, &f) == WAITING)
		return WAITING;
	watch_late(s, &f);
	return prune_or_spare(s, &f);
}
