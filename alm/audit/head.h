/*
 * head: the file audit.head beside the keys: the newest signed checkpoint of the log, kept where
 * who can write to the database cannot. It is the anchor that every log has (audit.md 4).
 *
 *	alm audit head 1
 *	log: open                        or closed: nothing may come after this size
 *	checkpoints: 12 BASE64           how many up to this one, and a digest over all of them
 *
 *	<the note>
 *
 * It is written after the checkpoint was committed, so it is never ahead of the database.
 */
#ifndef ALM_AUDIT_HEAD_H
#define ALM_AUDIT_HEAD_H

#include "alm/audit/checkpoint.h"

#define HEAD_FILE "audit.head"

/* All checkpoints of a log: a deleted one changes both. */
struct head_notes {
	int64_t n;
	unsigned char digest[SHA256_BYTES]; /* d = SHA-256(d, note), from zeros on */
};
void head_notes_add(struct head_notes *h, struct str note);

struct audit_head_state {
	bool closed;
	struct head_notes notes;
	struct checkpoint checkpoint; /* of the note, unverified */
	char note[CHECKPOINT_BYTES_MAX + 1];
};

/* E_NOTFOUND; E_CORRUPT for a file that a power cut or somebody damaged. */
int head_read(const char *dir, struct audit_head_state *ret, struct error *err);
/* durably: the folder is flushed as well, so that a power cut does not bring the old one back. */
int head_write(const char *dir, const struct audit_head_state *h, bool durably, struct error *err);

#endif
