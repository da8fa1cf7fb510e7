/*
 * Every template function has a recorded case: tests/golden/charts/coverage.txt names one for each,
 * and the case really uses the function.
 */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/base/map.h"
#include "installers/tmpl/tmpl.h"
#include "tests/lib/cases.h"

/* Functions of other profiles than the recorded one, or whose results nobody can record. */
static const char *const exempt[] = {"mustToToml"};

static const char *const files[] = {"functions", "language", "order",  "print",  "errors",
				    "strings",   "numbers",  "lists",  "yaml",   "values",
				    "charts",    "objects",  "output", "crypto", "toml",
				    "corners",   "log"};

static bool is_exempt(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(exempt); i++) {
		if (cstr_eq(name, exempt[i]))
			return true;
	}
	return false;
}

static struct map *read_cases(struct arena *a)
{
	struct map *m = map_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		size_t n;
		const char *path = arena_fmt(a, "tests/golden/charts/%s.cases", files[i]);
		struct golden_case *cases = golden_read(a, path, &n);
		for (size_t k = 0; k < n; k++)
			map_set(m, arena_fmt(a, "%.*s", STR_ARG(cases[k].id)), &cases[k]);
	}
	return m;
}

static bool uses(const struct golden_case *c, const char *function)
{
	for (size_t i = 0; i < c->n_files; i++) {
		if (str_contains(c->files[i].text, str_of(function)))
			return true;
	}
	return false;
}

static void test_coverage_tmpl__every_function_has_a_case(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(map_freep) struct map *cases = read_cases(a);
	CLEANUP(map_freep) struct map *covered = map_new(NULL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	assert_ok(file_read("tests/golden/charts/coverage.txt", &b, &err), &err);
	struct str text = strbuf_str(&b), line, name, id;
	while (text.len && str_next_line(&text, &line)) {
		if (line.len == 0 || line.ptr[0] == '#')
			continue;
		assert_true(str_cut(line, ' ', &name, &id));
		struct golden_case *c = map_getn(cases, id);
		const char *function = arena_fmt(a, "%.*s", STR_ARG(name));
		if (!c || !uses(c, function))
			fail_msg("coverage.txt: case %.*s does not use %s", STR_ARG(id), function);
		map_set(covered, function, c);
	}
	const struct tmpl_func *f;
	for (size_t i = 0; (f = tmpl_function_at(i)); i++) {
		if (!map_has(covered, f->name) && !is_exempt(f->name))
			fail_msg("function %s has no case in coverage.txt", f->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coverage_tmpl__every_function_has_a_case),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
