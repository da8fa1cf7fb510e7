/* waiting: see waiting.h. */
#include "alm/apiserver/waiting.h"

#include <string.h>
#include <sys/queue.h>

#include "alm/apiserver/admission/review.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/object_meta.h"
#include "alm/apiserver/status.h"
#include "alm/base/hash.h"
#include "alm/base/map.h"

#define PASS_BYTES_MAX    ((size_t)64 << 20) /* soft, as that of an exchange */
#define ANSWERS_BYTES_MAX ((size_t)64 << 20) /* of one request */

enum ask_state { ASK_NEW, ASK_SENT, ASK_ANSWERED };

/* One question on its way. */
struct ask {
	TAILQ_ENTRY(ask) link; /* of those that are not answered */
	struct waiting *waiting;
	enum ask_state state;
	char uid[STORE_UID_TEXT];
	struct arena *arena; /* of the target */
	struct hook_target target;
	int64_t timeout_ns;
	struct strbuf body; /* until it was sent */
	struct hook_line *line;
	struct call *call;
	struct strbuf text;
	struct waiting_answer answer;
};

struct waiting {
	TAILQ_ENTRY(waiting) link;
	struct waitings *all;
	struct request *request; /* as it was last handled */
	struct arena *pass;      /* of that; NULL: it is in the memory of the exchange */
	struct map *asks;        /* digest of the question -> struct ask */
	struct map *counts;      /* what it is about -> how often it was asked */
	TAILQ_HEAD(, ask) open;
	size_t n_open, n_sent;
	size_t bytes; /* of questions that were not sent */
	size_t answers_bytes;
	bool wanted; /* the pass ended for want of an answer */
	bool parked;
	int64_t ends_ns;
	struct timer deadline; /* both while it is parked */
	struct task go;
};

struct waitings {
	struct apiserver *server;
	void (*handle)(struct request *r);
	TAILQ_HEAD(, waiting) list;
};

/* --- life --- */

static void end_call(struct ask *q)
{
	if (q->call)
		transport_cancel(hook_line_transport(q->line), q->call);
	q->call = NULL;
	if (q->line)
		hook_line_put(q->line);
	q->line = NULL;
}

static void ask_free(void *p)
{
	struct ask *q = p;
	end_call(q);
	strbuf_release(&q->body);
	strbuf_release(&q->text);
	arena_free(q->arena);
	xfree(q);
}

/* With the memory of the exchange, and so from within an answer. */
static void waiting_free(void *p)
{
	struct waiting *w = p;
	struct loop *l = w->all ? w->all->server->loop : NULL;
	if (l) {
		loop_disarm(l, &w->deadline);
		loop_unpost(l, &w->go);
		TAILQ_REMOVE(&w->all->list, w, link);
	}
	map_free(w->asks);
	map_free(w->counts);
	arena_free(w->pass);
	xfree(w);
}

/* The server goes first: the exchange and what belongs to it are left. */
static void detach(struct waiting *w)
{
	struct ask *q;
	TAILQ_FOREACH (q, &w->open, link)
		end_call(q);
	loop_disarm(w->all->server->loop, &w->deadline);
	loop_unpost(w->all->server->loop, &w->go);
	TAILQ_REMOVE(&w->all->list, w, link);
	w->all = NULL;
}

static void gone(void *arg)
{
	detach(arg);
}

struct waitings *waitings_new(struct apiserver *s, void (*handle)(struct request *r))
{
	struct waitings *w = xcalloc(1, sizeof(*w));
	w->server = s;
	w->handle = handle;
	TAILQ_INIT(&w->list);
	return w;
}

void waitings_free(struct waitings *w)
{
	for (struct waiting *one = w ? TAILQ_FIRST(&w->list) : NULL, *next; one; one = next) {
		next = TAILQ_NEXT(one, link);
		if (one->parked)
			one->request->exchange->on_close = NULL;
		detach(one);
	}
	xfree(w);
}

/* --- handled again --- */

static void again(void *arg)
{
	struct waiting *w = arg;
	struct request *old = w->request;
	struct arena *last = w->pass;
	struct exchange *x = old->exchange;
	x->on_close = NULL;
	w->parked = false;
	loop_disarm(w->all->server->loop, &w->deadline);
	w->pass = arena_new(PASS_BYTES_MAX);
	w->wanted = false;
	w->request = request_again(old, w->pass);
	arena_free(last);
	/* After an answer w is gone, too. */
	w->all->handle(w->request);
}

static void on_deadline(void *arg)
{
	struct waiting *w = arg;
	struct request *r = w->request;
	struct error err = ERROR_INIT;
	struct ask *q;
	TAILQ_FOREACH (q, &w->open, link)
		end_call(q);
	loop_unpost(w->all->server->loop, &w->go);
	w->parked = false;
	(void)request_find_kind(r); /* its definition may have changed meanwhile */
	fail_code(r, E_TIMEOUT, &err,
		  "Timeout: request did not complete within requested timeout - context deadline "
		  "exceeded");
	r->failure.details = true;
	request_reply_error(r, &err);
}

/* --- calls --- */

static void count(struct apiserver *s, bool failed)
{
	metric_add(metrics_counter(s->metrics, "alm_webhook_calls_total",
				   "Webhooks of admission and conversion that were asked: "
				   "answered, or failed to be called.",
				   failed ? "outcome=\"failed\"" : "outcome=\"answered\""),
		   1);
}

static void answered(struct ask *q, const char *failed)
{
	struct waiting *w = q->waiting;
	count(w->all->server, failed);
	q->state = ASK_ANSWERED;
	q->call = NULL;
	end_call(q);
	strbuf_release(&q->body);
	w->answers_bytes += q->text.len;
	if (w->answers_bytes > ANSWERS_BYTES_MAX)
		failed = "the answers are too large together";
	q->answer.uid = q->uid;
	q->answer.failed = failed ? arena_strdup(q->arena, failed) : NULL;
	q->answer.body = strbuf_str(&q->text);
	TAILQ_REMOVE(&w->open, q, link);
	w->n_open--;
	w->n_sent--;
	loop_post(w->all->server->loop, &w->go);
}

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct ask *q = arg;
	(void)h;
	q->answer.status = status;
}

static void on_data(void *arg, struct str chunk)
{
	struct ask *q = arg;
	strbuf_addstr(&q->text, chunk);
}

static void on_done(void *arg, const struct error *err)
{
	struct ask *q = arg;
	const char *why = err && err->code == E_TIMEOUT ? "context deadline exceeded"
			  : err                         ? err->msg
							: NULL;
	answered(q, why ? arena_fmt(q->arena, "Post \"%s\": %s", q->target.shown, why) : NULL);
}

static void send_one(struct ask *q)
{
	static const struct transport_events events = {on_head, on_data, on_done};
	struct waiting *w = q->waiting;
	struct error err = ERROR_INIT;
	q->state = ASK_SENT;
	w->n_sent++;
	w->bytes -= q->body.len;
	if (hook_line_get(w->all->server->hook_lines, &q->target, &q->line, &err) < 0) {
		on_done(q, &err);
		return;
	}
	struct transport_request t = {.method = "POST",
				      .target = q->target.path,
				      .body = strbuf_str(&q->body),
				      .timeout_ns = q->timeout_ns,
				      .body_max = HTTP_BODY_BYTES_MAX};
	http_header_add(&t.headers, "Content-Type", "application/json");
	http_header_add(&t.headers, "Accept", "application/json, */*");
	q->call = transport_start(hook_line_transport(q->line), &t, &events, q);
	strbuf_release(&q->body);
}

static void go(void *arg)
{
	struct waiting *w = arg;
	struct ask *next;
	if (w->n_open == 0) {
		again(w);
		return;
	}
	for (struct ask *q = TAILQ_FIRST(&w->open); q && w->n_sent < WAITING_CALLS; q = next) {
		next = TAILQ_NEXT(q, link); /* one that cannot be sent is answered at once */
		if (q->state == ASK_NEW)
			send_one(q);
	}
}

/* --- asking --- */

static struct waiting *waiting_of(struct request *r)
{
	struct waitings *all = r->server->waitings;
	if (r->waiting)
		return r->waiting;
	struct waiting *w = xcalloc(1, sizeof(*w));
	w->all = all;
	w->asks = map_new(ask_free);
	w->counts = map_new(NULL);
	w->deadline = (struct timer){.fn = on_deadline, .arg = w};
	w->go = (struct task){.fn = go, .arg = w};
	TAILQ_INIT(&w->open);
	TAILQ_INSERT_TAIL(&all->list, w, link);
	bool sooner = r->timeout_ns > 0 && r->timeout_ns < WAITING_NS;
	w->ends_ns = loop_mono(r->server->loop) + (sooner ? r->timeout_ns : WAITING_NS);
	arena_defer(r->exchange->arena, waiting_free, w);
	r->waiting = w;
	return w;
}

static void key_of(const struct question *q, char out[SHA256_HEX])
{
	CLEANUP(sha256_freep) struct sha256 *h = sha256_new();
	unsigned char digest[SHA256_BYTES];
	const char *const parts[] = {q->about, q->target->base_url, q->target->path, q->version};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		sha256_add(h, parts[i], strlen(parts[i]) + 1);
	sha256_add(h, q->request.ptr, q->request.len);
	sha256_final(h, digest);
	hex_encode(digest, sizeof(digest), out);
}

static void keep_target(struct ask *q, const struct hook_target *t)
{
	struct arena *a = q->arena = arena_new(HTTP_BODY_BYTES_MAX);
	q->target = (struct hook_target){
		.base_url = arena_strdup(a, t->base_url),
		.server_name = t->server_name ? arena_strdup(a, t->server_name) : NULL,
		.path = arena_strdup(a, t->path),
		.shown = arena_strdup(a, t->shown),
		.ca_pem = t->ca_pem ? arena_strdup(a, t->ca_pem) : NULL,
	};
}

static void ask_new(struct waiting *w, const char *key, const struct question *q)
{
	struct ask *n = xcalloc(1, sizeof(*n));
	n->waiting = w;
	n->timeout_ns = q->timeout_ns;
	object_meta_uid(w->all->server->loop, n->uid);
	strbuf_init(&n->body, REVIEW_BYTES_MAX);
	strbuf_init(&n->text, HTTP_BODY_BYTES_MAX);
	keep_target(n, q->target);
	q->print(q->version, n->uid, q->request, &n->body);
	w->bytes += n->body.len;
	w->n_open++;
	TAILQ_INSERT_TAIL(&w->open, n, link);
	map_set(w->asks, key, n);
}

int waiting_ask(struct request *r, const struct question *q, const struct waiting_answer **ret,
		struct error *err)
{
	struct waiting *w = waiting_of(r);
	char key[SHA256_HEX];
	key_of(q, key);
	struct ask *known = map_get(w->asks, key);
	if (known && known->state == ASK_ANSWERED) {
		*ret = &known->answer;
		return WAITING_DONE;
	}
	/* One alone is always asked. */
	if (known || (w->n_open && w->bytes + q->request.len > WAITING_BYTES_MAX))
		return WAITING_OPEN;
	size_t n = map_number(w->counts, q->about) + 1;
	map_set_number(w->counts, q->about, n);
	if (n > WAITING_AGAIN_MAX + 1)
		return fail_modified(r, r->name, err);
	ask_new(w, key, q);
	return WAITING_OPEN;
}

int waiting_for(struct request *r, struct error *err)
{
	r->waiting->wanted = true;
	return error_set(err, E_UNAVAILABLE, "waits for webhooks");
}

bool waiting_is_wanted(const struct request *r)
{
	return r->waiting && r->waiting->wanted;
}

void waiting_forget(struct request *r)
{
	struct waiting *w = r->waiting;
	if (!w || w->n_open)
		return;
	map_clear(w->asks);
	map_clear(w->counts);
	w->answers_bytes = 0;
}

bool waiting_park(struct request *r)
{
	struct waiting *w = r->waiting;
	struct loop *l = r->server->loop;
	if (!waiting_is_wanted(r))
		return false;
	w->request = r;
	w->parked = true;
	r->exchange->on_close = gone;
	r->exchange->on_close_arg = w;
	loop_arm(l, &w->deadline, w->ends_ns - loop_mono(l));
	loop_post(l, &w->go);
	return true;
}
