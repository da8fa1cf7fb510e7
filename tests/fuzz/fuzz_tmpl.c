/* fuzz_tmpl: any text as a template, parsed and executed with small budgets. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "installers/format/yaml_go.h"
#include "installers/tmpl/tmpl.h"
#include "tests/fuzz/fuzz.h"

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

static const char values[] =
	"a: 1\nb: text\nc: [1, two, 3.5, null, {k: v}]\nd: {x: 1, y: {z: deep}}\ne: null\n"
	"f: true\ng: 1e6\nh: \"\"\ni: -3\nj: [[1], [2, 3]]\n";

static int entropy(void *ctx, void *out, size_t len)
{
	(void)ctx;
	memset(out, 7, len);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char name[] = "c/templates/t.yaml";
	static const char after[] = "{{ toYaml .Values }}{{ include \"c/templates/t.yaml\" . }}";
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT((size_t)64 << 20);
	CLEANUP(tmpl_set_freep) struct tmpl_set *set = tmpl_set_new(TMPL_PROFILE_4_1, false);
	const struct tmpl_host host = {.now_ns = 1, .entropy = entropy};
	struct vmap *v = NULL, *top = vmap_new(a), *files = vmap_new(a);
	if (size > 1 << 16 || yaml_go_parse_map(a, STR(values), &v, &msg) < 0)
		return 0;
	vmap_setc(files, "a/b.txt", value_bytes(STR("one\ntwo\n")));
	vmap_setc(top, "Values", value_map_as(v, VALUE_VALUES));
	vmap_setc(top, "Files", value_map_as(files, VALUE_FILES));
	vmap_setc(top, "Capabilities",
		  value_capabilities(a, TMPL_PROFILE_4_1, STR("v1.35.0"), STR("v1.35.0"), STR("1"),
				     STR("35"), value_list(a, VALUE_VERSIONS, 0)));
	CLEANUP(tmpl_run_freep) struct tmpl_run *run = tmpl_run_new(set, a, &host, &small);
	/* The second file meets what the first left in the values, once its tree is gone. */
	if (tmpl_set_add_later(set, STR(name), str_n((const char *)data, size), &msg) < 0 ||
	    tmpl_set_add_later(set, STR("c/templates/u.yaml"), STR(after), &msg) < 0)
		goto out;
	if (tmpl_run_file(run, STR(name), value_map(top), &out, &msg) == 0)
		tmpl_run_file(run, STR("c/templates/u.yaml"), value_map(top), &out, &msg);
	tmpl_set_check(set, &msg);
out:
	fuzz_note(strbuf_str(&out));
	fuzz_note(strbuf_str(&msg));
	return 0;
}
