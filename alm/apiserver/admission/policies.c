/* policies: see policies.h. */
#include "alm/apiserver/admission/policies.h"

#include "alm/apiserver/admission/asked.h"
#include "alm/apiserver/admission/match.h"
#include "alm/apiserver/admission/policy_cache.h"
#include "alm/apiserver/admission/policy_index.h"
#include "alm/apiserver/admission/policy_params.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/status.h"
#include "alm/obj/json.h"

#define JUDGED_BYTES_MAX ((size_t)32 << 20)
#define FAILED_KEY       "validation.policy.admission.k8s.io/validation_failure"

struct policies {
	struct apiserver *server;
	struct policy_cache cache;
	struct policy_index *index;
};

/* --- one write, one binding --- */

/* A write on its way through the bindings. */
struct check {
	struct policies *p;
	struct asked *asked;
	const struct obj *policy, *binding; /* binding NULL: the policy itself cannot be used */
	const char *policy_name, *binding_name;
	struct obj *failures; /* for the audit log: what failed where Audit is asked for */
	int code;             /* of the first denial; 0: none */
	const char *message;
	const struct error *wrong; /* of a form that is not there; NULL: all are */
};

static bool acts(const struct check *c, const char *action)
{
	const struct obj *list = obj_path(c->binding, "spec.validationActions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), action))
			return true;
	return false;
}

static void deny(struct check *c, int code, const char *message)
{
	struct arena *a = c->asked->r->arena;
	if (c->code)
		return;
	c->code = code;
	c->message = c->binding ? arena_fmt(a,
					    "ValidatingAdmissionPolicy '%s' with binding '%s' "
					    "denied request: %s",
					    c->policy_name, c->binding_name, message)
				: arena_fmt(a, "ValidatingAdmissionPolicy '%s' denied request: %s",
					    c->policy_name, message);
}

static void remember(struct check *c, const struct policy_failure *f)
{
	struct obj *o = obj_map();
	obj_set_str(o, "message", f->message);
	obj_set_str(o, "policy", c->policy_name);
	obj_set_str(o, "binding", c->binding_name);
	obj_set_int(o, "expressionIndex", (int64_t)f->index);
	obj_set(o, "validationActions", obj_ref(obj_path(c->binding, "spec.validationActions")));
	obj_append(c->failures, o);
}

static void failed(struct check *c, const struct policy_failure *f)
{
	if (acts(c, "Deny"))
		deny(c, f->code, f->message);
	if (acts(c, "Audit"))
		remember(c, f);
	if (acts(c, "Warn"))
		request_warn(c->asked->r,
			     "Validation failed for ValidatingAdmissionPolicy '%s' with binding "
			     "'%s': %s",
			     c->policy_name, c->binding_name, f->message);
}

/* The policy or its binding cannot be used as they are. */
static void misconfigured(struct check *c, const char *why)
{
	if (!cstr_eq(obj_str(c->policy, "spec.failurePolicy"), "Ignore"))
		deny(c, E_INVALID, why);
}

/* --- judging --- */

static void annotate(struct check *c, const struct obj *annotations)
{
	OBJ_EACH (it, annotations)
		request_annotate(c->asked->r,
				 arena_fmt(c->asked->r->arena, "%s/%s", c->policy_name, it.key),
				 obj_as_str(it.value));
}

static void judge(struct check *c, const struct policy *policy, const struct asked_as *as,
		  const struct obj *params)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(JUDGED_BYTES_MAX);
	struct policy_input in = as->in;
	struct policy_verdict v;
	const char *why;
	in.params = params;
	if (!policy_applies(policy, &in, a, &why)) {
		if (why)
			failed(c, &(struct policy_failure){.message = why, .code = E_INVALID});
		return;
	}
	policy_judge(policy, &in, a, &v);
	for (size_t i = 0; i < v.n; i++)
		failed(c, &v.failures[i]);
	annotate(c, v.annotations);
}

static void check_binding(struct check *c, const struct head *policy_head)
{
	struct asked *asked = c->asked;
	struct arena *a = asked->r->arena;
	const struct obj *binding = c->binding;
	const struct obj *wanted = obj_path(c->policy, "spec.paramKind");
	const struct kind *k = policy_param_kind(c->p->server, c->policy, a);
	const char *version =
		admission_match(obj_path(c->policy, "spec.matchConstraints"), false, &asked->w);
	if (!version)
		return;
	if (wanted && !k) {
		c->binding = NULL;
		misconfigured(c, arena_fmt(a,
					   "failed to configure policy: failed to find resource "
					   "referenced by paramKind: '%s, Kind=%s'",
					   obj_str(wanted, "apiVersion"), obj_str(wanted, "kind")));
		return;
	}
	if (!admission_match(obj_path(binding, "spec.matchResources"), true, &asked->w))
		return;
	const struct policy *policy = policy_cache_get(&c->p->cache, policy_head, c->policy);
	const struct asked_as *as = asked_in(asked, version);
	if (as->wrong.code) {
		c->wrong = &as->wrong;
		return;
	}
	if (!k || !obj_path(binding, "spec.paramRef")) {
		judge(c, policy, as, NULL);
		return;
	}
	struct policy_params *params = ARENA_NEW(a, struct policy_params);
	policy_params_find(c->p->server, binding, k, asked->w.ns, a, params);
	if (params->wrong)
		misconfigured(c, params->wrong);
	for (size_t i = 0; i < params->n && !params->wrong; i++)
		judge(c, policy, as, params->items[i]);
}

static int refused(const struct check *c, struct error *err)
{
	struct request *r = c->asked->r;
	struct status_cause *cause = ARENA_NEW(r->arena, struct status_cause);
	cause->message = c->message;
	const char *name = c->asked->w.name;
	fail_forbidden(r, *name ? name : "Unknown", err, "%s", c->message);
	err->code = c->code;
	r->failure.extra = cause;
	r->failure.n_extra = 1;
	return -err->code;
}

static int check_all(struct asked *asked, struct error *err)
{
	struct policies *p = asked->r->server->policies;
	struct check c = {
		.p = p, .asked = asked, .failures = obj_keep(asked->r->arena, obj_list())};
	struct bound_list bound;
	policy_index_find(p->index, asked->w.group, asked->w.resource, asked->r->arena, &bound);
	for (size_t i = 0; i < bound.n && !c.code && !c.wrong; i++) {
		c.binding = head_obj_hot(bound.items[i].binding);
		c.binding_name = bound.items[i].binding->name;
		c.policy = head_obj_hot(bound.items[i].policy);
		c.policy_name = bound.items[i].policy->name;
		check_binding(&c, bound.items[i].policy);
	}
	if (obj_len(c.failures)) {
		CLEANUP(xfreep) char *text = json_text(c.failures);
		request_annotate(asked->r, FAILED_KEY, str_of(text));
	}
	if (c.wrong)
		return error_copy(err, c.wrong);
	return c.code ? refused(&c, err) : 0;
}

static bool has_bindings(const struct request *r)
{
	struct policies *p = r->server->policies;
	return p && store_resource(p->server->store, ADMISSION_GROUP,
				   "validatingadmissionpolicybindings")
				    ->n_heads > 0;
}

int policies_check(struct mutation *m, struct error *err)
{
	struct asked asked;
	if (!m->r->exchange || !has_bindings(m->r) || !asked_write(&asked, m))
		return 0;
	return check_all(&asked, err);
}

int policies_check_delete(struct mutation *m, struct error *err)
{
	struct asked asked;
	if (!(m->r->exchange || m->asks) || !has_bindings(m->r) || !asked_delete(&asked, m))
		return 0;
	return check_all(&asked, err);
}

int policies_check_body(struct request *r, const struct obj *body, const char *group,
			const char *version, const char *kind, bool dry_run, struct error *err)
{
	struct asked asked;
	if (!r->exchange || !has_bindings(r))
		return 0;
	asked_body(&asked, r, body, group, version, kind, dry_run);
	return check_all(&asked, err);
}

struct policies *policies_new(struct apiserver *s)
{
	struct policies *p = xcalloc(1, sizeof(*p));
	p->server = s;
	policy_cache_init(&p->cache);
	p->index = policy_index_new(s->store, "validatingadmissionpolicies",
				    "validatingadmissionpolicybindings");
	return p;
}

void policies_free(struct policies *p)
{
	if (!p)
		return;
	policy_cache_release(&p->cache);
	policy_index_free(p->index);
	xfree(p);
}
