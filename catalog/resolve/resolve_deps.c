/*
 * Predicate 14 (lifecycle.md 2.4): the packages that a version requires, and theirs, go together
 * with what is installed. An installed app is a package that is present: its version first, then
 * what it may become by itself. The facts and their sentences are made here, solve.c searches.
 */
#include <string.h>

#include "catalog/resolve/resolve_internal.h"
#include "catalog/resolve/resolve_relax.h"
#include "catalog/resolve/resolve_search.h"
#include "catalog/resolve/solve.h"

static void release(void *p)
{
	struct search *x = p;
	solve_free(x->solve);
	xfree(x->nodes);
	xfree(x->needs);
}

/* --- requirements --- */

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
					       .values = search_value(x, node, value)};
}

static const char *need_text(const struct search *x, const struct node *n, const uint64_t *values,
			     const char *resource)
{
	size_t total = 0;
	for (size_t v = 1; v <= n->n; v++)
		total += solve_set_has(values, v);
	return arena_fmt(x->a, "%s require%s %s", search_versions(x, n, values),
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
	if (q->optional || search_serves(&x->nodes[node], value, q->resource))
		return;
	size_t to = 0;
	if (node && resolver_manages(x->nodes[0].values[0], q->resource)) {
		add_need(x, node, value, 0, q);
		return;
	}
	if (claim)
		to = search_claim(x, claim);
	else if (is_served_unowned(x, q->resource))
		return;
	else
		resolve_find_provider(x->r->in, q->resource, NULL, x->a, &p);
	if (p.package)
		to = search_provider(x, &p);
	if (x->too_many)
		return;
	if (claim || p.package) {
		add_need(x, node, value, to, q);
		return;
	}
	uint64_t *set = search_value(x, node, value);
	unary(x, node, set,
	      arena_fmt(x->a, "%s, and %s", need_text(x, &x->nodes[node], set, q->resource),
			p.message),
	      NULL);
}

/* "... from cert-manager >=1.14", and the fact that nothing else will do. */
static void emit_need(struct search *x, const struct need *n)
{
	const struct node *from = &x->nodes[n->node], *to = &x->nodes[n->to];
	uint64_t *others = solve_set(x->solve, n->to);
	size_t n_fit = 0;
	solve_set_add(others, 0);
	for (size_t v = 1; v <= to->n; v++) {
		bool fits = search_serves(to, v, n->resource) &&
			    search_in_range(x, n->versions, &to->values[v - 1]->parsed);
		if (fits)
			n_fit++;
		else
			solve_set_add(others, v);
	}
	const char *text =
		arena_fmt(x->a, "%s from %s%s%s", need_text(x, from, n->values, n->resource),
			  to->name, n->versions ? " " : "", n->versions ? n->versions : "");
	if (!n_fit) {
		const char *has = to->n ? search_named(x, to, others) : "none";
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
		unary(x, node, search_value(x, node, value),
		      arena_fmt(x->a, "%s %s is not installable: %s, %s", n->name, c->version,
				c->reason, c->message),
		      change_of(x, n, c));
		return;
	}
	if (!n->claim || !n->claim->version)
		return;
	const char *why = holds_still(x, n, c->version, &type);
	if (why)
		unary(x, node, search_value(x, node, value), why,
		      resolve_change_new(type, n->app, c->version, x->a));
}

/* --- the search --- */

static void build(struct search *x)
{
	for (size_t i = 0; i < x->n_nodes && !x->too_many; i++) {
		search_meet_conflicts(x, i);
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
			search_emit_conflicts(x, i, v);
		}
	search_emit_shared_crds(x);
}

/* The range for the spec of an app that is made: what is required of it, or exactly the version
 * found if that would not be the first to fit. */
static const char *range_for(const struct search *x, size_t node, size_t value)
{
	const char *range = NULL;
	for (size_t i = 0; i < x->n_needs; i++) {
		const struct need *n = &x->needs[i];
		size_t v = solve_value(x->solve, n->node);
		if (n->to != node || !n->versions || !solve_set_has(n->values, v) ||
		    strstr(n->versions, "||"))
			continue;
		range = range ? arena_fmt(x->a, "%s, %s", range, n->versions) : n->versions;
	}
	for (size_t v = 1; v < value; v++)
		if (x->nodes[node].values[v - 1]->installable &&
		    search_in_range(x, range, &x->nodes[node].values[v - 1]->parsed))
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
	search_add(x, root);
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
