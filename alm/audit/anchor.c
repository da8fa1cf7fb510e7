/* anchor: see anchor.h. Which place is told, and when; it must not know what the places are. */
#include "alm/audit/anchor.h"

#include <inttypes.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"

struct anchors {
	struct audit *audit;
	struct loop *loop;
	struct db *db;
	struct anchor *items[ANCHORS_MAX];
	size_t n;
	struct timer timer;
	int64_t size;     /* of the newest note */
	int64_t hurry_to; /* what does not reach this size is due at once */
	char note[CHECKPOINT_BYTES_MAX + 1];
	void (*when_recalled)(void *arg);
	void *when_recalled_arg;
	void (*on_refused)(void *arg);
	void *on_refused_arg;
};

void anchor_init(struct anchor *t, const struct anchor_ops *ops, const char *target)
{
	t->ops = ops;
	t->target = xstrdup(target);
}

struct audit *anchor_audit(const struct anchor *t)
{
	return t->of->audit;
}

static void append_system(struct anchors *s, const char *reason, const struct anchor *t,
			  const char *details)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "what", t->target);
	obj_set_str(body, "details", details);
	struct audit_row row = {.type = "System",
				.reason = reason,
				.subject = {.kind = "Log", .name = audit_origin(s->audit)},
				.body = body};
	if (!audit_read_only(s->audit) && audit_append_now(s->audit, &row, &seq, &err) < 0)
		log_error("a change of an anchor is not in the audit log", "error", err.msg);
}

/* The first failure and each change of its kind have a record. */
static void failed(struct anchor *t, const struct error *err)
{
	if (t->failing == err->code)
		return;
	t->failing = err->code;
	log_error("audit anchor", "anchor", t->target, "error", err->msg);
	append_system(t->of, "AnchorFailing", t, err->msg);
}

static void works(struct anchor *t)
{
	if (t->failing)
		append_system(t->of, "AnchorWorks", t, NULL);
	t->failing = 0;
}

static int remember(struct anchors *s, const struct anchor *t, struct error *err)
{
	struct stmt *st;
	bool nested = db_in_transaction(s->db);
	int r = nested ? 0 : db_begin(s->db, err);
	if (r < 0)
		return r;
	r = db_prepare(s->db,
		       "INSERT INTO audit_anchor (size, target) VALUES (?, ?) ON CONFLICT DO"
		       " NOTHING",
		       &st, err);
	if (r >= 0) {
		stmt_bind_int(st, 1, t->size);
		stmt_bind_cstr(st, 2, t->target);
		r = stmt_step(st, err);
	}
	if (nested)
		return r;
	if (r >= 0)
		return db_commit(s->db, err);
	db_rollback(s->db);
	return r;
}

static void told(struct anchors *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->items[i]->recalled)
			return;
	void (*fn)(void *arg) = STEAL(s->when_recalled);
	if (fn)
		fn(s->when_recalled_arg);
}

/* When the place may be told again, monotonic; INT64_MAX: it knows all. */
static int64_t due_at(const struct anchors *s, const struct anchor *t)
{
	if (t->busy || t->refused || !t->recalled || s->size <= t->size)
		return INT64_MAX;
	if (!t->failing && t->size < s->hurry_to && s->size >= s->hurry_to)
		return 0;
	if (!t->failing && (t->kept_mono_ns == 0 || s->size - t->size >= ANCHOR_EVERY_ROWS))
		return 0;
	return t->kept_mono_ns + ANCHOR_EVERY_NS;
}

static void tell(struct anchors *s, struct anchor *t, bool last)
{
	t->busy = true;
	t->asked_size = s->size;
	t->kept_mono_ns = loop_mono(s->loop);
	t->ops->keep(t, s->size, str_of(s->note), last);
}

static void run(struct anchors *s)
{
	int64_t now = loop_mono(s->loop), next = INT64_MAX;
	if (audit_read_only(s->audit))
		return;
	for (size_t i = 0; i < s->n; i++)
		if (due_at(s, s->items[i]) <= now)
			tell(s, s->items[i], false);
	for (size_t i = 0; i < s->n; i++) {
		int64_t at = due_at(s, s->items[i]);
		next = at < next ? at : next;
	}
	loop_disarm(s->loop, &s->timer);
	if (next != INT64_MAX)
		loop_arm(s->loop, &s->timer, next - now);
}

static void on_timer(void *arg)
{
	run(arg);
}

void anchor_recalled(struct anchor *t, struct str note, const struct error *err)
{
	struct anchors *s = t->of;
	struct error inner = ERROR_INIT;
	int r = err ? error_copy(&inner, err) : 0;
	if (r >= 0 && note.ptr)
		r = audit_check_note(s->audit, note, t->target, &inner);
	if (r == -E_ALTERED)
		anchor_refused(t, inner.msg);
	else if (r < 0)
		failed(t, &inner);
	t->recalled = true;
	loop_arm(s->loop, &s->timer, 0); /* not from within a start */
	told(s);
}

void anchor_kept(struct anchor *t, const struct error *err)
{
	struct anchors *s = t->of;
	struct error inner = ERROR_INIT;
	t->busy = false;
	if (err) {
		failed(t, err);
	} else {
		works(t);
		t->size = t->asked_size;
		if (remember(s, t, &inner) < 0)
			log_error("what an anchor keeps is not in the audit log", "anchor",
				  t->target, "error", inner.msg);
	}
	if (!heap_holds(&s->timer.node))
		loop_arm(s->loop, &s->timer, 0);
}

void anchor_refused(struct anchor *t, const char *why)
{
	t->busy = false;
	t->refused = true;
	audit_set_read_only(t->of->audit, why);
	log_error("audit log", "anchor", t->target, "error", audit_read_only(t->of->audit));
	if (t->of->on_refused)
		t->of->on_refused(t->of->on_refused_arg);
}

static void on_checkpoint(void *arg, int64_t size, struct str note, bool last)
{
	struct anchors *s = arg;
	size_t n = note.len < CHECKPOINT_BYTES_MAX ? note.len : CHECKPOINT_BYTES_MAX;
	memcpy(s->note, note.ptr, n);
	s->note[n] = '\0';
	s->size = size;
	if (!last) {
		/* Not from within a commit: in the next turn. */
		loop_arm(s->loop, &s->timer, 0);
		return;
	}
	for (size_t i = 0; i < s->n; i++) {
		struct anchor *t = s->items[i];
		if (t->recalled && !t->refused && !t->busy && t->size < size)
			tell(s, t, true);
	}
}

/* The newest checkpoint that there is already. */
static void load_newest(struct anchors *s)
{
	struct stmt *st;
	struct error err = ERROR_INIT;
	if (db_prepare(s->db, "SELECT size, note FROM audit_checkpoint ORDER BY size DESC LIMIT 1",
		       &st, &err) < 0)
		return;
	if (stmt_step(st, &err) == 1) {
		struct str note = str_sub(stmt_text(st, 1), 0, CHECKPOINT_BYTES_MAX);
		s->size = stmt_int(st, 0);
		memcpy(s->note, note.ptr, note.len);
		s->note[note.len] = '\0';
	}
	stmt_reset(st);
}

struct anchors *anchors_new(struct audit *a, struct loop *l, struct db *d, struct anchor **targets,
			    size_t n)
{
	struct anchors *s = xcalloc(1, sizeof(*s));
	s->audit = a;
	s->loop = l;
	s->db = d;
	s->timer = (struct timer){.fn = on_timer, .arg = s};
	load_newest(s);
	for (size_t i = 0; i < n && i < ANCHORS_MAX; i++) {
		targets[i]->of = s;
		s->items[s->n++] = targets[i];
	}
	audit_on_checkpoint(a, on_checkpoint, s);
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i]->ops->recall)
			s->items[i]->ops->recall(s->items[i]);
		else
			anchor_recalled(s->items[i], STR_NONE, NULL);
	return s;
}

void anchors_hurry(struct anchors *s, int64_t size)
{
	s->hurry_to = size;
	loop_arm(s->loop, &s->timer, 0);
}

void anchors_when_recalled(struct anchors *s, void (*fn)(void *arg), void *arg)
{
	s->when_recalled = fn;
	s->when_recalled_arg = arg;
	told(s);
}

void anchors_on_refused(struct anchors *s, void (*fn)(void *arg), void *arg)
{
	s->on_refused = fn;
	s->on_refused_arg = arg;
}

void anchors_free(struct anchors *s)
{
	if (!s)
		return;
	loop_disarm(s->loop, &s->timer);
	for (size_t i = 0; i < s->n; i++) {
		char *target = s->items[i]->target;
		s->items[i]->ops->free(s->items[i]);
		xfree(target);
	}
	xfree(s);
}
