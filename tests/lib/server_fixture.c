/* server_fixture: see server_fixture.h. */
#include "tests/lib/server_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/io/tls.h"
#include "tests/lib/test.h"

static void on_close(void *arg)
{
	struct fixture *f = arg;
	f->held = NULL;
	f->n_closed++;
}

void fixture_reply_held(void *arg)
{
	struct fixture *f = arg;
	struct exchange *x = f->held;
	f->held = NULL;
	exchange_reply(x, 201, NULL, STR("later"));
}

static void reply_bytes(struct exchange *x, const struct http_headers *h, size_t n)
{
	exchange_reply(x, 200, h, str_n(memset(arena_alloc(x->arena, n), 'x', n), n));
}

/* A list of as many bytes, written as its reader takes them. */
struct list {
	struct fixture *fixture;
	struct exchange *exchange;
	size_t left;
};

static void list_write(void *arg)
{
	struct list *l = arg;
	struct exchange *x = l->exchange;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_pad(&b, 'l', 4096);
	size_t queued = 0;
	while (l->left && queued < SERVER_QUEUE_HIGH) {
		queued = exchange_write(x, strbuf_str(&b));
		l->left -= b.len;
	}
	l->fixture->queued = queued;
	if (l->left)
		return;
	x->on_close = NULL;
	exchange_end(x);
}

static void list_start(struct fixture *f, struct exchange *x, const struct http_headers *h)
{
	struct list *l = ARENA_NEW(x->arena, struct list);
	*l = (struct list){f, x, (size_t)8 << 20};
	x->on_writable = list_write;
	x->on_writable_arg = l;
	exchange_begin(x, 200, h);
	list_write(l);
}

static void hold(struct fixture *f, struct exchange *x, const struct http_headers *h)
{
	const char *path = x->request->path;
	x->on_close = on_close;
	x->on_close_arg = f;
	f->held = x;
	if (cstr_eq(path, "/later"))
		loop_post(f->loop, &f->later);
	else if (cstr_eq(path, "/list"))
		list_start(f, x, h);
	else if (!cstr_eq(path, "/hold"))
		exchange_begin(x, 200, h);
}

void fixture_handle(void *arg, struct exchange *x)
{
	struct fixture *f = arg;
	f->n_requests++;
	struct http_headers h = {0};
	http_header_add(&h, "Content-Type", "text/plain");
	const struct http_request *r = x->request;
	if (cstr_eq(r->path, "/echo")) {
		const char *auth = http_header(&r->headers, "Authorization");
		char *text = arena_fmt(x->arena, "%s %s?%s %.*s %s", r->method, r->path, r->query,
				       STR_ARG(r->body), auth ? auth : "-");
		exchange_reply(x, 200, &h, str_of(text));
	} else if (cstr_eq(r->path, "/client")) {
		exchange_reply(x, 200, &h, str_of(r->client_name ? r->client_name : "-"));
	} else if (cstr_eq(r->path, "/busy")) {
		poll(NULL, 0, 30);
		exchange_reply(x, 200, &h, STR(""));
	} else if (cstr_eq(r->path, "/big") || cstr_eq(r->path, "/mib")) {
		reply_bytes(x, &h, r->path[1] == 'b' ? (size_t)8 << 20 : (size_t)1 << 20);
	} else if (cstr_eq(r->path, "/watch") && exchange_charge(x, QUOTA_WATCHES, 1) != QUOTA_OK) {
		exchange_reply(x, 429, &h, STR("too many watches"));
	} else {
		hold(f, x, &h);
	}
}

bool fixture_admit(void *arg, struct exchange *x, struct server_client *ret)
{
	struct fixture *f = arg;
	const char *token = http_header(&x->request->headers, "Authorization");
	f->n_admitted++;
	if (cstr_eq(x->request->path, "/public")) {
		exchange_reply(x, 200, NULL, STR("for everybody"));
		return false;
	}
	if (!token || cstr_eq(token, "Bearer wrong")) {
		exchange_reply(x, 401, NULL, STR("who are you?"));
		return false;
	}
	ret->user = token + strlen("Bearer ");
	ret->is_admin = cstr_eq(ret->user, "root");
	return true;
}

void listen_with(struct fixture *f, struct server_config c)
{
	static const char *const hosts[] = {"x"};
	c.listen = "127.0.0.1:0";
	c.hosts = hosts;
	c.n_hosts = 1;
	assert_ok(server_listen(f->loop, &c, fixture_handle, f, &f->server, &f->err), &f->err);
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT(100);
	strbuf_addf(&url, "%s://%s", c.cert_pem ? "https" : "http", server_address(f->server));
	xfree(f->url);
	f->url = strbuf_detach(&url);
}

void listen_tls(struct fixture *f)
{
	assert_ok(tls_ca_new(f->loop, "test CA", &f->ca, &f->ca_key, &f->err), &f->err);
	assert_ok(tls_serving_new(f->loop, f->ca, f->ca_key, NULL, 0, &f->cert, &f->key, &f->err),
		  &f->err);
	listen_with(f, (struct server_config){.cert_pem = f->cert, .key_pem = f->key});
}

int fixture_setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->loop = loop_event_new();
	f->later = (struct task){.fn = fixture_reply_held, .arg = f};
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	server_free(f->server);
	loop_free(f->loop);
	xfree(f->ca);
	xfree(f->ca_key);
	xfree(f->cert);
	xfree(f->key);
	xfree(f->url);
	xfree(f);
	return 0;
}

static int dial_with(struct fixture *f, int window)
{
	struct str host, port;
	int64_t n;
	str_rcut(str_of(server_address(f->server)), ':', &host, &port);
	assert_true(str_parse_i64(port, &n));
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons((uint16_t)n)};
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	if (window)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &window, sizeof(window));
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

int dial(struct fixture *f)
{
	return dial_with(f, 0);
}

int dial_small(struct fixture *f)
{
	return dial_with(f, 4096);
}

void say(int fd, struct str text)
{
	assert_int_equal(send(fd, text.ptr, text.len, MSG_NOSIGNAL), (ssize_t)text.len);
}

/* Turns until want is in what came, or the connection ended ("" waits for that). */
const char *hear(struct fixture *f, int fd, const char *want)
{
	static char buf[65536];
	size_t n = 0;
	int64_t end = loop_mono(f->loop) + 60 * NS_PER_S; /* a loaded machine */
	while (loop_mono(f->loop) < end) {
		loop_turn(f->loop);
		ssize_t r = recv(fd, buf + n, sizeof(buf) - 1 - n, MSG_DONTWAIT);
		if (r == 0 || (r < 0 && errno != EAGAIN))
			break;
		n += r > 0 ? (size_t)r : 0;
		buf[n] = '\0';
		if (want[0] && strstr(buf, want))
			break;
		if (n == sizeof(buf) - 1) {
			memmove(buf, buf + n / 2, n - n / 2);
			n -= n / 2;
		}
	}
	buf[n] = '\0';
	return buf;
}

void ask(int fd, const char *method, const char *path, const char *user, const char *more)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s %s HTTP/1.1" CRLF "Host: x" CRLF, method, path);
	if (user)
		strbuf_addf(&b, "Authorization: Bearer %s" CRLF, user);
	strbuf_addf(&b, "%s" CRLF, more ? more : "");
	say(fd, strbuf_str(&b));
}

void settle_down(struct fixture *f)
{
	for (int i = 0; i < 100; i++)
		loop_turn(f->loop);
}
