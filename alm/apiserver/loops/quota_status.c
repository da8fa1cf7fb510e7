/* quota_status: see quota_status.h. */
#include "alm/apiserver/loops/quota_status.h"

#include <string.h>

#include "alm/apiserver/kinds/resource_quota.h"
#include "alm/apiserver/loops/engine.h"
#include "alm/apiserver/resource_quotas.h"
#include "alm/base/map.h"
#include "alm/obj/meta.h"

#define PLURAL "resourcequotas"

static const struct engine controller = {
	.user = "system:serviceaccount:kube-system:resourcequota-controller",
	.manager = "kube-controller-manager"};

struct quota_status {
	struct apiserver *server;
	struct map *stale; /* NAMESPACE/NAME of those that are to be looked at */
	struct task task;
};

struct status_edit {
	struct quotas *quotas;
	const struct head *h;
};

static void edit_status(void *arg, struct obj *o)
{
	const struct status_edit *e = arg;
	const struct obj *hard = obj_path(o, "spec.hard");
	struct obj *status = obj_map(), *used = obj_map();
	OBJ_EACH (it, hard) {
		struct quantity x;
		char text[QUANTITY_TEXT_MAX];
		if (!quotas_used(e->quotas, e->h, it.key, &x))
			continue;
		quantity_print(&x, text);
		obj_set_str(used, it.key, text);
	}
	obj_set(status, "hard", obj_copy_map(hard));
	if (obj_len(used))
		obj_set(status, "used", used);
	else
		obj_unref(used);
	obj_set(o, "status", status);
}

static void keep_status(struct quota_status *k, struct head *h)
{
	struct error err = ERROR_INIT;
	struct status_edit e = {k->server->quotas, h};
	const struct obj *o = head_obj_hot(h);
	if (!o || meta_is_deleting(o))
		return;
	/* What fails at the disk comes back with the next change. */
	(void)engine_update(k->server, &controller, h, "status", edit_status, &e, &err);
}

static void look(void *arg)
{
	struct quota_status *k = arg;
	struct map_entry *e;
	for (int i = 0; i < ENGINE_BATCH && (e = map_first(k->stale)) != NULL; i++) {
		struct str ns, name;
		CLEANUP(xfreep) char *key = xstrdup(e->key);
		map_del(k->stale, key);
		(void)str_cut(str_of(key), '/', &ns, &name);
		key[ns.len] = '\0';
		struct head *h = store_find(k->server->store, "", PLURAL, key, name.ptr);
		if (h)
			keep_status(k, h);
	}
	if (map_count(k->stale))
		loop_post(k->server->loop, &k->task);
}

static void mark(struct quota_status *k, const char *ns)
{
	struct head *h;
	for (size_t i = 0; (h = quotas_at(k->server->quotas, ns, i)) != NULL; i++) {
		CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&key, "%s/%s", ns, h->name);
		map_set(k->stale, key.buf, NULL);
		loop_post(k->server->loop, &k->task);
	}
}

static void changed(void *arg, const struct change *c)
{
	struct quota_status *k = arg;
	bool is_quota = *c->resource->group == '\0' && strcmp(c->resource->plural, PLURAL) == 0;
	if (*c->ns && (!c->before || c->deleted || is_quota ||
		       quota_measures(c->resource->group, c->resource->plural)))
		mark(k, c->ns);
}

void quota_status_load(struct quota_status *k)
{
	const struct store_table *t = store_resource(k->server->store, "", PLURAL);
	for (size_t i = 0; i < t->n_heads; i++)
		mark(k, t->heads[i]->ns);
}

struct quota_status *quota_status_new(struct apiserver *s)
{
	struct quota_status *k = xcalloc(1, sizeof(*k));
	k->server = s;
	k->stale = map_new(NULL);
	k->task = (struct task){.fn = look, .arg = k};
	store_on_change(s->store, changed, k);
	return k;
}

void quota_status_free(struct quota_status *k)
{
	if (!k)
		return;
	loop_unpost(k->server->loop, &k->task);
	map_free(k->stale);
	xfree(k);
}
