#include "alm/sources/inplace.h"

#include <assert.h>
#include <string.h>

#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/sources/oci.h"
#include "catalog/index/package.h"
#include "crds/defaults.h"
#include "crds/marks.h"
#include "installers/chart/archive.h"

#define PLACE          "spec.inPlace" /* of the Catalog */
#define CATALOG_PREFIX "apptype-"

/* What an output may be, and how a schema says so. */
static const struct output_type {
	const char *name, *type, *format;
} output_types[] = {
	{"string", "string", NULL}, {"url", "string", "uri"},     {"integer", "integer", "int64"},
	{"number", "number", NULL}, {"boolean", "boolean", NULL},
};

/* What a package in place leaves no room for. */
static const char *const elsewhere[] = {"spec.package", "spec.catalog", "spec.version"};

bool inplace_is(const struct obj *apptype)
{
	return obj_len(obj_path(apptype, "spec.resources")) ||
	       obj_is_set(obj_path(apptype, "spec.operator"));
}

const char *inplace_catalog_name(const char *app, struct arena *a)
{
	return arena_fmt(a, CATALOG_PREFIX "%s", app);
}

/* ---- what is accepted ---- */

static const struct output_type *output_type(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(output_types); i++)
		if (cstr_eq(name ? name : "string", output_types[i].name))
			return &output_types[i];
	return NULL;
}

static const char *output_problem(const struct obj *list, const char *at, struct arena *a)
{
	if (obj_len(list) > INPLACE_OUTPUTS_MAX)
		return arena_fmt(a, "%s.outputs: %zu of them, at most %d", at, obj_len(list),
				 INPLACE_OUTPUTS_MAX);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		const char *name = obj_str(o, "name"), *type = obj_str(o, "type");
		if (!name || !*name)
			return arena_fmt(a, "%s.outputs[%zu].name: required", at, i);
		for (size_t k = 0; k < i; k++)
			if (cstr_eq(obj_str(obj_at(list, k), "name"), name))
				return arena_fmt(a, "%s.outputs[%zu].name: %s is there twice", at,
						 i, name);
		if (!output_type(type))
			return arena_fmt(a,
					 "%s.outputs[%zu].type: %s is none; use string, url, "
					 "integer, number or boolean",
					 at, i, type);
	}
	return NULL;
}

static const char *text_problem(const struct obj *spec, const char *path, const char *at,
				struct arena *a)
{
	const char *text = obj_str(spec, path);
	return text && *text ? NULL : arena_fmt(a, "%s.spec.%s: required", at, path);
}

/* A kind is a label in mixed case. */
static const char *name_problem(const char *name, enum name_rule rule, bool is_mixed,
				const char *field, struct arena *a)
{
	char *lower = arena_strdup(a, name ? name : "a");
	for (char *p = lower; is_mixed && *p; p++)
		*p = char_lower(*p);
	const char *fault = name_fault(rule, str_of(lower));
	return fault ? arena_fmt(a, "%s: %.100s: %s", field, name, fault) : NULL;
}

static const char *names_problem(const struct obj *spec, const char *at, struct arena *a)
{
	static const struct {
		const char *path;
		enum name_rule rule;
		bool is_mixed;
	} fields[] = {
		{"group", NAME_DNS_SUBDOMAIN, false},
		{"version", NAME_DNS1035_LABEL, false},
		{"names.plural", NAME_DNS1035_LABEL, false},
		{"names.singular", NAME_DNS1035_LABEL, false},
		{"names.kind", NAME_DNS1035_LABEL, true},
		{"names.listKind", NAME_DNS1035_LABEL, true},
	};
	static const char *const lists[] = {"shortNames", "categories"};
	const char *why = NULL;
	for (size_t i = 0; i < ARRAY_LEN(fields) && !why; i++)
		why = name_problem(obj_str(spec, fields[i].path), fields[i].rule,
				   fields[i].is_mixed,
				   arena_fmt(a, "%s.spec.%s", at, fields[i].path), a);
	for (size_t k = 0; k < ARRAY_LEN(lists) && !why; k++) {
		const struct obj *list = obj_get(obj_get(spec, "names"), lists[k]);
		for (size_t i = 0; i < obj_len(list) && !why; i++)
			why = name_problem(
				obj_as_string(obj_at(list, i)), NAME_DNS1035_LABEL, false,
				arena_fmt(a, "%s.spec.names.%s[%zu]", at, lists[k], i), a);
	}
	return why;
}

static bool is_secret_ref(const struct obj *o)
{
	const char *ns = obj_str(o, "namespace");
	return !obj_is_set(o) || (obj_str(o, "name") && (!ns || !strcmp(ns, INPLACE_NAMESPACE)));
}

static const char *resource_problem(const struct obj *o, const char *at, struct arena *a)
{
	static const char *const known[] = {"group", "version", "scope", "names", NULL};
	static const char *const names[] = {"plural",     "singular",   "kind", "listKind",
					    "shortNames", "categories", NULL};
	static const char *const required[] = {"group", "version", "names.plural", "names.kind"};
	const struct obj *spec = obj_get(o, "spec");
	const char *why = NULL;
	for (size_t i = 0; i < ARRAY_LEN(required) && !why; i++)
		why = text_problem(spec, required[i], at, a);
	if (!why)
		why = names_problem(spec, at, a);
	if (why)
		return why;
	const char *other = obj_unknown_member(spec, known);
	if (other)
		return arena_fmt(a, "%s.spec.%s: not known; use group, version, scope and names",
				 at, other);
	other = obj_unknown_member(obj_get(spec, "names"), names);
	if (other)
		return arena_fmt(a, "%s.spec.names.%s: not known", at, other);
	const char *scope = obj_str(spec, "scope"), *name = obj_str(o, "name");
	if (scope && strcmp(scope, "Namespaced") != 0 && strcmp(scope, "Cluster") != 0)
		return arena_fmt(a, "%s.spec.scope: %s is none; use Namespaced or Cluster", at,
				 scope);
	const char *want =
		arena_fmt(a, "%s.%s", obj_str(spec, "names.plural"), obj_str(spec, "group"));
	if (!cstr_eq(name, want))
		return arena_fmt(a, "%s.name: want %s, of names.plural and group", at, want);
	if (!is_secret_ref(obj_get(o, "secretRef")))
		return arena_fmt(a,
				 "%s.secretRef: want the name of a Secret in "
				 "namespace " INPLACE_NAMESPACE,
				 at);
	return output_problem(obj_get(o, "outputs"), at, a);
}

/* Of what has the fields, as an "oci://" reference. */
static const char *operator_of(const struct obj *spec, struct arena *a)
{
	const char *ref = obj_str(spec, "operator.helmChart.template");
	if (!ref)
		return NULL;
	return cstr_has_prefix(ref, "oci://") ? ref : arena_fmt(a, "oci://%s", ref);
}

static const char *operator_problem(const struct obj *spec, struct arena *a)
{
	static const char *const known[] = {"type", "helmChart", "secretRef", NULL};
	static const char *const chart[] = {"template", "values", NULL};
	const struct obj *o = obj_get(spec, "operator");
	struct oci_reference ref;
	struct error err = ERROR_INIT;
	if (!obj_is_set(o))
		return NULL;
	const char *type = obj_str(o, "type"), *other = obj_unknown_member(o, known);
	if (type && strcmp(type, "helm") != 0)
		return arena_fmt(a, "spec.operator.type: %s is not installed; use helm", type);
	if (!other)
		other = obj_unknown_member(obj_get(o, "helmChart"), chart);
	if (other)
		return arena_fmt(a,
				 "spec.operator: %s is not known; use type, secretRef, "
				 "helmChart.template and "
				 "helmChart.values",
				 other);
	if (!is_secret_ref(obj_get(o, "secretRef")))
		return "spec.operator.secretRef: want the name of a Secret in "
		       "namespace " INPLACE_NAMESPACE;
	enum obj_type values = obj_type(obj_path(o, "helmChart.values"));
	if (values != OBJ_ABSENT && values != OBJ_NULL && values != OBJ_MAP)
		return "spec.operator.helmChart.values: want an object";
	const char *text = operator_of(spec, a);
	if (!text)
		return "spec.operator.helmChart.template: required; name the chart as "
		       "HOST/NAME:TAG or HOST/NAME@sha256:DIGEST";
	if (oci_reference_parse(str_of(text), a, &ref, &err) < 0)
		return arena_fmt(a,
				 "spec.operator.helmChart.template: %s; name the chart as "
				 "HOST/NAME@sha256: with the 64 hex digits of its manifest",
				 err.msg);
	if (!ref.digest && !ref.tag)
		return "spec.operator.helmChart.template: name the chart as HOST/NAME:TAG, or as "
		       "HOST/NAME@sha256: with the 64 hex digits of its manifest";
	return NULL;
}

/* Of what has the fields, an AppType's spec or a Catalog's spec.inPlace. */
static const char *package_problem(const struct obj *spec, struct arena *a)
{
	const struct obj *list = obj_get(spec, "resources");
	size_t n = obj_len(list);
	if (n > INPLACE_RESOURCES_MAX)
		return arena_fmt(a, "spec.resources: %zu of them, at most %d", n,
				 INPLACE_RESOURCES_MAX);
	for (size_t i = 0; i < n; i++) {
		const struct obj *o = obj_at(list, i);
		const char *at = arena_fmt(a, "spec.resources[%zu]", i);
		const char *why = resource_problem(o, at, a);
		for (size_t k = 0; k < i && !why; k++)
			if (cstr_eq(obj_str(obj_at(list, k), "name"), obj_str(o, "name")))
				why = arena_fmt(a, "%s.name: %s is there twice", at,
						obj_str(o, "name"));
		if (why)
			return why;
	}
	return operator_problem(spec, a);
}

const char *inplace_problem(const struct obj *apptype, struct arena *a)
{
	if (!inplace_is(apptype))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++)
		if (obj_str(apptype, elsewhere[i]))
			return arena_fmt(
				a,
				"%s: the package of this AppType is its own spec.resources and "
				"spec.operator; remove these or %s",
				elsewhere[i], elsewhere[i]);
	const char *channel = obj_str(apptype, "spec.channel");
	if (channel && strcmp(channel, APPTYPE_CHANNEL) != 0)
		return arena_fmt(
			a,
			"spec.channel: the package of this AppType, its own spec.resources "
			"and spec.operator, has no channel %s; remove the field",
			channel);
	if (strlen(meta_name(apptype)) > PACKAGE_NAME_BYTES_MAX)
		return arena_fmt(a, "metadata.name: a package in place has at most %d characters",
				 PACKAGE_NAME_BYTES_MAX);
	return package_problem(obj_get(apptype, "spec"), a);
}

/* ---- the fields and their version ---- */

const char *inplace_tag(const struct obj *apptype, struct arena *a)
{
	const char *text = operator_of(obj_get(apptype, "spec"), a);
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
	const char *why = package_problem(package, a);
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
	*ret = operator_of(package, a);
	return 0;
}

/* ---- the chart ---- */

static struct obj *outputs_schema(const struct obj *list)
{
	struct obj *properties = obj_map(), *ret = obj_map();
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		const struct output_type *t = output_type(obj_str(o, "type"));
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
	const char *operator_ref = operator_of(package, a);
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
	const char *operator_ref = operator_of(package, a);
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
