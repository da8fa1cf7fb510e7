/* `alm run`: a trigger, a renderer, a rollout and a cluster, in this process (run.h). */
#include <stdlib.h>
#include <string.h>

#include "alm/cli/cmds.h"
#include "alm/cli/run/run_command.h"
#include "alm/cli/run/run_name.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/client/client.h"
#include "alm/controllers/run_host.h"
#include "alm/io/loop_event.h"
#include "alm/io/process_id.h"
#include "alm/render/plugins.h"
#include "crds/marks.h"

#define INSTANCE    "files"
#define CHECK_BYTES ((size_t)512 << 20)

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
	run_feedback_begin(c->feedback, call->instance);
	if (c->tried) {
		arena_free(call->a);
		call->a = STEAL(c->tried);
		call->unit = c->tried_unit;
		call->done(call, NULL);
		return;
	}
	struct attempt *x = ARENA_NEW(call->a, struct attempt);
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
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	t->done = true;
	if (err)
		t->err = *err;
	else if (find_name(t->c, r->rollout, &t->err) >= 0 &&
		 make(t->c, r, INSTANCE, &t->c->tried_unit, &t->err) >= 0 && t->print) {
		flat_print(&r->flat, r->rollout_object, &b);
		(void)term_data(strbuf_str(&b));
	} else if (!t->err.code && !r->flat.n) {
		term_error("alm: nothing was rendered, so nothing is to be there%s\n",
			   cli_value(t->c->cli, "renderer.file.dir")
				   ? ": no .yaml, .yml or .json in the folder"
				   : "");
		(void)term_flush();
	}
	loop_stop(t->c->loop);
}

static void forget_tried(struct run_command *c)
{
	if (c->tried)
		arena_free(STEAL(c->tried));
}

static int try_render(struct run_command *c, bool print, struct error *err)
{
	struct trial t = {.c = c, .print = print};
	c->tried = arena_new(CHECK_BYTES);
	run_renderer_start(c->renderer, NULL, c->ns, c->tried, on_tried, &t);
	while (!t.done)
		loop_run(c->loop);
	if (!t.err.code)
		return 0;
	forget_tried(c);
	return error_copy(err, &t.err);
}

/* --- what is told --- */

static void on_said(void *arg, const char *instance, const char *step, const char *state,
		    const char *message)
{
	const struct run_command *c = arg;
	bool many = run_has_many(c);
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
	if (run_has_many(c) && err)
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

/* --- the Lease --- */

static void on_given_up(void *arg, const struct error *why)
{
	struct run_command *c = arg;
	error_copy(c->err, why);
	c->done = true;
	loop_stop(c->loop);
}

static void on_waits(void *arg, const char *holder)
{
	struct run_command *c = arg;
	forget_tried(c); /* until it holds the Lease that may have changed */
	run_lease_waits(&c->lease, holder);
}

static void on_failing(void *arg, const struct error *err)
{
	struct run_command *c = arg;
	forget_tried(c);
	run_lease_failing(&c->lease, err);
}

/* --- the run --- */

static int open_log(struct run_command *c, struct error *err)
{
	const char *file = cli_value(c->cli, "audit-log");
	bool none = !file || !strcmp(file, "none");
	if (run_log_open(c->loop, none ? NULL : file, &c->db, &c->audit, err) < 0)
		return error_wrap(err, "--audit-log %s", none ? "none" : file);
	return 0;
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

static void on_leads(void *arg, bool held)
{
	struct run_command *c = arg;
	run_lease_leads(&c->lease, held);
	if (held)
		start_keys(c);
	else
		run_trigger_free(STEAL(c->keys));
}

static void on_over(void *arg)
{
	struct run_command *c = arg;
	c->over = true;
	loop_stop(c->loop);
}

/* Until it is over, and the Lease is another one's to take. */
static void perform(struct run_command *c)
{
	loop_on_signal(c->loop, on_signal, c);
	run_start(c->run);
	while (!c->done)
		loop_run(c->loop);
	run_trigger_free(STEAL(c->keys));
	run_end(c->run, on_over, c);
	while (!c->over)
		loop_run(c->loop);
}

static void begin_lease(struct run_command *c, const char *ns)
{
	c->lease.cli = c->cli;
	c->lease.loop = c->loop;
	c->lease.ns = ns;
	c->lease.ends = c->trigger == TRIGGER_ONEOFF;
	c->lease.give_up = on_given_up;
	c->lease.arg = c;
	run_lease_begin(&c->lease, c->bundle);
}

static int start(struct run_command *c, struct error *err)
{
	const struct obj *version;
	const char *ns = cli_value(c->cli, "inventory-namespace");
	ns = ns ? ns : SYSTEM_NAMESPACE;
	if (session_get(c->session, "/version", &version, err) < 0)
		return error_wrap(err, "the cluster");
	if (open_log(c, err) < 0)
		return -err->code;
	if (run_feedback_open(c->cli, c->loop, c->audit, c->db, &c->feedback, err) < 0)
		return -err->code;
	begin_lease(c, ns);
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
		.job = {.inventory_ns = ns,
			.max_deletes = c->max_deletes,
			.touches = c->watch.touches,
			.ends = c->trigger == TRIGGER_ONEOFF,
			.keeps = c->trigger != TRIGGER_ONEOFF,
			.never_empty = !run_has_many(c) && !cli_flag(c->cli, "accept-empty"),
			.adopts = cli_flag(c->cli, "adopt"),
			.takes = cli_flag(c->cli, "overwrite-ownership")},
		.holder = c->lease.identity,
		.holder_is_dead = process_id_is_dead,
		.leads = on_leads,
		.waits = on_waits,
		.failing = on_failing,
		.render = on_render,
		.ended = on_ended,
		.said = on_said,
		.arg = c};
	c->run = run_new(&rc);
	perform(c);
	return -c->err->code;
}

/* --- the command --- */

static int run_on_cluster(struct run_command *c, struct error *err)
{
	if (session_open_on(c->cli, c->loop, &c->session, err) < 0)
		return -err->code;
	c->ns = session_namespace(c->session);
	/* of an object that is watched nobody knows yet */
	if (!run_has_many(c) && try_render(c, false, err) < 0)
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
	    run_options_read(&c, err) >= 0 &&
	    run_renderer_new(cli, c.loop, c.plugins, &c.databases, &c.renderer, err) >= 0) {
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
	forget_tried(&c);
	run_lease_release(&c.lease);
	plugins_free(c.plugins);
	run_feedback_finish(c.feedback);
	run_feedback_free(c.feedback);
	audit_close(c.audit);
	db_close(c.db);
	session_free(c.session);
	loop_free(c.loop);
	return -err->code;
}

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
	.options = run_options,
	.headings = run_headings,
	.run = run,
};
