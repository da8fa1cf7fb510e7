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

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "build/bench_api.db";
	bench(false, path);
	bench(true, path);
	return 0;
}
