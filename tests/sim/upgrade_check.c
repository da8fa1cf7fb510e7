/* upgrade_check: a folder of the data layout before is old or new at every moment of its first
 * start with this alm: what the new one wrote and the mark that keeps the old one away come
 * together. */
#include "tests/sim/disk_check.h"

#include <inttypes.h>

#include "alm/audit/audit.h"
#include "alm/audit/verify.h"
#include "alm/base/clock.h"
#include "tests/lib/loop_fake.h"

#define FILE_NAME "t.db"
#define OLD       (DB_LAYOUT - 1)
#define OLD_ROWS  20
#define START_NS  (1893571200 * NS_PER_S)

/* The database and its log, as alm up opens them. */
struct folder {
	struct loop *loop;
	struct db *db;
	struct audit *audit;
};

static void folder_close(struct folder *f)
{
	audit_close(f->audit);
	db_close(f->db);
	loop_free(f->loop);
}

static int folder_open(struct folder *f, int layout, struct error *err)
{
	struct db_config dc = {.path = FILE_NAME, .vfs = "sim", .layout = layout};
	f->loop = loop_fake_new(START_NS);
	if (db_open(&dc, &f->db, err) < 0)
		return -err->code;
	struct audit_config ac = {.db = f->db, .loop = f->loop};
	return audit_open(&ac, &f->audit, err);
}

static int write_row(struct folder *f, int layout, struct error *err)
{
	struct stmt *s;
	int64_t seq;
	const struct audit_row row = {.type = "Decision", .reason = "Resolved"};
	if (db_begin(f->db, err) < 0)
		return -err->code;
	if (db_exec(f->db, "CREATE TABLE IF NOT EXISTS t(layout)", err) < 0 ||
	    db_prepare(f->db, "INSERT INTO t VALUES(?)", &s, err) < 0)
		goto fail;
	stmt_bind_int(s, 1, layout);
	if (stmt_step(s, err) < 0 || audit_append(f->audit, &row, &seq, err) < 0 ||
	    db_commit(f->db, err) < 0)
		goto fail;
	audit_committed(f->audit);
	loop_fake_settle(f->loop);
	return 0;
fail:
	db_rollback(f->db);
	audit_rolled_back(f->audit);
	return -err->code;
}

static int write_rows(int layout, int n, struct error *err)
{
	struct folder f = {0};
	int r = folder_open(&f, layout, err);
	for (int i = 0; i < n && r >= 0; i++)
		r = write_row(&f, layout, err);
	folder_close(&f);
	return r;
}

static int64_t number(struct db *d, const char *sql)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	if (db_prepare(d, sql, &s, &err) < 0 || stmt_step(s, &err) != 1)
		return -1;
	int64_t n = stmt_int(s, 0);
	stmt_reset(s);
	return n;
}

#define RECORDS "SELECT count(*) FROM audit"

/* What is in the file, whoever may read it. */
static int look(int64_t *ret_layout, int64_t *ret_records, int64_t *ret_old, struct error *err)
{
	struct db_config c = {.path = FILE_NAME, .vfs = "sim"};
	CLEANUP(db_closep) struct db *d = NULL;
	if (db_open(&c, &d, err) < 0)
		return -err->code;
	*ret_layout = number(d, "SELECT user_version FROM pragma_user_version");
	*ret_records = number(d, RECORDS);
	*ret_old = number(d, "SELECT count(*) FROM t WHERE layout = (SELECT min(layout) FROM t)");
	return 0;
}

static int verify(struct error *err)
{
	struct folder f = {0};
	struct verify_options o = {0};
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	int r = folder_open(&f, DB_LAYOUT, err);
	if (r >= 0)
		r = verify_log(f.db, &o, rep, err);
	if (r >= 0 && rep->n_findings)
		r = error_set(err, E_ALTERED, "row %" PRId64 ": %s", rep->findings[0].seq,
			      rep->findings[0].text);
	folder_close(&f);
	xfree(rep);
	return r;
}

/* before: the records of the old layout; acked: the new one has told that it wrote. */
static int check(int64_t before, bool acked, struct error *err)
{
	struct db_config old = {.path = FILE_NAME, .vfs = "sim", .layout = OLD};
	CLEANUP(db_closep) struct db *d = NULL;
	int64_t layout, records, n_old;
	if (look(&layout, &records, &n_old, err) < 0)
		return -err->code;
	bool is_new = layout == DB_LAYOUT;
	if (n_old != OLD_ROWS || records < before || (!is_new && layout != OLD))
		return error_set(err, E_CORRUPT,
				 "layout %" PRId64 ", %" PRId64 " old rows, %" PRId64 " records",
				 layout, n_old, records);
	if (!is_new && (acked || records > before))
		return error_set(err, E_CORRUPT, "between: what the new one wrote is not marked");
	int r = db_open(&old, &d, err);
	if (r != (is_new ? -E_UNSUPPORTED : 0))
		return error_set(err, E_CORRUPT, "layout %" PRId64 ": the old alm is told %d",
				 layout, r);
	db_close(STEAL(d));
	/* And the upgrade goes on. */
	if (write_rows(DB_LAYOUT, 1, err) < 0 || look(&layout, &records, &n_old, err) < 0)
		return -err->code;
	if (layout != DB_LAYOUT || n_old != OLD_ROWS)
		return error_set(err, E_CORRUPT, "the next start does not upgrade");
	return verify(err);
}

static int play(const struct disk_case *c, uint64_t *ret_before, uint64_t *ret_ops,
		struct error *err)
{
	struct error ignored = ERROR_INIT;
	struct disk *disk = disk_case_disk(c);
	int64_t layout, before = 0, n_old;
	int r = write_rows(OLD, OLD_ROWS, err);
	if (r >= 0)
		r = look(&layout, &before, &n_old, err);
	*ret_before = disk_ops(disk);
	if (r >= 0) {
		bool acked = write_rows(DB_LAYOUT, 3, &ignored) >= 0;
		*ret_ops = disk_ops(disk);
		disk_case_restart(disk, c);
		r = check(before, acked, err);
	}
	disk_free(disk);
	return r;
}

uint64_t upgrade_check(uint64_t seed, uint64_t every, struct sha256 *digest)
{
	return disk_cases("upgrade", seed, every, digest, play);
}
