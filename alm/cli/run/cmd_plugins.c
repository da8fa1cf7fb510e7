/* `alm plugins`: what is in $ALM_PLUGIN_DIR, and what each may. */
#include <stdlib.h>

#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/io/landlock.h"
#include "alm/io/loop.h"
#include "alm/render/plugins.h"

static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

static struct obj *texts(const char *const *list)
{
	struct obj *o = obj_list();
	for (; *list; list++)
		obj_append(o, obj_string(*list));
	return o;
}

static struct obj *describe(const struct plugin *p)
{
	struct obj *o = obj_map();
	obj_set_str(o, "kind", plugin_kind_text(p->kind));
	obj_set_str(o, "name", p->name);
	obj_set_str(o, "path", p->path);
	if (p->wrong.code) {
		obj_set_str(o, "error", p->wrong.msg);
		return o;
	}
	obj_set(o, "network", obj_bool(p->grant.network));
	obj_set(o, "env", texts(p->grant.env));
	obj_set(o, "files", texts(p->grant.files));
	return o;
}

static void print(const struct plugin *p)
{
	size_t env = 0, files = 0;
	while (!p->wrong.code && p->grant.env[env])
		env++;
	while (!p->wrong.code && p->grant.files[files])
		files++;
	term_print("%-10s %-24s ", plugin_kind_text(p->kind), p->name);
	if (p->wrong.code)
		term_print("refused: %s\n", p->wrong.msg);
	else if (!p->grant.network && !env && !files)
		term_print("-\n");
	else
		term_print("%s%zu variables, %zu files\n", p->grant.network ? "network, " : "", env,
			   files);
}

static int show(struct cli *c, const struct plugins *p, bool json, struct error *err)
{
	struct obj *list = obj_keep(c->arena, obj_list());
	const struct plugin *x;
	if (!json && plugins_at(p, 0))
		term_print("KIND       NAME                     MAY\n");
	for (size_t i = 0; (x = plugins_at(p, i)); i++) {
		if (!json)
			print(x);
		obj_append(list, describe(x));
	}
	if (json)
		return cli_print_data(c, list, err);
	if (!plugins_at(p, 0))
		term_error("no plugins: ALM_PLUGIN_DIR=DIR names a folder of programs action-NAME, "
			   "check-NAME, renderer-NAME, trigger-NAME\n");
	if (!landlock_is_there())
		term_error("this kernel has no landlock: plugins read what this user may read\n");
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	CLEANUP(plugins_freep) struct plugins *p = NULL;
	bool json;
	if (cli_output_data(c, &json, err) < 0 ||
	    plugins_open(l, variable("ALM_PLUGIN_DIR"), variable, &p, err) < 0)
		return -err->code;
	return show(c, p, json, err);
}

static const struct cmd_option options[] = {CLI_OUTPUT_OPTION, {0}};

const struct cmd cmd_plugins = {
	.name = "plugins",
	.usage = "alm plugins [-o json]",
	.summary = "list the plugins of alm run, and what each may",
	.description =
		"A plugin is a program in the folder that $ALM_PLUGIN_DIR names: action-NAME makes "
		"`action: NAME` of a rollout's step work, check-NAME a success check `plugin: "
		"NAME`, renderer-NAME `--renderer NAME`, trigger-NAME `--trigger NAME`. It reads "
		"one JSON document and prints one; what is written to the cluster, alm writes. An "
		"action gets {step, object, live, config, record} and prints {writes: [{apply: "
		"OBJECT} or {delete: true}], state: Finished, InProgress or Failed, message, "
		"record, pollAfter}; a check the same without writes; a renderer gets {name, "
		"namespace, config} and prints {objects: {KEY: OBJECT}, rollout}; a trigger gets "
		"{name, record} and prints {runs: [{key, config}], record, pollAfter}. A plugin "
		"has no network, no variables and no files but the system's libraries and its "
		"folder; KIND-NAME.json beside it may give it some: {\"network\": true, \"env\": "
		"[\"NAME\"], \"files\": [\"/path\"]}. It has 60 s, 64 MiB of memory and 8 MiB of "
		"output. Folder and files may be written by their owner alone.",
	.examples = "ALM_PLUGIN_DIR=plugins alm plugins",
	.options = options,
	.run = run,
};
