/* `alm rbac APP`: the rights that the plan of a version takes, as manifests for the account of the
 * app: what the controllers ask the server for before the first write. */
#include "alm/base/visible.h"
#include "alm/cli/app_session.h"
#include "alm/cli/cmds.h"
#include "alm/cli/printer.h"
#include "alm/cli/term.h"
#include "alm/controllers/account.h"
#include "alm/controllers/plan_access.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"

#define TEXT_BYTES_MAX ((size_t)16 << 20)

struct rights {
	struct cli *c;
	struct app_session a;
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
	return session_get(x->a.session, target, &crd, &ignored) == 0;
}

/* The version that is asked for, or waits; else what runs. */
static const struct obj *strategy_of(const struct rights *x)
{
	const char *version = cli_value(x->c, "to");
	const struct obj *found = app_session_strategy(
		x->c, &x->a, version ? version : obj_str(x->a.app, "status.availableVersion"));
	if (found || version)
		return found;
	return app_session_strategy(x->c, &x->a, obj_str(x->a.app, "status.installedVersion"));
}

static int print(const struct rights *x, const struct obj *manifests, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	const char *format = cli_value(x->c, "output");
	struct printer p;
	for (size_t i = 0; !format && i < obj_len(manifests); i++) {
		if (i)
			visible_addf(&b, "---\n");
		yaml_print(obj_at(manifests, i), &b);
	}
	if (format) {
		CLEANUP(obj_unrefp) struct obj *list = obj_map();
		obj_set_str(list, "apiVersion", "v1");
		obj_set_str(list, "kind", "List");
		obj_set(list, "items", obj_ref(manifests));
		if (printer_parse(format, &p, err) < 0 || printer_object(&p, list, &b, err) < 0)
			return -err->code;
	}
	if (format)
		printer_write(&p, strbuf_str(&b));
	else
		term_lines(strbuf_str(&b));
	return 0;
}

static int rights(struct rights *x, struct error *err)
{
	const struct plan_kinds kinds = {kind_of, has_crd, x};
	const struct obj *strategy = strategy_of(x), *plan;
	struct access access;
	if (!strategy)
		return error_set(err, E_NOTFOUND,
				 "%s has no plan of a version; `alm why %s` tells the reason",
				 x->app.name, x->app.name);
	plan = app_session_plan(x->c, &x->a, strategy, err);
	if (!plan)
		return -err->code;
	x->discovery = session_discovery(x->a.session, err);
	if (!x->discovery)
		return -err->code;
	struct access_input in = plan_access(plan, &kinds, x->app.account.is_default, x->c->arena);
	if (access_rules(&in, x->c->arena, &access, err) < 0)
		return -err->code;
	struct access_grantee g = plan_grantee(&x->app, x->c->arena);
	CLEANUP(obj_unrefp) struct obj *list = access_manifests(&access, NULL, &g);
	return print(x, list, err);
}

static int rbac_run(struct cli *c, struct error *err)
{
	struct rights x = {.c = c};
	int r = app_session_open(c, c->args[0], &x.a, err);
	if (!r) {
		const char *ns = obj_str(x.a.app, "spec.installNamespace");
		x.app.o = x.a.app;
		x.app.name = meta_name(x.a.app);
		x.app.install_namespace = ns ? ns : x.app.name;
		account_of(&x.app, c->arena);
		r = rights(&x, err);
	}
	app_session_release(&x.a);
	return r;
}

static const struct cmd_option options[] = {
	{"to", "VERSION", "the version to be installed (default: the available one)", 0},
	{"output", "FORMAT", "yaml (default, as documents), json", 'o'},
	{0},
};

const struct cmd cmd_rbac = {
	.name = "rbac",
	.usage = "alm rbac APP [--to VERSION] [-o FORMAT]",
	.summary = "print the rights that an install takes, as manifests",
	.description = "Roles and bindings for the account of the app: the smallest that write its "
		       "objects, "
		       "run its hooks and hand on what its own Roles give. Before the first write "
		       "ALM asks "
		       "the server for each; what is missing blocks the version with reason "
		       "Forbidden. The "
		       "account is spec.serviceAccountName, else ALM's own for the app, which has "
		       "what the "
		       "operator of one namespace needs.",
	.examples = "alm rbac etcd | kubectl apply -f -",
	.options = options,
	.args = {1, 1},
	.run = rbac_run,
};
