#include "alm/live/migration.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/io/http.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/gate/usage.h"

#define BYTES_MAX    ((size_t)16 << 20)
#define TRIES_MAX    10
#define VERSIONS_MAX 64
#define BACKOFF_NS   (200 * NS_PER_MS)
#define BACKOFF_MAX  (10 * NS_PER_S)

enum step { READ_CRD, SETTLE, SCAN, BEGIN, WRITE, MARK, READ_AGAIN, NOTE, TRIM, OVER };

struct slot {
	struct migration *m;
	struct obj *o; /* owned; NULL: free */
	struct client_call *call;
	struct timer again;
	unsigned tries;
};

struct migration {
	struct migration_config c;
	struct arena *a;
	struct loop *loop;
	enum step step;
	struct resource r; /* of the objects, in the new version */
	struct obj *crd;   /* as read last */
	struct client_call *call;
	struct timer timer;
	struct task over;
	char *next;         /* continue token; NULL: from the start */
	char *after;        /* that of the page behind the one at work; NULL: none */
	struct obj *page;   /* items being written */
	size_t at, busy;    /* of the page; slots in use */
	size_t total;       /* of the scan */
	size_t written;     /* before and by this run */
	int64_t since_ns;   /* the last change of spec.versions */
	int64_t generation; /* of the definition that the page tokens belong to */
	int64_t started_ns; /* the server's clock, of the first of all runs; 0: not begun */
	int64_t newest_ns;  /* the last write through another version that the scan saw */
	int64_t next_ns;    /* monotonic: when the rate allows the next write */
	unsigned tries, restarts;
	struct usage usages[VERSIONS_MAX]; /* of the other versions */
	size_t n_usages;
	const char *writers[MIGRATION_WRITERS_MAX], *forget[MIGRATION_WRITERS_MAX];
	struct migration_result result;
	struct error err;
	struct slot slots[CLIENT_WRITES_MAX];
};

static const struct resource crds = {.group = "apiextensions.k8s.io",
				     .version = "v1",
				     .plural = "customresourcedefinitions",
				     .kind = "CustomResourceDefinition"};

static void read_crd(struct migration *m);
static void list_page(struct migration *m);
static void write_more(struct migration *m);

static void slot_clear(struct slot *s)
{
	if (s->call)
		client_cancel(s->m->c.client, s->call);
	loop_disarm(s->m->loop, &s->again);
	obj_unref(s->o);
	s->call = NULL;
	s->o = NULL;
}

void migration_free(struct migration *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < ARRAY_LEN(m->slots); i++)
		slot_clear(&m->slots[i]);
	if (m->call)
		client_cancel(m->c.client, m->call);
	loop_disarm(m->loop, &m->timer);
	loop_unpost(m->loop, &m->over);
	obj_unref(m->crd);
	obj_unref(m->page);
	xfree(m->next);
	xfree(m->after);
	arena_free(m->a);
	xfree(m);
}

static void tell(struct migration *m, const char *doing, int64_t wait_ns)
{
	struct migration_progress p = {.doing = doing,
				       .done = m->step == SCAN ? m->result.n : m->written,
				       .total = m->step == SCAN ? m->result.n : m->total,
				       .wait_ns = wait_ns};
	if (m->c.progress)
		m->c.progress(m->c.arg, &p);
}

static void report(void *arg)
{
	struct migration *m = arg;
	m->c.done(m->c.arg, &m->result, m->err.code ? &m->err : NULL);
}

/* What is under way is left alone: its answers find nothing to do. */
static void end(struct migration *m, const struct error *err)
{
	if (m->step == OVER)
		return;
	m->step = OVER;
	if (err)
		m->err = *err;
	for (size_t i = 0; i < ARRAY_LEN(m->slots); i++)
		slot_clear(&m->slots[i]);
	loop_disarm(m->loop, &m->timer);
	m->over = (struct task){.fn = report, .arg = m};
	loop_post(m->loop, &m->over);
}

static bool may_pass(const struct error *err)
{
	return error_retry(err->code) == RETRY_BACKOFF && err->code != E_FORBIDDEN &&
	       err->code != E_UNAUTHORIZED;
}

/* --- the definition --- */

static const struct obj *version_of(const struct obj *crd, const char *name)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), name))
			return obj_at(list, i);
	return NULL;
}

static const char *joined(const struct obj *list, struct arena *a)
{
	const char *text = "";
	for (size_t i = 0; i < obj_len(list); i++)
		text = arena_fmt(a, "%s%s%s", text, i ? " " : "", obj_as_string(obj_at(list, i)));
	return text;
}

/* When somebody last wrote spec.versions: `to` is the storage version since then, or longer. */
static int64_t versions_since(const struct obj *crd)
{
	int64_t newest = 0, t;
	const struct obj *entries = obj_path(crd, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(entries); i++) {
		const struct obj *e = obj_at(entries, i);
		const char *time = obj_str(e, "time");
		if (obj_has(obj_get(obj_get(e, "fieldsV1"), "f:spec"), "f:versions") && time &&
		    clock_parse(str_of(time), &t) && t > newest)
			newest = t;
	}
	return newest;
}

/* A run before this one noted how far it came, with the definition that is there now. Without a
 * time it had not begun. */
static void resume(struct migration *m)
{
	struct error ignored;
	struct obj *note = NULL;
	const char *text = meta_annotation(m->crd, MIGRATION_ANNOTATION);
	m->generation = meta_generation(m->crd);
	if (!text || json_parse(str_of(text), &note, &ignored) < 0)
		return;
	const char *started = obj_str(note, "started"), *next = obj_str(note, "continue");
	if (cstr_eq(obj_str(note, "to"), m->c.to) && started &&
	    obj_i64(note, "generation", -1) == m->generation &&
	    clock_parse(str_of(started), &m->started_ns) && next) {
		m->next = xstrdup(next);
		m->written = (size_t)obj_i64(note, "written", 0);
	}
	obj_unref(note);
}

static int check_crd(struct migration *m, struct error *err)
{
	const struct obj *version = version_of(m->crd, m->c.to);
	if (!version)
		return error_set(err, E_NOTFOUND, "%s has no version %s", m->c.crd, m->c.to);
	if (!obj_flag(version, "storage", false))
		return error_set(err, E_REFUSED,
				 "%s is not the storage version of %s; migrate to that one",
				 m->c.to, m->c.crd);
	if (!obj_flag(version, "served", false))
		return error_set(err, E_REFUSED, "%s of %s is not served", m->c.to, m->c.crd);
	return 0;
}

static void begin_usages(struct migration *m)
{
	const struct obj *list = obj_path(m->crd, "spec.versions");
	m->n_usages = 0;
	for (size_t i = 0; i < obj_len(list) && m->n_usages < VERSIONS_MAX; i++) {
		const char *name = obj_str(obj_at(list, i), "name");
		if (name && strcmp(name, m->c.to) != 0)
			usage_begin(&m->usages[m->n_usages++], m->crd, name, NULL, m->a);
	}
}

static void settled(void *arg)
{
	struct migration *m = arg;
	m->step = SCAN;
	begin_usages(m);
	list_page(m);
}

static void crd_known(struct migration *m)
{
	struct error err = ERROR_INIT;
	if (check_crd(m, &err) < 0) {
		end(m, &err);
		return;
	}
	m->r = (struct resource){.group = arena_strdup(m->a, obj_str(m->crd, "spec.group")),
				 .version = m->c.to,
				 .plural = arena_strdup(m->a, obj_str(m->crd, "spec.names.plural")),
				 .kind = arena_strdup(m->a, obj_str(m->crd, "spec.names.kind")),
				 .namespaced =
					 cstr_eq(obj_str(m->crd, "spec.scope"), "Namespaced")};
	m->result.was = joined(obj_path(m->crd, "status.storedVersions"), m->a);
	m->since_ns = versions_since(m->crd);
	resume(m);
	int64_t left = m->since_ns + m->c.settle_ns - loop_now(m->loop);
	m->step = SETTLE;
	if (left > m->c.settle_ns)
		left = m->c.settle_ns; /* the clocks differ */
	if (m->c.settle_ns && left > 0 && !m->c.dry_run) {
		tell(m, "waiting", left);
		m->timer = (struct timer){.fn = settled, .arg = m};
		loop_arm(m->loop, &m->timer, left);
		return;
	}
	settled(m);
}

/* --- the end: a note, then the list --- */

static void note_end(struct migration *m);
static void trim(struct migration *m);
static void begun(struct migration *m);

static void finished(struct migration *m)
{
	m->result.n = m->written;
	m->result.is = m->c.to;
	tell(m, "done", 0);
	end(m, NULL);
}

static void crd_written(void *arg, const struct client_reply *reply)
{
	struct migration *m = arg;
	m->call = NULL;
	if (m->step == OVER)
		return;
	if (reply->err && (reply->err->code == E_CONFLICT || may_pass(reply->err)) &&
	    ++m->tries < TRIES_MAX) {
		if (m->step != MARK && m->step != BEGIN)
			m->step = READ_AGAIN;
		read_crd(m);
		return;
	}
	if (reply->err) {
		end(m, reply->err);
		return;
	}
	obj_unref(m->crd);
	m->crd = obj_ref(reply->body);
	if (m->step != BEGIN)
		m->tries = 0;
	if (m->step == BEGIN) {
		begun(m);
	} else if (m->step == MARK) {
		m->step = WRITE;
		list_page(m);
	} else if (m->step == NOTE) {
		trim(m);
	} else {
		finished(m);
	}
}

static void patch_crd(struct migration *m, struct obj *patch, const char *subresource)
{
	struct client_options o = {.field_manager = MIGRATION_MANAGER, .subresource = subresource};
	obj_set_path(patch, "metadata.resourceVersion", obj_string(meta_resource_version(m->crd)));
	m->call = client_patch(m->c.client, &crds, NULL, m->c.crd, "application/merge-patch+json",
			       patch, &o, crd_written, m);
	obj_unref(patch);
}

static struct obj *annotations_patch(struct obj *annotations)
{
	struct obj *patch = obj_map();
	obj_set(patch, "metadata", obj_map());
	obj_set_path(patch, "metadata.annotations", annotations);
	return patch;
}

static void patch_note(struct migration *m, const struct obj *note)
{
	struct obj *annotations = obj_map();
	CLEANUP(xfreep) char *text = json_text(note);
	obj_set_str(annotations, MIGRATION_ANNOTATION, text);
	patch_crd(m, annotations_patch(annotations), NULL);
}

static int64_t remaining(const struct migration *m)
{
	return m->total > m->written ? (int64_t)(m->total - m->written) : 0;
}

/* The page is done: where the next one starts, for whoever goes on from here. */
static void mark_page(struct migration *m)
{
	char started[CLOCK_TEXT_MAX];
	CLEANUP(obj_unrefp) struct obj *note = obj_map();
	m->step = MARK;
	clock_format(m->started_ns, CLOCK_SECONDS, started);
	obj_set_str(note, "to", m->c.to);
	obj_set_str(note, "continue", m->next);
	obj_set_int(note, "written", (int64_t)m->written);
	obj_set_int(note, "remaining", remaining(m));
	obj_set_str(note, "started", started);
	obj_set_int(note, "generation", m->generation);
	patch_note(m, note);
}

/* The server's time of this note is that of the beginning; it differs from any before it. */
static void mark_begin(void *arg)
{
	struct migration *m = arg;
	CLEANUP(obj_unrefp) struct obj *note = obj_map();
	m->step = BEGIN;
	obj_set_str(note, "to", m->c.to);
	obj_set_int(note, "asked", loop_now(m->loop));
	obj_set_int(note, "remaining", remaining(m));
	patch_note(m, note);
}

/* When we last wrote the definition, by the server's clock; by ours if it does not say. */
static int64_t noted_at(const struct migration *m)
{
	int64_t newest = 0, t;
	const struct obj *entries = obj_path(m->crd, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(entries); i++) {
		const char *time = obj_str(obj_at(entries, i), "time");
		if (cstr_eq(obj_str(obj_at(entries, i), "manager"), MIGRATION_MANAGER) && time &&
		    clock_parse(str_of(time), &t) && t > newest)
			newest = t;
	}
	return newest ? newest : loop_now(m->loop) / NS_PER_S * NS_PER_S;
}

/* The server's clock was set back behind what it has stamped: until it is there again, a write through
 * an older version cannot be told from those that are known. */
static void clock_is_behind(struct migration *m)
{
	struct error err;
	char is[CLOCK_TEXT_MAX], was[CLOCK_TEXT_MAX];
	clock_format(m->started_ns, CLOCK_SECONDS, is);
	clock_format(m->newest_ns, CLOCK_SECONDS, was);
	error_set(&err, E_REFUSED,
		  "the server's clock says %s, and an object was written through another version "
		  "than "
		  "%s at %s: it was set back; call it again after that time, or say "
		  "--ignore-writers: alm crd migrate %s --to %s --ignore-writers",
		  is, m->c.to, was, m->c.crd, m->c.to);
	end(m, &err);
}

/* What was written through another version within this very second would count as use for good:
 * the second is waited for. */
static void begun(struct migration *m)
{
	m->started_ns = noted_at(m);
	if (m->newest_ns >= m->started_ns && ++m->tries < TRIES_MAX) {
		m->timer = (struct timer){.fn = mark_begin, .arg = m};
		loop_arm(m->loop, &m->timer, NS_PER_S);
		return;
	}
	if (m->newest_ns >= m->started_ns && !m->c.ignore_writers) {
		clock_is_behind(m);
		return;
	}
	if (m->newest_ns >= m->started_ns)
		m->started_ns = m->newest_ns + NS_PER_S;
	m->tries = 0;
	m->step = WRITE;
	list_page(m);
}

/* True if what was written so far may have been stored otherwise since: it is written once more, or
 * the migration ends. */
static bool has_moved(struct migration *m)
{
	struct error err;
	if (meta_generation(m->crd) == m->generation)
		return false;
	if (!obj_flag(version_of(m->crd, m->c.to), "storage", false) ||
	    ++m->restarts >= TRIES_MAX) {
		error_set(&err, E_CONFLICT, "%s changed; start again", m->c.crd);
		end(m, &err);
		return true;
	}
	m->generation = meta_generation(m->crd);
	m->written = 0;
	xfree(m->next);
	m->next = NULL;
	m->step = WRITE;
	list_page(m);
	return true;
}

static void note_version(struct migration *m, struct obj *annotations, const char *v)
{
	char started[CLOCK_TEXT_MAX];
	clock_format(m->started_ns, CLOCK_SECONDS, started);
	if (v && strcmp(v, m->c.to) != 0)
		obj_set_str(annotations, arena_fmt(m->a, USAGE_MIGRATED_PREFIX "%s", v), started);
}

/* Entries newer than the start of the migration still count as use of the old version. A version
 * that was written through but never stored is used as well. */
static void note_end(struct migration *m)
{
	struct obj *annotations = obj_map();
	const struct obj *stored = obj_path(m->crd, "status.storedVersions"),
			 *versions = obj_path(m->crd, "spec.versions");
	m->step = NOTE;
	for (size_t i = 0; i < obj_len(stored); i++)
		note_version(m, annotations, obj_as_string(obj_at(stored, i)));
	for (size_t i = 0; i < obj_len(versions); i++)
		note_version(m, annotations, obj_str(obj_at(versions, i), "name"));
	obj_set(annotations, MIGRATION_ANNOTATION, obj_null());
	patch_crd(m, annotations_patch(annotations), NULL);
}

static void trim(struct migration *m)
{
	struct obj *patch = obj_map(), *list = obj_list();
	m->step = TRIM;
	obj_append(list, obj_string(m->c.to));
	obj_set(patch, "metadata", obj_map());
	obj_set(patch, "status", obj_map());
	obj_set_path(patch, "status.storedVersions", list);
	patch_crd(m, patch, "status");
}

static void crd_read(void *arg, const struct client_reply *reply)
{
	struct migration *m = arg;
	m->call = NULL;
	if (m->step == OVER)
		return;
	if (reply->err) {
		end(m, reply->err);
		return;
	}
	obj_unref(m->crd);
	m->crd = obj_ref(reply->body);
	if (m->step == READ_CRD)
		crd_known(m);
	else if (m->step == BEGIN)
		mark_begin(m);
	else if (has_moved(m))
		return;
	else if (m->step == MARK)
		mark_page(m);
	else
		note_end(m);
}

static void read_crd(struct migration *m)
{
	m->call = client_get(m->c.client, &crds, NULL, m->c.crd, NULL, crd_read, m);
}

/* --- pages --- */

static void note_forget(struct migration *m, const struct obj *o)
{
	if (m->result.n_forget == MIGRATION_WRITERS_MAX)
		return;
	const char *command = usage_forget(o, m->r.group, m->r.plural, m->c.to, m->since_ns, m->a);
	if (command)
		m->forget[m->result.n_forget++] = command;
}

static void scan_object(struct migration *m, const struct obj *o)
{
	if (m->result.n++ == 0)
		m->result.first = usage_object_name(o, m->a);
	for (size_t i = 0; i < m->n_usages; i++)
		usage_object(&m->usages[i], o);
	note_forget(m, o);
}

/* Refused while somebody brings the old form back. */
static void scanned(struct migration *m)
{
	for (size_t i = 0; i < m->n_usages; i++) {
		usage_end(&m->usages[i]);
		if (m->usages[i].n_writers && m->usages[i].writers[0].last_ns > m->newest_ns)
			m->newest_ns = m->usages[i].writers[0].last_ns;
		for (size_t k = 0; k < m->usages[i].n_writers; k++) {
			const struct usage_writer *w = &m->usages[i].writers[k];
			if (w->last_ns > m->since_ns && m->result.n_writers < MIGRATION_WRITERS_MAX)
				m->writers[m->result.n_writers++] =
					arena_fmt(m->a, "%s: %s", w->manager, w->last_object);
		}
	}
	m->result.writers = m->writers;
	m->result.forget = m->forget;
	m->total = m->result.n;
	if (m->c.dry_run) {
		end(m, NULL);
		return;
	}
	if (m->result.n_writers && !m->c.ignore_writers) {
		struct error err;
		error_set(
			&err, E_REFUSED,
			"%zu manager%s wrote through another version than %s after that became "
			"the storage version; change what writes, or say --ignore-writers: alm crd "
			"migrate %s --to %s --ignore-writers",
			m->result.n_writers, m->result.n_writers == 1 ? "" : "s", m->c.to, m->c.crd,
			m->c.to);
		end(m, &err);
		return;
	}
	if (!m->started_ns) {
		mark_begin(m);
		return;
	}
	m->step = WRITE;
	list_page(m);
}

static void page_scanned(struct migration *m, const struct obj *items, const char *next)
{
	for (size_t i = 0; i < obj_len(items); i++)
		scan_object(m, obj_at(items, i));
	tell(m, "reading", 0);
	xfree(m->after);
	m->after = next ? xstrdup(next) : NULL;
	if (m->after)
		list_page(m);
	else
		scanned(m);
}

static void scan_anew(struct migration *m)
{
	m->step = SCAN;
	m->started_ns = m->newest_ns = 0;
	m->result.n = m->result.n_forget = m->result.n_writers = 0;
	begin_usages(m);
	list_page(m);
}

/* Before anything is written: there are more objects than the scan saw, as it read an older state, or
 * they are new. Who wrote them is to be known before the beginning is noted. */
static bool is_news(const struct migration *m, const struct obj *list)
{
	size_t n = obj_len(obj_get(list, "items"));
	return !m->written && !m->next &&
	       n + (size_t)obj_i64(list, "metadata.remainingItemCount", 0) > m->total;
}

static void page_listed(void *arg, const struct client_reply *reply)
{
	struct migration *m = arg;
	m->call = NULL;
	if (m->step == OVER)
		return;
	if (reply->err && reply->err->code == E_EXPIRED && ++m->tries < TRIES_MAX) {
		char **token = m->step == SCAN ? &m->after : &m->next;
		xfree(*token);
		*token = NULL;
		m->written = 0;
		if (m->step == SCAN) {
			m->result.n = m->result.n_forget = 0;
			begin_usages(m);
		}
		list_page(m);
		return;
	}
	if (reply->err) {
		end(m, reply->err);
		return;
	}
	const char *next = obj_str(reply->body, "metadata.continue");
	next = next && *next ? next : NULL;
	const struct obj *items = obj_get(reply->body, "items");
	if (m->step == SCAN) {
		page_scanned(m, items, next);
		return;
	}
	if (is_news(m, reply->body) && m->restarts + 1 < TRIES_MAX) {
		m->restarts++;
		scan_anew(m);
		return;
	}
	xfree(m->next);
	m->next = next ? xstrdup(next) : NULL;
	obj_unref(m->page);
	m->page = items ? obj_ref(items) : obj_list();
	m->at = 0;
	write_more(m);
}

static void list_page(struct migration *m)
{
	const char *token = m->step == SCAN ? m->after : m->next;
	CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
	const char *query = arena_fmt(a, "limit=%u", m->c.page ? m->c.page : MIGRATION_PAGE);
	if (token)
		query = arena_fmt(a, "%s&continue=%s", query, url_encode(str_of(token), a));
	m->call = client_list(m->c.client, &m->r, NULL, query, page_listed, m);
}

/* --- objects --- */

static void send(struct slot *s);

static void slot_done(struct slot *s)
{
	struct migration *m = s->m;
	slot_clear(s);
	m->busy--;
	m->written++;
	write_more(m);
}

static void send_again(void *arg)
{
	send(arg);
}

static void slot_failed(struct slot *s, const struct client_reply *reply)
{
	struct migration *m = s->m;
	struct error err = *reply->err;
	int64_t wait = client_backoff(m->loop, s->tries, BACKOFF_NS, BACKOFF_MAX);
	if (may_pass(reply->err) && ++s->tries < TRIES_MAX) {
		s->again = (struct timer){.fn = send_again, .arg = s};
		loop_arm(m->loop, &s->again,
			 reply->retry_after_ns > wait ? reply->retry_after_ns : wait);
		return;
	}
	error_wrap(&err, "%s", usage_object_name(s->o, m->a));
	end(m, &err);
}

static void object_read(void *arg, const struct client_reply *reply)
{
	struct slot *s = arg;
	s->call = NULL;
	if (s->m->step == OVER)
		return;
	if (reply->err && reply->err->code == E_NOTFOUND) {
		slot_done(s);
	} else if (reply->err) {
		slot_failed(s, reply);
	} else {
		obj_unref(s->o);
		s->o = obj_ref(reply->body);
		send(s);
	}
}

static void object_written(void *arg, const struct client_reply *reply)
{
	struct slot *s = arg;
	struct migration *m = s->m;
	s->call = NULL;
	if (m->step == OVER)
		return;
	if (!reply->err || reply->err->code == E_NOTFOUND)
		slot_done(s);
	else if (reply->err->code == E_CONFLICT && ++s->tries < TRIES_MAX)
		s->call = client_get(m->c.client, &m->r, meta_namespace(s->o), meta_name(s->o),
				     NULL, object_read, s);
	else
		slot_failed(s, reply);
}

/* Unchanged but for its apiVersion: a server takes it for a no-op only if it is stored so already.
 */
static void send(struct slot *s)
{
	struct migration *m = s->m;
	struct client_options o = {.field_manager = MIGRATION_MANAGER};
	s->call = client_replace(m->c.client, &m->r, meta_namespace(s->o), meta_name(s->o), s->o,
				 &o, object_written, s);
}

static struct slot *free_slot(struct migration *m)
{
	for (size_t i = 0; i < ARRAY_LEN(m->slots); i++)
		if (!m->slots[i].o)
			return &m->slots[i];
	return NULL;
}

static void rate_allows(void *arg)
{
	write_more(arg);
}

/* True if the rate allows a write now; else the timer brings us back. */
static bool take_turn(struct migration *m)
{
	int64_t now = loop_mono(m->loop), gap;
	if (!m->c.rate)
		return true;
	gap = NS_PER_S / (int64_t)m->c.rate;
	if (m->next_ns < now - 5 * NS_PER_MS)
		m->next_ns = now - 5 * NS_PER_MS; /* what was left unused may be caught up */
	if (m->next_ns > now) {
		m->timer = (struct timer){.fn = rate_allows, .arg = m};
		loop_arm(m->loop, &m->timer, m->next_ns - now);
		return false;
	}
	m->next_ns += gap;
	return true;
}

static void page_done(struct migration *m)
{
	tell(m, "writing", 0);
	m->tries = 0;
	if (m->next) {
		mark_page(m);
		return;
	}
	m->step = READ_AGAIN;
	read_crd(m);
}

static void write_more(struct migration *m)
{
	struct slot *s;
	if (m->step != WRITE)
		return;
	loop_disarm(m->loop, &m->timer);
	while (m->at < obj_len(m->page) && (s = free_slot(m)) && take_turn(m)) {
		s->m = m;
		s->tries = 0;
		s->o = obj_ref(obj_at(m->page, m->at++));
		m->busy++;
		send(s);
	}
	if (m->at >= obj_len(m->page) && !m->busy)
		page_done(m);
}

struct migration *migration_start(const struct migration_config *c)
{
	struct migration *m = xcalloc(1, sizeof(*m));
	m->c = *c;
	m->a = arena_new(BYTES_MAX);
	m->c.crd = arena_strdup(m->a, c->crd);
	m->c.to = arena_strdup(m->a, c->to);
	m->loop = client_loop(c->client);
	m->next_ns = loop_mono(m->loop);
	for (size_t i = 0; i < ARRAY_LEN(m->slots); i++)
		m->slots[i].m = m;
	read_crd(m);
	return m;
}
