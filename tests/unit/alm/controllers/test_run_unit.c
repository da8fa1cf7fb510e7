/* Units of a run: what a record and a pass tell of an attempt, how it ends, and which keys begin one. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/run_internal.h"
#include "alm/obj/json.h"
#include "tests/lib/work_fixture.h"

struct fixture {
	struct work_fixture w;
	struct run r;
	struct run_unit *u;
	struct strbuf told; /* a line for each word */
	struct run_render *call;
	int n_rendered, n_ended;
	struct error err; /* of the end */
};

static void said(void *arg, const char *instance, const char *what, const char *state,
		 const char *why)
{
	struct fixture *f = arg;
	strbuf_addf(&f->told, "%s %s: %s%s%s\n", instance, what, state, why ? " " : "",
		    why ? why : "");
}

static void ended(void *arg, const char *instance, const struct obj *record,
		  const struct error *err)
{
	struct fixture *f = arg;
	(void)instance;
	(void)record;
	f->n_ended++;
	f->err = err ? *err : ERROR_INIT;
}

static void render(void *arg, struct run_render *call)
{
	struct fixture *f = arg;
	f->n_rendered++;
	f->call = call;
}

static void init(struct fixture *f)
{
	*f = (struct fixture){.n_ended = 0};
	strbuf_init(&f->told, 1 << 16);
	work_fixture_init(&f->w);
	struct run *r = &f->r;
	r->c = (struct run_config){.loop = f->w.loop,
				   .client = f->w.client,
				   .audit = f->w.audit,
				   .db = f->w.db,
				   .bundle = "b",
				   .keyed = true,
				   .said = said,
				   .render = render,
				   .ended = ended,
				   .arg = f};
	const struct manager_config mc = {.loop = r->c.loop,
					  .client = r->c.client,
					  .audit = r->c.audit,
					  .db = r->c.db,
					  .units = &r->side};
	LIST_INIT(&r->adrift);
	r->side = run_unit_side(r);
	r->units = map_new(NULL);
	r->manager = manager_new(&mc); /* it is not started */
	f->u = run_unit_of(r, "i");
	f->u->ended = false;
	f->u->job.attempt = 2;
}

static void release(struct fixture *f)
{
	manager_free(f->r.manager);
	for (const struct map_entry *e = map_first(f->r.units); e; e = map_next(e))
		run_unit_drop(e->value);
	map_free(f->r.units);
	strbuf_release(&f->told);
	work_fixture_drop(&f->w);
}

static void record(struct fixture *f, const char *key, const char *text)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	strbuf_clear(&f->told);
	f->r.side.record(f->r.side.arg, key, o);
}

#define TOLD(f, text) assert_string_equal((f).told.buf ? (f).told.buf : "", text)

/* Each step once in each state, with why, and those of the way back as such. */
static void test_run_unit__what_changed_is_told_once(void **state)
{
	(void)state;
	struct fixture f;
	init(&f);
	record(&f, "b/other", "{\"attempt\":2,\"steps\":{\"1 a\":{\"state\":\"Done\"}}}");
	TOLD(f, "");
	record(&f, "b/i",
	       "{\"attempt\":1,\"steps\":{\"1 a\":{\"state\":\"Done\"}}}"); /* of the one before */
	TOLD(f, "");
	assert_null(f.u->record);
	static const char one[] =
		"{\"attempt\":2,\"state\":\"Running\",\"waits\":\"w\",\"steps\":{\"1 "
		"a\":{\"state\":\"Done\","
		"\"note\":\"n\"},\"b\":{\"state\":\"Failed\",\"message\":\"m\",\"note\":\"n\"}}}";
	record(&f, "b/i", one);
	TOLD(f, "i a: Done n\ni b: Failed m\ni pruning: Waiting w\n");
	assert_ptr_equal(f.u->job.record, f.u->record);
	record(&f, "b/i", one);
	TOLD(f, "");
	f.u->job.deleting = true;
	record(&f, "b/i",
	       "{\"attempt\":2,\"state\":\"RollingBack\",\"waits\":\"v\",\"steps\":{\"1 "
	       "a\":{\"state\":"
	       "\"Done\"}},\"back\":{\"steps\":{\"1 a\":{\"state\":\"Done\",\"note\":\"back\"}}}}");
	TOLD(f, "i rollback: a: Done back\ni deletion: Waiting v\n");
	loop_fake_run(f.w.loop, 1);
	assert_int_equal(f.n_ended, 0);
	release(&f);
}

/* The end is told once, with the error that it is for who waits. */
static void test_run_unit__how_an_attempt_ends(void **state)
{
	/* clang-format off */
	static const struct { const char *record; int code; const char *msg; unsigned tries; } rows[] = {
		{"\"state\":\"Succeeded\"", 0, "", 0},
		{"\"state\":\"Failed\",\"reason\":\"StepFailed\",\"message\":\"m\"", E_UNAVAILABLE, "m", 0},
		{"\"state\":\"Failed\",\"reason\":\"PruneHeld\",\"message\":\"m\"", E_UNAVAILABLE, "PruneHeld: m", 0},
		{"\"state\":\"Failed\",\"reason\":\"X\",\"message\":\"m\",\"refused\":true", E_REFUSED, "X: m", 0},
		{"\"state\":\"RolledBack\",\"reason\":\"StepFailed\",\"message\":\"m\"", E_UNAVAILABLE, "RolledBack: m", 1},
		{"\"state\":\"RolledBack\",\"reason\":\"X\",\"message\":\"m\"", E_UNAVAILABLE, "RolledBack: m", 1},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		init(&f);
		loop_fake_run(f.w.loop, NS_PER_S);
		const char *text = arena_fmt(a, "{\"attempt\":2,%s}", rows[i].record);
		record(&f, "b/i", text);
		record(&f, "b/i", text);
		assert_int_equal(f.n_ended, 0); /* in a turn of its own */
		loop_fake_run(f.w.loop, 1);
		assert_int_equal(f.n_ended, 1);
		assert_int_equal(f.err.code, rows[i].code);
		if (rows[i].code)
			assert_string_equal(f.err.msg, rows[i].msg);
		assert_int_equal(f.u->tries, rows[i].tries);
		assert_int_equal(f.u->back_ns != 0, rows[i].tries);
		assert_int_equal(f.u->failed, rows[i].code != 0);
		release(&f);
	}
}

static void passes(struct fixture *f, int code, int n)
{
	struct error err = ERROR_INIT;
	if (code)
		error_set(&err, code, "no");
	while (n-- > 0)
		f->r.side.passed(f->r.side.arg, "b/i", false, code ? &err : NULL);
}

/* What does not pass ends it at the third time in a row, what may after two minutes. */
static void test_run_unit__reads_that_fail_end_it(void **state)
{
	static const int stay[] = {E_INVALID, E_FORBIDDEN, E_UNAUTHORIZED};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(stay); i++) {
		struct fixture f;
		init(&f);
		passes(&f, stay[i], 2);
		passes(&f, 0, 1);
		passes(&f, stay[i], 2);
		assert_false(f.u->ended);
		passes(&f, stay[i], 1);
		assert_true(f.u->ended);
		loop_fake_run(f.w.loop, 1);
		assert_int_equal(f.err.code, stay[i]);
		release(&f);
	}
	struct fixture f;
	init(&f);
	passes(&f, E_UNAVAILABLE, 50);
	loop_fake_run(f.w.loop, 2 * NS_PER_MIN - 1);
	passes(&f, E_UNAVAILABLE, 1);
	assert_false(f.u->ended);
	f.u->rendering = true; /* that is of the one before */
	loop_fake_run(f.w.loop, 1);
	passes(&f, E_UNAVAILABLE, 1);
	assert_false(f.u->ended);
	f.u->rendering = false;
	passes(&f, E_UNAVAILABLE, 1);
	assert_true(f.u->ended);
	release(&f);
}

/* A key begins an attempt of its instance, unless one is under way; without the Lease none. */
static void test_run_unit__a_key_begins_what_is_not_under_way(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *one = obj_stringf("one"), *two = obj_stringf("two");
	init(&f);
	struct manager *m = f.r.manager;
	f.r.manager = NULL;
	assert_ok(run_key(&f.r, "k", one, &err), &err);
	assert_int_equal(f.n_rendered, 0);
	f.r.manager = m;
	assert_ok(run_key(&f.r, "k", one, &err), &err);
	assert_int_equal(f.n_rendered, 1);
	assert_string_equal(f.call->instance, "k");
	assert_string_equal(obj_as_string(f.call->config), "one");
	assert_ok(run_key(&f.r, "k", two, &err), &err); /* it is rendered */
	assert_int_equal(f.n_rendered, 1);
	assert_string_equal(obj_as_string(f.call->config), "one");
	error_set(&err, E_UNAVAILABLE, "not today");
	f.call->done(f.call, &err);
	err = ERROR_INIT;
	assert_ok(run_key(&f.r, "k", two, &err), &err);
	assert_int_equal(f.n_rendered, 2);
	assert_string_equal(obj_as_string(f.call->config), "two");
	error_set(&err, E_UNAVAILABLE, "not today");
	f.call->done(f.call, &err);
	err = ERROR_INIT;
	assert_ok(run_key(&f.r, "k", NULL, &err), &err);
	assert_null(f.call->config);
	f.call->done(f.call, &(struct error){.code = E_UNAVAILABLE});
	f.u = map_get(f.r.units, "b/k");
	f.u->ended = false; /* it is rolled out */
	assert_ok(run_key(&f.r, "k", one, &err), &err);
	assert_int_equal(f.n_rendered, 3);
	release(&f);
}

/* No more units than are kept; what is known already goes on. */
static void test_run_unit__one_key_too_many(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	char name[32];
	init(&f);
	for (size_t i = map_count(f.r.units); i < RUN_UNITS_MAX - 1; i++) {
		(void)snprintf(name, sizeof(name), "n%zu", i);
		run_unit_of(&f.r, name)->ended = true;
	}
	assert_ok(run_key(&f.r, "last", NULL, &err), &err);
	assert_int_equal(map_count(f.r.units), RUN_UNITS_MAX);
	f.call->done(f.call, &(struct error){.code = E_UNAVAILABLE});
	assert_int_equal(run_key(&f.r, "another", NULL, &err), -E_LIMIT);
	assert_non_null(strstr(err.msg, "more than 2000 keys: another is left out"));
	assert_int_equal(f.n_rendered, 1);
	assert_ok(run_key(&f.r, "n1", NULL, &err), &err);
	assert_int_equal(f.n_rendered, 2);
	f.call->done(f.call, &(struct error){.code = E_UNAVAILABLE});
	release(&f);
}

/* Whether an attempt begins with a unit of this digest, after a record and so long after it was rolled back. */
static bool tries(struct fixture *f, const char *record, const char *digest, unsigned n_tries,
		  int64_t since_ns)
{
	struct error err = ERROR_INIT;
	int64_t attempt = f->u->job.attempt;
	obj_unref(STEAL(f->u->record));
	assert_ok(json_parse(str_of(record), &f->u->record, &err), &err);
	f->u->job.record = NULL;
	f->u->tries = n_tries;
	f->u->back_ns = loop_mono(f->r.c.loop) - since_ns;
	f->u->ended = true;
	run_unit_begin(f->u);
	struct unit *unit = ARENA_NEW(f->call->a, struct unit);
	(void)snprintf(unit->digest, sizeof(unit->digest), "%s", digest);
	f->call->unit = unit;
	f->call->done(f->call, NULL);
	assert_int_equal(f->u->ended, f->u->job.attempt == attempt);
	return f->u->job.attempt == attempt + 1;
}

/* What was rolled back waits, twice as long each time, up to an hour; all else begins at once. */
static void test_run_unit__what_was_rolled_back_waits(void **state)
{
	(void)state;
	static const char back[] = "{\"digest\":\"d\",\"state\":\"RolledBack\"}";
	static const struct {
		const char *record, *digest;
		bool keyed, watch;
		int64_t interval_ns;
		bool tries;
		unsigned n_tries; /* afterwards, of 3 */
	} rows[] = {
		{back, "d", true, false, 0, false, 3},
		{back, "d", false, true, 0, false, 3},
		{back, "d", false, false, 1, false, 3},
		{back, "d", false, false, 0, true, 3}, /* a command that runs once */
		{back, "e", true, true, 1, true, 0},
		{"{\"digest\":\"d\",\"state\":\"Failed\"}", "d", true, true, 1, true, 3},
		{"{\"digest\":\"d\",\"state\":\"Succeeded\"}", "d", true, true, 1, true, 3},
		{"{\"state\":\"RolledBack\"}", "d", true, true, 1, true, 0},
	};
	static const struct run_watch watch = {0};
	struct fixture f;
	init(&f);
	f.u->main = obj_map(); /* it is there */
	loop_fake_run(f.w.loop, 100 * NS_PER_HOUR);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		f.r.c.keyed = rows[i].keyed;
		f.r.c.watch = rows[i].watch ? &watch : NULL;
		f.r.c.interval_ns = rows[i].interval_ns;
		bool did = tries(&f, rows[i].record, rows[i].digest, 3, 1);
		if (did != rows[i].tries || f.u->tries != rows[i].n_tries)
			fail_msg("row %zu: %d, %u tries", i, did, f.u->tries);
	}
	f.r.c.keyed = true;
	f.r.c.watch = NULL;
	int64_t pause = NS_PER_MIN;
	for (unsigned n = 1; n < 40; n++) {
		assert_false(tries(&f, back, "d", n, pause - 1));
		assert_true(tries(&f, back, "d", n, pause));
		pause = 2 * pause < NS_PER_HOUR ? 2 * pause : NS_PER_HOUR;
	}
	release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_unit__what_changed_is_told_once),
		cmocka_unit_test(test_run_unit__how_an_attempt_ends),
		cmocka_unit_test(test_run_unit__reads_that_fail_end_it),
		cmocka_unit_test(test_run_unit__what_was_rolled_back_waits),
		cmocka_unit_test(test_run_unit__a_key_begins_what_is_not_under_way),
		cmocka_unit_test(test_run_unit__one_key_too_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
