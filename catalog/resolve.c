/* The predicates of lifecycle.md 2.2, one function each, and the table that orders them. Choosing
 * the package and laying out the candidates is in resolve_package.c. */
#include "catalog/resolve.h"

#include <string.h>

#include "catalog/resolve_internal.h"

typedef bool (*predicate_fn)(const struct resolver *r, struct candidate *c);

static bool fail(struct candidate *c, const char *reason, const char *message)
{
	c->reason = reason;
	c->message = message;
	return false;
}

static const char *text(const struct candidate *c)
{
	return c->version;
}

static bool is_well_formed(const struct resolver *r, struct candidate *c)
{
	(void)r;
	if (c->entry && c->entry->ambiguous)
		return fail(c, "Ambiguous", c->entry->ambiguous);
	if (c->entry && c->entry->withdrawn && !c->installed)
		return fail(c, "Withdrawn", c->entry->withdrawn);
	return true;
}

static bool is_requested(const struct resolver *r, struct candidate *c)
{
	if (!r->in->to || !strcmp(r->in->to, text(c)))
		return true;
	return fail(c, "NotRequested", arena_fmt(r->a, "spec.upgrade.to asks for %s", r->in->to));
}

static bool is_newer(const struct resolver *r, struct candidate *c)
{
	if (!r->in->installed_version || r->in->to)
		return true;
	if (version_cmp(&c->parsed, &r->installed) > 0)
		return true;
	return fail(c, "NotNewer", arena_fmt(r->a, "%s is installed", r->in->installed_version));
}

static bool is_in_range(const struct resolver *r, struct candidate *c)
{
	if (!r->range || (range_matches(r->range, &c->parsed)) ||
	    (version_is_prerelease(&c->parsed) && !range_names_prerelease(r->range)))
		return true;
	return fail(c, "OutOfRange", arena_fmt(r->a, "spec.version is %s", r->in->range));
}

static bool is_release_or_wanted(const struct resolver *r, struct candidate *c)
{
	if (!version_is_prerelease(&c->parsed) || r->in->to || c->manual)
		return true;
	if (r->range && range_names_prerelease(r->range))
		return true;
	return fail(c, "Prerelease",
		    arena_fmt(r->a, "range %s names no pre-release",
			      r->in->range ? r->in->range : "*"));
}

static bool is_in_channel(const struct resolver *r, struct candidate *c)
{
	const char *channel = r->in->channel ? r->in->channel : "stable";
	if (!c->entry || package_has_channel(c->entry, channel))
		return true;
	return fail(c, "NotInChannel",
		    arena_fmt(r->a, "in channel %s, not in %s", c->entry->channels[0], channel));
}

static bool has_not_failed(const struct resolver *r, struct candidate *c)
{
	if (!r->in->installed_version || !c->entry || !r->in->failed)
		return true;
	const char *mark = arena_fmt(r->a, "%s@%.12s+%s", text(c), c->entry->digest,
				     r->in->values_digest ? r->in->values_digest : "");
	for (const char *const *f = r->in->failed; *f; f++)
		if (!strcmp(*f, mark))
			return fail(c, "PreviouslyFailed",
				    "failed before with the same archive and values");
	return true;
}

static bool fits_cluster(const struct resolver *r, struct candidate *c)
{
	struct version kube, least;
	struct error err;
	const struct package_version *p = c->entry;
	if (!p || !r->in->kube_version ||
	    version_parse(str_of(r->in->kube_version), VERSION_LOOSE, &kube, &err) < 0)
		return true;
	kube.pre = STR_NONE; /* v1.33.0-gke.1 counts as 1.33.0 */
	if (p->min_kube_version &&
	    version_parse(str_of(p->min_kube_version), VERSION_LOOSE, &least, &err) == 0 &&
	    version_precedence(&kube, &least) < 0)
		return fail(c, "KubeVersion",
			    arena_fmt(r->a, "needs Kubernetes %s, this is %s", p->min_kube_version,
				      r->in->kube_version));
	struct range *range = ARENA_NEW(r->a, struct range);
	if (p->kube_version && range_parse(str_of(p->kube_version), r->a, range, &err) == 0 &&
	    !range_matches(range, &kube))
		return fail(c, "KubeVersion",
			    arena_fmt(r->a, "needs Kubernetes %s, this is %s", p->kube_version,
				      r->in->kube_version));
	return true;
}

static bool has_path(const struct resolver *r, struct candidate *c)
{
	if (!r->in->installed_version || !c->entry || r->in->to || resolver_path(r, c, NULL))
		return true;
	return fail(
		c, "NoUpgradePath",
		arena_fmt(r->a, "no upgrade edges lead from %s to it", r->in->installed_version));
}

static const char *plural_s(int64_t n)
{
	return n == 1 ? "" : "s";
}

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

/* "1 object, stored" */
static const char *usage_text(const struct resolver *r, const struct resolve_usage *u)
{
	if (!u->known)
		return "objects could not be counted";
	return arena_fmt(r->a, "%lld object%s%s", (long long)u->objects, plural_s(u->objects),
			 u->stored ? ", stored" : "");
}

static void add_step(const struct resolver *r, struct candidate *c, const char *step)
{
	const char **grown = ARENA_ARRAY(r->a, const char *, c->n_steps + 1);
	if (c->n_steps)
		memcpy(grown, c->steps, c->n_steps * sizeof(char *));
	grown[c->n_steps++] = step;
	c->steps = grown;
}

static void explain_drop(const struct resolver *r, struct candidate *c, const char *resource,
			 const struct resolve_usage *u)
{
	struct resource_ref ref;
	resource_ref_parse(resource, r->a, &ref);
	c->message = arena_fmt(r->a, "%s: %s%s%s", resource, usage_text(r, u),
			       u->writer ? ", last written through by " : "",
			       u->writer ? u->writer : "");
	c->summary = arena_fmt(r->a, "%s drops %s (%s)", text(c), resource, usage_text(r, u));
	c->reason = "ResourceDropped";
	if (u->next_version) {
		const char *who =
			u->writer && u->first_object
				? arena_fmt(r->a, "; first change apiVersion in what %s writes: %s",
					    u->writer, u->first_object)
				: "";
		add_step(r, c,
			 arena_fmt(r->a,
				   "alm crd migrate %s.%s --to %s # rewrites %lld object%s, then "
				   "storedVersions is [%s]%s",
				   ref.plural, ref.group, u->next_version, (long long)u->objects,
				   plural_s(u->objects), u->next_version, who));
	} else if (!u->stored) {
		add_step(r, c,
			 arena_fmt(r->a,
				   "alm upgrade %s --to %s --accept-dropped %s --reason TEXT # "
				   "clients of that version break",
				   r->in->app, text(c), resource));
	}
}

static bool keeps_resources(const struct resolver *r, struct candidate *c)
{
	const char *const *m = r->in->installed_managed;
	size_t n = 0;
	for (n = 0; m && m[n]; n++)
		;
	c->dropped = ARENA_ARRAY(r->a, const char *, n);
	for (size_t i = 0; i < n; i++) {
		struct resolve_usage u = {0};
		if (resolver_manages(c, m[i]))
			continue;
		c->dropped[c->n_dropped++] = m[i];
		if (r->in->usage)
			r->in->usage(r->in->arg, m[i], &u);
		if (u.migrated || (!u.stored && is_waived(r, "ResourceDropped", m[i])))
			continue;
		if (!c->reason)
			explain_drop(r, c, m[i], &u);
	}
	return !c->reason;
}

static const struct resolve_claim *claim_of(const struct resolver *r, const char *self_ref)
{
	for (size_t i = 0; i < r->in->n_claims; i++)
		if (!strcmp(r->in->claims[i].self_ref, self_ref))
			return &r->in->claims[i];
	return NULL;
}

/* plural.group of plural.group/version */
static const char *crd_name(const struct resolver *r, const char *resource)
{
	const char *slash = strchr(resource, '/');
	return slash ? arena_strndup(r->a, resource, (size_t)(slash - resource)) : resource;
}

static const char *conflicting_claim(const struct resolver *r, const char *crd)
{
	for (size_t i = 0; i < r->in->n_claims; i++) {
		const struct resolve_claim *cl = &r->in->claims[i];
		for (const char *const *m = cl->managed; m && *m; m++)
			if (!strcmp(crd_name(r, *m), crd))
				return cl->self_ref;
	}
	return NULL;
}

static bool owns_its_crds(const struct resolver *r, struct candidate *c)
{
	size_t n;
	const char *const *managed = resolver_managed(c, &n);
	for (size_t i = 0; i < n; i++) {
		const char *name = crd_name(r, managed[i]);
		const struct resolve_crd *crd = r->in->crd ? r->in->crd(r->in->arg, name) : NULL;
		const char *other = NULL;
		if (crd && crd->foreign_owner)
			return fail(c, "ResourceConflict",
				    arena_fmt(r->a, "%s belongs to another installer: %s", name,
					      crd->foreign_owner));
		if (crd && crd->owner && !crd->released) {
			if (strcmp(crd->owner, r->in->self_ref) != 0 && claim_of(r, crd->owner))
				other = crd->owner;
		} else {
			other = conflicting_claim(r, name);
		}
		if (other)
			return fail(c, "ResourceConflict",
				    arena_fmt(r->a, "%s is claimed by %s", name, other));
	}
	return true;
}

static bool keeps_what_others_need(const struct resolver *r, struct candidate *c)
{
	for (size_t i = 0; i < r->in->n_claims; i++) {
		const struct resolve_claim *cl = &r->in->claims[i];
		for (size_t k = 0; cl->installed && k < cl->n_requires; k++) {
			const char *need = cl->
						   requires[
							   k]
							   .resource;
			bool ours = false;
			for (const char *const *m = r->in->installed_managed; m && *m; m++)
				ours = ours || !strcmp(*m, need);
			if (ours && !cl->requires[k].optional && !resolver_manages(c, need))
				return fail(c, "NeededByOther",
					    arena_fmt(r->a, "app %s requires %s", cl->app, need));
		}
	}
	return true;
}

static bool is_served(const struct resolver *r, const char *resource)
{
	const char *slash = strchr(resource, '/');
	const struct resolve_crd *crd =
		r->in->crd ? r->in->crd(r->in->arg, crd_name(r, resource)) : NULL;
	for (const char *const *s = crd ? crd->served : NULL; slash && s && *s; s++)
		if (!strcmp(*s, slash + 1))
			return true;
	return false;
}

static bool has_requirements(const struct resolver *r, struct candidate *c)
{
	size_t n;
	const char *const *managed = resolver_managed(c, &n);
	const struct obj *list = c->entry ? c->entry->requirements : NULL;
	for (size_t i = 0; r->in->unmet && i < obj_len(list); i++) {
		const struct obj *q = obj_at(list, i);
		const char *lack = r->in->unmet(r->in->arg, q, r->a);
		if (lack && !obj_flag(q, "optional", false))
			return fail(c, "RequirementUnmet", lack);
	}
	for (size_t i = 0; i < n; i++) {
		if (resolver_brings(c, managed[i]) || is_served(r, managed[i]))
			continue;
		add_step(r, c,
			 arena_fmt(r->a, "kubectl create -f CRD # %s, serving %s",
				   crd_name(r, managed[i]), strchr(managed[i], '/') + 1));
		return fail(c, "ResourceMissing",
			    arena_fmt(r->a,
				      "no CRD serves %s, neither in the chart nor on the server",
				      managed[i]));
	}
	return true;
}

static bool has_dependencies(const struct resolver *r, struct candidate *c)
{
	for (size_t i = 0; c->entry && i < c->entry->n_requires; i++) {
		const struct package_requirement *q = &c->entry->
							       requires[
								       i];
		if (q->optional || resolver_manages(c, q->resource) || is_served(r, q->resource))
			continue;
		return fail(c, "DependencyUnresolved",
			    arena_fmt(r->a, "requires %s%s%s, which nothing installed provides",
				      q->resource, q->versions ? " " : "",
				      q->versions ? q->versions : ""));
	}
	return true;
}

static bool passes_gate(const struct resolver *r, struct candidate *c)
{
	const char *message = NULL, *const *steps = NULL;
	if (!r->in->gate || !c->entry)
		return true;
	if (r->in->gate(r->in->arg, c->entry->digest, &message, &steps) != GATE_REFUSE)
		return true;
	for (; steps && *steps; steps++)
		add_step(r, c, *steps);
	return fail(c, "CRDIncompatible", message ? arena_strdup(r->a, message) : "refused");
}

/* clang-format off */
static const struct { predicate_fn fn; bool user_class, safety; } predicates[] = {
	{is_well_formed,         false, false},
	{is_requested,           true,  false},
	{is_newer,               true,  false},
	{is_in_range,            true,  false},
	{is_release_or_wanted,   true,  false},
	{is_in_channel,          true,  false},
	{has_not_failed,         false, true},
	{fits_cluster,           false, true},
	{has_path,               false, true},
	{keeps_resources,        false, true},
	{owns_its_crds,          false, true},
	{keeps_what_others_need, false, true},
	{has_requirements,       false, true},
	{has_dependencies,       false, true},
	{passes_gate,            false, true},
};
/* clang-format on */

/* Steps are only told when they lead there: what would still refuse the version after them is one
 * more. */
static void check_steps(const struct resolver *r, struct candidate *c, size_t failed)
{
	struct candidate after = *c;
	after.reason = NULL;
	for (size_t i = failed + 1; c->n_steps && i < ARRAY_LEN(predicates); i++) {
		if (predicates[i].fn(r, &after))
			continue;
		add_step(r, c, arena_fmt(r->a, "# then still %s: %s", after.reason, after.message));
		return;
	}
}

void resolver_judge(const struct resolver *r, struct candidate *c)
{
	for (size_t i = 0; i < ARRAY_LEN(predicates); i++) {
		if (predicates[i].fn(r, c))
			continue;
		c->user_class = predicates[i].user_class;
		c->safety = predicates[i].safety;
		check_steps(r, c, i);
		if (!c->summary)
			c->summary = arena_fmt(r->a, "%s: %s: %s", text(c), c->reason, c->message);
		return;
	}
	c->installable = true;
}

/* May this version be a stop on the way? All predicates of the version itself but the channel. */
bool resolver_is_stop(const struct resolver *r, const struct candidate *c)
{
	struct candidate probe = *c;
	return is_well_formed(r, &probe) && is_in_range(r, &probe) &&
	       is_release_or_wanted(r, &probe) && has_not_failed(r, &probe) &&
	       fits_cluster(r, &probe);
}
