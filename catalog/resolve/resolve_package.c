/* Which package serves an app, its candidates in order, and the paths of upgrade edges. */
#include <stdlib.h>
#include <string.h>

#include "catalog/resolve/resolve_internal.h"

const char *const *resolver_managed(const struct candidate *c, size_t *ret_n)
{
	*ret_n = 0;
	if (c->manual) {
		while (c->manual->resources && c->manual->resources[*ret_n])
			(*ret_n)++;
		return c->manual->resources;
	}
	if (!c->entry)
		return NULL;
	*ret_n = c->entry->n_provides;
	return (const char *const *)c->entry->provides;
}

static bool has(const char *const *list, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], s))
			return true;
	return false;
}

bool resolver_manages(const struct candidate *c, const char *resource)
{
	size_t n;
	const char *const *all = resolver_managed(c, &n);
	return has(all, n, resource);
}

bool resolver_brings(const struct candidate *c, const char *resource)
{
	return c->entry &&
	       has((const char *const *)c->entry->own_crds, c->entry->n_own_crds, resource);
}

/* --- package and catalog --- */

struct choice {
	const char *package;
	const struct catalog_index *index;
};

static bool carries(const struct catalog_index *x, const char *package)
{
	size_t n;
	index_package(x, package, &n);
	return n > 0;
}

static const struct catalog_index *index_named(const struct resolve_input *in, const char *name)
{
	for (size_t i = 0; name && i < in->n_indexes; i++)
		if (!strcmp(in->indexes[i]->name, name))
			return in->indexes[i];
	return NULL;
}

/* The highest priority among the catalogs that carry the package; NULL: none, or *ret_equal has the
 * same. */
static const struct catalog_index *resolver_choose_index(const struct resolve_input *in,
							 const char *package,
							 const struct catalog_index **ret_first,
							 const struct catalog_index **ret_equal)
{
	const struct catalog_index *best = NULL, *equal = NULL;
	for (size_t i = 0; i < in->n_indexes; i++) {
		const struct catalog_index *x = in->indexes[i];
		if (!carries(x, package))
			continue;
		if (!best || x->priority > best->priority) {
			best = x;
			equal = NULL;
		} else if (x->priority == best->priority) {
			equal = x;
		}
	}
	*ret_first = best;
	*ret_equal = equal;
	return equal ? NULL : best;
}

static const struct catalog_index *choose_index(const struct resolve_input *in, const char *package,
						struct arena *a, struct resolution *ret)
{
	const struct catalog_index *first, *equal;
	const struct catalog_index *best = resolver_choose_index(in, package, &first, &equal);
	if (equal) {
		ret->reason = "AmbiguousSource";
		ret->message = arena_fmt(
			a, "package %s is in %s and %s with equal priority; set spec.catalog",
			package, first->name, equal->name);
	}
	return best;
}

/* The package whose descriptor names the selfRef, else the one named like the app. */
static const char *find_package(const struct resolve_input *in, struct arena *a,
				struct resolution *ret)
{
	const char *found = NULL, *equal = NULL;
	int64_t priority = 0;
	for (size_t i = 0; i < in->n_indexes; i++) {
		const struct catalog_index *x = in->indexes[i];
		size_t n;
		const struct index_ref *f = index_by_app_type(x, in->self_ref, &n);
		for (size_t k = 0; k < n; k++) {
			bool other = found && strcmp(found, f[k].package) != 0;
			if (!found || x->priority > priority) {
				found = f[k].package;
				priority = x->priority;
				equal = NULL;
			} else if (other && x->priority == priority) {
				equal = f[k].package;
			}
		}
	}
	if (equal) {
		ret->reason = "AmbiguousProvider";
		ret->message = arena_fmt(a, "packages %s and %s both install %s; set spec.package",
					 found, equal, in->self_ref);
		return NULL;
	}
	for (size_t i = 0; !found && i < in->n_indexes; i++) {
		size_t n;
		struct package_version *const *all = index_package(in->indexes[i], in->app, &n);
		for (size_t k = 0; k < n; k++)
			if (!all[k]->app_type)
				found = in->app;
	}
	return found;
}

static const char *catalog_names(const struct resolve_input *in, struct arena *a)
{
	const char *names = "";
	for (size_t i = 0; i < in->n_indexes; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no index is NULL */
		names = arena_fmt(a, "%s%s%s", names, *names ? ", " : "", in->indexes[i]->name);
	return *names ? names : "none";
}

static bool has_package(const struct catalog_index *x, const char *package)
{
	size_t n;
	index_package(x, package, &n);
	return n > 0;
}

static struct choice choose(const struct resolve_input *in, struct arena *a, struct resolution *ret)
{
	struct choice c = {.package = in->package ? in->package : in->installed_package};
	if (!c.package)
		c.package = find_package(in, a, ret);
	if (!c.package && !ret->reason && in->catalog && !index_named(in, in->catalog)) {
		ret->reason = "NoPackage";
		ret->message = arena_fmt(a, "catalog %s was not read (read: %s)", in->catalog,
					 catalog_names(in, a));
	} else if (!c.package && !ret->reason) {
		ret->reason = "NoPackage";
		ret->message = arena_fmt(a, "no package installs %s (asked: %s); %s", in->self_ref,
					 catalog_names(in, a), resolver_where_packages_are(in, a));
	}
	if (!c.package)
		return c;
	const char *wanted = in->catalog ? in->catalog : in->installed_catalog;
	if (wanted)
		c.index = index_named(in, wanted);
	if (!c.index && !in->catalog)
		c.index = choose_index(in, c.package, a, ret);
	if (!c.index && !ret->reason) {
		ret->reason = in->n_unsynced ? "CatalogNotReady" : "NoPackage";
		ret->message =
			arena_fmt(a, "package %s is in no catalog that was read (asked: %s)",
				  c.package, in->catalog ? in->catalog : catalog_names(in, a));
	}
	if (c.index && !ret->reason && !in->installed_version && !in->n_manual &&
	    !has_package(c.index, c.package)) {
		ret->reason = "NoPackage";
		ret->message = arena_fmt(a,
					 "catalog %s has no package %s; spec.package names one of "
					 "its status.packageNames",
					 c.index->name, c.package);
	}
	return c;
}

/* --- candidates --- */

static int newest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int r = version_cmp(&y->parsed, &x->parsed);
	if (!r)
		r = (x->manual == NULL) - (y->manual == NULL);
	return r ? r : strcmp(x->version, y->version);
}

static void add_candidate(struct resolver *r, const char *version,
			  const struct package_version *entry, const char *catalog,
			  const struct resolve_manual *manual)
{
	struct error err;
	struct candidate *c = &r->candidates[r->n];
	*c = (struct candidate){
		.version = version, .entry = entry, .catalog = catalog, .manual = manual};
	if (entry && !manual)
		c->parsed = entry->version;
	else if (version_parse(str_of(version), VERSION_STRICT, &c->parsed, &err) < 0)
		c->malformed = arena_fmt(r->a, "\"%s\" is no version: %s", version, err.msg);
	c->installed = r->in->installed_version && !strcmp(version, r->in->installed_version);
	r->n++;
}

static bool is_among(const struct resolver *r, size_t n, const char *version)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(r->candidates[i].version, version))
			return true;
	return false;
}

static const struct package_version *entry_of_digest(const struct resolve_input *in,
						     const char *sha256, const char **ret_catalog)
{
	for (size_t i = 0; sha256 && i < in->n_indexes; i++) {
		const struct package_version *p = index_by_digest(in->indexes[i], str_of(sha256));
		if (p) {
			*ret_catalog = in->indexes[i]->name;
			return p;
		}
	}
	return NULL;
}

static void add_strategies(struct resolver *r, bool stored)
{
	for (size_t i = 0; i < r->in->n_manual; i++) {
		const struct resolve_manual *m = &r->in->manual[i];
		const char *catalog = NULL;
		const struct package_version *e = entry_of_digest(r->in, m->sha256, &catalog);
		if (m->stored == stored && !is_among(r, r->n, m->version))
			add_candidate(r, m->version, e, catalog, m);
	}
}

static void collect(struct resolver *r, const struct choice *choice)
{
	size_t n = 0;
	struct package_version *const *all = NULL;
	if (choice->index)
		all = index_package(choice->index, choice->package, &n);
	r->candidates = ARENA_ARRAY(r->a, struct candidate, n + r->in->n_manual + 2);
	add_strategies(r, false);
	size_t n_manual = r->n;
	bool has_installed = !r->in->installed_version;
	for (size_t i = 0; i < n; i++) {
		const char *version =
			arena_strndup(r->a, all[i]->version.text.ptr, all[i]->version.text.len);
		r->has_edges =
			r->has_edges || all[i]->replaces || all[i]->n_skips || all[i]->skip_range;
		if (!is_among(r, n_manual, version))
			add_candidate(r, version, all[i], choice->index->name, NULL);
	}
	add_strategies(r, true);
	for (size_t i = 0; i < r->n; i++)
		has_installed = has_installed || r->candidates[i].installed;
	if (!has_installed)
		add_candidate(r, r->in->installed_version, NULL, NULL, NULL);
	if (r->n && (r->in->n_manual || !has_installed))
		qsort(r->candidates, r->n, sizeof(struct candidate), newest_first);
}

struct candidate *resolver_find(const struct resolver *r, const char *version)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->candidates[i].version, version))
			return &r->candidates[i];
	return NULL;
}

/* --- the answer --- */

bool resolver_prefers(const struct candidate *c, const struct candidate *best)
{
	bool cd = c->entry && c->entry->deprecated, bd = best->entry && best->entry->deprecated;
	return cd != bd ? bd : version_cmp(&c->parsed, &best->parsed) > 0;
}

/* A reason that names a remedy is the resolution's too. */
static const char *blocked_reason(const struct candidate *c)
{
	static const char *const own[] = {"ResourceConflict", "ResourceMissing",
					  "DependencyUnresolved", "ResolutionTooHard"};
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (strcmp(c->reason, own[i]) == 0)
			return c->reason;
	return "NoCandidate";
}

static bool is_unasked(const struct candidate *c)
{
	return c->reason && !strcmp(c->reason, "NotEvaluated");
}

/* The first version on the way is the next to be installed: it is looked at whole. */
static void judge_first_hop(struct resolver *r, const struct resolution *ret)
{
	struct candidate *c = ret->n_path > 1 ? resolver_find(r, ret->path[0]) : NULL;
	if (!c || !is_unasked(c))
		return;
	c->reason = c->message = NULL;
	resolver_judge_rest(r, c);
}

static const char *first_message(const struct resolver *r)
{
	const struct candidate *c = r->n ? &r->candidates[0] : NULL;
	return c ? arena_fmt(r->a, "%s: %s: %s", c->version, c->reason, c->message)
		 : "the package has no version";
}

static void conclude(struct resolver *r, struct resolution *ret)
{
	const struct candidate *installed = NULL;
	struct candidate *chosen = NULL;
	for (size_t i = 0; i < r->n; i++) {
		struct candidate *c = &r->candidates[i];
		if (c->installed)
			installed = c;
		else if (c->installable && (!chosen || resolver_prefers(c, chosen)))
			chosen = c;
		if (!ret->available && !c->installed &&
		    (c->installable || c->safety || is_unasked(c)))
			ret->available = c;
	}
	if (chosen) {
		chosen->chosen = true;
		if (r->in->installed_version)
			ret->n_path = resolver_path(r, chosen, &ret->path);
		judge_first_hop(r, ret);
	}
	ret->chosen = chosen;
	if (ret->available && ret->available->safety)
		ret->blocked = ret->available;
	if (!ret->available)
		ret->available = installed;
	if (chosen) {
		ret->reason = "Resolved";
		ret->message = arena_fmt(r->a, "%s is the best of %zu candidate%s", chosen->version,
					 r->n, r->n == 1 ? "" : "s");
	} else if (installed) {
		ret->reason = "Resolved";
		ret->message = arena_fmt(r->a, "%s is installed, nothing newer is installable",
					 installed->version);
	} else if (ret->blocked) {
		ret->reason = blocked_reason(ret->blocked);
		ret->message = ret->blocked->summary;
	} else if (!ret->reason) {
		ret->reason = "NoCandidate";
		ret->message = first_message(r);
	}
}

/* Predicates 13 to 15 in order of preference until one candidate passes; and those asked for. */
static void evaluate(struct resolver *r, struct candidate **passed, size_t n)
{
	const char *asked = r->in->evaluate;
	bool found = false;
	for (size_t done = 0, i = 0; i < n; i++) {
		struct candidate *c = passed[i];
		bool wanted =
			c->manual || (asked && (!strcmp(asked, "*") || !strcmp(asked, c->version)));
		if (!wanted && (found || done >= RESOLVE_EVALUATED_MAX)) {
			resolver_fail(c, "NotEvaluated",
				      found ? "a preferred version is installable"
					    : "too many preferred versions were looked at",
				      NULL);
			continue;
		}
		resolver_judge_rest(r, c);
		done++;
		found = found || (c->installable && !c->installed);
	}
}

static int by_preference(const void *a, const void *b)
{
	const struct candidate *const *x = a, *const *y = b;
	if (resolver_prefers(*x, *y))
		return -1;
	return resolver_prefers(*y, *x) ? 1 : (*x > *y) - (*x < *y);
}

static void judge_all(struct resolver *r)
{
	struct candidate **passed = ARENA_ARRAY(r->a, struct candidate *, r->n);
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		if (resolver_judge_index(r, &r->candidates[i]))
			passed[n++] = &r->candidates[i];
	if (n > 1)
		qsort(passed, n, sizeof(struct candidate *), by_preference);
	evaluate(r, passed, n);
	for (size_t i = 0; i < r->n; i++) {
		struct candidate *c = &r->candidates[i];
		if (c->safety && !c->summary)
			c->summary =
				arena_fmt(r->a, "%s: %s: %s", c->version, c->reason, c->message);
	}
}

bool resolver_setup(struct resolver *r, const struct resolve_input *in, struct arena *a,
		    struct resolution *ret)
{
	struct error err;
	*r = (struct resolver){.in = in, .a = a};
	*ret = (struct resolution){0};
	if (in->unsupported) {
		ret->reason = "Unsupported";
		ret->message = in->unsupported;
		return false;
	}
	if (in->installed_version &&
	    version_parse(str_of(in->installed_version), VERSION_STRICT, &r->installed, &err) < 0)
		r->installed = (struct version){0};
	if (in->range && *in->range) {
		struct range *range = ARENA_NEW(a, struct range);
		if (range_parse(str_of(in->range), a, range, &err) < 0) {
			ret->reason = "NoCandidate";
			ret->message = arena_fmt(a, "spec.version: %s", err.msg);
			return false;
		}
		r->range = range;
	}
	struct choice choice = choose(in, a, ret);
	if (in->n_unsynced && !choice.index &&
	    (!ret->reason || strcmp(ret->reason, "AmbiguousSource") != 0)) {
		ret->reason = "CatalogNotReady";
		ret->not_ready = true;
	}
	ret->package = choice.package;
	ret->catalog = choice.index ? choice.index->name : NULL;
	ret->catalog_revision = choice.index ? choice.index->revision : NULL;
	collect(r, &choice);
	return true;
}

void resolve_run(const struct resolve_input *in, struct arena *a, struct resolution *ret)
{
	struct resolver r;
	if (!resolver_setup(&r, in, a, ret))
		return;
	judge_all(&r);
	ret->candidates = r.candidates;
	ret->n = r.n;
	ret->decisions = r.decisions;
	if (r.n)
		conclude(&r, ret);
	resolver_when(&r, ret);
}
