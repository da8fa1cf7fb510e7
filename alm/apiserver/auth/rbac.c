#include "alm/apiserver/auth/rbac.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/base/strbuf.h"
#include "alm/obj/query/selector.h"

#define AGGREGATION_DEPTH_MAX 4
#define ROLES_SEEN_MAX        64

bool rbac_is_master(const struct user_info *u)
{
	for (size_t i = 0; i < u->n_groups; i++)
		if (cstr_eq(u->groups[i], "system:masters"))
			return true;
	return false;
}

/* Aggregation: what a ClusterRole's selectors pick. Each role counts once, however many selectors
 * and chains of aggregated roles lead to it. */
struct aggregate {
	const struct rbac_source *source;
	const struct selector *selector;
	struct map *seen; /* names of roles; NULL until there is a selector */
	struct obj *rules;
	int depth;
};

static void add_rules(struct aggregate *g, const struct obj *role);

static bool add_selected(void *arg, const struct obj *role)
{
	struct aggregate *g = arg;
	const char *name = obj_str(role, "metadata.name");
	if (!name || map_has(g->seen, name) ||
	    !selector_matches(g->selector, obj_path(role, "metadata.labels")))
		return false;
	map_set(g->seen, name, NULL);
	add_rules(g, role);
	return false;
}

static void add_rules(struct aggregate *g, const struct obj *role)
{
	const struct obj *own = obj_get(role, "rules");
	const struct obj *selectors = obj_path(role, "aggregationRule.clusterRoleSelectors");
	for (size_t i = 0; i < obj_len(own); i++)
		obj_append(g->rules, obj_ref(obj_at(own, i)));
	for (size_t i = 0;
	     i < obj_len(selectors) && i < RBAC_SELECTORS_MAX && g->depth < AGGREGATION_DEPTH_MAX;
	     i++) {
		struct error err = ERROR_INIT;
		CLEANUP(selector_freep) struct selector *sel = NULL;
		if (selector_from_obj(obj_at(selectors, i), &sel, &err) < 0)
			continue;
		if (!g->seen) {
			const char *name = obj_str(role, "metadata.name");
			g->seen = map_new(NULL);
			map_set(g->seen, name ? name : "", NULL);
		}
		struct aggregate next = {g->source, sel, g->seen, g->rules, g->depth + 1};
		g->source->each_role(g->source->arg, add_selected, &next);
	}
}

const struct obj *rbac_rules(const struct rbac_source *s, const struct obj *role,
			     struct arena *arena)
{
	struct aggregate g = {.source = s, .rules = obj_list()};
	add_rules(&g, role);
	map_free(g.seen);
	return obj_keep(arena, g.rules);
}

/* Which subject of the binding is the user; NULL: none. */
static const struct obj *subject_of(const struct obj *binding, const struct user_info *u)
{
	const struct obj *subjects = obj_get(binding, "subjects");
	static const char account[] = "system:serviceaccount:";
	for (size_t i = 0; i < obj_len(subjects); i++) {
		const struct obj *s = obj_at(subjects, i);
		const char *kind = obj_str(s, "kind"), *name = rbac_text(obj_get(s, "name"));
		const char *ns = rbac_text(obj_get(s, "namespace"));
		if (!kind || !name)
			continue;
		if (cstr_eq(kind, "User") && cstr_eq(name, u->name))
			return s;
		for (size_t j = 0; cstr_eq(kind, "Group") && j < u->n_groups; j++)
			if (cstr_eq(name, u->groups[j]))
				return s;
		if (!cstr_eq(kind, "ServiceAccount") || !cstr_has_prefix(u->name, account))
			continue;
		if (!obj_has(s, "namespace"))
			ns = obj_str(binding, "metadata.namespace");
		struct str rest = str_of(u->name + sizeof(account) - 1), user_ns, user_name;
		if (ns && str_cut(rest, ':', &user_ns, &user_name) && str_is(user_ns, ns) &&
		    str_is(user_name, name))
			return s;
	}
	return NULL;
}

struct visit {
	const struct rbac_source *source;
	const struct user_info *user;
	struct arena *arena;
	const char *ns; /* of the bindings; "" for cluster ones */
	rbac_rule_fn fn;
	void *arg;
	bool stopped;
	const struct obj *roles[ROLES_SEEN_MAX]; /* already visited by a binding of this scope */
	size_t n_roles;
};

/* Several bindings to one role give its rights once. Beyond the limit they are looked at again. */
static bool is_seen(struct visit *v, const struct obj *role)
{
	for (size_t i = 0; i < v->n_roles; i++)
		if (v->roles[i] == role)
			return true;
	if (v->n_roles < ROLES_SEEN_MAX)
		v->roles[v->n_roles++] = role;
	return false;
}

static const char *why(const struct rbac_via *via, struct arena *arena)
{
	const char *kind = obj_str(via->binding, "roleRef.kind");
	const char *role = obj_str(via->binding, "roleRef.name");
	const char *name = obj_str(via->binding, "metadata.name");
	const char *s_kind = obj_str(via->subject, "kind"), *s_name = obj_str(via->subject, "name");
	const char *s_ns = obj_str(via->subject, "namespace");
	bool account = cstr_eq(s_kind, "ServiceAccount");
	return arena_fmt(arena, "RBAC: allowed by %s \"%s%s%s\" of %s \"%s\" to %s \"%s%s%s\"",
			 via->ns[0] ? "RoleBinding" : "ClusterRoleBinding", name ? name : "",
			 via->ns[0] ? "/" : "", via->ns, kind ? kind : "", role ? role : "", s_kind,
			 s_name, account && s_ns ? "/" : "", account && s_ns ? s_ns : "");
}

static bool visit_binding(void *arg, const struct obj *binding)
{
	struct visit *v = arg;
	const struct obj *subject = subject_of(binding, v->user);
	const char *kind = obj_str(binding, "roleRef.kind");
	const char *name = rbac_text(obj_path(binding, "roleRef.name"));
	const struct obj *role = NULL;
	if (!subject || !name)
		return false;
	if (cstr_eq(kind, "ClusterRole"))
		role = v->source->get(v->source->arg, "clusterroles", "", name);
	else if (v->ns[0] && cstr_eq(kind, "Role"))
		role = v->source->get(v->source->arg, "roles", v->ns, name);
	if (!role || is_seen(v, role))
		return false;
	const struct obj *rules = rbac_rules(v->source, role, v->arena);
	const struct rbac_via via = {v->ns, binding, subject};
	for (size_t i = 0; i < obj_len(rules) && !v->stopped; i++)
		v->stopped = v->fn(v->arg, obj_at(rules, i), &via);
	return v->stopped;
}

bool rbac_visit(const struct rbac_source *s, const struct user_info *u, const char *ns,
		struct arena *arena, rbac_rule_fn fn, void *arg)
{
	struct visit v = {.source = s, .user = u, .arena = arena, .ns = "", .fn = fn, .arg = arg};
	s->each_binding(s->arg, "", u, visit_binding, &v);
	if (ns[0] && !v.stopped) {
		v.ns = ns;
		v.n_roles = 0;
		s->each_binding(s->arg, ns, u, visit_binding, &v);
	}
	return v.stopped;
}

struct match {
	const struct rbac_attributes *attributes;
	struct arena *arena;
	const char *why;
};

static bool match_rule(void *arg, const struct obj *rule, const struct rbac_via *via)
{
	struct match *m = arg;
	if ((!m->attributes->is_resource && via->ns[0]) || !rbac_rule_allows(rule, m->attributes))
		return false;
	m->why = why(via, m->arena);
	return true;
}

#define VISIT_BYTES_MAX ((size_t)16 << 20)

const char *rbac_reason(const struct rbac_source *s, const struct user_info *u,
			const struct rbac_attributes *a, struct arena *arena)
{
	struct match m = {a, arena, NULL};
	rbac_visit(s, u, a->is_resource ? a->ns : "", arena, match_rule, &m);
	return m.why;
}

bool rbac_allows(const struct rbac_source *s, const struct user_info *u,
		 const struct rbac_attributes *a)
{
	if (rbac_is_master(u))
		return true;
	CLEANUP(arena_freep) struct arena *arena = arena_new(VISIT_BYTES_MAX);
	return rbac_reason(s, u, a, arena) != NULL;
}
