/* `alm run`: a trigger, a renderer, a rollout and a cluster, in this process (run.h). */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/cli/cmds.h"
#include "alm/cli/run/run_feedback.h"
#include "alm/cli/run/run_files.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/client/client.h"
#include "alm/controllers/run.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/marks.h"

#define INTERVAL_NS    NS_PER_MIN
#define MAX_DELETES    10
#define HUB            "cli"
#define INSTANCE       "files"
#define NAME_MAX_BYTES 50 /* it is part of names and a label */
#define CHECK_BYTES    ((size_t)64 << 20)

enum trigger { TRIGGER_ONEOFF, TRIGGER_INTERVAL };

struct run_command {
	struct cli *cli;
	enum trigger trigger;
	int64_t interval_ns, max_deletes;
	const char *dir, *rollout_file, *ns;
	struct session *session;
	struct db *db;
	struct audit *audit;
	struct run *run;
	struct run_feedback *feedback;
	struct error *err; /* of a run that ends */
	bool done;
};

/* --- rendering --- */

static int read_rollout(const struct run_command *c, struct arena *a, struct unit_options *o,
			struct error *err)
{
	const struct rollout_options options = {.file = c->rollout_file};
	struct rollout *rollout;
	struct obj *text = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROLLOUT_BYTES_MAX);
	if (!c->rollout_file)
		return 0;
	if (file_read_input(c->rollout_file, &b, err) < 0 ||
	    rollout_read(strbuf_str(&b), &options, a, &rollout, err) < 0 ||
	    yaml_parse_one(strbuf_str(&b), &text, err) < 0)
		return -err->code;
	o->rollout = rollout;
	o->rollout_text = obj_keep(a, text);
	return 0;
}

/* What a rollout may say, and nothing here does yet. */
static int refuse_unbuilt(const struct run_command *c, const struct rollout *r, struct error *err)
{
	for (size_t g = 0; r && g < r->n; g++)
		for (size_t i = 0; i < r->groups[g].n; i++) {
			const struct rollout_step *s = &r->groups[g].steps[i];
			if (s->action == ACTION_PLUGIN)
				return error_set(err, E_UNSUPPORTED,
						 "%s: %s.action: %s is no action; there are "
						 "CreateOrUpdate, CreateIfNotExist, DeleteIfExist "
						 "and Job",
						 c->rollout_file, s->field, s->action_name);
		}
	return 0;
}

static const char *bundle_name(const struct run_command *c, const struct unit_options *o)
{
	const char *name = cli_value(c->cli, "name");
	if (!name && o->rollout && *o->rollout->name)
		name = o->rollout->name;
	return name ? name : "default";
}

static bool is_label(const char *s)
{
	size_t n = strlen(s);
	for (size_t i = 0; i < n; i++)
		if (!(s[i] >= 'a' && s[i] <= 'z') && !(s[i] >= '0' && s[i] <= '9') && s[i] != '-')
			return false;
	return n && n <= NAME_MAX_BYTES && s[0] != '-' && s[n - 1] != '-';
}

static int render(struct run_command *c, struct arena *a, struct flat *flat, struct unit_options *o,
		  struct error *err)
{
	flat_init(flat, a);
	if (read_rollout(c, a, o, err) < 0 || refuse_unbuilt(c, o->rollout, err) < 0 ||
	    run_files_read(c->dir, c->ns, flat, err) < 0)
		return -err->code;
	o->bundle = bundle_name(c, o);
	if (!is_label(o->bundle))
		return error_set(
			err, E_INVALID,
			"the name %.80s: at most %d of a-z, 0-9 and -; --name gives another",
			o->bundle, NAME_MAX_BYTES);
	return 0;
}

static int make(struct run_command *c, struct arena *a, struct flat *flat, struct unit **ret,
		struct error *err)
{
	struct unit_options o = {
		.hub = HUB, .instance = INSTANCE, .ns = c->ns, .digest = run_digest};
	if (render(c, a, flat, &o, err) < 0)
		return -err->code;
	return unit_make(flat, &o, ret, err);
}

static int on_render(void *arg, struct arena *a, struct unit **ret, struct error *err)
{
	struct run_command *c = arg;
	struct flat flat;
	run_feedback_begin(c->feedback);
	return make(c, a, &flat, ret, err);
}

static int render_only(struct run_command *c, struct error *err)
{
	struct flat flat;
	struct unit *unit;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	if (make(c, c->cli->arena, &flat, &unit, err) < 0)
		return -err->code;
	flat_print(&flat, obj_get(unit->doc, "rollout"), &b);
	(void)term_data(strbuf_str(&b));
	return 0;
}

/* --- what is told --- */

static void on_said(void *arg, const char *step, const char *state, const char *message)
{
	(void)arg;
	if (!cstr_eq(state, "InProgress"))
		term_print("%s: %s%s%s\n", step, state, message ? ": " : "",
			   message ? message : "");
	(void)term_flush();
}

static void on_ended(void *arg, const struct obj *record, const struct error *err)
{
	struct run_command *c = arg;
	const struct obj *kept = obj_get(record, "kept");
	run_feedback_end(c->feedback, err);
	for (size_t i = 0; i < obj_len(kept); i++)
		term_print("%s\n", obj_as_string(obj_at(kept, i)));
	if (c->trigger == TRIGGER_INTERVAL && err)
		term_error("alm: %s; next in an interval\n", err->msg);
	(void)term_flush();
	if (c->trigger == TRIGGER_INTERVAL)
		return;
	if (err)
		error_copy(c->err, err);
	c->done = true;
	loop_stop(session_loop(c->session));
}

static void on_signal(void *arg, int signal)
{
	struct run_command *c = arg;
	(void)signal;
	c->done = true;
	loop_stop(session_loop(c->session));
}

/* --- the run --- */

static int open_log(struct run_command *c, struct error *err)
{
	const char *file = cli_value(c->cli, "audit-log");
	bool none = !file || !strcmp(file, "none");
	struct db_config dc = {.path = none ? ":memory:" : file, .layout = DB_LAYOUT};
	struct audit_config ac = {.loop = session_loop(c->session)};
	if (db_open(&dc, &c->db, err) < 0)
		return -err->code;
	ac.db = c->db;
	if (audit_open(&ac, &c->audit, err) < 0)
		return -err->code;
	const char *why = audit_read_only(c->audit);
	return why ? error_set(err, E_ALTERED, "%s", why) : 0;
}

static int start(struct run_command *c, struct error *err)
{
	const struct obj *version;
	const char *ns = cli_value(c->cli, "inventory-namespace");
	if (session_get(c->session, "/version", &version, err) < 0)
		return error_wrap(err, "the cluster");
	if (open_log(c, err) < 0)
		return -err->code;
	if (run_feedback_open(c->cli, session_loop(c->session), c->audit, c->db, &c->feedback,
			      err) < 0)
		return -err->code;
	struct run_config rc = {.loop = session_loop(c->session),
				.client = session_client(c->session),
				.audit = c->audit,
				.db = c->db,
				.metrics = run_feedback_metrics(c->feedback),
				.interval_ns = c->trigger == TRIGGER_INTERVAL ? c->interval_ns : 0,
				.job = {.inventory_ns = ns ? ns : SYSTEM_NAMESPACE,
					.max_deletes = c->max_deletes,
					.keeps = c->trigger != TRIGGER_ONEOFF,
					.adopts = cli_flag(c->cli, "adopt"),
					.takes = cli_flag(c->cli, "overwrite-ownership")},
				.render = on_render,
				.ended = on_ended,
				.said = on_said,
				.arg = c};
	c->run = run_new(&rc);
	loop_on_signal(session_loop(c->session), on_signal, c);
	run_start(c->run);
	while (!c->done)
		loop_run(session_loop(c->session));
	return -c->err->code;
}

/* --- the command line --- */

static int unbuilt(const struct cli *cli, struct error *err)
{
	static const char *const names[] = {"master",
					    "config-file",
					    "renderer.jsonnet.entrypoint",
					    "renderer.jsonnet.jpaths",
					    "renderer.jsonnet.ext-str",
					    "trigger.resource.config",
					    "trigger.resource.write-status",
					    "trigger.database.config",
					    "source.database.file",
					    "database-connections-file",
					    "default-database-url-file"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (cli_value(cli, names[i]))
			return error_set(err, E_USAGE, "--%s is not built yet", names[i]);
	return 0;
}

static int read_trigger(struct run_command *c, struct error *err)
{
	const char *t = cli_flag(c->cli, "one-off") ? "oneoff" : cli_value(c->cli, "trigger");
	if (!t)
		return error_set(err, E_USAGE, "--trigger is missing: oneoff or interval");
	if (cstr_eq(t, "resource") || cstr_eq(t, "git") || cstr_eq(t, "sql"))
		return error_set(err, E_USAGE, "--trigger %s is not built yet: oneoff or interval",
				 t);
	if (!cstr_eq(t, "oneoff") && !cstr_eq(t, "interval"))
		return error_set(err, E_USAGE, "--trigger %.60s: want oneoff or interval", t);
	c->trigger = cstr_eq(t, "oneoff") ? TRIGGER_ONEOFF : TRIGGER_INTERVAL;
	return 0;
}

static int read_options(struct run_command *c, struct error *err)
{
	const char *renderer = cli_value(c->cli, "renderer");
	if (unbuilt(c->cli, err) < 0 || run_feedback_check(c->cli, err) < 0 ||
	    read_trigger(c, err) < 0)
		return -err->code;
	if (renderer && strcmp(renderer, "file") != 0)
		return error_set(err, E_USAGE, "--renderer %.60s is not built yet: file", renderer);
	if (cli_duration(c->cli, "trigger.interval.duration", INTERVAL_NS, &c->interval_ns, err) <
		    0 ||
	    cli_int(c->cli, "max-deletes", MAX_DELETES, &c->max_deletes, err) < 0)
		return -err->code;
	if (c->interval_ns < NS_PER_MS || c->max_deletes < 0)
		return error_set(err, E_USAGE,
				 "--trigger.interval.duration and --max-deletes are "
				 "more than nothing");
	c->dir = cli_value(c->cli, "renderer.file.dir");
	c->dir = c->dir ? c->dir : "manifests/";
	c->rollout_file = cli_value(c->cli, "renderer.file.rollout");
	c->ns = cli_value(c->cli, "namespace");
	return 0;
}

static int run(struct cli *cli, struct error *err)
{
	struct run_command c = {.cli = cli, .err = err};
	if (read_options(&c, err) < 0)
		return -err->code;
	if (cli_flag(cli, "render-only")) {
		c.ns = c.ns ? c.ns : "default";
		return render_only(&c, err);
	}
	/* What cannot be rendered is told before the cluster is asked for anything. */
	CLEANUP(arena_freep) struct arena *a = arena_new(CHECK_BYTES);
	if (session_open(cli, &c.session, err) < 0)
		return -err->code;
	c.ns = session_namespace(c.session);
	struct flat flat;
	struct unit *unit;
	if (make(&c, a, &flat, &unit, err) >= 0)
		(void)start(&c, err);
	run_free(c.run);
	run_feedback_finish(c.feedback);
	run_feedback_free(c.feedback);
	audit_close(c.audit);
	db_close(c.db);
	session_free(c.session);
	return -err->code;
}

static const struct cmd_option options[] = {
	{"trigger", "NAME", "trigger: oneoff, or interval: at once, then again and again", 0},
	{"one-off", NULL, "trigger: the same as --trigger oneoff", 0},
	{"trigger.interval.duration", "DURATION", "trigger: the interval (default 1m)", 0},
	{"renderer", "NAME", "renderer: file, the manifests of a folder", 0},
	{"renderer.file.dir", "DIR", "renderer: the folder (default manifests/)", 0},
	{"renderer.file.rollout", "FILE",
	 "rollout: the file; without one all objects go in install order, a group a kind", 0},
	{"name", "NAME", "rollout: its name (default that of the file, else default)", 0},
	{"render-only", NULL, "print objects and rollout as JSON, and write nothing", 0},
	{"adopt", NULL, "rollout: take over objects that are there and not managed by ALM", 0},
	{"overwrite-ownership", NULL, "rollout: take over objects of other bundles", 0},
	{"max-deletes", "N", "rollout: more objects are not pruned at once (default 10)", 0},
	{"inventory-namespace", "NAME", "where it is kept what belongs to it (default alm-system)",
	 0},
	{"audit-log", "FILE", "feedback: the log of all writes, or none (default)", 0},
	{"config-file", "FILE", "configuration: not built yet", 0},
	{"renderer.jsonnet.entrypoint", "FILE", "not built yet", 0},
	{"renderer.jsonnet.jpaths", "DIR", "not built yet", 0},
	{"renderer.jsonnet.ext-str", "K=V", "not built yet", 0},
	{"trigger.resource.config", "FILE", "not built yet", 0},
	{"trigger.resource.write-status", "BOOL", "not built yet", 0},
	{"trigger.database.config", "FILE", "not built yet", 0},
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
