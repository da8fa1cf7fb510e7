#include "alm/engine/view.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/engine/controller.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

struct collect {
	const struct view *view;
	const char *path, *naming; /* NULL: all; path: where it is named */
	const struct obj **items;
	size_t n, cap;
};

/* May the object of this text name it? Parsing is what a reconcile costs: most are
 * another's. */
static bool text_names(struct str json, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf quoted = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&quoted, "\"%s\"", name);
	return str_find(json, strbuf_str(&quoted)) >= 0;
}

static void collect(void *arg, struct obj *o)
{
	struct collect *c = arg;
	if (!o)
		return;
	obj_keep(c->view->a, o);
	if (c->path && !cstr_eq(obj_str(o, c->path), c->naming))
		return;
	ARENA_GROW(c->view->a, c->items, c->cap, c->n, 8);
	c->items[c->n++] = o;
}

static bool collect_text(void *arg, struct str json)
{
	const struct collect *c = arg;
	struct error err;
	struct obj *o = NULL;
	if ((!c->naming || text_names(json, c->naming)) && json_parse(json, &o, &err) == 0)
		collect(arg, o);
	return true;
}

bool view_kept(const struct view *v, const char *id, const struct obj **ret)
{
	if (!v->memo || !map_has(v->memo, id))
		return false;
	*ret = map_get(v->memo, id);
	return true;
}

const struct obj *view_keep(const struct view *v, const char *id, const struct obj *o)
{
	if (v->memo)
		map_set(v->memo, id, mem_unconst(o));
	return o;
}

/* Asked for once in a reconcile. */
static const struct obj *read_once(const struct view *v, const char *what, unsigned kind,
				   const char *name,
				   struct obj *(*get)(void *arg, unsigned kind, const char *name))
{
	const struct obj *kept = NULL;
	if (!name)
		return NULL;
	const char *id = arena_fmt(v->a, "%s:%u:%s", what, kind, name);
	if (view_kept(v, id, &kept))
		return kept;
	struct obj *o = get(v->ops_arg, kind, name);
	return view_keep(v, id, o ? obj_keep(v->a, o) : NULL);
}

const struct obj *view_get(const struct view *v, unsigned kind, const char *name)
{
	return read_once(v, "get", kind, name, v->ops->get);
}

const struct obj *view_outline(const struct view *v, unsigned kind, const char *name)
{
	return v->ops->outline ? read_once(v, "outline", kind, name, v->ops->outline)
			       : view_get(v, kind, name);
}

const struct obj *const *view_list(const struct view *v, unsigned kind, const char *naming,
				   size_t *ret_n)
{
	struct collect c = {.view = v, .naming = naming};
	v->ops->each(v->ops_arg, kind, collect_text, &c);
	*ret_n = c.n;
	return c.items;
}

const struct obj *const *view_referring(const struct view *v, unsigned kind, const char *path,
					const char *name, size_t *ret_n)
{
	struct collect c = {.view = v, .path = path, .naming = name};
	if (v->ops->referring)
		v->ops->referring(v->ops_arg, kind, name, collect, &c);
	else
		v->ops->each(v->ops_arg, kind, collect_text, &c);
	*ret_n = c.n;
	return c.items;
}

int view_live(const struct view *v, const struct resource *r, const char *ns, const char *name,
	      const struct obj **ret)
{
	struct obj *o = NULL;
	int found = name ? v->ops->live(v->ops_arg, r, ns, name, &o) : 0;
	if (found == 1)
		*ret = obj_keep(v->a, o);
	return found;
}

const struct outcome *view_outcome(const struct view *v, const char *id)
{
	const struct outcome *stored = stash_get(v->stash, id);
	struct error err;
	struct obj *value = NULL;
	if (!stored)
		return NULL;
	struct outcome *o = arena_memdup(v->a, stored, sizeof(*stored));
	o->msg = arena_strdup(v->a, stored->msg);
	if (stored->text.ptr && json_parse(stored->text, &value, &err) == 0)
		o->value = obj_keep(v->a, value);
	return o;
}

int controller_run(const struct controller *c, const struct view *view, const char *key,
		   struct plan *plan, struct error *err)
{
	for (const struct step *s = c->steps; s->fn; s++) {
		plan->step = s->name;
		int r = s->fn(view, key, plan, err);
		if (r < 0)
			return error_wrap(err, "%s", s->name);
		if (r == STEP_STOP)
			break;
	}
	if (arena_over(view->a))
		return error_set(err, E_LIMIT, "%s %s: the pass is over its limit", c->name, key);
	plan_cut(plan, PLAN_ACTIONS_MAX);
	return 0;
}

char *refusal_id(const char *group, const char *kind, const char *ns, const char *name,
		 struct arena *a)
{
	return arena_fmt(a, "refused:%s/%s/%s/%s", group, kind, ns ? ns : "", name);
}

const struct outcome *view_refusal(const struct view *v, const struct obj *o, const char *ns)
{
	struct gvk g = {"", "", ""};
	gvk_of(o, v->a, &g);
	return view_outcome(v, refusal_id(g.group, g.kind, ns, meta_name(o), v->a));
}
