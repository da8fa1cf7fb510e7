#include "alm/controllers/app/helm_release.h"

#include <string.h>

#include "alm/client/client.h"
#include "alm/controllers/app/release_record.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "alm/unit/takeover.h"
#include "installers/release.h"

struct obj *helm_release_question(const char *release, const char *ns)
{
	struct obj *list = obj_list(), *need = obj_map();
	obj_set_str(need, "apiVersion", "v1");
	obj_set_str(need, "kind", "Secret");
	obj_set_str(need, "namespace", ns);
	obj_set_str(need, "name", "");
	obj_set(need, "selector", obj_stringf("owner=helm,name=%s", release));
	obj_append(list, need);
	return list;
}

/* How much a record tells about what runs. */
static int rank(const struct obj *record)
{
	const char *status = meta_label(record, "status");
	if (cstr_eq(status, "deployed"))
		return 2;
	return cstr_eq(status, "failed") || release_is_pending(status);
}

static bool runs_rather(const struct obj *o, const struct obj *than)
{
	if (rank(o) != rank(than))
		return rank(o) > rank(than);
	return release_record_revision(o) > release_record_revision(than);
}

static void read_newest(const struct obj *o, struct helm_release *ret)
{
	const char *status = meta_label(o, "status");
	ret->revision = release_record_revision(o);
	ret->is_ours = release_record_is_ours(o);
	ret->status = status ? status : "";
	ret->changed_ns = release_record_changed(o);
}

int helm_release_read(const struct obj *answer, struct arena *a, struct helm_release *ret,
		      struct error *err)
{
	const struct obj *first = obj_at(answer, 0), *items = obj_path(first, "value.items");
	const struct obj *runs = NULL;
	struct release r;
	struct error why;
	if (obj_flag(first, "large", false))
		return error_set(err, E_LIMIT, "its records have more than 16 MiB");
	if (obj_has(first, "error"))
		return error_set(err, E_UNAVAILABLE, "release records: %s",
				 obj_str(first, "error"));
	*ret = (struct helm_release){.status = ""};
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *o = obj_at(items, i);
		if (release_record_revision(o) > ret->revision)
			read_newest(o, ret);
		if (rank(o) && (!runs || runs_rather(o, runs)))
			runs = o;
	}
	if (!runs || release_record_is_ours(runs))
		return 0;
	ret->runs = release_record_revision(runs);
	if (release_from_secret(runs, a, &r, &why) < 0) {
		ret->unreadable = arena_strdup(a, why.msg);
		return 0;
	}
	ret->chart = obj_str(r.metadata, "name");
	ret->manifest = r.manifest;
	ret->config = r.config;
	return 0;
}

/* --- fields --- */

/* What kubectl has set of it is no part of the release. */
static enum manager_fate fate(const struct obj *entry)
{
	return cstr_eq(obj_str(entry, "manager"), "helm") ? takeover_fate(entry) : MANAGER_STAYS;
}

struct obj *helm_adoption(const struct obj *live, const char *app)
{
	struct obj *patch = obj_map(), *metadata = obj_map(), *labels = obj_map();
	obj_set_str(labels, LABEL_APP, app);
	obj_set(metadata, "labels", labels);
	obj_set(patch, "metadata", metadata);
	struct obj *managers = takeover_managers(live, CLIENT_FIELD_MANAGER, fate);
	if (managers && !cstr_eq(obj_str(live, "type"), RELEASE_SECRET_TYPE))
		obj_set(metadata, "managedFields", managers);
	else
		obj_unref(managers);
	return patch;
}

/* --- leftovers --- */

static bool has_object(const struct obj *objects, const struct obj *o, const char *ns)
{
	const char *own = meta_namespace(o) ? meta_namespace(o) : ns;
	for (size_t i = 0; i < obj_len(objects); i++) {
		const struct obj *p = obj_get(obj_at(objects, i), "object");
		if (cstr_eq(meta_kind(p), meta_kind(o)) && cstr_eq(meta_name(p), meta_name(o)) &&
		    cstr_eq(meta_namespace(p) ? meta_namespace(p) : ns, own))
			return true;
	}
	return false;
}

/* Of the documents in text, which was cut at a document's start; unreadable: nothing is deleted. */
static void add_leftovers(struct obj *list, struct str text, const struct obj *doc)
{
	struct yaml_documents docs = {0};
	struct error ignored;
	const struct obj *objects = obj_get(doc, "objects");
	const char *ns = obj_str(doc, "namespace");
	if (yaml_parse(text, &docs, &ignored) < 0)
		return;
	for (size_t i = 0; i < docs.n; i++) {
		const struct obj *o = docs.items[i].value;
		if (obj_type(o) != OBJ_MAP || !meta_kind(o) || !meta_name(o) || unit_is_kept(o) ||
		    has_object(objects, o, ns))
			continue;
		struct obj *row = obj_map();
		obj_set_str(row, "apiVersion", meta_api_version(o));
		obj_set_str(row, "kind", meta_kind(o));
		obj_set_str(row, "namespace", meta_namespace(o) ? meta_namespace(o) : ns);
		obj_set_str(row, "name", meta_name(o));
		obj_append(list, row);
	}
	yaml_documents_release(&docs);
}

/* One by one, as helm wrote them: all at once may be more than a parser takes. */
struct obj *helm_leftovers(const char *manifest, const struct obj *doc)
{
	struct obj *list = obj_list();
	struct str rest = str_of(manifest ? manifest : "");
	while (rest.len) {
		ptrdiff_t end = str_find(rest, STR("\n---"));
		size_t len = end < 0 ? rest.len : (size_t)end + 1;
		add_leftovers(list, str_sub(rest, 0, len), doc);
		rest = str_skip(rest, len);
	}
	return list;
}
