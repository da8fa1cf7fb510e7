/*
 * `alm diff APP`: what the plan of a version changes in the cluster, field by field. Each object of
 * the stored plan is applied as a dry run, so that defaults and admission have their say, and
 * compared with the live one.
 */
#include <string.h>

#include "alm/base/visible.h"
#include "alm/cli/app/app_session.h"
#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/app/diff_bundle.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/client/client.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/obj/diff.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/unit/holder.h"

#define FIELDS_MAX 200 /* of one object */
#define VALUE_MAX  40  /* bytes shown of a value */

struct changes {
	struct cli *c;
	struct app_session a;
	const struct obj *plan, *former; /* the installed one; NULL: none */
	struct obj *lines;               /* as -o json has them; arena */
	size_t created, updated, deleted, unchanged, refused;
};

/* --- what counts --- */

static bool is_mark(const char *key)
{
	static const char *const ours[] = {"app.coreos.com/", "meta.helm.sh/",
					   "app.kubernetes.io/managed-by",
					   "helm.sh/resource-policy"};
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (str_has_prefix(str_of(key), str_of(ours[i])))
			return true;
	return false;
}

/* The marks of who owns it stay as they are: they are no change of the package's. */
static struct obj *with_marks(const struct obj *rendered, const struct obj *live)
{
	struct obj *o = obj_copy(rendered);
	const struct obj *owners = obj_path(live, "metadata.ownerReferences");
	OBJ_EACH (it, obj_path(live, "metadata.labels"))
		if (is_mark(it.key))
			meta_set_label(o, it.key, obj_as_string(it.value));
	OBJ_EACH (it, obj_path(live, "metadata.annotations"))
		if (is_mark(it.key))
			meta_set_annotation(o, it.key, obj_as_string(it.value));
	if (owners)
		obj_set_path(o, "metadata.ownerReferences", obj_copy(owners));
	return o;
}

/* Without what the server counts. */
static struct obj *bare(const struct obj *o)
{
	static const char *const counted[] = {"status", "metadata.managedFields",
					      "metadata.resourceVersion", "metadata.generation"};
	struct obj *copy = obj_copy(o);
	for (size_t i = 0; i < ARRAY_LEN(counted); i++)
		obj_del_path(copy, counted[i]);
	return copy;
}

/* --- lines --- */

/* A version of a CRD goes by its name, all else by its index. */
static const char *field_name(const struct changes *x, const struct obj *o, const char *path)
{
	struct str rest = str_of(path), index;
	uint64_t i;
	if (!cstr_eq(meta_kind(o), "CustomResourceDefinition") ||
	    !str_has_prefix(rest, STR("spec.versions[")))
		return path;
	rest = str_skip(rest, strlen("spec.versions["));
	if (!str_cut(rest, ']', &index, &rest) || !str_parse_u64(index, &i))
		return path;
	const char *name = obj_str(obj_at(obj_path(o, "spec.versions"), (size_t)i), "name");
	return name ? arena_fmt(x->c->arena, "spec.versions[%s]%.*s", name, STR_ARG(rest)) : path;
}

static const char *shown(const struct changes *x, const struct obj *value)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)4 << 20);
	if (!value)
		return "-";
	if (obj_as_string(value))
		visible_adds(&b, obj_as_string(value));
	else
		json_print(value, &b);
	return arena_fmt(x->c->arena, "%.*s%s", STR_ARG(str_clip(strbuf_str(&b), VALUE_MAX)),
			 b.len > VALUE_MAX ? "…" : "");
}

static struct obj *add_line(const struct changes *x, const char *action, const struct obj *o)
{
	struct obj *line = obj_map();
	obj_set_str(line, "action", action);
	obj_set_str(line, "kind", meta_kind(o));
	if (meta_namespace(o))
		obj_set_str(line, "namespace", meta_namespace(o));
	obj_set_str(line, "name", meta_name(o));
	obj_append(x->lines, line);
	return line;
}

/* What is ALM's own, or nobody's, is not said: the colour tells it. */
static void print_field(const struct changes *x, const struct obj *line, const char *field)
{
	const char *holder = obj_str(line, "controlledBy"), *manager = obj_str(line, "manager");
	bool other = manager && !cstr_eq(holder, "alm") && !cstr_eq(holder, "kubernetes");
	term_print("  ");
	term_field(field, holder);
	term_print("  %s -> %s", shown(x, obj_get(line, "before")),
		   shown(x, obj_get(line, "after")));
	if (other)
		term_print("  (%s: %s)", holder, manager);
}

static void print_line(const struct changes *x, const struct obj *line)
{
	const char *ns = obj_str(line, "namespace"), *field = obj_str(line, "field");
	const char *message = obj_str(line, "message");
	term_print("%-7s %-25s %s%s%s", obj_str(line, "action"), obj_str(line, "kind"),
		   ns ? ns : "", ns ? "/" : "", obj_str(line, "name"));
	if (field)
		print_field(x, line, field);
	else if (obj_has(line, "truncated"))
		term_print("  more fields than are shown");
	else if (message)
		term_print("  %s", message);
	term_print("\n");
}

static void set_value(struct obj *line, const char *key, const struct obj *value, bool hide)
{
	if (hide)
		obj_set_str(line, key, "(hidden)");
	else if (value)
		obj_set(line, key, obj_copy(value));
}

/* live: as it is, with its managedFields. */
static void add_fields(const struct changes *x, const struct obj *live, const struct obj *before,
		       const struct obj *after)
{
	struct diff d;
	bool secret = cstr_eq(meta_kind(after), "Secret");
	diff_objects(before, after, FIELDS_MAX, x->c->arena, &d);
	for (size_t i = 0; i < d.n; i++) {
		const struct diff_item *f = &d.items[i];
		bool hide = secret && !str_has_prefix(str_of(f->path), STR("metadata."));
		struct obj *line = add_line(x, "update", after);
		obj_set_str(line, "field", field_name(x, after, f->path));
		const char *manager;
		obj_set_str(line, "controlledBy",
			    holder_word(holder_of(live, f->path, x->c->arena, &manager)));
		obj_set_str(line, "manager", manager);
		set_value(line, "before", f->before, hide);
		set_value(line, "after", f->after, hide);
	}
	if (d.cut)
		obj_set(add_line(x, "update", after), "truncated", obj_bool(true));
}

/* --- objects --- */

static int read_live(struct changes *x, const char *target, const struct obj **ret,
		     struct error *err)
{
	int r = session_get(x->a.session, target, ret, err);
	if (r == -E_NOTFOUND) {
		*ret = NULL;
		*err = ERROR_INIT;
		return 0;
	}
	return r;
}

/* Most charts leave it to the release. */
static const struct obj *in_namespace(const struct changes *x, const struct obj *rendered)
{
	struct obj *o = obj_keep(x->c->arena, obj_copy(rendered));
	obj_set_path(o, "metadata.namespace", obj_string(obj_str(x->plan, "namespace")));
	return o;
}

static int compare(struct changes *x, const struct obj *rendered, struct error *err)
{
	struct resource r;
	struct session_reply reply;
	const struct obj *live = NULL;
	if (session_kind(x->a.session, rendered, &r, err) < 0) {
		*err = ERROR_INIT; /* its CRD comes with the same plan */
		x->created++;
		add_line(x, "create", rendered);
		return 0;
	}
	if (r.namespaced && !meta_namespace(rendered))
		rendered = in_namespace(x, rendered);
	const char *target = session_target(x->a.session, &r, meta_namespace(rendered),
					    meta_name(rendered), NULL);
	if (read_live(x, target, &live, err) < 0)
		return -err->code;
	if (!live) {
		x->created++;
		add_line(x, "create", rendered);
		return 0;
	}
	CLEANUP(obj_unrefp) struct obj *body = with_marks(rendered, live);
	struct session_request request = {
		.method = "PATCH",
		.target = arena_fmt(x->c->arena,
				    "%s?dryRun=All&force=true&fieldManager=" CLIENT_FIELD_MANAGER,
				    target),
		.content_type = APPLY_PATCH,
		.body = body};
	int code = session_send(x->a.session, &request, &reply, err);
	if (code == -E_INVALID || code == -E_FORBIDDEN) {
		obj_set_str(add_line(x, "refuse", rendered), "message", err->msg);
		x->refused++;
		*err = ERROR_INIT;
		return 0;
	}
	if (code < 0)
		return error_wrap(err, "%s %s", meta_kind(rendered), meta_name(rendered));
	CLEANUP(obj_unrefp) struct obj *before = bare(live);
	CLEANUP(obj_unrefp) struct obj *after = bare(reply.body);
	bool same = obj_equal(before, after);
	x->updated += !same;
	x->unchanged += same;
	if (!same)
		add_fields(x, live, before, after);
	return 0;
}

static bool has_object(const struct obj *plan, const struct obj *o)
{
	const struct obj *entries = obj_get(plan, "objects");
	for (size_t i = 0; i < obj_len(entries); i++) {
		const struct obj *other = obj_get(obj_at(entries, i), "object");
		if (cstr_eq(meta_kind(other), meta_kind(o)) &&
		    cstr_eq(meta_name(other), meta_name(o)) &&
		    cstr_eq(meta_namespace(other), meta_namespace(o)))
			return true;
	}
	return false;
}

static int compare_all(struct changes *x, struct error *err)
{
	const struct obj *entries = obj_get(x->plan, "objects"),
			 *former = obj_get(x->former, "objects");
	for (size_t i = 0; i < obj_len(entries); i++)
		if (compare(x, obj_get(obj_at(entries, i), "object"), err) < 0)
			return -err->code;
	for (size_t i = 0; i < obj_len(former); i++) {
		const struct obj *o = obj_get(obj_at(former, i), "object");
		if (has_object(x->plan, o) || unit_is_kept(o))
			continue;
		x->deleted++;
		add_line(x, "delete", o);
	}
	return 0;
}

static void print_findings(const struct obj *strategy)
{
	const struct obj *findings = obj_path(strategy, "status.plan.findings");
	for (size_t i = 0; i < obj_len(findings); i++) {
		const struct obj *f = obj_at(findings, i);
		const char *outcome = obj_str(f, "outcome"), *rule = obj_str(f, "rule");
		const char *message = obj_str(f, "message");
		struct str text = message ? str_of(message) : STR_NONE;
		if (rule && str_has_prefix(text, str_of(rule)))
			text = str_trim(str_skip(text, strlen(rule)));
		term_print("%-7s %-25s %.*s\n", cstr_eq(outcome, "allow") ? "note" : outcome, rule,
			   STR_ARG(text));
	}
	int64_t omitted = obj_i64(strategy, "status.plan.findingsOmitted", 0);
	if (omitted)
		term_print(
			"and %lld more findings; the audit log has them: alm audit query --subject "
			"InstallStrategy/%s --reason CRDJudged -o json\n",
			(long long)omitted, meta_name(strategy));
}

static void print_permissions(const struct obj *strategy)
{
	const struct obj *list = obj_path(strategy, "status.plan.permissions");
	for (size_t i = 0; i < obj_len(list); i++)
		term_print("%-7s %-25s %s\n", "grant", "PermissionIncrease",
			   obj_as_string(obj_at(list, i)));
}

/* --- the command --- */

static void print_text(const struct changes *x, const struct obj *strategy)
{
	for (size_t i = 0; i < obj_len(x->lines); i++)
		print_line(x, obj_at(x->lines, i));
	print_findings(strategy);
	print_permissions(strategy);
	const char *digest = obj_str(strategy, "status.plan.digest");
	term_print("%zu to create, %zu to update, %zu to delete, %zu unchanged", x->created,
		   x->updated, x->deleted, x->unchanged);
	if (x->refused)
		term_print(", %zu refused by the server", x->refused);
	term_print(digest ? "; plan %.11s…\n" : "\n", digest);
}

static int print_json(const struct changes *x, const struct obj *strategy, struct error *err)
{
	static const char *const of_plan[] = {"digest", "findings", "findingsOmitted",
					      "permissions"};
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	const struct obj *plan = obj_path(strategy, "status.plan");
	obj_set(o, "changes", obj_ref(x->lines));
	obj_set(o, "create", obj_int((int64_t)x->created));
	obj_set(o, "update", obj_int((int64_t)x->updated));
	obj_set(o, "delete", obj_int((int64_t)x->deleted));
	obj_set(o, "unchanged", obj_int((int64_t)x->unchanged));
	obj_set(o, "refuse", obj_int((int64_t)x->refused));
	for (size_t i = 0; i < ARRAY_LEN(of_plan); i++)
		if (obj_has(plan, of_plan[i]))
			obj_set(o, of_plan[i], obj_copy(obj_get(plan, of_plan[i])));
	return cli_print_data(x->c, o, err);
}

static int diff(struct changes *x, bool json, struct error *err)
{
	const char *installed = obj_str(x->a.app, "status.installedVersion"),
		   *version = cli_value(x->c, "to");
	if (!version)
		version = obj_str(x->a.app, "status.availableVersion");
	const struct obj *strategy = app_session_strategy(x->c, &x->a, version),
			 *old = app_session_strategy(x->c, &x->a, installed);
	if (!strategy)
		return error_set(err, E_NOTFOUND,
				 "%s has no plan for version %s; `alm why %s` lists what it has",
				 meta_name(x->a.app), version ? version : "-", meta_name(x->a.app));
	x->plan = app_session_plan(x->c, &x->a, strategy, err);
	if (!x->plan)
		return -err->code;
	if (old && old != strategy) {
		struct error ignored;
		x->former = app_session_plan(x->c, &x->a, old, &ignored);
	}
	if (compare_all(x, err) < 0)
		return -err->code;
	if (x->refused)
		x->c->exit_code = error_exit(E_REFUSED);
	if (json)
		return print_json(x, strategy, err);
	print_text(x, strategy);
	return 0;
}

static int diff_run(struct cli *c, struct error *err)
{
	struct changes x = {.c = c, .lines = obj_keep(c->arena, obj_list())};
	const char *bundle;
	bool json;
	if (bundle_ask_names(c, &bundle))
		return diff_bundle(c, bundle, err);
	if (c->n_args > 1)
		return error_set(err, E_USAGE, "want one app, or bundle NAME");
	if (cli_output_data(c, &json, err) < 0)
		return -err->code;
	int r = app_session_open(c, c->args[0], &x.a, err);
	if (!r)
		r = diff(&x, json, err);
	app_session_release(&x.a);
	return r;
}

static const struct cmd_option options[] = {
	{"to", "VERSION", "the version to compare with (default: the available one)", 0},
	{"output", "FORMAT", "json or yaml: whole values, and what the gate found", 'o'},
	{0},
};

const struct cmd cmd_diff = {
	.name = "diff",
	.usage = "alm diff APP [--to VERSION] [-o json] | alm diff bundle/NAME [-o json]",
	.summary = "tell what the plan of a version changes in the cluster",
	.description =
		"One line a field, from the stored plan and the live objects; each object is "
		"sent as a dry run, nothing is written. With the installed version it tells "
		"what has drifted. A field that another than ALM controls has who that is (git, "
		"person, "
		"autoscaler, controller; the field manager), and each its colour: green is ALM's, "
		"yellow a "
		"person's, cyan an autoscaler's, blue a controller's, grey Kubernetes'; with -o "
		"json "
		"controlledBy and manager. Exit status 3: the server refuses one of the objects.\n"
		"Of a Bundle each object that it applied last is held against the live one, field "
		"by field: green is as git has it (counted; all with -o json), red is otherwise, "
		"yellow is not in git and somebody's, grey is Kubernetes' own or an autoscaler's. "
		"Paths alone, no values. That takes the right to read the Secrets of alm-system.",
	.examples = "alm diff etcd --to 0.9.6\nalm diff bundle/web",
	.options = options,
	.args = {1, 2},
	.run = diff_run,
};
