#include "alm/live/page_writer.h"

#include "alm/base/clock.h"
#include "alm/obj/meta.h"
#include "catalog/gate/usage.h"

#define TRIES_MAX   10
#define BACKOFF_NS  (200 * NS_PER_MS)
#define BACKOFF_MAX (10 * NS_PER_S)
#define NAME_BYTES  ((size_t)4 << 10)

struct slot {
	struct page_writer *w;
	struct obj *o; /* owned; NULL: free */
	struct client_call *call;
	struct timer again;
	unsigned tries;
};

struct page_writer {
	struct page_writer_config c;
	struct loop *loop;
	const struct resource *r;
	struct obj *page; /* NULL: stopped */
	size_t at, busy;  /* of the page; slots in use */
	struct timer timer;
	int64_t next_ns; /* monotonic: when the rate allows the next write */
	struct slot slots[CLIENT_WRITES_MAX];
};

static void send(struct slot *s);
static void write_more(struct page_writer *w);

static void slot_clear(struct slot *s)
{
	if (s->call)
		client_cancel(s->w->c.client, s->call);
	loop_disarm(s->w->loop, &s->again);
	obj_unref(s->o);
	s->call = NULL;
	s->o = NULL;
}

void page_writer_stop(struct page_writer *w)
{
	for (size_t i = 0; i < ARRAY_LEN(w->slots); i++)
		slot_clear(&w->slots[i]);
	loop_disarm(w->loop, &w->timer);
	obj_unref(w->page);
	w->page = NULL;
	w->at = w->busy = 0;
}

void page_writer_free(struct page_writer *w)
{
	if (!w)
		return;
	page_writer_stop(w);
	xfree(w);
}

struct page_writer *page_writer_new(const struct page_writer_config *c)
{
	struct page_writer *w = xcalloc(1, sizeof(*w));
	w->c = *c;
	w->loop = client_loop(c->client);
	w->next_ns = loop_mono(w->loop);
	for (size_t i = 0; i < ARRAY_LEN(w->slots); i++)
		w->slots[i].w = w;
	return w;
}

bool page_writer_may_pass(const struct error *err)
{
	return error_retry(err->code) == RETRY_BACKOFF && err->code != E_FORBIDDEN &&
	       err->code != E_UNAUTHORIZED;
}

static void slot_done(struct slot *s)
{
	struct page_writer *w = s->w;
	slot_clear(s);
	w->busy--;
	write_more(w);
}

static void send_again(void *arg)
{
	send(arg);
}

static void slot_failed(struct slot *s, const struct client_reply *reply)
{
	struct page_writer *w = s->w;
	struct error err = *reply->err;
	int64_t wait = client_backoff(w->loop, s->tries, BACKOFF_NS, BACKOFF_MAX);
	if (page_writer_may_pass(reply->err) && ++s->tries < TRIES_MAX) {
		s->again = (struct timer){.fn = send_again, .arg = s};
		loop_arm(w->loop, &s->again,
			 reply->retry_after_ns > wait ? reply->retry_after_ns : wait);
		return;
	}
	CLEANUP(arena_freep) struct arena *a = arena_new(NAME_BYTES);
	error_wrap(&err, "%s", usage_object_name(s->o, a));
	page_writer_stop(w);
	w->c.done(w->c.arg, &err);
}

static void object_read(void *arg, const struct client_reply *reply)
{
	struct slot *s = arg;
	s->call = NULL;
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
	struct page_writer *w = s->w;
	s->call = NULL;
	if (!reply->err || reply->err->code == E_NOTFOUND)
		slot_done(s);
	else if (reply->err->code == E_CONFLICT && ++s->tries < TRIES_MAX)
		s->call = client_get(w->c.client, w->r, meta_namespace(s->o), meta_name(s->o), NULL,
				     object_read, s);
	else
		slot_failed(s, reply);
}

/* Unchanged but for its apiVersion: a server takes it for a no-op only if it is stored so already.
 */
static void send(struct slot *s)
{
	struct page_writer *w = s->w;
	struct client_options o = {.field_manager = w->c.manager};
	s->call = client_replace(w->c.client, w->r, meta_namespace(s->o), meta_name(s->o), s->o, &o,
				 object_written, s);
}

static struct slot *free_slot(struct page_writer *w)
{
	for (size_t i = 0; i < ARRAY_LEN(w->slots); i++)
		if (!w->slots[i].o)
			return &w->slots[i];
	return NULL;
}

static void rate_allows(void *arg)
{
	write_more(arg);
}

/* True if the rate allows a write now; else the timer brings us back. */
static bool take_turn(struct page_writer *w)
{
	int64_t now = loop_mono(w->loop), gap;
	if (!w->c.rate)
		return true;
	gap = NS_PER_S / (int64_t)w->c.rate;
	if (w->next_ns < now - 5 * NS_PER_MS)
		w->next_ns = now - 5 * NS_PER_MS; /* what was left unused may be caught up */
	if (w->next_ns > now) {
		w->timer = (struct timer){.fn = rate_allows, .arg = w};
		loop_arm(w->loop, &w->timer, w->next_ns - now);
		return false;
	}
	w->next_ns += gap;
	return true;
}

static void write_more(struct page_writer *w)
{
	struct slot *s;
	loop_disarm(w->loop, &w->timer);
	while (w->at < obj_len(w->page) && (s = free_slot(w)) && take_turn(w)) {
		s->tries = 0;
		s->o = obj_ref(obj_at(w->page, w->at++));
		w->busy++;
		send(s);
	}
	if (w->at >= obj_len(w->page) && !w->busy)
		w->c.done(w->c.arg, NULL);
}

void page_writer_start(struct page_writer *w, const struct resource *r, const struct obj *items)
{
	obj_unref(w->page);
	w->page = obj_ref(items);
	w->r = r;
	w->at = 0;
	write_more(w);
}
