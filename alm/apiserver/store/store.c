/*
 * store: see store.h. It knows revisions, heads and the commit; it must not know verbs, schemas or
 * HTTP. A change that leaves the watch window makes the row before it garbage, and garbage goes a
 * few hundred rows a turn.
 */
#include "alm/apiserver/store/store.h"

#include <assert.h>
#include <string.h>

#include "alm/base/map.h"
#include "alm/base/multimap.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define COMPACT_ROWS    300
#define COMPACT_BYTES   (1 << 20) /* the WAL takes as much: deleted pages are overwritten */
#define COMPACT_WAL     (4 << 20) /* compacted between two checkpoints, each of which is an fsync */
#define COMPACT_PAUSE   (NS_PER_S)
#define CHECKPOINT_IDLE (5 * NS_PER_S)
#define RESOURCES_MAX   100000
#define KEY_BYTES_MAX   4096

struct waiter {
	void (*fn)(void *arg, const struct error *err);
	void *arg;
};

#define STORE_LISTENERS_MAX 8

struct store {
	struct db *db;
	struct loop *loop;
	struct audit *audit;
	int64_t rv, window_start, last_row;
	struct map *resources; /* "group/plural" -> struct store_table */
	struct store_table **order;
	size_t n_order, cap_order;
	struct map *by_uid;          /* -> struct head, borrowed */
	struct multimap *dependents; /* owner uid -> struct head */

	bool batch_open, failing;
	int64_t batch_rv; /* revision before the batch */
	struct task commit;
	struct change **batch;
	size_t n_batch, cap_batch;
	struct waiter *waiters;
	size_t n_waiters, cap_waiters;
	struct {
		void (*fn)(void *arg, const struct change *c);
		void *arg;
	} listeners[STORE_LISTENERS_MAX];
	size_t n_listeners;

	struct change **window;
	size_t window_first, window_n, window_cap, window_bytes;
	int64_t *garbage; /* from first_garbage on */
	size_t first_garbage, n_garbage, cap_garbage;
	int64_t compacted; /* bytes since the last checkpoint */
	struct timer compact, checkpoint;
};

static const char schema_sql[] =
	"CREATE TABLE IF NOT EXISTS objects("
	" id INTEGER PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL,"
	" deleted INTEGER NOT NULL, create_revision INTEGER NOT NULL,"
	" prev_revision INTEGER NOT NULL, value BLOB NOT NULL,"
	" UNIQUE(name, prev_revision));";

/* Texts. */

struct text *text_new(struct str s)
{
	struct text *t = xmalloc(sizeof(*t) + s.len + 1);
	t->refs = 1;
	t->len = (unsigned)s.len;
	t->stamp = 0;
	if (s.len)
		memcpy(t->bytes, s.ptr, s.len);
	t->bytes[s.len] = '\0';
	return t;
}

struct text *text_ref(struct text *t)
{
	if (t)
		t->refs++;
	return t;
}

void text_unref(struct text *t)
{
	if (t && --t->refs == 0)
		xfree(t);
}

struct str text_str(const struct text *t)
{
	return str_n(t->bytes, t->len);
}

bool text_uid(struct str object, char out[STORE_UID_TEXT])
{
	/* Canonical: nothing before metadata can hold this text, nor anything before its uid. */
	ptrdiff_t at = str_find(object, STR("\"metadata\":{"));
	if (at < 0)
		return false;
	struct str rest = str_skip(object, (size_t)at);
	at = str_find(rest, STR("\"uid\":\""));
	if (at < 0 || rest.len < (size_t)at + 7 + STORE_UID_TEXT)
		return false;
	memcpy(out, rest.ptr + at + 7, STORE_UID_TEXT - 1);
	out[STORE_UID_TEXT - 1] = '\0';
	return true;
}

/* Heads and their indexes. */

static void resource_free(void *p)
{
	struct store_table *r = p;
	multimap_free(r->by_key);
	xfree(r->heads);
	xfree(r); /* group and plural are in the same allocation */
}

struct store_table *store_resource(struct store *s, const char *group, const char *plural)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(KEY_BYTES_MAX);
	strbuf_addf(&key, "%s/%s", group, plural);
	struct store_table *r = map_get(s->resources, key.buf);
	if (r)
		return r;
	assert(s->n_order < RESOURCES_MAX);
	size_t g = strlen(group) + 1, p = strlen(plural) + 1;
	r = xcalloc(1, sizeof(*r) + g + p);
	char *names = (char *)(r + 1);
	memcpy(names, group, g);
	memcpy(names + g, plural, p);
	r->group = names;
	r->plural = names + g;
	map_set(s->resources, key.buf, r);
	ARRAY_GROW(s->order, s->cap_order, s->n_order + 1);
	s->order[s->n_order++] = r;
	return r;
}

size_t store_n_resources(const struct store *s)
{
	return s->n_order;
}

struct store_table *store_resource_at(const struct store *s, size_t i)
{
	return s->order[i];
}

size_t resource_lower_bound(const struct store_table *r, const char *ns, const char *name)
{
	size_t lo = 0, hi = r->n_heads;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct head *h = r->heads[mid];
		int c = strcmp(h->ns, ns);
		if (c < 0 || (c == 0 && strcmp(h->name, name) < 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct head *resource_find(const struct store_table *r, const char *ns, const char *name)
{
	size_t i = resource_lower_bound(r, ns, name);
	if (i == r->n_heads || strcmp(r->heads[i]->name, name) != 0 ||
	    strcmp(r->heads[i]->ns, ns) != 0)
		return NULL;
	return r->heads[i];
}

struct head *store_find(struct store *s, const char *group, const char *plural, const char *ns,
			const char *name)
{
	return resource_find(store_resource(s, group, plural), ns, name);
}

struct head *store_by_uid(const struct store *s, const char *uid)
{
	return map_get(s->by_uid, uid);
}

void *const *store_dependents(const struct store *s, const char *uid, size_t *ret_n)
{
	return multimap_get(s->dependents, uid, ret_n);
}

void *const *resource_by_key(const struct store_table *r, const char *key, size_t *ret_n)
{
	return multimap_get(r->by_key, key, ret_n);
}

static void keys_forget(struct multimap *m, struct head_keys *k, const struct head *h)
{
	for (size_t i = 0; i < k->n; i++) {
		multimap_remove(m, k->items[i], h);
		xfree(k->items[i]);
	}
	xfree(k->items);
	*k = (struct head_keys){0};
}

static void keys_enter(struct multimap *m, const struct head_keys *k, struct head *h)
{
	for (size_t i = 0; i < k->n; i++)
		multimap_add(m, k->items[i], h);
}

void resource_index(struct store_table *r,
		    void (*keys_of)(const struct obj *o, struct head_keys *ret))
{
	assert(!r->keys_of);
	r->keys_of = keys_of;
	r->by_key = multimap_new();
	for (size_t i = 0; i < r->n_heads; i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		struct head *h = r->heads[i];
		struct error err = ERROR_INIT;
		if (json_parse(text_str(h->text), &o, &err) == 0)
			keys_of(o, &h->keys);
		keys_enter(r->by_key, &h->keys, h);
	}
}

void head_keys_add(struct head_keys *k, char *key)
{
	ARRAY_GROW(k->items, k->cap, k->n + 1);
	k->items[k->n++] = key;
}

/* The indexes of the head's text: uid, owners and keys. o is NULL when only the text is at hand. */
static void head_index(struct store *s, struct head *h, const struct obj *o)
{
	struct obj *parsed = NULL;
	struct error err = ERROR_INIT;
	void (*keys_of)(const struct obj *, struct head_keys *) = h->resource->keys_of;
	if (!o && (keys_of || strstr(h->text->bytes, "\"ownerReferences\":")) &&
	    json_parse(text_str(h->text), &parsed, &err) == 0)
		o = parsed;
	if (!text_uid(text_str(h->text), h->uid))
		h->uid[0] = '\0';
	map_set(s->by_uid, h->uid, h);
	for (size_t i = 0, n = meta_owner_count(o); i < n; i++) {
		struct owner_ref ref;
		if (meta_owner(o, i, &ref) && ref.uid)
			head_keys_add(&h->owners, xstrdup(ref.uid));
	}
	keys_enter(s->dependents, &h->owners, h);
	if (keys_of && o)
		keys_of(o, &h->keys);
	if (keys_of)
		keys_enter(h->resource->by_key, &h->keys, h);
	obj_unref(parsed);
}

static void head_unindex(struct store *s, struct head *h)
{
	if (map_get(s->by_uid, h->uid) == h)
		map_del(s->by_uid, h->uid);
	keys_forget(s->dependents, &h->owners, h);
	keys_forget(h->resource->by_key, &h->keys, h);
	obj_unref(h->parsed);
	h->parsed = NULL;
}

static void head_free(struct store *s, struct head *h)
{
	head_unindex(s, h);
	text_unref(h->text);
	xfree(h);
}

/* Sets (ns, name) to this text; o may be NULL. Takes its own reference of the text. */
static struct head *head_put(struct store *s, struct store_table *r, const char *ns,
			     const char *name, struct text *text, int64_t rv, int64_t create_rv,
			     const struct obj *o)
{
	size_t i = resource_lower_bound(r, ns, name);
	struct head *h = i < r->n_heads ? r->heads[i] : NULL;
	if (h && strcmp(h->ns, ns) == 0 && strcmp(h->name, name) == 0) {
		head_unindex(s, h);
		text_unref(h->text);
	} else {
		size_t a = strlen(ns) + 1, b = strlen(name) + 1;
		h = xcalloc(1, sizeof(*h) + a + b);
		char *names = (char *)(h + 1);
		memcpy(names, ns, a);
		memcpy(names + a, name, b);
		h->ns = names;
		h->name = names + a;
		h->resource = r;
		ARRAY_GROW(r->heads, r->cap, r->n_heads + 1);
		memmove(r->heads + i + 1, r->heads + i, (r->n_heads - i) * sizeof(*r->heads));
		r->heads[i] = h;
		r->n_heads++;
	}
	h->text = text_ref(text);
	h->rv = rv;
	h->create_rv = create_rv;
	h->seen_ns = loop_mono(s->loop);
	head_index(s, h, o);
	return h;
}

static void head_drop(struct store *s, struct store_table *r, const char *ns, const char *name)
{
	size_t i = resource_lower_bound(r, ns, name);
	assert(i < r->n_heads);
	struct head *h = r->heads[i];
	memmove(r->heads + i, r->heads + i + 1, (r->n_heads - i - 1) * sizeof(*r->heads));
	r->n_heads--;
	head_free(s, h);
}

void store_set_aside(struct store *s, struct head *h)
{
	head_drop(s, h->resource, h->ns, h->name);
}

const struct obj *head_obj(struct head *h, struct arena *a)
{
	if (h->parsed)
		return h->parsed;
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	if (json_parse(text_str(h->text), &o, &err) < 0)
		return NULL;
	return obj_keep(a, o);
}

const struct obj *head_obj_hot(struct head *h)
{
	struct error err = ERROR_INIT;
	if (!h->parsed && json_parse(text_str(h->text), &h->parsed, &err) < 0)
		return NULL;
	return h->parsed;
}

/* Window and compaction. */

static void change_free(struct change *c)
{
	text_unref(c->before);
	text_unref(c->after);
	xfree(c);
}

static void garbage_add(struct store *s, int64_t id)
{
	if (id <= 0)
		return;
	if (s->first_garbage > s->n_garbage) {
		memmove(s->garbage, s->garbage + s->first_garbage,
			s->n_garbage * sizeof(*s->garbage));
		s->first_garbage = 0;
	}
	ARRAY_GROW(s->garbage, s->cap_garbage, s->first_garbage + s->n_garbage + 1);
	s->garbage[s->first_garbage + s->n_garbage++] = id;
	if (!heap_holds(&s->compact.node))
		loop_arm(s->loop, &s->compact, COMPACT_PAUSE);
}

/* The oldest first: a row is known to be garbage by the row after it, also when alm starts again.
 */
static int compact_some(struct store *s, struct error *err)
{
	struct stmt *st = NULL;
	if (db_begin(s->db, err) < 0)
		return -err->code;
	if (db_prepare(s->db, "DELETE FROM objects WHERE id = ?1 RETURNING length(value)", &st,
		       err) < 0)
		goto fail;
	size_t max = s->n_garbage < COMPACT_ROWS ? s->n_garbage : COMPACT_ROWS, n = 0;
	int64_t bytes = 0;
	for (; n < max && bytes < COMPACT_BYTES; n++) {
		stmt_bind_int(st, 1, s->garbage[s->first_garbage + n]);
		int r = stmt_step(st, err);
		if (r < 0)
			goto fail;
		bytes += r > 0 ? stmt_int(st, 0) : 0;
		stmt_reset(st);
	}
	if (db_commit(s->db, err) < 0)
		goto fail;
	s->first_garbage += n;
	s->n_garbage -= n;
	s->compacted += bytes;
	return 0;
fail:
	db_rollback(s->db);
	return -err->code;
}

static void compact_due(void *arg)
{
	struct store *s = arg;
	struct error err = ERROR_INIT;
	if (s->batch_open || db_in_transaction(s->db)) {
		loop_arm(s->loop, &s->compact, COMPACT_PAUSE);
		return;
	}
	/* A failure here loses nothing; the next write tells of a broken disk. */
	if (!s->n_garbage || compact_some(s, &err) < 0)
		return;
	if (s->compacted >= COMPACT_WAL) {
		db_checkpoint(s->db, false, &err);
		s->compacted = 0;
	}
	if (s->n_garbage)
		loop_arm(s->loop, &s->compact, COMPACT_PAUSE / 50);
}

/* What the window alone keeps of a change: its new state is the head's, or the old one of a later
 * change. */
static size_t window_cost(const struct change *c)
{
	return (c->before ? c->before->len : 0) + (c->deleted ? c->after->len : 0);
}

static void window_pop(struct store *s)
{
	struct change *c = s->window[s->window_first];
	s->window_first++;
	s->window_n--;
	s->window_bytes -= window_cost(c);
	s->window_start = c->rv;
	garbage_add(s, c->prev_rv);
	if (c->deleted && c->rv != s->rv) /* the newest row stays */
		garbage_add(s, c->rv);
	change_free(c);
}

static void window_push(struct store *s, struct change *c)
{
	if (s->window_first > s->window_n) {
		memmove(s->window, s->window + s->window_first, s->window_n * sizeof(*s->window));
		s->window_first = 0;
	}
	ARRAY_GROW(s->window, s->window_cap, s->window_first + s->window_n + 1);
	s->window[s->window_first + s->window_n++] = c;
	s->window_bytes += window_cost(c);
	while (s->window_n > 1 &&
	       (s->window_bytes > STORE_WINDOW_BYTES ||
		(s->window_n > STORE_WINDOW_MIN &&
		 c->at_ns - s->window[s->window_first]->at_ns > STORE_WINDOW_NS)))
		window_pop(s);
}

void store_window_clear(struct store *s)
{
	while (s->window_n)
		window_pop(s);
	s->window_start = s->rv;
}

int64_t store_window_start(const struct store *s)
{
	return s->window_start;
}

const struct change *store_change_at(const struct store *s, size_t i)
{
	return i < s->window_n ? s->window[s->window_first + i] : NULL;
}

size_t store_change_after(const struct store *s, int64_t rv)
{
	size_t lo = 0, hi = s->window_n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (s->window[s->window_first + mid]->rv <= rv)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

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
