/* The inventory of a unit on its cluster: it names everything before that is written, and nothing
 * more once the rest is gone. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/map.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/meta.h"
#include "alm/unit/prune.h"
#include "crds/marks.h"

#define LOOK_AGAIN_NS NS_PER_S
#define KEPT_TOLD_MAX 100
#define STAGE_FIRST   (-1) /* of the ConfigMap: before the objects */

/* --- lines --- */

/* What only steps name that delete it is not wanted; what is there and somebody else's is ours when
 * it is taken over, and no more when it is left as it is. */
static void mark_wanted(const struct unit_pass *s, const struct unit_step *step, bool *wanted)
{
	for (size_t k = 0; k < step->n; k++) {
		size_t row = step->rows[k];
		enum rollout_action action = unit_action(step, &s->entries[row]);
		if (action == ACTION_CREATE_OR_UPDATE ||
		    (action != ACTION_DELETE_IF_EXIST && !s->foreign[row]))
			wanted[row] = true;
	}
}

static bool *wanted_rows(const struct unit_pass *s)
{
	bool *wanted = ARENA_ARRAY(s->v->a, bool, s->n + 1);
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < s->unit->parts[p].n; g++)
			for (size_t i = 0; i < s->unit->parts[p].groups[g].n; i++)
				mark_wanted(s, &s->unit->parts[p].groups[g].steps[i], wanted);
	return wanted;
}

static struct inventory wanted_lines(const struct unit_pass *s)
{
	const struct obj *rows = obj_get(s->unit->doc, "objects");
	struct inventory i = {
		.lines = ARENA_ARRAY(s->v->a, struct inventory_line, s->n + s->had.n + 1)};
	const bool *wanted = wanted_rows(s);
	for (size_t k = 0; k < s->n; k++) {
		const struct unit_entry *e = &s->entries[k];
		if (!wanted[k])
			continue;
		i.lines[i.n++] = (struct inventory_line){.api_version = meta_api_version(e->object),
							 .kind = e->kind,
							 .ns = e->ns,
							 .name = e->name,
							 .uid = meta_uid(e->live),
							 .digest = e->digest,
							 .key = obj_str(obj_at(rows, k), "key")};
	}
	return i;
}

static const char *line_id(const struct unit_pass *s, const struct inventory_line *l)
{
	return arena_fmt(s->v->a, "%s/%s/%s", l->kind, l->ns ? l->ns : "", l->name);
}

static struct map *ids_of(const struct unit_pass *s, const struct inventory *i)
{
	struct map *ids = map_new(NULL);
	for (size_t k = 0; k < i->n; k++)
		map_set(ids, line_id(s, &i->lines[k]), NULL);
	return ids;
}

/* Lines of a that b does not have go behind those of *to. Returns how many. */
static size_t add_missing(const struct unit_pass *s, const struct inventory *a,
			  const struct inventory *b, struct inventory *to)
{
	struct map *ids = ids_of(s, b);
	size_t n = 0;
	for (size_t k = 0; k < a->n; k++)
		if (!map_has(ids, line_id(s, &a->lines[k]))) {
			to->lines[to->n++] = a->lines[k];
			n++;
		}
	map_free(ids);
	return n;
}

/* --- the ConfigMap --- */

static enum ensured write_inventory(struct unit_pass *s, struct inventory *lines,
				    const char *digest)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(INVENTORY_BYTES_MAX * 2);
	struct error err = ERROR_INIT;
	const struct unit *u = s->unit;
	if (inventory_print(lines, &text, &err) < 0)
		return unit_refuse(s, "InventoryTooLarge", arena_strdup(s->v->a, err.msg));
	const char *was = obj_str(obj_get(s->inventory, "data"), "objects");
	if (s->inventory && cstr_eq(was ? was : "", text.buf) &&
	    cstr_eq(meta_annotation(s->inventory, ANNOTATION_APPLIED), digest))
		return DONE;
	if (!obj_has(s->found, "namespace") && !s->inventory)
		plan_create(s->plan, meta_skeleton("v1", "Namespace", NULL, s->job->inventory_ns));
	struct obj *o = meta_skeleton("v1", "ConfigMap", s->job->inventory_ns,
				      arena_fmt(s->v->a, "inv.%s.%s", u->bundle, u->instance));
	meta_set_label(o, LABEL_BUNDLE, u->bundle);
	meta_set_label(o, LABEL_INSTANCE, u->instance);
	meta_set_annotation(o, ANNOTATION_OWNER_ID, u->owner_id);
	meta_set_annotation(o, "app.coreos.com/identity", meta_uid(obj_get(s->found, "system")));
	if (digest)
		meta_set_annotation(o, ANNOTATION_APPLIED, digest);
	struct obj *data = obj_map();
	obj_set(data, "objects", obj_stringn(strbuf_str(&text)));
	obj_set(o, "data", data);
	plan_apply(s->plan, o, STAGE_FIRST, true);
	return WAITING;
}

static void tell_kept(struct unit_pass *s, const char *text)
{
	if (!obj_has(s->record, "kept"))
		obj_set(s->record, "kept", obj_list());
	struct obj *kept = obj_get_mut(s->record, "kept");
	for (size_t i = 0; i < obj_len(kept); i++)
		if (cstr_eq(obj_as_string(obj_at(kept, i)), text))
			return;
	if (obj_len(kept) < KEPT_TOLD_MAX)
		obj_append(kept, obj_string(text));
}

/* Objects have its marks, and it is not there: what else it named is not known, so nothing of that
 * is deleted. */
static void tell_lost(struct unit_pass *s)
{
	const struct unit *u = s->unit;
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += unit_owns(u, unit_found(s, i));
	const char *text =
		arena_fmt(s->v->a,
			  "inventory %s/inv.%s.%s was lost: what it named beside "
			  "these objects is not deleted; its labels: " LABEL_BUNDLE
			  "=%s," LABEL_INSTANCE "=%s",
			  s->job->inventory_ns, u->bundle, u->instance, u->bundle, u->instance);
	if (n)
		tell_kept(s, text);
}

enum ensured unit_note(struct unit_pass *s)
{
	struct inventory wanted = wanted_lines(s);
	struct inventory all = {
		.lines = ARENA_ARRAY(s->v->a, struct inventory_line, wanted.n + s->had.n + 1)};
	memcpy(all.lines, s->had.lines, s->had.n * sizeof(*all.lines));
	all.n = s->had.n;
	if (s->job->deleting || (s->inventory && !add_missing(s, &wanted, &s->had, &all)))
		return DONE;
	if (!s->inventory) {
		tell_lost(s);
		all = wanted;
	}
	return write_inventory(s, &all, NULL);
}

/* Those that are pruned stay named until they are gone. */
enum ensured unit_note_end(struct unit_pass *s)
{
	struct inventory wanted = wanted_lines(s);
	if (!s->job->deleting)
		return write_inventory(s, &wanted, s->unit->digest);
	if (!s->inventory)
		return DONE;
	obj_set_bool(s->record, "forgotten", true);
	if (!meta_is_deleting(s->inventory))
		plan_delete(s->plan, s->inventory, "Background");
	return WAITING;
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
static bool is_kept(const struct unit_pass *s, const struct inventory_line *l,
		    const struct obj *live)
{
	bool other = l->uid && !cstr_eq(l->uid, meta_uid(live)) && !unit_owns(s->unit, live);
	return other || unit_is_kept(live) || cstr_eq(l->kind, "PersistentVolume") ||
	       cstr_eq(meta_annotation(live, ANNOTATION_PRUNE), "disabled") ||
	       !cstr_eq(meta_annotation(live, ANNOTATION_OWNER_ID), s->unit->owner_id);
}

static enum ensured hold(struct unit_pass *s, const struct prune_item *list, size_t n,
			 size_t doomed)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	strbuf_addf(&b, "%zu objects would be deleted, more than --max-deletes %lld:", doomed,
		    (long long)s->job->max_deletes);
	for (size_t i = 0; i < n && b.len < 2000; i++)
		if (list[i].verdict == PRUNE_DELETE)
			strbuf_addf(&b, " %s", unit_entry_text(list[i].entry, s->v->a));
	return unit_refuse(s, "PruneHeld", arena_strdup(s->v->a, b.buf));
}

static enum ensured prune(struct unit_pass *s, const struct prune_item *list, size_t n)
{
	struct arena *a = s->v->a;
	size_t doomed = 0, waiting = 0;
	for (size_t i = 0; i < n; i++) {
		doomed += list[i].verdict == PRUNE_DELETE;
		waiting += list[i].verdict == PRUNE_DELETE || list[i].verdict == PRUNE_DELETING;
		if (list[i].verdict == PRUNE_KEEP)
			tell_kept(s, arena_fmt(a, "%s is not deleted: %s",
					       unit_entry_text(list[i].entry, a), list[i].why));
	}
	if (!s->job->deleting && doomed > (size_t)s->job->max_deletes &&
	    !obj_has(s->record, "pruned"))
		return hold(s, list, n, doomed);
	if (doomed && !obj_has(s->record, "pruned"))
		obj_set_int(s->record, "pruned", (int64_t)doomed);
	for (size_t i = 0; i < n; i++)
		if (list[i].verdict == PRUNE_DELETE)
			plan_delete(s->plan, list[i].entry->live, "Background");
	if (waiting)
		plan_requeue_after(s->plan, LOOK_AGAIN_NS);
	return waiting ? WAITING : DONE;
}

/* By a live read, not by an informer: it is said with uid and resourceVersion what goes. */
enum ensured unit_prune(struct unit_pass *s)
{
	struct inventory wanted = wanted_lines(s);
	struct inventory former = {
		.lines = ARENA_ARRAY(s->v->a, struct inventory_line, s->had.n + 1)};
	const struct prune_rules rules = {.label = LABEL_BUNDLE, .value = s->unit->bundle};
	if (!add_missing(s, &s->had, &wanted, &former))
		return DONE;
	struct obj *rows = obj_list();
	struct unit_entry *was = ARENA_ARRAY(s->v->a, struct unit_entry, former.n);
	for (size_t i = 0; i < former.n; i++) {
		load_former(s, &former.lines[i], &was[i]);
		unit_survey_row(rows, arena_fmt(s->v->a, "f%zu", i), &was[i]);
	}
	const struct outcome *found = unit_survey(s, unit_id(s, "former"), rows, LOOK_AGAIN_NS - 1);
	if (!found)
		return WAITING;
	for (size_t i = 0; i < former.n; i++) {
		was[i].live = obj_get(found->value, arena_fmt(s->v->a, "f%zu", i));
		was[i].keep = was[i].live && is_kept(s, &former.lines[i], was[i].live);
	}
	size_t n;
	const struct prune_item *list = prune_list(was, former.n, NULL, 0, &rules, s->v->a, &n);
	return prune(s, list, n);
}
