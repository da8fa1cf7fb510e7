/* The inventory of a unit on its cluster: it names everything before that is written, and nothing
 * more once the rest is gone. */
#include <string.h>

#include "alm/controllers/unit/unit_pass.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

/* Of the ConfigMap, before the objects, and of the Secrets with the unit, before that. */
#define STAGE_INVENTORY (-1)
#define STAGE_UNIT      (-2)

struct content {
	struct inventory lines, late;
	const char *unit, *succeeded; /* what it says of them; NULL: nothing */
};

static bool has(const struct unit_pass *s, const char *key, struct str text)
{
	const char *was = obj_str(obj_get(s->inventory, "data"), key);
	return str_eq(str_of(was ? was : ""), text);
}

static enum ensured write_inventory(struct unit_pass *s, struct content *c)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(INVENTORY_BYTES_MAX * 2);
	struct error err = ERROR_INIT;
	const struct unit *u = s->unit;
	int r = inventory_print(&c->lines, &b, &err);
	size_t n = b.len;
	if (r < 0 || inventory_print(&c->late, &b, &err) < 0)
		return unit_refuse(s, "InventoryTooLarge", arena_strdup(s->v->a, err.msg));
	struct str lines = str_clip(strbuf_str(&b), n), late = str_skip(strbuf_str(&b), n);
	/* a run that ends leaves it to the next write to forget what can come no more */
	bool known = has(s, "late", late) || (s->job->ends && !late.len);
	bool marked = meta_annotation(s->inventory, ANNOTATION_INCOMPLETE) != NULL;
	if (s->inventory && has(s, "objects", lines) && known && marked == s->incomplete &&
	    cstr_eq(s->current.text, c->unit) && cstr_eq(s->succeeded.text, c->succeeded))
		return DONE;
	if (!obj_has(s->found, "namespace") && !s->inventory)
		unit_create_book(s, meta_skeleton("v1", "Namespace", NULL, s->job->inventory_ns));
	struct obj *o = meta_skeleton("v1", "ConfigMap", s->job->inventory_ns,
				      arena_fmt(s->v->a, "inv.%s.%s", u->bundle, u->instance));
	meta_set_label(o, LABEL_BUNDLE, u->bundle);
	meta_set_label(o, LABEL_INSTANCE, u->instance);
	meta_set_annotation(o, ANNOTATION_OWNER_ID, u->owner_id);
	meta_set_annotation(o, "app.coreos.com/identity", meta_uid(obj_get(s->found, "system")));
	meta_set_annotation(o, ANNOTATION_UNIT, c->unit);
	meta_set_annotation(o, ANNOTATION_APPLIED, c->succeeded);
	if (s->incomplete)
		meta_set_annotation(o, ANNOTATION_INCOMPLETE, "true");
	struct obj *data = obj_map();
	obj_set(data, "objects", obj_stringn(lines));
	if (late.len)
		obj_set(data, "late", obj_stringn(late));
	obj_set(o, "data", data);
	/* two sides that run at once do not write over what the other has noted */
	if (s->inventory)
		plan_over(s->plan, unit_write_book(s, o, STAGE_INVENTORY), s->inventory);
	else
		unit_create_book(s, o);
	return WAITING;
}

/* --- rebuilding --- */

static void tell_lost(struct unit_pass *s, const char *why)
{
	const struct unit *u = s->unit;
	unit_tell_kept(s, arena_fmt(s->v->a,
				    "inventory %s/inv.%s.%s was lost, and is not rebuilt: %s; what "
				    "it named beside the objects of this run is not deleted; its "
				    "labels: " LABEL_BUNDLE "=%s," LABEL_INSTANCE "=%s",
				    s->job->inventory_ns, u->bundle, u->instance, why, u->bundle,
				    u->instance));
}

static bool is_lost(const struct unit_pass *s)
{
	bool marked = s->job->deleting;
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
	size_t n = obj_len(rows);
	struct inventory found = {.lines = ARENA_ARRAY(a, struct inventory_line, n + 1)}, all = {0};
	for (size_t i = 0; i < n; i++) {
		const struct obj *o = obj_at(rows, i);
		if (inventory_claims(o, s->unit->owner_id, s->plan->manager))
			found.lines[found.n++] =
				(struct inventory_line){.api_version = meta_api_version(o),
							.kind = meta_kind(o),
							.ns = meta_namespace(o),
							.name = meta_name(o),
							.uid = meta_uid(o),
							.digest = "-",
							.key = "-"};
	}
	all.lines = ARENA_ARRAY(a, struct inventory_line, s->had.n + found.n + 1);
	(void)inventory_add_missing(&all, &s->had, &(struct inventory){0}, a);
	(void)inventory_add_missing(&all, &found, &s->had, a);
	s->had = all;
}

enum ensured unit_rebuild(struct unit_pass *s)
{
	const struct unit *u = s->unit;
	const char *id = unit_id(s, "marked");
	const struct outcome *o = view_outcome(s->v, id);
	if (!is_lost(s) || s->back)
		return DONE;
	bool stays =
		o && o->code && (error_retry(o->code) == RETRY_NEVER || o->code == E_FORBIDDEN);
	bool waits = s->job->deleting && o && o->code && !stays;
	if (waits && plan_await(s->plan, outcome_retry_in(o, s->v->now_ns)) != DONE)
		return WAITING;
	if (!o || waits) {
		struct obj *body = obj_keep(s->v->a, obj_map());
		obj_set_str(body, "selector",
			    arena_fmt(s->v->a, LABEL_BUNDLE "=%s," LABEL_INSTANCE "=%s", u->bundle,
				      u->instance));
		plan_work(s->plan, &gather_work, id)->body = body;
		return WAITING;
	}
	if (!o->code)
		take_marked(s, o->value);
	else
		tell_lost(s, o->msg);
	s->incomplete = o->code && !stays; /* the next attempt asks again */
	return DONE;
}

/* --- its two states --- */

enum ensured unit_note(struct unit_pass *s)
{
	struct inventory wanted = unit_wanted_lines(s);
	struct content c = {.late = s->late, .succeeded = s->succeeded.text};
	c.lines.lines = ARENA_ARRAY(s->v->a, struct inventory_line, wanted.n + s->had.n + 1);
	memcpy(c.lines.lines, s->had.lines, s->had.n * sizeof(*s->had.lines));
	c.lines.n = s->had.n;
	if (s->job->deleting)
		return DONE;
	c.unit = unit_stored_as(s);
	size_t added = inventory_add_missing(&c.lines, &wanted, &s->had, s->v->a);
	if (s->inventory && !added && cstr_eq(s->current.text, c.unit))
		return DONE;
	if (!s->inventory) {
		c.unit = c.succeeded = NULL; /* the Secrets are its own */
		return write_inventory(s, &c);
	}
	if (unit_store(s, STAGE_UNIT) == ENDED)
		return ENDED;
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
