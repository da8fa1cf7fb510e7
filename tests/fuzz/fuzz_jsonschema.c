/* A schema and a value, separated by a line of "---". */
#include "tests/fuzz/fuzz.h"

#include "installers/format/yaml_go.h"
#include "installers/jsonschema/jsonschema.h"

#define ARENA_MAX ((size_t)512 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_n((const char *)data, size), schema = input, text = STR("a: 1");
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT((size_t)16 << 20);
	CLEANUP(strbuf_release) struct strbuf ignored = STRBUF_INIT(STRBUF_SMALL);
	struct warnings w = {.a = a};
	struct value v;
	ptrdiff_t at = str_find(input, STR("\n---\n"));
	if (at >= 0) {
		schema = str_sub(input, 0, (size_t)at);
		text = str_skip(input, (size_t)at + 5);
	}
	if (yaml_go_parse(a, text, &v, &ignored) == 0)
		fuzz_note_number(jsonschema_check(a, schema, v, &w, &msg));
	fuzz_note(strbuf_str(&msg));
	return 0;
}
