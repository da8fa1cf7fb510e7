/* server_answer: what handlers call to answer, and the answers of the shell itself. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/io/server_internal.h"

#define STREAM_QUEUE_MAX   ((size_t)16 << 20) /* a stream whose reader is this late is cut */
#define HEAD_OUT_BYTES_MAX ((size_t)64 << 10)
#define RECORD_BYTES_MAX   ((size_t)16 << 10) /* of TLS, RFC 8446 5.1 */
#define CHUNK_FRAME_BYTES  20                 /* its length in hexadecimal, two ends of lines */
#define RETRY_AFTER_S      1

static const char *date_of(struct server *s)
{
	static const char *const days[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	int64_t now_s = loop_now(s->loop) / NS_PER_S;
	if (now_s == s->date_s)
		return s->date;
	s->date_s = now_s;
	int64_t year, day = now_s / 86400, rest = now_s % 86400;
	int month, day_of_month;
	civil_from_days(day, &year, &month, &day_of_month);
	snprintf(s->date, sizeof(s->date), "%s, %02d %s %04d %02d:%02d:%02d GMT", days[day % 7],
		 day_of_month, months[month - 1], (int)(year % 10000), (int)(rest / 3600),
		 (int)(rest / 60 % 60), (int)(rest % 60));
	return s->date;
}

static const char *phrase_of(int status)
{
	static const struct {
		int status;
		const char *phrase;
	} phrases[] = {
		{200, "OK"},
		{201, "Created"},
		{202, "Accepted"},
		{204, "No Content"},
		{302, "Found"},
		{304, "Not Modified"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{406, "Not Acceptable"},
		{408, "Request Timeout"},
		{409, "Conflict"},
		{410, "Gone"},
		{413, "Content Too Large"},
		{415, "Unsupported Media Type"},
		{422, "Unprocessable Content"},
		{429, "Too Many Requests"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{503, "Service Unavailable"},
		{504, "Gateway Timeout"},
	};
	for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "Status";
}

/* A line break in a value would start a header of the caller's caller. */
static void add_header_text(struct strbuf *b, const char *text)
{
	for (; *text; text++)
		strbuf_addc(b, *text == '\r' || *text == '\n' ? ' ' : *text);
}

/* What is added next, n bytes, lies in one piece if it fits a record: libevent encrypts and sends piece by piece. */
static struct evbuffer *room_for(struct conn *c, size_t n)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	if (n <= RECORD_BYTES_MAX)
		evbuffer_expand(out, n);
	return out;
}

/* body: what follows at once. */
static void send_head(struct conn *c, int status, const struct http_headers *h, const char *framing,
		      struct str body)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(HEAD_OUT_BYTES_MAX);
	strbuf_addf(&b, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, phrase_of(status),
		    date_of(c->server));
	if (!h || !http_header(h, "X-Content-Type-Options"))
		strbuf_adds(&b, "X-Content-Type-Options: nosniff\r\n");
	for (size_t i = 0; h && i < h->n; i++) {
		add_header_text(&b, h->items[i].name);
		strbuf_adds(&b, ": ");
		add_header_text(&b, h->items[i].value);
		strbuf_adds(&b, "\r\n");
	}
	strbuf_adds(&b, framing);
	if (!c->keep_alive)
		strbuf_adds(&b, "Connection: close\r\n");
	else if (c->is_1_0)
		strbuf_adds(&b, "Connection: keep-alive\r\n");
	strbuf_adds(&b, "\r\n");
	assert(!b.over);
	struct evbuffer *out = room_for(c, b.len + body.len);
	evbuffer_add(out, b.buf, b.len);
	evbuffer_add(out, body.ptr, body.len);
}

static void answered(struct conn *c)
{
	c->state = CONN_ANSWERED;
	c->exchange.on_close = NULL;
	c->exchange.on_writable = NULL;
	conn_settle_later(c);
}

static struct conn *conn_of(struct exchange *x)
{
	return CONTAINER_OF(x, struct conn, exchange);
}

/* What of the body has not come is thrown away, if that is little; else the connection ends. */
static void give_body_up(struct conn *c)
{
	if (!c->body_read && (c->body_expected || c->body_left > SERVER_DRAIN_BYTES))
		c->keep_alive = false;
}

/* A token was tried that is none, and not for the first time. */
static bool is_one_too_many(struct conn *c, int status)
{
	return status == 401 && http_header(&c->exchange.request->headers, "Authorization") &&
	       !peer_may_fail(c->peer, loop_mono(c->server->loop));
}

static void on_reply(struct exchange *x, int status, const struct http_headers *h, struct str body)
{
	struct conn *c = conn_of(x);
	assert(c->state == CONN_BUSY && !c->streaming);
	if (c->eof) {
		conn_doom(c, false);
		return;
	}
	if (is_one_too_many(c, status)) {
		c->state = CONN_PENALTY;
		c->exchange.on_close = NULL;
		conn_wait_at_most(c, SERVER_PENALTY_NS);
		return;
	}
	char framing[64] = "";
	bool bodiless = status == 204 || status == 304;
	if (!bodiless)
		snprintf(framing, sizeof(framing), "Content-Length: %zu\r\n", body.len);
	c->keep_alive = c->keep_alive && !c->server->stopping;
	give_body_up(c);
	send_head(c, status, h, framing, bodiless || c->is_head ? str_of("") : body);
	answered(c);
	pool_shed(c);
}

static void on_begin(struct exchange *x, int status, const struct http_headers *h)
{
	struct conn *c = conn_of(x);
	assert(c->state == CONN_BUSY && !c->streaming && c->body_read);
	c->streaming = true;
	if (c->is_1_0)
		c->keep_alive = false; /* the end of the connection is the end of the body */
	if (!c->eof)
		send_head(c, status, h, c->is_1_0 ? "" : "Transfer-Encoding: chunked\r\n",
			  str_of(""));
}

static size_t on_write(struct exchange *x, struct str chunk)
{
	struct conn *c = conn_of(x);
	assert(c->streaming);
	if (c->eof || c->is_head || chunk.len == 0)
		return c->queued;
	struct evbuffer *out = room_for(c, chunk.len + CHUNK_FRAME_BYTES);
	if (!c->is_1_0)
		evbuffer_add_printf(out, "%zx\r\n", chunk.len);
	evbuffer_add(out, chunk.ptr, chunk.len);
	if (!c->is_1_0)
		evbuffer_add(out, "\r\n", 2);
	if (c->queued > STREAM_QUEUE_MAX)
		conn_doom(c, true);
	else
		pool_shed(c);
	return c->queued;
}

static void on_end(struct exchange *x)
{
	struct conn *c = conn_of(x);
	assert(c->state == CONN_BUSY && c->streaming);
	if (c->eof) {
		conn_doom(c, false);
		return;
	}
	if (!c->is_1_0 && !c->is_head)
		bufferevent_write(c->bev, "0\r\n\r\n", 5);
	answered(c);
}

static void on_cut(struct exchange *x)
{
	conn_doom(conn_of(x), false);
}

static enum quota_verdict on_charge(struct exchange *x, enum quota_what what, size_t n)
{
	struct conn *c = conn_of(x);
	enum quota_verdict v = pool_take(c, what, n);
	if (v == QUOTA_OK && what == QUOTA_WATCHES)
		conn_discharge(c, QUOTA_REQUESTS);
	return v;
}

static void on_discharge(struct exchange *x, enum quota_what what)
{
	conn_discharge(conn_of(x), what);
}

static void free_arena(void *arg)
{
	arena_free(arg);
}

/* Whoever called still holds what is in the arena. */
static void on_keep(struct exchange *x, struct arena *a)
{
	struct conn *c = conn_of(x);
	assert(c->streaming);
	if (c->spent)
		arena_defer(x->arena, free_arena, c->spent);
	c->spent = x->arena;
	x->arena = a;
	x->request = NULL;
	x->admitted = NULL;
	conn_settle_later(c);
}

const struct exchange_ops server_exchange_ops = {
	.reply = on_reply,
	.begin = on_begin,
	.write = on_write,
	.end = on_end,
	.cut = on_cut,
	.charge = on_charge,
	.discharge = on_discharge,
	.keep = on_keep,
};

void conn_refuse(struct conn *c, const struct error *err)
{
	int status = err->code == E_LIMIT ? 431 : error_http(err->code);
	bool later = err->code == E_TOOMANY;
	char seconds[16], details[48] = "";
	struct http_headers h = {0};
	http_header_add(&h, "Content-Type", "application/json");
	http_header_add(&h, "Cache-Control", "no-cache, private");
	if (later) {
		snprintf(seconds, sizeof(seconds), "%d", RETRY_AFTER_S);
		snprintf(details, sizeof(details), "\"details\":{\"retryAfterSeconds\":%d},",
			 RETRY_AFTER_S);
		http_header_add(&h, "Retry-After", seconds);
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b,
		    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
		    "\"Failure\",\"message\":\"%s\",\"reason\":\"%s\",%s\"code\":%d}\n",
		    err->msg, error_reason(err->code), details, status);
	c->state = CONN_BUSY;
	on_reply(&c->exchange, status, &h, strbuf_str(&b));
}
