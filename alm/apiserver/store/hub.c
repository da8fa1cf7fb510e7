/* hub: see hub.h. It must not decide what may be watched; registry.c has asked already. */
#include "alm/apiserver/store/hub_internal.h"

#include <string.h>

#include "alm/apiserver/converting.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/kinds/virtual.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/waiting.h"
#include "alm/apiserver/wire/negotiate.h"

#define BOOKMARK_BEFORE_END (2 * NS_PER_S)
#define FIRST_BYTES_MAX     ((size_t)64 << 20) /* soft, as that of an exchange */

static void watcher_gone(void *arg)
{
	watcher_drop(arg);
}

/* Bookmarks and the end. */

static void send_bookmark(struct watcher *w, int64_t rv, bool initial_end)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	hub_line_bookmark(w->request, rv, initial_end, hub_takes_columns(w), &b);
	hub_send(w, strbuf_str(&b));
}

/* Up to here it has seen everything. */
static int64_t present_rv(const struct watcher *w)
{
	const struct apiserver *server = w->hub->server;
	return w->request->kind->flags & KIND_VIRTUAL ? virtual_rv(server->virtuals)
						      : store_committed_rv(server->store);
}

static void bookmark_due(void *arg)
{
	struct watcher *w = arg;
	struct loop *l = w->hub->server->loop;
	int64_t left = w->end_mono - loop_mono(l);
	loop_arm(l, &w->bookmark,
		 left > HUB_BOOKMARK_NS + BOOKMARK_BEFORE_END ? HUB_BOOKMARK_NS
		 : left > 2 * BOOKMARK_BEFORE_END             ? left - BOOKMARK_BEFORE_END
							      : left + NS_PER_S);
	int64_t rv = present_rv(w);
	/* A watch from a revision that is not there yet has seen nothing. */
	if (!w->behind && rv >= w->floor)
		send_bookmark(w, rv, false);
}

static void end_due(void *arg)
{
	watcher_finish(arg, true);
}

/* Ends the watches of a kind; NULL: of all kinds. One that has not begun looks for its kind then.
 */
static void end_watches(struct hub *h, struct store_table *res, const struct kind *k)
{
	h->publishing = true;
	for (struct watcher *w = res->watchers; w; w = w->next)
		if (!w->dead && w->begun && (!k || w->request->kind == k))
			watcher_finish(w, true);
	h->publishing = false;
	hub_sweep(res);
}

static void kind_goes(void *arg, const struct kind *k)
{
	struct hub *h = arg;
	end_watches(h, server_resource(h->server, k), k);
}

/* The beginning. */

/* The oldest revision that a watch may begin behind. */
static int64_t oldest_rv(const struct watcher *w)
{
	const struct apiserver *server = w->hub->server;
	return w->request->kind->flags & KIND_VIRTUAL ? virtual_first(server->virtuals) - 1
						      : store_window_start(server->store);
}

static bool is_too_old(const struct watcher *w)
{
	bool is_virtual = w->request->kind->flags & KIND_VIRTUAL;
	if (is_virtual)
		return w->options.rv_stated && w->options.rv > 0 && !w->options.initial_events &&
		       w->options.rv < oldest_rv(w);
	return w->first_sent && w->floor < oldest_rv(w);
}

static void send_too_old(struct watcher *w)
{
	hub_send_expired(w, arena_fmt(w->request->arena, "too old resource version: %lld (%lld)",
				      (long long)w->options.rv, (long long)oldest_rv(w)));
}

/* Every object there is, as far as it matches. */
static void send_first_item(struct watcher *w, struct text *t)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX * 4);
	if (!list_matches(w->request, w->first.filter, t, NULL))
		return;
	hub_line_print(w->request, hub_added, NULL, t, hub_takes_columns(w), &b);
	hub_send(w, strbuf_str(&b));
}

static bool has_room(struct watcher *w)
{
	return !w->dead && exchange_write(w->request->exchange, STR("")) < SERVER_QUEUE_HIGH;
}

/* These send up to LIST_WORK_BYTES of what is due: true if more is. */
static bool send_items(struct watcher *w)
{
	size_t read = 0;
	while (w->next_item < w->first.n && read < LIST_WORK_BYTES && has_room(w)) {
		struct text *t = w->first.items[w->next_item].text;
		read += t->len;
		hub_spend(w->hub, t->len);
		send_first_item(w, t);
		listing_drop(&w->first, w->next_item++);
	}
	if (w->dead || w->next_item < w->first.n)
		return true;
	w->first_sent = true;
	listing_release(&w->first);
	exchange_discharge(w->request->exchange, QUOTA_ANSWER_BYTES);
	if (w->options.initial_events && w->options.bookmarks && !w->first_marked)
		send_bookmark(w, w->floor, true);
	w->first_marked = true;
	return false;
}

static bool begins_with_all(const struct watcher *w)
{
	bool past = w->options.rv_stated && w->options.rv > 0 && !w->options.initial_events;
	return !past || w->request->kind->flags & KIND_VIRTUAL;
}

static void as_first(struct list_options *l)
{
	l->rv = 0;
	l->match = MATCH_NONE;
	l->limit = 0;
	l->continue_token = NULL;
}

/* What there is; of the log what follows rv, when that is stated. */
static int select_items(struct watcher *w, struct error *err)
{
	struct request *r = w->request;
	bool is_virtual = r->kind->flags & KIND_VIRTUAL;
	struct list_options *l = arena_memdup(r->arena, &w->options, sizeof(*l));
	as_first(l);
	if (is_virtual) /* those page by revision */
		l->rv = w->options.rv;
	if (list_candidates(r, l, &w->first, err) < 0 || list_charge(r, &w->first, err) < 0)
		return -err->code;
	w->floor = w->first.rv;
	w->next_item = 0;
	w->first_sent = false;
	return 0;
}

/* Entries of the log that came while those before them were sent. */
static bool select_new_rows(struct watcher *w)
{
	struct error err = ERROR_INIT;
	if (virtual_rv(w->hub->server->virtuals) <= w->floor)
		return false;
	w->options.rv_stated = true;
	w->options.rv = w->floor;
	if (select_items(w, &err) == 0)
		return true;
	watcher_finish(w, false);
	return false;
}

static bool send_changes(struct watcher *w)
{
	struct store *s = w->hub->server->store;
	const struct change *c = NULL;
	size_t read = 0;
	if (w->request->kind->flags & KIND_VIRTUAL)
		return select_new_rows(w);
	if (w->floor < store_window_start(s)) {
		watcher_finish(w, false); /* it took so long that changes are forgotten */
		return false;
	}
	for (size_t i = store_change_after(s, w->floor); (c = store_change_at(s, i)) != NULL; i++) {
		if (c->resource != w->resource)
			continue;
		if (read >= LIST_WORK_BYTES || !has_room(w))
			break;
		read += c->after ? c->after->len : 0;
		hub_begin_change(w->hub,
				 c->rv); /* most who wait for their turn wait for the same */
		hub_send_change(w, c);
	}
	return c != NULL;
}

static void on_writable(void *arg);

/* Sends what the client has room for; what is left is for another turn. It may end w. */
static void catch_up(struct watcher *w)
{
	struct hub *h = w->hub;
	h->publishing = true; /* keeps w until the end of this function */
	bool more = !w->first_sent && send_items(w);
	if (!more && !w->dead)
		more = send_changes(w);
	h->publishing = false;
	if (w->dead) {
		watcher_unlink(w);
		return;
	}
	w->behind = more;
	if (!more)
		watcher_rest(w);
	struct exchange *x = w->request->exchange;
	x->on_writable = more ? on_writable : NULL;
	x->on_writable_arg = w;
	if (more && has_room(w))
		hub_wait(w);
}

static void on_writable(void *arg)
{
	struct watcher *w = arg;
	struct hub *h = w->hub;
	catch_up(w);
	hub_end_change(h);
}

static void turn(void *arg)
{
	struct hub *h = arg;
	struct watcher *w;
	hub_turn_begin(h);
	while ((w = hub_turn_next(h)) != NULL)
		catch_up(w);
	hub_end_change(h);
}

static int64_t duration_of(struct watcher *w)
{
	if (w->options.timeout_s > 0 && w->options.timeout_s < 86400)
		return w->options.timeout_s * NS_PER_S;
	struct loop *l = w->hub->server->loop;
	return HUB_WATCH_MIN_NS + (int64_t)loop_random_below(l, (uint64_t)HUB_WATCH_MIN_NS);
}

static void arm(struct watcher *w)
{
	struct loop *l = w->hub->server->loop;
	int64_t ns = duration_of(w);
	w->end.fn = end_due;
	w->end.arg = w;
	w->end_mono = loop_mono(l) + ns;
	loop_arm(l, &w->end, ns);
	if (!w->options.bookmarks || ns < 2 * BOOKMARK_BEFORE_END)
		return;
	w->bookmark.fn = bookmark_due;
	w->bookmark.arg = w;
	loop_arm(l, &w->bookmark,
		 ns > HUB_BOOKMARK_NS ? HUB_BOOKMARK_NS : ns - BOOKMARK_BEFORE_END);
}

static void begin_stream(struct watcher *w)
{
	bool binary = w->request->accept.form == FORM_PROTOBUF;
	request_begin(w->request, 200,
		      binary ? NEGOTIATE_PROTOBUF ";stream=watch" : "application/json");
	arm(w);
	if (!begins_with_all(w)) {
		w->first_sent = true;
		w->floor = w->options.rv;
	}
	if (is_too_old(w)) {
		send_too_old(w);
		return;
	}
	w->behind = true;
	if (hub_is_spent(w->hub))
		hub_wait(w);
	else
		on_writable(w);
}

static void free_arena(void *arg)
{
	arena_free(arg);
}

/* What it begins with, as its version shows it; in a memory of its own, which is not held as long as the watch. */
static int convert_first(struct watcher *w, struct error *err)
{
	struct request *r = w->request, scratch = *r;
	struct request_told untold = *r->told;
	struct list_options l = w->options;
	struct listing first;
	struct arena *a = arena_new(FIRST_BYTES_MAX);
	scratch.arena = a;
	scratch.told = &untold;
	as_first(&l);
	int rc = list_candidates(&scratch, &l, &first, err);
	r->waiting = scratch.waiting;
	r->fixed = scratch.fixed;
	if (rc < 0 && !waiting_is_wanted(r)) {
		r->failure = scratch.failure; /* which is told from there */
		arena_defer(r->arena, free_arena, a);
	} else {
		arena_free(a);
	}
	return rc;
}

static int find_first(struct watcher *w, struct error *err)
{
	struct request *r = w->request;
	if (!begins_with_all(w))
		return 0;
	if (converting_is_needed(r->kind) && convert_first(w, err) < 0)
		return -err->code;
	exchange_discharge(r->exchange, QUOTA_ANSWER_BYTES);
	int rc = select_items(w, err);
	if (rc >= 0 && converting_is_needed(r->kind))
		converting_forget(r);
	return rc;
}

static void begin(void *arg, const struct error *failed)
{
	struct watcher *w = arg;
	struct request *r = w->request;
	struct error err = failed ? *failed : ERROR_INIT;
	w->begun = true;
	if (w->dead) {
		watcher_unlink(w);
		return;
	}
	/* The commit may have changed the definition, and with it the kind. */
	bool is_there = request_find_kind(r);
	if (!failed && is_there && find_first(w, &err) == 0) {
		begin_stream(w);
		return;
	}
	r->exchange->on_close = NULL;
	watcher_drop(w);
	if (!failed && is_there && waiting_park(r))
		return; /* it is handled again, and begins then */
	if (err.code)
		request_reply_error(r, &err);
	else
		request_reply_no_page(r);
}

int hub_watch(struct hub *h, struct request *r, struct error *err)
{
	struct list_options l;
	if (options_list(r, &l, err) < 0)
		return -err->code;
	if (h->n_watchers >= HUB_WATCHERS_MAX)
		return fail_code(r, E_TOOMANY, err, "too many watches: %d", HUB_WATCHERS_MAX);
	exchange_discharge(r->exchange, QUOTA_WATCHES); /* of a former turn */
	if (exchange_charge(r->exchange, QUOTA_WATCHES, 1) != QUOTA_OK)
		return fail_code(r, E_TOOMANY, err,
				 "too many watches of this user, please try again later");
	struct watcher *w = xcalloc(1, sizeof(*w));
	w->hub = h;
	watcher_take(w, r, &l);
	w->resource = server_resource(h->server, r->kind);
	w->next = w->resource->watchers;
	w->resource->watchers = w;
	h->n_watchers++;
	r->exchange->on_close = watcher_gone;
	r->exchange->on_close_arg = w;
	store_after_commit(h->server->store, begin, w);
	return 0;
}

struct hub *hub_new(struct apiserver *s)
{
	struct hub *h = xcalloc(1, sizeof(*h));
	h->server = s;
	TAILQ_INIT(&h->late);
	h->turn = (struct task){.fn = turn, .arg = h};
	store_on_change(s->store, hub_show_change, h);
	virtual_on_change(s->virtuals, hub_show_change, h);
	kinds_on_remove(s->kinds, kind_goes, h);
	return h;
}

void hub_free(struct hub *h)
{
	if (!h)
		return;
	kinds_on_remove(h->server->kinds, NULL, NULL);
	virtual_on_change(h->server->virtuals, NULL, NULL);
	for (size_t i = 0; i < store_n_resources(h->server->store); i++)
		end_watches(h, store_resource_at(h->server->store, i), NULL);
	loop_unpost(h->server->loop, &h->turn);
	xfree(h);
}

size_t hub_n_watchers(const struct hub *h)
{
	return h->n_watchers;
}
