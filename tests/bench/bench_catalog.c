/*
 * bench_catalog: an index.yaml of 10,000 versions read, built and linted; one of 1,000,000, which
 * is over the limit and refused by name. Milliseconds of processor time, and what JSON of the same
 * size takes in the same run ("NAME ratio R").
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "alm/obj/json.h"
#include "catalog/index/entry.h"
#include "catalog/index/helm_index.h"
#include "catalog/lint/lint.h"

#define TEXT_MAX ((size_t)256 << 20)
#define DIGEST   "aef4455000000000000000000000000000000000000000000000000000000000"

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* 100 versions a package, each with a descriptor. */
static void write_index(struct strbuf *b, int n)
{
	strbuf_addf(b, "apiVersion: v1\nentries:\n");
	for (int i = 0; i < n; i++) {
		if (i % 100 == 0)
			strbuf_addf(b, "  p%d:\n", i / 100);
		strbuf_addf(b,
			    "  - {name: p%d, version: 1.%d.0, digest: " DIGEST
			    ", urls: [p%d-1.%d.0.tgz], annotations: {app.coreos.com/package: "
			    "\"{channels: [stable], provides: [as%d.x.io/v1], skipRange: "
			    "\\\"<1.%d.0\\\"}\"}}\n",
			    i / 100, i % 100, i / 100, i % 100, i / 100, i % 100);
	}
}

/* Small ones, as large as fits. */
static void write_many(struct strbuf *b, int n)
{
	strbuf_addf(b, "entries:\n  a:\n");
	for (int i = 0; i < n; i++)
		strbuf_addf(b, "  - {name: a, version: %d, digest: aef4455, urls: [a]}\n", i);
}

static int load(struct str text, struct catalog_index *x, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(HELM_LINES_BYTES_MAX);
	struct weburl base;
	if (weburl_parse(STR("https://h/index.yaml"), "https", a, &base, err) < 0 ||
	    helm_index_read(text, &base, 0, &lines, err) < 0)
		return -err->code;
	struct str rest = strbuf_str(&lines);
	int more;
	do {
		more = entry_read_lines(x, &rest, 1000, err);
	} while (more > 0);
	return more < 0 ? more : index_finish(x, STR_NONE, err);
}

static void small(void)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_MAX);
	CLEANUP(index_freep) struct catalog_index *x = index_new("bench", 0);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error err = ERROR_INIT;
	struct lint l = lint_new(a);
	write_index(&text, 10000);
	double t0 = now_ms();
	int r = load(strbuf_str(&text), x, &err);
	double t1 = now_ms();
	lint_index(&l, x);
	lint_reject(x);
	double t2 = now_ms();
	if (r < 0 || x->n != 10000)
		printf("bench_catalog: %zu versions: %s\n", x->n, err.msg);
	strbuf_addc(&json, '[');
	while (json.len < text.len)
		strbuf_addf(&json, "%s{\"name\": \"p\", \"digest\": \"" DIGEST "\"}",
			    json.len > 1 ? ", " : "");
	strbuf_addc(&json, ']');
	double t3 = now_ms();
	r = json_parse(strbuf_str(&json), &o, &err);
	double t4 = now_ms();
	assert(r == 0);
	printf("catalog-load-10000 ms %.0f\n", t1 - t0);
	printf("catalog-lint-10000 ms %.0f (%zu findings)\n", t2 - t1, l.n_errors + l.n_warnings);
	printf("catalog-load-and-lint ratio %.2f\n", (t2 - t0) / (t4 - t3));
}

static void large(void)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
	CLEANUP(index_freep) struct catalog_index *x = index_new("bench", 0);
	struct error err = ERROR_INIT;
	write_many(&text, 1000000);
	double t0 = now_ms();
	int r = load(strbuf_str(&text), x, &err);
	assert(r < 0);
	printf("catalog-refuse-1000000 ms %.0f (%zu MiB: %s)\n", now_ms() - t0, text.len >> 20,
	       err.msg);
}

int main(void)
{
	small();
	large();
	return 0;
}
