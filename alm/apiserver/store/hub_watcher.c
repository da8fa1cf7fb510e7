/* hub_watcher: a watch that is there: what is sent to it, and its end; see hub.h. */
#include "alm/apiserver/store/hub_internal.h"

#include <assert.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/store/hub_line.h"

void watcher_take(struct watcher *w, struct request *r, const struct list_options *l)
{
	w->request = r;
	w->options = *l;
	w->exact_name = field_selector_exact(l->fields, "metadata.name");
}

/* The query is read once more, as selectors point into the old memory. A revision that has been reached since is kept. */
static struct request *kept(const struct watcher *w, struct arena *a, struct list_options *ret)
{
	struct error err = ERROR_INIT;
	struct request *r = request_kept(w->request, a);
	if (options_list(r, ret, &err) < 0)
		return NULL; /* it was right before */
	ret->rv_stated = w->options.rv_stated;
	ret->rv = w->options.rv;
	return r;
}

void watcher_rest(struct watcher *w)
{
	struct exchange *x = w->request->exchange;
	struct list_options l;
	if (!exchange_keeps(x) || arena_bytes(x->arena) <= w->kept_bytes)
		return;
	CLEANUP(arena_freep) struct arena *tried = arena_new(ARENA_REQUEST_BYTES_MAX);
	if (!kept(w, tried, &l))
		return;
	struct arena *a = arena_sized(ARENA_REQUEST_BYTES_MAX, arena_bytes(tried));
	struct request *r = kept(w, a, &l);
	assert(r);
	watcher_take(w, r, &l);
	exchange_keep(x, a);
	w->kept_bytes = 2 * arena_bytes(a);
}

void watcher_unlink(struct watcher *w)
{
	struct watcher **p = &w->resource->watchers;
	while (*p != w)
		p = &(*p)->next;
	*p = w->next;
	w->hub->n_watchers--;
	xfree(w);
}

void watcher_drop(struct watcher *w)
{
	if (w->dead)
		return;
	w->dead = true;
	loop_disarm(w->hub->server->loop, &w->end);
	loop_disarm(w->hub->server->loop, &w->bookmark);
	hub_wait_no_more(w);
	/* One that has not begun is still known to the store's commit, and goes in begin(). */
	if (!w->hub->publishing && w->begun)
		watcher_unlink(w);
}

void watcher_finish(struct watcher *w, bool clean)
{
	struct exchange *x = w->request->exchange;
	x->on_close = NULL;
	x->on_writable = NULL;
	watcher_drop(w);
	if (clean)
		exchange_end(x);
	else
		exchange_cut(x);
}

void hub_sweep(struct store_table *res)
{
	for (struct watcher *w = res->watchers, *next; w; w = next) {
		next = w->next;
		if (w->dead && w->begun)
			watcher_unlink(w);
	}
}

void hub_send(struct watcher *w, struct str line)
{
	if (w->dead)
		return;
	hub_spend(w->hub, line.len + HUB_SEND_BYTES);
	if (exchange_write(w->request->exchange, line) > HUB_QUEUE_BYTES_MAX && !w->dead)
		watcher_finish(w, false);
}

bool hub_takes_columns(struct watcher *w)
{
	bool columns = w->request->accept.as == AS_TABLE && !w->columns_sent;
	w->columns_sent = true;
	return columns;
}

void hub_send_expired(struct watcher *w, const char *why)
{
	struct error err = ERROR_INIT;
	struct request *r = w->request;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	fail_code(r, E_EXPIRED, &err, "%s", why);
	strbuf_adds(&b, "{\"type\":\"ERROR\",\"object\":");
	status_print(&r->failure, &err, &b);
	strbuf_adds(&b, "}\n");
	hub_line_finish(r, &b);
	exchange_write(r->exchange, strbuf_str(&b));
	watcher_finish(w, true);
}

static bool watches(const struct hub *h, const struct kind *k, bool selective)
{
	for (const struct watcher *w = server_resource(h->server, k)->watchers; w; w = w->next)
		if (!w->dead && w->request->kind == k && (!selective || w->options.selective))
			return true;
	return false;
}

bool hub_watches(const struct hub *h, const struct kind *k)
{
	return watches(h, k, false);
}

bool hub_selects(const struct hub *h, const struct kind *k)
{
	return watches(h, k, true);
}
