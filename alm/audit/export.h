/*
 * export: the log as JSON lines, and back (audit.md 10, format jsonl).
 *
 * {"record":{...},"chain":"<base64>"} a row; blobs, references, keys as lines of their own; the
 * checkpoints last. Of entries that were pruned the hashes come first, {"tile":N,"hashes":"..."}. Reading fills the audit tables of an empty database, so that verify and every
 * query work on an archive as on the log. Exports that follow each other (from_seq) make one
 * archive when they are put together: what stands in both is read once, and must be the same.
 */
#ifndef ALM_AUDIT_EXPORT_H
#define ALM_AUDIT_EXPORT_H

#include "alm/audit/audit.h"
#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/obj/obj.h"

typedef int (*export_line_fn)(void *arg, struct str line, struct error *err);

/* Rows from seq on; lines end with \n. Returns the newest seq given. No statement is open while fn
 * runs: it may wait for whoever reads. */
int export_write(struct db *d, int64_t from_seq, export_line_fn fn, void *arg, int64_t *ret_last,
		 struct error *err);

/* Parts of an archive that is made in pieces: entries with their blobs; full tiles of a log of this
 * size, which stand for entries that are not in it; keys and checkpoints of these sizes. */
int export_between(struct db *d, int64_t from, int64_t to, export_line_fn fn, void *arg,
		   struct error *err);
int export_tiles(struct db *d, int64_t size, export_line_fn fn, void *arg, struct error *err);
int export_signed(struct db *d, int64_t from, int64_t to, export_line_fn fn, void *arg,
		  struct error *err);
void export_checkpoint_line(int64_t size, struct str note, struct strbuf *b);

/* Rows in another form (export_form.h): those of the selector, however many. The newest seq that
 * was looked at comes back: the selector's from_seq goes on behind it. */
struct export_form;
struct query_selector;
int export_rows(struct db *d, const struct export_form *f, const struct query_selector *sel,
		export_line_fn fn, void *arg, int64_t *ret_last, struct error *err);
/* The System row that says so, before a byte is given. The log must not be in use. */
int export_record(const struct audit_config *c, const char *form, int64_t from_seq,
		  struct error *err);

/* The same in an open log, for who asked. */
int export_note(struct audit *a, const char *form, int64_t from_seq, const char *actor,
		struct error *err);

/* Makes the tables in an empty database. */
int export_tables(struct db *d, struct error *err);
/* E_CORRUPT "archive line N: ...". */
int export_read(struct db *d, struct str text, struct error *err);
/* A record object without chain value (an AuditRecord of the API): for queries, not for verify. */
int export_add_object(struct db *d, const struct obj *record, struct error *err);

#endif
