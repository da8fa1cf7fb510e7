#include "alm/client/webhook.h"

#include <inttypes.h>
#include <stdio.h>

#include "alm/audit/cursor.h"
#include "alm/audit/export_form.h"
#include "alm/audit/query.h"
#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/client/client.h"
#include "alm/obj/json.h"

struct webhook {
	struct webhook_config c;
	char *target;
	struct strbuf secret;
	struct task task;
	struct timer timer;
	struct call *call;
	int status; /* of the answer that comes */
	struct cursor cursor;
	int64_t seq;      /* of the event that is being told; 0: none */
	int64_t since_ns; /* of its first try, monotonic */
	unsigned n_tries;
	struct strbuf body;
	bool idle;
};

void webhook_sign(struct str secret, struct str body, char out[WEBHOOK_SIGNATURE_MAX])
{
	unsigned char mac[SHA256_BYTES];
	static const char prefix[] = "sha256=";
	hmac_sha256(secret, body, mac);
	memcpy(out, prefix, sizeof(prefix));
	hex_encode(mac, sizeof(mac), out + sizeof(prefix) - 1);
}

/* --- what is told --- */

static void count(struct webhook *w, const char *result)
{
	if (w->c.metrics)
		metric_add(metrics_counter(w->c.metrics, "alm_webhook_posts_total",
					   "Posts of events to the webhook.", result),
			   1);
}

static int print_event(struct webhook *w, const struct obj *row, bool whole)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *short_row = obj_copy_shallow(row), *event = NULL;
	if (!whole)
		obj_del(short_row, "body");
	event = export_cloudevent(short_row, audit_origin(w->c.audit));
	obj_set(event, "id", obj_stringf("%s/%" PRId64, audit_origin(w->c.audit), w->seq));
	strbuf_clear(&w->body);
	w->body.over = false;
	json_print(event, &w->body);
	return strbuf_check(&w->body, "event", &err);
}

static int take_row(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct webhook *w = arg;
	(void)depth;
	(void)err;
	w->seq = obj_i64(row, "seq", 0);
	if (print_event(w, row, true) < 0)
		(void)print_event(w, row, false);
	return 0;
}

/* The next Transition behind the cursor becomes the event. */
static int next_event(struct webhook *w, struct error *err)
{
	struct query_selector sel = {
		.type = "Transition", .from_seq = w->cursor.seq + 1, .limit = 1};
	w->seq = 0;
	w->n_tries = 0;
	w->since_ns = loop_mono(w->c.loop);
	return query_rows(w->c.db, &sel, take_row, w, err);
}

static void done_with(struct webhook *w)
{
	struct error err = ERROR_INIT;
	int64_t told = w->seq;
	w->seq = 0;
	if (cursor_move(&w->cursor, told, &err) < 0)
		log_warn("the webhook's place is not kept", "error", err.msg);
	webhook_poke(w);
}

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct webhook *w = arg;
	(void)h;
	w->status = status;
}

static void on_data(void *arg, struct str chunk)
{
	(void)arg;
	(void)chunk;
}

static void try_later(struct webhook *w, const struct error *lost)
{
	char code[32];
	snprintf(code, sizeof(code), "status %d", w->status);
	const char *why = lost ? lost->msg : code;
	count(w, "result=\"failed\"");
	if (loop_mono(w->c.loop) - w->since_ns >= WEBHOOK_TRY_NS) {
		log_warn("an event of the webhook is given up", "error", why);
		count(w, "result=\"given up\"");
		done_with(w);
		return;
	}
	if (w->n_tries == 1)
		log_warn("an event was not delivered to the webhook, it is tried again", "error",
			 why);
	loop_arm(w->c.loop, &w->timer,
		 client_backoff(w->c.loop, w->n_tries - 1, WEBHOOK_PAUSE_NS, WEBHOOK_PAUSE_MAX));
}

static void on_done(void *arg, const struct error *err)
{
	struct webhook *w = arg;
	w->call = NULL;
	if (err || w->status < 200 || w->status > 299) {
		try_later(w, err);
		return;
	}
	count(w, "result=\"ok\"");
	done_with(w);
}

static void post(void *arg)
{
	static const struct transport_events events = {on_head, on_data, on_done};
	struct webhook *w = arg;
	char signature[WEBHOOK_SIGNATURE_MAX];
	struct transport_request r = {.method = "POST",
				      .target = w->target,
				      .body = strbuf_str(&w->body),
				      .timeout_ns = WEBHOOK_POST_NS,
				      .body_max = WEBHOOK_BYTES_MAX};
	http_header_add(&r.headers, "Content-Type", "application/cloudevents+json");
	if (w->secret.len) {
		webhook_sign(strbuf_str(&w->secret), strbuf_str(&w->body), signature);
		http_header_add(&r.headers, "X-ALM-Signature-256", signature);
	}
	w->status = 0;
	w->n_tries++;
	w->call = transport_start(w->c.transport, &r, &events, w);
}

static void go_on(void *arg)
{
	struct webhook *w = arg;
	struct error err = ERROR_INIT;
	if (w->call || w->seq)
		return;
	if (next_event(w, &err) < 0) {
		log_warn("the log cannot be read for the webhook", "error", err.msg);
		loop_arm(w->c.loop, &w->timer, WEBHOOK_PAUSE_MAX);
		return;
	}
	if (w->seq) {
		post(w);
		return;
	}
	w->idle = true;
	if (w->c.idle)
		w->c.idle(w->c.arg);
}

/* A pause is over: of an event that is tried again, or of a log that could not be read. */
static void again(void *arg)
{
	struct webhook *w = arg;
	if (w->seq)
		post(w);
	else
		go_on(w);
}

void webhook_poke(struct webhook *w)
{
	w->idle = false;
	loop_post(w->c.loop, &w->task);
}

bool webhook_is_idle(const struct webhook *w)
{
	return w->idle;
}

int webhook_new(const struct webhook_config *c, struct webhook **ret, struct error *err)
{
	CLEANUP(webhook_freep) struct webhook *w = xcalloc(1, sizeof(*w));
	w->c = *c;
	w->target = xstrdup(c->target);
	strbuf_init(&w->secret, STRBUF_SMALL);
	strbuf_init(&w->body, WEBHOOK_BYTES_MAX);
	strbuf_addstr(&w->secret, c->secret);
	w->task = (struct task){.fn = go_on, .arg = w};
	w->timer = (struct timer){.fn = again, .arg = w};
	if (cursor_init(&w->cursor, c->audit, c->db, c->name, err) < 0)
		return -err->code;
	webhook_poke(w);
	*ret = STEAL(w);
	return 0;
}

void webhook_free(struct webhook *w)
{
	if (!w)
		return;
	if (w->call)
		transport_cancel(w->c.transport, w->call);
	loop_unpost(w->c.loop, &w->task);
	loop_disarm(w->c.loop, &w->timer);
	strbuf_release(&w->secret);
	strbuf_release(&w->body);
	xfree(w->target);
	xfree(w);
}
