#include "alm/audit/verify_lanes.h"

#include <string.h>

#include "alm/audit/log.h"
#include "alm/base/clock.h"
#include "alm/io/lane.h"

#define FLUSH_BYTES ((size_t)128 << 10)
#define BUSY_NS     (5 * NS_PER_S)

/* ---- a lane: one of n processes, which have their turns at the pages of the log ---- */

struct order {
	bool of_file; /* the whole of it, instead of rows */
	int64_t after, to;
	int64_t k, n; /* pages k, k + n, k + 2n ...; the path follows */
};

/* A row on its way; uid_bytes follow. */
struct wire {
	struct row_digest digest; /* but for the uid */
	uint64_t uid_bytes;
};

enum page { PAGE_MORE = 'm', PAGE_TURN = 't' }; /* its first byte: does the turn go on? */

static int64_t page_end(int64_t after, int64_t to, int64_t page)
{
	int64_t from = after < 0 ? 0 : after;
	int64_t left = (to - from) / VERIFY_ROWS_OF_A_LANE;
	return page >= left ? to : from + (page + 1) * VERIFY_ROWS_OF_A_LANE;
}

static bool send_page(struct lane_parent *p, struct strbuf *page, enum page kind)
{
	page->buf[0] = (char)kind;
	bool sent = lane_page(p, strbuf_str(page));
	strbuf_truncate(page, 1);
	return sent;
}

static int lane_turn(struct lane_parent *p, struct db *d, int64_t after, int64_t to,
		     struct strbuf *scratch, struct strbuf *page, struct error *err)
{
	struct stmt *s;
	bool sent = true;
	int r = log_range(d, after, to, &s, err);
	while (r >= 0 && sent && (r = stmt_step(s, err)) > 0) {
		struct wire w = {.uid_bytes = 0};
		row_digest_of(s, scratch, &w.digest);
		w.uid_bytes = w.digest.uid.len;
		strbuf_add(page, &w, sizeof(w));
		strbuf_addstr(page, w.digest.uid);
		if (page->len >= FLUSH_BYTES)
			sent = send_page(p, page, PAGE_MORE);
	}
	if (r >= 0)
		stmt_reset(s);
	if (r >= 0 && !(sent && send_page(p, page, PAGE_TURN)))
		return error_set(err, E_IO, "nobody reads entries up to %lld", (long long)to);
	return r;
}

static int lane_rows(struct lane_parent *p, struct db *d, const struct order *o, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf scratch = STRBUF_INIT(RECORD_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(LANE_PAGE_BYTES);
	strbuf_addc(&page, PAGE_MORE);
	int r = 0;
	for (int64_t k = o->k; r >= 0; k += o->n) {
		int64_t after = k ? page_end(o->after, o->to, k - 1) : o->after;
		if (k && after >= o->to)
			break;
		r = lane_turn(p, d, after, page_end(o->after, o->to, k), &scratch, &page, err);
	}
	return r;
}

/* A page is the text of a finding. */
static int lane_file(struct lane_parent *p, struct db *d, struct error *err)
{
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	int r = verify_file(d, rep, err);
	for (size_t i = 0; i < rep->n_findings && r >= 0; i++)
		(void)lane_page(p, str_of(rep->findings[i].text));
	xfree(rep);
	return r;
}

/* lane_fn */
static int lane_main(struct lane_parent *p, struct str bytes, struct error *err)
{
	struct order o;
	memcpy(&o, bytes.ptr, sizeof(o));
	CLEANUP(xfreep) char *path = str_dup(str_skip(bytes, sizeof(o)));
	CLEANUP(db_closep) struct db *d = NULL;
	struct db_config c = {
		.path = path, .read_only = true, .busy_ns = BUSY_NS, .layout = DB_LAYOUT};
	int r = db_open(&c, &d, err);
	if (r >= 0)
		r = o.of_file ? lane_file(p, d, err) : lane_rows(p, d, &o, err);
	return r < 0 ? r : 0;
}

/* ---- who reads them ---- */

struct verify_lanes {
	size_t n;
	struct lane *lanes[VERIFY_LANES_MAX];
	struct lane *file; /* NULL: there could be no further process */
	bool used, has_file;
	int64_t after, to;
	int64_t at; /* the page whose turn it is */
	struct strbuf page;
	size_t read; /* bytes of the page; its first one is enum page */
};

struct verify_lanes *verify_lanes_new(size_t n)
{
	struct error err = ERROR_INIT;
	struct verify_lanes *l = xcalloc(1, sizeof(*l));
	strbuf_init(&l->page, LANE_PAGE_BYTES);
	n = n ? n : lane_cores();
	while (l->n < n && l->n < VERIFY_LANES_MAX &&
	       lane_new(lane_main, &l->lanes[l->n], &err) >= 0)
		l->n++;
	if (l->n > 1) {
		(void)lane_new(lane_main, &l->file, &err);
		return l;
	}
	verify_lanes_free(l);
	return NULL;
}

void verify_lanes_free(struct verify_lanes *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		lane_free(l->lanes[i]);
	lane_free(l->file);
	strbuf_release(&l->page);
	xfree(l);
}

bool verify_lanes_ready(const struct verify_lanes *l)
{
	return l && !l->used;
}

static int give(struct lane *l, const struct order *o, const char *path, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_add(&b, o, sizeof(*o));
	strbuf_adds(&b, path);
	int r = strbuf_check(&b, "the path of the log", err);
	return r < 0 ? r : lane_order(l, strbuf_str(&b), err);
}

int verify_lanes_begin(struct verify_lanes *l, const char *path, int64_t after, int64_t to,
		       bool with_file, struct error *err)
{
	struct order o = {.of_file = true, .after = after, .to = to, .n = (int64_t)l->n};
	l->used = true;
	l->has_file = with_file && l->file;
	l->after = after;
	l->to = to;
	int r = l->has_file ? give(l->file, &o, path, err) : 0;
	o.of_file = false;
	for (; o.k < o.n && r >= 0; o.k++)
		r = give(l->lanes[o.k], &o, path, err);
	return r;
}

/* 1: a page with rows is there. */
static int next_page(struct verify_lanes *l, struct error *err)
{
	while (l->read >= l->page.len) {
		if (l->page.len && l->page.buf[0] == PAGE_TURN &&
		    page_end(l->after, l->to, l->at++) >= l->to)
			return 0;
		int r = lane_read(l->lanes[(size_t)l->at % l->n], &l->page, err);
		if (r < 0)
			return r;
		l->read = 1;
		if (r == 0 || !l->page.len)
			return error_set(err, E_INTERNAL,
					 "a process that reads the log stopped before "
					 "entry %lld",
					 (long long)l->to);
	}
	return 1;
}

int verify_lanes_next(struct verify_lanes *l, struct row_digest *ret, struct error *err)
{
	struct wire w = {0};
	int r = next_page(l, err);
	if (r <= 0)
		return r;
	struct str left = str_skip(strbuf_str(&l->page), l->read);
	if (left.len >= sizeof(w))
		memcpy(&w, left.ptr, sizeof(w));
	if (left.len < sizeof(w) || left.len - sizeof(w) < w.uid_bytes)
		return error_set(err, E_INTERNAL,
				 "half an entry from a process that reads the log");
	l->read += sizeof(w);
	*ret = w.digest;
	ret->uid = str_sub(str_skip(strbuf_str(&l->page), l->read), 0, w.uid_bytes);
	l->read += w.uid_bytes;
	return 1;
}

int verify_lanes_file(struct verify_lanes *l, struct verify_report *rep, struct error *err)
{
	int r;
	if (!l || !l->has_file)
		return 0;
	l->has_file = false; /* it tells once */
	while ((r = lane_read(l->file, &l->page, err)) > 0)
		verify_add(rep, 0, 0, "%s", l->page.buf);
	return r < 0 ? r : 1;
}
