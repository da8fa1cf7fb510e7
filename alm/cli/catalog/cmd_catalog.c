/* `alm catalog list|show|add`: what is in a source of chart archives; a Catalog made of one. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/cli/app/install_wait.h"
#include "alm/cli/catalog/cmd_catalog.h"
#include "alm/cli/catalog_source.h"
#include "alm/cli/cli.h"
#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"

#define ADD_WAIT_NS NS_PER_MIN

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

/* --- -o json --- */

static void set_list(struct obj *o, const char *key, const char *const *items, size_t n)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < n; i++)
		obj_append(list, obj_string(items[i]));
	obj_set(o, key, list);
}

static void set_if(struct obj *o, const char *key, const char *value)
{
	if (value)
		obj_set_str(o, key, value);
}

/* The fields of alm.yaml by their names there. */
static struct obj *version_obj(const struct package_version *p)
{
	struct obj *o = obj_map(), *
		requires
	= obj_list(), *conflicts = obj_list();
	obj_set_str(o, "package", p->package);
	obj_set(o, "version", obj_stringn(p->version.text));
	obj_set_str(o, "digest", p->digest);
	set_if(o, "appType", p->app_type);
	set_list(o, "provides", p->provides, p->n_provides);
	set_list(o, "channels", p->channels, p->n_channels);
	set_if(o, "minKubeVersion", p->min_kube_version);
	set_if(o, "replaces", p->replaces);
	set_list(o, "skips", p->skips, p->n_skips);
	set_if(o, "skipRange", p->skip_range);
	for (size_t i = 0; i < p->n_requires; i++) {
		struct obj *r = obj_map();
		obj_set_str(r, "resource", p->requires[i].resource);
		set_if(r, "versions", p->requires[i].versions);
		obj_append(requires, r);
	}
	for (size_t i = 0; i < p->n_conflicts; i++) {
		struct obj *x = obj_map();
		obj_set_str(x, "package", p->conflicts[i].package);
		set_if(x, "versions", p->conflicts[i].versions);
		obj_append(conflicts, x);
	}
	obj_set(o, "requires", requires);
	obj_set(o, "conflicts", conflicts);
	set_list(o, "images", p->images, p->n_images);
	set_if(o, "rollback", p->rollback_unsafe ? "Unsafe" : NULL);
	set_if(o, "withdrawn", p->withdrawn);
	set_if(o, "ambiguous", p->ambiguous);
	set_if(o, "deprecated", p->deprecated && !p->deprecation ? "" : p->deprecation);
	return o;
}

static int print_data(const struct cli *c, struct package_version *const *all, size_t n,
		      struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	struct obj *list = obj_list();
	for (size_t i = 0; i < n; i++)
		obj_append(list, version_obj(all[i]));
	obj_set(o, "versions", list);
	return cli_print_data(c, o, err);
}

static int list_run(struct cli *c, struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = NULL;
	bool json;
	if (cli_output_data(c, &json, err) < 0 || catalog_source_read(c, c->args[0], &s, err) < 0)
		return -err->code;
	const struct catalog_index *x = catalog_source_index(s);
	for (size_t i = 0; i < x->n && !json; i++)
		print_version(x->versions[i]);
	if (json && print_data(c, x->versions, x->n, err) < 0)
		return -err->code;
	if (x->n_rejected)
		term_error("%zu entr%s left out: alm catalog lint %s\n", x->n_rejected,
			   x->n_rejected == 1 ? "y is" : "ies are", c->args[0]);
	return 0;
}

static int show_run(struct cli *c, struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = NULL;
	size_t n;
	bool json;
	if (cli_output_data(c, &json, err) < 0 || catalog_source_read(c, c->args[0], &s, err) < 0)
		return -err->code;
	const struct catalog_index *x = catalog_source_index(s);
	struct package_version *const *all = index_package(x, c->args[1], &n);
	if (!n)
		return error_set(err, E_NOTFOUND, "%s has no package %s", c->args[0], c->args[1]);
	if (json)
		return print_data(c, all, n, err);
	for (size_t i = 0; i < n; i++) {
		print_version(all[i]);
		print_details(all[i]);
	}
	return 0;
}

static const struct cmd_option options[] = {
	{"output", "FORMAT", "json or yaml: every version with its descriptor", 'o'},
	CATALOG_SOURCE_OPTIONS,
	{0},
};

static const struct cmd cmd_list = {
	.name = "list",
	.usage = "alm catalog list SOURCE [-o json]",
	.examples = "alm catalog list https://charts.example.com/stable",
	.summary = "list packages, versions, digests and what they provide",
	.options = options,
	.args = {1, 1},
	.run = list_run,
};
static const struct cmd cmd_show = {
	.name = "show",
	.usage = "alm catalog show SOURCE PACKAGE [-o json]",
	.examples = "alm catalog show /var/lib/alm/catalog etcd-operator",
	.summary = "show every version of a package with its descriptor",
	.options = options,
	.args = {2, 2},
	.run = show_run,
};
/* --- add --- */

/* A folder or archive of this machine without "dir://": its absolute path. */
static int url_of(struct cli *c, const char *what, const char **ret, struct error *err)
{
	static const char *const schemes[] = {"dir://", "file://", "https://", "oci://"};
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	*ret = what;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (cstr_has_prefix(what, schemes[i]))
			return 0;
	if (cstr_has_prefix(what, "http://"))
		return error_set(err, E_USAGE,
				 "%s: plain HTTP is not read, anybody on the way could change what "
				 "is installed: use https://, oci:// or a folder",
				 what);
	if (strstr(what, "://"))
		return error_set(err, E_USAGE, "%s: want a folder, https:// or oci://", what);
	if (file_absolute(what, &path, err) < 0)
		return error_wrap(err, "%s: want a folder, https:// or oci://", what);
	*ret = arena_fmt(c->arena, "%s://%s", cstr_has_suffix(path.buf, ".tgz") ? "file" : "dir",
			 path.buf);
	return 0;
}

static int set_secret(struct obj *o, const char *secret, struct error *err)
{
	struct str ns, name;
	if (!secret)
		return 0;
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
	return 0;
}

static int make_catalog(struct cli *c, struct obj **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o =
		meta_skeleton("app.coreos.com/v1alpha1", "Catalog", NULL, c->args[0]);
	const char *interval = cli_value(c, "interval"), *url;
	int64_t priority = 0;
	if (url_of(c, c->args[1], &url, err) < 0 || cli_int(c, "priority", 0, &priority, err) < 0)
		return -err->code;
	obj_set_path(o, "spec.source.url", obj_string(url));
	if (cli_flag(c, "allow-unpinned"))
		obj_set_path(o, "spec.source.allowUnpinned", obj_bool(true));
	if (priority)
		obj_set_path(o, "spec.priority", obj_int(priority));
	if (interval)
		obj_set_path(o, "spec.interval", obj_string(interval));
	if (set_secret(o, cli_value(c, "secret"), err) < 0)
		return -err->code;
	*ret = STEAL(o);
	return 0;
}

/* What came of the first look at the source. */
static int wait_for(struct cli *c, struct session *s, struct error *err)
{
	const struct obj *catalog = NULL;
	int64_t timeout = 0;
	const char *name = c->args[0];
	if (cli_duration(c, "timeout", ADD_WAIT_NS, &timeout, err) < 0)
		return -err->code;
	int64_t end = loop_mono(session_loop(s)) + timeout;
	if (install_wait_catalog(c, s, name, end, &catalog, err) < 0)
		return error_wrap(
			err, "it stays and is tried again (alm delete catalog %s takes it back)",
			name);
	int64_t n = obj_i64(catalog, "status.packages", 0),
		n_versions = obj_i64(catalog, "status.versions", 0);
	term_print("catalog %s: %lld package%s, %lld version%s\n", name, (long long)n,
		   n == 1 ? "" : "s", (long long)n_versions, n_versions == 1 ? "" : "s");
	return 0;
}

static int add_run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct session_reply reply;
	struct resource r;
	if (make_catalog(c, &o, err) < 0 || session_open(c, &s, err) < 0 ||
	    session_kind(s, o, &r, err) < 0)
		return -err->code;
	struct session_request q = {
		.method = "POST", .target = session_target(s, &r, NULL, NULL, NULL), .body = o};
	int rc = session_send(s, &q, &reply, err);
	if (rc == -E_EXISTS)
		return error_set(
			err, E_EXISTS,
			"there is a catalog %s already: `alm get catalog %s -o yaml` shows "
			"its source, `alm delete catalog %s` removes it",
			c->args[0], c->args[0], c->args[0]);
	if (rc < 0)
		return rc;
	term_print("catalog.app.coreos.com/%s created\n", c->args[0]);
	return cli_flag(c, "wait") ? wait_for(c, s, err) : 0;
}

static const struct cmd_option add_options[] = {
	{"priority", "N", "the highest wins a package that several have", 0},
	{"interval", "DURATION", "time between two polls (default 5m)", 0},
	{"secret", "NAME",
	 "Secret of namespace " CREDENTIALS_NAMESPACE ", type " CREDENTIALS_TYPE
	 ": origins; username and password, or token; ca.crt",
	 0},
	{"allow-unpinned", NULL, "take entries whose index gives no digest", 0},
	{"wait", NULL, "until it was read; ends with 1 and the reason if it cannot be", 0},
	{"timeout", "DURATION", "of --wait (default 1m)", 0},
	{0},
};
static const struct cmd cmd_add = {
	.name = "add",
	.usage = "alm catalog add NAME SOURCE [--wait] [--priority N] [--interval D] [--secret "
		 "NAME]",
	.summary = "create a Catalog of a Helm repository, a registry or a folder",
	.description =
		"SOURCE is https://... of a Helm repository (with an index.yaml), oci://... of "
		"a registry, or a folder of charts or an archive of one (.tgz) on the machine "
		"of the controllers, below its --catalog-root.",
	.examples = "alm catalog add jetstack https://charts.jetstack.io --wait\n"
		    "alm catalog add local /var/lib/alm/catalog",
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
