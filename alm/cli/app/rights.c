/* rights.c: see rights.h. */
#include "alm/cli/app/rights.h"

#include "alm/controllers/app/account.h"
#include "alm/controllers/app/plan_access.h"
#include "alm/obj/meta.h"

struct rights {
	struct cli *c;
	struct app_session *a;
	const struct discovery *discovery;
	struct app app;
};

static const struct resource *kind_of(void *arg, const char *group, const char *version,
				      const char *kind)
{
	const struct rights *x = arg;
	return discovery_kind(x->discovery, group, version, kind);
}

/* What cannot be read is taken for absent: the rules on its objects are ALM's to give then. */
static bool has_crd(void *arg, const char *name)
{
	struct rights *x = arg;
	struct error ignored;
	const struct obj *crd;
	const char *target =
		arena_fmt(x->c->arena, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s",
			  url_encode(str_of(name), x->c->arena));
	return session_get(x->a->session, target, &crd, &ignored) == 0;
}

/* The version that is asked for, or waits; else what runs. */
static const struct obj *strategy_of(const struct rights *x, const char *version)
{
	const struct obj *found = app_session_strategy(
		x->c, x->a, version ? version : obj_str(x->a->app, "status.availableVersion"));
	if (found || version)
		return found;
	return app_session_strategy(x->c, x->a, obj_str(x->a->app, "status.installedVersion"));
}

/* Applied, the manifests replace those of the version that runs. It keeps its rights until the next
 * one has succeeded: the way back takes them, and so does deleting what only it had. */
static int with_installed(struct rights *x, const struct obj *strategy, const struct obj **plan,
			  struct error *err)
{
	static const char *const parts[] = {"objects", "hooks"};
	const char *installed = obj_str(x->a->app, "status.installedVersion");
	const struct obj *old = installed ? app_session_strategy(x->c, x->a, installed) : NULL;
	if (!old || cstr_eq(meta_name(old), meta_name(strategy)))
		return 0;
	const struct obj *former = app_session_plan(x->c, x->a, old, err);
	if (!former)
		return -err->code;
	struct obj *both = obj_keep(x->c->arena, obj_copy(*plan));
	for (size_t p = 0; p < ARRAY_LEN(parts); p++) {
		const struct obj *more = obj_get(former, parts[p]);
		struct obj *list = obj_copy_list(obj_get(both, parts[p]));
		for (size_t i = 0; i < obj_len(more); i++)
			obj_append(list, obj_ref(obj_at(more, i)));
		obj_set(both, parts[p], list);
	}
	*plan = both;
	return 0;
}

static int manifests_of(struct rights *x, const char *version, struct obj **ret, struct error *err)
{
	const struct plan_kinds kinds = {kind_of, has_crd, x};
	const struct obj *strategy = strategy_of(x, version), *plan;
	struct access access;
	if (!strategy)
		return error_set(err, E_NOTFOUND,
				 "%s has no plan of a version; `alm why %s` shows the reason",
				 x->app.name, x->app.name);
	plan = app_session_plan(x->c, x->a, strategy, err);
	if (!plan || with_installed(x, strategy, &plan, err) < 0)
		return -err->code;
	x->discovery = session_discovery(x->a->session, err);
	if (!x->discovery)
		return -err->code;
	struct access_input in = plan_access(plan, &kinds, x->app.account.is_default, x->c->arena);
	if (access_rules(&in, x->c->arena, &access, err) < 0)
		return -err->code;
	struct access_grantee g = plan_grantee(&x->app, x->c->arena);
	*ret = access_manifests(&access, NULL, &g);
	return 0;
}

int rights_manifests(struct cli *c, struct app_session *a, const char *version, struct obj **ret,
		     struct error *err)
{
	const char *ns = obj_str(a->app, "spec.installNamespace");
	struct rights x = {.c = c, .a = a};
	x.app.o = a->app;
	x.app.name = meta_name(a->app);
	x.app.install_namespace = ns ? ns : x.app.name;
	account_of(&x.app, c->arena);
	return manifests_of(&x, version, ret, err);
}
