#include "alm/cli/app/rollback_try.h"

#include "alm/client/client.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

#define TRIES_MAX 256

/* Of this kind, if the plan has it and the live one was applied by a newer version. */
static bool has_newer_definition(struct cli *c, struct app_session *a, const struct obj *plan,
				 const struct gvk *g)
{
	const struct obj *rows = obj_get(plan, "objects"), *live = NULL;
	struct error ignored = ERROR_INIT;
	for (size_t i = 0; i < obj_len(rows); i++) {
		const struct obj *crd = obj_get(obj_at(rows, i), "object");
		if (obj_i64(obj_at(rows, i), "stage", -1) != UNIT_GROUP_CRD ||
		    !cstr_eq(obj_str(crd, "spec.group"), g->group) ||
		    !cstr_eq(obj_str(crd, "spec.names.kind"), g->kind))
			continue;
		const char *target = arena_fmt(
			c->arena, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s",
			meta_name(crd));
		if (session_get(a->session, target, &live, &ignored) < 0)
			return false;
		const struct unit_entry e = {.is_crd = true, .live = live};
		return install_plan_keeps_newer(&e, obj_str(plan, "version"));
	}
	return false;
}

static const char *refusal(struct cli *c, struct app_session *a, const struct obj *plan,
			   const struct obj *o)
{
	struct resource r;
	struct session_reply reply;
	struct error err = ERROR_INIT;
	struct obj *body = obj_keep(c->arena, obj_copy(o));
	if (session_kind(a->session, o, &r, &err) < 0)
		return NULL;
	const char *ns = meta_namespace(o) ? meta_namespace(o) : obj_str(plan, "namespace");
	if (r.namespaced)
		obj_set_path(body, "metadata.namespace", obj_string(ns));
	const struct session_request q = {
		.method = "PATCH",
		.target = session_target(a->session, &r, r.namespaced ? ns : NULL, meta_name(o),
					 "fieldManager=" CLIENT_FIELD_MANAGER
					 "&force=true&dryRun=All"),
		.content_type = APPLY_PATCH,
		.body = body};
	if (session_send(a->session, &q, &reply, &err) == 0 || !client_refuses_body(&err))
		return NULL;
	return arena_fmt(c->arena, "%s %s of %s: %s", meta_kind(o), meta_name(o),
			 obj_str(plan, "version"), err.msg);
}

const char *rollback_refused_object(struct cli *c, struct app_session *a,
				    const struct obj *strategy)
{
	struct error ignored = ERROR_INIT;
	const struct obj *plan = app_session_plan(c, a, strategy, &ignored);
	const struct obj *rows = obj_get(plan, "objects");
	for (size_t i = 0, n = 0; i < obj_len(rows) && n < TRIES_MAX; i++) {
		const struct obj *o = obj_get(obj_at(rows, i), "object");
		struct gvk g = {"", "", ""};
		const char *why = NULL;
		if (obj_i64(obj_at(rows, i), "stage", 0) == UNIT_GROUP_CRD ||
		    !gvk_of(o, c->arena, &g) || !has_newer_definition(c, a, plan, &g))
			continue;
		n++;
		why = refusal(c, a, plan, o);
		if (why)
			return why;
	}
	return NULL;
}
