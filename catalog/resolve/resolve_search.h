/*
 * resolve_search: the packages that take part in one search for dependencies (predicate 14), each with
 * what it may be. Private to resolve_deps.c, which says what goes together, and resolve_exclude.c,
 * which says what does not. An installed app is a package that is present: its version first, then
 * what it may become by itself. All of it lives in the arena and solver of the search.
 */
#ifndef CATALOG_RESOLVE_RESOLVE_SEARCH_H
#define CATALOG_RESOLVE_RESOLVE_SEARCH_H

#include "catalog/resolve/resolve_internal.h"
#include "catalog/resolve/solve.h"

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

/* The index of a new node; too_many is set, and it is 0, beyond NODES_MAX and SOLVE_VERSIONS_MAX. */
size_t search_add(struct search *x, struct node n);
/* The node of an installed app, or of the app that would be made for a package: known or new. */
size_t search_claim(struct search *x, const struct resolve_claim *claim);
size_t search_provider(struct search *x, const struct resolve_provider *p);
/* Does this version of the node serve the resource? Values count from 1. */
bool search_serves(const struct node *n, size_t value, const char *resource);
/* A set with that value alone. */
uint64_t *search_value(struct search *x, size_t node, size_t value);
/* "web 2.0.0", "web 1.0.0, 1.1.0 and 1.2.0", "every version of web" */
const char *search_versions(const struct search *x, const struct node *n, const uint64_t *set);
/* The same, but all of them are named, too: where none of them will do. */
const char *search_named(const struct search *x, const struct node *n, const uint64_t *set);
/* text: NULL, "" and "*" are all versions; what is no range is none. */
bool search_in_range(const struct search *x, const char *text, const struct version *v);

/* resolve_exclude.c: installed apps that a node refuses, or that refuse it, take part. */
void search_meet_conflicts(struct search *x, size_t node);
/* What this version conflicts with; and what brings the same CRD as another. */
void search_emit_conflicts(struct search *x, size_t node, size_t value);
void search_emit_shared_crds(struct search *x);

#endif
