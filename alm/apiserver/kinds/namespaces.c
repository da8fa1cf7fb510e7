/* namespaces: see namespaces.h. */
#include "alm/apiserver/kinds/namespaces.h"

#include <string.h>

#include "alm/apiserver/kinds/namespace_left.h"
#include "alm/apiserver/kinds/services.h"
#include "alm/apiserver/loops/engine.h"
#include "alm/apiserver/loops/later.h"
#include "alm/base/map.h"
#include "alm/obj/meta.h"

#define ROOT_CA "kube-root-ca.crt"

#define REFUSED_MAX 1000 /* deletions in one turn; what is behind them waits until some are not */

static const struct engine controller = {"system:serviceaccount:kube-system:namespace-controller",
					 "kube-controller-manager", .asks = true};

struct namespaces {
	struct apiserver *server;
	struct map *pending; /* names to look at */
	struct task task;
	struct later_names later;
};

static void look_at(void *arg, const char *name)
{
	struct namespaces *n = arg;
	map_set(n->pending, name, NULL);
	loop_post(n->server->loop, &n->task);
}

static struct head *namespace_of(struct namespaces *n, const char *name)
{
	return store_find(n->server->store, "", "namespaces", "", name);
}

/* Where a pod would find the server: clients and charts look for it. */
static void ensure_kubernetes(struct namespaces *n)
{
	struct error err = ERROR_INIT;
	struct obj *o = meta_skeleton("v1", "Service", "default", "kubernetes");
	struct obj *port = obj_map(), *ports = obj_list();
	meta_set_label(o, "component", "apiserver");
	meta_set_label(o, "provider", "kubernetes");
	obj_set_str(port, "name", "https");
	obj_set_str(port, "protocol", "TCP");
	obj_set_int(port, "port", 443);
	obj_set_int(port, "targetPort", 6443);
	obj_append(ports, port);
	obj_set_path(o, "spec.ports", ports);
	obj_set_path(o, "spec.clusterIP", obj_string(SERVICES_KUBERNETES));
	engine_ensure(n->server, o, &err);
}

static void edit_ca(void *arg, struct obj *o)
{
	const struct namespaces *n = arg;
	const char *pem = n->server->config.ca_pem;
	struct obj *data = obj_map();
	obj_set_str(data, "ca.crt", pem ? pem : "");
	obj_set(o, "data", data);
	meta_set_annotation(o, "kubernetes.io/description",
			    "Contains a CA bundle that can be used to verify the kube-apiserver "
			    "when using internal endpoints such as the internal service IP or "
			    "kubernetes.default.svc.");
}

/* Whoever changes it: Pods trust what it says, and a server may have got another CA. */
static void ensure_ca(struct namespaces *n, const char *name)
{
	struct error err = ERROR_INIT;
	struct head *h = store_find(n->server->store, "", "configmaps", name, ROOT_CA);
	if (h) {
		engine_update(n->server, &controller, h, "", edit_ca, n, &err);
		return;
	}
	struct obj *ca = meta_skeleton("v1", "ConfigMap", name, ROOT_CA);
	obj_set_path(ca, "metadata.annotations", obj_map());
	edit_ca(n, ca);
	engine_ensure(n->server, ca, &err);
}

/* A living namespace has a ServiceAccount and the CA of the server. */
static void ensure(struct namespaces *n, const char *name)
{
	struct error err = ERROR_INIT;
	struct obj *account = meta_skeleton("v1", "ServiceAccount", name, "default");
	engine_ensure(n->server, account, &err);
	ensure_ca(n, name);
	if (cstr_eq(name, "default"))
		ensure_kubernetes(n);
}

/* Deletes up to a batch of the namespace's objects; true if there may be more to delete. */
static bool empty_some(struct namespaces *n, const char *name, struct namespace_left *l)
{
	int left = ENGINE_BATCH;
	for (size_t i = 0; i < store_n_resources(n->server->store); i++) {
		struct store_table *res = store_resource_at(n->server->store, i);
		if (!engine_kind(n->server, res))
			continue;
		size_t j = resource_lower_bound(res, name, ""), failed_before = l->n_failed;
		while (j < res->n_heads && strcmp(res->heads[j]->ns, name) == 0) {
			struct error err = ERROR_INIT;
			struct head *h = res->heads[j];
			if (strstr(h->text->bytes, "\"deletionTimestamp\":")) {
				j++;
				continue;
			}
			if (left == 0 || l->n_failed == REFUSED_MAX)
				return left == 0;
			if (engine_delete(n->server, &controller, h, PROPAGATE_BACKGROUND, &err) <
			    0) {
				if (!l->n_failed)
					l->failure = err;
				l->n_failed_kinds += l->n_failed++ == failed_before;
				j++;
				continue;
			}
			left--;
			if (j < res->n_heads && res->heads[j] == h)
				j++;
		}
	}
	return false;
}

/* Its own finalizer alone: others are somebody else's to remove. */
static void edit_finalize(void *arg, struct obj *o)
{
	(void)arg;
	struct obj *list = obj_get_mut(obj_get_mut(o, "spec"), "finalizers");
	for (size_t i = obj_len(list); i-- > 0;)
		if (cstr_eq(obj_as_string(obj_at(list, i)), "kubernetes"))
			obj_del_at(list, i);
	if (!obj_len(list))
		obj_del_path(o, "spec.finalizers");
}

struct remaining {
	const struct namespace_left *left;
	int64_t now_ns;
};

static void edit_remaining(void *arg, struct obj *o)
{
	const struct remaining *r = arg;
	if (!obj_path(o, "status.conditions"))
		obj_set_path(o, "status.conditions", obj_list());
	namespace_left_tell(r->left, obj_get_mut(obj_get_mut(o, "status"), "conditions"),
			    r->now_ns);
}

static void terminate(struct namespaces *n, struct head *h)
{
	struct error err = ERROR_INIT;
	CLEANUP(namespace_left_release) struct namespace_left left;
	CLEANUP(xfreep) char *name = xstrdup(h->name);
	namespace_left_init(&left);
	if (empty_some(n, name, &left)) {
		look_at(n, name);
		return;
	}
	if (left.n_failed)
		later_add(&n->later, name);
	namespace_left_count(&left, n->server, name);
	struct remaining r = {&left, loop_now(n->server->loop)};
	h = namespace_of(n, name);
	if (h && left.n == 0) {
		engine_update(n->server, &controller, h, "finalize", edit_finalize, NULL, &err);
		h = namespace_of(n, name);
	}
	if (h)
		engine_update(n->server, &controller, h, "status", edit_remaining, &r, &err);
}

static void process(struct namespaces *n, const char *name)
{
	struct head *h = namespace_of(n, name);
	if (!h)
		return;
	if (meta_is_deleting(head_obj_hot(h)))
		terminate(n, h);
	else
		ensure(n, name);
}

static void run(void *arg)
{
	struct namespaces *n = arg;
	int left = ENGINE_BATCH;
	for (struct map_entry *e = map_first(n->pending); e && left;
	     e = map_first(n->pending), left--) {
		CLEANUP(xfreep) char *name = xstrdup(e->key);
		bool again;
		map_del(n->pending, name);
		process(n, name);
		again = map_has(n->pending, name);
		if (again) /* the rest in the next turn */
			break;
	}
	if (map_count(n->pending))
		loop_post(n->server->loop, &n->task);
}

static bool is_ca(const struct change *c)
{
	return *c->resource->group == '\0' && cstr_eq(c->resource->plural, "configmaps") &&
	       cstr_eq(c->name, ROOT_CA);
}

static bool is_default_content(const struct change *c)
{
	return is_ca(c) ||
	       (*c->resource->group == '\0' &&
		((cstr_eq(c->resource->plural, "serviceaccounts") && cstr_eq(c->name, "default")) ||
		 (cstr_eq(c->resource->plural, "services") && cstr_eq(c->name, "kubernetes"))));
}

static bool is_empty(const struct namespaces *n, const char *ns)
{
	for (size_t i = 0; i < store_n_resources(n->server->store); i++) {
		const struct store_table *t = store_resource_at(n->server->store, i);
		size_t j = resource_lower_bound(t, ns, "");
		if (j < t->n_heads && strcmp(t->heads[j]->ns, ns) == 0)
			return false;
	}
	return true;
}

static void changed(void *arg, const struct change *c)
{
	struct namespaces *n = arg;
	bool is_ns = *c->resource->group == '\0' && cstr_eq(c->resource->plural, "namespaces");
	if (is_ns && !c->deleted) {
		look_at(n, c->name);
		return;
	}
	if (!*c->ns || (!c->deleted && !is_ca(c)))
		return;
	struct head *h = namespace_of(n, c->ns);
	bool ends = h && meta_is_deleting(head_obj_hot(h));
	if (h && ((!ends && is_default_content(c)) || (ends && is_empty(n, c->ns))))
		look_at(n, c->ns);
	else if (ends) /* what is left is counted anew once in a while, not for each that goes */
		later_add(&n->later, c->ns);
}

int namespaces_load(struct namespaces *n, struct error *err)
{
	/* The last one for what ALM is given before it writes there: Secrets of catalogs and of git. */
	static const char *const initial[] = {"default", "kube-node-lease", "kube-public",
					      "kube-system", "alm-system"};
	size_t count = ARRAY_LEN(initial) - !n->server->config.own_controllers;
	for (size_t i = 0; i < count; i++)
		if (engine_ensure(n->server, meta_skeleton("v1", "Namespace", NULL, initial[i]),
				  err) < 0)
			return error_wrap(err, "namespace %s", initial[i]);
	const struct store_table *res = store_resource(n->server->store, "", "namespaces");
	for (size_t i = 0; i < res->n_heads; i++)
		look_at(n, res->heads[i]->name);
	return 0;
}

struct namespaces *namespaces_new(struct apiserver *s)
{
	struct namespaces *n = xcalloc(1, sizeof(*n));
	n->server = s;
	n->pending = map_new(NULL);
	later_init(&n->later, s->loop, look_at, n);
	n->task.fn = run;
	n->task.arg = n;
	store_on_change(s->store, changed, n);
	return n;
}

void namespaces_free(struct namespaces *n)
{
	if (!n)
		return;
	loop_unpost(n->server->loop, &n->task);
	later_release(&n->later);
	map_free(n->pending);
	xfree(n);
}
