/* `alm run`: a trigger, a renderer, a rollout and a cluster, in this process (run.h). */
#include <stdlib.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/visible.h"
#include "alm/cli/cmds.h"
#include "alm/cli/run/run_feedback.h"
#include "alm/cli/run/run_name.h"
#include "alm/cli/run/run_render.h"
#include "alm/cli/run/run_trigger.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/client/client.h"
#include "alm/controllers/run.h"
#include "alm/io/loop_event.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "alm/render/plugins.h"
#include "crds/marks.h"

#define INTERVAL_NS NS_PER_MIN
#define MAX_DELETES 10
#define INSTANCE    "files"
#define CHECK_BYTES ((size_t)512 << 20)

enum trigger { TRIGGER_ONEOFF, TRIGGER_INTERVAL, TRIGGER_RESOURCE, TRIGGER_KEYED };

struct run_command {
	struct cli *cli;
	enum trigger trigger;
	int64_t interval_ns, max_deletes;
	const char *ns, *bundle;
	struct run_watch watch;
	const char *plugin;    /* TRIGGER_KEYED: NAME of trigger-NAME */
	struct sql_config sql; /* TRIGGER_KEYED without a plugin */
	struct plugins *plugins;
	struct run_trigger *keys;
	struct session *session;
	struct loop *loop;
	struct run_renderer *renderer;
	struct db *db;
	struct audit *audit;
	struct run *run;
	struct run_feedback *feedback;
	struct error *err; /* of a run that ends */
	bool done;
};

/* --- rendering --- */

/* The name of the rollout is that of what is run: its objects are known by it. */
static int find_name(struct run_command *c, const struct rollout *rollout, struct error *err)
{
	const char *name = cli_value(c->cli, "name");
	if (!name && rollout && *rollout->name)
		name = rollout->name;
	c->bundle = arena_strdup(c->cli->arena, name ? name : "default");
	return run_name_check(c->bundle, "the name", err);
}

static int make(const struct run_command *c, const struct run_rendered *r, const char *instance,
		struct unit **ret, struct error *err)
{
	const struct unit_options o = {.hub = RUN_HUB,
				       .bundle = c->bundle,
				       .instance = instance,
				       .ns = c->ns,
				       .rollout = r->rollout,
				       .rollout_text = r->rollout_object,
				       .digest = run_digest};
	return unit_make(&r->flat, &o, ret, err);
}

struct attempt {
	struct run_command *c;
	struct run_render *call;
};

static void on_rendered(void *arg, const struct run_rendered *r, const struct error *err)
{
	const struct attempt *x = arg;
	struct error own = ERROR_INIT;
	int rc = err ? 0 : make(x->c, r, x->call->instance, &x->call->unit, &own);
	x->call->done(x->call, err ? err : rc < 0 ? &own : NULL);
}

static void on_render(void *arg, struct run_render *call)
{
	struct run_command *c = arg;
	struct attempt *x = ARENA_NEW(call->a, struct attempt);
	run_feedback_begin(c->feedback, call->instance);
	*x = (struct attempt){c, call};
	run_renderer_start(c->renderer, call->config ? call->config : call->main, c->ns, call->a,
			   on_rendered, x);
}

/* What is rendered without a cluster: for --render-only, and to tell what is wrong before the
 * cluster is asked for anything. */
struct trial {
	struct run_command *c;
	bool print, done;
	struct error err;
};

static void on_tried(void *arg, const struct run_rendered *r, const struct error *err)
{
	struct trial *t = arg;
	struct unit *unit;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	t->done = true;
	if (err)
		t->err = *err;
	else if (find_name(t->c, r->rollout, &t->err) >= 0 &&
		 make(t->c, r, INSTANCE, &unit, &t->err) >= 0 && t->print) {
		flat_print(&r->flat, r->rollout_object, &b);
		(void)term_data(strbuf_str(&b));
	}
	loop_stop(t->c->loop);
}

static int try_render(struct run_command *c, bool print, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(CHECK_BYTES);
	struct trial t = {.c = c, .print = print};
	run_renderer_start(c->renderer, NULL, c->ns, a, on_tried, &t);
	while (!t.done)
		loop_run(c->loop);
	return t.err.code ? error_copy(err, &t.err) : 0;
}

/* --- what is told --- */

static bool has_many(const struct run_command *c)
{
	return c->trigger == TRIGGER_RESOURCE || c->trigger == TRIGGER_KEYED;
}

static void on_said(void *arg, const char *instance, const char *step, const char *state,
		    const char *message)
{
	const struct run_command *c = arg;
	bool many = has_many(c);
	if (!cstr_eq(state, "InProgress"))
		term_print("%s%s%s: %s%s%s\n", many ? instance : "", many ? ": " : "", step, state,
			   message ? ": " : "", message ? message : "");
	(void)term_flush();
}

static void on_ended(void *arg, const char *instance, const struct obj *record,
		     const struct error *err)
{
	struct run_command *c = arg;
	const struct obj *kept = obj_get(record, "kept");
	run_feedback_end(c->feedback, instance, err);
	for (size_t i = 0; i < obj_len(kept); i++)
		term_print("%s\n", obj_as_string(obj_at(kept, i)));
	if (c->trigger == TRIGGER_INTERVAL && err)
		term_error("alm: %s; next in an interval\n", err->msg);
	if (has_many(c) && err)
		term_error("alm: %s: %s\n", instance, err->msg);
	(void)term_flush();
	if (c->trigger != TRIGGER_ONEOFF)
		return;
	if (err)
		error_copy(c->err, err);
	c->done = true;
	loop_stop(c->loop);
}

static void on_signal(void *arg, int signal)
{
	struct run_command *c = arg;
	(void)signal;
	c->done = true;
	loop_stop(c->loop);
}

/* --- the run --- */

static int open_log(struct run_command *c, struct error *err)
{
	const char *file = cli_value(c->cli, "audit-log");
	bool none = !file || !strcmp(file, "none");
	struct db_config dc = {.path = none ? ":memory:" : file, .layout = DB_LAYOUT};
	struct audit_config ac = {.loop = c->loop};
	if (db_open(&dc, &c->db, err) < 0)
		return -err->code;
	ac.db = c->db;
	if (audit_open(&ac, &c->audit, err) < 0)
		return -err->code;
	const char *why = audit_read_only(c->audit);
	return why ? error_set(err, E_ALTERED, "%s", why) : 0;
}

static void start_keys(struct run_command *c)
{
	const struct run_trigger_config tc = {.loop = c->loop,
					      .plugins = c->plugins,
					      .plugin = c->plugin,
					      .sql = c->plugin ? NULL : &c->sql,
					      .sandbox = run_renderer_sandbox(c->renderer),
					      .interval_ns = c->interval_ns,
					      .run = c->run};
	if (c->trigger != TRIGGER_KEYED)
		return;
	c->keys = run_trigger_new(&tc);
	run_trigger_start(c->keys);
}

static int start(struct run_command *c, struct error *err)
{
	const struct obj *version;
	const char *ns = cli_value(c->cli, "inventory-namespace");
	if (session_get(c->session, "/version", &version, err) < 0)
		return error_wrap(err, "the cluster");
	if (open_log(c, err) < 0)
		return -err->code;
	if (run_feedback_open(c->cli, c->loop, c->audit, c->db, &c->feedback, err) < 0)
		return -err->code;
	struct run_config rc = {
		.loop = c->loop,
		.client = session_client(c->session),
		.audit = c->audit,
		.db = c->db,
		.bundle = c->bundle,
		.watch = c->trigger == TRIGGER_RESOURCE ? &c->watch : NULL,
		.metrics = run_feedback_metrics(c->feedback),
		.plugins = c->plugins,
		.keyed = c->trigger == TRIGGER_KEYED,
		.interval_ns = c->trigger == TRIGGER_INTERVAL ? c->interval_ns : 0,
		.job = {.inventory_ns = ns ? ns : SYSTEM_NAMESPACE,
			.max_deletes = c->max_deletes,
			.touches = c->watch.touches,
			.ends = c->trigger == TRIGGER_ONEOFF,
			.keeps = c->trigger != TRIGGER_ONEOFF,
			.never_empty = !has_many(c) && !cli_flag(c->cli, "accept-empty"),
			.adopts = cli_flag(c->cli, "adopt"),
			.takes = cli_flag(c->cli, "overwrite-ownership")},
		.render = on_render,
		.ended = on_ended,
		.said = on_said,
		.arg = c};
	c->run = run_new(&rc);
	loop_on_signal(c->loop, on_signal, c);
	run_start(c->run);
	start_keys(c);
	while (!c->done)
		loop_run(c->loop);
	return -c->err->code;
}

/* --- the command line --- */

static int unbuilt(const struct cli *cli, struct error *err)
{
	static const char *const names[] = {"master", "source.database.file",
					    "database-connections-file",
					    "default-database-url-file"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (cli_value(cli, names[i]))
			return error_set(err, E_USAGE, "--%s is not built yet", names[i]);
	return 0;
}

/* The file of the seed: mainResource, and what else is watched. */
static int read_watch(struct run_command *c, struct error *err)
{
	const char *file = cli_value(c->cli, "trigger.resource.config");
	const char *write = cli_value(c->cli, "trigger.resource.write-status");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(KEYMAP_BYTES_MAX);
	if (!file)
		return error_set(err, E_USAGE,
				 "--trigger.resource.config is missing: the file that "
				 "says which objects begin a run");
	if (write && strcmp(write, "true") != 0 && strcmp(write, "false") != 0)
		return error_set(err, E_USAGE, "--trigger.resource.write-status is true or false");
	c->watch.touches = !cstr_eq(write, "false");
	if (file_read_input(file, &b, err) < 0 ||
	    keymap_read(strbuf_str(&b), file, c->cli->arena, &c->watch.map, err) < 0)
		return -err->code;
	c->bundle =
		cli_value(c->cli, "name") ? cli_value(c->cli, "name") : c->watch.map->main->name;
	return run_name_check(c->bundle, arena_fmt(c->cli->arena, "%s: mainResource", file), err);
}

static int unknown_trigger(const struct run_command *c, const char *name, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (const char *const *p = plugins_names(c->plugins, PLUGIN_TRIGGER); *p; p++)
		visible_addf(&b, "%s%s", b.len ? ", " : ": ", *p);
	return error_set(
		err, E_USAGE,
		"--trigger %.60s: want oneoff, interval or resource, sql, or NAME of a program "
		"trigger-NAME in $ALM_PLUGIN_DIR%s",
		name, b.buf);
}

/* The name of what is run, where no rollout has told it yet. */
static int name_of_trigger(struct run_command *c, struct error *err)
{
	const char *name = cli_value(c->cli, "name");
	c->bundle = name ? name : "default";
	return run_name_check(c->bundle, "--name", err);
}

static int read_sql(struct run_command *c, struct error *err)
{
	const char *file = cli_value(c->cli, "trigger.database.config");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SQL_CONFIG_BYTES_MAX);
	if (!file)
		return error_set(err, E_USAGE,
				 "--trigger.database.config is missing: the file with path, query "
				 "and key");
	if (file_read_input(file, &b, err) < 0 ||
	    sql_config_read(strbuf_str(&b), file, c->cli->arena, &c->sql, err) < 0)
		return -err->code;
	c->trigger = TRIGGER_KEYED;
	return name_of_trigger(c, err);
}

static int read_trigger(struct run_command *c, struct error *err)
{
	static const char *const names[] = {[TRIGGER_ONEOFF] = "oneoff",
					    [TRIGGER_INTERVAL] = "interval",
					    [TRIGGER_RESOURCE] = "resource"};
	const char *t = cli_flag(c->cli, "one-off") ? "oneoff" : cli_value(c->cli, "trigger");
	if (!t)
		return error_set(err, E_USAGE,
				 "--trigger is missing: oneoff, interval or resource");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (cstr_eq(t, names[i])) {
			c->trigger = (enum trigger)i;
			return c->trigger == TRIGGER_RESOURCE ? read_watch(c, err) : 0;
		}
	if (cstr_eq(t, "sql"))
		return read_sql(c, err);
	if (cstr_eq(t, "git"))
		return error_set(err, E_USAGE, "--trigger git is not built yet");
	if (!cstr_in(t, plugins_names(c->plugins, PLUGIN_TRIGGER)))
		return unknown_trigger(c, t, err);
	c->trigger = TRIGGER_KEYED;
	c->plugin = t;
	return name_of_trigger(c, err);
}

static int read_options(struct run_command *c, struct error *err)
{
	if (unbuilt(c->cli, err) < 0 || run_feedback_check(c->cli, err) < 0 ||
	    read_trigger(c, err) < 0)
		return -err->code;
	if (cli_duration(c->cli, "trigger.interval.duration", INTERVAL_NS, &c->interval_ns, err) <
		    0 ||
	    cli_int(c->cli, "max-deletes", MAX_DELETES, &c->max_deletes, err) < 0)
		return -err->code;
	if (c->interval_ns < NS_PER_MS || c->max_deletes < 0)
		return error_set(err, E_USAGE,
				 "--trigger.interval.duration and --max-deletes are "
				 "more than nothing");
	return 0;
}

static int run_on_cluster(struct run_command *c, struct error *err)
{
	if (session_open_on(c->cli, c->loop, &c->session, err) < 0)
		return -err->code;
	c->ns = session_namespace(c->session);
	/* of an object that is watched nobody knows yet */
	if (!has_many(c) && try_render(c, false, err) < 0)
		return -err->code;
	return start(c, err);
}

/* One that is empty is none. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

static int connect_client(void *arg, struct client **ret, struct error *err)
{
	struct run_command *c = arg;
	if (!c->session && session_open_on(c->cli, c->loop, &c->session, err) < 0)
		return -err->code;
	*ret = session_client(c->session);
	return 0;
}

static int run(struct cli *cli, struct error *err)
{
	struct run_command c = {.cli = cli, .err = err, .ns = cli_value(cli, "namespace")};
	c.loop = loop_event_new();
	c.ns = c.ns ? c.ns : "default";
	if (plugins_open(c.loop, variable("ALM_PLUGIN_DIR"), variable, &c.plugins, err) >= 0 &&
	    read_options(&c, err) >= 0 &&
	    run_renderer_new(cli, c.loop, c.plugins, &c.renderer, err) >= 0) {
		const struct run_cluster cluster = {connect_client, &c, c.watch.map};
		run_renderer_connect(c.renderer, &cluster);
		if (cli_flag(cli, "render-only"))
			(void)try_render(&c, true, err);
		else
			(void)run_on_cluster(&c, err);
	}
	run_renderer_free(c.renderer);
	run_trigger_free(c.keys);
	run_free(c.run);
	plugins_free(c.plugins);
	run_feedback_finish(c.feedback);
	run_feedback_free(c.feedback);
	audit_close(c.audit);
	db_close(c.db);
	session_free(c.session);
	loop_free(c.loop);
	return -err->code;
}

static const struct cmd_option options[] = {
	{"trigger", "NAME",
	 "trigger: oneoff; interval: at once, then again and again; resource: each object of a "
	 "kind; sql: each row; NAME: each key that the plugin trigger-NAME gives",
	 0},
	{"one-off", NULL, "trigger: the same as --trigger oneoff", 0},
	{"trigger.interval.duration", "DURATION", "trigger: the interval (default 1m)", 0},
	{"trigger.resource.config", "FILE", "trigger: which objects: mainResource, resources[]", 0},
	{"trigger.resource.write-status", "BOOL",
	 "feedback: status and finalizer of these objects are written (default true)", 0},
	{"renderer", "NAME",
	 "renderer: file, the manifests of a folder (default), jsonnet, or the plugin "
	 "renderer-NAME",
	 0},
	{"renderer.file.dir", "DIR", "renderer: the folder (default manifests/)", 0},
	{"renderer.file.rollout", "FILE",
	 "rollout: the file; without one all objects go in install order, a group a kind", 0},
	{"renderer.jsonnet.entrypoint", "FILE",
	 "renderer: what is evaluated: its fields are objects", 0},
	{"renderer.jsonnet.jpaths", "DIR,..", "renderer: folders of libraries, the last one first",
	 0},
	{"renderer.jsonnet.ext-str", "NAME=TEXT", "renderer: std.extVar(NAME)", 0},
	{"config-file", "FILE",
	 "configuration: what import 'generic-operator/config' gives; wins over the trigger's", 0},
	{"config-from", "FILE",
	 "configuration: where more of it is: ConfigMaps, Secrets, objects, rows, files; below "
	 "--config-file",
	 0},
	{"name", "NAME", "rollout: its name (default that of the file, else default)", 0},
	{"render-only", NULL, "print objects and rollout as JSON, and write nothing", 0},
	{"adopt", NULL, "rollout: take over objects that are there and not managed by ALM", 0},
	{"overwrite-ownership", NULL, "rollout: take over objects of other bundles", 0},
	{"accept-empty", NULL,
	 "rollout: nothing is rendered any more, and all that was is to be deleted", 0},
	{"max-deletes", "N", "rollout: more objects are not pruned at once (default 10)", 0},
	{"inventory-namespace", "NAME", "where it is kept what belongs to it (default alm-system)",
	 0},
	{"audit-log", "FILE", "feedback: the log of all writes, or none (default)", 0},
	{"trigger.database.config", "FILE",
	 "trigger: which rows: path, query, key, groupRows of an SQLite file", 0},
	{"source.database.file", "FILE", "not built yet", 0},
	{"database-connections-file", "FILE", "not built yet", 0},
	{"default-database-url-file", "FILE", "not built yet", 0},
	{"master", "URL", "not built yet: --kubeconfig names the server", 0},
	{"qps", "N", "so many requests a second (default: no limit; 5 with --burst)", 0},
	{"burst", "N", "so many at once before that counts (default 10)", 0},
	RUN_FEEDBACK_OPTIONS,
	{0},
};

const struct cmd cmd_run = {
	.name = "run",
	.usage = "alm run --trigger NAME [--renderer file] [--renderer.file.dir DIR] "
		 "[--renderer.file.rollout FILE] [--render-only]",
	.summary = "roll out a folder of manifests, once or again and again",
	.description =
		"Five concepts: a trigger begins a run; a renderer turns a configuration into "
		"objects "
		"with names; the rollout says in which groups and steps they are applied, and what "
		"is waited for; feedback tells how far it came. What a run made is kept in a "
		"ConfigMap of the inventory namespace: the next one, by whichever trigger, writes "
		"what has changed and deletes what is not there any more. Exit status: 0 rolled "
		"out, 1 a step failed, which is named, 2 usage, 3 refused before anything was "
		"written.",
	.examples = "alm run --trigger oneoff --renderer.file.dir manifests/ "
		    "--renderer.file.rollout rollout.yaml",
	.options = options,
	.run = run,
};
