#include "alm/cli/app/bundle_inventory.h"

#include <stdlib.h>
#include <string.h>

#include "alm/controllers/fleet/bundle_side.h"
#include "alm/controllers/unit/unit_store.h"
#include "alm/obj/meta.h"
#include "alm/unit/inventory.h"
#include "crds/marks.h"

struct reading {
	struct session *s;
	const char *bundle;
	struct arena *a;
	size_t n_pieces;
	const char *blind, *unit;
	bool is_there;
};

/* What is not read may name objects, too. */
static void count_pieces(struct reading *r, const char *name, const char *counted)
{
	if (!inventory_count(counted, &r->n_pieces))
		r->blind = arena_fmt(r->a, "ConfigMap %s names %.40s pieces, and not 1 to %d", name,
				     counted, INVENTORY_PIECES_MAX);
}

/* 1, and its lines; 0: it is not there. */
static int read_piece(struct reading *r, size_t n, struct inventory *ret, struct error *err)
{
	static const struct resource maps = {"", "v1", "configmaps", "ConfigMap", true};
	const char *name = n == 1 ? arena_fmt(r->a, "inv.%s." BUNDLE_INSTANCE, r->bundle)
				  : arena_fmt(r->a, "inv-%zu.%s." BUNDLE_INSTANCE, n, r->bundle);
	const struct obj *o;
	*ret = (struct inventory){0};
	if (session_get(r->s, session_target(r->s, &maps, SYSTEM_NAMESPACE, name, NULL), &o, err) <
	    0) {
		if (err->code != E_NOTFOUND)
			return -err->code;
		*err = ERROR_INIT;
		if (n > 1)
			r->blind = arena_fmt(r->a, "ConfigMap %s is gone", name);
		return 0;
	}
	r->is_there = true;
	if (inventory_is_incomplete(o))
		r->blind = "the inventory was lost and is not rebuilt yet";
	const char *counted = meta_annotation(o, ANNOTATION_PIECES);
	if (n == 1)
		r->unit = meta_annotation(o, ANNOTATION_APPLIED);
	if (n == 1 && counted)
		count_pieces(r, name, counted);
	const char *text = obj_str(obj_get(o, "data"), "objects");
	if (inventory_parse(str_of(text ? text : ""), n, r->a, ret, err) < 0)
		return -err->code;
	return 1;
}

int bundle_inventory_read(struct session *s, const char *bundle, struct arena *a,
			  struct bundle_inventory *ret, struct error *err)
{
	struct inventory pieces[INVENTORY_PIECES_MAX];
	struct reading r = {.s = s, .bundle = bundle, .a = a, .n_pieces = 1};
	for (size_t n = 1; n <= r.n_pieces; n++)
		if (read_piece(&r, n, &pieces[n - 1], err) < 0)
			return error_wrap(err, "inventory");
	*ret = (struct bundle_inventory){.objects = inventory_join(pieces, r.n_pieces, a),
					 .unit = r.unit,
					 .is_there = r.is_there,
					 .blind = r.blind};
	return 0;
}

void bundle_inventory_miss(struct bundle_inventory *i, const struct obj *bundle, struct arena *a)
{
	const char *name = meta_name(bundle);
	if (i->is_there || meta_is_deleting(bundle) || !obj_len(obj_path(bundle, "status.history")))
		return;
	i->blind = arena_fmt(a,
			     "its inventory, ConfigMap inv.%s." BUNDLE_INSTANCE
			     " of " SYSTEM_NAMESPACE ", is gone: the next revision rebuilds it, or "
			     "alm inventory rebuild %s",
			     name, name);
}

static int by_file(const void *a, const void *b)
{
	const struct inventory_line *x = a, *y = b;
	int r = strcmp(x->key, y->key);
	if (!r)
		r = strcmp(x->kind, y->kind);
	if (!r)
		r = strcmp(x->ns ? x->ns : "", y->ns ? y->ns : "");
	return r ? r : strcmp(x->name, y->name);
}

void bundle_inventory_sort(struct bundle_inventory *i)
{
	if (i->objects.n) /* of an inventory that is gone there is no array */
		qsort(i->objects.lines, i->objects.n, sizeof(i->objects.lines[0]), by_file);
}

static struct obj *chunk(const struct store_source *s, const char *name)
{
	const struct obj *o = obj_get(s->items, name);
	return o ? obj_ref(o) : NULL;
}

int bundle_inventory_unit(struct session *s, const char *bundle, const struct bundle_inventory *i,
			  struct arena *a, const struct obj **ret, struct error *err)
{
	static const struct resource secrets = {"", "v1", "secrets", "Secret", true};
	struct str digest, slot, run;
	struct obj *items = obj_keep(a, obj_map());
	const struct store_source source = {.get = chunk, .items = items, .a = a};
	if (!i->unit || !str_cut(str_of(i->unit), '.', &digest, &slot))
		return error_set(err, E_NOTFOUND, "bundle %s was never Synced", bundle);
	(void)str_cut(slot, '.', &slot, &run);
	const char *prefix =
		arena_fmt(a, "unit.%s." BUNDLE_INSTANCE ".%.*s", bundle, STR_ARG(slot));
	for (const char *name; (name = store_missing(&source, prefix, NULL)) != NULL;) {
		const struct obj *o = NULL;
		if (session_get(s, session_target(s, &secrets, SYSTEM_NAMESPACE, name, NULL), &o,
				err) < 0)
			return error_wrap(err, "what is wanted");
		if (!store_is_chunk(o, NULL))
			return error_set(err, E_NOTFOUND, "Secret %s is no part of a unit", name);
		obj_set(items, name, obj_ref(o));
	}
	*ret = store_join(&source, prefix, NULL);
	return *ret ? 0 : error_set(err, E_CORRUPT, "the Secrets %s.* are damaged", prefix);
}
