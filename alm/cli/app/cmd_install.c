/* `alm install [NAME] CATALOG/CHART`: the AppType of a chart of a catalog, as `helm install` would
 * have it: one command, no YAML. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/cli/app/install_wait.h"
#include "alm/cli/app/own_manifest.h"
#include "alm/cli/chart/template_args.h"
#include "alm/cli/cmds.h"
#include "alm/cli/nearest.h"
#include "alm/cli/term.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "installers/format/json_go.h"

#define VALUES_BYTES_MAX ((size_t)1 << 20) /* of one object there is hardly more */
#define RESOLVE_NS       (15 * NS_PER_S)   /* without --wait: until a wrong word is found */
#define FRESH_FILE_NS    (3 * NS_PER_S)
#define LOOK_NS          (NS_PER_S / 4)
#define WAIT_NS          (5 * NS_PER_MIN) /* as helm */

struct install {
	struct cli *c;
	const char *name, *catalog, *chart;
};

static int read_args(struct install *x, struct error *err)
{
	struct cli *c = x->c;
	struct str catalog, chart;
	const char *what = c->args[c->n_args - 1];
	if (!str_cut(str_of(what), '/', &catalog, &chart) || !catalog.len || !chart.len ||
	    strstr(what, "://") || catalog.ptr[0] == '.' || str_find_char(chart, '/') >= 0)
		return error_set(err, E_USAGE,
				 "%s: want CATALOG/CHART; `alm catalog add CATALOG URL` makes a "
				 "catalog of a Helm repository, a registry or a folder",
				 what);
	x->catalog = arena_strndup(c->arena, catalog.ptr, catalog.len);
	x->chart = arena_strndup(c->arena, chart.ptr, chart.len);
	x->name = c->n_args > 1 ? c->args[0] : x->chart;
	if (!name_is_dns_label(str_of(x->name)))
		return error_set(err, E_USAGE,
				 "%s: the name of an app has small letters, digits and '-', 63 at "
				 "most; `alm install NAME %s` gives another",
				 x->name, what);
	return 0;
}

/* --- values --- */

static const char *const value_flags[] = {"values",   "set",      "set-string",
					  "set-json", "set-file", "set-literal"};

/* The words of helm's own flags, so that they mean the same. */
static int parse_values(struct cli *c, struct template_args *ret, struct strbuf *msg)
{
	size_t n = 0;
	char **words = ARENA_ARRAY(c->arena, char *, c->n_values + 1);
	for (size_t k = 0; k < ARRAY_LEN(value_flags); k++) {
		const char *value;
		for (size_t i = 0; (value = cli_value_at(c, value_flags[k], i)); i++)
			words[n++] = arena_strdup(
				c->arena, arena_fmt(c->arena, "--%s=%s", value_flags[k], value));
	}
	if (template_args_parse_words(c->arena, (int)n, words, ret, msg) < 0)
		return -E_USAGE;
	for (size_t i = 0; i < ret->values.n; i++)
		if (strstr(ret->values.items[i], "://")) {
			visible_addf(msg, "%s: values are files here: fetch it, then give the file",
				     ret->values.items[i]);
			return -E_USAGE;
		}
	return 0;
}

/* *ret: owned; NULL: none were given. */
static int read_values(struct cli *c, struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(VALUES_BYTES_MAX);
	struct template_args args;
	struct vmap *values;
	*ret = NULL;
	int r = parse_values(c, &args, &msg);
	if (r >= 0)
		r = template_args_values(c->arena, &args, &values, &msg);
	if (r >= 0 && vmap_count(values))
		r = json_go_encode(value_map(values), 0, &text, &msg);
	if (r < 0)
		return error_set(err, -r, "%s", msg.buf);
	if (!text.len)
		return 0;
	if (strbuf_check(&text, "the values", err) < 0)
		return -err->code;
	return json_parse(strbuf_str(&text), ret, err);
}

/* --- the object --- */

static void set_if(struct obj *o, const char *path, const char *value)
{
	if (value)
		obj_set_path(o, path, obj_string(value));
}

static int make_app(const struct install *x, struct obj **ret, struct error *err)
{
	struct cli *c = x->c;
	CLEANUP(obj_unrefp) struct obj *o =
		meta_skeleton("app.coreos.com/v1beta1", "AppType", NULL, x->name);
	const char *type = cli_value(c, "type");
	struct obj *values;
	if (read_values(c, &values, err) < 0)
		return -err->code;
	set_if(o, "spec.type", type ? type : x->catalog);
	set_if(o, "spec.catalog", x->catalog);
	set_if(o, "spec.package", x->chart);
	set_if(o, "spec.version", cli_value(c, "version"));
	set_if(o, "spec.installNamespace", cli_value(c, "namespace"));
	set_if(o, "spec.serviceAccountName", cli_value(c, "service-account"));
	set_if(o, "spec.upgrade.mode", cli_value(c, "mode"));
	if (values)
		obj_set_path(o, "spec.values", values);
	*ret = STEAL(o);
	return 0;
}

static int check_chart(const struct install *x, const struct obj *catalog, struct error *err)
{
	const struct obj *names = obj_path(catalog, "status.packageNames");
	for (size_t i = 0; i < obj_len(names); i++)
		if (cstr_eq(obj_as_string(obj_at(names, i)), x->chart))
			return 0;
	if ((int64_t)obj_len(names) < obj_i64(catalog, "status.packages", 0))
		return 0; /* not all are listed: the resolver says */
	return error_set(err, E_NOTFOUND,
			 "catalog %s has no chart %s%s; it has %zu: "
			 "kubectl get catalog %s -o jsonpath='{.status.packageNames}'",
			 x->catalog, x->chart, nearest_hint(x->chart, names, "", x->c->arena),
			 obj_len(names), x->catalog);
}

/* What was put into a folder just now is read when it has been quiet for a moment (source.h). */
static int find_chart(const struct install *x, struct session *s, int64_t end_ns,
		      const struct obj **ret, struct error *err)
{
	int64_t until = loop_mono(session_loop(s)) + FRESH_FILE_NS;
	for (;;) {
		struct error missing = ERROR_INIT;
		if (install_wait_catalog(x->c, s, x->catalog, end_ns, ret, err) < 0)
			return -err->code;
		if (check_chart(x, *ret, &missing) == 0)
			return 0;
		bool is_folder = cstr_has_prefix(obj_str(*ret, "spec.source.url"), "dir://");
		if (!is_folder || loop_mono(session_loop(s)) >= until)
			return error_copy(err, &missing);
		(void)session_run(s, LOOK_NS);
	}
}

static int create(const struct install *x, struct session *s, const struct obj *app,
		  const struct obj **ret, struct error *err)
{
	struct resource r;
	struct session_reply reply;
	if (session_kind(s, app, &r, err) < 0)
		return -err->code;
	struct session_request q = {
		.method = "POST",
		.target = session_target(s, &r, NULL, NULL,
					 "fieldManager=alm-cli&fieldValidation=Strict"),
		.body = app};
	int rc = session_send(s, &q, &reply, err);
	if (rc == -E_EXISTS)
		return error_set(err, E_EXISTS,
				 "there is an app %s already: `alm status %s` tells about it; "
				 "`alm install NAME %s/%s` installs another",
				 x->name, x->name, x->catalog, x->chart);
	if (rc < 0)
		return rc;
	*ret = reply.body;
	term_print("apptype.app.coreos.com/%s created\n", x->name);
	return 0;
}

static int print_app(const struct obj *app)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(2 * VALUES_BYTES_MAX);
	yaml_print(app, &b);
	return term_data(strbuf_str(&b)) ? -E_IO : 0;
}

static int install(struct install *x, struct session *s, const struct obj *app, struct error *err)
{
	struct cli *c = x->c;
	bool wait = cli_flag(c, "wait") || cli_flag(c, "grant");
	const struct obj *catalog = NULL, *created = NULL;
	int64_t timeout = 0;
	if (cli_duration(c, "timeout", wait ? WAIT_NS : RESOLVE_NS, &timeout, err) < 0)
		return -err->code;
	int64_t end = loop_mono(session_loop(s)) + timeout;
	if (find_chart(x, s, end, &catalog, err) < 0 || create(x, s, app, &created, err) < 0)
		return -err->code;
	struct install_wait w = {.c = c,
				 .s = s,
				 .app = created,
				 .catalog = x->catalog,
				 .package = x->chart,
				 .end_ns = end,
				 .wait = wait,
				 .grant = cli_flag(c, "grant")};
	return install_wait_app(&w, err);
}

/* An option of the other form would be taken and do nothing. */
static int check_form(const struct cli *c, bool is_own, struct error *err)
{
	static const char *const of_charts[] = {
		"version",     "values", "set",  "set-string",      "set-json", "set-file",
		"set-literal", "mode",   "type", "service-account", "grant"};
	static const char *const of_own[] = {"image", "log-volume"};
	const char *const *wrong = is_own ? of_charts : of_own;
	size_t n = is_own ? ARRAY_LEN(of_charts) : ARRAY_LEN(of_own);
	const char *ns = is_own ? cli_value(c, "namespace") : NULL;
	if (ns && !cstr_eq(ns, OWN_NAMESPACE))
		return error_set(err, E_USAGE, "--namespace %s: ALM works from " OWN_NAMESPACE, ns);
	for (size_t i = 0; i < n; i++)
		if (cli_value(c, wrong[i]))
			return error_set(
				err, E_USAGE,
				is_own ? "--%s is of the chart of a catalog; ALM itself gets "
					 "values by helm (deploy/README.md)"
				       : "--%s is of ALM itself: with --to-cluster",
				wrong[i]);
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	CLEANUP(obj_unrefp) struct obj *app = NULL;
	struct install x = {.c = c};
	if (check_form(c, cli_flag(c, "to-cluster"), err) < 0)
		return -err->code;
	if (cli_flag(c, "to-cluster"))
		return own_manifest_install(c, err);
	if (!c->n_args)
		return error_set(err, E_USAGE, "CATALOG/CHART is missing");
	if (read_args(&x, err) < 0 || make_app(&x, &app, err) < 0)
		return -err->code;
	if (cli_flag(c, "dry-run"))
		return print_app(app);
	if (session_open(c, &s, err) < 0)
		return -err->code;
	return install(&x, s, app, err);
}

static const struct cmd_option options[] = {
	{"version", "RANGE",
	 "versions that may be installed (default: the highest, upgraded as "
	 "new ones appear)",
	 0},
	{"values", "FILE", "values of the chart; may be given again, as the --set flags", 'f'},
	{"set", "KEY=VALUE", "one value, as helm reads it", 0},
	{"set-string", "KEY=VALUE", "the same, always a string", 0},
	{"set-json", "KEY=JSON", "the same, as JSON", 0},
	{"set-file", "KEY=FILE", "the same, the text of a file", 0},
	{"set-literal", "KEY=VALUE", "the same, taken as it is", 0},
	{"mode", "MODE", "upgrades: Automatic (default), Manual or None", 0},
	{"service-account", "NAME", "whose rights are used (default: an account of the app's own)",
	 0},
	{"type", "TYPE", "type of the app, a reversed domain (default: the catalog's name)", 0},
	{"wait", NULL, "until it is installed; ends with 3 and the next step if it waits for you",
	 0},
	{"grant", NULL,
	 "--wait, and give the app what it lacks, out of your rights: what alm rbac prints, and a "
	 "namespace that was there before",
	 0},
	{"timeout", "DURATION", "of --wait (default 5m)", 0},
	{"dry-run", NULL, "print the AppType (--to-cluster: the manifest) as YAML, create nothing",
	 0},
	{"to-cluster", NULL, "ALM itself onto this cluster: deploy/manifests/alm.yaml", 0},
	{"image", "REFERENCE", "with --to-cluster: where the nodes find the image of `make image`",
	 0},
	{"log-volume", "NODE:/PATH",
	 "with --to-cluster, on a cluster without a default StorageClass: a folder that is there "
	 "on "
	 "a node, for the audit log",
	 0},
	{0},
};

const struct cmd cmd_install = {
	.name = "install",
	.usage = "alm install [NAME] CATALOG/CHART [--version RANGE] [-n NAMESPACE] [-f FILE] "
		 "[--set KEY=VALUE] [--wait|--grant]\n"
		 "alm install --to-cluster [--image REFERENCE] [--log-volume NODE:/PATH] [--wait]",
	.summary = "install a chart of a catalog",
	.description =
		"Creates an AppType. NAME is the chart's and -n (the namespace, made when "
		"missing) the app's if they are not given. A chart or version that the "
		"catalog does not have is refused, and nothing stays. --to-cluster: ALM "
		"itself, or a newer version of it; alm uninstall --from-cluster takes it off.",
	.examples = "alm catalog add jetstack https://charts.jetstack.io\n"
		    "alm install jetstack/cert-manager -n cert-manager --set crds.enabled=true "
		    "--grant",
	.options = options,
	.args = {0, 2},
	.run = run,
};
