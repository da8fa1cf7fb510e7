/*
 * transport_curl: HTTP out, by libcurl's multi interface on libevent.
 *
 * Calls are added to and removed from libcurl by the pump task only, never from inside one of
 * libcurl's callbacks (curl_lane.h); so a callback may start and cancel calls freely.
 */
#include <assert.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/log.h"
#include "alm/base/strbuf.h"
#include "alm/io/curl_lane.h"
#include "alm/io/curl_lib.h"
#include "alm/io/curl_request.h"
#include "alm/io/tls.h"
#include "alm/io/transport.h"

#define TOKEN_BYTES_MAX ((size_t)64 << 10)
#define TOKEN_AGE_NS    (60 * NS_PER_S)
#define TOKEN_PAUSE_NS  NS_PER_S /* between two readings because of 401 */
#define HEAD_BYTES_MAX  ((size_t)64 << 10)
#define CA_BYTES_MAX    ((size_t)1 << 20)
#define CA_PAUSE_NS     NS_PER_S

static const struct curl_lib *curl; /* since the first transport_curl_new() */

/* The token */

static void wipe(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	xfree(*text);
	*text = NULL;
}

/* A file that cannot be read keeps the old token: the server tells when it is no longer good. */
static void read_token(struct remote *t)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	struct error err = ERROR_INIT;
	t->token_read_ns = loop_mono(t->loop);
	if (file_read(t->config.token_file, &b, &err) < 0)
		return;
	struct str text = str_trim(strbuf_str(&b));
	if (text.len && str_find_char(text, '\n') < 0) {
		wipe(&t->token);
		t->token = str_dup(text);
	}
	explicit_bzero(b.buf, b.len);
}

static void refresh_token(struct remote *t, int64_t age_ns)
{
	if (t->config.token_file && loop_mono(t->loop) - t->token_read_ns >= age_ns)
		read_token(t);
}

/* The CA of the server */

/* A file that cannot be read, or begins with no certificate, keeps the former one until the next look. */
static void refresh_ca(struct remote *t)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CA_BYTES_MAX);
	struct error err = ERROR_INIT;
	int64_t now = loop_mono(t->loop);
	if (!t->config.ca_file || (t->ca_read_ns && now - t->ca_read_ns < CA_PAUSE_NS))
		return;
	t->ca_read_ns = now;
	int64_t from, until;
	if (file_read(t->config.ca_file, &b, &err) < 0 || cstr_eq(b.buf, t->config.ca_pem) ||
	    tls_lifetime(b.buf, &from, &until, &err) < 0)
		return;
	xfree(t->ca_pem);
	t->config.ca_pem = t->ca_pem = strbuf_detach(&b);
	log_info("the CA of the server is another one", "server", t->base_url, "file",
		 t->config.ca_file);
}

/* One call */

static void call_free(struct call *c)
{
	struct remote *t = c->remote;
	if (c->added)
		curl_lane_remove(c->lane, c->easy);
	loop_disarm(t->loop, &c->idle);
	TAILQ_REMOVE(&t->calls, c, link);
	curl->easy_cleanup(c->easy);
	curl->slist_free_all(c->headers);
	arena_free(c->arena);
	xfree(c);
}

static void finish(struct call *c, const struct error *err)
{
	struct transport_events events = c->events;
	void *arg = c->arg;
	struct error copy;
	if (err)
		copy = *err;
	call_free(c);
	events.done(arg, err ? &copy : NULL);
}

/* What it was that failed is for the administrator alone, as long as the server has not spoken
 * HTTP; a certificate that is not believed is everybody's to see. */
static void fail(struct call *c, int code, bool is_certificate, const char *detail)
{
	struct remote *t = c->remote;
	struct error err = ERROR_INIT;
	if (c->refused && !c->connecting) {
		error_set(&err, E_NOTALLOWED,
			  "%s: lies in a network that sources are not read from; the administrator "
			  "of ALM allows it with --allow-source",
			  t->base_url);
	} else if (t->config.addresses && !c->head_sent && !is_certificate) {
		log_debug("server not reached", "server", t->base_url, "error", detail);
		error_set(&err, E_IO, "%s: cannot be reached", t->base_url);
	} else {
		error_set(&err, code, "%s: %s", t->base_url, detail);
	}
	finish(c, &err);
}

static void on_idle(void *arg)
{
	struct call *c = arg;
	fail(c, E_TIMEOUT, false,
	     arena_fmt(c->arena, "no byte for %lld s", (long long)(c->idle_ns / NS_PER_S)));
}

static void send_head(struct call *c)
{
	long status = 0;
	curl->easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
	c->head_sent = true;
	if (status == 401)
		refresh_token(c->remote, TOKEN_PAUSE_NS);
	if (c->events.head)
		c->events.head(c->arg, (int)status, &c->reply_headers);
}

static void keep_header(struct call *c, struct str line)
{
	struct str name, value;
	if (!str_cut(line, ':', &name, &value) || arena_over(c->arena))
		return;
	value = str_trim(value);
	http_header_add(&c->reply_headers, arena_strndup(c->arena, name.ptr, name.len),
			arena_strndup(c->arena, value.len ? value.ptr : "", value.len));
}

/* Called for every header line, also of 1xx answers, of proxies, and for trailers. */
static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	struct call *c = arg;
	struct str line = str_trim(str_n(p, size * n));
	long status = 0;
	curl->easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
	if (c->cancelled)
		return 0;
	if (c->head_sent)
		return n;
	if (str_has_prefix(line, STR("HTTP/")))
		c->reply_headers.n = 0;
	else if (line.len)
		keep_header(c, line);
	else if (status >= 200)
		send_head(c);
	return c->cancelled ? 0 : n;
}

static size_t on_data(char *p, size_t size, size_t n, void *arg)
{
	struct call *c = arg;
	if (c->cancelled)
		return 0;
	if (!c->head_sent)
		send_head(c);
	c->body_bytes += size * n;
	if (c->body_max && c->body_bytes > c->body_max) {
		error_set(&c->failed, E_LIMIT, "%s: answer is larger than %zu bytes",
			  c->remote->base_url, c->body_max);
		return 0;
	}
	if (c->idle_ns)
		loop_arm(c->remote->loop, &c->idle, c->idle_ns);
	if (!c->cancelled)
		c->events.data(c->arg, str_n(p, size * n));
	return c->cancelled ? 0 : size * n;
}

static void add_header(struct call *c, const char *name, const char *value)
{
	/* curl sends "Name;" as an empty header and takes "Name:" as an order to leave it out. */
	const char *line = value[0] ? arena_fmt(c->arena, "%s: %s", name, value)
				    : arena_fmt(c->arena, "%s;", name);
	c->headers = curl->slist_append(c->headers, line);
}

/* In clear, whoever is on the way would have them. */
static int refuse_plain(const char *url, struct error *err)
{
	return error_set(
		err, E_FORBIDDEN,
		"%s: credentials are sent over https only; give an https:// address, or no "
		"credentials (a context without a user)",
		url);
}

static void set_headers(struct call *c, const struct transport_request *r)
{
	struct remote *t = c->remote;
	c->headers = curl->slist_append(NULL, "Expect:");
	for (size_t i = 0; i < r->headers.n; i++)
		add_header(c, r->headers.items[i].name, r->headers.items[i].value);
	if (!http_header(&r->headers, "Content-Type"))
		c->headers = curl->slist_append(c->headers, "Content-Type:");
	if (t->is_plain && http_header(&r->headers, "Authorization"))
		refuse_plain(t->base_url, &c->failed);
	if (t->token && !http_header(&r->headers, "Authorization"))
		add_header(c, "Authorization", arena_fmt(c->arena, "Bearer %s", t->token));
	curl->easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers);
}

static void set_request(struct call *c, const struct transport_request *r)
{
	CURL *easy = c->easy;
	curl_request_connection(c);
	curl->easy_setopt(easy, CURLOPT_URL,
			  arena_fmt(c->arena, "%s%s", c->remote->base_url, r->target));
	curl->easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_request_body(c, r);
	set_headers(c, r);
	if (r->timeout_ns)
		curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS,
				  (long)((r->timeout_ns + NS_PER_MS - 1) / NS_PER_MS));
	curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, c->message);
	curl->easy_setopt(easy, CURLOPT_PRIVATE, c);
	curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl->easy_setopt(easy, CURLOPT_HEADERDATA, c);
	curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
	curl->easy_setopt(easy, CURLOPT_WRITEDATA, c);
}

/* libcurl and the loop */

static int code_of(CURLcode code)
{
	return code == CURLE_OPERATION_TIMEDOUT ? E_TIMEOUT : E_IO;
}

/* An answer that ends with the connection is whole if TLS says so (RFC 9112, 9.8), which libcurl
 * does not tell: somebody on the way may have cut it. */
static bool may_be_cut(const struct call *c)
{
	const struct http_headers *h = &c->reply_headers;
	return !c->remote->is_plain && c->body_bytes && !http_header(h, "Content-Length") &&
	       !http_header(h, "Transfer-Encoding");
}

static void explain(struct call *c, CURLcode code)
{
	bool nameless = c->remote->nameless;
	c->remote->nameless = false;
	if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
		refresh_ca(c->remote);
	if (code == CURLE_OK)
		fail(c, E_IO, false, "the answer has no length, it may have been cut");
	else if (c->failed.code)
		finish(c, &c->failed);
	else if (nameless)
		fail(c, E_IO, true,
		     "the certificate of the server names no host: it needs a subjectAltName, a "
		     "common name does not count");
	else
		fail(c, code_of(code), code == CURLE_PEER_FAILED_VERIFICATION,
		     c->message[0] ? c->message : curl->easy_strerror(code));
}

static void on_end(CURL *easy, CURLcode code)
{
	struct call *c = NULL;
	curl->easy_getinfo(easy, CURLINFO_PRIVATE, &c);
	if (!c->cancelled && code == CURLE_OK && !c->head_sent)
		send_head(c);
	if (c->cancelled)
		call_free(c);
	else if (code == CURLE_OK && !may_be_cut(c))
		finish(c, NULL);
	else
		explain(c, code);
}

static void pump(void *arg)
{
	struct remote *t = arg;
	for (struct call *c = TAILQ_FIRST(&t->calls), *next; c; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->cancelled) {
			call_free(c);
		} else if (c->failed.code) {
			finish(c, &c->failed);
		} else if (!c->added) {
			curl_lane_add(c->lane, c->easy);
			c->added = true;
		}
	}
}

/* The transport */

static struct call *remote_start(struct transport *transport, const struct transport_request *r,
				 const struct transport_events *events, void *arg)
{
	struct remote *t = CONTAINER_OF(transport, struct remote, transport);
	struct call *c = xcalloc(1, sizeof(*c));
	c->remote = t;
	c->lane = &t->lanes[r->timeout_ns ? LANE_CALLS : LANE_STREAMS];
	c->events = *events;
	c->arg = arg;
	c->arena = arena_new(HEAD_BYTES_MAX);
	c->idle_ns = r->idle_ns;
	c->idle = (struct timer){.fn = on_idle, .arg = c};
	c->body_max = r->body_max;
	c->easy = curl->easy_init();
	assert(c->easy);
	refresh_token(t, TOKEN_AGE_NS);
	set_request(c, r);
	if (c->idle_ns)
		loop_arm(t->loop, &c->idle, c->idle_ns);
	TAILQ_INSERT_TAIL(&t->calls, c, link);
	loop_post(t->loop, &t->pump);
	return c;
}

static void remote_cancel(struct transport *transport, struct call *c)
{
	struct remote *t = CONTAINER_OF(transport, struct remote, transport);
	c->cancelled = true;
	loop_disarm(t->loop, &c->idle);
	loop_post(t->loop, &t->pump);
}

static void remote_free(struct transport *transport)
{
	struct remote *t = CONTAINER_OF(transport, struct remote, transport);
	struct call *c;
	while ((c = TAILQ_FIRST(&t->calls)) != NULL)
		call_free(c);
	for (size_t i = 0; i < LANES; i++)
		curl_lane_close(&t->lanes[i]);
	loop_unpost(t->loop, &t->pump);
	wipe(&t->token);
	xfree(t->ca_pem);
	xfree(t->base_url);
	xfree(t->connect_to);
	xfree(t->host);
	arena_free(t->arena);
	xfree(t);
}

static const struct transport_ops ops = {
	.start = remote_start,
	.cancel = remote_cancel,
	.free = remote_free,
};

static void curl_url_cleanup_p(CURLU **u)
{
	curl->url_cleanup(*u);
}

static bool has_credentials(const struct transport_config *c)
{
	const char *const all[] = {c->token,    c->token_file, c->username,
				   c->password, c->cert_pem,   c->key_pem};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i] && *all[i])
			return true;
	return false;
}

/* With a server name of its own, the URL carries the name and the connection goes to the host. */
static int set_url(struct remote *t, const struct transport_config *c, struct error *err)
{
	CLEANUP(curl_url_cleanup_p) CURLU *u = curl->url();
	struct str base = str_of(c->base_url);
	while (base.len && base.ptr[base.len - 1] == '/')
		base.len--;
	t->base_url = str_dup(base);
	char *scheme = NULL, *host = NULL, *port = NULL, *query = NULL, *url = NULL, *user = NULL;
	bool ok = curl->url_set(u, CURLUPART_URL, t->base_url, 0) == CURLUE_OK &&
		  curl->url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
		  curl->url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
		  curl->url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
		  curl->url_get(u, CURLUPART_QUERY, &query, 0) != CURLUE_OK &&
		  (strcmp(scheme, "https") == 0 || strcmp(scheme, "http") == 0);
	if (ok) {
		uint64_t n = 0;
		struct str name = str_of(host);
		if (str_has_prefix(name, STR("[")))
			name = str_sub(name, 1, name.len - 2);
		t->host = str_dup(name);
		str_parse_u64(str_of(port), &n);
		t->port = (unsigned)n;
	}
	t->is_plain = ok && strcmp(scheme, "http") == 0;
	bool exposed = t->is_plain && (has_credentials(c) ||
				       curl->url_get(u, CURLUPART_USER, &user, 0) == CURLUE_OK);
	if (ok && c->tls_server_name && c->tls_server_name[0]) {
		CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&to, "%s:%s:%s:%s", c->tls_server_name, port, host, port);
		ok = curl->url_set(u, CURLUPART_HOST, c->tls_server_name, 0) == CURLUE_OK &&
		     curl->url_get(u, CURLUPART_URL, &url, 0) == CURLUE_OK;
		if (ok) {
			t->connect_to = strbuf_detach(&to);
			xfree(t->base_url);
			base = str_of(url);
			while (base.len && base.ptr[base.len - 1] == '/')
				base.len--;
			t->base_url = str_dup(base);
		}
	}
	curl->free(scheme);
	curl->free(host);
	curl->free(port);
	curl->free(query);
	curl->free(url);
	curl->free(user);
	if (exposed)
		return refuse_plain(c->base_url, err);
	return ok ? 0
		  : error_set(err, E_INVALID, "%s: want a URL of the form https://HOST:PORT",
			      c->base_url);
}

static const char *copy(struct remote *t, const char *text)
{
	return text && text[0] ? arena_strdup(t->arena, text) : NULL;
}

static void copy_config(struct remote *t, const struct transport_config *c)
{
	t->config = (struct transport_config){
		.ca_pem = copy(t, c->ca_pem),
		.cert_pem = copy(t, c->cert_pem),
		.key_pem = copy(t, c->key_pem),
		.ca_file = copy(t, c->ca_file),
		.token_file = copy(t, c->token_file),
		.username = copy(t, c->username),
		.password = copy(t, c->password),
		.proxy_url = copy(t, c->proxy_url),
		.insecure_skip_tls_verify = c->insecure_skip_tls_verify,
		.user_agent = copy(t, c->user_agent),
		.addresses = c->addresses,
	};
	if (c->token && c->token[0])
		t->token = xstrdup(c->token);
	if (t->config.token_file)
		read_token(t);
}

int transport_curl_new(struct loop *l, const struct transport_config *c, struct transport **ret,
		       struct error *err)
{
	if (curl_lib_load(&curl, err) < 0)
		return -err->code;
	struct remote *t = xcalloc(1, sizeof(*t));
	CLEANUP(transport_freep) struct transport *owner = &t->transport;
	t->transport.ops = &ops;
	t->loop = l;
	t->curl = curl;
	t->arena = arena_new(STRBUF_SMALL);
	for (size_t i = 0; i < LANES; i++)
		curl_lane_init(&t->lanes[i], l, curl, on_end);
	t->pump = (struct task){.fn = pump, .arg = t};
	TAILQ_INIT(&t->calls);
	int r = set_url(t, c, err);
	if (r < 0)
		return r;
	copy_config(t, c);
	*ret = STEAL(owner);
	return 0;
}

void transport_curl_renew(struct transport *transport, const char *token)
{
	struct remote *t = CONTAINER_OF(transport, struct remote, transport);
	assert(transport->ops == &ops);
	wipe(&t->token);
	t->token = xstrdup(token);
}
