/* pruned: see pruned.h. It only reads. */
#include "alm/audit/pruned.h"

#include <inttypes.h>
#include <stdio.h>

#include "alm/audit/log.h"

static int newest(struct db *d, int64_t *ret_below, int64_t *ret_seq, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT below, seq FROM audit_prune ORDER BY below DESC LIMIT 1", &s,
			   err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	*ret_below = r ? stmt_int(s, 0) : 0;
	*ret_seq = r ? stmt_int(s, 1) : 0;
	stmt_reset(s);
	return 0;
}

static int entry(struct db *d, int64_t seq, struct obj **ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "SELECT " LOG_COLUMNS " FROM audit WHERE seq = ? AND kind = 'Log' AND"
			   " type = 'System' AND reason = 'Pruned'",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	return log_entry(s, ret, err);
}

int pruned_load(struct db *d, struct pruned *ret, struct error *err)
{
	struct error none = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	struct pruned p = {0};
	*ret = p;
	int r = newest(d, &p.below, &p.seq, err);
	if (r < 0 || !p.below)
		return r;
	if (entry(d, p.seq, &row, &none) < 0 && none.code == E_IO)
		return error_copy(err, &none);
	const char *chain = obj_str(row, "body.chain"), *file = obj_str(row, "body.file");
	if (obj_i64(row, "body.below", 0) != p.below || !chain ||
	    !hex_decode(str_of(chain), p.chain, sizeof(p.chain)))
		return error_set(err, E_ALTERED,
				 "entries below %" PRId64 " count as pruned, and entry %" PRId64
				 " does not say so",
				 p.below, p.seq);
	p.time_us = obj_i64(row, "time", 0);
	(void)snprintf(p.file, sizeof(p.file), "%s", file ? file : "");
	*ret = p;
	return 0;
}

int64_t pruned_opening(struct db *d)
{
	struct error err = ERROR_INIT;
	int64_t below = 0, seq = 0;
	return newest(d, &below, &seq, &err) < 0 || !below ? 1 : seq;
}

int pruned_no_entry(struct db *d, int64_t seq, struct error *err)
{
	struct pruned p;
	struct error none = ERROR_INIT;
	if (pruned_load(d, &p, &none) < 0 || seq >= p.below || seq < 1)
		return error_set(err, E_NOTFOUND, "no audit entry %" PRId64, seq);
	return error_set(err, E_NOTFOUND,
			 "audit entry %" PRId64 " was pruned: the log begins at %" PRId64
			 ", and %s has what was before (--file)",
			 seq, p.below, p.file);
}

static bool covers(const struct obj *known, struct str origin, int64_t size)
{
	const char *of = obj_str(known, "origin");
	return of && str_is(origin, of) && size <= obj_i64(known, "size", -1);
}

bool pruned_gap_covers(const struct obj *opening, struct str origin, int64_t size)
{
	const struct obj *gap = obj_path(opening, "body.gap"), *list = obj_get(gap, "others");
	bool found = covers(gap, origin, size);
	for (size_t i = 0; i < obj_len(list) && !found; i++)
		found = covers(obj_at(list, i), origin, size);
	return found;
}
