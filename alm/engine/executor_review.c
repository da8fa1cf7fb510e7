/* What the account may, asked before anything is written: one SelfSubjectAccessReview a question,
 * impersonated, so that the server answers as it will judge the write. Neighbours that ask the same
 * are asked once, and for a name only when not every name is allowed. */
#include <string.h>

#include "alm/engine/executor_run.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

static const struct resource reviews = {.group = "authorization.k8s.io",
					.version = "v1",
					.plural = "selfsubjectaccessreviews",
					.kind = "SelfSubjectAccessReview"};

static void review_next(struct step_call *c);

static const struct obj *question(const struct step_call *c)
{
	return obj_at(c->action->body, c->at - 1);
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

static void answer(struct step_call *c, bool allowed)
{
	if (allowed)
		c->allowed = question(c);
	else
		obj_append(c->found, obj_int((int64_t)c->at - 1));
	review_next(c);
}

static void end(struct step_call *c, const struct error *err)
{
	struct run *r = c->run;
	struct obj *value = obj_map();
	if (c->found)
		obj_set(value, "denied", STEAL(c->found));
	obj_set_int(value, "rightsVersion", (int64_t)c->action->rights_version);
	obj_set_int(value, "rightsSince", c->action->rights_since_ns);
	run_put(r, c->action->id, err, STR_NONE, value);
	call_done(c);
}

static void fail(struct step_call *c, const struct error *err)
{
	run_fail(c->run, err);
	call_done(c);
}

/* --- a binding that the server would take --- */

static void tried(void *arg, const struct client_reply *reply)
{
	struct step_call *c = arg;
	int code = reply->err ? reply->err->code : 0;
	c->call = NULL;
	if (code && code != E_FORBIDDEN && error_retry(code) != RETRY_NEVER)
		fail(c, reply->err);
	else
		answer(c, !code);
}

static bool try_binding(struct step_call *c)
{
	struct run *r = c->run;
	const struct obj *o = obj_get(question(c), "proof");
	struct gvk g = {"", "", ""};
	if (!o || !gvk_of(o, r->a, &g))
		return false;
	const struct resource *found =
		discovery_kind(r->x->c.discovery, g.group, g.version, g.kind);
	if (!found)
		return false;
	struct resource *own = ARENA_NEW(r->a, struct resource);
	*own = resource_copy(found, r->a);
	const struct client_options dry = {.as = c->action->as, .force = true, .dry_run = true};
	c->call = client_apply(r->x->c.client, own, own->namespaced ? meta_namespace(o) : NULL,
			       meta_name(o), o, &dry, tried, c);
	return true;
}

/* --- one question --- */

static void reviewed(void *arg, const struct client_reply *reply)
{
	struct step_call *c = arg;
	c->call = NULL;
	if (reply->err && reply->err->code == E_FORBIDDEN) { /* ALM may not impersonate */
		obj_unref(STEAL(c->found));
		end(c, reply->err);
	} else if (reply->err) {
		fail(c, reply->err);
	} else if (obj_flag(reply->body, "status.allowed", false)) {
		answer(c, true);
	} else if (!try_binding(c)) {
		answer(c, false);
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

static void review_next(struct step_call *c)
{
	struct run *r = c->run;
	const struct client_options as = {.as = c->action->as};
	struct error denied;
	while (c->at < obj_len(c->action->body)) {
		c->at++;
		if (is_about(question(c), c->allowed))
			continue;
		CLEANUP(obj_unrefp) struct obj *o = review_of(question(c));
		c->call = client_create(r->x->c.client, &reviews, NULL, o, &as, reviewed, c);
		return;
	}
	error_set(&denied, E_FORBIDDEN, "%zu of %zu rights are missing", obj_len(c->found),
		  obj_len(c->action->body));
	end(c, obj_len(c->found) ? &denied : NULL);
}

void work_review(struct run *r, struct action *a)
{
	struct step_call *c = call_new(r, a);
	c->found = obj_list();
	review_next(c);
}
