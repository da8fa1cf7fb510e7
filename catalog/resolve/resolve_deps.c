/*
 * Predicate 14 (lifecycle.md 2.4): the packages that a version requires, and theirs, go together
 * with what is installed. An installed app is a package that is present: its version first, then
 * what it may become by itself. The facts and their sentences are made here, solve.c searches.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/resolve/resolve_internal.h"
#include "catalog/resolve/resolve_relax.h"
#include "catalog/resolve/solve.h"

#define NODES_MAX SOLVE_PACKAGES_MAX

struct node {
	const char *name;           /* in sentences: the app if there is one */
	const char *app, *self_ref; /* app NULL: the package names no app type */
	const char *package, *catalog;
	const struct resolve_claim *claim; /* it is installed or begun */
	struct resolver *r;                /* its own; its candidates are the values */
	struct candidate **values;         /* value 1 is values[0] */
	size_t n;
};

struct need { /* these versions of a node require a resource from another one */
	size_t node, to;
	const char *resource, *versions;
	uint64_t *values; /* of node, a bit each */
};

struct search {
	struct resolver *r;
	struct arena *a;
	struct solve *solve;
	struct node *nodes;
	size_t n_nodes, cap_nodes;
	struct need *needs;
	size_t n_needs, cap_needs;
	bool too_many;
};

static void release(void *p)
{
	struct search *x = p;
	solve_free(x->solve);
	xfree(x->nodes);
	xfree(x->needs);
}

/* --- words --- */

/* "web 2.0.0", "web 1.0.0, 1.1.0 and 1.2.0", "every version of web" */
static const char *versions_text(const struct search *x, const struct node *n, const uint64_t *set)
{
	const char *text = n->name;
	size_t total = 0, said = 0;
	for (size_t v = 1; v <= n->n; v++)
		total += solve_set_has(set, v);
	if (total == n->n && total > 1)
		return arena_fmt(x->a, "every version of %s", n->name);
	for (size_t v = 1; v <= n->n && said < 3; v++) {
		if (!solve_set_has(set, v))
			continue;
		const char *sep = !said ? " " : said + 1 == total ? " and " : ", ";
		said++;
		text = arena_fmt(x->a, "%s%s%s", text, sep, n->values[v - 1]->version);
	}
	return total > 3 ? arena_fmt(x->a, "%s and %zu others", text, total - 3) : text;
}

/* --- nodes --- */

static bool node_serves(const struct node *n, size_t value, const char *resource)
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

static size_t add_node(struct search *x, struct node n)
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

static size_t node_of_claim(struct search *x, const struct resolve_claim *claim)
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
	return add_node(x, n);
}

/* The app that would be made for a package: nothing set but what makes it that app. */
static size_t node_of_provider(struct search *x, const struct resolve_provider *p)
{
	size_t known = find_node(x, p->app_type, p->package);
	const struct resolve_claim *claim = claims_app(x->r, p->app_type);
	if (known != SIZE_MAX)
		return known;
	if (claim)
		return node_of_claim(x, claim);
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
	return add_node(x, n);
}

/* --- requirements --- */

static uint64_t *one_value(struct search *x, size_t node, size_t value)
{
	uint64_t *set = solve_set(x->solve, node);
	solve_set_add(set, value);
	return set;
}

static void add_need(struct search *x, size_t node, size_t value, size_t to,
		     const struct package_requirement *q)
{
	for (size_t i = x->n_needs; i > 0 && x->needs[i - 1].node == node; i--) {
		struct need *n = &x->needs[i - 1];
		bool same_range = n->versions && q->versions ? !strcmp(n->versions, q->versions)
							     : n->versions == q->versions;
		if (n->to == to && same_range && !strcmp(n->resource, q->resource)) {
			solve_set_add(n->values, value);
			return;
		}
	}
	ARRAY_GROW(x->needs, x->cap_needs, x->n_needs + 1);
	x->needs[x->n_needs++] = (struct need){.node = node,
					       .to = to,
					       .resource = q->resource,
					       .versions = q->versions,
					       .values = one_value(x, node, value)};
}

static const char *need_text(const struct search *x, const struct node *n, const uint64_t *values,
			     const char *resource)
{
	size_t total = 0;
	for (size_t v = 1; v <= n->n; v++)
		total += solve_set_has(values, v);
	return arena_fmt(x->a, "%s require%s %s", versions_text(x, n, values),
			 total > 1 && total < n->n ? "" : "s", resource);
}

static void unary(struct search *x, size_t node, const uint64_t *set, const char *text,
		  const void *tag)
{
	solve_fact(x->solve, text, tag, &(struct solve_term){node, set}, 1);
}

/* Is it there without anybody's doing: a live CRD that no app owns? */
static bool is_served_unowned(const struct search *x, const char *resource)
{
	const struct resolve_input *in = x->r->in;
	if (!resolver_is_served(x->r, resource))
		return false;
	const struct resolve_crd *crd = in->crd(in->arg, resolver_crd_name(x->a, resource));
	return !crd->owner || crd->released || !claims_app(x->r, crd->owner);
}

static const struct resolve_claim *claim_serving(const struct search *x, const char *resource)
{
	const struct resolve_claim *claim = claims_crd(x->r, resource);
	for (const char *const *m = claim ? claim->managed : NULL; m && *m; m++)
		if (!strcmp(*m, resource))
			return claim;
	return NULL;
}

static void require(struct search *x, size_t node, size_t value,
		    const struct package_requirement *q)
{
	struct resolve_provider p = {0};
	const struct resolve_claim *claim = claim_serving(x, q->resource);
	if (q->optional || node_serves(&x->nodes[node], value, q->resource))
		return;
	size_t to = 0;
	if (node && resolver_manages(x->nodes[0].values[0], q->resource)) {
		add_need(x, node, value, 0, q);
		return;
	}
	if (claim)
		to = node_of_claim(x, claim);
	else if (is_served_unowned(x, q->resource))
		return;
	else
		resolve_find_provider(x->r->in, q->resource, NULL, x->a, &p);
	if (p.package)
		to = node_of_provider(x, &p);
	if (x->too_many)
		return;
	if (claim || p.package) {
		add_need(x, node, value, to, q);
		return;
	}
	uint64_t *set = one_value(x, node, value);
	unary(x, node, set,
	      arena_fmt(x->a, "%s, and %s", need_text(x, &x->nodes[node], set, q->resource),
			p.message),
	      NULL);
}

static bool in_range(const struct search *x, const char *text, const struct version *v)
{
	struct range range;
	struct error err;
	return !text || !*text || !strcmp(text, "*") ||
	       (range_parse(str_of(text), x->a, &range, &err) == 0 && range_matches(&range, v));
}

/* "... from cert-manager >=1.14", and the fact that nothing else will do. */
static void emit_need(struct search *x, const struct need *n)
{
	const struct node *from = &x->nodes[n->node], *to = &x->nodes[n->to];
	uint64_t *others = solve_set(x->solve, n->to);
	size_t n_fit = 0;
	solve_set_add(others, 0);
	for (size_t v = 1; v <= to->n; v++) {
		bool fits = node_serves(to, v, n->resource) &&
			    in_range(x, n->versions, &to->values[v - 1]->parsed);
		if (fits)
			n_fit++;
		else
			solve_set_add(others, v);
	}
	const char *text =
		arena_fmt(x->a, "%s from %s%s%s", need_text(x, from, n->values, n->resource),
			  to->name, n->versions ? " " : "", n->versions ? n->versions : "");
	if (!n_fit) {
		const char *has = to->n ? versions_text(x, to, others) : "none";
		unary(x, n->node, n->values, arena_fmt(x->a, "%s, and there is only %s", text, has),
		      NULL);
		return;
	}
	solve_fact(x->solve, text, NULL,
		   (struct solve_term[]){{n->node, n->values}, {n->to, others}}, 2);
}

/* --- what a package may become --- */

static const struct resolve_change *change_of(const struct search *x, const struct node *n,
					      const struct candidate *c)
{
	return n->app ? resolve_change_for(n->r, c, n->app, x->a) : NULL;
}

static bool is_approved(const struct resolve_input *in, const char *version)
{
	for (const char *const *v = in->approved; v && *v; v++)
		if (!strcmp(*v, version))
			return true;
	return false;
}

/* Why an installed app does not move by itself, and what would let it; NULL: it does. */
static const char *holds_still(const struct search *x, const struct node *n, const char *version,
			       enum resolve_change_type *ret)
{
	const struct resolve_input *in = n->r->in;
	const char *from = n->claim->version;
	if (in->paused) {
		*ret = CHANGE_RESUME;
		return arena_fmt(x->a, "%s %s is installed and paused, and stays", n->name, from);
	}
	if (!in->mode || !strcmp(in->mode, "Automatic") || is_approved(in, version))
		return NULL;
	*ret = strcmp(in->mode, "Manual") ? CHANGE_TO : CHANGE_APPROVE;
	return arena_fmt(x->a, "%s %s is installed, is %s, and %s is not %s", n->name, from,
			 *ret == CHANGE_TO ? "in mode None" : "Manual", version,
			 *ret == CHANGE_TO ? "asked for" : "approved");
}

static void emit_value(struct search *x, size_t node, size_t value)
{
	struct node *n = &x->nodes[node];
	const struct candidate *c = n->values[value - 1];
	enum resolve_change_type type;
	if (!node || c->installed)
		return;
	if (!c->installable) {
		unary(x, node, one_value(x, node, value),
		      arena_fmt(x->a, "%s %s is not installable: %s, %s", n->name, c->version,
				c->reason, c->message),
		      change_of(x, n, c));
		return;
	}
	if (!n->claim || !n->claim->version)
		return;
	const char *why = holds_still(x, n, c->version, &type);
	if (why)
		unary(x, node, one_value(x, node, value), why,
		      resolve_change_new(type, n->app, c->version, x->a));
}

/* --- what excludes each other --- */

static void refuse(struct search *x, size_t node, size_t value, size_t other,
		   const struct package_conflict *q)
{
	const struct node *to = &x->nodes[other];
	uint64_t *set = solve_set(x->solve, other);
	bool any = false;
	for (size_t v = 1; v <= to->n; v++)
		if (in_range(x, q->versions, &to->values[v - 1]->parsed)) {
			solve_set_add(set, v);
			any = true;
		}
	if (!any || node == other)
		return;
	const char *text =
		arena_fmt(x->a, "%s %s conflicts with %s%s%s", x->nodes[node].name,
			  x->nodes[node].values[value - 1]->version, q->package,
			  q->versions && *q->versions ? " " : "", q->versions ? q->versions : "");
	solve_fact(x->solve, text, NULL,
		   (struct solve_term[]){{node, one_value(x, node, value)}, {other, set}}, 2);
}

/* Installed apps that this package refuses, or that refuse it, take part. */
static void meet_conflicts(struct search *x, size_t node)
{
	const struct resolve_claims *claims = x->r->in->claims;
	size_t n = 0;
	const struct resolve_claim *const *f = NULL;
	const char *package = x->nodes[node].package;
	if (claims)
		f = claims_find(claims, CLAIM_REFUSAL, str_of(package), &n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(f[i]->self_ref, x->r->in->self_ref) != 0)
			node_of_claim(x, f[i]);
	for (size_t v = 0; claims && v < x->nodes[node].n; v++) {
		const struct package_version *e = x->nodes[node].values[v]->entry;
		for (size_t k = 0; e && k < e->n_conflicts; k++) {
			const char *other = e->conflicts[k].package;
			f = claims_find(claims, CLAIM_PACKAGE, str_of(other), &n);
			for (size_t i = 0; i < n; i++)
				if (strcmp(f[i]->self_ref, x->r->in->self_ref) != 0)
					node_of_claim(x, f[i]);
		}
	}
}

static void emit_conflicts(struct search *x, size_t node, size_t value)
{
	const struct package_version *e = x->nodes[node].values[value - 1]->entry;
	for (size_t k = 0; e && k < e->n_conflicts; k++)
		for (size_t i = 0; i < x->n_nodes; i++)
			if (!strcmp(x->nodes[i].package, e->conflicts[k].package))
				refuse(x, node, value, i, &e->conflicts[k]);
}

struct bringer {
	const char *crd;
	size_t node;
	uint64_t *values;
};

static int by_crd(const void *a, const void *b)
{
	const struct bringer *x = a, *y = b;
	int r = strcmp(x->crd, y->crd);
	return r ? r : (x->node > y->node) - (x->node < y->node);
}

/* What each version of each package brings; owned. */
static struct bringer *bringers(struct search *x, size_t *ret_n)
{
	struct bringer *all = NULL;
	size_t n = 0, cap = 0, n_managed;
	for (size_t i = 0; x->n_nodes > 1 && i < x->n_nodes; i++)
		for (size_t v = 1; v <= x->nodes[i].n; v++) {
			const char *const *m =
				resolver_managed(x->nodes[i].values[v - 1], &n_managed);
			ARRAY_GROW(all, cap, n + n_managed + 1);
			assert(all);
			for (size_t k = 0; k < n_managed; k++)
				all[n++] = (struct bringer){resolver_crd_name(x->a, m[k]), i,
							    one_value(x, i, v)};
		}
	*ret_n = n;
	return all;
}

/* Two packages for one CRD exclude each other. */
static void emit_shared_crds(struct search *x)
{
	size_t n = 0;
	struct bringer *all = bringers(x, &n);
	if (n)
		qsort(all, n, sizeof(*all), by_crd);
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) { /* one for each CRD and package */
		struct bringer *last = kept ? &all[kept - 1] : NULL;
		if (!last || by_crd(last, &all[i])) {
			all[kept++] = all[i];
			continue;
		}
		for (size_t w = 0; w < x->nodes[last->node].n / 64 + 1; w++)
			last->values[w] |= all[i].values[w];
	}
	for (size_t i = 0; i < kept; i++)
		for (size_t k = i + 1; k < kept && !strcmp(all[i].crd, all[k].crd); k++) {
			const struct bringer *p = &all[i], *q = &all[k];
			const char *text =
				arena_fmt(x->a, "%s and %s both bring %s",
					  versions_text(x, &x->nodes[p->node], p->values),
					  versions_text(x, &x->nodes[q->node], q->values), p->crd);
			solve_fact(
				x->solve, text, NULL,
				(struct solve_term[]){{p->node, p->values}, {q->node, q->values}},
				2);
		}
	xfree(all);
}

/* --- the search --- */

static void build(struct search *x)
{
	for (size_t i = 0; i < x->n_nodes && !x->too_many; i++) {
		meet_conflicts(x, i);
		for (size_t v = 1; v <= x->nodes[i].n && !x->too_many; v++) {
			const struct package_version *e = x->nodes[i].values[v - 1]->entry;
			for (size_t k = 0; e && k < e->n_requires && !x->too_many; k++)
				require(x, i, v, &e->requires[k]);
		}
	}
	for (size_t i = 0; i < x->n_needs; i++)
		emit_need(x, &x->needs[i]);
	for (size_t i = 0; i < x->n_nodes; i++)
		for (size_t v = 1; v <= x->nodes[i].n; v++) {
			emit_value(x, i, v);
			emit_conflicts(x, i, v);
		}
	emit_shared_crds(x);
}

/* The range for the spec of an app that is made: what is required of it, or exactly the version
 * found if that would not be the first to fit. */
static const char *range_for(const struct search *x, size_t node, size_t value)
{
	const char *range = NULL;
	for (size_t i = 0; i < x->n_needs; i++) {
		const struct need *n = &x->needs[i];
		size_t v = solve_value(x->solve, n->node);
		if (n->to != node || !n->versions || !v || !solve_set_has(n->values, v) ||
		    strstr(n->versions, "||"))
			continue;
		range = range ? arena_fmt(x->a, "%s, %s", range, n->versions) : n->versions;
	}
	for (size_t v = 1; v < value; v++)
		if (x->nodes[node].values[v - 1]->installable &&
		    in_range(x, range, &x->nodes[node].values[v - 1]->parsed))
			return arena_fmt(x->a, "=%s", x->nodes[node].values[value - 1]->version);
	return range;
}

static void collect_answer(struct search *x, struct candidate *c)
{
	struct dependency *list = ARENA_ARRAY(x->a, struct dependency, x->n_nodes);
	for (size_t i = x->n_nodes; i-- > 1;) { /* found later: needed by the earlier */
		const struct node *n = &x->nodes[i];
		size_t v = solve_value(x->solve, i);
		if (!v)
			continue;
		const struct candidate *d = n->values[v - 1];
		bool there = n->claim && n->claim->version;
		list[c->n_dependencies++] = (struct dependency){.app = n->app,
								.self_ref = n->self_ref,
								.package = n->package,
								.catalog = n->catalog,
								.version = d->version,
								.entry = d->entry,
								.range = range_for(x, i, v),
								.add = !there,
								.upgrade = there && !d->installed};
	}
	c->dependencies = list;
}

static void explain(struct search *x, struct candidate *c, bool too_hard)
{
	struct solve_explanation e;
	solve_explain(x->solve, x->a, &e);
	const char **lines = ARENA_ARRAY(x->a, const char *, e.n + 1);
	size_t n = 0;
	for (size_t i = 0; i < e.n; i++) {
		const struct solve_line *l = &e.lines[i];
		bool last = i + 1 == e.n;
		const char *so = l->because[0] ? arena_fmt(x->a, "so (%zu, %zu) ", l->because[0],
							   l->because[1])
					       : "";
		if (last && e.n > 1)
			lines[n++] = arena_fmt(x->a, "%s%s", so, l->text);
		else
			lines[n++] = arena_fmt(x->a, "%zu. %s%s", i + 1, so, l->text);
		if (e.cut && i + 2 == e.n)
			lines[n++] = "(more lines are left out)";
	}
	c->explanation = lines;
	c->n_explanation = n;
	c->ways = (const struct resolve_change *const *)e.tags;
	c->n_ways = e.n_tags;
	if (too_hard) {
		resolver_fail(c, "ResolutionTooHard",
			      arena_fmt(x->a, "no answer after %lld decisions",
					(long long)solve_decisions(x->solve)),
			      NULL);
		return;
	}
	const char *why = e.n ? e.lines[0].text : "there is no way";
	resolver_fail(c, "DependencyUnresolved", why, NULL);
}

static bool is_alone(const struct resolver *r, const struct candidate *c)
{
	size_t n = 0;
	const struct resolve_claims *claims = r->in->claims;
	if (claims)
		claims_find(claims, CLAIM_REFUSAL, str_of(c->entry->package), &n);
	return !n && !c->entry->n_requires && !c->entry->n_conflicts;
}

bool predicate_has_dependencies(struct resolver *r, struct candidate *c)
{
	if (r->without_deps || !c->entry || is_alone(r, c))
		return true;
	struct search *x = ARENA_NEW(r->a, struct search);
	*x = (struct search){.r = r, .a = r->a, .solve = solve_new()};
	arena_defer(r->a, release, x);
	struct node root = {.name = r->in->app,
			    .app = r->in->app,
			    .self_ref = r->in->self_ref,
			    .package = c->entry->package,
			    .r = r,
			    .n = 1};
	root.values = ARENA_NEW(r->a, struct candidate *);
	root.values[0] = c;
	add_node(x, root);
	build(x);
	enum solve_result result = SOLVE_TOO_HARD;
	if (!x->too_many)
		result = solve_run(x->solve, 0, 1);
	r->decisions += solve_decisions(x->solve);
	if (result == SOLVE_YES) {
		collect_answer(x, c);
		return true;
	}
	explain(x, c, result == SOLVE_TOO_HARD);
	return false;
}
