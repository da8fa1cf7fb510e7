/*
 * What helm lint 4.1 found in the charts of tests/golden/lint, its helm.txt, is found by us: the
 * first line of each finding, path and level.
 */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/file.h"
#include "alm/cli/chart/chart_lint.h"

static bool is_found(const struct lint_report *r, struct str want)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < r->n; i++) {
		const struct chart_finding *f = &r->items[i];
		struct str rest = str_of(f->text), line;
		strbuf_clear(&b);
		str_next_line(&rest, &line);
		strbuf_addf(&b, "[%s] %s: %.*s", lint_level_name(f->level), f->file, STR_ARG(line));
		if (str_eq(strbuf_str(&b), want))
			return true;
	}
	return false;
}

static size_t check(const char *chart, size_t *ret_ours)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const struct tmpl_host host = {0};
	struct template_args *args = ARENA_NEW(a, struct template_args);
	struct lint_report report;
	struct error err = ERROR_INIT;
	struct str line;
	size_t n = 0;
	assert_ok(file_read(arena_fmt(a, "%s/helm.txt", chart), &b, &err), &err);
	args->chart = chart;
	args->profile = TMPL_PROFILE_4_1;
	chart_lint(a, args, &host, &report);
	for (struct str text = strbuf_str(&b); text.len && str_next_line(&text, &line); n++)
		if (!is_found(&report, line))
			fail_msg("%s: not found: %.*s", chart, STR_ARG(line));
	*ret_ours = report.n;
	return n;
}

static void test_chart_lint__finds_what_helm_finds(void **state)
{
	(void)state;
	size_t ours;
	assert_true(check("tests/golden/lint/bad", &ours) >= 23);
	assert_true(ours > 23); /* ours: capitals in the name */
	assert_true(check("tests/golden/lint/deprecated", &ours) >= 75);
	assert_int_equal(check("tests/golden/lint/good", &ours), 0);
	assert_int_equal(ours, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chart_lint__finds_what_helm_finds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
