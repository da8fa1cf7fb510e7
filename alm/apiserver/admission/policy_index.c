/* policy_index: see policy_index.h. */
#include "alm/apiserver/admission/policy_index.h"

#include "alm/apiserver/admission/match.h"
#include "alm/base/map.h"

#define INDEX_BYTES_MAX ((size_t)256 << 20) /* of names, those of a store of bindings and no more */

/* Names of bindings, by their places, ascending. */
struct places {
	size_t *items;
	size_t n, cap;
};

struct policy_index {
	struct store *store;
	const char *policies, *bindings; /* plurals */
	struct arena *a;                 /* NULL: there is none */
	struct map *places;              /* "group/resource" -> struct places */
	struct places any;               /* rules with "*" */
	const char **names;              /* of the bindings, as they were */
	int64_t bindings_rv, policies_rv;
	size_t n_bindings, n_policies;
};

static struct store_table *bindings_of(const struct policy_index *x)
{
	return store_resource(x->store, ADMISSION_GROUP, x->bindings);
}

static struct store_table *policies_of(const struct policy_index *x)
{
	return store_resource(x->store, ADMISSION_GROUP, x->policies);
}

struct policy_index *policy_index_new(struct store *s, const char *policies, const char *bindings)
{
	struct policy_index *x = xcalloc(1, sizeof(*x));
	x->store = s;
	x->policies = policies;
	x->bindings = bindings;
	return x;
}

static void clear(struct policy_index *x)
{
	map_free(x->places);
	arena_free(x->a);
	x->places = NULL;
	x->a = NULL;
	x->any = (struct places){0};
}

void policy_index_free(struct policy_index *x)
{
	if (!x)
		return;
	clear(x);
	xfree(x);
}

/* --- making it --- */

static void add_place(struct policy_index *x, struct places *p, size_t place)
{
	if (p->n && p->items[p->n - 1] == place)
		return;
	ARENA_GROW(x->a, p->items, p->cap, p->n, 4);
	p->items[p->n++] = place;
}

static void add_resource(struct policy_index *x, const char *group, struct str resource,
			 size_t place)
{
	if (cstr_eq(group, "*") || str_is(resource, "*")) {
		add_place(x, &x->any, place);
		return;
	}
	const char *key = arena_fmt(x->a, "%s/%.*s", group, STR_ARG(resource));
	struct places *p = map_get(x->places, key);
	if (!p) {
		p = ARENA_NEW(x->a, struct places);
		map_set(x->places, key, p);
	}
	add_place(x, p, place);
}

static void add_rule(struct policy_index *x, const struct obj *rule, size_t place)
{
	const struct obj *groups = obj_get(rule, "apiGroups"),
			 *resources = obj_get(rule, "resources");
	for (size_t g = 0; g < obj_len(groups); g++)
		for (size_t i = 0; i < obj_len(resources); i++) {
			const char *group = obj_as_string(obj_at(groups, g));
			struct str resource = obj_as_str(obj_at(resources, i)), sub;
			str_cut(resource, '/', &resource, &sub);
			if (group)
				add_resource(x, group, resource, place);
		}
}

static struct head *policy_of(const struct policy_index *x, struct head *binding)
{
	const char *name = obj_str(head_obj_hot(binding), "spec.policyName");
	return name ? resource_find(policies_of(x), "", name) : NULL;
}

static void make(struct policy_index *x)
{
	const struct store_table *t = bindings_of(x), *policies = policies_of(x);
	clear(x);
	x->a = arena_new(INDEX_BYTES_MAX);
	x->places = map_new(NULL);
	x->names = ARENA_ARRAY(x->a, const char *, t->n_heads + 1);
	for (size_t i = 0; i < t->n_heads; i++) {
		struct head *h = policy_of(x, t->heads[i]);
		const struct obj *rules =
			h ? obj_path(head_obj_hot(h), "spec.matchConstraints.resourceRules") : NULL;
		x->names[i] = arena_strdup(x->a, t->heads[i]->name);
		for (size_t k = 0; k < obj_len(rules); k++)
			add_rule(x, obj_at(rules, k), i);
	}
	x->bindings_rv = t->rv;
	x->policies_rv = policies->rv;
	x->n_bindings = t->n_heads;
	x->n_policies = policies->n_heads;
}

/* While a batch is open the tables have what may be taken back, and their revisions do not show it. */
static bool is_current(struct policy_index *x)
{
	const struct store_table *t = bindings_of(x), *policies = policies_of(x);
	bool fresh = x->a && x->bindings_rv == t->rv && x->policies_rv == policies->rv &&
		     x->n_bindings == t->n_heads && x->n_policies == policies->n_heads;
	if (!fresh && !store_batch_is_open(x->store)) {
		make(x);
		fresh = true;
	}
	return fresh;
}

/* --- asking it --- */

static void add(struct policy_index *x, struct head *binding, struct arena *a,
		struct bound_list *ret)
{
	struct head *policy = binding ? policy_of(x, binding) : NULL;
	if (!policy)
		return;
	ARENA_GROW(a, ret->items, ret->cap, ret->n, 8);
	ret->items[ret->n++] = (struct bound){binding, policy};
}

void policy_index_find(struct policy_index *x, const char *group, const char *resource,
		       struct arena *a, struct bound_list *ret)
{
	static const struct places none;
	const struct store_table *t = bindings_of(x);
	*ret = (struct bound_list){0};
	if (!is_current(x)) {
		for (size_t i = 0; i < t->n_heads; i++)
			add(x, t->heads[i], a, ret);
		return;
	}
	const struct places *own = map_get(x->places, arena_fmt(a, "%s/%s", group, resource));
	own = own ? own : &none;
	for (size_t i = 0, k = 0; i < own->n || k < x->any.n;) {
		size_t mine = i < own->n ? own->items[i] : SIZE_MAX;
		size_t any = k < x->any.n ? x->any.items[k] : SIZE_MAX;
		size_t place = mine < any ? mine : any;
		i += mine == place;
		k += any == place;
		add(x, resource_find(t, "", x->names[place]), a, ret);
	}
}
