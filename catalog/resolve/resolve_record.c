/* A decision's input as an object (resolve_record.h): first what a watcher saw while it was made
 * again, then the packages of the catalogs that it touched. */
#include "catalog/resolve/resolve_record.h"

#include <string.h>

#include "alm/obj/json.h"
#include "catalog/resolve/resolve_internal.h"
#include "catalog/resolve/resolve_relax.h"

#define PACKAGES_MAX 1000

struct watcher {
	const struct resolve_input *in;
	struct arena *a;
	struct obj *crds, *usage, *unmet, *gate, *first_seen,
		*others; /* shared; answers by question */
};

static void put_strs(struct obj *o, const char *key, const char *const *items, size_t n)
{
	if (!n)
		return;
	struct obj *list = obj_list();
	for (size_t i = 0; i < n; i++)
		obj_append(list, obj_string(items[i]));
	obj_set(o, key, list);
}

static void put_list(struct obj *o, const char *key, const char *const *items)
{
	size_t n = 0;
	while (items && items[n])
		n++;
	put_strs(o, key, items, n);
}

/* --- questions about the cluster --- */

static const struct resolve_crd *watch_crd(void *arg, const char *name)
{
	struct watcher *w = arg;
	const struct resolve_crd *crd = w->in->crd(w->in->arg, name);
	if (obj_has(w->crds, name))
		return crd;
	struct obj *o = crd ? obj_map() : obj_null();
	obj_set(w->crds, name, o);
	if (!crd)
		return NULL;
	obj_set_str(o, "owner", crd->owner);
	obj_set_str(o, "foreign", crd->foreign_owner);
	if (crd->released)
		obj_set_bool(o, "released", true);
	put_list(o, "served", crd->served);
	put_list(o, "stored", crd->stored);
	return crd;
}

static void watch_usage(void *arg, const char *resource, struct resolve_usage *ret)
{
	struct watcher *w = arg;
	w->in->usage(w->in->arg, resource, ret);
	if (obj_has(w->usage, resource))
		return;
	struct obj *o = obj_map();
	obj_set_bool(o, "known", ret->known);
	obj_set_int(o, "objects", ret->objects);
	obj_set_bool(o, "stored", ret->stored);
	obj_set_bool(o, "migrated", ret->migrated);
	obj_set_str(o, "writer", ret->writer);
	obj_set_str(o, "first", ret->first_object);
	obj_set_str(o, "next", ret->next_version);
	obj_set(w->usage, resource, o);
}

static const char *question(const struct obj *requirement, struct arena *a)
{
	CLEANUP(xfreep) char *text = json_text(requirement);
	return arena_strdup(a, text);
}

static const char *watch_unmet(void *arg, const struct obj *requirement, struct arena *a)
{
	struct watcher *w = arg;
	const char *lack = w->in->unmet(w->in->arg, requirement, a);
	obj_set(w->unmet, question(requirement, w->a), lack ? obj_string(lack) : obj_null());
	return lack;
}

static enum resolve_gate watch_gate(void *arg, const char *digest, const char **ret_message,
				    const char *const **ret_steps)
{
	struct watcher *w = arg;
	const char *message = NULL, *const *steps = NULL;
	enum resolve_gate verdict = w->in->gate(w->in->arg, digest, &message, &steps);
	struct obj *o = obj_map();
	obj_set_int(o, "verdict", verdict);
	obj_set_str(o, "message", message);
	put_list(o, "steps", steps);
	obj_set(w->gate, digest, o);
	*ret_message = message;
	*ret_steps = steps;
	return verdict;
}

static int64_t watch_first_seen(void *arg, const char *version)
{
	struct watcher *w = arg;
	int64_t ns = w->in->first_seen(w->in->arg, version);
	obj_set_int(w->first_seen, version, ns);
	return ns;
}

static struct obj *own_fields(const struct resolve_input *in);
static struct resolve_input *watched(struct watcher *w);

/* Another app asks the same cluster: its answers join the same tables, but for its own clock. */
static const struct resolve_input *watch_other(void *arg, const char *app)
{
	struct watcher *w = arg;
	const struct resolve_input *its = w->in->other(w->in->arg, app);
	if (!its) {
		obj_set(w->others, app, obj_null());
		return NULL;
	}
	struct watcher *x = arena_memdup(w->a, w, sizeof(*w));
	x->in = its;
	x->first_seen = obj_map();
	struct obj *o = own_fields(its);
	obj_set(o, "firstSeen", x->first_seen);
	obj_set(w->others, app, o);
	return watched(x);
}

static struct resolve_input *watched(struct watcher *w)
{
	struct resolve_input *in = arena_memdup(w->a, w->in, sizeof(*w->in));
	in->arg = w;
	in->crd = in->crd ? watch_crd : NULL;
	in->usage = in->usage ? watch_usage : NULL;
	in->unmet = in->unmet ? watch_unmet : NULL;
	in->gate = in->gate ? watch_gate : NULL;
	in->first_seen = in->first_seen ? watch_first_seen : NULL;
	in->other = in->other ? watch_other : NULL;
	return in;
}

/* --- fields --- */

static void put_manual(struct obj *o, const struct resolve_input *in)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < in->n_manual; i++) {
		struct obj *m = obj_map();
		if (in->manual[i].stored)
			obj_set_bool(m, "stored", true);
		obj_set_str(m, "strategy", in->manual[i].strategy);
		obj_set_str(m, "version", in->manual[i].version);
		obj_set_str(m, "sha256", in->manual[i].sha256);
		put_list(m, "resources", in->manual[i].resources);
		obj_set_str(m, "blocked", in->manual[i].blocked);
		obj_set_str(m, "message", in->manual[i].message);
		obj_append(list, m);
	}
	obj_set(o, "manual", list);
}

static void put_waivers(struct obj *o, const struct resolve_input *in)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < in->n_waivers; i++) {
		struct obj *w = obj_map();
		obj_set_str(w, "rule", in->waivers[i].rule);
		obj_set_str(w, "resource", in->waivers[i].resource);
		obj_set_str(w, "path", in->waivers[i].path);
		obj_set_str(w, "reason", in->waivers[i].reason);
		obj_set_int(w, "expires", in->waivers[i].expires_ns);
		obj_append(list, w);
	}
	obj_set(o, "waivers", list);
}

static void put_windows(struct obj *o, const struct resolve_input *in)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < in->n_windows; i++) {
		struct obj *w = obj_map();
		obj_set_int(w, "days", in->windows[i].days);
		obj_set_int(w, "from", in->windows[i].from);
		obj_set_int(w, "to", in->windows[i].to);
		obj_append(list, w);
	}
	obj_set(o, "windows", list);
}

static struct obj *own_fields(const struct resolve_input *in)
{
	struct obj *o = obj_map();
#define FIELD(name) obj_set_str(o, #name, in->name);
	RESOLVE_TEXTS(FIELD)
#undef FIELD
	if (in->installed_managed && !in->installed_managed[0])
		obj_set(o, "installed_managed", obj_list());
	put_list(o, "installed_managed", in->installed_managed);
	put_list(o, "failed", in->failed);
	put_list(o, "approved", in->approved);
	put_manual(o, in);
	put_waivers(o, in);
	put_windows(o, in);
	obj_set_bool(o, "paused", in->paused);
	obj_set_int(o, "soak", in->soak_ns);
	obj_set_int(o, "unsynced", (int64_t)in->n_unsynced);
	obj_set_int(o, "now", in->now_ns);
	return o;
}

/* --- packages --- */

static void put_requires(struct obj *o, const struct package_version *p)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < p->n_requires; i++) {
		struct obj *q = obj_map();
		obj_set_str(q, "resource", p->requires[i].resource);
		obj_set_str(q, "versions", p->requires[i].versions);
		if (p->requires[i].optional)
			obj_set_bool(q, "optional", true);
		obj_append(list, q);
	}
	obj_set(o, "requires", list);
}

static void put_conflicts(struct obj *o, const struct package_version *p)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < p->n_conflicts; i++) {
		struct obj *q = obj_map();
		obj_set_str(q, "package", p->conflicts[i].package);
		obj_set_str(q, "versions", p->conflicts[i].versions);
		obj_append(list, q);
	}
	obj_set(o, "conflicts", list);
}

static struct obj *version_obj(const struct package_version *p)
{
	struct obj *o = obj_map();
#define FIELD(name) obj_set_str(o, #name, p->name)
	FIELD(package);
	obj_set(o, "version", obj_stringn(p->version.text));
	FIELD(digest);
	FIELD(app_type);
	FIELD(replaces);
	FIELD(skip_range);
	FIELD(min_kube_version);
	FIELD(kube_version);
	FIELD(deprecation);
	FIELD(withdrawn);
	FIELD(ambiguous);
#undef FIELD
	put_strs(o, "provides", (const char *const *)p->provides, p->n_provides);
	put_strs(o, "own_crds", (const char *const *)p->own_crds, p->n_own_crds);
	put_strs(o, "channels", (const char *const *)p->channels, p->n_channels);
	put_strs(o, "skips", (const char *const *)p->skips, p->n_skips);
	if (p->n_requires)
		put_requires(o, p);
	if (p->n_conflicts)
		put_conflicts(o, p);
	if (p->requirements)
		obj_set(o, "requirements", obj_ref(p->requirements));
	if (p->deprecated)
		obj_set_bool(o, "deprecated", true);
	return o;
}

/* Packages that the resolver may have looked at: those that install the app, and all that provide
 * what these require, and so on. */
struct touched {
	const struct resolve_input *in;
	const char *names[PACKAGES_MAX];
	size_t n;
};

static void touch(struct touched *t, const char *package)
{
	if (!package || t->n >= PACKAGES_MAX)
		return;
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->names[i], package))
			return;
	t->names[t->n++] = package;
}

static void touch_all(struct touched *t, const struct index_ref *refs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		touch(t, refs[i].package);
}

static void touch_input(struct touched *t, const struct resolve_input *in)
{
	touch(t, in->package);
	touch(t, in->installed_package);
	touch(t, in->app);
	for (size_t i = 0; i < in->n_indexes; i++) {
		size_t n;
		const struct index_ref *refs = index_by_app_type(in->indexes[i], in->self_ref, &n);
		touch_all(t, refs, n);
		for (size_t k = 0; k < in->n_manual; k++) {
			const char *digest = in->manual[k].sha256;
			const struct package_version *p =
				digest ? index_by_digest(in->indexes[i], str_of(digest)) : NULL;
			touch(t, p ? p->package : NULL);
		}
	}
}

/* A message names packages that nobody asked for. */
static void touch_offered(struct touched *t, const struct resolution *r)
{
	const char *names[RESOLVE_OFFERED_MAX + 1];
	if (!cstr_eq(r->reason, "NoPackage") || t->in->package || t->in->installed_package)
		return;
	size_t n = resolve_offered(t->in, names);
	for (size_t i = 0; i < n; i++)
		touch(t, names[i]);
}

static void touch_required(struct touched *t, const char *package)
{
	for (size_t i = 0; i < t->in->n_indexes; i++) {
		size_t n, n_refs;
		struct package_version *const *all = index_package(t->in->indexes[i], package, &n);
		for (size_t v = 0; v < n; v++)
			for (size_t k = 0; k < all[v]->n_requires; k++)
				for (size_t x = 0; x < t->in->n_indexes; x++) {
					const struct index_ref *refs = index_by_resource(
						t->in->indexes[x], all[v]->requires[k].resource,
						&n_refs);
					touch_all(t, refs, n_refs);
				}
	}
}

static struct obj *indexes_obj(const struct touched *t)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < t->in->n_indexes; i++) {
		const struct catalog_index *x = t->in->indexes[i];
		struct obj *o = obj_map(), *versions = obj_list();
		obj_set_str(o, "name", x->name);
		obj_set_int(o, "priority", x->priority);
		obj_set_str(o, "revision", x->revision);
		for (size_t k = 0; k < t->n; k++) {
			size_t n;
			struct package_version *const *all = index_package(x, t->names[k], &n);
			for (size_t v = 0; v < n; v++)
				obj_append(versions, version_obj(all[v]));
		}
		obj_set(o, "versions", versions);
		obj_append(list, o);
	}
	return list;
}

static struct obj *claims_obj(const struct resolve_claims *claims, struct arena *a)
{
	size_t n = 0;
	struct obj *list = obj_list();
	const struct resolve_claim **touched = claims ? claims_touched(claims, a, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		const struct resolve_claim *c = touched[i];
		struct obj *o = obj_map();
		obj_set_str(o, "app", c->app);
		obj_set_str(o, "self_ref", c->self_ref);
		obj_set_bool(o, "installed", c->installed);
		obj_set_str(o, "version", c->version);
		put_list(o, "managed", c->managed);
		if (c->entry)
			obj_set(o, "entry", version_obj(c->entry));
		obj_append(list, o);
	}
	return list;
}

static bool is_too_large(const struct touched *t)
{
	size_t total = 0;
	for (size_t i = 0; i < t->in->n_indexes; i++)
		for (size_t k = 0; k < t->n; k++) {
			size_t n;
			index_package(t->in->indexes[i], t->names[k], &n);
			total += n;
		}
	return total > RESOLVE_RECORD_VERSIONS_MAX || t->n >= PACKAGES_MAX;
}

struct obj *resolve_record(const struct resolve_input *in, struct arena *a)
{
	struct resolution ignored;
	struct touched *t = ARENA_NEW(a, struct touched);
	struct watcher w;
	t->in = in;
	touch_input(t, in);
	if (is_too_large(t))
		return NULL;
	w = (struct watcher){.in = in,
			     .a = a,
			     .crds = obj_map(),
			     .usage = obj_map(),
			     .unmet = obj_map(),
			     .gate = obj_map(),
			     .first_seen = obj_map(),
			     .others = obj_map()};
	struct obj *o = own_fields(in);
	obj_set(o, "crds", w.crds);
	obj_set(o, "usage", w.usage);
	obj_set(o, "unmet", w.unmet);
	obj_set(o, "gate", w.gate);
	obj_set(o, "firstSeen", w.first_seen);
	obj_set(o, "others", w.others);
	if (in->claims)
		claims_record(in->claims);
	const struct resolve_input *seen = watched(&w);
	resolve_run(seen, a, &ignored);
	for (size_t i = 0; i < ignored.n && i < RESOLVE_CANDIDATES_MAX; i++) {
		struct relaxation x; /* its questions too */
		if (seen->first_seen)
			seen->first_seen(seen->arg, ignored.candidates[i].version);
		if (ignored.candidates[i].safety || ignored.candidates[i].user_class)
			resolve_relax(seen, ignored.candidates[i].version, a, &x);
	}
	obj_set(o, "claims", claims_obj(in->claims, a)); /* and no more is recorded */
	OBJ_EACH (it, w.others)
		if (obj_type(it.value) == OBJ_MAP) {
			touch(t, obj_str(it.value, "package"));
			touch(t, obj_str(it.value, "installed_package"));
			touch(t, it.key);
		}
	for (size_t i = 0; i < t->n; i++)
		touch_required(t, t->names[i]);
	touch_offered(t, &ignored);
	if (is_too_large(t)) {
		obj_unref(o);
		return NULL;
	}
	obj_set(o, "indexes", indexes_obj(t));
	return o;
}
