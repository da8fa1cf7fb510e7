/* `alm bundle plan`: what a push would do to the cluster. */
#include "alm/cli/bundle/bundle_plan.h"
#include "alm/cli/bundle/bundle_tell.h"
#include "alm/cli/bundle/cmd_bundle.h"
#include "alm/cli/term.h"
#include "alm/controllers/fleet/bundle_spec.h"

#define EXIT_CHANGES 2

static const struct {
	const char *sign, *name, *count; /* sign NULL: it is counted alone */
} acts[BUNDLE_ACTS] = {
	[BUNDLE_CREATE] = {"+", "create", "to create"},
	[BUNDLE_CHANGE] = {"~", "change", "to change"},
	[BUNDLE_DELETE] = {"-", "delete", "to delete"},
	[BUNDLE_KEEP] = {"=", "keep", "kept"},
	[BUNDLE_REFUSE] = {"!", "refuse", "refused"},
	[BUNDLE_SAME] = {NULL, "same", "as wanted"},
};

static const char *counts_of(const struct cli *c, const struct bundle_plan *p)
{
	const char *text = "";
	for (size_t i = 0; i < BUNDLE_ACTS; i++)
		if (p->counts[i])
			text = arena_fmt(c->arena, "%s%s%zu %s", text, *text ? ", " : "",
					 p->counts[i], acts[i].count);
	return *text ? text : "there is nothing";
}

/* Why the revision as a whole would not be run now; NULL: it would. */
static const char *obstacle(const struct cli *c, const struct bundle_folder *f,
			    const struct bundle_plan *p)
{
	size_t late = 0;
	for (size_t i = 0; i < p->n; i++)
		late += p->steps[i].by_server;
	if (p->counts[BUNDLE_REFUSE] > late)
		return "nothing of it would be applied: an object is refused";
	if (late)
		return "the server refuses a write that it was shown: unless that is for the dry "
		       "run "
		       "alone, the revision fails there, and the one before is applied again";
	if (p->held)
		return arena_fmt(c->arena,
				 "PruneHeld: more deletes than spec.prune.maxDeletes (%lld); they "
				 "would wait for: alm approve bundle/%s --prune --reason TEXT",
				 (long long)f->spec.max_deletes, f->spec.name);
	return p->blind;
}

/* Each field in the colour of who controls it, and who that is, if it is not git. */
static void print_why(const struct bundle_step *s)
{
	if (s->why)
		term_print(": ");
	for (size_t i = 0; i < s->n_fields; i++) {
		const struct bundle_field *f = &s->fields[i];
		term_print("%s", i ? ", " : "");
		term_field(f->path, holder_word(f->holder));
		if (f->manager && f->holder != HOLDER_GIT)
			term_print(" (%s: %s)", holder_word(f->holder), f->manager);
	}
	if (!s->n_fields && s->why)
		term_print("%s", s->why);
}

static struct obj *fields_obj(const struct bundle_step *s)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < s->n_fields; i++) {
		struct obj *o = obj_map();
		obj_set_str(o, "field", s->fields[i].path);
		obj_set_str(o, "controlledBy", holder_word(s->fields[i].holder));
		if (s->fields[i].manager)
			obj_set_str(o, "manager", s->fields[i].manager);
		obj_append(list, o);
	}
	return list;
}

static void print_text(const struct cli *c, const struct bundle_folder *f,
		       const struct bundle_plan *p)
{
	const char *stop = obstacle(c, f, p);
	for (size_t i = 0; i < p->n; i++) {
		const struct bundle_step *s = &p->steps[i];
		if (!acts[s->act].sign)
			continue;
		term_print("%s %s (%s)", acts[s->act].sign, s->what, s->key);
		print_why(s);
		term_print("\n");
	}
	term_print("%s, Bundle %s: %s\n", bundle_place(c, f), f->spec.name, counts_of(c, p));
	if (stop)
		term_print("%s\n", stop);
	if (p->n_early)
		term_print("%zu not shown to the server: the folder brings the kind or the "
			   "Namespace\n",
			   p->n_early);
	if (p->n_forbidden)
		term_print("%zu not shown to the server: the user of the kubeconfig may not create "
			   "and patch such objects\n",
			   p->n_forbidden);
}

static int print_data(const struct cli *c, const struct bundle_folder *f,
		      const struct bundle_plan *p, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	struct obj *list = obj_list(), *counts = obj_map();
	const char *stop = obstacle(c, f, p);
	for (size_t i = 0; i < p->n; i++) {
		struct obj *row = obj_map();
		obj_set_str(row, "act", acts[p->steps[i].act].name);
		obj_set_str(row, "object", p->steps[i].what);
		obj_set_str(row, "key", p->steps[i].key);
		if (p->steps[i].why)
			obj_set_str(row, "why", p->steps[i].why);
		if (p->steps[i].n_fields)
			obj_set(row, "fields", fields_obj(&p->steps[i]));
		obj_append(list, row);
	}
	for (size_t i = 0; i < BUNDLE_ACTS; i++)
		obj_set_int(counts, acts[i].name, (int64_t)p->counts[i]);
	obj_set_str(o, "bundle", f->spec.name);
	if (f->revision.commit)
		obj_set_str(o, "commit", f->revision.commit);
	obj_set(o, "counts", counts);
	obj_set(o, "steps", list);
	if (stop)
		obj_set_str(o, "obstacle", stop);
	obj_set_int(o, "unjudged", (int64_t)(p->n_early + p->n_forbidden));
	return cli_print_data(c, o, err);
}

static int run_plan(struct cli *c, struct error *err)
{
	struct bundle_folder f;
	struct bundle_plan p;
	CLEANUP(session_freep) struct session *s = NULL;
	bool json;
	if (cli_output_data(c, &json, err) < 0)
		return -err->code;
	if (!cli_value(c, "bundle"))
		return error_set(err, E_USAGE,
				 "--bundle FILE is missing: the Bundle that it is for");
	if (bundle_read_and_tell(c, &f, err) < 0)
		return -err->code;
	if (f.flaws.n)
		return bundle_tell_flaws(&f, err);
	if (session_open(c, &s, err) < 0 || bundle_plan_make(c, s, &f, &p, err) < 0)
		return -err->code;
	bool changes =
		p.counts[BUNDLE_CREATE] || p.counts[BUNDLE_CHANGE] || p.counts[BUNDLE_DELETE];
	c->exit_code = p.counts[BUNDLE_REFUSE]               ? error_exit(E_REFUSED)
		       : changes && cli_flag(c, "exit-code") ? EXIT_CHANGES
							     : 0;
	if (json)
		return print_data(c, &f, &p, err);
	print_text(c, &f, &p);
	return 0;
}

static const struct cmd_option options[] = {
	BUNDLE_FOLDER_OPTIONS,
	{"exit-code", NULL, "exit with 2 if something would be created, changed or deleted", 0},
	CLI_OUTPUT_OPTION,
	{0}};

const struct cmd cmd_bundle_plan = {
	.name = "plan",
	.usage = "alm bundle plan -f DIR --bundle FILE [--rev REV] [--exit-code] [-o json]",
	.summary = "tell what a push would do to the cluster",
	.description =
		"What vet finds comes first. Then each object is held against the live one: + is "
		"created, ~ is changed (with the fields, each in the colour of who controls it, as "
		"alm diff has them, and who that is, where it is not git), - is deleted, = stays "
		"although the "
		"folder has it no more, ! is refused, and with it the revision (exit status 3). "
		"What has to be deleted is what the Bundle's inventory names. What would be "
		"written "
		"is shown to the server (dryRun=All), which judges it as a write: a schema, a "
		"field "
		"that cannot be changed, a quota, a policy, a webhook; nothing is stored. That "
		"takes "
		"the rights to create and patch; who may only read gets the plan without it. The "
		"Bundle is the file's, its name decides; it need not be on the cluster yet.",
	.examples = "alm bundle plan -f clone/ --bundle bundle.yaml",
	.options = options,
	.run = run_plan,
};
