/* `alm history APP`: the revisions of an app: what ran, since when, who asked for it and why. From
 * the strategies, and from the audit log where the server has it. */
#include <stdlib.h>
#include <string.h>

#include "alm/cli/app/app_session.h"
#include "alm/cli/app/way_back.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/printer.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"

#define ROWS_TARGET "/apis/audit.app.coreos.com/v1alpha1/auditrecords"
#define TEXT_MAX    ((size_t)16 << 20)

/* Of the strategy, else of the asking rows: the newest that names the version. */
static const struct obj *asking_row(const struct obj *rows, const char *app, const char *version)
{
	static const char *const reasons[] = {"UpgradeAsked", "RollbackAsked", "Approved", NULL};
	const struct obj *items = obj_get(rows, "items");
	for (size_t i = obj_len(items); i-- > 0;) {
		const struct obj *row = obj_at(items, i);
		const char *to = obj_str(row, "body.version.to"),
			   *name = obj_str(row, "subject.name");
		if (cstr_in(obj_str(row, "reason"), reasons) && cstr_eq(to, version) &&
		    (cstr_eq(name, app) || cstr_has_prefix(name, "install.")))
			return row;
	}
	return NULL;
}

static const char *newest_turn(const struct obj *strategy)
{
	const struct obj *list = obj_path(strategy, "status.conditions");
	const char *newest = NULL;
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *at = obj_str(obj_at(list, i), "lastTransitionTime");
		if (at && (!newest || strcmp(at, newest) > 0))
			newest = at;
	}
	return newest ? newest : obj_str(strategy, "metadata.creationTimestamp");
}

static void set_if(struct obj *o, const char *key, const char *value)
{
	if (value && *value)
		obj_set_str(o, key, value);
}

static struct obj *revision_of(const struct cli *c, const struct obj *s, const struct obj *rows)
{
	struct obj *o = obj_map();
	const struct obj *v = obj_path(s, "spec.version");
	const char *version = obj_as_string(v);
	if (obj_is_number(v))
		version = arena_fmt(c->arena, "%.*s", STR_ARG(obj_number_text(v)));
	const struct obj *row = asking_row(rows, c->args[0], version);
	const char *who = obj_str(s, "status.approval.by"),
		   *why = obj_str(s, "spec.approvalReason");
	obj_set_int(o, "revision", obj_i64(s, "status.revision", 0));
	obj_set_str(o, "version", version ? version : "");
	set_if(o, "phase", obj_str(s, "status.phase"));
	obj_set_bool(o, "ran", way_back_has_run(s));
	set_if(o, "since", newest_turn(s));
	set_if(o, "by", who ? who : obj_str(row, "actor"));
	set_if(o, "reason", why ? why : obj_str(row, "body.justification"));
	set_if(o, "plan", obj_str(s, "status.plan.digest"));
	set_if(o, "strategy", meta_name(s));
	return o;
}

static int by_revision(const void *a, const void *b)
{
	const struct obj *x = *(const struct obj *const *)a, *y = *(const struct obj *const *)b;
	int64_t p = obj_i64(x, "revision", 0), q = obj_i64(y, "revision", 0);
	int r = (p > q) - (p < q);
	return r ? r : strcmp(obj_str(x, "strategy"), obj_str(y, "strategy"));
}

static struct obj *revisions_of(const struct cli *c, const struct app_session *a,
				const struct obj *rows)
{
	const struct obj *items = obj_get(a->strategies, "items");
	struct obj *list = obj_list();
	const struct obj **all = ARENA_ARRAY(c->arena, const struct obj *, obj_len(items) + 1);
	size_t n = 0;
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *s = obj_at(items, i);
		const char *ref = obj_str(s, "spec.appTypeRef.name");
		if (cstr_eq(ref, c->args[0]) || cstr_eq(ref, obj_str(a->app, "status.selfRef")))
			all[n++] = obj_keep(c->arena, revision_of(c, s, rows));
	}
	qsort(all, n, sizeof(all[0]), by_revision);
	for (size_t i = 0; i < n; i++)
		obj_append(list, obj_ref(all[i]));
	return list;
}

static void print_table(const struct cli *c, const struct obj *list)
{
	static const char *const headers[] = {"REVISION", "VERSION", "PHASE",
					      "SINCE",    "BY",      "REASON"};
	static const char *const keys[] = {"version", "phase", "since", "by", "reason"};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_MAX);
	struct grid g;
	grid_init(&g, c->arena);
	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		grid_column(&g, headers[i]);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		const char *cells[ARRAY_LEN(headers)] = {
			arena_fmt(c->arena, "%lld", (long long)obj_i64(o, "revision", 0))};
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			cells[k + 1] = obj_str(o, keys[k]) ? obj_str(o, keys[k]) : "-";
		if (cstr_eq(cells[2], "Superseded") && !obj_flag(o, "ran", false))
			cells[2] = "Superseded, never ran";
		grid_row(&g, cells);
	}
	grid_print(&g, true, &b);
	term_table(strbuf_str(&b));
}

static int history(struct cli *c, struct app_session *a, bool data, struct error *err)
{
	const struct obj *rows = NULL;
	struct error ignored =
		ERROR_INIT; /* a cluster without our log: the strategies are enough */
	if (session_get(a->session, ROWS_TARGET "?fieldSelector=type%3DApproval", &rows, &ignored) <
	    0)
		rows = NULL;
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	struct obj *list = revisions_of(c, a, rows);
	obj_set_str(o, "app", c->args[0]);
	obj_set(o, "revisions", list);
	if (data)
		return cli_print_data(c, o, err);
	print_table(c, list);
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	struct app_session a = {0};
	bool data;
	int r = cli_output_data(c, &data, err);
	if (r >= 0)
		r = app_session_open(c, c->args[0], &a, err);
	if (!r)
		r = history(c, &a, data, err);
	app_session_release(&a);
	return r;
}

static const struct cmd_option options[] = {
	CLI_OUTPUT_OPTION,
	{0},
};

const struct cmd cmd_history = {
	.name = "history",
	.usage = "alm history APP [-o json]",
	.summary = "list the revisions of an app: what ran, since when, who asked and why",
	.description = "spec.upgrade.historyLimit says how many are kept; `alm audit timeline "
		       "apptype/APP` has everything that ever happened.",
	.examples = "alm history etcd",
	.options = options,
	.args = {1, 1},
	.run = run,
};
