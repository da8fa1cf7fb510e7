#include "alm/controllers/strategy/strategy_access.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/app/plan_access.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"
#include "alm/obj/yaml.h"

#define REVIEW_FRESH_NS  NS_PER_MIN
#define AGAIN_NS         NS_PER_S
#define STEP_BYTES_MAX   4096
#define FORMER_TRIES     20 /* revisions of one version with changed values */
#define PERMISSIONS_TOLD 5

static enum ensured block(struct strategy_pass *s, const char *message)
{
	return strategy_block(s, "PlanReady", "Forbidden", message);
}

enum ensured strategy_plan_account(struct strategy_pass *s)
{
	enum ensured state = strategy_ensure_account(s);
	if (state != ENDED)
		return state == DONE ? DONE : strategy_wait(s);
	for (size_t i = 0; i < s->account.n_steps; i++)
		nextstep_add(s->steps, s->account.steps[i]);
	return block(s, s->account.message);
}

/* --- what no right helps against --- */

static bool is_reserved(const char *name)
{
	return name && cstr_has_prefix(name, ACCOUNT_RESERVED);
}

/* By its own name, or by the role that it binds: ALM gives these rights, nobody hands them on. */
static bool is_ours(const struct access_object *o)
{
	return cstr_eq(o->group, ACCESS_RBAC) && (is_reserved(meta_name(o->object)) ||
						  is_reserved(obj_str(o->object, "roleRef.name")));
}

static bool is_bad_name(const char *name)
{
	return name && !name_is_path_segment(str_of(name));
}

static enum ensured refuse_taken(struct strategy_pass *s, const struct access_object *o)
{
	const char *name = meta_name(o->object), *why, *step;
	struct arena *a = s->v->a;
	if (is_bad_name(name) || is_bad_name(o->ns))
		return block(s, arena_fmt(a, "%s has a name that is none", meta_kind(o->object)));
	if (is_ours(o))
		return block(s, arena_fmt(a,
					  "%s %s: roles with names of " ACCOUNT_RESERVED
					  " are ALM's own",
					  meta_kind(o->object), name));
	if (o->life != ACCESS_DEFINITION ||
	    account_may_define(s->app, o->object, view_get(s->v, WATCH_CRD, name), a, &why, &step))
		return DONE;
	if (step)
		nextstep_add(s->steps, step);
	return block(s, why);
}

/* --- the review --- */

/* Under a name of its own: applied, it takes nothing back that was given before. */
static const char *yaml_step(const struct strategy_pass *s, const struct access *x,
			     const bool *missing)
{
	char hex[SHA256_HEX];
	struct error ignored;
	struct access_grantee g = plan_grantee(s->app, s->v->a);
	CLEANUP(obj_unrefp) struct obj *what = access_manifests(x, missing, &g);
	json_digest(what, hex);
	g.name = arena_fmt(s->v->a, "%s-%.8s", g.name, hex);
	CLEANUP(obj_unrefp) struct obj *list = access_manifests(x, missing, &g);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STEP_BYTES_MAX);
	strbuf_adds(&text, "kubectl apply -f - <<'END'\n");
	for (size_t i = 0; i < obj_len(list); i++) {
		strbuf_adds(&text, i ? "---\n" : "");
		yaml_print(obj_at(list, i), &text);
	}
	strbuf_adds(&text, "END");
	return strbuf_check(&text, "the step", &ignored) < 0 ? NULL
							     : arena_strdup(s->v->a, text.buf);
}

/* How many rights are missing by the server's answer; missing has one a rule. */
static size_t missing_of(const struct access *x, const struct outcome *o, bool *missing,
			 struct arena *a)
{
	const struct obj *list = obj_get(o->value, "denied");
	bool *denied = ARENA_ARRAY(a, bool, x->n + 1);
	for (size_t i = 0; i < obj_len(list); i++) {
		int64_t at;
		if (obj_as_i64(obj_at(list, i), &at) && at >= 0 && (size_t)at < x->n)
			denied[at] = true;
	}
	return access_missing(x, denied, missing);
}

static enum ensured block_missing(struct strategy_pass *s, const struct access *x,
				  const bool *missing, size_t n)
{
	struct arena *a = s->v->a;
	const struct access_rule *r = x->items;
	while (!missing[r - x->items])
		r++;
	nextstep_add(s->steps,
		     nextstep_new(a, NULL, "alm rbac %s | kubectl apply -f -", s->app->name));
	const char *yaml = yaml_step(s, x, missing);
	if (yaml)
		nextstep_add(s->steps, yaml);
	return block(s,
		     arena_fmt(a, "%s lacks %zu of the %zu rights that %s %s takes, first: %s%s%s",
			       s->app->account.user, n, x->n, s->app->name, s->ref->version,
			       access_text(r, a), r->role ? ", for " : "", r->role ? r->role : ""));
}

/* ALM itself may not ask. */
static enum ensured block_unasked(struct strategy_pass *s, const struct outcome *o)
{
	nextstep_add(s->steps,
		     nextstep_new(s->v->a, "then bind it to who runs alm controller",
				  "kubectl create clusterrole alm-impersonate --verb=impersonate "
				  "--resource=serviceaccounts"));
	return block(s,
		     arena_fmt(s->v->a, "ALM may not act as %s: %s", s->app->account.user, o->msg));
}

static bool is_just_now(const struct strategy_pass *s, int64_t at_ns)
{
	int64_t age = s->v->now_ns - at_ns;
	return at_ns && age >= 0 && age < s->v->settings->rights_settle_ns;
}

/* Denied just after rights were given: not every API server has seen them. */
static bool is_settling(const struct strategy_pass *s, const struct obj *answer)
{
	return is_just_now(s, s->account.changed_ns) ||
	       is_just_now(s, obj_i64(answer, "rightsSince", 0));
}

/* The rights may have changed since the last answer (NULL: there is none). */
static void stamp(const struct strategy_pass *s, struct action *x, const struct obj *last)
{
	x->rights_version = account_rights_version(s->v);
	x->rights_since_ns = obj_i64(last, "rightsSince", 0);
	if (last && (uint64_t)obj_i64(last, "rightsVersion", 0) != x->rights_version)
		x->rights_since_ns = s->v->now_ns;
}

/* DONE: what was answered is to be asked again. */
static enum ensured await_doubt(struct strategy_pass *s, const struct outcome *o, bool refused)
{
	int64_t age = s->v->now_ns - o->at_ns;
	if ((uint64_t)obj_i64(o->value, "rightsVersion", 0) != account_rights_version(s->v))
		return DONE;
	if (!refused || age < 0)
		return outcome_is_younger(o, s->v->now_ns, REVIEW_FRESH_NS) ? WAITING : DONE;
	return plan_await(s->plan, is_settling(s, o->value) ? AGAIN_NS - age
							    : outcome_retry_in(o, s->v->now_ns));
}

static enum ensured review(struct strategy_pass *s, const struct access *x)
{
	char hex[SHA256_HEX];
	struct arena *a = s->v->a;
	const struct obj *questions = obj_keep(a, access_questions(x));
	json_digest(questions, hex);
	const char *id =
		arena_fmt(a, "review:%s:%s:%.16s", meta_uid(s->ref->o), s->app->account.user, hex);
	const struct outcome *o = view_outcome(s->v, id);
	bool *missing = ARENA_ARRAY(a, bool, x->n + 1);
	bool unasked = o && o->code && !obj_has(o->value, "denied");
	size_t n = o && !unasked ? missing_of(x, o, missing, a) : 0;
	if (!o || await_doubt(s, o, n || unasked) == DONE) {
		struct action *ask = plan_review(s->plan, id, obj_ref(questions));
		stamp(s, ask, o ? o->value : NULL);
		return strategy_wait(s);
	}
	if (n && is_settling(s, o->value))
		return strategy_wait(s);
	return unasked ? block_unasked(s, o) : n ? block_missing(s, x, missing, n) : DONE;
}

/* --- lookups --- */

static const struct obj *denied_answer(const struct obj *answers)
{
	for (size_t i = 0; i < obj_len(answers); i++)
		if (obj_flag(obj_at(answers, i), "denied", false))
			return obj_at(answers, i);
	return NULL;
}

static struct access right_to_read(const struct strategy_pass *s, const struct obj *need)
{
	const struct view *v = s->v;
	const char *name = obj_str(need, "name"), *ns = obj_str(need, "namespace");
	struct gvk g = {"", "", ""};
	gvk_of(need, v->a, &g);
	const struct resource *r = v->ops->resource(v->ops_arg, g.group, g.version, g.kind);
	struct access_rule *rule = ARENA_NEW(v->a, struct access_rule);
	*rule = (struct access_rule){.verb = name && *name ? "get" : "list",
				     .group = g.group,
				     .resource = r ? arena_strdup(v->a, r->plural) : "",
				     .ns = r && r->namespaced && ns ? ns : "",
				     .name = name ? name : ""};
	return (struct access){.a = v->a, .items = rule, .n = r ? 1 : 0};
}

enum ensured strategy_ensure_lookups(struct strategy_pass *s, const char *id,
				     const struct obj *needs, const struct outcome *answers)
{
	const struct obj *need = denied_answer(answers->value);
	if (!need)
		return DONE;
	int64_t wait = is_settling(s, need) ? AGAIN_NS : NS_PER_MIN;
	uint64_t version = (uint64_t)obj_i64(need, "rightsVersion", 0);
	if (plan_await(s->plan, answers->at_ns + wait - s->v->now_ns) == DONE ||
	    version != account_rights_version(s->v)) {
		stamp(s, plan_lookup(s->plan, id, needs), need);
		return strategy_wait(s);
	}
	if (is_settling(s, need))
		return strategy_wait(s);
	struct access x = right_to_read(s, need);
	const char *yaml = x.n ? yaml_step(s, &x, NULL) : NULL;
	if (yaml)
		nextstep_add(s->steps, yaml);
	return block(s, arena_fmt(s->v->a, "lookup: %s", obj_str(need, "error")));
}

/* --- what an upgrade gives more --- */

/* "plural.group" of what the version itself manages. */
static const char *const *own_resources(const struct strategy_pass *s)
{
	size_t n = 0, max = s->install->n + 1;
	for (const char **m = s->ref->managed; m && *m; m++)
		max++;
	const char **own = ARENA_ARRAY(s->v->a, const char *, max);
	for (size_t i = 0; i < s->install->n; i++)
		if (s->install->entries[i].is_crd)
			own[n++] = s->install->entries[i].name;
	for (const char **m = s->ref->managed; m && *m; m++)
		own[n++] = arena_strndup(s->v->a, *m, strcspn(*m, "/"));
	return own;
}

/* The plan of what runs now; of another revision of this very version when values changed. */
static const struct obj *former_doc(const struct strategy_pass *s)
{
	const struct strategy_ref *old = s->app->installed;
	if (old != s->ref)
		return install_plan_stored(s->v, old->name, old->revision, NULL);
	if (strategy_tries_values(s))
		return install_plan_stored(s->v, old->name, s->former_revision, NULL);
	for (int64_t r = s->revision - 1; r > 0 && r >= s->revision - FORMER_TRIES; r--) {
		const struct obj *doc = install_plan_stored(s->v, old->name, r, NULL);
		if (doc)
			return doc;
	}
	return NULL;
}

static int list_permissions(struct strategy_pass *s, struct error *err)
{
	struct arena *a = s->v->a;
	struct access now, before;
	size_t n = 0;
	struct obj *list = obj_keep(a, obj_list());
	s->permissions = list;
	if (!s->app->installed)
		return 0;
	const char *const *own = own_resources(s);
	struct access_input in = plan_grants(s->install->doc, own, a),
			    was = plan_grants(former_doc(s), own, a);
	if (access_grants(&in, a, &now, err) < 0 || access_grants(&was, a, &before, err) < 0)
		return -err->code;
	const char *const *added = access_added(&now, &before, a, &n);
	for (size_t i = 0; i < n; i++)
		obj_append(list, obj_string(added[i]));
	return 0;
}

const char *strategy_permissions_text(const struct strategy_pass *s)
{
	size_t n = obj_len(s->permissions);
	const char *text = "";
	for (size_t i = 0; i < n && i < PERMISSIONS_TOLD; i++)
		text = arena_fmt(s->v->a, "%s%s%s", text, i ? "; " : "",
				 obj_as_string(obj_at(s->permissions, i)));
	return n ? arena_fmt(s->v->a, "adds %zu permission%s: %s%s", n, n == 1 ? "" : "s", text,
			     n > PERMISSIONS_TOLD ? "; ..." : "")
		 : "";
}

/* --- the step --- */

static const struct resource *kind_of(void *arg, const char *group, const char *version,
				      const char *kind)
{
	const struct view *v = arg;
	return v->ops->resource(v->ops_arg, group, version, kind);
}

static bool has_crd(void *arg, const char *name)
{
	return view_crd(arg, name) != NULL;
}

enum ensured strategy_review(struct strategy_pass *s)
{
	const struct view *v = s->v;
	struct access x;
	struct error limit = ERROR_INIT;
	struct view own_view = *v;
	enum ensured state = DONE;
	const struct plan_kinds kinds = {kind_of, has_crd, &own_view};
	struct access_input in =
		plan_access(s->install->doc, &kinds, s->app->account.is_default, v->a);
	for (size_t i = 0; i < in.n && state == DONE; i++)
		state = refuse_taken(s, &in.objects[i]);
	if (state != DONE)
		return state;
	if (access_rules(&in, v->a, &x, &limit) < 0 || list_permissions(s, &limit) < 0)
		return strategy_block(s, "PlanReady", "RenderLimit", arena_strdup(v->a, limit.msg));
	return review(s, &x);
}
