/* What spec.requirements asks for, before anything is rendered (requirement.h): objects are looked
 * up and permissions reviewed as the account of the app, so that nobody learns by a requirement
 * what that account may not read. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/app/requirement.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define MET_FRESH_NS   NS_PER_MIN
#define UNMET_FRESH_NS (10 * NS_PER_S) /* somebody may bring it */

/* Every question goes into one list; row i is about the requirement owner[i]. */
struct questions {
	struct obj *list;
	size_t *owner, n;
};

static bool is_kind(const struct obj *q, const char *kind)
{
	return cstr_eq(obj_str(q, "kind"), kind);
}

/* "KIND/NAMESPACE/NAME" as a need of a lookup; NULL: it is not one. */
static struct obj *object_need(const struct obj *q)
{
	struct str kind, rest, ns, name;
	const char *ref = obj_str(q, "ref");
	if (!str_cut(str_of(ref), '/', &kind, &rest) || !str_cut(rest, '/', &ns, &name) ||
	    !kind.len || !name.len)
		return NULL;
	struct obj *need = obj_map();
	obj_set(need, "kind", obj_stringn(kind));
	obj_set(need, "namespace", obj_stringn(ns));
	obj_set(need, "name", obj_stringn(name));
	return need;
}

static struct obj *permission_question(const struct obj *q, const struct obj *verb)
{
	struct obj *o = obj_map();
	const char *group = obj_str(q, "group");
	obj_set(o, "verb", obj_ref(verb));
	obj_set_str(o, "group", group ? group : "");
	obj_set_str(o, "resource", obj_str(q, "resource"));
	obj_set_str(o, "namespace", obj_str(q, "namespace"));
	return o;
}

static void add(struct questions *x, size_t owner, struct obj *o)
{
	obj_append(x->list, o);
	x->owner[x->n++] = owner;
}

static struct questions questions_new(const struct obj *all, struct arena *a)
{
	size_t max = 1;
	for (size_t i = 0; i < obj_len(all); i++)
		max += 1 + obj_len(obj_get(obj_at(all, i), "verbs"));
	return (struct questions){obj_keep(a, obj_list()), ARENA_ARRAY(a, size_t, max), 0};
}

/* Why nobody can look for it; NULL: it can be looked for. */
static const char *collect(struct strategy_pass *s, const struct obj *q, size_t i,
			   struct questions *objects, struct questions *permissions)
{
	const char *name = obj_str(q, "name");
	const struct obj *verbs = obj_get(q, "verbs");
	struct obj *need = is_kind(q, "Object") ? object_need(q) : NULL;
	if (is_kind(q, "CRD"))
		return !name                  ? "wants name: PLURAL.GROUP"
		       : view_crd(s->v, name) ? NULL
					      : "is missing";
	if (is_kind(q, "Feature"))
		return "cannot be asked of a server";
	if (is_kind(q, "Object") && !need)
		return "wants ref: KIND/NAMESPACE/NAME";
	if (need)
		add(objects, i, need);
	else if (!is_kind(q, "Permission"))
		return "is none of CRD, Object, Permission, Feature";
	else if (!obj_len(verbs) || !obj_str(q, "resource"))
		return "wants verbs and resource";
	for (size_t k = 0; !need && k < obj_len(verbs); k++)
		add(permissions, i, permission_question(q, obj_at(verbs, k)));
	return NULL;
}

static const char *id_of(const struct strategy_pass *s, const char *what, const struct obj *list)
{
	char hex[SHA256_HEX];
	json_digest(list, hex);
	return arena_fmt(s->v->a, "%s:%s:%s:%.16s", what, meta_uid(s->ref->o), s->app->account.user,
			 hex);
}

/* DONE: the answer is to be asked for again. What is met may wait for the next reconcile. */
static enum ensured await_doubt(struct strategy_pass *s, const struct outcome *o, bool met)
{
	int64_t left = o->at_ns + (met ? MET_FRESH_NS : UNMET_FRESH_NS) - s->v->now_ns;
	if (met)
		return left > 0 ? WAITING : DONE;
	return plan_await(s->plan, left);
}

/* why has what is wrong, by requirement. */
static enum ensured judge_objects(struct strategy_pass *s, const struct questions *x,
				  const char **why)
{
	const char *id = id_of(s, "require", x->list);
	const struct outcome *o = x->n ? view_outcome(s->v, id) : NULL;
	bool met = o && !o->code;
	for (size_t i = 0; o && !o->code && i < x->n; i++) {
		const struct obj *answer = obj_at(o->value, i);
		const char *error = obj_str(answer, "error");
		enum obj_type type = obj_type(obj_get(answer, "value"));
		if (error)
			why[x->owner[i]] = arena_fmt(s->v->a, "cannot be read: %s", error);
		else if (type != OBJ_MAP)
			why[x->owner[i]] = "is missing";
		met = met && !error && type == OBJ_MAP;
	}
	if (!x->n || (o && !o->code && await_doubt(s, o, met) == WAITING))
		return DONE;
	if (!o || !o->code || strategy_await_retry(s, o) == DONE)
		plan_lookup(s->plan, id, x->list)->rights_version = account_rights_version(s->v);
	return strategy_wait(s);
}

static enum ensured judge_permissions(struct strategy_pass *s, const struct questions *x,
				      const char **why)
{
	const char *id = id_of(s, "permit", x->list);
	const struct outcome *o = x->n ? view_outcome(s->v, id) : NULL;
	const struct obj *denied = o ? obj_get(o->value, "denied") : NULL;
	int64_t at;
	for (size_t i = 0; i < obj_len(denied); i++)
		if (obj_as_i64(obj_at(denied, i), &at) && at >= 0 && (size_t)at < x->n)
			why[x->owner[at]] =
				arena_fmt(s->v->a, "is not given to %s", s->app->account.user);
	if (!x->n || (o && await_doubt(s, o, !o->code) == WAITING))
		return DONE;
	plan_review(s->plan, id, obj_ref(x->list))->rights_version = account_rights_version(s->v);
	return strategy_wait(s);
}

static const char *joined(const char *text, const char *one, struct arena *a)
{
	return text ? arena_fmt(a, "%s; %s", text, one) : one;
}

static enum ensured conclude(struct strategy_pass *s, const struct obj *all, const char *const *why)
{
	const char *unmet = NULL;
	struct obj *list = obj_keep(s->v->a, obj_list());
	for (size_t i = 0; i < obj_len(all); i++) {
		const struct obj *q = obj_at(all, i);
		if (!why[i])
			continue;
		const char *text = requirement_unmet(q, why[i], s->v->a);
		if (obj_flag(q, "optional", false))
			s->lacks =
				joined(s->lacks, arena_fmt(s->v->a, "optional: %s", text), s->v->a);
		else {
			unmet = joined(unmet, text, s->v->a);
			obj_append(list, obj_string(requirement_text(q, s->v->a)));
		}
	}
	if (!unmet)
		return DONE;
	s->unmet = list;
	plan_requeue_after(s->plan, UNMET_FRESH_NS);
	return strategy_block(s, "RequirementsMet", "RequirementUnmet", unmet);
}

/* One made by hand has those of its package, unless it brings its own. */
static const struct obj *requirements_of(const struct strategy_pass *s)
{
	const struct obj *own = obj_path(s->ref->o, "spec.requirements");
	const struct package_version *e =
		obj_len(own) ? NULL : entry_by_digest(s->v, s->ref->sha256, NULL);
	return e ? e->requirements : own;
}

enum ensured strategy_require(struct strategy_pass *s)
{
	const struct obj *all = requirements_of(s);
	struct arena *a = s->v->a;
	if (!obj_len(all))
		return DONE;
	const char **why = ARENA_ARRAY(a, const char *, obj_len(all));
	struct questions objects = questions_new(all, a), permissions = questions_new(all, a);
	for (size_t i = 0; i < obj_len(all); i++)
		why[i] = collect(s, obj_at(all, i), i, &objects, &permissions);
	enum ensured state = judge_objects(s, &objects, why);
	if (state == DONE)
		state = judge_permissions(s, &permissions, why);
	return state == DONE ? conclude(s, all, why) : state;
}
