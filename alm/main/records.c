#include "alm/main/records.h"

#include <sys/queue.h>

#include "alm/apiserver/apiserver.h"
#include "alm/client/delegated.h"
#include "alm/main/injected_server.h"

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
	struct injected_server front;
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
	const char *path = x->request->path;
	if (is_health(path)) {
		apiserver_handle(r->api, x);
		return false;
	}
	if (!is_below(path, "/apis") && !is_below(path, "/openapi") &&
	    !is_below(path, "/version")) {
		answer_plain(x, 404, "404 page not found\n");
		return false;
	}
	ret->user = delegated_proxied(r->delegated, x->request, x->arena);
	return true;
}

static int trust_clients(void *arg, const char *ca_pem, struct error *err)
{
	struct records *r = arg;
	return server_renew_clients(r->front.server, ca_pem, err);
}

void records_lead(struct records *r, bool leads)
{
	if (r)
		injected_server_lead(&r->front, leads);
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
	const struct injected_server_config c = {.client = r->c.client,
						 .data_dir = r->c.data_dir,
						 .ca_name = "records-ca",
						 .place = &injected_ca_apiservices,
						 .object = RECORDS_SERVICE,
						 .host = RECORDS_HOST,
						 .hosts = r->c.hosts,
						 .n_hosts = r->c.n_hosts,
						 .listen = r->c.listen,
						 .admit = admit};
	if (open_api(r, err) < 0)
		return -err->code;
	if (injected_server_start(&r->front, &c, r->arena, handle, r, err) < 0)
		return error_wrap(err, "--records-listen");
	delegated_start(r->delegated, trust_clients, r);
	return 0;
}

int records_check(struct loop *l, const char *listen, struct error *err)
{
	if (listen && server_probe(l, listen, err) < 0)
		return error_wrap(err, "--records-listen");
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
	return server_address(r->front.server);
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
	injected_server_end(&r->front);
	end_all(r);
	apiserver_free(r->api);
	injected_server_release(&r->front);
	delegated_free(r->delegated);
	db_close(r->db);
	arena_free(r->arena);
	xfree(r);
}
