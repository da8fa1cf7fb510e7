/* Which package provides a resource, for dependencies and for CRDs that look for their app. */
#include <string.h>

#include "catalog/resolve/resolve_internal.h"

static const char *catalogs_text(const struct resolve_input *in, struct arena *a)
{
	const char *text = NULL;
	for (size_t i = 0; i < in->n_indexes; i++)
		text = text ? arena_fmt(a, "%s, %s", text, in->indexes[i]->name)
			    : in->indexes[i]->name;
	return text ? text : "none";
}

struct best {
	const struct index_ref *ref;
	const struct catalog_index *index;
	const struct index_ref *equal; /* as good, and another package */
	bool exists;                   /* the app does */
};

static void consider(struct best *b, const struct index_ref *f, const struct catalog_index *x,
		     bool exists)
{
	bool better = !b->ref || exists > b->exists ||
		      (exists == b->exists && x->priority > b->index->priority);
	if (better) {
		*b = (struct best){.ref = f, .index = x, .exists = exists};
		return;
	}
	if (exists == b->exists && x->priority == b->index->priority &&
	    (strcmp(f->package, b->ref->package) != 0 ||
	     strcmp(f->app_type, b->ref->app_type) != 0))
		b->equal = f;
}

void resolve_find_provider(const struct resolve_input *in, const char *resource,
			   const char *self_ref, struct arena *a, struct resolve_provider *ret)
{
	struct best best = {0};
	struct resolver r = {.in = in, .a = a};
	const char *nameless = NULL;
	*ret = (struct resolve_provider){0};
	for (size_t i = 0; i < in->n_indexes; i++) {
		size_t n;
		const struct index_ref *f =
			strchr(resource, '/') ? index_by_resource(in->indexes[i], resource, &n)
					      : index_by_crd(in->indexes[i], resource, &n);
		for (size_t k = 0; k < n; k++) {
			if (!f[k].app_type)
				nameless = f[k].package;
			else if (!self_ref || !strcmp(self_ref, f[k].app_type))
				consider(&best, &f[k], in->indexes[i],
					 claims_app(&r, f[k].app_type) != NULL);
		}
	}
	if (best.equal) {
		ret->reason = "AmbiguousProvider";
		ret->message = strcmp(best.ref->package, best.equal->package)
				       ? arena_fmt(a, "packages %s and %s both provide it",
						   best.ref->package, best.equal->package)
				       : arena_fmt(a, "%s and %s both provide it",
						   best.ref->app_type, best.equal->app_type);
		return;
	}
	if (best.ref) {
		ret->package = best.ref->package;
		ret->app_type = best.ref->app_type;
		ret->index = best.index;
		return;
	}
	ret->reason = "NoPackageProvides";
	ret->message =
		nameless && !self_ref
			? arena_fmt(a, "package %s provides it without naming an appType", nameless)
			: arena_fmt(a, "no known package provides it (asked: %s)",
				    catalogs_text(in, a));
}
