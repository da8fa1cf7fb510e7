/*
 * audit_anchor: what places outside of the database remember of the log, and what follows if it is
 * not a prefix of what the database has (audit.md 4).
 *
 * The root of a remembered size is computed from stored tiles and rows; audit_open() has compared
 * the last rows with the tiles before, `alm audit verify` compares all of them.
 */
#include "alm/audit/audit.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/audit_internal.h"
#include "alm/audit/log.h"
#include "alm/audit/proof.h"
#include "alm/audit/pruned.h"
#include "alm/base/file.h"

#define REMEDY                                                                                  \
	"; the log can be read only, until the newest copy is put back or the gap is accepted:" \
	" alm audit accept-gap --data-dir %s --reason TEXT"

const char *audit_read_only(const struct audit *a)
{
	return a->read_only;
}

void audit_set_read_only(struct audit *a, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (a->read_only)
		return; /* the first reason stays */
	strbuf_addf(&b, "LogRolledBack: %s" REMEDY, why, a->key_dir ? a->key_dir : "DIR");
	a->read_only = strbuf_detach(&b);
}

void audit_on_checkpoint(struct audit *a,
			 void (*fn)(void *arg, int64_t size, struct str note, bool last), void *arg)
{
	a->on_checkpoint = fn;
	a->on_checkpoint_arg = arg;
}

int audit_newest_note(struct audit *a, char out[CHECKPOINT_BYTES_MAX + 1], struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, "SELECT note FROM audit_checkpoint ORDER BY size DESC LIMIT 1",
			   &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	struct str note = r ? str_sub(stmt_text(s, 0), 0, CHECKPOINT_BYTES_MAX) : STR("");
	memcpy(out, note.ptr, note.len);
	out[note.len] = '\0';
	stmt_reset(s);
	return 0;
}

int audit_write_head(struct audit *a, bool closed, bool durably, struct error *err)
{
	struct audit_head_state *h = xcalloc(1, sizeof(*h));
	int r = a->key_dir ? audit_newest_note(a, h->note, err) : 0;
	h->closed = closed;
	h->notes = a->notes;
	if (r >= 0 && h->note[0])
		r = head_write(a->key_dir, h, durably, err);
	xfree(h);
	return r;
}

/* 1 if one of the log's keys signed the note. */
static int is_signed(struct audit *a, struct str note, struct checkpoint *ret, struct error *err)
{
	struct stmt *s;
	struct error none = ERROR_INIT;
	int r = db_prepare(a->db, "SELECT vkey FROM audit_key ORDER BY size DESC", &s, err);
	bool found = checkpoint_verify(note, a->origin, signer_vkey(a->signer), ret, &none) == 0;
	while (!found && r >= 0 && (r = stmt_step(s, err)) > 0) {
		CLEANUP(xfreep) char *vkey = str_dup(stmt_text(s, 0));
		found = checkpoint_verify(note, a->origin, vkey, ret, &none) == 0;
	}
	if (r >= 0)
		stmt_reset(s);
	return r < 0 ? r : found;
}

/* Was it remembered when a gap was accepted? What the first record says of that counts only below a
 * checkpoint that our key signed. */
static int is_accepted(struct audit *a, struct str origin, int64_t size, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	struct error none = ERROR_INIT;
	struct checkpoint c;
	char note[CHECKPOINT_BYTES_MAX + 1];
	unsigned char root[SHA256_BYTES];
	if (audit_row_get(a, pruned_opening(a->db), &row, &none) < 0)
		return 0;
	if (!pruned_gap_covers(row, origin, size))
		return 0;
	int r = audit_newest_note(a, note, err);
	if (r < 0 ||
	    checkpoint_verify(str_of(note), a->origin, signer_vkey(a->signer), &c, &none) < 0)
		return r;
	r = proof_root(log_subtree, a->db, c.size, root, err);
	return r < 0 ? r : !memcmp(root, c.root, sizeof(root));
}

static int not_a_prefix(struct audit *a, const char *where, const struct checkpoint *c,
			const char *what, struct error *err)
{
	(void)error_set(err, E_ALTERED, "%s remembers %" PRId64 " records, %s", where, c->size,
			what);
	audit_set_read_only(a, err->msg);
	return -E_ALTERED;
}

static int check_root(struct audit *a, const struct checkpoint *c, const char *where,
		      struct error *err)
{
	unsigned char root[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (c->size > a->last_seq) {
		strbuf_addf(&b, "and the database has %" PRId64, a->last_seq);
		return not_a_prefix(a, where, c, b.buf, err);
	}
	int r = proof_root(log_subtree, a->db, c->size, root, err);
	if (r < 0 && r != -E_ALTERED)
		return r;
	if (r < 0 || memcmp(root, c->root, sizeof(root)) != 0)
		return not_a_prefix(a, where, c, "and the database has others", err);
	return 0;
}

int audit_check_note(struct audit *a, struct str note, const char *where, struct error *err)
{
	struct str origin;
	struct checkpoint c;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	int r = checkpoint_read(note, &origin, &c, err);
	if (r < 0)
		return error_wrap(err, "%s", where);
	if (!str_is(origin, a->origin)) {
		r = is_accepted(a, origin, c.size, err);
		strbuf_addf(&b,
			    "of the log %.*s, and this is %s (where an ALM still works with that "
			    "one, end this one: a gap that is accepted here would stop the other)",
			    STR_ARG(origin), a->origin);
		return r != 0 ? r < 0 ? r : 0 : not_a_prefix(a, where, &c, b.buf, err);
	}
	r = is_signed(a, note, &c, err);
	if (r < 0)
		return r;
	if (r == 0)
		return error_set(err, E_CORRUPT, "%s: no key of this log signed the note", where);
	return check_root(a, &c, where, err);
}

static int notes_from(struct audit *a, int64_t size, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, "SELECT note FROM audit_checkpoint WHERE size > ? ORDER BY size",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, size);
	while ((r = stmt_step(s, err)) > 0)
		head_notes_add(&a->notes, stmt_text(s, 0));
	return r;
}

static int has_checkpoint(struct audit *a, int64_t size, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, "SELECT 1 FROM audit_checkpoint WHERE size = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, size);
	r = stmt_step(s, err);
	stmt_reset(s);
	return r;
}

/* A log that was signed before has a head, unless somebody took it away. */
static int missing_head(struct audit *a, const char *why, struct error *err)
{
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "what", HEAD_FILE);
	obj_set_str(body, "details", why);
	struct audit_row row = {.type = "System",
				.reason = "AnchorLost",
				.subject = {.kind = "Log", .name = a->origin},
				.body = body};
	int r = notes_from(a, 0, err);
	if (r < 0 || !a->notes.n || a->read_only)
		return r;
	return audit_append(a, &row, &seq, err);
}

/* What the database must have beside the records: the checkpoint itself, and nothing after it if
 * the log was closed. */
static int check_ends(struct audit *a, const struct audit_head_state *h, struct error *err)
{
	struct error inner = ERROR_INIT;
	int r = has_checkpoint(a, h->checkpoint.size, err);
	if (r < 0)
		return r;
	if (!r)
		(void)not_a_prefix(a, HEAD_FILE, &h->checkpoint,
				   "and the database lacks the checkpoint of them", &inner);
	else if (h->closed && a->last_seq > h->checkpoint.size)
		(void)not_a_prefix(a, HEAD_FILE, &h->checkpoint,
				   "and more were appended after the log was closed", &inner);
	return r;
}

static int check_head(struct audit *a, const struct audit_head_state *h, struct error *err)
{
	struct error inner = ERROR_INIT;
	struct str origin = STR("");
	struct checkpoint c;
	int r = audit_check_note(a, str_of(h->note), HEAD_FILE, &inner);
	if (r == -E_CORRUPT)
		return missing_head(a, inner.msg, err);
	if (r < 0)
		return r == -E_ALTERED ? 0 : error_copy(err, &inner);
	(void)checkpoint_read(str_of(h->note), &origin, &c, &inner);
	if (!str_is(origin, a->origin)) /* the log before an accepted gap */
		return notes_from(a, 0, err);
	a->notes = h->notes;
	r = check_ends(a, h, err);
	return r < 0 ? r : notes_from(a, h->checkpoint.size, err);
}

static int check_file(struct audit *a, const char *path, bool is_new, struct error *err)
{
	struct error inner = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf where = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&where, "anchor file:%s", path);
	int r = file_read(path, &note, &inner);
	if (r == -E_NOTFOUND)
		return 0;
	if (r >= 0)
		r = audit_check_note(a, strbuf_str(&note), where.buf, &inner);
	if (r == -E_ALTERED && is_new)
		return error_copy(err, &inner);
	/* One that cannot be read is reported by who keeps it (anchors.h). */
	return r == -E_IO && db_is_broken(a->db) ? error_copy(err, &inner) : 0;
}

int audit_check_outside(struct audit *a, const struct audit_config *c, bool is_new,
			struct error *err)
{
	struct error inner = ERROR_INIT;
	struct audit_head_state *h = xcalloc(1, sizeof(*h));
	int r = 0, found = a->key_dir ? head_read(a->key_dir, h, &inner) : 0;
	for (const char *const *p = c->anchor_files; p && *p && r >= 0; p++)
		r = check_file(a, *p, is_new, err);
	if (r >= 0 && a->key_dir && found >= 0) {
		r = check_head(a, h, err);
		if (r >= 0 && is_new && a->read_only)
			r = error_set(err, E_ALTERED, "%s", a->read_only);
		/* Before anything is appended: after a crash it must not say that nothing was. */
		if (r >= 0 && h->closed && !a->read_only)
			r = audit_write_head(a, false, true, err);
	} else if (r >= 0) {
		r = is_new || !a->key_dir ? 0 : missing_head(a, inner.msg, err);
	}
	xfree(h);
	return r;
}
