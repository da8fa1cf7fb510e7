/* Which units a watch begins: of objects that come, go and come again, and of what is left of those that went. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/controllers/run_internal.h"
#include "alm/obj/meta.h"
#include "tests/lib/work_fixture.h"

#define MAINS       "/api/v1/configmaps?*"
#define INVENTORIES "/api/v1/namespaces/alm-system/configmaps?*"
#define MAIN(name)  "/api/v1/namespaces/default/configmaps/" name
#define INVENTORY(name)                                                          \
	"{\"metadata\": {\"name\": \"inv.b.default." name "\", \"labels\": "     \
	"{\"app.coreos.com/instance\": \"default." name "\"}, \"annotations\": " \
	"{\"app.coreos.com/main\": \"ConfigMap. default/" name "\"}}}"
#define LIST(next, items)                                                            \
	"{\"metadata\": {\"resourceVersion\": \"10\", \"continue\": \"" next "\"}, " \
	"\"items\": [" items "]}"
#define M(rv, uid, more)                                                                      \
	"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": "         \
	"\"m\", \"namespace\": \"default\", \"uid\": \"" uid "\", \"resourceVersion\": \"" rv \
	"\"" more "}}"
#define DELETING                                                              \
	", \"deletionTimestamp\": \"2030-01-01T00:00:00Z\", \"finalizers\": " \
	"[\"app.coreos.com/unit\"]"

static const char keymap[] = "mainResource: m\n"
			     "resources: [{name: m, apiVersion: v1, kind: ConfigMap}]\n";

struct fixture {
	struct work_fixture w;
	struct arena *a;
	struct run_watch watch;
	struct run r;
	const char *rendered; /* uid of what it was rendered for last */
};

static void render(void *arg, struct run_render *call)
{
	struct fixture *f = arg;
	struct error err = ERROR_INIT;
	f->rendered = arena_strdup(f->a, meta_uid(call->main));
	error_set(&err, E_UNAVAILABLE, "not today");
	call->done(call, &err);
}

static void ended(void *arg, const char *instance, const struct obj *record,
		  const struct error *err)
{
	(void)arg;
	(void)instance;
	(void)record;
	(void)err;
}

static void init(struct fixture *f)
{
	struct error err = ERROR_INIT;
	*f = (struct fixture){.a = arena_new(1 << 20), .watch = {.touches = true}};
	work_fixture_init(&f->w);
	assert_ok(keymap_read(str_of(keymap), "keymap", f->a, &f->watch.map, &err), &err);
	struct run *r = &f->r;
	r->c = (struct run_config){
		.loop = f->w.loop,
		.client = f->w.client,
		.audit = f->w.audit,
		.db = f->w.db,
		.bundle = "b",
		.watch = &f->watch,
		.job = {.inventory_ns = "alm-system", .max_deletes = 2, .touches = true},
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
	r->manager = manager_new(&mc); /* it is not started: what is to be done is only noted */
}

/* mains: the list of watched objects. */
static void start(struct fixture *f, const char *mains)
{
	fake_answer(f->w.transport, "GET", MAINS, 200, mains);
	fake_stream(f->w.transport, "GET", MAINS, 200, "");
	fake_answer(f->w.transport, "GET", "/apis", 200, "{\"items\": []}");
	fake_answer(f->w.transport, "GET", "/api", 200,
		    "{\"kind\": \"APIGroupDiscoveryList\", "
		    "\"items\": [{\"metadata\": {}, \"versions\": [{\"version\": \"v1\", "
		    "\"resources\": [{\"resource\": \"configmaps\", \"responseKind\": {\"kind\": "
		    "\"ConfigMap\"}, \"scope\": \"Namespaced\", \"verbs\": [\"list\", "
		    "\"watch\"]}]}]}]}");
	run_watch_start(&f->r);
	loop_fake_run(f->w.loop, NS_PER_S);
}

static void stop(struct fixture *f)
{
	run_watch_stop(&f->r);
	manager_free(f->r.manager);
	for (const struct map_entry *e = map_first(f->r.units); e; e = map_next(e))
		run_unit_drop(e->value);
	map_free(f->r.units);
	work_fixture_drop(&f->w);
	arena_free(f->a);
}

static void answer_gone(struct fixture *f, const char *target)
{
	fake_answer(f->w.transport, "GET", target, 404,
		    "{\"kind\": \"Status\", \"apiVersion\": \"v1\", \"status\": \"Failure\", "
		    "\"reason\": \"NotFound\", \"code\": 404, \"message\": \"not found\"}");
}

static size_t count_calls(const struct fixture *f, const char *text)
{
	size_t n = 0;
	for (size_t i = 0; i < fake_count(f->w.transport); i++)
		n += strstr(fake_call(f->w.transport, i), text) != NULL;
	return n;
}

/* On two pages: that of a is gone, that of z was gone for a moment. */
static void answer_look(struct fixture *f, bool z)
{
	fake_answer(f->w.transport, "GET", INVENTORIES, 200, LIST("next", INVENTORY("a")));
	fake_answer(f->w.transport, "GET", INVENTORIES, 200, LIST("", INVENTORY("z")));
	answer_gone(f, MAIN("a"));
	if (z)
		fake_answer(f->w.transport, "GET", MAIN("z"), 200, M("11", "z", ""));
	else
		answer_gone(f, MAIN("z"));
}

static void test_run_left__what_two_looks_in_a_row_miss_is_ended(void **state)
{
	(void)state;
	struct fixture f;
	init(&f);
	answer_look(&f, false);
	start(&f, LIST("", ""));
	assert_int_equal(count_calls(&f, "limit="), 3); /* of the main ones, too */
	assert_int_equal(count_calls(&f, "continue=next"), 1);
	assert_int_equal(map_count(f.r.units), 0);
	answer_look(&f, true);
	loop_fake_run(f.w.loop, 5 * NS_PER_S);
	assert_int_equal(map_count(f.r.units), 1);
	assert_true(map_has(f.r.units, "b/default.a"));
	stop(&f);
}

static void test_run_left__no_more_than_may_be_deleted_at_once(void **state)
{
	(void)state;
	static const char *const mains[] = {MAIN("a"), MAIN("b"), MAIN("c")};
	struct fixture f;
	init(&f);
	for (size_t look = 0; look < 2; look++) {
		fake_answer(f.w.transport, "GET", INVENTORIES, 200,
			    LIST("", INVENTORY("a") "," INVENTORY("b") "," INVENTORY("c")));
		for (size_t i = 0; i < ARRAY_LEN(mains); i++)
			answer_gone(&f, mains[i]);
	}
	start(&f, LIST("", ""));
	loop_fake_run(f.w.loop, 5 * NS_PER_S);
	assert_int_equal(count_calls(&f, MAIN("c")), 2);
	assert_int_equal(map_count(f.r.units), 0);
	stop(&f);
}

/* --- any looks, by a model --- */

enum { NAMES = 4, LOOKS = 12, RUNS = 60, DELETES = 2 };

struct model {
	uint64_t seed;
	enum { THERE, MISSING, UNREAD } is[NAMES];
	bool listed[NAMES], was_gone[NAMES], ended[NAMES];
	bool looked; /* once, to its end */
};

static unsigned below(struct model *m, unsigned n)
{
	m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(m->seed >> 33) % n;
}

static const char *const letters[NAMES] = {"a", "b", "c", "d"};

static void answer_page(struct fixture *f, const struct model *m, int from, int to)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	strbuf_addf(
		&b,
		"{\"metadata\": {\"resourceVersion\": \"10\", \"continue\": \"%s\"}, \"items\": [",
		to < NAMES ? "n/x" : "");
	for (int i = from, n = 0; i < to; i++)
		if (m->listed[i])
			strbuf_addf(
				&b,
				"%s{\"metadata\": {\"name\": \"inv.b.default.%s\", \"labels\": {"
				"\"app.coreos.com/instance\": \"default.%s\"}, \"annotations\": {"
				"\"app.coreos.com/main\": \"ConfigMap. default/%s\"}}}",
				n++ ? "," : "", letters[i], letters[i], letters[i]);
	strbuf_adds(&b, "]}");
	fake_answer(f->w.transport, "GET", INVENTORIES, 200, b.buf);
}

static void answer_mains(struct fixture *f, const struct model *m, int from, int to)
{
	static const int codes[] = {[THERE] = 200, [MISSING] = 404, [UNREAD] = 403};
	for (int i = from; i < to; i++) {
		char target[64];
		if (!m->listed[i] || m->ended[i])
			continue; /* what is run is not asked about */
		(void)snprintf(target, sizeof(target), MAIN("%s"), letters[i]);
		if (m->is[i] == MISSING)
			answer_gone(f, target);
		else
			fake_answer(f->w.transport, "GET", target, codes[m->is[i]],
				    M("1", "u", ""));
	}
}

/* What a look finds, and what follows: what is gone in two in a row, unless it is too much; one that did not see all
 * is none. Returns when the next one is. */
static int64_t next_look(struct fixture *f, struct model *m)
{
	int fails = (int)below(m, 6), missing = 0; /* at page 1 or 2 */
	for (int i = 0; i < NAMES; i++) {
		m->is[i] = (int[]){THERE, MISSING, MISSING, UNREAD}[below(m, 4)];
		m->listed[i] = below(m, 5);
	}
	if (fails == 1) {
		fake_answer(f->w.transport, "GET", INVENTORIES, 403, "{}");
		return NS_PER_MIN;
	}
	answer_page(f, m, 0, 2);
	answer_mains(f, m, 0, 2);
	if (fails == 2) {
		fake_answer(f->w.transport, "GET", INVENTORIES, 403, "{}");
		return NS_PER_MIN;
	}
	answer_page(f, m, 2, NAMES);
	answer_mains(f, m, 2, NAMES);
	for (int i = 0; i < NAMES; i++)
		missing += m->listed[i] && !m->ended[i] && m->is[i] != THERE;
	for (int i = 0; i < NAMES; i++) {
		bool gone = m->listed[i] && !m->ended[i] && m->is[i] == MISSING;
		m->ended[i] |= gone && m->was_gone[i] && missing <= DELETES;
		m->was_gone[i] = gone;
	}
	bool first = !m->looked;
	m->looked = true;
	return first ? 5 * NS_PER_S : NS_PER_MIN;
}

static void test_run_left__whatever_looks_find(void **state)
{
	(void)state;
	for (unsigned run = 0; run < RUNS; run++) {
		struct fixture f;
		struct model m = {.seed = run};
		init(&f);
		int64_t wait = next_look(&f, &m);
		start(&f, LIST("", ""));
		wait -= NS_PER_S;
		for (int look = 0; look < LOOKS; look++) {
			assert_int_equal(fake_unused(f.w.transport), 0);
			for (int i = 0; i < NAMES; i++) {
				CLEANUP(xfreep) char *key = xstrdup("b/default.x");
				key[strlen(key) - 1] = *letters[i];
				if (map_has(f.r.units, key) != m.ended[i])
					fail_msg("run %u, look %d: %s", run, look, key);
			}
			loop_fake_run(f.w.loop, wait - 1);
			int64_t next = next_look(&f, &m);
			assert_true(fake_unused(f.w.transport) > 0);
			loop_fake_run(f.w.loop, 1);
			wait = next;
		}
		assert_true(count_calls(&f, "labelSelector=app.coreos.com%2Fbundle%3Db&limit=500") >
			    0);
		assert_int_equal(count_calls(&f, "continue="), count_calls(&f, "continue=n%2Fx"));
		stop(&f);
	}
}

/* While it is waited for what may come late of the former. */
static void test_run_watch__one_that_was_made_again_is_none_that_goes(void **state)
{
	(void)state;
	struct fixture f;
	init(&f);
	fake_answer(f.w.transport, "GET", INVENTORIES, 200, LIST("", ""));
	start(&f, LIST("", M("9", "former", DELETING)));
	const struct run_unit *u = map_get(f.r.units, "b/default.m");
	assert_non_null(u);
	assert_true(u->job.deleting);
	assert_string_equal(meta_uid(u->job.main), "former");
	fake_push(f.w.transport,
		  "{\"type\": \"DELETED\", \"object\": " M("11", "former", DELETING) "}\n");
	fake_push(f.w.transport, "{\"type\": \"ADDED\", \"object\": " M("12", "new", "") "}\n");
	loop_fake_run(f.w.loop, NS_PER_S);
	assert_true(u->job.deleting);
	assert_string_equal(meta_uid(u->main), "new");
	assert_null(u->job.main); /* it has no status of the former, and loses no finalizer */
	assert_null(f.rendered);
	CLEANUP(obj_unrefp) struct obj *record = obj_map();
	obj_set_int(record, "attempt", u->job.attempt);
	obj_set_str(record, "state", "Succeeded");
	f.r.side.record(f.r.side.arg, u->key, record);
	loop_fake_run(f.w.loop, NS_PER_S);
	assert_string_equal(f.rendered, "new");
	stop(&f);
}

static void keep_lines(void *arg, const char *line)
{
	strbuf_addf(arg, "%s\n", line);
}

/* So many are run; of one more it is told, what is run goes on, and what was left out may go in silence. */
static void test_run_watch__has_a_limit(void **state)
{
#define TOLD(name) "\"too many objects: this one is left out\" object=default." name "\n"
#define NAMED(type, rv, name)                                                                     \
	"{\"type\": \"" type "\", \"object\": {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", " \
	"\"metadata\": {\"name\": \"" name "\", \"namespace\": \"default\", \"uid\": \"" name     \
	"\", \"resourceVersion\": \"" rv "\"}, \"data\": {\"rv\": \"" rv "\"}}}\n"
	static const struct {
		const char *event, *told, *key;
		bool has;
	} rows[] = {
		{NAMED("ADDED", "11", "last"), "", "b/default.last", true},
		{NAMED("ADDED", "12", "over"), TOLD("over"), "b/default.over", false},
		{NAMED("MODIFIED", "13", "last"), "", "b/default.last", true},
		{NAMED("MODIFIED", "14", "over"), TOLD("over"), "b/default.over", false},
		{NAMED("DELETED", "15", "over"), "", "b/default.over", false},
		{NAMED("DELETED", "16", "last"), "", "b/default.last", true}, /* it ends */
	};
	(void)state;
	struct fixture f;
	init(&f);
	fake_answer(f.w.transport, "GET", INVENTORIES, 200, LIST("", ""));
	start(&f, LIST("", ""));
	for (size_t i = 0; map_count(f.r.units) < RUN_UNITS_MAX - 1; i++)
		(void)run_unit_of(&f.r, arena_fmt(f.a, "default.u%zu", i));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(STRBUF_SMALL);
		log_divert(keep_lines, &lines);
		fake_push(f.w.transport, rows[i].event);
		log_divert(NULL, NULL);
		if (*rows[i].told ? !strstr(lines.buf, rows[i].told) : lines.len)
			fail_msg("event %zu: %s", i, lines.buf);
		assert_int_equal(map_has(f.r.units, rows[i].key), rows[i].has);
		assert_int_equal(map_count(f.r.units), RUN_UNITS_MAX);
		const struct run_unit *last = map_get(f.r.units, "b/default.last");
		if (i == ARRAY_LEN(rows) - 1)
			assert_null(last->main);
		else
			assert_string_equal(obj_str(last->main, "data.rv"), i < 2 ? "11" : "13");
	}
	stop(&f);
#undef NAMED
#undef TOLD
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_left__what_two_looks_in_a_row_miss_is_ended),
		cmocka_unit_test(test_run_left__no_more_than_may_be_deleted_at_once),
		cmocka_unit_test(test_run_left__whatever_looks_find),
		cmocka_unit_test(test_run_watch__one_that_was_made_again_is_none_that_goes),
		cmocka_unit_test(test_run_watch__has_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
