#include "alm/sources/inplace.h"

#include <assert.h>
#include <string.h>

#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/sources/inplace_check.h"
#include "alm/sources/oci.h"
#include "crds/marks.h"
#include "installers/chart/archive.h"

#define PLACE          "spec.inPlace" /* of the Catalog */
#define CATALOG_PREFIX "apptype-"

const char *inplace_catalog_name(const char *app, struct arena *a)
{
	return arena_fmt(a, CATALOG_PREFIX "%s", app);
}

/* ---- the fields and their version ---- */

const char *inplace_tag(const struct obj *apptype, struct arena *a)
{
	const char *text = inplace_operator_ref(obj_get(apptype, "spec"), a);
	struct oci_reference ref;
	struct error ignored;
	if (!text || oci_reference_parse(str_of(text), a, &ref, &ignored) < 0)
		return NULL;
	return ref.digest || !ref.tag ? NULL : text;
}

/* Of "1.0.N". 0: it is another's. */
static int64_t number_of(const char *version)
{
	static const char prefix[] = "1.0.";
	int64_t n = 0;
	if (!version || !cstr_has_prefix(version, prefix))
		return 0;
	return str_parse_i64(str_of(version + strlen(prefix)), &n) ? n : 0;
}

/* Never one that was there with other fields; without the Catalog what is installed tells. */
static struct obj *next_version(const struct obj *apptype, const struct obj *former)
{
	int64_t n = meta_generation(apptype);
	int64_t after = former ? number_of(obj_str(former, "version")) + 1
			       : number_of(obj_str(apptype, "status.installedVersion"));
	return obj_stringf("1.0.%lld", (long long)(after > n ? after : n));
}

/* How something is read is not what it is. */
static void drop_secrets(struct obj *package)
{
	const struct obj *list = obj_get(package, "resources");
	struct obj *rows = obj_list();
	obj_del_path(package, "operator.secretRef");
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *row = obj_copy(obj_at(list, i));
		obj_del(row, "secretRef");
		obj_append(rows, row);
	}
	if (obj_len(rows))
		obj_set(package, "resources", rows);
	else
		obj_unref(rows);
}

struct obj *inplace_of(const struct obj *apptype, const char *self_ref, const char *digest,
		       const struct obj *former)
{
	static const char *const fields[] = {"resources", "operator"};
	CLEANUP(obj_unrefp) struct obj *package = obj_map();
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(INPLACE_BYTES_MAX);
	struct obj *ret = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *o = obj_get(obj_get(apptype, "spec"), fields[i]);
		if (obj_is_set(o))
			obj_set(package, fields[i], obj_copy(o));
	}
	drop_secrets(package);
	if (digest)
		obj_set_path(package, "operator.helmChart.template",
			     obj_stringf("%s@sha256:%s",
					 obj_str(package, "operator.helmChart.template"), digest));
	json_print_canonical(package, &text);
	const char *version = obj_str(former, "version");
	bool is_same = version && cstr_eq(obj_str(former, "package"), text.buf) &&
		       cstr_eq(obj_str(former, "appType"), self_ref);
	obj_set_str(ret, "name", meta_name(apptype));
	obj_set_str(ret, "appType", self_ref);
	obj_set_str(ret, "package", text.buf);
	obj_set(ret, "version", is_same ? obj_string(version) : next_version(apptype, former));
	return ret;
}

/* The fields of a spec.inPlace, in the arena. */
static int read_package(const struct obj *inplace, struct arena *a, const struct obj **ret,
			struct error *err)
{
	static const char *const required[] = {"name", "appType", "version", "package"};
	struct obj *package = NULL;
	for (size_t i = 0; i < ARRAY_LEN(required); i++)
		if (!obj_str(inplace, required[i]))
			return error_set(err, E_INVALID, "%s.%s: required; ALM writes it", PLACE,
					 required[i]);
	if (!name_is_dns_subdomain(str_of(obj_str(inplace, "name"))))
		return error_set(err, E_INVALID, PLACE ".name: %.100s is no name",
				 obj_str(inplace, "name"));
	if (json_parse(str_of(obj_str(inplace, "package")), &package, err) < 0)
		return error_wrap(err, PLACE ".package");
	obj_keep(a, package);
	const char *why = inplace_package_problem(package, a);
	if (why)
		return error_set(err, E_INVALID, PLACE ".package: %s", why);
	*ret = package;
	return 0;
}

int inplace_operator(const struct obj *inplace, struct arena *a, const char **ret,
		     struct error *err)
{
	const struct obj *package;
	if (read_package(inplace, a, &package, err) < 0)
		return -err->code;
	*ret = inplace_operator_ref(package, a);
	return 0;
}

/* ---- the chart ---- */

static struct obj *outputs_schema(const struct obj *list)
{
	struct obj *properties = obj_map(), *ret = obj_map();
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		const struct inplace_output_type *t = inplace_output_type(obj_str(o, "type"));
		assert(t); /* inplace_problem() */
		struct obj *x = obj_map();
		obj_set_str(x, "type", t->type);
		if (t->format)
			obj_set_str(x, "format", t->format);
		if (obj_str(o, "description"))
			obj_set_str(x, "description", obj_str(o, "description"));
		obj_set(properties, obj_str(o, "name"), x);
	}
	obj_set_str(ret, "type", "object");
	obj_set(ret, "properties", properties);
	return ret;
}

static struct obj *open_object(void)
{
	struct obj *o = obj_map();
	obj_set_str(o, "type", "object");
	obj_set_bool(o, "x-kubernetes-preserve-unknown-fields", true);
	return o;
}

static struct obj *version_of(const struct obj *resource)
{
	struct obj *v = obj_map(), *status = open_object(), *schema = obj_map();
	obj_set_str(v, "name", obj_str(resource, "spec.version"));
	obj_set_bool(v, "served", true);
	obj_set_bool(v, "storage", true);
	obj_set(v, "subresources", obj_map());
	obj_set_path(v, "subresources.status", obj_map());
	obj_set_str(schema, "type", "object");
	obj_set(schema, "properties", obj_map());
	obj_set_path(schema, "properties.spec", open_object());
	if (obj_len(obj_get(resource, "outputs"))) {
		obj_set(status, "properties", obj_map());
		obj_set_path(status, "properties.outputs",
			     outputs_schema(obj_get(resource, "outputs")));
	}
	obj_set_path(schema, "properties.status", status);
	obj_set(v, "schema", obj_map());
	obj_set_path(v, "schema.openAPIV3Schema", schema);
	return v;
}

struct obj *inplace_crd(const struct obj *resource, const char *self_ref)
{
	const struct obj *from = obj_get(resource, "spec");
	const char *kind = obj_str(from, "names.kind"), *scope = obj_str(from, "scope");
	struct obj *crd = meta_skeleton("apiextensions.k8s.io/v1", "CustomResourceDefinition", NULL,
					obj_str(resource, "name"));
	struct obj *spec = obj_map(), *names = obj_copy(obj_get(from, "names")),
		   *versions = obj_list();
	meta_set_annotation(crd, ANNOTATION_OWNER, self_ref);
	if (!obj_str(names, "listKind"))
		obj_set(names, "listKind", obj_stringf("%sList", kind));
	obj_set_str(spec, "group", obj_str(from, "group"));
	obj_set_str(spec, "scope", scope ? scope : "Namespaced");
	obj_set(spec, "names", names);
	obj_append(versions, version_of(resource));
	obj_set(spec, "versions", versions);
	obj_set(crd, "spec", spec);
	return crd;
}

static int add_json(struct arena *a, struct archive_files *files, struct archive_budget *budget,
		    const char *path, struct obj *owned, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(budget->limits->file_bytes);
	json_print_canonical(owned, &b);
	obj_unref(owned);
	return archive_files_add(a, files, path, str_of(arena_text(a, b.buf, b.len)), budget, err);
}

/* The chart's name is the last part of its repository's, as `helm push` has it. */
static const char *operator_name(const struct oci_reference *ref)
{
	const char *slash = strrchr(ref->name, '/');
	return slash ? slash + 1 : ref->name;
}

static int add_operator(struct arena *a, struct archive_files *files, struct archive_budget *budget,
			const struct obj *package, struct str archive, struct error *err)
{
	struct oci_reference ref;
	const struct obj *given = obj_path(package, "operator.helmChart.values");
	const char *operator_ref = inplace_operator_ref(package, a);
	if (!operator_ref)
		return 0;
	if (oci_reference_parse(str_of(operator_ref), a, &ref, err) < 0)
		return -err->code;
	const char *name = operator_name(&ref), *path = arena_fmt(a, "charts/%s.tgz", name);
	if (archive_files_add(a, files, path, archive, budget, err) < 0)
		return -err->code;
	struct obj *values = obj_map();
	obj_set(values, name, obj_type(given) == OBJ_MAP ? obj_copy(given) : obj_map());
	return add_json(a, files, budget, "values.yaml", values, err);
}

/* A dependency that its archive does not hold is an error of the chart's, so the name is checked. */
static struct obj *chart_yaml(const struct obj *inplace, const struct obj *package, struct arena *a)
{
	struct obj *o = obj_map();
	struct oci_reference ref;
	struct error ignored;
	const char *operator_ref = inplace_operator_ref(package, a);
	obj_set_str(o, "apiVersion", "v2");
	obj_set_str(o, "name", obj_str(inplace, "name"));
	obj_set_str(o, "version", obj_str(inplace, "version"));
	if (operator_ref && oci_reference_parse(str_of(operator_ref), a, &ref, &ignored) == 0) {
		struct obj *list = obj_list(), *d = obj_map();
		obj_set_str(d, "name", operator_name(&ref));
		obj_set_str(d, "version", "*");
		obj_append(list, d);
		obj_set(o, "dependencies", list);
	}
	return o;
}

int inplace_archive(const struct obj *inplace, struct str operator_chart, struct strbuf *b,
		    struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)128 << 20);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct archive_files files = {0};
	const struct obj *package;
	const char *self_ref = obj_str(inplace, "appType");
	if (read_package(inplace, a, &package, err) < 0)
		return -err->code;
	struct obj *alm_yaml = obj_map();
	obj_set_str(alm_yaml, "appType", self_ref);
	if (add_json(a, &files, &budget, "alm.yaml", alm_yaml, err) < 0 ||
	    add_json(a, &files, &budget, "Chart.yaml", chart_yaml(inplace, package, a), err) < 0 ||
	    add_operator(a, &files, &budget, package, operator_chart, err) < 0)
		return -err->code;
	const struct obj *list = obj_get(package, "resources");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *r = obj_at(list, i);
		const char *path = arena_fmt(a, "crds/%s.yaml", obj_str(r, "name"));
		if (add_json(a, &files, &budget, path, inplace_crd(r, self_ref), err) < 0)
			return -err->code;
	}
	return archive_write(&files, obj_str(inplace, "name"), b, err);
}
