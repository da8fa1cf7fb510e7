/* Would the server take these objects? Each is applied as a dry run by the account that would write
 * it. What else may go wrong (rights, what is not there yet) is reported by the write itself. */
#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

static void try_next(struct work *w);

static void refuse(struct work *w, const struct error *err)
{
	struct obj *row = obj_map();
	obj_set_int(row, "index", (int64_t)w->at - 1);
	obj_set_str(row, "message", work_hide_text(w, err->msg));
	obj_append(w->found, row);
}

static void tried(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	int code = reply->err ? reply->err->code : 0;
	w->call = NULL;
	if (code && client_refuses_body(reply->err))
		refuse(w, reply->err);
	else if (code == E_UNAVAILABLE || code == E_TIMEOUT || code == E_TOOMANY || code == E_IO) {
		work_fail(w, reply->err);
		return;
	}
	try_next(w);
}

static bool try_one(struct work *w, const struct obj *o)
{
	struct gvk g = {"", "", ""};
	if (!gvk_of(o, w->a, &g))
		return false;
	const struct resource *found = discovery_kind(w->discovery, g.group, g.version, g.kind);
	if (!found)
		return false;
	struct resource *own = ARENA_NEW(w->a, struct resource);
	*own = resource_copy(found, w->a);
	const struct client_options dry = {.as = w->action->as, .force = true, .dry_run = true};
	w->call = client_apply(w->client, own, own->namespaced ? meta_namespace(o) : NULL,
			       meta_name(o), o, &dry, tried, w);
	return true;
}

static void try_next(struct work *w)
{
	while (w->at < obj_len(w->action->body)) {
		w->at++;
		if (try_one(w, obj_at(w->action->body, w->at - 1)))
			return;
	}
	struct obj *value = obj_map();
	obj_set(value, "refused", STEAL(w->found));
	work_put(w, NULL, STR_NONE, value);
	work_done(w);
}

static void start(struct work *w)
{
	w->found = obj_list();
	try_next(w);
}

const struct work_kind try_work = {.name = "try", .start = start};
