/* Rollback to the unit that succeeded before (fleet.md 4.6). It is stored beside the inventory, so
 * whoever runs the next attempt finds it: the unit that is begun goes into one slot before its first
 * write, that which succeeded stays in the other. The Secrets go with the inventory. */
#include <string.h>

#include "alm/base/str.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/controllers/unit/unit_store.h"
#include "alm/controllers/work/shared.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

/* --- names --- */

struct unit_stored unit_stored_parse(const char *text, struct arena *a)
{
	struct str digest, slot, rest;
	if (!text)
		return (struct unit_stored){0};
	(void)str_cut(str_of(text), '.', &digest, &rest);
	bool has_run = str_cut(rest, '.', &slot, &rest);
	return (struct unit_stored){.text = text,
				    .digest = arena_strndup(a, digest.ptr, digest.len),
				    .slot = slot.len ? arena_strndup(a, slot.ptr, slot.len) : "-",
				    .run = has_run ? arena_strndup(a, rest.ptr, rest.len) : NULL};
}

static bool is_kept_secret(const struct unit_entry *e)
{
	return !cstr_eq(e->kind, "Secret") || (e->live && unit_holds_object(e->live, e->object));
}

/* The digest of a unit says nothing of the values of its Secrets. */
static bool has_other_secrets(const struct unit_pass *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!is_kept_secret(&s->entries[i]))
			return true;
	return false;
}

const char *unit_stored_as(const struct unit_pass *s)
{
	const char *digest = s->unit->digest, *run = obj_str(s->record, "run");
	bool same = cstr_eq(s->succeeded.digest, digest),
	     begun = cstr_eq(s->current.digest, digest);
	if (s->back)
		return s->succeeded.text;
	if (begun && s->current.run && cstr_eq(s->current.run, run))
		return s->current.text;
	bool other = same && s->unit->goes_back && has_other_secrets(s);
	if (same && !other && cstr_eq(s->current.text, s->succeeded.text))
		return s->succeeded.text; /* nothing else was begun since */
	if (!s->unit->goes_back)
		return arena_fmt(s->v->a, "%s.-", digest);
	return arena_fmt(s->v->a, "%s.%s%s%s", digest, cstr_eq(s->succeeded.slot, "0") ? "1" : "0",
			 other ? "." : "", other ? run : "");
}

static const char *prefix_of(const struct unit_pass *s, const char *slot)
{
	return arena_fmt(s->v->a, "unit.%s.%s.%s", s->unit->bundle, s->unit->instance, slot);
}

/* --- there --- */

enum ensured unit_store(struct unit_pass *s, int stage)
{
	struct unit_stored as = unit_stored_parse(unit_stored_as(s), s->v->a);
	if (cstr_eq(as.slot, "-") || cstr_eq(as.text, s->succeeded.text) ||
	    cstr_eq(as.text, s->current.text))
		return DONE;
	struct obj *chunks =
		store_split(s->unit->doc, s->job->inventory_ns, prefix_of(s, as.slot), NULL);
	if (!chunks)
		return unit_refuse(s, "UnitTooLarge",
				   "the unit is too large to be stored for a rollback: make "
				   "several of it, or say rollback.onFailure: None");
	obj_keep(s->v->a, chunks);
	for (size_t i = 0; i < obj_len(chunks); i++) {
		struct obj *o = obj_ref(obj_at_mut(chunks, i));
		unit_own_book(s, o);
		unit_write_book(s, o, stage);
	}
	return WAITING;
}

/* --- and back --- */

enum ensured unit_turn_back(struct unit_pass *s, const char *reason, const char *message)
{
	struct arena *a = s->v->a;
	bool asked = !s->back && s->unit->goes_back && !s->job->deleting;
	bool same = cstr_eq(s->succeeded.digest, s->unit->digest);
	if (!asked || same)
		return unit_fail(s, reason, message);
	if (!s->succeeded.digest || cstr_eq(s->succeeded.slot, "-"))
		return unit_fail(s, reason,
				 arena_fmt(a,
					   "%s; not rolled back: no unit is stored that "
					   "succeeded before",
					   message));
	struct obj *back = obj_map();
	obj_set_str(s->record, "state", "RollingBack");
	obj_set_str(s->record, "reason", reason);
	obj_set_str(s->record, "message", message);
	obj_set(back, "run", obj_stringf("%s-back", obj_str(s->record, "run")));
	obj_set_str(back, "digest", s->succeeded.digest);
	obj_set_str(back, "slot", s->succeeded.slot);
	obj_set(back, "steps", obj_map());
	obj_set(back, "hooks", obj_list());
	obj_set(s->record, "back", back);
	return ENDED; /* the record brings the key back */
}

static struct unit_entry chunk(const struct unit_pass *s, const char *name)
{
	const char *ns = s->job->inventory_ns;
	struct obj *o = obj_keep(s->v->a, meta_skeleton("v1", "Secret", ns, name));
	return (struct unit_entry){.object = o, .kind = "Secret", .ns = ns, .name = name};
}

/* The first n Secrets of the slot, by their names. */
static const struct obj *read_chunks(struct unit_pass *s, const char *prefix, size_t n)
{
	struct obj *rows = obj_list();
	for (size_t i = 0; i < n; i++) {
		const char *name = store_name(prefix, i, s->v->a);
		struct unit_entry e = chunk(s, name);
		unit_survey_row(rows, name, &e);
	}
	const char *id = unit_id(s, arena_fmt(s->v->a, "stored:%zu", n));
	const struct outcome *o = unit_survey(s, id, rows, 0);
	return o ? o->value : NULL;
}

static struct obj *of_items(const struct store_source *s, const char *name)
{
	const struct obj *o = obj_get(s->items, name);
	return o ? obj_ref(o) : NULL;
}

/* DONE: *ret is the document, NULL: it is gone, or not this unit's. */
static enum ensured read_document(struct unit_pass *s, const struct obj **ret)
{
	const char *prefix = prefix_of(s, obj_str(s->course, "slot"));
	const struct obj *items = read_chunks(s, prefix, 1);
	uint64_t n = 1;
	if (!items)
		return WAITING;
	const struct obj *first = obj_get(items, store_name(prefix, 0, s->v->a));
	(void)str_parse_u64(str_of(meta_annotation(first, ANNOTATION_CHUNKS)), &n);
	if (n <= STORE_CHUNKS_MAX)
		items = read_chunks(s, prefix, n);
	if (!items)
		return WAITING;
	const struct store_source source = {
		.get = of_items, .items = items, .cache = s->v->shared->plans, .a = s->v->a};
	*ret = store_join(&source, prefix, NULL);
	return DONE;
}

enum ensured unit_find_former(struct unit_pass *s)
{
	const struct obj *doc = NULL;
	struct unit *former = NULL;
	struct error err = ERROR_INIT;
	if (read_document(s, &doc) == WAITING)
		return WAITING;
	if (!doc)
		return unit_fail(s, NULL, "the Secrets with the former unit are gone or damaged");
	if (unit_load(doc, s->v->a, &former, &err) < 0)
		return unit_fail(s, NULL, arena_strdup(s->v->a, err.msg));
	if (!cstr_eq(former->digest, obj_str(s->course, "digest")) ||
	    !cstr_eq(former->owner_id, s->unit->owner_id))
		return unit_fail(s, NULL, "the Secrets hold another unit than the one before");
	plan_hide(s->plan, former->doc);
	s->unit = former;
	return DONE;
}

void unit_end_back(struct unit_pass *s)
{
	obj_set_str(s->record, "state", "RolledBack");
	obj_set(s->record, "message",
		obj_stringf("%s; the unit before runs again", obj_str(s->record, "message")));
}
