/*
 * rbac_cover: does a user hold what rules grant (kube-api.md 6, escalation)? Every single right,
 * one verb of one resource, must be covered by one rule of the user's. His rules are gathered once
 * and narrowed list by list (verbs, groups, resources, names), so that the cost is not a product of
 * all of them; a count of comparisons bounds the rest.
 */
#include <string.h>

#include "alm/apiserver/auth/rbac.h"
#include "alm/base/mem.h"

enum dimension { VERB, GROUP, RESOURCE, NAME, N_DIMENSIONS };

static const char *const keys[N_DIMENSIONS] = {"verbs", "apiGroups", "resources", "resourceNames"};

struct owned {
	const struct obj *rule;
	bool cluster_wide;
};

struct owned_list {
	struct owned *items; /* on the heap */
	size_t n, cap;
};

struct cover {
	struct arena *arena;
	size_t comparisons;
	const char *chosen[N_DIMENSIONS];     /* one item of each list: a single right */
	struct owned *narrowed[N_DIMENSIONS]; /* room for all of the user's rules; of the heap */
};

static bool gather(void *arg, const struct obj *rule, const struct rbac_via *via)
{
	struct owned_list *l = arg;
	ARRAY_GROW(l->items, l->cap, l->n + 1);
	l->items[l->n++] = (struct owned){rule, !via->ns[0]};
	return false;
}

static bool is_spent(const struct cover *c)
{
	return c->comparisons > RBAC_COMPARISONS_MAX;
}

static bool has(struct cover *c, const struct obj *list, const char *s)
{
	c->comparisons += obj_len(list) + 1;
	return !is_spent(c) && rbac_list_has(list, s);
}

/* "pods/log" is covered by "*" "/log" too. */
static bool has_subresource(struct cover *c, const struct obj *list, const char *resource)
{
	const char *slash = strchr(resource, '/');
	for (size_t i = 0; slash && i < obj_len(list); i++) {
		const char *s = obj_as_string(obj_at(list, i));
		c->comparisons++;
		if (s && s[0] == '*' && cstr_eq(s + 1, slash))
			return true;
	}
	return false;
}

static bool covers(struct cover *c, const struct obj *rule, enum dimension d, const char *item)
{
	const struct obj *list = obj_get(rule, keys[d]);
	c->comparisons++;
	switch (d) {
	case NAME:
		return !obj_len(list) || (*item && has(c, list, item));
	case RESOURCE:
		return has(c, list, "*") || has(c, list, item) || has_subresource(c, list, item);
	case VERB:
	case GROUP:
	case N_DIMENSIONS:
		break;
	}
	return has(c, list, "*") || has(c, list, item);
}

static const char *right_text(const struct cover *c)
{
	const char *const *x = c->chosen;
	const char *names =
		*x[NAME] ? arena_fmt(c->arena, ", ResourceNames:[\"%s\"]", x[NAME]) : "";
	return arena_fmt(c->arena, "{APIGroups:[\"%s\"], Resources:[\"%s\"]%s, Verbs:[\"%s\"]}",
			 x[GROUP], x[RESOURCE], names, x[VERB]);
}

static const char *item_at(const struct obj *list, size_t i)
{
	const char *s = obj_as_string(obj_at(list, i));
	return s ? s : "";
}

/* Of the rules that cover what is chosen so far, those that cover the item too. */
static struct owned_list narrow(struct cover *c, const struct owned_list *from, enum dimension d)
{
	struct owned_list to = {.items = c->narrowed[d]};
	for (size_t i = 0; i < from->n && !is_spent(c); i++)
		if (covers(c, from->items[i].rule, d, c->chosen[d]))
			to.items[to.n++] = from->items[i];
	return to;
}

/* The first right of the rule, from dimension d on, that no rule of the list covers.
 * NOLINTNEXTLINE(misc-no-recursion): N_DIMENSIONS deep */
static const char *missing_from(struct cover *c, const struct obj *rule, enum dimension d,
				const struct owned_list *mine)
{
	const char *missing = NULL;
	if (d == N_DIMENSIONS)
		return mine->n ? NULL : right_text(c);
	const struct obj *list = obj_get(rule, keys[d]);
	size_t n = d == NAME && !obj_len(list) ? 1 : obj_len(list); /* no names: every name */
	for (size_t i = 0; i < n && !missing && !is_spent(c); i++) {
		c->chosen[d] = item_at(list, i);
		struct owned_list left = narrow(c, mine, d);
		missing = missing_from(c, rule, (enum dimension)(d + 1), &left);
	}
	return missing;
}

static bool holds_url(struct cover *c, const struct owned_list *mine, const char *verb,
		      const char *url)
{
	for (size_t i = 0; i < mine->n && !is_spent(c); i++) {
		const struct obj *urls = obj_get(mine->items[i].rule, "nonResourceURLs");
		c->comparisons += obj_len(urls);
		if (mine->items[i].cluster_wide && covers(c, mine->items[i].rule, VERB, verb) &&
		    rbac_path_matches(urls, url))
			return true;
	}
	return false;
}

static const char *missing_url(struct cover *c, const struct obj *rule,
			       const struct owned_list *mine)
{
	const struct obj *verbs = obj_get(rule, "verbs"), *urls = obj_get(rule, "nonResourceURLs");
	for (size_t i = 0; i < obj_len(urls); i++)
		for (size_t j = 0; j < obj_len(verbs) && !is_spent(c); j++)
			if (!holds_url(c, mine, item_at(verbs, j), item_at(urls, i)))
				return arena_fmt(c->arena,
						 "{NonResourceURLs:[\"%s\"], Verbs:[\"%s\"]}",
						 item_at(urls, i), item_at(verbs, j));
	return NULL;
}

const char *rbac_missing(const struct rbac_source *s, const struct user_info *u, const char *ns,
			 const struct obj *rules, struct arena *arena)
{
	struct cover c = {.arena = arena};
	struct owned_list mine = {NULL, 0, 0};
	const char *missing = NULL;
	if (rbac_is_master(u))
		return NULL;
	rbac_visit(s, u, ns, arena, gather, &mine);
	for (size_t d = 0; d < N_DIMENSIONS; d++)
		c.narrowed[d] = xcalloc(mine.n + 1, sizeof(*c.narrowed[d]));
	for (size_t i = 0; i < obj_len(rules) && !missing; i++) {
		missing = missing_from(&c, obj_at(rules, i), VERB, &mine);
		if (!missing)
			missing = missing_url(&c, obj_at(rules, i), &mine);
	}
	for (size_t d = 0; d < N_DIMENSIONS; d++)
		xfree(c.narrowed[d]);
	xfree(mine.items);
	return is_spent(&c) ? "too many rights to compare: write them as several roles" : missing;
}
