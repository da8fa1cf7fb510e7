#include "alm/cli/run/run_render.h"

#include <string.h>
#include <sys/queue.h>

#include "alm/base/file.h"
#include "alm/base/visible.h"
#include "alm/cli/run/run_sql.h"
#include "alm/cli/term.h"
#include "alm/controllers/run_host.h"
#include "alm/io/sandbox.h"
#include "alm/io/sqlread.h"
#include "alm/render/flat_job.h"
#include "alm/render/live_input.h"
#include "alm/render/plugins.h"
#include "alm/render/tree_read.h"
#include "alm/source/config.h"

#define MESSAGE_MAX ((size_t)1 << 20)

struct rendering {
	LIST_ENTRY(rendering) link;
	struct run_renderer *r;
	struct render_call call;
	struct plugin_call *plugin;   /* instead of it */
	struct live_input_read *live; /* before them */
	struct live_input_wants wants;
	struct files files;
	struct tree_program program; /* of Jsonnet */
	const struct obj *config;    /* of the trigger; then all layers as one */
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
	struct config_sources from;
	struct database_queries queries;
	struct run_cluster cluster;
	struct live_input *live;
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

static int read_from(struct run_renderer *r, struct error *err)
{
	const char *file = cli_value(r->cli, "config-from");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CONFIG_FROM_BYTES_MAX);
	if (!file)
		return 0;
	if (file_read_input(file, &b, err) < 0)
		return error_wrap(err, "--config-from");
	return config_from_read(strbuf_str(&b), file, r->cli->arena, &r->from, err);
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
					     "renderer.jsonnet.jpaths",
					     "renderer.jsonnet.ext-str",
					     "config-file",
					     "config-from",
					     "source.database.file",
					     NULL};
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
	static const char *const others[] = {
		"renderer.file.dir",       "renderer.jsonnet.entrypoint",
		"renderer.jsonnet.jpaths", "renderer.jsonnet.ext-str",
		"source.database.file",    NULL};
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
		     const struct databases *databases, struct run_renderer **ret,
		     struct error *err)
{
	const struct sandbox_config sc = {.jobs = jobs};
	CLEANUP(run_renderer_freep) struct run_renderer *r = xcalloc(1, sizeof(*r));
	LIST_INIT(&r->under_way);
	r->cli = c;
	r->plugins = plugins;
	r->rollout_file = cli_value(c, "renderer.file.rollout");
	if (read_renderer(r, err) < 0 || read_from(r, err) < 0 ||
	    run_sql_queries(c, databases, &r->queries, err) < 0 ||
	    sandbox_process_new(l, &sc, &r->sandbox, err) < 0)
		return -err->code;
	r->live = live_input_new(l, r->sandbox);
	*ret = STEAL(r);
	return 0;
}

void run_renderer_connect(struct run_renderer *r, const struct run_cluster *c)
{
	r->cluster = *c;
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
		live_input_cancel(x->live);
		if (x->plugin)
			plugins_cancel(x->plugin);
		render_job_cancel(&x->call);
		rendering_free(x);
	}
	live_input_free(r->live);
	sandbox_free(r->sandbox);
	obj_unref(r->ext_str);
	xfree(r);
}

/* --- rollout --- */

static int take_rollout(struct rendering *x, const struct obj *rendered, struct error *err)
{
	const struct rollout_options options = {
		.file = x->r->rollout_file ? x->r->rollout_file
					   : arena_fmt(x->a, "the rollout of %s", x->call.name),
		.plugins = plugins_names(x->r->plugins, PLUGIN_ACTION),
		.checks = plugins_names(x->r->plugins, PLUGIN_CHECK)};
	struct rollout *rollout = NULL;
	if (x->r->rollout_file) {
		if (!file_exists(x->r->rollout_file))
			return error_set(err, E_NOTFOUND,
					 "--renderer.file.rollout: %s: there is no such file",
					 x->r->rollout_file);
		if (run_rollout_open(&options, x->a, &rollout, &x->out.rollout_object, err) < 0)
			return -err->code;
	} else if (rendered) {
		if (rollout_parse(rendered, &options, x->a, &rollout, err) < 0)
			return -err->code;
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
		return error_wrap(err, "--renderer.file.dir");
	x->call = (struct render_call){.done = evaluated, .arg = x, .name = x->r->dir};
	flat_job_files(x->r->sandbox, &files, x->ns, NULL, &x->call);
	return 0;
}

/* --- configuration --- */

/* The trigger's, then those of --config-from, then that of --config-file. */
static int merge_config(struct rendering *x, const struct live_input_found *found,
			struct error *err)
{
	const char *file = cli_value(x->r->cli, "config-file");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CONFIG_BYTES_MAX);
	struct config_layer layers[CONFIG_LAYERS_MAX] = {
		{"the trigger's configuration", x->config}};
	size_t n = 1;
	struct obj *o = NULL, *merged = NULL;
	for (size_t i = 0; i < found->n; i++)
		layers[n++] = found->layers[i];
	if (file) {
		if (file_read_input(file, &b, err) < 0 ||
		    config_parse(strbuf_str(&b), file, &o, err) < 0)
			return error_wrap(err, "--config-file");
		layers[n++] = (struct config_layer){file, obj_keep(x->a, o)};
	}
	if (config_merge(layers, n, &merged, err) < 0)
		return -err->code;
	x->config = merged ? obj_keep(x->a, merged) : NULL;
	return 0;
}

static void go_on(struct rendering *x, const struct live_input_found *found, struct error *err);

static void is_read(void *arg, const struct live_input_found *found, const struct error *failed)
{
	struct rendering *x = arg;
	struct error err = failed ? *failed : ERROR_INIT;
	x->live = NULL;
	if (!failed)
		go_on(x, found, &err);
	if (err.code)
		end(x, -err.code, &err);
}

/* By the first run that asks a cluster for something. */
static int connect_to(struct run_renderer *r, struct error *err)
{
	struct client *client = NULL;
	if (live_input_is_connected(r->live))
		return 0;
	if (r->cluster.client(r->cluster.arg, &client, err) < 0)
		return error_wrap(err, "the cluster");
	live_input_connect(r->live, client, r->cluster.map);
	return 0;
}

/* What is read before anything is rendered. */
static int read_live(struct rendering *x, struct error *err)
{
	struct run_renderer *r = x->r;
	const struct live_input_found nothing = {0};
	x->wants =
		(struct live_input_wants){.from = &r->from, .ns = x->ns, .option = "--config-from"};
	live_input_imports(&x->wants, x->program.live, x->program.n_live, &r->queries, x->a);
	if (!r->from.n && !x->wants.n_lists && !x->wants.n_queries) {
		go_on(x, &nothing, err);
		return -err->code;
	}
	if (live_input_asks(&x->wants) && connect_to(r, err) < 0)
		return -err->code;
	x->live = live_input_start(r->live, &x->wants, x->a, is_read, x);
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

static void ask_plugin(struct rendering *x)
{
	struct obj *request = obj_keep(x->a, obj_map());
	x->call.name = arena_fmt(x->a, "renderer-%s", x->r->plugin);
	obj_set_str(request, "name", x->r->plugin);
	obj_set_str(request, "namespace", x->ns);
	obj_set(request, "config", x->config ? obj_ref(x->config) : obj_null());
	x->plugin = plugins_ask(x->r->plugins, PLUGIN_RENDERER, x->r->plugin, request, 0,
				plugin_rendered, x);
}

/* --- jsonnet --- */

/* What a program may import elsewhere, and a command does not bring. */
static const struct obj *unavailable(struct arena *a)
{
	static const char why[] =
		"alm run brings no such thing, only alm-runtime/config, live lists and queries";
	struct obj *o = obj_keep(a, obj_map());
	obj_set_str(o, "cluster", why);
	obj_set_str(o, "values", why);
	return o;
}

static void evaluate(struct rendering *x, const struct live_input_found *found)
{
	struct run_renderer *r = x->r;
	struct obj *runtime = obj_keep(x->a, obj_map());
	OBJ_EACH (it, found->lists)
		obj_set(runtime, it.key, obj_ref(it.value));
	if (x->config)
		obj_set(runtime, "config", obj_ref(x->config));
	struct flat_request rq = {.ns = x->ns,
				  .entrypoint = x->program.entrypoint,
				  .roots = x->program.roots,
				  .ext_str = r->ext_str,
				  .runtime = runtime,
				  .unavailable = unavailable(x->a)};
	x->call = (struct render_call){.done = evaluated, .arg = x, .name = r->entrypoint};
	flat_job_jsonnet(r->sandbox, &x->files, &rq, &x->call);
}

/* --- the start --- */

static void go_on(struct rendering *x, const struct live_input_found *found, struct error *err)
{
	if (merge_config(x, found, err) < 0)
		return;
	if (x->r->plugin)
		ask_plugin(x);
	else
		evaluate(x, found);
}

static int begin(struct rendering *x, struct error *err)
{
	const struct run_renderer *r = x->r;
	if (!r->plugin && !r->entrypoint)
		return render_files(x, err);
	x->files = (struct files){.a = x->a};
	if (r->entrypoint &&
	    tree_read_program(r->entrypoint, r->jpath, r->n_jpath, &x->files, &x->program, err) < 0)
		return error_wrap(err, "--renderer.jsonnet.entrypoint");
	return read_live(x, err);
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
	x->config =
		config ? obj_keep(a, obj_ref(config)) : NULL; /* another one may come meanwhile */
	flat_init(&x->out.flat, a);
	if (begin(x, &err) < 0)
		end(x, -err.code, &err);
}
