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

#define BUILTIN_HEAD "{\"metadata\":{\"name\":\"b"
#define CONFIGMAP \
	"\"},\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"data\":{\"a\":\"b\",\"c\":\"d\"}}"
#define DEPLOYMENT                                                                               \
	"\"},\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\",\"spec\":{\"replicas\":2,"       \
	"\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{"  \
	"\"a\":"                                                                                 \
	"\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i:1\",\"ports\":[{"       \
	"\"containerPort\":80,\"name\":\"http\"}],\"env\":[{\"name\":\"A\",\"value\":\"1\"}],"   \
	"\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"128Mi\"}},\"livenessProbe\":{" \
	"\"httpGet\":{\"path\":\"/\",\"port\":\"http\"}}}]}}}}"

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

/* Deployments and ConfigMaps, which the table of types decodes. CPU seconds: the disk is out of it. */
static double builtin_cpu(struct apifake *f, const char *path, const char *format, int *next)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	double cpu = cpu_s();
	for (int i = 0; i < CREATES; i += 32) {
		for (int j = 0; j < 32; j++) {
			strbuf_clear(&b);
			strbuf_addf(&b, "%s%d%s", BUILTIN_HEAD, (*next)++, format);
			apifake_send(f, "POST", path, NULL, b.buf);
		}
		apifake_run(f);
		apifake_forget(f);
	}
	return (cpu_s() - cpu) / CREATES;
}

static void bench_builtin(const char *path)
{
	struct error err = ERROR_INIT;
	int next = 0;
	struct apifake_options o = {.path = path};
	file_remove(path, &err);
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&o);
	for (int i = 0; i < 3; i++)
		printf("built-in kinds, CPU a create: ConfigMap %.0f us, Deployment %.0f us\n",
		       builtin_cpu(f, "/api/v1/namespaces/default/configmaps", CONFIGMAP, &next) *
			       1e6,
		       builtin_cpu(f, "/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT,
				   &next) *
			       1e6);
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

/* A server with TLS that asks who a client is at the head, and one that does not. */
struct http_bench {
	struct loop *loop;
	struct db *db;
	struct audit *audit;
	struct apiserver *api;
	struct server *server, *plain;
	struct transport *other; /* to plain */
	struct flood f;          /* to server */
	char *ca, *ca_key, *cert, *key;
};

static int open_servers(struct http_bench *b, const char *path, struct error *err)
{
	static const char *const groups[] = {"system:masters"};
	static const struct apiserver_token token = {"secret", "admin", "1", groups, 1};
	struct db_config dc = {.path = path};
	struct audit_config au = {.loop = b->loop};
	if (db_open(&dc, &b->db, err) < 0)
		return -err->code;
	au.db = b->db;
	if (audit_open(&au, &b->audit, err) < 0 ||
	    tls_ca_new(b->loop, "bench", &b->ca, &b->ca_key, err) < 0 ||
	    tls_serving_new(b->loop, b->ca, b->ca_key, NULL, 0, &b->cert, &b->key, err) < 0)
		return -err->code;
	struct apiserver_config ac = {.db = b->db,
				      .loop = b->loop,
				      .audit = b->audit,
				      .tokens = &token,
				      .n_tokens = 1,
				      .ca_pem = "",
				      .address = ""};
	struct server_config sc = {.listen = "127.0.0.1:0",
				   .cert_pem = b->cert,
				   .key_pem = b->key,
				   .admit = flood_admit};
	if (apiserver_new(&ac, &b->api, err) < 0 ||
	    server_listen(b->loop, &sc, flood_handle, b->api, &b->server, err) < 0)
		return -err->code;
	sc.admit = NULL;
	return server_listen(b->loop, &sc, flood_handle, b->api, &b->plain, err);
}

static int connect_to(struct http_bench *b, struct server *s, struct transport **ret,
		      struct error *err)
{
	char url[128];
	snprintf(url, sizeof(url), "https://%s", server_address(s));
	struct transport_config tc = {
		.base_url = url, .ca_pem = b->ca, .token = "secret", .user_agent = "bench"};
	return transport_curl_new(b->loop, &tc, ret, err);
}

static void define_kind(struct http_bench *b)
{
	static const struct transport_events once = {NULL, flood_data, flood_done};
	struct transport_request def = {
		.method = "POST",
		.target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		.body = str_of(crd)};
	http_header_add(&def.headers, "Content-Type", "application/json");
	b->f.done = CREATES - 1; /* the definition alone */
	b->f.started = CREATES;
	transport_start(b->f.transport, &def, &once, &b->f);
	loop_run(b->loop);
}

static void measure_http(struct http_bench *b)
{
	define_kind(b);
	for (int n = 1; n <= 32; n = n == 1 ? 8 : n * 4) {
		b->f.done = b->f.started = 0;
		double t = now_s(), cpu = cpu_s();
		for (int i = 0; i < n; i++)
			flood_start(&b->f);
		loop_run(b->loop);
		printf("audit on, TLS  %2d clients: %7.0f creates/s, %.0f CPU us each on both "
		       "sides\n",
		       n, CREATES / (now_s() - t), (cpu_s() - cpu) / CREATES * 1e6);
	}
	struct transport *first = b->f.transport;
	bench_admit(&b->f, first, b->other);
	b->f.transport = first;
}

static void bench_http(const char *path)
{
	struct error err = ERROR_INIT;
	struct http_bench b = {.loop = loop_event_new()};
	b.f.loop = b.loop;
	file_remove(path, &err);
	err = ERROR_INIT;
	if (open_servers(&b, path, &err) < 0 ||
	    connect_to(&b, b.server, &b.f.transport, &err) < 0 ||
	    connect_to(&b, b.plain, &b.other, &err) < 0)
		fprintf(stderr, "bench_api: %s\n", err.msg);
	else
		measure_http(&b);
	transport_free(b.f.transport);
	transport_free(b.other);
	apiserver_free(b.api);
	server_free(b.server);
	server_free(b.plain);
	audit_close(b.audit);
	db_close(b.db);
	loop_free(b.loop);
	xfree(b.ca);
	xfree(b.ca_key);
	xfree(b.cert);
	xfree(b.key);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "build/bench_api.db";
	bench_builtin(path);
	bench(false, path);
	bench(true, path);
	bench_http(path);
	return 0;
}
