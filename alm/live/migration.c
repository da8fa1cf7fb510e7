#include "alm/live/migration.h"

#include "alm/base/clock.h"
#include "alm/io/http.h"
#include "alm/live/migration_note.h"
#include "alm/live/migration_scan.h"
#include "alm/live/page_writer.h"
#include "alm/obj/meta.h"

#define BYTES_MAX ((size_t)16 << 20)
#define TRIES_MAX 10

enum step { READ_CRD, SETTLE, SCAN, BEGIN, WRITE, MARK, READ_AGAIN, NOTE, TRIM, OVER };

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
	size_t n_page;      /* objects being written */
	size_t total;       /* of the scan */
	size_t written;     /* before and by this run */
	int64_t since_ns;   /* the last change of spec.versions */
	int64_t generation; /* of the definition that the page tokens belong to */
	int64_t started_ns; /* the server's clock, of the first of all runs; 0: not begun */
	unsigned tries, restarts;
	struct migration_scan scan;
	struct migration_result result;
	struct error err;
	struct page_writer *writer;
};

static const struct resource crds = {.group = "apiextensions.k8s.io",
				     .version = "v1",
				     .plural = "customresourcedefinitions",
				     .kind = "CustomResourceDefinition"};

static void read_crd(struct migration *m);
static void list_page(struct migration *m);

void migration_free(struct migration *m)
{
	if (!m)
		return;
	page_writer_free(m->writer);
	if (m->call)
		client_cancel(m->c.client, m->call);
	loop_disarm(m->loop, &m->timer);
	loop_unpost(m->loop, &m->over);
	obj_unref(m->crd);
	xfree(m->next);
	xfree(m->after);
	arena_free(m->a);
	xfree(m);
}

static void tell(struct migration *m, const char *doing, int64_t wait_ns)
{
	struct migration_progress p = {.doing = doing,
				       .done = m->step == SCAN ? m->scan.n : m->written,
				       .total = m->step == SCAN ? m->scan.n : m->total,
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
	page_writer_stop(m->writer);
	loop_disarm(m->loop, &m->timer);
	m->over = (struct task){.fn = report, .arg = m};
	loop_post(m->loop, &m->over);
}

/* --- the definition --- */

static int check_crd(struct migration *m, struct error *err)
{
	const struct obj *version = migration_version(m->crd, m->c.to);
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

static void scan_from_start(void *arg)
{
	struct migration *m = arg;
	m->step = SCAN;
	migration_scan_begin(&m->scan, m->crd, &m->r, m->since_ns, m->a);
	list_page(m);
}

/* Goes on where a run before this one noted to be. */
static void resume(struct migration *m)
{
	struct migration_note n;
	m->generation = meta_generation(m->crd);
	if (!migration_note_read(m->crd, m->c.to, &n))
		return;
	m->next = n.next;
	m->written = n.written;
	m->started_ns = n.started_ns;
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
	m->result.was = migration_stored_versions(m->crd, m->a);
	m->since_ns = migration_versions_since(m->crd);
	resume(m);
	int64_t left = m->since_ns + m->c.settle_ns - loop_now(m->loop);
	m->step = SETTLE;
	if (left > m->c.settle_ns)
		left = m->c.settle_ns; /* the clocks differ */
	if (m->c.settle_ns && left > 0 && !m->c.dry_run) {
		tell(m, "waiting", left);
		m->timer = (struct timer){.fn = scan_from_start, .arg = m};
		loop_arm(m->loop, &m->timer, left);
		return;
	}
	scan_from_start(m);
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
	if (reply->err && (reply->err->code == E_CONFLICT || page_writer_may_pass(reply->err)) &&
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

static int64_t remaining(const struct migration *m)
{
	return m->total > m->written ? (int64_t)(m->total - m->written) : 0;
}

/* The page is done: where the next one starts, for whoever goes on from here. */
static void mark_page(struct migration *m)
{
	struct migration_note n = {.next = m->next,
				   .written = m->written,
				   .remaining = remaining(m),
				   .started_ns = m->started_ns,
				   .generation = m->generation};
	m->step = MARK;
	patch_crd(m, migration_note_page(m->c.to, &n), NULL);
}

/* The server's time of this note is that of the beginning; it differs from any before it. */
static void mark_begin(void *arg)
{
	struct migration *m = arg;
	m->step = BEGIN;
	patch_crd(m, migration_note_begin(m->c.to, loop_now(m->loop), remaining(m)), NULL);
}

/* The server's clock was set back behind what it has stamped: until it is there again, a write through
 * an older version cannot be told from those that are known. */
static void clock_is_behind(struct migration *m)
{
	struct error err;
	char is[CLOCK_TEXT_MAX], was[CLOCK_TEXT_MAX];
	clock_format(m->started_ns, CLOCK_SECONDS, is);
	clock_format(m->scan.newest_ns, CLOCK_SECONDS, was);
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
	m->started_ns = migration_noted_at(m->crd);
	if (!m->started_ns)
		m->started_ns = loop_now(m->loop) / NS_PER_S * NS_PER_S;
	if (m->scan.newest_ns >= m->started_ns && ++m->tries < TRIES_MAX) {
		m->timer = (struct timer){.fn = mark_begin, .arg = m};
		loop_arm(m->loop, &m->timer, NS_PER_S);
		return;
	}
	if (m->scan.newest_ns >= m->started_ns && !m->c.ignore_writers) {
		clock_is_behind(m);
		return;
	}
	if (m->scan.newest_ns >= m->started_ns)
		m->started_ns = m->scan.newest_ns + NS_PER_S;
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
	if (!obj_flag(migration_version(m->crd, m->c.to), "storage", false) ||
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

static void note_end(struct migration *m)
{
	m->step = NOTE;
	patch_crd(m, migration_note_end(m->crd, m->c.to, m->started_ns, m->c.by), NULL);
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

/* Refused while somebody brings the old form back. */
static void scanned(struct migration *m)
{
	struct migration_result *result = &m->result;
	migration_scan_end(&m->scan);
	m->total = result->n = m->scan.n;
	result->first = m->scan.first;
	result->writers = m->scan.writers;
	result->n_writers = m->scan.n_writers;
	result->forget = m->scan.forget;
	result->n_forget = m->scan.n_forget;
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
		migration_scan_object(&m->scan, obj_at(items, i));
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
	m->started_ns = 0;
	scan_from_start(m);
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
		if (m->step == SCAN)
			scan_from_start(m);
		else
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
	CLEANUP(obj_unrefp) struct obj *page = items ? obj_ref(items) : obj_list();
	m->n_page = obj_len(page);
	page_writer_start(m->writer, &m->r, page);
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

static void page_written(void *arg, const struct error *err)
{
	struct migration *m = arg;
	if (err) {
		end(m, err);
		return;
	}
	m->written += m->n_page;
	tell(m, "writing", 0);
	m->tries = 0;
	if (m->next) {
		mark_page(m);
		return;
	}
	m->step = READ_AGAIN;
	read_crd(m);
}

struct migration *migration_start(const struct migration_config *c)
{
	struct migration *m = xcalloc(1, sizeof(*m));
	m->c = *c;
	m->a = arena_new(BYTES_MAX);
	m->c.crd = arena_strdup(m->a, c->crd);
	m->c.to = arena_strdup(m->a, c->to);
	m->c.by = c->by ? arena_strdup(m->a, c->by) : NULL;
	m->loop = client_loop(c->client);
	m->writer = page_writer_new(&(struct page_writer_config){.client = c->client,
								 .manager = MIGRATION_MANAGER,
								 .rate = c->rate,
								 .done = page_written,
								 .arg = m});
	read_crd(m);
	return m;
}
