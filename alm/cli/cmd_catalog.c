/* `alm catalog lint|list|show`: catalogs of chart archives, offline over a folder. */
#include <stdio.h>
#include <string.h>

#include "alm/cli/catalog_source.h"
#include "alm/cli/cli.h"
#include "alm/cli/cmd_catalog.h"
#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/obj/meta.h"
#include "catalog/lint.h"

static const char *plural_s(size_t n)
{
	return n == 1 ? "" : "s";
}

static int lint_run(struct cli *c, struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = NULL;
	struct lint l;
	if (catalog_source_read(c, c->args[0], &s, err) < 0)
		return -err->code;
	const struct catalog_index *x = catalog_source_index(s);
	lint_index(x, c->arena, &l);
	for (size_t i = 0; i < l.n; i++) {
		const struct lint_finding *f = &l.items[i];
		printf("%s: %s %s: %s\n    remedy: %s\n", f->where,
		       f->level == LINT_ERROR ? "error" : "warning", f->rule, f->text, f->remedy);
	}
	printf("%zu package%s, %zu version%s: %zu error%s, %zu warning%s\n", x->n_packages,
	       plural_s(x->n_packages), x->n, plural_s(x->n), l.n_errors, plural_s(l.n_errors),
	       l.n_warnings, plural_s(l.n_warnings));
	c->exit_code = l.n_errors ? 1 : 0;
	return 0;
}

static void print_version(const struct package_version *p)
{
	printf("%-24s %-14.*s sha256:%.12s  ", p->package, STR_ARG(p->version.text), p->digest);
	for (size_t i = 0; i < p->n_provides; i++)
		printf("%s%s", i ? "," : "", p->provides[i]);
	printf("\n");
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
		fprintf(stderr, "%zu entr%s left out: alm catalog lint %s\n", x->n_rejected,
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
		const struct package_version *p = all[i];
		print_version(p);
		if (p->app_type)
			printf("    appType   %s\n", p->app_type);
		if (p->min_kube_version)
			printf("    needs     Kubernetes %s\n", p->min_kube_version);
		if (p->replaces)
			printf("    replaces  %s\n", p->replaces);
		for (size_t k = 0; k < p->n_requires; k++)
			printf("    requires  %s %s\n", p->requires[k].resource,
			       p->requires[k].versions ? p->requires[k].versions : "*");
		if (p->withdrawn)
			printf("    withdrawn %s\n", p->withdrawn);
		if (p->deprecated)
			printf("    deprecated %s\n", p->deprecation ? p->deprecation : "");
	}
	return 0;
}

static const struct cmd_option options[] = {CATALOG_SOURCE_OPTIONS, {0}};

static const struct cmd cmd_lint_source = {
	.name = "lint",
	.usage = "alm catalog lint SOURCE",
	.summary = "check every entry of a source, and the versions against each other",
	.description = "Exit status 1: there are errors.",
	.options = options,
	.args = {1, 1},
	.run = lint_run,
};
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
		if (!str_cut(str_of(secret), '/', &ns, &name) || !ns.len || !name.len)
			return error_set(err, E_USAGE, "--secret: want NAMESPACE/NAME");
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
	printf("catalog.app.coreos.com/%s created\n", c->args[0]);
	return 0;
}

static const struct cmd_option add_options[] = {
	{"priority", "N", "the highest wins a package that several have", 0},
	{"interval", "DURATION", "time between two polls (default 5m)", 0},
	{"secret", "NAMESPACE/NAME", "username and password, or token; ca.crt", 0},
	{0},
};
static const struct cmd cmd_add = {
	.name = "add",
	.usage = "alm catalog add NAME URL [--priority N] [--interval D] [--secret NS/NAME]",
	.summary = "create a Catalog: dir://, file://, https:// or oci://",
	.options = add_options,
	.args = {2, 2},
	.run = add_run,
};

static const struct cmd *const subs[] = {&cmd_add,          &cmd_list,          &cmd_show,
					 &cmd_lint_source,  &cmd_catalog_index, &cmd_catalog_verify,
					 &cmd_catalog_pull, &cmd_catalog_push,  NULL};

const struct cmd cmd_catalog = {
	.name = "catalog",
	.usage = "alm catalog COMMAND",
	.summary = "look into catalogs of chart archives",
	.description = "SOURCE is a folder, an archive of one (.tgz), https://... of a Helm "
		       "repository, or oci://... of a registry.",
	.subs = subs,
};
