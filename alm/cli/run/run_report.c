#include "alm/cli/run/run_report.h"

#include "alm/audit/cursor.h"
#include "alm/audit/query.h"
#include "alm/audit/row_text.h"
#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/visible.h"
#include "alm/cli/term.h"
#include "alm/io/sqlwrite.h"
#include "alm/obj/json.h"
#include "alm/source/sql.h"

#define AGAIN_NS  (200 * NS_PER_MS) /* of one that another writer was in the way of */
#define TOLD_NS   (2 * NS_PER_S)    /* after which that is told */
#define LOG_NS    NS_PER_MIN        /* of a log that cannot be read */
#define ROW_BYTES ((size_t)4 << 20)

struct run_report {
	struct loop *loop;
	struct db *db;
	struct sql_report to;
	struct cursor cursor;
	struct task task;
	struct timer timer;
	int64_t since_ns; /* of the first try, monotonic; 0: none failed */
	bool told, idle;
	void (*on_idle)(void *arg);
	void *arg;
};

static const struct sqlwrite_value names[] = {
	{.name = ":time"},   {.name = ":bundle"},  {.name = ":cluster"}, {.name = ":step"},
	{.name = ":reason"}, {.name = ":message"}, {.name = ":seq"},     {0}};

/* Of a committed row; what it borrows is the arena's. */
static void fill(const struct obj *row, struct arena *a, struct sqlwrite_value *v)
{
	CLEANUP(strbuf_release) struct strbuf time = STRBUF_INIT(STRBUF_SMALL);
	struct error ignored = ERROR_INIT;
	struct obj *status = NULL;
	const char *text = obj_str(row, "body.status"), *cluster = obj_str(row, "subject.cluster");
	if (text && json_parse(str_of(text), &status, &ignored) >= 0)
		obj_keep(a, status);
	row_time(row, true, &time);
	const char *texts[] = {arena_strdup(a, time.buf), obj_str(row, "subject.name"),
			       cluster ? cluster : "",    obj_str(row, "body.message"),
			       obj_str(row, "reason"),    obj_str(status, "message")};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		v[i] = (struct sqlwrite_value){.name = names[i].name, .text = texts[i]};
	v[ARRAY_LEN(texts)] = (struct sqlwrite_value){
		.name = ":seq", .number = obj_i64(row, "seq", 0), .is_number = true};
}

static int write_row(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct run_report *r = arg;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROW_BYTES);
	struct sqlwrite_value values[ARRAY_LEN(names)] = {0};
	struct error own = ERROR_INIT;
	int64_t seq = obj_i64(row, "seq", 0);
	(void)depth;
	fill(row, a, values);
	(void)sqlwrite_run(r->to.path, r->to.statement, values, &own);
	if (own.code && (error_retry(own.code) != RETRY_NEVER || own.code == E_NOTFOUND))
		return error_copy(err, &own); /* the disk, or the file, comes back */
	if (own.code)
		term_error("alm: --feedback.sql: entry %lld: %s\n", (long long)seq, own.msg);
	r->since_ns = 0;
	r->told = false;
	return cursor_move(&r->cursor, seq, err);
}

static void try_later(struct run_report *r, const struct error *err)
{
	int64_t now = loop_mono(r->loop);
	bool busy = err->code == E_UNAVAILABLE;
	r->since_ns = r->since_ns ? r->since_ns : now;
	if (!r->told && (!busy || now - r->since_ns >= TOLD_NS)) {
		term_error("alm: --feedback.sql: %s; tried again\n", err->msg);
		r->told = true;
	}
	loop_arm(r->loop, &r->timer, busy ? AGAIN_NS : LOG_NS);
}

/* One a turn. */
static void go_on(void *arg)
{
	struct run_report *r = arg;
	struct error err = ERROR_INIT;
	int64_t before = r->cursor.seq;
	struct query_selector sel = {.type = "Transition", .from_seq = before + 1, .limit = 1};
	loop_disarm(r->loop, &r->timer);
	if (query_rows(r->db, &sel, write_row, r, &err) < 0) {
		try_later(r, &err);
		(void)term_flush();
		return;
	}
	(void)term_flush();
	if (r->cursor.seq != before) {
		run_report_poke(r);
		return;
	}
	r->idle = true;
	r->on_idle(r->arg);
}

/* 0: there is no such flag. */
static int read_config(const struct cli *c, struct sql_report *ret, struct error *err)
{
	const char *file = cli_value(c, "feedback.sql");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SQL_CONFIG_BYTES_MAX);
	struct error wrong = ERROR_INIT;
	if (!file)
		return 0;
	if (file_read_input(file, &b, err) < 0 ||
	    sql_report_read(strbuf_str(&b), file, c->arena, ret, err) < 0)
		return -err->code;
	/* what another writer hides now is told when it comes to light */
	if (sqlwrite_check(ret->path, ret->statement, names, &wrong) < 0 &&
	    wrong.code != E_UNAVAILABLE)
		return error_set(err, wrong.code, "%s: %s", file, wrong.msg);
	return 1;
}

int run_report_open(const struct cli *c, struct loop *l, const struct run_report_log *log,
		    struct run_report **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(SQL_CONFIG_BYTES_MAX);
	struct sql_report to = {0};
	*ret = NULL;
	int rc = read_config(c, &to, err);
	if (rc <= 0)
		return rc;
	struct run_report *r = xcalloc(1, sizeof(*r));
	*r = (struct run_report){.loop = l,
				 .db = log->db,
				 .to = to,
				 .task = {.fn = go_on, .arg = r},
				 .timer = {.fn = go_on, .arg = r},
				 .on_idle = log->idle,
				 .arg = log->arg};
	visible_addf(&name, "sql %s %s", to.path, to.statement);
	rc = cursor_init(&r->cursor, log->audit, log->db, name.buf, err);
	if (rc < 0) {
		run_report_free(r);
		return rc;
	}
	*ret = r;
	run_report_poke(r);
	return 0;
}

void run_report_poke(struct run_report *r)
{
	if (!r)
		return;
	r->idle = false;
	loop_post(r->loop, &r->task);
}

bool run_report_is_idle(const struct run_report *r)
{
	return !r || r->idle;
}

void run_report_free(struct run_report *r)
{
	if (!r)
		return;
	loop_unpost(r->loop, &r->task);
	loop_disarm(r->loop, &r->timer);
	xfree(r);
}
