/* admit: see admit.h. One function a kind; to add one, a row in the table. */
#include "alm/apiserver/admit.h"

#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/crd.h"
#include "alm/apiserver/status.h"
#include "alm/base/hash.h"
#include "alm/obj/meta.h"

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
	{CRD_GROUP, "customresourcedefinitions", crd_default_of, crd_late, crd_validate_of},
};

#define EACH_RULE(i, m)                                              \
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)                \
		if (cstr_eq(rules[i].group, (m)->resource->group) && \
		    cstr_eq(rules[i].plural, (m)->resource->plural))

void admit_default(struct mutation *m)
{
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
