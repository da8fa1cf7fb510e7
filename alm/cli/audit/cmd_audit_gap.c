/* cmd_audit_gap: a gap in the log that cannot be closed is accepted, for a reason. */
#include <inttypes.h>

#include "alm/audit/gap.h"
#include "alm/base/file.h"
#include "alm/cli/audit/audit_anchors.h"
#include "alm/cli/audit/audit_cmds.h"
#include "alm/cli/term.h"

static int no_objects(void *arg, verify_object_fn fn, void *fn_arg, struct error *err)
{
	(void)arg;
	(void)fn;
	(void)fn_arg;
	(void)err;
	return 0;
}

static int accept_gap(struct cli *c, struct audit_source *s, struct loop *l, struct gap_result *ret,
		      struct error *err)
{
	struct audit_anchors *anchors = ARENA_NEW(c->arena, struct audit_anchors);
	/* A database without the log's tables has nothing to say of places. */
	struct error none = ERROR_INIT;
	bool embedded = audit_source_has_objects(s->db) ||
			file_exists(arena_fmt(c->arena, "%s/kubeconfig", s->dir));
	bool of_runs = audit_source_is_of_runs(s);
	(void)audit_anchors_read(c, s, !embedded && !of_runs, anchors, &none);
	struct gap_config gc = {.db = s->db,
				.loop = l,
				.dir = s->dir,
				.reason = cli_value(c, "reason"),
				.anchors = anchors->items,
				.n_anchors = anchors->n,
				.has_objects = audit_source_has_objects(s->db),
				.anyway = cli_flag(c, "anyway")};
	if (gc.has_objects) {
		gc.each = audit_source_objects;
		gc.each_arg = s;
	} else if (embedded || of_runs) {
		gc.each = no_objects; /* a log of runs; an embedded server whose database is gone */
	} else {
		gc.each = audit_source_statuses;
		gc.each_arg = c;
	}
	return gap_accept(&gc, ret, err);
}

static int run_accept_gap(struct cli *c, struct error *err)
{
	struct audit_source s = {.type = AUDIT_DATABASE, .dir = cli_data_dir(c)};
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	struct gap_result result = {.rows = 0};
	struct db_config dc = {.path = arena_fmt(c->arena, "%s/alm.db", s.dir),
			       .layout = DB_LAYOUT};
	const char *reason = cli_value(c, "reason");
	if (!reason || !*reason)
		return error_set(err, E_USAGE, "--reason TEXT is missing: why the gap is accepted");
	if (db_open(&dc, &s.db, err) < 0)
		return -err->code;
	int rc = accept_gap(c, &s, l, &result, err);
	audit_source_release(&s);
	if (rc < 0)
		return rc;
	term_print("the audit log begins anew as %s\n", result.origin);
	if (result.archive)
		term_print("the one before: %s, %" PRId64 " entries, sha256:%s\n", result.archive,
			   result.rows, result.sha256);
	gap_result_release(&result);
	return 0;
}

static const struct cmd_option options[] = {
	{"reason", "TEXT", "why; the first record of the new log says it (required)", 0},
	{"anyway", NULL, "also where nothing is missing, but alm audit verify found something", 0},
	{"audit-anchor", "PLACE", "a place that remembers the log, as of alm audit verify", 0},
	{0},
};
const struct cmd audit_accept_gap = {
	.name = "accept-gap",
	.usage = "alm audit accept-gap --reason TEXT [--data-dir DIR]",
	.summary = "begin a new log where records are lost for good",
	.description =
		"For a log that is read-only (LogRolledBack: an anchor or audit.head remembers "
		"what "
		"the database does not have) or behind the objects (LogBehindStatus), when the "
		"newest "
		"copy cannot be put back. alm must not run on the folder. The old log is kept as "
		"an "
		"archive in it; the new one begins with what is known of the gap and with the "
		"transitions of all objects as far as they had come.",
	.examples = "alm audit accept-gap --data-dir /var/lib/alm --reason \"INC-7: disk lost, "
		    "restored "
		    "from the backup of Sunday\"",
	.options = options,
	.run = run_accept_gap,
};
