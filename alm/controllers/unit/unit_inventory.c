/* The inventory of a unit on its cluster: it names everything before that is written, and nothing
 * more once the rest is gone. */
#include <string.h>

#include "alm/controllers/unit/unit_canary.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

/* Of the ConfigMap, before the objects, and of the Secrets with the unit, before that. */
#define STAGE_INVENTORY (-1)
#define STAGE_UNIT      (-2)

struct content {
	struct inventory lines, late;
	const char *unit, *succeeded; /* what it says of them; NULL: nothing */
	bool stores;                  /* the unit, beside it */
};

/* The first ConfigMap. */
struct head {
	struct str lines, late;
	const char *unit, *succeeded;
	size_t n; /* of all */
	bool incomplete;
};

static bool is_marked(const struct unit_pass *s)
{
	return inventory_is_incomplete(s->inventory);
}

/* What it is run for; gone, what was said of it. */
static const char *main_of(const struct unit_pass *s)
{
	const struct obj *m = s->job->main;
	if (!s->job->watched || !m)
		return meta_annotation(s->inventory, ANNOTATION_MAIN);
	return inventory_main(meta_api_version(m), meta_kind(m), meta_namespace(m), meta_name(m),
			      s->v->a);
}

static bool is_written(const struct unit_pass *s, const struct head *h)
{
	return unit_piece_has(s, 1, h->lines, h->late) && is_marked(s) == h->incomplete &&
	       s->n_counted == h->n && cstr_eq(s->current.text, h->unit) &&
	       cstr_eq(s->succeeded.text, h->succeeded) &&
	       cstr_eq(meta_annotation(s->inventory, ANNOTATION_MAIN), main_of(s));
}

static void write_head(struct unit_pass *s, const struct head *h)
{
	struct obj *o = unit_piece_new(s, 1, h->lines, h->late);
	meta_set_annotation(o, "app.coreos.com/identity", meta_uid(obj_get(s->found, "system")));
	meta_set_annotation(o, ANNOTATION_UNIT, h->unit);
	meta_set_annotation(o, ANNOTATION_APPLIED, h->succeeded);
	if (main_of(s))
		meta_set_annotation(o, ANNOTATION_MAIN, main_of(s));
	if (h->incomplete || is_marked(s))
		meta_set_annotation(o, ANNOTATION_INCOMPLETE, h->incomplete ? "true" : "false");
	if (h->n > 1)
		meta_set_annotation(o, ANNOTATION_PIECES, arena_fmt(s->v->a, "%zu", h->n));
	/* two sides that run at once do not write over what the other has noted */
	if (s->inventory)
		plan_over(s->plan, unit_write_book(s, o, STAGE_INVENTORY), s->inventory);
	else
		unit_create_book(s, o);
}

/* That a piece is lost is noted before another one takes its place. */
static enum ensured note_loss(struct unit_pass *s)
{
	const struct obj *data = obj_get(s->inventory, "data");
	const char *lines = obj_str(data, "objects"), *late = obj_str(data, "late");
	const struct head h = {.lines = str_of(lines ? lines : ""),
			       .late = str_of(late ? late : ""),
			       .unit = s->current.text,
			       .succeeded = s->succeeded.text,
			       .n = s->n_counted,
			       .incomplete = true};
	write_head(s, &h);
	return WAITING;
}

static enum ensured write_first(struct unit_pass *s, const struct content *c,
				const struct inventory_pieces *now)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(INVENTORY_BYTES_MAX * 2);
	struct head h = {.unit = c->unit,
			 .succeeded = c->succeeded,
			 .n = s->inventory ? now->n : 1,
			 .incomplete = s->incomplete};
	inventory_print(&now->lines, 1, &b);
	size_t n = b.len;
	inventory_print(&now->late, 1, &b);
	h.lines = str_clip(strbuf_str(&b), n);
	h.late = str_skip(strbuf_str(&b), n);
	if (s->inventory && is_written(s, &h))
		return DONE;
	if (c->stores && unit_store(s, STAGE_UNIT) == ENDED)
		return ENDED;
	if (!obj_has(s->found, "namespace") && !s->inventory)
		unit_create_book(s, meta_skeleton("v1", "Namespace", NULL, s->job->inventory_ns));
	write_head(s, &h);
	return WAITING;
}

static enum ensured write_inventory(struct unit_pass *s, const struct content *c)
{
	struct error err = ERROR_INIT;
	const struct inventory_pieces was = {.lines = s->had, .late = s->late, .n = s->n_pieces};
	struct inventory_pieces now = {.lines = c->lines, .late = c->late};
	size_t bytes = s->job->inventory_bytes ? s->job->inventory_bytes : INVENTORY_BYTES_MAX;
	if (s->lost_piece && !is_marked(s))
		return note_loss(s);
	if (inventory_place(&now, &was, bytes, s->v->a, &err) < 0)
		return unit_refuse(s, "InventoryTooLarge", arena_strdup(s->v->a, err.msg));
	if (s->inventory && unit_write_pieces(s, &now) != DONE)
		return WAITING;
	return write_first(s, c, &now);
}

/* --- rebuilding --- */

/* Of all that may have the marks of the unit. */
static const char *marked_selector(const struct unit_pass *s)
{
	const struct unit *u = s->unit;
	if (s->v->shared->units->whole)
		return arena_fmt(s->v->a, LABEL_BUNDLE "=%s", u->bundle);
	return arena_fmt(s->v->a, LABEL_BUNDLE "=%s," LABEL_INSTANCE "=%s", u->bundle, u->instance);
}

static void tell_lost(struct unit_pass *s, const char *why)
{
	const struct unit *u = s->unit;
	unit_tell_kept(s, arena_fmt(s->v->a,
				    "inventory %s/inv.%s.%s was lost, and is not rebuilt: %s; what "
				    "it named beside the objects of this run is not deleted; its "
				    "labels: %s",
				    s->job->inventory_ns, u->bundle, u->instance, why,
				    marked_selector(s)));
}

static bool is_lost(const struct unit_pass *s)
{
	bool marked = s->job->deleting && !s->job->made_nothing;
	if (s->inventory)
		return s->incomplete;
	for (size_t i = 0; i < s->n; i++)
		marked = marked || unit_owns(s->unit, unit_found(s, i));
	return marked && !obj_has(s->record, "forgotten");
}

/* Lines of what has the marks of the unit go behind those that are known. */
static void take_marked(struct unit_pass *s, const struct obj *rows)
{
	struct arena *a = s->v->a;
	const struct inventory_owner owner = {.id = s->unit->owner_id,
					      .manager = s->plan->manager,
					      .main = meta_uid(s->job->main),
					      .book_ns = s->job->inventory_ns,
					      .book = unit_piece_name(s, 1)};
	const struct inventory found = inventory_found(rows, &owner, a);
	struct inventory all = {
		.lines = ARENA_ARRAY(a, struct inventory_line, s->had.n + found.n + 1)};
	(void)inventory_add_missing(&all, &s->had, &(struct inventory){0}, a);
	(void)inventory_add_missing(&all, &found, &s->had, a);
	s->had = all;
}

static void ask_marked(struct unit_pass *s, const char *id)
{
	struct obj *body = obj_keep(s->v->a, obj_map());
	obj_set_str(body, "selector", marked_selector(s));
	plan_work(s->plan, &gather_work, id)->body = body;
}

/* A kind that cannot be listed: it will not be otherwise by itself. */
static bool is_denied(const struct outcome *o)
{
	return o && o->code && (error_retry(o->code) == RETRY_NEVER || o->code == E_FORBIDDEN);
}

void unit_restore(struct unit_pass *s)
{
	const char *id = unit_id(s, "marked");
	const struct outcome *o = view_outcome(s->v, id);
	if (!s->incomplete || s->job->deleting || obj_has(s->record, "restored") || is_denied(o))
		return;
	if (o && !o->code)
		obj_set_bool(s->record, "restored", true);
	else if (!o || plan_await(s->plan, outcome_retry_in(o, s->v->now_ns)) == DONE)
		ask_marked(s, id);
}

enum ensured unit_rebuild(struct unit_pass *s)
{
	const char *id = unit_id(s, "marked");
	const struct outcome *o = view_outcome(s->v, id);
	if (!is_lost(s) || s->back)
		return DONE;
	bool stays = is_denied(o);
	bool waits = s->job->deleting && o && o->code && !stays;
	if (waits)
		obj_set(s->record, "message",
			obj_stringf("what is to be deleted is not known yet: %s", o->msg));
	if (waits && plan_await(s->plan, outcome_retry_in(o, s->v->now_ns)) != DONE)
		return WAITING;
	if (!o || waits) {
		ask_marked(s, id);
		return WAITING;
	}
	if (s->job->deleting)
		obj_del(s->record, "message");
	if (!o->code)
		take_marked(s, o->value);
	else
		tell_lost(s, o->msg);
	s->incomplete = o->code && !stays; /* it is asked again: unit_restore() */
	return DONE;
}

/* --- its two states --- */

/* They are wanted for a while only: what is left of them is pruned. */
static bool note_canaries(const struct unit_pass *s, struct inventory *to)
{
	struct inventory made = {.lines = ARENA_ARRAY(s->v->a, struct inventory_line, s->n + 1)};
	unit_canary_lines(s, &made);
	return !s->job->deleting && inventory_add_missing(to, &made, to, s->v->a) > 0;
}

enum ensured unit_note(struct unit_pass *s)
{
	struct inventory wanted = unit_wanted_lines(s);
	struct content c = {.late = s->late, .succeeded = s->succeeded.text};
	c.lines.lines = ARENA_ARRAY(s->v->a, struct inventory_line, wanted.n + s->had.n + s->n + 1);
	const struct inventory_run run = {obj_str(s->course, "run"), !s->job->spares || s->back};
	bool changed = inventory_begin(&c.lines, &s->had, &wanted, &run, s->v->a);
	unit_note_doubtful(s, &wanted);
	changed = note_canaries(s, &c.lines) || changed;
	if (s->job->deleting && (!s->inventory || s->job->orphans))
		return DONE;
	c.unit = s->job->deleting ? s->current.text : unit_stored_as(s);
	bool whole = s->inventory && s->n_counted == s->n_pieces && !s->lost_piece;
	if (whole && !changed && cstr_eq(s->current.text, c.unit))
		return DONE;
	c.stores = s->inventory && !s->job->deleting; /* the Secrets are its own */
	if (!s->inventory)
		c.unit = c.succeeded = NULL;
	return write_inventory(s, &c);
}

enum ensured unit_note_late(struct unit_pass *s)
{
	struct content c = {
		.late = s->watched, .unit = s->current.text, .succeeded = s->succeeded.text};
	size_t n = s->had.n + s->spared.n;
	c.lines.lines = ARENA_ARRAY(s->v->a, struct inventory_line, n + 1);
	(void)inventory_add_missing(&c.lines, &s->had, &(struct inventory){0}, s->v->a);
	(void)inventory_add_missing(&c.lines, &s->spared, &s->had, s->v->a);
	return write_inventory(s, &c);
}

/* Those that are pruned stay named until they are gone. */
enum ensured unit_note_end(struct unit_pass *s)
{
	struct content c = {.lines = unit_wanted_lines(s), .late = s->watched};
	for (size_t i = 0; i < s->spared.n; i++)
		c.lines.lines[c.lines.n++] = s->spared.lines[i];
	c.unit = c.succeeded = arena_fmt(s->v->a, "%s.%s", s->current.digest, s->current.slot);
	if (!s->job->deleting) {
		enum ensured state = write_inventory(s, &c);
		return state == DONE ? unit_await_late(s) : state;
	}
	if (unit_await_late(s) != DONE)
		return WAITING;
	if (!s->inventory)
		return DONE;
	obj_set_bool(s->record, "forgotten", true);
	if (!meta_is_deleting(s->inventory))
		unit_delete_book(s, s->inventory);
	return WAITING;
}
