/* `alm why APP` and `alm why-not APP VERSION`: every candidate with its reason, from the app's own
 * status. */
#include <stdio.h>
#include <string.h>

#include "alm/cli/app_session.h"
#include "alm/cli/cmds.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

static const char *or_else(const char *s, const char *fallback)
{
	return s && *s ? s : fallback;
}

/* community@sha256:c41d… */
static void print_catalog(struct app_session *a, const struct cli *c)
{
	struct error ignored = ERROR_INIT;
	const struct obj *catalog = NULL;
	const char *name = obj_str(a->app, "status.source.catalog");
	if (!name)
		name = obj_str(a->app, "spec.catalog");
	if (!name)
		return;
	const char *target = arena_fmt(c->arena, "/apis/app.coreos.com/v1alpha1/catalogs/%s", name);
	if (session_get(a->session, target, &catalog, &ignored) < 0 ||
	    !obj_str(catalog, "status.digest"))
		printf("  %s", name);
	else
		printf("  %s@sha256:%.4s…", name, obj_str(catalog, "status.digest"));
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

static const char *chosen_version(const struct app_session *a)
{
	struct condition newer;
	if (condition_get(a->app, "UpgradeAvailable", &newer) && !strcmp(newer.status, "True"))
		return newer.message;
	const struct obj *list = obj_path(a->app, "status.candidates");
	for (size_t i = 0; !obj_str(a->app, "status.installedVersion") && i < obj_len(list); i++)
		if (obj_flag(obj_at(list, i), "installable", false))
			return obj_str(obj_at(list, i), "version");
	return NULL;
}

static void print_path(const struct app_session *a)
{
	const struct obj *path = obj_path(a->app, "status.path");
	struct condition newer;
	printf("%s", or_else(obj_str(a->app, "status.installedVersion"), ""));
	for (size_t i = 0; i < obj_len(path); i++)
		printf(" -> %s", obj_as_string(obj_at(path, i)));
	if (condition_get(a->app, "UpgradeAvailable", &newer) &&
	    strcmp(newer.reason, "NewerInstallable") != 0)
		printf("; %s", newer.reason);
}

static void print_row(const struct app_session *a, const struct obj *o, const char *chosen)
{
	const char *version = obj_str(o, "version"), *reason = obj_str(o, "reason");
	if (cstr_eq(reason, "Installed")) {
		printf("  %-11s -    installed\n", version);
	} else if (cstr_eq(version, chosen)) {
		printf("  %-11s yes  chosen           ", version);
		print_path(a);
		printf("\n");
	} else if (obj_flag(o, "installable", false)) {
		printf("  %-11s yes  installable\n", version);
	} else {
		printf("  %-11s no   %-16s %s\n", version, or_else(reason, "?"),
		       or_else(obj_str(o, "message"), ""));
	}
}

static void print_why(struct app_session *a, const struct cli *c)
{
	const struct obj *app = a->app, *list = obj_path(app, "status.candidates");
	const char *installed = obj_str(app, "status.installedVersion"),
		   *chosen = chosen_version(a);
	int64_t n_lower = obj_i64(app, "status.candidatesOmitted", 0);
	struct condition resolved;
	printf("%s  %s%s  %s", meta_name(app), installed ? "installed " : "not installed",
	       or_else(installed, ""), or_else(obj_str(app, "spec.upgrade.mode"), "Automatic"));
	print_catalog(a, c);
	printf("  channel %s  range %s\n", or_else(obj_str(app, "spec.channel"), "stable"),
	       or_else(obj_str(app, "spec.version"), "*"));
	for (size_t i = 0; i < obj_len(list); i++) {
		if (cstr_eq(obj_str(obj_at(list, i), "reason"), "NotNewer"))
			n_lower++;
		else
			print_row(a, obj_at(list, i), chosen);
	}
	if (!obj_len(list) && condition_get(app, "Resolved", &resolved))
		printf("  %s: %s\n", resolved.reason, resolved.message);
	const char *seq = decision(a, c), *s = n_lower == 1 ? "" : "s";
	if (n_lower && seq)
		printf("  %lld lower version%s: NotNewer    audit #%s\n", (long long)n_lower, s,
		       seq);
	else if (n_lower)
		printf("  %lld lower version%s: NotNewer\n", (long long)n_lower, s);
	else if (seq)
		printf("  audit #%s\n", seq);
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
		app_session_print_refusal(&a, o);
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
