/* What the command line of `alm run` says. */
#include "alm/cli/run/run_command.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/visible.h"
#include "alm/cli/run/run_name.h"
#include "alm/cli/run/run_report.h"
#include "alm/cli/run/run_sql.h"
#include "alm/controllers/run_host.h"
#include "alm/render/plugins.h"

#define INTERVAL_NS NS_PER_MIN
#define KNOWN_TRIGGERS                                                           \
	"oneoff, interval, resource, sql, or NAME of a program trigger-NAME in " \
	"$ALM_PLUGIN_DIR"

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
		return error_wrap(err, "--trigger.resource.config");
	c->bundle =
		cli_value(c->cli, "name") ? cli_value(c->cli, "name") : c->watch.map->main->name;
	return run_name_check(c->bundle, arena_fmt(c->cli->arena, "%s: mainResource", file), err);
}

static int unknown_trigger(const struct run_command *c, const char *name, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (const char *const *p = plugins_names(c->plugins, PLUGIN_TRIGGER); *p; p++)
		visible_addf(&b, "%s%s", b.len ? ", " : ": ", *p);
	return error_set(err, E_USAGE, "--trigger %.60s: want " KNOWN_TRIGGERS "%s", name, b.buf);
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
	    sql_config_read(strbuf_str(&b), file, &c->databases, c->cli->arena, &c->sql, err) < 0)
		return error_wrap(err, "--trigger.database.config");
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
		return error_set(err, E_USAGE, "--trigger is missing: want " KNOWN_TRIGGERS);
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

/* A flag that is taken back ("--accept-empty=false") says nothing. */
static bool is_said(const struct cli *c, const char *name)
{
	for (const struct cmd_option *o = run_options; o->name; o++)
		if (!o->value && cstr_eq(o->name, name))
			return cli_flag(c, name);
	return cli_value(c, name) != NULL;
}

/* What is printed is not written anywhere. */
static int refuse_writing(const struct cli *c, struct error *err)
{
	static const char *const names[] = {"adopt",
					    "overwrite-ownership",
					    "accept-empty",
					    "max-deletes",
					    "inventory-namespace",
					    "lease-timeout",
					    "trigger.resource.write-status",
					    "audit-log",
					    "metrics-listen",
					    "feedback.sql",
					    "feedback.webhook",
					    "feedback.webhook.secret-file"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (is_said(c, names[i]))
			return error_set(err, E_USAGE,
					 "--%s says nothing to --render-only, which writes "
					 "nothing: leave one of them out",
					 names[i]);
	return 0;
}

/* What would have no effect is a mistake. */
static int refuse_idle(const struct run_command *c, struct error *err)
{
	enum {
		ONCE = 1 << TRIGGER_ONEOFF,
		EACH = 1 << TRIGGER_INTERVAL,
		OBJECTS = 1 << TRIGGER_RESOURCE,
		KEYS = 1 << TRIGGER_KEYED
	};
	static const struct {
		const char *name;
		unsigned triggers;
	} flags[] = {
		{"trigger.interval.duration", EACH | KEYS},
		{"trigger.resource.config", OBJECTS},
		{"trigger.resource.write-status", OBJECTS},
		{"trigger.database.config", KEYS},
		{"lease-timeout", ONCE},
		{"accept-empty", ONCE | EACH},
	};
	bool reads_rows = c->trigger == TRIGGER_KEYED && !c->plugin;
	const char *t = cli_value(c->cli, "trigger");
	if (cli_flag(c->cli, "one-off") && t && !cstr_eq(t, "oneoff"))
		return error_set(err, E_USAGE, "--one-off and --trigger %.60s are two triggers", t);
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (is_said(c->cli, flags[i].name) &&
		    (!(flags[i].triggers & 1U << c->trigger) ||
		     (c->plugin && cstr_eq(flags[i].name, "trigger.database.config"))))
			return error_set(err, E_USAGE, "--%s says nothing to --trigger %.60s",
					 flags[i].name, t ? t : "oneoff");
	if (cli_value(c->cli, "default-database-url-file") &&
	    !cli_value(c->cli, "database-connections-file"))
		return error_set(err, E_USAGE,
				 "--default-database-url-file says nothing without "
				 "--database-connections-file");
	if (cli_value(c->cli, "database-connections-file") && !reads_rows &&
	    !cli_value(c->cli, "source.database.file"))
		return error_set(
			err, E_USAGE,
			"--database-connections-file says nothing without --trigger sql or "
			"--source.database.file");
	return cli_flag(c->cli, "render-only") ? refuse_writing(c->cli, err) : 0;
}

int run_options_read(struct run_command *c, struct error *err)
{
	if (run_feedback_check(c->cli, err) < 0 ||
	    run_sql_databases(c->cli, &c->databases, err) < 0 || read_trigger(c, err) < 0 ||
	    refuse_idle(c, err) < 0)
		return -err->code;
	if (cli_duration(c->cli, "trigger.interval.duration", INTERVAL_NS, &c->interval_ns, err) <
		    0 ||
	    cli_int(c->cli, "max-deletes", RUN_MAX_DELETES, &c->max_deletes, err) < 0 ||
	    run_lease_check(c->cli, &c->lease.wait_ns, err) < 0)
		return -err->code;
	if (c->interval_ns < NS_PER_MS)
		return error_set(err, E_USAGE,
				 "--trigger.interval.duration %.40s: want 1ms or more; a run that "
				 "ends is --trigger oneoff",
				 cli_value(c->cli, "trigger.interval.duration"));
	if (c->max_deletes < 0)
		return error_set(err, E_USAGE, "--max-deletes %lld: want 0 or more",
				 (long long)c->max_deletes);
	return 0;
}

bool run_has_many(const struct run_command *c)
{
	return c->trigger == TRIGGER_RESOURCE || c->trigger == TRIGGER_KEYED;
}

/* In the order of the five concepts. */
const struct cmd_option run_options[] = {
	{"trigger", "NAME",
	 "oneoff; interval: at once, then again and again; resource: each object of a kind; sql: "
	 "each row; NAME: each key that the plugin trigger-NAME gives",
	 0},
	{"one-off", NULL, "the same as --trigger oneoff", 0},
	{"trigger.interval.duration", "DURATION", "the interval (default 1m)", 0},
	{"trigger.resource.config", "FILE", "which objects: mainResource, resources[]", 0},
	{"trigger.database.config", "FILE",
	 "which rows: path or databaseName, query, key, groupRows of an SQLite file", 0},
	RUN_LEASE_OPTION,
	{"renderer", "NAME",
	 "file, the manifests of a folder (default), jsonnet, or the plugin renderer-NAME", 0},
	{"renderer.file.dir", "DIR", "the folder (default manifests/)", 0},
	{"renderer.jsonnet.entrypoint", "FILE", "what is evaluated: its fields are objects", 0},
	{"renderer.jsonnet.jpaths", "DIR,..", "folders of libraries, the last one first", 0},
	{"renderer.jsonnet.ext-str", "NAME=TEXT", "std.extVar(NAME)", 0},
	{"render-only", NULL, "print objects and rollout as JSON, and write nothing", 0},
	{"config-file", "FILE",
	 "what import 'generic-operator/config' gives; wins over the trigger's", 0},
	{"config-from", "FILE",
	 "where more of it is: ConfigMaps, Secrets, objects, rows, files; below --config-file", 0},
	{"source.database.file", "FILE",
	 "queries[]: what import 'alm-runtime/NAME' gives, the rows of an SQLite file", 0},
	{"database-connections-file", "FILE",
	 "connections[]: SQLite files by name, of databaseName in other files", 0},
	{"default-database-url-file", "FILE", "sqlite://PATH of connections without a path", 0},
	{"renderer.file.rollout", "FILE",
	 "its file; without one all objects go in install order, a group a kind", 0},
	{"name", "NAME", "its name (default that of the file, else default)", 0},
	{"adopt", NULL,
	 "take over objects that are there and not managed by ALM, from kubectl and Helm, too", 0},
	{"overwrite-ownership", NULL, "take over objects of other bundles and of apps", 0},
	{"accept-empty", NULL, "nothing is rendered any more, and all that was is to be deleted",
	 0},
	{"max-deletes", "N", "more objects are not pruned at once (default 10)", 0},
	{"inventory-namespace", "NAME", "where it is kept what belongs to it (default alm-system)",
	 0},
	{"master", "URL", "the server, instead of the one that the kubeconfig names", 0},
	{"qps", "N", "so many requests a second (default: no limit; 5 with --burst)", 0},
	{"burst", "N", "so many at once before that counts (default 10)", 0},
	{"trigger.resource.write-status", "BOOL",
	 "status and finalizer of the objects that begin runs are written (default true)", 0},
	{"audit-log", "FILE",
	 "the log of all writes, or none (default); of DIR/alm.db the keys stay in DIR, too: alm "
	 "audit verify --data-dir DIR",
	 0},
	RUN_REPORT_OPTION,
	RUN_FEEDBACK_OPTIONS,
	{0},
};

const struct cmd_heading run_headings[] = {
	{"TRIGGER: what begins a run", "trigger"},
	{"RENDERER: what makes objects", "renderer"},
	{"CONFIGURATION: what they are made of", "config-file"},
	{"ROLLOUT: in which order, on which cluster", "renderer.file.rollout"},
	{"FEEDBACK: how far it came", "trigger.resource.write-status"},
	{0},
};
