#include "alm/controllers/app/approval_review.h"

#include <string.h>

#include "alm/base/mem.h"
#include "alm/base/str.h"

#define REASON_MAX 1024
#define UID_MAX    256
#define WANTS      "spec.approvedBy must be \""

/* What an approval is of; absent is empty. */
static const char *text(const struct obj *o, const char *path)
{
	const char *s = obj_str(o, path);
	return s ? s : "";
}

static bool approves(const struct obj *o)
{
	return obj_flag(o, "spec.approved", false);
}

static bool has_same(const struct obj *a, const struct obj *b, const char *path)
{
	return cstr_eq(text(a, path), text(b, path));
}

/* The approval that was there before, of the same plan for the same reason. */
static bool is_kept(const struct obj *before, const struct obj *after)
{
	return approves(before) && approves(after) &&
	       has_same(before, after, "spec.approvedPlan") &&
	       has_same(before, after, "spec.approvalReason");
}

/* Of the first condition that does not hold. */
static const char *blocked_reason(const struct obj *o)
{
	const struct obj *conditions = obj_path(o, "status.conditions");
	for (size_t i = 0; i < obj_len(conditions); i++)
		if (cstr_eq(obj_str(obj_at(conditions, i), "status"), "False"))
			return obj_str(obj_at(conditions, i), "reason");
	return NULL;
}

/* Owned; NULL: nothing is against it. */
static struct obj *refusal(const struct obj *before, const struct obj *after, const char *user)
{
	const char *by = text(after, "spec.approvedBy");
	bool kept = is_kept(before, after);
	bool same_name = kept && has_same(before, after, "spec.approvedBy");
	if (approves(after) && !same_name && !cstr_eq(by, user))
		return obj_stringf("an approval is of the user who gives it: " WANTS "%.*s\"",
				   REASON_MAX, user);
	if (!approves(after) && *by)
		return obj_string("spec.approvedBy without spec.approved: leave it out");
	if (!approves(after) || kept || !cstr_eq(obj_str(before, "status.phase"), "Blocked"))
		return NULL;
	const char *why = blocked_reason(before);
	return obj_stringf("the version is Blocked%s%.*s%s: there is nothing to approve; alm "
			   "status has the steps",
			   why ? " (" : "", REASON_MAX, why ? why : "", why ? ")" : "");
}

static struct obj *response_of(const char *uid, struct obj *message)
{
	struct obj *response = obj_map();
	obj_set_str(response, "uid", uid);
	obj_set_bool(response, "allowed", !message);
	if (message) {
		struct obj *status = obj_map();
		obj_set(status, "message", message);
		obj_set_str(status, "reason", "Forbidden");
		obj_set_int(status, "code", 403);
		obj_set(response, "status", status);
	}
	return response;
}

static bool is_write(const char *operation)
{
	return cstr_eq(operation, "CREATE") || cstr_eq(operation, "UPDATE");
}

int approval_review(const struct obj *review, struct obj **ret, struct error *err)
{
	const struct obj *q = obj_get(review, "request");
	const char *uid = obj_str(q, "uid"), *user = obj_str(q, "userInfo.username");
	if (!cstr_eq(obj_str(review, "apiVersion"), "admission.k8s.io/v1") ||
	    !cstr_eq(obj_str(review, "kind"), "AdmissionReview") || !uid || strlen(uid) > UID_MAX ||
	    !user)
		return error_set(err, E_INVALID,
				 "an AdmissionReview of admission.k8s.io/v1 is wanted, with "
				 "request.uid and request.userInfo.username");
	if (!cstr_eq(obj_str(q, "resource.group"), "opinstaller.coreos.com") ||
	    !cstr_eq(obj_str(q, "resource.resource"), "installstrategies") ||
	    *text(q, "subResource") || !is_write(obj_str(q, "operation")) ||
	    obj_type(obj_get(q, "object")) != OBJ_MAP)
		return error_set(err, E_INVALID,
				 "creates and updates of installstrategies.opinstaller.coreos.com "
				 "are judged here, nothing else");
	struct obj *answer = obj_map();
	obj_set_str(answer, "apiVersion", "admission.k8s.io/v1");
	obj_set_str(answer, "kind", "AdmissionReview");
	obj_set(answer, "response",
		response_of(uid, refusal(obj_get(q, "oldObject"), obj_get(q, "object"), user)));
	*ret = answer;
	return 0;
}

struct str approval_review_wants(const char *message)
{
	const char *name = strstr(message, WANTS);
	const char *end = name ? strchr(name + strlen(WANTS), '"') : NULL;
	if (!end)
		return STR_NONE;
	name += strlen(WANTS);
	return (struct str){name, (size_t)(end - name)};
}
