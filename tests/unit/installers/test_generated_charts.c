/* The recorded charts of Helm (tests/golden/charts), each also changed in several ways, and each line of a template by itself: what they
 * render to, or the message, folds into a number for each file of them (tests/golden/digests/charts.txt). A change of any is seen; one
 * that is meant is recorded by `DIGESTS_RECORD=tests/golden/digests/charts.txt build/tests/test_generated_charts`.
 * SHOW="toml": prints what becomes of those of that file, to be compared between two builds. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/io/zones.h"
#include "installers/format/yaml_go.h"
#include "installers/render.h"
#include "tests/lib/cases.h"
#include "tests/lib/digests.h"

#define NUMBERS    "tests/golden/digests/charts.txt"
#define OUTPUT_MAX ((size_t)16 << 20)
#define CHARTS     4 /* changed ones of a case */
#define LINES      6 /* changed ones of a line */

static const char *const files[] = {"charts",   "corners", "edges",   "errors",  "functions",
				    "language", "lists",   "numbers", "objects", "order",
				    "output",   "print",   "schema",  "strings", "tables",
				    "toml",     "values",  "yaml"};

static const struct tmpl_limits small = {
	.steps = 20000,
	.iterations = 5000,
	.output_bytes = 1 << 20,
	.file_bytes = 1 << 19,
	.string_bytes = 1 << 16,
	.arena_bytes = 32 << 20,
	.tpl_calls = 50,
	.tpl_bytes = 1 << 16,
	.frames = 200,
	.nested_name = 100,
	.list_len = 5000,
	.key_pairs = 0,
	.slow_hashes = 0,
	.stack_bytes = 1 << 20,
};

static struct sha256 *hash;
static bool shown;
static uint64_t state;

/* xorshift: the same everywhere */
static size_t below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state % n);
}

static int entropy(void *ctx, void *out, size_t len)
{
	(void)ctx;
	memset(out, 7, len);
	return 0;
}

static const struct tmpl_host host = {
	.now_ns = 1700000000000000000, .zone = "UTC", .entropy = entropy, .zone_bytes = zones_read};

/* --- a text with a mistake --- */

static struct str word_at(struct str text, size_t at)
{
	size_t from = at, to = at;
	while (from > 0 && char_is_alnum(text.ptr[from - 1]))
		from--;
	while (to < text.len && char_is_alnum(text.ptr[to]))
		to++;
	return str_sub(text, from, to - from);
}

/* One place of it is another: a byte, a word, or the rest of a line. */
static struct str spoiled(struct arena *a, struct str text)
{
	static const char bytes[] = "{}|.$\"'`:-[]()!=,#\n %0aA~\\*/&>";
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OUTPUT_MAX);
	if (!text.len)
		return STR("{{");
	size_t at = below(text.len);
	struct str word = word_at(text, at), other = word_at(text, below(text.len));
	size_t from = word.len ? (size_t)(word.ptr - text.ptr) : at;
	switch (below(6)) {
	case 0:
		strbuf_addstr(&b, str_sub(text, 0, at));
		strbuf_addstr(&b, str_skip(text, at + 1));
		break;
	case 1:
		strbuf_addstr(&b, str_sub(text, 0, at));
		strbuf_addc(&b, bytes[below(sizeof(bytes) - 1)]);
		strbuf_addstr(&b, str_skip(text, at));
		break;
	case 2:
		strbuf_addstr(&b, str_sub(text, 0, at));
		strbuf_addc(&b, bytes[below(sizeof(bytes) - 1)]);
		strbuf_addstr(&b, str_skip(text, at + 1));
		break;
	default:
		strbuf_addstr(&b, str_sub(text, 0, from));
		strbuf_addstr(&b, other.len ? other : STR("0"));
		strbuf_addstr(&b, str_skip(text, from + word.len));
	}
	return str_n(arena_memdup(a, b.buf, b.len), b.len);
}

/* --- what came of it --- */

static void note(struct str what, struct str out, struct str msg)
{
	digest_add(hash, out);
	digest_add(hash, msg);
	if (shown)
		printf("%.*s\n  -> %.*s\n  !! %.*s\n", STR_ARG(what), STR_ARG(out), STR_ARG(msg));
}

static void render(const struct archive_files *list, enum tmpl_profile profile, struct str what)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(RENDER_MEMORY_BYTES);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(OUTPUT_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(OUTPUT_MAX);
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(OUTPUT_MAX);
	const struct render_request rq = {.profile = profile, .host = &host, .limits = &small};
	const struct render_print all = {.crds = true};
	struct render_result r = {0};
	struct chart *c = NULL;
	struct error err = ERROR_INIT;
	if (archive_write(list, "c", &packed, &err) < 0)
		return;
	if (chart_open(a, strbuf_str(&packed), &chart_limits_default, profile, &c, &msg) == 0 &&
	    render_chart(a, c, &rq, &r, &msg) == 0)
		render_print(&r, &all, &out);
	strbuf_addstr(&out, r.notes);
	note(what, strbuf_str(&out), strbuf_str(&msg));
}

static void play_chart(struct arena *a, const struct golden_case *c)
{
	struct archive_file items[CASE_FILES_MAX + 1];
	struct archive_files list = {.items = items, .n = 0};
	bool has_chart = false;
	for (size_t i = 0; i < c->n_files; i++) {
		if (str_has_prefix(c->files[i].path, STR("../")))
			continue;
		has_chart |= str_is(c->files[i].path, "Chart.yaml");
		items[list.n++] = (struct archive_file){
			arena_strndup(a, c->files[i].path.ptr, c->files[i].path.len),
			c->files[i].text};
	}
	size_t n = list.n;
	if (!has_chart)
		items[list.n++] = (struct archive_file){
			"Chart.yaml", STR("apiVersion: v2\nname: c\nversion: 0.1.0\n")};
	render(&list, TMPL_PROFILE_3, c->id);
	for (int i = 0; i < CHARTS && n; i++) {
		struct archive_file *f = &items[below(n)];
		struct str before = f->data;
		f->data = spoiled(a, before);
		render(&list, TMPL_PROFILE_4_1, f->data);
		f->data = before;
	}
}

static void play_line(struct vmap *top, struct str line)
{
	static const char name[] = "c/templates/t.yaml";
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(OUTPUT_MAX);
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(OUTPUT_MAX);
	CLEANUP(tmpl_set_freep) struct tmpl_set *set = tmpl_set_new(TMPL_PROFILE_4_1, false);
	CLEANUP(tmpl_run_freep) struct tmpl_run *run = tmpl_run_new(set, a, &host, &small);
	if (tmpl_set_add(set, STR(name), line, &msg) == 0)
		tmpl_run_file(run, STR(name), value_map(top), &out, &msg);
	note(line, strbuf_str(&out), strbuf_str(&msg));
}

static void play_lines(struct arena *a, const struct golden_case *c)
{
	const struct golden_file *t = golden_file(c, "templates/t.yaml"),
				 *v = golden_file(c, "values.yaml");
	CLEANUP(strbuf_release) struct strbuf ignored = STRBUF_INIT(OUTPUT_MAX);
	struct vmap *values = NULL, *top = vmap_new(a);
	struct str rest = t ? t->text : STR_NONE, line;
	if (yaml_go_parse_map(a, v ? v->text : STR("a: 1"), &values, &ignored) == 0)
		vmap_setc(top, "Values", value_map_as(values, VALUE_VALUES));
	while (rest.len && str_next(&rest, '\n', &line))
		for (int i = 0; i < LINES && str_contains(line, STR("{{")); i++)
			play_line(top, spoiled(a, line));
}

static void test_generated_charts__outputs_are_as_recorded(void **unused)
{
	const char *show = getenv("SHOW");
	size_t n_differs = 0;
	(void)unused;
	digests_begin();
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
		char path[128];
		size_t n = 0;
		(void)snprintf(path, sizeof(path), "tests/golden/charts/%s.cases", files[i]);
		struct golden_case *cases = golden_read(a, path, &n);
		shown = show && strcmp(show, files[i]) == 0;
		hash = sha256_new();
		state = (i + 1) * UINT64_C(0x9E3779B97F4A7C15) | 1;
		for (size_t k = 0; k < n; k++) {
			play_chart(a, &cases[k]);
			play_lines(a, &cases[k]);
		}
		n_differs += !digests_hold(NUMBERS, files[i], hash);
		sha256_free(hash);
	}
	if (n_differs)
		fail_msg("%zu of them differ: SHOW=FILE prints what they render to", n_differs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generated_charts__outputs_are_as_recorded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
