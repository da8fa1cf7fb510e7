/* The ConfigMaps of an inventory (alm/unit/inventory.h): the first, inv.BUNDLE.INSTANCE, counts them and
 * says which unit it is of; the others, inv-2.BUNDLE.INSTANCE and so on, are its own and go with it.
 * One that was made is never taken away before: a write of it that comes late finds it, or no owner. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

#define BOOKS       "books"
#define STAGE_PIECE 0

const char *unit_piece_name(const struct unit_pass *s, size_t n)
{
	const struct unit *u = s->unit;
	/* inv.BUNDLE.INSTANCE.2 may be the first one of another instance */
	return n > 1 ? arena_fmt(s->v->a, "inv-%zu.%s.%s", n, u->bundle, u->instance)
		     : arena_fmt(s->v->a, "inv.%s.%s", u->bundle, u->instance);
}

/* --- read --- */

static void add_row(const struct unit_pass *s, struct obj *rows, const char *key, const char *kind,
		    const char *ns, const char *name)
{
	struct obj *o = obj_keep(s->v->a, meta_skeleton("v1", kind, ns, name));
	const struct unit_entry e = {.object = o, .kind = kind, .ns = ns, .name = name};
	unit_survey_row(rows, key, &e);
}

const struct obj *unit_read_books(struct unit_pass *s)
{
	const char *ns = s->job->inventory_ns;
	struct obj *rows = obj_list();
	add_row(s, rows, "inventory", "ConfigMap", ns, unit_piece_name(s, 1));
	add_row(s, rows, "namespace", "Namespace", NULL, ns);
	add_row(s, rows, "system", "Namespace", NULL, "kube-system");
	const struct outcome *o = unit_survey(s, unit_id(s, BOOKS), rows, 0);
	return o ? o->value : NULL;
}

static const char *pieces_id(const struct unit_pass *s)
{
	return s->n_counted > 1 ? arena_fmt(s->v->a, "pieces:%zu", s->n_counted) : BOOKS;
}

/* After the first, which says how many there are: those are there then. */
static const struct obj *read_pieces(struct unit_pass *s)
{
	struct obj *rows = obj_list();
	for (size_t n = 2; n <= s->n_counted; n++) {
		const char *name = unit_piece_name(s, n);
		add_row(s, rows, name, "ConfigMap", s->job->inventory_ns, name);
	}
	const struct outcome *o = unit_survey(s, unit_id(s, pieces_id(s)), rows, 0);
	return o ? o->value : NULL;
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

/* What was read, and no informer shows, met a conflict: somebody has deleted it since. */
static bool is_gone(const struct unit_pass *s, const struct obj *read, const char *id)
{
	const struct outcome *no = view_refusal(s->v, read, s->job->inventory_ns);
	const struct outcome *was = view_outcome(s->v, unit_id(s, id));
	return no && no->code == E_CONFLICT && was && no->at_ns >= was->at_ns;
}

/* DONE: *ret is the n-th as it was read (read, the outcome id), or is by now; NULL: it is not there. */
static enum ensured look_up(struct unit_pass *s, size_t n, const struct obj *read, const char *id,
			    const struct obj **ret)
{
	const struct resource *r = s->v->ops->resource(s->v->ops_arg, "", "v1", "ConfigMap");
	const struct obj *live = NULL;
	if (!r)
		return WAITING;
	if (view_live(s->v, r, s->job->inventory_ns, unit_piece_name(s, n), &live) < 0) {
		plan_watch(s->plan, r, unit_selector(s), false);
		return WAITING;
	}
	if (!live && read && is_gone(s, read, id)) {
		unit_forget(s, id);
		plan_requeue_after(s->plan, NS_PER_MS);
		return WAITING;
	}
	*ret = newer(live, read);
	return DONE;
}

static bool is_owned(const struct obj *piece, const struct obj *first)
{
	const struct obj *owners = obj_path(piece, "metadata.ownerReferences");
	for (size_t i = 0; i < obj_len(owners); i++)
		if (cstr_eq(obj_str(obj_at(owners, i), "uid"), meta_uid(first)))
			return true;
	return false;
}

/* Those that the first one counts, and what has come to them since. */
static enum ensured look_at_pieces(struct unit_pass *s)
{
	const struct obj *read = s->n_counted > 1 ? read_pieces(s) : NULL;
	if (s->n_counted > 1 && !read)
		return WAITING;
	for (size_t n = 2; n <= INVENTORY_PIECES_MAX; n++) {
		const struct obj *o = NULL;
		const char *name = unit_piece_name(s, n);
		if (look_up(s, n, obj_get(read, name), pieces_id(s), &o) != DONE)
			return WAITING;
		if (!is_owned(o, s->inventory))
			o = NULL; /* of an inventory that was lost: it is found by its marks */
		if (!o && n > s->n_counted)
			break;
		s->pieces[n - 1] = o;
		s->n_pieces = n;
		s->lost_piece |= !o;
	}
	return DONE;
}

static enum ensured damaged(struct unit_pass *s, size_t n, const char *why)
{
	return unit_refuse(s, "InventoryDamaged",
			   arena_fmt(s->v->a,
				     "ConfigMap %s/%s: %s; delete it: what the unit made "
				     "before is not pruned then",
				     s->job->inventory_ns, unit_piece_name(s, n), why));
}

static enum ensured parse(struct unit_pass *s)
{
	struct inventory had[INVENTORY_PIECES_MAX] = {0}, late[INVENTORY_PIECES_MAX] = {0};
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < s->n_pieces; i++) {
		const struct obj *data = obj_get(s->pieces[i], "data");
		const char *text = obj_str(data, "objects"), *more = obj_str(data, "late");
		if (inventory_parse(str_of(text ? text : ""), i + 1, s->v->a, &had[i], &err) < 0 ||
		    inventory_parse(str_of(more ? more : ""), i + 1, s->v->a, &late[i], &err) < 0)
			return damaged(s, i + 1, err.msg);
	}
	s->had = inventory_join(had, s->n_pieces, s->v->a);
	s->late = inventory_join(late, s->n_pieces, s->v->a);
	return DONE;
}

enum ensured unit_read_inventory(struct unit_pass *s)
{
	size_t n = 1;
	bool forgotten = obj_has(s->record, "forgotten"); /* deleted in this attempt */
	const struct obj *read = forgotten ? NULL : obj_get(s->found, "inventory");
	if (look_up(s, 1, read, BOOKS, &s->inventory) != DONE)
		return WAITING;
	const char *counted = meta_annotation(s->inventory, ANNOTATION_PIECES);
	if (counted && !inventory_count(counted, &n))
		return damaged(s, 1, "annotation " ANNOTATION_PIECES " is no number of ConfigMaps");
	s->n_counted = n;
	s->n_pieces = 1;
	s->pieces = ARENA_ARRAY(s->v->a, const struct obj *, INVENTORY_PIECES_MAX);
	s->pieces[0] = s->inventory;
	if (s->inventory && look_at_pieces(s) != DONE)
		return WAITING;
	s->incomplete = s->lost_piece || inventory_is_incomplete(s->inventory);
	s->current = unit_stored_parse(meta_annotation(s->inventory, ANNOTATION_UNIT), s->v->a);
	s->succeeded =
		unit_stored_parse(meta_annotation(s->inventory, ANNOTATION_APPLIED), s->v->a);
	return parse(s);
}

/* --- write --- */

bool unit_piece_has(const struct unit_pass *s, size_t n, struct str lines, struct str late)
{
	const struct obj *data = obj_get(s->pieces[n - 1], "data");
	const char *is = obj_str(data, "objects"), *also = obj_str(data, "late");
	/* a run that ends leaves it to the next write to forget what can come no more */
	bool known = str_eq(str_of(also ? also : ""), late) || (s->job->ends && !late.len);
	return s->pieces[n - 1] && str_eq(str_of(is ? is : ""), lines) && known;
}

struct obj *unit_piece_new(const struct unit_pass *s, size_t n, struct str lines, struct str late)
{
	struct obj *data = obj_map();
	struct obj *o =
		meta_skeleton("v1", "ConfigMap", s->job->inventory_ns, unit_piece_name(s, n));
	meta_set_label(o, LABEL_BUNDLE, s->unit->bundle);
	meta_set_label(o, LABEL_INSTANCE, s->unit->instance);
	meta_set_annotation(o, ANNOTATION_OWNER_ID, s->unit->owner_id);
	obj_set(data, "objects", obj_stringn(lines));
	/* what a create has written no apply takes away */
	if (late.len || (n > 1 && obj_path(s->pieces[n - 1], "data.late")))
		obj_set(data, "late", obj_stringn(late));
	obj_set(o, "data", data);
	return o;
}

static enum ensured write_piece(struct unit_pass *s, const struct inventory_pieces *now, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(INVENTORY_BYTES_MAX * 2);
	const struct obj *stands = NULL;
	inventory_print(&now->lines, n, &b);
	size_t bytes = b.len;
	inventory_print(&now->late, n, &b);
	struct str lines = str_clip(strbuf_str(&b), bytes), late = str_skip(strbuf_str(&b), bytes);
	if (unit_piece_has(s, n, lines, late))
		return DONE;
	if (look_up(s, n, s->pieces[n - 1], pieces_id(s), &stands) != DONE)
		return WAITING;
	struct obj *o = unit_piece_new(s, n, lines, late);
	unit_own_book(s, o);
	if (!stands)
		unit_create_book(s, o);
	else
		plan_over(s->plan, unit_write_book(s, o, STAGE_PIECE), stands);
	return WAITING;
}

/* First those that are not there, so that none is missing below another; then one after the other from
 * the last where a line goes from one to a later one. */
enum ensured unit_write_pieces(struct unit_pass *s, const struct inventory_pieces *now)
{
	size_t written = 0;
	for (size_t n = 2; n <= now->n; n++)
		written += !s->pieces[n - 1] && write_piece(s, now, n) == WAITING;
	if (written)
		return WAITING;
	for (size_t n = now->n; n > 1 && !(written && now->moves); n--)
		written += write_piece(s, now, n) == WAITING;
	return written ? WAITING : DONE;
}
