/* What is known before the first write: the objects of the unit, its inventory, and whose is what
 * stands at their names. What has no mark of ours no informer shows, so it is read live, once an
 * attempt. */
#include <string.h>

#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

static const char *inventory_name(const struct unit_pass *s)
{
	return arena_fmt(s->v->a, "inv.%s.%s", s->unit->bundle, s->unit->instance);
}

static struct unit_entry entry_of(const struct unit_pass *s, const char *kind, const char *ns,
				  const char *name)
{
	return (struct unit_entry){.object = obj_keep(s->v->a, meta_skeleton("v1", kind, ns, name)),
				   .kind = kind,
				   .ns = ns,
				   .name = name};
}

/* --- objects --- */

/* A namespaced kind that a CRD of this unit brings. */
static bool comes_namespaced(const struct unit_pass *s, const struct obj *o, bool *ret_comes)
{
	const struct obj *rows = obj_get(s->unit->doc, "objects");
	struct gvk g = {"", "", ""};
	gvk_of(o, s->v->a, &g);
	*ret_comes = false;
	for (size_t i = 0; i < obj_len(rows); i++) {
		const struct obj *crd = obj_get(obj_at(rows, i), "object");
		if (!cstr_eq(meta_kind(crd), "CustomResourceDefinition") ||
		    !cstr_eq(obj_str(crd, "spec.group"), g.group) ||
		    !cstr_eq(obj_str(crd, "spec.names.kind"), g.kind))
			continue;
		*ret_comes = true;
		return cstr_eq(obj_str(crd, "spec.scope"), "Namespaced");
	}
	return false;
}

static void load(struct unit_pass *s)
{
	const struct obj *rows = obj_get(s->unit->doc, "objects");
	const char *selector = unit_selector(s);
	bool comes;
	s->n = obj_len(rows);
	s->entries = ARENA_ARRAY(s->v->a, struct unit_entry, s->n + 1);
	s->foreign = ARENA_ARRAY(s->v->a, bool, s->n + 1);
	for (size_t i = 0; i < s->n; i++) {
		struct unit_entry *e = &s->entries[i];
		unit_entry_load(s->v, obj_at(rows, i), s->unit->ns, selector, e, s->plan);
		if (!e->resource && !e->ns && comes_namespaced(s, e->object, &comes)) {
			struct obj *copy = obj_keep(s->v->a, obj_copy(e->object));
			obj_set_path(copy, "metadata.namespace", obj_string(s->unit->ns));
			e->object = copy;
			e->ns = s->unit->ns;
		}
	}
}

/* --- live reads --- */

/* The inventory, the Namespace that it is in, and who the cluster is. */
static struct obj *book_rows(struct unit_pass *s)
{
	struct obj *rows = obj_list();
	struct unit_entry inventory =
		entry_of(s, "ConfigMap", s->job->inventory_ns, inventory_name(s));
	struct unit_entry ns = entry_of(s, "Namespace", NULL, s->job->inventory_ns);
	struct unit_entry system = entry_of(s, "Namespace", NULL, "kube-system");
	unit_survey_row(rows, "inventory", &inventory);
	unit_survey_row(rows, "namespace", &ns);
	unit_survey_row(rows, "system", &system);
	return rows;
}

static enum ensured read_once(struct unit_pass *s, const char *what, struct obj *rows,
			      const struct obj **ret, int64_t *ret_ns)
{
	const struct outcome *found = unit_survey(s, unit_id(s, what), rows, 0);
	if (!found)
		return WAITING;
	*ret = found->value;
	*ret_ns = found->at_ns;
	return DONE;
}

static enum ensured read_absent(struct unit_pass *s)
{
	struct obj *rows = obj_list();
	for (size_t i = 0; i < s->n; i++)
		if (s->entries[i].resource && !s->entries[i].live && !s->entries[i].unknown)
			unit_survey_row(rows, arena_fmt(s->v->a, "o%zu", i), &s->entries[i]);
	if (obj_len(rows))
		return read_once(s, UNIT_ABSENT, rows, &s->absent, &s->absent_ns);
	obj_unref(rows);
	return DONE;
}

/* What the informers have come to know since is newer than the live read. */
static void take_found(struct unit_pass *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct obj *o = unit_found(s, i);
		s->foreign[i] = o && !s->host->owns(s, o);
	}
}

enum ensured unit_look_absent(struct unit_pass *s)
{
	enum ensured state = read_absent(s);
	if (state == DONE)
		take_found(s);
	return state;
}

static const struct obj *newer(const struct obj *a, const struct obj *b)
{
	uint64_t x = 0, y = 0;
	if (!a || !b)
		return a ? a : b;
	(void)str_parse_u64(str_of(meta_resource_version(a)), &x);
	(void)str_parse_u64(str_of(meta_resource_version(b)), &y);
	return x > y ? a : b;
}

static enum ensured look_at_inventory(struct unit_pass *s)
{
	const struct resource *r = s->v->ops->resource(s->v->ops_arg, "", "v1", "ConfigMap");
	const struct obj *live = NULL;
	struct error err = ERROR_INIT;
	if (!r)
		return WAITING;
	if (view_live(s->v, r, s->job->inventory_ns, inventory_name(s), &live) < 0) {
		plan_watch(s->plan, r, unit_selector(s), false);
		return WAITING;
	}
	s->inventory = newer(live, obj_get(s->found, "inventory"));
	if (!live && obj_has(s->record, "forgotten"))
		s->inventory = NULL; /* deleted in this attempt */
	const struct obj *data = obj_get(s->inventory, "data");
	s->incomplete = meta_annotation(s->inventory, ANNOTATION_INCOMPLETE) != NULL;
	const char *text = obj_str(data, "objects"), *late = obj_str(data, "late");
	s->current = unit_stored_parse(meta_annotation(s->inventory, ANNOTATION_UNIT), s->v->a);
	s->succeeded =
		unit_stored_parse(meta_annotation(s->inventory, ANNOTATION_APPLIED), s->v->a);
	if (inventory_parse(str_of(text ? text : ""), s->v->a, &s->had, &err) < 0 ||
	    inventory_parse(str_of(late ? late : ""), s->v->a, &s->late, &err) < 0)
		return unit_refuse(s, "InventoryDamaged",
				   arena_fmt(s->v->a,
					     "ConfigMap %s/%s: %s; delete it: what the unit made "
					     "before is not pruned then",
					     s->job->inventory_ns, inventory_name(s), err.msg));
	return DONE;
}

enum ensured unit_look(struct unit_pass *s)
{
	/* All at once: what is there already takes one look at its objects. */
	int64_t at_ns;
	enum ensured books = read_once(s, "books", book_rows(s), &s->found, &at_ns);
	enum ensured inventory = look_at_inventory(s);
	enum ensured state = books == DONE ? inventory : WAITING;
	load(s);
	for (size_t i = 0; i < s->n && state == DONE; i++)
		if (s->entries[i].unknown)
			state = WAITING; /* the informer brings the key back */
	return state == DONE ? unit_look_absent(s) : state;
}

/* --- judgement --- */

static const char *belongs_to(const struct unit_pass *s, const struct unit_entry *e,
			      const struct obj *o)
{
	const char *bundle = meta_label(o, LABEL_BUNDLE);
	if (bundle && !s->job->takes)
		return arena_fmt(s->v->a,
				 "%s belongs to bundle %s; --overwrite-ownership takes it over",
				 unit_entry_text(e, s->v->a), bundle);
	if (!bundle && !s->job->adopts)
		return arena_fmt(s->v->a,
				 "%s is there and not managed by ALM; --adopt takes it over",
				 unit_entry_text(e, s->v->a));
	return NULL;
}

static bool is_applied_by_a_step(const struct unit *u, const struct unit_entry *e, size_t row)
{
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < u->parts[p].n; g++)
			for (size_t i = 0; i < u->parts[p].groups[g].n; i++) {
				const struct unit_step *step = &u->parts[p].groups[g].steps[i];
				for (size_t k = 0; k < step->n; k++)
					if (step->rows[k] == row &&
					    unit_action(step, e) == ACTION_CREATE_OR_UPDATE)
						return true;
			}
	return false;
}

enum ensured unit_judge(struct unit_pass *s)
{
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(4096);
	for (size_t i = 0; i < s->n; i++) {
		const struct unit_entry *e = &s->entries[i];
		const struct obj *o = unit_found(s, i);
		bool comes = true;
		if (!e->resource)
			(void)comes_namespaced(s, e->object, &comes);
		if (!comes)
			return unit_refuse(
				s, "UnknownObject",
				arena_fmt(s->v->a,
					  "%s: the server has no kind %s in %s, and no CRD "
					  "of the unit brings it",
					  unit_entry_text(e, s->v->a), e->kind,
					  meta_api_version(e->object)));
		if (!s->foreign[i] || !is_applied_by_a_step(s->unit, e, i))
			continue;
		const char *why = belongs_to(s, e, o);
		if (why && all.len < 2000)
			strbuf_addf(&all, "%s%s", all.len ? "; " : "", why);
	}
	return all.len ? unit_refuse(s, "ObjectNotOwned", arena_strdup(s->v->a, all.buf)) : DONE;
}
