/* `alm catalog list|show|add`: what is in a source of chart archives; a Catalog made of one. */
#include <string.h>

#include "alm/cli/catalog_source.h"
#include "alm/cli/cli.h"
#include "alm/cli/cmd_catalog.h"
#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"

static void print_version(const struct package_version *p)
{
	term_print("%-24s %-14.*s sha256:%.12s  ", p->package, STR_ARG(p->version.text), p->digest);
	for (size_t i = 0; i < p->n_provides; i++)
		term_print("%s%s", i ? "," : "", p->provides[i]);
	term_print("%s\n", p->withdrawn ? "withdrawn" : p->ambiguous ? "ambiguous" : "");
}

static void print_list(const char *title, const char *const *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		term_print("%s%s", i ? ", " : title, items[i]);
	if (n)
		term_print("\n");
}

static void print_details(const struct package_version *p)
{
	if (p->app_type)
		term_print("    appType   %s\n", p->app_type);
	print_list("    channels  ", p->channels, p->n_channels);
	if (p->min_kube_version)
		term_print("    needs     Kubernetes %s\n", p->min_kube_version);
	if (p->replaces)
		term_print("    replaces  %s\n", p->replaces);
	print_list("    skips     ", p->skips, p->n_skips);
	if (p->skip_range)
		term_print("    skipRange %s\n", p->skip_range);
	for (size_t k = 0; k < p->n_requires; k++)
		term_print("    requires  %s %s\n", p->requires[k].resource,
			   p->requires[k].versions ? p->requires[k].versions : "*");
	for (size_t k = 0; k < p->n_conflicts; k++)
		term_print("    conflicts %s %s\n", p->conflicts[k].package,
			   p->conflicts[k].versions);
	print_list("    images    ", p->images, p->n_images);
	if (p->rollback_unsafe)
		term_print("    rollback  Unsafe\n");
	if (p->withdrawn)
		term_print("    withdrawn %s\n", p->withdrawn);
	if (p->ambiguous)
		term_print("    ambiguous %s\n", p->ambiguous);
	if (p->deprecated)
		term_print("    deprecated %s\n", p->deprecation ? p->deprecation : "");
}

static int list_run(struct cli *c, struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = NULL;
	if (catalog_source_read(c, c->args[0], &s, err) < 0)
		return -err->code;
	const struct catalog_index *x = catalog_source_index(s);
	for (size_t i = 0; i < x->n; i++)
		print_version(x->versions[i]);
	if (x->n_rejected)
		term_error("%zu entr%s left out: alm catalog lint %s\n", x->n_rejected,
			   x->n_rejected == 1 ? "y is" : "ies are", c->args[0]);
	return 0;
}

static int show_run(struct cli *c, struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = NULL;
	size_t n;
	if (catalog_source_read(c, c->args[0], &s, err) < 0)
		return -err->code;
	const struct catalog_index *x = catalog_source_index(s);
	struct package_version *const *all = index_package(x, c->args[1], &n);
	if (!n)
		return error_set(err, E_NOTFOUND, "%s has no package %s", c->args[0], c->args[1]);
	for (size_t i = 0; i < n; i++) {
		print_version(all[i]);
		print_details(all[i]);
	}
	return 0;
}

static const struct cmd_option options[] = {CATALOG_SOURCE_OPTIONS, {0}};

static const struct cmd cmd_list = {
	.name = "list",
	.usage = "alm catalog list SOURCE",
	.summary = "list packages, versions, digests and what they provide",
	.options = options,
	.args = {1, 1},
	.run = list_run,
};
static const struct cmd cmd_show = {
	.name = "show",
	.usage = "alm catalog show SOURCE PACKAGE",
	.summary = "show every version of a package with its descriptor",
	.options = options,
	.args = {2, 2},
	.run = show_run,
};
static int add_run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	CLEANUP(obj_unrefp) struct obj *o =
		meta_skeleton("app.coreos.com/v1alpha1", "Catalog", NULL, c->args[0]);
	const char *secret = cli_value(c, "secret"), *interval = cli_value(c, "interval");
	struct str ns, name;
	int64_t priority = 0;
	struct resource r;
	obj_set_path(o, "spec.source.url", obj_string(c->args[1]));
	if (cli_int(c, "priority", 0, &priority, err) < 0)
		return -err->code;
	if (priority)
		obj_set_path(o, "spec.priority", obj_int(priority));
	if (interval)
		obj_set_path(o, "spec.interval", obj_string(interval));
	if (secret) {
		if (!str_cut(str_of(secret), '/', &ns, &name)) {
			name = ns;
			ns = STR(CREDENTIALS_NAMESPACE);
		}
		if (!str_is(ns, CREDENTIALS_NAMESPACE) || !name.len)
			return error_set(err, E_USAGE,
					 "--secret: want the NAME of a Secret of "
					 "namespace " CREDENTIALS_NAMESPACE);
		obj_set_path(o, "spec.source.secretRef.name", obj_stringn(name));
		obj_set_path(o, "spec.source.secretRef.namespace", obj_stringn(ns));
	}
	if (session_open(c, &s, err) < 0 || session_kind(s, o, &r, err) < 0)
		return -err->code;
	struct session_request q = {
		.method = "POST", .target = session_target(s, &r, NULL, NULL, NULL), .body = o};
	struct session_reply reply;
	if (session_send(s, &q, &reply, err) < 0)
		return -err->code;
	term_print("catalog.app.coreos.com/%s created\n", c->args[0]);
	return 0;
}

static const struct cmd_option add_options[] = {
	{"priority", "N", "the highest wins a package that several have", 0},
	{"interval", "DURATION", "time between two polls (default 5m)", 0},
	{"secret", "NAME",
	 "Secret of namespace " CREDENTIALS_NAMESPACE ", type " CREDENTIALS_TYPE
	 ": origins; username and password, or token; ca.crt",
	 0},
	{0},
};
static const struct cmd cmd_add = {
	.name = "add",
	.usage = "alm catalog add NAME URL [--priority N] [--interval D] [--secret NAME]",
	.summary = "create a Catalog: dir://, file://, https:// or oci://",
	.options = add_options,
	.args = {2, 2},
	.run = add_run,
};

static const struct cmd *const subs[] = {&cmd_add,          &cmd_list,          &cmd_show,
					 &cmd_catalog_lint, &cmd_catalog_index, &cmd_catalog_verify,
					 &cmd_catalog_pull, &cmd_catalog_push,  NULL};

const struct cmd cmd_catalog = {
	.name = "catalog",
	.usage = "alm catalog COMMAND",
	.summary = "look into catalogs of chart archives",
	.description = "SOURCE is a folder, an archive of one (.tgz), https://... of a Helm "
		       "repository, or oci://... of a registry.",
	.subs = subs,
};
