#include "tests/sim/invariants.h"

#include <string.h>

#include "alm/audit/replay.h"
#include "alm/audit/verify.h"
#include "alm/base/file.h"
#include "alm/cli/audit/audit_source.h"
#include "alm/obj/json.h"
#include "tests/sim/home.h"
#include "tests/sim/world.h"
#include "tests/sim/writes.h"

static struct db *program_db(struct world *w)
{
	const struct program *p = w->scenario->program;
	return p && p->db && w->program ? p->db(w->program) : NULL;
}

static int64_t rows_of(struct db *db)
{
	struct stmt *s;
	struct error ignored;
	int64_t n = 0;
	if (!db || db_prepare(db, "SELECT max(seq) FROM audit", &s, &ignored) < 0)
		return 0;
	if (stmt_step(s, &ignored) > 0)
		n = stmt_int(s, 0);
	stmt_reset(s);
	return n;
}

int64_t invariants_rows(struct world *w)
{
	return rows_of(w->db) + rows_of(program_db(w));
}

static int no_idle_writes(struct world *w, struct error *err)
{
	uint64_t n = net_stats(w->net)->idle_writes;
	int64_t rows = invariants_rows(w) - w->rows_at_rest;
	if (n)
		return error_set(err, E_INTERNAL, "%llu writes in an idle hour",
				 (unsigned long long)n);
	if (rows)
		return error_set(err, E_INTERNAL, "%lld records in an idle hour", (long long)rows);
	if (w->scenario->program && w->scenario->program->idle &&
	    !w->scenario->program->idle(w->program))
		return error_set(err, E_INTERNAL, "the program does not come to rest");
	return 0;
}

/* A fight between two parties costs writes, even if it ends well. */
static int writes_are_few(struct world *w, struct error *err)
{
	uint64_t max = w->scenario->writes, n = net_stats(w->net)->writes;
	return max && n > max && world_is_faultless(w)
		       ? error_set(err, E_INTERNAL, "%llu writes without a fault, at most %llu",
				   (unsigned long long)n, (unsigned long long)max)
		       : 0;
}

/* Without a fault nobody makes what is there already. */
static int creates_are_single(struct world *w, struct error *err)
{
	uint64_t n = net_stats(w->net)->exists;
	return n && world_is_faultless(w)
		       ? error_set(err, E_INTERNAL, "%llu objects were created twice",
				   (unsigned long long)n)
		       : 0;
}

static int read_anchor(const char *dir, struct strbuf *note, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&path, "%s/" HOME_ANCHOR, dir);
	return file_read(path.buf, note, err);
}

/* key_dir: of a log with objects beside it; NULL: of one alone. */
static int log_is_whole(struct db *db, const char *key_dir, struct error *err)
{
	unsigned char key[AUDIT_KEY_BYTES];
	struct verify_anchor anchor = {.name = HOME_ANCHOR};
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	struct audit_source source = {.db = db};
	struct verify_options o = {.skip_file_check = false};
	CLEANUP(xfreep) struct verify_report *r = xcalloc(1, sizeof(*r));
	if (key_dir) {
		if (audit_read_key(key_dir, AUDIT_REDACT_KEY, key, err) < 0)
			return -err->code;
		o.each_object = audit_source_objects;
		o.each_object_arg = &source;
		o.redact_key = key;
		o.dir = key_dir;
		if (read_anchor(key_dir, &note, err) < 0)
			return -err->code;
		anchor.note = strbuf_str(&note);
		o.anchors = &anchor;
		o.n_anchors = 1;
	}
	/* What was decided is what its own inputs give, and each transition follows from its statuses. */
	if (verify_log(db, &o, r, err) < 0 || replay_log(db, &o, r, err) < 0)
		return error_wrap(err, "verify");
	if (r->n_unchecked)
		return error_set(err, E_ALTERED, "log: not checked: %s", r->unchecked[0]);
	if (r->n_findings)
		return error_set(err, E_ALTERED, "log: entry %lld: %s",
				 (long long)r->findings[0].seq, r->findings[0].text);
	return 0;
}

/* The queries name what must not be; each gives one text column. */
static const struct {
	const char *what, *sql;
	bool of_objects; /* for the server's database only */
} laws[] = {
	{"object revision without its row",
	 /* lifecycle and audit.md 1: object and row in one transaction. A status that carries a
	  * transitionSeq has its Transition row instead. */
	 "SELECT o.id || ' ' || o.name FROM objects o WHERE o.deleted = 0"
	 " AND (o.name LIKE '%configmaps%' OR o.name LIKE '%app.coreos.com%'"
	 "      OR o.name LIKE '%opinstaller%')"
	 " AND o.name NOT LIKE '%kube-root-ca.crt%'"
	 " AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.type = 'Write'"
	 "                 AND json_extract(a.body, '$.rvAfter') = CAST(o.id AS TEXT))"
	 " AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.type = 'Transition'"
	 "                 AND a.tseq = json_extract(CAST(o.value AS TEXT), "
	 "'$.status.transitionSeq')"
	 "                 AND a.uid = json_extract(CAST(o.value AS TEXT), '$.metadata.uid'))"
	 " LIMIT 1",
	 true},
	{"two rows of one revision",
	 "SELECT json_extract(a.body, '$.rvAfter') FROM audit a WHERE a.type = 'Write'"
	 " AND json_extract(a.body, '$.rvAfter') IS NOT NULL GROUP BY 1 HAVING count(*) > 1 LIMIT "
	 "1",
	 true},
	/* Older revisions may be compacted. */
	{"newest row of an object whose revision is not there",
	 "SELECT a.seq || ' ' || a.name FROM audit a WHERE a.type = 'Write'"
	 " AND a.reason <> 'Deleted' AND json_extract(a.body, '$.outcome') = 'Applied'"
	 " AND NOT EXISTS (SELECT 1 FROM audit b WHERE b.uid = a.uid AND b.seq > a.seq"
	 "                 AND b.type IN ('Write', 'Transition'))"
	 " AND NOT EXISTS (SELECT 1 FROM objects o WHERE o.id ="
	 "                 CAST(json_extract(a.body, '$.rvAfter') AS INTEGER)) LIMIT 1",
	 true},
	{"two InstallStrategies of one version",
	 "SELECT json_extract(CAST(o.value AS TEXT), '$.spec.version') FROM objects o"
	 " WHERE o.name LIKE 'opinstaller.coreos.com/installstrategies/%' AND o.deleted = 0"
	 " AND o.id = (SELECT max(p.id) FROM objects p WHERE p.name = o.name)"
	 " GROUP BY json_extract(CAST(o.value AS TEXT), '$.spec.appTypeRef.name'), 1"
	 " HAVING count(*) > 1 LIMIT 1",
	 true},
	/* What only a version had that is over, or was gone back from, went with it. */
	{"object of a version that does not run",
	 "WITH newest AS (SELECT name, CAST(value AS TEXT) AS v FROM objects o WHERE deleted = 0"
	 " AND id = (SELECT max(p.id) FROM objects p WHERE p.name = o.name))"
	 " SELECT o.name || ' of ' || s.name FROM newest s, newest o,"
	 " json_each(o.v, '$.metadata.ownerReferences') r"
	 " WHERE s.name LIKE 'opinstaller.coreos.com/installstrategies/%'"
	 " AND o.name NOT LIKE '/secrets/alm-system/plan.%'" /* its books */
	 " AND json_extract(s.v, '$.status.phase') IN ('RolledBack', 'Superseded')"
	 " AND json_extract(r.value, '$.uid') = json_extract(s.v, '$.metadata.uid') LIMIT 1",
	 true},
	/* What runs was planned, met what it requires, fitted and was let in: a condition that says otherwise
	 * is of an attempt before. An app says of a version that it is blocked, or newer, while there is one. */
	{"condition that has outlived its cause",
	 "WITH newest AS (SELECT name, CAST(value AS TEXT) AS v FROM objects o WHERE deleted = 0"
	 " AND id = (SELECT max(p.id) FROM objects p WHERE p.name = o.name)),"
	 " said AS (SELECT name, v, json_extract(c.value, '$.type') AS type,"
	 " json_extract(c.value, '$.status') AS is_so, json_extract(c.value, '$.reason') AS why"
	 " FROM newest, json_each(v, '$.status.conditions') c)"
	 " SELECT name || ' ' || type || '=' || is_so || ' ' || why FROM said WHERE"
	 " (name LIKE 'opinstaller.coreos.com/installstrategies/%' AND is_so = 'False'"
	 "  AND json_extract(v, '$.status.phase') IN ('Succeeded', 'Superseded')"
	 "  AND type IN ('PlanReady', 'RequirementsMet', 'CRDCompatible', 'Approved'))"
	 " OR (name LIKE 'app.coreos.com/apps/%' AND is_so = 'True'"
	 "  AND json_extract(v, '$.status.installedVersion') ="
	 "      json_extract(v, '$.status.availableVersion')"
	 "  AND (type = 'UpgradeAvailable' OR (type = 'UpgradeBlocked' AND why <> "
	 "'PreviouslyFailed')))"
	 " OR (name LIKE 'app.coreos.com/apps/%' AND is_so = 'True' AND type = 'Paused'"
	 "  AND json_extract(v, '$.spec.paused') IS NOT 1)"
	 " OR (name LIKE 'app.coreos.com/apps/%' AND is_so = 'True' AND type IN ('Degraded',"
	 "  'StateOverdue', 'Drifted') AND json_extract(v, '$.status.conditions[0].type') = 'Ready'"
	 "  AND json_extract(v, '$.status.conditions[0].reason') = 'Installed') LIMIT 1",
	 true},
	{"status put back that nobody had changed",
	 "SELECT seq || ' ' || name FROM audit WHERE reason IN ('StatusEdited', 'StatusRestored',"
	 " 'StatusRegressed', 'StatusContested', 'LogBehindStatus') LIMIT 1",
	 false},
	{"write that does not name the revision it made",
	 "SELECT seq || ' ' || reason || ' ' || name FROM audit WHERE type = 'Write'"
	 " AND json_extract(body, '$.verb') <> 'delete'"
	 " AND json_extract(body, '$.outcome') = 'Applied'"
	 " AND json_extract(body, '$.rvAfter') IS NULL LIMIT 1",
	 false},
	{"a secret in a record",
	 "SELECT seq || ' ' || type || ' ' || name FROM audit"
	 " WHERE body LIKE '%" WORLD_CANARY "%' LIMIT 1",
	 false},
	{"a secret in an Event or a status",
	 "SELECT id || ' ' || name FROM objects WHERE deleted = 0 AND CASE WHEN name LIKE "
	 "'%events/%'"
	 " THEN CAST(value AS TEXT) ELSE json_extract(CAST(value AS TEXT), '$.status') END"
	 " LIKE '%" WORLD_CANARY "%' LIMIT 1",
	 true},
	{"decision that does not name what it read",
	 "SELECT seq || ' ' || name FROM audit WHERE type = 'Decision' AND reason = 'Resolved'"
	 " AND json_extract(body, '$.inputs[0].digest') IS NULL LIMIT 1",
	 false},
	{"revision quarantined without a decision",
	 "SELECT t.seq || ' ' || t.name FROM audit t WHERE t.type = 'Transition' AND t.kind = "
	 "'Catalog'"
	 " AND json_extract(json_extract(t.body, '$.status'), '$.quarantined.digest') IS NOT NULL"
	 " AND NOT EXISTS (SELECT 1 FROM audit d WHERE d.type = 'Decision' AND d.reason = "
	 "'Quarantined'"
	 " AND d.uid = t.uid AND d.seq < t.seq AND json_extract(d.body, '$.digest') ="
	 " json_extract(json_extract(t.body, '$.status'), '$.quarantined.digest')) LIMIT 1",
	 false},
	{"version tried again without a decision",
	 "SELECT seq || ' ' || name FROM audit t WHERE type = 'Transition' AND"
	 " kind = 'InstallStrategy' AND json_extract(body, '$.from') = 'Failed' AND"
	 " json_extract(body, '$.to') = 'Pending' AND"
	 " (SELECT count(*) FROM audit d WHERE d.type = 'Decision' AND d.reason = 'Retried' AND"
	 " d.uid = t.uid AND d.seq < t.seq) < (SELECT count(*) FROM audit e WHERE"
	 " e.type = 'Transition' AND e.uid = t.uid AND e.seq <= t.seq AND"
	 " json_extract(e.body, '$.from') = 'Failed' AND json_extract(e.body, '$.to') = 'Pending')"
	 " LIMIT 1",
	 false},
	{"plan that counts other than it lists",
	 "SELECT seq || ' ' || name FROM audit WHERE type = 'Plan' AND reason = 'Planned'"
	 " AND (json_extract(body, '$.count') IS NULL OR min(json_extract(body, '$.count'), 64)"
	 " <> json_array_length(body, '$.actions')) LIMIT 1",
	 false},
	{"row whose cause is no earlier one",
	 "SELECT seq || ' ' || type || ' ' || name FROM audit a WHERE cause IS NOT NULL AND"
	 " (cause >= seq OR NOT EXISTS (SELECT 1 FROM audit b WHERE b.seq = a.cause)) LIMIT 1",
	 false},
	{"transition without a cause",
	 "SELECT seq || ' ' || kind || ' ' || name || ' ' || reason FROM audit WHERE"
	 " type = 'Transition' AND tseq > 1 AND kind IN ('AppType', 'InstallStrategy')"
	 " AND cause IS NULL LIMIT 1",
	 false},
	{"gap in the transitions of an object",
	 "SELECT uid FROM audit WHERE type = 'Transition' GROUP BY uid"
	 " HAVING count(*) <> max(tseq) OR min(tseq) <> 1 LIMIT 1",
	 false},
};

static int law_holds(struct db *db, const char *what, const char *sql, struct error *err)
{
	struct stmt *s;
	if (db_prepare(db, sql, &s, err) < 0)
		return error_wrap(err, "%s", what);
	int r = stmt_step(s, err);
	if (r > 0) {
		r = error_set(err, E_ALTERED, "%s: %.*s", what, STR_ARG(stmt_text(s, 0)));
		stmt_reset(s);
	}
	return r;
}

static int laws_hold(struct world *w, struct error *err)
{
	struct db *own = program_db(w);
	for (size_t i = 0; i < ARRAY_LEN(laws); i++) {
		if (law_holds(w->db, laws[i].what, laws[i].sql, err) < 0)
			return -err->code;
		if (own && !laws[i].of_objects &&
		    law_holds(own, laws[i].what, laws[i].sql, err) < 0)
			return -err->code;
	}
	return 0;
}

/* Every transition that an object shows has one row, in the log of who made it. */
static int transitions_have_rows(struct world *w, struct error *err)
{
	static const char shown[] =
		"SELECT o.name, json_extract(CAST(o.value AS TEXT), '$.metadata.uid'),"
		" json_extract(CAST(o.value AS TEXT), '$.status.transitionSeq') AS n,"
		" json_extract(CAST(o.value AS TEXT), '$.status')"
		" FROM objects o WHERE o.deleted = 0 AND n IS NOT NULL"
		" AND o.id = (SELECT max(p.id) FROM objects p WHERE p.name = o.name)";
	static const char rows[] = "SELECT count(*), max(tseq), max(json_extract(body, '$.status'))"
				   " FROM audit WHERE type = 'Transition' AND uid = ? AND tseq = ?";
	struct db *own = program_db(w);
	struct stmt *s, *t;
	if (db_prepare(w->db, shown, &s, err) < 0 ||
	    db_prepare(own ? own : w->db, rows, &t, err) < 0)
		return error_wrap(err, "transitions");
	int r;
	while ((r = stmt_step(s, err)) > 0) {
		stmt_bind_text(t, 1, stmt_text(s, 1));
		stmt_bind_int(t, 2, stmt_int(s, 2));
		r = stmt_step(t, err);
		int64_t n = r > 0 ? stmt_int(t, 0) : 0;
		struct str row = r > 0 ? stmt_text(t, 2) : STR_NONE, is = stmt_text(s, 3);
		if (r >= 0 && n != 1)
			r = error_set(
				err, E_ALTERED, "%.*s: transition %lld is shown with %lld rows",
				STR_ARG(stmt_text(s, 0)), (long long)stmt_int(s, 2), (long long)n);
		else if (r > 0 && row.ptr && !str_has_prefix(row, STR("sha256:")) &&
			 !str_eq(row, is))
			r = error_set(err, E_ALTERED, "%.*s: status is %.*s, its row says %.*s",
				      STR_ARG(stmt_text(s, 0)), STR_ARG(is), STR_ARG(row));
		stmt_reset(t);
		if (r < 0) {
			stmt_reset(s);
			return r;
		}
	}
	return r;
}

/* The objects of an app are gone before it is. Behind faults a late write may make one once more,
 * which the garbage collector takes. */
static int apps_go_last(struct world *w, struct error *err)
{
	static const char late[] =
		"SELECT o.kind || ' ' || o.name FROM audit o JOIN audit a ON a.name = o.ns"
		" WHERE a.kind = 'AppType' AND a.type = 'Write' AND a.reason = 'Deleted'"
		" AND o.type = 'Write' AND o.reason = 'Deleted' AND o.seq > a.seq"
		" AND EXISTS (SELECT 1 FROM audit c WHERE c.uid = o.uid AND c.seq < a.seq) LIMIT 1";
	return world_is_faultless(w) ? law_holds(w->db, "object outlived its app", late, err) : 0;
}

static int logs_are_whole(struct world *w, struct error *err)
{
	struct db *own = program_db(w);
	if (log_is_whole(w->db, HOME_SERVER, err) < 0)
		return -err->code;
	return own ? log_is_whole(own, NULL, err) : 0;
}

/* What a program keeps of the server's objects, at rest: the very same, or somebody changed one. */
struct cache_check {
	struct world *w;
	struct error *err;
	int r;
};

static int cached_is_stored(struct world *w, const struct resource *res,
			    const struct informer_object *o, struct error *err)
{
	static const char newest[] =
		"SELECT CAST(value AS TEXT), deleted FROM objects WHERE name = ?"
		" ORDER BY id DESC LIMIT 1";
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(1024);
	CLEANUP(obj_unrefp) struct obj *cached = NULL, *stored = NULL;
	struct stmt *s;
	strbuf_addf(&key, "%s/%s/%s/%s", res->group, res->plural, o->ns, o->name);
	if (db_prepare(w->db, newest, &s, err) < 0)
		return -err->code;
	cached = informer_decode(o);
	stmt_bind_cstr(s, 1, key.buf);
	bool there = stmt_step(s, err) > 0 && !stmt_int(s, 1) &&
		     json_parse(stmt_text(s, 0), &stored, err) == 0;
	stmt_reset(s);
	if (!there || !obj_equal(cached, stored))
		return error_set(err, E_ALTERED, "cached %s is %s", key.buf,
				 there ? "not as the server has it" : "not on the server");
	return 0;
}

static void check_cache(void *arg, const struct informer *cache)
{
	struct cache_check *c = arg;
	const struct informer_object *o = NULL;
	while (c->r == 0 && (o = informer_next(cache, o)))
		c->r = cached_is_stored(c->w, informer_resource(cache), o, c->err);
}

static int caches_are_true(struct world *w, struct error *err)
{
	const struct program *p = w->scenario->program;
	struct cache_check c = {.w = w, .err = err};
	if (p && p->each_cache && w->program)
		p->each_cache(w->program, check_cache, &c);
	return c.r;
}

int invariants_agree(struct world *w, struct error *err)
{
	int r = logs_are_whole(w, err);
	if (r == 0)
		r = laws_hold(w, err);
	return r < 0 ? r : transitions_have_rows(w, err);
}

int invariants_check(struct world *w, struct error *err)
{
	static int (*const checks[])(struct world *w, struct error *err) = {
		no_idle_writes,        creates_are_single, logs_are_whole, laws_hold,
		transitions_have_rows, caches_are_true,    apps_go_last,   writes_at_rest,
	};
	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		int r = checks[i](w, err);
		if (r < 0)
			return r;
	}
	if (w->scenario->converged && w->scenario->converged(w, err) < 0)
		return -err->code;
	return writes_are_few(w, err);
}
