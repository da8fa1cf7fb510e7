/* mutation_create: an object that is not there yet. */
#include "alm/apiserver/mutation_internal.h"

#include "alm/apiserver/admission/class.h"
#include "alm/apiserver/admission/hooks.h"
#include "alm/apiserver/admission/priority.h"
#include "alm/apiserver/admit.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/object_meta.h"
#include "alm/apiserver/status.h"
#include "alm/obj/meta.h"

#define GENERATE_TRIES  8
#define GENERATE_PREFIX 58
#define GENERATE_SUFFIX 5

static const char *generated_name(struct mutation *m, const char *prefix)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	char suffix[GENERATE_SUFFIX + 1] = {0};
	for (int i = 0; i < GENERATE_SUFFIX; i++)
		suffix[i] = letters[loop_random_below(m->r->server->loop, sizeof(letters) - 1)];
	return arena_fmt(m->r->arena, "%.*s%s", GENERATE_PREFIX, prefix, suffix);
}

static void create_name(struct mutation *m)
{
	const char *prefix = obj_str(m->after, "metadata.generateName");
	const char *name = meta_name(m->after);
	bool is_limit = !*m->resource->group && strcmp(m->resource->plural, "limitranges") == 0;
	bool generated = !name && (prefix || is_limit);
	if (generated && m->r->fixed.name)
		name = m->r->fixed.name;
	for (int i = 0; !name && prefix && i < GENERATE_TRIES; i++) {
		const char *try = generated_name(m, prefix);
		if (i == GENERATE_TRIES - 1 || !resource_find(m->resource, m->ns, try))
			name = try;
	}
	char uid[STORE_UID_TEXT];
	if (!name && is_limit) { /* no other kind has a name for what has none */
		object_meta_uid(m->r->server->loop, uid);
		name = uid;
	}
	m->name = name ? arena_strdup(m->r->arena, name) : NULL; /* name goes with the member */
	if (generated && m->r->exchange)
		m->r->fixed.name = arena_strdup(m->r->exchange->arena, m->name);
	if (m->name)
		obj_set_path(m->after, "metadata.name", obj_string(m->name));
}

int mutation_in_namespace(struct mutation *m, struct error *err)
{
	const char *stated = meta_namespace(m->after);
	if (stated && !cstr_eq(stated, m->ns))
		return fail_code(
			m->r, E_BADREQUEST, err,
			"the namespace of the provided object does not match the namespace "
			"sent on the request");
	obj_set_path(m->after, "metadata.namespace", obj_string(m->ns));
	return 0;
}

static int create_namespace(struct mutation *m, struct error *err)
{
	struct request *r = m->r;
	if (!*m->ns) {
		obj_del_path(m->after, "metadata.namespace");
		return 0;
	}
	if (mutation_in_namespace(m, err) < 0)
		return -err->code;
	struct head *h = store_find(r->server->store, "", "namespaces", "", m->ns);
	if (!h)
		return fail_not_found(r, "", "namespaces", m->ns, err);
	if (!meta_is_deleting(head_obj_hot(h)))
		return 0;
	struct status_cause *cause = ARENA_NEW(r->arena, struct status_cause);
	*cause = (struct status_cause){
		"NamespaceTerminating",
		arena_fmt(r->arena, "namespace %s is being terminated", m->ns),
		"metadata.namespace"};
	int rc = fail_forbidden(r, m->name ? m->name : "", err,
				"unable to create new content in namespace %s because it is being "
				"terminated",
				m->ns);
	r->failure.extra = cause;
	r->failure.n_extra = 1;
	return rc;
}

/* What the server adds on its own; of a definition that is a status with a manager of its own. */
static int create_late(struct mutation *m, struct error *err)
{
	if (!cstr_eq(m->kind->group, CRD_GROUP)) {
		admit_late(m);
		return 0;
	}
	struct obj *owned = obj_keep(m->r->arena, obj_copy_shallow(m->after));
	obj_set(owned, "status", obj_copy_map(obj_get(owned, "status")));
	admit_late(m);
	/* storedVersions belongs to nobody (golden G15). */
	obj_set_path(owned, "status.storedVersions",
		     obj_copy(obj_path(m->after, "status.storedVersions")));
	return mutation_track(m, owned, "kube-apiserver", "status", err);
}

/* What policies and webhooks made of it is held to what the request says, as what the client sent. */
static int create_mutated(struct mutation *m, struct error *err)
{
	bool changed;
	if (hooks_mutate(m, &changed, err) < 0)
		return -err->code;
	if (!changed)
		return 0;
	m->asked_name = m->name;
	create_name(m);
	if (create_namespace(m, err) < 0)
		return -err->code;
	mutation_keep_status(m);
	object_meta_create(m->kind, m->after, m->r->fixed.uid, request_now(m->r));
	admit_default(m);
	return priority_admit(m, err) < 0 ? -err->code : class_admit(m, err);
}

int mutation_create(struct mutation *m, struct error *err)
{
	struct request *r = m->r;
	const char *rv = meta_resource_version(m->after);
	if (rv && *rv && !m->is_apply && !m->opt.dry_run) {
		int rc = fail_code(r, E_INTERNAL, err,
				   "resourceVersion should not be set on objects to be created");
		r->failure.no_reason = true;
		return rc;
	}
	obj_del_path(m->after, "metadata.resourceVersion");
	create_name(m);
	if (create_namespace(m, err) < 0)
		return -err->code;
	if (crd_is_terminating(r->server->crds, m->kind))
		return fail_forbidden(r, m->name ? m->name : "", err,
				      "create not allowed while custom resource definition is "
				      "terminating");
	mutation_keep_status(m);
	if (!*r->fixed.uid)
		object_meta_uid(r->server->loop, r->fixed.uid);
	object_meta_create(m->kind, m->after, r->fixed.uid, request_now(r));
	admit_default(m);
	if (!m->keep_managers && mutation_track(m, NULL, m->opt.manager, "", err) < 0)
		return -err->code;
	if (priority_admit(m, err) < 0 || class_admit(m, err) < 0 || create_mutated(m, err) < 0)
		return -err->code;
	if (create_late(m, err) < 0 || mutation_validate(m, err) < 0 ||
	    mutation_admission(m, err) < 0)
		return -err->code;
	if (resource_find(m->resource, m->ns, m->name))
		return obj_str(m->after, "metadata.generateName")
			       ? fail_exists_generated(r, m->name, err)
			       : fail_exists(r, m->name, err);
	mutation_warn_finalizers(m);
	if (auth_check_write(r->server->auth, r, NULL, m->after, err) < 0)
		return -err->code;
	m->created = true;
	return m->opt.dry_run ? mutation_pretend(m, false, err) : mutation_store(m, err);
}
