/*
 * bench_crd: the live check and the migration of a CRD against an `alm server` in a process of its
 * own. Each beside the bare requests it is made of, in the same run: lists without judging, and
 * updates that change a value. OBJECTS=100000 and MIGRATED=10000 are the sizes of the targets.
 *
 *	live check 100000: S s, ratio to the bare lists R, peak memory M MiB; processor: ...
 *	migration 10000: S s, ratio to bare updates R (N a second; processor: server S s, this A s)
 */
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/client/kubeconfig.h"
#include "alm/io/http.h"
#include "alm/live/live_gate.h"
#include "alm/live/migration.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define IN_FLIGHT 8

static struct loop *loop;
static struct client *client;
static struct arena *arena;
static const struct resource crds = {"apiextensions.k8s.io", "v1", "customresourcedefinitions",
				     "CustomResourceDefinition", false};
static const struct resource things = {"bench.io", "v1", "things", "Thing", true};

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static pid_t server;

/* Seconds of processor time so far: what a busy machine does not change. */
static double cpu_of(pid_t pid)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	char path[64];
	unsigned long user = 0, system = 0;
	struct error err;
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	if (file_read(path, &b, &err) < 0)
		return 0;
	struct str rest = strbuf_str(&b), word;
	for (int i = 1; i <= 15 && str_cut(rest, ' ', &word, &rest); i++) {
		uint64_t n = 0;
		if (i >= 14 && str_parse_u64(word, &n))
			*(i == 14 ? &user : &system) = (unsigned long)n;
	}
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void die(const char *what, const struct error *err)
{
	fprintf(stderr, "%s: %s\n", what, err ? err->msg : "failed");
	if (server)
		kill(server, SIGTERM);
	exit(1);
}

static struct obj *parsed(const char *text)
{
	struct obj *o = NULL;
	struct error err;
	if (json_parse(str_of(text), &o, &err) < 0)
		die("json", &err);
	return o;
}

static struct obj *definition(const char *stored, int max_length)
{
	bool v2 = !strcmp(stored, "v2");
	char text[2048], schema[512];
	snprintf(schema, sizeof(schema),
		 "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{"
		 "\"type\":\"object\",\"properties\":{\"size\":{\"type\":\"integer\"},\"image\":{"
		 "\"type\":\"string\",\"maxLength\":%d},\"args\":{\"type\":\"array\",\"items\":{"
		 "\"type\":\"string\"}}}}}}}",
		 max_length);
	snprintf(
		text, sizeof(text),
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"things.bench.io\"},\"spec\":{\"group\":\"bench.io\","
		"\"scope\":\"Namespaced\",\"names\":{\"plural\":\"things\",\"kind\":\"Thing\"},"
		"\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":%s,%s},{\"name\":"
		"\"v2\","
		"\"served\":true,\"storage\":%s,%s}]}}",
		v2 ? "false" : "true", schema, v2 ? "true" : "false", schema);
	return parsed(text);
}

/* --- requests, some at a time --- */

struct batch {
	int next, n, busy;
	int round; /* the value written */
};

static void send_more(struct batch *b);

static void written(void *arg, const struct client_reply *reply)
{
	struct batch *b = arg;
	b->busy--;
	if (reply->err)
		die("write", reply->err);
	send_more(b);
	if (!b->busy)
		loop_stop(loop);
}

static void send_more(struct batch *b)
{
	while (b->busy < IN_FLIGHT && b->next < b->n) {
		char text[512];
		snprintf(
			text, sizeof(text),
			"{\"apiVersion\":\"bench.io/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":"
			"\"thing-%06d\",\"namespace\":\"default\"},\"spec\":{\"size\":%d,\"image\":"
			"\"registry.example.org/team/"
			"thing:1.2.3\",\"args\":[\"--listen\",\"0.0.0.0\","
			"\"--level\",\"info\"]}}",
			b->next, b->round);
		struct obj *o = parsed(text);
		b->busy++;
		if (b->round)
			client_patch(client, &things, "default", meta_name(o),
				     "application/merge-patch+json", o, NULL, written, b);
		else
			client_create(client, &things, "default", o, NULL, written, b);
		b->next++;
		obj_unref(o);
	}
}

static double write_all(int from, int n, int round)
{
	struct batch b = {.next = from, .n = n, .round = round};
	double start = now_s();
	send_more(&b);
	loop_run(loop);
	return now_s() - start;
}

struct pages {
	char *next;
	size_t n;
};

static void page_read(void *arg, const struct client_reply *reply)
{
	struct pages *p = arg;
	const char *next = obj_str(reply->body, "metadata.continue");
	if (reply->err)
		die("list", reply->err);
	p->n += obj_len(obj_get(reply->body, "items"));
	xfree(p->next);
	p->next = next && *next ? xstrdup(next) : NULL;
	loop_stop(loop);
}

static double list_all(size_t *ret_n)
{
	struct pages p = {NULL, 0};
	double start = now_s();
	do {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		const char *query = p.next ? arena_fmt(a, "limit=500&continue=%s",
						       url_encode(str_of(p.next), a))
					   : "limit=500";
		client_list(client, &things, NULL, query, page_read, &p);
		loop_run(loop);
	} while (p.next);
	*ret_n = p.n;
	return now_s() - start;
}

/* --- what is measured --- */

static void judged(void *arg, struct obj *value, const struct error *err)
{
	struct obj **ret = arg;
	if (err)
		die("live check", err);
	*ret = value;
	loop_stop(loop);
}

static void bench_live(int n)
{
	struct obj *value = NULL, *request = obj_map();
	struct rusage use;
	size_t seen;
	double bare = list_all(&seen), start = now_s();
	double server_cpu = cpu_of(server), own_cpu = cpu_of(getpid());
	obj_set(request, "crd", definition("v2", 20));
	const struct live_gate_config c = {
		.client = client, .loop = loop, .request = request, .done = judged, .arg = &value};
	live_gate_start(&c);
	loop_run(loop);
	double took = now_s() - start;
	getrusage(RUSAGE_SELF, &use);
	printf("live check %d: %.2f s, ratio to the bare lists %.2f, peak memory %ld MiB; "
	       "processor: "
	       "server %.1f s, this %.1f s\n",
	       n, took, took / bare, use.ru_maxrss / 1024, cpu_of(server) - server_cpu,
	       cpu_of(getpid()) - own_cpu);
	if (obj_i64(value, "objects", 0) != (int64_t)seen || seen != (size_t)n)
		die("live check: objects are missing", NULL);
	obj_unref(value);
	obj_unref(request);
}

static void migrated(void *arg, const struct migration_result *r, const struct error *err)
{
	size_t *n = arg;
	if (err)
		die("migration", err);
	*n = r->n;
	loop_stop(loop);
}

static void crd_written(void *arg, const struct client_reply *reply)
{
	(void)arg;
	if (reply->err)
		die("definition", reply->err);
	loop_stop(loop);
}

static void put_crd(const char *stored)
{
	struct obj *o = definition(stored, 100);
	struct client_options force = {.force = true};
	client_apply(client, &crds, NULL, "things.bench.io", o, &force, crd_written, NULL);
	loop_run(loop);
	obj_unref(o);
}

static void bench_migration(int n)
{
	size_t done = 0;
	double bare = write_all(0, n, 1);
	put_crd("v2");
	double start = now_s(), server_cpu = cpu_of(server), own_cpu = cpu_of(getpid());
	const struct migration_config c = {.client = client,
					   .crd = "things.bench.io",
					   .to = "v2",
					   .ignore_writers = true,
					   .done = migrated,
					   .arg = &done};
	struct migration *m = migration_start(&c);
	loop_run(loop);
	double took = now_s() - start;
	printf("migration %zu: %.2f s, ratio to bare updates %.2f (%.0f a second; processor: "
	       "server "
	       "%.1f s, this %.1f s)\n",
	       done, took, took / bare, (double)done / took, cpu_of(server) - server_cpu,
	       cpu_of(getpid()) - own_cpu);
	migration_free(m);
}

/* --- the server --- */

static pid_t start_server(const char *dir)
{
	const char *alm = getenv("ALM");
	pid_t pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(1);
		execl(alm ? alm : "./alm", "alm", "server", "--data-dir", dir, "--listen",
		      "127.0.0.1:0", (char *)NULL);
		_exit(1);
	}
	return pid;
}

static void connect_to(const char *dir)
{
	struct error err = ERROR_INIT;
	struct kubeconfig *k = NULL;
	struct kubeconfig_target t = {0};
	struct transport *transport = NULL;
	struct kubeconfig_sources src = {.path = arena_fmt(arena, "%s/kubeconfig", dir)};
	for (int i = 0; i < 200 && !file_exists(src.path); i++)
		usleep(50000);
	usleep(300000);
	if (kubeconfig_load(&src, &k, &err) < 0 ||
	    kubeconfig_resolve(k, NULL, false, arena, &t, &err) < 0)
		die("kubeconfig", &err);
	loop = loop_event_new();
	if (transport_curl_new(loop, &t.transport, &transport, &err) < 0)
		die("transport", &err);
	client = client_new(loop, transport);
	kubeconfig_free(k);
}

static int size_of(const char *name, int otherwise)
{
	int64_t n = otherwise;
	const char *text = getenv(name);
	return text && !str_parse_i64(str_of(text), &n) ? otherwise : (int)n;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

int main(void)
{
	char dir[] = "/tmp/bench_crd.XXXXXX";
	int n = size_of("OBJECTS", 20000), few = size_of("MIGRATED", 5000);
	if (!mkdtemp(dir))
		die("folder", NULL);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	arena = arena_new(16 << 20);
	server = start_server(dir);
	connect_to(dir);
	put_crd("v1");
	write_all(0, few, 0);
	bench_migration(few);
	printf("created %d more: %.2f s\n", n - few, write_all(few, n, 0));
	bench_live(n);
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	return nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS) ? 1 : 0;
}
