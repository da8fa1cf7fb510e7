/* approval: see approval.h. It must not know plans. */
#include "alm/apiserver/auth/approval.h"

#include "alm/apiserver/core.h"

static bool is_approved(const struct obj *o)
{
	return obj_flag(o, "spec.approved", false);
}

/* Is it the approval that was there before, of the same plan for the same reason? */
static bool is_same(const struct mutation *m)
{
	static const char *const fields[] = {"spec.approvedPlan", "spec.approvalReason"};
	bool same = is_approved(m->before) && is_approved(m->after);
	for (size_t i = 0; i < ARRAY_LEN(fields) && same; i++)
		same = cstr_eq(obj_str(m->before, fields[i]), obj_str(m->after, fields[i]));
	return same;
}

static void name_approver(struct mutation *m, const char *name)
{
	if (name)
		obj_set_path(m->after, "spec.approvedBy", obj_string(name));
	else
		obj_del_path(m->after, "spec.approvedBy");
}

void approval_default(struct mutation *m)
{
	const char *stated = obj_str(m->after, "spec.approvedBy");
	const char *before = obj_str(m->before, "spec.approvedBy");
	if (m->is_status || (stated && !cstr_eq(stated, before)))
		return; /* validation has the word */
	if (!is_approved(m->after))
		name_approver(m, NULL);
	else if (!is_same(m))
		name_approver(m, m->r->user.name);
	else if (before)
		name_approver(m, before);
}

static void validate_approver(struct mutation *m, struct field_errors *e)
{
	const char *stated = obj_str(m->after, "spec.approvedBy"), *user = m->r->user.name;
	bool kept = is_same(m) && cstr_eq(stated, obj_str(m->before, "spec.approvedBy"));
	if (stated && !kept && !cstr_eq(stated, user))
		field_errors_add(e, FIELD_INVALID, "spec.approvedBy",
				 "Invalid value: \"%s\": an approval is of the user who gives it, "
				 "\"%s\": leave it out",
				 stated, user);
}

/* What would be installed is not known, or refused: nobody has seen what he approves. */
static void validate_phase(struct mutation *m, struct field_errors *e)
{
	if (is_approved(m->after) && !is_same(m) &&
	    cstr_eq(obj_str(m->before, "status.phase"), "Blocked"))
		field_errors_add(e, FIELD_FORBIDDEN, "spec.approved",
				 "Forbidden: the version is Blocked, there is nothing to approve: "
				 "alm status has the steps");
}

/* The executor of this process names the entry of the log; nobody else can. */
static bool is_ours(const struct mutation *m)
{
	const struct exchange *x = m->r->exchange;
	return !x || x->request->trusted_audit_id || !m->r->server->config.own_controllers;
}

static void validate_status(struct mutation *m, struct field_errors *e)
{
	const struct obj *before = obj_path(m->before, "status.approval");
	const struct obj *after = obj_path(m->after, "status.approval");
	bool same = before && after ? obj_equal(before, after) : !before && !after;
	if (!same && !is_ours(m))
		field_errors_add(e, FIELD_FORBIDDEN, "status.approval",
				 "Forbidden: it is written by the controllers alone");
}

void approval_validate(struct mutation *m, struct field_errors *e)
{
	if (m->is_status) {
		validate_status(m, e);
		return;
	}
	validate_approver(m, e);
	validate_phase(m, e);
}
