/* owned: see owned.h. */
#include "alm/obj/patch/owned.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/patch/managed.h"

#define SET_BYTES_MAX ((size_t)16 << 20) /* of an object of 1.5 MiB; parsed */

static struct obj *take(const struct fieldset *s, const struct obj *v);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the set, FIELDSET_DEPTH_MAX */
static struct obj *take_below(const struct fieldset_item *item, const struct obj *v)
{
	return item->below && item->below->n ? take(item->below, v) : obj_ref(v);
}

/* k:{"name":"x"} of an item of that name, v:"x" of the item itself. */
static bool names_item(const char *step, const struct obj *item)
{
	struct error err;
	struct obj *parsed = NULL;
	if (!strchr("kv", *step) || step[1] != ':' ||
	    json_parse(str_of(step + 2), &parsed, &err) < 0)
		return false;
	bool same = *step == 'k' || obj_equal(parsed, item);
	OBJ_EACH (it, parsed)
		same = same && obj_equal(it.value, obj_get(item, it.key));
	obj_unref(parsed);
	return same;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the set, FIELDSET_DEPTH_MAX */
static struct obj *take_list(const struct fieldset *s, const struct obj *v)
{
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(v); i++)
		for (size_t j = 0; j < s->n; j++)
			if (names_item(s->items[j].step, obj_at(v, i)))
				obj_append(out, take_below(&s->items[j], obj_at(v, i)));
	return out;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the set, FIELDSET_DEPTH_MAX */
static struct obj *take(const struct fieldset *s, const struct obj *v)
{
	if (obj_type(v) == OBJ_LIST)
		return take_list(s, v);
	struct obj *out = obj_map();
	for (size_t i = 0; i < s->n; i++) {
		const char *step = s->items[i].step;
		const struct obj *below = step[0] == 'f' ? obj_get(v, step + 2) : NULL;
		if (below)
			obj_set(out, step + 2, take_below(&s->items[i], below));
	}
	return out;
}

static const struct managed_entry *entry_of(const struct managed *m, const char *manager,
					    bool is_apply)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->items[i].is_apply == is_apply && !*m->items[i].subresource &&
		    !strcmp(m->items[i].manager, manager))
			return &m->items[i];
	return NULL;
}

struct obj *owned_fields(const struct obj *o, const struct obj *shown, const char *manager)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(SET_BYTES_MAX);
	struct managed m;
	if (!managed_parse(obj_path(o, "metadata.managedFields"), a, &m))
		return NULL;
	const struct managed_entry *e = entry_of(&m, manager, true);
	return e ? take(e->fields, shown) : NULL;
}

struct obj *owned_bare(const struct obj *config)
{
	static const char *const named[] = {"apiVersion",    "kind",
					    "metadata.name", "metadata.namespace",
					    "metadata.uid",  "metadata.resourceVersion"};
	struct obj *o = obj_copy(config);
	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		obj_del_path(o, named[i]);
	if (!obj_len(obj_get(o, "metadata")))
		obj_del(o, "metadata");
	return o;
}

bool owned_in_part(const struct obj *o, const char *manager)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(SET_BYTES_MAX);
	struct managed m;
	return managed_parse(obj_path(o, "metadata.managedFields"), a, &m) &&
	       entry_of(&m, manager, false) != NULL;
}
