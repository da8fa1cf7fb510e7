/* `alm bundle vet|build`: what a Bundle would make of a folder; no network, no cluster. */
#include "alm/cli/bundle/cmd_bundle.h"
#include "alm/base/visible.h"
#include "alm/cli/bundle/bundle_tell.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"

#define HIDDEN "***"

/* --- vet --- */

static struct obj *object_row(const struct flat_object *x)
{
	struct obj *row = obj_map();
	const char *ns = meta_namespace(x->object);
	obj_set_str(row, "key", x->key);
	obj_set_str(row, "apiVersion", meta_api_version(x->object));
	obj_set_str(row, "kind", meta_kind(x->object));
	if (ns)
		obj_set_str(row, "namespace", ns);
	obj_set_str(row, "name", meta_name(x->object));
	return row;
}

static struct obj *text_list(const struct flaws *f)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < f->n; i++)
		obj_append(list, obj_string(f->texts[i]));
	return list;
}

static int print_vet(struct cli *c, const struct bundle_folder *f, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	struct obj *list = obj_list();
	obj_set_str(o, "folder", f->dir);
	if (f->revision.commit)
		obj_set_str(o, "commit", f->revision.commit);
	if (f->bundle)
		obj_set_str(o, "bundle", f->bundle);
	for (size_t i = 0; i < f->flat.n; i++)
		obj_append(list, object_row(&f->flat.objects[i]));
	obj_set(o, "objects", list);
	obj_set(o, "faults", text_list(&f->flaws));
	obj_set(o, "warnings", text_list(&f->warnings));
	c->exit_code = f->flaws.n ? error_exit(E_INVALID) : 0;
	return cli_print_data(c, o, err);
}

static int run_vet(struct cli *c, struct error *err)
{
	struct bundle_folder f;
	bool json;
	if (cli_output_data(c, &json, err) < 0 || bundle_read_and_tell(c, &f, err) < 0)
		return -err->code;
	if (json)
		return print_vet(c, &f, err);
	if (f.flaws.n)
		return bundle_tell_flaws(&f, err);
	term_print("%s: %zu object%s%s%s\n", bundle_place(c, &f), f.flat.n,
		   f.flat.n == 1 ? "" : "s", f.bundle ? " that fit Bundle " : "",
		   f.bundle ? f.bundle : "");
	return 0;
}

/* --- build --- */

static void hide(struct obj *o, const char *field)
{
	const struct obj *all = obj_get(o, field);
	if (obj_type(all) != OBJ_MAP)
		return;
	struct obj *hidden = obj_map();
	OBJ_EACH (it, all)
		obj_set_str(hidden, it.key, HIDDEN);
	obj_set(o, field, hidden);
}

/* Values of Secrets, and where kubectl apply would have left them again. */
static void mask(struct flat *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct obj *o = f->objects[i].object;
		if (!cstr_eq(meta_kind(o), "Secret") || !cstr_eq(meta_api_version(o), "v1"))
			continue;
		hide(o, "data");
		hide(o, "stringData");
		if (obj_path(o, "metadata.annotations"))
			obj_del(obj_get_mut(obj_get_mut(o, "metadata"), "annotations"),
				"kubectl.kubernetes.io/last-applied-configuration");
	}
}

static int run_build(struct cli *c, struct error *err)
{
	struct bundle_folder f;
	bool asked;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	if (cli_output_data(c, &asked, err) < 0 || bundle_read_and_tell(c, &f, err) < 0)
		return -err->code;
	if (f.flaws.n)
		return bundle_tell_flaws(&f, err);
	if (cli_flag(c, "mask-secrets"))
		mask(&f.flat);
	if (cstr_eq(cli_value(c, "output"), "json")) {
		flat_print(&f.flat, NULL, &b);
		return term_data(strbuf_str(&b));
	}
	for (size_t i = 0; i < f.flat.n; i++) {
		const struct flat_instance *x = flat_instance_of(&f.flat, &f.flat.objects[i]);
		visible_addf(&b, "---\n# Source: %s\n", f.flat.objects[i].key);
		if (x)
			visible_addf(&b, "# Instance: %s\n", x->name);
		yaml_print(f.flat.objects[i].object, &b);
	}
	return term_data(strbuf_str(&b));
}

static const struct cmd_option vet_options[] = {BUNDLE_FOLDER_OPTIONS, CLI_OUTPUT_OPTION, {0}};

static const struct cmd_option build_options[] = {
	BUNDLE_FOLDER_OPTIONS,
	{"mask-secrets", NULL, "values of Secrets are shown as " HIDDEN, 0},
	{"output", "FORMAT", "yaml (default), or json: {\"objects\": {KEY: OBJECT, ..}}", 'o'},
	{0}};

static const struct cmd cmd_vet = {
	.name = "vet",
	.usage = "alm bundle vet -f DIR [--rev REV] [--bundle FILE] [-o json]",
	.summary = "tell whether a folder is one that a Bundle would take",
	.description =
		"The same reading and the same rules as the controller's, before the push: files "
		"that cannot be parsed, links, submodules, objects that are there twice or are "
		"none, and with --bundle what lies outside of spec.prune.namespaces and "
		"clusterKinds, and fields of the Bundle that are not built yet. A program of "
		"spec.renderer is run, in the same closed child. Each fault is told "
		"with file and line, and the exit status is 1.\n"
		"In a clone it is a revision that is judged, HEAD or --rev: the bytes that a push "
		"sends, and no files that are not committed, which are named; --worktree judges "
		"the files on disk, as is done outside of a clone. It needs no network and no "
		"cluster, so what a cluster alone knows (a kind that is not served, a schema) is "
		"not looked at; where it decides, there is a warning.",
	.examples =
		"alm bundle vet -f clone/ --bundle bundle.yaml\n"
		"alm bundle vet -f /srv/git/ssot.git --rev \"$new\"    # in its pre-receive hook",
	.options = vet_options,
	.run = run_vet,
};

static const struct cmd cmd_build = {
	.name = "build",
	.usage = "alm bundle build -f DIR [--rev REV] [--bundle FILE] [--mask-secrets] "
		 "[-o json]",
	.summary = "print the objects that a Bundle would make of a folder",
	.description =
		"Each object with its key, in the order of the keys: the path of its file, and of "
		"one of several in a file its number. All or nothing: what vet finds fails here, "
		"too, and in a clone it is HEAD, or --rev, that is printed. It needs no network "
		"and "
		"no cluster; equal revisions give equal bytes.",
	.examples = "git clone URL clone && alm bundle build -f clone/ | kubectl diff -f -",
	.options = build_options,
	.run = run_build,
};

static const struct cmd *const subs[] = {
	&cmd_vet, &cmd_build, &cmd_bundle_graph, &cmd_bundle_plan, &cmd_bundle_set_version, NULL};

const struct cmd cmd_bundle = {
	.name = "bundle",
	.usage = "alm bundle vet|build|graph|plan|set-version",
	.summary = "look at a folder as a Bundle would, before the push; change a version in it",
	.subs = subs,
};
