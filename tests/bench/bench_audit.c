/*
 * bench_audit: appends against plain inserts into the same table without triggers, hashes and tiles
 * (specs/audit.md 11), and verify. Both sides are interleaved in one run; a line is
 * "NAME ratio R", R > 1: the log is slower.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alm/audit/audit.h"
#include "alm/audit/log.h"
#include "alm/audit/tables.h"
#include "alm/audit/verify.h"
#include "alm/base/file.h"
#include "alm/obj/json.h"

#define ROUNDS 24

static int64_t now_ns(struct loop *l)
{
	struct timespec t;
	(void)l;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void random_bytes(struct loop *l, void *buf, size_t n)
{
	(void)l;
	memset(buf, 7, n);
}

static void nothing(struct loop *l)
{
	(void)l;
}

static const struct loop_ops ops = {.now_ns = now_ns,
				    .mono_ns = now_ns,
				    .random = random_bytes,
				    .wake = nothing,
				    .free = nothing};

static void must(int r, const struct error *err)
{
	if (r >= 0)
		return;
	(void)fprintf(stderr, "bench_audit: %s\n", err->msg);
	exit(1);
}

static const char body_text[] =
	"{\"trigger\":\"Spec\",\"verb\":\"apply\",\"outcome\":\"Applied\",\"code\":200,\"before\":"
	"\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\",\"after\":"
	"\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde0\",\"rvBefore\":"
	"\"1234\",\"rvAfter\":\"1235\",\"changed\":[\"spec.replicas\"],\"attempt\":1,\"message\":"
	"\"deployment etcd-operator was scaled to the number that the chart asks for\"}";

struct bench {
	struct loop loop;
	struct db *plain, *logged;
	struct audit *audit;
	struct obj *body;
	int64_t plain_seq;
	char *dir;
};

static void open_db(const char *dir, const char *name, struct db **ret)
{
	struct error err = ERROR_INIT;
	char path[256];
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	struct db_config c = {.path = path};
	must(db_open(&c, ret, &err), &err);
}

static void setup(struct bench *b)
{
	struct error err = ERROR_INIT;
	static char dir[] = "bench-audit-XXXXXX";
	b->dir = mkdtemp(dir);
	loop_init(&b->loop, &ops);
	must(json_parse(STR(body_text), &b->body, &err), &err);
	open_db(b->dir, "plain.db", &b->plain);
	open_db(b->dir, "logged.db", &b->logged);
	must(tables_create(b->plain, false, &err), &err);
	struct audit_config c = {.db = b->logged, .loop = &b->loop};
	must(audit_open(&c, &b->audit, &err), &err);
}

static int64_t plain(struct bench *b, int commits, int rows)
{
	static const char chain[SHA256_BYTES];
	struct error err = ERROR_INIT;
	int64_t start = now_ns(NULL);
	for (int i = 0; i < commits; i++) {
		must(db_begin(b->plain, &err), &err);
		for (int k = 0; k < rows; k++) {
			struct stmt *s;
			struct record rec = {.seq = ++b->plain_seq,
					     .time_us = start / 1000,
					     .type = STR("Write"),
					     .reason = STR("Applied"),
					     .cluster = STR(""),
					     .kind = STR("Deployment"),
					     .ns = STR("etcd"),
					     .name = STR("etcd-operator"),
					     .uid = STR("8657f388-6da6-11e7-8ab2-08002787f71a"),
					     .body = STR(body_text)};
			must(db_prepare(b->plain,
					"INSERT INTO audit (" LOG_COLUMNS
					") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
					&s, &err),
			     &err);
			log_bind(s, &rec, str_n(chain, sizeof(chain)));
			must(stmt_step(s, &err), &err);
		}
		must(db_commit(b->plain, &err), &err);
	}
	return now_ns(NULL) - start;
}

static int64_t logged(struct bench *b, int commits, int rows)
{
	struct error err = ERROR_INIT;
	int64_t seq, start = now_ns(NULL);
	struct audit_row row = {
		.type = "Write",
		.reason = "Applied",
		.subject = {.kind = "Deployment",
			    .ns = "etcd",
			    .name = "etcd-operator",
			    .uid = "8657f388-6da6-11e7-8ab2-08002787f71a"},
		.body = b->body,
	};
	for (int i = 0; i < commits; i++) {
		must(db_begin(b->logged, &err), &err);
		for (int k = 0; k < rows; k++)
			must(audit_append(b->audit, &row, &seq, &err), &err);
		must(db_commit(b->logged, &err), &err);
		audit_committed(b->audit);
		loop_run_due(&b->loop);
	}
	return now_ns(NULL) - start;
}

static int cmp(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

/* Medians of rounds that alternate, first one side, then the other. */
static void compare(struct bench *b, int commits, int rows)
{
	int64_t p[ROUNDS], l[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 2)
			l[i] = logged(b, commits, rows);
		p[i] = plain(b, commits, rows);
		if (i % 2 == 0)
			l[i] = logged(b, commits, rows);
	}
	qsort(p, ROUNDS, sizeof(*p), cmp);
	qsort(l, ROUNDS, sizeof(*l), cmp);
	int64_t plain_median = p[ROUNDS / 2], log_median = l[ROUNDS / 2];
	double plain_ns = (double)plain_median, log_ns = (double)log_median;
	double n = (double)commits * (double)rows;
	printf("append_%d_rows_a_commit ratio %.3f  (%.0f and %.0f rows/s)\n", rows,
	       log_ns / plain_ns, 1e9 * n / log_ns, 1e9 * n / plain_ns);
}

static void verify(struct bench *b)
{
	struct error err = ERROR_INIT;
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	struct verify_options o = {.skip_file_check = true};
	int64_t start = now_ns(NULL);
	must(verify_log(b->logged, &o, rep, &err), &err);
	double s = (double)(now_ns(NULL) - start) / 1e9;
	printf("verify %.0f rows/s (%" PRId64 " rows, %zu findings)\n", (double)rep->rows / s,
	       rep->rows, rep->n_findings);
	xfree(rep);
}

static void clean(const char *dir)
{
	struct error err = ERROR_INIT;
	char **names = NULL;
	size_t n = 0;
	must(dir_list(dir, 100, &names, &n, &err), &err);
	for (size_t i = 0; i < n; i++) {
		char path[512];
		(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		(void)file_remove(path, &err);
	}
	dir_list_free(names, n);
	(void)rmdir(dir);
}

int main(void)
{
	static struct bench b;
	setup(&b);
	compare(&b, 40, 1);
	compare(&b, 10, 100);
	compare(&b, 2, 1000);
	verify(&b);
	audit_close(b.audit);
	db_close(b.logged);
	db_close(b.plain);
	obj_unref(b.body);
	loop_release(&b.loop);
	clean(b.dir);
	return 0;
}
