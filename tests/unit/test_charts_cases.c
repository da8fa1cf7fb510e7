/*
 * The recorded cases of Helm 4.1.4 (tests/golden/charts): what the engine renders must be what Helm
 * rendered, byte for byte, errors included.
 */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/hash.h"
#include "installers/tmpl/tmpl.h"
#include "installers/yaml_go.h"
#include "tests/lib/cases.h"

#define ARENA_MAX  ((size_t)300 << 20)
#define DEBUG_TAIL "\n\nUse --debug flag to render out invalid YAML"

/* Entropy for the functions that need it: a counter, hashed. */
static int entropy(void *ctx, void *out, size_t len)
{
	static uint64_t counter;
	unsigned char *p = out;
	(void)ctx;
	while (len > 0) {
		unsigned char sum[SHA256_BYTES];
		counter++;
		sha256(str_n((const char *)&counter, sizeof(counter)), sum);
		size_t n = len < sizeof(sum) ? len : sizeof(sum);
		memcpy(p, sum, n);
		p += n;
		len -= n;
	}
	return 0;
}

static struct vmap *case_data(struct arena *a, const struct golden_case *c)
{
	struct vmap *data = vmap_new(a), *values = NULL, *chart = vmap_new(a),
		    *release = vmap_new(a), *files = vmap_new(a);
	const struct golden_file *v = golden_file(c, "values.yaml");
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	if (yaml_go_parse_map(a, v ? v->text : STR(""), &values, &msg) < 0)
		values = vmap_new(a);
	vmap_setc(chart, "Name", value_cstr("c"));
	vmap_setc(chart, "Version", value_cstr("0.1.0"));
	vmap_setc(release, "Name", value_str(c->name));
	vmap_setc(release, "Namespace", value_cstr("default"));
	vmap_setc(release, "Service", value_cstr("Helm"));
	vmap_setc(release, "Revision", value_int(1));
	vmap_setc(release, "IsInstall", value_bool(true));
	vmap_setc(release, "IsUpgrade", value_bool(false));
	for (size_t i = 0; i < c->n_files; i++) {
		if (!str_has_prefix(c->files[i].path, STR("templates/")) &&
		    !str_is(c->files[i].path, "values.yaml") &&
		    !str_is(c->files[i].path, "Chart.yaml"))
			vmap_set(files, c->files[i].path, value_bytes(c->files[i].text));
	}
	struct value versions = value_list(a, VALUE_VERSIONS, 1);
	versions.items[0] = value_cstr("v1");
	vmap_setc(data, "Values", value_map_as(values, VALUE_VALUES));
	vmap_setc(data, "Chart", value_map(chart));
	vmap_setc(data, "Release", value_map(release));
	vmap_setc(data, "Files", value_map_as(files, VALUE_FILES));
	vmap_setc(data, "Subcharts", value_map(vmap_new(a)));
	vmap_setc(data, "Capabilities",
		  value_capabilities(a, TMPL_PROFILE_4_1, STR("v1.35.0"), STR("v1.35.0"), STR("1"),
				     STR("35"), versions));
	return data;
}

static int by_order(const void *a, const void *b)
{
	const struct golden_file *const *x = a, *const *y = b;
	return tmpl_order_cmp((*x)->path, (*y)->path);
}

static int render_case(struct arena *a, const struct golden_case *c, struct strbuf *out,
		       struct strbuf *msg)
{
	CLEANUP(tmpl_set_freep) struct tmpl_set *set = tmpl_set_new(TMPL_PROFILE_4_1, false);
	const struct golden_file *order[CASE_FILES_MAX];
	size_t n = 0;
	for (size_t i = 0; i < c->n_files; i++) {
		if (str_has_prefix(c->files[i].path, STR("templates/")))
			order[n++] = &c->files[i];
	}
	qsort(order, n, sizeof(order[0]), by_order);
	char names[CASE_FILES_MAX][256];
	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "c/%.*s", STR_ARG(order[i]->path));
		if (tmpl_set_add(set, str_of(names[i]), order[i]->text, msg) < 0)
			return -1;
	}
	const struct tmpl_host host = {
		.now_ns = 1700000000000000000, .zone = "UTC", .entropy = entropy};
	CLEANUP(tmpl_run_freep) struct tmpl_run *run =
		tmpl_run_new(set, a, &host, &tmpl_limits_default);
	struct vmap *data = case_data(a, c);
	for (size_t i = 0; i < n; i++) {
		const char *base = strrchr(names[i], '/') + 1;
		if (base[0] == '_')
			continue;
		struct vmap *tmpl = vmap_new(a);
		vmap_setc(tmpl, "Name", value_cstr(arena_strdup(a, names[i])));
		vmap_setc(tmpl, "BasePath", value_cstr("c/templates"));
		vmap_setc(data, "Template", value_map_as(tmpl, VALUE_VALUES));
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT((size_t)32 << 20);
		if (tmpl_run_file(run, str_of(names[i]), value_map(data), &text, msg) < 0)
			return -1;
		if (str_is(order[i]->path, "templates/t.yaml"))
			strbuf_addstr(out, strbuf_str(&text));
	}
	return 0;
}

/* Cases that need the chart loader: subcharts, Chart.yaml, the full API version list. */
static const char *const needs_chart[] = {
	"lang-096", "lang-160", "lang-312", "lang-313", "err-142", "err-192", "err-193", "yaml-044",
};

static bool is_skipped(struct str id)
{
	for (size_t i = 0; i < sizeof(needs_chart) / sizeof(needs_chart[0]); i++) {
		if (str_is(id, needs_chart[i]))
			return true;
	}
	return false;
}

static bool run_case(const struct golden_case *c)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT((size_t)64 << 20);
	strbuf_adds(&msg, "Error: ");
	int r = render_case(a, c, &out, &msg);
	if (r < 0)
		strbuf_adds(&msg, DEBUG_TAIL);
	struct str got = r < 0 ? strbuf_str(&msg) : strbuf_str(&out);
	if (str_eq(got, c->expected) && c->is_error == (r < 0))
		return true;
	print_message("case %.*s\n  got:  %.*s\n  want: %.*s\n", STR_ARG(c->id), STR_ARG(got),
		      STR_ARG(c->expected));
	return false;
}

static void run_file(const char *name)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	char path[256];
	size_t n, failed = 0, ran = 0;
	snprintf(path, sizeof(path), "tests/golden/charts/%s.cases", name);
	struct golden_case *cases = golden_read(a, path, &n);
	for (size_t i = 0; i < n; i++) {
		if (!str_is(cases[i].mode, "render") || cases[i].n_args > 0 ||
		    is_skipped(cases[i].id))
			continue;
		ran++;
		failed += !run_case(&cases[i]);
	}
	print_message("%s: %zu of %zu\n", name, ran - failed, ran);
	assert_int_equal(failed, 0);
}

#define GOLDEN(name)                                        \
	static void test_charts_cases__##name(void **state) \
	{                                                   \
		(void)state;                                \
		run_file(#name);                            \
	}
GOLDEN(language)
GOLDEN(print)
GOLDEN(errors)
GOLDEN(strings)
GOLDEN(numbers)
GOLDEN(lists)
GOLDEN(yaml)
GOLDEN(crypto)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_charts_cases__language),
		cmocka_unit_test(test_charts_cases__print),
		cmocka_unit_test(test_charts_cases__errors),
		cmocka_unit_test(test_charts_cases__strings),
		cmocka_unit_test(test_charts_cases__numbers),
		cmocka_unit_test(test_charts_cases__lists),
		cmocka_unit_test(test_charts_cases__yaml),
		cmocka_unit_test(test_charts_cases__crypto),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
