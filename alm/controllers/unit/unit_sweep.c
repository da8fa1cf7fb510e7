/* unit_sweep: prune.mode Namespace. What is in the namespaces and nobody has declared (stray.h) is told
 * as an orphan, with since when; after its grace it is deleted, if a complete list that is young
 * has it still. More of them than may go at once: none goes, until somebody has consented to these.
 *
 * A write since that list changes the resourceVersion, which the delete names: so whoever adopts, keeps
 * or declares an orphan at the last moment has it. */
#include "alm/base/clock.h"
#include "alm/base/map.h"
#include "alm/base/visible.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/unit/prune.h"
#include "alm/unit/stray.h"

#define STRAYS   "strays" /* names the list */
#define BY_BYTES 128      /* of a field manager's name */

struct sweep {
	struct unit_pass *s;
	const struct unit_sweep *rules;
	const struct outcome *list;
	struct stray *strays;
	size_t n, total;
	const struct map *known; /* uid -> since, of the orphans told before */
	struct obj *told;        /* under construction */
	bool held;
	bool deletes; /* some, now */
	bool again;   /* the list is too old for that */
};

/* --- what is there --- */

static void look(struct unit_pass *s)
{
	struct obj *body = obj_keep(s->v->a, obj_map());
	obj_set(body, "namespaces", obj_ref(s->job->sweep->namespaces));
	plan_app_work(s->plan, &gather_work, unit_id(s, STRAYS))->body = body;
}

/* What it declares, whoever applied that, what its inventory has, and what may come back. */
static struct inventory lines_of(const struct unit_pass *s)
{
	const struct inventory *const books[] = {&s->had, &s->late};
	struct inventory all = {.lines = ARENA_ARRAY(s->v->a, struct inventory_line,
						     s->n + s->had.n + s->late.n + 1)};
	for (size_t i = 0; i < s->n; i++)
		all.lines[all.n++] = (struct inventory_line){
			.api_version = meta_api_version(s->entries[i].object),
			.kind = s->entries[i].kind,
			.ns = s->entries[i].ns,
			.name = s->entries[i].name,
			.uid = meta_uid(unit_found(s, i))};
	for (size_t k = 0; k < ARRAY_LEN(books); k++)
		for (size_t i = 0; i < books[k]->n; i++)
			all.lines[all.n++] = books[k]->lines[i];
	return all;
}

/* uid -> since, in the arena. */
static struct map *sinces_of(const struct obj *list, struct arena *a)
{
	struct map *m = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		const char *uid = obj_str(o, "uid"), *since = obj_str(o, "since");
		if (uid && since)
			map_set(m, uid, arena_strdup(a, since));
	}
	return m;
}

/* --- when it goes --- */

static const char *text_of(int64_t ns, struct arena *a)
{
	char text[CLOCK_TEXT_MAX];
	clock_format(ns, CLOCK_SECONDS, text);
	return arena_strdup(a, text);
}

/* What a former process told before its clock was set back is no time that has not come yet. */
static int64_t since_of(const struct sweep *x, const struct stray *t)
{
	int64_t at, now = x->s->v->now_ns;
	const char *text = map_get(x->known, meta_uid(t->row));
	return text && clock_parse(str_of(text), &at) && at < now ? at : now;
}

static int64_t left_of(const struct sweep *x, const struct stray *t, int64_t since_ns)
{
	const struct view *v = x->s->v;
	int64_t grace = x->rules->grace_ns;
	/* another grace, or another time since when, is another deadline: nothing of the former one holds */
	const char *id = arena_fmt(v->a, "unit:%s:orphan:%s:%lld:%lld", x->s->key, meta_uid(t->row),
				   (long long)grace, (long long)(since_ns / NS_PER_S));
	return grace > 0 ? v->ops->left(v->ops_arg, id, grace, since_ns + grace - v->now_ns) : 0;
}

/* --- what is told and done --- */

static const char *refusal(const struct sweep *x, const struct stray *t)
{
	const struct outcome *no = view_refusal(x->s->v, t->row, meta_namespace(t->row));
	return no && no->code && no->code != E_CONFLICT && no->code != E_NOTFOUND ? no->msg : NULL;
}

static const struct delete_entry ends = {"OrphanDeleted", "OrphanDeleteRefused",
					 "OrphanDeleteUnknown"};

static void delete_it(struct sweep *x, const struct stray *t, const struct obj *orphan)
{
	struct obj *body = obj_map();
	obj_set(body, "what",
		obj_stringf("%s %s/%s was not declared since %s", meta_kind(t->row),
			    meta_namespace(t->row), meta_name(t->row), obj_str(orphan, "since")));
	obj_set_str(body, "bundle", x->s->unit->bundle);
	obj_set_str(body, "by", obj_str(orphan, "by"));
	if (!x->deletes) /* it is listed again whatever becomes of the deletes */
		unit_forget(x->s, STRAYS);
	x->deletes = true;
	struct action *gone = plan_delete(x->s->plan, t->row, "Background");
	gone->ends = &ends;
	gone->body = obj_keep(x->s->v->a, body);
}

/* Its time has come: it goes, if what is known of it is young. */
static void end_of(struct sweep *x, const struct stray *t, struct obj *orphan)
{
	const char *no = refusal(x, t);
	if (no)
		obj_set(orphan, "message",
			obj_stringf("it could not be deleted: %s", visible_text(x->s->v->a, no)));
	if (no && outcome_retry_in(view_refusal(x->s->v, t->row, meta_namespace(t->row)),
				   x->s->v->now_ns) > 0)
		return;
	if (outcome_is_younger(x->list, x->s->v->now_ns, SURVEY_AGE_NS))
		delete_it(x, t, orphan);
	else
		x->again = true;
}

static struct obj *orphan_new(const struct stray *t, const char *since, struct arena *a)
{
	struct obj *o = obj_map();
	struct str by = str_clip(str_of(obj_str(t->row, "by")), BY_BYTES);
	obj_set_str(o, "apiVersion", meta_api_version(t->row));
	obj_set_str(o, "kind", meta_kind(t->row));
	obj_set_str(o, "namespace", meta_namespace(t->row));
	obj_set_str(o, "name", meta_name(t->row));
	obj_set_str(o, "uid", meta_uid(t->row));
	obj_set_str(o, "by", visible_text(a, arena_strndup(a, by.ptr, by.len)));
	obj_set_str(o, "since", since);
	return o;
}

static void tell(struct sweep *x, const struct stray *t)
{
	struct arena *a = x->s->v->a;
	int64_t since = since_of(x, t);
	struct obj *o = orphan_new(t, text_of(since, a), a);
	obj_append(x->told, o);
	if (t->deleting) {
		const char *why = prune_waits_for(t->row, a);
		obj_set_str(o, "message",
			    why ? arena_fmt(a, "being deleted: %s", why) : "being deleted");
		return;
	}
	int64_t left = left_of(x, t, since);
	if (x->held)
		return;
	obj_set_str(o, "deleteAt", text_of(since + x->rules->grace_ns, a));
	if (plan_await(x->s->plan, left) == DONE)
		end_of(x, t, o);
}

/* More than may go at once, and nobody has consented to these. */
static bool is_held(const struct sweep *x, const char *digest, size_t *ret_doomed)
{
	*ret_doomed = x->total - x->n;
	for (size_t i = 0; i < x->n; i++)
		*ret_doomed += !x->strays[i].deleting;
	return *ret_doomed > (uint64_t)x->rules->max_deletes &&
	       !cstr_eq(x->rules->approved, digest);
}

static void set_or_del(struct obj *o, const char *field, const char *text)
{
	if (text)
		obj_set_str(o, field, text);
	else
		obj_del(o, field);
}

static void judge(struct sweep *x)
{
	struct unit_pass *s = x->s;
	const struct inventory lines = lines_of(s);
	char digest[SHA256_HEX];
	size_t doomed;
	x->strays =
		stray_list(x->list->value, &lines, s->unit->owner_id, s->v->a, &x->n, &x->total);
	stray_digest(x->strays, x->n, digest);
	x->held = is_held(x, digest, &doomed);
	const struct obj *own = obj_get(s->record, "orphans");
	CLEANUP(map_freep) struct map *known = sinces_of(own ? own : x->rules->known, s->v->a);
	x->known = known;
	x->told = obj_list();
	for (size_t i = 0; i < x->n; i++)
		tell(x, &x->strays[i]);
	x->known = NULL;
	obj_set(s->record, "orphans", x->told);
	obj_set_int(s->record, "orphanCount", (int64_t)x->total);
	set_or_del(s->record, "orphansDigest", x->held ? digest : NULL);
	set_or_del(
		s->record, "orphansHeld",
		x->held ? arena_fmt(
				  s->v->a,
				  "%zu objects that nobody has declared would be deleted, more "
				  "than spec.prune.maxDeletes %lld; the first: %s; status.orphans "
				  "has them",
				  doomed, (long long)x->rules->max_deletes,
				  visible_text(s->v->a, x->strays[0].id))
			: NULL);
}

void unit_sweep(struct unit_pass *s)
{
	int64_t now = s->v->now_ns, interval = s->job->sweep->interval_ns;
	struct sweep x = {
		.s = s, .rules = s->job->sweep, .list = view_outcome(s->v, unit_id(s, STRAYS))};
	bool young = x.list && outcome_is_younger(x.list, now, interval);
	if (x.list)
		set_or_del(s->record, "orphansUnknown",
			   x.list->code ? visible_text(s->v->a, x.list->msg) : NULL);
	if (young && !x.list->code)
		judge(&x);
	if (!young || x.again)
		look(s);
	else
		plan_requeue_after(s->plan, interval - (now - x.list->at_ns));
}
