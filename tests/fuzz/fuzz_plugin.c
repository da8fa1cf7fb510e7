/* The answer of a plugin of every kind, and what may be granted to one. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "alm/obj/json.h"
#include "alm/unit/plugin.h"

#define ARENA_MAX ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_n((const char *)data, size);
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	struct plugin_grant grant;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	if (fuzz_noted(plugin_grant_read(text, "action-X.json", a, &grant, &err), &err) == 0)
		for (const char *const *file = grant.files; *file; file++)
			assert((*file)[0] == '/');
	if (json_parse(text, &o, &err) < 0)
		return 0;
	obj_keep(a, o);
	for (int kind = 0; kind < PLUGIN_KINDS; kind++) {
		struct plugin_answer answer;
		if (fuzz_noted(plugin_answer_read(o, (enum plugin_kind)kind, a, &answer, &err),
			       &err) < 0)
			continue;
		fuzz_note_text(answer.message);
		fuzz_note_obj(answer.writes);
		assert(!answer.message || strlen(answer.message) <= PLUGIN_MESSAGE_MAX);
		assert(obj_len(answer.writes) <= PLUGIN_WRITES_MAX);
	}
	return 0;
}
