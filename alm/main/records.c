#include "alm/main/records.h"

#include <sys/queue.h>

#include "alm/apiserver/apiserver.h"
#include "alm/client/delegated.h"
#include "alm/client/injected_ca.h"
#include "alm/io/serving_cert.h"

#define PEM_BYTES_MAX ((size_t)64 << 10)

struct asked {
	TAILQ_ENTRY(asked) link;
	struct records *r;
	struct exchange *x;
	struct rbac_attributes at;
	struct delegated_ask *ask;
};

struct records {
	struct loop *loop;
	struct records_config c;
	struct arena *arena;
	const char *host; /* of the certificate */
	struct injected_ca *ca;
	struct serving_cert serving;
	struct server *server;
	struct db *db; /* of the store, which stays empty */
	struct apiserver *api;
	struct delegated *delegated;
	TAILQ_HEAD(, asked) asked;
	size_t n_asked;
};

/* --- requests --- */

static void answer_plain(struct exchange *x, int status, const char *text)
{
	struct http_headers headers = {0};
	http_header_add(&headers, "Content-Type", "text/plain");
	if (status == 429)
		http_header_add(&headers, "Retry-After", "1");
	exchange_reply(x, status, &headers, str_of(text));
}

static void asked_free(struct asked *q)
{
	delegated_cancel(q->ask);
	TAILQ_REMOVE(&q->r->asked, q, link);
	q->r->n_asked--;
	xfree(q);
}

static void on_close(void *arg)
{
	asked_free(arg);
}

static void decided(void *arg, const char *user, const struct error *err)
{
	struct asked *q = arg;
	struct records *r = q->r;
	struct exchange *x = q->x;
	const char *name = arena_strdup(x->arena, user);
	q->ask = NULL;
	asked_free(q);
	x->on_close = NULL;
	if (err)
		apiserver_refuse(x, name, err);
	else
		apiserver_handle(r->api, x);
}

static void handle(void *arg, struct exchange *x)
{
	struct records *r = arg;
	const char *version;
	if (r->n_asked == RECORDS_MAX) {
		answer_plain(x, 429, "too many requests, please try again later\n");
		return;
	}
	struct asked *q = xcalloc(1, sizeof(*q));
	if (apiserver_asks(r->api, x, &q->at, &version) < 0) {
		xfree(q);
		return;
	}
	q->r = r;
	q->x = x;
	TAILQ_INSERT_TAIL(&r->asked, q, link);
	r->n_asked++;
	x->on_close = on_close;
	x->on_close_arg = q;
	q->ask = delegated_ask(r->delegated, x, &q->at, version, decided, q);
}

static bool is_below(const char *path, const char *top)
{
	struct str rest = str_of(path);
	if (!cstr_has_prefix(path, top))
		return false;
	rest = str_skip(rest, str_of(top).len);
	return !rest.len || rest.ptr[0] == '/';
}

static bool is_health(const char *path)
{
	return is_below(path, "/healthz") || is_below(path, "/livez") || is_below(path, "/readyz");
}

/* The log has more paths at `alm up`; here they are AuditRecords and what tells of them. */
static bool admit(void *arg, struct exchange *x, struct server_client *ret)
{
	struct records *r = arg;
	const char *path = x->request.path;
	if (is_health(path)) {
		apiserver_handle(r->api, x);
		return false;
	}
	if (!is_below(path, "/apis") && !is_below(path, "/openapi") &&
	    !is_below(path, "/version")) {
		answer_plain(x, 404, "404 page not found\n");
		return false;
	}
	ret->user = delegated_proxied(r->delegated, &x->request, x->arena);
	return true;
}

/* --- certificates --- */

static int sign(void *arg, const char *cert, const char *key, struct error *err)
{
	struct records *r = arg;
	const char *former_cert = r->serving.ca_cert, *former_key = r->serving.ca_key;
	r->serving.ca_cert = cert;
	r->serving.ca_key = key;
	if (serving_cert_make(&r->serving, err) >= 0 &&
	    (!r->server || server_renew(r->server, r->serving.cert, r->serving.key, err) >= 0))
		return 0;
	r->serving.ca_cert = former_cert;
	r->serving.ca_key = former_key;
	return -err->code;
}

static int make_certificates(struct records *r, struct error *err)
{
	const struct injected_ca_config c = {.client = r->c.client,
					     .dir = r->c.data_dir,
					     .name = "records-ca",
					     .apiservice = RECORDS_SERVICE,
					     .sign = sign,
					     .arg = r};
	r->serving = (struct serving_cert){
		.loop = r->loop, .listen = r->c.listen, .hosts = &r->host, .n_hosts = 1};
	return injected_ca_open(&c, &r->ca, err);
}

static int trust_clients(void *arg, const char *ca_pem, struct error *err)
{
	struct records *r = arg;
	return server_renew_clients(r->server, ca_pem, err);
}

void records_lead(struct records *r, bool leads)
{
	if (r)
		injected_ca_lead(r->ca, leads);
}

/* --- life --- */

static int open_api(struct records *r, struct error *err)
{
	struct db_config dc = {.path = ":memory:"};
	struct apiserver_config ac = {.loop = r->loop, .audit = r->c.audit, .records_only = true};
	if (db_open(&dc, &r->db, err) < 0)
		return -err->code;
	ac.db = r->db;
	return apiserver_new(&ac, &r->api, err);
}

static int start(struct records *r, struct error *err)
{
	const char **hosts = ARENA_ARRAY(r->arena, const char *, r->c.n_hosts + 1);
	hosts[0] = RECORDS_HOST;
	for (size_t i = 0; i < r->c.n_hosts; i++)
		hosts[i + 1] = r->c.hosts[i];
	if (make_certificates(r, err) < 0 || open_api(r, err) < 0)
		return -err->code;
	struct server_config sc = {.listen = r->c.listen,
				   .cert_pem = r->serving.cert,
				   .key_pem = r->serving.key,
				   .admit = admit,
				   .hosts = hosts,
				   .n_hosts = r->c.n_hosts + 1};
	if (server_listen(r->loop, &sc, handle, r, &r->server, err) < 0)
		return error_wrap(err, "--records-listen");
	serving_cert_keep(&r->serving, r->server);
	delegated_start(r->delegated, trust_clients, r);
	injected_ca_start(r->ca);
	return 0;
}

int records_start(const struct records_config *config, struct records **ret, struct error *err)
{
	*ret = NULL;
	if (!config->listen)
		return 0;
	struct records *r = xcalloc(1, sizeof(*r));
	r->loop = client_loop(config->client);
	r->c = *config;
	r->arena = arena_new(PEM_BYTES_MAX);
	r->host = RECORDS_HOST;
	r->delegated = delegated_new(config->client);
	TAILQ_INIT(&r->asked);
	if (start(r, err) < 0) {
		records_free(r);
		return -err->code;
	}
	*ret = r;
	return 0;
}

const char *records_address(const struct records *r)
{
	return server_address(r->server);
}

static void end_all(struct records *r)
{
	struct asked *q, *next;
	for (q = TAILQ_FIRST(&r->asked); q; q = next) {
		struct exchange *x = q->x;
		next = TAILQ_NEXT(q, link);
		asked_free(q);
		x->on_close = NULL;
		answer_plain(x, 503, "the server ends\n");
	}
}

void records_free(struct records *r)
{
	if (!r)
		return;
	injected_ca_free(r->ca);
	end_all(r);
	apiserver_free(r->api);
	server_free(r->server);
	delegated_free(r->delegated);
	serving_cert_release(&r->serving);
	db_close(r->db);
	arena_free(r->arena);
	xfree(r);
}
