/* mutating_policies: see mutating_policies.h. */
#include "alm/apiserver/admission/mutating_policies.h"

#include "alm/apiserver/admission/draft.h"
#include "alm/apiserver/admission/match.h"
#include "alm/apiserver/admission/policy_cache.h"
#include "alm/apiserver/admission/policy_index.h"
#include "alm/apiserver/admission/policy_params.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/status.h"
#include "alm/obj/meta.h"

#define FAILURES_MAX     64 /* of one write are told */
#define MUTATE_BYTES_MAX ((size_t)64 << 20)

struct mutating_policies {
	struct apiserver *server;
	struct policy_cache cache;
	struct policy_index *index;
};

/* One round of one write. */
struct walk {
	struct mutating_policies *p;
	struct policy_rounds *rounds;
	struct mutation *m;
	int round;
	bool dirty; /* somebody mutated, whether it changed anything or not */
	const struct obj *policy;
	const char *policy_name, *binding_name;
	struct status_cause *causes;
	size_t n_causes;
	bool is_invalid; /* the first cause is one of the policy itself, not of how it is bound */
};

/* --- who is asked again --- */

static bool has_key(const struct policy_keys *k, const char *key)
{
	for (size_t i = 0; i < k->n; i++)
		if (cstr_eq(k->items[i], key))
			return true;
	return false;
}

static void add_key(struct policy_keys *k, const char *key, struct arena *a)
{
	if (has_key(k, key))
		return;
	ARENA_GROW(a, k->items, k->cap, k->n, 8);
	k->items[k->n++] = key;
}

static void ask_previous_again(struct walk *w)
{
	struct policy_rounds *r = w->rounds;
	for (size_t i = 0; i < r->previous.n; i++)
		add_key(&r->again, r->previous.items[i], w->m->r->arena);
	r->previous.n = 0;
}

/* --- failures --- */

static void failed(struct walk *w, const char *why, bool is_invalid, bool bound)
{
	struct arena *a = w->m->r->arena;
	if (cstr_eq(obj_str(w->policy, "spec.failurePolicy"), "Ignore") ||
	    w->n_causes == FAILURES_MAX)
		return;
	if (!w->causes)
		w->causes = ARENA_ARRAY(a, struct status_cause, FAILURES_MAX);
	if (w->n_causes == 0)
		w->is_invalid = is_invalid;
	w->causes[w->n_causes++].message =
		bound ? arena_fmt(a, "policy '%s' with binding '%s' denied request: %s",
				  w->policy_name, w->binding_name, why)
		      : arena_fmt(a, "policy '%s' denied request: %s", w->policy_name, why);
}

static int refused(const struct walk *w, struct error *err)
{
	struct request *r = w->m->r;
	const char *name = w->m->name && *w->m->name ? w->m->name : "Unknown";
	fail_forbidden(r, name, err, "%s", w->causes[0].message);
	r->failure.extra = w->causes;
	r->failure.n_extra = w->n_causes;
	r->failure.message = w->causes[0].message;
	if (w->is_invalid)
		r->failure.reason = "Invalid";
	return -err->code;
}

/* --- one policy with one binding and one of its parameters --- */

static int mutate(struct walk *w, const struct policy *policy, size_t i, const char *version,
		  const struct obj *params, struct arena *a, struct error *err)
{
	struct mutation *m = w->m;
	struct asked asked;
	struct policy_mutated made;
	asked_draft(&asked, m);
	const struct asked_as *as = asked_in(&asked, version);
	if (as->wrong.code)
		return error_copy(err, &as->wrong);
	const struct kind *k =
		kinds_find(m->r->server->kinds, asked.w.group, as->version, asked.w.resource);
	bool scale = cstr_eq(asked.body_kind, "Scale");
	struct policy_input in = as->in;
	in.params = params;
	policy_mutate(policy, i, &in, k && !scale ? k->schema : NULL, a, &made);
	if (made.failed)
		failed(w, made.failed, true, true);
	if (made.failed || !made.object)
		return 0;
	w->dirty = true;
	struct obj *kept = obj_keep(m->r->arena, obj_copy(made.object));
	return made.is_patch ? draft_take_strictly(m, &asked, as, kept, err)
			     : draft_take(m, &asked, as, kept, err);
}

static int invoke(struct walk *w, const struct policy *policy, const char *version,
		  const struct obj *params, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(MUTATE_BYTES_MAX);
	struct mutation *m = w->m;
	const char *why = NULL, *ns = meta_namespace(params), *name = meta_name(params);
	const char *key = arena_fmt(m->r->arena, "%s/%s/%s/%s", w->policy_name, w->binding_name,
				    ns ? ns : "", name ? name : "");
	struct asked asked;
	asked_draft(&asked, m);
	const struct asked_as *as = asked_in(&asked, version);
	if (as->wrong.code)
		return error_copy(err, &as->wrong);
	struct policy_input in = as->in;
	in.params = params;
	bool applies = policy_applies(policy, &in, a, &why);
	if (why)
		failed(w, arena_strdup(m->r->arena, why), true, true);
	if (!applies || (w->round > 0 && !has_key(&w->rounds->again, key)))
		return 0;
	const struct obj *before = m->after;
	for (size_t i = 0; i < policy_mutations(policy); i++)
		if (mutate(w, policy, i, version, params, a, err) < 0)
			return -err->code;
	if (!obj_equal(before, m->after)) {
		w->rounds->changed = true;
		ask_previous_again(w);
	}
	if (cstr_eq(obj_str(w->policy, "spec.reinvocationPolicy"), "IfNeeded"))
		add_key(&w->rounds->previous, key, m->r->arena);
	return 0;
}

static int meet(struct walk *w, const struct bound *b, struct error *err)
{
	struct request *r = w->m->r;
	const struct obj *binding = head_obj_hot(b->binding);
	const struct obj *wanted = obj_path(w->policy, "spec.paramKind");
	const struct kind *k = policy_param_kind(w->p->server, w->policy, r->arena);
	struct asked asked;
	asked_draft(&asked, w->m);
	const char *version =
		admission_match(obj_path(w->policy, "spec.matchConstraints"), false, &asked.w);
	if (!version)
		return 0;
	if (wanted && !k) {
		failed(w,
		       arena_fmt(
			       r->arena,
			       "failed to configure policy: failed to find resource referenced by "
			       "paramKind: '%s, Kind=%s'",
			       obj_str(wanted, "apiVersion"), obj_str(wanted, "kind")),
		       false, false);
		return 0;
	}
	if (!admission_match(obj_path(binding, "spec.matchResources"), true, &asked.w))
		return 0;
	const struct policy *policy = policy_cache_get(&w->p->cache, b->policy, w->policy);
	if (!k || !obj_path(binding, "spec.paramRef"))
		return invoke(w, policy, version, NULL, err);
	struct policy_params *params = ARENA_NEW(r->arena, struct policy_params);
	policy_params_find(w->p->server, binding, k, asked.w.ns, r->arena, params);
	if (params->wrong)
		failed(w, params->wrong, false, true);
	for (size_t i = 0; i < params->n && !params->wrong; i++)
		if (invoke(w, policy, version, params->items[i], err) < 0)
			return -err->code;
	return 0;
}

/* --- all of them --- */

int mutating_policies_run(struct policy_rounds *rounds, struct mutation *m, int round,
			  struct error *err)
{
	struct mutating_policies *p = m->r->server->mutating_policies;
	struct walk w = {.p = p, .rounds = rounds, .m = m, .round = round};
	struct bound_list bound;
	if (!mutating_policies_any(m->r))
		return 0;
	if (round > 0 && !obj_equal(rounds->seen, m->after))
		ask_previous_again(&w);
	policy_index_find(p->index, m->kind->group, m->kind->plural, m->r->arena, &bound);
	for (size_t i = 0; i < bound.n; i++) {
		w.policy = head_obj_hot(bound.items[i].policy);
		w.policy_name = bound.items[i].policy->name;
		w.binding_name = bound.items[i].binding->name;
		if (meet(&w, &bound.items[i], err) < 0)
			return -err->code;
	}
	if (w.dirty)
		ask_previous_again(&w);
	rounds->seen = m->after;
	return w.n_causes ? refused(&w, err) : 0;
}

bool mutating_policies_any(const struct request *r)
{
	struct mutating_policies *p = r->server->mutating_policies;
	return p && r->exchange &&
	       store_resource(p->server->store, ADMISSION_GROUP, "mutatingadmissionpolicybindings")
			       ->n_heads > 0;
}

struct mutating_policies *mutating_policies_new(struct apiserver *s)
{
	struct mutating_policies *p = xcalloc(1, sizeof(*p));
	p->server = s;
	policy_cache_init(&p->cache);
	p->index = policy_index_new(s->store, "mutatingadmissionpolicies",
				    "mutatingadmissionpolicybindings");
	return p;
}

void mutating_policies_free(struct mutating_policies *p)
{
	if (!p)
		return;
	policy_cache_release(&p->cache);
	policy_index_free(p->index);
	xfree(p);
}
