/*
 * export: the log as JSON lines, and back (specs/audit.md 10, format jsonl).
 *
 * {"record":{...},"chain":"<base64>"} a row; blobs, references, keys as lines of their own; the
 * checkpoints last. Reading fills the audit tables of an empty database, so that verify and every
 * query work on an archive as on the log.
 */
#ifndef ALM_AUDIT_EXPORT_H
#define ALM_AUDIT_EXPORT_H

#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/obj/obj.h"

typedef int (*export_line_fn)(void *arg, struct str line, struct error *err);

/* Rows from seq on; lines end with \n. Returns the newest seq given. No statement is open while fn
 * runs: it may wait for whoever reads. */
int export_write(struct db *d, int64_t from_seq, export_line_fn fn, void *arg, int64_t *ret_last,
		 struct error *err);

/* Makes the tables in an empty database. */
int export_tables(struct db *d, struct error *err);
/* One line; E_CORRUPT "archive line N: ...". */
int export_read_line(struct db *d, struct str line, size_t number, struct error *err);
int export_read(struct db *d, struct str text, struct error *err);
/* A record object without chain value (an AuditRecord of the API): for queries, not for verify. */
int export_add_object(struct db *d, const struct obj *record, struct error *err);

#endif
