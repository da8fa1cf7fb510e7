/*
 * bench_api: creates per second through apiserver_handle() with 1, 8 and 32 requests in a turn,
 * each turn one durable commit, against plain SQLite commits of the same number of rows in the same
 * run; then a list of 6,500 objects and a get. Without sockets and TLS.
 */
#include <stdio.h>
#include <time.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/io/tls.h"
#include "alm/io/transport.h"
#include "tests/lib/exchange_fake.h"

#define CREATES 3200
#define LISTED  6500

#define CMS "/apis/e.io/v1/namespaces/default/ws"

static const char crd[] =
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
	"\"metadata\":{\"name\":\"ws.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":\"Namespaced\","
	"\"names\":{\"plural\":\"ws\",\"kind\":\"W\"},\"versions\":[{\"name\":\"v1\",\"served\":"
	"true,\"storage\":true,\"subresources\":{\"status\":{}},\"schema\":{\"openAPIV3Schema\":{"
	"\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{"
	"\"size\":{\"type\":\"integer\",\"minimum\":0},\"color\":{\"type\":\"string\",\"default\":"
	"\"red\"},\"text\":{\"type\":\"string\"}}}}}}}]}}";

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void body_of(struct strbuf *b, int i)
{
	strbuf_clear(b);
	strbuf_addf(b,
		    "{\"apiVersion\":\"e.io/v1\",\"kind\":\"W\",\"metadata\":{\"name\":\"w%06d\","
		    "\"labels\":{\"app\":\"bench\"}},\"spec\":{\"size\":%d,\"text\":\"",
		    i, i);
	strbuf_pad(b, 'x', 300);
	strbuf_adds(b, "\"}}");
}

/* Rows per second of plain inserts of 700 bytes, n to a commit. */
static double raw_rate(struct db *d, int n)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(1024);
	strbuf_pad(&value, 'x', 700);
	if (db_exec(d,
		    "CREATE TABLE IF NOT EXISTS raw(id INTEGER PRIMARY KEY, name TEXT UNIQUE, "
		    "value BLOB)",
		    &err) < 0)
		return 0;
	static int64_t id;
	double t = now_s();
	for (int i = 0; i < CREATES; i += n) {
		db_begin(d, &err);
		for (int j = 0; j < n; j++) {
			struct stmt *st;
			char name[64];
			snprintf(name, sizeof(name), "/e.io/ws/default/w%lld", (long long)++id);
			db_prepare(d, "INSERT INTO raw VALUES(?1, ?2, ?3)", &st, &err);
			stmt_bind_int(st, 1, id);
			stmt_bind_cstr(st, 2, name);
			stmt_bind_blob(st, 3, strbuf_str(&value));
			stmt_step(st, &err);
		}
		db_commit(d, &err);
	}
	return CREATES / (now_s() - t);
}

static double create_rate(struct apifake *f, int clients, int *next)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	double t = now_s();
	for (int i = 0; i < CREATES; i += clients) {
		for (int j = 0; j < clients; j++) {
			body_of(&b, (*next)++);
			size_t n = apifake_send(f, "POST", CMS, NULL, b.buf);
			(void)n;
		}
		apifake_run(f);
		apifake_forget(f);
	}
	return CREATES / (now_s() - t);
}

static void bench(bool audit, const char *path)
{
	struct error err = ERROR_INIT;
	int next = 0;
	struct apifake_options o = {.with_audit = audit, .path = path};
	file_remove(path, &err);
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&o);
	apifake_do(f, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
	for (int n = 1; n <= 32; n = n == 1 ? 8 : n * 4) {
		double raw = raw_rate(apifake_db(f), n), rate = create_rate(f, n, &next);
		printf("audit %-3s  %2d a turn: %7.0f creates/s, plain SQLite %7.0f rows/s, "
		       "ratio %.2f\n",
		       audit ? "on" : "off", n, rate, raw, rate / raw);
	}
	apifake_forget(f);
	double t = now_s();
	size_t n = apifake_send(f, "GET", CMS "?limit=6500", NULL, NULL);
	printf("audit %-3s  list of 6500: %.1f ms with %zu bytes\n", audit ? "on" : "off",
	       (now_s() - t) * 1e3, apifake_bytes(f, n));
	t = now_s();
	for (int i = 0; i < 20000; i++) {
		apifake_send(f, "GET", CMS "/w000100", NULL, NULL);
		if (i % 1000 == 0)
			apifake_forget(f);
	}
	printf("audit %-3s  get: %.0f/s\n", audit ? "on" : "off", 20000 / (now_s() - t));
}

/* Over TLS, the clients in the same thread as the server: both sides share one core. */
struct flood {
	struct loop *loop;
	struct transport *transport;
	int next, started, done;
};

static void flood_start(struct flood *f);

static void flood_data(void *arg, struct str chunk)
{
	(void)arg;
	(void)chunk;
}

static void flood_done(void *arg, const struct error *err)
{
	struct flood *f = arg;
	if (err)
		fprintf(stderr, "bench_api: %s\n", err->msg);
	f->done++;
	if (f->started < CREATES)
		flood_start(f);
	if (f->done == CREATES)
		loop_stop(f->loop);
}

static void flood_start(struct flood *f)
{
	static const struct transport_events events = {NULL, flood_data, flood_done};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	body_of(&b, f->next++);
	struct transport_request r = {.method = "POST",
				      .target = CMS,
				      .body = strbuf_str(&b),
				      .timeout_ns = 60 * NS_PER_S,
				      .body_max = 1 << 20};
	http_header_add(&r.headers, "Content-Type", "application/json");
	f->started++;
	transport_start(f->transport, &r, &events, f);
}

static void flood_handle(void *arg, struct exchange *x)
{
	apiserver_handle(arg, x);
}

static bool flood_admit(void *arg, struct exchange *x, struct server_client *ret)
{
	return apiserver_admit(arg, x, ret);
}

/* Creates by n clients at a time: their CPU seconds, of both sides. */
static double flood_round(struct flood *f, struct transport *t, int n, int creates)
{
	double cpu = cpu_s();
	f->transport = t;
	f->done = f->started = CREATES - creates;
	for (int i = 0; i < n; i++)
		flood_start(f);
	loop_run(f->loop);
	return cpu_s() - cpu;
}

/* What it costs to know the client at the head and to charge him: rounds in turn, so that the load
 * of the machine meets both. */
static void bench_admit(struct flood *f, struct transport *with, struct transport *without)
{
	enum { ROUNDS = 24, ROUND = 200 };
	double sum[2] = {0, 0};
	for (int i = 0; i < 2 * ROUNDS; i++)
		sum[i % 2] += flood_round(f, i % 2 ? without : with, 8, ROUND);
	printf("audit on, TLS  admission at the head: %.0f CPU us a create, without: %.0f, ratio "
	       "%.3f\n",
	       sum[0] / (ROUNDS * ROUND) * 1e6, sum[1] / (ROUNDS * ROUND) * 1e6, sum[0] / sum[1]);
}

static void bench_http(const char *path)
{
	static const char *const groups[] = {"system:masters"};
	const struct apiserver_token token = {"secret", "admin", "1", groups, 1};
	struct error err = ERROR_INIT;
	struct loop *loop = loop_event_new();
	struct db *db = NULL;
	struct audit *audit = NULL;
	struct apiserver *api = NULL;
	struct server *server = NULL, *plain = NULL;
	struct transport *other = NULL;
	struct flood f = {.loop = loop};
	char *ca = NULL, *ca_key = NULL, *cert = NULL, *key = NULL, url[128];
	file_remove(path, &err);
	struct db_config dc = {.path = path};
	struct audit_config au = {.loop = loop};
	if (db_open(&dc, &db, &err) < 0)
		goto out;
	au.db = db;
	if (audit_open(&au, &audit, &err) < 0 ||
	    tls_ca_new(loop, "bench", &ca, &ca_key, &err) < 0 ||
	    tls_serving_new(loop, ca, ca_key, NULL, 0, &cert, &key, &err) < 0)
		goto out;
	struct apiserver_config ac = {.db = db,
				      .loop = loop,
				      .audit = audit,
				      .tokens = &token,
				      .n_tokens = 1,
				      .ca_pem = "",
				      .address = ""};
	struct server_config sc = {
		.listen = "127.0.0.1:0", .cert_pem = cert, .key_pem = key, .admit = flood_admit};
	if (apiserver_new(&ac, &api, &err) < 0 ||
	    server_listen(loop, &sc, flood_handle, api, &server, &err) < 0)
		goto out;
	sc.admit = NULL;
	if (server_listen(loop, &sc, flood_handle, api, &plain, &err) < 0)
		goto out;
	snprintf(url, sizeof(url), "https://%s", server_address(server));
	struct transport_config tc = {
		.base_url = url, .ca_pem = ca, .token = "secret", .user_agent = "bench"};
	struct transport_request def = {
		.method = "POST",
		.target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		.body = str_of(crd)};
	static const struct transport_events once = {NULL, flood_data, flood_done};
	http_header_add(&def.headers, "Content-Type", "application/json");
	if (transport_curl_new(loop, &tc, &f.transport, &err) < 0)
		goto out;
	snprintf(url, sizeof(url), "https://%s", server_address(plain));
	if (transport_curl_new(loop, &tc, &other, &err) < 0)
		goto out;
	f.done = CREATES - 1; /* the definition alone */
	f.started = CREATES;
	transport_start(f.transport, &def, &once, &f);
	loop_run(loop);
	for (int n = 1; n <= 32; n = n == 1 ? 8 : n * 4) {
		f.done = f.started = 0;
		double t = now_s(), cpu = cpu_s();
		for (int i = 0; i < n; i++)
			flood_start(&f);
		loop_run(loop);
		printf("audit on, TLS  %2d clients: %7.0f creates/s, %.0f CPU us each on both "
		       "sides\n",
		       n, CREATES / (now_s() - t), (cpu_s() - cpu) / CREATES * 1e6);
	}
	struct transport *first = f.transport;
	bench_admit(&f, first, other);
	f.transport = first;
out:
	if (err.code)
		fprintf(stderr, "bench_api: %s\n", err.msg);
	transport_free(f.transport);
	transport_free(other);
	apiserver_free(api);
	server_free(server);
	server_free(plain);
	audit_close(audit);
	db_close(db);
	loop_free(loop);
	xfree(ca);
	xfree(ca_key);
	xfree(cert);
	xfree(key);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "build/bench_api.db";
	bench(false, path);
	bench(true, path);
	bench_http(path);
	return 0;
}
