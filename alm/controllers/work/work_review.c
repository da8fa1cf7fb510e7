/* What the account may, asked before anything is written: one SelfSubjectAccessReview a question,
 * impersonated, so that the server answers as it will judge the write. Neighbours that ask the same
 * are asked once, and for a name only when not every name is allowed. */
#include <string.h>

#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

static const struct resource reviews = {.group = "authorization.k8s.io",
					.version = "v1",
					.plural = "selfsubjectaccessreviews",
					.kind = "SelfSubjectAccessReview"};

static void review_next(struct work *w);

/* The question last answered with yes. */
static const struct obj **allowed_of(struct work *w)
{
	return (const struct obj **)w->state;
}

static const struct obj *question(const struct work *w)
{
	return obj_at(w->action->body, w->at - 1);
}

static bool has_name(const struct obj *q)
{
	const char *name = obj_str(q, "name");
	return name && *name;
}

/* Answers itself: allowed for any name before. */
static bool is_about(const struct obj *q, const struct obj *allowed)
{
	static const char *const keys[] = {"verb",        "path",      "group", "resource",
					   "subresource", "namespace", NULL};
	bool same = allowed &&
		    (!has_name(allowed) || cstr_eq(obj_str(q, "name"), obj_str(allowed, "name")));
	for (const char *const *k = keys; same && *k; k++)
		same = cstr_eq(obj_str(q, *k), obj_str(allowed, *k));
	return same;
}

static void answer(struct work *w, bool allowed)
{
	if (allowed)
		*allowed_of(w) = question(w);
	else
		obj_append(w->found, obj_int((int64_t)w->at - 1));
	review_next(w);
}

static void end(struct work *w, const struct error *err)
{
	struct obj *value = obj_map();
	if (w->found)
		obj_set(value, "denied", STEAL(w->found));
	obj_set_int(value, "rightsVersion", (int64_t)w->action->rights_version);
	obj_set_int(value, "rightsSince", w->action->rights_since_ns);
	work_put(w, err, STR_NONE, value);
	work_done(w);
}

/* --- a binding that the server would take --- */

static void tried(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	int code = reply->err ? reply->err->code : 0;
	w->call = NULL;
	if (code && code != E_FORBIDDEN && error_retry(code) != RETRY_NEVER)
		work_fail(w, reply->err);
	else
		answer(w, !code);
}

static bool try_binding(struct work *w)
{
	const struct obj *o = obj_get(question(w), "proof");
	struct gvk g = {"", "", ""};
	if (!o || !gvk_of(o, w->a, &g))
		return false;
	const struct resource *found = discovery_kind(w->discovery, g.group, g.version, g.kind);
	if (!found)
		return false;
	struct resource *own = ARENA_NEW(w->a, struct resource);
	*own = resource_copy(found, w->a);
	const struct client_options dry = {
		.as = w->action->as, .force = true, .dry_run = true, .asks = true};
	w->call = client_apply(w->client, own, own->namespaced ? meta_namespace(o) : NULL,
			       meta_name(o), o, &dry, tried, w);
	return true;
}

/* --- one question --- */

static void reviewed(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	w->call = NULL;
	if (reply->err && reply->err->code == E_FORBIDDEN) { /* ALM may not impersonate */
		obj_unref(STEAL(w->found));
		end(w, reply->err);
	} else if (reply->err) {
		work_fail(w, reply->err);
	} else if (obj_flag(reply->body, "status.allowed", false)) {
		answer(w, true);
	} else if (!try_binding(w)) {
		answer(w, false);
	}
}

static struct obj *review_of(const struct obj *q)
{
	static const char *const keys[] = {"verb",        "group",     "resource",
					   "subresource", "namespace", "name"};
	struct obj *o = obj_map(), *attributes = obj_map();
	bool path = obj_has(q, "path");
	obj_set_str(o, "apiVersion", "authorization.k8s.io/v1");
	obj_set_str(o, "kind", "SelfSubjectAccessReview");
	obj_set_path(o, "metadata", obj_map());
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *text = obj_str(q, keys[i]);
		if (text && *text)
			obj_set_str(attributes, keys[i], text);
	}
	if (path)
		obj_set_str(attributes, "path", obj_str(q, "path"));
	obj_set_path(o, path ? "spec.nonResourceAttributes" : "spec.resourceAttributes",
		     attributes);
	return o;
}

static void review_next(struct work *w)
{
	const struct client_options as = {.as = w->action->as, .asks = true};
	struct error denied;
	while (w->at < obj_len(w->action->body)) {
		w->at++;
		if (is_about(question(w), *allowed_of(w)))
			continue;
		CLEANUP(obj_unrefp) struct obj *o = review_of(question(w));
		w->call = client_create(w->client, &reviews, NULL, o, &as, reviewed, w);
		return;
	}
	error_set(&denied, E_FORBIDDEN, "%zu of %zu rights are missing", obj_len(w->found),
		  obj_len(w->action->body));
	end(w, obj_len(w->found) ? &denied : NULL);
}

static void start(struct work *w)
{
	w->found = obj_list();
	review_next(w);
}

const struct work_kind review_work = {.name = "review", .start = start};
