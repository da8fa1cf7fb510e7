/* What a resolution says, made by hand, and the status that is written of it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "catalog/resolve/resolve_doc.h"

#define N (RESOLVE_CANDIDATES_MAX + 10)

struct world {
	struct arena *a;
	struct resolve_input in;
	struct resolution r;
	struct candidate c[N];
	struct obj *status;
};

/* N versions, 30.0.0 first; 5.0.0 is installed. */
static void setup(struct world *w)
{
	*w = (struct world){.a = arena_new((size_t)16 << 20)};
	w->in = (struct resolve_input){.app = "etcd",
				       .self_ref = "etcd.x.io",
				       .installed_version = "5.0.0",
				       .now_ns = 1000 * NS_PER_S};
	for (size_t i = 0; i < N; i++) {
		struct error err;
		struct candidate *c = &w->c[i];
		*c = (struct candidate){.version = arena_fmt(w->a, "%zu.0.0", N - i),
					.reason = i % 2 ? "OutOfRange" : "NotEvaluated",
					.message = "why"};
		assert_ok(version_parse(str_of(c->version), VERSION_STRICT, &c->parsed, &err),
			  &err);
		c->installed = N - i == 5;
	}
	w->r = (struct resolution){.candidates = w->c, .n = N};
	w->status = obj_keep(w->a, obj_map());
}

static const struct obj *told(struct world *w, const char *version)
{
	struct obj *o = obj_keep(w->a, obj_map());
	obj_set(o, "status", obj_ref(w->status));
	return resolve_doc_candidate(o, version);
}

static void test_resolve_doc__the_newest_are_listed_and_the_rest_counted(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	resolve_set_status(&w.in, &w.r, NULL, w.a, w.status);
	const struct obj *list = obj_get(w.status, "candidates");
	assert_int_equal(obj_len(list), RESOLVE_CANDIDATES_MAX);
	for (size_t i = 0; i + 1 < RESOLVE_CANDIDATES_MAX; i++)
		assert_string_equal(obj_str(obj_at(list, i), "version"), w.c[i].version);
	assert_string_equal(obj_str(obj_at(list, RESOLVE_CANDIDATES_MAX - 1), "version"), "5.0.0");
	assert_int_equal(obj_i64(w.status, "candidatesOmitted", 0), N - RESOLVE_CANDIDATES_MAX);
	assert_false(obj_has(w.status, "availableVersion"));
	assert_false(obj_has(w.status, "path"));
	arena_free(w.a);
}

/* Installed, chosen, blocked and asked for: each has its place, however low it stands. */
static void test_resolve_doc__what_matters_is_listed_however_low(void **state)
{
	(void)state;
	static const char *const path[] = {"20.0.0", "1.0.0"};
	struct world w;
	setup(&w);
	struct candidate *chosen = &w.c[N - 1], *blocked = &w.c[N - 2];
	chosen->chosen = chosen->installable = true;
	w.r.chosen = chosen;
	w.r.available = w.r.blocked = blocked;
	w.r.path = mem_unconst(path);
	w.r.n_path = ARRAY_LEN(path);
	resolve_set_status(&w.in, &w.r, "3.0.0", w.a, w.status);
	assert_int_equal(obj_len(obj_get(w.status, "candidates")), RESOLVE_CANDIDATES_MAX);
	assert_string_equal(obj_str(told(&w, "1.0.0"), "reason"), "Chosen");
	assert_string_equal(obj_str(told(&w, "1.0.0"), "message"), "5.0.0 -> 20.0.0 -> 1.0.0");
	assert_string_equal(obj_str(told(&w, "5.0.0"), "reason"), "Installed");
	assert_non_null(told(&w, "3.0.0"));
	assert_non_null(told(&w, "2.0.0"));
	assert_null(told(&w, "4.0.0"));
	assert_string_equal(obj_str(w.status, "availableVersion"), "2.0.0");
	CLEANUP(xfreep) char *text = json_text(obj_get(w.status, "path"));
	assert_string_equal(text, "[\"20.0.0\",\"1.0.0\"]");
	/* and what no longer applies is gone */
	w.r = (struct resolution){.candidates = w.c};
	resolve_set_status(&w.in, &w.r, NULL, w.a, w.status);
	assert_int_equal(obj_len(w.status), 0);
	arena_free(w.a);
}

/* The way out is looked for where it is of use: few, newer, judged; and the blocked one. */
static void test_resolve_doc__a_way_out_for_few(void **state)
{
	(void)state;
	struct world w;
	static struct resolve_manual manual[N];
	setup(&w);
	for (size_t i = 0; i < N; i++)
		manual[i] = (struct resolve_manual){.strategy = "hand", .version = w.c[i].version};
	w.in.manual = manual;
	w.in.n_manual = N;
	w.in.range = "<1.0.0";
	w.r.blocked = &w.c[N - 2];
	resolve_set_status(&w.in, &w.r, "3.0.0", w.a, w.status);
	const struct obj *list = obj_get(w.status, "candidates");
	size_t n = 0;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *c = obj_at(list, i);
		bool out = obj_has(c, "steps") || obj_has(c, "stuck");
		const char *version = obj_str(c, "version");
		bool must = !strcmp(version, "2.0.0") || !strcmp(version, "3.0.0");
		bool may = !strcmp(obj_str(c, "reason"), "OutOfRange");
		n += out;
		if (out != (must || (may && n <= DOC_RELAXED_MAX && i < 2 * DOC_RELAXED_MAX)))
			fail_msg("%s: %d", version, out);
	}
	assert_int_equal(n, DOC_RELAXED_MAX + 2);
	arena_free(w.a);
}

static int64_t first_seen(void *arg, const char *version)
{
	(void)arg;
	return strcmp(version, "30.0.0") ? 0 : 60 * NS_PER_S;
}

static void test_resolve_doc__a_candidate_has_what_was_found(void **state)
{
	(void)state;
	static const char *const dropped[] = {"a.x.io/v1"}, *const lines[] = {"1. p requires q"};
	static const struct dependency dependencies[] = {
		{.package = "new", .version = "1.0.0", .add = true},
		{.package = "same", .version = "2.0.0"},
		{.package = "old", .version = "3.0.0", .upgrade = true}};
	struct world w;
	setup(&w);
	w.r.n = 3;
	w.in.first_seen = first_seen;
	w.c[0].dropped = mem_unconst(dropped);
	w.c[0].explanation = mem_unconst(lines);
	w.c[0].n_dropped = w.c[0].n_explanation = 1;
	w.c[1].chosen = w.c[1].installable = true;
	w.c[1].dependencies = dependencies;
	w.c[1].n_dependencies = ARRAY_LEN(dependencies);
	w.c[2] = w.c[0];
	w.c[2].version = "28.0.0";
	w.c[2].installed = true;
	w.r.chosen = &w.c[1];
	w.in.installed_version = NULL;
	resolve_set_status(&w.in, &w.r, NULL, w.a, w.status);
	CLEANUP(xfreep) char *first = json_text(told(&w, "30.0.0"));
	assert_string_equal(first, "{\"version\":\"30.0.0\",\"installable\":false,\"reason\":"
				   "\"NotEvaluated\",\"message\":\"why\",\"firstSeen\":"
				   "\"1970-01-01T00:01:00Z\",\"dropped\":[\"a.x.io/v1\"],"
				   "\"explanation\":[\"1. p requires q\"]}");
	CLEANUP(xfreep) char *second = json_text(told(&w, "29.0.0"));
	assert_string_equal(second, "{\"version\":\"29.0.0\",\"installable\":true,\"reason\":"
				    "\"Chosen\",\"message\":\"installs new 1.0.0; upgrades old "
				    "3.0.0\",\"firstSeen\":\"1970-01-01T00:16:40Z\"}");
	CLEANUP(xfreep) char *third = json_text(told(&w, "28.0.0"));
	assert_string_equal(third, "{\"version\":\"28.0.0\",\"installable\":true,\"reason\":"
				   "\"Installed\",\"firstSeen\":\"1970-01-01T00:16:40Z\"}");
	arena_free(w.a);
}

/* With nothing set the defaults stand, and what is set stands as it is. */
static void test_resolve_doc__has_what_the_printer_reads(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	w.r.n = 0;
	struct obj *o = obj_keep(w.a, resolve_doc(&w.in, &w.r, NULL, w.a));
	struct condition c;
	assert_string_equal(obj_str(o, "metadata.name"), "etcd");
	assert_string_equal(obj_str(o, "spec.upgrade.mode"), "Automatic");
	assert_string_equal(obj_str(o, "spec.channel"), "stable");
	assert_string_equal(obj_str(o, "spec.version"), "");
	assert_string_equal(obj_str(o, "status.installedVersion"), "5.0.0");
	assert_true(condition_get(o, "Resolved", &c));
	assert_string_equal(c.reason, "NoCandidate");
	w.in.mode = "Manual";
	w.in.channel = "beta";
	w.in.range = "<9";
	w.in.installed_version = NULL;
	w.r.catalog = "community";
	w.r.reason = "NoPackage";
	w.r.message = "nobody has it";
	o = obj_keep(w.a, resolve_doc(&w.in, &w.r, NULL, w.a));
	assert_string_equal(obj_str(o, "spec.upgrade.mode"), "Manual");
	assert_string_equal(obj_str(o, "spec.channel"), "beta");
	assert_string_equal(obj_str(o, "spec.version"), "<9");
	assert_string_equal(obj_str(o, "status.source.catalog"), "community");
	assert_false(obj_has(obj_get(o, "status"), "installedVersion"));
	assert_true(condition_get(o, "Resolved", &c));
	assert_string_equal(c.reason, "NoPackage");
	assert_string_equal(c.message, "nobody has it");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	resolve_print(o, NULL, NULL, false, &b);
	assert_non_null(strstr(b.buf, "\n  NoPackage: nobody has it\n"));
	arena_free(w.a);
}

/* Of an app without candidates its condition says why. */
static void test_resolve_doc__nothing_to_choose_from_is_told(void **state)
{
	(void)state;
	struct world w;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	setup(&w);
	w.r.n = 0;
	w.r.reason = "NoPackage";
	w.r.message = "nobody has it";
	w.in.installed_version = NULL;
	struct obj *o = obj_keep(w.a, resolve_doc(&w.in, &w.r, NULL, w.a));
	resolve_print(o, NULL, "7", false, &b);
	assert_string_equal(b.buf, "etcd  not installed  Automatic  channel stable  range *\n"
				   "  NoPackage: nobody has it\n  audit #7\n");
	w.r.n = 1;
	o = obj_keep(w.a, resolve_doc(&w.in, &w.r, NULL, w.a));
	strbuf_clear(&b);
	resolve_print(o, NULL, NULL, true, &b);
	assert_null(strstr(b.buf, "NoPackage"));
	assert_null(strstr(b.buf, "audit"));
	arena_free(w.a);
}

/* A waiver of each dropped resource is told once: not again where a step has it, not where nothing
 * helps. */
static void test_resolve_doc__other_ways_out(void **state)
{
#define WAIVER(r) "alm upgrade etcd --to 2.0.0 --accept-dropped " r " --reason TEXT"
	static const struct {
		const char *more;
		bool one, two;
	} rows[] = {
		{"", true, true},
		{",\"steps\":[\"alm crd migrate\"]", true, true},
		{",\"steps\":[\"" WAIVER("a.x.io/v1") " # breaks\"]", false, true},
		{",\"steps\":[\"x\",\"" WAIVER("b.x.io/v1") "\"]", true, false},
		{",\"stuck\":\"it is stored\"", false, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
		struct error err = ERROR_INIT;
		struct obj *app = NULL, *c = NULL;
		assert_ok(json_parse(STR("{\"metadata\":{\"name\":\"etcd\"}}"), &app, &err), &err);
		obj_keep(a, app);
		assert_ok(
			json_parse(str_of(arena_fmt(a,
						    "{\"version\":\"2.0.0\",\"reason\":"
						    "\"ResourceDropped\",\"kubectl\":[\"k1\"],"
						    "\"dropped\":[\"a.x.io/v1\",\"b.x.io/v1\"]%s}",
						    rows[i].more)),
				   &c, &err),
			&err);
		obj_keep(a, c);
		resolve_print_refusal(app, c, false, &b);
		assert_true(cstr_has_prefix(b.buf, "etcd 2.0.0 is not installable: it no longer "
						   "manages a.x.io/v1, b.x.io/v1."));
		assert_null(strstr(b.buf, "Other ways out"));
		strbuf_clear(&b);
		resolve_print_refusal(app, c, true, &b);
		const char *wide = strstr(b.buf, "With kubectl alone:\n  k1\nOther ways out:\n");
		assert_non_null(wide);
		const char *one = "\n  " WAIVER("a.x.io/v1") "   # never covers a stored version\n",
			   *two = "\n  " WAIVER("b.x.io/v1") "   # never covers a stored version\n";
		assert_int_equal(strstr(wide, one) != NULL, rows[i].one);
		assert_int_equal(strstr(wide, two) != NULL, rows[i].two);
		assert_non_null(
			strstr(wide, "\n  kubectl patch apptype etcd --type=merge -p "
				     "'{\"spec\":{\"version\":\"<2.0.0\"}}'   # stay below it\n"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve_doc__the_newest_are_listed_and_the_rest_counted),
		cmocka_unit_test(test_resolve_doc__what_matters_is_listed_however_low),
		cmocka_unit_test(test_resolve_doc__a_way_out_for_few),
		cmocka_unit_test(test_resolve_doc__a_candidate_has_what_was_found),
		cmocka_unit_test(test_resolve_doc__has_what_the_printer_reads),
		cmocka_unit_test(test_resolve_doc__nothing_to_choose_from_is_told),
		cmocka_unit_test(test_resolve_doc__other_ways_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
