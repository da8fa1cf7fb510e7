/* Predicates 10 to 13 and 15 of lifecycle.md 2.2: what a version manages, and who else cares. */
#include <string.h>

#include "catalog/resolve/resolve_internal.h"

/* --- 10: nothing managed is dropped --- */

static bool is_waived(const struct resolver *r, const char *rule, const char *resource)
{
	for (size_t i = 0; i < r->in->n_waivers; i++) {
		const struct resolve_waiver *w = &r->in->waivers[i];
		if (!strcmp(w->rule, rule) && !strcmp(w->resource, resource) &&
		    (!w->expires_ns || w->expires_ns > r->in->now_ns))
			return true;
	}
	return false;
}

static const char *resolver_usage_text(struct arena *a, const struct resolve_usage *u)
{
	if (!u->known)
		return "objects not counted, taken as in use";
	return arena_fmt(a, "%lld object%s%s", (long long)u->objects, u->objects == 1 ? "" : "s",
			 resolver_holds_objects(u) ? ", stored" : "");
}

/* storedVersions only says that there were some: where all are known and none is left, what is
 * dropped takes nothing with it. */
bool resolver_holds_objects(const struct resolve_usage *u)
{
	return u->stored && (!u->known || u->objects);
}

static void explain_drop(const struct resolver *r, struct candidate *c, const char *resource,
			 const struct resolve_usage *u)
{
	const char *text = resolver_usage_text(r->a, u);
	resolver_fail(c, "ResourceDropped",
		      arena_fmt(r->a, "%s: %s%s%s", resource, text,
				u->writer ? ", last written through by " : "",
				u->writer ? u->writer : ""),
		      resource);
	c->summary = arena_fmt(r->a, "%s drops %s (%s)", c->version, resource, text);
}

bool resolver_goes_back(const struct resolver *r, const struct candidate *c)
{
	return r->in->installed_version && version_cmp(&c->parsed, &r->installed) < 0;
}

/* The way back takes no CRD and no version of one away (lifecycle.md 7.4): what the lower version
 * does not manage stays served and stored, so it is reported, and is no reason. */
bool predicate_keeps_resources(struct resolver *r, struct candidate *c)
{
	const char *const *m = r->in->installed_managed;
	for (size_t i = 0; m && m[i]; i++) {
		struct resolve_usage u = {0};
		if (resolver_manages(c, m[i]))
			continue;
		if (!c->dropped)
			c->dropped = ARENA_ARRAY(r->a, const char *, PACKAGE_RESOURCES_MAX);
		if (c->n_dropped < PACKAGE_RESOURCES_MAX)
			c->dropped[c->n_dropped++] = m[i];
		if (resolver_goes_back(r, c))
			continue;
		if (r->in->usage)
			r->in->usage(r->in->arg, m[i], &u);
		if (u.migrated ||
		    (!resolver_holds_objects(&u) && is_waived(r, "ResourceDropped", m[i])))
			continue;
		if (!c->reason)
			explain_drop(r, c, m[i], &u);
	}
	return !c->reason;
}

/* --- 11: nobody else's CRD --- */

const char *resolver_crd_name(struct arena *a, const char *resource)
{
	const char *slash = strchr(resource, '/');
	return slash ? arena_strndup(a, resource, (size_t)(slash - resource)) : resource;
}

static const struct resolve_crd *live_crd(const struct resolver *r, const char *name)
{
	return r->in->crd ? r->in->crd(r->in->arg, name) : NULL;
}

/* A mark counts if it names an app that exists; an app that began claims a CRD nobody marked. */
static const char *owner_of(const struct resolver *r, const char *name,
			    const struct resolve_crd *crd)
{
	if (crd && crd->owner && !crd->released)
		return strcmp(crd->owner, r->in->self_ref) != 0 && claims_app(r, crd->owner)
			       ? crd->owner
			       : NULL;
	const struct resolve_claim *claim = claims_crd(r, name);
	return claim ? claim->self_ref : NULL;
}

bool predicate_owns_its_crds(struct resolver *r, struct candidate *c)
{
	size_t n;
	const char *const *managed = resolver_managed(c, &n);
	if (!r->in->crd && !r->in->claims)
		return true;
	for (size_t i = 0; i < n; i++) {
		const char *name = resolver_crd_name(r->a, managed[i]);
		const struct resolve_crd *crd = live_crd(r, name);
		if (crd && crd->foreign_owner)
			return resolver_fail(c, "ResourceConflict",
					     arena_fmt(r->a, "%s belongs to another installer: %s",
						       name, crd->foreign_owner),
					     name);
		const char *other = owner_of(r, name, crd);
		if (other)
			return resolver_fail(c, "ResourceConflict",
					     arena_fmt(r->a, "%s belongs to app %s", name, other),
					     name);
	}
	return true;
}

/* --- 12: nothing another app requires is dropped --- */

static bool fits_range(const char *range_text, const struct version *v, struct arena *a)
{
	struct range range;
	struct error err;
	return !range_text || range_parse(str_of(range_text), a, &range, &err) < 0 ||
	       range_matches(&range, v);
}

/* The app keeps what it requires, unless this version takes it away. */
static bool still_serves(const struct resolver *r, const struct candidate *c,
			 const struct package_requirement *q)
{
	return resolver_manages(c, q->resource) && (!fits_range(q->versions, &r->installed, r->a) ||
						    fits_range(q->versions, &c->parsed, r->a));
}

static bool is_kept_for(struct resolver *r, struct candidate *c, const struct resolve_claim *claim,
			const char *resource)
{
	for (size_t i = 0; i < claim->entry->n_requires; i++) {
		const struct package_requirement *q = &claim->entry->
							       requires[
								       i];
		if (q->optional || strcmp(q->resource, resource) != 0 || still_serves(r, c, q))
			continue;
		return resolver_fail(c, "NeededByOther",
				     arena_fmt(r->a, "app %s requires %s%s%s", claim->app,
					       q->resource, q->versions ? " " : "",
					       q->versions ? q->versions : ""),
				     claim->app);
	}
	return true;
}

bool predicate_keeps_what_others_need(struct resolver *r, struct candidate *c)
{
	for (const char *const *m = r->in->installed_managed; r->in->claims && m && *m; m++) {
		size_t n;
		const struct resolve_claim *const *f =
			claims_find(r->in->claims, CLAIM_NEED, str_of(*m), &n);
		for (size_t i = 0; i < n; i++)
			if (f[i]->installed && strcmp(f[i]->self_ref, r->in->self_ref) != 0 &&
			    !is_kept_for(r, c, f[i], *m))
				return false;
	}
	return true;
}

/* --- 13: what it needs is there --- */

bool resolver_is_served(const struct resolver *r, const char *resource)
{
	const char *slash = strchr(resource, '/');
	const struct resolve_crd *crd =
		r->in->crd ? live_crd(r, resolver_crd_name(r->a, resource)) : NULL;
	for (const char *const *s = crd ? crd->served : NULL; slash && s && *s; s++)
		if (!strcmp(*s, slash + 1))
			return true;
	return false;
}

bool predicate_has_requirements(struct resolver *r, struct candidate *c)
{
	size_t n;
	const char *const *managed = resolver_managed(c, &n);
	const struct obj *list = c->entry ? c->entry->requirements : NULL;
	for (size_t i = 0; r->in->unmet && i < obj_len(list); i++) {
		const struct obj *q = obj_at(list, i);
		const char *lack = r->in->unmet(r->in->arg, q, r->a);
		if (lack && !obj_flag(q, "optional", false))
			return resolver_fail(c, "RequirementUnmet", lack, lack);
	}
	for (size_t i = 0; i < n; i++)
		if (!resolver_brings(c, managed[i]) && !resolver_is_served(r, managed[i]))
			return resolver_fail(
				c, "ResourceMissing",
				arena_fmt(r->a,
					  "no CRD serves %s, neither in the chart nor on the "
					  "server",
					  managed[i]),
				managed[i]);
	return true;
}

/* --- 15 --- */

bool predicate_passes_gate(struct resolver *r, struct candidate *c)
{
	const char *message = NULL, *const *steps = NULL;
	if (!r->in->gate || !c->entry)
		return true;
	if (r->in->gate(r->in->arg, c->entry->digest, &message, &steps) != GATE_REFUSE)
		return true;
	c->gate_steps = steps;
	return resolver_fail(c, "CRDIncompatible",
			     message ? arena_strdup(r->a, message) : "refused", NULL);
}
