/* Rows of the open transaction, which somebody hears of once it is committed: audit_on_row(). */
#include "alm/audit/audit_internal.h"

void audit_pend(struct audit *a, const struct audit_row *row)
{
	if (!a->on_row)
		return;
	if (a->n_pending == a->cap_pending) {
		a->cap_pending = mem_grown(a->cap_pending, a->n_pending + 1);
		a->pending = xreallocarray(a->pending, a->cap_pending, sizeof(*a->pending));
	}
	a->pending[a->n_pending++] = (struct audit_pending){.seq = a->last_seq,
							    .type = xstrdup(row->type),
							    .reason = xstrdup(row->reason),
							    .body = obj_ref(row->body)};
}

static void pending_release(struct audit_pending *p)
{
	xfree(p->type);
	xfree(p->reason);
	obj_unref(p->body);
}

void audit_drop_pending(struct audit *a, int64_t after)
{
	while (a->n_pending && a->pending[a->n_pending - 1].seq > after)
		pending_release(&a->pending[--a->n_pending]);
	if (a->n_pending)
		return;
	xfree(a->pending); /* what a large commit took does not stay */
	a->pending = NULL;
	a->cap_pending = 0;
}

void audit_tell_pending(struct audit *a)
{
	for (size_t i = 0; i < a->n_pending; i++) {
		const struct audit_pending *p = &a->pending[i];
		const struct audit_row row = {
			.type = p->type, .reason = p->reason, .body = p->body};
		a->on_row(a->on_row_arg, &row);
	}
	audit_drop_pending(a, 0);
}
