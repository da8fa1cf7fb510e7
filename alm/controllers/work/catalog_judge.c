#include "alm/controllers/work/catalog_judge.h"

#include <string.h>

#include "alm/controllers/work/policy.h"
#include "alm/obj/meta.h"

static struct obj *package_names(const struct catalog_index *x)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < x->n && obj_len(list) < CATALOG_NAMES_MAX; i++)
		if (!i || strcmp(x->versions[i]->package, x->versions[i - 1]->package) != 0)
			obj_append(list, obj_string(x->versions[i]->package));
	return list;
}

struct obj *catalog_outcome(const struct catalog_index *x)
{
	struct obj *o = obj_map(), *rejected = obj_list();
	obj_set(o, "packageNames", package_names(x));
	obj_set_str(o, "digest", x->revision);
	obj_set_int(o, "packages", (int64_t)x->n_packages);
	obj_set_int(o, "versions", (int64_t)x->n);
	obj_set_int(o, "nRejected", (int64_t)x->n_rejected);
	for (size_t i = 0; i < x->n_rejected && i < INDEX_REJECTED_MAX; i++)
		obj_append(rejected, obj_string(x->rejected[i]));
	obj_set(o, "rejected", rejected);
	return o;
}

/* A revision with less than half of the former versions and 10 fewer is not believed
 * (lifecycle.md 1.4). */
static int check_shrink(const struct catalog_index *old, const struct catalog_index *new,
			const struct obj *catalog, struct error *err)
{
	const char *accepted = meta_annotation(catalog, "app.coreos.com/accept-digest");
	if (!old || strcmp(old->policy, new->policy) != 0 || new->n * 2 >= old->n ||
	    old->n - new->n < 10 || cstr_eq(accepted, new->revision))
		return 0;
	return error_because(err, E_REFUSED, REASON_SUSPICIOUS_SHRINK,
			     "%zu versions became %zu; annotate "
			     "app.coreos.com/accept-digest: %s to accept",
			     old->n, new->n, new->revision);
}

/* new NULL: unchanged. */
static int check_age(const struct catalog_index *old, const struct catalog_index *new,
		     const struct obj *catalog, int64_t now_ns, struct error *err)
{
	const struct catalog_index *x = new ? new : old;
	if (!x)
		return 0;
	const struct policy_ages ages = {
		.old_ns = old && !strcmp(old->policy, x->policy) ? old->generated_ns : 0,
		.new_ns = x->generated_ns,
		.now_ns = now_ns,
		.accepted = cstr_eq(meta_annotation(catalog, "app.coreos.com/accept-digest"),
				    x->revision)};
	return policy_check_age(catalog, &ages, err);
}

static struct obj *differences(const struct catalog_index *from, const struct catalog_index *to)
{
	struct obj *list = obj_list();
	for (size_t i = 0; to && i < to->n && obj_len(list) < 20; i++)
		if (!from || !index_holds(from, to->versions[i]))
			obj_append(list, obj_stringf("%s %.*s", to->versions[i]->package,
						     STR_ARG(to->versions[i]->version.text)));
	return list;
}

int catalog_judge(const struct catalog_index *old, const struct catalog_index *new,
		  const struct obj *catalog, int64_t now_ns, const char **ret_bad,
		  struct error *err)
{
	*ret_bad = new ? new->revision : "";
	int r = new ? check_shrink(old, new, catalog, err) : 0;
	return r < 0 ? r : check_age(old, new, catalog, now_ns, err);
}

struct obj *catalog_change(const char *name, const struct catalog_index *old,
			   const struct catalog_index *new)
{
	struct obj *body = obj_map();
	obj_set_str(body, "what", "CatalogChanged");
	obj_set_path(body, "catalog.name", obj_string(name));
	if (old)
		obj_set_path(body, "catalog.from", obj_string(old->revision));
	obj_set_path(body, "catalog.to", obj_string(new->revision));
	obj_set(body, "added", differences(old, new));
	obj_set(body, "removed", differences(new, old));
	obj_set_str(body, "key", new->revision);
	obj_set(body, "message",
		obj_stringf("%s %.4s -> %.4s", name, old ? old->revision : "none", new->revision));
	return body;
}

struct obj *catalog_refused(const char *digest)
{
	if (!*digest)
		return NULL;
	struct obj *o = obj_map();
	obj_set_str(o, "badDigest", digest);
	return o;
}
