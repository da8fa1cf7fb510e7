/* `alm status [APP]`: where every app stands, what it waits for, and the next step; of a Bundle each object. */

#include "alm/base/visible.h"
#include "alm/cli/app/app_session.h"
#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/app/bundle_rows.h"
#include "alm/cli/app/overview.h"
#include "alm/cli/app/own_lease.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)

/* Only ALM's server has this check; one without it has nothing to tell. */
static const char *server_trouble(struct session *s)
{
	struct session_request q = {.method = "GET", .target = "/readyz/disk", .status_only = true};
	struct session_reply reply;
	struct error ignored = ERROR_INIT;
	if (session_send(s, &q, &reply, &ignored) < 0 || reply.status != 500)
		return NULL;
	return "its disk is full: nothing is written but deletes and the audit log until there is "
	       "room on the file system of its data folder";
}

/* alm server is its own controller, or somebody's who tries it out. Who may not read the Lease is told nothing. */
static const char *controller_trouble(struct session *s, const struct cli *c, int64_t now_ns)
{
	struct error err = ERROR_INIT;
	const struct obj *lease = NULL, *version = NULL;
	if (session_get(s, OWN_LEASE_TARGET, &lease, &err) < 0 && err.code != E_NOTFOUND)
		return NULL;
	const char *why = own_lease_trouble(lease, now_ns, c->arena);
	if (!why || session_get(s, "/version", &version, &err) < 0)
		return NULL;
	const char *git = obj_str(version, "gitVersion");
	return git && str_contains(str_of(git), STR("+alm")) ? NULL : why;
}

static const struct obj *bundle_of(const struct overview_input *in, const char *name)
{
	const struct obj *items = obj_get(in->bundles, "items");
	for (size_t i = 0; i < obj_len(items); i++)
		if (cstr_eq(meta_name(obj_at(items, i)), name))
			return obj_at(items, i);
	return NULL;
}

/* Its objects, a line each, then the Bundle itself. */
static int run_bundle(const struct cli *c, struct session *s, const struct overview_input *all,
		      const struct obj *bundle, bool data, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	struct obj *rows, *items = obj_list();
	struct obj *list = obj_keep(c->arena, obj_map());
	obj_append(items, obj_ref(bundle));
	obj_set(list, "items", items);
	const struct overview_input in = {
		.bundles = list, .now_ns = all->now_ns, .controller = all->controller};
	if (bundle_rows_read(s, bundle, c->arena, &rows, err) < 0)
		return -err->code;
	obj_keep(c->arena, rows);
	struct obj *o = obj_keep(c->arena, overview_new(&in, c->arena));
	struct obj *row = obj_at_mut(obj_get_mut(o, "bundles"), 0);
	obj_del(row, "orphans"); /* they are rows */
	if (data) {
		OBJ_EACH (it, row)
			if (!obj_has(rows, it.key))
				obj_set(rows, it.key, obj_ref(it.value));
		return cli_print_data(c, rows, err);
	}
	bundle_rows_print(rows, in.now_ns, c->arena, &b);
	if (obj_str(rows, "incomplete"))
		visible_addf(&b, "There may be more: %s\n", obj_str(rows, "incomplete"));
	obj_set_bool(o, "named", true);
	overview_print(o, c->arena, &b);
	term_table(strbuf_str(&b));
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	struct overview_input in = {0};
	const char *named = NULL;
	bool json, of_bundle = c->n_args && bundle_ask_names(c, &named);
	in.only = of_bundle ? named : c->n_args ? c->args[0] : NULL;
	if (c->n_args > 1 && !of_bundle)
		return error_set(err, E_USAGE, "want one app, or bundle NAME");
	if (cli_output_data(c, &json, err) < 0 || session_open(c, &s, err) < 0 ||
	    app_session_overview(s, &in, err) < 0)
		return -err->code;
	in.server = server_trouble(s);
	in.controller = controller_trouble(s, c, in.now_ns);
	struct obj *o = obj_keep(c->arena, overview_new(&in, c->arena));
	bool no_app = in.only && (of_bundle || !obj_len(obj_get(o, "apps")));
	const struct obj *bundle = no_app ? bundle_of(&in, in.only) : NULL;
	if (bundle)
		return run_bundle(c, s, &in, bundle, json, err);
	if (of_bundle)
		return error_set(err, E_NOTFOUND, "there is no bundle %s", named);
	if (no_app)
		return app_session_no_app(c, s, in.only, err);
	if (json)
		return cli_print_data(c, o, err);
	overview_print(o, c->arena, &b);
	term_table(strbuf_str(&b));
	return 0;
}

static const struct cmd_option options[] = {
	CLI_OUTPUT_OPTION,
	{0},
};

const struct cmd cmd_status = {
	.name = "status",
	.usage = "alm status [APP | BUNDLE | bundle/BUNDLE] [-o json]",
	.summary = "tell where every app stands, what it waits for, and the next step",
	.description =
		"A line for each app, then whatever waits: for a person, for time, for "
		"something outside. Every step is a command that runs as it stands; "
		"TEXT is for words of yours, and -f - reads a manifest. Of a Bundle each "
		"object has a line, by file: what it is (Current, Kept, Drifted, InProgress, "
		"Failed, Deleting, Missing, Orphan), when the Bundle wrote it last and at which "
		"commit, and why it is so; -o json has the file.",
	.examples = "alm status\nalm status etcd\nalm status bundle/web",
	.options = options,
	.args = {0, 2},
	.run = run,
};
