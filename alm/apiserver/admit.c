/* admit: see admit.h. One function a kind; to add one, a row in the table. */
#include "alm/apiserver/admit.h"

#include <string.h>

#include "alm/apiserver/auth/approval.h"
#include "alm/apiserver/auth/rbac.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/kinds/defaults.h"
#include "alm/apiserver/status.h"
#include "alm/base/hash.h"
#include "alm/obj/meta.h"

/* NULL is every group, every plural. */
static const struct {
	const char *group, *plural, *path;
	enum obj_type type;
} types[] = {
	{NULL, NULL, "spec", OBJ_MAP},
	{NULL, NULL, "status", OBJ_MAP},
	{NULL, NULL, "status.conditions", OBJ_LIST},
	{"", "namespaces", "spec.finalizers", OBJ_LIST},
	{"", "configmaps", "data", OBJ_MAP},
	{"", "configmaps", "binaryData", OBJ_MAP},
	{"", "configmaps", "immutable", OBJ_BOOL},
	{"", "secrets", "data", OBJ_MAP},
	{"", "secrets", "stringData", OBJ_MAP},
	{"", "secrets", "type", OBJ_STRING},
	{"", "secrets", "immutable", OBJ_BOOL},
	{"", "events", "involvedObject", OBJ_MAP},
	{"", "events", "source", OBJ_MAP},
	{"apps", NULL, "spec.replicas", OBJ_INT},
	{"apps", NULL, "spec.template", OBJ_MAP},
	{"apps", NULL, "spec.selector", OBJ_MAP},
	{"batch", NULL, "spec.template", OBJ_MAP},
	{"rbac.authorization.k8s.io", NULL, "rules", OBJ_LIST},
	{"rbac.authorization.k8s.io", NULL, "subjects", OBJ_LIST},
	{"rbac.authorization.k8s.io", NULL, "roleRef", OBJ_MAP},
	{"rbac.authorization.k8s.io", NULL, "aggregationRule", OBJ_MAP},
	{"rbac.authorization.k8s.io", NULL, "aggregationRule.clusterRoleSelectors", OBJ_LIST},
	{CRD_GROUP, NULL, "spec.group", OBJ_STRING},
	{CRD_GROUP, NULL, "spec.scope", OBJ_STRING},
	{CRD_GROUP, NULL, "spec.names", OBJ_MAP},
	{CRD_GROUP, NULL, "spec.names.plural", OBJ_STRING},
	{CRD_GROUP, NULL, "spec.names.kind", OBJ_STRING},
	{CRD_GROUP, NULL, "spec.names.singular", OBJ_STRING},
	{CRD_GROUP, NULL, "spec.names.listKind", OBJ_STRING},
	{CRD_GROUP, NULL, "spec.names.shortNames", OBJ_LIST},
	{CRD_GROUP, NULL, "spec.names.categories", OBJ_LIST},
	{CRD_GROUP, NULL, "spec.conversion", OBJ_MAP},
	{CRD_GROUP, NULL, "spec.versions", OBJ_LIST},
	{CRD_GROUP, NULL, "status.storedVersions", OBJ_LIST},
};

/* The same of the versions of a definition, and of the columns of one. */
static const struct {
	const char *list, *member; /* list "": the version itself */
	enum obj_type type;
} version_types[] = {
	{"", "name", OBJ_STRING},
	{"", "served", OBJ_BOOL},
	{"", "storage", OBJ_BOOL},
	{"", "deprecated", OBJ_BOOL},
	{"", "deprecationWarning", OBJ_STRING},
	{"", "schema", OBJ_MAP},
	{"", "schema.openAPIV3Schema", OBJ_MAP},
	{"", "subresources", OBJ_MAP},
	{"", "subresources.status", OBJ_MAP},
	{"", "subresources.scale", OBJ_MAP},
	{"", "subresources.scale.specReplicasPath", OBJ_STRING},
	{"", "subresources.scale.statusReplicasPath", OBJ_STRING},
	{"", "subresources.scale.labelSelectorPath", OBJ_STRING},
	{"", "additionalPrinterColumns", OBJ_LIST},
	{"", "selectableFields", OBJ_LIST},
	{"additionalPrinterColumns", "name", OBJ_STRING},
	{"additionalPrinterColumns", "type", OBJ_STRING},
	{"additionalPrinterColumns", "format", OBJ_STRING},
	{"additionalPrinterColumns", "description", OBJ_STRING},
	{"additionalPrinterColumns", "priority", OBJ_INT},
	{"additionalPrinterColumns", "jsonPath", OBJ_STRING},
	{"selectableFields", "jsonPath", OBJ_STRING},
};

static const char *go_found(const struct obj *v)
{
	switch (obj_type(v)) {
	case OBJ_BOOL:
		return "bool";
	case OBJ_LIST:
		return "array";
	case OBJ_MAP:
		return "object";
	case OBJ_STRING:
		return "string";
	case OBJ_INT:
	case OBJ_DOUBLE:
	case OBJ_NULL:
	case OBJ_ABSENT:
		break;
	}
	return "number";
}

static int wrong_type(struct mutation *m, const char *path, const struct obj *v, const char *want,
		      struct error *err)
{
	const struct kind *k = m->kind;
	return fail_code(
		m->r, E_BADREQUEST, err,
		"%s in version \"%s\" cannot be handled as a %s: json: cannot unmarshal %s into "
		"Go struct field %s.%s of type %s",
		k->kind, k->version, k->kind, go_found(v), k->kind, path, want);
}

static bool applies(const char *want, const char *have)
{
	return !want || cstr_eq(want, have);
}

/* Elements of the lists above that are read as objects or strings. */
static int check_elements(struct mutation *m, const char *path, const struct obj *list,
			  struct error *err)
{
	bool texts = cstr_has_suffix(path, "inalizers") || cstr_has_suffix(path, "Names") ||
		     cstr_has_suffix(path, "ategories") || cstr_has_suffix(path, "storedVersions");
	enum obj_type want = texts ? OBJ_STRING : OBJ_MAP;
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_type(obj_at(list, i)) != want)
			return wrong_type(m, path, obj_at(list, i), obj_type_name(want), err);
	return 0;
}

static int check_member(struct mutation *m, const struct obj *o, const char *member,
			enum obj_type type, const char *list, struct error *err)
{
	const struct obj *v = obj_path(o, member);
	if (obj_type(v) <= OBJ_NULL || obj_type(v) == type)
		return 0;
	return wrong_type(
		m, arena_fmt(m->r->arena, "spec.versions%s%s.%s", *list ? "." : "", list, member),
		v, obj_type_name(type), err);
}

static int check_version(struct mutation *m, const struct obj *version, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(version_types); i++) {
		const char *name = version_types[i].list, *member = version_types[i].member;
		const struct obj *list = obj_get(version, name);
		if (!*name && check_member(m, version, member, version_types[i].type, "", err) < 0)
			return -err->code;
		for (size_t k = 0; *name && k < obj_len(list); k++) {
			if (obj_type(obj_at(list, k)) != OBJ_MAP)
				return wrong_type(m,
						  arena_fmt(m->r->arena, "spec.versions.%s", name),
						  obj_at(list, k), obj_type_name(OBJ_MAP), err);
			if (check_member(m, obj_at(list, k), member, version_types[i].type, name,
					 err) < 0)
				return -err->code;
		}
	}
	return 0;
}

int admit_types(struct mutation *m, struct error *err)
{
	if (m->kind->flags & KIND_CUSTOM)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (!applies(types[i].group, m->resource->group) ||
		    !applies(types[i].plural, m->resource->plural))
			continue;
		const char *path = types[i].path;
		const struct obj *v = obj_path(m->after, path);
		if (obj_type(v) == OBJ_NULL) {
			obj_del_path(m->after, path);
			continue;
		}
		if (v && obj_type(v) != types[i].type)
			return wrong_type(m, path, v, obj_type_name(types[i].type), err);
		if (obj_type(v) == OBJ_LIST && check_elements(m, path, v, err) < 0)
			return -err->code;
	}
	const struct obj *versions =
		cstr_eq(m->resource->group, CRD_GROUP) ? obj_path(m->after, "spec.versions") : NULL;
	for (size_t i = 0; i < obj_len(versions); i++)
		if (check_version(m, obj_at(versions, i), err) < 0)
			return -err->code;
	return 0;
}

static void namespace_default(struct mutation *m)
{
	struct obj *o = m->after;
	if (m->head && !cstr_eq(m->r->subresource, "finalize")) {
		const struct obj *f = obj_path(m->before, "spec.finalizers");
		obj_del_path(o, "spec.finalizers");
		if (f)
			obj_set_path(o, "spec.finalizers", obj_ref(f));
	}
	if (m->name)
		meta_set_label(o, "kubernetes.io/metadata.name", m->name);
}

static void namespace_late(struct mutation *m)
{
	if (m->head)
		return;
	if (!obj_path(m->after, "spec.finalizers")) {
		struct obj *list = obj_list();
		obj_append(list, obj_string("kubernetes"));
		obj_set_path(m->after, "spec.finalizers", list);
	}
	obj_set_path(m->after, "status.phase", obj_string("Active"));
}

static void secret_default(struct mutation *m)
{
	struct obj *o = m->after;
	const struct obj *plain = obj_get(o, "stringData");
	OBJ_EACH (it, plain) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
		base64_encode(obj_as_str(it.value), &b);
		if (!obj_get(o, "data"))
			obj_set(o, "data", obj_map());
		obj_set(obj_get_mut(o, "data"), it.key, obj_string(b.buf));
	}
	obj_del(o, "stringData");
	if (!obj_str(o, "type") || !*obj_str(o, "type"))
		obj_set_str(o, "type", "Opaque");
}

static void event_late(struct mutation *m)
{
	struct obj *o = m->after;
	if (!obj_has(o, "eventTime"))
		obj_set(o, "eventTime", obj_null());
	if (!obj_has(o, "reportingComponent"))
		obj_set_str(o, "reportingComponent", "");
	if (!obj_has(o, "reportingInstance"))
		obj_set_str(o, "reportingInstance", "");
}

static void event_validate(struct mutation *m, struct field_errors *e)
{
	const char *ns = obj_str(m->after, "involvedObject.namespace");
	bool fits = ns && *ns ? cstr_eq(ns, m->ns) : cstr_eq(m->ns, "default");
	/* Events of nodes and the like may also stand in kube-system. */
	if (!fits && !(!(ns && *ns) && cstr_eq(m->ns, "kube-system")))
		field_errors_add(e, FIELD_INVALID, "involvedObject.namespace",
				 "Invalid value: \"%s\": does not match event.namespace",
				 ns ? ns : "");
}

static bool same(const struct obj *a, const struct obj *b)
{
	if (!obj_len(a) && !obj_len(b))
		return true;
	return a && b && obj_equal(a, b);
}

static void immutable_validate(struct mutation *m, struct field_errors *e)
{
	static const char *const fields[] = {"data", "binaryData"};
	if (!m->head || !obj_flag(m->before, "immutable", false))
		return;
	if (!obj_flag(m->after, "immutable", false))
		field_errors_add(e, FIELD_FORBIDDEN, "immutable",
				 "Forbidden: field is immutable when `immutable` is set");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!same(obj_get(m->before, fields[i]), obj_get(m->after, fields[i])))
			field_errors_add(e, FIELD_FORBIDDEN, fields[i],
					 "Forbidden: field is immutable when `immutable` is set");
}

static void secret_validate(struct mutation *m, struct field_errors *e)
{
	const char *type = obj_str(m->after, "type");
	immutable_validate(m, e);
	if (m->head && !cstr_eq(obj_str(m->before, "type"), type))
		field_errors_add(e, FIELD_INVALID, "type",
				 "Invalid value: \"%s\": field is immutable", type ? type : "");
}

static void crd_default_of(struct mutation *m)
{
	crd_default(m->after);
}

static void crd_late(struct mutation *m)
{
	if (!m->is_status)
		crd_set_status(m->r->server->crds, m->after, m->before, request_now(m->r));
}

static void crd_validate_of(struct mutation *m, struct field_errors *e)
{
	crd_validate(m->r->server->crds, m->after, m->before, e);
	if (!m->is_status && crd_has_converter(m->after))
		request_warn(m->r, "spec.conversion: no webhook is called here; objects are "
				   "converted as with strategy None");
}

static void aggregation_validate(struct mutation *m, struct field_errors *e)
{
	if (obj_len(obj_path(m->after, "aggregationRule.clusterRoleSelectors")) >
	    RBAC_SELECTORS_MAX)
		field_errors_add(e, FIELD_INVALID, "aggregationRule.clusterRoleSelectors",
				 "Invalid value: must have at most %d items", RBAC_SELECTORS_MAX);
}

static const struct {
	const char *group, *plural;
	void (*set_default)(struct mutation *m);
	void (*late)(struct mutation *m);
	void (*validate)(struct mutation *m, struct field_errors *e);
} rules[] = {
	{"", "namespaces", namespace_default, namespace_late, NULL},
	{"", "configmaps", NULL, NULL, immutable_validate},
	{"", "secrets", secret_default, NULL, secret_validate},
	{"", "events", NULL, event_late, event_validate},
	{RBAC_GROUP, "clusterroles", NULL, NULL, aggregation_validate},
	{APPROVAL_GROUP, APPROVAL_PLURAL, approval_default, NULL, approval_validate},
	{CRD_GROUP, "customresourcedefinitions", crd_default_of, crd_late, crd_validate_of},
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a name */
#define EACH_RULE(i, m)                                              \
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)                \
		if (cstr_eq(rules[i].group, (m)->resource->group) && \
		    cstr_eq(rules[i].plural, (m)->resource->plural))

/* NOLINTEND(bugprone-macro-parentheses) */

void admit_default(struct mutation *m)
{
	if (!(m->kind->flags & KIND_CUSTOM) && m->after)
		defaults_set(m->after, m->resource->group, m->resource->plural);
	EACH_RULE(i, m)
	if (rules[i].set_default)
		rules[i].set_default(m);
}

void admit_late(struct mutation *m)
{
	EACH_RULE(i, m)
	if (rules[i].late)
		rules[i].late(m);
}

void admit_validate(struct mutation *m, struct field_errors *e)
{
	EACH_RULE(i, m)
	if (rules[i].validate)
		rules[i].validate(m, e);
}

static bool is_namespace(const struct mutation *m)
{
	return *m->resource->group == '\0' && cstr_eq(m->resource->plural, "namespaces");
}

int admit_delete(struct mutation *m, struct error *err)
{
	static const char *const kept[] = {"default", "kube-system", "kube-public"};
	for (size_t i = 0; is_namespace(m) && i < ARRAY_LEN(kept); i++)
		if (cstr_eq(m->name, kept[i]))
			return fail_forbidden(m->r, m->name, err,
					      "this namespace may not be deleted");
	return 0;
}

bool admit_mark(struct mutation *m)
{
	if (is_namespace(m) && obj_len(obj_path(m->after, "spec.finalizers"))) {
		obj_set_path(m->after, "status.phase", obj_string("Terminating"));
		obj_del_path(m->after, "metadata.deletionGracePeriodSeconds");
		return true;
	}
	if (cstr_eq(m->resource->group, CRD_GROUP) &&
	    cstr_eq(m->resource->plural, "customresourcedefinitions")) {
		meta_add_finalizer(m->after, CRD_FINALIZER);
		crd_set_terminating(m->after, request_now(m->r));
		obj_del_path(m->after, "metadata.deletionGracePeriodSeconds");
		return true;
	}
	return false;
}
