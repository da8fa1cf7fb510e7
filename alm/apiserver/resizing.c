/* resizing: see resizing.h. */
#include "alm/apiserver/resizing.h"

#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/pod_resize.h"
#include "alm/apiserver/loops/simulate.h"
#include "alm/apiserver/mutation.h"
#include "alm/apiserver/status.h"
#include "alm/obj/meta.h"

void resizing_validate(const struct mutation *m, struct field_errors *e)
{
	if (cstr_eq(m->r->subresource, "resize"))
		pod_resize_check(e, m->after, m->before);
}

int resizing_check(struct mutation *m, struct error *err)
{
	struct request *r = m->r;
	const char *node = obj_str(m->after, "spec.nodeName"), *reason;
	if (!cstr_eq(r->subresource, "resize") || !node || !*node ||
	    meta_generation(m->after) == meta_generation(m->before))
		return 0;
	struct head *h = store_find(r->server->store, "", "nodes", "", node);
	if (!h && r->server->simulate && cstr_eq(node, SIM_NODE))
		return 0;
	const char *why = pod_resize_node_fault(m->after, m->before, h ? head_obj_hot(h) : NULL,
						r->arena, &reason);
	if (!why)
		return 0;
	int rc = fail_forbidden(r, r->name, err, "%s", why);
	struct status_cause *cause = ARENA_NEW(r->arena, struct status_cause);
	cause->reason = reason;
	r->failure.extra = cause;
	r->failure.n_extra = reason ? 1 : 0;
	return rc;
}
