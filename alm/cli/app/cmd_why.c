/* `alm why APP` and `alm why-not APP VERSION`: every candidate with its reason, from the app's own
 * status, from a decision of the log, or from files. */
#include <stdio.h>

#include "alm/base/visible.h"
#include "alm/cli/app/app_session.h"
#include "alm/cli/app/offline_view.h"
#include "alm/cli/app/why_source.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/obj/json.h"
#include "alm/obj/nextstep.h"
#include "alm/obj/yaml.h"
#include "catalog/gate/waivers.h"
#include "catalog/resolve/resolve_doc.h"

#define TEXT_BYTES_MAX ((size_t)16 << 20)

static int check_output(const struct cli *c, struct error *err)
{
	const char *output = cli_value(c, "output");
	if (!output || cstr_eq(output, "json") || cstr_eq(output, "yaml") ||
	    cstr_eq(output, "wide"))
		return 0;
	return error_set(err, E_USAGE, "-o %s: want json, yaml or wide", output);
}

static bool is_output(const struct cli *c, const char *format)
{
	return cstr_eq(cli_value(c, "output"), format);
}

/* What nobody could look at is said, so that a yes is not taken for more than it is. */
static void print_offline(const struct why_facts *f, struct strbuf *b)
{
	if (f->offline)
		visible_addf(b,
			     "judged from files: live objects and the CRD gate were not asked\n");
}

/* "0.9.5: Forbidden: why" and what a person does about it. */
static void print_held(const struct obj *held, struct strbuf *b)
{
	const struct obj *next = obj_get(held, "next");
	visible_addf(b, "%s: %s: %s\n", obj_str(held, "version"), obj_str(held, "reason"),
		     obj_str(held, "message"));
	for (size_t i = 0; i < obj_len(next); i++)
		visible_addf(b, "  next: %s\n", obj_as_string(obj_at(next, i)));
}

static int why_run(struct cli *c, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	struct why_facts f;
	if (check_output(c, err) < 0 || why_facts_read(c, c->args[0], NULL, &f, err) < 0)
		return -err->code;
	if (is_output(c, "json")) {
		json_print_pretty(obj_get(f.apptype, "status"), 4, &b);
		visible_addf(&b, "\n");
	} else if (is_output(c, "yaml")) {
		yaml_print(obj_get(f.apptype, "status"), &b);
	} else {
		resolve_print(f.apptype, f.revision, f.seq, is_output(c, "wide"), &b);
		print_offline(&f, &b);
		for (size_t i = 0; i < obj_len(f.held); i++)
			print_held(obj_at(f.held, i), &b);
		if (f.waiting)
			visible_addf(&b, "%s waits for approval: alm approve %s %s --reason TEXT\n",
				     f.waiting, c->args[0], f.waiting);
	}
	term_table(strbuf_str(&b));
	return 0;
}

/* A status lists the first few; a decision of the log, or files, know all. */
static int no_candidate(const struct why_facts *f, const char *app, const char *version,
			struct error *err)
{
	int64_t omitted = obj_i64(f->apptype, "status.candidatesOmitted", 0);
	if (omitted)
		return error_set(err, E_NOTFOUND,
				 "%s lists no version %s, and %lld lower versions are not listed; "
				 "ask with --at%s%s",
				 app, version, (long long)omitted, f->seq ? " " : " SEQ",
				 f->seq ? f->seq : "");
	return error_set(err, E_NOTFOUND, "%s has no candidate %s; `alm why %s` lists them", app,
			 version, app);
}

/* A patch and nothing else: the merge of what the app has with what the gate's refusals need. */
static int print_waivers(struct cli *c, const char *app, const char *version, struct error *err)
{
	struct app_session a;
	if (cli_flag(c, "offline") || cli_value(c, "at"))
		return error_set(err, E_USAGE,
				 "-o yaml: the waivers are those of the live objects; leave out "
				 "--at and --offline");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	int r = app_session_open(c, app, &a, err);
	const struct obj *s = r < 0 ? NULL : app_session_strategy(c, &a, version);
	const struct obj *added = obj_path(s, "status.plan.waivers");
	if (r >= 0 && !obj_len(added))
		r = error_set(err, E_REFUSED,
			      "the CRD gate refuses nothing of %s %s that waivers would lift; "
			      "`alm why-not %s %s` shows the steps",
			      app, version, app, version);
	if (r >= 0) {
		CLEANUP(obj_unrefp) struct obj *all =
			waivers_join(obj_path(a.app, "spec.upgrade.waivers"), added);
		CLEANUP(obj_unrefp) struct obj *patch = waivers_patch(all);
		visible_addf(&b,
			     "# alm why-not %s %s -o yaml | kubectl patch apptype %s "
			     "--type=merge --patch-file=/dev/stdin\n",
			     app, version, app);
		yaml_print(patch, &b);
		(void)term_data(strbuf_str(&b));
		c->exit_code = error_exit(E_REFUSED);
	}
	app_session_release(&a);
	return r;
}

/* A controller proves no way back before somebody asks for one; a dry run does. */
static void print_way_back(struct cli *c, const struct obj *candidate, struct strbuf *b)
{
	const char *app = c->args[0], *version = c->args[1];
	if (!cstr_eq(obj_str(candidate, "reason"), "NotNewer") ||
	    obj_len(obj_get(candidate, "steps")))
		return;
	visible_addf(
		b, "The way back, if it is open, which the first one shows:\n  1. %s\n  2. %s\n",
		nextstep_new(c->arena, NULL, "alm rollback %s --to %s --dry-run", app, version),
		nextstep_new(c->arena, NULL, "alm rollback %s --to %s --reason TEXT", app,
			     version));
}

static int why_not_run(struct cli *c, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	struct why_facts f;
	const char *app = c->args[0], *version = c->args[1];
	if (check_output(c, err) < 0)
		return -err->code;
	if (is_output(c, "yaml"))
		return print_waivers(c, app, version, err);
	if (why_facts_read(c, app, version, &f, err) < 0)
		return -err->code;
	const struct obj *o = resolve_doc_candidate(f.apptype, version);
	if (!o)
		return no_candidate(&f, app, version, err);
	bool installable = obj_flag(o, "installable", false);
	const struct obj *held = why_held(&f, version);
	if (!installable || held)
		c->exit_code = error_exit(E_REFUSED);
	if (is_output(c, "json")) {
		CLEANUP(obj_unrefp) struct obj *doc = obj_copy(o);
		if (held)
			obj_set(doc, "held", obj_copy(held));
		json_print_pretty(doc, 4, &b);
		visible_addf(&b, "\n");
	} else if (held) {
		visible_addf(&b, "%s ", app);
		print_held(held, &b);
	} else if (cstr_eq(obj_str(o, "reason"), "Installed")) {
		visible_addf(&b, "%s %s is installed\n", app, version);
	} else if (installable) {
		visible_addf(&b, "%s %s is installable\n", app, version);
	} else {
		resolve_print_refusal(f.apptype, o, is_output(c, "wide"), &b);
		print_way_back(c, o, &b);
	}
	if (!is_output(c, "json"))
		print_offline(&f, &b);
	term_table(strbuf_str(&b));
	return 0;
}

#define SOURCES                                                                                 \
	{"at", "SEQ", "make the decision of this entry of the audit log again", 0},             \
		{"file", "FILE", "with --at: an export of the log, instead of the data folder", \
		 0},                                                                            \
		{"all", NULL, "with --at or --offline: look at every version to the end", 0},   \
		OFFLINE_VIEW_OPTIONS

static const struct cmd_option why_options[] = {
	{"output", "FORMAT", "json, yaml: the facts of the status; wide: lower versions one by one",
	 'o'},
	SOURCES,
	{0},
};

static const struct cmd_option why_not_options[] = {
	{"output", "FORMAT",
	 "json: the facts; wide: with kubectl, and other ways out; yaml: a patch of the app with "
	 "every waiver that the refusals of the CRD gate need",
	 'o'},
	SOURCES,
	{0},
};

const struct cmd cmd_why = {
	.name = "why",
	.usage = "alm why APP [-o json|yaml|wide] [--at SEQ | --offline --catalog SOURCE] [--all]",
	.summary = "tell every version of an app and why it is, or is not, the next one",
	.description = "yes: it can be installed; no: the first reason against it; ?: a better "
		       "version was found before; -: it is installed.",
	.examples = "alm why etcd\n"
		    "alm why etcd --offline --catalog ./catalog --installed 0.9.5\n"
		    "kubectl get apps,ist,crd,catalogs -o yaml | alm why etcd --offline -f -",
	.options = why_options,
	.args = {1, 1},
	.run = why_run,
};

const struct cmd cmd_why_not = {
	.name = "why-not",
	.usage = "alm why-not APP VERSION [-o json|wide|yaml] [--at SEQ | --offline --catalog "
		 "SOURCE]",
	.summary = "tell what keeps a version from being installed, and the steps that lift it",
	.description =
		"Exit status 0: it is installable; 3: it is not; 1: there is no such version.",
	.examples = "alm why-not etcd 1.0.0\n"
		    "alm why-not etcd 1.0.0 -o yaml >waivers.yaml   # look, give reasons, then:\n"
		    "kubectl patch apptype etcd --type=merge --patch-file=waivers.yaml",
	.options = why_not_options,
	.args = {2, 2},
	.run = why_not_run,
};
