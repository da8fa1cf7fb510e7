/* usage.c: see usage.h. */
#include "catalog/gate/usage.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"

static bool is_kept(const char *version, const char *const *keep)
{
	for (; keep && *keep; keep++)
		if (strcmp(*keep, version) == 0)
			return true;
	return !keep;
}

const char *usage_storage_version(const struct obj *crd)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_flag(obj_at(list, i), "storage", false))
			return obj_str(obj_at(list, i), "name");
	return NULL;
}

static const char *next_version(const struct obj *crd, const char *version, const char *const *keep)
{
	const struct obj *versions = obj_path(crd, "spec.versions");
	const char *best = NULL;
	for (size_t i = 0; i < obj_len(versions); i++) {
		const struct obj *v = obj_at(versions, i);
		const char *name = obj_str(v, "name");
		if (!name || strcmp(name, version) == 0 || !is_kept(name, keep))
			continue;
		if (obj_flag(v, "storage", false))
			return name;
		if (obj_flag(v, "served", false) && (!best || kube_version_cmp(name, best) < 0))
			best = name;
	}
	if (best || !keep)
		return best;
	/* only the new definition has it */
	for (; *keep; keep++)
		if (strcmp(*keep, version) != 0 && (!best || kube_version_cmp(*keep, best) < 0))
			best = *keep;
	return best;
}

void usage_begin(struct usage *u, const struct obj *crd, const char *version,
		 const char *const *keep, struct arena *a)
{
	const char *name = meta_name(crd), *group = obj_str(crd, "spec.group");
	const struct obj *stored = obj_path(crd, "status.storedVersions");
	*u = (struct usage){.arena = a};
	u->resource = arena_fmt(a, "%s/%s", name ? name : "", version);
	u->api_version = arena_fmt(a, "%s/%s", group ? group : "", version);
	for (size_t i = 0; i < obj_len(stored); i++)
		u->stored |= cstr_eq(obj_as_string(obj_at(stored, i)), version);
	const char *noted = meta_annotation(crd, arena_fmt(a, USAGE_MIGRATED_PREFIX "%s", version));
	u->migration_noted = noted && clock_parse(str_of(noted), &u->migrated_ns);
	const char *next = next_version(crd, version, keep);
	u->next_version = next ? arena_strdup(a, next) : NULL;
}

const char *usage_object_name(const struct obj *o, struct arena *a)
{
	const char *ns = meta_namespace(o), *name = meta_name(o);
	if (!ns || !*ns)
		return arena_strdup(a, name ? name : "");
	return arena_fmt(a, "%s/%s", ns, name ? name : "");
}

static int64_t time_of(const struct obj *entry)
{
	int64_t ns = 0;
	const char *text = obj_str(entry, "time");
	return text && clock_parse(str_of(text), &ns) ? ns : 0;
}

/* Has the manager no newer entry in this object? Of two at the same second the later counts. */
static bool is_newest(const struct obj *entries, size_t at)
{
	const char *manager = obj_str(obj_at(entries, at), "manager");
	int64_t t = time_of(obj_at(entries, at));
	for (size_t i = 0; i < obj_len(entries); i++) {
		int64_t other = time_of(obj_at(entries, i));
		if (i != at && cstr_eq(obj_str(obj_at(entries, i), "manager"), manager) &&
		    (other > t || (other == t && i > at)))
			return false;
	}
	return true;
}

static void note_writer(struct usage *u, const char *manager, const struct obj *o, int64_t t)
{
	for (size_t i = 0; i < u->n_writers; i++) {
		struct usage_writer *w = &u->writers[i];
		if (strcmp(w->manager, manager) != 0)
			continue;
		if (t > w->last_ns) {
			w->last_ns = t;
			w->last_object = usage_object_name(o, u->arena);
		}
		return;
	}
	if (u->n_writers == USAGE_WRITERS_MAX) {
		u->n_more_writers++;
		return;
	}
	u->writers[u->n_writers++] =
		(struct usage_writer){.manager = arena_strdup(u->arena, manager),
				      .last_object = usage_object_name(o, u->arena),
				      .last_ns = t};
}

void usage_object(struct usage *u, const struct obj *o)
{
	const struct obj *entries = obj_path(o, "metadata.managedFields");
	if (u->n_objects++ == 0)
		u->first_object = usage_object_name(o, u->arena);
	for (size_t i = 0; i < obj_len(entries); i++) {
		const struct obj *e = obj_at(entries, i);
		const char *manager = obj_str(e, "manager");
		int64_t t = time_of(e);
		if (!manager || !cstr_eq(obj_str(e, "apiVersion"), u->api_version) ||
		    !is_newest(entries, i) || (u->migration_noted && t < u->migrated_ns))
			continue;
		note_writer(u, manager, o, t);
	}
}

void usage_end(struct usage *u)
{
	for (size_t i = 1; i < u->n_writers; i++) /* a handful: insertion sort, stable */
		for (size_t k = i; k > 0 && u->writers[k].last_ns > u->writers[k - 1].last_ns;
		     k--) {
			struct usage_writer w = u->writers[k];
			u->writers[k] = u->writers[k - 1];
			u->writers[k - 1] = w;
		}
}

bool usage_is_migrated(const struct usage *u)
{
	return u->migration_noted && !u->stored && u->n_writers == 0;
}

void usage_text(const struct usage *u, struct strbuf *b)
{
	strbuf_addf(b, "%zu object%s%s", u->n_objects, u->n_objects == 1 ? "" : "s",
		    u->stored ? ", stored" : "");
	if (u->n_writers > 0)
		strbuf_addf(b, ", last written through by %s", u->writers[0].manager);
}

/* Nothing that a shell would read. */
static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && s.ptr[i] != '-' && s.ptr[i] != '.')
			return false;
	return s.len > 0;
}

static bool is_old_entry(const struct obj *entry, const char *group, const char *keep)
{
	struct str found, version;
	const char *api = obj_str(entry, "apiVersion");
	return api && str_cut(str_of(api), '/', &found, &version) && str_is(found, group) &&
	       is_plain(version) && !str_is(version, keep);
}

/* From the last on, so that indexes stay true; each is tested for being there still. A server does
 * not let go of the only entry but for one that is empty. */
static void patch_of_entries(const struct obj *entries, const char *group, const char *keep,
			     struct strbuf *b)
{
	static const char *const list = "/metadata/managedFields";
	size_t n = 0;
	for (size_t i = obj_len(entries); i-- > 0;) {
		const struct obj *e = obj_at(entries, i);
		if (!is_old_entry(e, group, keep))
			continue;
		strbuf_addf(b,
			    "%s{\"op\":\"test\",\"path\":\"%s/%zu/apiVersion\",\"value\":\"%s\"},",
			    n++ ? "," : "", list, i, obj_str(e, "apiVersion"));
		if (n < obj_len(entries))
			strbuf_addf(b, "{\"op\":\"remove\",\"path\":\"%s/%zu\"}", list, i);
		else
			strbuf_addf(b, "{\"op\":\"replace\",\"path\":\"%s\",\"value\":[{}]}", list);
	}
}

const char *usage_forget(const struct obj *o, const char *group, const char *plural,
			 const char *keep, int64_t since_ns, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const struct obj *entries = obj_path(o, "metadata.managedFields");
	struct str name = str_of(meta_name(o) ? meta_name(o) : "");
	struct str ns = str_of(meta_namespace(o) ? meta_namespace(o) : "");
	bool late = false;
	for (size_t i = 0; i < obj_len(entries); i++)
		late |= is_old_entry(obj_at(entries, i), group, keep) &&
			time_of(obj_at(entries, i)) > since_ns;
	if (!late || !is_plain(name) || (ns.len && !is_plain(ns)))
		return NULL;
	patch_of_entries(entries, group, keep, &b);
	return nextstep_new(a, NULL, "kubectl patch %s.%s.%s %.*s%s%.*s --type=json -p '[%s]'",
			    plural, keep, group, STR_ARG(name), ns.len ? " -n " : "", STR_ARG(ns),
			    b.buf);
}
