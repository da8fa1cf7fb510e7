/* Would the server take these objects? Each is applied as a dry run by the account that would write
 * it. What else may go wrong (rights, what is not there yet) is reported by the write itself. */
#include "alm/engine/executor_run.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

static void try_next(struct step_call *c);

static void refuse(struct step_call *c, const struct error *err)
{
	struct obj *row = obj_map();
	obj_set_int(row, "index", (int64_t)c->at - 1);
	obj_set_str(row, "message", run_hide_text(c->run, err->msg));
	obj_append(c->found, row);
}

static void tried(void *arg, const struct client_reply *reply)
{
	struct step_call *c = arg;
	int code = reply->err ? reply->err->code : 0;
	c->call = NULL;
	if (code && client_refuses_body(reply->err))
		refuse(c, reply->err);
	else if (code == E_UNAVAILABLE || code == E_TIMEOUT || code == E_TOOMANY || code == E_IO) {
		run_fail(c->run, reply->err);
		call_done(c);
		return;
	}
	try_next(c);
}

static bool try_one(struct step_call *c, const struct obj *o)
{
	struct run *r = c->run;
	struct gvk g = {"", "", ""};
	if (!gvk_of(o, r->a, &g))
		return false;
	const struct resource *found =
		discovery_kind(r->x->c.discovery, g.group, g.version, g.kind);
	if (!found)
		return false;
	struct resource *own = ARENA_NEW(r->a, struct resource);
	*own = resource_copy(found, r->a);
	const struct client_options dry = {.as = c->action->as, .force = true, .dry_run = true};
	c->call = client_apply(r->x->c.client, own, own->namespaced ? meta_namespace(o) : NULL,
			       meta_name(o), o, &dry, tried, c);
	return true;
}

static void try_next(struct step_call *c)
{
	while (c->at < obj_len(c->action->body)) {
		c->at++;
		if (try_one(c, obj_at(c->action->body, c->at - 1)))
			return;
	}
	struct obj *value = obj_map();
	obj_set(value, "refused", STEAL(c->found));
	run_put(c->run, c->action->id, NULL, STR_NONE, value);
	call_done(c);
}

void work_try(struct run *r, struct action *a)
{
	struct step_call *c = call_new(r, a);
	c->found = obj_list();
	try_next(c);
}
