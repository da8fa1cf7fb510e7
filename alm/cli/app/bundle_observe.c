/* `alm observe BUNDLE`: what is there of a Bundle, as it is now: the counterpart of `alm bundle build`, which prints what is to be. */
#include "alm/base/visible.h"
#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/app/bundle_inventory.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/declared_form.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"

struct observing {
	struct bundle_ask *b;
	struct obj *objects; /* of -o json: {KEY: OBJECT} */
	struct strbuf *text;
	size_t missing;
};

static int observe_line(struct observing *x, const struct inventory_line *l, struct error *err)
{
	struct arena *a = x->b->c->arena;
	struct resource r;
	const struct obj *live = NULL;
	const struct obj *o = obj_keep(a, meta_skeleton(l->api_version, l->kind, l->ns, l->name));
	if (session_kind(x->b->session, o, &r, err) == 0)
		(void)session_get(x->b->session,
				  session_target(x->b->session, &r, l->ns, l->name, NULL), &live,
				  err);
	if (err->code && err->code != E_NOTFOUND)
		return error_wrap(err, "%s %s", l->kind, l->name);
	*err = ERROR_INIT;
	x->missing += !live;
	if (!live)
		return 0;
	struct obj *shown = obj_keep(a, declared_form(live, !cli_flag(x->b->c, "show-secrets")));
	obj_set(x->objects, l->key, obj_ref(shown));
	visible_addf(x->text, "---\n# Source: %s\n", l->key);
	yaml_print(shown, x->text);
	return 0;
}

static int observe(struct bundle_ask *b, struct error *err)
{
	struct arena *a = b->c->arena;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(UINT32_MAX);
	struct observing x = {.b = b, .objects = obj_keep(a, obj_map()), .text = &text};
	struct bundle_inventory i;
	bool data;
	if (cli_output_data(b->c, &data, err) < 0 ||
	    bundle_inventory_read(b->session, b->name, a, &i, err) < 0)
		return -err->code;
	bundle_inventory_miss(&i, b->bundle, a);
	bundle_inventory_sort(&i);
	for (size_t k = 0; k < i.objects.n; k++)
		if (observe_line(&x, &i.objects.lines[k], err) < 0)
			return -err->code;
	if (i.blind)
		term_error("alm: there may be more: %s\n", i.blind);
	if (x.missing)
		term_error("alm: %zu of %zu objects are not there; `alm status bundle/%s` names "
			   "them\n",
			   x.missing, i.objects.n, b->name);
	if (!data)
		return term_data(strbuf_str(&text));
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	obj_set(o, "objects", obj_ref(x.objects));
	return cli_print_data(b->c, o, err);
}

static int run(struct cli *c, struct error *err)
{
	struct bundle_ask b;
	int r = bundle_ask_open_one(c, &b, err);
	if (!r)
		r = observe(&b, err);
	bundle_ask_release(&b);
	return r;
}

static const struct cmd_option options[] = {
	{"show-secrets", NULL, "values of Secrets, which are *** else", 0},
	CLI_OUTPUT_OPTION,
	{0},
};

const struct cmd cmd_observe = {
	.name = "observe",
	.usage = "alm observe BUNDLE [--show-secrets] [-o json]",
	.summary = "print the objects of a Bundle as they are on the cluster",
	.description =
		"Each object that its inventory names, with its key, as `alm bundle build` prints "
		"what is to be: without what the server keeps (status, managedFields, uid, ..) and "
		"the marks of ALM. What differs tells `alm diff bundle/NAME`.",
	.examples = "alm observe web",
	.options = options,
	.args = {1, 2},
	.run = run,
};
