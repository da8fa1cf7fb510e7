/*
 * server_conn: the life of a connection: it reads a request, has it admitted and handled, and goes
 * on with the next.
 *
 * Bytes that come while a request is served are read up to READ_AHEAD_MAX; then reading stops until
 * the answer is out. That is done here and not by libevent's read watermark, which calls a callback
 * that takes nothing again and again. A bufferevent reads all that OpenSSL has decrypted before it
 * calls (SSL_pending() is 0), so when reading goes on, the socket tells of everything there is.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>

#include "alm/base/clock.h"
#include "alm/io/hosts.h"
#include "alm/io/server_internal.h"
#include "alm/io/tls.h"

#define LINGER_NS        (2 * NS_PER_S)
#define LINGER_BYTES_MAX ((size_t)4 << 20) /* a body and what follows it */
#define READ_AHEAD_MAX   ((size_t)4 << 10) /* one read of 16 KiB may be above */
#define BLANK_BYTES_MAX  16                /* of empty lines before a request */

static struct evbuffer *output(struct conn *c)
{
	return bufferevent_get_output(c->bev);
}

/* Ends */

static void linger(struct conn *c)
{
	SSL *ssl = c->server->tls ? bufferevent_openssl_get_ssl(c->bev) : NULL;
	if (ssl) {
		SSL_shutdown(ssl);
		ERR_clear_error(); /* a stale entry would be read as the next connection's */
	}
	if (c->eof || shutdown(bufferevent_getfd(c->bev), SHUT_WR) < 0) {
		conn_free(c);
		return;
	}
	c->state = CONN_LINGER;
	conn_wait_at_most(c, LINGER_NS);
	evbuffer_drain(bufferevent_get_input(c->bev), SIZE_MAX);
	bufferevent_enable(c->bev, EV_READ);
}

static void start_closing(struct conn *c)
{
	c->state = CONN_CLOSING;
	c->thrown_away = 0;
	if (c->queued == 0)
		linger(c);
	else
		conn_wait_at_most(c, c->server->idle_ns);
}

/* True while it may go on. */
static bool throw_away(struct conn *c)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	c->thrown_away += evbuffer_get_length(in);
	evbuffer_drain(in, SIZE_MAX);
	return c->thrown_away <= LINGER_BYTES_MAX;
}

/* Requests */

static void call_handler(struct conn *c)
{
	c->state = CONN_BUSY;
	c->exchange.request->body = strbuf_str(&c->body);
	c->sent_seen = c->sent;
	conn_wait_at_most(c, c->server->idle_ns);
	c->server->handler(c->server->arg, &c->exchange);
}

static void read_on(struct conn *c)
{
	if (c->held)
		bufferevent_enable(c->bev, EV_READ);
	c->held = false;
}

static void want_head(struct conn *c)
{
	c->state = CONN_HEAD;
	c->head_started = false;
	c->is_head = c->is_1_0 = false;
	conn_wait_at_most(c, c->server->idle_ns);
	read_on(c);
	if (conn_is_anonymous(c))
		return;
	TAILQ_REMOVE(&c->server->known, c, link);
	TAILQ_INSERT_TAIL(&c->server->known, c, link);
}

static int check_host(const struct server *s, const char *authority, struct error *err)
{
	struct str host = host_of(str_of(authority));
	if (!authority || host_is_known(host, (const char *const *)s->hosts, s->n_hosts))
		return 0;
	return error_set(err, E_FORBIDDEN,
			 "the name in the Host header is not one of this server: if it is to be, "
			 "start the server with --allowed-host NAME");
}

static int begin_request(struct conn *c, struct str text, struct error *err)
{
	struct http_head head;
	c->exchange.arena = arena_new(ARENA_REQUEST_BYTES_MAX);
	c->body_read = true;
	c->streaming = false;
	int r = http_head_parse(text, c->exchange.arena, &head, err);
	if (r < 0)
		return r;
	c->exchange.request = ARENA_NEW(c->exchange.arena, struct http_request);
	*c->exchange.request = (struct http_request){
		.method = head.method,
		.path = head.path,
		.query = head.query,
		.headers = head.headers,
		.peer = c->peer_text,
		.client_name = c->server->tls ? tls_peer_name(bufferevent_openssl_get_ssl(c->bev),
							      c->exchange.arena)
					      : NULL,
	};
	c->keep_alive = head.keep_alive && !c->server->stopping;
	c->is_1_0 = head.is_1_0;
	c->is_head = strcmp(head.method, "HEAD") == 0;
	c->chunked = (struct http_chunked){0};
	c->body_chunked = head.chunked;
	c->body_left = head.length;
	c->body_read = !head.chunked && head.length == 0;
	c->body_expected = head.expect_continue;
	return check_host(c->server, head.authority, err);
}

/* Who asks, and is there room for him? 0: he has his answer. */
static int admit(struct conn *c, struct error *err)
{
	struct server *s = c->server;
	struct server_client who = {0};
	c->state = CONN_BUSY;
	conn_wait_at_most(c, s->idle_ns);
	if (s->admit && !s->admit(s->arg, &c->exchange, &who))
		return 0;
	if (who.user && pool_identify(c, &who, err) < 0) {
		c->keep_alive = false;
		return -err->code;
	}
	if (pool_charge(c, QUOTA_REQUESTS, 1, err) < 0)
		return -err->code;
	if (!c->body_chunked && c->body_left > s->body_max)
		return error_set(err, E_TOOLARGE, "body is larger than %zu bytes", s->body_max);
	if (!c->body_chunked && pool_charge(c, QUOTA_BODY_BYTES, (size_t)c->body_left, err) < 0)
		return -err->code;
	return 1;
}

static void want_body(struct conn *c)
{
	c->state = CONN_BODY;
	if (c->body_expected)
		bufferevent_write(c->bev, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	c->body_expected = false;
	c->body_began = loop_mono(c->server->loop);
	conn_wait_at_most(c, c->server->body_ns);
}

/* RFC 9112 2.2: an empty line before the request line is passed over. */
static bool skip_blank(struct evbuffer *in)
{
	for (int i = 0; i < BLANK_BYTES_MAX; i += 2) {
		if (evbuffer_get_length(in) < 2 || memcmp(evbuffer_pullup(in, 2), "\r\n", 2) != 0)
			return true;
		evbuffer_drain(in, 2);
	}
	return false;
}

/* True if a whole head was there; err is set when it is none. */
static bool read_head(struct conn *c, struct error *err)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	c->keep_alive = false;
	if (!c->head_started && !skip_blank(in)) {
		error_set(err, E_BADREQUEST, "too many empty lines before the request");
		return true;
	}
	if (evbuffer_get_length(in) == 0)
		return false;
	if (!c->head_started) {
		c->head_started = true;
		conn_wait_at_most(c, c->server->header_ns);
	}
	struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
	size_t len = end.pos < 0 ? evbuffer_get_length(in) : (size_t)end.pos + 4;
	if (len > HTTP_HEADER_BYTES_MAX) {
		error_set(err, E_LIMIT, "request head is larger than %d bytes",
			  HTTP_HEADER_BYTES_MAX);
		return true;
	}
	if (end.pos < 0)
		return false;
	const char *text = (const char *)evbuffer_pullup(in, (ssize_t)len);
	begin_request(c, str_n(text, len), err);
	evbuffer_drain(in, len);
	return true;
}

/* A body with chunks is charged as it grows. */
static int charge_body(struct conn *c, struct error *err)
{
	size_t charged = c->charged[QUOTA_BODY_BYTES];
	if (!c->body_chunked || c->body.len <= charged)
		return 0;
	return pool_charge(c, QUOTA_BODY_BYTES, c->body.len - charged, err);
}

/* Takes bytes of the body: of how many it was made, or an error; *done when that was the last. */
static int take_body(struct conn *c, struct str piece, size_t *ret_n, bool *done, struct error *err)
{
	struct str rest = piece;
	int r = 0;
	*done = false;
	if (c->body_chunked) {
		r = http_chunked_read(&c->chunked, &rest, &c->body, err);
		*ret_n = piece.len - rest.len;
		*done = r > 0;
	} else {
		*ret_n = piece.len < c->body_left ? piece.len : (size_t)c->body_left;
		if (c->state == CONN_BODY)
			strbuf_add(&c->body, piece.ptr, *ret_n);
		c->body_left -= *ret_n;
		*done = c->body_left == 0;
	}
	if (r >= 0 && c->state == CONN_BODY)
		r = charge_body(c, err);
	return r < 0 ? r : 0;
}

/* 1: complete, 0: wants more. */
static int read_body(struct conn *c, struct error *err)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	while (!c->body_read) {
		size_t n = evbuffer_get_contiguous_space(in), used;
		if (n == 0)
			return 0;
		struct str piece = str_n((const char *)evbuffer_pullup(in, (ssize_t)n), n);
		int r = take_body(c, piece, &used, &c->body_read, err);
		evbuffer_drain(in, used);
		if (r < 0)
			return r;
		if (c->state != CONN_DRAIN)
			continue;
		strbuf_clear(&c->body);
		c->thrown_away += used;
		if (c->thrown_away > SERVER_DRAIN_BYTES)
			return error_set(err, E_TOOLARGE, "nobody wants this body");
	}
	return 1;
}

static void drain_body(struct conn *c)
{
	struct error err = ERROR_INIT;
	int r = read_body(c, &err);
	if (r < 0) {
		c->state = CONN_ANSWERED;
		c->keep_alive = false;
		conn_settle_later(c);
	} else if (r > 0) {
		want_head(c);
	}
}

/* Reads what it can, up to one request. */
static void take_request(struct conn *c)
{
	struct error err = ERROR_INIT;
	if (c->state == CONN_DRAIN)
		drain_body(c);
	if (c->state == CONN_HEAD) {
		if (!read_head(c, &err))
			return;
		if (err.code == 0 && admit(c, &err) > 0)
			want_body(c);
	}
	if (err.code == 0 && c->state == CONN_BODY) {
		int r = read_body(c, &err);
		c->keep_alive = c->keep_alive && r >= 0; /* what follows is no request */
		if (r > 0)
			call_handler(c);
	}
	if (err.code)
		conn_refuse(c, &err);
}

/* A stream that ends when its client leaves. */
static bool stays_open(const struct conn *c)
{
	return c->state == CONN_BUSY && c->streaming &&
	       (c->charged[QUOTA_WATCHES] || !c->exchange.on_writable);
}

/* Requests that wait for the answer to this one stay where they are once they are many. */
static void hold_back(struct conn *c)
{
	bool wants = c->state == CONN_HEAD || c->state == CONN_BODY || c->state == CONN_DRAIN;
	size_t ahead = evbuffer_get_length(bufferevent_get_input(c->bev));
	if (wants || c->held || c->eof || ahead < READ_AHEAD_MAX)
		return;
	if (stays_open(c)) {
		conn_lost(c); /* of one that is not read any more nobody would learn that it left */
		return;
	}
	c->held = true;
	bufferevent_disable(c->bev, EV_READ);
}

static void advance(struct conn *c)
{
	take_request(c);
	hold_back(c);
}

static void next_request(struct conn *c)
{
	if (c->body_read) {
		want_head(c);
	} else {
		c->state = CONN_DRAIN;
		c->thrown_away = 0;
		conn_wait_at_most(c, c->server->body_ns);
		read_on(c);
	}
	advance(c);
}

/* The task: what comes after an answer. */
static void settle(void *arg)
{
	struct conn *c = arg;
	arena_free(STEAL(c->spent));
	if (c->state == CONN_GONE || (c->state == CONN_BUSY && c->eof)) {
		conn_free(c);
	} else if (c->state == CONN_ANSWERED) {
		c->served = true;
		conn_release_exchange(c);
		if (!c->keep_alive)
			start_closing(c);
		else if (c->queued <= SERVER_QUEUE_LOW)
			next_request(c);
	}
}

/* Callbacks */

static void on_timeout(void *arg)
{
	struct conn *c = arg;
	struct error err = ERROR_INIT;
	if (c->state == CONN_PENALTY) {
		error_set(&err, E_TOOMANY,
			  "too many failed logins from this address, please try again later");
		conn_refuse(c, &err);
		return;
	}
	/* A stream may be silent for ever; a reader that takes nothing may not. */
	if ((c->state == CONN_BUSY || c->state == CONN_ANSWERED) &&
	    (c->queued == 0 || c->sent != c->sent_seen)) {
		c->sent_seen = c->sent;
		conn_wait_at_most(c, c->server->idle_ns);
		return;
	}
	conn_lost(c);
}

static void on_readable(struct bufferevent *bev UNUSED, void *arg)
{
	struct conn *c = arg;
	if (c->state != CONN_LINGER && c->state != CONN_CLOSING)
		advance(c);
	else if (!throw_away(c))
		conn_free(c);
}

/* At most SERVER_QUEUE_LOW bytes are queued. */
static void on_drained(struct bufferevent *bev UNUSED, void *arg)
{
	struct conn *c = arg;
	if (c->state == CONN_CLOSING && c->queued == 0)
		linger(c);
	else if (c->state == CONN_ANSWERED)
		conn_settle_later(c);
	else if (c->state == CONN_BUSY && c->exchange.on_writable)
		c->exchange.on_writable(c->exchange.on_writable_arg);
}

static void on_event(struct bufferevent *bev UNUSED, short what, void *arg)
{
	struct conn *c = arg;
	if (what & BEV_EVENT_CONNECTED)
		return;
	bool half_closed = (what & BEV_EVENT_EOF) && (what & BEV_EVENT_READING) &&
			   !(what & BEV_EVENT_ERROR) && !c->half_closed;
	bool answer_is_due = (c->state == CONN_BUSY && !stays_open(c)) ||
			     c->state == CONN_ANSWERED || c->state == CONN_CLOSING;
	if (!half_closed || !answer_is_due) {
		conn_lost(c);
		return;
	}
	/* It asked, and now only listens; or it is gone, which the next write will tell: libevent
	 * stops to write, too, at the end of a TLS stream. */
	c->half_closed = true;
	c->keep_alive = false;
	bufferevent_enable(c->bev, EV_WRITE);
}

static void on_output(struct evbuffer *out UNUSED, const struct evbuffer_cb_info *info, void *arg)
{
	struct conn *c = arg;
	struct quota *q = c->server->quota;
	c->sent += info->n_deleted;
	c->queued += info->n_added - info->n_deleted;
	quota_add(q, c->user, QUOTA_QUEUE_BYTES, info->n_added);
	quota_give(q, c->user, QUOTA_QUEUE_BYTES, info->n_deleted);
}

void conn_new(struct server *s, struct bufferevent *bev, struct peer *peer, const char *peer_text)
{
	struct conn *c = xcalloc(1, sizeof(*c));
	c->server = s;
	c->bev = bev;
	c->exchange.ops = &server_exchange_ops;
	c->timer = (struct timer){.fn = on_timeout, .arg = c};
	c->task = (struct task){.fn = settle, .arg = c};
	strbuf_init(&c->body, s->body_max);
	c->peer = peer;
	snprintf(c->peer_text, sizeof(c->peer_text), "%s", peer_text);
	c->user = quota_user_ref(s->quota, "", false);
	TAILQ_INSERT_TAIL(&s->anonymous, c, link);
	s->n_anonymous++;
	s->n_conns++;
	want_head(c);
	conn_wait_at_most(c, s->header_ns); /* also bounds the TLS handshake */
	c->output_watch = evbuffer_add_cb(output(c), on_output, c);
	bufferevent_setcb(bev, on_readable, on_drained, on_event, c);
	bufferevent_setwatermark(bev, EV_WRITE, SERVER_QUEUE_LOW, 0);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
}
