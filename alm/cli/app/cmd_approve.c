/* `alm approve APP VERSION`: approves the plan of a waiting version, bound to its digest; and the
 * deletes of a Bundle (approve_bundle.h). */
#include <string.h>

#include "alm/cli/app/app_session.h"
#include "alm/cli/app/approve_bundle.h"
#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/controllers/app/approval_review.h"
#include "alm/obj/meta.h"

/* A server with deploy/approver.yaml wants the approver's name and compares it with who he is to
 * it; one that cannot tell takes approvals without a name. */
static void name_approver(const struct app_session *a, struct obj *patch)
{
	const char *user = session_user(a->session);
	if (user)
		obj_set_path(patch, "spec.approvedBy", obj_string(user));
}

/* Kubernetes 1.27 says nobody's name, but ALM's webhook does, as it refuses an approval without one. Is
 * the patch another one now? */
static bool approver_told(const struct error *err, struct obj *patch)
{
	struct str user = approval_review_wants(err->msg);
	if (!user.len || obj_str(patch, "spec.approvedBy"))
		return false;
	obj_set_path(patch, "spec.approvedBy", obj_stringn(user));
	return true;
}

static int send_approval(struct app_session *a, const struct obj *strategy, struct obj *patch,
			 struct error *err)
{
	int rc = app_session_patch(a, strategy, patch, err);
	if (rc == 0 || !approver_told(err, patch))
		return rc;
	*err = ERROR_INIT;
	return app_session_patch(a, strategy, patch, err);
}

static int approve(struct cli *c, struct app_session *a, struct error *err)
{
	const char *app = c->args[0], *version = c->args[1], *reason = cli_value(c, "reason");
	const struct obj *candidate = app_session_candidate(a, version);
	const struct obj *strategy = app_session_strategy(c, a, version);
	const char *phase = obj_str(strategy, "status.phase"),
		   *digest = obj_str(strategy, "status.plan.digest");
	bool data;
	if (cli_output_data(c, &data, err) < 0)
		return -err->code;
	if (candidate && !obj_flag(candidate, "installable", false)) {
		c->exit_code = error_exit(E_REFUSED);
		if (data)
			return app_session_print_outcome(c, version, "Refused", NULL, candidate,
							 strategy, err);
		app_session_print_refusal(a, candidate, false);
		return 0;
	}
	if (!candidate && !strategy)
		return error_set(err, E_NOTFOUND, "%s has no version %s", app, version);
	if (!cstr_eq(phase, "AwaitingApproval") || !digest)
		return error_set(err, E_REFUSED, "%s %s waits for no approval: its strategy is %s",
				 app, version, phase ? phase : "not made yet");
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	obj_set(patch, "spec", obj_map());
	obj_set_path(patch, "spec.approved", obj_bool(true));
	obj_set_path(patch, "spec.approvedPlan", obj_string(digest));
	obj_set_path(patch, "spec.approvalReason", obj_string(reason));
	name_approver(a, patch);
	if (send_approval(a, strategy, patch, err) < 0)
		return -err->code;
	if (data)
		return app_session_print_outcome(c, version, "Approved", NULL, NULL, strategy, err);
	term_print("approved %s, plan %.11s…\n", meta_name(strategy), digest);
	return 0;
}

static int approve_run(struct cli *c, struct error *err)
{
	struct app_session a;
	if (!cli_value(c, "reason"))
		return error_set(err, E_USAGE, "--reason is required; it is kept in the audit log");
	const char *bundle;
	bool of_bundle =
		cli_flag(c, "prune") || cli_flag(c, "canary") || cli_flag(c, "skip-analysis");
	if (bundle_ask_names(c, &bundle) && (of_bundle || !c->args[1]))
		return approve_bundle(c, bundle, err);
	if (!c->args[1] || of_bundle)
		return error_set(err, E_USAGE,
				 "want APP VERSION, or bundle/NAME and what of it; see alm approve "
				 "--help");
	int r = app_session_open(c, c->args[0], &a, err);
	if (!r)
		r = approve(c, &a, err);
	app_session_release(&a);
	return r;
}

static const struct cmd_option options[] = {
	{"reason", "TEXT", "why; kept in the audit log (required)", 0},
	{"prune", NULL, "of a bundle: more deletes than spec.prune.maxDeletes", 0},
	{"canary", NULL, "of a bundle: canaries of this rollout at the weight at which one waits",
	 0},
	{"skip-analysis", NULL,
	 "of a bundle: figures, pauses and approvals of the revision that is rolled out are left "
	 "out",
	 0},
	CLI_OUTPUT_OPTION,
	{0},
};

const struct cmd cmd_approve = {
	.name = "approve",
	.usage = "alm approve APP VERSION --reason TEXT [-o json] | bundle/NAME "
		 "--prune|--canary|--skip-analysis --reason TEXT",
	.summary = "approve the plan of a waiting version, or what a Bundle waits for",
	.description =
		"The approval is bound to the digest of the plan that is shown now. Exit "
		"status 3: the version is "
		"not installable, and the steps are printed; or it waits for no approval. "
		"bundle/NAME --prune approves the deletes of the commit that is held, --canary the "
		"step at which canaries wait; with --skip-analysis they need no figures, pauses "
		"and "
		"approvals any more, but are to be ready. Each is of the revision that is there "
		"now, "
		"and of no other; alm abort ends it.",
	.examples = "alm approve etcd 0.9.6 --reason CHG-4711\nalm approve bundle/web --canary "
		    "--reason 'looks good'",
	.options = options,
	.args = {1, 2},
	.run = approve_run,
};
