/* `alm retry APP VERSION`: try a version again that failed, at once and with the same inputs; so a Bundle. */
#include "alm/cli/app/app_session.h"
#include "alm/cli/app/retry_bundle.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "crds/marks.h"

static int retry(struct cli *c, struct app_session *a, struct error *err)
{
	const char *app = c->args[0], *version = c->args[1];
	bool data;
	if (cli_output_data(c, &data, err) < 0)
		return -err->code;
	if (!app_session_candidate(a, version) && !app_session_strategy(c, a, version))
		return error_set(err, E_NOTFOUND, "%s has no version %s; `alm why %s` lists them",
				 app, version, app);
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	struct obj *annotations = obj_map();
	obj_set_str(annotations, ANNOTATION_RETRY, version);
	obj_set(patch, "metadata", obj_map());
	obj_set_path(patch, "metadata.annotations", annotations);
	if (app_session_patch(a, a->app, patch, err) < 0)
		return -err->code;
	if (data)
		return app_session_print_outcome(c, version, "Asked", NULL, NULL,
						 app_session_strategy(c, a, version), err);
	term_print("apptype.app.coreos.com/%s tries %s again\n", app, version);
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	struct app_session a;
	if (retry_bundle_names(c))
		return retry_bundle(c, err);
	if (c->n_args != 2)
		return error_set(err, E_USAGE, "want APP VERSION, bundle/NAME or install/NAME");
	int r = app_session_open(c, c->args[0], &a, err);
	if (!r)
		r = retry(c, &a, err);
	app_session_release(&a);
	return r;
}

static const struct cmd_option options[] = {
	CLI_OUTPUT_OPTION,
	{"reason", "TEXT", "of a Bundle: why; kept in the audit log", 0},
	{0},
};

const struct cmd cmd_retry = {
	.name = "retry",
	.usage = "alm retry APP VERSION | bundle/NAME | install/NAME",
	.summary = "try a version again that failed before",
	.description =
		"What failed is tried again by itself after a wait that grows, or when the "
		"values change; this asks for it at once. It pins nothing: the resolver "
		"still takes the highest version. A Bundle that rests in a failure does so until "
		"the next push, or this; its newest Install names it, too. Exit status 3: it "
		"rests in none.",
	.examples = "alm retry etcd 0.9.5\nalm retry bundle/web --reason 'the quota is raised'",
	.options = options,
	.args = {1, 2},
	.run = run,
};
