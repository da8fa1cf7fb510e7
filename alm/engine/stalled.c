#include "alm/engine/stalled.h"

#include <string.h>

#include "alm/engine/status.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"

#define TYPE      "Stalled"
#define TYPE_CRD  "app.coreos.com/Stalled"
#define RECOVERED "Recovered"

/* clang-format off */
static const struct {
	const char *reason, *command, *advice; /* a command that ends with a blank gets KIND/NAME */
} classes[] = {
	{"Forbidden",         "kubectl describe ",      "give ALM's account the permission that the message names"},
	{"LimitExceeded",     "kubectl describe ",      "make what the message names smaller, or split it"},
	{"LogBehindStatus",   "alm audit verify",       "put the newest copy of the data folder back: the log is older than the object"},
	{"Conflict",          "kubectl get -o yaml --show-managed-fields ", "find who else writes what the message names, and let one of them go"},
	{"Refused",           "kubectl describe ",      "correct what the message names: the server refuses it as it is"},
	{"ServerUnavailable", "kubectl get --raw /readyz", "nothing to correct here: it goes on when the server answers"},
	{"InternalError",     "alm version",            "report it with the message and the log of the controllers"},
};
/* clang-format on */

enum { FORBIDDEN, LIMIT, BEHIND, CONFLICT, REFUSED, UNAVAILABLE, INTERNAL };

static int class_of(int code)
{
	switch (code) {
	case E_UNAUTHORIZED:
	case E_FORBIDDEN:
		return FORBIDDEN;
	case E_LIMIT:
	case E_TOOLARGE:
		return LIMIT;
	case E_ALTERED:
		return BEHIND;
	case E_CONFLICT:
	case E_EXISTS:
	case E_EXPIRED:
		return CONFLICT;
	case E_BADREQUEST:
	case E_INVALID:
	case E_NOTFOUND:
	case E_METHOD:
	case E_NOTACCEPTABLE:
	case E_MEDIATYPE:
	case E_UNSUPPORTED:
	case E_REFUSED:
		return REFUSED;
	case E_UNAVAILABLE:
	case E_TIMEOUT:
	case E_IO:
	case E_TOOMANY:
	case E_CANCELLED:
		return UNAVAILABLE;
	default:
		return INTERNAL;
	}
}

const char *stalled_reason(int code)
{
	return classes[class_of(code)].reason;
}

static bool is_crd(const struct obj *o)
{
	return cstr_eq(meta_kind(o), "CustomResourceDefinition");
}

const char *stalled_type(const struct obj *o)
{
	return is_crd(o) ? TYPE_CRD : TYPE;
}

const char *stalled_next(const char *kind, const char *name, const char *reason, struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
		const char *command = classes[i].command;
		if (!cstr_eq(reason, classes[i].reason))
			continue;
		if (!cstr_has_suffix(command, " "))
			return nextstep_new(a, classes[i].advice, "%s", command);
		return nextstep_new(a, classes[i].advice, "%s%s/%s", command, kind,
				    nextstep_word(a, name));
	}
	return "";
}

static const char *message_of(struct plan *p, const struct error *err)
{
	return arena_fmt(p->a, "%s; tried again, at least every minute; %s", err->msg,
			 classes[class_of(err->code)].advice);
}

/* conditions is consumed. A CRD's status is not ours to replace. */
static struct action *plan_conditions(struct plan *p, const struct obj *o, struct obj *conditions)
{
	if (is_crd(o)) {
		struct obj *patch = obj_map();
		obj_set(patch, "status", obj_map());
		obj_set_path(patch, "status.conditions", conditions);
		plan_own_patch(p, o, patch);
		struct action *x = CONTAINER_OF(p->tail, struct action, next);
		x->subresource = "status";
		x->subject = o;
		return x;
	}
	struct obj *status = obj_copy_map(obj_get(o, "status"));
	obj_set(status, "conditions", conditions);
	return status_plan(p, o, status, "", "", "");
}

enum ensured stalled_begin(struct plan *p, const struct obj *o, const struct error *err,
			   int64_t now_ns)
{
	struct condition was, c = {.type = stalled_type(o),
				   .status = "True",
				   .reason = stalled_reason(err->code),
				   .message = message_of(p, err),
				   .observed_generation = is_crd(o) ? 0 : meta_generation(o)};
	if (condition_get(o, c.type, &was) && cstr_eq(was.reason, c.reason))
		return DONE;
	struct obj *list = obj_copy_list(obj_path(o, "status.conditions"));
	condition_set(list, &c, now_ns);
	struct action *x = plan_conditions(p, o, list);
	if (!x)
		return DONE;
	x->reason = c.reason;
	x->message = c.message;
	x->event_type = "Warning";
	return WAITING;
}

enum ensured stalled_end(struct plan *p, const struct obj *o)
{
	struct obj *list = obj_copy_list(obj_path(o, "status.conditions"));
	if (!condition_remove(list, stalled_type(o))) {
		obj_unref(list);
		return DONE;
	}
	struct action *x = plan_conditions(p, o, list);
	if (!x)
		return DONE;
	x->reason = RECOVERED;
	x->message = "the reconcile works again";
	x->event_type = "Normal";
	return WAITING;
}

void stalled_note(struct plan *p, const struct obj *o, const struct error *err)
{
	const char *reason = stalled_reason(err->code);
	struct obj *body = obj_map();
	obj_set_str(body, "what", "ReconcileFailed");
	obj_set_str(body, "message", err->msg);
	struct action *x = plan_row(p, "Observe", o, reason, NULL, body);
	x->message = message_of(p, err);
	x->event_type = "Warning";
	x->advances = false;
}
