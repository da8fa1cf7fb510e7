/*
 * The recorded cases of Helm 4.1.4 (tests/golden/charts) through the whole of `alm template`:
 * flags, values, dependencies, output, notes, error texts. The charts are written to a folder, as
 * they were for the recording.
 */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/base/hash.h"
#include "alm/base/map.h"
#include "alm/cli/chart/template_run.h"
#include "alm/io/zones.h"
#include "tests/lib/cases.h"

/* What a case's host knows. */
struct outside {
	uint64_t counter;
	struct map *called; /* functions that gave a result */
};

static struct map
	*exercised; /* "FUNCTION CASE" of every case that ended as recorded, without error */

static void called(void *ctx, const char *function)
{
	struct outside *o = ctx;
	map_set(o->called, function, o);
}

static int entropy(void *ctx, void *out, size_t len)
{
	uint64_t *counter = &((struct outside *)ctx)->counter;
	for (unsigned char *p = out; len > 0;) {
		unsigned char sum[SHA256_BYTES];
		++*counter;
		sha256(str_n((const char *)counter, sizeof(*counter)), sum);
		size_t n = len < sizeof(sum) ? len : sizeof(sum);
		memcpy(p, sum, n);
		p += n;
		len -= n;
	}
	return 0;
}

/* Cases that differ on purpose, with the reason. */
static const struct {
	const char *id, *why;
} on_purpose[] = {
	{"", ""},
};

static bool is_on_purpose(struct str id)
{
	for (size_t i = 0; i < ARRAY_LEN(on_purpose); i++)
		if (str_is(id, on_purpose[i].id))
			return true;
	return false;
}

static void write_file(struct arena *a, const char *root, struct str path, struct str text)
{
	struct error err = ERROR_INIT;
	char *full = str_has_prefix(path, STR("../"))
			     ? arena_fmt(a, "%s/%.*s", root, STR_ARG(str_skip(path, 3)))
			     : arena_fmt(a, "%s/c/%.*s", root, STR_ARG(path));
	char *folder = arena_strdup(a, full);
	*strrchr(folder, '/') = 0;
	assert_ok(dir_make(folder, 0755, &err), &err);
	/* tests only: the folder is thrown away */
	FILE *f = fopen(full, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text.ptr ? text.ptr : "", 1, text.len, f), text.len);
	(void)fclose(f);
}

static void write_case(struct arena *a, const struct golden_case *c, const char *root)
{
	bool has_chart = false;
	for (size_t i = 0; i < c->n_files; i++) {
		write_file(a, root, c->files[i].path, c->files[i].text);
		has_chart |= str_is(c->files[i].path, "Chart.yaml");
	}
	if (!has_chart)
		write_file(a, root, STR("Chart.yaml"),
			   STR("apiVersion: v2\nname: c\nversion: 0.1.0\n"));
}

static struct str strip_lf(struct str s)
{
	if (str_has_suffix(s, STR("\n")))
		s.len--;
	return s;
}

/* The flags of the case, the name and the chart. */
static char **arguments(struct arena *a, const struct golden_case *c, int *ret_n)
{
	char **argv = ARENA_ARRAY(a, char *, c->n_args + 3);
	int n = 0;
	argv[n++] = arena_strndup(a, c->name.ptr, c->name.len);
	argv[n++] = arena_strdup(a, "c");
	for (size_t i = 0; i < c->n_args; i++)
		argv[n++] = arena_strndup(a, c->args[i].ptr, c->args[i].len);
	*ret_n = n;
	return argv;
}

/* Modes render and notes look into the result; a document that is no YAML does not count there. */
static bool run_inside(struct arena *a, const struct golden_case *c, const struct tmpl_host *host,
		       struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	struct template_args *args = ARENA_NEW(a, struct template_args);
	struct render_result r = {0};
	int n;
	char **argv = arguments(a, c, &n);
	int rc = template_args_parse(a, n, argv, args, &msg);
	if (rc == 0)
		rc = template_render(a, args, host, &r, &msg);
	if (rc < 0 && !str_has_prefix(strbuf_str(&msg), STR("YAML parse error on"))) {
		strbuf_addf(out, "Error: %.*s%s", STR_ARG(strbuf_str(&msg)),
			    r.failed_late ? "\n\nUse --debug flag to render out invalid YAML" : "");
		return false;
	}
	if (str_is(c->mode, "notes")) {
		strbuf_addstr(out, strip_lf(r.notes));
		return true;
	}
	for (size_t i = 0; i < r.n_files; i++)
		if (str_has_suffix(r.files[i].path, STR("/templates/t.yaml")) &&
		    !str_contains(r.files[i].path, STR("/charts/")))
			strbuf_addstr(out, r.files[i].text);
	return true;
}

static int by_text(const void *x, const void *y)
{
	return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

/* The lines of the log that stand first on standard error, sorted; what follows stays. */
static struct str take_log(struct arena *a, struct str *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct str lines[32] = {{0}};
	size_t n = 0;
	while (str_has_prefix(*err, STR("level="))) {
		assert_true(n < ARRAY_LEN(lines));
		str_next_line(err, &lines[n++]);
	}
	qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&b, "%s%.*s", i ? "\n" : "", STR_ARG(lines[i]));
	return str_n(arena_text(a, b.buf, b.len), b.len);
}

static bool run_outside(struct arena *a, const struct golden_case *c, const struct tmpl_host *host,
			struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	CLEANUP(strbuf_release) struct strbuf err = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	int n;
	char **argv = arguments(a, c, &n);
	int code = template_run(a, n, argv, host, &text, &err);
	struct str errors = strbuf_str(&err), log = take_log(a, &errors);
	strbuf_addstr(out, strip_lf(code ? errors : strbuf_str(&text)));
	if (str_eq(log, c->warnings))
		return code == 0;
	strbuf_addf(out, "\n(logged: %.*s)\n(wanted: %.*s)", STR_ARG(log), STR_ARG(c->warnings));
	return false;
}

static bool run_case(const struct golden_case *c, const char *root)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TEMPLATE_ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	CLEANUP(map_freep) struct map *functions = map_new(NULL);
	struct outside outside = {.called = functions};
	const struct tmpl_host host = {.now_ns = 1700000000000000000,
				       .zone = "UTC",
				       .entropy = entropy,
				       .zone_bytes = zones_read,
				       .called = called,
				       .ctx = &outside};
	char *dir = arena_fmt(a, "%s/%.*s", root, STR_ARG(c->id));
	write_case(a, c, dir);
	assert_int_equal(chdir(dir), 0);
	bool good = str_is(c->mode, "out") ? run_outside(a, c, &host, &out)
					   : run_inside(a, c, &host, &out);
	assert_int_equal(chdir("/"), 0);
	struct str want = str_is(c->mode, "render") ? c->expected : strip_lf(c->expected);
	struct str got = strbuf_str(&out);
	if (str_is(c->mode, "out") || c->is_error)
		want = c->expected;
	if (str_eq(got, want) && c->is_error == !good) {
		for (struct map_entry *e = map_first(functions); !c->is_error && e; e = map_next(e))
			map_set(exercised, arena_fmt(a, "%s %.*s", e->key, STR_ARG(c->id)),
				exercised);
		return true;
	}
	if (is_on_purpose(c->id))
		return true;
	print_message("case %.*s\n  got:  %.*s\n  want: %.*s\n", STR_ARG(c->id), STR_ARG(got),
		      STR_ARG(c->expected));
	return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): the test's own folders */
static void remove_tree(const char *root)
{
	char command[512];
	snprintf(command, sizeof(command), "%s", root);
	struct error err = ERROR_INIT;
	char **names;
	size_t n;
	struct file_info info;
	if (file_info(root, &info, &err) == 0 && info.is_dir &&
	    dir_list(root, 10000, &names, &n, &err) >= 0) {
		for (size_t i = 0; i < n; i++) {
			snprintf(command, sizeof(command), "%s/%s", root, names[i]);
			remove_tree(command);
		}
		dir_list_free(names, n);
		rmdir(root);
		return;
	}
	(void)remove(root);
}

static char cases_dir[512];

static void run_file(const char *name)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TEMPLATE_ARENA_MAX);
	char path[1024], root[] = "/tmp/alm-charts-XXXXXX";
	size_t n, failed = 0;
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/%s.cases", cases_dir, name);
	struct golden_case *cases = golden_read(a, path, &n);
	for (size_t i = 0; i < n; i++)
		failed += !run_case(&cases[i], root);
	remove_tree(root);
	print_message("%s: %zu of %zu\n", name, n - failed, n);
	assert_int_equal(failed, 0);
}

#define GOLDEN(name)                                      \
	static void test_charts_out__##name(void **state) \
	{                                                 \
		(void)state;                              \
		run_file(#name);                          \
	}
GOLDEN(functions)
GOLDEN(language)
GOLDEN(order)
GOLDEN(print)
GOLDEN(errors)
GOLDEN(strings)
GOLDEN(numbers)
GOLDEN(lists)
GOLDEN(yaml)
GOLDEN(values)
GOLDEN(charts)
GOLDEN(objects)
GOLDEN(output)
GOLDEN(crypto)
GOLDEN(toml)
GOLDEN(corners)
GOLDEN(edges)
GOLDEN(log)
GOLDEN(schema)
GOLDEN(tables)

/* Their case is their error: the one ends every render, and no value of Helm's is a function that
 * the other could call. */
static bool only_fails(struct str function)
{
	return str_is(function, "fail") || str_is(function, "call");
}

/* test_coverage_tmpl shows that every function is named there. */
static void test_charts_out__each_function_runs_in_the_case_that_covers_it(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	size_t n_bad = 0;
	(void)state;
	assert_ok(file_read(arena_fmt(a, "%s/coverage.txt", cases_dir), &b, &err), &err);
	struct str text = strbuf_str(&b), line, name, id;
	while (text.len && str_next_line(&text, &line)) {
		if (!line.len || line.ptr[0] == '#' || !str_cut(line, ' ', &name, &id) ||
		    only_fails(name) || map_getn(exercised, line))
			continue;
		print_message("coverage.txt: %.*s gives no result in case %.*s\n", STR_ARG(name),
			      STR_ARG(id));
		n_bad++;
	}
	assert_int_equal(n_bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_charts_out__functions),
		cmocka_unit_test(test_charts_out__language),
		cmocka_unit_test(test_charts_out__order),
		cmocka_unit_test(test_charts_out__print),
		cmocka_unit_test(test_charts_out__errors),
		cmocka_unit_test(test_charts_out__strings),
		cmocka_unit_test(test_charts_out__numbers),
		cmocka_unit_test(test_charts_out__lists),
		cmocka_unit_test(test_charts_out__yaml),
		cmocka_unit_test(test_charts_out__values),
		cmocka_unit_test(test_charts_out__charts),
		cmocka_unit_test(test_charts_out__objects),
		cmocka_unit_test(test_charts_out__output),
		cmocka_unit_test(test_charts_out__crypto),
		cmocka_unit_test(test_charts_out__toml),
		cmocka_unit_test(test_charts_out__corners),
		cmocka_unit_test(test_charts_out__edges),
		cmocka_unit_test(test_charts_out__log),
		cmocka_unit_test(test_charts_out__schema),
		cmocka_unit_test(test_charts_out__tables),
		cmocka_unit_test(test_charts_out__each_function_runs_in_the_case_that_covers_it),
	};
	char here[256];
	if (!getcwd(here, sizeof(here)))
		return 1;
	snprintf(cases_dir, sizeof(cases_dir), "%s/tests/golden/charts", here);
	exercised = map_new(NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	map_free(exercised);
	return failed;
}
