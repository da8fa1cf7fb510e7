/* Limits of a render that no chart of the recorded cases comes near, and what it says of itself. */
#include "tests/lib/test.h"

#include <string.h>

#include "installers/manifest.h"
#include "installers/render.h"

static struct str chart_of(const char *template, struct strbuf *packed)
{
	struct error err = ERROR_INIT;
	struct archive_file items[] = {
		{"Chart.yaml", STR("apiVersion: v2\nname: c\nversion: 0.1.0\nsources: [s1, "
				   "s2]\nkeywords: [k1]\nmaintainers: [{name: m, email: "
				   "e}]\nannotations: {k: o}\ndeprecated: true\nhome: h\n"
				   "dependencies: [{name: s, version: \"1\"}]\n")},
		{"charts/s/Chart.yaml", STR("apiVersion: v2\nname: s\nversion: 1.0.0\n")},
		{"templates/a.yaml", str_of(template)}};
	const struct archive_files list = {.items = items, .n = ARRAY_LEN(items)};
	assert_ok(archive_write(&list, "c", packed, &err), &err);
	return strbuf_str(packed);
}

static int entropy(void *ctx, void *out, size_t len)
{
	(void)ctx;
	memset(out, 7, len);
	return 0;
}

static int render_as(enum tmpl_profile profile, struct arena *a, const char *template,
		     struct render_result *ret, struct strbuf *msg)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
	const struct tmpl_host host = {.now_ns = 1000000000, .entropy = entropy};
	const struct render_request rq = {.profile = profile, .host = &host};
	struct chart *c = NULL;
	*ret = (struct render_result){0};
	if (chart_open(a, chart_of(template, &packed), &chart_limits_default, profile, &c, msg) < 0)
		fail_msg("%s", msg->buf);
	return render_chart(a, c, &rq, ret, msg);
}

static int render(struct arena *a, const char *template, struct render_result *ret,
		  struct strbuf *msg)
{
	return render_as(TMPL_PROFILE_4_1, a, template, ret, msg);
}

/* A struct there, a map since Helm 4: both have what Chart.yaml says. */
static void test_render__a_chart_has_its_fields_in_every_profile(void **state)
{
	(void)state;
	static const enum tmpl_profile profiles[] = {TMPL_PROFILE_3, TMPL_PROFILE_4_1};
	static const char text[] =
		"a: {{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.Sources }} {{ .Chart.Keywords "
		"}} "
		"{{ len .Chart.Maintainers }} {{ (index .Chart.Maintainers 0).Name }} "
		"{{ (index .Chart.Maintainers 0).Email }} {{ .Chart.Annotations.k }} "
		"{{ .Chart.Deprecated }} {{ .Chart.Home }} {{ len .Chart.Dependencies }} "
		"{{ .Chart.IsRoot }}\n";
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(RENDER_MEMORY_BYTES);
		CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
		struct render_result r;
		if (render_as(profiles[i], a, text, &r, &msg) < 0)
			fail_msg("%s", msg.buf);
		assert_int_equal(r.n_documents, 1);
		if (!str_is(text_trim(r.documents[0].text),
			    "a: c 0.1.0 [s1 s2] [k1] 1 m e o true h 1 true"))
			fail_msg("%.*s", STR_ARG(r.documents[0].text));
	}
}

/* Of Go's types, which a function of a template may ask for; where it is not given, it is there and empty. */
static void test_render__fields_of_a_dependency(void **state)
{
	static const char text[] = "a: '{{ $d := index .Chart.Dependencies 0 }}"
				   "{{ range list $d.Name $d.Version $d.Repository $d.Condition "
				   "$d.Tags $d.Enabled $d.ImportValues $d.Alias }}"
				   "{{ typeOf . }} {{ toJson . }};{{ end }}'";
	static const struct {
		enum tmpl_profile profile;
		const char *want;
	} rows[] = {
		{TMPL_PROFILE_3, "a: 'string \"s\";string \"1\";string \"\";string \"\";[]string "
				 "null;bool true;[]interface {} null;string \"\";'"},
		{TMPL_PROFILE_4_1,
		 "a: 'string \"s\";string \"1\";string \"\";string \"\";[]interface "
		 "{} [];bool true;[]interface {} [];string \"\";'"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(RENDER_MEMORY_BYTES);
		CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
		struct render_result r;
		if (render_as(rows[i].profile, a, text, &r, &msg) < 0)
			fail_msg("%s", msg.buf);
		assert_str(text_trim(r.documents[0].text), rows[i].want);
	}
}

static void test_render__a_field_of_a_struct_is_no_function(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"{{ .Chart.Name 1 }}", "Name has arguments but cannot be invoked as function"},
		{"{{ 1 | .Chart.Name }}", "Name has arguments but cannot be invoked as function"},
		{"{{ .Chart.name }}", "can't evaluate field name in type"},
		{"{{ .Chart.None }}", "can't evaluate field None in type"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(RENDER_MEMORY_BYTES);
		CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
		struct render_result r;
		if (render_as(TMPL_PROFILE_3, a, rows[i][0], &r, &msg) >= 0 ||
		    !strstr(msg.buf, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], msg.buf);
	}
}

static void test_render__so_many_objects_and_not_one_more(void **state)
{
	(void)state;
	static const struct {
		const char *template;
		int code;
		size_t n_documents, n_hooks;
	} rows[] = {
		{"{{ range until 20000 }}\n---\nkind: A\n{{ end }}", 0, 20000, 0},
		{"{{ range until 20001 }}\n---\nkind: A\n{{ end }}", E_LIMIT, 0, 0},
		{"{{ range until 19999 }}\n---\nkind: A\n{{ end }}\n---\nkind: H\nmetadata: "
		 "{annotations: {helm.sh/hook: test}}\n",
		 0, 19999, 1},
		{"{{ range until 20000 }}\n---\nkind: A\n{{ end }}\n---\nkind: H\nmetadata: "
		 "{annotations: {helm.sh/hook: test}}\n",
		 E_LIMIT, 0, 0},
	};
	assert_int_equal(MANIFEST_DOCUMENTS_MAX, 20000);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(RENDER_MEMORY_BYTES);
		CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
		struct render_result r;
		int rc = render(a, rows[i].template, &r, &msg);
		if (rc != -rows[i].code)
			fail_msg("%zu: %d %s", i, rc, msg.buf);
		if (rc < 0) {
			assert_non_null(strstr(msg.buf, "RenderLimit: objects over 20000"));
			continue;
		}
		assert_int_equal(r.n_documents, rows[i].n_documents);
		assert_int_equal(r.n_hooks, rows[i].n_hooks);
	}
}

/* Who compares two renders is told that they differ by themselves. */
static void test_render__it_says_whether_it_is_reproducible(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool is_random;
	} rows[] = {
		{"a: {{ add 1 2 | quote | upper }}", false},
		{"a: {{ uuidv4 }}", true},
		{"a: {{ randAlpha 4 }}", true},
		{"a: {{ now | date \"2006\" }}", true},
		{"a: {{ if false }}{{ uuidv4 }}{{ end }}", false},
		{"{{ define \"x\" }}{{ randInt 1 2 }}{{ end }}a: {{ include \"x\" . }}", true},
		{"{{ define \"x\" }}{{ randInt 1 2 }}{{ end }}a: 1", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(RENDER_MEMORY_BYTES);
		CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
		struct render_result r;
		if (render(a, rows[i].text, &r, &msg) < 0 || r.is_random != rows[i].is_random)
			fail_msg("%s: %d %s", rows[i].text, r.is_random, msg.buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_render__a_chart_has_its_fields_in_every_profile),
		cmocka_unit_test(test_render__fields_of_a_dependency),
		cmocka_unit_test(test_render__a_field_of_a_struct_is_no_function),
		cmocka_unit_test(test_render__so_many_objects_and_not_one_more),
		cmocka_unit_test(test_render__it_says_whether_it_is_reproducible),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
