#include "alm/main/our_crds.h"

#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/kinds.h"

struct our_crds {
	struct client *client;
	struct crd_call {
		struct our_crds *all;
		struct client_call *call;
	} *calls; /* one a kind */
	size_t n_done;
	struct error err; /* the first */
	void (*done)(void *arg, const struct error *err);
	void *arg;
};

static void one_done(struct our_crds *o, const struct error *err)
{
	if (err && !o->err.code)
		o->err = *err;
	if (++o->n_done == n_crd_kinds)
		o->done(o->arg, o->err.code ? &o->err : NULL);
}

static void applied(void *arg, const struct client_reply *reply)
{
	struct crd_call *c = arg;
	c->call = NULL;
	one_done(c->all, reply->err);
}

static void apply(struct our_crds *o, size_t i)
{
	static const struct resource crds = {.group = "apiextensions.k8s.io",
					     .version = "v1",
					     .plural = "customresourcedefinitions",
					     .kind = "CustomResourceDefinition"};
	static const struct client_options options = {.force = true};
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *crd = NULL;
	struct crd_call *c = &o->calls[i];
	c->all = o;
	if (yaml_parse_one(str_of(crd_kinds[i]->yaml), &crd, &err) < 0)
		one_done(o, &err);
	else
		c->call = client_apply(o->client, &crds, NULL, meta_name(crd), crd, &options,
				       applied, c);
}

struct our_crds *our_crds_apply(struct client *c, void (*done)(void *arg, const struct error *err),
				void *arg)
{
	struct our_crds *o = xcalloc(1, sizeof(*o));
	o->client = c;
	o->done = done;
	o->arg = arg;
	o->calls = xcalloc(n_crd_kinds, sizeof(*o->calls));
	for (size_t i = 0; i < n_crd_kinds; i++) /* at once: one commit */
		apply(o, i);
	return o;
}

void our_crds_free(struct our_crds *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < n_crd_kinds; i++)
		if (o->calls[i].call)
			client_cancel(o->client, o->calls[i].call);
	xfree(o->calls);
	xfree(o);
}
