/* `alm why APP` and `alm why-not APP VERSION`: every candidate with its reason, from the app's own
 * status. */
#include <stdio.h>
#include <string.h>

#include "alm/cli/app_session.h"
#include "alm/cli/cmds.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/resolve_doc.h"

static const char *catalog_revision(struct app_session *a, const struct cli *c)
{
	struct error ignored = ERROR_INIT;
	const struct obj *catalog = NULL;
	const char *name = obj_str(a->app, "status.source.catalog");
	if (!name)
		name = obj_str(a->app, "spec.catalog");
	if (!name)
		return NULL;
	const char *target = arena_fmt(c->arena, "/apis/app.coreos.com/v1alpha1/catalogs/%s", name);
	if (session_get(a->session, target, &catalog, &ignored) < 0)
		return NULL;
	return obj_str(catalog, "status.digest");
}

/* The decision that the log has of this. */
static const char *decision(struct app_session *a, const struct cli *c)
{
	struct error ignored = ERROR_INIT;
	const struct obj *list = NULL;
	const char *target = arena_fmt(
		c->arena,
		"/apis/audit.app.coreos.com/v1alpha1/auditrecords?fieldSelector=subject.name%%3D%s"
		"%%2Ctype%%3DDecision",
		meta_name(a->app));
	if (session_get(a->session, target, &list, &ignored) < 0)
		return NULL;
	const struct obj *items = obj_get(list, "items");
	return obj_len(items) ? meta_name(obj_at(items, obj_len(items) - 1)) : NULL;
}

static void print_why(struct app_session *a, const struct cli *c)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	resolve_print(a->app, catalog_revision(a, c), decision(a, c), &b);
	printf("%s", b.buf);
}

static int why_run(struct cli *c, struct error *err)
{
	struct app_session a;
	const char *output = cli_value(c, "output");
	int r = app_session_open(c, c->args[0], &a, err);
	if (!r && cstr_eq(output, "json")) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)16 << 20);
		json_print_pretty(obj_get(a.app, "status"), 4, &b);
		printf("%s\n", b.buf);
	} else if (!r) {
		print_why(&a, c);
	}
	app_session_release(&a);
	return r;
}

static int why_not_run(struct cli *c, struct error *err)
{
	struct app_session a;
	int r = app_session_open(c, c->args[0], &a, err);
	const struct obj *o = r < 0 ? NULL : app_session_candidate(&a, c->args[1]);
	if (!r && !o) {
		r = error_set(err, E_NOTFOUND, "%s has no candidate %s", c->args[0], c->args[1]);
	} else if (!r && obj_flag(o, "installable", false)) {
		printf("%s %s is installable\n", c->args[0], c->args[1]);
	} else if (!r) {
		app_session_print_refusal(&a, o, cstr_eq(cli_value(c, "output"), "wide"));
		c->exit_code = error_exit(E_REFUSED);
	}
	app_session_release(&a);
	return r;
}

static const struct cmd_option why_options[] = {
	{"output", "FORMAT", "json: the facts of the status", 'o'},
	{0},
};

const struct cmd cmd_why = {
	.name = "why",
	.usage = "alm why APP [-o json]",
	.summary = "tell every version of an app and why it is, or is not, the next one",
	.options = why_options,
	.args = {1, 1},
	.run = why_run,
};

const struct cmd cmd_why_not = {
	.name = "why-not",
	.usage = "alm why-not APP VERSION",
	.summary = "tell what keeps a version from being installed, and the steps that lift it",
	.description =
		"Exit status 0: it is installable; 3: it is not; 1: there is no such version.",
	.args = {2, 2},
	.run = why_not_run,
};
