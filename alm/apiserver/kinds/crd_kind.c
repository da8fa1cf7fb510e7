/* crd_kind: see crd_kind.h. */
#include "alm/apiserver/kinds/crd_kind.h"

#include "alm/apiserver/kinds/crd.h"

#include "alm/base/strbuf.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "installers/chart/gzip.h"

#define CRD_KIND_BYTES_MAX ((size_t)4 << 20)

struct crd_forms {
	size_t refs;
	struct arena *arena;
	struct kind_form *items;
	struct schema **owned; /* of each; NULL: none, or none that is one */
	size_t n;
};

struct crd_kind {
	struct kind kind;
	struct arena *arena;
	struct crd_forms *forms;
	struct strbuf openapi;
	struct obj *converter;
};

static const char *const *strings_of(const struct obj *list, struct arena *a)
{
	size_t n = obj_len(list);
	if (!n)
		return NULL;
	const char **out = ARENA_ARRAY(a, const char *, n + 1);
	for (size_t i = 0, k = 0; i < n; i++) {
		const char *s = obj_as_string(obj_at(list, i));
		if (s)
			out[k++] = arena_strdup(a, s);
	}
	return out;
}

static const char *text_of(const struct obj *o, const char *path, struct arena *a)
{
	const char *s = obj_str(o, path);
	return s ? arena_strdup(a, s) : NULL;
}

static void set_columns(struct crd_kind *c, const struct obj *version)
{
	const struct obj *list = obj_get(version, "additionalPrinterColumns");
	size_t n = obj_len(list);
	struct kind_column *columns = ARENA_ARRAY(c->arena, struct kind_column, n + 1);
	for (size_t i = 0; i < n; i++) {
		const struct obj *o = obj_at(list, i);
		const char *format = text_of(o, "format", c->arena);
		const char *about = text_of(o, "description", c->arena);
		columns[i].name = text_of(o, "name", c->arena);
		columns[i].type = text_of(o, "type", c->arena);
		columns[i].format = format ? format : "";
		columns[i].json_path = text_of(o, "jsonPath", c->arena);
		columns[i].description =
			about ? about
			      : arena_fmt(c->arena,
					  "Custom resource definition column (in JSONPath "
					  "format): %s",
					  columns[i].json_path ? columns[i].json_path : "");
		columns[i].priority = (int)obj_i64(o, "priority", 0);
	}
	c->kind.columns = n ? columns : NULL;
	c->kind.n_columns = n;
}

static void set_selectable(struct crd_kind *c, const struct obj *version)
{
	const struct obj *list = obj_get(version, "selectableFields");
	size_t n = obj_len(list), k = 0;
	const char **out = ARENA_ARRAY(c->arena, const char *, n + 1);
	for (size_t i = 0; i < n; i++) {
		const char *path = text_of(obj_at(list, i), "jsonPath", c->arena);
		if (path)
			out[k++] = *path == '.' ? path + 1 : path;
	}
	c->kind.selectable = k ? out : NULL;
}

static void set_subresources(struct crd_kind *c, const struct obj *version)
{
	struct kind *k = &c->kind;
	if (obj_path(version, "subresources.status"))
		k->flags |= KIND_STATUS;
	/* an alm of old stored paths that lead anywhere */
	if (!crd_path_is_in(obj_str(version, "subresources.scale.specReplicasPath"), "spec") ||
	    !crd_path_is_in(obj_str(version, "subresources.scale.statusReplicasPath"), "status"))
		return;
	k->flags |= KIND_SCALE;
	k->spec_replicas_path = text_of(version, "subresources.scale.specReplicasPath", c->arena);
	k->status_replicas_path =
		text_of(version, "subresources.scale.statusReplicasPath", c->arena);
	k->label_selector_path = text_of(version, "subresources.scale.labelSelectorPath", c->arena);
}

/* The highest version above this one that is served and not deprecated; NULL without one. */
static const char *successor_of(const struct obj *crd, const char *version)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	const char *best = NULL;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *v = obj_at(list, i);
		const char *name = obj_str(v, "name");
		if (name && obj_flag(v, "served", false) && !obj_flag(v, "deprecated", false) &&
		    kube_version_cmp(name, version) < 0 &&
		    (!best || kube_version_cmp(name, best) < 0))
			best = name;
	}
	return best;
}

static void set_deprecation(struct crd_kind *c, const struct obj *crd, const struct obj *version)
{
	const char *text = text_of(version, "deprecationWarning", c->arena);
	if (!obj_flag(version, "deprecated", false))
		return;
	const struct kind *k = &c->kind;
	const char *next = successor_of(crd, k->version);
	c->kind.deprecation_warning =
		text   ? text
		: next ? arena_fmt(c->arena, "%s/%s %s is deprecated; use %s/%s %s", k->group,
				   k->version, k->kind, k->group, next, k->kind)
		       : arena_fmt(c->arena, "%s/%s %s is deprecated", k->group, k->version,
				   k->kind);
}

static const char *storage_version_of(const struct obj *crd, struct arena *a)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_flag(obj_at(list, i), "storage", false))
			return text_of(obj_at(list, i), "name", a);
	return "";
}

static int pack_openapi(struct crd_kind *c, const struct obj *openapi, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(CRD_KIND_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(CRD_KIND_BYTES_MAX);
	json_print(openapi, &text);
	int rc = strbuf_check(&text, "the schema", err);
	if (rc >= 0)
		rc = gzip_pack_fast(strbuf_str(&text), &packed, err);
	strbuf_addstr(&c->openapi, strbuf_str(&packed)); /* without the room to spare */
	c->kind.openapi = strbuf_str(&c->openapi);
	return rc;
}

struct crd_forms *crd_forms_new(const struct obj *crd)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	struct crd_forms *f = xcalloc(1, sizeof(*f));
	f->refs = 1;
	f->arena = arena_new(CRD_KIND_BYTES_MAX);
	f->n = obj_len(list);
	f->items = ARENA_ARRAY(f->arena, struct kind_form, f->n);
	f->owned = ARENA_ARRAY(f->arena, struct schema *, f->n);
	for (size_t i = 0; i < f->n; i++) {
		const struct obj *openapi = obj_path(obj_at(list, i), "schema.openAPIV3Schema");
		struct error ignored = ERROR_INIT; /* crd_kind_new() tells */
		f->items[i].version = text_of(obj_at(list, i), "name", f->arena);
		if (openapi && schema_compile(openapi, &f->owned[i], &ignored) == 0)
			f->items[i].schema = f->owned[i];
	}
	return f;
}

void crd_forms_unref(struct crd_forms *f)
{
	if (!f || --f->refs > 0)
		return;
	for (size_t i = 0; i < f->n; i++)
		schema_free(f->owned[i]);
	arena_free(f->arena);
	xfree(f);
}

static int set_schema(struct crd_kind *c, const struct obj *version, struct error *err)
{
	struct kind *k = &c->kind;
	const struct obj *openapi = obj_path(version, "schema.openAPIV3Schema");
	CLEANUP(schema_freep) struct schema *refused = NULL;
	k->forms = c->forms->items;
	k->n_forms = c->forms->n;
	k->schema = kind_form_schema(k, k->version);
	if (!openapi)
		return 0;
	return !k->schema && schema_compile(openapi, &refused, err) < 0
		       ? -err->code
		       : pack_openapi(c, openapi, err);
}

int crd_kind_new(const struct obj *crd, const struct obj *version, struct crd_forms *forms,
		 uint32_t stamp, struct kind **ret, struct error *err)
{
	struct crd_kind *c = xcalloc(1, sizeof(*c));
	struct kind *k = &c->kind;
	const struct obj *names = obj_path(crd, "spec.names");
	struct arena *a = c->arena = arena_new(CRD_KIND_BYTES_MAX);
	strbuf_init(&c->openapi, CRD_KIND_BYTES_MAX);
	c->forms = forms;
	forms->refs++;
	k->version = text_of(version, "name", a);
	if (set_schema(c, version, err) < 0) {
		crd_kind_free(k);
		return error_wrap(err, "schema of %s", meta_name(crd));
	}
	k->group = text_of(crd, "spec.group", a);
	k->kind = text_of(names, "kind", a);
	k->list_kind = text_of(names, "listKind", a);
	k->plural = text_of(names, "plural", a);
	k->singular = text_of(names, "singular", a);
	k->short_names = strings_of(obj_get(names, "shortNames"), a);
	k->categories = strings_of(obj_get(names, "categories"), a);
	k->verbs = VERB_ALL;
	k->flags = KIND_CUSTOM | KIND_GENERATION;
	k->crd_name = arena_strdup(a, meta_name(crd));
	k->stamp = stamp;
	k->storage_version = storage_version_of(crd, a);
	if (cstr_eq(k->storage_version, k->version))
		k->flags |= KIND_STORAGE;
	if (cstr_eq(obj_str(crd, "spec.scope"), "Namespaced"))
		k->flags |= KIND_NAMESPACED;
	if (crd_has_converter(crd))
		k->converter = c->converter = obj_copy(obj_path(crd, "spec.conversion"));
	set_columns(c, version);
	set_selectable(c, version);
	set_subresources(c, version);
	set_deprecation(c, crd, version);
	*ret = k;
	return 0;
}

/* Without short names: each would be one of two. */
struct kind *crd_door_new(const struct obj *crd, const char *group, const char *version,
			  const char *v)
{
	struct crd_kind *c = xcalloc(1, sizeof(*c));
	struct kind *k = &c->kind;
	const struct obj *names = obj_path(crd, "spec.names");
	struct arena *a = c->arena = arena_new(CRD_KIND_BYTES_MAX);
	k->group = arena_strdup(a, group);
	k->version = arena_strdup(a, version);
	k->kind = text_of(names, "kind", a);
	k->list_kind = text_of(names, "listKind", a);
	k->plural = text_of(names, "plural", a);
	k->singular = text_of(names, "singular", a);
	k->verbs = VERB_CREATE | VERB_GET | VERB_UPDATE | VERB_PATCH | VERB_DELETE;
	k->flags = KIND_CUSTOM;
	if (cstr_eq(obj_str(crd, "spec.scope"), "Namespaced"))
		k->flags |= KIND_NAMESPACED;
	k->crd_name = arena_strdup(a, meta_name(crd));
	k->storage_version = k->version;
	k->legacy_group = text_of(crd, "spec.group", a);
	k->legacy_version = arena_strdup(a, v);
	return k;
}

void crd_kind_free(struct kind *k)
{
	struct crd_kind *c = CONTAINER_OF(k, struct crd_kind, kind);
	crd_forms_unref(c->forms);
	obj_unref(c->converter);
	strbuf_release(&c->openapi);
	arena_free(c->arena);
	xfree(c);
}

static bool crd_schemas_equal(const struct obj *versions)
{
	const struct obj *first = obj_path(obj_at(versions, 0), "schema");
	for (size_t i = 1; i < obj_len(versions); i++) {
		const struct obj *s = obj_path(obj_at(versions, i), "schema");
		if (!s || !first || !obj_equal(s, first))
			return false;
	}
	return true;
}

void crd_to_v1beta1(struct obj *o)
{
	struct obj *spec = obj_get_mut(o, "spec");
	const struct obj *first = obj_at(obj_get(spec, "versions"), 0);
	const char *version = obj_str(first, "name");
	if (version)
		obj_set_str(spec, "version", version);
	if (crd_schemas_equal(obj_get(spec, "versions")) && obj_get(first, "schema"))
		obj_set(spec, "validation", obj_ref(obj_get(first, "schema")));
}
