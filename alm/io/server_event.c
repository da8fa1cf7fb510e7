/*
 * server_event: the HTTP/1.1 shell on libevent's bufferevents, with TLS by OpenSSL: listens, takes
 * connections, stops. server_internal.h says what stands where.
 */
#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <event2/bufferevent_ssl.h>

#include "alm/base/clock.h"
#include "alm/io/hosts.h"
#include "alm/io/loop_event.h"
#include "alm/io/server_internal.h"
#include "alm/io/tls.h"

#define BACKLOG   512
#define IDLE_NS   (120 * NS_PER_S)
#define HEADER_NS (20 * NS_PER_S)
#define BODY_NS   (60 * NS_PER_S)
/* For a reader that takes nothing the kernel would keep 4 MB and more. */
#define KERNEL_QUEUE_BYTES (128 << 10)
#define ACCEPT_AGAIN_NS    (100 * NS_PER_MS) /* after the descriptors were used up */
#define OTHER_FILES        256               /* descriptors of the process besides connections */

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

/* The address that budgets of peers go by: without port, of IPv6 the /64. */
static void print_network(const struct sockaddr *sa, socklen_t len, char *out, size_t size)
{
	struct sockaddr_in6 six;
	if (sa->sa_family == AF_INET6) {
		memcpy(&six, sa, sizeof(six));
		if (!IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
			memset(six.sin6_addr.s6_addr + 8, 0, 8);
		six.sin6_scope_id = 0;
		sa = (const struct sockaddr *)&six;
	}
	if (getnameinfo(sa, len, out, (socklen_t)size, NULL, 0, NI_NUMERICHOST) != 0)
		out[0] = '\0';
}

static bool take(struct server *s, evutil_socket_t fd, const struct sockaddr *sa, socklen_t len)
{
	char network[64], text[72];
	print_network(sa, len, network, sizeof(network));
	struct peer *peer = peers_enter(s->peers, network, loop_mono(s->loop));
	struct bufferevent *bev = pool_make_room(s, peer) ? wrap(s, fd) : NULL;
	if (!bev) {
		peer_leave(peer, true);
		return false;
	}
	int on = 1, unsent = KERNEL_QUEUE_BYTES;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	print_address(sa, len, text, sizeof(text));
	conn_new(s, bev, peer, text);
	return true;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *sa,
		      int len, void *arg)
{
	struct server *s = arg;
	if (!take(s, fd, sa, (socklen_t)len))
		close(fd);
	loop_post(s->loop, &s->accept_again);
	if (++s->n_accepted >= SERVER_ACCEPTS) /* libevent asks for more as long as there are */
		evconnlistener_disable(listener);
}

static void accept_again(void *arg)
{
	struct server *s = arg;
	bool paused = s->n_accepted >= SERVER_ACCEPTS;
	s->n_accepted = 0;
	if (paused && s->listener)
		evconnlistener_enable(s->listener);
}

/* No descriptor is left: an idle client makes room, or the next one waits. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
	struct server *s = arg;
	if (pool_drop_idle(s))
		return;
	evconnlistener_disable(listener);
	s->n_accepted = SERVER_ACCEPTS;
	loop_arm(s->loop, &s->accept_later, ACCEPT_AGAIN_NS);
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
				 "address",
				 listen);
	if (!s->listener)
		return error_set(err, E_IO, "%s cannot be listened on: %s", listen, strerror(code));
	evconnlistener_set_error_cb(s->listener, on_accept_error);
	struct sockaddr_storage bound;
	socklen_t len = sizeof(bound);
	r = getsockname(evconnlistener_get_fd(s->listener), (struct sockaddr *)&bound, &len);
	assert(r == 0);
	print_address((struct sockaddr *)&bound, len, s->address, sizeof(s->address));
	return 0;
}

int server_probe(struct loop *l, const char *listen, struct error *err)
{
	struct server s = {.loop = l};
	if (bind_to(&s, listen, err) < 0)
		return -err->code;
	evconnlistener_free(s.listener);
	return 0;
}

static void add_host(struct server *s, const char *name)
{
	s->hosts = xreallocarray(s->hosts, s->n_hosts + 1, sizeof(*s->hosts));
	s->hosts[s->n_hosts++] = xstrdup(name);
}

static void learn_hosts(struct server *s, const struct server_config *c)
{
	char machine[256] = "";
	struct str host = host_of(str_of(c->listen));
	CLEANUP(xfreep) char *listened = str_dup(host);
	add_host(s, listened);
	if (gethostname(machine, sizeof(machine) - 1) == 0)
		add_host(s, machine);
	for (size_t i = 0; i < c->n_hosts; i++)
		add_host(s, c->hosts[i]);
}

/* Many systems give a process 1,024 descriptors, and more when it asks. */
static void allow_descriptors(const struct server *s, const struct quota_limit *limits)
{
	const struct quota_limit *conns = &limits[QUOTA_CONNECTIONS];
	rlim_t want = s->anonymous_max + conns->all + conns->admins + OTHER_FILES;
	struct rlimit r;
	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= want)
		return;
	r.rlim_cur = r.rlim_max < want ? r.rlim_max : want;
	/* With fewer, idle clients end earlier: on_accept_error(). */
	(void)setrlimit(RLIMIT_NOFILE, &r);
}

static void keep_text(char **to, const char *text)
{
	char *copy = text ? xstrdup(text) : NULL; /* it may be the one that is kept */
	xfree(*to);
	*to = copy;
}

static int make_tls(struct server *s, const char *cert_pem, const char *key_pem,
		    const char *client_ca_pem, struct error *err)
{
	SSL_CTX *fresh;
	if (tls_server_context(cert_pem, key_pem, client_ca_pem, &fresh, err) < 0)
		return -err->code;
	SSL_CTX_free(s->tls); /* its connections hold it */
	s->tls = fresh;
	keep_text(&s->cert_pem, cert_pem);
	keep_text(&s->key_pem, key_pem);
	keep_text(&s->client_ca_pem, client_ca_pem);
	return 0;
}

int server_listen(struct loop *l, const struct server_config *c, server_handler handler, void *arg,
		  struct server **ret, struct error *err)
{
	CLEANUP(server_freep) struct server *s = xcalloc(1, sizeof(*s));
	s->loop = l;
	s->handler = handler;
	s->arg = arg;
	s->admit = c->admit;
	s->anonymous_max = c->anonymous_max ? c->anonymous_max : SERVER_ANONYMOUS_MAX;
	s->idle_ns = c->idle_ns ? c->idle_ns : IDLE_NS;
	s->body_max = c->body_max ? c->body_max : HTTP_BODY_BYTES_MAX;
	s->header_ns = c->header_ns ? c->header_ns : HEADER_NS;
	s->body_ns = c->body_ns ? c->body_ns : BODY_NS;
	s->accept_again = (struct task){.fn = accept_again, .arg = s};
	s->accept_later = (struct timer){.fn = accept_again, .arg = s};
	TAILQ_INIT(&s->anonymous);
	TAILQ_INIT(&s->known);
	s->quota = quota_new(c->limits);
	s->nobody = quota_user_ref(s->quota, "", false);
	s->peers = peers_new();
	learn_hosts(s, c);
	allow_descriptors(s, c->limits ? c->limits : quota_limits);
	int r = 0;
	if (c->cert_pem)
		r = make_tls(s, c->cert_pem, c->key_pem, c->client_ca_pem, err);
	if (r >= 0)
		r = bind_to(s, c->listen, err);
	if (r < 0)
		return r;
	*ret = STEAL(s);
	return 0;
}

int server_renew(struct server *s, const char *cert_pem, const char *key_pem, struct error *err)
{
	return make_tls(s, cert_pem, key_pem, s->client_ca_pem, err);
}

int server_renew_clients(struct server *s, const char *client_ca_pem, struct error *err)
{
	return make_tls(s, s->cert_pem, s->key_pem, client_ca_pem, err);
}

const char *server_address(const struct server *s)
{
	return s->address;
}

static void end_all(struct server *s, bool idle_only)
{
	struct conn_list *const lists[] = {&s->anonymous, &s->known};
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		for (struct conn *c = TAILQ_FIRST(lists[i]), *next; c; c = next) {
			next = TAILQ_NEXT(c, link);
			if (!idle_only || conn_is_idle(c))
				conn_free(c);
		}
	}
}

static void on_grace_over(void *arg)
{
	end_all(arg, false);
}

static void stop_listening(struct server *s)
{
	loop_disarm(s->loop, &s->accept_later);
	loop_unpost(s->loop, &s->accept_again);
	if (s->listener)
		evconnlistener_free(STEAL(s->listener));
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
	stop_listening(s);
	if (s->n_conns == 0 && done) {
		loop_post(s->loop, &s->stopped);
		return;
	}
	end_all(s, true);
	loop_arm(s->loop, &s->grace, grace_ns);
}

void server_free(struct server *s)
{
	if (!s)
		return;
	loop_disarm(s->loop, &s->grace);
	s->stopped.fn = NULL;
	end_all(s, false);
	loop_unpost(s->loop, &s->stopped);
	stop_listening(s);
	SSL_CTX_free(s->tls);
	xfree(s->cert_pem);
	xfree(s->key_pem);
	xfree(s->client_ca_pem);
	peers_free(s->peers);
	quota_user_unref(s->quota, s->nobody);
	quota_free(s->quota);
	for (size_t i = 0; i < s->n_hosts; i++)
		xfree(s->hosts[i]);
	xfree(s->hosts);
	xfree(s);
}
