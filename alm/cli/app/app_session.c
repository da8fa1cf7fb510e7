#include "alm/cli/app/app_session.h"

#include <string.h>

#include "alm/cli/app/overview.h"
#include "alm/cli/nearest.h"
#include "alm/cli/term.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/obj/meta.h"
#include "catalog/resolve/resolve_doc.h"

#define APPS       "/apis/app.coreos.com/v1beta1/apps"
#define STRATEGIES "/apis/opinstaller.coreos.com/v1beta1/installstrategies"

/* Also where the AppTypes themselves are unknown: then the list says so. */
int app_session_no_app(struct cli *c, struct session *s, const char *app, struct error *err)
{
	const struct obj *list = NULL;
	if (session_get(s, APPS, &list, err) < 0)
		return -err->code;
	return error_set(err, E_NOTFOUND, "there is no app %s%s; `alm status` lists them all", app,
			 nearest_object_hint(app, list, c->arena));
}

int app_session_read(struct cli *c, const char *app, struct app_session *a, struct error *err)
{
	const char *target = arena_fmt(c->arena, APPS "/%s", url_encode(str_of(app), c->arena));
	int r = session_get(a->session, target, &a->app, err);
	if (r == -E_NOTFOUND)
		return app_session_no_app(c, a->session, app, err);
	return r < 0 ? r : session_get(a->session, STRATEGIES, &a->strategies, err);
}

int app_session_open(struct cli *c, const char *app, struct app_session *ret, struct error *err)
{
	*ret = (struct app_session){0};
	if (session_open(c, &ret->session, err) < 0)
		return -err->code;
	return app_session_read(c, app, ret, err);
}

void app_session_release(struct app_session *a)
{
	session_free(a->session);
}

const struct obj *app_session_candidate(const struct app_session *a, const char *version)
{
	return resolve_doc_candidate(a->app, version);
}

static bool has_version(const struct cli *c, const struct obj *strategy, const char *version)
{
	const struct obj *v = obj_path(strategy, "spec.version");
	if (obj_is_number(v))
		return cstr_eq(arena_fmt(c->arena, "%.*s", STR_ARG(obj_number_text(v))), version);
	return cstr_eq(obj_as_string(v), version);
}

const struct obj *app_session_strategy(const struct cli *c, const struct app_session *a,
				       const char *version)
{
	const struct obj *items = obj_get(a->strategies, "items");
	for (size_t i = 0; i < obj_len(items); i++)
		if (cstr_eq(obj_str(obj_at(items, i), "spec.appTypeRef.name"), meta_name(a->app)) &&
		    has_version(c, obj_at(items, i), version))
			return obj_at(items, i);
	return NULL;
}

const struct obj *app_session_plan(const struct cli *c, const struct app_session *a,
				   const struct obj *strategy, struct error *err)
{
	const char *name = meta_name(strategy), *label = app_label_value(name, c->arena);
	const struct obj *secrets = NULL, *plan;
	const char *target = arena_fmt(
		c->arena, "/api/v1/namespaces/" SYSTEM_NAMESPACE "/secrets?labelSelector=%s",
		url_encode(str_of(arena_fmt(c->arena, LABEL_PLAN "=%s", label)), c->arena));
	if (session_get(a->session, target, &secrets, err) < 0)
		return NULL;
	plan = install_plan_of_secrets(obj_get(secrets, "items"), name,
				       obj_i64(strategy, "status.revision", 0), c->arena);
	if (!plan)
		error_set(err, E_NOTFOUND,
			  "%s has no plan yet: its phase is %s; `alm why %s` shows the reason",
			  name, obj_str(strategy, "status.phase"), meta_name(a->app));
	return plan;
}

void app_session_print_refusal(const struct app_session *a, const struct obj *candidate, bool wide)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	resolve_print_refusal(a->app, candidate, wide, &b);
	term_table(strbuf_str(&b));
}

int app_session_patch(struct app_session *a, const struct obj *live, const struct obj *patch,
		      struct error *err)
{
	struct session_reply reply;
	struct resource r;
	if (session_kind(a->session, live, &r, err) < 0)
		return -err->code;
	struct session_request request = {.method = "PATCH",
					  .target = session_target(a->session, &r, NULL,
								   meta_name(live),
								   "fieldManager=alm-cli"),
					  .content_type = MERGE_PATCH,
					  .body = patch};
	return session_send(a->session, &request, &reply, err);
}

const char *session_user(struct session *s)
{
	struct error ignored = ERROR_INIT;
	struct session_reply reply;
	CLEANUP(obj_unrefp) struct obj *review =
		meta_skeleton("authentication.k8s.io/v1", "SelfSubjectReview", NULL, NULL);
	const struct session_request q = {
		.method = "POST",
		.target = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		.body = review};
	if (session_send(s, &q, &reply, &ignored) < 0)
		return NULL;
	return obj_str(reply.body, "status.userInfo.username");
}

int app_session_print_outcome(const struct cli *c, const char *version, const char *outcome,
			      const char *message, const struct obj *candidate,
			      const struct obj *strategy, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	const char *plan = obj_str(strategy, "status.plan.digest");
	const char *reason = obj_str(candidate, "reason");
	if (!message)
		message = obj_str(candidate, "message");
	obj_set_str(o, "app", c->args[0]);
	obj_set_str(o, "version", version);
	obj_set_str(o, "outcome", outcome);
	if (reason && cstr_eq(outcome, "Refused"))
		obj_set_str(o, "reason", reason);
	if (message)
		obj_set_str(o, "message", message);
	if (strategy)
		obj_set_str(o, "strategy", meta_name(strategy));
	if (plan)
		obj_set_str(o, "plan", plan);
	obj_set(o, "steps", obj_copy_list(obj_get(candidate, "steps")));
	return cli_print_data(c, o, err);
}

int app_session_overview(struct session *s, struct overview_input *in, struct error *err)
{
	if (session_get(s, "/apis/app.coreos.com/v1beta1/apps", &in->apps, err) < 0 ||
	    session_get(s, "/apis/opinstaller.coreos.com/v1beta1/installstrategies",
			&in->strategies, err) < 0 ||
	    session_get(s, "/apis/app.coreos.com/v1alpha1/catalogs", &in->catalogs, err) < 0)
		return -err->code;
	in->now_ns = loop_now(session_loop(s));
	/* a server of an older ALM does not have the kind */
	struct error absent = ERROR_INIT;
	if (session_get(s, "/apis/app.coreos.com/v1alpha1/bundles", &in->bundles, &absent) < 0 &&
	    absent.code != E_NOTFOUND)
		return error_copy(err, &absent);
	return 0;
}
