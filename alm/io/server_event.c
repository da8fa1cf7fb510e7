/*
 * server_event: the HTTP/1.1 shell on libevent's bufferevents, with TLS by OpenSSL.
 *
 * A connection serves one exchange at a time, so pipelined requests are answered in order. What
 * follows an answer (the next request, the end of the connection) is done by the connection's task,
 * never inside the handler's call: the handler may touch the exchange's arena until it returns. So
 * a turn of the loop serves one request of a connection, or two.
 *
 * Bytes that come while a request is served are read up to READ_AHEAD_MAX; then reading stops until
 * the answer is out. That is done here and not by libevent's read watermark, which calls a callback
 * that takes nothing again and again. A bufferevent reads all that OpenSSL has decrypted before it
 * calls (SSL_pending() is 0), so when reading goes on, the socket tells of everything there is.
 */
#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/listener.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/io/http_parse.h"
#include "alm/io/loop_event.h"
#include "alm/io/server.h"
#include "alm/io/tls.h"

#define CONNECTIONS_MAX     1024
#define BACKLOG             512
#define IDLE_NS             (120 * NS_PER_S)
#define HEADER_NS           (20 * NS_PER_S)
#define BODY_NS             (60 * NS_PER_S)
#define LINGER_NS           (2 * NS_PER_S)
#define REQUEST_BYTES_MAX   ((size_t)64 << 20) /* soft limit of a handler's memory */
#define READ_AHEAD_MAX      ((size_t)4 << 10) /* pipelined bytes; one read of 16 KiB may be above */
#define STREAM_QUEUE_MAX    ((size_t)16 << 20) /* a stream whose reader is this late is cut */
#define HEAD_OUT_BYTES_MAX  ((size_t)64 << 10)
#define BODY_KEEP_BYTES_MAX ((size_t)16 << 10)

enum conn_state {
	CONN_HEAD,     /* wants a request head */
	CONN_BODY,     /* wants the rest of a body */
	CONN_BUSY,     /* the handler owns the exchange */
	CONN_ANSWERED, /* the task goes on */
	CONN_CLOSING,  /* the last bytes go out */
	CONN_LINGER,   /* what still comes in is thrown away, so that no reset eats the answer */
	CONN_GONE,     /* the task ends the connection */
};

struct conn {
	struct exchange exchange; /* first: the ops get it back */
	struct server *server;
	TAILQ_ENTRY(conn) link;
	struct bufferevent *bev;
	enum conn_state state;
	bool keep_alive, is_1_0, is_head, streaming, eof, head_started;
	bool held; /* what the client sends stays in its socket for now */
	struct http_chunked chunked;
	uint64_t body_left; /* of a body with Content-Length */
	bool body_chunked;
	struct strbuf body;
	struct timer timer;
	struct task task;
	uint64_t sent, sent_seen; /* bytes the peer took; to notice one that takes none */
	char peer[72];
};

struct server {
	struct loop *loop;
	server_handler handler;
	void *arg;
	struct evconnlistener *listener;
	SSL_CTX *tls;
	char address[80];
	size_t connections_max, n_conns;
	int64_t idle_ns, header_ns;
	TAILQ_HEAD(, conn) conns;
	struct timer grace;
	struct task stopped;
	bool stopping;
	char date[40];
	int64_t date_s;
};

static struct evbuffer *output(struct conn *c)
{
	return bufferevent_get_output(c->bev);
}

static void wait_at_most(struct conn *c, int64_t ns)
{
	loop_arm(c->server->loop, &c->timer, ns);
}

static void settle_later(struct conn *c)
{
	loop_post(c->server->loop, &c->task);
}

/* Ends */

static void exchange_release(struct conn *c)
{
	arena_free(c->exchange.arena);
	c->exchange = (struct exchange){.ops = c->exchange.ops};
	if (c->body.cap > BODY_KEEP_BYTES_MAX)
		strbuf_release(&c->body);
	strbuf_clear(&c->body);
}

static void conn_free(struct conn *c)
{
	struct server *s = c->server;
	bool owned_by_handler = c->state == CONN_BUSY;
	c->state = CONN_GONE;
	if (owned_by_handler && c->exchange.on_close)
		c->exchange.on_close(c->exchange.on_close_arg);
	exchange_release(c);
	strbuf_release(&c->body);
	loop_disarm(s->loop, &c->timer);
	loop_unpost(s->loop, &c->task);
	bufferevent_free(c->bev);
	TAILQ_REMOVE(&s->conns, c, link);
	s->n_conns--;
	xfree(c);
	if (s->stopping && s->n_conns == 0 && s->stopped.fn)
		loop_post(s->loop, &s->stopped);
}

/* The client is gone. A handler that did not ask to be told answers later into the void. */
static void conn_lost(struct conn *c)
{
	if (c->state != CONN_BUSY || c->exchange.on_close) {
		conn_free(c);
		return;
	}
	c->eof = true;
	c->keep_alive = false;
	loop_disarm(c->server->loop, &c->timer);
	bufferevent_disable(c->bev, EV_READ | EV_WRITE);
}

/* Ends the connection from inside a call of the handler. */
static void conn_doom(struct conn *c, bool tell)
{
	if (!tell)
		c->exchange.on_close = NULL;
	/* BUSY is kept when the handler must still hear of it. */
	c->state = tell ? CONN_BUSY : CONN_GONE;
	c->eof = true;
	c->keep_alive = false;
	bufferevent_disable(c->bev, EV_READ | EV_WRITE);
	settle_later(c);
}

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
	wait_at_most(c, LINGER_NS);
	evbuffer_drain(bufferevent_get_input(c->bev), SIZE_MAX);
	bufferevent_enable(c->bev, EV_READ);
}

static void start_closing(struct conn *c)
{
	c->state = CONN_CLOSING;
	if (evbuffer_get_length(output(c)) == 0)
		linger(c);
	else
		wait_at_most(c, c->server->idle_ns);
}

/* Answers */

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

static void send_head(struct conn *c, int status, const struct http_headers *h, const char *framing)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(HEAD_OUT_BYTES_MAX);
	strbuf_addf(&b, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, phrase_of(status),
		    date_of(c->server));
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
	bufferevent_write(c->bev, b.buf, b.len);
}

static void answered(struct conn *c)
{
	c->state = CONN_ANSWERED;
	c->exchange.on_close = NULL;
	settle_later(c);
}

static struct conn *conn_of(struct exchange *x)
{
	return CONTAINER_OF(x, struct conn, exchange);
}

static void on_reply(struct exchange *x, int status, const struct http_headers *h, struct str body)
{
	struct conn *c = conn_of(x);
	assert(c->state == CONN_BUSY && !c->streaming);
	if (c->eof) {
		conn_doom(c, false);
		return;
	}
	char framing[64] = "";
	bool bodiless = status == 204 || status == 304;
	if (!bodiless)
		snprintf(framing, sizeof(framing), "Content-Length: %zu\r\n", body.len);
	c->keep_alive = c->keep_alive && !c->server->stopping;
	send_head(c, status, h, framing);
	if (!bodiless && !c->is_head && body.len)
		bufferevent_write(c->bev, body.ptr, body.len);
	answered(c);
}

static void on_begin(struct exchange *x, int status, const struct http_headers *h)
{
	struct conn *c = conn_of(x);
	assert(c->state == CONN_BUSY && !c->streaming);
	c->streaming = true;
	if (c->is_1_0)
		c->keep_alive = false; /* the end of the connection is the end of the body */
	if (!c->eof)
		send_head(c, status, h, c->is_1_0 ? "" : "Transfer-Encoding: chunked\r\n");
}

static size_t on_write(struct exchange *x, struct str chunk)
{
	struct conn *c = conn_of(x);
	assert(c->streaming);
	if (c->eof || c->is_head || chunk.len == 0)
		return evbuffer_get_length(output(c));
	struct evbuffer *out = output(c);
	if (!c->is_1_0)
		evbuffer_add_printf(out, "%zx\r\n", chunk.len);
	evbuffer_add(out, chunk.ptr, chunk.len);
	if (!c->is_1_0)
		evbuffer_add(out, "\r\n", 2);
	size_t queued = evbuffer_get_length(out);
	if (queued > STREAM_QUEUE_MAX)
		conn_doom(c, true);
	return queued;
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

static const struct exchange_ops ops = {
	.reply = on_reply,
	.begin = on_begin,
	.write = on_write,
	.end = on_end,
	.cut = on_cut,
};

/* The answer to what is no request; the connection ends after it. */
static void refuse(struct conn *c, const struct error *err)
{
	int status = err->code == E_LIMIT ? 431 : error_http(err->code);
	struct http_headers h = {0};
	http_header_add(&h, "Content-Type", "application/json");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b,
		    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
		    "\"Failure\",\"message\":\"%s\",\"reason\":\"%s\",\"code\":%d}\n",
		    err->msg, error_reason(err->code), status);
	c->keep_alive = false;
	c->state = CONN_BUSY;
	on_reply(&c->exchange, status, &h, strbuf_str(&b));
}

/* Requests */

static void call_handler(struct conn *c)
{
	c->state = CONN_BUSY;
	c->streaming = false;
	c->exchange.request.body = strbuf_str(&c->body);
	c->sent_seen = c->sent;
	wait_at_most(c, c->server->idle_ns);
	c->server->handler(c->server->arg, &c->exchange);
}

static void want_head(struct conn *c)
{
	c->state = CONN_HEAD;
	c->head_started = false;
	c->is_head = c->is_1_0 = false;
	wait_at_most(c, c->server->idle_ns);
	if (c->held)
		bufferevent_enable(c->bev, EV_READ);
	c->held = false;
}

static int begin_request(struct conn *c, struct str text, struct error *err)
{
	struct http_head head;
	c->exchange.arena = arena_new(REQUEST_BYTES_MAX);
	int r = http_head_parse(text, c->exchange.arena, &head, err);
	if (r < 0)
		return r;
	c->exchange.request = (struct http_request){
		.method = head.method,
		.path = head.path,
		.query = head.query,
		.headers = head.headers,
		.peer = c->peer,
	};
	c->keep_alive = head.keep_alive && !c->server->stopping;
	c->is_1_0 = head.is_1_0;
	c->is_head = strcmp(head.method, "HEAD") == 0;
	c->chunked = (struct http_chunked){0};
	c->body_chunked = head.chunked;
	c->body_left = head.length;
	if (head.length > HTTP_BODY_BYTES_MAX)
		return error_set(err, E_TOOLARGE, "body is larger than %zu bytes",
				 HTTP_BODY_BYTES_MAX);
	if (head.expect_continue)
		bufferevent_write(c->bev, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	return 0;
}

/* True if a whole head was there. */
static bool read_head(struct conn *c, struct error *err)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	/* RFC 9112 2.2: an empty line before the request line is passed over. */
	while (!c->head_started && evbuffer_get_length(in) >= 2 &&
	       memcmp(evbuffer_pullup(in, 2), "\r\n", 2) == 0)
		evbuffer_drain(in, 2);
	if (evbuffer_get_length(in) == 0)
		return false;
	if (!c->head_started) {
		c->head_started = true;
		wait_at_most(c, c->server->header_ns);
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
	if (begin_request(c, str_n(text, len), err) == 0) {
		c->state = CONN_BODY;
		wait_at_most(c, BODY_NS);
	}
	evbuffer_drain(in, len);
	return true;
}

/* 1: complete, 0: wants more. */
static int read_body(struct conn *c, struct error *err)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	for (;;) {
		if (!c->body_chunked && c->body_left == 0)
			return 1;
		size_t n = evbuffer_get_contiguous_space(in);
		if (n == 0)
			return 0;
		struct str chunk = str_n((const char *)evbuffer_pullup(in, (ssize_t)n), n);
		int r = 0;
		if (c->body_chunked) {
			struct str rest = chunk;
			r = http_chunked_read(&c->chunked, &rest, &c->body, err);
			n -= rest.len;
		} else {
			n = n < c->body_left ? n : (size_t)c->body_left;
			strbuf_add(&c->body, chunk.ptr, n);
			c->body_left -= n;
		}
		evbuffer_drain(in, n);
		if (r != 0)
			return r;
	}
}

/* Reads what it can, up to one request. */
static void take_request(struct conn *c)
{
	struct error err = ERROR_INIT;
	if (c->state == CONN_HEAD && !read_head(c, &err))
		return;
	if (err.code == 0 && c->state == CONN_BODY) {
		int r = read_body(c, &err);
		if (r == 0)
			return;
		if (r > 0)
			call_handler(c);
	}
	if (err.code)
		refuse(c, &err);
}

/* Requests that wait for the answer to this one stay where they are once they are many. */
static void hold_back(struct conn *c)
{
	bool wants = c->state == CONN_HEAD || c->state == CONN_BODY;
	size_t ahead = evbuffer_get_length(bufferevent_get_input(c->bev));
	if (wants || c->held || c->eof || ahead < READ_AHEAD_MAX)
		return;
	if (c->state == CONN_BUSY && c->streaming) {
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

/* The task: what comes after an answer. */
static void settle(void *arg)
{
	struct conn *c = arg;
	if (c->state == CONN_GONE || (c->state == CONN_BUSY && c->eof)) {
		conn_free(c);
	} else if (c->state == CONN_ANSWERED) {
		exchange_release(c);
		if (!c->keep_alive) {
			start_closing(c);
			return;
		}
		want_head(c);
		advance(c);
	}
}

static void on_timeout(void *arg)
{
	struct conn *c = arg;
	bool waits = evbuffer_get_length(output(c)) > 0;
	/* A stream may be silent for ever; a reader that takes nothing may not. */
	if ((c->state == CONN_BUSY || c->state == CONN_ANSWERED) &&
	    (!waits || c->sent != c->sent_seen)) {
		c->sent_seen = c->sent;
		wait_at_most(c, c->server->idle_ns);
		return;
	}
	conn_lost(c);
}

static void on_readable(struct bufferevent *bev, void *arg)
{
	struct conn *c = arg;
	if (c->state == CONN_LINGER || c->state == CONN_CLOSING)
		evbuffer_drain(bufferevent_get_input(bev), SIZE_MAX);
	else
		advance(c);
}

static void on_drained(struct bufferevent *bev UNUSED, void *arg)
{
	struct conn *c = arg;
	if (c->state == CONN_CLOSING && evbuffer_get_length(output(c)) == 0)
		linger(c);
}

static void on_event(struct bufferevent *bev UNUSED, short what, void *arg)
{
	struct conn *c = arg;
	if (what & BEV_EVENT_CONNECTED)
		return;
	bool half_closed = (what & BEV_EVENT_EOF) && !(what & BEV_EVENT_ERROR);
	bool answer_is_due = (c->state == CONN_BUSY && !c->streaming) ||
			     c->state == CONN_ANSWERED || c->state == CONN_CLOSING;
	if (half_closed && answer_is_due)
		c->keep_alive = false; /* it asked, and now only listens */
	else
		conn_lost(c);
}

static void on_output(struct evbuffer *out UNUSED, const struct evbuffer_cb_info *info, void *arg)
{
	struct conn *c = arg;
	c->sent += info->n_deleted;
}

/* Connections */

static void print_address(const struct sockaddr *sa, socklen_t len, char *out, size_t size)
{
	char host[48], port[8];
	if (getnameinfo(sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		out[0] = '\0';
		return;
	}
	bool v6 = sa->sa_family == AF_INET6;
	snprintf(out, size, "%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

static struct bufferevent *wrap(struct server *s, evutil_socket_t fd)
{
	struct event_base *base = loop_event_base(s->loop);
	int options = BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS;
	if (!s->tls)
		return bufferevent_socket_new(base, fd, options);
	SSL *ssl = SSL_new(s->tls);
	if (!ssl)
		return NULL;
	struct bufferevent *bev =
		bufferevent_openssl_socket_new(base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING, options);
	if (bev)
		bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	else
		SSL_free(ssl);
	return bev;
}

static void on_accept(struct evconnlistener *listener UNUSED, evutil_socket_t fd,
		      struct sockaddr *sa, int len, void *arg)
{
	struct server *s = arg;
	struct bufferevent *bev = s->n_conns < s->connections_max ? wrap(s, fd) : NULL;
	if (!bev) {
		close(fd);
		return;
	}
	int on = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	struct conn *c = xcalloc(1, sizeof(*c));
	c->server = s;
	c->bev = bev;
	c->exchange.ops = &ops;
	c->timer = (struct timer){.fn = on_timeout, .arg = c};
	c->task = (struct task){.fn = settle, .arg = c};
	strbuf_init(&c->body, HTTP_BODY_BYTES_MAX);
	print_address(sa, (socklen_t)len, c->peer, sizeof(c->peer));
	TAILQ_INSERT_TAIL(&s->conns, c, link);
	s->n_conns++;
	want_head(c);
	wait_at_most(c, s->header_ns); /* also bounds the TLS handshake */
	evbuffer_add_cb(output(c), on_output, c);
	bufferevent_setcb(bev, on_readable, on_drained, on_event, c);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
}

/* The server */

static int resolve(const char *listen, struct addrinfo **ret, struct error *err)
{
	struct str host, port;
	if (!str_rcut(str_of(listen), ':', &host, &port) || port.len == 0)
		return error_set(err, E_USAGE, "listen address %s: want ADDRESS:PORT", listen);
	if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
		host = str_sub(host, 1, host.len - 2);
	uint64_t n;
	if (!str_parse_u64(port, &n) || n > 65535)
		return error_set(err, E_USAGE, "listen address %s: port must be 0 to 65535",
				 listen);
	CLEANUP(xfreep) char *host_text = str_dup(host), *port_text = str_dup(port);
	struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
				 .ai_socktype = SOCK_STREAM};
	int r = getaddrinfo(host.len ? host_text : NULL, port_text, &hints, ret);
	if (r != 0)
		return error_set(err, E_USAGE, "listen address %s: %s", listen, gai_strerror(r));
	return 0;
}

static int bind_to(struct server *s, const char *listen, struct error *err)
{
	struct addrinfo *ai = NULL;
	int r = resolve(listen, &ai, err);
	if (r < 0)
		return r;
	s->listener = evconnlistener_new_bind(loop_event_base(s->loop), on_accept, s,
					      LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC |
						      LEV_OPT_REUSEABLE,
					      BACKLOG, ai->ai_addr, (int)ai->ai_addrlen);
	int code = errno;
	freeaddrinfo(ai);
	if (!s->listener && code == EADDRINUSE)
		return error_set(err, E_EXISTS,
				 "%s is already in use; stop what listens there or choose another "
				 "address with --listen",
				 listen);
	if (!s->listener)
		return error_set(err, E_IO, "%s cannot be listened on: %s", listen, strerror(code));
	struct sockaddr_storage bound;
	socklen_t len = sizeof(bound);
	r = getsockname(evconnlistener_get_fd(s->listener), (struct sockaddr *)&bound, &len);
	assert(r == 0);
	print_address((struct sockaddr *)&bound, len, s->address, sizeof(s->address));
	return 0;
}

int server_listen(struct loop *l, const struct server_config *c, server_handler handler, void *arg,
		  struct server **ret, struct error *err)
{
	CLEANUP(server_freep) struct server *s = xcalloc(1, sizeof(*s));
	s->loop = l;
	s->handler = handler;
	s->arg = arg;
	s->connections_max = c->connections_max ? c->connections_max : CONNECTIONS_MAX;
	s->idle_ns = c->idle_ns ? c->idle_ns : IDLE_NS;
	s->header_ns = c->header_ns ? c->header_ns : HEADER_NS;
	TAILQ_INIT(&s->conns);
	int r = 0;
	if (c->cert_pem)
		r = tls_server_context(c->cert_pem, c->key_pem, c->client_ca_pem, &s->tls, err);
	if (r >= 0)
		r = bind_to(s, c->listen, err);
	if (r < 0)
		return r;
	*ret = STEAL(s);
	return 0;
}

const char *server_address(const struct server *s)
{
	return s->address;
}

static void on_grace_over(void *arg)
{
	struct server *s = arg;
	for (struct conn *c = TAILQ_FIRST(&s->conns), *next; c; c = next) {
		next = TAILQ_NEXT(c, link);
		conn_free(c);
	}
}

void server_stop(struct server *s, int64_t grace_ns, void (*done)(void *arg), void *arg)
{
	if (s->stopping) {
		on_grace_over(s);
		return;
	}
	s->stopping = true;
	s->stopped = (struct task){.fn = done, .arg = arg};
	s->grace = (struct timer){.fn = on_grace_over, .arg = s};
	evconnlistener_free(s->listener);
	s->listener = NULL;
	if (s->n_conns == 0 && done) {
		loop_post(s->loop, &s->stopped);
		return;
	}
	for (struct conn *c = TAILQ_FIRST(&s->conns), *next; c; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state == CONN_HEAD && !c->head_started)
			conn_free(c);
	}
	loop_arm(s->loop, &s->grace, grace_ns);
}

void server_free(struct server *s)
{
	if (!s)
		return;
	loop_disarm(s->loop, &s->grace);
	s->stopped.fn = NULL;
	on_grace_over(s);
	loop_unpost(s->loop, &s->stopped);
	if (s->listener)
		evconnlistener_free(s->listener);
	SSL_CTX_free(s->tls);
	xfree(s);
}
