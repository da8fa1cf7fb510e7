/* From a record back to an input (resolve_record.h). */
#include <string.h>

#include "alm/obj/json.h"
#include "catalog/resolve/resolve_internal.h"
#include "catalog/resolve/resolve_record.h"

struct replay {
	const struct obj *record, *own; /* own: the app's fields, in record or in others */
	struct arena *a;
	const struct resolve_input *base; /* of the record; its indexes and claims are shared */
};

static const char **strs(const struct obj *list, struct arena *a, size_t *ret_n)
{
	size_t n = obj_len(list), kept = 0;
	const char **items = ARENA_ARRAY(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++) {
		const char *s = obj_as_string(obj_at(list, i));
		if (s)
			items[kept++] = s;
	}
	if (ret_n)
		*ret_n = kept;
	return items;
}

static const char *const *list_of(const struct obj *o, const char *key, struct arena *a)
{
	const struct obj *list = obj_get(o, key);
	return list ? (const char *const *)strs(list, a, NULL) : NULL;
}

static const char *text(const struct obj *o, const char *key)
{
	return obj_as_string(obj_get(o, key));
}

static int64_t number(const struct obj *o, const char *key)
{
	int64_t v = 0;
	return obj_as_i64(obj_get(o, key), &v) ? v : 0;
}

static bool flag(const struct obj *o, const char *key)
{
	return obj_is_true(obj_get(o, key));
}

/* --- packages --- */

static void get_requires(const struct obj *o, struct arena *a, struct package_version *p)
{
	const struct obj *list = obj_get(o, "requires");
	p->
		requires
	= ARENA_ARRAY(a, struct package_requirement, obj_len(list));
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *q = obj_at(list, i);
		if (text(q, "resource"))
		p->
			requires[
				p->n_requires++] = (struct package_requirement){
				text(q, "resource"), text(q, "versions"), flag(q, "optional")};
	}
}

static void get_conflicts(const struct obj *o, struct arena *a, struct package_version *p)
{
	const struct obj *list = obj_get(o, "conflicts");
	p->conflicts = ARENA_ARRAY(a, struct package_conflict, obj_len(list));
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *q = obj_at(list, i);
		if (text(q, "package"))
			p->conflicts[p->n_conflicts++] =
				(struct package_conflict){text(q, "package"), text(q, "versions")};
	}
}

static int get_version(const struct obj *o, struct arena *a, struct package_version **ret,
		       struct error *err)
{
	struct package_version *p = ARENA_NEW(a, struct package_version);
	const char *version = text(o, "version");
	p->package = text(o, "package");
	p->digest = text(o, "digest");
	if (!p->package || !p->digest || !version)
		return error_set(err, E_INVALID, "versions: want package, version and digest");
	if (version_parse(str_of(version), VERSION_STRICT, &p->version, err) < 0)
		return error_wrap(err, "%s %s", p->package, version);
#define FIELD(name) p->name = text(o, #name)
	FIELD(app_type);
	FIELD(replaces);
	FIELD(skip_range);
	FIELD(min_kube_version);
	FIELD(kube_version);
	FIELD(deprecation);
	FIELD(withdrawn);
	FIELD(ambiguous);
#undef FIELD
	p->provides = strs(obj_get(o, "provides"), a, &p->n_provides);
	p->own_crds = strs(obj_get(o, "own_crds"), a, &p->n_own_crds);
	p->channels = strs(obj_get(o, "channels"), a, &p->n_channels);
	p->skips = strs(obj_get(o, "skips"), a, &p->n_skips);
	get_requires(o, a, p);
	get_conflicts(o, a, p);
	p->requirements = obj_get(o, "requirements");
	p->deprecated = flag(o, "deprecated");
	*ret = p;
	return 0;
}

static void release_index(void *p)
{
	index_free(p);
}

/* The versions stand in the order of the index they came from, package by package. */
static int get_index(const struct obj *o, struct arena *a, const struct catalog_index **ret,
		     struct error *err)
{
	const struct obj *list = obj_get(o, "versions");
	const char *name = text(o, "name"), *revision = text(o, "revision");
	struct catalog_index *x = index_new(name ? name : "", number(o, "priority"));
	arena_defer(a, release_index, x);
	for (size_t i = 0; i < obj_len(list); i++) {
		struct package_version *p = NULL;
		if (get_version(obj_at(list, i), a, &p, err) < 0)
			return -err->code;
		ARRAY_GROW(x->versions, x->cap, x->n + 1);
		x->versions[x->n++] = p;
	}
	index_restore(x, revision);
	*ret = x;
	return 0;
}

static int get_claims(const struct obj *list, struct arena *a, const struct resolve_claims **ret,
		      struct error *err)
{
	struct resolve_claim *claims = ARENA_ARRAY(a, struct resolve_claim, obj_len(list));
	size_t n = 0;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i), *entry = obj_get(o, "entry");
		struct package_version *p = NULL;
		struct resolve_claim *c = &claims[n++];
		*c = (struct resolve_claim){.app = text(o, "app"),
					    .self_ref = text(o, "self_ref"),
					    .installed = flag(o, "installed"),
					    .version = text(o, "version"),
					    .managed = list_of(o, "managed", a)};
		if (!c->app || !c->self_ref)
			return error_set(err, E_INVALID, "claims[%zu]: want app and self_ref", i);
		if (entry && get_version(entry, a, &p, err) < 0)
			return error_wrap(err, "claims[%zu]", i);
		c->entry = p;
	}
	*ret = resolve_claims_of(claims, n, a);
	return 0;
}

/* --- answers --- */

static const struct resolve_crd *replay_crd(void *arg, const char *name)
{
	const struct replay *x = arg;
	const struct obj *o = obj_get(obj_get(x->record, "crds"), name);
	static const char *const none[] = {NULL};
	if (obj_type(o) != OBJ_MAP)
		return NULL;
	struct resolve_crd *crd = ARENA_NEW(x->a, struct resolve_crd);
	*crd = (struct resolve_crd){.name = name,
				    .owner = text(o, "owner"),
				    .foreign_owner = text(o, "foreign"),
				    .released = flag(o, "released"),
				    .served = list_of(o, "served", x->a),
				    .stored = list_of(o, "stored", x->a)};
	crd->served = crd->served ? crd->served : none;
	crd->stored = crd->stored ? crd->stored : none;
	return crd;
}

static void replay_usage(void *arg, const char *resource, struct resolve_usage *ret)
{
	const struct replay *x = arg;
	const struct obj *o = obj_get(obj_get(x->record, "usage"), resource);
	*ret = (struct resolve_usage){.known = flag(o, "known"),
				      .objects = number(o, "objects"),
				      .stored = flag(o, "stored"),
				      .migrated = flag(o, "migrated"),
				      .writer = text(o, "writer"),
				      .first_object = text(o, "first"),
				      .next_version = text(o, "next")};
}

static const char *replay_unmet(void *arg, const struct obj *requirement, struct arena *a)
{
	const struct replay *x = arg;
	CLEANUP(xfreep) char *key = json_text(requirement);
	const char *lack = text(obj_get(x->record, "unmet"), key);
	return lack ? arena_strdup(a, lack) : NULL;
}

static enum resolve_gate replay_gate(void *arg, const char *digest, const char **ret_message,
				     const char *const **ret_steps)
{
	const struct replay *x = arg;
	const struct obj *o = obj_get(obj_get(x->record, "gate"), digest);
	int64_t verdict = number(o, "verdict");
	*ret_message = text(o, "message");
	*ret_steps = list_of(o, "steps", x->a);
	return verdict == GATE_REFUSE  ? GATE_REFUSE
	       : verdict == GATE_ALLOW ? GATE_ALLOW
				       : GATE_UNKNOWN;
}

static int64_t replay_first_seen(void *arg, const char *version)
{
	const struct replay *x = arg;
	return number(obj_get(x->own, "firstSeen"), version);
}

static void get_own(const struct replay *x, struct resolve_input *in);

static const struct resolve_input *replay_other(void *arg, const char *app)
{
	const struct replay *x = arg;
	const struct obj *o = obj_get(obj_get(x->record, "others"), app);
	if (!text(o, "app") || !text(o, "self_ref"))
		return NULL;
	struct replay *its = arena_memdup(x->a, x, sizeof(*x));
	struct resolve_input *in = ARENA_NEW(x->a, struct resolve_input);
	its->own = o;
	get_own(its, in);
	in->arg = its;
	return in;
}

/* --- fields --- */

static void get_manual(const struct replay *x, struct resolve_input *in)
{
	const struct obj *list = obj_get(x->own, "manual");
	struct resolve_manual *m = ARENA_ARRAY(x->a, struct resolve_manual, obj_len(list));
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		if (text(o, "version"))
			m[in->n_manual++] =
				(struct resolve_manual){.stored = obj_flag(o, "stored", false),
							.strategy = text(o, "strategy"),
							.version = text(o, "version"),
							.sha256 = text(o, "sha256"),
							.resources = list_of(o, "resources", x->a),
							.blocked = text(o, "blocked"),
							.message = text(o, "message")};
	}
	in->manual = m;
}

static void get_waivers(const struct replay *x, struct resolve_input *in)
{
	const struct obj *list = obj_get(x->own, "waivers");
	struct resolve_waiver *w = ARENA_ARRAY(x->a, struct resolve_waiver, obj_len(list));
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		if (text(o, "rule") && text(o, "resource"))
			w[in->n_waivers++] = (struct resolve_waiver){
				text(o, "rule"), text(o, "resource"), text(o, "path"),
				text(o, "reason"), number(o, "expires")};
	}
	in->waivers = w;
}

static void get_windows(const struct replay *x, struct resolve_input *in)
{
	const struct obj *list = obj_get(x->own, "windows");
	struct resolve_window *w = ARENA_ARRAY(x->a, struct resolve_window, obj_len(list));
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		w[i] = (struct resolve_window){(unsigned)number(o, "days"), (int)number(o, "from"),
					       (int)number(o, "to")};
	}
	in->windows = w;
	in->n_windows = obj_len(list);
}

static void get_own(const struct replay *x, struct resolve_input *in)
{
	const struct obj *o = x->own;
	if (x->base)
		*in = *x->base;
	*in = (struct resolve_input){.indexes = in->indexes,
				     .n_indexes = in->n_indexes,
				     .claims = in->claims,
				     .n_unsynced = (size_t)number(o, "unsynced"),
				     .now_ns = number(o, "now"),
				     .soak_ns = number(o, "soak"),
				     .paused = flag(o, "paused")};
#define FIELD(name) in->name = text(o, #name);
	RESOLVE_TEXTS(FIELD)
#undef FIELD
	in->installed_managed = list_of(o, "installed_managed", x->a);
	in->failed = list_of(o, "failed", x->a);
	in->approved = list_of(o, "approved", x->a);
	get_manual(x, in);
	get_waivers(x, in);
	get_windows(x, in);
	in->crd = replay_crd;
	in->usage = replay_usage;
	in->unmet = replay_unmet;
	in->gate = replay_gate;
	in->first_seen = replay_first_seen;
	in->other = replay_other;
}

int resolve_replay(const struct obj *record, struct arena *a, struct resolve_input *ret,
		   struct error *err)
{
	struct replay *x = ARENA_NEW(a, struct replay);
	*x = (struct replay){.record = record, .own = record, .a = a};
	struct resolve_input *in = ARENA_NEW(a, struct resolve_input);
	const struct obj *list = obj_get(record, "indexes");
	const struct catalog_index **indexes =
		ARENA_ARRAY(a, const struct catalog_index *, obj_len(list));
	if (!text(record, "app") || !text(record, "self_ref"))
		return error_set(err, E_INVALID, "the record names no app");
	for (size_t i = 0; i < obj_len(list); i++)
		if (get_index(obj_at(list, i), a, &indexes[i], err) < 0)
			return error_wrap(err, "indexes[%zu]", i);
	in->indexes = indexes;
	in->n_indexes = obj_len(list);
	if (get_claims(obj_get(record, "claims"), a, &in->claims, err) < 0)
		return -err->code;
	get_own(x, in);
	in->arg = x;
	x->base = in;
	*ret = *in;
	return 0;
}
