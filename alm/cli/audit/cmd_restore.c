/* cmd_restore: a backup becomes the database of a data folder. */
#include <inttypes.h>
#include <string.h>

#include "alm/apiserver/store/revisions.h"
#include "alm/audit/audit.h"
#include "alm/audit/restored.h"
#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/cli/audit/audit_anchors.h"
#include "alm/cli/audit/audit_cmds.h"
#include "alm/cli/audit/backup_check.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/io/data_dir.h"
#include "alm/io/db_copy.h"
#include "alm/obj/nextstep.h"

struct restore {
	struct cli *c;
	const char *file, *dir, *db,
		*fresh; /* fresh: the copy beside db, until it takes its place */
	struct loop *loop;
	struct verify_report *rep;
	struct restored entry;
	int64_t objects;
	const char *aside; /* where the former one lies; NULL: there was none */
};

static void remove_fresh(struct restore *r)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
	struct error none = ERROR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
		(void)file_remove(arena_fmt(r->c->arena, "%s%s", r->fresh, suffixes[i]), &none);
}

static int refuse_altered(const struct restore *r, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	verify_print(r->rep, &b);
	term_error_lines(strbuf_str(&b));
	return error_set(err, E_ALTERED,
			 "%s: its audit log is not what was written: nothing was restored",
			 r->file);
}

static int append_entry(struct restore *r, struct db *db, struct error *err)
{
	struct audit_source s = {.type = AUDIT_DATABASE, .db = db, .dir = r->dir};
	struct audit_anchors *anchors = ARENA_NEW(r->c->arena, struct audit_anchors);
	struct error none = ERROR_INIT;
	/* A database without a log has nothing to say of places. */
	(void)audit_anchors_read(r->c, &s, r->objects < 0, anchors, &none);
	struct restored_config rc = {.db = db,
				     .loop = r->loop,
				     .dir = r->dir,
				     .reason = cli_value(r->c, "reason"),
				     .details = arena_fmt(r->c->arena, "%" PRId64 " entries of %s",
							  r->rep->last, r->file),
				     .anchors = anchors->items,
				     .n_anchors = anchors->n};
	return restored_append(&rc, &r->entry, err);
}

/* The copy, looked at and with its record, but not in its place. */
static int prepare(struct restore *r, struct error *err)
{
	struct db_config dc = {.path = r->fresh, .layout = DB_LAYOUT};
	CLEANUP(db_closep) struct db *db = NULL;
	remove_fresh(r);
	if (db_copy(r->file, r->fresh, err) < 0)
		return -err->code;
	if (db_open(&dc, &db, err) < 0 || backup_check(db, r->dir, r->rep, &r->objects, err) < 0)
		return error_wrap(err, "%s", r->file);
	if (r->rep->n_findings)
		return refuse_altered(r, err);
	if (revisions_skip(db, err) < 0)
		return -err->code;
	return append_entry(r, db, err);
}

static int take_place(struct restore *r, struct error *err)
{
	char now[CLOCK_TEXT_MAX];
	bool kept = false;
	clock_format(loop_now(r->loop), CLOCK_MILLIS, now);
	const char *aside = arena_fmt(r->c->arena, "%s.replaced-%s", r->db, now);
	if (file_exists(aside))
		return error_set(err, E_EXISTS, "%s is there: run it once more", aside);
	int rc = db_replace(r->db, r->fresh, aside, &kept, err);
	r->aside = kept ? aside : NULL;
	return rc;
}

/* The places named here are to be named again. */
static const char *anchor_options(struct restore *r)
{
	const char *text = "", *place;
	for (size_t i = 0; (place = cli_value_at(r->c, "audit-anchor", i)); i++)
		text = arena_fmt(r->c->arena, "%s --audit-anchor %s", text,
				 nextstep_word(r->c->arena, place));
	return text;
}

static void tell(struct restore *r)
{
	struct arena *a = r->c->arena;
	term_print("%s is %s now", r->db, r->file);
	if (r->objects >= 0)
		term_print(", %" PRId64 " objects", r->objects);
	if (r->entry.origin)
		term_print(", log %s, %" PRId64 " entries and the one of this restore",
			   r->entry.origin, r->entry.rows);
	term_print("\n");
	if (r->aside)
		term_print("the one before: %s\n", r->aside);
	if (!file_exists(arena_fmt(a, "%s/" AUDIT_SIGNING_KEY, r->dir)))
		term_print("no keys are in %s: put those of the folder of the backup there, or new "
			   "ones are made\n",
			   r->dir);
	if (!r->entry.gap) {
		term_print("nothing is known that it lacks; alm can be started on %s\n", r->dir);
		return;
	}
	term_print("it lacks what was written after it: %s; until that is accepted its log can be "
		   "read only (LogRolledBack)\n",
		   r->entry.gap);
	term_print("next: %s\n",
		   nextstep_new(a, NULL, "alm audit accept-gap --data-dir %s%s --reason TEXT",
				nextstep_word(a, r->dir), anchor_options(r)));
}

static int check_call(const struct restore *r, struct error *err)
{
	const char *reason = cli_value(r->c, "reason");
	struct file_info info;
	if (!reason || !*reason)
		return error_set(err, E_USAGE,
				 "--reason TEXT is missing: why the backup is put in the place of "
				 "the database");
	if (file_info(r->file, &info, err) < 0 || data_dir_make(r->dir, err) < 0)
		return -err->code;
	return 0;
}

static int restore(struct restore *r, struct error *err)
{
	CLEANUP(db_unlock) int lock = -1;
	if (check_call(r, err) < 0 || db_lock(r->db, &lock, err) < 0)
		return -err->code;
	if (file_exists(r->db) && !cli_flag(r->c, "force"))
		return error_set(err, E_REFUSED,
				 "%s is there: with --force the backup takes its place, and it is "
				 "kept beside it as alm.db.replaced-TIME",
				 r->db);
	int rc = prepare(r, err);
	if (rc >= 0)
		rc = take_place(r, err);
	remove_fresh(r);
	if (rc >= 0)
		tell(r);
	return rc;
}

static int run_restore(struct cli *c, struct error *err)
{
	const char *dir = cli_data_dir(c);
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	struct restore r = {.c = c,
			    .file = c->args[0],
			    .dir = dir,
			    .db = arena_fmt(c->arena, "%s/alm.db", dir),
			    .fresh = arena_fmt(c->arena, "%s/alm.db.restoring", dir),
			    .loop = l,
			    .rep = ARENA_NEW(c->arena, struct verify_report)};
	int rc = restore(&r, err);
	restored_release(&r.entry);
	return rc;
}

static const struct cmd_option options[] = {
	{"reason", "TEXT", "why; the record of the restore says it (required)", 0},
	{"force", NULL, "also where there is a database: it is kept as alm.db.replaced-TIME", 0},
	{"audit-anchor", "PLACE", "a place that remembers the log, as of alm audit verify", 0},
	{0},
};
const struct cmd cmd_restore = {
	.name = "restore",
	.usage = "alm restore FILE --reason TEXT [--force] [--data-dir DIR]",
	.summary = "put a backup in the place of the database of a data folder",
	.description =
		"alm must not run on the folder. FILE is copied into it and checked there: pages, "
		"layout, chain, tree and checkpoints of the log, objects. What is damaged, altered "
		"or of a newer alm is refused, and nothing changes. The copy gets the record "
		"Restored and takes its place in one step: whenever this command is ended, there "
		"is the one database or the other.\n"
		"Keys are in no backup: put audit.key, redact.key, ca.crt, ca.key, "
		"service-account.key and token back into the folder before. Without them alm "
		"makes new ones: the log then has the record KeyRotated, clients need the new "
		"kubeconfig, and tokens of ServiceAccounts end.\n"
		"If the folder or an anchor remembers more records than FILE has, they are lost; "
		"the log is read-only (LogRolledBack) until somebody accepts that by the command "
		"that is printed. Resource versions go on by a thousand millions above those of "
		"FILE, so that none is given out twice: whoever watched the server meanwhile is "
		"told 410 Expired, and lists anew.",
	.examples = "alm restore /mnt/backup/alm-monday.db --data-dir /var/lib/alm --force "
		    "--reason \"INC-7: disk lost\"",
	.options = options,
	.args = {1, 1},
	.run = run_restore,
};
