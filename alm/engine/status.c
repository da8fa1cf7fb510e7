#include "alm/engine/status.h"

#include <string.h>

#include "alm/base/str.h"
#include "alm/obj/condition.h"

/* Types of the conditions whose status differs. Arena. */
static const char **status_turned(const struct obj *before, const struct obj *after,
				  struct arena *a, size_t *ret_n)
{
	const struct obj *old = obj_get(before, "conditions"), *new = obj_get(after, "conditions");
	const char **turned = ARENA_ARRAY(a, const char *, obj_len(new) + obj_len(old));
	*ret_n = 0;
	for (size_t i = 0; i < obj_len(new); i++) {
		const char *type = obj_str(obj_at(new, i), "type");
		const struct obj *was = condition_find(old, type);
		if (!was || !cstr_eq(obj_str(was, "status"), obj_str(obj_at(new, i), "status")))
			turned[(*ret_n)++] = type;
	}
	for (size_t i = 0; i < obj_len(old); i++) {
		const char *type = obj_str(obj_at(old, i), "type");
		if (!condition_find(new, type))
			turned[(*ret_n)++] = type;
	}
	return turned;
}

bool status_is_equal(const struct obj *old, const struct obj *new)
{
	CLEANUP(obj_unrefp) struct obj *a = obj_copy_map(old);
	CLEANUP(obj_unrefp) struct obj *b = obj_copy(new);
	obj_del(a, "transitionSeq");
	obj_del(b, "transitionSeq");
	return obj_equal(a, b);
}

bool status_turns(const struct obj *old, const struct obj *new, struct arena *a)
{
	size_t n;
	(void)status_turned(old, new, a, &n);
	return n > 0;
}

struct action *status_plan(struct plan *p, const struct obj *live, struct obj *status,
			   const char *was, const char *state, const char *message)
{
	const struct obj *old = obj_get(live, "status");
	const char *reason = "Refreshed";
	size_t n;
	status = obj_keep(p->a, plan_hide_messages(p, live, status));
	if (status_is_equal(old, status))
		return NULL;
	const char **turned = status_turned(old, status, p->a, &n);
	if (!cstr_eq(was, state)) {
		reason = state;
	} else if (n) {
		const struct obj *c = condition_find(obj_get(status, "conditions"), turned[0]);
		if (c)
			reason = obj_str(c, "reason");
		if (!message || !*message)
			message = c ? obj_str(c, "message") : "";
	}
	return plan_status(p, live, obj_ref(status), reason, message);
}
