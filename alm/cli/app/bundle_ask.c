#include "alm/cli/app/bundle_ask.h"

#include "alm/obj/meta.h"

#define BUNDLES "/apis/app.coreos.com/v1alpha1/bundles/"

bool bundle_ask_names(const struct cli *c, const char **ret_name)
{
	struct str kind, name;
	if (cstr_eq(c->args[0], "bundle") || cstr_eq(c->args[0], "bundles")) {
		*ret_name = c->args[1];
		return c->args[1] != NULL;
	}
	if (!str_cut(str_of(c->args[0]), '/', &kind, &name) || c->args[1] || !name.len ||
	    !(str_is(kind, "bundle") || str_is(kind, "bundles")))
		return false;
	*ret_name = name.ptr;
	return true;
}

int bundle_ask_open(struct cli *c, const char *name, struct bundle_ask *ret, struct error *err)
{
	*ret = (struct bundle_ask){
		.c = c, .name = name, .target = arena_fmt(c->arena, BUNDLES "%s", name)};
	if (session_open(c, &ret->session, err) < 0)
		return -err->code;
	if (session_get(ret->session, ret->target, &ret->bundle, err) < 0)
		return -err->code;
	return meta_is_deleting(ret->bundle)
		       ? error_set(err, E_REFUSED, "bundle %s is being deleted", name)
		       : 0;
}

int bundle_ask_open_one(struct cli *c, struct bundle_ask *ret, struct error *err)
{
	const char *name = NULL;
	*ret = (struct bundle_ask){0};
	if (!bundle_ask_names(c, &name))
		name = c->n_args == 1 ? c->args[0] : NULL;
	return name ? bundle_ask_open(c, name, ret, err)
		    : error_set(err, E_USAGE, "want one Bundle");
}

void bundle_ask_release(struct bundle_ask *b)
{
	session_freep(&b->session);
}

int bundle_ask_patch(struct bundle_ask *b, const struct obj *patch, bool only_tried,
		     struct error *err)
{
	struct session_reply reply;
	const struct session_request q = {
		.method = "PATCH",
		.target = arena_fmt(b->c->arena, "%s?fieldManager=alm-cli%s", b->target,
				    only_tried ? "&dryRun=All" : ""),
		.content_type = MERGE_PATCH,
		.body = patch};
	return session_send(b->session, &q, &reply, err);
}
