/* deletion: see deletion.h. */
#include "alm/apiserver/deletion.h"

#include "alm/apiserver/admission/hooks.h"
#include "alm/apiserver/admission/policies.h"
#include "alm/apiserver/admit.h"
#include "alm/apiserver/status.h"
#include "alm/obj/meta.h"

static int check_preconditions(struct mutation *m, const struct delete_options *opt,
			       struct error *err)
{
	struct request *r = m->r;
	const char *uid = meta_uid(m->stored), *rv = meta_resource_version(m->stored), *why = NULL;
	if (opt->uid && !cstr_eq(opt->uid, uid))
		why = arena_fmt(r->arena,
				"the UID in the precondition (%s) does not match the UID in record "
				"(%s). The object might have been deleted and then recreated",
				opt->uid, uid ? uid : "");
	else if (opt->rv && !cstr_eq(opt->rv, rv))
		why = arena_fmt(r->arena,
				"the ResourceVersion in the precondition (%s) does not match the "
				"ResourceVersion in record (%s). The object might have been "
				"modified",
				opt->rv, rv ? rv : "");
	if (!why)
		return 0;
	/* Of a DELETE it is the kind that is named (golden G139, G140). */
	const char *what = status_resource(r->arena, m->kind->kind, m->kind->group);
	int rc = fail_code(r, E_CONFLICT, err, "Operation cannot be fulfilled on %s \"%s\": %s",
			   what, m->name, why);
	r->failure.details = true;
	r->failure.name = m->name;
	r->failure.group = m->kind->group;
	r->failure.kind = m->kind->kind;
	return rc;
}

/* Its controllers delete more than the object: a dry run that says nothing of that would mislead. */
static void tell_of_app(const struct mutation *m)
{
	const char *agent = request_header(m->r, "User-Agent");
	bool lists_it = agent && cstr_has_prefix(agent, "alm/");
	if (m->opt.dry_run && !lists_it && cstr_eq(m->kind->group, "app.coreos.com") &&
	    cstr_eq(m->kind->kind, "AppType"))
		request_warn(m->r,
			     "its operator goes with it: `alm delete apptype %s --dry-run=server` "
			     "lists what goes and what stays",
			     m->name);
}

/* Dependents of these stayed before there was a collector, and do where nothing is said of them (the
 * strategies' DefaultGarbageCollectionPolicy); kubectl says it. */
static bool leaves_dependents(const struct mutation *m)
{
	const struct kind *k = m->kind;
	return (!*k->group && cstr_eq(k->kind, "ReplicationController")) ||
	       (cstr_eq(k->group, "batch") && cstr_eq(k->kind, "Job"));
}

/* Where a finalizer says what becomes of them, it counts. */
static void leave_dependents(struct mutation *m)
{
	if (!meta_has_finalizer(m->after, "orphan") &&
	    !meta_has_finalizer(m->after, "foregroundDeletion"))
		meta_add_finalizer(m->after, "orphan");
	if (*m->kind->group)
		request_warn(m->r, "child pods are preserved by default when jobs are deleted; set "
				   "propagationPolicy=Background to remove them or set "
				   "propagationPolicy=Orphan to suppress this warning");
}

int deletion_run(struct mutation *m, const struct delete_options *opt, struct error *err)
{
	m->opt.dry_run = opt->dry_run;
	m->delete_options = opt->body;
	m->verb = "delete";
	if (check_preconditions(m, opt, err) < 0 || hooks_delete(m, HOOKS_MUTATING, err) < 0 ||
	    policies_check_delete(m, err) < 0 || hooks_delete(m, HOOKS_VALIDATING, err) < 0 ||
	    admit_delete(m, err) < 0)
		return -err->code;
	tell_of_app(m);
	m->after = obj_keep(m->r->arena, obj_copy(m->before));
	if (opt->propagation != PROPAGATE_DEFAULT) {
		meta_remove_finalizer(m->after, "orphan");
		meta_remove_finalizer(m->after, "foregroundDeletion");
	} else if (leaves_dependents(m)) {
		leave_dependents(m);
	}
	if (opt->propagation == PROPAGATE_ORPHAN)
		meta_add_finalizer(m->after, "orphan");
	if (opt->propagation == PROPAGATE_FOREGROUND)
		meta_add_finalizer(m->after, "foregroundDeletion");
	bool stays = obj_len(obj_path(m->after, "metadata.finalizers")) ||
		     (*m->kind->group == '\0' && cstr_eq(m->kind->plural, "namespaces")) ||
		     (cstr_eq(m->kind->group, "apiextensions.k8s.io") &&
		      cstr_eq(m->kind->plural, "customresourcedefinitions"));
	return stays ? mutation_mark(m, err) : mutation_remove(m, err);
}
