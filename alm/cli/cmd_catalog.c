/* `alm catalog lint|list|show`: catalogs of chart archives, offline over a folder. */
#include <stdio.h>
#include <string.h>

#include "alm/cli/cli.h"
#include "alm/cli/cmds.h"
#include "alm/controllers/source.h"
#include "alm/obj/meta.h"
#include "catalog/lint.h"

/* Reads the folder as the controllers would read dir://FOLDER. */
static int read_folder(const char *dir, struct catalog_index **ret, struct error *err)
{
	int64_t wait_ns = 0;
	struct source_cache *cache = source_cache_new();
	CLEANUP(obj_unrefp) struct obj *o =
		meta_skeleton("app.coreos.com/v1alpha1", "Catalog", NULL, "local");
	obj_set(o, "spec", obj_map());
	obj_set_path(o, "spec.source", obj_map());
	obj_set_path(o, "spec.source.url", obj_stringf("dir://%s", dir));
	int r = source_read(&source_files_real, cache, o, INT64_MAX, ret, &wait_ns, err);
	source_cache_free(cache);
	return r;
}

static const char *plural_s(size_t n)
{
	return n == 1 ? "" : "s";
}

static int lint_run(struct cli *c, struct error *err)
{
	CLEANUP(index_freep) struct catalog_index *x = NULL;
	struct lint l;
	if (read_folder(c->args[0], &x, err) < 0)
		return -err->code;
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
	CLEANUP(index_freep) struct catalog_index *x = NULL;
	if (read_folder(c->args[0], &x, err) < 0)
		return -err->code;
	for (size_t i = 0; i < x->n; i++)
		print_version(x->versions[i]);
	return 0;
}

static int show_run(struct cli *c, struct error *err)
{
	CLEANUP(index_freep) struct catalog_index *x = NULL;
	size_t n;
	if (read_folder(c->args[0], &x, err) < 0)
		return -err->code;
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

static const struct cmd cmd_lint_folder = {
	.name = "lint",
	.usage = "alm catalog lint FOLDER",
	.summary = "check every archive of a folder, and the versions against each other",
	.description = "Exit status 1: there are errors.",
	.args = {1, 1},
	.run = lint_run,
};
static const struct cmd cmd_list = {
	.name = "list",
	.usage = "alm catalog list FOLDER",
	.summary = "list packages, versions, digests and what they provide",
	.args = {1, 1},
	.run = list_run,
};
static const struct cmd cmd_show = {
	.name = "show",
	.usage = "alm catalog show FOLDER PACKAGE",
	.summary = "show every version of a package with its descriptor",
	.args = {2, 2},
	.run = show_run,
};
static const struct cmd *const subs[] = {&cmd_lint_folder, &cmd_list, &cmd_show, NULL};

const struct cmd cmd_catalog = {
	.name = "catalog",
	.usage = "alm catalog lint|list|show FOLDER",
	.summary = "look into a folder of chart archives",
	.subs = subs,
};
