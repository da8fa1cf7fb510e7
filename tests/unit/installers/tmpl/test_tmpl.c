/* tmpl: budgets, profiles, strictness, reuse: what the recorded cases do not show. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/file.h"
#include "installers/tmpl/fn/files.h"
#include "installers/tmpl/tmpl.h"

#define NAME "c/templates/t.yaml"

struct fixture {
	struct arena *arena;
	struct tmpl_set *set;
	struct strbuf out, msg;
	struct tmpl_limits limits;
	struct tmpl_host host;
	enum tmpl_profile profile;
	bool strict;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->arena = arena_new((size_t)512 << 20);
	f->limits = tmpl_limits_default;
	f->profile = TMPL_PROFILE_4_1;
	strbuf_init(&f->out, (size_t)64 << 20);
	strbuf_init(&f->msg, (size_t)64 << 20);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	arena_free(f->arena);
	tmpl_set_free(f->set);
	strbuf_release(&f->out);
	strbuf_release(&f->msg);
	xfree(f);
	return 0;
}

static int run(struct fixture *f, const char *text)
{
	struct vmap *values = vmap_new(f->arena), *top = vmap_new(f->arena);
	vmap_setc(values, "a", value_float(1));
	vmap_setc(top, "Values", value_map_as(values, VALUE_VALUES));
	tmpl_set_free(f->set);
	f->set = tmpl_set_new(f->profile, f->strict);
	strbuf_clear(&f->out);
	strbuf_clear(&f->msg);
	int r = tmpl_set_add(f->set, STR(NAME), str_of(text), &f->msg);
	if (r < 0)
		return r;
	CLEANUP(tmpl_run_freep) struct tmpl_run *t =
		tmpl_run_new(f->set, f->arena, &f->host, &f->limits);
	return tmpl_run_file(t, STR(NAME), value_map(top), &f->out, &f->msg);
}

static void want_limit(struct fixture *f, const char *text, const char *msg)
{
	assert_int_equal(run(f, text), -E_LIMIT);
	if (!cstr_has_prefix(f->msg.buf, msg))
		fail_msg("got: %s", f->msg.buf);
}

static int no_zone(void *ctx, struct arena *a, struct str name, struct str *ret)
{
	(void)ctx;
	(void)a;
	(void)ret;
	assert_true(str_is(name, "No/Where"));
	return -E_NOTFOUND;
}

/* As Go's LoadLocation refuses them, without a look at the host: what is no name below its folder. */
static void test_tmpl__a_zone_that_is_not_known_is_utc(void **state)
{
	static const char *const names[] = {"",          "UTC",       "No/Where",   "../UTC",
					    "/etc/zone", "No/../UTC", "No\\\\Where"};
	struct fixture *f = *state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(names); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		f->host = (struct tmpl_host){.ctx = f, .zone_bytes = i % 2 ? no_zone : NULL};
		strbuf_addf(&b, "{{ dateInZone \"2006-01-02 15:04 MST -0700\" 0 \"%s\" }}",
			    names[i / 2]);
		assert_int_equal(run(f, b.buf), 0);
		assert_string_equal(f->out.buf, "1970-01-01 00:00 UTC +0000");
	}
}

static size_t mapped_pages(void)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	assert_ok(file_read("/proc/self/statm", &b, &err), &err);
	uint64_t pages = 0;
	struct str first, rest;
	assert_true(str_cut(strbuf_str(&b), ' ', &first, &rest) && str_parse_u64(first, &pages));
	return pages;
}

/* Of 64 MiB each, which no sanitizer sees. */
static void test_tmpl__the_stack_of_a_run_goes_with_it(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(run(f, "a"), 0);
	size_t before = mapped_pages();
	for (int i = 0; i < 20; i++)
		assert_int_equal(run(f, "a"), 0);
	assert_true((mapped_pages() - before) * 4096 < 10 * f->limits.stack_bytes);
}

static void test_tmpl__repeat_is_so_many_times(void **state)
{
	struct fixture *f = *state;
	static const char *const texts[] = {"", "a", "\xc3\xa4-b"};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		for (int n = 0; n < 20; n++) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL),
							      want = STRBUF_INIT(STRBUF_SMALL);
			for (int k = 0; k < n; k++)
				strbuf_adds(&want, texts[i]);
			strbuf_addf(&b, "{{ repeat %d \"%s\" }}", n, texts[i]);
			assert_int_equal(run(f, b.buf), 0);
			assert_string_equal(f->out.buf ? f->out.buf : "", want.buf);
		}
}

static void test_tmpl__every_budget_names_itself_and_the_place(void **state)
{
	struct fixture *f = *state;
	f->limits.steps = 1000;
	want_limit(f, "{{ range until 900 }}{{ . }}{{ end }}",
		   "RenderLimit: more than 1000 steps at " NAME ":1:");
	f->limits = tmpl_limits_default;
	f->limits.iterations = 10;
	want_limit(f, "a\n {{ range 11 }}x{{ end }}",
		   "RenderLimit: more than 10 iterations of range at " NAME ":2:");
	f->limits = tmpl_limits_default;
	f->limits.file_bytes = 100;
	want_limit(f, "{{ range 101 }}x{{ end }}",
		   "RenderLimit: more than 100 bytes of output of one file");
	f->limits = tmpl_limits_default;
	f->limits.tpl_calls = 2;
	want_limit(f, "{{ range 3 }}{{ tpl \"x\" . }}{{ end }}",
		   "RenderLimit: more than 2 calls of tpl at ");
	f->limits = tmpl_limits_default;
	f->limits.frames = 50;
	want_limit(f, "{{ define \"d\" }}{{ include \"d\" . }}{{ end }}{{ include \"d\" . }}",
		   "RenderLimit: more than 50 templates in each other");
	f->limits = tmpl_limits_default;
	f->limits.arena_bytes = 1 << 20;
	want_limit(f, "{{ $x := \"\" }}{{ range 5000 }}{{ $x = repeat 1000 \"a\" }}{{ end }}",
		   "RenderLimit: more than 1048576 bytes of values and strings");
}

static void test_tmpl__sizes_are_checked_before_memory_is_taken(void **state)
{
	struct fixture *f = *state;
	const char *big = "RenderLimit: more than 16777216 bytes in one string at ";
	want_limit(f, "{{ repeat 1000000000000 \"abc\" }}", big);
	want_limit(f, "{{ indent 2000000000 \"a\" }}", big);
	want_limit(f, "{{ randAlpha 20000000 }}", big);
	want_limit(f, "{{ until 2000000 }}", "RenderLimit: more than 1000000 items in one list");
	want_limit(f, "{{ untilStep 0 9223372036854775807 1 }}",
		   "RenderLimit: more than 1000000 items in one list");
	want_limit(f, "{{ regexMatch \"(a?){1000}b\" (repeat 1000000 \"a\") }}",
		   "RenderLimit: a regular expression needs more than ");
}

static void test_tmpl__nesting_of_source_is_limited(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "{{ ");
	strbuf_pad(&b, '(', 5000);
	strbuf_addc(&b, '1');
	strbuf_pad(&b, ')', 5000);
	strbuf_adds(&b, " }}");
	assert_int_equal(run(f, b.buf), -E_LIMIT);
	strbuf_clear(&b);
	for (int i = 0; i < 5000; i++)
		strbuf_adds(&b, "{{ if true }}");
	assert_int_equal(run(f, b.buf), -E_LIMIT);
	/* in a text of tpl, too, which is no fault of its syntax */
	assert_int_equal(run(f, "{{ tpl (repeat 5000 \"{{ if true }}\") . }}"), -E_LIMIT);
	assert_null(strstr(f->msg.buf, "cannot parse template"));
}

static void test_tmpl__include_nests_a_thousand_deep(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(run(f,
			     "{{ define \"d\" }}{{ if gt . 0 }}{{ include \"d\" (int (sub . 1)) }}"
			     "{{ else }}end{{ end }}{{ end }}{{ include \"d\" 999 }}"),
			 0);
	assert_string_equal(f->out.buf, "end");
}

static void test_tmpl__four_names_nest_to_the_limit_of_frames(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(
		run(f,
		    "{{ define \"a\" }}{{ if gt (int .) 0 }}{{ with . }}"
		    "{{ include \"b\" (sub . 1) | trim }}{{ end }}{{ else }}end{{ end }}{{ end }}"
		    "{{ define \"b\" }}{{ if true }}{{ include \"c\" . }}{{ end }}{{ end }}"
		    "{{ define \"c\" }}{{ include \"d\" . }}{{ end }}"
		    "{{ define \"d\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" 990 }}"),
		0);
	assert_string_equal(f->out.buf, "end");
}

static void test_tmpl__profile_3_tells_errors_in_one_line(void **state)
{
	struct fixture *f = *state;
	f->profile = TMPL_PROFILE_3;
	assert_int_equal(
		run(f, "{{ include \"d\" . }}{{ define \"d\" }}{{ .Values.x.y }}{{ end }}"),
		-E_INVALID);
	assert_string_equal(f->msg.buf,
			    "template: " NAME ":1:3: executing \"" NAME "\" at <include \"d\" .>: "
			    "error calling include: template: " NAME ":1:45: executing \"d\" at "
			    "<.Values.x.y>: nil pointer evaluating interface {}.y");
	assert_int_equal(run(f, "{{ fail \"no\" }}"), -E_INVALID);
	assert_string_equal(f->msg.buf, "execution error at (" NAME ":1:3): no");
	assert_int_equal(run(f, "{{ mustToYaml 1 }}"), -E_INVALID);
}

static void test_tmpl__strict_makes_a_missing_key_an_error(void **state)
{
	struct fixture *f = *state;
	f->strict = true;
	assert_int_equal(run(f, "{{ .Values.none }}"), -E_INVALID);
	assert_non_null(strstr(f->msg.buf, "map has no entry for key \"none\""));
	assert_int_equal(run(f, "{{ .Values.a }}"), 0);
	assert_string_equal(f->out.buf, "1");
}

static void test_tmpl__random_functions_need_entropy(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(run(f, "{{ uuidv4 }}"), -E_UNAVAILABLE);
	assert_int_equal(run(f, "{{ genCA \"x\" 1 }}"), -E_UNAVAILABLE);
}

static int zeros(void *ctx, void *out, size_t len)
{
	(void)ctx;
	memset(out, 0, len);
	return 0;
}

static void test_tmpl__the_same_entropy_gives_the_same_key(void **state)
{
	struct fixture *f = *state;
	f->host = (struct tmpl_host){.now_ns = 1000000000, .entropy = zeros};
	const char *text = "{{ (genCA \"x\" 1).Cert }}{{ uuidv4 }}";
	assert_int_equal(run(f, text), 0);
	CLEANUP(xfreep) char *first = xstrdup(f->out.buf);
	assert_int_equal(run(f, text), 0);
	assert_string_equal(f->out.buf, first);
}

static void test_tmpl__order_is_deepest_first_then_last_name(void **state)
{
	(void)state;
	assert_true(tmpl_order_cmp(STR("c/charts/s/t/a"), STR("c/t/z")) < 0);
	assert_true(tmpl_order_cmp(STR("c/t/b"), STR("c/t/a")) < 0);
}

/* Helm's has the address of the zone behind it, as a number. */
static void test_tmpl__a_time_is_printed_by_any_verb(void **state)
{
	struct fixture *f = *state;
	static const char *const rows[][2] = {
		{"{{ printf \"%d\" (toDate \"2006\" \"2024\") }}", "{0 63839664000 "},
		{"{{ printf \"%d\" (list (toDate \"2006\" \"2024\")) }}", "[{0 63839664000 "},
		{"{{ printf \"%x\" (toDate \"2006\" \"2024\") }}",
		 "323032342d30312d30312030303a30303a3030202b3030303020555443"},
		{"{{ printf \"%t\" (toDate \"2006\" \"2024\") }}",
		 "{%!t(uint64=0) %!t(int64=63839664000) %!t(*time.Location="},
		{"{{ printf \"%d\" (list (semver \"1.2.3\")) }}", "[%!d(*semver.Version=&{1 2 3 "},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (run(f, rows[i][0]) < 0 || !cstr_has_prefix(f->out.buf, rows[i][1]))
			fail_msg("%s: %s %s", rows[i][0], f->out.buf, f->msg.buf);
	}
}

/* Only what the text says is read, not the bytes behind it. */
static void test_tmpl__a_text_ends_where_it_ends(void **state)
{
	struct fixture *f = *state;
	static const char *const rows[] = {"{{a",    "{{ if",   "{{$x", "{{.x", "{{1",
					   "{{/* a", "{{\"a",   "{{`a", "{{'a", "a{",
					   "a",      "{{- a -", "{{1.", "{{0x"};
	static const char behind[] = "a1 }}*/\"`'.x";
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[64];
		struct str exact = str_of(rows[i]);
		CLEANUP(strbuf_release) struct strbuf first = STRBUF_INIT(STRBUF_SMALL);
		int want = 0;
		for (size_t k = 0; k < sizeof(behind); k++) {
			(void)snprintf(text, sizeof(text), "%s%s", rows[i], behind + k);
			tmpl_set_free(f->set);
			f->set = tmpl_set_new(f->profile, f->strict);
			strbuf_clear(&f->msg);
			int got = tmpl_set_add(f->set, STR(NAME), str_n(text, exact.len), &f->msg);
			if (k == 0) {
				want = got;
				strbuf_addstr(&first, strbuf_str(&f->msg));
			}
			if (got != want || strcmp(f->msg.buf, first.buf) != 0)
				fail_msg("%s before %s: %s", rows[i], behind + k, f->msg.buf);
		}
	}
}

/* Entries in any order, some twice: sorted, and the last of a key stays. */
static void test_tmpl__a_map_settles(void **state)
{
	struct fixture *f = *state;
	struct vmap *m = vmap_new(f->arena), *same = vmap_new(f->arena);
	for (int i = 0; i < 3000; i++) {
		const char *key = arena_fmt(f->arena, "k%d", i * 7919 % 1000);
		vmap_append(m, str_of(key), value_int(i));
		vmap_set(same, str_of(key), value_int(i));
	}
	vmap_settle(m);
	assert_int_equal(vmap_count(m), 1000);
	for (size_t i = 0; i < 1000; i++) {
		assert_true(str_eq(m->entries[i].key, same->entries[i].key));
		assert_int_equal(m->entries[i].value.i, same->entries[i].value.i);
	}
}

/* RFC 3986 3.1: a letter, then letters, digits and three more; whatever else ends it is none. */
static void test_tmpl__a_scheme_has_its_characters(void **state)
{
	struct fixture *f = *state;
	for (int code = 33; code < 127; code++) {
		char text[96], want[8], c = (char)code;
		bool is_of_it = char_is_alnum(c) || strchr("+-.", c);
		if (strchr("\"\\%", c)) /* of the template's text, or of an escape */
			continue;
		for (int first = 0; first < 2; first++) {
			(void)snprintf(want, sizeof(want), first ? "%cx" : "x%cy", c);
			(void)snprintf(text, sizeof(text), "{{ (urlParse \"%s://h\").scheme }}",
				       want);
			for (char *p = want; *p; p++)
				*p = char_lower(*p);
			bool is_scheme = first ? char_is_alpha(c) : is_of_it;
			int r = run(f, text);
			if (is_scheme ? r != 0 || strcmp(f->out.buf, want) != 0
				      : r == 0 && f->out.len && !strcmp(f->out.buf, want))
				fail_msg("%s: %d %s %s", text, r, f->out.buf, f->msg.buf);
		}
	}
}

static void test_tmpl__glob_of_files(void **state)
{
	(void)state;
	assert_true(files_glob_match(STR("a/*"), STR("a/b.txt")));
	assert_false(files_glob_match(STR("a/*"), STR("a/b/c")));
	assert_true(files_glob_match(STR("**.txt"), STR("a/b/c.txt")));
	assert_true(files_glob_match(STR("{a,b/*}.y[!x]l"), STR("b/q.yml")));
	assert_false(files_glob_match(STR("[a-c]"), STR("d")));
	assert_true(files_glob_match(STR("["), STR("anything")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tmpl__a_zone_that_is_not_known_is_utc, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__the_stack_of_a_run_goes_with_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__repeat_is_so_many_times, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__every_budget_names_itself_and_the_place,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__sizes_are_checked_before_memory_is_taken,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__nesting_of_source_is_limited, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__include_nests_a_thousand_deep, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__four_names_nest_to_the_limit_of_frames,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__profile_3_tells_errors_in_one_line,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__strict_makes_a_missing_key_an_error,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__random_functions_need_entropy, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__the_same_entropy_gives_the_same_key,
						setup, teardown),
		cmocka_unit_test(test_tmpl__order_is_deepest_first_then_last_name),
		cmocka_unit_test_setup_teardown(test_tmpl__a_time_is_printed_by_any_verb, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__a_text_ends_where_it_ends, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__a_map_settles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tmpl__a_scheme_has_its_characters, setup,
						teardown),
		cmocka_unit_test(test_tmpl__glob_of_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
