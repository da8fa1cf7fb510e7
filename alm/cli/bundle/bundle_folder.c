/* bundle_folder: see bundle_folder.h. */
#include "alm/cli/bundle/bundle_folder.h"

#include <string.h>

#include "alm/apiserver/kinds/kinds.h"
#include "alm/base/file.h"
#include "alm/cli/term.h"
#include "alm/controllers/fleet/bundle_make.h"
#include "alm/controllers/fleet/bundle_render.h"
#include "alm/controllers/run.h"
#include "alm/io/loop_event.h"
#include "alm/io/sandbox.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/schema.h"
#include "alm/obj/yaml.h"
#include "alm/render/flat_job.h"
#include "alm/render/tree_read.h"
#include "crds/kinds.h"

#define BUNDLE_BYTES_MAX ((size_t)1 << 20)

/* --- the Bundle --- */

/* The table has it. */
static const struct crd_kind *bundle_kind(void)
{
	size_t i = 0;
	while (strcmp(crd_kinds[i]->kind, "Bundle") != 0)
		i++;
	return crd_kinds[i];
}

static bool is_bundle(const struct obj *o)
{
	const struct crd_kind *k = bundle_kind();
	struct str group, version;
	return meta_name(o) && cstr_eq(meta_kind(o), k->kind) &&
	       str_cut(str_of(meta_api_version(o)), '/', &group, &version) &&
	       str_is(group, k->group) && str_is(version, k->version);
}

static void unknown(void *arg, const char *path)
{
	struct field_errors *e = arg;
	field_errors_add(e, FIELD_INVALID, path, "unknown field");
}

/* By the schema that a server has of it; what it lacks gets its defaults. */
static int check_schema(struct obj *o, struct arena *a, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *crd = NULL;
	CLEANUP(schema_freep) struct schema *s = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct field_errors *e = ARENA_NEW(a, struct field_errors);
	field_errors_init(e, a);
	if (yaml_parse_carried(bundle_kind()->yaml, &crd, err) < 0 ||
	    schema_compile(obj_path(crd, "spec.versions[0].schema.openAPIV3Schema"), &s, err) < 0)
		return -err->code;
	schema_prune(s, o, unknown, e);
	(void)schema_default(s, o);
	schema_validate(s, o, e);
	field_errors_text(e, &b);
	return e->n ? error_set(err, E_INVALID, "%s", b.buf) : 0;
}

static int read_bundle(const char *file, struct arena *a, struct bundle_spec *ret,
		       struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(BUNDLE_BYTES_MAX);
	struct obj *o = NULL;
	if (file_read_input(file, &b, err) < 0)
		return error_wrap(err, "--bundle");
	if (yaml_parse_one(strbuf_str(&b), &o, err) < 0)
		return error_wrap(err, "--bundle %s", file);
	obj_keep(a, o);
	if (!is_bundle(o))
		return error_set(err, E_INVALID,
				 "--bundle %s: want one Bundle of %s/%s, with metadata.name", file,
				 bundle_kind()->group, bundle_kind()->version);
	return check_schema(o, a, err) < 0 || bundle_spec_read(o, a, ret, err) < 0
		       ? error_wrap(err, "--bundle %s", file)
		       : 0;
}

/* --- the rules --- */

/* Is the kind namespaced? What Kubernetes has and what the folder defines is known. */
static int scope_of(void *arg, const struct obj *o)
{
	const struct kinds *kinds = arg;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
	struct gvk g = {"", "", ""};
	gvk_of(o, a, &g);
	const struct kind *k = kinds_find_kind(kinds, g.group, g.version, g.kind);
	return k ? (k->flags & KIND_NAMESPACED) != 0 : -1;
}

static int judge(const struct bundle_spec *spec, const struct obj *rendered,
		 struct bundle_folder *f, struct arena *a, struct error *err)
{
	struct kinds *kinds = kinds_new();
	const struct bundle_scopes scopes = {.fn = scope_of, .arg = kinds, .unsure = &f->warnings};
	const struct unit_options o = {.hub = RUN_HUB,
				       .bundle = f->bundle ? f->bundle : "vet",
				       .instance = "files",
				       .digest = run_digest};
	struct bundle_made made;
	int rc = bundle_make(spec, rendered, &scopes, &o, a, &f->flaws, &made, err);
	f->flat = made.flat;
	f->unit = made.unit;
	kinds_free(kinds);
	return rc;
}

/* --- reading --- */

static const struct sandbox_job jobs[] = {FLAT_JOBS, {0}};

struct reading {
	struct loop *loop;
	struct obj *value;
	struct error err;
	bool done;
};

static void rendered(void *arg, struct obj *value, const struct error *err)
{
	struct reading *r = arg;
	r->value = value;
	r->done = true;
	if (err)
		r->err = *err;
	loop_stop(r->loop);
}

/* Parsed in the closed child process, as by the controller. */
static int parse(const struct files *files, const struct bundle_spec *spec,
		 const struct bundle_input *in, struct arena *a, struct obj **ret,
		 struct error *err)
{
	const struct sandbox_config sc = {.jobs = jobs};
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	struct sandbox *sandbox = NULL;
	struct reading r = {.loop = l};
	struct render_call call = {.done = rendered, .arg = &r};
	if (sandbox_process_new(l, &sc, &sandbox, err) < 0)
		return -err->code;
	bundle_render_start(spec, sandbox, files, in, &call);
	while (!r.done)
		loop_run(l);
	sandbox_free(sandbox);
	if (r.err.code)
		return error_copy(err, &r.err);
	*ret = obj_keep(a, r.value);
	return 0;
}

/* No cluster is asked: what it would bring is in a file, as one layer over spec.config.values. */
static int read_input(const struct cli *c, const struct bundle_spec *spec, struct bundle_input *ret,
		      struct error *err)
{
	const char *file = cli_value(c, "config-file");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CONFIG_BYTES_MAX);
	struct obj *o = NULL;
	if (!file && spec->renderer.from.n)
		return error_set(err, E_INVALID,
				 BUNDLE_CONFIG_FROM
				 ": it is read from a cluster, and none is asked "
				 "here; give what it brings with --config-file "
				 "FILE");
	if (file && !spec->renderer.from.n)
		return error_set(err, E_USAGE,
				 "--config-file stands for " BUNDLE_CONFIG_FROM
				 ", and --bundle has none");
	if (file &&
	    (file_read_input(file, &b, err) < 0 || config_parse(strbuf_str(&b), file, &o, err) < 0))
		return error_wrap(err, "--config-file");
	const struct config_layer layer = {file, o ? obj_keep(c->arena, o) : NULL};
	return bundle_input_make(spec, &layer, file != NULL, c->arena, ret, err);
}

/* A folder that is in no repository, or was asked for as it is, is read from disk. */
static int read_tree(const struct cli *c, const struct bundle_spec *spec, struct bundle_folder *f,
		     struct files *files, struct error *err)
{
	const char *rev = cli_value(c, "rev"), *root = cli_value(c, "filename");
	bool on_disk = cli_flag(c, "worktree");
	if (on_disk && rev)
		return error_set(err, E_USAGE, "--rev and --worktree exclude each other");
	if (!on_disk && bundle_revision_read(root, spec->path, rev, files, &f->revision, err) < 0)
		return -err->code;
	if (f->revision.commit)
		return 0;
	if (tree_read_dir(f->dir, files, err) < 0)
		return err->code == E_NOTFOUND
			       ? error_set(err, E_NOTFOUND, "%s: there is no such folder", f->dir)
			       : -err->code;
	return 0;
}

int bundle_folder_read(const struct cli *c, struct bundle_folder *ret, struct error *err)
{
	const char *file = cli_value(c, "bundle"), *dir = cli_value(c, "filename");
	struct bundle_spec spec = {.ns = "default", .path = ""};
	struct obj *rendered = NULL;
	*ret = (struct bundle_folder){.flaws = {.a = c->arena}, .warnings = {.a = c->arena}};
	struct files files;
	struct bundle_input input;
	if (!dir)
		return error_set(err, E_USAGE, "-f DIR is missing: a clone of the repository");
	if (file && read_bundle(file, c->arena, &spec, err) < 0)
		return -err->code;
	ret->bundle = spec.name;
	ret->spec = spec;
	bundle_files_init(&spec, c->arena, &files);
	files.flaws = &ret->flaws;
	ret->dir = *spec.path ? arena_fmt(c->arena, "%s/%s", dir, spec.path) : dir;
	if (read_input(c, &spec, &input, err) < 0 || read_tree(c, &spec, ret, &files, err) < 0)
		return -err->code;
	if (parse(&files, &spec, &input, c->arena, &rendered, err) < 0 ||
	    judge(&ret->spec, rendered, ret, c->arena, err) < 0)
		bundle_render_blame(&spec, err);
	return -err->code;
}
