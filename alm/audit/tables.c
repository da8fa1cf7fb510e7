#include "alm/audit/tables.h"

#include <string.h>

#define APPEND_ONLY "BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END"
#define BELOW       "coalesce((SELECT max(below) FROM audit_prune), 0)"

#define REFUSE(what, when, table)                                     \
	"CREATE TRIGGER " table "_" what " BEFORE " when " ON " table \
	" BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END"

/* clang-format off */
const struct tables_object audit_tables[] = {
	{"table", "audit",
	 "CREATE TABLE audit (seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, type TEXT NOT NULL,"
	 " reason TEXT NOT NULL, cluster TEXT NOT NULL, kind TEXT NOT NULL, ns TEXT NOT NULL,"
	 " name TEXT NOT NULL, uid TEXT NOT NULL, tseq INTEGER, op TEXT, cause INTEGER, actor TEXT,"
	 " body TEXT NOT NULL CHECK (length(CAST(body AS BLOB)) <= 61440),"
	 " chain BLOB NOT NULL CHECK (length(chain) = 32)) STRICT"},
	{"table", "audit_blob",
	 "CREATE TABLE audit_blob (digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),"
	 " bytes BLOB NOT NULL) STRICT"},
	{"table", "audit_ref",
	 "CREATE TABLE audit_ref (seq INTEGER, digest BLOB, PRIMARY KEY (seq, digest)) STRICT,"
	 " WITHOUT ROWID"},
	{"table", "audit_tile",
	 "CREATE TABLE audit_tile (id INTEGER PRIMARY KEY,"
	 " hashes BLOB NOT NULL CHECK (length(hashes) = 8192)) STRICT"},
	{"table", "audit_head",
	 "CREATE TABLE audit_head (uid TEXT PRIMARY KEY, tseq INTEGER NOT NULL,"
	 " seq INTEGER NOT NULL) STRICT, WITHOUT ROWID"},
	{"table", "audit_key",
	 "CREATE TABLE audit_key (size INTEGER PRIMARY KEY, vkey TEXT NOT NULL) STRICT"},
	{"table", "audit_checkpoint",
	 "CREATE TABLE audit_checkpoint (size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT"},
	{"table", "audit_anchor",
	 "CREATE TABLE audit_anchor (size INTEGER, target TEXT, PRIMARY KEY (size, target)) STRICT,"
	 " WITHOUT ROWID"},
	{"table", "audit_prune",
	 "CREATE TABLE audit_prune (below INTEGER PRIMARY KEY, seq INTEGER NOT NULL,"
	 " archive TEXT NOT NULL) STRICT"},
	{"index", "audit_tseq",
	 "CREATE UNIQUE INDEX audit_tseq ON audit(uid, tseq) WHERE tseq IS NOT NULL"},
	{"index", "audit_op", "CREATE UNIQUE INDEX audit_op ON audit(op) WHERE op IS NOT NULL"},
	{"index", "audit_cause", "CREATE INDEX audit_cause ON audit(cause) WHERE cause IS NOT NULL"},
	{"index", "audit_actor", "CREATE INDEX audit_actor ON audit(actor) WHERE actor IS NOT NULL"},
	{"index", "audit_subject",
	 "CREATE INDEX audit_subject ON audit(kind, ns, name, cluster, type)"},
	{"trigger", "audit_append",
	 "CREATE TRIGGER audit_append BEFORE INSERT ON audit WHEN NEW.seq IS NOT"
	 " coalesce((SELECT max(seq) FROM audit), 0) + 1"
	 " OR EXISTS (SELECT 1 FROM audit WHERE uid = NEW.uid AND tseq = NEW.tseq)"
	 " OR EXISTS (SELECT 1 FROM audit WHERE op = NEW.op) " APPEND_ONLY},
	{"trigger", "audit_update", "CREATE TRIGGER audit_update BEFORE UPDATE ON audit " APPEND_ONLY},
	{"trigger", "audit_delete",
	 "CREATE TRIGGER audit_delete BEFORE DELETE ON audit WHEN OLD.seq >= " BELOW " " APPEND_ONLY},
	{"trigger", "audit_prune_gate",
	 "CREATE TRIGGER audit_prune_gate BEFORE INSERT ON audit_prune WHEN NEW.below <= " BELOW
	 " OR NEW.below > NEW.seq OR NOT EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq"
	 " AND type = 'System' AND reason = 'Pruned') OR NOT EXISTS (SELECT 1 FROM audit_anchor"
	 " WHERE size >= NEW.seq) BEGIN SELECT RAISE(ABORT, 'prune needs an anchored record'); END"},
	{"trigger", "audit_blob_update", REFUSE("update", "UPDATE", "audit_blob")},
	{"trigger", "audit_blob_delete",
	 "CREATE TRIGGER audit_blob_delete BEFORE DELETE ON audit_blob WHEN EXISTS"
	 " (SELECT 1 FROM audit_ref WHERE digest = OLD.digest) " APPEND_ONLY},
	{"trigger", "audit_ref_update", REFUSE("update", "UPDATE", "audit_ref")},
	{"trigger", "audit_ref_delete",
	 "CREATE TRIGGER audit_ref_delete BEFORE DELETE ON audit_ref WHEN OLD.seq >= " BELOW
	 " " APPEND_ONLY},
	{"trigger", "audit_tile_update", REFUSE("update", "UPDATE", "audit_tile")},
	{"trigger", "audit_tile_delete", REFUSE("delete", "DELETE", "audit_tile")},
	{"trigger", "audit_key_update", REFUSE("update", "UPDATE", "audit_key")},
	{"trigger", "audit_key_delete", REFUSE("delete", "DELETE", "audit_key")},
	{"trigger", "audit_checkpoint_update", REFUSE("update", "UPDATE", "audit_checkpoint")},
	{"trigger", "audit_checkpoint_delete", REFUSE("delete", "DELETE", "audit_checkpoint")},
	{"trigger", "audit_anchor_update", REFUSE("update", "UPDATE", "audit_anchor")},
	{"trigger", "audit_anchor_delete", REFUSE("delete", "DELETE", "audit_anchor")},
	{"trigger", "audit_prune_update", REFUSE("update", "UPDATE", "audit_prune")},
	{"trigger", "audit_prune_delete", REFUSE("delete", "DELETE", "audit_prune")},
	{0},
};
/* clang-format on */

int tables_create(struct db *d, bool with_triggers, struct error *err)
{
	for (const struct tables_object *o = audit_tables; o->type; o++) {
		if (!with_triggers && !strcmp(o->type, "trigger"))
			continue;
		int r = db_exec(d, o->sql, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int tables_exist(struct db *d, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT 1 FROM sqlite_schema WHERE name = 'audit'", &s, err);
	if (r < 0)
		return r;
	r = stmt_step(s, err);
	stmt_reset(s);
	return r;
}

static const struct tables_object *find(struct str name)
{
	for (const struct tables_object *o = audit_tables; o->type; o++)
		if (str_is(name, o->name))
			return o;
	return NULL;
}

/* Every object that is on, or named like, a table of the log, and whatever else acts by itself: a
 * trigger on another table could drop what was acknowledged. */
static const char list[] = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND"
			   " (tbl_name GLOB 'audit*' OR name GLOB 'audit*' OR"
			   " type IN ('trigger', 'view')) ORDER BY name";

int tables_check(struct db *d, struct error *err)
{
	struct stmt *s;
	size_t found = 0, want = 0;
	int r = db_prepare(d, list, &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0) {
		struct str type = stmt_text(s, 0), name = stmt_text(s, 1);
		const struct tables_object *o = find(name);
		if (o && str_is(type, o->type) && str_is(stmt_text(s, 2), o->sql)) {
			found++;
			continue;
		}
		if (str_is(name, TABLES_PRUNE_INDEX) && str_is(stmt_text(s, 2), TABLES_PRUNE_SQL))
			continue;
		r = error_set(err, E_ALTERED, "%.*s %.*s is %s", STR_ARG(type), STR_ARG(name),
			      o ? "not as it was made" : "foreign to the audit log");
		stmt_reset(s);
		return r;
	}
	if (r < 0)
		return r;
	while (audit_tables[want].type)
		want++;
	if (found != want)
		return error_set(err, E_ALTERED, "%zu tables, indexes or triggers are missing",
				 want - found);
	return 0;
}
