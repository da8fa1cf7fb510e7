#include "catalog/resolve/resolve_search.h"

#include <stdlib.h>
#include <string.h>

#include "catalog/resolve/resolve_internal.h"
#include "catalog/resolve/resolve_relax.h"
#include "catalog/resolve/solve.h"

#define NODES_MAX SOLVE_PACKAGES_MAX

static size_t count(const struct node *n, const uint64_t *set)
{
	size_t total = 0;
	for (size_t v = 1; v <= n->n; v++)
		total += solve_set_has(set, v);
	return total;
}

const char *search_versions(const struct search *x, const struct node *n, const uint64_t *set)
{
	if (n->n > 1 && count(n, set) == n->n)
		return arena_fmt(x->a, "every version of %s", n->name);
	return search_named(x, n, set);
}

const char *search_named(const struct search *x, const struct node *n, const uint64_t *set)
{
	const char *text = n->name;
	size_t total = count(n, set), said = 0;
	for (size_t v = 1; v <= n->n && said < 3; v++) {
		if (!solve_set_has(set, v))
			continue;
		const char *sep = !said ? " " : said + 1 == total ? " and " : ", ";
		said++;
		text = arena_fmt(x->a, "%s%s%s", text, sep, n->values[v - 1]->version);
	}
	return total > 3 ? arena_fmt(x->a, "%s and %zu others", text, total - 3) : text;
}

bool search_serves(const struct node *n, size_t value, const char *resource)
{
	const struct candidate *c = n->values[value - 1];
	if (n->claim && c->installed) {
		for (const char *const *m = n->claim->managed; m && *m; m++)
			if (!strcmp(*m, resource))
				return true;
		return false;
	}
	return resolver_manages(c, resource);
}

size_t search_add(struct search *x, struct node n)
{
	if (x->n_nodes >= NODES_MAX || n.n > SOLVE_VERSIONS_MAX) {
		x->too_many = true;
		return 0;
	}
	const char **versions = ARENA_ARRAY(x->a, const char *, n.n + 1);
	for (size_t i = 0; i < n.n; i++)
		versions[i] = n.values[i]->version;
	ARRAY_GROW(x->nodes, x->cap_nodes, x->n_nodes + 1);
	x->nodes[x->n_nodes] = n;
	solve_package(x->solve, n.name, versions, n.n, n.claim && n.claim->version);
	return x->n_nodes++;
}

static int by_preference(const void *a, const void *b)
{
	const struct candidate *const *x = a, *const *y = b;
	if ((*x)->installed != (*y)->installed)
		return (*x)->installed ? -1 : 1;
	if (resolver_prefers(*x, *y))
		return -1;
	return resolver_prefers(*y, *x) ? 1 : (*x > *y) - (*x < *y);
}

/* All that this app could be: what is installed, else what is newer. */
static void fill_values(struct search *x, struct node *n)
{
	n->values = ARENA_ARRAY(x->a, struct candidate *, n->r->n + 1);
	for (size_t i = 0; i < n->r->n; i++) {
		struct candidate *c = &n->r->candidates[i];
		if (n->r->in->installed_version && !c->installed &&
		    version_cmp(&c->parsed, &n->r->installed) <= 0)
			continue;
		if (!c->installed && resolver_judge_index(n->r, c))
			resolver_judge_rest(n->r, c);
		n->values[n->n++] = c;
	}
	if (n->n)
		qsort(n->values, n->n, sizeof(*n->values), by_preference);
}

static struct resolver *resolver_of(struct search *x, const struct resolve_input *in,
				    const char **ret_catalog)
{
	struct resolution ignored;
	struct resolver *r = ARENA_NEW(x->a, struct resolver);
	resolver_setup(r, in, x->a, &ignored);
	r->without_deps = true;
	*ret_catalog = ignored.catalog;
	return r;
}

/* An installed app that nobody can tell more about. */
static struct resolver *fixed_resolver(struct search *x, const struct resolve_claim *claim)
{
	struct resolver *r = ARENA_NEW(x->a, struct resolver);
	struct error err;
	*r = (struct resolver){.in = x->r->in, .a = x->a, .without_deps = true};
	r->candidates = ARENA_NEW(x->a, struct candidate);
	r->candidates->version = claim->version ? claim->version : "";
	r->candidates->installed = true;
	r->candidates->entry = claim->entry;
	if (version_parse(str_of(r->candidates->version), VERSION_LOOSE, &r->candidates->parsed,
			  &err) < 0)
		r->candidates->parsed = (struct version){0};
	r->n = 1;
	return r;
}

static size_t find_node(const struct search *x, const char *self_ref, const char *package)
{
	for (size_t i = 0; i < x->n_nodes; i++) {
		const struct node *n = &x->nodes[i];
		if (self_ref && n->self_ref ? !strcmp(n->self_ref, self_ref)
					    : package && !strcmp(n->package, package))
			return i;
	}
	return SIZE_MAX;
}

size_t search_claim(struct search *x, const struct resolve_claim *claim)
{
	size_t known = find_node(x, claim->self_ref, NULL);
	if (known != SIZE_MAX)
		return known;
	const struct resolve_input *in = x->r->in, *its = NULL;
	if (in->other)
		its = in->other(in->arg, claim->app);
	struct node n = {.name = claim->app,
			 .app = claim->app,
			 .self_ref = claim->self_ref,
			 .package = claim->entry ? claim->entry->package : claim->app,
			 .claim = claim};
	n.r = its ? resolver_of(x, its, &n.catalog) : fixed_resolver(x, claim);
	fill_values(x, &n);
	return search_add(x, n);
}

/* The app that would be made for a package: nothing set but what makes it that app. */
size_t search_provider(struct search *x, const struct resolve_provider *p)
{
	size_t known = find_node(x, p->app_type, p->package);
	const struct resolve_claim *claim = claims_app(x->r, p->app_type);
	if (known != SIZE_MAX)
		return known;
	if (claim)
		return search_claim(x, claim);
	struct resolve_input *in = arena_memdup(x->a, x->r->in, sizeof(*in));
	const char *dot = strchr(p->app_type, '.');
	*in = (struct resolve_input){.package = p->package,
				     .self_ref = p->app_type,
				     .kube_version = x->r->in->kube_version,
				     .indexes = x->r->in->indexes,
				     .n_indexes = x->r->in->n_indexes,
				     .claims = x->r->in->claims,
				     .mode = x->r->in->mode,
				     .now_ns = x->r->in->now_ns,
				     .crd = x->r->in->crd,
				     .usage = x->r->in->usage,
				     .unmet = x->r->in->unmet,
				     .arg = x->r->in->arg};
	in->app = dot ? arena_strndup(x->a, p->app_type, (size_t)(dot - p->app_type)) : p->app_type;
	struct node n = {
		.name = p->package, .app = in->app, .self_ref = p->app_type, .package = p->package};
	n.r = resolver_of(x, in, &n.catalog);
	fill_values(x, &n);
	return search_add(x, n);
}

uint64_t *search_value(struct search *x, size_t node, size_t value)
{
	uint64_t *set = solve_set(x->solve, node);
	solve_set_add(set, value);
	return set;
}

bool search_in_range(const struct search *x, const char *text, const struct version *v)
{
	struct range range;
	struct error err;
	return !text || !*text || !strcmp(text, "*") ||
	       (range_parse(str_of(text), x->a, &range, &err) == 0 && range_matches(&range, v));
}
