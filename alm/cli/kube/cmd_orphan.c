/*
 * `alm adopt|keep|nuke OBJECT`: what a person decides of an object that nobody has declared, or of fields that git has not
 * (fleet.md 5.4, 5.5): into git, kept as it is, or gone.
 */
#include "alm/base/visible.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/declared_form.h"
#include "alm/cli/kube/targets.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/marks.h"

struct found {
	struct session *session;
	struct target target;
	const char *path;
	const struct obj *live;
};

/* The one object that the arguments name. */
static int find(struct cli *c, struct found *ret, struct error *err)
{
	struct targets t;
	*ret = (struct found){0};
	if (session_open(c, &ret->session, err) < 0 ||
	    targets_of_args(ret->session, c, false, &t, err) < 0)
		return -err->code;
	if (t.n != 1 || !t.items[0].name)
		return error_set(err, E_USAGE, "want one object: KIND NAME or KIND/NAME");
	ret->target = t.items[0];
	ret->path = session_target(ret->session, &t.items[0].resource, t.items[0].ns,
				   t.items[0].name, NULL);
	return session_get(ret->session, ret->path, &ret->live, err);
}

static const char *text_of(const struct cli *c, const struct found *f)
{
	const char *ns = meta_namespace(f->live);
	return arena_fmt(c->arena, "%s %s%s%s", f->target.resource.kind, ns ? ns : "",
			 ns ? "/" : "", meta_name(f->live));
}

/* --- adopt --- */

static int run_adopt(struct cli *c, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	struct found f;
	int r = find(c, &f, err);
	if (!r) {
		struct obj *o = obj_keep(c->arena, declared_form(f.live, false));
		const char *bundle = meta_label(f.live, LABEL_BUNDLE);
		const char *key = meta_annotation(f.live, ANNOTATION_INTENT);
		if (bundle)
			visible_addf(&b, "# %s of bundle %s\n", key ? key : "", bundle);
		yaml_print(o, &b);
		r = term_data(strbuf_str(&b));
	}
	session_freep(&f.session);
	return r;
}

/* --- keep --- */

static int run_keep(struct cli *c, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	struct obj *annotations = obj_map();
	struct session_reply reply;
	struct found f;
	obj_set_str(annotations, ANNOTATION_PRUNE, "disabled");
	obj_set_path(patch, "metadata.annotations", annotations);
	int r = find(c, &f, err);
	if (!r) {
		const struct session_request q = {
			.method = "PATCH",
			.target = arena_fmt(c->arena, "%s?fieldManager=alm-cli", f.path),
			.content_type = MERGE_PATCH,
			.body = patch};
		r = session_send(f.session, &q, &reply, err);
	}
	if (!r)
		term_print("%s is kept (" ANNOTATION_PRUNE "=disabled)\n", text_of(c, &f));
	session_freep(&f.session);
	return r;
}

/* --- nuke --- */

/* One object is asked for, and with these go others. */
static bool holds_others(const struct obj *live)
{
	static const char *const kinds[] = {"CustomResourceDefinition", "Namespace", NULL};
	return cstr_in(meta_kind(live), kinds);
}

/* What somebody has declared comes back, or is missed: that is not what is asked for. */
static int refuse_declared(const struct cli *c, const struct found *f, struct error *err)
{
	const char *bundle = meta_label(f->live, LABEL_BUNDLE),
		   *app = meta_label(f->live, LABEL_APP);
	const char *key = meta_annotation(f->live, ANNOTATION_INTENT);
	if (bundle)
		return error_set(err, E_REFUSED,
				 "%s is declared by bundle %s%s%s: take it out of git there",
				 text_of(c, f), bundle, key ? ", " : "", key ? key : "");
	if (app && meta_label(f->live, LABEL_STRATEGY))
		return error_set(err, E_REFUSED, "%s belongs to app %s: alm uninstall %s",
				 text_of(c, f), app, app);
	if (holds_others(f->live))
		return error_set(err, E_REFUSED,
				 "with %s go all objects of it, which nuke does not: delete these "
				 "first, then kubectl delete takes it",
				 text_of(c, f));
	return 0;
}

static int nuke(struct cli *c, const struct found *f, struct error *err)
{
	struct session_reply reply;
	if (refuse_declared(c, f, err) < 0)
		return -err->code;
	if (!cli_flag(c, "yes"))
		return error_set(err, E_REFUSED, "%s would be deleted, whoever made it: --yes",
				 text_of(c, f));
	struct obj *options = obj_keep(c->arena, obj_map());
	obj_set_str(options, "apiVersion", "v1");
	obj_set_str(options, "kind", "DeleteOptions");
	obj_set_str(options, "propagationPolicy", "Background");
	obj_set_path(options, "preconditions.uid", obj_string(meta_uid(f->live)));
	obj_set_path(options, "preconditions.resourceVersion",
		     obj_string(meta_resource_version(f->live)));
	const struct session_request q = {.method = "DELETE", .target = f->path, .body = options};
	if (session_send(f->session, &q, &reply, err) < 0)
		return -err->code;
	const struct obj *held = obj_path(f->live, "metadata.finalizers");
	term_print("%s is deleted%s%s\n", text_of(c, f), obj_len(held) ? "; finalizer " : "",
		   obj_len(held) ? obj_as_string(obj_at(held, 0)) : "");
	return 0;
}

static int run_nuke(struct cli *c, struct error *err)
{
	struct found f;
	int r = find(c, &f, err);
	if (!r)
		r = nuke(c, &f, err);
	session_freep(&f.session);
	return r;
}

static const struct cmd_option none[] = {{0}};
static const struct cmd_option nuke_options[] = {
	{"yes", NULL, "without it nothing is deleted", 0},
	{0},
};

const struct cmd cmd_adopt = {
	.name = "adopt",
	.usage = "alm adopt KIND NAME",
	.summary = "print an object as it is, to be put into git",
	.description =
		"The whole live object, with the fields that git has not, without what the server "
		"keeps and the marks of ALM; the values of a Secret, too. Once it is in the branch "
		"of a Bundle (spec.adopt: Unowned for what is there and nobody's), it is declared. "
		"Nothing is written.",
	.examples = "alm adopt deployment byhand -n team >ssot/apps/byhand.yaml",
	.options = none,
	.args = {1, 2},
	.run = run_adopt,
};

const struct cmd cmd_keep = {
	.name = "keep",
	.usage = "alm keep KIND NAME",
	.summary = "let an object stay that nobody has declared",
	.description = "Annotates it " ANNOTATION_PRUNE "=disabled: no Bundle and no alm run "
		       "deletes it. Taken back by kubectl annotate with a minus.",
	.examples = "alm keep deployment byhand -n team",
	.options = none,
	.args = {1, 2},
	.run = run_keep,
};

const struct cmd cmd_nuke = {
	.name = "nuke",
	.usage = "alm nuke KIND NAME --yes",
	.summary = "delete an object that nobody has declared, at once",
	.description = "By uid and resourceVersion, as it was read. What a Bundle or an app has is "
		       "refused (exit status 3), as it would be made again; so are a Namespace and "
		       "a CustomResourceDefinition, with which all goes that is in them.",
	.examples = "alm nuke deployment byhand -n team --yes",
	.options = nuke_options,
	.args = {1, 2},
	.run = run_nuke,
};
