/*
 * store: see store.h. It knows revisions, rows and the commit; it must not know verbs, schemas or
 * HTTP. Heads are in heads.c, texts in text.c, the watch window and compaction in window.c.
 */
#include <assert.h>
#include <string.h>

#include "alm/apiserver/store/store_internal.h"
#include "alm/obj/json.h"

#define CHECKPOINT_IDLE (5 * NS_PER_S)

static const char schema_sql[] =
	"CREATE TABLE IF NOT EXISTS objects("
	" id INTEGER PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL,"
	" deleted INTEGER NOT NULL, create_revision INTEGER NOT NULL,"
	" prev_revision INTEGER NOT NULL, value BLOB NOT NULL,"
	" UNIQUE(name, prev_revision));";

/* Group commit. */

static void batch_undo(struct store *s)
{
	for (size_t i = s->n_batch; i-- > 0;) {
		struct change *c = s->batch[i];
		if (!c->before)
			head_drop(s, c->resource, c->ns, c->name);
		else
			head_put(s, c->resource, c->ns, c->name, c->before, c->prev_rv,
				 c->create_rv, NULL);
		change_free(c);
	}
	s->n_batch = 0;
	s->rv = s->batch_rv;
	if (s->audit)
		audit_rolled_back(s->audit);
}

static void batch_publish(struct store *s)
{
	for (size_t i = 0; i < s->n_batch; i++) {
		struct change *c = s->batch[i];
		c->resource->rv = c->rv;
		window_push(s, c);
		for (size_t j = 0; j < s->n_listeners; j++)
			s->listeners[j].fn(s->listeners[j].arg, c);
	}
	s->n_batch = 0;
	if (s->audit)
		audit_committed(s->audit);
}

/* Ends the batch: published, or undone if err is set; then everybody who waits is told. */
static void batch_end(struct store *s, const struct error *err)
{
	loop_unpost(s->loop, &s->commit);
	s->batch_open = false;
	/* Waiters may write again: they get a list of their own. */
	struct waiter *waiters = STEAL(s->waiters);
	size_t n = s->n_waiters;
	s->n_waiters = s->cap_waiters = 0;
	if (err) {
		db_rollback(s->db);
		batch_undo(s);
		s->failing = true;
	} else {
		s->failing = s->failing && s->n_batch == 0;
		batch_publish(s);
	}
	for (size_t i = 0; i < n; i++)
		waiters[i].fn(waiters[i].arg, err);
	xfree(waiters);
}

static void batch_commit(void *arg)
{
	struct store *s = arg;
	struct error err = ERROR_INIT;
	if (!s->batch_open)
		return;
	int r = db_commit(s->db, &err);
	err.code = E_UNAVAILABLE;
	batch_end(s, r < 0 ? &err : NULL);
	/* A failure of these shows in the next write. */
	db_checkpoint(s->db, false, &err);
	if (!heap_holds(&s->checkpoint.node))
		loop_arm(s->loop, &s->checkpoint, CHECKPOINT_IDLE);
}

static void checkpoint_due(void *arg)
{
	struct store *s = arg;
	struct error err = ERROR_INIT;
	if (s->batch_open || db_in_transaction(s->db))
		loop_arm(s->loop, &s->checkpoint, CHECKPOINT_IDLE);
	else
		db_checkpoint(s->db, true, &err);
}

static int batch_begin(struct store *s, struct error *err)
{
	if (s->batch_open)
		return 0;
	if (db_begin(s->db, err) < 0) {
		err->code = E_UNAVAILABLE;
		return error_wrap(err, "store");
	}
	s->batch_open = true;
	s->batch_rv = s->rv;
	loop_post(s->loop, &s->commit);
	return 0;
}

void store_after_commit(struct store *s, void (*fn)(void *arg, const struct error *err), void *arg)
{
	if (!s->batch_open) {
		fn(arg, NULL);
		return;
	}
	ARRAY_GROW(s->waiters, s->cap_waiters, s->n_waiters + 1);
	s->waiters[s->n_waiters++] = (struct waiter){fn, arg};
}

bool store_batch_is_open(const struct store *s)
{
	return s->batch_open;
}

void store_flush(struct store *s)
{
	batch_commit(s);
}

void store_on_head(struct store *s,
		   void (*fn)(void *arg, const struct store_table *t, const char *ns,
			      const struct text *before, const struct text *after),
		   void *arg)
{
	assert(!s->on_head || !fn);
	s->on_head = fn;
	s->on_head_arg = arg;
}

void store_on_change(struct store *s, void (*fn)(void *arg, const struct change *c), void *arg)
{
	assert(s->n_listeners < STORE_LISTENERS_MAX);
	s->listeners[s->n_listeners].fn = fn;
	s->listeners[s->n_listeners++].arg = arg;
}

/* The newest row of a name that has no head: its tombstone, or 0. */
static int64_t tombstone_of(struct store *s, const char *key, struct error *err)
{
	struct stmt *st = NULL;
	if (db_prepare(s->db,
		       "SELECT id FROM objects WHERE name = ?1 ORDER BY prev_revision DESC LIMIT 1",
		       &st, err) < 0)
		return -err->code;
	stmt_bind_cstr(st, 1, key);
	int r = stmt_step(st, err);
	int64_t id = r > 0 ? stmt_int(st, 0) : r;
	stmt_reset(st);
	return id;
}

static int row_insert(struct store *s, const struct write *w, const char *key, int64_t prev,
		      int64_t create_rv, struct str value, struct error *err)
{
	struct stmt *st = NULL;
	if (db_prepare(s->db, "INSERT INTO objects VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)", &st, err) <
	    0)
		return -err->code;
	stmt_bind_int(st, 1, s->rv + 1);
	stmt_bind_cstr(st, 2, key);
	stmt_bind_int(st, 3, w->head == NULL);
	stmt_bind_int(st, 4, w->remove);
	stmt_bind_int(st, 5, create_rv);
	stmt_bind_int(st, 6, prev);
	stmt_bind_blob(st, 7, value);
	return stmt_step(st, err);
}

static int log_rows_write(struct store *s, const struct write *w, struct error *err)
{
	int64_t seq = 0, second;
	if (audit_append(s->audit, w->row, &seq, err) < 0)
		return -err->code;
	s->last_row = seq;
	if (!w->deletion)
		return 0;
	struct audit_row deletion = *w->deletion;
	deletion.cause = seq;
	return audit_append(s->audit, &deletion, &second, err) < 0 ? -err->code : 0;
}

/* After a failure within the savepoint. A full disk rolls the whole transaction back: the writes
 * before this one are lost, too. */
static int savepoint_undo(struct store *s, struct error *err)
{
	db_rollback_to(s->db);
	if (s->audit && db_in_transaction(s->db))
		audit_rolled_back(s->audit);
	if (!db_in_transaction(s->db)) {
		struct error all = {.code = E_UNAVAILABLE};
		memcpy(all.msg, err->msg, sizeof(all.msg));
		batch_end(s, &all);
	}
	return -err->code;
}

/* The row of the object and the entries of the log, all or none. */
static int rows_write(struct store *s, const struct write *w, const char *key, int64_t prev,
		      int64_t create_rv, struct str value, struct error *err)
{
	s->last_row = 0;
	if (db_savepoint(s->db, err) < 0)
		return -err->code;
	if (row_insert(s, w, key, prev, create_rv, value, err) < 0)
		return savepoint_undo(s, err);
	if (s->audit && w->row && log_rows_write(s, w, err) < 0)
		return savepoint_undo(s, err);
	return db_release(s->db, err);
}

static struct change *change_new(const struct write *w, int64_t rv, int64_t prev, int64_t create_rv,
				 int64_t now)
{
	size_t a = strlen(w->ns) + 1, b = strlen(w->name) + 1;
	struct change *c = xcalloc(1, sizeof(*c) + a + b);
	memcpy(c->names, w->ns, a);
	memcpy(c->names + a, w->name, b);
	c->ns = c->names;
	c->name = c->names + a;
	c->resource = w->resource;
	c->rv = rv;
	c->prev_rv = prev;
	c->create_rv = create_rv;
	c->at_ns = now;
	c->deleted = w->remove;
	c->before = w->head ? text_ref(w->head->text) : NULL;
	return c;
}

int64_t store_next_rv(const struct store *s)
{
	return s->rv + 1;
}

static int write_key(const struct write *w, struct strbuf *key, struct error *err)
{
	strbuf_addf(key, "%s/%s/%s/%s", w->resource->group, w->resource->plural, w->ns, w->name);
	return strbuf_check(key, "the key of the object", err);
}

int store_too_large(struct error *err)
{
	return error_set(err, E_TOOLARGE, "the object is larger than %zu bytes",
			 STORE_VALUE_BYTES_MAX);
}

int store_write(struct store *s, const struct write *w, struct text **ret_text, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(KEY_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	if (w->head != resource_find(w->resource, w->ns, w->name))
		return error_set(err, E_CONFLICT, "the object has been modified");
	if (s->audit && audit_read_only(s->audit))
		return error_set(err, E_UNAVAILABLE, "%s", audit_read_only(s->audit));
	int64_t rv = s->rv + 1;
	struct obj *meta = obj_get_mut(w->after, "metadata");
	obj_set(meta, "resourceVersion", obj_stringf("%lld", (long long)rv));
	json_print(w->after, &json);
	if (write_key(w, &key, err) < 0)
		return -err->code;
	if (json.over)
		return store_too_large(err);
	if (batch_begin(s, err) < 0)
		return -err->code;
	int64_t prev = w->head ? w->head->rv : tombstone_of(s, key.buf, err);
	int64_t create_rv = w->head ? w->head->create_rv : rv;
	struct str value = w->remove ? STR("") : strbuf_str(&json);
	if (prev < 0 || rows_write(s, w, key.buf, prev, create_rv, value, err) < 0) {
		s->failing = true;
		err->code = E_UNAVAILABLE;
		return error_wrap(err, "store");
	}
	struct change *c = change_new(w, rv, prev, create_rv, loop_mono(s->loop));
	c->after = text_new(strbuf_str(&json));
	c->after->stamp = w->stamp;
	ARRAY_GROW(s->batch, s->cap_batch, s->n_batch + 1);
	s->batch[s->n_batch++] = c;
	s->rv = rv;
	if (w->remove)
		head_drop(s, w->resource, w->ns, w->name);
	else
		head_put(s, w->resource, w->ns, w->name, c->after, rv, create_rv, w->after);
	*ret_text = c->after;
	return 0;
}

int store_append_row(struct store *s, const struct audit_row *row, struct error *err)
{
	int64_t seq;
	if (batch_begin(s, err) < 0 || db_savepoint(s->db, err) < 0)
		return -err->code;
	if (audit_append(s->audit, row, &seq, err) < 0) {
		(void)savepoint_undo(s, err);
		err->code = E_UNAVAILABLE;
		return error_wrap(err, "store");
	}
	return db_release(s->db, err);
}

bool store_is_failing(const struct store *s)
{
	return s->failing;
}

int64_t store_last_row(const struct store *s)
{
	return s->last_row;
}

/* Life. */

/* "group/plural/ns/name" */
static bool key_split(struct str key, struct str part[4])
{
	for (int i = 0; i < 3; i++)
		if (!str_cut(key, '/', &part[i], &key))
			return false;
	part[3] = key;
	return key.len > 0;
}

static int load_row(struct store *s, struct stmt *st, struct error *err)
{
	struct str part[4];
	if (stmt_text(st, 1).len > KEY_BYTES_MAX || !key_split(stmt_text(st, 1), part))
		return error_set(err, E_CORRUPT, "objects row %lld: bad name",
				 (long long)stmt_int(st, 0));
	CLEANUP(arena_freep) struct arena *a = arena_new(KEY_BYTES_MAX * 4);
	char *text[4];
	for (int i = 0; i < 4; i++)
		text[i] = arena_strndup(a, part[i].ptr ? part[i].ptr : "", part[i].len);
	struct store_table *r = store_resource(s, text[0], text[1]);
	s->rv = stmt_int(st, 0);
	r->rv = s->rv;
	garbage_add(s, stmt_int(st, 4));
	if (stmt_int(st, 2)) {
		garbage_add(s, s->rv);
		if (resource_find(r, text[2], text[3]))
			head_drop(s, r, text[2], text[3]);
		return 0;
	}
	struct text *t = text_new(stmt_blob(st, 5));
	head_put(s, r, text[2], text[3], t, s->rv, stmt_int(st, 3), NULL);
	text_unref(t);
	return 0;
}

static int store_load(struct store *s, struct error *err)
{
	struct stmt *st = NULL;
	/* A new folder: its table comes in one commit with its first objects. */
	if (batch_begin(s, err) < 0 || db_exec(s->db, schema_sql, err) < 0 ||
	    db_prepare(s->db,
		       "SELECT id, name, deleted, create_revision, prev_revision, value "
		       "FROM objects ORDER BY id",
		       &st, err) < 0)
		return -err->code;
	int r = stmt_step(st, err);
	while (r > 0) {
		if (load_row(s, st, err) < 0) {
			stmt_reset(st);
			return -err->code;
		}
		r = stmt_step(st, err);
	}
	/* The newest row stays, also if it is a tombstone: revisions are never used twice. */
	if (s->n_garbage && s->garbage[s->first_garbage + s->n_garbage - 1] == s->rv)
		s->n_garbage--;
	s->window_start = s->batch_rv = s->rv;
	return r;
}

int store_open(const struct store_config *c, struct store **ret, struct error *err)
{
	struct store *s = xcalloc(1, sizeof(*s));
	s->db = c->db;
	s->loop = c->loop;
	s->audit = c->audit;
	s->resources = map_new(resource_free);
	s->by_uid = map_new(NULL);
	s->dependents = multimap_new();
	s->commit.fn = batch_commit;
	s->commit.arg = s;
	s->compact.fn = compact_due;
	s->compact.arg = s;
	s->checkpoint.fn = checkpoint_due;
	s->checkpoint.arg = s;
	if (store_load(s, err) < 0) {
		store_close(s);
		return error_wrap(err, "store");
	}
	*ret = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	store_flush(s);
	loop_unpost(s->loop, &s->commit);
	loop_disarm(s->loop, &s->compact);
	loop_disarm(s->loop, &s->checkpoint);
	for (size_t i = 0; i < s->window_n; i++)
		change_free(s->window[s->window_first + i]);
	for (size_t i = 0; i < s->n_order; i++)
		for (size_t j = 0; j < s->order[i]->n_heads; j++)
			head_free(s, s->order[i]->heads[j]);
	map_free(s->by_uid);
	multimap_free(s->dependents);
	map_free(s->resources);
	xfree(s->order);
	xfree(s->batch);
	xfree(s->waiters);
	xfree(s->window);
	xfree(s->garbage);
	xfree(s);
}

int64_t store_rv(const struct store *s)
{
	return s->rv;
}

int64_t store_committed_rv(const struct store *s)
{
	return s->batch_open ? s->batch_rv : s->rv;
}
