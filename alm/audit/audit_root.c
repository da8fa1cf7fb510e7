/* The first cause of all of an entry (audit.md 2, body.root): of those that were causes lately it is known. */
#include "alm/audit/audit_internal.h"

#define ROOT_STEPS_MAX 64 /* upwards, among entries that do not name theirs */

void audit_keep_root(struct audit *a, int64_t seq, int64_t root)
{
	a->roots[seq % AUDIT_ROOTS_KEPT] = (struct audit_root){seq, root};
}

/* One step: 1 if *ret is the root, 0 if it is a cause like this one. */
static int root_above(struct audit *a, int64_t seq, int64_t *ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, "SELECT body ->> '$.root', cause FROM audit WHERE seq = ?", &s,
			   err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	r = stmt_step(s, err);
	int64_t root = r > 0 ? stmt_int(s, 0) : 0, cause = r > 0 ? stmt_int(s, 1) : 0;
	stmt_reset(s);
	*ret = root ? root : cause ? cause : seq; /* one that was pruned ends the way, too */
	return r < 0 ? r : root || !cause;
}

int audit_root_of(struct audit *a, int64_t cause, int64_t *ret, struct error *err)
{
	const struct audit_root *kept = &a->roots[cause % AUDIT_ROOTS_KEPT];
	int64_t at = cause;
	int r = 0;
	if (kept->seq == cause) {
		*ret = kept->root;
		return 0;
	}
	for (unsigned i = 0; r == 0 && i < ROOT_STEPS_MAX; i++)
		r = root_above(a, at, &at, err);
	if (r < 0)
		return r;
	audit_keep_root(a, cause, at);
	*ret = at;
	return 0;
}
