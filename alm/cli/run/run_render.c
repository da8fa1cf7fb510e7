#include "alm/cli/run/run_render.h"

#include <string.h>
#include <sys/queue.h>

#include "alm/base/file.h"
#include "alm/base/visible.h"
#include "alm/cli/term.h"
#include "alm/io/sandbox.h"
#include "alm/io/sqlread.h"
#include "alm/obj/yaml.h"
#include "alm/render/flat_job.h"
#include "alm/render/plugins.h"
#include "alm/render/tree_read.h"
#include "alm/source/config.h"

#define MESSAGE_MAX ((size_t)1 << 20)

struct rendering {
	LIST_ENTRY(rendering) link;
	struct run_renderer *r;
	struct render_call call;
	struct plugin_call *plugin; /* instead of it */
	struct arena *a;
	const char *ns;
	struct run_rendered out;
	run_rendered_fn fn;
	void *arg;
};

struct run_renderer {
	const struct cli *cli;
	struct sandbox *sandbox;
	struct plugins *plugins;
	const char *plugin; /* NAME of renderer-NAME; NULL: none */
	const char *dir, *entrypoint, *rollout_file;
	const char *jpath[IMPORT_JPATH_MAX];
	size_t n_jpath;
	struct obj *ext_str;
	LIST_HEAD(rendering_list, rendering) under_way;
};

static const struct sandbox_job jobs[] = {FLAT_JOBS, {SQL_JOB, sqlread_job, sqlread_prepare}, {0}};

/* --- options --- */

static int read_jpaths(struct run_renderer *r, struct error *err)
{
	const char *list;
	for (size_t i = 0; (list = cli_value_at(r->cli, "renderer.jsonnet.jpaths", i)); i++) {
		struct str rest = str_of(list), one;
		while (rest.len) {
			(void)str_cut(rest, ',', &one, &rest);
			if (r->n_jpath == IMPORT_JPATH_MAX)
				return error_set(err, E_USAGE,
						 "--renderer.jsonnet.jpaths: more than %d folders",
						 IMPORT_JPATH_MAX);
			r->jpath[r->n_jpath++] = arena_strndup(r->cli->arena, one.ptr, one.len);
		}
	}
	return 0;
}

static int read_ext(struct run_renderer *r, struct error *err)
{
	const char *text;
	r->ext_str = obj_map();
	for (size_t i = 0; (text = cli_value_at(r->cli, "renderer.jsonnet.ext-str", i)); i++) {
		struct str name, value;
		if (!str_cut(str_of(text), '=', &name, &value) || !name.len)
			return error_set(err, E_USAGE,
					 "--renderer.jsonnet.ext-str %.60s: want NAME=TEXT", text);
		obj_set(r->ext_str, arena_strndup(r->cli->arena, name.ptr, name.len),
			obj_stringn(value));
	}
	return 0;
}

/* What would have no effect is a mistake. */
static int refuse_options(const struct cli *c, const char *renderer, const char *const *options,
			  struct error *err)
{
	for (; *options; options++)
		if (cli_value(c, *options))
			return error_set(err, E_USAGE, "--%s says nothing to --renderer %s",
					 *options, renderer);
	return 0;
}

static int read_jsonnet(struct run_renderer *r, struct error *err)
{
	static const char *const others[] = {"renderer.file.dir", NULL};
	r->entrypoint = cli_value(r->cli, "renderer.jsonnet.entrypoint");
	if (!r->entrypoint)
		return error_set(err, E_USAGE,
				 "--renderer.jsonnet.entrypoint is missing: the file to evaluate");
	if (refuse_options(r->cli, "jsonnet", others, err) < 0 || read_jpaths(r, err) < 0)
		return -err->code;
	return read_ext(r, err);
}

static int read_file(struct run_renderer *r, struct error *err)
{
	static const char *const others[] = {"renderer.jsonnet.entrypoint",
					     "renderer.jsonnet.jpaths", "renderer.jsonnet.ext-str",
					     "config-file", NULL};
	r->dir = cli_value(r->cli, "renderer.file.dir");
	r->dir = r->dir ? r->dir : "manifests/";
	return refuse_options(r->cli, "file", others, err);
}

static int unknown(const char *name, const struct plugins *plugins, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (const char *const *p = plugins_names(plugins, PLUGIN_RENDERER); *p; p++)
		visible_addf(&b, ", %s", *p);
	return error_set(err, E_USAGE,
			 "--renderer %.60s: want file, jsonnet%s; NAME is a program renderer-NAME "
			 "in $ALM_PLUGIN_DIR",
			 name, b.buf);
}

static int read_plugin(struct run_renderer *r, const char *name, struct error *err)
{
	static const char *const others[] = {"renderer.file.dir", "renderer.jsonnet.entrypoint",
					     "renderer.jsonnet.jpaths", "renderer.jsonnet.ext-str",
					     NULL};
	if (!cstr_in(name, plugins_names(r->plugins, PLUGIN_RENDERER)))
		return unknown(name, r->plugins, err);
	r->plugin = name;
	return refuse_options(r->cli, name, others, err);
}

static int read_renderer(struct run_renderer *r, struct error *err)
{
	const char *name = cli_value(r->cli, "renderer");
	if (!name || !strcmp(name, "file"))
		return read_file(r, err);
	return !strcmp(name, "jsonnet") ? read_jsonnet(r, err) : read_plugin(r, name, err);
}

int run_renderer_new(const struct cli *c, struct loop *l, struct plugins *plugins,
		     struct run_renderer **ret, struct error *err)
{
	const struct sandbox_config sc = {.jobs = jobs};
	CLEANUP(run_renderer_freep) struct run_renderer *r = xcalloc(1, sizeof(*r));
	LIST_INIT(&r->under_way);
	r->cli = c;
	r->plugins = plugins;
	r->rollout_file = cli_value(c, "renderer.file.rollout");
	if (read_renderer(r, err) < 0 || sandbox_process_new(l, &sc, &r->sandbox, err) < 0)
		return -err->code;
	*ret = STEAL(r);
	return 0;
}

struct sandbox *run_renderer_sandbox(const struct run_renderer *r)
{
	return r->sandbox;
}

static void rendering_free(struct rendering *x)
{
	LIST_REMOVE(x, link);
	xfree(x);
}

void run_renderer_free(struct run_renderer *r)
{
	struct rendering *x;
	if (!r)
		return;
	while ((x = LIST_FIRST(&r->under_way))) {
		if (r->plugin)
			plugins_cancel(x->plugin);
		else
			render_job_cancel(&x->call);
		rendering_free(x);
	}
	sandbox_free(r->sandbox);
	obj_unref(r->ext_str);
	xfree(r);
}

/* --- rollout --- */

static int take_rollout(struct rendering *x, const struct obj *rendered, struct error *err)
{
	const struct rollout_options options = {
		.file = x->r->rollout_file,
		.plugins = plugins_names(x->r->plugins, PLUGIN_ACTION),
		.checks = plugins_names(x->r->plugins, PLUGIN_CHECK)};
	struct rollout *rollout = NULL;
	struct obj *o = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROLLOUT_BYTES_MAX);
	if (x->r->rollout_file) {
		if (file_read_input(x->r->rollout_file, &b, err) < 0 ||
		    rollout_read(strbuf_str(&b), &options, x->a, &rollout, err) < 0 ||
		    yaml_parse_one(strbuf_str(&b), &o, err) < 0)
			return -err->code;
		x->out.rollout_object = obj_keep(x->a, o);
	} else if (rendered) {
		if (rollout_parse(rendered, &options, x->a, &rollout, err) < 0)
			return error_wrap(err, "the rollout of %s", x->call.name);
		x->out.rollout_object = obj_keep(x->a, obj_ref(rendered));
	}
	x->out.rollout = rollout;
	return 0;
}

static void end(struct rendering *x, int rc, const struct error *err)
{
	run_rendered_fn fn = x->fn;
	void *arg = x->arg;
	struct run_rendered out = x->out;
	rendering_free(x);
	fn(arg, &out, rc < 0 ? err : NULL);
}

/* The stack of Jsonnet has lines of its own, and may be longer than an error. */
static int tell(const struct rendering *x, const struct strbuf *msg, struct error *err)
{
	struct str rest = strbuf_str(msg), line;
	if (str_find_char(rest, '\n') < 0)
		return -err->code;
	term_error_lines(rest);
	term_error("\n");
	str_next_line(&rest, &line);
	return error_set(err, err->code, "RenderFailed: %s: %.*s", x->call.name, STR_ARG(line));
}

static void evaluated(void *arg, struct obj *value, const struct error *failed)
{
	struct rendering *x = arg;
	struct error err = failed ? *failed : ERROR_INIT;
	const struct obj *rollout = NULL;
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(MESSAGE_MAX);
	int rc = -err.code;
	if (!failed) {
		obj_keep(x->a, value);
		rc = flat_job_read(value, x->ns, &x->out.flat, &rollout, &msg, &err);
		if (rc < 0)
			rc = tell(x, &msg, &err);
	}
	if (rc >= 0)
		rc = take_rollout(x, rollout, &err);
	end(x, rc, &err);
}

/* --- file --- */

static int render_files(struct rendering *x, struct error *err)
{
	struct files files = {.a = x->a};
	if (tree_read_dir(x->r->dir, &files, err) < 0)
		return -err->code;
	x->call = (struct render_call){.done = evaluated, .arg = x, .name = x->r->dir};
	flat_job_files(x->r->sandbox, &files, x->ns, &x->call);
	return 0;
}

/* --- jsonnet --- */

static int read_config(struct rendering *x, const struct obj *config, const struct obj **ret,
		       struct error *err)
{
	const char *file = cli_value(x->r->cli, "config-file");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CONFIG_BYTES_MAX);
	struct config_layer layers[] = {{"the trigger's configuration", config}, {file, NULL}};
	struct obj *o = NULL, *merged = NULL;
	if (file) {
		if (file_read_input(file, &b, err) < 0 ||
		    config_parse(strbuf_str(&b), file, &o, err) < 0)
			return -err->code;
		layers[1].value = obj_keep(x->a, o);
	}
	if (config_merge(layers, ARRAY_LEN(layers), &merged, err) < 0)
		return -err->code;
	*ret = merged ? obj_keep(x->a, merged) : NULL;
	return 0;
}

/* --- plugin --- */

/* {KEY: OBJECT} or {objects: {KEY: OBJECT}, rollout}, as a Jsonnet program gives it. */
static int take_answer(struct rendering *x, const struct obj *answer,
		       const struct obj **ret_rollout, struct error *err)
{
	const struct obj *objects = obj_get(answer, "objects");
	*ret_rollout = obj_get(answer, "rollout");
	if (obj_type(objects) != OBJ_MAP)
		return error_set(err, E_INVALID,
				 "want {\"objects\": {KEY: OBJECT, ..}, \"rollout\": ROLLOUT}");
	if (*ret_rollout && obj_type(*ret_rollout) != OBJ_MAP)
		return error_set(err, E_INVALID, "rollout: want an object");
	OBJ_EACH (it, objects) {
		const struct flat_place p = {.name = it.key, .file = x->call.name, .alone = true};
		if (flat_add(&x->out.flat, &p, obj_ref(it.value), err) < 0)
			return -err->code;
	}
	return flat_sort(&x->out.flat, x->ns, err);
}

static void plugin_rendered(void *arg, struct obj *answer, const struct error *failed)
{
	struct rendering *x = arg;
	struct error err = failed ? *failed : ERROR_INIT;
	const struct obj *rollout = NULL;
	if (!failed) {
		obj_keep(x->a, answer);
		if (take_answer(x, answer, &rollout, &err) < 0)
			(void)error_wrap(&err, "PluginFailed: %s", x->call.name);
		else
			(void)take_rollout(x, rollout, &err);
	}
	end(x, -err.code, &err);
}

static int ask_plugin(struct rendering *x, const struct obj *config, struct error *err)
{
	const struct obj *merged = NULL;
	if (read_config(x, config, &merged, err) < 0)
		return -err->code;
	struct obj *request = obj_keep(x->a, obj_map());
	x->call.name = arena_fmt(x->a, "renderer-%s", x->r->plugin);
	obj_set_str(request, "name", x->r->plugin);
	obj_set_str(request, "namespace", x->ns);
	obj_set(request, "config", merged ? obj_ref(merged) : obj_null());
	x->plugin = plugins_ask(x->r->plugins, PLUGIN_RENDERER, x->r->plugin, request, 0,
				plugin_rendered, x);
	return 0;
}

/* What a program may import elsewhere, and a command does not bring. */
static const struct obj *unavailable(struct arena *a, const struct tree_program *p)
{
	static const char why[] = "alm run brings no such thing, only alm-runtime/config";
	struct obj *o = obj_keep(a, obj_map());
	obj_set_str(o, "cluster", why);
	obj_set_str(o, "values", why);
	for (size_t i = 0; i < p->n_lists; i++)
		obj_set_str(o, p->lists[i], why);
	return o;
}

static int evaluate(struct rendering *x, const struct obj *config, struct error *err)
{
	struct run_renderer *r = x->r;
	struct files files = {.a = x->a};
	struct tree_program program = {0};
	const struct obj *merged = NULL;
	if (tree_read_program(r->entrypoint, r->jpath, r->n_jpath, &files, &program, err) < 0 ||
	    read_config(x, config, &merged, err) < 0)
		return -err->code;
	struct obj *runtime = obj_keep(x->a, obj_map());
	if (merged)
		obj_set(runtime, "config", obj_ref(merged));
	struct flat_request rq = {.ns = x->ns,
				  .entrypoint = program.entrypoint,
				  .roots = program.roots,
				  .ext_str = r->ext_str,
				  .runtime = runtime,
				  .unavailable = unavailable(x->a, &program)};
	x->call = (struct render_call){.done = evaluated, .arg = x, .name = r->entrypoint};
	flat_job_jsonnet(r->sandbox, &files, &rq, &x->call);
	return 0;
}

void run_renderer_start(struct run_renderer *r, const struct obj *config, const char *ns,
			struct arena *a, run_rendered_fn fn, void *arg)
{
	struct error err = ERROR_INIT;
	struct rendering *x = xcalloc(1, sizeof(*x));
	LIST_INSERT_HEAD(&r->under_way, x, link);
	x->r = r;
	x->a = a;
	x->ns = ns;
	x->fn = fn;
	x->arg = arg;
	flat_init(&x->out.flat, a);
	int rc = r->plugin       ? ask_plugin(x, config, &err)
		 : r->entrypoint ? evaluate(x, config, &err)
				 : render_files(x, &err);
	if (rc < 0)
		end(x, rc, &err);
}
