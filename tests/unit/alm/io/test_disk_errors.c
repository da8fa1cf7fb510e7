/*
 * The disk fails under the store and its log (disk_faults.h). Nothing that was acknowledged is lost, what was refused is
 * not there, objects and log agree, and it goes on: with the same handle, or with a new one.
 */
#include "tests/unit/alm/io/disk_faults.h"

#include "alm/apiserver/store/store.h"
#include "alm/audit/anchor.h"
#include "alm/audit/prune.h"
#include "alm/io/db_copy.h"
#include "alm/obj/meta.h"
#include "tests/lib/audit_log.h"
#include "tests/lib/loop_fake.h"

#define START_NS (1893571200 * NS_PER_S)

/* --- the store and its log --- */

#define NAMES     4
#define GROUPS    7
#define NAME_SIZE 16

static const struct op {
	char verb; /* c, u, d */
	int name;
} groups[GROUPS][2] = {
	{{'c', 0}, {'c', 1}}, {{'c', 2}}, {{'u', 0}, {'u', 1}}, {{'d', 1}},
	{{'u', 2}, {'c', 3}}, {{'d', 0}}, {{'c', 1}, {'u', 3}},
};

static struct {
	struct loop *loop;
	struct db *db;
	struct audit *audit;
	struct store *store;
	int value[NAMES], before[NAMES]; /* acknowledged; 0: not there */
	int acks, refusals;
	int64_t heard; /* the revision of the newest change */
	int n_heard;
	struct error why;
} s;

static void hear(void *arg, const struct change *c)
{
	(void)arg;
	if (c->rv <= s.heard)
		case_fails("change %" PRId64 " is heard after %" PRId64, c->rv, s.heard);
	s.heard = c->rv;
	s.n_heard++;
}

static void server_stop(void)
{
	if (s.store)
		store_close(s.store);
	audit_close(s.audit);
	db_close(s.db);
	loop_free(s.loop);
	s.store = NULL;
	s.audit = NULL;
	s.db = NULL;
	s.loop = NULL;
}

static int server_try(struct error *err)
{
	const struct db_config dc = {.path = path_of("alm.db"), .layout = DB_LAYOUT};
	s.loop = loop_fake_new(START_NS);
	/* So few pages that a transaction writes before its end, as a large one does. */
	if (db_open(&dc, &s.db, err) < 0 || db_exec(s.db, "PRAGMA cache_size = 4", err) < 0)
		return -err->code;
	const struct audit_config ac = {
		.db = s.db, .loop = s.loop, .key_dir = dir, .tells_end = true};
	if (audit_open(&ac, &s.audit, err) < 0)
		return -err->code;
	const struct store_config sc = {.db = s.db, .loop = s.loop, .audit = s.audit};
	if (store_open(&sc, &s.store, err) < 0)
		return -err->code;
	store_flush(s.store);
	if (store_is_failing(s.store))
		return error_set(err, E_UNAVAILABLE, "%s: the first commit failed", dir);
	if (audit_read_only(s.audit))
		return error_set(err, E_ALTERED, "%s", audit_read_only(s.audit));
	store_on_change(s.store, hear, NULL);
	return 0;
}

/* A start that fails says why; the next one, on a disk that works, does not fail. */
static void server_start(void)
{
	struct error err = ERROR_INIT;
	for (int i = 0; server_try(&err) < 0; i++) {
		must_be_clear(&err);
		server_stop();
		if (i == 1)
			mend();
		if (i > 1)
			case_fails("no start on a mended disk: %s", err.msg);
	}
}

static int value_of(const char *name)
{
	struct head *h = store_find(s.store, "", "configmaps", "n", name);
	if (!h)
		return 0;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	return (int)obj_i64(head_obj(h, a), "value", -1);
}

enum fate { FATE_NONE, FATE_WAITS, FATE_DONE, FATE_REFUSED, FATE_UNKNOWN };

struct attempt {
	const struct op *op;
	int value;
	enum fate fate;
};

static void name_of(const struct op *op, char ret[NAME_SIZE])
{
	(void)snprintf(ret, NAME_SIZE, "a%d", op->name);
}

static void on_commit(void *arg, const struct error *err)
{
	struct attempt *a = arg;
	a->fate = err ? FATE_UNKNOWN : FATE_DONE;
	if (err)
		s.why = *err;
}

static void write_one(struct attempt *a)
{
	char name[NAME_SIZE], op[32];
	struct text *text;
	name_of(a->op, name);
	CLEANUP(obj_unrefp) struct obj *o = meta_skeleton("v1", "ConfigMap", "n", name);
	obj_set_int(o, "value", a->value);
	(void)snprintf(op, sizeof(op), "w%" PRId64, store_next_rv(s.store));
	const struct audit_row row = {.type = "Write",
				      .reason = "Written",
				      .op = op,
				      .subject = {.kind = "ConfigMap", .name = name}};
	struct write w = {.resource = store_resource(s.store, "", "configmaps"),
			  .ns = "n",
			  .name = name,
			  .after = o,
			  .remove = a->op->verb == 'd',
			  .row = &row};
	w.head = resource_find(w.resource, w.ns, w.name);
	a->fate = FATE_WAITS;
	if (store_write(s.store, &w, &text, &s.why) < 0)
		a->fate = FATE_REFUSED;
	else
		store_after_commit(s.store, on_commit, a);
}

/* What the log says of a request that was refused, in the commit of the others. A long one does not
 * fit into the cache. */
static void write_entry(bool is_long)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 20);
	strbuf_pad(&text, 'x', is_long ? 60000 : 1);
	obj_set_str(body, "message", text.buf);
	const struct audit_row row = {.type = "Write",
				      .reason = "Refused",
				      .subject = {.kind = "ConfigMap"},
				      .body = body};
	if (store_append_row(s.store, &row, &err) < 0)
		must_be_clear(&err);
	if (store_batch_is_open(s.store) && !db_in_transaction(s.db))
		case_fails("a commit waits for which there is no transaction");
}

static void check_values(void)
{
	char name[NAME_SIZE];
	for (int i = 0; i < NAMES; i++) {
		name_of(&(struct op){.name = i}, name);
		if (value_of(name) != s.value[i])
			case_fails("%s is %d, want %d", name, value_of(name), s.value[i]);
	}
}

/* What a failed commit left behind: all of it or nothing. */
static void learn(struct attempt *attempts)
{
	int n_new = 0, n_old = 0;
	for (int i = 0; i < 2; i++) {
		struct attempt *a = &attempts[i];
		char name[NAME_SIZE];
		if (a->fate != FATE_UNKNOWN)
			continue;
		name_of(a->op, name);
		bool is_new = value_of(name) == a->value;
		a->fate = is_new ? FATE_DONE : FATE_REFUSED;
		n_new += is_new;
		n_old += !is_new;
		if (is_new)
			s.value[a->op->name] = a->value;
	}
	if (n_new && n_old)
		case_fails("half of a commit is there");
}

static void server_again(void)
{
	server_stop();
	s.heard = 0;
	server_start();
}

/* The writes that are not done yet, in one commit. */
static void try_group(struct attempt *attempts)
{
	int heard = s.n_heard, done = 0;
	for (int i = 0; i < 2; i++) {
		if (attempts[i].op->verb && attempts[i].fate != FATE_DONE)
			write_one(&attempts[i]);
		else
			attempts[i].fate = FATE_NONE;
		if (i == 0) {
			loop_fake_step(s.loop, NS_PER_HOUR); /* which makes an entry, too */
			write_entry(attempts[i].value == 30);
		}
	}
	loop_fake_settle(s.loop);
	for (int i = 0; i < 2; i++) {
		struct attempt *a = &attempts[i];
		if (a->fate == FATE_WAITS)
			case_fails("nobody tells how a write ended");
		if (a->fate == FATE_DONE)
			s.value[a->op->name] = a->value;
		if (a->fate == FATE_REFUSED || a->fate == FATE_UNKNOWN)
			must_be_clear(&s.why);
		done += a->fate == FATE_DONE;
	}
	if (s.n_heard - heard != done)
		case_fails("%d writes are done, %d are heard of", done, s.n_heard - heard);
	if (db_is_broken(s.db))
		server_again();
	learn(attempts);
	check_values();
}

static void write_group(const struct op *ops, int value)
{
	struct attempt a[2];
	for (int i = 0; i < 2; i++)
		a[i] = (struct attempt){.op = &ops[i], .value = ops[i].verb == 'd' ? 0 : value + i};
	for (int tries = 0;; tries++) {
		struct attempt now[2] = {a[0], a[1]};
		try_group(now);
		bool all = true;
		for (int i = 0; i < 2; i++) {
			if (now[i].fate != FATE_NONE)
				a[i].fate = now[i].fate;
			all = all && (!a[i].op->verb || a[i].fate == FATE_DONE);
		}
		if (all)
			return;
		if (tries == 1)
			mend();
		if (tries > 2)
			case_fails("a write is refused on a mended disk: %s", s.why.msg);
	}
}

static int64_t number(struct db *d, const char *sql)
{
	struct error err = ERROR_INIT;
	struct stmt *st;
	must(db_prepare(d, sql, &st, &err), &err);
	must(stmt_step(st, &err), &err);
	int64_t v = stmt_int(st, 0);
	stmt_reset(st);
	return v;
}

static void check_log(struct db *d, bool with_anchor)
{
	struct error err = ERROR_INIT;
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	struct verify_anchor a = {.name = "file"};
	if (with_anchor)
		must(file_read(path_of(ANCHOR_DEFAULT), &note, &err), &err);
	a.note = strbuf_str(&note);
	struct verify_options o = {.dir = dir, .anchors = &a, .n_anchors = with_anchor};
	must(verify_log(d, &o, rep, &err), &err);
	verify_print(rep, &b);
	if (rep->n_findings)
		case_fails("%s", b.buf);
	xfree(rep);
}

/* Each revision has its entry, and each entry of a write its revision, compacted or not. */
static void check_agreement(void)
{
	int64_t newest = number(s.db, "SELECT max(id) FROM objects");
	if (number(s.db, "SELECT count(*) FROM audit WHERE op LIKE 'w%'") != newest ||
	    number(s.db, "SELECT count(*) FROM objects WHERE 'w' || id NOT IN"
			 " (SELECT op FROM audit WHERE op IS NOT NULL)"))
		case_fails("objects and log differ");
}

/* Time for the timers: checkpoints, compaction, signatures. */
static void rest(void)
{
	loop_fake_run(s.loop, 20 * NS_PER_S);
	if (db_is_broken(s.db))
		server_again();
	check_values();
}

static void server_begin(void)
{
	memset(&s, 0, sizeof(s));
	disk.is_armed = true;
	server_start();
	for (int i = 0; i < GROUPS; i++) {
		write_group(groups[i], 10 * (i + 1));
		if (i == 3)
			store_window_clear(s.store);
		if (i % 3 == 2)
			rest();
	}
}

static void scene_store(void)
{
	static const struct op last[2] = {{'c', 0}};
	server_begin();
	server_stop();
	mend();
	s.heard = 0;
	server_start();
	check_values();
	check_agreement();
	check_log(s.db, false);
	write_group(last, 1000);
	server_stop();
}

static void test_disk_errors__of_the_store_and_its_log(void **state)
{
	(void)state;
	every_call(scene_store);
}

/* A step of the clock has an entry of its own before the one that is refused: both go. */
static void test_disk_errors__an_entry_that_is_refused_leaves_no_gap(void **state)
{
	(void)state;
	static const struct op last[2] = {{'c', 0}};
	struct error err = ERROR_INIT;
	const struct audit_row row = {.type = "Transition",
				      .reason = "Installed",
				      .subject = {.kind = "AppType", .name = "a", .uid = "u"},
				      .transition_seq = 1};
	memset(&s, 0, sizeof(s));
	disk.at = 0;
	server_start();
	assert_ok(store_append_row(s.store, &row, &err), &err);
	loop_fake_settle(s.loop);
	loop_fake_step(s.loop, NS_PER_HOUR);
	assert_true(store_append_row(s.store, &row, &err) < 0);
	write_group(last, 10);
	check_log(s.db, false);
	assert_int_equal(number(s.db, "SELECT count(*) FROM audit WHERE reason = 'ClockStepped'"
				      " AND body LIKE '%+3600 s%'"),
			 2); /* and one of the group */
	server_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_disk_errors__of_the_store_and_its_log, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_disk_errors__an_entry_that_is_refused_leaves_no_gap, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
