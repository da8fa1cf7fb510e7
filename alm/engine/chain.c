#include "alm/engine/chain.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/large.h"
#include "alm/base/map.h"
#include "alm/base/pool.h"
#include "alm/base/str.h"

/* Forgotten all at once beyond that, and read again: the log has them. */
#define ENTRIES_MAX      16384
#define OBJECT_BYTES_MAX ((size_t)4 << 20) /* of a record's object, which a server has stored */
#define KEY_ID_BYTES     512               /* names of Kubernetes have 253 at most */

struct chain {
	struct audit *audit;
	struct db *db;
	const struct chain_rule *rules;
	struct map *heads;    /* name -> seq, as a number */
	struct map *keys;     /* key_id() -> char *, of the pool */
	uint64_t rolled_back; /* audit_times_rolled_back() that they are of */
};

struct chain *chain_new(struct audit *a, struct db *d, const struct chain_rule *rules)
{
	struct chain *c = xcalloc(1, sizeof(*c));
	c->audit = a;
	c->db = d;
	c->rules = rules;
	c->heads = map_new(NULL);
	c->keys = map_new(pool_text_free);
	return c;
}

void chain_free(struct chain *c)
{
	if (!c)
		return;
	map_free(c->heads);
	map_free(c->keys);
	xfree(c);
}

static void forget(struct chain *c)
{
	map_clear(c->heads);
	map_clear(c->keys);
}

/* An entry of a transaction of this executor or another one that was rolled back is known no more. */
static void look(struct chain *c)
{
	uint64_t now = audit_times_rolled_back(c->audit);
	if (c->rolled_back != now)
		forget(c);
	c->rolled_back = now;
}

/* Newest entry that may be a cause; uses the index audit_subject. */
static int newest(struct chain *c, const char *kind, const char *name, int64_t *ret_seq,
		  struct error *err)
{
	struct stmt *s = NULL;
	char sql[256];
	snprintf(sql, sizeof(sql),
		 "SELECT max(seq) FROM audit WHERE kind = ?1 AND ns = '' AND name %s ?2 AND "
		 "cluster = '' AND "
		 "type IN ('Decision', 'Approval', 'Observe')",
		 strchr(name, '*') ? "GLOB" : "=");
	if (db_prepare(c->db, sql, &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, kind);
	stmt_bind_cstr(s, 2, name);
	int rc = stmt_step(s, err);
	if (rc >= 0)
		*ret_seq = rc ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	return rc;
}

static int read_head(struct chain *c, const char *name, int64_t *ret_seq, struct error *err)
{
	const struct chain_rule *r = c->rules;
	int64_t head = 0;
	while (r->kind && !cstr_has_prefix(name, r->prefix))
		r++;
	for (const char *prefix = r->prefix; r->kind && !strcmp(r->prefix, prefix); r++) {
		CLEANUP(strbuf_release) struct strbuf glob = STRBUF_INIT(STRBUF_SMALL);
		const char *at = strstr(r->name, "%s");
		strbuf_addf(&glob, "%.*s%s%s", (int)(at - r->name), r->name, name + strlen(prefix),
			    at + strlen("%s"));
		int64_t seq = 0;
		if (newest(c, r->kind, glob.buf, &seq, err) < 0)
			return -err->code;
		if (!seq && !head)
			break; /* the subject is new */
		head = seq > head ? seq : head;
	}
	*ret_seq = head;
	return 0;
}

int chain_head(struct chain *c, const char *name, int64_t *ret_seq, struct error *err)
{
	look(c);
	int64_t seq = (int64_t)map_number(c->heads, name);
	if (!map_has(c->heads, name)) {
		if (read_head(c, name, &seq, err) < 0)
			return -err->code;
		chain_advance(c, name, seq);
	}
	*ret_seq = seq;
	return 0;
}

static void make_room(struct map *m, const char *id)
{
	if (map_count(m) >= ENTRIES_MAX && !map_has(m, id))
		map_clear(m);
}

static void keep_key(struct chain *c, const char *id, const char *key)
{
	make_room(c->keys, id);
	map_set(c->keys, id, pool_text(key));
}

void chain_advance(struct chain *c, const char *name, int64_t seq)
{
	look(c);
	make_room(c->heads, name);
	map_set_number(c->heads, name, (size_t)seq);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static bool has_key_of(const void *arg, const struct obj *row)
{
	return cstr_eq(obj_str(row, "subject.uid"), arg) && obj_str(row, "body.key");
}

/* Of an entry that was pruned. */
static char *pruned_key(struct chain *c, const char *type, const struct audit_subject *about)
{
	CLEANUP(obj_unrefp) struct obj *row =
		audit_standing(c->audit, type, about, has_key_of, about->uid);
	return xstrdup(or_empty(obj_str(row, "body.key")));
}

/* *ret_key: owned. */
static int read_key(struct chain *c, const char *type, const struct audit_subject *about,
		    char **ret_key, struct error *err)
{
	static const char sql[] =
		"SELECT json_extract(body, '$.key') FROM audit WHERE kind = ?1 AND ns = ?5 AND "
		"name = ?2 AND cluster = '' AND type = ?3 AND uid = ?4 AND "
		"json_extract(body, '$.key') IS NOT NULL ORDER BY seq DESC LIMIT 1";
	struct stmt *s = NULL;
	if (db_prepare(c->db, sql, &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, about->kind);
	stmt_bind_cstr(s, 2, about->name);
	stmt_bind_cstr(s, 3, type);
	stmt_bind_cstr(s, 4, about->uid);
	stmt_bind_cstr(s, 5, or_empty(about->ns));
	int rc = stmt_step(s, err);
	if (rc >= 0)
		*ret_key = rc ? str_dup(stmt_text(s, 0)) : pruned_key(c, type, about);
	stmt_reset(s);
	return rc;
}

/* What is not there has no uid: of several such each has its own. */
static void key_id(char id[KEY_ID_BYTES], const char *type, const struct audit_subject *about)
{
	if (about->uid && *about->uid)
		snprintf(id, KEY_ID_BYTES, "%s %s", type, about->uid);
	else
		snprintf(id, KEY_ID_BYTES, "%s %s %s/%s", type, or_empty(about->kind),
			 or_empty(about->ns), or_empty(about->name));
}

int chain_key(struct chain *c, const char *type, const struct audit_subject *about,
	      const char **ret_key, struct error *err)
{
	char id[KEY_ID_BYTES];
	look(c);
	key_id(id, type, about);
	if (!map_has(c->keys, id)) {
		CLEANUP(xfreep) char *key = NULL;
		/* what is not there was perhaps made, and deleted again, since: told once more */
		bool is_there = about->uid && *about->uid;
		if (is_there && read_key(c, type, about, &key, err) < 0)
			return -err->code;
		keep_key(c, id, or_empty(key));
	}
	*ret_key = map_get(c->keys, id);
	return 0;
}

bool chain_is_told(struct chain *c, const char *type, const struct audit_subject *about,
		   const char *key)
{
	struct error err;
	const char *last;
	return chain_key(c, type, about, &last, &err) >= 0 && cstr_eq(last, key);
}

void chain_set_key(struct chain *c, const char *type, const struct audit_subject *about,
		   const char *key)
{
	char id[KEY_ID_BYTES];
	look(c);
	key_id(id, type, about);
	keep_key(c, id, key);
}

/* The row of the first column; NULL if there is none. */
static int row_of(struct audit *a, struct stmt *s, struct obj **ret_row, struct error *err)
{
	int rc = stmt_step(s, err);
	int64_t seq = rc > 0 ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	if (seq)
		return audit_row_get(a, seq, ret_row, err);
	if (rc >= 0)
		*ret_row = NULL;
	return rc;
}

/* The same; an object that was too large for the row is in blobs. */
static struct obj *whole_row_of(struct audit *a, struct db *d, struct stmt *s)
{
	struct error err;
	struct obj *row = NULL;
	if (row_of(a, s, &row, &err) < 0)
		return NULL;
	const struct obj *v = obj_path(row, "body.object");
	const char *text = obj_as_string(v);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OBJECT_BYTES_MAX);
	if (v && (!text || *text != '{') && large_text(d, v, &b, &err) >= 0)
		obj_set_path(row, "body.object", obj_stringn(strbuf_str(&b)));
	return row;
}

int chain_last_row(struct audit *a, struct db *d, const char *type, const char *kind,
		   const char *name, bool foreign, struct obj **ret_row, struct error *err)
{
	static const char sql[] =
		"SELECT seq FROM audit WHERE kind = ?1 AND ns = '' AND name = ?2 AND "
		"cluster = '' AND type = ?3 AND (NOT ?4 OR op IS NULL) AND"
		" reason NOT IN ('Refused', 'Unchanged') ORDER BY seq DESC LIMIT 1";
	struct stmt *s = NULL;
	if (db_prepare(d, sql, &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, kind);
	stmt_bind_cstr(s, 2, name);
	stmt_bind_cstr(s, 3, type);
	stmt_bind_int(s, 4, foreign);
	if (row_of(a, s, ret_row, err) < 0)
		return -err->code;
	const struct audit_subject of = {.kind = kind, .name = name};
	if (!*ret_row && !foreign)
		*ret_row = audit_standing(a, type, &of, NULL, NULL);
	return 0;
}

static bool has_reason(const void *arg, const struct obj *row)
{
	return cstr_eq(obj_str(row, "reason"), arg);
}

struct obj *chain_last_reason(struct audit *a, struct db *d, const char *type, const char *reason,
			      const char *kind, const char *name)
{
	static const char sql[] =
		"SELECT seq FROM audit WHERE kind = ?1 AND ns = '' AND name = ?2 AND "
		"cluster = '' AND type = ?3 AND reason = ?4 ORDER BY seq DESC LIMIT 1";
	struct error err;
	struct stmt *s = NULL;
	if (db_prepare(d, sql, &s, &err) < 0)
		return NULL;
	stmt_bind_cstr(s, 1, kind);
	stmt_bind_cstr(s, 2, name);
	stmt_bind_cstr(s, 3, type);
	stmt_bind_cstr(s, 4, reason);
	struct obj *row = whole_row_of(a, d, s);
	const struct audit_subject of = {.kind = kind, .name = name};
	return row ? row : audit_standing(a, type, &of, has_reason, reason);
}

struct obj *chain_last_observed(struct audit *a, struct db *d, const char *kind, const char *ns,
				const char *name)
{
	static const char sql[] =
		"SELECT seq FROM audit WHERE kind = ?1 AND ns = ?2 AND name = ?3 AND cluster = ''"
		" AND type = 'Observe' ORDER BY seq DESC LIMIT 1";
	struct error err;
	struct stmt *s = NULL;
	if (db_prepare(d, sql, &s, &err) < 0)
		return NULL;
	stmt_bind_cstr(s, 1, kind);
	stmt_bind_cstr(s, 2, ns ? ns : "");
	stmt_bind_cstr(s, 3, name);
	struct obj *row = whole_row_of(a, d, s);
	const struct audit_subject of = {.kind = kind, .ns = ns, .name = name};
	return row ? row : audit_standing(a, "Observe", &of, NULL, NULL);
}

struct observed {
	const char *kind;
	struct map *seen; /* "NS/NAME" */
	void (*fn)(void *arg, const char *ns, const char *name);
	void *arg;
};

static void observe(struct observed *o, const char *ns, const char *name, bool there)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&key, "%s/%s", ns, name);
	if (map_has(o->seen, key.buf))
		return;
	map_set_number(o->seen, key.buf, 1);
	if (there)
		o->fn(o->arg, ns, name);
}

static int observe_pruned(void *arg, const struct obj *row, struct error *err)
{
	struct observed *o = arg;
	const char *ns = obj_str(row, "subject.namespace"), *name = obj_str(row, "subject.name");
	(void)err;
	if (cstr_eq(obj_str(row, "type"), "Observe") &&
	    cstr_eq(obj_str(row, "subject.kind"), o->kind))
		observe(o, ns ? ns : "", name, !cstr_eq(obj_str(row, "reason"), "Deleted"));
	return 0;
}

void chain_each_observed(struct audit *a, struct db *d, const char *kind,
			 void (*fn)(void *arg, const char *ns, const char *name), void *arg)
{
	/* A bare column beside max() is of its row (sqlite.org/lang_select.html). */
	static const char sql[] =
		"SELECT ns, name, reason, max(seq) FROM audit WHERE kind = ?1 AND cluster = ''"
		" AND type = 'Observe' GROUP BY ns, name";
	struct error err;
	struct stmt *s = NULL;
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	struct observed o = {.kind = kind, .seen = seen, .fn = fn, .arg = arg};
	if (db_prepare(d, sql, &s, &err) < 0)
		return;
	stmt_bind_cstr(s, 1, kind);
	while (stmt_step(s, &err) > 0) {
		CLEANUP(xfreep) char *ns = str_dup(stmt_text(s, 0));
		CLEANUP(xfreep) char *name = str_dup(stmt_text(s, 1));
		observe(&o, ns, name, !str_is(stmt_text(s, 2), "Deleted"));
	}
	stmt_reset(s);
	(void)audit_each_standing(a, observe_pruned, &o, &err);
}

int chain_last_write(struct audit *a, struct db *d, const struct audit_subject *about,
		     const char *path, struct obj **ret_row, struct error *err)
{
	static const char sql[] =
		"SELECT seq FROM (SELECT seq, reason, body FROM audit WHERE kind = ?1 AND ns = '' "
		"AND"
		" name = ?2 AND cluster = '' AND type = 'Write' AND uid = ?3 AND op IS NULL AND"
		" reason <> 'Unchanged' AND actor IS NOT NULL ORDER BY seq DESC LIMIT 1000) WHERE "
		"CASE WHEN ?4 IS NULL"
		" THEN json_extract(body, '$.verb') IN ('delete', 'deletecollection')"
		" ELSE reason = 'Created' OR EXISTS (SELECT 1 FROM json_each(body, '$.changed')"
		" WHERE substr(value, 1, length(?4)) = ?4) END ORDER BY seq DESC LIMIT 1";
	struct stmt *s = NULL;
	if (db_prepare(d, sql, &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, about->kind);
	stmt_bind_cstr(s, 2, about->name);
	stmt_bind_cstr(s, 3, about->uid);
	stmt_bind_cstr(s, 4, path);
	return row_of(a, s, ret_row, err);
}

#define REVISION_ROWS_MAX 4096

uint64_t chain_revision(struct db *d, const char *kind)
{
	static const char sql[] =
		"SELECT json_extract(body, '$.rvAfter') AS rv FROM audit WHERE "
		"seq > (SELECT max(seq) FROM audit) - ?2 AND type = 'Write' AND kind = ?1 AND "
		"cluster = '' AND rv IS NOT NULL ORDER BY seq DESC LIMIT 1";
	struct error err;
	struct stmt *s = NULL;
	uint64_t revision = 0;
	if (db_prepare(d, sql, &s, &err) < 0)
		return 0;
	stmt_bind_cstr(s, 1, kind);
	stmt_bind_int(s, 2, REVISION_ROWS_MAX);
	if (stmt_step(s, &err) == 1 && !str_parse_u64(stmt_text(s, 0), &revision))
		revision = 0;
	stmt_reset(s);
	return revision;
}
