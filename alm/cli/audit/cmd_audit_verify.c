/* cmd_audit_verify: is the log what was written, and the proof of one record to somebody else. */
#include <inttypes.h>
#include <string.h>

#include "alm/audit/audit.h"
#include "alm/audit/checkpoint.h"
#include "alm/audit/log.h"
#include "alm/audit/proof.h"
#include "alm/audit/pruned.h"
#include "alm/audit/replay.h"
#include "alm/audit/verify_lanes.h"
#include "alm/base/file.h"
#include "alm/cli/audit/audit_anchors.h"
#include "alm/cli/audit/audit_cmds.h"
#include "alm/cli/progress.h"
#include "alm/cli/term.h"
#include "alm/sources/catalog_store.h"

#define LANES_FILE_BYTES  ((uint64_t)32 << 20) /* of a log that one process has read in no time */
#define PROGRESS_ROWS_MIN 10000                /* less is done before a line could be read */

/* What of the log's own folder, or of its cluster, is compared with it. */
static void add_objects(struct cli *c, struct audit_source *s, unsigned char key[AUDIT_KEY_BYTES],
			struct verify_options *o)
{
	struct error err = ERROR_INIT;
	if (s->type != AUDIT_DATABASE)
		return;
	o->dir = s->dir;
	o->each_kept = catalog_store_each;
	o->each_kept_arg = s->db;
	o->is_of_runs = audit_source_is_of_runs(s);
	if (o->is_of_runs)
		return;
	if (!audit_source_has_objects(s->db)) {
		o->each_status = audit_source_statuses;
		o->each_status_arg = c;
		return;
	}
	o->each_object = audit_source_objects;
	o->each_object_arg = s;
	if (audit_read_key(s->dir, AUDIT_REDACT_KEY, key, &err) == 0)
		o->redact_key = key;
}

/* The key that the log is signed with, from its file: one that somebody put into the database
 * instead does not count. */
static void add_vkey(struct audit_source *s, struct arena *a, struct verify_options *o)
{
	struct error err = ERROR_INIT;
	unsigned char seed[AUDIT_KEY_BYTES];
	CLEANUP(xfreep) char *origin = NULL;
	CLEANUP(signer_freep) struct signer *signer = NULL;
	if (s->type != AUDIT_DATABASE ||
	    audit_read_key(s->dir, AUDIT_SIGNING_KEY, seed, &err) < 0 ||
	    log_origin(s->db, &origin, &err) < 0 || signer_new(origin, seed, &signer, &err) < 0)
		return;
	memset(seed, 0, sizeof(seed));
	o->vkey = arena_strdup(a, signer_vkey(signer));
}

static void draw(void *arg, int64_t at, int64_t n)
{
	struct progress *p = arg;
	p->n = (size_t)n;
	if (n > PROGRESS_ROWS_MIN)
		progress_at(p, (size_t)at, "entries read");
}

/* Before any database is open: see verify_lanes.h. */
static struct verify_lanes *lanes_for(struct cli *c, const char *path)
{
	struct error none = ERROR_INIT;
	struct file_info file;
	bool whole = !cli_flag(c, "since-checkpoint") && !cli_value(c, "file");
	if (!whole || file_info(path, &file, &none) < 0 || file.size < LANES_FILE_BYTES)
		return NULL;
	return verify_lanes_new(0);
}

static int verify_source(struct cli *c, struct audit_source *s, struct verify_lanes *lanes,
			 const char *path, struct error *err)
{
	unsigned char key[AUDIT_KEY_BYTES];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct audit_anchors *anchors = ARENA_NEW(c->arena, struct audit_anchors);
	struct verify_report *rep = ARENA_NEW(c->arena, struct verify_report);
	bool data;
	if (cli_output_data(c, &data, err) < 0)
		return -err->code;
	/* What is remembered is read before the rows: it must be a prefix of them. */
	if (audit_anchors_read(c, s, false, anchors, err) < 0)
		return -err->code;
	struct progress progress;
	progress_start(&progress, 0);
	struct verify_options o = {.is_archive = s->type == AUDIT_ARCHIVE,
				   .since_checkpoint = cli_flag(c, "since-checkpoint"),
				   .anchors = anchors->items,
				   .n_anchors = anchors->n,
				   .unchecked = anchors->unchecked,
				   .progress = draw,
				   .progress_arg = &progress,
				   .lanes = s->type == AUDIT_DATABASE ? lanes : NULL,
				   .lanes_path = path};
	add_objects(c, s, key, &o);
	add_vkey(s, c->arena, &o);
	int rc = verify_log(s->db, &o, rep, err);
	memset(key, 0, sizeof(key));
	if (rc >= 0 && cli_flag(c, "replay"))
		rc = replay_log(s->db, &o, rep, err);
	progress_end(&progress);
	if (rc < 0)
		return rc;
	c->exit_code = verify_exit(rep);
	if (data) {
		CLEANUP(obj_unrefp) struct obj *report = verify_obj(rep);
		return cli_print_data(c, report, err);
	}
	verify_print(rep, &b);
	term_lines(strbuf_str(&b));
	return 0;
}

static int run_verify(struct cli *c, struct error *err)
{
	struct audit_source s = {0};
	const char *path = audit_source_path(c);
	CLEANUP(verify_lanes_freep) struct verify_lanes *lanes = lanes_for(c, path);
	int rc = audit_source_open(c, &s, err);
	if (rc < 0)
		return rc;
	if (cli_flag(c, "replay") && cli_flag(c, "since-checkpoint"))
		rc = error_set(err, E_USAGE,
			       "--replay reads the whole log: without --since-checkpoint");
	else if (s.type == AUDIT_API)
		rc = error_set(err, E_UNSUPPORTED,
			       "a log is verified from its folder (--data-dir) or an archive "
			       "(--file): AuditRecords carry no chain");
	else
		rc = verify_source(c, &s, lanes, path, err);
	audit_source_release(&s);
	return rc;
}

/* The newest signed size, if it has the row; the note is appended. */
static int covering_note(struct db *d, int64_t seq, int64_t *ret_size, struct strbuf *note,
			 struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "SELECT size, note FROM audit_checkpoint WHERE size >= ? ORDER BY size"
			   " DESC LIMIT 1",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	r = stmt_step(s, err);
	if (r > 0) {
		*ret_size = stmt_int(s, 0);
		strbuf_addstr(note, stmt_text(s, 1));
	}
	stmt_reset(s);
	return r == 0 ? error_set(err, E_NOTFOUND, "no checkpoint covers entry %" PRId64 " yet",
				  seq)
		      : r;
}

/* A note that a witness cosigned is worth more, if it has the row. */
static void prefer_cosigned(const struct audit_anchors *anchors, int64_t seq, int64_t *ret_size,
			    struct strbuf *note)
{
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < anchors->n; i++) {
		const struct verify_anchor *a = &anchors->items[i];
		struct str origin;
		struct checkpoint c;
		if (!a->vkey || checkpoint_read(a->note, &origin, &c, &err) < 0 || c.size < seq)
			continue;
		*ret_size = c.size;
		strbuf_clear(note);
		strbuf_addstr(note, a->note);
		return;
	}
}

static int record_of(struct db *d, int64_t seq, struct strbuf *b, struct error *err)
{
	struct stmt *s;
	struct record rec;
	int r = db_prepare(d, "SELECT " LOG_COLUMNS " FROM audit WHERE seq = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	r = stmt_step(s, err);
	if (r > 0) {
		log_record(s, &rec);
		record_print(&rec, b);
	}
	stmt_reset(s);
	return r == 0 ? pruned_no_entry(d, seq, err) : r;
}

/* c2sp.org/tlog-proof@v1; extra is the record itself, from which the leaf is made. */
static int print_proof(struct cli *c, struct audit_source *s, int64_t seq, struct error *err)
{
	int64_t size = 0;
	struct proof *p = ARENA_NEW(c->arena, struct proof);
	struct audit_anchors *anchors = ARENA_NEW(c->arena, struct audit_anchors);
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf record = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (record_of(s->db, seq, &record, err) < 0 ||
	    covering_note(s->db, seq, &size, &note, err) < 0 ||
	    audit_anchors_read(c, s, false, anchors, err) < 0)
		return -err->code;
	prefer_cosigned(anchors, seq, &size, &note);
	if (proof_inclusion(log_subtree, s->db, seq - 1, size, p, err) < 0)
		return -err->code;
	strbuf_adds(&b, "c2sp.org/tlog-proof@v1\n");
	if (cli_flag(c, "with-record")) {
		strbuf_adds(&b, "extra ");
		base64_encode(strbuf_str(&record), &b);
		strbuf_addc(&b, '\n');
	}
	strbuf_addf(&b, "index %" PRId64 "\n", seq - 1);
	proof_print(p, &b);
	strbuf_addf(&b, "\n%s", note.buf);
	int lost = term_data(strbuf_str(&b));
	return lost ? error_set(err, E_IO, "standard output: %s", strerror(lost)) : 0;
}

static int run_proof(struct cli *c, struct error *err)
{
	struct audit_source s = {0};
	int64_t seq;
	if (!str_parse_i64(str_of(c->args[0]), &seq) || seq < 1)
		return error_set(err, E_USAGE, "%s is no number of an entry", c->args[0]);
	int rc = audit_source_open(c, &s, err);
	if (rc < 0)
		return rc;
	if (s.type == AUDIT_API)
		rc = error_set(err, E_UNSUPPORTED,
			       "a proof is made from the folder of the log (--data-dir) or an "
			       "archive (--file)");
	else
		rc = print_proof(c, &s, seq, err);
	audit_source_release(&s);
	return rc;
}

static int run_key(struct cli *c, struct error *err)
{
	struct audit_source source = {0};
	struct stmt *s;
	int rc = audit_source_open(c, &source, err);
	if (rc >= 0)
		rc = db_prepare(source.db, "SELECT vkey FROM audit_key ORDER BY size DESC LIMIT 1",
				&s, err);
	if (rc >= 0)
		rc = stmt_step(s, err);
	if (rc > 0) {
		struct str vkey = stmt_text(s, 0);
		term_print("%.*s\n", STR_ARG(vkey));
		stmt_reset(s);
	} else if (rc == 0)
		rc = error_set(err, E_NOTFOUND, "this log has no key: --data-dir names its folder");
	audit_source_release(&source);
	return rc < 0 ? rc : 0;
}

static const struct cmd_option verify_options[] = {
	{"since-checkpoint", NULL, "only the entries after the last checkpoint", 0},
	{"replay", NULL, "make every decision and transition again, from what the log says it read",
	 0},
	{"audit-anchor", "PLACE",
	 "a place that remembers the log, besides those that the log names: file:PATH, configmap, "
	 "witness:URL#VKEY; may be given again",
	 0},
	CLI_OUTPUT_OPTION,
	AUDIT_FILE_OPTION,
	{0},
};
static const struct cmd_option proof_options[] = {
	{"with-record", NULL, "put the record itself into the proof, as extra data", 0},
	{"audit-anchor", "PLACE", "witness:URL#VKEY: with its cosignature", 0},
	AUDIT_FILE_OPTION,
	{0},
};
static const struct cmd_option key_options[] = {AUDIT_FILE_OPTION, {0}};

const struct cmd audit_verify = {
	.name = "verify",
	.usage = "alm audit verify [--replay | --since-checkpoint] [--file ARCHIVE] "
		 "[--audit-anchor PLACE] [-o json]",
	.examples = "alm audit verify --data-dir /var/lib/alm\nalm audit verify --replay",
	.summary = "prove that the log is what was written",
	.description =
		"Chain, tree, checkpoints and blobs; what anchors and audit.head remember; the "
		"statuses and, beside an embedded server, all objects against what the log says of "
		"them, and what is kept of catalogs. --replay also resolves every decision again "
		"from the inputs in the log, and every transition from its two statuses. "
		"Exit status: 0 intact, 1 not all could be checked, 4 altered.",
	.options = verify_options,
	.run = run_verify,
};
const struct cmd audit_proof = {
	.name = "proof",
	.usage = "alm audit proof SEQ [--with-record] [--file ARCHIVE]",
	.summary = "print a proof that an entry is in the log (c2sp.org/tlog-proof)",
	.description = "Whoever has the log's key (alm audit key) can check it offline.",
	.examples = "alm audit proof 112 --with-record > approval.tlog-proof",
	.options = proof_options,
	.args = {1, 1},
	.run = run_proof,
};
const struct cmd audit_key = {
	.name = "key",
	.usage = "alm audit key [--data-dir DIR | --file ARCHIVE]",
	.examples = "alm audit key --data-dir /var/lib/alm",
	.summary = "print the public key that the log is signed with (a C2SP vkey)",
	.options = key_options,
	.run = run_key,
};
