/*
 * bench_audit: appends against plain inserts into the same table without triggers, hashes and tiles
 * (audit.md 11), and verify. Both sides are interleaved in one run; a line is
 * "NAME ratio R", R > 1: the log is slower. What no code of ours can go below is measured beside
 * it: the same inserts with the triggers alone, and the bare hashing and reading of the same rows.
 * Then the questions over a million rows, within a process and by the program ($ALM, or alm beside
 * this one): with its start, and through the lock of a log that is open.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alm/audit/audit.h"
#include "alm/audit/log.h"
#include "alm/audit/query.h"
#include "alm/audit/tables.h"
#include "alm/audit/verify.h"
#include "alm/base/file.h"
#include "alm/obj/json.h"

#define ROUNDS   24
#define ARGS_MAX 12

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
	struct db *plain, *triggered, *logged;
	struct audit *audit;
	struct obj *body;
	int64_t plain_seq, triggered_seq;
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
	static char dir[] = "/var/tmp/alm-bench-XXXXXX";
	b->dir = mkdtemp(dir);
	loop_init(&b->loop, &ops);
	must(json_parse(STR(body_text), &b->body, &err), &err);
	open_db(b->dir, "plain.db", &b->plain);
	open_db(b->dir, "alm.db", &b->logged);
	open_db(b->dir, "triggered.db", &b->triggered);
	must(tables_create(b->plain, false, &err), &err);
	must(tables_create(b->triggered, true, &err), &err);
	struct audit_config c = {.db = b->logged, .loop = &b->loop};
	must(audit_open(&c, &b->audit, &err), &err);
}

static int64_t inserted(struct db *d, int64_t *seq, int commits, int rows)
{
	static const char chain[SHA256_BYTES];
	struct error err = ERROR_INIT;
	int64_t start = now_ns(NULL);
	for (int i = 0; i < commits; i++) {
		must(db_begin(d, &err), &err);
		for (int k = 0; k < rows; k++) {
			struct stmt *s;
			struct record rec = {.seq = ++*seq,
					     .time_us = start / 1000,
					     .type = STR("Write"),
					     .reason = STR("Applied"),
					     .cluster = STR(""),
					     .kind = STR("Deployment"),
					     .ns = STR("etcd"),
					     .name = STR("etcd-operator"),
					     .uid = STR("8657f388-6da6-11e7-8ab2-08002787f71a"),
					     .body = STR(body_text)};
			must(db_prepare(d,
					"INSERT INTO audit (" LOG_COLUMNS
					") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
					&s, &err),
			     &err);
			log_bind(s, &rec, str_n(chain, sizeof(chain)));
			must(stmt_step(s, &err), &err);
		}
		must(db_commit(d, &err), &err);
	}
	return now_ns(NULL) - start;
}

static int64_t plain(struct bench *b, int commits, int rows)
{
	return inserted(b->plain, &b->plain_seq, commits, rows);
}

static int64_t triggered(struct bench *b, int commits, int rows)
{
	return inserted(b->triggered, &b->triggered_seq, commits, rows);
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
	int64_t p[ROUNDS], t[ROUNDS], l[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 2)
			l[i] = logged(b, commits, rows);
		p[i] = plain(b, commits, rows);
		t[i] = triggered(b, commits, rows);
		if (i % 2 == 0)
			l[i] = logged(b, commits, rows);
	}
	qsort(p, ROUNDS, sizeof(*p), cmp);
	qsort(t, ROUNDS, sizeof(*t), cmp);
	qsort(l, ROUNDS, sizeof(*l), cmp);
	int64_t plain_median = p[ROUNDS / 2], log_median = l[ROUNDS / 2];
	int64_t triggers_median = t[ROUNDS / 2];
	double plain_ns = (double)plain_median, log_ns = (double)log_median;
	double n = (double)commits * (double)rows;
	printf("append_%d_rows_a_commit ratio %.3f  (%.0f and %.0f rows/s); triggers alone %.3f\n",
	       rows, log_ns / plain_ns, 1e9 * n / log_ns, 1e9 * n / plain_ns,
	       (double)triggers_median / plain_ns);
}

/* Of the processor: what else runs on the machine is no part of a rate a core. */
static int64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t verify_once(struct bench *b, int64_t *ret_rows)
{
	struct error err = ERROR_INIT;
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	struct verify_options o = {.skip_file_check = true};
	int64_t start = cpu_ns();
	must(verify_log(b->logged, &o, rep, &err), &err);
	int64_t took = cpu_ns() - start;
	if (rep->n_findings)
		printf("verify: %zu findings\n", rep->n_findings);
	*ret_rows = rep->rows;
	xfree(rep);
	return took;
}

/* Three hashes a row (leaf, chain, a node of the tree) and the reading of it, nothing compared. */
static int64_t floor_once(struct bench *b)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	unsigned char out[SHA256_BYTES];
	int64_t start = cpu_ns();
	struct strbuf scratch = STRBUF_INIT(RECORD_BYTES_MAX);
	must(db_prepare(b->logged, "SELECT " LOG_COLUMNS " FROM audit ORDER BY seq", &s, &err),
	     &err);
	while (stmt_step(s, &err) > 0) {
		struct record rec;
		log_record(s, &rec);
		record_leaf(&rec, &scratch, out);
		chain_next(out, out, out);
		chain_next(out, out, out);
	}
	strbuf_release(&scratch);
	return cpu_ns() - start;
}

static void verify(struct bench *b)
{
	int64_t v[ROUNDS], f[ROUNDS], rows = 0;
	for (int i = 0; i < ROUNDS; i++) {
		v[i] = verify_once(b, &rows);
		f[i] = floor_once(b);
	}
	qsort(v, ROUNDS, sizeof(*v), cmp);
	qsort(f, ROUNDS, sizeof(*f), cmp);
	const size_t middle = ROUNDS / 2;
	double verify_ns = (double)v[middle], floor_ns = (double)f[middle];
	printf("verify ratio %.3f  (%.0f rows/s a core, best %.0f; hashing and reading alone %.0f; "
	       "%" PRId64 " rows)\n",
	       verify_ns / floor_ns, 1e9 * (double)rows / verify_ns,
	       1e9 * (double)rows / (double)v[0], 1e9 * (double)rows / floor_ns, rows);
}

#define QUESTION_ROWS 1000000
#define APPS          200

/* Of each app a chain of decision, write and transition. */
static void fill(struct bench *b)
{
	struct error err = ERROR_INIT;
	struct obj *body = NULL;
	int64_t cause[APPS] = {0}, tseq[APPS] = {0};
	must(json_parse(
		     STR("{\"to\":\"Installed\",\"version\":{\"to\":\"1.2.3\"},\"message\":\"x\"}"),
		     &body, &err),
	     &err);
	while (audit_last_seq(b->audit) < QUESTION_ROWS) {
		must(db_begin(b->logged, &err), &err);
		for (int i = 0; i < 3000; i++) {
			static const char *const types[] = {"Decision", "Write", "Transition"};
			char name[16];
			int app = i / 3 % APPS, kind = i % 3;
			(void)snprintf(name, sizeof(name), "app-%d", app);
			struct audit_row row = {
				.type = types[kind],
				.reason = kind == 2 ? "Installed" : "Resolved",
				.subject = {.kind = "AppType", .name = name, .uid = name},
				.transition_seq = kind == 2 ? ++tseq[app] : 0,
				.cause = kind ? cause[app] : 0,
				.body = body};
			must(audit_append(b->audit, &row, &cause[app], &err), &err);
		}
		must(db_commit(b->logged, &err), &err);
		audit_committed(b->audit);
	}
	obj_unref(body);
}

static int count(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	(void)depth;
	(void)row;
	(void)err;
	++*(int *)arg;
	return 0;
}

static void questions(struct bench *b)
{
	struct error err = ERROR_INIT;
	struct query_selector app = {.kind = "AppType", .name = "app-7"}, all = {.kind = NULL};
	int n = 0;
	fill(b);
	must(db_checkpoint(b->logged, true, &err), &err); /* as a server does when it is idle */
	int64_t start = now_ns(NULL), middle = 0;
	must(query_why(b->logged, &app, "1.2.3", count, &n, &err), &err);
	printf("why %.1f ms (%d rows of %" PRId64 ")\n", (double)(now_ns(NULL) - start) / 1e6, n,
	       audit_last_seq(b->audit));
	start = now_ns(NULL);
	n = 0;
	must(query_seq_at(b->logged, start / 1000, &middle, &err), &err);
	must(query_state(b->logged, &all, QUESTION_ROWS / 2, count, &n, &err), &err);
	printf("state_at %.1f ms (%d objects)\n", (double)(now_ns(NULL) - start) / 1e6, n);
	start = now_ns(NULL);
	n = 0;
	must(query_state(b->logged, &app, QUESTION_ROWS / 2, count, &n, &err), &err);
	printf("state_at_of_one %.1f ms (%d object)\n", (double)(now_ns(NULL) - start) / 1e6, n);
}

/* The status of the program; what it prints nobody reads. */
static int run(char *const *argv)
{
	int status = -1;
	(void)fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		execv(argv[0], argv);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* args: words, which are taken apart. Best of five: the first finds a cold cache. */
static void ask(const char *name, char *alm, char *args)
{
	char *argv[ARGS_MAX + 1] = {alm};
	double best = 1e9;
	for (size_t n = 1; n < ARGS_MAX && *args; n++) {
		argv[n] = args;
		args += strcspn(args, " ");
		if (*args)
			*args++ = 0;
	}
	for (int i = 0; i < 5; i++) {
		int64_t start = now_ns(NULL);
		int status = run(argv);
		double ms = (double)(now_ns(NULL) - start) / 1e6;
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) { /* 1: nothing vouches for it */
			printf("%s: %s gave status %d\n", name, alm, status);
			return;
		}
		best = ms < best ? ms : best;
	}
	printf("%s %.1f ms\n", name, best);
}

static void programs(const struct bench *b, const char *self)
{
	static const char *const questions[][2] = {
		{"program_why", "why apptype/app-7 --version 1.2.3"},
		{"program_state_at_seq", "state --at-seq 500000"},
		{"program_query_tail", "query --tail 10"},
		/* On all cores, the check of the file included; its rate is the rows by this. */
		{"program_verify", "verify"},
	};
	char beside[512], args[512], *alm = getenv("ALM");
	const char *slash = strrchr(self, '/');
	(void)snprintf(beside, sizeof(beside), "%.*s/alm", slash ? (int)(slash - self) : 1,
		       slash ? self : ".");
	for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
		(void)snprintf(args, sizeof(args), "audit %s --data-dir %s", questions[i][1],
			       b->dir);
		ask(questions[i][0], alm ? alm : beside, args);
	}
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

int main(int argc, char **argv)
{
	static struct bench b;
	setup(&b);
	compare(&b, 40, 1);
	compare(&b, 10, 100);
	compare(&b, 2, 1000);
	verify(&b);
	questions(&b);
	programs(&b, argc ? argv[0] : "");
	audit_close(b.audit);
	db_close(b.logged);
	db_close(b.plain);
	db_close(b.triggered);
	obj_unref(b.body);
	loop_release(&b.loop);
	clean(b.dir);
	return 0;
}
