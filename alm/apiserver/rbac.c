#include "alm/apiserver/rbac.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/selector.h"

#define AGGREGATION_DEPTH_MAX 4
#define GRANTS_MAX            100000 /* single rights looked at in one escalation check */

bool rbac_is_master(const struct user_info *u)
{
	for (size_t i = 0; i < u->n_groups; i++)
		if (cstr_eq(u->groups[i], "system:masters"))
			return true;
	return false;
}

static bool list_has(const struct obj *list, const char *s)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), s))
			return true;
	return false;
}

static bool list_has_or_star(const struct obj *list, const char *s)
{
	return list_has(list, "*") || list_has(list, s);
}

/* "R", "R/sub", "*" and "*" "/sub". */
static bool resource_matches(const struct obj *resources, const char *resource, const char *sub)
{
	size_t n = strlen(resource);
	for (size_t i = 0; i < obj_len(resources); i++) {
		const char *s = obj_as_string(obj_at(resources, i));
		if (!s)
			continue;
		if (cstr_eq(s, "*"))
			return true;
		if (!sub[0]) {
			if (cstr_eq(s, resource))
				return true;
			continue;
		}
		if (cstr_has_prefix(s, "*/") && cstr_eq(s + 2, sub))
			return true;
		if (cstr_has_prefix(s, resource) && s[n] == '/' && cstr_eq(s + n + 1, sub))
			return true;
	}
	return false;
}

static bool path_matches(const struct obj *urls, const char *path)
{
	for (size_t i = 0; i < obj_len(urls); i++) {
		const char *s = obj_as_string(obj_at(urls, i));
		size_t n = s ? strlen(s) : 0;
		if (n && s[n - 1] == '*' && strncmp(s, path, n - 1) == 0)
			return true;
		if (cstr_eq(s, path))
			return true;
	}
	return false;
}

static bool rule_allows(const struct obj *rule, const struct rbac_attributes *a)
{
	const struct obj *names = obj_get(rule, "resourceNames");
	if (!list_has_or_star(obj_get(rule, "verbs"), a->verb))
		return false;
	if (!a->is_resource)
		return path_matches(obj_get(rule, "nonResourceURLs"), a->path);
	return list_has_or_star(obj_get(rule, "apiGroups"), a->group) &&
	       resource_matches(obj_get(rule, "resources"), a->resource, a->subresource) &&
	       (!obj_len(names) || (a->name[0] && list_has(names, a->name)));
}

/* Aggregation: what a ClusterRole's selectors pick, with a bound on chains of such roles. */
struct aggregate {
	const struct rbac_source *source;
	const struct selector *selector;
	struct obj *rules;
	int depth;
};

static void add_rules(const struct rbac_source *s, const struct obj *role, int depth,
		      struct obj *rules);

static bool add_selected(void *arg, const struct obj *role)
{
	struct aggregate *g = arg;
	if (selector_matches(g->selector, obj_path(role, "metadata.labels")))
		add_rules(g->source, role, g->depth, g->rules);
	return false;
}

static void add_rules(const struct rbac_source *s, const struct obj *role, int depth,
		      struct obj *rules)
{
	const struct obj *own = obj_get(role, "rules");
	const struct obj *selectors = obj_path(role, "aggregationRule.clusterRoleSelectors");
	for (size_t i = 0; i < obj_len(own); i++)
		obj_append(rules, obj_ref(obj_at(own, i)));
	for (size_t i = 0; i < obj_len(selectors) && depth < AGGREGATION_DEPTH_MAX; i++) {
		struct error err = ERROR_INIT;
		CLEANUP(selector_freep) struct selector *sel = NULL;
		if (selector_from_obj(obj_at(selectors, i), &sel, &err) < 0)
			continue;
		struct aggregate g = {s, sel, rules, depth + 1};
		s->each(s->arg, "clusterroles", "", add_selected, &g);
	}
}

const struct obj *rbac_rules(const struct rbac_source *s, const struct obj *role,
			     struct arena *arena)
{
	struct obj *rules = obj_list();
	add_rules(s, role, 0, rules);
	return obj_keep(arena, rules);
}

/* Which subject of the binding is the user; NULL: none. */
static const struct obj *subject_of(const struct obj *binding, const struct user_info *u)
{
	const struct obj *subjects = obj_get(binding, "subjects");
	static const char account[] = "system:serviceaccount:";
	for (size_t i = 0; i < obj_len(subjects); i++) {
		const struct obj *s = obj_at(subjects, i);
		const char *kind = obj_str(s, "kind"), *name = obj_str(s, "name");
		const char *ns = obj_str(s, "namespace");
		if (!kind || !name)
			continue;
		if (cstr_eq(kind, "User") && cstr_eq(name, u->name))
			return s;
		for (size_t j = 0; cstr_eq(kind, "Group") && j < u->n_groups; j++)
			if (cstr_eq(name, u->groups[j]))
				return s;
		if (!cstr_eq(kind, "ServiceAccount") || !cstr_has_prefix(u->name, account))
			continue;
		if (!ns)
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
};

static const char *why(const struct visit *v, const struct obj *binding, const struct obj *subject)
{
	const char *kind = obj_str(binding, "roleRef.kind");
	const char *role = obj_str(binding, "roleRef.name");
	const char *name = obj_str(binding, "metadata.name");
	const char *s_kind = obj_str(subject, "kind"), *s_name = obj_str(subject, "name");
	const char *s_ns = obj_str(subject, "namespace");
	bool account = cstr_eq(s_kind, "ServiceAccount");
	return arena_fmt(v->arena, "RBAC: allowed by %s \"%s%s%s\" of %s \"%s\" to %s \"%s%s%s\"",
			 v->ns[0] ? "RoleBinding" : "ClusterRoleBinding", name ? name : "",
			 v->ns[0] ? "/" : "", v->ns, kind ? kind : "", role ? role : "", s_kind,
			 s_name, account && s_ns ? "/" : "", account && s_ns ? s_ns : "");
}

static bool visit_binding(void *arg, const struct obj *binding)
{
	struct visit *v = arg;
	const struct obj *subject = subject_of(binding, v->user);
	const char *kind = obj_str(binding, "roleRef.kind"),
		   *name = obj_str(binding, "roleRef.name");
	const struct obj *role = NULL;
	if (!subject || !name)
		return false;
	if (cstr_eq(kind, "ClusterRole"))
		role = v->source->get(v->source->arg, "clusterroles", "", name);
	else if (v->ns[0] && cstr_eq(kind, "Role"))
		role = v->source->get(v->source->arg, "roles", v->ns, name);
	if (!role)
		return false;
	const struct obj *rules = rbac_rules(v->source, role, v->arena);
	const char *text = why(v, binding, subject);
	for (size_t i = 0; i < obj_len(rules) && !v->stopped; i++)
		v->stopped = v->fn(v->arg, obj_at(rules, i), !v->ns[0], text);
	return v->stopped;
}

bool rbac_visit(const struct rbac_source *s, const struct user_info *u, const char *ns,
		struct arena *arena, rbac_rule_fn fn, void *arg)
{
	struct visit v = {s, u, arena, "", fn, arg, false};
	s->each(s->arg, "clusterrolebindings", "", visit_binding, &v);
	if (ns[0] && !v.stopped) {
		v.ns = ns;
		s->each(s->arg, "rolebindings", ns, visit_binding, &v);
	}
	return v.stopped;
}

struct match {
	const struct rbac_attributes *attributes;
	const char *why;
};

static bool match_rule(void *arg, const struct obj *rule, bool cluster_wide, const char *why_text)
{
	struct match *m = arg;
	if ((!m->attributes->is_resource && !cluster_wide) || !rule_allows(rule, m->attributes))
		return false;
	m->why = why_text;
	return true;
}

#define VISIT_BYTES_MAX ((size_t)16 << 20)

const char *rbac_reason(const struct rbac_source *s, const struct user_info *u,
			const struct rbac_attributes *a, struct arena *arena)
{
	struct match m = {a, NULL};
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

/* One right out of a rule; name "" is every name. */
struct grant {
	const char *verb, *group, *resource, *name, *url;
};

struct held {
	const struct grant *grant;
};

static bool grant_covered(void *arg, const struct obj *rule, bool cluster_wide, const char *w)
{
	const struct grant *g = ((const struct held *)arg)->grant;
	(void)w;
	if (!list_has_or_star(obj_get(rule, "verbs"), g->verb))
		return false;
	if (g->url)
		return cluster_wide && path_matches(obj_get(rule, "nonResourceURLs"), g->url);
	const struct obj *names = obj_get(rule, "resourceNames");
	const char *slash = strchr(g->resource, '/');
	bool resource = list_has_or_star(obj_get(rule, "resources"), g->resource);
	const struct obj *resources = obj_get(rule, "resources");
	for (size_t i = 0; slash && !resource && i < obj_len(resources); i++) {
		const char *s = obj_as_string(obj_at(resources, i));
		resource = s && cstr_has_prefix(s, "*/") && cstr_eq(s + 1, slash);
	}
	return resource && list_has_or_star(obj_get(rule, "apiGroups"), g->group) &&
	       (!obj_len(names) || (g->name[0] && list_has(names, g->name)));
}

struct check {
	const struct rbac_source *source;
	const struct user_info *user;
	const char *ns;
	struct arena *arena;
	size_t n;
};

static bool holds(struct check *c, const struct grant *g)
{
	struct held h = {g};
	CLEANUP(arena_freep) struct arena *scratch = arena_new(VISIT_BYTES_MAX);
	if (c->n++ > GRANTS_MAX)
		return false;
	return rbac_visit(c->source, c->user, c->ns, scratch, grant_covered, &h);
}

static const char *grant_text(const struct grant *g, struct arena *a)
{
	if (g->url)
		return arena_fmt(a, "{NonResourceURLs:[\"%s\"], Verbs:[\"%s\"]}", g->url, g->verb);
	if (g->name[0])
		return arena_fmt(a,
				 "{APIGroups:[\"%s\"], Resources:[\"%s\"], ResourceNames:[\"%s\"], "
				 "Verbs:[\"%s\"]}",
				 g->group, g->resource, g->name, g->verb);
	return arena_fmt(a, "{APIGroups:[\"%s\"], Resources:[\"%s\"], Verbs:[\"%s\"]}", g->group,
			 g->resource, g->verb);
}

static const char *text_at(const struct obj *list, size_t i)
{
	const char *s = obj_as_string(obj_at(list, i));
	return s ? s : "";
}

/* The grants of one verb and group of a rule. */
static const char *missing_resources(struct check *c, const struct obj *rule, const char *verb,
				     const char *group)
{
	const struct obj *resources = obj_get(rule, "resources");
	const struct obj *names = obj_get(rule, "resourceNames");
	size_t n_names = obj_len(names) ? obj_len(names) : 1;
	for (size_t r = 0; r < obj_len(resources); r++)
		for (size_t i = 0; i < n_names; i++) {
			struct grant g = {verb, group, text_at(resources, r), text_at(names, i),
					  NULL};
			if (!holds(c, &g))
				return grant_text(&g, c->arena);
		}
	return NULL;
}

static const char *missing_of_verb(struct check *c, const struct obj *rule, const char *verb)
{
	const struct obj *groups = obj_get(rule, "apiGroups");
	const struct obj *urls = obj_get(rule, "nonResourceURLs");
	const char *missing = NULL;
	for (size_t i = 0; i < obj_len(groups) && !missing; i++)
		missing = missing_resources(c, rule, verb, text_at(groups, i));
	for (size_t i = 0; i < obj_len(urls) && !missing; i++) {
		struct grant g = {verb, "", "", "", text_at(urls, i)};
		if (!holds(c, &g))
			missing = grant_text(&g, c->arena);
	}
	return missing;
}

const char *rbac_missing(const struct rbac_source *s, const struct user_info *u, const char *ns,
			 const struct obj *rules, struct arena *arena)
{
	struct check c = {s, u, ns, arena, 0};
	const char *missing = NULL;
	if (rbac_is_master(u))
		return NULL;
	for (size_t i = 0; i < obj_len(rules) && !missing; i++) {
		const struct obj *verbs = obj_get(obj_at(rules, i), "verbs");
		for (size_t j = 0; j < obj_len(verbs) && !missing; j++)
			missing = missing_of_verb(&c, obj_at(rules, i), text_at(verbs, j));
	}
	return missing;
}
