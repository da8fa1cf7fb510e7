/* audit_sign: checkpoints of what is committed, signed when they are due. */
#include "alm/audit/audit_internal.h"
#include "alm/base/clock.h"

#define CHECKPOINT_RETRY_NS (20 * NS_PER_MS)

int audit_store_note(struct audit *a, struct error *err)
{
	unsigned char root[SHA256_BYTES];
	struct stmt *s;
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	tree_root(&a->tree, root);
	int r = checkpoint_sign(a->signer, a->committed_seq, root, &note, err);
	if (r >= 0)
		r = db_prepare(a->db, "INSERT INTO audit_checkpoint (size, note) VALUES (?, ?)", &s,
			       err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, a->committed_seq);
	stmt_bind_text(s, 2, strbuf_str(&note));
	r = stmt_step(s, err);
	if (r >= 0)
		head_notes_add(&a->notes, strbuf_str(&note));
	return r;
}

/* The state that a failed commit leaves behind. */
static int commit_note(struct audit *a, struct error *err)
{
	struct head_notes before = a->notes;
	int r = db_begin(a->db, err);
	if (r < 0)
		return r;
	r = audit_store_note(a, err);
	if (r >= 0)
		r = db_commit(a->db, err);
	else
		db_rollback(a->db);
	if (r < 0)
		a->notes = before;
	return r;
}

int audit_sign_now(struct audit *a, bool last, struct error *err)
{
	char note[CHECKPOINT_BYTES_MAX + 1];
	int64_t size = a->committed_seq;
	if (size == a->checkpoint_seq || size != a->last_seq || a->read_only)
		return 0;
	int r = commit_note(a, err);
	if (r < 0)
		return r;
	a->checkpoint_seq = size;
	a->checkpoint_mono_ns = loop_mono(a->loop);
	a->checkpoint_at_once = false;
	if (last) /* audit_close() tells, also if there was nothing to sign */
		return 0;
	if (a->on_checkpoint && audit_newest_note(a, note, err) >= 0)
		a->on_checkpoint(a->on_checkpoint_arg, size, str_of(note), false);
	return audit_write_head(a, false, false, err);
}

void audit_sign_due(void *arg)
{
	struct audit *a = arg;
	struct error err = ERROR_INIT;
	if (a->checkpoint_seq == a->committed_seq)
		return;
	/* A group commit is under way, or the disk said no: soon again. */
	if (db_in_transaction(a->db) || audit_sign_now(a, false, &err) < 0)
		loop_arm(a->loop, &a->timer,
			 db_is_broken(a->db) ? AUDIT_SIGN_EVERY_NS : CHECKPOINT_RETRY_NS);
}
