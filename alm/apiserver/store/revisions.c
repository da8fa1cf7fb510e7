#include "alm/apiserver/store/revisions.h"

#include <inttypes.h>
#include <stdio.h>

/* What store.c takes for the newest write, and never compacts: the tombstone of an object that never was. */
#define SKIP_SQL                                                                                 \
	"INSERT INTO objects(id, name, created, deleted, create_revision, prev_revision, value)" \
	" VALUES(?1, ?2, 0, 1, ?1, 0, x'')"

/* *ret 0: no table of objects, or none in it. */
static int newest(struct db *d, int64_t *ret, struct error *err)
{
	struct stmt *s;
	*ret = 0;
	if (db_prepare(d, "SELECT 1 FROM sqlite_schema WHERE name = 'objects'", &s, err) < 0)
		return -err->code;
	int r = stmt_step(s, err);
	stmt_reset(s);
	if (r <= 0)
		return r;
	if (db_prepare(d, "SELECT coalesce(max(id), 0) FROM objects", &s, err) < 0)
		return -err->code;
	r = stmt_step(s, err);
	if (r > 0)
		*ret = stmt_int(s, 0);
	stmt_reset(s);
	return r < 0 ? r : 0;
}

int revisions_skip(struct db *d, struct error *err)
{
	int64_t last;
	struct stmt *s;
	char name[80];
	if (newest(d, &last, err) < 0)
		return -err->code;
	if (!last)
		return 0;
	if (last > INT64_MAX - 2 * REVISIONS_SKIPPED)
		return error_set(err, E_LIMIT, "resource version %" PRId64 " is too large", last);
	snprintf(name, sizeof(name), "/configmaps/kube-system/restored-%" PRId64, last);
	if (db_prepare(d, SKIP_SQL, &s, err) < 0)
		return -err->code;
	stmt_bind_int(s, 1, last + REVISIONS_SKIPPED);
	stmt_bind_text(s, 2, str_of(name));
	int r = stmt_step(s, err);
	stmt_reset(s);
	return r < 0 ? r : 0;
}
