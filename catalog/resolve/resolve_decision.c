#include "catalog/resolve/resolve_decision.h"

#include "alm/base/hash.h"
#include "alm/obj/json.h"

static const char *verdict_on(const struct candidate *c)
{
	return c->chosen        ? "chosen"
	       : c->installed   ? "installed"
	       : c->installable ? "installable"
				: c->reason;
}

static struct obj *body_of(const struct resolve_input *in, const struct resolution *r,
			   struct arena *a)
{
	struct obj *body = obj_map(), *list = obj_list();
	for (size_t i = 0; i < r->n && i < RESOLVE_CANDIDATES_MAX; i++)
		obj_append(list, obj_string(arena_fmt(a, "%s %s", r->candidates[i].version,
						      verdict_on(&r->candidates[i]))));
	obj_set_str(body, "verdict", r->chosen ? "allow" : r->blocked ? "deny" : "wait");
	obj_set(body, "candidates", list);
	if (r->chosen)
		obj_set_path(body, "version.to", obj_string(r->chosen->version));
	if (in->installed_version)
		obj_set_path(body, "version.from", obj_string(in->installed_version));
	if (r->n_path > 1) {
		struct obj *path = obj_list();
		for (size_t i = 0; i < r->n_path; i++)
			obj_append(path, obj_string(r->path[i]));
		obj_set(body, "path", path);
	}
	return body;
}

static const char *message_of(const struct resolution *r, bool installed, struct arena *a)
{
	if (r->chosen)
		return arena_fmt(a, "%s, best of %zu candidate%s", r->chosen->version, r->n,
				 r->n == 1 ? "" : "s");
	if (r->blocked && installed)
		return arena_fmt(a, "%s  %s", r->blocked->reason, r->blocked->message);
	return r->message ? r->message : "";
}

void resolve_decision(const struct resolve_input *in, const struct resolution *r, struct arena *a,
		      struct resolve_decision *ret)
{
	bool installed = in->installed_version != NULL;
	char hex[SHA256_HEX];
	*ret = (struct resolve_decision){.reason = r->chosen                 ? "Resolved"
						   : r->blocked && installed ? "UpgradeBlocked"
						   : !installed              ? "ResolveFailed"
									     : NULL};
	if (!ret->reason)
		return;
	ret->body = body_of(in, r, a);
	json_digest(ret->body, hex);
	ret->key = arena_fmt(a, "%s %s", ret->reason, hex);
	obj_set_str(ret->body, "message", message_of(r, installed, a));
}
