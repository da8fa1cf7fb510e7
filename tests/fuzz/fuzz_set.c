/* The grammar of --set and its kin: the first byte picks the mode, lines are applied in turn. */
#include "tests/fuzz/fuzz.h"

#include "installers/chart/setpath.h"
#include "installers/format/yaml_emit.h"

#define ARENA_MAX ((size_t)512 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum setpath_mode modes[] = {SETPATH_TYPED, SETPATH_STRING, SETPATH_JSON,
						  SETPATH_LITERAL};
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct vmap *m = vmap_new(a);
	struct str rest, line;
	if (size < 1)
		return 0;
	rest = str_n((const char *)data + 1, size - 1);
	for (int n = 0; n < 16 && str_next_line(&rest, &line); n++)
		setpath_apply(a, modes[data[0] % 4], line, m, NULL, &msg);
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT((size_t)64 << 20);
	(void)yaml_emit(a, value_map(m), YAML_EMIT_HELM, &out, &msg);
	fuzz_note(strbuf_str(&out));
	fuzz_note(strbuf_str(&msg));
	return 0;
}
