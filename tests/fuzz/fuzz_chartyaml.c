/* Chart.yaml and values as Helm reads YAML; what toYaml writes of them reads back equal. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "installers/chart/chart.h"
#include "installers/chart/values.h"
#include "installers/format/yaml_emit.h"
#include "installers/format/yaml_go.h"
#include "installers/tmpl/fn/toml_go.h"

#define ARENA_MAX ((size_t)512 << 20)
#define TEXT_MAX  ((size_t)64 << 20)

/* Written text is a fixed point: read and written again it is the same. */
static void check_written(struct arena *a, struct value v)
{
	CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(TEXT_MAX);
	CLEANUP(strbuf_release) struct strbuf two = STRBUF_INIT(TEXT_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct value back;
	if (yaml_emit(a, v, YAML_EMIT_HELM, &one, &msg) < 0)
		return;
	int rc = yaml_go_parse(a, strbuf_str(&one), &back, &msg);
	fuzz_note(strbuf_str(&one));
	/* keys over 1,024 bytes and depth over libyaml's comfort are Helm's own trouble */
	if (rc < 0)
		return;
	assert(yaml_emit(a, back, YAML_EMIT_HELM, &two, &msg) == 0);
	if (!memmem(one.buf, one.len, "\xe2\x80", 2) && !memmem(one.buf, one.len, "\xc2\x85", 2))
		assert(str_eq(strbuf_str(&one), strbuf_str(&two)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_n((const char *)data, size);
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct chart_meta meta = {0};
	struct vmap *values;
	struct value v;
	if (chart_read_meta(a, input, &meta, &msg) == 0)
		chart_check_meta(a, &meta, &msg);
	values_read(a, input, TMPL_PROFILE_4_1, &values, &msg);
	toml_go_decode(a, input, &values, &msg);
	if (yaml_go_parse(a, input, &v, &msg) == 0)
		check_written(a, v);
	fuzz_note(strbuf_str(&msg));
	return 0;
}
