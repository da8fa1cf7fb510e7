#include "catalog/lint.h"

#include <string.h>

struct linter {
	const struct catalog_index *x;
	struct arena *a;
	struct lint *ret;
	size_t cap;
};

static void add(struct linter *l, enum lint_level level, const char *rule, const char *where,
		const char *text, const char *remedy)
{
	struct lint *r = l->ret;
	if (r->n == l->cap) {
		l->cap = mem_grown(l->cap, r->n + 1);
		struct lint_finding *grown = ARENA_ARRAY(l->a, struct lint_finding, l->cap);
		if (r->n)
			memcpy(grown, r->items, r->n * sizeof(*grown));
		r->items = grown;
	}
	r->items[r->n++] = (struct lint_finding){level, rule, where, text, remedy};
	if (level == LINT_ERROR)
		r->n_errors++;
	else
		r->n_warnings++;
}

static bool has(const char **list, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], s))
			return true;
	return false;
}

/* A declared resource whose CRD is absent from the chart, or not served there. */
static void check_provides(struct linter *l, const struct package_version *p)
{
	for (size_t i = 0; i < p->n_provides; i++)
		if (!has(p->own_crds, p->n_own_crds, p->provides[i]))
			add(l, p->n_own_crds ? LINT_ERROR : LINT_WARN, "provides", p->locator,
			    arena_fmt(l->a, "%s %.*s provides %s, which no CRD of the chart serves",
				      p->package, STR_ARG(p->version.text), p->provides[i]),
			    "add the CRD to crds/ or take the resource out of alm.yaml");
}

static bool is_new_major(const struct version *from, const struct version *to)
{
	return to->major > from->major;
}

/* Resources of the version before are gone without a higher major version. */
static void check_drop(struct linter *l, const struct package_version *old,
		       const struct package_version *new)
{
	if (is_new_major(&old->version, &new->version))
		return;
	for (size_t i = 0; i < old->n_provides; i++)
		if (!package_provides(new, old->provides[i]))
			add(l, LINT_ERROR, "drop-in-minor", new->locator,
			    arena_fmt(l->a, "%s %.*s drops %s of %.*s", new->package,
				      STR_ARG(new->version.text), old->provides[i],
				      STR_ARG(old->version.text)),
			    arena_fmt(l->a, "keep it, or publish as %llu.0.0",
				      (unsigned long long)old->version.major + 1));
}

static bool declares_edges(const struct package_version *p)
{
	return p->replaces || p->n_skips || p->skip_range;
}

static bool is_known(struct package_version *const *all, size_t n, const char *version)
{
	for (size_t i = 0; i < n; i++)
		if (str_is(all[i]->version.text, version))
			return true;
	return false;
}

static bool is_left_by(const struct package_version *from, const struct package_version *to,
		       struct arena *a)
{
	struct error err;
	if (!declares_edges(to))
		return version_cmp(&from->version, &to->version) < 0;
	if (to->replaces && str_is(from->version.text, to->replaces))
		return true;
	for (size_t i = 0; i < to->n_skips; i++)
		if (str_is(from->version.text, to->skips[i]))
			return true;
	struct range *range = ARENA_NEW(a, struct range);
	return to->skip_range && range_parse(str_of(to->skip_range), a, range, &err) == 0 &&
	       range_matches(range, &from->version);
}

/* all stands newest first: a version that nothing newer leads away from, and is not the head. */
static void check_edges(struct linter *l, struct package_version *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct package_version *p = all[i];
		bool left = i == 0;
		for (size_t k = 0; k < i && !left; k++)
			left = is_left_by(p, all[k], l->a);
		if (!left)
			add(l, LINT_WARN, "dead-end", p->locator,
			    arena_fmt(l->a, "no upgrade edge leads from %s %.*s to a newer version",
				      p->package, STR_ARG(p->version.text)),
			    "name it in replaces, skips or skipRange of a newer version");
		if (p->replaces && !is_known(all, n, p->replaces))
			add(l, LINT_WARN, "shadowed", p->locator,
			    arena_fmt(l->a, "%s %.*s replaces %s, which the catalog does not have",
				      p->package, STR_ARG(p->version.text), p->replaces),
			    "correct replaces, or add that version");
	}
}

static void check_package(struct linter *l, struct package_version *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct package_version *p = all[i];
		if (p->ambiguous)
			add(l, LINT_ERROR, "duplicate", p->locator, p->ambiguous,
			    "remove one of the archives");
		check_provides(l, p);
		if (i + 1 < n)
			check_drop(l, all[i + 1], p);
	}
	check_edges(l, all, n);
}

/* Somebody must provide what a package requires. */
static void check_requires(struct linter *l)
{
	for (size_t i = 0; i < l->x->n; i++) {
		const struct package_version *p = l->x->versions[i];
		for (size_t k = 0; k < p->n_requires; k++) {
			bool found = p->
					     requires[
						     k]
						     .optional;
			for (size_t m = 0; m < l->x->n && !found; m++)
				found = package_provides(l->x->versions[m],
							 p->requires[k].resource);
			if (!found)
				add(l, LINT_WARN, "requires-nobody", p->locator,
				    arena_fmt(l->a,
					      "%s %.*s requires %s, which no package here provides",
					      p->package, STR_ARG(p->version.text),
					      p->requires[k].resource),
				    "add a package that provides it, or mark it optional");
		}
	}
}

void lint_index(const struct catalog_index *x, struct arena *a, struct lint *ret)
{
	struct linter l = {.x = x, .a = a, .ret = ret};
	*ret = (struct lint){0};
	for (size_t i = 0; i < x->n_rejected && i < INDEX_REJECTED_MAX; i++)
		add(&l, LINT_ERROR, "descriptor", x->rejected[i], "the entry cannot be used",
		    "correct it and build the package again");
	for (size_t i = 0, end; i < x->n; i = end) {
		for (end = i + 1;
		     end < x->n && !strcmp(x->versions[i]->package, x->versions[end]->package);)
			end++;
		check_package(&l, x->versions + i, end - i);
	}
	check_requires(&l);
}
