/* Predicates 1 to 9 of lifecycle.md 2.2, one function each, and the table that orders all. Those
 * about resources are in resolve_resources.c, dependencies in resolve_deps.c; choosing the package
 * and laying out the candidates is in resolve_package.c. */
#include "catalog/resolve/resolve.h"

#include <string.h>

#include "catalog/resolve/resolve_internal.h"
#include "crds/defaults.h"

typedef bool (*predicate_fn)(struct resolver *r, struct candidate *c);

bool resolver_fail(struct candidate *c, const char *reason, const char *message,
		   const char *subject)
{
	c->reason = reason;
	c->message = message;
	c->subject = subject;
	return false;
}

static bool fail(struct candidate *c, const char *reason, const char *message)
{
	return resolver_fail(c, reason, message, NULL);
}

static const char *range_text(const struct resolver *r)
{
	return r->in->range && *r->in->range ? r->in->range : "*";
}

/* What ran before its strategy was deleted stays what it is, whatever the publisher says of it
 * since and the spec asks of newer ones. Another archive of that version is another one. */
static bool is_restored(const struct resolver *r, const struct candidate *c)
{
	const char *digest = r->in->installed_digest;
	return r->in->restore && !r->in->to && c->entry && !strcmp(r->in->restore, c->version) &&
	       (!digest || cstr_has_prefix(c->entry->digest, digest));
}

/* Where that version is. */
static const char *restore_text(const struct resolver *r)
{
	const char *text = "is in no catalog any more";
	for (size_t i = 0; i < r->n; i++) {
		if (is_restored(r, &r->candidates[i]))
			return "comes back first";
		if (!strcmp(r->in->restore, r->candidates[i].version))
			text = "is another archive in the catalog now";
	}
	return text;
}

static bool is_well_formed(struct resolver *r, struct candidate *c)
{
	if (c->malformed)
		return fail(c, "Malformed", c->malformed);
	if (c->entry && c->entry->ambiguous)
		return fail(c, "Ambiguous", c->entry->ambiguous);
	if (c->entry && c->entry->withdrawn && !c->installed && !is_restored(r, c))
		return fail(c, "Withdrawn", c->entry->withdrawn);
	return true;
}

static bool is_requested(struct resolver *r, struct candidate *c)
{
	const char *to = r->in->to, *back = to || !c->entry ? NULL : r->in->restore;
	if (!to && !back)
		return true;
	bool by_hand = c->manual && !c->manual->stored; /* its archive is its author's to choose */
	if (to || by_hand ? !strcmp(to ? to : back, c->version) : is_restored(r, c))
		return true;
	if (!r->texts.not_requested)
		r->texts.not_requested =
			to ? arena_fmt(r->a, "spec.upgrade.to asks for %s", to)
			   : arena_fmt(r->a,
				       "%s was installed when its strategy was deleted, and %s",
				       back, restore_text(r));
	return fail(c, "NotRequested", r->texts.not_requested);
}

static bool is_newer(struct resolver *r, struct candidate *c)
{
	if (!r->in->installed_version || r->in->to)
		return true;
	if (version_cmp(&c->parsed, &r->installed) > 0)
		return true;
	if (!r->texts.not_newer)
		r->texts.not_newer = arena_fmt(r->a, "%s is installed", r->in->installed_version);
	return fail(c, "NotNewer", r->texts.not_newer);
}

static bool is_in_range(struct resolver *r, struct candidate *c)
{
	struct version v = c->parsed;
	if (r->range && version_is_prerelease(&v) && !range_names_prerelease(r->range))
		v.pre = STR_NONE; /* the next predicate is about that */
	if (!r->range || is_restored(r, c) || range_matches(r->range, &v))
		return true;
	if (!r->texts.out_of_range)
		r->texts.out_of_range = arena_fmt(r->a, "spec.version is %s", r->in->range);
	return fail(c, "OutOfRange", r->texts.out_of_range);
}

static bool is_release_or_wanted(struct resolver *r, struct candidate *c)
{
	if (!version_is_prerelease(&c->parsed) || r->in->to || c->manual || is_restored(r, c))
		return true;
	if (r->range && range_names_prerelease(r->range))
		return true;
	if (!r->texts.prerelease)
		r->texts.prerelease =
			arena_fmt(r->a, "range %s names no pre-release", range_text(r));
	return fail(c, "Prerelease", r->texts.prerelease);
}

static bool is_in_channel(struct resolver *r, struct candidate *c)
{
	const char *channel = r->in->channel ? r->in->channel : APPTYPE_CHANNEL;
	if (!c->entry || is_restored(r, c) || package_has_channel(c->entry, channel))
		return true;
	return fail(c, "NotInChannel",
		    arena_fmt(r->a, "in channel %s, not in %s", c->entry->channels[0], channel));
}

static bool has_not_failed(struct resolver *r, struct candidate *c)
{
	if (!r->in->installed_version || c->installed || !c->entry || !r->in->failed)
		return true;
	const char *mark = arena_fmt(r->a, "%s@%.12s+%s", c->version, c->entry->digest,
				     r->in->values_digest ? r->in->values_digest : "");
	for (const char *const *f = r->in->failed; *f; f++)
		if (!strcmp(*f, mark))
			return fail(c, "PreviouslyFailed",
				    "failed before with the same archive and values");
	return true;
}

static bool fits_cluster(struct resolver *r, struct candidate *c)
{
	struct version kube, least;
	struct error err;
	const struct package_version *p = c->entry;
	if (!p || (!p->min_kube_version && !p->kube_version) || !r->in->kube_version ||
	    version_parse(str_of(r->in->kube_version), VERSION_LOOSE, &kube, &err) < 0)
		return true;
	kube.pre = STR_NONE; /* v1.33.0-gke.1 counts as 1.33.0 */
	if (p->min_kube_version &&
	    version_parse(str_of(p->min_kube_version), VERSION_LOOSE, &least, &err) == 0 &&
	    version_precedence(&kube, &least) < 0)
		return fail(c, "KubeVersion",
			    arena_fmt(r->a, "needs Kubernetes %s, this is %s", p->min_kube_version,
				      r->in->kube_version));
	struct range range;
	if (p->kube_version && range_parse(str_of(p->kube_version), r->a, &range, &err) == 0 &&
	    !range_matches(&range, &kube))
		return fail(c, "KubeVersion",
			    arena_fmt(r->a, "needs Kubernetes %s, this is %s", p->kube_version,
				      r->in->kube_version));
	return true;
}

/* "1.4.0 replaces 1.3.0 and skips 1.2.1": what would have to be installed. */
static const char *edges_text(const struct resolver *r, const struct package_version *p)
{
	const char *text = p->replaces ? arena_fmt(r->a, "it replaces %s", p->replaces) : "it";
	for (size_t i = 0; i < p->n_skips && i < 4; i++)
		text = arena_fmt(r->a, "%s%s %s", text,
				 i             ? ","
				 : p->replaces ? " and skips"
					       : " skips",
				 p->skips[i]);
	if (p->n_skips > 4)
		text = arena_fmt(r->a, "%s and %zu more", text, p->n_skips - 4);
	if (p->skip_range)
		text = arena_fmt(r->a, "%s%s %s", text,
				 p->replaces || p->n_skips ? " and skips" : " skips",
				 p->skip_range);
	return text;
}

/* The way back needs no path: it is asked for by name, and its plan is stored. */
static bool has_path(struct resolver *r, struct candidate *c)
{
	const struct package_version *p = c->entry;
	if (!r->in->installed_version || !p || version_cmp(&c->parsed, &r->installed) <= 0 ||
	    resolver_path(r, c, NULL))
		return true;
	if (p->replaces || p->n_skips || p->skip_range)
		return fail(c, "NoUpgradePath",
			    arena_fmt(r->a, "no upgrade path from %s: %s", r->in->installed_version,
				      edges_text(r, p)));
	if (!r->texts.no_path)
		r->texts.no_path =
			arena_fmt(r->a, "no upgrade path from %s", r->in->installed_version);
	return fail(c, "NoUpgradePath", r->texts.no_path);
}

/* Planned and refused: no other version waits for it (lifecycle.md 4.1). Its own controller tries
 * again, and takes the reason back when it is gone. */
static bool is_not_blocked(struct resolver *r, struct candidate *c)
{
	(void)r;
	if (!c->manual || !c->manual->blocked || c->installed)
		return true;
	return fail(c, c->manual->blocked, c->manual->message ? c->manual->message : "");
}

/* clang-format off */
static const struct { predicate_fn fn; bool user_class, safety; } predicates[] = {
	{is_well_formed,                   false, false},
	{is_requested,                     true,  false},
	{is_newer,                         true,  false},
	{is_in_range,                      true,  false},
	{is_release_or_wanted,             true,  false},
	{is_in_channel,                    true,  false},
	{has_not_failed,                   false, true},
	{fits_cluster,                     false, true},
	{has_path,                         false, true},
	{predicate_keeps_resources,        false, true},
	{predicate_owns_its_crds,          false, true},
	{predicate_keeps_what_others_need, false, true},
	{predicate_has_requirements,       false, true}, /* from here on: may need the archive */
	{predicate_has_dependencies,       false, true},
	{predicate_passes_gate,            false, true},
	{is_not_blocked,                   false, false}, /* by hand: its author is told, nobody else */
};
/* clang-format on */
#define N_INDEX_ONLY 12

static bool judge(struct resolver *r, struct candidate *c, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (predicates[i].fn(r, c))
			continue;
		c->user_class = predicates[i].user_class;
		c->safety = predicates[i].safety;
		return false;
	}
	return true;
}

bool resolver_judge_index(struct resolver *r, struct candidate *c)
{
	return judge(r, c, 0, N_INDEX_ONLY);
}

void resolver_judge_rest(struct resolver *r, struct candidate *c)
{
	c->installable = judge(r, c, N_INDEX_ONLY, ARRAY_LEN(predicates));
}

/* May this version be a stop on the way? All predicates of the version itself but the channel. */
bool resolver_is_stop(struct resolver *r, const struct candidate *c)
{
	struct candidate probe = *c;
	return is_well_formed(r, &probe) && is_in_range(r, &probe) &&
	       is_release_or_wanted(r, &probe) && has_not_failed(r, &probe) &&
	       fits_cluster(r, &probe);
}
