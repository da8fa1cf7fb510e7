/* What the files of a chart are: its own parts, its subcharts, or nothing to it. */
#include "tests/lib/test.h"

#include <string.h>

#include "installers/chart/chart.h"

#define META(name) "apiVersion: v2\nname: " name "\nversion: 1.0.0\n"
#define ROOM       ((size_t)16 << 20)

struct files {
	struct archive_file items[12];
	size_t n;
};

static void add(struct files *f, const char *path, struct str data)
{
	f->items[f->n++] = (struct archive_file){path, data};
}

static struct str packed(struct arena *a, const char *name, const struct files *f)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
	struct error err = ERROR_INIT;
	const struct archive_files list = {.items = mem_unconst(f->items), .n = f->n};
	assert_ok(archive_write(&list, name, &b, &err), &err);
	return str_n(arena_text(a, b.buf, b.len), b.len);
}

/* NOLINTNEXTLINE(misc-no-recursion): of a test's chart: "NAME[templates...](files...){subcharts...}" */
static void tell(const struct chart *c, struct strbuf *b)
{
	strbuf_addf(b, "%.*s[", STR_ARG(c->meta.name));
	for (size_t i = 0; i < c->templates.n; i++)
		strbuf_addf(b, "%s%s", i ? " " : "", c->templates.items[i].path);
	strbuf_adds(b, "](");
	for (size_t i = 0; i < c->files.n; i++)
		strbuf_addf(b, "%s%s", i ? " " : "", c->files.items[i].path);
	strbuf_adds(b, "){");
	for (size_t i = 0; i < c->n_charts; i++) {
		assert_ptr_equal(c->charts[i]->parent, c);
		tell(c->charts[i], b);
	}
	strbuf_addc(b, '}');
}

static void load(struct arena *a, const struct files *f, const struct chart_limits *l,
		 struct strbuf *b)
{
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(l);
	const struct archive_files list = {.items = mem_unconst(f->items), .n = f->n};
	struct chart *c = NULL;
	int rc = chart_load(a, &list, &budget, TMPL_PROFILE_4_1, &c, b);
	if (rc == 0)
		tell(c, b);
	assert_int_equal(budget.depth, 0);
	assert_int_equal(rc == 0, c != NULL);
}

static const struct {
	const char *path, *text, *want; /* one file beside Chart.yaml */
} rows[] = {
	{"values.yaml", "a: 1", "c[](){}"},
	{"values.yaml", "a: [", "cannot load values.yaml: "},
	{"values.schema.json", "{}", "c[](){}"},
	{"Chart.lock", "", "c[](){}"},
	{"templates/a.yaml", "", "c[templates/a.yaml](){}"},
	{"templates.yaml", "", "c[](templates.yaml){}"},
	{"crds/a.yaml", "", "c[](crds/a.yaml){}"},
	{"charts", "", "c[](charts){}"},
	{"charts/s/Chart.yaml", META("s"), "c[](){s[](){}}"},
	/* a signature is no chart, hidden ones and those of editors neither */
	{"charts/s.tgz.prov", "x", "c[](charts/s.tgz.prov){}"},
	{"charts/s/x.prov", "x", "c[](charts/s/x.prov){}"},
	{"charts/_s/Chart.yaml", META("s"), "c[](){}"},
	{"charts/.s/Chart.yaml", META("s"), "c[](){}"},
	{"charts/README.md", "x",
	 "error unpacking subchart README.md in c: Chart.yaml file is missing"},
	{"charts/s/values.yaml", "", "error unpacking subchart s in c: Chart.yaml file is missing"},
	{"charts/s.tgz", "x", "error unpacking subchart s.tgz in c: "},
	{"charts/s.tgz/Chart.yaml", META("s"),
	 "error unpacking subchart tar in c: s.tgz is a folder"},
};

static void test_chart__what_a_file_is_its_path_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		struct files f = {.n = 0};
		add(&f, "Chart.yaml", STR(META("c")));
		add(&f, rows[i].path, str_of(rows[i].text));
		load(a, &f, &chart_limits_default, &b);
		if (!cstr_has_prefix(b.buf, rows[i].want))
			fail_msg("%s: %s, want %s", rows[i].path, b.buf, rows[i].want);
	}
}

/* One subchart in another, n archives deep. */
static struct str nested(struct arena *a, unsigned n)
{
	struct str inner = STR_NONE;
	for (unsigned i = 0; i < n; i++) {
		struct files f = {.n = 0};
		add(&f, "Chart.yaml", STR(META("s")));
		if (inner.len)
			add(&f, "charts/s.tgz", inner);
		inner = packed(a, "s", &f);
	}
	return inner;
}

static void test_chart__archives_are_so_deep_and_no_deeper(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 4; n++)
		for (unsigned depth = 1; depth <= 4; depth++) {
			CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			struct chart_limits l = chart_limits_default;
			struct files f = {.n = 0};
			l.depth = depth;
			add(&f, "Chart.yaml", STR(META("c")));
			add(&f, "charts/s.tgz", nested(a, n));
			load(a, &f, &l, &b);
			const char *refused =
				arena_fmt(a, "archives are nested more than %u deep", depth);
			assert_int_equal(strstr(b.buf, refused) != NULL, n > depth);
			assert_int_equal(cstr_has_prefix(b.buf, "c[](){s[](){"), n <= depth);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chart__what_a_file_is_its_path_says),
		cmocka_unit_test(test_chart__archives_are_so_deep_and_no_deeper),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
