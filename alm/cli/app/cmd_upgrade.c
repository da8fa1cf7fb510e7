/* `alm upgrade APP --to VERSION`, `alm rollback APP --to VERSION`: ask for one version. */
#include <string.h>

#include "alm/cli/app/app_session.h"
#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/app/rollback_bundle.h"
#include "alm/cli/app/rollback_try.h"
#include "alm/cli/app/way_back.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/controllers/app/asks.h"
#include "alm/obj/meta.h"
#include "catalog/gate/waivers.h"

static struct obj *waivers_with(const struct cli *c, const struct app_session *a)
{
	CLEANUP(obj_unrefp) struct obj *added = obj_list();
	const char *resource;
	for (size_t i = 0; (resource = cli_value_at(c, "accept-dropped", i)); i++) {
		struct obj *w = obj_map();
		obj_set_str(w, "rule", "ResourceDropped");
		obj_set_str(w, "resource", resource);
		obj_set_str(w, "reason", cli_value(c, "reason"));
		obj_append(added, w);
	}
	return waivers_join(obj_path(a->app, "spec.upgrade.waivers"), added);
}

/* For the audit log: why, and that it belongs to this very change. */
static void add_reason(const struct cli *c, const struct app_session *a, struct obj *annotations)
{
	const char *reason = cli_value(c, "reason");
	int64_t generation = meta_generation(a->app) + 1;
	obj_set(annotations, ANNOTATION_REASON, reason ? obj_string(reason) : obj_null());
	obj_set(annotations, ANNOTATION_REASON_FOR,
		reason ? obj_stringf("%lld", (long long)generation) : obj_null());
}

static int ask_for(struct cli *c, struct app_session *a, const char *version, struct error *err)
{
	const char *accept = cli_value(c, "accept-dropped");
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	obj_set(patch, "spec", obj_map());
	obj_set_path(patch, "spec.upgrade", obj_map());
	obj_set_path(patch, "spec.upgrade.to", obj_string(version));
	if (accept)
		obj_set_path(patch, "spec.upgrade.waivers", waivers_with(c, a));
	struct obj *annotations = obj_map();
	if (cli_flag(c, "retry"))
		obj_set_str(annotations, ANNOTATION_RETRY, version);
	add_reason(c, a, annotations);
	obj_set(patch, "metadata", obj_map());
	obj_set_path(patch, "metadata.annotations", annotations);
	return app_session_patch(a, a->app, patch, err);
}

static int upgrade(struct cli *c, struct app_session *a, struct error *err)
{
	const char *version = cli_value(c, "to");
	const struct obj *candidate = app_session_candidate(a, version);
	bool changes = cli_value(c, "accept-dropped") || cli_flag(c, "retry");
	if (!candidate)
		return error_set(err, E_NOTFOUND, "%s has no candidate %s; `alm why %s` lists them",
				 c->args[0], version, c->args[0]);
	const char *reason = obj_str(candidate, "reason");
	bool user = cstr_eq(reason, "NotRequested") || cstr_eq(reason, "NotNewer");
	bool data;
	if (cli_output_data(c, &data, err) < 0)
		return -err->code;
	const struct obj *strategy = app_session_strategy(c, a, version);
	if (!obj_flag(candidate, "installable", false) && !changes && !user) {
		c->exit_code = error_exit(E_REFUSED);
		if (data)
			return app_session_print_outcome(c, version, "Refused", NULL, candidate,
							 strategy, err);
		app_session_print_refusal(a, candidate, false);
		return 0;
	}
	if (ask_for(c, a, version, err) < 0)
		return -err->code;
	const char *hold = way_back_hold(c, a, version);
	if (data)
		return app_session_print_outcome(c, version, "Asked", hold, NULL,
						 app_session_strategy(c, a, version), err);
	term_print("apptype.app.coreos.com/%s asked for %s\n", c->args[0], version);
	if (hold)
		term_print("%s\n", hold);
	return 0;
}

static int with_app(struct cli *c,
		    int (*fn)(struct cli *c, struct app_session *a, struct error *err),
		    struct error *err)
{
	struct app_session a;
	if (!cli_value(c, "to"))
		return error_set(err, E_USAGE, "--to VERSION is required");
	if (cli_value(c, "accept-dropped") && !cli_value(c, "reason"))
		return error_set(err, E_USAGE,
				 "--accept-dropped needs --reason; it is kept in the audit log");
	int r = app_session_open(c, c->args[0], &a, err);
	if (!r)
		r = fn(c, &a, err);
	app_session_release(&a);
	return r;
}

static int upgrade_run(struct cli *c, struct error *err)
{
	return with_app(c, upgrade, err);
}

/* A wish that is refused would only keep the app from going forward. */
static int take_back(struct app_session *a, const char *former, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	obj_set(patch, "spec", obj_map());
	obj_set_path(patch, "spec.upgrade", obj_map());
	obj_set_path(patch, "spec.upgrade.to", former ? obj_string(former) : obj_null());
	return app_session_patch(a, a->app, patch, err);
}

/* With -o json and yaml one document, else the text. */
static int answer(struct cli *c, const char *outcome, const char *text, const struct obj *strategy,
		  struct error *err)
{
	const char *output = cli_value(c, "output");
	if (cstr_eq(outcome, "Refused"))
		c->exit_code = error_exit(E_REFUSED);
	if (output && strcmp(output, "name") != 0)
		return app_session_print_outcome(c, cli_value(c, "to"), outcome, text, NULL,
						 strategy, err);
	if (cstr_eq(outcome, "Begun"))
		term_print("apptype.app.coreos.com/%s\n", c->args[0]);
	if (text)
		term_print("%s\n", text);
	return 0;
}

static int rollback(struct cli *c, struct app_session *a, struct error *err)
{
	const char *output = cli_value(c, "output");
	bool data;
	if (!cstr_eq(output, "name") && cli_output_data(c, &data, err) < 0)
		return -err->code;
	const char *version = cli_value(c, "to");
	const struct obj *strategy = app_session_strategy(c, a, version);
	const char *to = obj_str(a->app, "spec.upgrade.to"), *note = NULL;
	const char *former = to ? arena_strdup(c->arena, to) : NULL;
	if (!strategy)
		return error_set(err, E_NOTFOUND, "%s has no strategy of version %s in its history",
				 c->args[0], version);
	const char *refusal = way_back_refusal(c, a, strategy, version);
	if (refusal)
		return answer(c, "Refused", refusal, strategy, err);
	const char *refused = rollback_refused_object(c, a, strategy);
	if (refused)
		return answer(c, "Refused",
			      arena_fmt(c->arena,
					"RollbackRefused: %s; a CRD is never downgraded; fields "
					"that come from spec.values can be taken out of there",
					refused),
			      strategy, err);
	if (cli_flag(c, "dry-run"))
		return answer(c, "Possible",
			      arena_fmt(c->arena, "%s can go back to %s; CRDs stay as they are",
					c->args[0], version),
			      strategy, err);
	if (!cli_value(c, "reason"))
		return error_set(err, E_USAGE, "--reason is required; it is kept in the audit log");
	if (ask_for(c, a, version, err) < 0)
		return -err->code;
	refusal = way_back_verdict(c, a, version, &note);
	if (!refusal)
		return answer(c, "Begun", note, strategy, err);
	if (take_back(a, former, err) < 0)
		return -err->code;
	return answer(c, "Refused",
		      arena_fmt(c->arena, "RollbackRefused: %s; spec.upgrade.to is %s again",
				refusal, former ? former : "unset"),
		      strategy, err);
}

static int rollback_run(struct cli *c, struct error *err)
{
	const char *bundle;
	if (bundle_ask_names(c, &bundle))
		return rollback_bundle(c, bundle, err);
	if (c->args[1])
		return error_set(err, E_USAGE, "want APP --to VERSION, or bundle NAME");
	return with_app(c, rollback, err);
}

static const struct cmd_option upgrade_options[] = {
	{"to", "VERSION", "the version to install (required)", 0},
	{"accept-dropped", "RESOURCE",
	 "waive ResourceDropped for plural.group/version; never a stored one; may be given again",
	 0},
	{"retry", NULL, "try a version again that failed before", 0},
	{"reason", "TEXT", "why; kept in the audit log", 0},
	CLI_OUTPUT_OPTION,
	{0},
};

static const struct cmd_option rollback_options[] = {
	{"to", "VERSION",
	 "a version of the app's history (required); of a bundle a commit, or head (default: the "
	 "revision "
	 "before)",
	 0},
	{"dry-run", NULL, "only tell what is known against it", 0},
	{"reason", "TEXT", "why; kept in the audit log (required)", 0},
	{"output", "FORMAT", "name; json or yaml: the outcome as one document", 'o'},
	{0},
};

const struct cmd cmd_upgrade = {
	.name = "upgrade",
	.usage = "alm upgrade APP --to VERSION [--accept-dropped RESOURCE --reason TEXT] [--retry]",
	.examples = "alm upgrade etcd --to 0.9.6",
	.summary = "ask for one version of an app",
	.description = "Sets spec.upgrade.to, and tells what still holds the version: a window, a "
		       "pause, an approval. Exit status 3: the version is not installable, and "
		       "the steps are printed.",
	.options = upgrade_options,
	.args = {1, 1},
	.run = upgrade_run,
};

const struct cmd cmd_rollback = {
	.name = "rollback",
	.usage = "alm rollback APP --to VERSION --reason TEXT [--dry-run] | bundle NAME [--to "
		 "COMMIT|head] "
		 "--reason TEXT [--dry-run]",
	.examples = "alm rollback etcd --to 0.9.5 --dry-run\nalm rollback etcd --to 0.9.5 --reason "
		    "INC-12\nalm rollback bundle web --reason INC-13",
	.summary = "go back to a version of the app's history, or a revision of a Bundle",
	.description =
		"Sets spec.upgrade.to, which also keeps the app from going forward until it "
		"is cleared. CRDs are "
		"never downgraded. Waits until the controllers have begun or refused it; what they "
		"refuse is taken back. Exit status 3: there is no way back. Of a bundle it sets "
		"spec.source.git.commit, which is applied as a push is, and holds it there: pushes "
		"are not "
		"applied until --to head. status.history has the revisions that were Synced; any "
		"other commit "
		"of the branch is taken by its whole name.",
	.options = rollback_options,
	.args = {1, 2},
	.run = rollback_run,
};
