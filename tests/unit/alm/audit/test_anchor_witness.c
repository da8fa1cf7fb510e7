/* A witness that answers in every way there is: what the log makes of it. The witness is a server of our own. */
#include "tests/lib/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/audit/anchor.h"
#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/io/server.h"
#include "tests/lib/audit_log.h"
#include "tests/lib/http_client.h"

enum { ROWS = 20 };
#define COSIGNATURE "\xe2\x80\x94 w AAAA\n"

struct answer {
	int status;
	const char *body;
};

struct fixture {
	struct audit_log l;
	struct loop *loop; /* of the network */
	struct server *server;
	struct anchors *anchors;
	struct anchor *witness; /* of the anchors */
	char target[200];
	const struct answer *answers; /* one a request; behind the last none is answered */
	int n_answers;
	/* What the requests said. */
	int n_requests;
	int64_t old[4];
	bool whole; /* each had a proof, if it was due one, and the note */
	struct exchange *held;
};

static char dir[64];

static const char *path_of(const char *name)
{
	static char path[160];
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void gone(void *arg)
{
	struct fixture *f = arg;
	f->held = NULL;
}

/* "old N", the proof's lines, an empty line, the note. */
static void handle(void *arg, struct exchange *x)
{
	struct fixture *f = arg;
	struct str rest = x->request->body, line = STR_NONE;
	int i = f->n_requests++;
	assert_true(i < (int)ARRAY_LEN(f->old));
	assert_true(str_has_suffix(str_of(x->request->path), STR("/add-checkpoint")));
	assert_true(str_next_line(&rest, &line));
	assert_true(str_has_prefix(line, STR("old ")));
	assert_true(str_parse_i64(str_skip(line, 4), &f->old[i]));
	size_t n_hashes = 0;
	while (str_next_line(&rest, &line) && line.len)
		n_hashes++;
	f->whole = f->whole && (n_hashes > 0) == (f->old[i] > 0 && f->old[i] < ROWS + 1) &&
		   str_has_prefix(rest, str_of(audit_origin(f->l.audit)));
	if (i < f->n_answers) {
		exchange_reply(x, f->answers[i].status, NULL, str_of(f->answers[i].body));
		return;
	}
	f->held = x;
	x->on_close = gone;
	x->on_close_arg = f;
}

/* cosigned: the size that the table of anchors remembers of it; 0: none. */
static void begin(struct fixture *f, const struct answer *answers, int n, int64_t cosigned,
		  const char *suffix)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	const struct server_config sc = {.listen = "127.0.0.1:0"};
	*f = (struct fixture){.answers = answers, .n_answers = n, .whole = true};
	audit_log_open(&f->l, path_of("alm.db"), dir);
	audit_log_fill(&f->l, ROWS, 5);
	f->l.loop.now_ns += NS_PER_S;
	loop_run_due(&f->l.loop.base);
	f->loop = loop_event_new();
	assert_ok(server_listen(f->loop, &sc, handle, f, &f->server, &err), &err);
	(void)snprintf(f->target, sizeof(f->target), "witness:http://%s%s",
		       server_address(f->server), suffix);
	if (cosigned) {
		assert_ok(db_prepare(f->l.db, "INSERT INTO audit_anchor VALUES (?, ?)", &s, &err),
			  &err);
		stmt_bind_int(s, 1, cosigned);
		stmt_bind_cstr(s, 2, f->target);
		assert_ok(stmt_step(s, &err), &err);
	}
	struct anchor *t =
		anchor_witness_new(f->target + strlen("witness:"), f->loop, f->l.db, dir, &err);
	if (!t)
		fail_msg("%s", err.msg);
	f->witness = t;
	f->anchors = anchors_new(f->l.audit, &f->l.loop.base, f->l.db, &t, 1);
	loop_run_due(&f->l.loop.base); /* it is told of what there is */
}

/* Until it has said what it has to say, or is silent. */
static void turn(struct fixture *f)
{
	for (int i = 0; i < 10000 && f->witness->busy && !f->held; i++)
		loop_turn(f->loop);
}

static void end(struct fixture *f)
{
	struct error err = ERROR_INIT;
	char **names = NULL;
	size_t n = 0;
	audit_close(f->l.audit);
	anchors_free(f->anchors);
	db_close(f->l.db);
	loop_release(&f->l.loop.base);
	for (int i = 0; i < 2; i++) /* what is still open is cut the second time */
		server_stop(f->server, NS_PER_S, NULL, NULL);
	server_free(f->server);
	loop_free(f->loop);
	assert_ok(dir_list(dir, 100, &names, &n, &err), &err);
	for (size_t i = 0; i < n; i++)
		assert_ok(file_remove(path_of(names[i]), &err), &err);
	dir_list_free(names, n);
}

static int64_t count(struct fixture *f, const char *sql)
{
	struct error err = ERROR_INIT;
	int64_t n = 0;
	assert_ok(db_number(f->l.db, sql, NULL, &n, &err), &err);
	return n;
}

/* An answer, and what the log makes of it. */
static const struct {
	int64_t cosigned; /* remembered before */
	int n_answers, n_requests;
	struct answer answers[2];
	int64_t old[2];
	bool kept;
	int failing;
	const char *why; /* of a log that is read-only */
} cases[] = {
	{0, 1, 1, {{200, COSIGNATURE}}, {0}, true, 0, NULL},
	{7, 1, 1, {{200, COSIGNATURE}}, {7}, true, 0, NULL},
	/* as one that has cosigned all of it, or more than this log has: from the beginning */
	{ROWS + 1, 1, 1, {{200, COSIGNATURE}}, {ROWS + 1}, true, 0, NULL},
	{ROWS + 2, 1, 1, {{200, COSIGNATURE}}, {0}, true, 0, NULL},
	/* it remembers another size: once more from there */
	{7, 2, 2, {{409, "9\n"}, {200, COSIGNATURE}}, {7, 9}, true, 0, NULL},
	{7, 2, 2, {{409, "0\n"}, {200, COSIGNATURE}}, {7, 0}, true, 0, NULL},
	{7, 2, 2, {{409, "21\n"}, {200, COSIGNATURE}}, {7, 21}, true, 0, NULL},
	{7, 2, 2, {{409, "9\n"}, {409, "10\n"}}, {7, 9}, false, E_CONFLICT, NULL},
	{7, 1, 1, {{409, ""}}, {7}, false, E_CORRUPT, NULL},
	{7, 1, 1, {{409, "-1\n"}}, {7}, false, E_CORRUPT, NULL},
	{7, 1, 1, {{409, "nine\n"}}, {7}, false, E_CORRUPT, NULL},
	/* more than there is, or the same size and not from there */
	{7,
	 1,
	 1,
	 {{409, "22\n"}},
	 {7},
	 false,
	 0,
	 " remembers 22 records, and the database has fewer"},
	{7,
	 1,
	 1,
	 {{409, "7\n"}},
	 {7},
	 false,
	 0,
	 " remembers 7 records, and the database has others"},
	{7, 1, 1, {{422, ""}}, {7}, false, 0, " remembers 7 records, and the database has others"},
	{7, 1, 1, {{403, ""}}, {7}, false, E_FORBIDDEN, NULL},
	{7, 1, 1, {{404, ""}}, {7}, false, E_FORBIDDEN, NULL},
	{7, 1, 1, {{500, ""}}, {7}, false, E_UNAVAILABLE, NULL},
	{7, 1, 1, {{204, ""}}, {7}, false, E_UNAVAILABLE, NULL},
};

/* What becomes of each answer: cosigned, failing (of which code), or a log that is read-only. */
static void test_anchor_witness__every_answer(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		begin(&f, cases[i].answers, cases[i].n_answers, cases[i].cosigned, "/w");
		assert_string_equal(f.witness->target, f.target);
		turn(&f);
		const char *why = audit_read_only(f.l.audit);
		bool told = why && cases[i].why && strstr(why, cases[i].why) &&
			    strstr(why, f.witness->target);
		if (f.n_requests != cases[i].n_requests || f.old[0] != cases[i].old[0] ||
		    f.old[1] != cases[i].old[1] || !f.whole ||
		    f.witness->size != (cases[i].kept ? ROWS + 1 : 0) ||
		    f.witness->failing != cases[i].failing ||
		    (why != NULL) != (cases[i].why != NULL) || (why && !told))
			fail_msg("case %zu: %d requests, old %" PRId64 " %" PRId64 ", size %" PRId64
				 ", failing %d, %s",
				 i, f.n_requests, f.old[0], f.old[1], f.witness->size,
				 f.witness->failing, why ? why : "not read-only");
		assert_int_equal(count(&f, "SELECT count(*) FROM audit_anchor WHERE size = 21"),
				 cases[i].kept || cases[i].cosigned == ROWS + 1);
		end(&f);
	}
}

static const char vkey[] =
	"#witness.example/w1+8076183a+BOjCEHV3UUlzlx2fCfFKtQ6uSVc8Y86JnxmKdvZunMBS";

/* What its address is in front of the key, and what the key is. */
static void test_anchor_witness__what_can_be_one(void **state)
{
	static const struct {
		const char *url, *key, *why; /* why NULL: it can */
	} rows[] = {
		{"https://w.example", "", NULL},
		{"http://w.example/prefix", "", NULL},
		{"https://w.example/prefix", vkey, NULL},
		{"w.example", "", "want https://HOST/PREFIX"},
		{"ftp://w.example", vkey, "want https://HOST/PREFIX"},
		{"https://w.example", "#", "is no key of a witness"},
		{"https://w.example", "#w1+8076183a+AAAA", "is no key of a witness"},
	};
	struct loop *loop = loop_event_new();
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct error err = ERROR_INIT;
		int r = anchor_witness_check(arena_fmt(a, "%s%s", rows[i].url, rows[i].key), loop,
					     &err);
		assert_int_equal(r, rows[i].why ? -E_USAGE : 0);
		if (rows[i].why && !strstr(err.msg, rows[i].why))
			fail_msg("%s: %s", rows[i].url, err.msg);
	}
	loop_free(loop);
}

/* The note and the cosignatures are kept for who asks for a proof; with a key only that key's. */
static void test_anchor_witness__what_is_kept(void **state)
{
	(void)state;
	static const struct answer cosigned = {200, COSIGNATURE};
	for (int with_key = 0; with_key < 2; with_key++) {
		struct fixture f;
		struct error err = ERROR_INIT;
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(1 << 16);
		begin(&f, &cosigned, 1, 0, with_key ? vkey : "");
		turn(&f);
		const char *path = anchor_witness_path(f.target + strlen("witness:"), dir, a);
		assert_int_equal(file_exists(path), !with_key);
		assert_int_equal(f.witness->failing, with_key ? E_CORRUPT : 0);
		assert_int_equal(f.witness->size, with_key ? 0 : ROWS + 1);
		if (!with_key) {
			assert_ok(file_read(path, &note, &err), &err);
			assert_true(
				str_has_prefix(strbuf_str(&note), str_of(audit_origin(f.l.audit))));
			assert_true(str_has_suffix(strbuf_str(&note), STR("\n" COSIGNATURE)));
		}
		end(&f);
	}
}

/* One that never answers is let go of: the call ends with the log. */
static void test_anchor_witness__one_that_is_silent(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, NULL, 0, 0, "");
	turn(&f);
	assert_non_null(f.held);
	assert_true(f.witness->busy);
	end(&f);
	assert_int_equal(f.n_requests, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_anchor_witness__every_answer),
		cmocka_unit_test(test_anchor_witness__what_is_kept),
		cmocka_unit_test(test_anchor_witness__what_can_be_one),
		cmocka_unit_test(test_anchor_witness__one_that_is_silent),
	};
	(void)snprintf(dir, sizeof(dir), "/tmp/alm-witness-XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)rmdir(dir);
	return r;
}
