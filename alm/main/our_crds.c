#include "alm/main/our_crds.h"

#include "alm/live/live_gate.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/kinds.h"

struct our_crds {
	struct client *client;
	struct loop *gate;
	struct crd_call {
		struct our_crds *all;
		struct client_call *call;
		struct live_gate *judging;
		struct obj *crd; /* owned; NULL: done */
	} *calls;                /* one a kind */
	size_t n_done;
	struct error err; /* the first */
	void (*done)(void *arg, const struct error *err);
	void *arg;
};

/* The definitions are large, and their trees would hold what goes around them. */
static void one_done(struct crd_call *c, const struct error *err)
{
	struct our_crds *o = c->all;
	obj_unref(STEAL(c->crd));
	if (err && !o->err.code)
		o->err = *err;
	if (++o->n_done == n_crd_kinds)
		o->done(o->arg, o->err.code ? &o->err : NULL);
}

static void applied(void *arg, const struct client_reply *reply)
{
	struct crd_call *c = arg;
	c->call = NULL;
	one_done(c, reply->err);
}

static void apply(struct crd_call *c)
{
	static const struct resource crds = {.group = "apiextensions.k8s.io",
					     .version = "v1",
					     .plural = "customresourcedefinitions",
					     .kind = "CustomResourceDefinition"};
	static const struct client_options options = {.force = true};
	c->call = client_apply(c->all->client, &crds, NULL, meta_name(c->crd), c->crd, &options,
			       applied, c);
}

static void judged(void *arg, struct obj *value, const struct error *err)
{
	struct crd_call *c = arg;
	struct error refused = ERROR_INIT;
	c->judging = NULL;
	if (err) {
		one_done(c, err);
	} else if (cstr_eq(obj_str(value, "outcome"), "refuse")) {
		error_set(&refused, E_REFUSED,
			  "%s of this version of ALM would not fit to what is there: %s; run "
			  "the newer version that was here, or change the definition yourself",
			  meta_name(c->crd), obj_str(value, "text"));
		one_done(c, &refused);
	} else {
		apply(c);
	}
	obj_unref(value);
}

static void judge(struct crd_call *c)
{
	CLEANUP(obj_unrefp) struct obj *request = obj_map();
	obj_set(request, "crd", obj_ref(c->crd));
	obj_set(request, "managedBefore", obj_list());
	obj_set(request, "managedAfter", obj_list());
	obj_set_str(request, "inputs", "");
	obj_set(request, "waivers", obj_list());
	const struct live_gate_config config = {.client = c->all->client,
						.loop = c->all->gate,
						.request = request,
						.done = judged,
						.arg = c};
	c->judging = live_gate_start(&config);
}

static void begin(struct our_crds *o, size_t i)
{
	struct error err = ERROR_INIT;
	struct crd_call *c = &o->calls[i];
	c->all = o;
	if (yaml_parse_one(str_of(crd_kinds[i]->yaml), &c->crd, &err) < 0)
		one_done(c, &err);
	else if (o->gate)
		judge(c);
	else
		apply(c);
}

struct our_crds *our_crds_apply(struct client *c, struct loop *gate,
				void (*done)(void *arg, const struct error *err), void *arg)
{
	struct our_crds *o = xcalloc(1, sizeof(*o));
	o->client = c;
	o->gate = gate;
	o->done = done;
	o->arg = arg;
	o->calls = xcalloc(n_crd_kinds, sizeof(*o->calls));
	for (size_t i = 0; i < n_crd_kinds; i++) /* at once: one commit */
		begin(o, i);
	return o;
}

void our_crds_free(struct our_crds *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < n_crd_kinds; i++) {
		if (o->calls[i].call)
			client_cancel(o->client, o->calls[i].call);
		live_gate_free(o->calls[i].judging);
		obj_unref(o->calls[i].crd);
	}
	xfree(o->calls);
	xfree(o);
}
