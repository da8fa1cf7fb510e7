#include "alm/controllers/catalog_work.h"

#include "alm/controllers/manager_internal.h"
#include "alm/controllers/object_metrics.h"
#include "alm/controllers/work/policy.h"
#include "alm/sources/credentials.h"

#define SECRET_REF "spec.source.secretRef"

struct catalog_slot *catalog_slot_get(struct manager *m, const char *name)
{
	return map_get(m->catalogs, name);
}

static void tell_refused(void *arg);

struct catalog_work *catalog_work_new(struct manager *m, const char *name,
				      const struct obj *catalog)
{
	struct catalog_work *w = xcalloc(1, sizeof(*w));
	w->m = m;
	w->name = xstrdup(name);
	w->catalog = obj_ref(catalog);
	w->refuse = (struct task){.fn = tell_refused, .arg = w};
	TAILQ_INSERT_TAIL(&m->works, w, link);
	return w;
}

void catalog_work_free(struct catalog_work *w)
{
	struct catalog_slot *s = catalog_slot_get(w->m, w->name);
	if (s && s->work == w)
		s->work = NULL;
	TAILQ_REMOVE(&w->m->works, w, link);
	loop_unpost(w->m->c.loop, &w->refuse);
	obj_unref(w->catalog);
	obj_unref(w->secret);
	obj_unref(w->keys);
	xfree(w->name);
	xfree(w->digest);
	xfree(w);
}

static void work_cancel(struct catalog_work *w)
{
	if (w->call)
		client_cancel(w->m->c.client, w->call);
	sync_cancel(w->sync);
	archive_fetch_cancel(w->fetch);
	catalog_work_free(w);
}

void catalog_work_fail(struct catalog_work *w, const struct error *err)
{
	if (w->next && w->next(w))
		return;
	if (w->synced)
		w->synced(w->arg, NULL, "", err);
	else
		w->fetched(w->arg, STR_NONE, err);
	catalog_work_free(w);
}

static void tell_refused(void *arg)
{
	struct catalog_work *w = arg;
	catalog_work_fail(w, &w->refused);
}

void catalog_work_refuse(struct catalog_work *w, const struct error *err)
{
	w->refused = *err;
	loop_post(w->m->c.loop, &w->refuse);
}

void manager_catalogs_stop(struct manager *m)
{
	struct catalog_work *w;
	while ((w = TAILQ_FIRST(&m->works)) != NULL)
		work_cancel(w);
}

static void secret_came(void *arg, const struct client_reply *reply)
{
	struct catalog_work *w = arg;
	w->call = NULL;
	if (reply->err) {
		struct error err = *reply->err;
		if (err.code == E_NOTFOUND)
			credentials_absent(obj_str(w->catalog, SECRET_REF ".name"), &err);
		error_wrap(&err, SECRET_REF);
		catalog_work_fail(w, &err);
		return;
	}
	w->secret = obj_ref(reply->body);
	w->run(w);
}

/* Read again each time: a changed password is used at once, and none is kept. */
void catalog_work_start(struct catalog_work *w)
{
	struct error err = ERROR_INIT;
	const char *name = obj_str(w->catalog, SECRET_REF ".name");
	const struct resource *r = discovery_kind(w->m->discovery, "", "v1", "Secret");
	if (!name || source_path(w->catalog, "dir://") || source_path(w->catalog, "file://")) {
		w->run(w);
		return;
	}
	if (!r)
		error_set(&err, E_UNAVAILABLE, "the server does not say what a Secret is");
	else
		credentials_check_namespace(obj_str(w->catalog, SECRET_REF ".namespace"), &err);
	if (err.code) {
		error_wrap(&err, SECRET_REF);
		catalog_work_refuse(w, &err);
		return;
	}
	w->call = client_get(w->m->c.client, r, CREDENTIALS_NAMESPACE, name, NULL, secret_came, w);
}

static void keys_came(void *arg, const struct client_reply *reply)
{
	struct catalog_work *w = arg;
	struct error err = ERROR_INIT;
	const struct obj *keys;
	w->call = NULL;
	if (reply->err) {
		err = *reply->err;
		error_wrap(&err, "spec.verify.keysRef");
		error_set_reason(&err, REASON_SIGNATURE_INVALID);
	} else if (policy_keys(w->catalog, reply->body, &keys, w->policy, &err) == 0) {
		w->keys = obj_ref(keys);
		w->keys_known(w);
		return;
	}
	catalog_work_fail(w, &err);
}

void catalog_work_begin(struct catalog_work *w)
{
	struct error err = ERROR_INIT;
	const char *name;
	const struct resource *r = discovery_kind(w->m->discovery, "", "v1", "ConfigMap");
	obj_unref(STEAL(w->keys));
	w->policy[0] = 0;
	if (!policy_wanted(w->catalog)) {
		w->keys_known(w);
		return;
	}
	if (!r)
		error_set(&err, E_UNAVAILABLE, "the server does not say what a ConfigMap is");
	else
		policy_keys_name(w->catalog, &name, &err);
	if (err.code)
		catalog_work_refuse(w, &err);
	else
		w->call = client_get(w->m->c.client, r, POLICY_NAMESPACE, name, NULL, keys_came, w);
}

struct sync_host catalog_work_host(struct manager *m)
{
	return (struct sync_host){.loop = m->c.loop,
				  .files = m->c.files,
				  .sandbox = m->c.sandbox,
				  .addresses = m->c.addresses};
}
