/* mutation_update: another state of an object: identity, revision, what an endpoint may change. */
#include "alm/apiserver/mutation_internal.h"

#include "alm/apiserver/admission/class.h"
#include "alm/apiserver/admission/hooks.h"
#include "alm/apiserver/admission/priority.h"
#include "alm/apiserver/admit.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/autoscale.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/kinds/pod_resize.h"
#include "alm/apiserver/object_meta.h"
#include "alm/apiserver/status.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/api_same.h"
#include "alm/obj/schema/schema_node.h"

#define REVISION_SHOWN_MAX 4096

/* The folder of a kind in the store of a real server, of those that have another name there. */
static const char *stored_as(const struct kind *k)
{
	static const struct {
		const char *group, *plural, *folder;
	} names[] = {
		{"", "endpoints", "services/endpoints"},       {"", "nodes", "minions"},
		{"", "replicationcontrollers", "controllers"}, {"", "services", "services/specs"},
		{"networking.k8s.io", "ingresses", "ingress"},
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (cstr_eq(names[i].group, k->group) && cstr_eq(names[i].plural, k->plural))
			return names[i].folder;
	return k->plural;
}

static int check_identity(struct mutation *m, struct error *err)
{
	struct request *r = m->r;
	if (mutation_fits_url(m, m->after, err) < 0)
		return -err->code;
	const char *uid = meta_uid(m->after), *real = meta_uid(m->before);
	if (!uid || cstr_eq(uid, real))
		return 0;
	if (!m->is_put) { /* told with what else is wrong */
		bool unread = m->kind->flags & KIND_CUSTOM ||
			      cstr_eq(m->kind->group, "flowcontrol.apiserver.k8s.io");
		m->other_uid = m->is_status && unread ? NULL : arena_strdup(r->arena, uid);
		return 0;
	}
	const char *at = *m->ns ? arena_fmt(r->arena, "%s/%s", m->ns, m->name) : m->name;
	const char *plural = stored_as(m->kind);
	bool grouped = m->kind->flags & KIND_CUSTOM || cstr_eq(m->kind->group, CRD_GROUP) ||
		       cstr_eq(m->kind->group, "apiregistration.k8s.io");
	return fail_conflict(r, m->name, err,
			     "StorageError: invalid object, Code: 4, Key: %s%s%s/%s, "
			     "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
			     "precondition: %s, UID in object meta: %s",
			     m->opt.dry_run ? "" : "/registry", grouped ? "/" : "",
			     grouped ? arena_fmt(r->arena, "%s/%s", m->kind->group, plural)
				     : arena_fmt(r->arena, "/%s", plural),
			     at, uid, real);
}

int mutation_reads_revision(const struct mutation *m, const char *rv, struct error *err)
{
	uint64_t n;
	if (str_parse_u64(str_of(rv), &n))
		return 0;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(REVISION_SHOWN_MAX);
	json_quote(str_of(rv), &b);
	int rc = fail_code(m->r, E_INTERNAL, err, "strconv.ParseUint: parsing %s: invalid syntax",
			   b.buf);
	m->r->failure.no_reason = true;
	return rc;
}

static int check_revision(struct mutation *m, struct error *err)
{
	const char *rv = meta_resource_version(m->after);
	if (!rv || !*rv || cstr_eq(rv, "0")) {
		if ((!m->is_put && !rv) || (m->kind->flags & KIND_UNCONDITIONAL_UPDATE))
			return 0;
		return fail_invalid_one(m->r, m->kind->group, m->kind->plural, m->name,
					FIELD_INVALID, "metadata.resourceVersion", err,
					"Invalid value: 0: must be specified for an update");
	}
	if (mutation_reads_revision(m, rv, err) < 0)
		return -err->code;
	if (!cstr_eq(rv, meta_resource_version(m->stored)))
		return fail_modified(m->r, m->name, err);
	return 0;
}

/* While an object is being deleted, finalizers only go. */
static int check_finalizers(struct mutation *m, struct error *err)
{
	const struct obj *list = obj_path(m->after, "metadata.finalizers");
	const char *found = NULL;
	if (!meta_is_deleting(m->before))
		return 0;
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *s = obj_as_string(obj_at(list, i));
		if (s && !meta_has_finalizer(m->before, s))
			found = found ? arena_fmt(m->r->arena, "%s, \"%s\"", found, s)
				      : arena_fmt(m->r->arena, "\"%s\"", s);
	}
	if (!found)
		return 0;
	struct field_errors *e = mutation_errors(m->r);
	/* Custom resources are judged twice there, so the cause stands twice (golden G145). */
	for (int i = 0; i < (m->kind->flags & KIND_CUSTOM ? 2 : 1); i++)
		field_errors_add(e, FIELD_FORBIDDEN, "metadata.finalizers",
				 "Forbidden: no new finalizers can be added if the object is being "
				 "deleted, found new finalizers []string{%s}",
				 found);
	return fail_invalid(m->r, m->kind->group, m->kind->kind, m->name, e, err);
}

/* Not shared: what comes later edits o in place, and from may be what is stored. */
static void copy_path(struct obj *o, const struct obj *from, const char *path)
{
	const struct obj *v = obj_path(from, path);
	if (v)
		obj_set_path(o, path, obj_copy(v));
	else
		obj_del_path(o, path);
}

void mutation_keep_status(struct mutation *m)
{
	/* A kubelet registers its Node with its status. */
	bool registers = !m->before && cstr_eq(m->kind->plural, "nodes") && !*m->kind->group;
	if (!(m->kind->flags & KIND_STATUS) || m->whole || registers)
		return;
	copy_path(m->after, m->before, "status");
	/* A new one's is what its schema says by default, not what came. */
	if (!m->before && schema_default_of(schema_property(m->kind->schema, "status")))
		(void)(m->is_apply ? schema_default_applied(m->kind->schema, m->after)
				   : schema_default(m->kind->schema, m->after));
	if (autoscaler_is_v1(m->kind))
		autoscaler_keep_status(m->after, m->before);
}

/* Through the status and approval endpoints of built-in kinds metadata is written, too, but for this (seen of each kind
 * at a real 1.36); of custom resources it is not. */
bool mutation_status_keeps(const struct mutation *m, const char *field)
{
	/* What ResetObjectMetaForStatus() of 1.36 leaves as it comes, and what APIServices do not take back. */
	static const char *const two[] = {"deletionGracePeriodSeconds", "generateName", NULL};
	static const char *const three[] = {"deletionGracePeriodSeconds", "deletionTimestamp",
					    "generateName", NULL};
	static const struct {
		const char *group, *plural, *field; /* field NULL: any but those */
		const char *const *but;
	} kept[] = {
		{"", "pods", "ownerReferences", NULL},
		{"apps", "deployments", "labels", NULL},
		{"admissionregistration.k8s.io", "validatingadmissionpolicies", NULL, two},
		{"apiregistration.k8s.io", "apiservices", NULL, three},
		{"flowcontrol.apiserver.k8s.io", "flowschemas", NULL, NULL},
		{"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", NULL, NULL},
		{"networking.k8s.io", "servicecidrs", NULL, two},
		{"resource.k8s.io", "resourceclaims", NULL, two},
		{"storage.k8s.io", "volumeattachments", NULL, two},
	};
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (cstr_eq(kept[i].group, m->kind->group) &&
		    cstr_eq(kept[i].plural, m->kind->plural) &&
		    (!kept[i].field || (field && cstr_eq(kept[i].field, field))))
			return !kept[i].but || !field || !cstr_in(field, kept[i].but);
	return m->kind->flags & KIND_CUSTOM;
}

static void copy_meta(const struct mutation *m, struct obj *o)
{
	static const char *const fields[] = {"labels", "annotations", "finalizers",
					     "ownerReferences", "generateName"};
	/* It is told that nobody may say these. */
	static const char *const of_deletion[] = {"deletionTimestamp",
						  "deletionGracePeriodSeconds"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!mutation_status_keeps(m, fields[i]))
			copy_path(o, m->after, arena_fmt(m->r->arena, "metadata.%s", fields[i]));
	for (size_t i = 0; i < ARRAY_LEN(of_deletion); i++)
		if (obj_has(obj_get(m->after, "metadata"), of_deletion[i]) &&
		    !mutation_status_keeps(m, of_deletion[i]))
			copy_path(o, m->after,
				  arena_fmt(m->r->arena, "metadata.%s", of_deletion[i]));
}

/* The main endpoint keeps status; the status endpoint keeps everything else, and others but what
 * they are about. */
static void split_status(struct mutation *m)
{
	bool resizes = cstr_eq(m->r->subresource, "resize");
	bool of_pod = resizes || cstr_eq(m->r->subresource, "ephemeralcontainers");
	const char *only = of_pod && !resizes                       ? "spec.ephemeralContainers"
			   : cstr_eq(m->r->subresource, "approval") ? "status.conditions"
								    : NULL;
	if (!(m->kind->flags & KIND_STATUS) || m->whole)
		return;
	if (!m->is_status && !only && !resizes) {
		mutation_keep_status(m);
		return;
	}
	struct obj *o = obj_keep(m->r->arena, obj_copy(m->before));
	if (resizes && !pod_resize_take(o, m->after))
		return; /* and is refused */
	if (only)
		copy_path(o, m->after, only);
	else if (!resizes)
		copy_path(o, m->after, "status");
	if (m->is_apply && obj_type(obj_get(o, "status")) == OBJ_NULL)
		obj_del(o, "status"); /* its owner has none */
	if (autoscaler_is_v1(m->kind))
		autoscaler_keep_status(o, m->after);
	if (!of_pod)
		copy_meta(m, o);
	if (autoscaler_is_v1(m->kind))
		autoscaler_keep_spec(o, m->before);
	copy_path(o, m->after, "metadata.managedFields");
	m->after = o;
}

static bool is_unchanged(struct mutation *m)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_copy_shallow(m->after);
	struct obj *meta = obj_copy_shallow(obj_get(o, "metadata"));
	const char *rv = meta_resource_version(m->stored);
	obj_set(meta, "resourceVersion", obj_string(rv ? rv : ""));
	obj_set(o, "metadata", meta);
	mutation_to_storage(m, o);
	return obj_equal(o, m->stored);
}

static void bump_generation(struct mutation *m)
{
	bool bound = m->whole && !*m->kind->group && cstr_eq(m->kind->plural, "pods");
	if (m->is_status || bound || !object_meta_spec_changed(m->kind, m->before, m->after))
		return;
	obj_set_path(m->after, "metadata.generation", obj_int(meta_generation(m->before) + 1));
}

/* All but what the server writes. */
static struct obj *without_meta(const struct mutation *m, const struct obj *o)
{
	struct obj *rest = obj_copy_shallow(o);
	obj_del(rest, "metadata");
	if (m->kind->flags & KIND_STATUS)
		obj_del(rest, "status");
	return rest;
}

/* An amount that is written otherwise is the same. */
static bool is_same_spec(const struct mutation *m)
{
	const char *api_version = kind_api_version(m->kind, m->r->arena);
	const struct api_type *t = api_type_of_kind(api_version, m->kind->kind);
	if (m->kind->flags & KIND_CUSTOM || !t)
		return false;
	CLEANUP(obj_unrefp) struct obj *is = without_meta(m, m->after);
	CLEANUP(obj_unrefp) struct obj *was = without_meta(m, m->before);
	return api_same(t, is, was);
}

/* What only asked for features that are off is no change. */
static void settle_generation(struct mutation *m)
{
	if (!m->is_status && meta_generation(m->after) != meta_generation(m->before) &&
	    (!object_meta_spec_changed(m->kind, m->before, m->after) || is_same_spec(m)))
		obj_set_path(m->after, "metadata.generation", obj_int(meta_generation(m->before)));
}

static bool is_finished(const struct mutation *m)
{
	return meta_is_deleting(m->after) && !obj_len(obj_path(m->after, "metadata.finalizers")) &&
	       !obj_len(obj_path(m->after, "spec.finalizers"));
}

static int update_mutated(struct mutation *m, struct error *err)
{
	bool changed;
	if (hooks_mutate(m, &changed, err) < 0)
		return -err->code;
	if (!changed)
		return 0;
	split_status(m);
	obj_del_path(m->after, "metadata.deletionTimestamp"); /* as it is, whatever they say */
	obj_del_path(m->after, "metadata.deletionGracePeriodSeconds");
	object_meta_update(m->after, m->before);
	admit_default(m);
	return 0;
}

int mutation_update(struct mutation *m, struct error *err)
{
	m->is_bare = m->is_put && !meta_uid(m->after);
	m->is_unconditional = m->is_put && !meta_resource_version(m->after);
	if (check_identity(m, err) < 0 || check_revision(m, err) < 0)
		return -err->code;
	split_status(m);
	object_meta_update(m->after, m->before);
	admit_default(m);
	obj_del_path(m->after, "metadata.resourceVersion");
	if (!m->keep_managers &&
	    mutation_track(m, m->before, m->opt.manager, m->r->subresource, err) < 0)
		return -err->code;
	if (priority_admit(m, err) < 0 || class_admit(m, err) < 0 || update_mutated(m, err) < 0 ||
	    check_finalizers(m, err) < 0)
		return -err->code;
	bump_generation(m);
	admit_late(m);
	settle_generation(m);
	if (mutation_validate(m, err) < 0 || mutation_admission(m, err) < 0)
		return -err->code;
	mutation_warn_finalizers(m);
	if (auth_check_write(m->r->server->auth, m->r, m->before, m->after, err) < 0)
		return -err->code;
	if (mutation_convert(m, err) < 0)
		return -err->code;
	if (is_unchanged(m))
		return mutation_keep_unchanged(m);
	m->removed = is_finished(m);
	return m->opt.dry_run ? mutation_pretend(m, true, err) : mutation_store(m, err);
}
