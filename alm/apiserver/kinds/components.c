/* components: see components.h. */
#include "alm/apiserver/kinds/components.h"

#include "alm/apiserver/core.h"
#include "alm/apiserver/status.h"
#include "alm/io/db.h"
#include "alm/obj/json.h"

#define STORE "etcd-0" /* as clients know it */

static void free_text(void *p)
{
	text_unref(p);
}

bool components_are(const struct kind *k)
{
	return k->flags & KIND_VIRTUAL && cstr_eq(k->kind, "ComponentStatus");
}

static struct obj *store_status(struct request *r)
{
	struct apiserver *s = r->server;
	bool ok = !db_is_broken(s->config.db) && !store_is_failing(s->store);
	struct obj *o = obj_keep(r->arena, obj_map());
	struct obj *c = obj_map(), *list = obj_list();
	obj_set_str(c, "type", "Healthy");
	obj_set_str(c, "status", ok ? "True" : "False");
	obj_set_str(c, "message", ok ? "ok" : "the store fails: see /readyz?verbose");
	obj_append(list, c);
	obj_set_str(o, "apiVersion", "v1");
	obj_set_str(o, "kind", "ComponentStatus");
	obj_set_path(o, "metadata.name", obj_string(STORE));
	obj_set(o, "conditions", list);
	return o;
}

static struct text *text_of(const struct obj *o)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	json_print(o, &b);
	return text_new(strbuf_str(&b));
}

int components_get(struct request *r, struct text **ret, struct error *err)
{
	if (!cstr_eq(r->name, STORE)) /* sic: by its singular */
		return fail_not_found(r, r->group, r->kind->singular, r->name, err);
	*ret = text_of(store_status(r));
	arena_defer(r->arena, free_text, *ret);
	return 0;
}

void components_select(struct request *r, const struct list_options *l, struct listing *ret)
{
	const struct obj *o = store_status(r);
	*ret = (struct listing){.rv = -1, .continue_token = "", .remaining = -1};
	if (!l->selective || options_match(l, o)) {
		ret->items = xcalloc(1, sizeof(*ret->items));
		ret->items[ret->n++] = (struct list_item){"", STORE, text_of(o)};
	}
	listing_keep(ret, r->arena);
}
