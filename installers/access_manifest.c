/* access_manifest: rights as roles and bindings: rules of the same verbs, or of the same thing, together. */
#include "alm/base/str.h"
#include "alm/obj/meta.h"
#include "installers/access.h"

/* A rule of a role while it grows: verbs of one thing, then things of the same verbs. */
struct grown {
	const struct access_rule *of;
	struct obj *verbs, *resources, *names;
};

static bool has(const struct obj *list, const char *s)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), s))
			return true;
	return false;
}

static void add_word(struct obj *list, const char *s)
{
	if (!has(list, s))
		obj_append(list, obj_string(s));
}

static void release(struct grown *g)
{
	obj_unref(g->verbs);
	obj_unref(g->resources);
	obj_unref(g->names);
}

static bool is_like(const struct grown *a, const struct grown *b)
{
	return !a->of->url && !b->of->url && cstr_eq(a->of->group, b->of->group) &&
	       obj_equal(a->verbs, b->verbs);
}

/* into takes from in; false: they do not go together. */
static bool unite(struct grown *into, const struct grown *from)
{
	bool names = is_like(into, from) && obj_len(into->names) && obj_len(from->names) &&
		     obj_equal(into->resources, from->resources);
	bool resources = is_like(into, from) && obj_equal(into->names, from->names);
	struct obj *to = names ? into->names : into->resources;
	const struct obj *list = names ? from->names : from->resources;
	for (size_t i = 0; (names || resources) && i < obj_len(list); i++)
		add_word(to, obj_as_string(obj_at(list, i)));
	return names || resources;
}

static struct obj *rule_obj(const struct grown *g)
{
	struct obj *o = obj_map(), *groups = obj_list(), *urls = obj_list();
	obj_append(groups, obj_string(g->of->group));
	if (g->of->url)
		obj_append(urls, obj_string(g->of->url));
	if (g->of->url)
		obj_set(o, "nonResourceURLs", obj_ref(urls));
	else
		obj_set(o, "apiGroups", obj_ref(groups));
	if (!g->of->url)
		obj_set(o, "resources", obj_ref(g->resources));
	if (!g->of->url && obj_len(g->names))
		obj_set(o, "resourceNames", obj_ref(g->names));
	obj_set(o, "verbs", obj_ref(g->verbs));
	obj_unref(groups);
	obj_unref(urls);
	return o;
}

static bool is_wanted(const struct access *x, const bool *wanted, size_t i)
{
	return wanted ? wanted[i] : !x->items[i].waives;
}

/* Verbs of one thing, for one namespace. */
static size_t grow(const struct access *x, const bool *wanted, const char *ns, struct grown *list)
{
	size_t n = 0;
	for (size_t i = 0; i < x->n; i++) {
		const struct access_rule *r = &x->items[i];
		size_t k = 0;
		if (!is_wanted(x, wanted, i) || !cstr_eq(r->ns, ns))
			continue;
		while (k < n && !access_is_same_thing(list[k].of, r))
			k++;
		if (k == n) {
			list[n++] = (struct grown){r, obj_list(), obj_list(), obj_list()};
			add_word(list[k].resources, r->resource);
			if (*r->name)
				add_word(list[k].names, r->name);
		}
		add_word(list[k].verbs, r->verb);
	}
	return n;
}

static struct obj *rules_in(const struct access *x, const bool *wanted, const char *ns)
{
	struct grown *list = ARENA_ARRAY(x->a, struct grown, x->n + 1);
	size_t n = grow(x, wanted, ns, list);
	struct obj *rules = obj_list();
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; list[i].of && k < n; k++)
			if (list[k].of && unite(&list[i], &list[k])) {
				release(&list[k]);
				list[k].of = NULL;
			}
	for (size_t i = 0; i < n; i++) {
		if (!list[i].of)
			continue;
		obj_append(rules, rule_obj(&list[i]));
		release(&list[i]);
	}
	return rules;
}

static struct obj *skeleton(const char *kind, const char *ns, const struct access_grantee *g)
{
	struct obj *o = meta_skeleton(ACCESS_RBAC "/v1", kind, *ns ? ns : NULL, g->name);
	if (g->label)
		meta_set_label(o, g->label, g->value);
	return o;
}

static struct obj *binding_of(const char *ns, const struct access_grantee *g)
{
	struct obj *o = skeleton(*ns ? "RoleBinding" : "ClusterRoleBinding", ns, g);
	struct obj *ref = obj_map(), *subjects = obj_list(), *subject = obj_map();
	obj_set_str(ref, "apiGroup", ACCESS_RBAC);
	obj_set_str(ref, "kind", *ns ? "Role" : "ClusterRole");
	obj_set_str(ref, "name", g->name);
	obj_set(o, "roleRef", ref);
	obj_set_str(subject, "kind", "ServiceAccount");
	obj_set_str(subject, "namespace", g->ns);
	obj_set_str(subject, "name", g->account);
	obj_append(subjects, subject);
	obj_set(o, "subjects", subjects);
	return o;
}

struct obj *access_manifests(const struct access *x, const bool *wanted,
			     const struct access_grantee *g)
{
	struct obj *list = obj_list();
	const char *last = NULL;
	for (size_t i = 0; i < x->n; i++) { /* sorted by namespace */
		const char *ns = x->items[i].ns;
		if (!is_wanted(x, wanted, i) || cstr_eq(last, ns))
			continue;
		last = ns;
		struct obj *role = skeleton(*ns ? "Role" : "ClusterRole", ns, g);
		obj_set(role, "rules", rules_in(x, wanted, ns));
		obj_append(list, role);
		obj_append(list, binding_of(ns, g));
	}
	return list;
}
