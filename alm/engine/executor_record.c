/* How writes ended, in the log. Nobody waits for such an entry: after a crash before its commit the write
 * is one that the log knows to be open, and settle.h looks at what became of it. So those of FLUSH_NS,
 * a hundred answers at times, share a transaction with the entries of the next plans. Beside the server
 * it is the server's, or each has its own.
 *
 * The log and its database may have several executors (that of a Bundle's units is another one), and
 * where there is no server a transaction that is open is always one of these entries: whoever announces
 * something commits it, too. */
#include "alm/engine/executor_run.h"

#include "alm/base/clock.h"
#include "alm/base/log.h"

#define FLUSH_NS (10 * NS_PER_MS)

void record_flush(struct executor *x)
{
	struct error err;
	loop_disarm(x->c.loop, &x->flush);
	if (x->c.same_process || !db_in_transaction(x->c.db))
		return;
	if (db_commit(x->c.db, &err) < 0) {
		db_rollback(x->c.db);
		audit_rolled_back(x->c.audit);
		log_error("how writes ended is not in the log", "error", err.msg);
		return;
	}
	audit_committed(x->c.audit);
	record_checkpoint(x);
}

void record_checkpoint(struct executor *x)
{
	struct error err;
	if (!x->c.same_process && !db_in_transaction(x->c.db))
		(void)db_checkpoint(x->c.db, false, &err);
}

static void on_flush(void *arg)
{
	record_flush(arg);
}

void record_init(struct executor *x)
{
	x->flush = (struct timer){.fn = on_flush, .arg = x};
}

/* What SQLite rolls back by itself, on a full disk, takes those before with it. */
static int append(struct executor *x, const struct audit_row *row, int64_t *ret_seq,
		  struct error *err)
{
	if (db_savepoint(x->c.db, err) < 0)
		return -err->code;
	if (audit_append(x->c.audit, row, ret_seq, err) < 0 || db_release(x->c.db, err) < 0) {
		db_rollback_to(x->c.db);
		audit_rolled_back(x->c.audit);
		return -err->code;
	}
	return 0;
}

int record_soon(struct executor *x, const struct audit_row *row, int64_t *ret_seq,
		struct error *err)
{
	if (x->c.same_process)
		return audit_append_now(x->c.audit, row, ret_seq, err);
	if (!db_in_transaction(x->c.db) && db_begin(x->c.db, err) < 0)
		return -err->code;
	if (!heap_holds(&x->flush.node))
		loop_arm(x->c.loop, &x->flush, FLUSH_NS);
	return append(x, row, ret_seq, err);
}
