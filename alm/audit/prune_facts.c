/* prune_facts: see prune_facts.h. */
#include "alm/audit/prune_facts.h"

#include <string.h>

#include "alm/audit/large.h"
#include "alm/audit/log.h"
#include "alm/audit/objects.h"
#include "alm/base/arena.h"
#include "alm/base/map.h"
#include "alm/base/multimap.h"
#include "alm/obj/json.h"

#define KEY_BYTES_MAX ((size_t)64 << 10)

struct prune_facts {
	struct db *db;
	struct map *objects;          /* uid -> line of the snapshot, owned */
	struct map *standing;         /* "TYPE KIND NS/NAME REASON UID" -> entry, owned */
	struct multimap *standing_of; /* uid -> the same, borrowed */
	struct map *kept;             /* Catalog -> digest, owned */
	struct map *gone;             /* uid -> 1: deleted, and told by the last pruning already */
	char *digests;                /* as the newest entry says: objects_digests_fit(); owned */
	struct obj *gap;              /* of the first entry, owned */
};

static void free_obj(void *p)
{
	obj_unref(p);
}

void prune_facts_free(struct prune_facts *f)
{
	if (!f)
		return;
	map_free(f->objects);
	multimap_free(f->standing_of);
	map_free(f->standing);
	map_free(f->kept);
	map_free(f->gone);
	xfree(f->digests);
	obj_unref(f->gap);
	xfree(f);
}

static const char *standing_key(struct arena *a, const struct obj *row)
{
	const char *ns = obj_str(row, "subject.namespace"), *name = obj_str(row, "subject.name");
	return arena_fmt(a, "%s %s %s/%s %s %s", obj_str(row, "type"), obj_str(row, "subject.kind"),
			 ns ? ns : "", name ? name : "", obj_str(row, "reason"),
			 obj_str(row, "subject.uid"));
}

static int take_standing(void *arg, const struct obj *row, struct error *err)
{
	struct prune_facts *f = arg;
	CLEANUP(arena_freep) struct arena *a = arena_new(KEY_BYTES_MAX);
	(void)err;
	const char *key = standing_key(a, row), *uid = obj_str(row, "subject.uid");
	struct obj *own = obj_ref(row), *before = map_get(f->standing, key);
	if (uid && before)
		multimap_remove(f->standing_of, uid, before);
	if (uid)
		multimap_add(f->standing_of, uid, own);
	map_set(f->standing, key, own);
	return 0;
}

static bool is_deleted(const struct obj *entry)
{
	return cstr_eq(obj_str(entry, "reason"), "Deleted") && !obj_has(entry, "after");
}

static int take_object(void *arg, const struct obj *entry, struct error *err)
{
	struct prune_facts *f = arg;
	const char *uid = obj_str(entry, "uid");
	(void)err;
	if (is_deleted(entry))
		map_set_number(f->gone, uid, 1);
	else
		map_set(f->objects, uid, obj_copy_map(entry));
	return 0;
}

/* The entry Pruned before this one, which will be pruned itself one day. */
static int take_last(struct prune_facts *f, struct error *err)
{
	CLEANUP(snapshot_freep) struct snapshot *s = NULL;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	struct stmt *st;
	int r = snapshot_load_pruned(f->db, &s, err);
	if (!s) /* an error, or nothing was pruned */
		return r;
	r = snapshot_each(s, take_object, f, err);
	if (r >= 0)
		r = snapshot_each_standing(s, take_standing, f, err);
	if (r >= 0)
		r = db_prepare(f->db,
			       "SELECT " LOG_COLUMNS " FROM audit WHERE seq ="
			       " (SELECT seq FROM audit_prune ORDER BY below DESC LIMIT 1)",
			       &st, err);
	if (r < 0)
		return r;
	r = log_entry(st, &row, err);
	const char *digests = obj_str(row, "body.digests");
	f->digests = digests ? xstrdup(digests) : NULL;
	f->gap = obj_has(obj_get(row, "body"), "gap") ? obj_ref(obj_path(row, "body.gap")) : NULL;
	return r;
}

int prune_facts_new(struct db *d, struct prune_facts **ret, struct error *err)
{
	CLEANUP(prune_facts_freep) struct prune_facts *f = xcalloc(1, sizeof(*f));
	f->db = d;
	f->objects = map_new(free_obj);
	f->standing = map_new(free_obj);
	f->standing_of = multimap_new();
	f->kept = map_new(xfree);
	f->gone = map_new(NULL);
	int r = take_last(f, err);
	if (r < 0)
		return r;
	*ret = STEAL(f);
	return 0;
}

/* --- one entry --- */

static struct obj *object_of(struct prune_facts *f, const struct obj *row)
{
	const char *uid = obj_str(row, "subject.uid");
	struct obj *o = map_get(f->objects, uid);
	if (o)
		return o;
	o = obj_map();
	obj_set_str(o, "uid", uid);
	obj_set_str(o, "kind", obj_str(row, "subject.kind"));
	obj_set_str(o, "namespace", obj_str(row, "subject.namespace"));
	obj_set_str(o, "name", obj_str(row, "subject.name"));
	map_set(f->objects, uid, o);
	return o;
}

/* Nothing that was said of a deleted object holds for one that takes its name. */
static void forget_standing(struct prune_facts *f, const struct obj *row)
{
	const char *uid = obj_str(row, "subject.uid");
	size_t n = 1;
	while (uid && *uid && n) {
		CLEANUP(arena_freep) struct arena *a = arena_new(KEY_BYTES_MAX);
		void *const *list = multimap_get(f->standing_of, uid, &n);
		const struct obj *last = n ? list[n - 1] : NULL;
		if (!last)
			return;
		const char *key = standing_key(a, last);
		multimap_remove(f->standing_of, uid, last);
		map_del(f->standing, key);
	}
}

static struct obj *without(const struct obj *row, const char *const *names, size_t n)
{
	struct obj *copy = obj_copy_map(row), *body = obj_copy_map(obj_get(row, "body"));
	for (size_t i = 0; i < n; i++)
		obj_del(body, names[i]);
	obj_set(copy, "body", body);
	return copy;
}

static int add_transition(struct prune_facts *f, const struct obj *row, struct error *err)
{
	static const char *const names[] = {"status", "turned", "blobs"};
	struct objects_log l = {.db = f->db};
	CLEANUP(obj_unrefp) struct obj *status = NULL;
	struct obj *o = object_of(f, row);
	int64_t tseq = obj_i64(row, "transitionSeq", 0);
	bool deleted = cstr_eq(obj_str(row, "reason"), "Deleted");
	bool quiet = cstr_eq(obj_str(row, "reason"), "Refreshed");
	int r = deleted ? 0 : objects_status(&l, obj_str(row, "subject.uid"), tseq, &status, err);
	if (r < 0)
		return r;
	CLEANUP(xfreep) char *text = status ? json_text(status) : NULL;
	obj_set_int(o, "transitionSeq", tseq);
	obj_set_int(o, "seq", obj_i64(row, "seq", 0));
	obj_set_str(o, "reason", obj_str(row, "reason"));
	obj_set_str(o, "status", text);
	if (!text)
		obj_del(o, "status");
	if (!quiet) /* what the state of the object was is not said by one that changes nothing */
		obj_set(o, "row", without(row, names, ARRAY_LEN(names)));
	if (deleted)
		forget_standing(f, row);
	return 0;
}

static void add_write(struct prune_facts *f, const struct obj *row)
{
	const char *reason = obj_str(row, "reason"), *uid = obj_str(row, "subject.uid");
	static const char *const digests[] = {"after", "afterMain"};
	if (!uid || !*uid)
		return;
	if (cstr_eq(reason, "Created") || cstr_eq(reason, "Updated")) {
		struct obj *o = object_of(f, row);
		for (size_t i = 0; i < ARRAY_LEN(digests); i++) {
			const struct obj *v = obj_get(obj_get(row, "body"), digests[i]);
			obj_del(o, digests[i]);
			if (v)
				obj_set(o, digests[i], obj_ref(v));
		}
		return;
	}
	struct obj *o = cstr_eq(reason, "Deleted") ? map_get(f->objects, uid) : NULL;
	if (!o)
		return;
	forget_standing(f, row);
	obj_del(o, "after");
	obj_del(o, "afterMain");
	if (!obj_has(o, "transitionSeq"))
		map_del(f->objects, uid);
}

/* body.object as text, wherever it was kept: its blob goes with the entry. */
static void inline_object(struct prune_facts *f, struct obj *row)
{
	const struct obj *v = obj_path(row, "body.object");
	const char *text = obj_as_string(v);
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(AUDIT_BLOB_BYTES_MAX);
	if (!v || (text && *text == '{'))
		return;
	if (large_text(f->db, v, &b, &err) >= 0)
		obj_set_path(row, "body.object", obj_stringn(strbuf_str(&b)));
	else
		obj_del_path(row, "body.object");
}

static int add_standing(struct prune_facts *f, const struct obj *row, struct error *err)
{
	static const char *const names[] = {"explain", "inputs", "candidates", "rules", "blobs"};
	CLEANUP(obj_unrefp) struct obj *copy = without(row, names, ARRAY_LEN(names));
	if (cstr_eq(obj_str(row, "type"), "Observe") && cstr_eq(obj_str(row, "reason"), "Deleted"))
		forget_standing(f, row);
	inline_object(f, copy);
	return take_standing(f, copy, err);
}

static int take_digests(void *arg, const struct obj *entry, struct error *err)
{
	static const char *const keys[] = {"kind",      "namespace", "name",  "after",
					   "afterMain", "status",    "reason"};
	struct prune_facts *f = arg;
	const char *uid = obj_str(entry, "uid");
	(void)err;
	struct obj *o = map_get(f->objects, uid);
	if (!o) {
		o = obj_map();
		obj_set_str(o, "uid", uid);
		map_set(f->objects, uid, o);
	}
	bool moved = obj_has(entry, "transitionSeq");
	if (moved)
		obj_set(o, "transitionSeq", obj_ref(obj_get(entry, "transitionSeq")));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (obj_has(entry, keys[i]) && (moved || i < 5))
			obj_set(o, keys[i], obj_ref(obj_get(entry, keys[i])));
	return 0;
}

/* All objects anew: what was said of them before counts no more. */
static int add_snapshot(struct prune_facts *f, const struct obj *row, struct error *err)
{
	CLEANUP(snapshot_freep) struct snapshot *s = NULL;
	int r = snapshot_of_row(f->db, row, obj_i64(row, "seq", 0), &s, err);
	for (struct map_entry *e = map_first(f->objects); e; e = map_next(e)) {
		obj_del(e->value, "after");
		obj_del(e->value, "afterMain");
	}
	return r < 0 ? r : snapshot_each(s, take_digests, f, err);
}

static int add_system(struct prune_facts *f, const struct obj *row, struct error *err)
{
	const char *digests = obj_str(row, "body.digests"), *name = obj_str(row, "subject.name");
	const char *reason = obj_str(row, "reason");
	bool of_log = cstr_eq(obj_str(row, "subject.kind"), "Log");
	if (of_log && digests) {
		xfree(f->digests);
		f->digests = xstrdup(digests);
		if (!strcmp(digests, "none"))
			map_clear(f->kept);
	}
	if (obj_i64(row, "seq", 0) == 1 && obj_path(row, "body.gap"))
		f->gap = obj_ref(obj_path(row, "body.gap"));
	if (cstr_eq(reason, "RevisionKept") && obj_str(row, "body.digest"))
		map_set(f->kept, name, xstrdup(obj_str(row, "body.digest")));
	else if (cstr_eq(reason, "RevisionDropped"))
		map_del(f->kept, name);
	/* The one of a pruning is of entries that were pruned before. */
	return of_log && obj_path(row, "body.snapshot") && !cstr_eq(reason, "Pruned")
		       ? add_snapshot(f, row, err)
		       : 0;
}

int prune_facts_add(struct prune_facts *f, const struct record *rec, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	if (str_is(rec->type, "Plan"))
		return 0;
	int r = log_object(rec, &row, err);
	if (r < 0)
		return r;
	if (str_is(rec->type, "Transition"))
		return add_transition(f, row, err);
	if (str_is(rec->type, "System"))
		return add_system(f, row, err);
	if (!str_is(rec->type, "Write"))
		return add_standing(f, row, err);
	add_write(f, row);
	return 0;
}

/* --- the snapshot --- */

static int put_standing(struct prune_facts *f, struct snapshot_writer *w, struct error *err)
{
	struct map_entry **sorted = map_sorted(f->standing);
	int r = 0;
	for (size_t i = 0; i < map_count(f->standing) && r >= 0; i++) {
		CLEANUP(obj_unrefp) struct obj *line = obj_map();
		obj_set(line, "standing", obj_ref(sorted[i]->value));
		r = snapshot_put(w, line, err);
	}
	xfree(sorted);
	return r;
}

/* Keys whose own entry is among those that go; the first one never had one. */
static int put_keys(struct prune_facts *f, int64_t size, struct obj *body, struct error *err)
{
	struct obj *keys = obj_list();
	struct stmt *s;
	obj_set(body, "keys", keys);
	int r = db_prepare(f->db,
			   "SELECT vkey FROM audit_key WHERE size > 0 AND size <= ? ORDER BY size",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, size);
	while ((r = stmt_step(s, err)) > 0)
		obj_append(keys, obj_stringn(stmt_text(s, 0)));
	return r;
}

int prune_facts_put(struct prune_facts *f, struct snapshot_writer *w, int64_t size,
		    struct obj *body, struct error *err)
{
	int r = 0;
	for (struct map_entry *e = map_first(f->objects); e && r >= 0; e = map_next(e))
		r = snapshot_put(w, e->value, err);
	if (r >= 0)
		r = put_standing(f, w, err);
	if (r >= 0)
		r = snapshot_end(w, body, err);
	if (r >= 0)
		r = put_keys(f, size, body, err);
	obj_set_str(body, "digests", f->digests);
	if (f->gap)
		obj_set(body, "gap", obj_ref(f->gap));
	return r;
}

int prune_facts_each_kept(const struct prune_facts *f,
			  int (*fn)(void *arg, const char *name, const char *digest,
				    struct error *err),
			  void *arg, struct error *err)
{
	int r = 0;
	for (struct map_entry *e = map_first(f->kept); e && r >= 0; e = map_next(e))
		r = fn(arg, e->key, e->value, err);
	return r;
}

int prune_facts_drop_heads(const struct prune_facts *f, int64_t first, struct error *err)
{
	int r = 0;
	for (struct map_entry *e = map_first(f->gone); e && r >= 0; e = map_next(e)) {
		struct stmt *s;
		r = db_prepare(f->db, "DELETE FROM audit_head WHERE uid = ? AND seq < ?", &s, err);
		if (r < 0)
			return r;
		stmt_bind_cstr(s, 1, e->key);
		stmt_bind_int(s, 2, first);
		r = stmt_step(s, err);
	}
	return r;
}
