#include "alm/main/our_crds.h"

#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/kinds.h"

struct our_crds {
	struct client *client;
	size_t next;
	struct client_call *call;
	void (*done)(void *arg, const struct error *err);
	void *arg;
};

static void apply_next(struct our_crds *o);

static void applied(void *arg, const struct client_reply *reply)
{
	struct our_crds *o = arg;
	o->call = NULL;
	if (reply->err)
		o->done(o->arg, reply->err);
	else
		apply_next(o);
}

static void apply_next(struct our_crds *o)
{
	static const struct resource crds = {.group = "apiextensions.k8s.io",
					     .version = "v1",
					     .plural = "customresourcedefinitions",
					     .kind = "CustomResourceDefinition"};
	static const struct client_options options = {.force = true};
	struct error err;
	CLEANUP(obj_unrefp) struct obj *crd = NULL;
	if (o->next == n_crd_kinds) {
		o->done(o->arg, NULL);
		return;
	}
	const struct crd_kind *k = crd_kinds[o->next++];
	if (yaml_parse_one(str_of(k->yaml), &crd, &err) < 0) {
		o->done(o->arg, &err);
		return;
	}
	o->call = client_apply(o->client, &crds, NULL, meta_name(crd), crd, &options, applied, o);
}

struct our_crds *our_crds_apply(struct client *c, void (*done)(void *arg, const struct error *err),
				void *arg)
{
	struct our_crds *o = xcalloc(1, sizeof(*o));
	o->client = c;
	o->done = done;
	o->arg = arg;
	apply_next(o);
	return o;
}

void our_crds_free(struct our_crds *o)
{
	if (!o)
		return;
	if (o->call)
		client_cancel(o->client, o->call);
	xfree(o);
}
